"""Free flight of bodies that are jointed to nothing, in closed form: water, ions, grains, any rigid molecule.

The centre of mass moves in a straight line. The rotation is that of Euler's top, H = Σ mᵢ²/(2 Iᵢ) with m the angular
momentum about the centre of mass in principal axes. It is split into the spherical top of the middle moment, which
commutes with the rest, and the terms that the other two axes add,

    H = |m|²/(2 I₂) + ½ a m₁² + ½ b m₃²,   a = 1/I₁ − 1/I₂,   b = 1/I₃ − 1/I₂.

Each term turns the body about a known axis by a known angle. A flight applies the first term, and the third term
between two halves of the second. It is symplectic, time-reversible, of second order in the time, and exact for tops
with two equal moments. The angular momentum in space is conserved exactly. (Touma and Wisdom, Astron. J. 107, 1189,
1994; Dullweber, Leimkuhler and McLachlan, J. Chem. Phys. 107, 5840, 1997.)
"""

import numpy as np
from numba import prange

from articulon.algebra.rotations import conjugate, exponential, matrix, normalised, product
from articulon.algebra.vectors import add, apply, apply_t, cross, load_at, scale, store_at, sub
from articulon.dynamics.kinematics import move, place
from articulon.kernels import jit, kernel
from articulon.lane_functions import sine_and_cosine
from articulon.model import Forest
from articulon.model.array_rotations import quaternions
from articulon.model.joints import FREE, XYZ
from articulon.passes import pass_of

COM, FRAME, INERTIA, OUTER, INNER, COLUMNS = 0, 3, 7, 10, 11, 12
"""Columns of a row: centre of mass (3), principal axes to the body's (4), principal moments (3), a and b."""
SHARED = 512
"""Smallest number of bodies that are distributed over threads."""
SIZE = 64
"""Number of bodies that a thread takes at a time."""


def is_free(forest: Forest) -> np.ndarray:
    """Whether each link is a tree by itself on a free joint, shape (links,)."""
    alone = np.repeat(np.diff(forest.tree) == 1, np.diff(forest.tree))
    return alone & ((forest.kind == FREE) | (forest.kind == XYZ))


def rotor_table(forest: Forest) -> np.ndarray:
    """Constants of each free body for its flight, shape (links, 12)."""
    rows = np.zeros((forest.mass.size, COLUMNS))
    turns = forest.kind == FREE
    rows[:, FRAME] = 1.0
    if not turns.any():
        return rows
    c = forest.moment[turns] / forest.mass[turns, None]
    about = forest.inertia[turns][:, [0, 1, 2, 1, 3, 4, 2, 4, 5]].reshape(-1, 3, 3)
    square = (c * c).sum(axis=1)
    spread = square[:, None, None] * np.eye(3) - c[:, :, None] * c[:, None, :]
    about = about - forest.mass[turns, None, None] * spread
    moments, axes = _principal(about)
    rows[turns, COM : COM + 3] = c
    rows[turns, FRAME : FRAME + 4] = quaternions(axes)
    rows[turns, INERTIA : INERTIA + 3] = moments
    rows[turns, OUTER] = 1.0 / moments[:, 0] - 1.0 / moments[:, 1]
    rows[turns, INNER] = 1.0 / moments[:, 2] - 1.0 / moments[:, 1]
    return rows


def _principal(about: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Principal moments in ascending order, and principal axes as columns of right-handed matrices."""
    moments, axes = np.linalg.eigh(about)
    axes[:, :, 2] *= np.sign(np.linalg.det(axes))[:, None]
    return moments, axes


@jit
def turn_about_first(e, m, angle):
    """Turn the body's frame about its first axis; returns it with m in the new frame."""
    s, c = sine_and_cosine(0.5 * angle)
    sine, cosine = 2.0 * s * c, 1.0 - 2.0 * s * s
    e = (c * e[0] - s * e[1], c * e[1] + s * e[0], c * e[2] + s * e[3], c * e[3] - s * e[2])
    return e, (m[0], cosine * m[1] + sine * m[2], cosine * m[2] - sine * m[1])


@jit
def turn_about_third(e, m, angle):
    """Turn the body's frame about its third axis; returns it with m in the new frame."""
    s, c = sine_and_cosine(0.5 * angle)
    sine, cosine = 2.0 * s * c, 1.0 - 2.0 * s * s
    e = (c * e[0] - s * e[3], c * e[1] + s * e[2], c * e[2] - s * e[1], c * e[3] + s * e[0])
    return e, (cosine * m[0] + sine * m[1], cosine * m[1] - sine * m[0], m[2])


@jit
def turn_top(e, m, middle, a, b, time):
    """Advance Euler's top over a time: Euler parameters of its principal axes, and angular momentum in them."""
    e = product(e, exponential(scale(time / middle, m)))
    e, m = turn_about_first(e, m, 0.5 * time * a * m[0])
    e, m = turn_about_third(e, m, time * b * m[2])
    return turn_about_first(e, m, 0.5 * time * a * m[0])


@jit
def fly_body(rows, i, k, j, q, u, time):
    """Free flight of body i on a free joint; its coordinates begin at k, its speeds at j."""
    c = (rows[i, COM], rows[i, COM + 1], rows[i, COM + 2])
    frame = (rows[i, FRAME], rows[i, FRAME + 1], rows[i, FRAME + 2], rows[i, FRAME + 3])
    first, middle, third = rows[i, INERTIA], rows[i, INERTIA + 1], rows[i, INERTIA + 2]
    e = (q[k + 3], q[k + 4], q[k + 5], q[k + 6])
    x, v, w = load_at(q, k), load_at(u, j), load_at(u, j + 3)
    R, P = matrix(e), matrix(frame)
    x, v = add(x, apply(R, c)), add(v, apply(R, cross(w, c)))
    w = apply_t(P, w)
    m = (first * w[0], middle * w[1], third * w[2])
    top, m = turn_top(product(e, frame), m, middle, rows[i, OUTER], rows[i, INNER], time)
    e = normalised(product(top, conjugate(frame)))
    R = matrix(e)
    w = apply(P, (m[0] / first, m[1] / middle, m[2] / third))
    store_at(q, k, sub(add(x, scale(time, v)), apply(R, c)))
    q[k + 3], q[k + 4], q[k + 5], q[k + 6] = e[0], e[1], e[2], e[3]
    store_at(u, j, sub(v, apply(R, cross(w, c))))
    store_at(u, j + 3, w)


@jit
def fly_bodies(forest, rows, q, u, time, ws, start, end):
    """Free flight of the free bodies from ``start`` to ``end``, whose poses and velocities are known afterwards."""
    for i in range(start, end):
        k, j = forest.q_start[i], forest.u_start[i]
        if forest.kind[i] == FREE:
            fly_body(rows, i, k, j, q, u, time)
        else:
            store_at(q, k, add(load_at(q, k), scale(time, load_at(u, j))))
    place(forest, q, ws, start, end)
    move(forest, u, ws, start, end)


@pass_of
def fly_free(forest, rows, q, u, span, ws):
    """Free flight of bodies that are jointed to nothing over a time ``span`` (1,)."""
    fly_bodies(forest, rows, q, u, span[0], ws, 0, forest.mass.size)


@kernel(parallel=True)
def fly_in_parallel(forest, rows, q, u, time, ws):
    """Free flight of the bodies, distributed over threads."""
    for part in prange(-(-forest.mass.size // SIZE)):
        fly_bodies(forest, rows, q, u, time, ws, part * SIZE, min((part + 1) * SIZE, forest.mass.size))


@pass_of
def fly_free_in_parallel(forest, rows, q, u, span, ws):
    """Free flight of many bodies that are jointed to nothing, distributed over threads."""
    fly_in_parallel(forest, rows, q, u, span[0], ws)
