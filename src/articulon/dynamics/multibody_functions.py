"""The public functions of multibody dynamics."""

import threading
import weakref
from typing import Any

import numpy as np

from articulon.dynamics import articulated, kinetic_energies, newton_euler, poses, solvers
from articulon.dynamics import mass_matrix as composite
from articulon.dynamics.flexible import flexible_newton_euler as flexible
from articulon.dynamics.solvers import SOLVERS
from articulon.errors import ArticulonError, ModelError
from articulon.inputs import array, number, shown
from articulon.model import Model, Workspace, kernel_tables, workspace
from articulon.model.array_rotations import matrices

PARALLEL_LINKS = 4096
"""From this many links on, trees run in parallel threads: below it, starting them costs more. A fixed rule, not the
number of threads, chooses the kernel, so that the bits do not depend on the threads."""

_scratch = threading.local()


def scratch(model: Model) -> Workspace:
    """This thread's workspace for a model, kept between calls."""
    if not hasattr(_scratch, "workspaces"):
        _scratch.workspaces = weakref.WeakKeyDictionary()
    found = _scratch.workspaces.get(model)
    if found is None:
        found = _scratch.workspaces[model] = workspace(kernel_tables(model).forest)
    return found


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

    Only the forces given here act; ``articulon.forward_dynamics`` adds the model's own. Loops and driven joints of the
    model are kept: the accelerations fulfil their conditions, with whatever forces of constraint that takes.

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
        At which driven coordinates are looked up [time].

    Returns
    -------
    numpy.ndarray
        u' (nu,).

    Raises
    ------
    ModelError
        If an array has the wrong shape or holds what is no finite number, or the solver is unknown.
    """
    check_model(model, "forward_dynamics")
    if not isinstance(solver, str) or solver not in SOLVERS:
        raise ModelError(f"unknown solver {shown(solver)}; choose one of {', '.join(SOLVERS)}")
    time = number(time, "time")
    coordinates = vector(q, model.nq, "q")
    if solver != "articulated" or model.loops.kind.size:
        speeds, forces = vector(u, model.nu, "u"), vector(tau, model.nu, "tau")
        loads, fall = link_wrenches(model, coordinates, wrenches), vector(gravity, 3, "gravity")
        return solvers.accelerations(model, solver, time, coordinates, speeds, forces, loads, fall)
    arguments = (
        kernel_tables(model).forest,
        coordinates,
        vector(u, model.nu, "u"),
        vector(tau, model.nu, "tau"),
        link_wrenches(model, coordinates, wrenches),
        vector(gravity, 3, "gravity"),
        scratch(model),
        udot := np.empty(model.nu),
    )
    if model.trees > 1 and model.forest.mass.size >= PARALLEL_LINKS:
        articulated.forward_dynamics_parallel(*arguments)
    else:
        articulated.forward_dynamics(*arguments)
    return udot


def inverse_dynamics(
    model: Model,
    q: np.ndarray,
    u: np.ndarray,
    udot: np.ndarray,
    wrenches: np.ndarray | None = None,
    gravity: np.ndarray | None = None,
) -> np.ndarray:
    """Generalised forces (nu,) that produce the accelerations ``udot`` (Featherstone 2008, table 5.1).

    Parameters, units and frames are those of :func:`forward_dynamics`, of which this is the inverse.
    """
    check_model(model, "inverse_dynamics")
    tau, coordinates = np.empty(model.nu), vector(q, model.nq, "q")
    (flexible.inverse_dynamics if model.forest.flexible is not None else newton_euler.inverse_dynamics)(
        kernel_tables(model).forest,
        coordinates,
        vector(u, model.nu, "u"),
        vector(udot, model.nu, "udot"),
        link_wrenches(model, coordinates, wrenches),
        vector(gravity, 3, "gravity"),
        scratch(model),
        np.zeros((model.forest.mass.size, 6)),
        tau,
    )
    return tau


def mass_matrix(model: Model, q: np.ndarray) -> np.ndarray:
    """The symmetric positive-definite mass matrix M(q), (nu, nu) (Featherstone 2008, table 6.2)."""
    check_model(model, "mass_matrix")
    result = np.zeros((model.nu, model.nu))
    if model.forest.flexible is not None:
        links, nothing = model.forest.mass.size, (np.zeros(model.nu), np.zeros(model.nu))
        wrench, force = np.zeros((links, 6)), np.zeros((links, 6))
        coordinates, ws = vector(q, model.nq, "q"), scratch(model)
        flexible.mass_matrix(kernel_tables(model).forest, coordinates, *nothing, wrench, np.zeros(3), ws, force, result)
        return result
    composite.mass_matrix(
        kernel_tables(model).forest,
        vector(q, model.nq, "q"),
        scratch(model),
        np.zeros((model.forest.mass.size, 21)),
        result,
    )
    return result


def kinetic_energy(model: Model, q: np.ndarray, u: np.ndarray) -> float:
    """Kinetic energy T = ½ uᵀ M u [energy], summed body by body."""
    check_model(model, "kinetic_energy")
    return float(
        kinetic_energies.kinetic_energy_at(
            kernel_tables(model).forest, vector(q, model.nq, "q"), vector(u, model.nu, "u"), scratch(model)
        )
    )


def body_poses(model: Model, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where the bodies are.

    Returns
    -------
    positions, rotations
        Origins [length], (bodies, 3), and Euler parameters scalar first, body to world, (bodies, 4); world frame.
    """
    check_model(model, "body_poses")
    positions, rotations = np.empty((model.bodies, 3)), np.empty((model.bodies, 4))
    poses.body_poses(
        kernel_tables(model).forest,
        model.link,
        model.offset_position,
        model.offset_rotation,
        vector(q, model.nq, "q"),
        scratch(model),
        positions,
        rotations,
    )
    return positions, rotations


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
    # A link's origin is that of its head, but for a node, whose head is the flexible body.
    origins = scratch(model).position[link] if model.forest.flexible is not None else positions[model.head[link]]
    arm = positions[moved] - origins
    result = np.zeros((links, 6))
    np.add.at(result, link, np.hstack([force, given[moved, 3:] + np.cross(arm, force)]))
    return result


def check_model(model: Any, where: str) -> None:
    """Raises ModelError for what is no model."""
    if not isinstance(model, Model):
        raise ModelError(f"{where}: expected a model that a ModelBuilder has built, got {shown(model)}")


def vector(value: Any, size: int, name: str, error: type[ArticulonError] = ModelError) -> np.ndarray:
    """``value`` as a contiguous array of finite floats that a kernel takes, zeros for None. Raises ``error`` by its
    name."""
    # A read-only array is another type to the compiler, and a kernel for it another compilation: none is handed on.
    return np.zeros(size) if value is None else array(value, (size,), name, error)
