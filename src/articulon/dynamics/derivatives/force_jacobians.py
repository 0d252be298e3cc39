"""Derivatives of the joint forces, τ = M u' + bias: dense matrices, link by link, in a time proportional to their size.

Take two joints, one of which carries the other. Let (I, B) be the composite, and F the force, of everything beyond the
carried joint. Let s be a column of the carried joint and t one of the carrying joint. With t' = ψ', t'' = ψ'' and the
rate t˙ of a column as in ``motion_columns.py``, the derivatives are (Singh, Russell and Wensing 2022, equations 38 and
39; joints whose columns are fixed in the joint frame, and given wrenches, are added here):

    ∂τ_s/∂q_t = s·(I t'' + 2 B t')             of the carried joint's force,
    ∂τ_t/∂q_s = t·(I s'' + 2 B s' + s × F)     of the carrying joint's force,
    ∂τ_s/∂u_t = s·(I (t' + t˙) + 2 B t),   ∂τ_t/∂u_s = t·(I (s' + s˙) + 2 B s).
"""

from articulon.algebra.vectors import add, cross, dot, load, load_from
from articulon.dynamics import joints
from articulon.dynamics.derivatives.composites import (
    FORCE,
    MOMENT,
    coupling_times,
    coupling_transposed,
    hand_loads_to_parent,
    hand_to_parent,
    inertia_times,
    loads_times,
    loads_transposed,
    store_all_own,
)
from articulon.dynamics.derivatives.motion_columns import FIRST, SECOND, SHIFT, SPEED, load_motion, motion_cross
from articulon.kernels import jit
from articulon.lanes import WIDTH


@jit
def power(n, f, w, v):
    """Power of a wrench (n, f) in a motion (w, v)."""
    return dot(n, w) + dot(f, v)


@jit
def put(blocks, row, column, number):
    """Writes an entry of a matrix that is stored in blocks of columns, (blocks, rows, width)."""
    blocks[column // WIDTH, row, column % WIDTH] = number


@jit
def moved_column(composites, loads, columns, i, k):
    """Derivatives of the wrench on all that link i carries (moment and force) with respect to the displacement along
    column k of its joint, then with respect to the speed of that column. The first leaves out s × F
    (``carried_wrench``)."""
    sw = load_from(columns, k, SHIFT)
    gw, gv = load_motion(columns, k, SECOND)
    hw, hv = load_motion(columns, k, SPEED)
    n, f = inertia_times(composites, i, gw, gv)
    a, b = coupling_times(composites, i, load_from(columns, k, FIRST))
    c, d = loads_times(loads, i, sw)
    n, f = add(n, add(a, c)), add(f, add(b, d))
    x, y = inertia_times(composites, i, hw, hv)
    a, b = coupling_times(composites, i, sw)
    return n, f, add(x, a), add(y, b)


@jit
def carried_wrench(composites, columns, i, k):
    """Change of the wrench on all that link i carries because the wrench moves with the bodies: s × F."""
    sw, sv = load_motion(columns, k, SHIFT)
    n, f = load_from(composites, i, MOMENT), load_from(composites, i, FORCE)
    return add(cross(sw, n), cross(sv, f)), cross(sw, f)


@jit
def fill_own(kind, composites, columns, i, j, k, n, f, x, y, dq, du):
    """Derivatives of a joint's own forces with respect to its k-th column."""
    sw, sv = load_motion(columns, j + k, SHIFT)
    moment, force = load_from(composites, i, MOMENT), load_from(composites, i, FORCE)
    for m in range(joints.degrees_of_freedom(kind)):
        tw, tv = load_motion(columns, j + m, SHIFT)
        change = power(n, f, tw, tv)
        if not joints.fixed_in_body(kind, m):  # the column does not move
            aw, av = motion_cross(sw, sv, tw, tv)
            change -= power(moment, force, aw, av)
        put(dq, j + m, j + k, change)
        put(du, j + m, j + k, power(x, y, tw, tv))


@jit
def fill_outer(forest, columns, ws, i, row, n, f, x, y, rn, rf, r, given, common):
    """Derivatives of the forces of the joints that carry link i with respect to column ``row`` of link i's joint, and
    of this column's force with respect to those joints. The joints that carry all columns of the block are left out:
    ``fill_common`` treats them later, for all columns at once."""
    parent, kinds, u_start, dq, du = forest.parent, forest.kind, forest.u_start, common.dq, common.du
    block = row // WIDTH
    child, outer = i, parent[i]
    while outer >= 0:
        reach = load(ws.reach, child)
        n, x, rn = add(n, cross(reach, f)), add(x, cross(reach, y)), add(rn, cross(reach, rf))
        if outer == common.link[block]:
            lane = row % WIDTH
            for a in range(3):
                numbers = common.numbers
                numbers[block, a, lane], numbers[block, 3 + a, lane] = n[a], f[a]
                numbers[block, 6 + a, lane], numbers[block, 9 + a, lane] = x[a], y[a]
                numbers[block, 12 + a, lane], numbers[block, 15 + a, lane] = rn[a], rf[a]
                numbers[block, 18 + a, lane], numbers[block, 21 + a, lane] = r[a], given[a]
            return
        first = u_start[outer]
        for other in range(first, first + joints.degrees_of_freedom(kinds[outer])):
            sw, sv = load_motion(columns, other, SHIFT)
            put(dq, other, row, power(n, f, sw, sv))
            put(du, other, row, power(x, y, sw, sv))
            fw = load_from(columns, other, FIRST)
            gw, gv = load_motion(columns, other, SECOND)
            hw, hv = load_motion(columns, other, SPEED)
            put(dq, row, other, power(rn, rf, gw, gv) + dot(r, fw) + dot(given, sw))
            put(du, row, other, power(rn, rf, hw, hv) + dot(r, sw))
        child, outer = outer, parent[outer]


@jit
def fill_force_jacobians(forest, wrench, ws, columns, acceleration, composites, loads, common):
    """∂τ/∂q and ∂τ/∂u in blocks of columns, for links whose columns have been computed, except the entries that
    ``fill_common`` fills. Entries for two joints are not written if neither carries the other.

    ``composites`` (links, 28) are scratch, and ``loads`` (links, 15) contain the given wrenches on the links' bodies at
    the start.
    """
    kinds, u_start, dq, du = forest.kind, forest.u_start, common.dq, common.du
    store_all_own(forest, wrench, ws, acceleration, composites)
    for i in range(kinds.size - 1, -1, -1):
        kind, j = kinds[i], u_start[i]
        for k in range(joints.degrees_of_freedom(kind)):
            sw, sv = load_motion(columns, j + k, SHIFT)
            n, f, x, y = moved_column(composites, loads, columns, i, j + k)
            fill_own(kind, composites, columns, i, j, k, n, f, x, y, dq, du)
            carried = carried_wrench(composites, columns, i, j + k)
            n, f = add(n, carried[0]), add(f, carried[1])
            rn, rf = inertia_times(composites, i, sw, sv)
            r, given = coupling_transposed(composites, i, sw, sv), loads_transposed(loads, i, sw, sv)
            fill_outer(forest, columns, ws, i, j + k, n, f, x, y, rn, rf, r, given, common)
        hand_to_parent(forest, ws, composites, i)
        hand_loads_to_parent(forest, ws, loads, i)
