"""Short unscaled runs from states of a scaled run, with its noise: how wrong its motion is there, measured.

At moments spread over the run an unscaled friction-implicit run sets out from the state of a frame and follows the
noise path of the run for a short window. The scaled run's own frames are the other half of the pair. What is compared
is the way of the heaviest body of the slowest tree: with Δs scaled and Δu unscaled, 1 − Δs·Δu/|Δu|² is the part by
which the scaled body is too slow. The unscaled one begins with the other's speed and needs its relaxation time τ for
its own, so that over a window d with κ = (τ/d)(1 − e^{−d/τ}) the measured m stands for m/(1 − κ + κ m).

Without noise the lag estimate is known along the run, and what is averaged is the measured error less the estimated
one: its mean corrects the estimate, and its spread gives the interval. With noise the ways are mostly diffusion, and
the ratio of sums Σ Δs·Δu/Σ|Δu|² is taken instead, with a jackknife interval.
"""

import math
import time
from typing import Any, NamedTuple

import numpy as np
from scipy import stats

from articulon.errors import ArticulonError
from articulon.forces.brownian import brownian_of, fastest_relaxation, least_inertia
from articulon.forces.evaluation import Evaluator
from articulon.integrate import FrictionImplicit
from articulon.integrate.drivers import DIVERGED, Driver, driver
from articulon.model import State
from articulon.model.rotations import matrices
from articulon.model.state import EVALUATIONS, STEPS, WINDOW
from articulon.scaling import NoScaling
from articulon.simulate.fidelity import LagAlong
from articulon.simulate.observers import evaluate, poses_at
from articulon.simulate.preparation import Prepared
from articulon.simulate.results import Run
from articulon.simulate.verdicts import Bounds

CONFIDENCE = 0.95
SHORT, RELAXATIONS = 4.0, 8.0
"""Least length of a window in unscaled relaxation times, and with noise in scaled ones."""
CALM = 0.3
"""Relative change of the force between two frames up to which the way between them is interpolated."""
LONGEST_STEP = 128.0
"""First step that is tried, in the fastest relaxation times."""
LEAST_STEPS = 32
"""Least number of steps in a window."""
TURN = 0.2
"""Angle that the lightest body may turn in a step by thermal motion [rad]."""
ACCURATE = 0.25
"""Part of the tolerance that halving the step may change the way by."""
HALVINGS = 14
ONE_BY_ONE = 50
"""What a step costs that is taken by itself, in evaluations."""


class Pair(NamedTuple):
    """One window."""

    start: int
    """Frame that it begins at."""
    end: int
    """Frame that it ends at."""
    scaled: np.ndarray
    """Way of the scaled body [length], shape (3,)."""
    unscaled: np.ndarray
    """Way of the unscaled one."""


class TooExpensiveError(Exception):
    """The budget ends before anything is known."""


def paired(prepared: Prepared, run: Run, evaluations: int, bounds: Bounds, lag: LagAlong | None) -> dict[str, Any]:
    """The premise that the scaled run moves as unscaled runs from its states do.

    Parameters
    ----------
    prepared
        The case, made ready.
    run
        The scaled run, which has ended.
    evaluations
        Those of the run, of which the budget is a part.
    bounds
        Relative errors that are trusted, and suspect.
    lag
        The lag estimate along the run, where it means anything.

    Returns
    -------
    dict
        ``relative_error`` and ``half_width`` of its 95 % interval; the ``pairs`` with the moment and error of each;
        ``evaluations``, ``wall_seconds`` and ``budget`` in evaluations; a verdict, None where no pair was made, and
        the reason for that.
    """
    settings = prepared.case.fidelity
    budget = int(float(settings.budget) * evaluations)
    began = time.perf_counter()
    found: dict[str, Any] = {"verdict": None, "reason": None, "since": None, "relative_error": None}
    found |= {"half_width": None, "pairs": [], "step": None, "evaluations": 0, "budget": budget, "wall_seconds": 0.0}
    reason = _why_not(prepared, run, budget)
    if reason is not None:
        return {**found, "reason": reason}
    try:
        maker = _Pairs(prepared, run, budget, bounds, lag)
        try:
            found |= maker.outcome()
        finally:
            found["evaluations"] = maker.evaluations
    except TooExpensiveError as short:
        found["reason"] = f"not made: {short}"
    except FloatingPointError:
        found["reason"] = "not made: the unscaled runs do not stay finite everywhere; give a shorter fidelity.step"
    except ArticulonError as error:
        found["reason"] = f"not made: {error}"
    found["wall_seconds"] = time.perf_counter() - began
    return found


def _why_not(prepared: Prepared, run: Run, budget: int) -> str | None:
    if prepared.case.fidelity.paired_runs < 2 or budget <= 0:
        return "not made: fidelity.paired_runs or fidelity.budget says so"
    if prepared.evaluator.thermostat is not None:
        return "not made: the paths of thermostatted particles are chaotic, and their pairs part for any reason"
    if not np.isfinite(prepared.observer.relaxation):
        return "not made: there is no drag, and without it no time after which pairs can be told apart"
    if len(run.observables["time"]) < 4:
        return "not made: there are too few frames"
    return None


class _Pairs:
    """Makes the pairs of a run."""

    def __init__(self, prepared: Prepared, run: Run, budget: int, bounds: Bounds, lag: LagAlong | None) -> None:
        self.prepared, self.run, self.budget, self.bounds, self.lag = prepared, run, budget, bounds, lag
        self.model, self.settings = prepared.model, prepared.case.fidelity
        self.evaluations = 0
        self.noise = brownian_of(self.model)
        self.times = np.asarray(run.observables["time"])
        self.interval = float(prepared.case.run.frame_times()[1])
        # A run that was stopped ends between two frames.
        self.last = int(np.flatnonzero(np.isclose(self.times, self.interval * np.arange(self.times.size))).max())
        a, b = prepared.observer.slowest_range
        self.body = int(self.model.head[a + int(np.argmax(self.model.forest.mass[a:b]))])
        self.tau = prepared.observer.relaxation
        a2 = float(np.mean(run.observables["factor_damping"]))
        self.slow = self.tau / a2
        least = SHORT * self.tau if self.noise is None else RELAXATIONS * self.slow
        wanted = float(self.settings.duration or least)
        self.frames = max(1, math.ceil(wanted / self.interval * (1.0 - 1e-9)))
        if 2 * self.frames > self.last:
            raise TooExpensiveError("the run is too short for two windows of several relaxation times")
        self.coordinates, self.speeds = run.coordinates, run.speeds
        self.starts = self._starts(min(int(self.settings.paired_runs), self.last // self.frames))
        self.window = self.frames * self.interval
        if self.frames == 1 and self.settings.duration is None and self._smooth():
            self.window = self.interval / max(1, int(self.interval / (SHORT * self.tau)))

    def outcome(self) -> dict[str, Any]:
        wanted, starts = int(self.settings.paired_runs), self.starts
        step, last, coarse_error = self._first(starts[-1])
        cost = self._cost(step)
        affordable = 1 + (self.budget - self.evaluations) // cost
        if affordable < 2:
            raise TooExpensiveError(self._what_it_takes(cost, wanted))
        count = min(len(starts), affordable)
        chosen = [starts[round(k)] for k in np.linspace(0, len(starts) - 1, count)][:-1]
        pairs = [*(self._pair(start, step) for start in dict.fromkeys(chosen)), last]
        errors = [self._error(pair) for pair in pairs]
        error, half = self._estimate(pairs, errors)
        half += coarse_error
        verdict = self.bounds.verdict_of_interval(error, half)
        middle = np.array([self.times[pair.start] + 0.5 * self.window for pair in pairs])
        rows = [
            {"time": float(moment), "relative_error": part, "predicted": self._predicted(pair)}
            for moment, part, pair in zip(middle, errors, pairs, strict=True)
        ]
        reason = "the interval is too wide to tell" if verdict == "inconclusive" else None
        return {
            "verdict": verdict,
            "reason": reason,
            "since": self._since(verdict, error, middle, errors),
            "relative_error": error,
            "half_width": half,
            "confidence": CONFIDENCE,
            "pairs": rows,
            "step": step,
            "duration": self.window,
            "error_of_the_step": coarse_error,
            "evaluations": self.evaluations,
        }

    def _since(self, verdict: str, error: float, middle: np.ndarray, errors: list[float]) -> float | None:
        """When the error had become what its verdict says: by the lag estimate, corrected, or else window by window."""
        if self.noise is not None or self.lag is None or self.lag.rough:
            return self.bounds.broken_at(verdict, middle, np.cumsum(errors) / len(errors), 1.0)
        gone = (self.lag.times - self.lag.times[0]) / (self.lag.times[-1] - self.lag.times[0])
        whole = float(self.lag.times[-1] - self.lag.times[0])
        accumulated = self.lag.delay / whole + (error - self.lag.total / whole) * gone
        return self.bounds.broken_at(verdict, self.lag.times, accumulated, 1.0)

    def _starts(self, count: int) -> list[int]:
        """Frames at the middle of equal parts of the run."""
        room = self.last - self.frames
        return [min(room, int((k + 0.5) * room / count)) for k in range(count)]

    def _smooth(self) -> bool:
        """Whether the scaled way between two frames is known well enough from them, wherever a window begins: the
        forces then change little from one to the next."""
        if self.noise is not None or self.lag is None or self.lag.rough:
            return False
        a2 = self.run.observables["factor_damping"][:-1]
        return bool((self.lag.rate * a2 / self.tau * self.interval)[self.starts].max() < CALM)

    def _first(self, start: int) -> tuple[float, Pair, float]:
        """The step of the unscaled runs, a window made with it, and what halving it changes there."""
        step = self._longest_step()
        coarse = self._attempt(start, step)
        twice = self._fitting(2.0 * step) if self._window_long(step) else step
        if twice > 1.5 * step and coarse is not None:
            # A shorter step would hold the noise of a window, which has to be done step by step.
            change = self._change(self._attempt(start, twice), coarse)
            if change < ACCURATE * self.bounds.trusted:
                return step, coarse, change
        for _ in range(HALVINGS):
            finer = self._shorter(step)
            fine = self._attempt(start, finer)
            change = self._change(coarse, fine)
            if change < ACCURATE * self.bounds.trusted and coarse is not None:
                return step, coarse, change
            step, coarse = finer, fine
        raise TooExpensiveError("no step was found that the unscaled runs are accurate with; give fidelity.step")

    @staticmethod
    def _change(coarse: Pair | None, fine: Pair | None) -> float:
        """Relative change of a way by another step; infinite where one did not stay finite."""
        if coarse is None or fine is None:
            return math.inf
        size = float(np.linalg.norm(fine.unscaled))
        return float(np.linalg.norm(coarse.unscaled - fine.unscaled)) / size if size > 0.0 else 0.0

    def _window_long(self, step: float) -> bool:
        """Whether a step is as long as a fine window of noise."""
        return self.noise is not None and abs(step - self.prepared.windows.window) < 1e-9 * step

    def _cost(self, step: float) -> int:
        """Evaluations of a window, and what steps that are taken one by one cost besides."""
        held = self.noise is not None and step < 0.999 * self.prepared.windows.window
        return round(self.window / step) * (ONE_BY_ONE if held else 1)

    def _longest_step(self) -> float:
        longest = self.window / LEAST_STEPS
        own = self.prepared.case.integrator
        if self.settings.step is not None:
            longest = float(self.settings.step)
        elif isinstance(own, FrictionImplicit):
            longest = min(longest, float(own.step))
        else:
            longest = min(longest, LONGEST_STEP * fastest_relaxation(self.model))
        if self.noise is not None:
            thermal = self.model.units.boltzmann * float(self.noise.temperature)
            if thermal > 0.0:
                longest = min(longest, TURN * math.sqrt(least_inertia(self.model) / thermal))
        return self._fitting(longest)

    def _fitting(self, longest: float) -> float:
        """The longest step that divides the time between frames, and is whole windows of noise or a part of one."""
        if self.noise is None:
            return self.window / math.ceil(self.window / longest * (1.0 - 1e-9))
        fine = self.prepared.windows.window
        if longest < fine * (1.0 - 1e-9):
            return fine / math.ceil(fine / longest * (1.0 - 1e-9))
        whole = round(self.interval / fine)
        most = int(longest / fine * (1.0 + 1e-9))
        return fine * max(k for k in range(1, min(most, whole) + 1) if whole % k == 0)

    def _shorter(self, step: float) -> float:
        return self._fitting(0.5 * step) if self.noise is not None else 0.5 * step

    def _attempt(self, start: int, step: float) -> Pair | None:
        """A window, or None where the step is too long for it."""
        cost = self._cost(step)
        if self.evaluations + cost > self.budget:
            raise TooExpensiveError(self._what_it_takes(cost, int(self.settings.paired_runs)))
        try:
            return self._pair(start, step)
        except FloatingPointError:
            return None

    def _what_it_takes(self, cost: int, wanted: int) -> str:
        return (
            f"fidelity.budget allows {self.budget} evaluations, and {wanted} windows with the search for their step "
            f"take about {(wanted + 4) * cost}: set it to {(wanted + 4) * cost / self._whole:.2g} to have them"
        )

    @property
    def _whole(self) -> float:
        return max(1.0, self.budget / float(self.settings.budget))

    def _pair(self, start: int, step: float) -> Pair:
        end = start + self.frames
        steps = round(self.window / step)
        advance, state, held = self._driver(step)
        state.q[:], state.u[:] = self.coordinates[start], self.speeds[start]
        state.time[0] = self.times[start]
        first = round(float(self.times[start]) / step)
        state.counters[STEPS] = state.counters[WINDOW] = first
        until = float(self.times[start]) + self.window
        origin = self._centre(state.q)
        if held == 1:
            self._go(advance, state, until, steps)
        else:
            for k in range(first, first + steps):
                state.counters[WINDOW] = k // held
                self._go(advance, state, until, 1)
        self.evaluations += self._cost(step)
        return Pair(start, end, self._scaled_way(start), self._centre(state.q) - origin)

    def _scaled_way(self, start: int) -> np.ndarray:
        """Way of the scaled body in a window: between frames by cubic interpolation of places and velocities."""
        first = self._centre(self.coordinates[start])
        whole = self._centre(self.coordinates[start + self.frames]) - first
        if self.window == self.frames * self.interval:
            return whole
        s = self.window / self.interval
        begin, end = (self.interval * self._velocity(frame) for frame in (start, start + 1))
        return (s**3 - 2.0 * s**2 + s) * begin + (3.0 * s**2 - 2.0 * s**3) * whole + (s**3 - s**2) * end

    def _velocity(self, frame: int) -> np.ndarray:
        """Velocity of the watched body's centre of mass at a frame [length/time]."""
        evaluator, model = self.prepared.evaluator, self.model
        state = evaluator.initial_state()
        state.q[:], state.u[:], state.time[0] = self.coordinates[frame], self.speeds[frame], self.times[frame]
        rates = evaluate(evaluator, state)[: model.nq]
        small = 1e-6 / max(float(np.abs(rates).max(initial=0.0)), 1e-300)
        ahead, behind = (self._centre(state.q + s * rates) for s in (small, -small))
        return (ahead - behind) / (2.0 * small)

    def _go(self, advance: Driver, state: State, until: float, steps: int) -> None:
        if advance.advance(state, until, steps) == DIVERGED:
            self.evaluations += int(state.counters[EVALUATIONS])
            raise FloatingPointError

    def _driver(self, step: float) -> tuple[Driver, State, int]:
        """An unscaled friction-implicit driver, its state, and how many of its steps share a fine window of noise."""
        fine, held, average = step, 1, 1
        if self.noise is not None:
            fine = self.prepared.windows.window
            average, held = (round(step / fine), 1) if step > 0.999 * fine else (1, round(fine / step))
        evaluator = Evaluator(self.model, self.prepared.case.run.seed, fine, average)
        policy = NoScaling()
        state = evaluator.initial_state()
        integrator = FrictionImplicit(rule="friction-implicit", step=step)
        return driver(evaluator, integrator, policy, policy.parameters(0.0), state), state, held

    def _centre(self, q: np.ndarray) -> np.ndarray:
        """Centre of mass of the watched body at coordinates, world frame [length]."""
        positions, rotations = poses_at(self.model, q)
        return positions[self.body] + matrices(rotations[self.body]) @ self.model.centres[self.body]

    def _error(self, pair: Pair) -> float:
        """Part by which the scaled body is too slow in a window."""
        kappa = self.tau / self.window * -math.expm1(-self.window / self.tau)
        square = float(pair.unscaled @ pair.unscaled)
        measured = 1.0 - float(pair.scaled @ pair.unscaled) / square if square > 0.0 else 0.0
        return measured / (1.0 - kappa + kappa * measured)

    def _estimate(self, pairs: list[Pair], errors: list[float]) -> tuple[float, float]:
        """Relative error of the run, and the half width of its interval."""
        count = len(pairs)
        wide = float(stats.t.ppf(0.5 + 0.5 * CONFIDENCE, count - 1))
        if self.noise is None:
            estimate = 0.0
            if self.lag is not None and not self.lag.rough:
                estimate = self.lag.total / float(self.times[-1] - self.times[0])
            values = np.array(errors) - [self._predicted(pair) or 0.0 for pair in pairs]
            return estimate + float(values.mean()), wide * float(values.std(ddof=1)) / math.sqrt(count)
        ways = np.array([[pair.scaled @ pair.unscaled, pair.unscaled @ pair.unscaled] for pair in pairs])
        whole = ways.sum(axis=0)
        without = whole - ways
        left = 1.0 - without[:, 0] / without[:, 1]
        spread = math.sqrt((count - 1) / count * float(((left - left.mean()) ** 2).sum()))
        # At the ends of a window the scaled body has not yet followed the noise of the last τ'.
        return 1.0 - float(whole[0] / whole[1]), wide * spread + self.slow / self.window

    def _predicted(self, pair: Pair) -> float | None:
        if self.lag is None or self.lag.rough:
            return None
        delay, times = self.lag.delay, self.lag.times
        return float((delay[pair.end] - delay[pair.start]) / (times[pair.end] - times[pair.start]))
