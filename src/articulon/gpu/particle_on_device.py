"""Stepper for free particles on a device: velocity Verlet, with lists, forces and steps on the device."""

import math
import time
from typing import Any

import numpy as np

from articulon.errors import ArticulonError, CaseError
from articulon.forces.evaluation import Evaluator
from articulon.forces.sites.between import class_rows
from articulon.forces.sites.site_evaluation import SiteForces
from articulon.forces.sites.site_terms import PairTerm
from articulon.gpu.devices import device, devices, load_warp
from articulon.integrate.combination import combination_of
from articulon.integrate.compatibility import check
from articulon.integrate.fixed_steps import ArrayDriver
from articulon.integrate.particle_driver import reflecting_walls
from articulon.integrate.problem import CPU, Problem
from articulon.integrate.status import DIVERGED, LEAPT, REACHED, leap_of
from articulon.model import State
from articulon.model.state import EVALUATIONS, POTENTIAL, STEPS, THERMOSTAT, WINDOW
from articulon.scaling.base import INPUTS
from articulon.thermostats.base import BOLTZMANN, EFFECT, FRICTION, KICKS, LINEAR, SEED, STREAM, Bath

FORCES = "lennard-jones, weeks-chandler-andersen, and twelve-six without C"
"""Forces that a device supports."""
_CPU_INSTEAD = f"set run.device = '{CPU}'"
_CHANGED = ("time", "work", "factor", "counters")
"""Arrays of a state that a chunk of steps may change before it is known to have succeeded."""


def device_of(name: str) -> Any:
    """Return Warp's device for a value of ``run.device``.

    Raises
    ------
    CaseError
        If Warp is not installed, and for a GPU that does not exist; the message names the available devices.
    """
    try:
        load_warp()
        there = devices()
    except ArticulonError as error:
        raise CaseError(f"run.device: {error}") from None
    wanted = "cuda:0" if name == "cuda" else name
    if wanted not in there:
        names = ", ".join(f"'{one}'" for one in (CPU, *there))
        raise CaseError(f"run.device: there is no '{name}' on this machine; available: {names}")
    return device(wanted)


def pair_terms(sites: SiteForces) -> list[PairTerm]:
    """Return the pair laws of a model's site forces; a device must support all of them.

    Raises
    ------
    CaseError
        For a force that the device does not support, or that has no cutoff; the message names it.
    """
    found: list[PairTerm] = []
    for k, force in enumerate(sites.model.forces):
        kind = getattr(force, "kind", type(force).__name__)
        for term in force.site_terms(sites.model) if hasattr(force, "site_terms") else [None]:
            if not isinstance(term, PairTerm) or not _known(term):
                raise CaseError(
                    f"run.device: a device supports {FORCES}, but forces[{k}] is '{kind}'; leave it out, or "
                    f"{_CPU_INSTEAD}"
                )
            if not np.isfinite(term.cutoff):
                raise CaseError(
                    f"run.device: a device lists neighbours up to a cutoff, but forces[{k}], '{kind}', has none; give "
                    f"forces[{k}].cutoff, or {_CPU_INSTEAD}"
                )
            found.append(term)
    if not found:
        raise CaseError(f"run.device: a device supports {FORCES}, but the model has no forces; {_CPU_INSTEAD}")
    if sites.excluded.size:
        raise CaseError(
            "run.device: a device supports no exclusions, but the model has pairs of sites that do not interact; "
            f"{_CPU_INSTEAD}"
        )
    return found


def _known(term: PairTerm) -> bool:
    from articulon.gpu.particle_laws import LAWS

    return term.name in LAWS


def engine_of(evaluator: Evaluator, name: str, precision: str) -> Any:
    """Return the particle engine of a model on a device, in one precision; raise CaseError where :func:`device_of` and
    :func:`pair_terms` do."""
    found = device_of(name)
    from articulon.gpu.particle_engine import Pairs, ParticleEngine
    from articulon.gpu.particle_lists import Space

    sites, model = evaluator.sites, evaluator.model
    pairs = [Pairs(term.name, class_rows(model, term, sites.classes)) for term in pair_terms(sites)]
    listing, walls = sites.listing, reflecting_walls(model)
    return ParticleEngine(
        found,
        model.masses,
        sites.kinds,
        pairs,
        Space(*sites.cell),
        listing.cutoff,
        listing.skin,
        walls,
        precision,
    )


def device_driver(problem: Problem, state: State) -> "DeviceParticleDriver":
    """Return the stepper of a problem on a device, for states like the given one.

    Raises
    ------
    CaseError
        For options that a device does not support, and for a device that does not exist.
    """
    check(combination_of(problem))
    return DeviceParticleDriver(problem, state)


def temperatures_at(bath: Bath, times: np.ndarray) -> np.ndarray:
    """Evaluate ``thermostats.schedule.temperature_at`` at many times [temperature]."""
    if bath.choice[LINEAR]:
        return np.interp(times, bath.times, bath.temperatures)
    return bath.temperatures[np.maximum(np.searchsorted(bath.times, times, side="right") - 1, 0)]


class DeviceParticleDriver(ArrayDriver):
    """Velocity Verlet stepper for free particles on a device.

    The heat from the Langevin thermostat is summed for each particle on the device. The work of the forces is the
    change of the kinetic energy since the start minus this heat, because nothing else changes the kinetic energy. Both
    are sums at the end of a chunk, so their bits do not depend on the length of chunks.
    """

    sees_leaps = True

    def __init__(self, problem: Problem, state: State) -> None:
        super().__init__(problem, state)
        self.bath = self.evaluator.system.bath
        self.langevin = bool(self.bath.choice[EFFECT] == KICKS)
        self.history = 2 + self.langevin * self.evaluator.model.bodies
        """Layout: 1 once the run has begun; the kinetic energy minus the works at that time; the thermostat's heat to
        each particle."""
        self.engine = engine_of(self.evaluator, problem.device, problem.precision)
        self.evaluator.sites.elsewhere = self.engine

    def _on_lists(self, state: State, until: float, steps: int) -> int:
        """Lists on a device are enlarged automatically."""
        return self.go(state, until, steps)

    def keep(self, state: State) -> Any:
        """See :class:`Driver`. A chunk changes coordinates, speeds and lists only after it has succeeded."""
        return {name: getattr(state, name).copy() for name in _CHANGED} | {"history": state.rule.history.copy()}

    def restore(self, state: State, kept: Any) -> None:
        """See :class:`Driver`."""
        for name in _CHANGED:
            getattr(state, name)[:] = kept[name]
        state.rule.history[:] = kept["history"]

    def chunk(self, state: State, steps: int) -> int:
        """See :class:`ArrayDriver`."""
        began = time.perf_counter()
        before = int(state.counters[STEPS])
        if before == 0:
            self.policy.law(self.parameters, np.zeros(INPUTS), state.factor)
        engine, history, work = self.engine, state.rule.history, state.work
        x, v = state.q.reshape(-1, 3), state.u.reshape(-1, 3)
        if history[0] == 0.0:
            history[:2] = 1.0, self._kinetic_energy(v) - work[POTENTIAL] - work[THERMOSTAT]
            history[2:] = 0.0
            history[2:3] = work[THERMOSTAT]
        engine.load(x, v, state.rebuild.T, history[2:] if self.langevin else None)
        loaded = time.perf_counter()
        taken, well = engine.advance(steps, self.step, float(state.factor[POTENTIAL]), self._shaking(before, steps))
        advanced = time.perf_counter()
        self.last = before + taken
        if not well:
            return LEAPT if engine.leapt else DIVERGED
        state.rebuild[:] = engine.listed_at().T
        x[:], v[:] = engine.store()
        if self.langevin:
            history[2:] = engine.heats()
            work[THERMOSTAT] = history[2:].sum()
        work[POTENTIAL] = self._kinetic_energy(v) - history[1] - work[THERMOSTAT]
        state.counters[STEPS] = self.last
        state.counters[WINDOW] += taken
        state.counters[EVALUATIONS] += taken + (before == 0)  # the first evaluation of a later chunk is already counted
        state.time[0] = self.step * self.last
        self.overhead = loaded - began + time.perf_counter() - advanced
        return REACHED

    def _shaking(self, before: int, steps: int) -> Any:
        """Return the action of the Langevin thermostat on steps after ``before`` others; None without it."""
        if not self.langevin:
            return None
        from articulon.gpu.particle_engine import Shaking

        bath, h = self.bath, self.step
        friction = float(bath.constants[FRICTION])
        kT = bath.constants[BOLTZMANN] * bath.temperatures
        if kT.size > 1:
            kT = bath.constants[BOLTZMANN] * temperatures_at(bath, h * np.arange(before, before + steps) + 0.5 * h)
        noise = np.sqrt(-math.expm1(-2.0 * friction * h) * kT)
        seed, stream = int(bath.choice[SEED]), int(bath.choice[STREAM])
        return Shaking(math.exp(-friction * h), noise, before, seed, stream)

    def explain(self, status: int) -> None:
        """See :class:`ArrayDriver`."""
        if status != LEAPT:
            return
        model = self.evaluator.model
        ways = np.linalg.norm(self.engine.store()[0] - self.engine.listed_at(), axis=1)
        body = int(np.argmax(ways))
        self.failure, self.culprit = leap_of(model, float(ways[body])), int(model.link[body])

    def _kinetic_energy(self, v: np.ndarray) -> float:
        """½ Σ m v² of velocities (n, 3) [energy]."""
        return 0.5 * float((self.evaluator.model.masses * (v * v).sum(axis=1)).sum())
