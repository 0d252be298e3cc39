"""Drivers of free particles."""

from typing import Any

import numpy as np

from articulon.integrate import ermak_mccammon, particle_passes, particle_verlet, respa
from articulon.integrate.base import addressed
from articulon.integrate.fixed_steps import ArrayDriver
from articulon.integrate.problem import Problem
from articulon.integrate.status import LEAPT, leap_of
from articulon.kernels import prepare
from articulon.model import Model, State
from articulon.model.state import STEPS
from articulon.passes import Bound, Function, Program
from articulon.scaling.base import INPUTS
from articulon.thermostats.base import BATH, leave


class ParticleDriver(ArrayDriver):
    """Driver of velocity Verlet with any thermostat, on plain arrays."""

    sees_leaps = True

    def __init__(self, problem: Problem, state: State) -> None:
        super().__init__(problem, state)
        evaluator, model = problem.evaluator, problem.evaluator.model
        self.bath = evaluator.system.bath
        relax = leave if evaluator.thermostat is None else evaluator.thermostat.advance
        self.moving = particle_passes.moving(model.masses, reflecting_walls(model))
        self.sums = np.zeros(INPUTS)
        parallel = model.bodies >= particle_passes.PARALLEL_PARTICLES
        signatures = (
            *(particle_passes.PASS,) * 3,
            particle_passes.LANGEVIN,
            *(particle_passes.ORDER,) * 2,
            *(particle_passes.STATE,) * 2,
        )
        self.passes = tuple(
            Function(prepare(function, signature), signature)
            for function, signature in zip(particle_passes.PASSES[parallel], signatures, strict=True)
        )
        self.relaxing = (addressed(relax, BATH),)
        self.taken = np.zeros(2, dtype=np.int64)
        """Number of steps of the chunk, and its status."""
        self._make_room()
        self._bind(state)

    def _make_room(self) -> None:
        """Create the arrays that only this integrator needs."""

    def _bind(self, state: State) -> None:
        """Bind the steps to a state and to the present lists."""
        self.bound_to = state, self.evaluator.sites.system
        self.program = Program([self._steps(state)])
        _ = self.program.code  # compiled together with the other kernels

    def _shared(self) -> dict[str, Any]:
        """Arguments of the steps, by name."""
        sites = self.evaluator.sites
        _, forces, refresh = sites.bound_functions
        return {
            "passes": self.passes[:3],
            "shaking": self.passes[3:4],
            "ordering": self.passes[4:6],
            "handing": self.passes[6:],
            "refresh": refresh,
            "functions": forces,
            "relaxing": self.relaxing,
            "bath": self.bath,
            "law": self.law,
            "parameters": self.parameters,
            "varies": int(self.policy.varies),
            "system": sites.system,
            "moving": self.moving,
        }

    def _steps(self, state: State) -> Bound:
        """The steps, bound to their arguments."""
        shared = self._shared().values()
        return particle_verlet.advance_verlet.bind(*shared, self.step, state, self.sums, self.taken)

    def go(self, state: State, until: float, steps: int) -> int:
        """See :class:`Driver`."""
        sites = self.evaluator.sites
        if sites.touched:  # the forces may have been evaluated at other positions since the driver used them
            self.forget_forces()
        return super().go(state, until, steps)

    def forget_forces(self) -> None:
        """See :class:`FixedStepDriver`."""
        self.moving.held[0], self.evaluator.sites.touched = 0, False

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
        """See :class:`Driver`. A chunk changes coordinates and speeds only at its end."""
        return {name: getattr(state, name).copy() for name in _CHANGED}

    def restore(self, state: State, kept: Any) -> None:
        """See :class:`Driver`."""
        for name, array in kept.items():
            getattr(state, name)[:] = array
        self.evaluator.sites.restore(state)

    def _explain_leap(self) -> None:
        """Set the failure to the particle that has moved through half of the box in a step, from the data of the
        kernel."""
        particles_, moving = self.evaluator.sites.system.particles, self.moving
        here = np.stack([moving.x, moving.y, moving.z])
        ways = np.linalg.norm(here - particles_.reference[:, particles_.order], axis=0)
        farthest = int(np.argmax(ways))
        body = int(particles_.order[farthest])
        self.failure = leap_of(self.evaluator.model, float(ways[farthest]))
        self.culprit = int(self.evaluator.model.link[body])

    def _advance(self, state: State, steps: int) -> int:
        if self.bound_to[0] is not state or self.bound_to[1] is not self.evaluator.sites.system:
            self._bind(state)
        self.taken[:] = steps, 0
        self.program()
        return int(self.taken[1])


class RespaDriver(ParticleDriver):
    """Driver of r-RESPA, on plain arrays."""

    def _make_room(self) -> None:
        integrator = self.problem.integrator
        self.parts = np.array([integrator.pair_steps, integrator.bonded_steps])  # per step, and per pair step
        self.levels = np.zeros((3, 3, self.evaluator.model.bodies))

    def _steps(self, state: State) -> Bound:
        more = self.levels, self.parts, self.step, state, self.sums, self.taken
        return respa.advance_respa.bind(*self._shared().values(), *more)


class ErmakMcCammonDriver(ParticleDriver):
    """Driver of overdamped steps of free particles, on plain arrays."""

    def _make_room(self) -> None:
        self.before = np.zeros((3, self.evaluator.model.bodies))

    def _steps(self, state: State) -> Bound:
        shared = self._shared()
        for name in ("shaking", "relaxing", "varies"):
            del shared[name]
        more = self.before, self.step, state, self.sums, self.taken
        return ermak_mccammon.advance_overdamped.bind(*shared.values(), *more)


_CHANGED = ("time", "work", "factor", "bath", "counters")
"""Parts of a state that a chunk of particles' steps changes even if it fails."""


def reflecting_walls(model: Model) -> np.ndarray:
    """Lowest and highest coordinates between reflecting walls, infinite without walls [length], shape (2, 3)."""
    walls = np.array([[-np.inf] * 3, [np.inf] * 3])
    if model.box is not None:
        for axis, kind in enumerate(model.box.boundaries):
            if kind == "reflecting":
                low = float(model.box.origin[axis])
                walls[:, axis] = low, low + float(model.box.lengths[axis])
    return walls
