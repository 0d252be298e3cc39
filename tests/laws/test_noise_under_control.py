"""The policy that bounds the predicted delay does not bias what noise drives, although noise has a say in its factor:
mean first-passage times in one dimension, against the exact ones and against unscaled paths on the same noise.
"""

from __future__ import annotations

import functools
import math
from typing import Any, NamedTuple

import numba
import numpy as np
import pytest

import articulon as ar
from articulon.forces.evaluation import Evaluator
from articulon.integrate import Explicit, FrictionImplicit
from articulon.integrate.choice import driver
from articulon.integrate.problem import Problem
from articulon.integrate.status import STOPPED
from articulon.integrate.stop_conditions import advance_of, stop_of
from articulon.scaling import ErrorControlled, NoScaling
from tests.support.running import Running

PATHS = 400
RELAXATION = 2e-4
"""τ, over the mean time of passage: what inertia costs the unscaled ball is some τ, by far less than can be seen."""
WINDOW = 2.5
"""Length of the windows of noise, over τ: an unscaled ball forgets within each, and its overdamped path is resolved."""


class Passage(NamedTuple):
    """From rest at x = 0 to ``end`` under F = f + a sin(k x) + c/(s − x)², with drag 1."""

    f: float
    a: float
    k: float
    c: float
    s: float
    kT: float
    end: float

    def force(self, x: np.ndarray) -> np.ndarray:
        """F(x)."""
        return self.f + self.a * np.sin(self.k * x) + self.c / (self.s - x) ** 2

    @functools.cache  # noqa: B019 - of three passages
    def mean_time(self) -> float:
        """Mean first-passage time without inertia [time], ∫₀ᵉ dy e^{U(y)/kT} ∫₋∞ʸ dx e^{−U(x)/kT}/kT.

        Behind x = −30 kT/f there is less than e⁻³⁰ of the inner integral.
        """
        x = np.linspace(-30.0 * self.kT / self.f, self.end, 400001)
        force, dx = self.force(x), x[1] - x[0]

        def sums(values: np.ndarray) -> np.ndarray:
            return np.concatenate([[0.0], np.cumsum(0.5 * dx * (values[1:] + values[:-1]))])

        energy = -sums(force) / self.kT
        energy -= energy.mean()
        outer = np.exp(energy) * sums(np.exp(-energy))
        return float(np.trapezoid(np.where(x < 0.0, 0.0, outer), x)) / self.kT

    def model(self) -> Any:
        """A ball on a line."""
        builder = ar.ModelBuilder(units="lj")
        builder.add_body("ball", mass=RELAXATION * self.mean_time(), joint=ar.Prismatic(axis=(1, 0, 0)))
        builder.add_force(ar.forces.StokesDrag(translational=1.0))
        parameters = self.f, self.a, self.k, self.c, self.s
        builder.add_force(ar.forces.UserForce(function=along_the_line, parameters=parameters, channel="potential"))
        builder.add_force(ar.forces.Brownian(temperature=self.kT))
        return builder.build()


@numba.njit
def along_the_line(time, positions, rotations, velocities, parameters, wrenches):
    f, a, k, c, s = parameters[0], parameters[1], parameters[2], parameters[3], parameters[4]
    x = positions[0, 0]
    wrenches[0, 0] += f + a * math.sin(k * x) + c / (s - x) ** 2


APPROACH = Passage(1.0, 0.0, 1.0, 0.02, 1.06, kT=0.03, end=1.0)
"""A steady force, and an attraction that is six times as strong at the end: a2 rises from 5e-4 to 0.1."""
WASHBOARD = Passage(1.0, 2.0, 4.0 * math.pi, 0.0, 100.0, kT=0.25, end=1.5)
"""Three barriers of about kT/2, where a2 varies tenfold between wells and tops."""


def arrivals(
    passage: Passage, policy: Any, paths: int = PATHS, explicit: bool = False, keep_momentum: bool = True
) -> np.ndarray:
    """When paths of as many seeds arrive [time]. The noise of a seed is the same for all policies and rules."""
    model = passage.model()
    window = WINDOW * RELAXATION * passage.mean_time()
    rule: Any = Explicit(rtol=1e-5, atol=1e-7) if explicit else FrictionImplicit(step=window)
    times = []
    for seed in range(1, paths + 1):
        evaluator = Evaluator(model, seed, window)
        run = driver(Problem(evaluator, rule, policy, 1.0), evaluator.initial_state())
        state = evaluator.initial_state(run.history, memory=run.memory)
        if not keep_momentum:
            # Of a single motion the flag that noise acts has no other effect: its memory is the slowest.
            run.followed.slowest[1] = 0.0
            run.inputs = run.inputs._replace(rescaling=run.inputs.rescaling[:0].copy())
        run.stop = stop_of(model, advance_of(model, 0, np.array([1.0, 0.0, 0.0]), passage.end))
        assert run.advance(state, 1e3 * passage.mean_time(), 10**9) == STOPPED
        times.append(float(state.time[0]))
    return np.array(times)


@functools.cache
def unscaled(passage: Passage) -> np.ndarray:
    return arrivals(passage, NoScaling())


def mean(values: np.ndarray, unit: float) -> tuple[float, float]:
    """Mean and its standard error, in a unit."""
    return float(values.mean()) / unit, float(values.std(ddof=1)) / math.sqrt(values.size) / unit


CASES = [(APPROACH, 0.02), (APPROACH, 0.1), (WASHBOARD, 0.1)]


@pytest.mark.slow  # 400 paths of 2,000 steps, of each policy: ten seconds for each, and fewer would not tell 2 %
@pytest.mark.parametrize(("passage", "tolerance"), CASES)
def test_mean_passages_are_exact_within_the_tolerance(passage: Passage, tolerance: float) -> None:
    """Three standard errors beside the exact mean, which is known without any path; and beside unscaled paths on the
    same noise, by whose scatter it is known ten times as well."""
    truth = passage.mean_time()
    late, error = mean(unscaled(passage) - truth, truth)
    assert abs(late) < 3.0 * error
    scaled = arrivals(passage, ErrorControlled(tolerance=tolerance))
    late, error = mean(scaled - truth, truth)
    assert -3.0 * error < late < tolerance + 3.0 * error
    late, error = mean(scaled - unscaled(passage), truth)
    assert -3.0 * error < late < tolerance - (3.0 * error if passage is APPROACH else -3.0 * error)


@pytest.mark.slow  # as above
@pytest.mark.parametrize(("passage", "tolerance"), [CASES[0], CASES[2]])
def test_speeds_that_are_kept_would_bias(passage: Passage, tolerance: float) -> None:
    """A ball whose mass m/a2 follows its place and whose speed is kept when that changes feels −kT ∇ ln a2: thermal
    motion piles up where masses are large, and arrives late by several tolerances."""
    truth = passage.mean_time()
    biased = arrivals(passage, ErrorControlled(tolerance=tolerance), keep_momentum=False)
    late, error = mean(biased - unscaled(passage), truth)
    assert late > 2.0 * tolerance + 5.0 * error


@pytest.mark.slow  # as above; the explicit rule takes five evaluations and more in each window
def test_explicit_steps_are_as_exact() -> None:
    """Their own code keeps the momentum. On the noise of the unscaled paths, a quarter of which is enough to tell."""
    truth, paths, policy = APPROACH.mean_time(), PATHS // 4, ErrorControlled(tolerance=0.02)
    late, error = mean(arrivals(APPROACH, policy, paths, explicit=True) - unscaled(APPROACH)[:paths], truth)
    assert 0.0 < late < 0.02 + 3.0 * error


@pytest.mark.parametrize("explicit", [False, True])
def test_what_changed_speeds_bring_in_is_booked(explicit: bool) -> None:
    """The energy balance closes although kinetic energy jumps when a2 changes: that is work of the noise. Of the
    friction-implicit rule the balance is as exact as its steps, so it is compared with that of unscaled ones."""
    model, truth = APPROACH.model(), APPROACH.mean_time()
    window = 0.1 * RELAXATION * truth
    rule: Any = Explicit(rtol=1e-8, atol=1e-10) if explicit else FrictionImplicit(step=window)
    run = Running(model, rule, seed=3, window=window, policy=ErrorControlled(tolerance=0.1)).to(200.0 * window)
    turnover = abs(run.work("stochastic")) + abs(run.work("damping"))
    assert run.driver.followed.slowest[1] == 1.0
    assert run.state.factor[0] < 0.2
    assert abs(run.imbalance()) < 1e-6 * turnover
