"""Orders of all integration rules on a free-flying tree with spherical joints, the bits of rules that remember, and
what a rule cannot do.

The reference is Dormand and Prince's rule at a tolerance of 1e-13, which SciPy's Radau rule confirms.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import articulon as ar
from articulon.integrate import Canonical, Explicit, FrictionImplicit, PredictorCorrector, SciPy, rules
from articulon.integrate.rules import EXPLICIT
from articulon.integrate.status import PAUSED, REACHED
from articulon.scaling import ThresholdAdaptive
from tests.support.flying_tree import flying_tree
from tests.support.loop_models import FourBar, add_loops
from tests.support.random_models import builder_of
from tests.support.running import Running

EPS = float(np.finfo(float).eps)
UNTIL = 1.0


def variables(run: Running) -> np.ndarray:
    return np.concatenate([run.q, run.u])


@cache
def tree() -> Any:
    return flying_tree()


@cache
def exact() -> np.ndarray:
    return variables(Running(tree(), Explicit(rule="dormand-prince", rtol=1e-13, atol=1e-14)).to(UNTIL))


def error(integrator: Any) -> float:
    return float(np.linalg.norm(variables(Running(tree(), integrator).to(UNTIL)) - exact()))


@pytest.mark.slow
def test_the_reference_is_confirmed_by_another_rule() -> None:
    assert error(SciPy(rule="scipy-radau", rtol=1e-12, atol=1e-13)) < 1e-11


RULES = [
    (Explicit, "euler", 1, 8192),
    (Explicit, "rk4", 4, 256),
    (Explicit, "kutta-merson", 4, 256),
    (Explicit, "runge-kutta-fehlberg", 4, 256),
    (Explicit, "dormand-prince", 5, 128),
    (PredictorCorrector, "adams-bashforth-moulton", 4, 512),
    (Canonical, "verlet", 2, 256),
    (Canonical, "velocity-verlet", 2, 256),
    (Canonical, "implicit-midpoint", 2, 256),
    (Canonical, "lobatto-iiia-iiib-2", 2, 256),
    (Canonical, "lobatto-iiia-iiib-3", 4, 64),
]


@pytest.mark.parametrize(("declared", "rule", "order", "steps"), RULES, ids=[rule for _, rule, *_ in RULES])
def test_a_rule_converges_in_its_order(declared: Any, rule: str, order: int, steps: int) -> None:
    coarse, fine = (error(declared(rule=rule, step=UNTIL / n)) for n in (steps, 2 * steps))
    assert fine > 20 * 1e-12, "the reference hides the order"
    assert np.log2(coarse / fine) == pytest.approx(order, abs=0.1)


def test_every_file_of_the_folder_is_a_rule_and_every_rule_is_measured() -> None:
    files = {path.stem.replace("_", "-") for path in Path(rules.__file__).parent.glob("*.py")} - {"--init--"}
    assert files == {*rules.EXPLICIT, *rules.PREDICTOR_CORRECTOR, *rules.CANONICAL} == {rule for _, rule, *_ in RULES}


@pytest.mark.parametrize("rule", rules.CANONICAL)
def test_a_formula_in_canonical_momenta_is_symplectic_and_symmetric(rule: str) -> None:
    """b_i â_ij + b_j a_ji = b_i b_j, and a_ij + a_{s+1−i,s+1−j} = b_j, likewise â (Hairer, Lubich and Wanner, VI.4.2
    and V.2.3)."""
    f = rules.CANONICAL[rule]
    b = f.b
    np.testing.assert_allclose(b[:, None] * f.ahat + (b[:, None] * f.a).T, np.outer(b, b), rtol=0, atol=EPS)
    for a in (f.a, f.ahat):
        np.testing.assert_allclose(a + a[::-1, ::-1], np.tile(b, (b.size, 1)), rtol=0, atol=EPS)


@pytest.mark.parametrize(("rule", "order", "steps"), [("runge-kutta-fehlberg", 5, 128), ("dormand-prince", 4, 128)])
def test_the_embedded_solution_converges_in_its_own_order(rule: Any, order: int, steps: int) -> None:
    """The solution that the error estimate compares with is of order 5 for Fehlberg's pair, 4 for Dormand's."""
    errors = []
    for n in (steps, 2 * steps):
        run = Running(tree(), Explicit(rule=rule, step=UNTIL / n))
        t = EXPLICIT[rule]
        # Fehlberg's error weights are those of order 5 less those of order 4, Dormand and Prince's 5 less 4 as well.
        run.driver.tableau = t._replace(b=t.b + t.error if rule == ("runge-kutta-fehlberg") else t.b - t.error)  # type: ignore[attr-defined]
        errors.append(float(np.linalg.norm(variables(run.to(UNTIL)) - exact())))
    assert errors[1] > 20 * 1e-12
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.15)


@pytest.mark.parametrize("rule", ["kutta-merson", "runge-kutta-fehlberg", "dormand-prince"])
def test_errors_fall_with_the_tolerance(rule: Any) -> None:
    tolerances = np.array([1e-5, 1e-7, 1e-9])
    errors = [error(Explicit(rule=rule, rtol=t, atol=0.1 * t)) for t in tolerances]
    assert np.all(errors < 300.0 * tolerances)
    assert 0.7 < np.polyfit(np.log(tolerances), np.log(errors), 1)[0] < 1.2


@pytest.mark.parametrize("rule", ["scipy-bdf", "scipy-radau"])
def test_stiff_solvers_of_scipy_reach_their_tolerance(rule: Any) -> None:
    run = Running(tree(), SciPy(rule=rule, rtol=1e-6, atol=1e-7)).to(UNTIL)
    assert 1e-10 < np.linalg.norm(variables(run) - exact()) < 1e-3
    for k in run.driver.blocks.quaternion:  # type: ignore[attr-defined]
        assert abs(np.linalg.norm(run.q[k : k + 4]) - 1.0) <= 2 * EPS
    assert run.driver.failure is None


@pytest.mark.parametrize("declared", [PredictorCorrector, Canonical])
def test_a_run_in_parts_and_a_resumed_one_give_the_same_bits(declared: Any) -> None:
    """What a rule remembers is in the state: parts of any length, another driver from a copy, and the whole."""
    integrator = declared(step=0.01)
    whole, parts, first = (Running(tree(), integrator) for _ in range(3))
    whole.to(0.5)
    ended = PAUSED
    for steps in (1, 2, 3, 5, 8, 13, 100):
        ended = parts.driver.advance(parts.state, 0.5, steps)
    assert ended == REACHED
    first.to(0.17)
    again = Running(tree(), integrator)
    again.state = first.state.copy()
    again.to(0.5)
    bits = [b"".join(array.tobytes() for name, array in run.state.arrays().items()) for run in (whole, parts)]
    assert bits[0] == bits[1]
    expected = whole.state.arrays()
    for name, array in again.state.arrays().items():
        assert array.tobytes() == expected[name].tobytes(), name


def test_a_stiff_solver_of_scipy_resumes_at_a_frame_to_the_same_bits() -> None:
    integrator = SciPy(rtol=1e-6, atol=1e-7)
    whole = Running(tree(), integrator).to(0.1).to(0.2)
    first, again = Running(tree(), integrator).to(0.1), Running(tree(), integrator)
    again.state = first.state.copy()
    again.to(0.2)
    assert variables(again).tobytes() == variables(whole).tobytes()


def test_the_predictor_corrector_begins_with_three_steps_of_the_rule_that_starts_it() -> None:
    step = 0.01
    started = Running(tree(), PredictorCorrector(step=step)).to(3 * step)
    rk4 = Running(tree(), Explicit(rule="rk4", step=step)).to(3 * step)
    np.testing.assert_allclose(variables(started), variables(rk4), rtol=0, atol=8 * EPS)
    started.to(4 * step)
    rk4.to(4 * step)
    assert np.abs(variables(started) - variables(rk4)).max() > 1e-9


def four_bar() -> Any:
    """A closed linkage that falls from a crank angle of 1 rad."""
    linkage = FourBar()
    mechanism = linkage.mechanism()
    builder = builder_of(mechanism.forest, linkage.coordinates(1.0))
    builder.add_force(ar.forces.Gravity(acceleration=(0.0, -9.81, 0.0)))
    add_loops(builder, mechanism)
    return builder.build()


@pytest.mark.parametrize("integrator", [PredictorCorrector(step=0.002), SciPy(rtol=1e-8, atol=1e-9)])
def test_loops_are_held_by_rules_that_remember(integrator: Any) -> None:
    model = four_bar()
    run = Running(model, integrator).to(0.5)
    reference = Running(model, Explicit(rule="dormand-prince", rtol=1e-12, atol=1e-13)).to(0.5)
    assert np.abs(run.u - model.u0).max() > 0.01, "nothing moved"
    np.testing.assert_allclose(variables(run), variables(reference), rtol=0, atol=1e-6)
    assert np.abs(ar.loop_residuals(model, run.q)).max() < 1e-12


# What a rule cannot do

UNUSABLE = {
    "no step": (Explicit, {"rule": "rk4"}, "rule 'rk4' has no error estimate: give a fixed step, or choose one of"),
    "a tolerance": (
        Explicit,
        {"rule": "euler", "step": 1.0, "rtol": 1e-5},
        "rtol: controls the steps of rules with an",
    ),
    "a longest step": (Explicit, {"rule": "rk4", "step": 1.0, "max_step": 2.0}, "max_step: controls the steps"),
    "multistep": (PredictorCorrector, {"step": 1.0, "atol": 1e-5}, "atol: controls the steps of rules with an error"),
    "multistep, no step": (PredictorCorrector, {}, "step: is required: a time"),
    "canonical": (Canonical, {"step": 1.0, "rtol": 1e-5}, "leave it out and choose integrator.step"),
    "canonical, no step": (Canonical, {"rule": "verlet"}, "step: is required"),
    "friction": (FrictionImplicit, {"step": 1.0, "first_step": 0.1}, "first_step: controls the steps"),
    "scipy": (SciPy, {"step": 1.0}, "step: this rule chooses its own steps: leave it out and give rtol and atol"),
    "rounding": (
        Explicit,
        {"rtol": 1e-15},
        "rtol 1e-15 is below the rounding error 2.2e-16 of an operation: give at least",
    ),
    "rounding, by kind": (Explicit, {"rtol": {"rotation": 2e-14}}, "rtol.rotation 2e-14 is below the rounding error"),
    "rounding, scipy": (SciPy, {"rtol": 1e-16}, "rtol 1e-16 is below the rounding error"),
    "nothing allowed": (
        Explicit,
        {"rtol": 0.0, "atol": 0.0},
        "rtol is 0, and so is atol, but no step is free of error",
    ),
}


@pytest.mark.parametrize("what", UNUSABLE)
def test_a_rule_refuses_what_it_cannot_use_and_says_what_to_do(what: str) -> None:
    declared, fields, message = UNUSABLE[what]
    with pytest.raises(ar.ModelError) as caught:
        declared(**fields)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_tolerances_that_can_be_fulfilled_are_accepted() -> None:
    assert Explicit(rtol=0.0, atol=1e-9).rtol == 0.0
    assert Explicit(rtol=1e-9, atol=0.0).atol == 0.0
    assert Explicit(rtol=2.3e-14).rtol == 2.3e-14
    assert Explicit(rule="rk4", step=1.0).rtol is None


def damped(noise: bool) -> Any:
    drag = ar.forces.StokesDrag(translational=0.3, rotational=0.1)
    return flying_tree(forces=(drag, ar.forces.Brownian(temperature=1.0)) if noise else (drag,))


@pytest.mark.parametrize("integrator", [PredictorCorrector(step=0.01), Canonical(step=0.01), SciPy()])
def test_noise_is_refused_by_rules_that_cannot_follow_it(integrator: Any) -> None:
    with pytest.raises(ar.CaseError, match=rf"integrator.rule: '{integrator.rule}' .* choose one of friction-implicit"):
        Running(damped(noise=True), integrator)
    Running(damped(noise=False), integrator)


def test_a_policy_that_weighs_anew_at_every_step_is_refused_by_scipy() -> None:
    with pytest.raises(ar.CaseError, match="scaling policy of constant factors"):
        Running(damped(noise=False), SciPy(), policy=ThresholdAdaptive(a2=0.1, threshold=1.0))


def test_loops_are_refused_by_canonical_rules() -> None:
    with pytest.raises(ar.CaseError, match=r"'verlet' works in canonical momenta.* leave out the loops and drives"):
        Running(four_bar(), Canonical(rule="verlet", step=0.01))
