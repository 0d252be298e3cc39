"""Common parts of joints with two rotations about perpendicular axes: the articulated inertia and the accelerations."""

from articulon.algebra.inertia import shift
from articulon.algebra.vectors import (
    add,
    apply_t,
    cross,
    dot,
    scale,
    sub,
    symmetric_apply,
    symmetric_less_outer,
)
from articulon.kernels import jit


@jit
def eliminate_about(x, y, tau, k, r, cw, cv, A, H, M, n, f):
    """``eliminate`` of a joint in the axes x, y and z = x × y of its rotations: the joint forces give the moments about
    x and y, and the body's inertia acts on the parent only about z."""
    z = cross(x, y)
    Ax, Ay, Az = symmetric_apply(A, x), symmetric_apply(A, y), symmetric_apply(A, z)
    hx, hy, hz = apply_t(H, x), apply_t(H, y), apply_t(H, z)
    # The block (xx, xy, yy) of A is L diag(d) Lᵀ; t is the entry of L below its unit diagonal. The coupling of this
    # block to the rotation about z, to the acceleration and to the forces is multiplied by L⁻¹, then by diag(d)⁻¹ and
    # L⁻ᵀ.
    i0 = 1.0 / dot(x, Ax)
    t = i0 * dot(x, Ay)
    i1 = 1.0 / (dot(y, Ay) - t * dot(x, Ay))
    gx = tau[k] - dot(x, n)
    gy = tau[k + 1] - dot(y, n) - t * gx
    zx = dot(z, Ax)
    zy = dot(z, Ay) - t * zx
    hy = sub(hy, scale(t, hx))
    wy, sy, by = i1 * gy, i1 * zy, scale(i1, hy)
    wx, sx, bx = i0 * gx - t * wy, i0 * zx - t * sy, sub(scale(i0, hx), scale(t, by))
    zz = dot(z, Az) - i0 * zx * zx - i1 * zy * zy
    h = sub(hz, add(scale(i0 * zx, hx), scale(i1 * zy, hy)))
    M = symmetric_less_outer(symmetric_less_outer(M, i0, hx), i1, hy)
    cz = dot(z, cw)
    nz = dot(z, n) + i0 * zx * gx + i1 * zy * gy + zz * cz + dot(h, cv)
    f = add(add(f, add(scale(i0 * gx, hx), scale(i1 * gy, hy))), add(scale(cz, h), symmetric_apply(M, cv)))
    n = add(add(scale(tau[k], x), scale(tau[k + 1], y)), scale(nz, z))
    A = symmetric_less_outer((0.0, 0.0, 0.0, 0.0, 0.0, 0.0), -zz, z)
    A, H = shift(r, A, (scale(z[0], h), scale(z[1], h), scale(z[2], h)), M)
    record = (wx, wy, sx, sy, bx[0], bx[1], bx[2], by[0], by[1], by[2], 0.0, 0.0)
    return A, H, M, add(n, cross(r, f)), f, record


@jit
def accelerate_about(x, y, record, i, aw, av, udot, k):
    """``accelerate`` of a joint with rotations about x and y."""
    s = dot(cross(x, y), aw)
    wx = record[i, 0] - record[i, 2] * s
    wx -= record[i, 4] * av[0] + record[i, 5] * av[1] + record[i, 6] * av[2]
    wy = record[i, 1] - record[i, 3] * s
    wy -= record[i, 7] * av[0] + record[i, 8] * av[1] + record[i, 9] * av[2]
    a, b = wx - dot(x, aw), wy - dot(y, aw)
    udot[k], udot[k + 1] = a, b
    return add(aw, add(scale(a, x), scale(b, y))), av
