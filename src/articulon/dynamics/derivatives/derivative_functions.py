"""The public functions for derivatives of the dynamics."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from articulon.dynamics.derivatives.derivative_definitions import (
    OF_ACCELERATIONS,
    OF_FORCES,
    OF_LOOPS,
    TIMES,
    TRANSPOSED,
    Definitions,
)
from articulon.dynamics.derivatives.flexible_derivatives import (
    acceleration_change,
    acceleration_matrices,
    force_matrices,
)
from articulon.dynamics.derivatives.loop_derivatives import LinkedModel, constrained
from articulon.dynamics.multibody_functions import (
    body_poses,
    check_model,
    check_turns,
    forward_dynamics,
    inverse_dynamics,
    link_wrenches,
    mass_matrix,
    vector,
)
from articulon.dynamics.state_functions import at_once, function_of, scratch
from articulon.dynamics.state_rows import is_batch, one_by_one, rows_of
from articulon.errors import ModelError
from articulon.inputs import array
from articulon.model import Model, kernel_tables


class AccelerationDerivatives(NamedTuple):
    """Derivatives of u', each (nu, nu), one row per acceleration."""

    q: np.ndarray
    """∂u'/∂q with respect to the coordinates, in their tangent space."""
    u: np.ndarray
    """∂u'/∂u with respect to the speeds."""
    tau: np.ndarray
    """∂u'/∂τ with respect to the joint forces: M⁻¹."""


class ForceDerivatives(NamedTuple):
    """Derivatives of τ, each (nu, nu), one row per force."""

    q: np.ndarray
    """∂τ/∂q with respect to the coordinates, in their tangent space."""
    u: np.ndarray
    """∂τ/∂u with respect to the speeds."""
    udot: np.ndarray
    """∂τ/∂u' with respect to the accelerations: M."""


class Products(NamedTuple):
    """Products of wᵀ with the derivatives of u', each (nu,)."""

    q: np.ndarray
    """wᵀ ∂u'/∂q, in the tangent space of the coordinates."""
    u: np.ndarray
    """wᵀ ∂u'/∂u."""
    tau: np.ndarray
    """wᵀ ∂u'/∂τ = wᵀ M⁻¹."""


def derivatives(
    model: Model,
    q: np.ndarray,
    u: np.ndarray,
    tau: np.ndarray | None = None,
    wrenches: np.ndarray | None = None,
    gravity: np.ndarray | None = None,
    time: float = 0.0,
) -> AccelerationDerivatives:
    """Derivatives of :func:`articulon.forward_dynamics` with respect to coordinates, speeds and joint forces.

    Derivatives with respect to coordinates are in their tangent space: column k is the rate of change of u' when q
    moves with unit k-th speed and all other speeds zero. For angles and lengths this is q itself. A spherical joint has
    three columns for its four Euler parameters: rotations about the axes of its body. The speeds are held fixed.

    The derivatives are computed by recursion, not by differences (Carpentier and Mansard, RSS 2018; Singh, Russell and
    Wensing, IEEE Robot. Autom. Lett. 7, 1783, 2022): ∂u'/∂q = −M⁻¹ ∂τ/∂q at the accelerations under the given forces,
    in a time proportional to the number of entries, nu². With flexible bodies ∂τ/∂q is computed column by column, to
    rounding, by inverse dynamics of complex numbers (Squire and Trapp, SIAM Rev. 40, 110, 1998), and M⁻¹ by dense
    algebra, in O(nu³). The model's own forces, those of ``add_force``, are not included, as by default in
    :func:`articulon.forward_dynamics`. Arrays may have a leading axis of states, one state per row, as in that
    function.

    Parameters
    ----------
    model
        The model: trees of rigid and flexible bodies on any joints, loops and driven joints. Modes are coordinates and
        speeds like others; their own stiffness and damping are forces of the model. Redundant loops, such as planar
        ones in space, have derivatives only along the motions that the loops allow.
    q, u
        Coordinates (nq,) and speeds (nu,).
    tau
        Generalised forces of the joints (nu,), which do not depend on the state; None is zero.
    wrenches
        Force, then moment about the body's origin, world frame (bodies, 6), which stay fixed while bodies move; None is
        zero.
    gravity
        Acceleration of free fall, world frame [length/time²], shape (3,); None is zero.
    time
        Time at which driven coordinates are evaluated [time].

    Returns
    -------
    AccelerationDerivatives
        ``q``, ``u`` and ``tau``, each (nu, nu): ∂u'/∂q, ∂u'/∂u and ∂u'/∂τ = M⁻¹.

    Raises
    ------
    ModelError
        If an array has the wrong shape or is not finite.

    Examples
    --------
    >>> import articulon as ar
    >>> builder = ar.ModelBuilder(units="kg-m-s")
    >>> rod = builder.add_body("rod", mass=1, inertia=0.1, com=(0, 0, -1), joint=ar.Revolute((0, 1, 0)))
    >>> model = builder.build()
    >>> d = ar.derivatives(model, model.q0, model.u0, gravity=(0, 0, -9.81))
    >>> round(float(d.q[0, 0]), 6)                          # −m g l/(I + m l²)
    -8.918182
    """
    quick = None
    if wrenches is None and not (isinstance(model, Model) and model.loops.kind.size):
        quick = at_once(OF_ACCELERATIONS.plain, model, q, u, tau, gravity)
    if quick is not None:
        matrices = quick.reshape(3, model.nu, model.nu)
        # An array takes twice as long to unpack as to index.
        return AccelerationDerivatives(matrices[0], matrices[1], matrices[2])
    check_model(model, "derivatives")
    if is_batch((q, 1), (u, 1), (tau, 1), (wrenches, 2)):

        def of_one(q: Any, u: Any, tau: Any, wrenches: Any) -> np.ndarray:
            return np.array(derivatives(model, q, u, tau, wrenches, gravity, time))

        many = _of_many(model, (q, u, tau, wrenches), of_one, (3, model.nu, model.nu))
        return AccelerationDerivatives(*many.swapaxes(0, 1))
    forces = vector(tau, model.nu, "tau")
    if _flexible(model):
        return AccelerationDerivatives(*acceleration_matrices(model, q, u, forces, wrenches, gravity, time))
    if _looped(model):
        return _with_loops(model, q, u, forces, wrenches, gravity, time)
    return AccelerationDerivatives(*_of_state(model, OF_ACCELERATIONS, q, u, forces, wrenches, gravity)[0])


def force_derivatives(
    model: Model,
    q: np.ndarray,
    u: np.ndarray,
    udot: np.ndarray,
    wrenches: np.ndarray | None = None,
    gravity: np.ndarray | None = None,
) -> ForceDerivatives:
    """Derivatives of :func:`articulon.inverse_dynamics` with respect to coordinates, speeds and accelerations.

    The tangent space and the errors are those of :func:`articulon.derivatives`.

    Parameters
    ----------
    model
        The model.
    q, u
        Coordinates (nq,) and speeds (nu,).
    udot
        Accelerations (nu,).
    wrenches
        Force, then moment about the body's origin, world frame (bodies, 6), which stay fixed while bodies move; None is
        zero.
    gravity
        Acceleration of free fall, world frame [length/time²], shape (3,); None is zero.

    Returns
    -------
    ForceDerivatives
        ``q``, ``u`` and ``udot``, each (nu, nu): ∂τ/∂q, ∂τ/∂u and ∂τ/∂u' = M.
    """
    check_model(model, "force_derivatives")
    if is_batch((q, 1), (u, 1), (udot, 1), (wrenches, 2)):

        def of_one(q: Any, u: Any, udot: Any, wrenches: Any) -> np.ndarray:
            return np.array(force_derivatives(model, q, u, udot, wrenches, gravity))

        many = _of_many(model, (q, u, udot, wrenches), of_one, (3, model.nu, model.nu))
        return ForceDerivatives(*many.swapaxes(0, 1))
    rates = vector(udot, model.nu, "udot")
    _check_open(model, "force_derivatives")
    if _flexible(model):
        return ForceDerivatives(*force_matrices(model, q, u, rates, wrenches, gravity), mass_matrix(model, q))
    by_q, by_u = tree_force_derivatives(model, q, u, rates, wrenches, gravity)
    return ForceDerivatives(by_q, by_u, mass_matrix(model, q))


def tree_force_derivatives(
    model: Model, q: np.ndarray, u: np.ndarray, udot: np.ndarray, wrenches: Any = None, gravity: Any = None
) -> tuple[np.ndarray, np.ndarray]:
    """∂τ/∂q and ∂τ/∂u (nu, nu) of the joint forces of a rigid-body model, without the forces of its loops."""
    ((by_q, by_u),) = _of_state(model, OF_FORCES, q, u, udot, wrenches, gravity)
    return by_q, by_u


def vector_jacobian(
    model: Model,
    q: np.ndarray,
    u: np.ndarray,
    w: np.ndarray,
    tau: np.ndarray | None = None,
    wrenches: np.ndarray | None = None,
    gravity: np.ndarray | None = None,
    time: float = 0.0,
) -> Products:
    """Products of wᵀ with the derivatives of :func:`articulon.forward_dynamics`, in O(n) and without a matrix.

    Parameters, tangent space and errors are those of :func:`articulon.derivatives`. For models with loops, driven
    joints or flexible bodies, the products use the matrices of that function.

    Parameters
    ----------
    model, q, u, tau, wrenches, gravity, time
        As in :func:`articulon.derivatives`.
    w
        Weights of the accelerations (nu,).

    Returns
    -------
    Products
        ``q``, ``u`` and ``tau``, each (nu,): wᵀ ∂u'/∂q, wᵀ ∂u'/∂u and wᵀ M⁻¹.
    """
    quick = None if wrenches is not None else _quick(TRANSPOSED, model, q, u, (tau, w), gravity)
    if quick is not None:
        products = quick.reshape(3, model.nu)
        return Products(products[0], products[1], products[2])
    check_model(model, "vector_jacobian")
    given = np.array([vector(tau, model.nu, "tau"), array(w, (model.nu,), "w")])
    if _looped(model) or _flexible(model):
        return Products(*(given[1] @ one for one in derivatives(model, q, u, given[0], wrenches, gravity, time)))
    return Products(*_of_state(model, TRANSPOSED, q, u, given, wrenches, gravity))


def jacobian_vector(
    model: Model,
    q: np.ndarray,
    u: np.ndarray,
    dq: np.ndarray | None = None,
    du: np.ndarray | None = None,
    dtau: np.ndarray | None = None,
    tau: np.ndarray | None = None,
    wrenches: np.ndarray | None = None,
    gravity: np.ndarray | None = None,
    time: float = 0.0,
) -> np.ndarray:
    """Change of the result of :func:`articulon.forward_dynamics` with its arguments, in O(n) and without a matrix.

    Parameters, tangent space and errors are those of :func:`articulon.derivatives`. For models with loops or driven
    joints, the change uses the matrices of that function.

    Parameters
    ----------
    model, q, u, tau, wrenches, gravity, time
        As in :func:`articulon.derivatives`.
    dq, du, dtau
        Changes of the coordinates in their tangent space, of the speeds and of the forces, each (nu,); None is zero.

    Returns
    -------
    numpy.ndarray
        ∂u'/∂q dq + ∂u'/∂u du + M⁻¹ dtau (nu,).
    """
    quick = None if wrenches is not None else _quick(TIMES, model, q, u, (tau, dq, du, dtau), gravity)
    if quick is not None:
        return quick
    check_model(model, "jacobian_vector")
    changes = ("tau", tau), ("dq", dq), ("du", du), ("dtau", dtau)
    given = np.array([vector(one, model.nu, name) for name, one in changes])
    if _flexible(model) and not _looped(model):
        return acceleration_change(model, q, u, given, wrenches, gravity)
    if _looped(model):
        matrices = derivatives(model, q, u, given[0], wrenches, gravity, time)
        return np.sum([one @ change for one, change in zip(matrices, given[1:], strict=True)], axis=0)
    return _of_state(model, TIMES, q, u, given, wrenches, gravity)[0]


def _looped(model: Model) -> bool:
    """Whether a model has loops or driven joints."""
    return bool(model.loops.kind.size)


def _flexible(model: Model) -> bool:
    """Whether any body deforms."""
    return model.forest.flexible is not None


def _of_many(
    model: Model, given: tuple[Any, ...], of_one: Callable[..., np.ndarray], shape: tuple[int, ...]
) -> np.ndarray:
    """Results for many states in turn, from q, u, forces or accelerations, and wrenches."""
    names = ("q", (model.nq,)), ("u", (model.nu,)), ("tau or udot", (model.nu,)), ("wrenches", (model.bodies, 6))
    found = rows_of(*((name, value, size) for (name, size), value in zip(names, given, strict=True)))
    acts = given[3] is not None

    def one(q: Any, u: Any, forces: Any, wrenches: Any) -> np.ndarray:
        return of_one(q, u, forces, wrenches if acts else None)

    return one_by_one(found, one, *(size for _, size in names), result=shape)


def _with_loops(
    model: Model, q: Any, u: Any, tau: np.ndarray, wrenches: Any, gravity: Any, time: float
) -> AccelerationDerivatives:
    """The derivatives of a model with loops or driven joints."""
    udot = forward_dynamics(model, q, u, tau, wrenches, gravity, time=time)
    exerted = inverse_dynamics(model, q, u, udot, wrenches, gravity) - tau
    (dq, du), inverse, columns, acceleration = _of_state(model, OF_LOOPS, q, u, udot, wrenches, gravity)
    fall, tables = vector(gravity, 3, "gravity"), kernel_tables(model)
    linked = LinkedModel(tables.forest, tables.loops, scratch(model), columns, acceleration, fall)
    return AccelerationDerivatives(*constrained(linked, dq, du, inverse, exerted))


def _quick(which: Definitions, model: Any, q: Any, u: Any, rows: tuple[Any, ...], gravity: Any) -> np.ndarray | None:
    """Results for one state from plain arrays; None for any other input."""
    if type(u) is not np.ndarray:
        return None
    given = np.empty((len(rows), u.size))
    for k, row in enumerate(rows):
        if row is None:
            given[k] = 0.0
        elif type(row) is np.ndarray and row.shape == u.shape and row.dtype == np.float64:
            given[k] = row
        else:
            return None
    return at_once(which.plain, model, q, u, given.reshape(-1), gravity)


def _of_state(
    model: Model, which: Definitions, q: Any, u: Any, given: np.ndarray, wrenches: Any, gravity: Any
) -> list[np.ndarray]:
    """Results for one state, from q, u, the further inputs ``given``, and wrenches."""
    state = [vector(q, model.nq, "q"), vector(u, model.nu, "u"), given]
    check_turns(model, state[0][None])
    loads: list[np.ndarray] = []
    if wrenches is not None:
        acting = array(wrenches, (model.bodies, 6), "wrenches")
        loads = [link_wrenches(model, state[0], acting), _loads(model, state[0], acting)]
    function = function_of(model, which.loaded if loads else which.plain)
    function.shared.gravity[:] = vector(gravity, 3, "gravity")
    return function.of(*state, *loads)


def _check_open(model: Model, where: str) -> None:
    """Raises ModelError for a model with loops, because the forces of loops are unknown in inverse dynamics."""
    if model.loops.kind.size:
        what = "driven joints" if model.drives else "loops"
        raise ModelError(f"{where}: models with {what} are not supported here; use ar.derivatives")


def _loads(model: Model, q: np.ndarray, wrenches: np.ndarray) -> np.ndarray:
    """Wrenches on bodies as given wrenches on each link, in the layout of ``composites.py``, (links, 15)."""
    positions, _ = body_poses(model, q)
    moved = np.flatnonzero(model.link >= 0)
    link = model.link[moved]
    arm, force = positions[moved] - positions[model.head[link]], wrenches[moved, :3]
    # [o×][f×] = f oᵀ − (o·f) 1
    turned = force[:, :, None] * arm[:, None, :] - np.einsum("ki,ki->k", arm, force)[:, None, None] * np.eye(3)
    result = np.zeros((model.forest.mass.size, 15))
    np.add.at(result, link, np.hstack([force, wrenches[moved, 3:], turned.reshape(-1, 9)]))
    return result
