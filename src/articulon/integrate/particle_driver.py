"""The driver of free particles."""

from typing import Any

import numba
import numpy as np
from numba import types

from articulon.forces.sites.neighbours import REFRESH
from articulon.forces.sites.site_tables import FORCES
from articulon.integrate import ermak_mccammon, particle_passes, particle_verlet, respa
from articulon.integrate.base import LINE
from articulon.integrate.fixed_steps import ArrayDriver
from articulon.integrate.problem import Problem
from articulon.integrate.status import LEAPT, leap_of
from articulon.kernels import prepare, ready
from articulon.model import Model, State
from articulon.model.state import STEPS
from articulon.scaling.base import INPUTS, LAW
from articulon.thermostats.base import BATH, leave


class ParticleDriver(ArrayDriver):
    """Velocity Verlet with any thermostat, on plain arrays."""

    sees_leaps = True

    def __init__(self, problem: Problem, state: State) -> None:
        super().__init__(problem, state)
        evaluator, policy, model = problem.evaluator, problem.policy, problem.evaluator.model
        self.varies, self.bath = policy.varies, evaluator.system.bath
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

    def go(self, state: State, until: float, steps: int) -> int:
        """See :class:`Driver`."""
        sites = self.evaluator.sites
        if sites.touched:  # forces at other positions may stand where the driver left its own
            self.moving.held[0], sites.touched = 0, False
        return super().go(state, until, steps)

    def chunk(self, state: State, steps: int) -> int:
        """See :class:`ArrayDriver`."""
        status = int(self._advance(state, steps))
        self.last = int(state.counters[STEPS])
        return status

    def explain(self, status: int) -> None:
        """See :class:`ArrayDriver`."""
        if status == LEAPT:
            self._explain_leap()

    def keep(self, state: State) -> Any:
        """See :class:`Driver`. A chunk changes coordinates and speeds at its end only."""
        return {name: getattr(state, name).copy() for name in _CHANGED}

    def restore(self, state: State, kept: Any) -> None:
        """See :class:`Driver`."""
        for name, array in kept.items():
            getattr(state, name)[:] = array
        self.evaluator.sites.restore(state)

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
    """r-RESPA, likewise."""

    def _prepare(self, state: State) -> None:
        integrator = self.problem.integrator
        self.parts = np.array([integrator.pair_steps, integrator.bonded_steps])  # in each step, and in each of these
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


_CHANGED = ("time", "work", "factor", "bath", "counters")
"""What a chunk of particles' steps changes of a state, even if it fails."""


def reflecting_walls(model: Model) -> np.ndarray:
    """Lowest and highest coordinates between reflecting walls, infinite where there are none [length], shape (2, 3)."""
    walls = np.array([[-np.inf] * 3, [np.inf] * 3])
    if model.box is not None:
        for axis, kind in enumerate(model.box.boundaries):
            if kind == "reflecting":
                low = float(model.box.origin[axis])
                walls[:, axis] = low, low + float(model.box.lengths[axis])
    return walls
