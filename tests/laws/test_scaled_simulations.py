"""A scaling policy means the same in ``ar.simulate`` as in a case: the drag of its core, its threshold, its units."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import articulon as ar
from articulon.errors import CaseError
from articulon.scaling import Constant, ErrorControlled, SmoothAdaptive, ThresholdAdaptive, TwoFactor
from articulon.simulation.threshold_search import SAMPLES
from tests.support.run_cases import BALL, CHAIN, case_of, ran

SHORT = {"run.duration": 0.25, "run.frames": 4}
OPTIONS = {"rule": "kutta-merson", "rtol": 1e-6, "atol": 1e-9, "frames": 4, "seed": 1}


@pytest.fixture(scope="module")
def chain(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return case_of(tmp_path_factory.mktemp("chain"), CHAIN).build_model()


def simulated(model: Any, policy: Any, **options: Any) -> Any:
    return ar.simulate(model, 0.25, scaling=policy, **(OPTIONS | options))


def test_a_threshold_is_one_of_the_force_over_the_drag_of_the_core(chain: Any) -> None:
    """Far below every Γ/β everything is scaled, far above all but the potential: with a drag of zero both were one."""
    low, high, all_of_it = (
        simulated(chain, policy)
        for policy in (
            ThresholdAdaptive(a2=0.1, threshold=1e-12),
            ThresholdAdaptive(a2=0.1, threshold=1e12),
            Constant(a2=0.1),
        )
    )
    assert np.array_equal(low.q, all_of_it.q)
    assert not np.allclose(low.q[-1], high.q[-1], rtol=0, atol=1e-4)
    assert low.state.factor[0] == 0.1 and high.state.factor[0] == 1.0
    assert low.memory.setup.scaling.damping == 10.0


@pytest.mark.parametrize("core", [None, "arm"])
def test_the_drag_is_that_of_the_core(chain: Any, core: str | None) -> None:
    """At a threshold between the two, the same force is above it for one core and below it for the other."""
    drag = 10.0 if core is None else 5.0
    policy = ThresholdAdaptive(a2=0.1, threshold=0.06, core=core)
    run = simulated(chain, policy)
    assert run.memory.setup.scaling.parameters.tolist() == [0.1, 0.06, drag]


@pytest.mark.slow
@pytest.mark.parametrize("policy", ["threshold-adaptive", "smooth-adaptive", "constant", "error-controlled"])
def test_a_simulation_has_the_bits_of_the_case(tmp_path: Path, policy: str) -> None:
    settings = {"a2": 0.1} if policy != "error-controlled" else {"tolerance": 5.0, "minimum": 0.3}
    if policy == "smooth-adaptive":
        settings["width"] = 0.004
    case = case_of(tmp_path, CHAIN, {**SHORT, "scaling": {"policy": policy, **settings}})
    done = ar.run(case, tmp_path / "run", report=False)
    run = simulated(case.build_model(), case.scaling)
    assert np.array_equal(run.q, done.q) and np.array_equal(run.u, done.u)


@pytest.mark.slow
def test_a_threshold_that_is_left_out_is_found_as_in_a_case(tmp_path: Path, chain: Any) -> None:
    found = ran(tmp_path, CHAIN, SHORT, "threshold").summary["threshold"]
    run = simulated(chain, ThresholdAdaptive(a2=0.1))
    assert run.memory.setup.scaling.threshold.value == found["value"]
    assert run.memory.setup.scaling.policy.threshold == found["value"] and SAMPLES
    assert any("scaling.threshold" in note and found["channel"] in note for note in run.notes)
    given = simulated(chain, ThresholdAdaptive(a2=0.1, threshold=found["value"]))
    assert np.array_equal(run.q, given.q) and given.memory.setup.scaling.threshold is None


def test_a_threshold_is_found_from_where_the_simulation_begins() -> None:
    def spring(time, positions, rotations, velocities, parameters, wrenches):
        wrenches[0, 0] -= positions[0, 0]

    builder = ar.ModelBuilder(units="lj")
    builder.add_body("ball", mass=0.1, joint=ar.Xyz(), q=(1.0, 0.0, 0.0))
    builder.add_force(ar.forces.UserForce(function=spring))
    builder.add_force(ar.forces.StokesDrag(translational=10.0))
    model = builder.build()
    found = [
        ar.simulate(
            model, 0.1, frames=1, scaling=ThresholdAdaptive(a2=0.5), q=start
        ).memory.setup.scaling.threshold.value
        for start in (None, (2.0, 0.0, 0.0))
    ]
    assert found[1] == pytest.approx(2.0 * found[0], rel=1e-3)


def test_quantities_of_a_policy_may_have_units(chain: Any) -> None:
    for plain, said in (
        (Constant(a2=0.2), Constant(a2="20 %")),
        (TwoFactor(a2=0.2, b2=0.5), TwoFactor(a2="20 %", b2="50 %")),
        (ThresholdAdaptive(a2=0.1, threshold=0.06), ThresholdAdaptive(a2="10 %", threshold="0.06 um/us")),
        (SmoothAdaptive(a2=0.1, threshold=0.06), SmoothAdaptive(a2=0.1, threshold="60 nm/us")),
        (ErrorControlled(tolerance=0.5, minimum=0.3), ErrorControlled(tolerance="50 %", minimum="30 %")),
    ):
        assert np.array_equal(simulated(chain, plain).q, simulated(chain, said).q)


@pytest.mark.parametrize(
    ("policy", "said"),
    [
        (Constant(a2=0), r"simulate: scaling\.a2: must be greater than 0, got 0"),
        (Constant(a2=-1), r"simulate: scaling\.a2: must be greater than 0, got -1"),
        (Constant(a2="2 nm"), r"simulate: scaling\.a2: expected a plain number"),
        (Constant(a2="many"), r"simulate: scaling\.a2: "),
        (TwoFactor(a2=0.1, b2=-0.1), r"simulate: scaling\.b2: must be greater than 0"),
        (ThresholdAdaptive(a2=0.1, threshold=-1.0), r"simulate: scaling\.threshold: must be at least 0"),
        (ThresholdAdaptive(a2=0.1, threshold="3 us"), r"simulate: scaling\.threshold: expected a velocity"),
        (ThresholdAdaptive(a2=0.1, threshold=1.0, core="crone"), r"simulate: scaling\.core: there is no body 'crone'"),
        (
            SmoothAdaptive(a2=0.1, threshold=0.0),
            r"simulate: scaling: a threshold of 0 gives no default width; give one",
        ),
        (ErrorControlled(tolerance=0.0), r"simulate: scaling\.tolerance: must be greater than 0"),
        ("constant", r"simulate: scaling must be a policy of articulon\.scaling, got 'constant'"),
    ],
)
def test_what_a_policy_cannot_be_is_refused_by_key(chain: Any, policy: Any, said: str) -> None:
    with pytest.raises(CaseError, match=said):
        simulated(chain, policy)


def test_a_policy_of_a_core_without_drag_is_refused(tmp_path: Path) -> None:
    model = case_of(tmp_path, BALL).build_model()
    for policy in (ThresholdAdaptive(a2=0.1), SmoothAdaptive(a2=0.1, threshold=1.0)):
        with pytest.raises(
            CaseError, match=r"simulate: scaling: .* divides by the drag of the core, and no body has any"
        ):
            ar.simulate(model, 1.0, scaling=policy)


def test_a_threshold_that_cannot_be_found_is_to_be_given() -> None:
    builder = ar.ModelBuilder(units="fg-um-us")
    builder.add_body("ball", mass=2.0, inertia=0.1, joint=ar.Free())
    builder.add_force(ar.forces.StokesDrag(translational=1.0, rotational=1.0))
    with pytest.raises(CaseError, match=r"simulate: scaling\.threshold: only the potential acts, .*; give one"):
        ar.simulate(builder.build(), 1.0, scaling=ThresholdAdaptive(a2=0.1))


def test_a_case_says_so_too(tmp_path: Path) -> None:
    scaling = {"policy": "smooth-adaptive", "a2": 0.1, "threshold": 0.0}
    with pytest.raises(CaseError, match=r"a-case\.toml: scaling: a threshold of 0 gives no default width; give one"):
        ran(tmp_path, CHAIN, {**SHORT, "scaling": scaling})


def test_a_policy_without_a_threshold_says_nothing(chain: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        assert simulated(chain, Constant(a2=0.1)).notes == []


def test_the_work_of_a_drive_is_not_divided_by_the_factor_of_its_channel() -> None:
    """Gravity alone has ∫ F·v dt without its factor; with a drive in the channel there is no such figure."""
    policy = SmoothAdaptive(a2=0.1, threshold=1.0, width=0.5)
    seen = {}
    for driven in (False, True):
        builder = ar.ModelBuilder(units="lj")
        for name in ("swinging", "turned"):
            builder.add_body(name, mass=1.0, inertia=1.0, com=(1.0, 0.0, 0.0), joint=ar.Revolute(axis=(0.0, 1.0, 0.0)))
        if driven:
            builder.add_drive("turned", times=(0.0, 1.0, 2.0, 3.0), values=(0.0, 0.5, 1.0, 1.5))
        builder.add_force(ar.forces.Gravity(acceleration=(0.0, 0.0, -3.0)))
        builder.add_force(ar.forces.StokesDrag(translational=1.0, rotational=1.0))
        run = simulated(builder.build(), policy)
        seen[driven] = run.observables
    gravity = seen[False]["unscaled_work_external"]
    fallen = seen[False]["energy_external"][0] - seen[False]["energy_external"]
    np.testing.assert_allclose(gravity, fallen, rtol=0, atol=1e-6)
    assert np.abs(gravity).max() > 1e-3
    assert "unscaled_work_external" not in seen[True]
