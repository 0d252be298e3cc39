"""A coarse model that is ready to run. Its tables are made from those of the fine model, and both use the same compiled
functions. The lockable joints and modes are called *parts* (``lockable.py``)."""

import copy
from typing import Any

import numpy as np

from articulon.adaptive.coarsening import followed
from articulon.adaptive.merged_bodies import Merging
from articulon.forces.evaluation import Evaluator
from articulon.forces.evaluation_tables import System
from articulon.forces.linear_flow import coarse_flow
from articulon.forces.sites.site_tables import SiteTable
from articulon.integrate.base import Driver
from articulon.integrate.status import Stop
from articulon.model import Model, State, kernel_tables
from articulon.model.state import RuleMemory, rule_memory
from articulon.thermostats.base import DEGREES_OF_FREEDOM

MADE = ("ws", "channels", "solver", "_right_hand_side", "_closing", "_energies", "_looking")
"""Attributes that an evaluator creates for its model on first use."""


class Coarse:
    """Advances the state of a model with some joints and modes locked.

    Parameters
    ----------
    evaluator, driver
        Evaluator and driver of the fine model.
    state
        State of the fine model. Its coordinates are those at which the parts are locked.
    locked
        Joints and modes that are locked, shape (parts,).
    made
        Coarse model, and the map between the fine and the coarse model.
    """

    def __init__(
        self,
        evaluator: Evaluator,
        driver: Driver,
        state: State,
        locked: np.ndarray,
        made: tuple[Model, Merging],
    ) -> None:
        self.locked = locked
        self.model, self.merging = made
        self.evaluator = _evaluator(evaluator, self.model, self.merging)
        nq, nu = self.model.nq, self.model.nu
        self.state = state._replace(q=np.empty(nq), u=np.empty(nu), rule=self._memory(state, 0))
        self.driver = driver.on_coarse(self.evaluator, self.state)
        self.state = self.state._replace(rule=self._memory(state, self.driver.history))
        self.driver.stop = _stop(driver.stop, self.merging, evaluator.model, state.q, self.evaluator)

    def _memory(self, state: State, history: int) -> RuleMemory:
        """Return the memory of the integrator for the coarse motion. Both models share the record of the constraint
        drift."""
        return rule_memory(self.model.nq, self.model.nu, history)._replace(drift=state.rule.drift)

    def take(self, state: State) -> None:
        """Set the coarse state from a fine state. Arrays that do not belong to joints are shared by both states."""
        own, m = self.state, self.merging
        own.q[:], own.u[:], own.rule.acceleration[:] = state.q[m.q], state.u[m.u], state.rule.acceleration[m.u]
        own.rule.history[:] = state.rule.history[: own.rule.history.size]
        self.state = state._replace(q=own.q, u=own.u, rule=own.rule._replace(drift=state.rule.drift))

    def give(self, state: State) -> None:
        """Write the coarse state back into the fine state."""
        own, m = self.state, self.merging
        state.q[m.q], state.u[m.u], state.rule.acceleration[m.u] = own.q, own.u, own.rule.acceleration
        state.rule.history[: own.rule.history.size] = own.rule.history


def _evaluator(fine: Evaluator, model: Model, merging: Merging) -> Evaluator:
    result = copy.copy(fine)
    for name in MADE:
        result.__dict__.pop(name, None)
    result.model, result.particles = model, False
    result.sites = _sites(fine, model, merging)
    tables = followed(fine.system.forces, merging, model.forest.parent.size, model.nu, result.sites.system)
    flow = None if fine.linear_flow is None else coarse_flow(fine.linear_flow, merging)
    result.linear_flow, tables = flow, tables._replace(flow=flow)
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
    """Return the site forces on the coarse links, with the neighbour lists of the fine model."""
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
    """Return the table of a force between listed sites, without the entries whose sites all belong to one merged
    body."""
    members = table.members
    if not members.shape[0] or members.shape[0] != table.rows.shape[0] or table.constants.size:
        return table
    on = np.where(members < 0, link[members[:, :1]], link[members])
    left = (on != on[:, :1]).any(axis=1)
    return table._replace(rows=table.rows[left], members=members[left])


def _stop(stop: Stop, merging: Merging, fine: Model, q: np.ndarray, coarse: Evaluator) -> Stop:
    """Return the stop condition of the coarse model, converted from that of the fine model at the coordinates q."""
    if stop.link[0] < 0:
        return stop
    link, tables = np.where(stop.link >= 0, merging.link[stop.link], -1), coarse.model.forest.flexible
    point, per_mass, moment = stop.point.copy(), stop.per_mass.copy(), stop.moment
    for k in np.flatnonzero(per_mass > 0.0):
        if tables is not None and tables.body[link[k]] >= 0:  # first moments contain the locked modes
            assert coarse.ws.modal is not None
            moment = coarse.ws.modal.moment
        else:
            point[k] += per_mass[k] * _moment(fine, int(stop.link[k]), q)
            per_mass[k] = 0.0
    point = merging.points(stop.link, point)
    order = np.argsort(link < 0, kind="stable")  # the first point moves, unless neither does
    return stop._replace(link=link[order], point=point[order], per_mass=per_mass[order], moment=moment)


def _moment(model: Model, link: int, q: np.ndarray) -> np.ndarray:
    """First moment of a deformed link at q, link frame [mass length], shape (3,)."""
    modes = model.forest.flexible
    assert modes is not None
    b = int(modes.body[link])
    own, k, count = int(modes.own_mode[b]), int(modes.q_start[b]), int(modes.mode[b + 1] - modes.mode[b])
    found: np.ndarray = model.forest.moment[link] + q[k : k + count] @ modes.first[own : own + count]
    return found
