"""A simulation in memory on its way, and what comes of it."""

import time as clock
from dataclasses import dataclass, replace
from signal import SIGINT
from typing import Any, Literal, NamedTuple

import numpy as np

from articulon.adaptive import Adaptive, AdaptiveDriver
from articulon.baths.base import BaseThermostat
from articulon.dynamics import kinetic_energy
from articulon.forces.evaluation import Evaluator, potential_energy
from articulon.integrate.drivers import DIVERGED, PAUSED, Driver, driver
from articulon.integrate.scipy_adapter import SciPyDriver
from articulon.model import Model, State
from articulon.model.state import STEPS
from articulon.simulate.chunks import Chunks
from articulon.simulate.deformation_notes import deformation_notes
from articulon.simulate.divergence import diagnosis
from articulon.simulate.frame_times import FrameTimes
from articulon.simulate.interruption import Interruption
from articulon.simulate.noise_windows import Windows
from articulon.simulate.observers import users_errors
from articulon.simulate.preparation import Scaling
from articulon.simulate.starting import check_start


@dataclass(frozen=True)
class Setup:
    """All that a simulation was asked for and what was made of it, so that it can be continued."""

    model: Model
    """What is integrated."""
    integrator: Any
    """The declared rule, with the step that is taken."""
    scaling: Scaling
    """The policy, its threshold found, and the drag of its core."""
    thermostat: BaseThermostat | None
    """In the model's units."""
    adaptive: Adaptive | None
    """In the model's units."""
    solver: str
    """Name of the equation-of-motion algorithm."""
    rotations: str
    """How Euler parameters are integrated."""
    seed: int
    """Of the random numbers."""
    windows: Windows
    """Of noise."""
    times: FrameTimes
    """When states are kept."""
    notes: tuple[str, ...] = ()
    """What is to be known of it."""

    @property
    def step(self) -> float | None:
        """The step where all are equal [time]; None where they vary."""
        step = getattr(self.integrator, "step", None)
        return None if step is None else float(step)


class Trajectory(NamedTuple):
    """States of a model over time, at equal intervals."""

    times: np.ndarray
    """[time], shape (frames,)."""
    q: np.ndarray
    """Coordinates, shape (frames, nq)."""
    u: np.ndarray
    """Speeds, shape (frames, nu)."""
    works: np.ndarray
    """Work done by each channel since the start [energy], in the order of ``articulon.model.CHANNELS``, shape
    (frames, 8)."""
    kinetic_energy: np.ndarray
    """[energy], shape (frames,)."""
    potential_energy: np.ndarray
    """Energy of all potential and conformational terms and of gravity [energy], shape (frames,)."""
    bath: np.ndarray
    """The thermostat's own variables, ζ of each member of its chain [1/time] and the energy of its reservoir [energy],
    shape (frames, variables); no variables for those without."""
    loop_drift: np.ndarray
    """How far steps have led from the loops, before they were moved back: the largest error of any condition, and of
    its rate, since the start, shape (frames, 2)."""
    factors: np.ndarray
    """Factors that the forces of each channel were multiplied by, those of the step that led to a frame, shape
    (frames, 8)."""
    state: State
    """Everything from which the simulation goes on: the last frame, or where it was interrupted."""
    model: Model
    """What was integrated: the given model, or its Cartesian form."""
    setup: Setup
    """How it was integrated, which :func:`articulon.resume` reads."""

    def __repr__(self) -> str:
        time = "" if self.model.units.time is None else f" {self.model.units.symbols[2]}"
        frames, end = self.times.size, f"{self.times[-1]:g}{time}"
        return f"Trajectory({frames} frames to {end}, {self.model.bodies} bodies: {', '.join(self._fields)})"

    @property
    def step(self) -> float | None:
        """The step that was taken, where all are equal but for those that frames or windows of noise cut short [time];
        None where the error of each step chose it."""
        return self.setup.step

    @property
    def complete(self) -> bool:
        """Whether it came to its end; False where it was interrupted."""
        return self.setup.times.first == self.setup.times.frames

    @property
    def notes(self) -> list[str]:
        """What is to be known of it: a step that was shortened, a threshold that was found, flexible bodies that were
        deformed beyond the range of their modes or turned too fast for them."""
        return [*self.setup.notes, *deformation_notes(self.model, self.times, self.q, self.u)]

    def fidelity(
        self, tolerance: float | str | None = None, error: Literal["time", "position"] = "time", budget: float = 0.05
    ) -> dict[str, Any] | None:
        """Whether a scaled simulation can be trusted; None where nothing was scaled.

        An unscaled simulation is made beside it, from its first frame on; see ``docs/fidelity.md``.

        Parameters
        ----------
        tolerance
            Relative error that is trusted, also as ``"2 %"``; that of the policy by default where it has one, or else
            0.02.
        error
            What the tolerance is about: when places are reached, relative to the duration, or where bodies are at each
            moment, relative to the range of each motion.
        budget
            What the unscaled simulation may cost, as a part of the evaluations of forces; some thousands are always
            allowed for small models, and 0 is for none.

        Returns
        -------
        dict
            ``verdict``, one of "trusted", "suspect", "violated" and "inconclusive"; the ``worst`` motion; ``broken``,
            ``since``, the ``premises`` and what they ``cost``, as in ``summary.json`` of a run.
        """
        from articulon.simulate.judgement import judged_in_memory

        return judged_in_memory(self, tolerance, error, budget)


class InMemory:
    """A simulation on its way.

    Parameters
    ----------
    setup
        What is asked for.
    """

    def __init__(self, setup: Setup) -> None:
        self.setup = setup
        windows, scaling = setup.windows, setup.scaling
        self.evaluator = Evaluator(
            setup.model,
            setup.seed,
            windows.window,
            windows.average,
            setup.solver,
            setup.rotations,
            setup.thermostat,
            scaling.policy.target_factor(),
        )
        state = self.evaluator.initial_state()
        arguments = self.evaluator, setup.integrator, scaling.policy, scaling.parameters, state
        self.driver: Driver
        if setup.adaptive is None or not setup.adaptive.on:
            self.driver = driver(*arguments)
        else:
            self.driver = AdaptiveDriver(*arguments, setup.adaptive, setup.seed)

    def begin(self, q: np.ndarray, u: np.ndarray) -> State:
        """The state at time zero, with coordinates (nq,) and speeds (nu,)."""
        state = self.evaluator.initial_state(self.driver.history, memory=self.driver.memory)
        if isinstance(self.driver, AdaptiveDriver):
            state = self.driver.sized(state)
        self.evaluator.start(state, q, u, self.setup.scaling.policy.speed_factor())
        check_start(self.evaluator, state, self.setup.step)
        return state

    def integrate(self, state: State, rows: list[tuple[np.ndarray, ...]]) -> Trajectory:
        """Takes a state to the end, and appends a row to ``rows`` at every frame.

        Raises
        ------
        DivergenceError
            Where the numbers stop meaning anything.
        KeyboardInterrupt
            After Ctrl-C, with what has been computed as its ``trajectory``.
        """
        times, chunks = self.setup.times, Chunks(self.driver)
        with Interruption((SIGINT,)) as interruption:
            for frame in range(times.first + 1, times.frames + 1):
                status = PAUSED
                while status == PAUSED and not interruption.requested:
                    status = self._chunk(state, times.at(frame), chunks, interruption)
                if status == DIVERGED:
                    raise diagnosis(
                        self.evaluator, self.setup.step, state, None, self.driver.failure, self.driver.culprit
                    )
                if status == PAUSED:
                    raise self._interrupted(self._trajectory(state, rows, frame - 1))
                rows.append(row_of(state))
        done = self._trajectory(state, rows, times.frames)
        if interruption.requested:
            raise self._interrupted(done)
        return done

    def _chunk(self, state: State, until: float, chunks: Chunks, interruption: Interruption) -> int:
        before, began = int(state.counters[STEPS]), clock.monotonic()
        with users_errors(self.evaluator, state):
            if isinstance(self.driver, SciPyDriver):
                status = self._all_at_once(state, until, interruption)
            else:
                status = self.driver.advance(state, until, chunks.steps)
        chunks.took(int(state.counters[STEPS]) - before, clock.monotonic() - began)
        return status

    def _all_at_once(self, state: State, until: float, interruption: Interruption) -> int:
        """A whole frame of SciPy's solvers, which are Python and may be broken off: the state is then that before."""
        kept = state.copy()
        try:
            with interruption.at_once():
                status = self.driver.advance(state, until, 1)
        except KeyboardInterrupt:
            status = PAUSED
        if status == PAUSED or isinstance(self.evaluator.users.error, KeyboardInterrupt):
            state.take(kept)
            self.evaluator.users.forget()
            return PAUSED
        return status

    def _trajectory(self, state: State, rows: list[tuple[np.ndarray, ...]], frame: int) -> Trajectory:
        model, times = self.setup.model, self.setup.times
        q, u, works, bath, drift, factors = (np.array(column) for column in zip(*rows, strict=True))
        return Trajectory(
            times=np.array([times.at(k) for k in range(frame + 1 - len(rows), frame + 1)]),
            q=q,
            u=u,
            works=works,
            kinetic_energy=np.array([kinetic_energy(model, *pair) for pair in zip(q, u, strict=True)]),
            potential_energy=np.array([potential_energy(model, coordinates) for coordinates in q]),
            bath=bath,
            loop_drift=drift,
            factors=factors,
            state=state,
            model=model,
            setup=replace(self.setup, times=times.after(frame)),
        )

    def _interrupted(self, done: Trajectory) -> KeyboardInterrupt:
        unit = "" if done.model.units.time is None else f" {done.model.units.symbols[2]}"
        error = KeyboardInterrupt(
            f"interrupted at t = {done.state.time[0]:.9g}{unit}; what has been computed is the `trajectory` of this "
            "exception, and articulon.resume(trajectory) goes on with it"
        )
        error.trajectory = done  # type: ignore[attr-defined]
        return error


def row_of(state: State) -> tuple[np.ndarray, ...]:
    """What a frame keeps of a state."""
    kept = (state.q, state.u, state.work, state.bath, state.drift, state.factor)
    return tuple(array.copy() for array in kept)


def last_row(trajectory: Trajectory) -> tuple[np.ndarray, ...]:
    """What the last frame of a trajectory has kept."""
    done = trajectory
    return done.q[-1], done.u[-1], done.works[-1], done.bath[-1], done.loop_drift[-1], done.factors[-1]
