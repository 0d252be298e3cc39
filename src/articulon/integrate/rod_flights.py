"""Free flight of trees of point masses that are joined by massless rods, such as chains of beads, in Cartesian
coordinates.

Between two kicks only the tensions of the rods act on the beads, which follow the geodesics of the surface on which all
rods have their lengths. A flight over a time h is a step of RATTLE,

    x⁺ = x + h v + M⁻¹ G(x)ᵀ λ with all lengths right,   v⁺ = P(x⁺) (x⁺ − x)/h,

with G the Jacobian of the rods and P the projection along M⁻¹Gᵀ onto speeds that keep the lengths. It is symplectic,
time-reversible and of second order; momentum and angular momentum are conserved (H. C. Andersen, J. Comput. Phys. 52,
24, 1983; Leimkuhler and Skeel, J. Comput. Phys. 112, 117, 1994). λ is found by Newton's iteration with the matrix G M⁻¹
Gᵀ at the start of the flight; each iteration reduces the error at least tenfold. For a chain that matrix is
tridiagonal; for branched trees it has a short profile if no parent comes before its children. The cost is O(n).

The result is then written as directions of swing joints. A rod's frame is turned by the shortest rotation from its old
direction to the new one; its spin about the rod has no meaning.
"""

import math
from typing import NamedTuple

import numpy as np
from numba import prange

from articulon.algebra.rotations import conjugate, load_quaternion, matrix, normalised, product, store_quaternion
from articulon.algebra.vectors import (
    add,
    apply,
    apply_t,
    column,
    cross,
    dot,
    load,
    load_from,
    load_matrix,
    scale,
    store,
    store_at,
    store_from,
    sub,
)
from articulon.dynamics.kinematics import joint_frame, move, place
from articulon.integrate.status import DIVERGED, NOT_CONVERGED, REACHED
from articulon.kernels import jit, kernel
from articulon.lanes import any_of, choose
from articulon.model import Forest
from articulon.model.joints import XYZ
from articulon.model.joints.swing import Swing
from articulon.passes import pass_of

ITERATIONS = 30
"""Most iterations; a flight that needs more is too long."""
SETTLED = 1e-12
"""Error of ½|d|² of any rod, relative to the square of its length, below which the current iteration is the last."""
ON_BEAD = 1e-12
"""Ratio of a distance to a length below which the distance counts as zero."""
SHARED = 4096
"""Smallest number of beads that are distributed over threads."""
SIZE = 8
"""Number of trees that a thread takes at a time."""


class Rods(NamedTuple):
    """The rods of a forest of beads, children before parents in each tree, and scratch arrays."""

    link: np.ndarray
    """The bead at the end of each rod, shape (rods,)."""
    tree: np.ndarray
    """First rod of each tree, and the number of rods, shape (trees + 1,)."""
    length: np.ndarray
    """Distance of each bead from its joint, zero for a root that is a bead alone [length], shape (links,)."""
    inverse_mass: np.ndarray
    """Inverse mass of each bead [1/mass], shape (links,)."""
    first: np.ndarray
    """First rod of each row's profile, shape (rods,)."""
    at: np.ndarray
    """Start of each row's profile in ``values``, minus ``first``, shape (rods,)."""
    pair: np.ndarray
    """Index of the first neighbour of each rod among the rods before it, and the number of all pairs,
    shape (rods + 1,)."""
    neighbour: np.ndarray
    """The neighbouring rod of each pair, shape (pairs,)."""
    factor: np.ndarray
    """Inverse mass of the shared bead of each pair, negative if it ends one rod and begins the other, shape
    (pairs,)."""
    values: np.ndarray
    """The matrix below its diagonal, later L of L D Lᵀ, row by row."""
    diagonal: np.ndarray
    """The diagonal of the matrix, later 1/D, shape (rods,)."""
    tension: np.ndarray
    """λ, shape (rods,)."""
    along: np.ndarray
    """Vector from the beginning of each rod to its end [length], shape (rods, 3)."""
    before: np.ndarray
    """Positions of the beads at the start of a flight [length], shape (links, 3)."""
    place: np.ndarray
    """Positions of the beads [length], shape (links, 3)."""
    speed: np.ndarray
    """Velocities of the beads, shape (links, 3)."""


def are_beads(forest: Forest) -> np.ndarray:
    """Whether each link is a bead in a tree of beads on swing joints, shape (links,)."""
    swings = forest.kind == Swing.kind
    if not swings.any():
        return swings
    parent, mass = forest.parent, np.maximum(forest.mass, 1e-300)
    centre = forest.moment / mass[:, None]
    reach = np.maximum(np.linalg.norm(centre, axis=1), 1e-300)
    spread = forest.inertia[:, 0] - mass * centre[:, 2] ** 2
    point = np.abs(spread) <= ON_BEAD * mass * reach**2
    bead = centre[parent]
    away = np.linalg.norm(forest.position - bead, axis=1)
    seated = (parent < 0) | (away <= ON_BEAD * np.linalg.norm(bead, axis=1))
    root = (forest.kind == XYZ) & (parent < 0) & (np.abs(centre).max(axis=1) == 0.0)
    bead = root | (swings & point & seated)
    sizes = np.diff(forest.tree)
    whole = np.array([bool(bead[a:b].all()) for a, b in zip(forest.tree[:-1], forest.tree[1:], strict=True)])
    return np.repeat(whole & (sizes > 1) | whole & swings[forest.tree[:-1]], sizes)


def rods_of(forest: Forest) -> Rods:
    """The rods of a forest that has only trees of beads."""
    links, parent = forest.mass.size, forest.parent
    centre = forest.moment[:, 2] / forest.mass
    link: list[int] = []
    first: list[int] = []
    at: list[int] = []
    neighbour: list[int] = []
    factor: list[float] = []
    starts, pair = [0], [0]
    used = 0
    for a, b in zip(forest.tree[:-1].tolist(), forest.tree[1:].tolist(), strict=True):
        ends: dict[int, list[int]] = {}
        for k in range(b - 1, a - 1, -1):
            if forest.kind[k] == XYZ:
                continue
            r, p = len(link), int(parent[k])
            # Rods that begin at this rod's end come before it, and so do its older siblings.
            others = [(c, -1.0 / forest.mass[k]) for c in ends.get(k, [])]
            if p >= 0:
                others += [(c, 1.0 / forest.mass[p]) for c in ends.get(p, [])]
                ends.setdefault(p, []).append(r)
            low = min([c for c, _ in others], default=r)
            link.append(k)
            first.append(low)
            at.append(used - low)
            used += r - low
            neighbour += [c for c, _ in others]
            factor += [m for _, m in others]
            pair.append(len(neighbour))
        starts.append(len(link))
    rods = len(link)

    def whole(numbers: list[int]) -> np.ndarray:
        return np.array(numbers, dtype=np.int64)

    return Rods(
        whole(link),
        whole(starts),
        np.where(forest.kind == XYZ, 0.0, centre),
        1.0 / forest.mass,
        whole(first),
        whole(at),
        whole(pair),
        whole(neighbour),
        np.array(factor, dtype=float),
        np.zeros(used),
        np.zeros(rods),
        np.zeros(rods),
        np.zeros((rods, 3)),
        np.zeros((links, 3)),
        np.zeros((links, 3)),
        np.zeros((links, 3)),
    )


@jit
def factorise_rods(forest, rods, start, end):
    """Factorise G M⁻¹ Gᵀ as L D Lᵀ for the rods from ``start`` to ``end``, along ``rods.along``."""
    parent, first, at, values, diagonal = forest.parent, rods.first, rods.at, rods.values, rods.diagonal
    for r in range(start, end):
        k, d = rods.link[r], load(rods.along, r)
        p, low, own = parent[k], first[r], at[r]
        mobility = rods.inverse_mass[k]
        if p >= 0:
            mobility += rods.inverse_mass[p]
        for c in range(low, r):
            values[own + c] = 0.0
        for n in range(rods.pair[r], rods.pair[r + 1]):
            c = rods.neighbour[n]
            values[own + c] = rods.factor[n] * dot(d, load(rods.along, c))
        pivot = mobility * dot(d, d)
        for c in range(low, r):
            x = values[own + c]
            for m in range(max(low, first[c]), c):
                x -= values[own + m] * values[at[c] + m]
            values[own + c] = x  # this is L D until the row is finished
        for c in range(low, r):
            x = values[own + c] * diagonal[c]
            pivot -= x * values[own + c]
            values[own + c] = x
        diagonal[r] = 1.0 / pivot


@jit
def solve_rods(rods, start, end):
    """Solve for the tensions, with the right-hand sides in ``rods.tension``."""
    first, at, values, diagonal, y = rods.first, rods.at, rods.values, rods.diagonal, rods.tension
    for r in range(start, end):
        x = y[r]
        for c in range(first[r], r):
            x -= values[at[r] + c] * y[c]
        y[r] = x
    for r in range(start, end):
        y[r] *= diagonal[r]
    for r in range(end - 1, start - 1, -1):
        x = y[r]
        for c in range(first[r], r):
            y[c] -= values[at[r] + c] * x


@jit
def pull(forest, rods, start, end, target):
    """Add M⁻¹ Gᵀ λ to an array with rows of beads."""
    for r in range(start, end):
        k, f = rods.link[r], scale(rods.tension[r], load(rods.along, r))
        p = forest.parent[k]
        store(target, k, add(load(target, k), scale(rods.inverse_mass[k], f)))
        if p >= 0:
            store(target, p, sub(load(target, p), scale(rods.inverse_mass[p], f)))


@jit
def apart(forest, rods, array, ws, r):
    """Difference of an array with rows of beads between the end and the beginning of a rod; a rod on the ground begins
    at its joint."""
    k = rods.link[r]
    p = forest.parent[k]
    return sub(load(array, k), load(array, p) if p >= 0 else load(ws.position, k))


@jit
def stretch(forest, rods, ws, start, end):
    """Correct all rods to their lengths along ``rods.along``, of one tree or of several in lanes; return the status."""
    began = False
    for turn in range(ITERATIONS):
        worst = 0.0 * rods.length[rods.link[start]] if start < end else 0.0 * rods.length[0]
        sums = worst
        for r in range(start, end):
            d, length = apart(forest, rods, rods.place, ws, r), rods.length[rods.link[r]]
            square = length * length
            error = 0.5 * (square - dot(d, d))
            rods.tension[r] = error
            size = abs(error) - SETTLED * square
            worst = choose(size > worst, size, worst)
            sums = sums + error
        # A maximum would ignore NaN, a sum does not.
        if any_of(choose(abs(sums) < np.inf, 0.0 * sums, 0.0 * worst + 1.0) > 0.0):
            return NOT_CONVERGED if began else DIVERGED
        began = True
        solve_rods(rods, start, end)
        pull(forest, rods, start, end, rods.place)
        if not any_of(worst > 0.0):
            return REACHED
    return NOT_CONVERGED


@jit
def keep_lengths(forest, rods, start, end):
    """Remove from the velocities the part that would change lengths, at ``rods.along``."""
    for r in range(start, end):
        k, p = rods.link[r], forest.parent[rods.link[r]]
        v = load(rods.speed, k)
        if p >= 0:
            v = sub(v, load(rods.speed, p))
        rods.tension[r] = -dot(load(rods.along, r), v)
    solve_rods(rods, start, end)
    pull(forest, rods, start, end, rods.speed)


@jit
def shortest_turn(a, b):
    """Euler parameters of the shortest rotation from one unit vector to another."""
    v = cross(a, b)
    return normalised((1.0 + dot(a, b), v[0], v[1], v[2]))


@jit
def take_beads(rods, ws, time, first, last):
    """Compute positions and velocities of the beads, from links whose poses and velocities are known, and the
    positions of a flight without tensions."""
    for k in range(first, last):
        z = column(load_matrix(ws.rotation, k), 2)
        arm = scale(rods.length[k], z)
        x = add(load(ws.position, k), arm)
        v = add(load_from(ws.twist, k, 0), cross(load_from(ws.twist, k, 3), arm))
        store(rods.before, k, x)
        store(rods.place, k, add(x, scale(time, v)))


@jit
def give_beads(forest, rods, q, u, ws, first, last):
    """Write positions and velocities of the beads as coordinates and speeds, parents first."""
    parent, rotation = forest.parent, forest.rotation
    for k in range(first, last):
        p, kq, ku, x, v = parent[k], forest.q_start[k], forest.u_start[k], load(rods.place, k), load(rods.speed, k)
        frame = joint_frame(parent, rotation, ws.quaternion, k)
        if forest.kind[k] == XYZ:
            axes = matrix(frame)
            store_at(q, kq, apply_t(axes, sub(x, load(forest.position, k))))
            store_at(u, ku, apply_t(axes, v))
            store_quaternion(ws.quaternion, k, frame)
            store_from(ws.twist, k, 3, (0.0, 0.0, 0.0))
            continue
        begins, carried, angular_velocity = load(ws.position, k), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
        if p >= 0:
            begins, carried, angular_velocity = load(rods.place, p), load(rods.speed, p), load_from(ws.twist, p, 3)
        d = sub(x, begins)
        z = scale(math.copysign(1.0 / math.sqrt(dot(d, d)), rods.length[k]), d)
        e = load_quaternion(ws.quaternion, k)
        e = normalised(product(shortest_turn(column(load_matrix(ws.rotation, k), 2), z), e))
        own = normalised(product(conjugate(frame), e))
        q[kq], q[kq + 1], q[kq + 2], q[kq + 3] = own[0], own[1], own[2], own[3]
        # ω across the rod, minus that of the parent; the joint's angular velocity has no component along the rod.
        axes = matrix(e)
        w = sub(scale(1.0 / rods.length[k], cross(z, sub(v, carried))), angular_velocity)
        a, b = dot(column(axes, 0), w), dot(column(axes, 1), w)
        u[ku], u[ku + 1] = a, b
        store_quaternion(ws.quaternion, k, e)
        store_from(ws.twist, k, 3, add(angular_velocity, apply(axes, (a, b, 0.0))))


@jit
def fly_tree(forest, rods, t, q, u, time, ws):
    """Free flight of one tree of beads, whose poses and velocities are known afterwards; return the status."""
    first, last, start, end = forest.tree[t], forest.tree[t + 1], rods.tree[t], rods.tree[t + 1]
    take_beads(rods, ws, time, first, last)
    for r in range(start, end):
        store(rods.along, r, apart(forest, rods, rods.before, ws, r))
    factorise_rods(forest, rods, start, end)
    status = stretch(forest, rods, ws, start, end)
    if status != REACHED:
        return status
    for k in range(first, last):
        store(rods.speed, k, scale(1.0 / time, sub(load(rods.place, k), load(rods.before, k))))
    for r in range(start, end):
        store(rods.along, r, apart(forest, rods, rods.place, ws, r))
    factorise_rods(forest, rods, start, end)
    keep_lengths(forest, rods, start, end)
    give_beads(forest, rods, q, u, ws, first, last)
    place(forest, q, ws, first, last)
    move(forest, u, ws, first, last)
    return REACHED


@pass_of
def fly_rods(forest, rods, q, u, span, ws, status):
    """Free flight of trees of beads over a time ``span`` (1,); ``status`` (1,) keeps the worst status."""
    for t in range(rods.tree.size - 1):
        status[0] = max(status[0], fly_tree(forest, rods, t, q, u, span[0], ws))


@jit
def fly_some(forest, rods, q, u, time, ws, group):
    """Free flight of a group of trees; return the worst status."""
    worst = REACHED
    for t in range(group * SIZE, min(group * SIZE + SIZE, rods.tree.size - 1)):
        worst = max(worst, fly_tree(forest, rods, t, q, u, time, ws))
    return worst


@kernel(parallel=True)
def fly_in_parallel(forest, rods, q, u, time, ws, found):
    """Free flight of the trees, distributed over threads; the status of each group is kept."""
    for group in prange(found.size):
        found[group] = fly_some(forest, rods, q, u, time, ws, group)


@pass_of
def fly_rods_in_parallel(forest, rods, q, u, span, ws, status, found):
    """Free flight of many beads, distributed over threads; ``found`` (groups,) is scratch."""
    fly_in_parallel(forest, rods, q, u, span[0], ws, found)
    for group in range(found.size):
        status[0] = max(status[0], found[group])
