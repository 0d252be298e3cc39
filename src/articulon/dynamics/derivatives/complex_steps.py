"""Derivatives of forests with flexible bodies, by steps along the imaginary axis.

Inverse dynamics is an analytic function of coordinates and speeds, made of sums, products, quotients, roots, sines and
cosines. The functions that compute it are compiled a second time, for complex numbers, and

    f(x + i h d) = f(x) + i h f'(x) d + O(h²),   h = 10⁻³⁰.

The imaginary part is the derivative along d, exact to rounding, since no difference is formed and h² is below the
rounding error of 1 (Squire and Trapp, SIAM Rev. 40, 110, 1998). One direction costs O(n), so a matrix costs O(n²),
which for chains is the number of its entries. The conditions of loops and their forces are analytic functions too.
"""

import cmath
import math
import threading
import weakref
from typing import Any, NamedTuple

import numpy as np
from numba import types
from numba.extending import overload

from articulon.algebra.vectors import add, apply, cross, load, load_from, load_matrix, store_from
from articulon.dynamics.flexible.flexible_newton_euler import inverse_at
from articulon.dynamics.kinematics import coordinate_rates, move, place
from articulon.dynamics.loops.conditions import (
    LoopScratch,
    add_loop_forces,
    loop_scratch,
    row_accelerations,
    row_biases,
    row_wrenches,
)
from articulon.dynamics.multibody_functions import body_poses
from articulon.dynamics.state_functions import scratch
from articulon.kernels import LEAF, kernel
from articulon.lane_functions import sine_and_cosine
from articulon.model import Model, Workspace, kernel_tables, workspace

STEP = 1e-30
"""Step h: its square is negligible beside 1, and the products of a few steps are not denormal."""

INLINED = {**LEAF, "forceinline": True}


@overload(math.sqrt, jit_options=INLINED)
def _root(x):
    if isinstance(x, types.Complex):
        return lambda x: cmath.sqrt(x)
    return None


@overload(math.log, jit_options=INLINED)
def _logarithm(x):
    if isinstance(x, types.Complex):
        return lambda x: cmath.log(x)
    return None


@overload(sine_and_cosine, jit_options=INLINED)
def _complex_sine_and_cosine(x):
    if isinstance(x, types.Complex):
        return lambda x: (cmath.sin(x), cmath.cos(x))
    return None


class Acting(NamedTuple):
    """Accelerations, loads and multipliers that stay fixed while the model is displaced."""

    udot: np.ndarray
    """Accelerations of joints and modes, shape (nu,)."""
    gravity: np.ndarray
    """Acceleration of free fall, shape (3,)."""
    link: np.ndarray
    """Links that wrenches act on, shape (wrenches,)."""
    arm: np.ndarray
    """Points where the wrenches act, link frame, shape (wrenches, 3)."""
    wrench: np.ndarray
    """Force, then moment, world axes, shape (wrenches, 6)."""
    multiplier: np.ndarray
    """Multipliers λ of the rows of loops, shape (rows,)."""


class ComplexScratch(NamedTuple):
    """Scratch of complex numbers; it is not part of the state."""

    q: np.ndarray
    u: np.ndarray
    ws: Workspace
    loops: LoopScratch
    wrench: np.ndarray
    """Wrenches on the links, shape (links, 6)."""
    force: np.ndarray
    """Scratch of inverse dynamics, shape (links, 6)."""
    tau: np.ndarray
    """Generalised forces, shape (nu,)."""
    driving: np.ndarray
    """Forces of drives, shape (nu,)."""


@kernel
def find_directional(forest, loops, q, u, acting, shift, speed, arrays, by_force, by_row):
    """Writes derivatives along the rows of ``shift`` (directions, nq) and ``speed`` (directions, nu), at fixed u' and
    λ: those of τ − Jᵀλ to ``by_force`` (directions, nu), and those of φ'' of the rows to ``by_row`` (directions,
    rows)."""
    ws, links, ground = arrays.ws, forest.parent.size, (-acting.gravity[0], -acting.gravity[1], -acting.gravity[2])
    for d in range(shift.shape[0]):
        for k in range(q.size):
            arrays.q[k] = complex(q[k], STEP * shift[d, k])
        for k in range(u.size):
            arrays.u[k] = complex(u[k], STEP * speed[d, k])
            arrays.driving[k] = 0.0
        for i in range(links):
            for c in range(6):
                arrays.wrench[i, c] = 0.0
        place(forest, arrays.q, ws, 0, links)
        move(forest, arrays.u, ws, 0, links)
        for b in range(acting.link.size):
            i, f = acting.link[b], load_from(acting.wrench, b, 0)
            n = add(load_from(acting.wrench, b, 3), cross(apply(load_matrix(ws.rotation, i), load(acting.arm, b)), f))
            store_from(arrays.wrench, i, 0, add(load_from(arrays.wrench, i, 0), f))
            store_from(arrays.wrench, i, 3, add(load_from(arrays.wrench, i, 3), n))
        row_wrenches(loops, ws, arrays.loops.wrench)
        add_loop_forces(loops, arrays.loops.wrench, acting.multiplier, arrays.driving, arrays.wrench)
        inverse_at(forest, acting.udot, arrays.wrench, acting.gravity, ws, arrays.force, arrays.tau)
        row_biases(loops, ws, arrays.loops.gamma)
        row_accelerations(loops, acting.udot, ground, ws.acceleration, arrays.loops)
        for k in range(u.size):
            by_force[d, k] = arrays.tau[k].imag / STEP
        for r in range(loops.kind.size):
            by_row[d, r] = arrays.loops.residual[r].imag / STEP


@kernel
def find_rates(forest, q, speed, rates):
    """Coordinate rates q' of every row of speeds (directions, nu)."""
    for d in range(speed.shape[0]):
        coordinate_rates(forest, q, speed[d], rates[d])


def complex_arrays(tables: Any) -> Any:
    """A named tuple of arrays, or of such tuples, with zeroed complex arrays of the same shapes."""
    if isinstance(tables, np.ndarray):
        return tables if tables.dtype.kind != "f" else np.array(tables, dtype=np.complex128)
    if tables is None:
        return None
    return type(tables)(*(complex_arrays(one) for one in tables))


def acting_on(
    model: Model, q: np.ndarray, udot: np.ndarray, wrenches: np.ndarray | None, gravity: np.ndarray
) -> Acting:
    """The fixed quantities for a model in a state, without the forces of loops."""
    none = np.zeros(model.loops.kind.size)
    if wrenches is None:
        return Acting(udot, gravity, np.zeros(0, dtype=np.int64), np.zeros((0, 3)), np.zeros((0, 6)), none)
    positions, _ = body_poses(model, q)
    moved = np.flatnonzero(model.link >= 0)
    link, ws = model.link[moved].astype(np.int64), scratch(model)
    apart = positions[moved] - ws.position[link]
    arm = np.einsum("kji,kj->ki", ws.rotation[link].reshape(-1, 3, 3), apart)
    return Acting(udot, gravity, link, arm, np.ascontiguousarray(wrenches[moved]), none)


_kept = threading.local()


def complex_scratch(model: Model) -> ComplexScratch:
    """This thread's scratch for a model; it is kept between calls."""
    if not hasattr(_kept, "arrays"):
        _kept.arrays = weakref.WeakKeyDictionary()
    found: ComplexScratch | None = _kept.arrays.get(model)
    if found is None:
        forest, loops, motions = kernel_tables(model)
        wrench, speeds = np.zeros((2, forest.mass.size, 6), complex), np.zeros((3, model.nu), complex)
        tables = complex_arrays(workspace(forest)), complex_arrays(loop_scratch(forest, loops, motions, model.nu))
        q = np.zeros(model.nq, complex)
        found = ComplexScratch(q, speeds[0], *tables, wrench[0], wrench[1], speeds[1], speeds[2])
        _kept.arrays[model] = found
    return found


def along(
    model: Model, q: np.ndarray, u: np.ndarray, acting: Acting, shift: np.ndarray, speed: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Derivatives along changes of the coordinates in their tangent space and of the speeds, each (directions, nu). The
    result holds those of the joint forces minus those of the loops, τ − Jᵀλ (directions, nu), and those of φ''
    (directions, rows)."""
    forest, loops, _ = kernel_tables(model)
    count, arrays = len(shift), complex_scratch(model)
    rates, by_force = np.zeros((count, model.nq)), np.zeros((count, model.nu))
    by_row = np.zeros((count, loops.kind.size))
    find_rates(forest, q, np.ascontiguousarray(shift), rates)
    find_directional(forest, loops, q, u, acting, rates, np.ascontiguousarray(speed), arrays, by_force, by_row)
    return by_force, by_row
