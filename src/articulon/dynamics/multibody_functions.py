"""The public functions of multibody dynamics."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from articulon.dynamics import articulated, poses, solvers
from articulon.dynamics.armatures import armature_energy, without_armature
from articulon.dynamics.flexible import flexible_newton_euler as flexible
from articulon.dynamics.solvers import SOLVERS
from articulon.dynamics.state_functions import (
    ACCELERATIONS,
    JOINT_FORCES,
    KINETIC_ENERGY,
    MASS_MATRIX,
    POSES,
    Definition,
    at_once,
    function_of,
    in_parallel,
    scratch,
)
from articulon.dynamics.state_rows import Rows, is_batch, one_by_one, rows_of, wrenches_on_links
from articulon.errors import ArticulonError, ModelError
from articulon.inputs import array, number, shown
from articulon.model import Model, kernel_tables
from articulon.model.array_rotations import matrices


def forward_dynamics(
    model: Model,
    q: np.ndarray,
    u: np.ndarray,
    tau: np.ndarray | None = None,
    wrenches: np.ndarray | None = None,
    gravity: np.ndarray | None = None,
    solver: str = "articulated",
    time: float = 0.0,
) -> np.ndarray:
    """Accelerations of the joints under the given forces, M u' = τ + Jᵀ w − bias (Featherstone 2008, table 7.1).

    Only the forces given here act; ``articulon.forward_dynamics`` adds the model's own. The accelerations satisfy the
    loops and driven joints of the model: the required constraint forces are included.

    ``q``, ``u``, ``tau`` and ``wrenches`` may have a leading axis of states, one state per row. An array without this
    axis is the same for all states. So are ``gravity`` and ``time``.

    Parameters
    ----------
    model
        The model.
    q, u
        Coordinates (nq,) and speeds (nu,).
    tau
        Generalised forces of the joints (nu,); None is zero.
    wrenches
        Force, then moment about the body's origin, world frame (bodies, 6); None is zero.
    gravity
        Acceleration of free fall, world frame [length/time²], shape (3,); None is zero.
    solver
        Name of the algorithm: ``"articulated"``, O(n) (Featherstone 2008), ``"divide-and-conquer"``, O(log n) on enough
        processors (Featherstone 1999), or ``"kane"``, O(n³), from partial velocities (Kane and Levinson 1985).
    time
        Time at which driven coordinates are evaluated [time].

    Returns
    -------
    numpy.ndarray
        u' (nu,), or (states, nu).

    Raises
    ------
    ModelError
        If an array has the wrong shape or is not finite, or the solver is unknown.
    """
    check_model(model, "forward_dynamics")
    if not isinstance(solver, str) or solver not in SOLVERS:
        raise ModelError(f"unknown solver {shown(solver)}; choose one of {', '.join(SOLVERS)}")
    time = number(time, "time")
    if is_batch((q, 1), (u, 1), (tau, 1), (wrenches, 2)):
        found = rows_of(*_states(model, q, u), ("tau", tau, (model.nu,)), _wrenches(model, wrenches))
        if solver == "articulated" and _in_lanes(model):
            return _many(model, ACCELERATIONS, _on_links(model, found), vector(gravity, 3, "gravity"))[0]

        def accelerations(q: np.ndarray, u: np.ndarray, tau: np.ndarray, wrenches: np.ndarray) -> np.ndarray:
            return forward_dynamics(model, q, u, tau, wrenches, gravity, solver, time)

        shapes = (model.nq,), (model.nu,), (model.nu,), (model.bodies, 6)
        return one_by_one(found, accelerations, *shapes, result=(model.nu,))
    coordinates = vector(q, model.nq, "q")
    if solver != "articulated" or model.loops.kind.size:
        speeds, forces = vector(u, model.nu, "u"), vector(tau, model.nu, "tau")
        loads, fall = link_wrenches(model, coordinates, wrenches), vector(gravity, 3, "gravity")
        return solvers.accelerations(model, solver, time, coordinates, speeds, forces, loads, fall)
    given = [coordinates, vector(u, model.nu, "u"), vector(tau, model.nu, "tau")]
    given.append(link_wrenches(model, coordinates, wrenches))
    fall = vector(gravity, 3, "gravity")
    if in_parallel(model) and model.armature is None:
        udot = np.empty(model.nu)
        articulated.forward_dynamics_parallel(kernel_tables(model).forest, *given, fall, scratch(model), udot)
        return udot
    return _found(model, ACCELERATIONS, given, fall)[0]


def _found(model: Model, which: Definition, given: Sequence[np.ndarray], gravity: Any = 0.0) -> list[np.ndarray]:
    """Results of a function for one state."""
    check_turns(model, given[0][None])
    function = function_of(model, which)
    function.shared.gravity[:] = gravity
    return function.of(*given)


def inverse_dynamics(
    model: Model,
    q: np.ndarray,
    u: np.ndarray,
    udot: np.ndarray,
    wrenches: np.ndarray | None = None,
    gravity: np.ndarray | None = None,
) -> np.ndarray:
    """Generalised forces (nu,) that produce the accelerations ``udot`` (Featherstone 2008, table 5.1).

    Parameters, units and frames are those of :func:`forward_dynamics`, whose inverse this function is. Arrays may have
    a leading axis of states here too.
    """
    if wrenches is None and udot is not None:
        quick = at_once(JOINT_FORCES, model, q, u, udot, gravity)
        if quick is not None:
            return quick if model.armature is None else quick + model.armature * udot
    check_model(model, "inverse_dynamics")
    if model.armature is not None:
        bare = inverse_dynamics(without_armature(model), q, u, udot, wrenches, gravity)
        return np.asarray(bare + model.armature * (0.0 if udot is None else np.asarray(udot)))
    if is_batch((q, 1), (u, 1), (udot, 1), (wrenches, 2)):
        found = rows_of(*_states(model, q, u), ("udot", udot, (model.nu,)), _wrenches(model, wrenches))
        if model.forest.flexible is None:
            return _many(model, JOINT_FORCES, _on_links(model, found), vector(gravity, 3, "gravity"))[0]

        def forces(q: np.ndarray, u: np.ndarray, udot: np.ndarray, wrenches: np.ndarray) -> np.ndarray:
            return inverse_dynamics(model, q, u, udot, wrenches, gravity)

        shapes = (model.nq,), (model.nu,), (model.nu,), (model.bodies, 6)
        return one_by_one(found, forces, *shapes, result=(model.nu,))
    coordinates = vector(q, model.nq, "q")
    given = [coordinates, vector(u, model.nu, "u"), vector(udot, model.nu, "udot")]
    given.append(link_wrenches(model, coordinates, wrenches))
    fall = vector(gravity, 3, "gravity")
    if model.forest.flexible is None:
        return _found(model, JOINT_FORCES, given, fall)[0]
    tau, force = np.empty(model.nu), np.zeros((model.forest.mass.size, 6))
    flexible.inverse_dynamics(kernel_tables(model).forest, *given, fall, scratch(model), force, tau)
    return tau


def mass_matrix(model: Model, q: np.ndarray) -> np.ndarray:
    """The symmetric positive-definite mass matrix M(q), (nu, nu) (Featherstone 2008, table 6.2).

    Coordinates (states, nq) give matrices (states, nu, nu).

    Parameters
    ----------
    model
        The model.
    q
        Coordinates (nq,), or (states, nq) of many states.
    """
    quick = at_once(MASS_MATRIX, model, q)
    if quick is not None:
        square = quick.reshape(model.nu, model.nu)
        return square if model.armature is None else square + np.diag(model.armature)
    check_model(model, "mass_matrix")
    if model.armature is not None:
        return mass_matrix(without_armature(model), q) + np.diag(model.armature)
    if is_batch((q, 1)):
        found = rows_of(("q", q, (model.nq,)))
        if model.forest.flexible is None:
            return _many(model, MASS_MATRIX, found)[0]
        return one_by_one(found, lambda q: mass_matrix(model, q), (model.nq,), result=(model.nu, model.nu))
    coordinates = vector(q, model.nq, "q")
    if model.forest.flexible is None:
        return _found(model, MASS_MATRIX, [coordinates])[0]
    links, nothing = model.forest.mass.size, (np.zeros(model.nu), np.zeros(model.nu))
    wrench, force, result = np.zeros((links, 6)), np.zeros((links, 6)), np.zeros((model.nu, model.nu))
    forest, ws = kernel_tables(model).forest, scratch(model)
    flexible.mass_matrix(forest, coordinates, *nothing, wrench, np.zeros(3), ws, force, result)
    return result


def kinetic_energy(model: Model, q: np.ndarray, u: np.ndarray) -> Any:
    """Kinetic energy T = ½ uᵀ M u [energy], summed body by body.

    Coordinates (states, nq) or speeds (states, nu) give energies (states,).

    Parameters
    ----------
    model
        The model.
    q
        Coordinates (nq,), or (states, nq) of many states.
    u
        Speeds (nu,), or (states, nu).
    """
    quick = at_once(KINETIC_ENERGY, model, q, u)
    if quick is not None:
        return float(quick[0] + armature_energy(model, u))
    check_model(model, "kinetic_energy")
    if model.armature is not None:
        return kinetic_energy(without_armature(model), q, u) + armature_energy(model, u)
    if is_batch((q, 1), (u, 1)):
        found = rows_of(*_states(model, q, u))
        if model.forest.flexible is None:
            return _many(model, KINETIC_ENERGY, found)[0][:, 0]
        return one_by_one(found, lambda q, u: kinetic_energy(model, q, u), (model.nq,), (model.nu,))
    return float(_found(model, KINETIC_ENERGY, [vector(q, model.nq, "q"), vector(u, model.nu, "u")])[0][0])


def body_poses(model: Model, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Positions and rotations of the bodies.

    Parameters
    ----------
    model
        The model.
    q
        Coordinates (nq,), or (states, nq) of many states.

    Returns
    -------
    positions, rotations
        Origins [length], (bodies, 3), and Euler parameters scalar first, body to world, (bodies, 4); world frame. For
        coordinates (states, nq) both have a leading axis of states.
    """
    quick = at_once(POSES, model, q)
    if quick is not None:
        end = 3 * model.bodies
        return quick[:end].reshape(-1, 3), quick[end:].reshape(-1, 4)
    check_model(model, "body_poses")
    if is_batch((q, 1)):
        found = rows_of(("q", q, (model.nq,)))
        if model.forest.flexible is None:
            places, turns = _many(model, POSES, found)
            return places, turns
        places = one_by_one(found, lambda q: body_poses(model, q)[0], (model.nq,), result=(model.bodies, 3))
        return places, one_by_one(found, lambda q: body_poses(model, q)[1], (model.nq,), result=(model.bodies, 4))
    positions, rotations = _found(model, POSES, [vector(q, model.nq, "q")])
    return positions, rotations


def check_turns(model: Model, coordinates: np.ndarray) -> None:
    """Raises ModelError, naming the row, for Euler parameters that are all zero, which describe no rotation;
    ``coordinates`` has shape (states, nq)."""
    starts, links = model.euler_parameters
    turned = np.zeros((len(coordinates), len(starts)), dtype=bool)
    for part in range(4):
        turned |= coordinates[:, starts + part] != 0.0
    if not turned.all():
        number, at = np.argwhere(~turned.T)[0]
        body, row = model.names[int(model.head[links[number]])], f"row {at}: " if len(coordinates) > 1 else ""
        raise ModelError(f"q: {row}the Euler parameters of body '{body}' are all zero, which is no rotation")


def _many(model: Model, which: Definition, found: Rows, gravity: Any = 0.0) -> tuple[np.ndarray, ...]:
    """Results of a function for many states."""
    check_turns(model, found.rows[0])
    function = function_of(model, which)
    function.shared.gravity[:] = gravity
    return function.many(found.states, found.rows)


def _states(model: Model, q: Any, u: Any) -> tuple[tuple[str, Any, tuple[int, ...]], ...]:
    """Coordinates and speeds in the form that ``rows_of`` takes."""
    return ("q", q, (model.nq,)), ("u", u, (model.nu,))


def _wrenches(model: Model, wrenches: Any) -> tuple[str, Any, tuple[int, ...]]:
    return "wrenches", wrenches, (model.bodies, 6)


def _in_lanes(model: Model) -> bool:
    """Whether states of a model are solved side by side: rigid trees without loops."""
    return model.forest.flexible is None and not model.loops.kind.size


def _on_links(model: Model, found: Rows) -> Rows:
    """Rows whose last array, wrenches on bodies, is replaced by wrenches on links."""
    *others, wrenches = found.rows
    if not wrenches.any():
        return Rows(found.states, [*others, np.zeros((1, 6 * model.forest.mass.size))])
    return Rows(found.states, [*others, wrenches_on_links(model, found, wrenches)])


def points_on_links(model: Model, q: np.ndarray, links: np.ndarray, points: np.ndarray) -> np.ndarray:
    """World positions (points, 3) of points fixed on links, given in the links' frames (points, 3)."""
    positions, rotations = np.empty(points.shape), np.empty((links.size, 4))
    unturned = np.tile([1.0, 0.0, 0.0, 0.0], (links.size, 1))
    tables = (links.copy(), np.ascontiguousarray(points), unturned)
    poses.body_poses(
        kernel_tables(model).forest, *tables, vector(q, model.nq, "q"), scratch(model), positions, rotations
    )
    return positions


def body_velocities(model: Model, q: np.ndarray, u: np.ndarray) -> np.ndarray:
    """Velocity of each body's origin in the world frame [length/time], then its angular velocity in its own frame
    [rad/time], (bodies, 6)."""
    result, ws = np.zeros((model.bodies, 6)), scratch(model)
    poses.link_velocities(kernel_tables(model).forest, vector(q, model.nq, "q"), vector(u, model.nu, "u"), ws)
    moving = np.flatnonzero(model.link >= 0)
    link = model.link[moving]
    positions, rotations = body_poses(model, q)
    twist = ws.twist[link]
    arm = positions[moving] - ws.position[link]
    result[moving, :3] = twist[:, :3] + np.cross(twist[:, 3:], arm)
    result[moving, 3:] = np.einsum("kji,kj->ki", matrices(rotations[moving]), twist[:, 3:])
    return result


def moved(model: Model, q: np.ndarray, u: np.ndarray, time: float = 1.0) -> np.ndarray:
    """Coordinates (nq,) after a time at constant joint speeds (nu,)."""
    result = vector(q, model.nq, "q").copy()
    poses.displace(kernel_tables(model).forest, result, vector(u, model.nu, "u"), time)
    return result


def link_wrenches(model: Model, q: np.ndarray, wrenches: Any) -> np.ndarray:
    """Wrenches on bodies (bodies, 6) as wrenches on links about the links' origins (links, 6)."""
    links = model.forest.mass.size
    if wrenches is None:
        return np.zeros((links, 6))
    given = array(wrenches, (model.bodies, 6), "wrenches")
    if np.array_equal(model.head, np.arange(model.bodies)):
        return given
    positions, _ = body_poses(model, q)
    moved = np.flatnonzero(model.link >= 0)
    link, force = model.link[moved], given[moved, :3]
    # A link's origin is that of its head body. A node is different: its head is the flexible body.
    origins = scratch(model).position[link] if model.forest.flexible is not None else positions[model.head[link]]
    arm = positions[moved] - origins
    result = np.zeros((links, 6))
    np.add.at(result, link, np.hstack([force, given[moved, 3:] + np.cross(arm, force)]))
    return result


def check_model(model: Any, where: str) -> None:
    """Raises ModelError if ``model`` is not a model."""
    if not isinstance(model, Model):
        raise ModelError(f"{where}: expected a model that a ModelBuilder has built, got {shown(model)}")


def vector(value: Any, size: int, name: str, error: type[ArticulonError] = ModelError) -> np.ndarray:
    """``value`` as a contiguous array of finite floats for a kernel; zeros for None. Raises ``error``, with the name,
    for anything else."""
    # To the compiler a read-only array is another type, which needs another compilation. So no read-only array is
    # passed on.
    return np.zeros(size) if value is None else array(value, (size,), name, error)
