"""What advice says of models whose answer is known: by which rule, and in which step."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import articulon as ar
from articulon.advice.advised_options import Option, Trust
from articulon.advice.candidate_options import friction_implicit
from articulon.advice.case_time_scales import fastest_of_trees, scales_of
from articulon.advice.option_costs import Costs
from articulon.advice.probe_trials import Window, path_error, trial
from articulon.advice.recommending import SAME, TIE, chosen
from articulon.advice.subject import Subject
from articulon.analysis.approach import approach_of
from articulon.cases import Case, load_case
from articulon.errors import CaseError
from articulon.fidelity.verdict import Bounds
from articulon.forces.evaluation import Evaluator
from articulon.time_scales.contact_step_limit import contact_scales

BALL = """
[case]
units = "kg-m-s"
[[model.bodies]]
name = "ball"
mass = 1.0
joint = "xyz"
"""
PULLED = f"""{BALL}
[[forces]]
kind = "gravity"
acceleration = [1.0, 0, 0]
[[forces]]
kind = "stokes-drag"
translational = 1e9
[integrator]
rule = "kutta-merson"
[run]
duration = 1e-2
frames = 50
"""
"""A ball in a liquid that takes its speed in 1e-9, looked at for 1e-2."""
PENDULUM = """
[case]
units = "kg-m-s"
[[model.bodies]]
name = "rod"
mass = 1.0
inertia = [0.0, 0.0, 0.0]
com = [0, 0, -1.0]
joint = "revolute"
axis = [0, 1, 0]
q = [0.1]
[[forces]]
kind = "gravity"
acceleration = [0, 0, -9.81]
[integrator]
rule = "friction-implicit"
step = 0.001
[run]
duration = DURATION
frames = 10
"""


def case_of(folder: Path, text: str) -> Case:
    (folder / "given.toml").write_text(text, encoding="utf-8")
    return load_case(folder / "given.toml")


def option(name: str, seconds: float, verdict: str = "trusted", error: float | None = 1e-3) -> Option:
    return Option(name, True, rule=name, seconds=seconds, step=1.0, trust=Trust(verdict, error, ""))


def test_a_ball_whose_inertia_is_long_gone_is_run_without_it(tmp_path: Path) -> None:
    """τ/T = 1e-7: an explicit rule takes some 1e6 steps, and what inertia delays is τ of T."""
    advice = ar.advise(case_of(tmp_path, PULLED), seconds=3.0)
    assert advice.scales.slowest_drag == pytest.approx(1e-9)
    assert advice.chosen in ("overdamped", "friction-implicit")
    best, explicit = advice.recommended, advice.option("explicit")
    assert best is not None and best.step is not None and best.step > 1e3 * advice.scales.fastest_drag
    assert explicit.step is not None and explicit.step < 5.0 * advice.scales.fastest_drag
    overdamped = advice.option("overdamped").trust
    assert overdamped.verdict == "trusted" and overdamped.error is not None and overdamped.error < 1e-4


def test_inertia_that_lasts_is_not_left_out(tmp_path: Path) -> None:
    """τ = T: a run without inertia is wrong by all of its way."""
    advice = ar.advise(case_of(tmp_path, PULLED.replace("1e9", "1e2")), seconds=2.0)
    assert advice.chosen == "explicit"
    assert advice.option("overdamped").trust.verdict == "violated"
    assert not advice.option("scaled").feasible or advice.option("scaled").trust.verdict != "trusted"


def test_the_step_of_a_pendulum_follows_from_its_period(tmp_path: Path) -> None:
    """ω = √(g/l). Of symplectic steps of order 2 the phase is off by (ωh)²/24 of the angle: 2 % of what is seen, and
    what is seen is told from half the step, bounds ωh by some 0.7, and the powers of two by half of that."""
    text = PENDULUM.replace("DURATION", "10000.0")
    advice = ar.advise(case_of(tmp_path, text), seconds=3.0)
    omega = math.sqrt(9.81)
    assert advice.scales.vibration == pytest.approx(1.0 / omega, rel=0.01)
    explicit = advice.option("explicit")
    assert explicit.rule == "velocity-verlet" and explicit.step is not None
    assert 0.01 < omega * explicit.step <= 0.5
    assert advice.chosen == "explicit"


def test_a_few_swings_are_followed_by_an_error_that_is_controlled(tmp_path: Path) -> None:
    advice = ar.advise(case_of(tmp_path, PENDULUM.replace("DURATION", "5.0")), seconds=2.0)
    assert advice.option("explicit").rule == "dormand-prince"
    assert advice.chosen == "explicit"
    assert advice.option("scaled").why_not.startswith("there is no drag")


def test_a_stiff_spring_bounds_the_steps_of_what_it_holds(tmp_path: Path) -> None:
    """ω = √(k/m) = 100: no step may pass 2/ω, whatever the drag, and the search stays below it by itself."""
    held = """
[[forces]]
kind = "position-restraint"
stiffness = 1e4
bodies = ["ball"]
[[forces]]
kind = "stokes-drag"
translational = 10.0
[integrator]
rule = "kutta-merson"
[run]
duration = 1.0
frames = 10
"""
    text = BALL.replace('joint = "xyz"', 'joint = "xyz"\nu = [1.0, 0, 0]') + held
    advice = ar.advise(case_of(tmp_path, text), seconds=3.0)
    assert advice.scales.vibration == pytest.approx(0.01, rel=1e-3)
    implicit = advice.option("friction-implicit")
    assert implicit.step is not None and 0.01 < 100.0 * implicit.step < 1.0
    assert implicit.trust.error is not None and implicit.trust.error <= 0.02


def test_a_step_that_was_tried_over_a_part_of_the_run_is_said_to_be(tmp_path: Path) -> None:
    """Thermal paths diverge, so that steps are compared over their beginnings alone; a whole run is one."""
    whole = ar.advise(case_of(tmp_path, PENDULUM.replace("DURATION", "2.0")), seconds=2.0).option("friction-implicit")
    assert whole.trust.tried_over == "" and whole.trust.label == whole.trust.verdict
    bath = '[thermostat]\nkind = "langevin"\ntemperature = 300\nfriction = 1.0\n[run]'
    text = PENDULUM.replace("DURATION", "2.0").replace("[run]", bath)
    advice = ar.advise(case_of(tmp_path, text), seconds=2.0)
    trust = advice.option("friction-implicit").trust
    over, unit = trust.tried_over.split()
    assert unit in ("s", "ms") and 0.0 < float(over) * (1e-3 if unit == "ms" else 1.0) < 0.9 * 2.0
    assert (
        trust.label == f"step {trust.verdict} over {trust.tried_over}" and "no information on averages" in trust.words
    )
    assert trust.label in advice._repr_html_()


def test_grains_are_run_at_a_twentieth_of_a_collision() -> None:
    case = load_case("two-spheres")
    advice = ar.advise(case, seconds=2.0)
    scales = contact_scales(case.build_model())
    assert scales is not None and advice.chosen == "explicit"
    best = advice.recommended
    assert best is not None and best.rule == "velocity-verlet" and best.step is not None
    assert 0.9 * scales.recommended < best.step <= scales.recommended * (1.0 + 1e-9)
    for name in ("friction-implicit", "overdamped", "scaled"):
        assert not advice.option(name).feasible


def test_the_fastest_vibration_of_trees_is_the_root_of_the_largest_eigenvalue() -> None:
    """Power iteration on differences of accelerations, against g/l of a hanging rod."""
    b = ar.ModelBuilder(units="kg-m-s")
    b.add_body("rod", mass=2.0, inertia=(1e-3, 1e-3, 1e-3), com=(0, 0, -0.5), joint=ar.Revolute(axis=(0, 1, 0)))
    b.add_force(ar.forces.Gravity(acceleration=(0, 0, -9.81)))
    model = b.build()
    expected = 2.0 * 9.81 * 0.5 / (1e-3 + 2.0 * 0.25)
    assert fastest_of_trees(Evaluator(model), model.q0) ** 2 == pytest.approx(expected, rel=1e-6)
    assert scales_of(model, 1.0).vibration == pytest.approx(expected**-0.5, rel=1e-4)


def test_the_error_of_steps_is_that_beside_a_finer_run(tmp_path: Path) -> None:
    """Halving tells the error of steps of order 2 to a third: a step of ωh = 0.4 beside one eight times as short."""
    subject = Subject.of(case_of(tmp_path, PENDULUM.replace("DURATION", "10.0")))
    window = Window(subject.model, 8.0, 32)
    made = [
        trial(subject, replace(subject.case, thermostat=None), window, parts, math.inf).path for parts in (2, 4, 32)
    ]
    halved = path_error(subject, made[0], made[1], 8.0).error
    true = path_error(subject, made[0], made[2], 8.0).error
    assert true > 0.0 and 4.0 / 3.0 * halved == pytest.approx(true, rel=0.25)
    assert path_error(subject, made[2], made[2], 8.0).error == 0.0
    assert np.isfinite(true)


def test_the_cheapest_option_that_is_trusted_is_chosen() -> None:
    slow, fast = option("explicit", 1000.0), option("overdamped", 1.0)
    assert chosen([slow, fast]) is fast
    assert chosen([slow, replace(fast, trust=Trust("violated", 0.5, ""))]) is slow
    assert chosen([replace(slow, feasible=False), replace(fast, feasible=False)]) is None


def test_what_leaves_out_less_is_chosen_where_costs_are_about_the_same() -> None:
    implicit, overdamped = option("friction-implicit", 100.0 * 0.99 * TIE), option("overdamped", 100.0)
    assert chosen([implicit, overdamped]) is implicit
    assert chosen([option(("explicit"), 0.9 * SAME), option(("adaptive"), 1e-3)]).name == ("explicit")  # type: ignore[union-attr]
    assert chosen([option("explicit", 100.0 * 1.01 * TIE), overdamped]) is overdamped


def test_time_that_other_programs_took_is_not_held_against_an_option() -> None:
    """Its own is 30 s of 300; a run on four threads has more processor time than wall time, and that is its cost."""
    hindered = replace(option("explicit", 300.0), busy=0.1)
    assert chosen([hindered, option("overdamped", 30.0)]) is hindered
    threads = replace(option("overdamped", 10.0), busy=4.0)
    assert chosen([option("explicit", 30.0), threads]) is threads


def test_the_least_wrong_is_chosen_where_nothing_is_trusted() -> None:
    bad, worse = option("scaled", 50.0, "suspect", 0.05), option("overdamped", 1.0, "violated", 0.5)
    assert chosen([bad, worse]) is bad


def test_a_step_that_does_not_stay_finite_is_halved_until_it_does_and_once_more(tmp_path: Path) -> None:
    """Kicks and drifts of a vibration ω = 100 grow beyond hω = 2: from h = 0.0625, hω = 6.25, the first that is stable
    is 1/64, and half of that is taken."""
    spring = """
[[forces]]
kind = "position-restraint"
stiffness = 1e4
bodies = ["ball"]
[integrator]
rule = "friction-implicit"
step = 0.0625
[run]
duration = 500.0
frames = 10
"""
    subject = Subject.of(case_of(tmp_path, BALL.replace('joint = "xyz"', 'joint = "xyz"\nu = [1.0, 0, 0]') + spring))
    costs = Costs(subject, scales_of(subject.model, 500.0), Bounds(), 60.0)
    found = costs.of(friction_implicit(subject), 0.0625, "nothing", Trust("trusted", 0.0, ""), 0.1)
    assert found.feasible and found.step is not None and found.step == pytest.approx(0.0625 / 8, rel=1e-3)
    assert found.bound == "stability later in the run"


@pytest.mark.parametrize(
    ("probe", "words"),
    [
        (1e-12, r"is too short to advise: it takes at least 2 ns, 2 relaxation times of 'ball'"),
        ("1 ps", "is too short to advise"),
        (1.0, "is longer than the run"),
        (-1.0, "expected a time above 0"),
        ("1 m", "expected a time"),
    ],
)
def test_a_probe_that_cannot_tell_is_refused_with_the_length_that_it_needs(
    tmp_path: Path, probe: float | str, words: str
) -> None:
    with pytest.raises(CaseError, match=words):
        ar.advise(case_of(tmp_path, PULLED), probe)


@pytest.mark.parametrize(
    "arguments", [{"seconds": 0.0}, {"seconds": math.nan}, {"tolerance": 0.0}, {"tolerance": "2 m"}]
)
def test_arguments_that_cannot_be_are_refused(tmp_path: Path, arguments: dict[str, float]) -> None:
    with pytest.raises(CaseError, match="advise"):
        ar.advise(case_of(tmp_path, PULLED), **arguments)  # type: ignore[arg-type]


def test_a_case_in_which_nothing_moves_is_refused(tmp_path: Path) -> None:
    text = BALL.replace('"xyz"', '"weld"') + "[run]\nduration = 1.0\n"
    with pytest.raises(CaseError, match="model: no joint lets a body move"):
        ar.advise(case_of(tmp_path, text))


def test_a_rule_that_does_not_go_with_the_case_is_replaced() -> None:
    advice = ar.advise(load_case("two-spheres", {"integrator": {"rule": "kutta-merson"}}), seconds=1.0)
    best = advice.recommended
    assert best is not None and best.rule == "velocity-verlet"
    assert best.changes["integrator.rule"] == "velocity-verlet"


@pytest.mark.parametrize("keep_joints", [False, True])
def test_from_rest_under_a_steady_force_inertia_delays_by_the_relaxation_time(
    tmp_path: Path, keep_joints: bool
) -> None:
    """x = v (t − τ (1 − e^{−t/τ})): late by τ once it is steady, whatever the way; T is 100 τ here."""
    approach = approach_of(case_of(tmp_path, PULLED.replace("1e9", "1e4")), keep_joints)
    assert approach is not None and approach.inertia() == pytest.approx(1e-4, rel=0.02)


def test_what_interrupts_holds_what_was_found(tmp_path: Path) -> None:
    class Impatient:
        """Interrupts at the second thing that it is told of."""

        told = 0

        def start(self, total_time: float, unit: str, resumed_from: float = 0.0) -> None: ...

        def message(self, text: str) -> None:
            self.told += text.startswith(("explicit", "friction-implicit"))
            if self.told == 2:
                raise KeyboardInterrupt

        def update(self, time: float, step: float, steps: int) -> None: ...

        def finish(self, text: str = "") -> None: ...

    with pytest.raises(KeyboardInterrupt) as raised:
        ar.advise(case_of(tmp_path, PULLED), seconds=2.0, progress=Impatient())
    advice = raised.value.advice  # type: ignore[attr-defined]
    assert advice.interrupted and advice.chosen == "friction-implicit"
    assert "interrupted" in advice.option("overdamped").why_not


def test_the_recommended_changes_make_a_case_that_runs_as_told(tmp_path: Path) -> None:
    case = case_of(tmp_path, PULLED)
    advice = ar.advise(case, seconds=2.0)
    best = advice.recommended
    assert best is not None
    run = ar.run(case.with_overrides(best.changes), tmp_path / "run", report=False, progress=False)
    assert run.summary["steps"] == pytest.approx(best.steps, rel=0.02)
    # Nothing is kept of what cannot be written.
    assert json.loads(json.dumps(advice.data, allow_nan=False))["recommended"] == best.name
    assert repr(advice).startswith("Advice('given': ") and "<table>" in advice._repr_html_()
