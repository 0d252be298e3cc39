"""Forward and inverse dynamics for users, with given forces and, on request, the model's own."""

import numpy as np

from articulon.dynamics import multibody_functions
from articulon.dynamics.state_functions import ACCELERATIONS, at_once
from articulon.dynamics.state_rows import is_batch, rows_of
from articulon.errors import ModelError
from articulon.forces.contact.contact_engine import contact_of
from articulon.forces.evaluation import generalized_forces
from articulon.inputs import flag
from articulon.model import Model


def forward_dynamics(
    model: Model,
    q: np.ndarray,
    u: np.ndarray,
    tau: np.ndarray | None = None,
    wrenches: np.ndarray | None = None,
    gravity: np.ndarray | None = None,
    solver: str = "articulated",
    time: float = 0.0,
    *,
    forces: bool = False,
) -> np.ndarray:
    """Accelerations of the joints under the given forces, M u' = τ + Jᵀ w − bias (Featherstone 2008, table 7.1).

    The model's own forces, added with ``add_force``, are ignored by default: only the forces given here act. With
    ``forces=True`` they act as well. The accelerations always satisfy the loop constraints and driven joints of the
    model: the required constraint forces act too.

    A leading axis in the arrays solves many states at once, one per row: ``q`` (states, nq), ``u`` (states, nu) and, if
    they differ between states, ``tau`` (states, nu) and ``wrenches`` (states, bodies, 6). An array without this axis
    holds for all states. States of rigid trees without loops are packed side by side in the processor's vector
    registers, and blocks of them are distributed over threads; other states are solved one after another.

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
        Gravitational acceleration, world frame [length/time²], shape (3,); None is zero. It acts in addition to a
        ``Gravity`` among the model's own forces, if these act.
    solver
        Name of the algorithm: ``"articulated"``, O(n) (Featherstone 2008), ``"divide-and-conquer"``, O(log n) on enough
        processors (Featherstone 1999), or ``"kane"``, O(n³), from partial velocities (Kane and Levinson 1985).
    time
        Time at which driven coordinates and the model's own forces are evaluated [time].
    forces
        Whether the model's own forces act too. They are unscaled and without Brownian forces, as in
        :func:`articulon.generalized_forces`.

    Returns
    -------
    numpy.ndarray
        u' (nu,): the rates of the speeds of all joints, in the order of ``model.u0``; (states, nu) for many states.

    Raises
    ------
    ModelError
        If an array has the wrong shape or a value that is not finite, if the solver is unknown, or if the model's own
        forces are requested and include contacts: contact forces depend on their history, which a state does not
        contain.

    Examples
    --------
    >>> import articulon as ar
    >>> builder = ar.ModelBuilder(units="kg-m-s")
    >>> ball = builder.add_body("ball", mass=2, inertia=1, joint=ar.Free())
    >>> builder.add_force(ar.forces.Gravity((0, 0, -9.81)))
    >>> model = builder.build()
    >>> float(ar.forward_dynamics(model, model.q0, model.u0)[2])
    0.0
    >>> float(ar.forward_dynamics(model, model.q0, model.u0, forces=True)[2])
    -9.81
    """
    if forces is False and wrenches is None and solver == "articulated" and type(time) is float and time == 0.0:
        quick = at_once(ACCELERATIONS, model, q, u, tau, gravity)
        if quick is not None:
            return quick
    if flag(forces, "forces", ModelError):
        multibody_functions.check_model(model, "forward_dynamics")
        given = rows_of(("q", q, (model.nq,)), ("u", u, (model.nu,)), ("tau", tau, (model.nu,))).rows[2]
        own = _own(model, q, u, time, "forward_dynamics")
        tau = (given if is_batch((tau, 1)) else given[0]) + own
    return multibody_functions.forward_dynamics(model, q, u, tau, wrenches, gravity, solver, time)


def inverse_dynamics(
    model: Model,
    q: np.ndarray,
    u: np.ndarray,
    udot: np.ndarray,
    wrenches: np.ndarray | None = None,
    gravity: np.ndarray | None = None,
    *,
    forces: bool = False,
    time: float = 0.0,
) -> np.ndarray:
    """Generalised forces τ that produce the accelerations ``udot`` (Featherstone 2008, table 5.1).

    The model's own forces, added with ``add_force``, are ignored by default: only τ and the forces given here act. With
    ``forces=True`` they act as well, and τ is the force needed in addition. Forces of loops and drives are not
    included: τ is that of the model with its loops cut.

    Parameters
    ----------
    model
        The model.
    q, u, udot
        Coordinates (nq,), speeds (nu,) and their rates (nu,).
    wrenches
        Force, then moment about the body's origin, world frame (bodies, 6); None is zero.
    gravity
        Acceleration of free fall, world frame [length/time²], shape (3,); None is zero.
    forces
        Whether the model's own forces act too; see :func:`articulon.forward_dynamics`.
    time
        Time at which the model's own forces are evaluated [time].

    Returns
    -------
    numpy.ndarray
        τ (nu,), in the order of ``model.u0``; (states, nu) if arrays have a leading axis of states.

    Raises
    ------
    ModelError
        As for :func:`articulon.forward_dynamics`.
    """
    found = multibody_functions.inverse_dynamics(model, q, u, udot, wrenches, gravity)
    if flag(forces, "forces", ModelError):
        found -= _own(model, q, u, time, "inverse_dynamics")
    return found


def _own(model: Model, q: np.ndarray, u: np.ndarray, time: float, where: str) -> np.ndarray:
    """The model's own forces without Brownian ones (nu,) or (states, nu)."""
    if contact_of(model) is not None:
        raise ModelError(
            f"{where}: forces: contact forces depend on their history, which a state does not contain; "
            "leave out `forces` and give the contact forces as wrenches"
        )
    return generalized_forces(model, q, u, time=time)
