"""Objectives: functions of the state at the end of a run, with their derivatives.

An objective is a user's function, or the name of an observable that this file defines. Kinetic energy is ½ uᵀ M u, so
its derivative with respect to coordinates is half of uᵀ ∂(M u)/∂q. The derivative of a potential energy is minus its
generalised forces. The derivative of the position of a point is the generalised force of a unit force at the point.
"""

import difflib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from articulon.cases.overrides import parts
from articulon.dynamics import inverse_dynamics, kinetic_energy, mass_matrix
from articulon.dynamics.centres_of_mass import centre_of_mass, modal_arms
from articulon.dynamics.derivatives.derivative_functions import tree_force_derivatives
from articulon.dynamics.derivatives.flexible_derivatives import force_matrices
from articulon.errors import CaseError
from articulon.forces.evaluation import generalized_forces, potential_energy
from articulon.forces.gravity import Gravity
from articulon.inputs import array, number, shown
from articulon.integrate.integrators import BrownianDynamics
from articulon.model import Model
from articulon.model.coordinate_names import coordinate_names

Found = tuple[float, np.ndarray, np.ndarray]
"""Value of an objective, its derivatives with respect to the coordinates, (nq,) or in their tangent space (nu,), and
its derivatives with respect to the speeds (nu,)."""
ENERGIES = ("kinetic_energy", "potential_energy")


@dataclass(frozen=True)
class Objective:
    """A function that is differentiated."""

    of: Callable[[np.ndarray, np.ndarray], Found]
    """Value and derivatives at given coordinates and speeds."""
    of_model: Callable[[Model, np.ndarray, np.ndarray], float] | None = field(default=None)
    """Value for a model at a state; None if the objective does not depend directly on the model's numbers."""
    of_bodies: bool = True
    """Whether the direct dependence is on the numbers of bodies only, not on the numbers of forces."""
    is_time: bool = False
    """Whether the objective is the time at which the run ends, not a function of the final state."""


NO_SPEEDS = (
    "'overdamped' leaves inertia out, and speeds are zero in its states; choose 'potential_energy', a coordinate, "
    "'position.BODY.x' or 'distance.BODY.BODY', or a rule with inertia, such as 'friction-implicit'"
)
STOP_TIME = "stop_time"
"""Name of the objective "time at which a run stops"."""


def objective_of(model: Model, objective: Any, where: str, *, stops: bool, integrator: Any) -> Objective:
    """Return the objective that a user gives for a run with an integrator; ``stops`` says whether the run may stop
    early. Raises CaseError for an invalid objective, and for an objective of speeds with an integrator without
    inertia."""
    still = isinstance(integrator, BrownianDynamics)
    if isinstance(objective, Objective):
        return objective
    if isinstance(objective, str) and objective == STOP_TIME:
        if not stops:
            raise CaseError(f"{where}: objective: '{STOP_TIME}' is the time at which a stop ends the run; give a stop")
        return Objective(lambda q, u: (0.0, np.zeros(model.nu), np.zeros(model.nu)), is_time=True)
    if isinstance(objective, str):
        if still and (objective == "kinetic_energy" or objective in speed_names(model)):
            raise CaseError(f"{where}: objective: '{objective}': {NO_SPEEDS}")
        return _named(model, objective, f"{where}: objective")
    if not callable(objective) or isinstance(objective, type):
        raise CaseError(
            f"{where}: objective: expected a name, such as 'kinetic_energy', or a function of q and u that returns its "
            f"value and its derivatives with respect to q and u, got {shown(objective)}"
        )

    def checked(q: np.ndarray, u: np.ndarray) -> Found:
        found = objective(q, u)
        if not isinstance(found, tuple) or len(found) != 3:
            raise CaseError(
                f"{where}: objective: the function must return its value and its derivatives with respect to q and u, "
                f"got {shown(found)}"
            )
        size = model.nu if np.shape(found[1]) == (model.nu,) else model.nq
        by_u = array(found[2], (model.nu,), f"{where}: objective, derivatives with respect to u", CaseError)
        if still and by_u.any():
            raise CaseError(f"{where}: objective, derivatives with respect to u: expected zeros: {NO_SPEEDS}")
        return (
            number(found[0], f"{where}: objective, value", CaseError),
            array(found[1], (size,), f"{where}: objective, derivatives with respect to q", CaseError),
            by_u,
        )

    return Objective(checked)


def speed_names(model: Model) -> list[str]:
    """Names of the speeds, as objectives."""
    return [one for one, _ in coordinate_names(model)[1]]


def _named(model: Model, name: str, where: str) -> Objective:
    """Return an observable by its name."""
    if name == "kinetic_energy":
        return Objective(lambda q, u: _kinetic(model, q, u), lambda model, q, u: float(kinetic_energy(model, q, u)))
    if name == "potential_energy":
        return Objective(
            lambda q, u: _potential(model, q), lambda model, q, u: float(potential_energy(model, q)), of_bodies=False
        )
    of_q, of_u = [one for one, _ in coordinate_names(model)[0]], speed_names(model)
    if name in of_q:
        return Objective(_entry(of_q.index(name), model.nq, model.nu))
    if name in of_u:
        return Objective(_entry(model.nq + of_u.index(name), model.nq, model.nu))
    path = [str(part) for part in parts(name)]
    if path[0] == "distance" and len(path) == 3:
        return _distance(model, _body(model, path[1], name, where), _body(model, path[2], name, where), where)
    if path[0] == "position" and len(path) == 3 and path[2] in "xyz":
        return _position(model, _body(model, path[1], name, where), "xyz".index(path[2]))
    close = difflib.get_close_matches(name, [*ENERGIES, *of_q, *of_u], n=1)
    hint = f"; did you mean '{close[0]}'?" if close else ""
    raise CaseError(
        f"{where}: there is no observable {shown(name)} with derivatives{hint}; choose {', '.join(ENERGIES)}, the name "
        "of a coordinate or speed, 'position.BODY.x' or 'distance.BODY.BODY' of centres of mass, or a function"
    )


def _body(model: Model, body: str, name: str, where: str) -> int:
    if body not in model.names:
        close = difflib.get_close_matches(body, model.names, n=1)
        hint = f"; did you mean '{close[0]}'?" if close else ""
        raise CaseError(f"{where}: {name}: there is no body '{body}'{hint}")
    return model.body(body)


def _entry(k: int, nq: int, nu: int) -> Callable[[np.ndarray, np.ndarray], Found]:
    """Return one of the coordinates and speeds as an objective."""
    unit = np.zeros(nq + nu)
    unit[k] = 1.0
    return lambda q, u: (float(np.concatenate([q, u])[k]), unit[:nq], unit[nq:])


def _kinetic(model: Model, q: np.ndarray, u: np.ndarray) -> Found:
    still = np.zeros_like(u)
    if model.modes:
        by_force, _ = force_matrices(model, q, still, u, None, None)
    else:
        by_force, _ = tree_force_derivatives(model, q, still, u)
    by_q = 0.5 * u @ by_force
    return float(kinetic_energy(model, q, u)), by_q, mass_matrix(model, q) @ u


def _potential(model: Model, q: np.ndarray) -> Found:
    still = np.zeros(model.nu)
    forces = generalized_forces(model, q, still, ["potential", "conformational"])
    for force in model.forces:
        if isinstance(force, Gravity):
            g = np.array([float(x) for x in force.acceleration])
            forces = forces - inverse_dynamics(model, q, still, still, gravity=g)
    return float(potential_energy(model, q)), -forces, still


def pulled(model: Model, q: np.ndarray, ends: list[tuple[int, np.ndarray, np.ndarray]]) -> np.ndarray:
    """Return the generalised forces (nu,) of forces on bodies. ``ends`` lists body, arm from its origin, and force."""
    wrenches, still = np.zeros((model.bodies, 6)), np.zeros(model.nu)
    for body, arm, force in ends:
        wrenches[body] += np.concatenate([force, np.cross(arm, force)])
    return -np.asarray(inverse_dynamics(model, q, still, still, wrenches=wrenches))


def pulled_centres(model: Model, q: np.ndarray, ends: list[tuple[int, np.ndarray, np.ndarray]]) -> np.ndarray:
    """Return the generalised forces (nu,) of forces at the centres of mass of bodies. ``ends`` lists body, arm from its
    origin to the centre of mass, and force."""
    found = pulled(model, q, ends)
    for body, _, force in ends:
        _, modal, moved = modal_arms(model, q, body)
        found[modal] += moved @ force
    return found


def _position(model: Model, body: int, axis: int) -> Objective:
    unit = np.eye(3)[axis]

    def of(q: np.ndarray, u: np.ndarray) -> Found:
        place, arm = centre_of_mass(model, q, body)
        return float(place[axis]), pulled_centres(model, q, [(body, arm, unit)]), np.zeros(model.nu)

    return Objective(of, lambda model, q, u: float(centre_of_mass(model, q, body)[0][axis]))


def _distance(model: Model, first: int, second: int, where: str) -> Objective:
    def of(q: np.ndarray, u: np.ndarray) -> Found:
        (a, arm), (b, other) = centre_of_mass(model, q, first), centre_of_mass(model, q, second)
        r = float(np.linalg.norm(b - a))
        if r == 0.0:
            raise CaseError(
                f"{where}: the distance of '{model.names[first]}' and '{model.names[second]}' is zero at the end, "
                "where it has no derivative; differentiate its square, with a function as the objective"
            )
        d = (b - a) / r
        return r, pulled_centres(model, q, [(first, arm, -d), (second, other, d)]), np.zeros(model.nu)

    def of_model(model: Model, q: np.ndarray, u: np.ndarray) -> float:
        return float(np.linalg.norm(centre_of_mass(model, q, second)[0] - centre_of_mass(model, q, first)[0]))

    return Objective(of, of_model)
