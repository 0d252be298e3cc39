"""Projection of a state onto its loop constraints. Positions are moved by damped Gauss–Newton steps, and speeds by one
linear step. All steps are minimal in the metric of the mass matrix. If the search for positions stalls, it is repeated
with steps that are minimal in the angles and lengths of the joints."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import scipy

from articulon.building.bound_trees import bound_mass_matrix, bound_speeds
from articulon.dynamics import body_poses
from articulon.dynamics.deformation import deformations
from articulon.dynamics.loops.loop_jacobians import LoopEquations, loop_equations
from articulon.dynamics.loops.semidefinite import INDEPENDENT
from articulon.dynamics.multibody_functions import check_model, moved, vector
from articulon.errors import ModelError
from articulon.inputs import floats, number, shown
from articulon.model import Model, body_checks, kernel_tables
from articulon.model.array_rotations import matrices
from articulon.model.joints.base import TRANSLATION
from articulon.model.model import Closing

CLOSED = 1e-13
"""Largest error of a closed loop, relative to the size of the model."""
ALLOWED = 1e-9
"""Largest accepted violation of the loops by given speeds, relative to the speeds of the joints that move the loop."""
ROUNDED = 1e-6
"""Minimum reference scale of a rate, as a fraction of the largest speed of the model. It allows for rounding errors."""
MOST_STEPS = 200
"""Maximum number of trial states of one search."""
PATIENCE = 40
"""Number of trial states within which a search must halve its error; otherwise it ends."""
STATIONARY = 0.1
"""Cosine between the residuals and the changes of residuals that joints can cause. Below this value, joints count as
unable to reduce the residuals."""
NUDGES = 5
"""Number of attempts with small displacements if a mechanism does not close."""
NUDGE = 0.01
"""Displacement of a mechanism for the test for an isolated singularity [rad, or relative to the size of the model]."""


def close_loops(model: Model, q: np.ndarray, u: np.ndarray, time: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """Find the nearest state with closed loops.

    Parameters
    ----------
    model
        The model.
    q, u
        Coordinates (nq,) and speeds (nu,).
    time
        Time at which driven coordinates are evaluated [time].

    Returns
    -------
    q, u
        The state, moved by steps that are minimal in the metric of the mass matrix; unchanged without loops. These
        steps may not converge, for example for long chains with light last links. Coordinates are then moved by steps
        that are minimal in angles and in lengths divided by the size of the model.

    Raises
    ------
    ModelError
        If the loops cannot be closed, or if the search does not converge. The message says which of the two happened,
        and gives the name and the error of the loop with the largest error.
    """
    check_model(model, "close_loops")
    q, u = vector(q, model.nq, "q").copy(), vector(u, model.nu, "u").copy()
    time = number(time, "close_loops, time")
    if not model.loops.kind.size:
        return q, u
    free = np.ones(model.nu, dtype=bool)
    with _computable():
        q, error = close_positions(model, q, free, time)
        if not error <= CLOSED:
            raise _open(model, q, time)
        _refuse_half_turns(model, q)
        u, _ = close_speeds(model, q, u, free, time)
    return q, u


def closed(model: Model, given_q: np.ndarray, given_u: np.ndarray) -> Model:
    """Return a model whose initial state satisfies its loops.

    ``given_q`` (nq,) and ``given_u`` (nu,) mark the coordinates and speeds given by the user. Given coordinates are
    kept if
    the loops can be closed with them; given speeds are always kept.

    Raises
    ------
    ModelError
        For loops that cannot be closed, given speeds that violate them, and a mechanism that is singular at its start.
    """
    if not model.loops.kind.size:
        return model
    with _computable():
        return _closed(model, given_q, given_u)


@contextmanager
def _computable() -> Iterator[None]:
    """Context that raises ModelError if linear algebra fails or yields non-finite values."""
    try:
        yield
    except (np.linalg.LinAlgError, ValueError) as error:  # SciPy raises ValueError for non-finite values
        raise ModelError(
            "the loops cannot be closed, because the mass matrix or the conditions of the loops exceed the "
            f"floating-point precision ({error}): lengths, masses and inertias differ by too many powers of ten, or a "
            "body has no inertia about an axis of rotation"
        ) from None


def _closed(model: Model, given_q: np.ndarray, given_u: np.ndarray) -> Model:
    start = loop_equations(model, model.q0, model.u0)
    q, error = model.q0.copy(), _error(model, start.residual)
    joints = ~_modal(model)
    if error > CLOSED:
        q, error = _closed_by_some(model, ~given_q, joints)
    rng = np.random.default_rng(0)
    for _ in range(NUDGES):
        if error <= CLOSED:
            break
        # To first order, a stretched or folded mechanism cannot reduce the error; the search then starts from a nearby
        # state.
        beside = moved(model, model.q0, 10 * NUDGE * rng.standard_normal(model.nu) * (~given_q & joints))
        trial, reached = close_positions(model, beside, ~given_q, 0.0)
        q, error = (trial, reached) if reached < error else (q, error)
    if not error <= CLOSED:
        raise _open(model, q, 0.0)
    _refuse_half_turns(model, q)
    u, left = close_speeds(model, q, model.u0, ~given_u, 0.0)
    scale = 1.0 / model.loops.size
    sizes = _rate_sizes(model, u, start.rate)
    worst = int(np.argmax(scale * np.abs(left) / sizes))
    if scale[worst] * abs(left[worst]) > ALLOWED * sizes[worst]:
        raise ModelError(
            f"{model.loop_name(worst)}: the given initial speeds violate it at a rate of "
            f"{abs(left[worst]):.3g}; give fewer speeds, so that the others can adapt, or consistent ones"
        )
    rank = _refuse_singular(model, q)
    closing = Closing(float(np.abs(start.residual).max()), float(np.abs(start.rate).max()), rank)
    tables = kernel_tables(model)
    tables = tables._replace(loops=tables.loops._replace(rank=np.array([rank])))
    return replace(model, q0=q, u0=u, closing=closing, _tables=tables)


def _closed_by_some(model: Model, free: np.ndarray, joints: np.ndarray) -> tuple[np.ndarray, float]:
    """Find the minimal displacement of the initial coordinates that closes the loops; return it and the remaining
    error.

    The search first moves the ``free`` coordinates (nu,), then all coordinates. In both cases it first tries to move
    only the coordinates of ``joints`` (nu,).

    In the metric of the mass matrix, bending a body is a small displacement, but it may be far beyond the valid range
    of its modes. Modes are therefore moved only if nothing else closes the loops.
    """
    every = np.ones(model.nu, dtype=bool)
    bent: tuple[np.ndarray, float] | None = None
    for some in (free & joints, free, joints, every) if model.modes else (free, every):
        q, error = close_positions(model, model.q0, some, 0.0)
        if error > CLOSED:
            continue
        if all(float(ratio) <= 1.0 for ratio in deformations(model, q).values()):
            return q, error
        bent = bent or (q, error)
    return bent or (q, error)


def _modal(model: Model) -> np.ndarray:
    """Return a mask of the speeds of modes (nu,)."""
    mask = np.zeros(model.nu, dtype=bool)
    for body, shapes in model.modes.items():
        start = int(model.forest.u_start[model.link[body]]) + model.joints[body].nu
        mask[start : start + shapes.stiffness.shape[0]] = True
    return mask


def checked_state(model: Model, q: Any, u: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return a validated state given by a user, by default that of the model; raises ModelError for an impossible
    state."""
    if q is None and u is None:
        return model.q0, model.u0
    coordinates = model.q0 if q is None else _array(q, model.nq, "q")
    speeds = model.u0 if u is None else _array(u, model.nu, "u")
    for i, k in enumerate(model.head.tolist()):
        at = model.joints[k].quaternion
        if at is not None:
            start = int(model.forest.q_start[i]) + at
            whose = partial(_whose, f"q, body '{model.names[k]}'")
            body_checks.unit_quaternions(coordinates[start : start + 4][None], whose)
    if model.loops.kind.size:
        equations = loop_equations(model, coordinates, speeds)
        error = np.abs(equations.residual) / model.loops.size
        rates = np.abs(equations.rate) / model.loops.size / _rate_sizes(model, speeds, np.zeros_like(equations.rate))
        for what, values, limit in (("q leaves", error, ALLOWED), ("u breaks", rates, ALLOWED)):
            row = int(np.argmax(values))
            if values[row] > limit:
                raise ModelError(
                    f"{what} {model.loop_name(row)} open, by {values[row]:.3g} of its size; move the state onto the "
                    "loops with articulon.close_loops(model, q, u)"
                )
    return coordinates, speeds


def _array(value: Any, size: int, name: str) -> np.ndarray:
    try:
        result = np.array(floats(value))
    except ValueError as reason:
        raise ModelError(f"{name}: expected {size} numbers: {reason}") from None
    if result.shape != (size,) or not np.isfinite(result).all():
        raise ModelError(f"{name}: expected {size} finite numbers, got {shown(value)}")
    return result


def _whose(name: str, _: int) -> str:
    return name


def close_positions(model: Model, q: np.ndarray, free: np.ndarray, time: float) -> tuple[np.ndarray, float]:
    """Return coordinates that close the loops as far as the ``free`` coordinates allow, and the largest remaining error
    relative to the size of the model.

    Steps that are minimal in the metric of the mass matrix rotate the light last links of a long chain by large angles.
    The linear approximation is then invalid, and the search stalls. A second search from the same state distributes its
    steps over all joints.
    """
    reached = _search(model, q, free, time, by_mass=True)
    if _error(model, reached.residual) > CLOSED:
        other = _search(model, q, free & ~_modal(model), time, by_mass=False)
        reached = min(reached, other, key=lambda found: _norm(model, found.residual))
    return reached.q, _error(model, reached.residual)


class _Reached(NamedTuple):
    """Result of a search: coordinates, and the residuals at these coordinates."""

    q: np.ndarray
    residual: np.ndarray


def _search(model: Model, q: np.ndarray, free: np.ndarray, time: float, *, by_mass: bool) -> _Reached:
    """Search for closed loops by Levenberg–Marquardt steps. The steps are minimal in the metric of the mass matrix, or
    of angles and lengths.

    Steps in the metric of the mass matrix must reduce the largest residual. Steps in the metric of angles and lengths
    must reduce the sum of squares, so that this search ends at a minimum if the loops cannot be closed.
    """
    measure = _error if by_mass else _norm
    scale = 1.0 / model.loops.size
    rest = np.zeros(model.nu)
    equations = loop_equations(model, q, rest, time)
    error, damping = measure(model, equations.residual), 0.0
    halved, since = error, 0
    bound = bound_speeds(model)
    free = free & bound
    if not free.any():
        return _Reached(q, equations.residual)
    lengths = _speed_lengths(model)[free]
    for _ in range(MOST_STEPS):
        if error <= 1e-15 or since >= PATIENCE:
            break
        L = _root(model, q, bound, free) if by_mass else np.diag(1.0 / lengths)
        J = scipy.linalg.solve_triangular(L, _jacobian(model, equations)[:, free].T, lower=True)
        U, s, V = np.linalg.svd(J, full_matrices=False)
        s2 = s[0] ** 2
        if s2 == 0.0:
            break
        # Without damping, components of the residual that no joint can change would be divided by rounding errors.
        keep = s > INDEPENDENT * s[0]
        weight = np.where(keep | (damping > 0.0), s / np.maximum(s**2 + damping * s2, 1e-300), 0.0)
        step = np.zeros(model.nu)
        step[free] = -scipy.linalg.solve_triangular(
            L, U @ (weight * (V @ (scale * equations.residual))), lower=True, trans=1
        )
        if not np.isfinite(step).all():
            break
        trial = moved(model, q, step)
        if not np.isfinite(trial).all():
            break
        then = loop_equations(model, trial, rest, time)
        since += 1
        remaining = measure(model, then.residual)
        if not remaining < error:
            if error <= CLOSED or damping > 1e6:
                break
            damping = max(10.0 * damping, 1e-8)
            continue
        q, equations, error = trial, then, remaining
        damping = 0.1 * damping if damping > 1e-8 else 0.0
        if error <= 0.5 * halved:
            halved, since = error, 0
    return _Reached(q, equations.residual)


def _speed_lengths(model: Model) -> np.ndarray:
    """Return the reference scale of each speed (nu,): the size of the model for translations, and 1 for rotations and
    modes."""
    units = np.ones(model.nu)
    size = float(model.loops.size.max())
    for k in model.head.tolist():
        start = int(model.forest.u_start[model.link[k]])
        units[start : start + model.joints[k].translations] = size
    return units


def close_speeds(
    model: Model, q: np.ndarray, u: np.ndarray, free: np.ndarray, time: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return speeds that satisfy the loops as far as the ``free`` speeds allow, and the remaining rates (rows,)."""
    equations = loop_equations(model, q, u, time)
    bound = bound_speeds(model)
    free = free & bound
    # At rest nothing must be corrected, and the mass matrix of a large molecule need not be factorised.
    if not free.any() or not equations.rate.any():
        return u, equations.rate
    L = _root(model, q, bound, free)
    scale = 1.0 / model.loops.size
    J = scipy.linalg.solve_triangular(L, _jacobian(model, equations)[:, free].T, lower=True)
    result = u.copy()
    for _ in range(2):
        y = np.linalg.lstsq(J.T, -scale * loop_equations(model, q, result, time).rate, rcond=INDEPENDENT)[0]
        result[free] += scipy.linalg.solve_triangular(L, y, lower=True, trans=1)
    return result, loop_equations(model, q, result, time).rate


def _rate_sizes(model: Model, u: np.ndarray, rate: np.ndarray) -> np.ndarray:
    """Return the reference scale for the rate of each row (rows,). It is the largest speed of the joints between the
    ends of the loop and the ground, or the initial rate if this is larger.

    The rate itself is not a suitable scale. The motions of the two ends of a loop cancel in it and leave rounding
    errors. For the same reason, no scale is below a small fraction of the largest speed.
    """
    forest, sizes = model.forest, np.abs(rate) / model.loops.size
    ends = np.append(forest.u_start, model.nu)
    order = np.sort(ends)
    for r in range(sizes.size):
        for i in (int(model.loops.link_a[r]), int(model.loops.link_b[r])):
            while i >= 0:
                start = int(forest.u_start[i])
                end = int(order[np.searchsorted(order, start, side="right")])
                sizes[r] = max(sizes[r], float(np.abs(u[start:end]).max()))
                i = int(forest.parent[i])
    return np.maximum(sizes, max(ROUNDED * float(np.abs(u).max(initial=0.0)), 1e-300))


def _refuse_singular(model: Model, q: np.ndarray) -> int:
    """Return the number of independent rows at q. Raises ModelError if q is singular, which means that more rows are
    independent everywhere around q."""
    bound = bound_speeds(model)
    count = int(bound.sum())
    rank, L, B = _rank(model, q, bound)
    if rank == min(model.loops.kind.size, count):
        return rank
    U = np.linalg.svd(B)[0]
    free = scipy.linalg.solve_triangular(L, U[:, rank:], lower=True, trans=1)
    # States around q are displaced along the allowed motions and projected back, so that redundant rows stay redundant.
    direction = np.zeros(model.nu)
    direction[bound] = free @ np.random.default_rng(0).standard_normal(count - rank)
    direction *= NUDGE / max(float(np.abs(direction).max()), 1e-300)
    near, error = close_positions(model, moved(model, q, direction), np.ones(model.nu, dtype=bool), 0.0)
    if error <= CLOSED and _rank(model, near, bound)[0] > rank:
        names = ", ".join(f"'{loop.name}'" for loop in model.loop_joints)
        raise ModelError(
            f"the loops ({names}) are singular at the initial coordinates: only {rank} of their conditions are "
            "independent there, and more at all coordinates nearby, so that the mechanism could move on in several "
            "ways; start it from other coordinates (away from gimbal lock or collinear bars)"
        )
    return rank


def _refuse_half_turns(model: Model, q: np.ndarray) -> None:
    """Raise ModelError if directions that a loop keeps parallel are opposite. The constraints, which only require right
    angles, cannot distinguish the two."""
    _, rotations = body_poses(model, q)
    frames = np.vstack([matrices(rotations), np.eye(3)[None]])  # the last frame, with index −1, is the ground's
    for loop in model.loop_joints:
        A = frames[loop.parent] @ matrices(loop.rotation)
        B = frames[loop.child] @ matrices(loop.child_rotation)
        if any((A @ np.array(fixed)) @ (B @ np.array(moving)) < 0.0 for fixed, moving in loop.joint.aligned()):
            kind = type(loop.joint).__name__.lower()
            raise ModelError(
                f"loop '{loop.name}': the axes of its two ends point in opposite directions, which a {kind} joint "
                "does not allow; rotate one of its frames, or start from coordinates that are less than a quarter "
                "of a turn from closed"
            )


def _jacobian(model: Model, equations: LoopEquations) -> np.ndarray:
    """Return the Jacobian J with scaled rows; rows that act on no joint are zero."""
    return np.where(equations.live, (1.0 / model.loops.size), 0.0)[:, None] * equations.jacobian


def _root(model: Model, q: np.ndarray, bound: np.ndarray, free: np.ndarray) -> np.ndarray:
    """Return the factor L of the mass matrix M = L Lᵀ of the free speeds among the bound ones."""
    some = free[bound]
    return np.asarray(scipy.linalg.cholesky(bound_mass_matrix(model, q, bound)[np.ix_(some, some)], lower=True))


def _rank(model: Model, q: np.ndarray, bound: np.ndarray) -> tuple[int, np.ndarray, np.ndarray]:
    """Return the number of independent rows, the factor L of M = L Lᵀ for the bound speeds, and the rows from which the
    number follows (speeds, rows). As in the solvers, these rows are in the metric of the mass matrix and have unit
    length."""
    L = _root(model, q, bound, bound)
    J = _jacobian(model, loop_equations(model, q, np.zeros(model.nu)))[:, bound]
    B = scipy.linalg.solve_triangular(L, J.T, lower=True)
    length = np.linalg.norm(B, axis=0)
    B = B / np.where(length > 0.0, length, 1.0)
    s = np.linalg.svd(B, compute_uv=False)
    return int((s > INDEPENDENT * s[0]).sum()), L, B


def _error(model: Model, residual: np.ndarray) -> float:
    return float(np.abs((1.0 / model.loops.size) * residual).max())


def _norm(model: Model, residual: np.ndarray) -> float:
    return float(np.linalg.norm((1.0 / model.loops.size) * residual))


def _open(model: Model, q: np.ndarray, time: float) -> ModelError:
    equations = loop_equations(model, q, np.zeros(model.nu), time)
    residual = (1.0 / model.loops.size) * equations.residual
    row = int(np.argmax(np.abs(residual)))
    what = "" if model.loops.kind[row] != TRANSLATION else f" {model.units.label('length')}".rstrip()
    left = f"{abs(equations.residual[row]):.3g}{what}"
    # At a minimum of the residuals, no change that joints can cause points along the residuals.
    J = _jacobian(model, equations) * _speed_lengths(model)
    change = float(np.linalg.norm(J.T @ residual))
    if change > STATIONARY * float(np.linalg.norm(J, 2)) * float(np.linalg.norm(residual)):
        return ModelError(
            f"{model.loop_name(row)}: the search for closed loops did not converge; it ended with this loop open by "
            f"{left}, which the joints could still reduce. Start from coordinates closer to a closed configuration"
        )
    return ModelError(
        f"{model.loop_name(row)}: the loops cannot be closed; the best solution leaves this loop open by {left}. Check "
        "the lengths and the positions of its two ends, or start from coordinates closer to a closed configuration"
    )
