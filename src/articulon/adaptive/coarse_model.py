"""A coarse model made ready to run: its tables from the fine ones, the compiled functions those of the fine model."""

import copy
from collections.abc import Callable
from typing import Any

import numpy as np

from articulon.adaptive.coarsening import followed
from articulon.adaptive.merged_bodies import Merging
from articulon.forces.evaluation import Evaluator
from articulon.forces.evaluation_tables import System
from articulon.forces.sites.site_tables import SiteTable
from articulon.integrate import explicit_runge_kutta, friction_implicit_passes
from articulon.integrate.base import Driver
from articulon.integrate.choice import ExplicitDriver, FrictionImplicitDriver
from articulon.integrate.law_inputs import law_inputs
from articulon.integrate.status import Stop
from articulon.integrate.variables import blocks
from articulon.model import Model, State, kernel_tables
from articulon.passes import Function
from articulon.scaling.base import LAW
from articulon.thermostats.base import BATH, DEGREES_OF_FREEDOM, variables_of

MADE = ("ws", "channels", "solver", "_right_hand_side", "_closing", "_energies", "_looking")
"""What an evaluator makes for its model when it is first asked."""


class Coarse:
    """What advances the state of a model with some joints and modes locked.

    Parameters
    ----------
    evaluator, driver
        Those of the fine model.
    state
        The fine state, at the coordinates at which they are locked.
    locked
        Joints and modes that are locked, shape (parts,).
    made
        The coarse model and the map to it.
    make
        Makes a driver for rules whose drivers are not copied: ``make(evaluator, state)``.
    """

    def __init__(
        self,
        evaluator: Evaluator,
        driver: Driver,
        state: State,
        locked: np.ndarray,
        made: tuple[Model, Merging],
        make: Callable[[Evaluator, State], Driver],
    ) -> None:
        self.locked = locked
        self.model, self.merging = made
        self.evaluator = _evaluator(evaluator, self.model, self.merging)
        sizes = self.model.nq, self.model.nu
        self.state = state._replace(
            q=np.empty(sizes[0]),
            u=np.empty(sizes[1]),
            acceleration=np.zeros(sizes[1]),
            history=np.zeros(0),
            rate=np.zeros(sizes[0]),
            dependent=np.zeros(sizes[0], dtype=np.int64),
        )
        self.driver = _driver(driver, self.evaluator, self.state, make)
        self.state = self.state._replace(history=np.zeros(self.driver.history))
        self.driver.stop = _stop(driver.stop, self.merging)

    def take(self, state: State) -> None:
        """Sets out from a fine state."""
        own, m = self.state, self.merging
        own.q[:], own.u[:], own.acceleration[:] = state.q[m.q], state.u[m.u], state.acceleration[m.u]
        own.history[:] = state.history[: own.history.size]
        # What has no place of its own in a joint is one array for both.
        shared = {name: getattr(state, name) for name in SHARED}
        self.state = own._replace(**shared)

    def give(self, state: State) -> None:
        """Writes what has come of it into the fine state."""
        own, m = self.state, self.merging
        state.q[m.q], state.u[m.u], state.acceleration[m.u] = own.q, own.u, own.acceleration
        state.history[: own.history.size] = own.history


OWN = ("q", "u", "acceleration", "history", "rate", "dependent")
SHARED = tuple(name for name in State._fields if name not in OWN)


def _evaluator(fine: Evaluator, model: Model, merging: Merging) -> Evaluator:
    result = copy.copy(fine)
    for name in MADE:
        result.__dict__.pop(name, None)
    result.model, result.particles = model, False
    result.sites = _sites(fine, model, merging)
    tables = followed(fine.system.forces, merging, model.forest.parent.size, model.nu, result.sites.system)
    bath = fine.system.bath
    if fine.thermostat is not None:
        constants = bath.constants.copy()
        constants[DEGREES_OF_FREEDOM] = float(fine.thermostat.degrees_of_freedom(model))
        bath = bath._replace(constants=constants)
    result._on_sites = []
    forest, loops, motions = kernel_tables(model)
    result.system = System(forest, tables, loops, motions, bath)
    return result


def _sites(fine: Evaluator, model: Model, merging: Merging) -> Any:
    """The site forces on the coarse links; lists of neighbours are those of the fine model."""
    sites = fine.sites
    if not sites.sites:
        return sites
    result = copy.copy(sites)
    result.model = model
    result.link = np.where(sites.link < 0, -1, merging.link[sites.link])
    result.local = merging.points(sites.link, sites.local)
    result.tables = tuple(_between(table, result.link) for table in sites.tables)
    result.system = sites.system._replace(link=result.link, local=result.local, tables=result.tables)
    return result


def _between(table: SiteTable, link: np.ndarray) -> SiteTable:
    """A term of listed sites without the members that lie within one merged body."""
    members = table.members
    if not members.shape[0] or members.shape[0] != table.rows.shape[0] or table.constants.size:
        return table
    on = np.where(members < 0, link[members[:, :1]], link[members])
    left = (on != on[:, :1]).any(axis=1)
    return table._replace(rows=table.rows[left], members=members[left])


def _driver(fine: Driver, evaluator: Evaluator, state: State, make: Callable[[Evaluator, State], Driver]) -> Driver:
    """A driver of the coarse model; the compiled functions take its tables as they are."""
    model, variables = evaluator.model, variables_of(evaluator.system.bath)
    if type(fine) is FrictionImplicitDriver:
        result = copy.copy(fine)
        result.evaluator = evaluator
        fine.law, fine.bath_step = _address(fine.law, LAW), _address(fine.bath_step, BATH)
        result.law, result.bath_step = fine.law, fine.bath_step
        result.inputs, result.programs = law_inputs(evaluator, fine.policy, None, 0)
        result.scratch = friction_implicit_passes.scratch(evaluator, None if fine.flight else fine.scratch.flight)
        result.passes, result.kept = friction_implicit_passes.passes(evaluator, result.scratch, fine.flight)
        return result
    if type(fine) is ExplicitDriver and not fine.embedded:
        one = copy.copy(fine)
        one.evaluator = evaluator
        one.law = fine.law = _address(fine.law, LAW)
        one.inputs, one.programs = law_inputs(evaluator, fine.policy, None, 0)
        one.blocks = blocks(kernel_tables(model).forest, model.nq, model.nu, False, variables)
        one.scratch = explicit_runge_kutta.scratch(model.nq + model.nu + 8 + variables, fine.tableau)
        return one
    return make(evaluator, state)


def _address(function: Any, signature: Any) -> Function:
    """A compiled function by its address. A kernel that is handed a jitted one asks the compiler each time which of its
    compilations is meant, which takes as long as many steps of a coarse model."""
    return function if isinstance(function, Function) else Function(function, signature)


def _stop(stop: Stop, merging: Merging) -> Stop:
    if stop.link[0] < 0:
        return stop
    return stop._replace(link=merging.link[stop.link], point=merging.points(stop.link, stop.point))
