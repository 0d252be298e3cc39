"""The driver of free particles."""

import math
from typing import Any

import numba
import numpy as np
from numba import types

from articulon.forces.capacity import with_capacity
from articulon.forces.evaluation import Evaluator
from articulon.forces.sites.neighbours import REFRESH
from articulon.forces.sites.site_tables import FORCES
from articulon.integrate import ermak_mccammon, particle_passes, particle_verlet, respa
from articulon.integrate.base import LINE, Driver
from articulon.integrate.status import DIVERGED, PAUSED, REACHED, leap_of, no_stop
from articulon.kernels import prepare, ready
from articulon.model import Model, State
from articulon.model.state import STEPS
from articulon.scaling.base import INPUTS, LAW, ScalingPolicy
from articulon.thermostats.base import BATH, leave


class ParticleDriver(Driver):
    """Velocity Verlet with any thermostat, on plain arrays. The step divides every time that is asked for."""

    def __init__(
        self,
        evaluator: Evaluator,
        step: float,
        policy: ScalingPolicy,
        parameters: np.ndarray,
        state: State,
    ) -> None:
        model = evaluator.model
        self.evaluator, self.step, self.stop = evaluator, step, no_stop()
        self.law, self.parameters, self.varies = policy.law, parameters, policy.varies
        self.bath = evaluator.system.bath
        self.relax = leave if evaluator.thermostat is None else evaluator.thermostat.advance
        self.moving = particle_passes.moving(model.masses, reflecting_walls(model))
        self.sums = np.zeros(INPUTS)
        parallel = model.bodies >= particle_passes.PARALLEL_PARTICLES
        signatures = (
            *(particle_passes.PASS,) * 3,
            particle_passes.SHAKE,
            *(particle_passes.ORDER,) * 2,
            *(particle_passes.STATE,) * 2,
        )
        self.passes = tuple(
            prepare(function, signature)
            for function, signature in zip(particle_passes.PASSES[parallel], signatures, strict=True)
        )
        ready(policy.law, LAW)
        ready(self.relax, BATH)
        self._prepare(state)

    def _prepare(self, state: State) -> None:
        """Compiles the steps."""
        prepare(particle_verlet.advance_verlet, (*self._types(), types.float64, numba.typeof(state), LINE, types.int64))

    def _types(self) -> tuple[Any, ...]:
        """Numba types of what every step takes."""
        sites = self.evaluator.sites
        return (
            types.UniTuple(types.FunctionType(particle_passes.PASS), 3),
            types.UniTuple(types.FunctionType(particle_passes.SHAKE), 1),
            types.UniTuple(types.FunctionType(particle_passes.ORDER), 2),
            types.UniTuple(types.FunctionType(particle_passes.STATE), 2),
            types.FunctionType(REFRESH),
            types.UniTuple(types.FunctionType(FORCES), len(sites.forces)),
            types.UniTuple(types.FunctionType(BATH), 1),
            numba.typeof(self.bath),
            types.FunctionType(LAW),
            LINE,
            types.boolean,
            numba.typeof(sites.system),
            numba.typeof(self.moving),
        )

    def _values(self) -> tuple[Any, ...]:
        """Their values."""
        sites = self.evaluator.sites
        return (
            self.passes[:3],
            self.passes[3:4],
            self.passes[4:6],
            self.passes[6:],
            sites.refresh,
            sites.forces,
            (self.relax,),
            self.bath,
            self.law,
            self.parameters,
            self.varies,
            sites.system,
            self.moving,
        )

    def advance(self, state: State, until: float, steps: int) -> int:
        """See :class:`Driver`."""
        sites, kept = self.evaluator.sites, _small(state)
        if sites.touched:  # forces at other positions may stand where the driver left its own
            self.moving.held[0], sites.touched = 0, False

        def attempt() -> int | None:
            _restore(state, kept)
            sites.restore(state)
            status = self.go(state, until, steps)
            return None if status == particle_verlet.CAPACITY_EXCEEDED else status

        status = with_capacity(attempt, self.evaluator.grow)
        sites.save(state)
        return status

    def go(self, state: State, until: float, steps: int) -> int:
        """See :class:`Driver`."""
        before = int(state.counters[STEPS])
        left = round(until / self.step) - before if math.isfinite(until) else steps + 1
        kept = _small(state)
        status = self._advance(state, min(left, steps))
        self.failure = self.culprit = None
        if status == particle_verlet.LEAPT:
            self._explain_leap()
            status = DIVERGED
        if status == DIVERGED:
            # The state is that of before the chunk: the steps that went well are taken again.
            taken = int(state.counters[STEPS]) - before
            _restore(state, kept)
            self.evaluator.sites.restore(state)
            if taken:
                self._advance(state, taken)
        return PAUSED if status == REACHED and left > steps else status

    def _explain_leap(self) -> None:
        """Says which particle has gone through half of the box in a step, from where the kernel has left it."""
        particles_, moving = self.evaluator.sites.system.particles, self.moving
        here = np.stack([moving.x, moving.y, moving.z])
        ways = np.linalg.norm(here - particles_.reference[:, particles_.order], axis=0)
        farthest = int(np.argmax(ways))
        body = int(particles_.order[farthest])
        self.failure = leap_of(self.evaluator.model, float(ways[farthest]))
        self.culprit = int(self.evaluator.model.link[body])

    def _advance(self, state: State, steps: int) -> int:
        return particle_verlet.advance_verlet(*self._values(), self.step, state, self.sums, steps)


class RespaDriver(ParticleDriver):
    """r-RESPA, likewise.

    Parameters
    ----------
    parts
        Steps of pairs in each step, and bonded steps in each of these.
    """

    def __init__(self, *arguments: Any, parts: tuple[int, int], **more: Any) -> None:
        self.parts = np.array(parts)
        super().__init__(*arguments, **more)

    def _prepare(self, state: State) -> None:
        self.levels = np.zeros((3, 3, self.evaluator.model.bodies))
        levels = numba.typeof(self.levels), numba.typeof(self.parts)
        signature = (*self._types(), *levels, types.float64, numba.typeof(state), LINE, types.int64)
        prepare(respa.advance_respa, signature)

    def _advance(self, state: State, steps: int) -> int:
        more = self.levels, self.parts, self.step
        return respa.advance_respa(*self._values(), *more, state, self.sums, steps)


class ErmakMcCammonDriver(ParticleDriver):
    """Overdamped steps, likewise."""

    def _prepare(self, state: State) -> None:
        self.before = np.zeros((3, self.evaluator.model.bodies))
        passes, _, ordering, handing, refresh, functions, _, bath, law, parameters, _, system, moving = self._types()
        taken = passes, ordering, handing, refresh, functions, bath, law, parameters, system, moving
        signature = (*taken, numba.typeof(self.before), types.float64, numba.typeof(state), LINE, types.int64)
        prepare(ermak_mccammon.advance_overdamped, signature)

    def _advance(self, state: State, steps: int) -> int:
        passes, _, ordering, handing, refresh, functions, _, bath, law, parameters, _, system, moving = self._values()
        taken = passes, ordering, handing, refresh, functions, bath, law, parameters, system, moving
        return ermak_mccammon.advance_overdamped(*taken, self.before, self.step, state, self.sums, steps)


_SMALL = ("time", "work", "factor", "bath", "counters")


def _small(state: State) -> dict[str, np.ndarray]:
    """What a chunk changes of a state before its end."""
    return {name: getattr(state, name).copy() for name in _SMALL}


def _restore(state: State, kept: dict[str, np.ndarray]) -> None:
    for name, array in kept.items():
        getattr(state, name)[:] = array


def reflecting_walls(model: Model) -> np.ndarray:
    """Lowest and highest coordinates between reflecting walls, infinite where there are none [length], shape (2, 3)."""
    walls = np.array([[-np.inf] * 3, [np.inf] * 3])
    if model.box is not None:
        for axis, kind in enumerate(model.box.boundaries):
            if kind == "reflecting":
                low = float(model.box.origin[axis])
                walls[:, axis] = low, low + float(model.box.lengths[axis])
    return walls
