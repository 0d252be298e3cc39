"""What locked joints save: a step with most of them locked, and what it costs to lock and release them."""

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from articulon.adaptive import Adaptive, AdaptiveDriver, Group, Random
from articulon.building import ModelBuilder
from articulon.cases.builders.link_chain import LinkChain
from articulon.dynamics.multibody_functions import moved
from articulon.forces import TorsionalSprings
from articulon.forces.evaluation import Evaluator
from articulon.integrate.integrators import FrictionImplicit
from articulon.integrate.problem import Problem
from articulon.kernels import one_blas_thread
from articulon.scaling import NoScaling
from benchmarks.timing import interleaved

LINKS = 1000
PART = 0.9
STEP = 1e-3
STEPS = 100
"""Steps that are timed at once."""


def measure(links: int = LINKS, part: float = PART, seconds: float = 2.0) -> dict[str, Any]:
    """Times on a chain on spherical joints with torsional springs, of steps of the friction-implicit rule [ms]: with
    every joint free, with a part of them locked, and of locking and of releasing that part at once, each with all that
    it takes until the next step can be made. Their ratios are ``saved``, how many times a step gets cheaper, and
    ``transition_steps``, the dearer of the two in steps with every joint free."""
    builder = ModelBuilder("lj")
    LinkChain(links=links, base="hung", length=1.0, radius=0.5, mass=1.0).populate(builder)
    builder.add_force(TorsionalSprings(stiffness={"link-*": 2.0}))
    model, random = builder.build(), np.random.default_rng(1)
    evaluator, policy, rule = Evaluator(model), NoScaling(), FrictionImplicit(step=STEP)
    joints = Group(bodies=("link-*",), lock=Random(probability=0.0), release=Random(probability=0.0))
    plan = Adaptive(every=1e6 * STEP, groups=(joints,))
    driver = AdaptiveDriver(Problem(evaluator, rule, policy), evaluator.initial_state(), plan, 1)
    state = driver.sized(evaluator.initial_state())
    state.q[:], state.u[:] = moved(model, model.q0, random.normal(size=model.nu)), 0.1 * random.normal(size=model.nu)
    chosen = random.permutation(links)[: round(part * links)]
    mask = np.isin(np.arange(links), chosen)
    coarse = state.copy()
    driver.advance(state, STEP, 1)
    driver.advance(coarse, STEP, 1)
    driver.lock_now(coarse, mask)
    again = state.copy()

    def steps(of: Any) -> Callable[[], Any]:
        return lambda: driver.advance(of, 1e9, STEPS)

    def lock() -> None:
        driver.forget()
        again.take(state)
        driver.lock_now(again, mask)

    held = state.copy()
    driver.lock_now(held, mask)
    free = held.copy()

    def release() -> None:
        driver.forget()
        free.take(held)
        driver.release_now(free, mask)

    names = ("step_ms", "locked_step_ms", "lock_ms", "release_ms")
    calls = (steps(state), steps(coarse), lock, release)
    with one_blas_thread():
        best = interleaved(calls, seconds, time.thread_time)
    times = dict(zip(names, (1e3 * best[0] / STEPS, 1e3 * best[1] / STEPS, 1e3 * best[2], 1e3 * best[3]), strict=True))
    transition = max(times["lock_ms"], times["release_ms"])
    return {
        "links": links,
        "part": part,
        **times,
        "saved": times["step_ms"] / times["locked_step_ms"],
        "transition_steps": transition / times["step_ms"],
    }
