"""Plain Python functions of a user are given arrays of their own, and what is compiled for them is used again."""

from __future__ import annotations

import gc
import os
from typing import Any

import numpy as np
import psutil
import pytest

import articulon as ar
from articulon.forces.evaluation import Evaluator
from articulon.forces.user_functions import UserFunctions
from articulon.kernels import prepare


def pendulum(*forces: Any) -> Any:
    builder = ar.ModelBuilder(units="kg-m-s")
    hinge = ar.Revolute(axis=(0, 1, 0))
    builder.add_body("rod", mass=1, inertia=0.1, com=(0, 0, -0.5), joint=hinge, q=1.0)
    for force in forces:
        builder.add_force(force)
    return builder.build()


def evaluated(model: Any, times: int = 1) -> list[np.ndarray]:
    """Accelerations at coordinates 0, 1, 2, ..., after which the evaluator is gone."""
    evaluator, found = Evaluator(model), []
    for k in range(times):
        y = np.concatenate([[float(k)], [0.5], np.zeros(8)])
        dy = np.empty_like(y)
        evaluator.rates(np.ones(8), 0.25, 0, y, dy)
        if evaluator.users.error is not None:
            raise evaluator.users.error
        found.append(dy)
    return found


def test_what_a_force_keeps_stays_what_it_was() -> None:
    kept: list[tuple[np.ndarray, ...]] = []

    def force(time, positions, rotations, velocities, parameters, wrenches):
        kept.append((positions, rotations, velocities, parameters, wrenches))
        wrenches[0, 0] += parameters[0] * rotations[0, 2]

    evaluated(pendulum(ar.forces.UserForce(function=force, parameters=(2.0,))), times=3)
    gc.collect()
    noise = [np.full(size, 7.0) for size in range(1, 50)]  # what has been freed is taken by others
    for k, (_, rotations, velocities, parameters, wrenches) in enumerate(kept):
        assert np.allclose(rotations[0], (np.cos(k / 2), 0.0, np.sin(k / 2), 0.0))
        assert velocities[0, 4] == 0.5 and parameters[0] == 2.0
        assert wrenches[0, 0] == 2.0 * rotations[0, 2]
    assert len(noise) == 49


def test_writing_into_what_a_force_keeps_changes_nothing() -> None:
    kept: list[np.ndarray] = []

    def quiet(time, positions, rotations, velocities, parameters, wrenches):
        wrenches[0, 4] += 3.0

    def spoils(time, positions, rotations, velocities, parameters, wrenches):
        for array in (positions, rotations, velocities, parameters):
            array[...] = 1e300
        for array in kept:
            array[...] = 1e300
        wrenches[0, 4] += 3.0
        kept.append(wrenches)

    one, other = (
        evaluated(pendulum(ar.forces.UserForce(function=function, parameters=(1.0,))), times=3)
        for function in (quiet, spoils)
    )
    assert np.array_equal(one, other)


def test_the_arrays_of_a_force_of_joints_are_its_own() -> None:
    kept: list[tuple[np.ndarray, ...]] = []

    def torque(time, q, u, parameters, tau):
        tau[0] += q[0] + parameters[0]
        kept.append((q, u, parameters, tau))
        for array in (q, u, parameters)[: 3 if len(kept) == 3 else 0]:
            array[...] = 1e300

    def same(time, q, u, parameters, tau):
        tau[0] += q[0] + parameters[0]

    found, expected = (
        evaluated(pendulum(ar.forces.JointActuation(function=function, parameters=(2.0,))), times=3)
        for function in (torque, same)
    )
    assert np.array_equal(found, expected)
    for k, (q, u, parameters, tau) in enumerate(kept[:2]):
        assert (q[0], u[0], parameters[0], tau[0]) == (k, 0.5, 2.0, k + 2.0)


def test_a_force_of_another_run_is_never_called() -> None:
    """Whatever was compiled for an earlier function, and while both are in use."""

    def pushing(size):
        def force(time, positions, rotations, velocities, parameters, wrenches):
            wrenches[0, 4] += size

        return pendulum(ar.forces.UserForce(function=force))

    first = Evaluator(pushing(1.0))
    second = Evaluator(pushing(10.0))
    y = np.concatenate([[0.0], [0.0], np.zeros(8)])

    def acceleration(evaluator: Any) -> float:
        dy = np.empty_like(y)
        evaluator.rates(np.ones(8), 0.0, 0, y, dy)
        return float(dy[1])

    inertia = 0.1 + 0.25
    assert acceleration(first) == pytest.approx(1.0 / inertia)
    assert acceleration(second) == pytest.approx(10.0 / inertia)
    assert acceleration(first) == pytest.approx(1.0 / inertia)
    del first
    gc.collect()
    third = Evaluator(pushing(100.0))
    assert acceleration(second) == pytest.approx(10.0 / inertia)
    assert acceleration(third) == pytest.approx(100.0 / inertia)


def test_an_error_is_that_of_the_run_in_which_it_was_raised() -> None:
    def fails(time, positions, rotations, velocities, parameters, wrenches):
        raise KeyError("no such thing")

    def works(time, positions, rotations, velocities, parameters, wrenches):
        wrenches[0, 4] += 1.0

    broken, whole = (Evaluator(pendulum(ar.forces.UserForce(function=f))) for f in (fails, works))
    y = np.concatenate([[0.0], [0.0], np.zeros(8)])
    for evaluator in (broken, whole):
        evaluator.rates(np.ones(8), 0.0, 0, y, np.empty_like(y))
    assert isinstance(broken.users.error, KeyError) and whole.users.error is None


@pytest.mark.slow
def test_a_run_with_a_python_force_leaves_no_memory_behind() -> None:
    """Each compiled bridge is a megabyte: the second run takes that of the first."""

    def force(time, positions, rotations, velocities, parameters, wrenches):
        wrenches[0, 4] += 1.0

    def torque(time, q, u, parameters, tau):
        tau[0] += 1.0

    process, runs = psutil.Process(os.getpid()), 12
    model = pendulum(ar.forces.UserForce(function=force), ar.forces.JointActuation(function=torque))

    def run() -> None:
        ar.simulate(model, 0.1, frames=1)

    for _ in range(5):
        run()
    gc.collect()
    before = process.memory_info().rss
    for _ in range(runs):
        run()
    gc.collect()
    grown = (process.memory_info().rss - before) / runs
    assert grown < 0.2e6, f"{grown / 1e6:.3g} MB a run"


def test_what_is_compiled_for_a_function_is_free_again_when_its_run_is_gone() -> None:
    from articulon.forces.user_force_bridges import FORCE, force_bridge

    def function(time, *arrays):
        pass

    def compiled() -> tuple[UserFunctions, Any]:
        users = UserFunctions()
        return users, users.compiled(function, FORCE, "", force_bridge, "here")

    users, first = compiled()
    others, second = compiled()
    assert first is not second
    del users
    gc.collect()
    again, third = compiled()
    assert third is first
    del others, again


@pytest.mark.slow
def test_what_was_prepared_for_kernels_serves_the_next_function() -> None:
    """Preparing forbids more compilation, also of what the next one asks for again."""
    from articulon.forces.sites.library_forces import forces_bridge
    from articulon.forces.sites.site_tables import FORCES

    def prepared() -> tuple[UserFunctions, Any]:
        users = UserFunctions()
        return users, prepare(users.compiled(lambda *arrays: None, FORCES, "", forces_bridge, "here"), FORCES)

    users, first = prepared()
    del users
    gc.collect()
    again, second = prepared()
    assert second is first
    del again


@pytest.mark.parametrize("rule", ["scipy-radau", "scipy-bdf", "dormand-prince"])
def test_what_a_force_raises_is_raised_under_every_kind_of_rule(rule: str) -> None:
    """SciPy's solvers are given no numbers to go on with: one of them would raise an error of its own."""

    def torque(time, q, u, parameters, tau):
        if time > 0.1:
            raise ValueError("no such time")

    model = pendulum(ar.forces.JointActuation(function=torque))
    with pytest.raises(ar.ArticulonError, match=r"failed after t = 0\.\d+ s, step \d+: ValueError: no such time"):
        ar.simulate(model, 1.0, rule=rule, frames=2)


@pytest.mark.parametrize("rule", ["scipy-radau", "scipy-bdf", "dormand-prince"])
def test_a_force_that_is_no_number_ends_the_run_under_every_kind_of_rule(rule: str) -> None:
    def torque(time, q, u, parameters, tau):
        tau[0] = np.nan if time > 0.1 else 0.0

    model = pendulum(ar.forces.JointActuation(function=torque))
    with pytest.raises(ar.DivergenceError, match=r"the run (diverged|ended) at t = 0\.[01]\d* s"):
        ar.simulate(model, 1.0, rule=rule, frames=2)
