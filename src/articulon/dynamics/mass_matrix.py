"""The joint-space mass matrix by composite rigid bodies (Featherstone 2008, table 6.2)."""

from articulon.algebra.inertia import force_of, moment_of, shift, skew
from articulon.algebra.vectors import (
    add,
    apply,
    cross,
    dot,
    isotropic,
    load,
    load_from,
    load_symmetric,
    matrix_add,
    store6,
    store_from,
    symmetric_add,
    symmetric_rotate,
)
from articulon.dynamics import joints
from articulon.dynamics.kinematics import frames, place
from articulon.kernels import jit, kernel
from articulon.passes import Pass


@jit
def composite_mass_matrix(forest, ws, composite, result):
    """Mass matrix M (nu, nu) of links with known poses; ``composite`` (links, 21) is zeroed scratch, ``result`` is
    zeroed."""
    parent, kinds, u_start, axes, rotation = forest.parent, forest.kind, forest.u_start, forest.axis, forest.rotation
    quaternion, rotations, reach = ws.quaternion, ws.rotation, ws.reach
    for i in range(parent.size - 1, -1, -1):
        kind, p = kinds[i], parent[i]
        frame, R = frames(kind, parent, rotation, quaternion, rotations, i)
        A = symmetric_add(symmetric_rotate(R, load_symmetric(forest.inertia, i)), load_symmetric(composite, i))
        H = skew(apply(R, load(forest.moment, i)))
        H = matrix_add(H, (load_from(composite, i, 6), load_from(composite, i, 9), load_from(composite, i, 12)))
        c = composite[i]
        M = symmetric_add(isotropic(forest.mass[i]), (c[15], c[16], c[17], c[18], c[19], c[20]))
        for k in range(joints.degrees_of_freedom(kind)):
            sw, sv = joints.column(kind, load(axes, i), k, frame, R)
            n, f = moment_of(A, H, sw, sv), force_of(H, M, sw, sv)
            row = u_start[i] + k
            for j in range(k, joints.degrees_of_freedom(kind)):
                tw, tv = joints.column(kind, load(axes, i), j, frame, R)
                result[row, u_start[i] + j] = result[u_start[i] + j, row] = dot(tw, n) + dot(tv, f)
            child, ancestor = i, p
            while ancestor >= 0:
                n = add(n, cross(load(reach, child), f))
                other = kinds[ancestor]
                their_frame, their_body = frames(other, parent, rotation, quaternion, rotations, ancestor)
                for j in range(joints.degrees_of_freedom(other)):
                    tw, tv = joints.column(other, load(axes, ancestor), j, their_frame, their_body)
                    column = u_start[ancestor] + j
                    result[row, column] = result[column, row] = dot(tw, n) + dot(tv, f)
                child, ancestor = ancestor, parent[ancestor]
        if p >= 0:
            A, H = shift(load(reach, i), A, H, M)
            store6(composite, p, 0, symmetric_add(load_symmetric(composite, p), A))
            for k in range(3):
                store_from(composite, p, 6 + 3 * k, add(load_from(composite, p, 6 + 3 * k), H[k]))
            c = composite[p]
            store6(composite, p, 15, symmetric_add((c[15], c[16], c[17], c[18], c[19], c[20]), M))


find_mass_matrix = Pass(composite_mass_matrix)
"""The pass of :func:`composite_mass_matrix`."""


@kernel
def mass_matrix(forest, q, ws, composite, result):
    """Mass matrix M (nu, nu) at q; ``composite`` (links, 21) is zeroed scratch, ``result`` is zeroed."""
    place(forest, q, ws, 0, forest.parent.size)
    composite_mass_matrix(forest, ws, composite, result)
