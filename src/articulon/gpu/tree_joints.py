"""Joint functions for Warp, matching those of ``model/joints/``, selected by the joint's kind.

``model/joints/__init__.py`` describes each function and its equations. All states of a batch have the joints of one
model, so neighbouring threads take the same branch.
"""

from typing import Any

from articulon.gpu.devices import load_warp
from articulon.gpu.tree_algebra import (
    about,
    factorise,
    force_of,
    load3,
    load4,
    moment_of,
    product,
    quaternion_rate,
    schur,
    shift,
    shift_mass,
    solve3,
    store3,
    store4,
    store6,
    symmetric_apply,
    symmetric_outer,
)
from articulon.model.joints import FREE, PRISMATIC, REVOLUTE, SPHERICAL, XYZ
from articulon.model.joints.universal import Universal

wp = load_warp()

KINDS = (REVOLUTE, PRISMATIC, SPHERICAL, XYZ, FREE, Universal.kind)
"""Kinds of joints with functions here; a weld has no motion."""
_REVOLUTE = wp.constant(REVOLUTE)
_PRISMATIC = wp.constant(PRISMATIC)
_SPHERICAL = wp.constant(SPHERICAL)
_XYZ = wp.constant(XYZ)
_FREE = wp.constant(FREE)


@wp.func
def framed(kind: int):
    """Whether the joint's motion columns need the joint frame in addition to the body's."""
    return kind > _XYZ


@wp.func
def placed(kind: int, axis: Any, y: Any, k: int, s: int, frame: Any):
    """Rotation of the body in the world (Euler parameters), from the coordinates at row k."""
    e = frame
    if kind == _REVOLUTE:
        e = product(frame, about(axis, y[k, s]))
    elif kind == _SPHERICAL:
        e = product(frame, load4(y, k, s))
    elif kind == _FREE:
        e = product(frame, load4(y, k + 3, s))
    elif kind > _FREE:
        one = axis.dtype(1.0)
        zero = axis.dtype(0.0)
        x = about(wp.vector(one, zero, zero), y[k, s])
        e = product(frame, product(x, about(wp.vector(zero, one, zero), y[k + 1, s])))
    return e


@wp.func
def displaced(kind: int, axis: Any, y: Any, k: int, s: int):
    """Displacement of the body's origin in the joint frame."""
    d = axis * axis.dtype(0.0)
    if kind == _PRISMATIC:
        d = y[k, s] * axis
    elif kind == _XYZ or kind == _FREE:
        d = load3(y, k, s)
    return d


@wp.func
def velocity(kind: int, axis: Any, y: Any, k: int, s: int, frame: Any, body: Any):
    """Angular and linear velocity of the body relative to the joint frame, in world axes, from the speeds at row k;
    also the part of the angular velocity about body-fixed axes, where one rotation of the joint moves the axis of
    another."""
    zero = axis * axis.dtype(0.0)
    w = zero
    v = zero
    own = zero
    if kind == _REVOLUTE:
        w = y[k, s] * (body * axis)
    elif kind == _PRISMATIC:
        v = y[k, s] * (body * axis)
    elif kind == _SPHERICAL:
        w = body * load3(y, k, s)
    elif kind == _XYZ:
        v = body * load3(y, k, s)
    elif kind == _FREE:
        v = frame * load3(y, k, s)
        w = body * load3(y, k + 3, s)
    else:
        own = y[k + 1, s] * wp.transpose(body)[1]
        w = y[k, s] * wp.transpose(frame)[0] + own
    return w, v, own


@wp.func
def eliminate_one(uw: Any, uv: Any, d: Any, g: Any, r: Any, cw: Any, cv: Any, A: Any, H: Any, M: Any, n: Any, f: Any):
    """Eliminate the speed whose column gives the force (uw, uv), with d = 1/(sᵀ I s) and g = τ − sᵀ p (Featherstone
    2008, 7.44 to 7.47)."""
    k = d * (g - wp.dot(uw, cw) - wp.dot(uv, cv))
    left = n + moment_of(A, H, cw, cv) + k * uw
    force = f + force_of(H, M, cw, cv) + k * uv
    dw = d * uw
    G = H - wp.outer(dw, uv)
    B, G2 = shift(r, A - symmetric_outer(uw, dw), G, M - symmetric_outer(uv, d * uv))
    return B, G2, M - symmetric_outer(uv, d * uv), left + wp.cross(r, force), force


@wp.func
def store_matrix_after(record: Any, row: int, s: int, y: Any, K: Any):
    """Store a vector and a matrix, by rows, in twelve rows."""
    store3(record, row, s, y)
    store3(record, row + 3, s, K[0])
    store3(record, row + 6, s, K[1])
    store3(record, row + 9, s, K[2])


@wp.func
def eliminate_spherical(record: Any, row: int, s: int, t: Any, r: Any, cv: Any, A: Any, H: Any, M: Any, n: Any, f: Any):
    F = factorise(A)
    left, K = schur(M, F, H)
    y = solve3(F, t - n)
    force = f + wp.transpose(H) * y + symmetric_apply(left, cv)
    B, G = shift_mass(r, left)
    store_matrix_after(record, row, s, y, K)
    return B, G, left, t + wp.cross(r, force), force


@wp.func
def eliminate_xyz(record: Any, row: int, s: int, t: Any, r: Any, cw: Any, A: Any, H: Any, M: Any, n: Any, f: Any):
    F = factorise(M)
    left, K = schur(A, F, wp.transpose(H))
    y = solve3(F, t - f)
    moment = n + H * y + symmetric_apply(left, cw)
    store_matrix_after(record, row, s, y, K)
    return left, H * H.dtype(0.0), M * M.dtype(0.0), moment + wp.cross(r, t), t


@wp.func
def eliminate_free(
    record: Any, row: int, s: int, force: Any, moment: Any, r: Any, A: Any, H: Any, M: Any, n: Any, f: Any
):
    """Eliminate a free joint: only the joint's own force reaches the parent, none of the body's inertia."""
    F = factorise(M)
    S, _ = schur(A, F, wp.transpose(H))
    b = force - f
    w = solve3(factorise(S), moment - n - H * solve3(F, b))
    store3(record, row, s, w)
    store3(record, row + 3, s, solve3(F, b - wp.transpose(H) * w))
    none = M * M.dtype(0.0)
    return none, H * H.dtype(0.0), none, moment + wp.cross(r, force), force


@wp.func
def eliminate_universal(
    record: Any,
    row: int,
    s: int,
    ta: Any,
    tb: Any,
    frame: Any,
    body: Any,
    r: Any,
    cw: Any,
    cv: Any,
    A: Any,
    H: Any,
    M: Any,
    n: Any,
    f: Any,
):
    """Eliminate a universal joint in its axes x and y and z = x × y: the moments about x and y are given, so the body's
    inertia reaches the parent only about z."""
    one = type(ta)(1.0)
    x = wp.transpose(frame)[0]
    y = wp.transpose(body)[1]
    z = wp.cross(x, y)
    T = wp.transpose(H)
    Ax = symmetric_apply(A, x)
    Ay = symmetric_apply(A, y)
    hx = T * x
    hz = T * z
    # The block (xx, xy, yy) of A is L diag(d) Lᵀ with t in L; see model/joints/universal.py.
    i0 = one / wp.dot(x, Ax)
    t = i0 * wp.dot(x, Ay)
    i1 = one / (wp.dot(y, Ay) - t * wp.dot(x, Ay))
    gx = ta - wp.dot(x, n)
    gy = tb - wp.dot(y, n) - t * gx
    zx = wp.dot(z, Ax)
    zy = wp.dot(z, Ay) - t * zx
    hy = T * y - t * hx
    wy = i1 * gy
    sy = i1 * zy
    by = i1 * hy
    wx = i0 * gx - t * wy
    sx = i0 * zx - t * sy
    bx = i0 * hx - t * by
    zz = wp.dot(z, symmetric_apply(A, z)) - i0 * zx * zx - i1 * zy * zy
    h = hz - (i0 * zx) * hx - (i1 * zy) * hy
    left = M - symmetric_outer(hx, i0 * hx) - symmetric_outer(hy, i1 * hy)
    cz = wp.dot(z, cw)
    nz = wp.dot(z, n) + i0 * zx * gx + i1 * zy * gy + zz * cz + wp.dot(h, cv)
    force = f + (i0 * gx) * hx + (i1 * gy) * hy + cz * h + symmetric_apply(left, cv)
    moment = ta * x + tb * y + nz * z
    B, G = shift(r, symmetric_outer(z, zz * z), wp.outer(z, h), left)
    store6(record, row, s, wp.vector(wx, wy, sx, sy, bx[0], bx[1]))
    store4(record, row + 6, s, wp.vector(bx[2], by[0], by[1], by[2]))
    return B, G, left, moment + wp.cross(r, force), force


@wp.func
def eliminate(
    kind: int,
    axis: Any,
    tau: Any,
    k: int,
    frame: Any,
    body: Any,
    r: Any,
    cw: Any,
    cv: Any,
    A: Any,
    H: Any,
    M: Any,
    n: Any,
    f: Any,
    record: Any,
    row: int,
    s: int,
):
    """Compute the articulated inertia and bias force for the parent, about its own origin at −r, and store the data of
    the outward pass in twelve rows of ``record``. The joint's forces are in ``tau`` from row k on."""
    if kind == _REVOLUTE or kind == _PRISMATIC:
        x = body * axis
        uw = symmetric_apply(A, x)
        uv = wp.transpose(H) * x
        along = wp.dot(x, uw)
        pressed = wp.dot(x, n)
        if kind == _PRISMATIC:
            uw = H * x
            uv = symmetric_apply(M, x)
            along = wp.dot(x, uv)
            pressed = wp.dot(x, f)
        d = axis.dtype(1.0) / along
        g = tau[k, s] - pressed
        store3(record, row, s, d * uw)
        store3(record, row + 3, s, d * uv)
        record[row + 6, s] = d * g
        B, G, L, m, p = eliminate_one(uw, uv, d, g, r, cw, cv, A, H, M, n, f)
        return B, G, L, m, p
    if kind == _SPHERICAL:
        B, G, L, m, p = eliminate_spherical(record, row, s, body * load3(tau, k, s), r, cv, A, H, M, n, f)
        return B, G, L, m, p
    if kind == _XYZ:
        B, G, L, m, p = eliminate_xyz(record, row, s, body * load3(tau, k, s), r, cw, A, H, M, n, f)
        return B, G, L, m, p
    if kind == _FREE:
        force = frame * load3(tau, k, s)
        moment = body * load3(tau, k + 3, s)
        B, G, L, m, p = eliminate_free(record, row, s, force, moment, r, A, H, M, n, f)
        return B, G, L, m, p
    B, G, L, m, p = eliminate_universal(record, row, s, tau[k, s], tau[k + 1, s], frame, body, r, cw, cv, A, H, M, n, f)
    return B, G, L, m, p


@wp.func
def accelerate(
    kind: int,
    axis: Any,
    frame: Any,
    body: Any,
    record: Any,
    row: int,
    s: int,
    aw: Any,
    av: Any,
    dy: Any,
    k: int,
):
    """Write the joint's accelerations from row k on; return the body's angular acceleration and the acceleration of its
    origin, from both at u' = 0, (aw, av)."""
    if kind == _REVOLUTE or kind == _PRISMATIC:
        rate = record[row + 6, s] - wp.dot(load3(record, row, s), aw) - wp.dot(load3(record, row + 3, s), av)
        dy[k, s] = rate
        step = rate * (body * axis)
        if kind == _REVOLUTE:
            return aw + step, av
        return aw, av + step
    if kind == _SPHERICAL or kind == _XYZ:
        K = wp.matrix_from_rows(load3(record, row + 3, s), load3(record, row + 6, s), load3(record, row + 9, s))
        y = load3(record, row, s)
        if kind == _SPHERICAL:
            w = y - K * av
            store3(dy, k, s, wp.transpose(body) * (w - aw))
            return w, av
        a = y - K * aw
        store3(dy, k, s, wp.transpose(body) * (a - av))
        return aw, a
    if kind == _FREE:
        w6 = load3(record, row, s)
        a6 = load3(record, row + 3, s)
        store3(dy, k, s, wp.transpose(frame) * (a6 - av))
        store3(dy, k + 3, s, wp.transpose(body) * (w6 - aw))
        return w6, a6
    x = wp.transpose(frame)[0]
    yy = wp.transpose(body)[1]
    turn = wp.dot(wp.cross(x, yy), aw)
    wx = record[row, s] - record[row + 2, s] * turn - wp.dot(load3(record, row + 4, s), av) - wp.dot(x, aw)
    wy = record[row + 1, s] - record[row + 3, s] * turn - wp.dot(load3(record, row + 7, s), av) - wp.dot(yy, aw)
    dy[k, s] = wx
    dy[k + 1, s] = wy
    return aw + wx * x + wy * yy, av


@wp.func
def rates(kind: int, y: Any, q: int, u: int, s: int, dy: Any):
    """Compute q' of the joint, from coordinates at row q and speeds at row u."""
    if kind == _SPHERICAL:
        store4(dy, q, s, quaternion_rate(load4(y, q, s), load3(y, u, s)))
    elif kind == _FREE:
        store3(dy, q, s, load3(y, u, s))
        store4(dy, q + 3, s, quaternion_rate(load4(y, q + 3, s), load3(y, u + 3, s)))
    elif kind == _XYZ:
        store3(dy, q, s, load3(y, u, s))
    else:
        dy[q, s] = y[u, s]
        if kind > _FREE:
            dy[q + 1, s] = y[u + 1, s]
