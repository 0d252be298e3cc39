"""Choice of the driver that takes the steps of an integrator."""

from articulon.integrate.base import Driver
from articulon.integrate.bead_driver import BeadDriver, moves_beads
from articulon.integrate.combination import FEATURES, combination_of, integrator_of
from articulon.integrate.compatibility import check
from articulon.integrate.event_driver import EventDrivenDriver
from articulon.integrate.explicit_driver import ExplicitDriver
from articulon.integrate.fixed_steps import CanonicalDriver, PredictorCorrectorDriver
from articulon.integrate.friction_implicit_driver import FrictionImplicitDriver
from articulon.integrate.friction_implicit_impact_driver import FrictionImplicitImpactDriver
from articulon.integrate.grain_driver import GrainDriver
from articulon.integrate.impact_driver import ImpactDriver
from articulon.integrate.overdamped_driver import OverdampedDriver
from articulon.integrate.particle_driver import ErmakMcCammonDriver, ParticleDriver, RespaDriver
from articulon.integrate.problem import CPU, Problem
from articulon.integrate.scipy_adapter import SciPyDriver
from articulon.integrate.shared_beads import SharedBeadDriver, ranks_of_model
from articulon.integrate.touching_driver import TouchingDriver
from articulon.model import State

DRIVERS: dict[str, type[Driver]] = {
    "explicit": ExplicitDriver,
    "predictor-corrector": PredictorCorrectorDriver,
    "scipy": SciPyDriver,
    "canonical": CanonicalDriver,
    "friction-implicit": FrictionImplicitDriver,
    "flights": FrictionImplicitDriver,
    "overdamped": OverdampedDriver,
    "particles": ParticleDriver,
    "r-respa": RespaDriver,
    "ermak-mccammon": ErmakMcCammonDriver,
    "grains": GrainDriver,
    "touching": TouchingDriver,
    "event-driven": EventDrivenDriver,
}
"""Drivers, by the name of the integrator in the compatibility table."""
BETWEEN_IMPACTS: dict[str, type[Driver]] = {"explicit": ImpactDriver, "friction-implicit": FrictionImplicitImpactDriver}
"""Drivers that take steps from impact to impact, by the name of the integrator."""


def driver(problem: Problem, state: State) -> Driver:
    """The driver of a problem, for states like the given one.

    Raises
    ------
    CaseError
        For combinations that the compatibility table excludes, see ``compatibility.py``.
    """
    combination = combination_of(problem, device=CPU)
    check(combination)
    name = integrator_of(combination)
    if name == "flights" and moves_beads(problem):
        ranks = ranks_of_model(problem.evaluator.model)
        return BeadDriver(problem, state) if ranks.size == 1 else SharedBeadDriver(problem, state, ranks)
    if FEATURES["impacts"].has(combination) and name in BETWEEN_IMPACTS:
        return BETWEEN_IMPACTS[name](problem, state)
    return DRIVERS[name](problem, state)
