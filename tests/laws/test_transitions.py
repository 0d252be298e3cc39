"""The physics of locking and releasing, and what is refused."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

import articulon as ar
from articulon.dynamics.momenta import momentum
from tests.support.loop_models import FourBar, to_articulon
from tests.support.random_models import floating_tree, random_coordinates
from tests.support.random_models import to_articulon as open_model

UNITS = "fg-um-us"


def arm() -> ar.ModelBuilder:
    """A spherical shoulder on a free base, a revolute elbow, a universal wrist, and a welded hand."""
    builder = ar.ModelBuilder(units=UNITS)
    shared = {"mass": 1.0, "com": (0.3, 0.1, 0.2), "inertia": (0.2, 0.3, 0.4), "position": (0.5, 0.2, 0.1)}
    base = builder.add_body("base", joint=ar.Free(), **shared)
    upper = builder.add_body("upper", joint=ar.Spherical(), parent=base, **shared)
    lower = builder.add_body("lower", joint=ar.Revolute(axis=(0, 0, 1)), parent=upper, **shared)
    wrist = builder.add_body("wrist", joint=ar.Universal(), parent=lower, **shared)
    builder.add_body("hand", joint=ar.Weld(), parent=wrist, **shared)
    return builder


def moving_arm(seed: int = 0) -> tuple[Any, np.ndarray]:
    model = arm().build()
    return model, np.random.default_rng(seed).normal(size=model.nu)


def test_locking_and_releasing_keep_momentum_and_angular_momentum() -> None:
    rng = np.random.default_rng(1)
    for _ in range(10):
        description = floating_tree(rng, 12)
        model, q = open_model(description), random_coordinates(description, rng)
        u = rng.normal(size=model.nu)
        axes = rng.random(model.nu) < 0.4
        axes[:6] = False  # the root is free of the ground
        axes[-1] = True
        locked = ar.lock(model, q, u, axes)
        released = ar.release(model, q, locked.speeds, axes, choice="canonical", energy=2 * locked.energy_before)
        before = momentum(model, q, u)
        for after in (locked, released):
            now = momentum(model, q, after.speeds)
            assert np.abs(now[:3] - before[:3]).max() <= 1e-12 * before[6]
            assert np.abs(now[3:6] - before[3:6]).max() <= 1e-12 * max(before[7], now[7])


def test_no_other_coarse_speeds_are_nearer_and_energy_is_lost() -> None:
    """Carnot: what an impulsive constraint takes is the energy of the speeds that are lost."""
    model, u = moving_arm()
    M = ar.mass_matrix(model, model.q0)
    t = ar.lock(model, model.q0, u, [("upper", 1), "lower"])
    lost = u - t.speeds
    assert t.kept.energy == pytest.approx(0.5 * lost @ M @ lost, rel=1e-12)
    assert t.energy_before - t.energy_after == pytest.approx(t.kept.energy, rel=1e-10)
    assert abs(lost @ M @ t.speeds) <= 1e-12 * (u @ M @ u)


def test_axes_can_be_named_in_several_ways() -> None:
    model, u = moving_arm()
    q, start = model.q0, 6
    expected = np.zeros(model.nu, dtype=bool)
    expected[[start + 1, start + 3, start + 5]] = True
    ways: list[Any] = [
        [("upper", 1), "lower", ("wrist", 1)],
        [("upper", "wy"), ("lower", 0), ("wrist", "rate_y")],
        expected,
    ]
    found = [ar.lock(model, q, u, way) for way in ways]
    for t in found:
        assert np.array_equal(t.kept.axes, expected) and np.array_equal(t.locked, expected)
        assert np.array_equal(t.speeds, found[0].speeds)
    assert np.flatnonzero(ar.lock(model, q, u, "upper").locked).tolist() == [6, 7, 8]


def test_the_example_of_the_documentation_runs() -> None:
    text = (Path(__file__).parents[2] / "docs" / "transitions.md").read_text(encoding="utf-8")
    names: dict[str, Any] = {}
    exec(re.findall(r"```python\n(.*?)```", text, re.DOTALL)[0], names)
    np.testing.assert_allclose(names["back"].speeds, names["u"], rtol=0, atol=1e-13)
    assert not names["t"].speeds[names["t"].locked].any()
    assert names["fast"].energy_after == pytest.approx(0.8, rel=1e-12)
    assert names["warm"].locked.sum() == 1


def test_locks_one_after_another_are_one_lock() -> None:
    model, u = moving_arm()
    at_once = ar.lock(model, model.q0, u, ["upper", "lower"])
    first = ar.lock(model, model.q0, u, "upper")
    second = ar.lock(model, model.q0, first.speeds, "lower", locked=first.locked)
    np.testing.assert_allclose(second.speeds, at_once.speeds, rtol=0, atol=1e-13)
    assert first.kept.energy + second.kept.energy == pytest.approx(at_once.kept.energy, rel=1e-12)
    assert np.array_equal(second.locked, at_once.locked)
    # Released in the opposite order, each from its own reservoir.
    back = ar.release(model, model.q0, second.speeds, "lower", reservoir=second.kept, locked=second.locked)
    np.testing.assert_allclose(back.speeds, first.speeds, rtol=0, atol=1e-12)
    back = ar.release(model, model.q0, back.speeds, "upper", reservoir=first.kept, locked=back.locked)
    np.testing.assert_allclose(back.speeds, u, rtol=0, atol=1e-12)
    assert not back.locked.any()


def test_a_mechanism_of_one_freedom_stops_as_a_whole_and_starts_again() -> None:
    bar = FourBar()
    q = bar.coordinates(0.7)
    model = to_articulon(bar.mechanism(), q)
    J = ar.loop_jacobian(model, model.q0)
    u = np.linalg.svd(J)[2][-1]
    t = ar.lock(model, model.q0, u, "crank")
    assert np.abs(t.speeds).max() <= 1e-13 and t.energy_after <= 1e-25
    back = ar.release(model, model.q0, t.speeds, "crank", reservoir=t.kept)
    np.testing.assert_allclose(back.speeds, u, rtol=0, atol=1e-12)


def driven(angle: float = 0.3) -> Any:
    builder = arm()
    builder.add_drive("lower", name="motor", times=[0.0, 1.0, 2.0, 3.0], values=[angle, 0.5, 0.1, 0.4])
    return builder.build()


def test_with_a_driven_joint_the_energy_has_a_linear_term() -> None:
    """Coarse speeds are then not those of least energy: the drive's momentum lies along what is released."""
    model, rng = driven(), np.random.default_rng(3)
    q, u = model.q0, model.u0 + 0.3 * rng.normal(size=model.nu)
    u[9] = model.u0[9]
    M = ar.mass_matrix(model, q)
    t = ar.lock(model, q, u, [("upper", 0), ("upper", 2)])
    assert t.speeds[9] == pytest.approx(u[9], rel=1e-12)
    assert t.kept.energy == pytest.approx(t.energy_before - t.energy_after, rel=1e-9)
    back = ar.release(model, q, t.speeds, t.locked, reservoir=t.kept)
    np.testing.assert_allclose(back.speeds, u, rtol=0, atol=1e-12)
    for choice in ("nearest", "canonical"):
        up = ar.release(model, q, t.speeds, t.locked, choice=choice, energy=1.7 * t.energy_after)
        assert 0.5 * up.speeds @ M @ up.speeds == pytest.approx(1.7 * t.energy_after, rel=1e-12)
        assert up.speeds[9] == pytest.approx(u[9], rel=1e-12)
    with pytest.raises(ar.TransitionError, match=r"the momentum requires at least [\d.e+-]+ fg um\^2/us\^2; request"):
        ar.release(model, q, t.speeds, t.locked, energy=0.3 * t.energy_after)
    # The least energy that the message names can be had, and is below that of the coarse model.
    try:
        ar.release(model, q, t.speeds, t.locked, energy=0.0)
    except ar.TransitionError as error:
        least = float(str(error).split("requires at least ")[1].split()[0])
    assert least < t.energy_after
    ar.release(model, q, t.speeds, t.locked, energy=least * (1 + 1e-8))


def test_a_temperature_counts_the_freedoms_of_the_moment() -> None:
    model, u = moving_arm()
    t = ar.lock(model, model.q0, u, ["upper", "lower"])
    T = 3.0 * t.energy_before / model.units.boltzmann
    warm = ar.release(model, model.q0, t.speeds, "lower", temperature=T, locked=t.locked)
    assert warm.energy_after == pytest.approx(0.5 * (model.nu - 3) * model.units.boltzmann * T, rel=1e-12)
    words = f"{warm.energy_after!r} fg um^2/us^2"
    same = ar.release(model, model.q0, t.speeds, "lower", energy=words, locked=t.locked)
    np.testing.assert_allclose(same.speeds, warm.speeds, rtol=1e-9)


def cycles(share: bool, count: int = 3000) -> tuple[np.ndarray, float, np.ndarray]:
    """Speeds of a Maxwell distribution of which some axes were locked and released again, M and kT."""
    model = arm().build()
    M, kT, rng = ar.mass_matrix(model, model.q0), 2.0, np.random.default_rng(4)
    root = np.linalg.cholesky(np.linalg.inv(M))
    T = kT / model.units.boltzmann
    axes = np.zeros(model.nu, dtype=bool)
    axes[[6, 8, 9]] = True
    result = np.empty((count, model.nu))
    for k in range(count):
        t = ar.lock(model, model.q0, np.sqrt(kT) * root @ rng.normal(size=model.nu), axes)
        target: dict[str, Any] = {"share": T} if share else {"energy": t.energy_after + 1.5 * kT}
        result[k] = ar.release(model, model.q0, t.speeds, axes, choice="canonical", seed=7, draw=k, **target).speeds
    return result, kT, M


def probability_of_maxwell(u: np.ndarray, kT: float, M: np.ndarray) -> float:
    """The smallest p-value, times their number, of the energy's distribution and of every ⟨u_i p_i⟩ = kT."""
    momenta = u @ M
    values = [stats.kstest((u * momenta).sum(axis=1) / kT, stats.chi2(len(M)).cdf).pvalue]
    root = np.linalg.cholesky(M)
    normal = u @ root / np.sqrt(kT)
    values += [stats.kstest(c, stats.norm.cdf).pvalue for c in normal.T]
    return float(min(values)) * len(values)


@pytest.mark.slow
def test_a_released_share_of_equilibrium_keeps_the_maxwell_distribution() -> None:
    assert probability_of_maxwell(*cycles(share=True)) > 1e-3


@pytest.mark.slow
def test_a_fixed_energy_of_the_same_mean_does_not() -> None:
    """Its fluctuations are missing: three degrees of freedom of twelve that carry 1.5 kT each time."""
    assert probability_of_maxwell(*cycles(share=False, count=20_000)) < 1e-3


def test_the_same_seed_and_draw_give_the_same_bits() -> None:
    model, u = moving_arm()
    t = ar.lock(model, model.q0, u, "upper")

    def released(**options: int) -> np.ndarray:
        return ar.release(model, model.q0, t.speeds, "upper", choice="canonical", share=1e3, **options).speeds

    assert np.array_equal(released(seed=3, draw=8), released(seed=3, draw=8))
    assert not np.array_equal(released(seed=3, draw=8), released(seed=3, draw=9))
    assert not np.array_equal(released(seed=3, draw=8), released(seed=4, draw=8))


def refused(message: str, **changes: Any) -> None:
    model, u = moving_arm()
    t = ar.lock(model, model.q0, u, "upper")
    options: dict[str, Any] = {"axes": "upper", "energy": 2 * t.energy_before} | changes
    with pytest.raises(ar.TransitionError, match=message):
        ar.release(model, model.q0, options.pop("u", t.speeds), **options)


def test_what_a_lock_refuses() -> None:
    model, u = moving_arm()
    for axes, message in (
        ("uper", r"lock: there is no body 'uper'; did you mean 'upper'\?"),
        ("hand", r"lock: body 'hand' is welded to its parent; its joint has no axis"),
        (("lower", 1), r"revolute joint of 'lower' has axes 0 to 0 \(rate\), not 1"),
        (("upper", "rate"), r"spherical joint of 'upper' has no speed 'rate'; its speeds are wx, wy, wz"),
        (np.zeros(3, dtype=bool), r"a mask is an array of 12 bools"),
        (np.zeros(12), r"a mask is an array of 12 bools.* not float64"),
        ([], "no axis is given"),
        ([3.5], "expected 'body'"),
    ):
        with pytest.raises(ar.TransitionError, match=message):
            ar.lock(model, model.q0, u, axes)
    t = ar.lock(model, model.q0, u, "upper")
    with pytest.raises(ar.TransitionError, match=r"axis 1 \(wy\) of the spherical joint of 'upper' is already locked"):
        ar.lock(model, model.q0, t.speeds, ("upper", 1), locked=t.locked)
    with pytest.raises(
        ar.TransitionError, match=r"lock: axis 0 \(rate\) of the revolute joint of 'lower' is given as locked"
    ):
        ar.lock(model, model.q0, u, "upper", locked="lower")
    with pytest.raises(ar.TransitionError, match=r"'lower' follows drive 'motor'; an axis whose motion is given"):
        ar.lock(driven(), driven().q0, driven().u0, "lower")


def test_a_joint_that_a_loop_needs_is_refused_by_the_names_of_both() -> None:
    bar = FourBar()
    model = to_articulon(bar.mechanism(), bar.coordinates(0.7))
    still = np.zeros(model.nu)
    for axes in (["crank", "rocker"], ["crank", "coupler", "rocker"]):
        message = r"lock: loop 'closure' needs axis 0 \(rate\) of the revolute joint of '(coupler|rocker)'"
        with pytest.raises(ar.TransitionError, match=message):
            ar.lock(model, model.q0, still, axes)
    # Also where the other was locked before, and then it is named.
    t = ar.lock(model, model.q0, still, "rocker")
    with pytest.raises(ar.TransitionError, match=r"needs axis 0 \(rate\) of the revolute joint of 'crank'"):
        ar.lock(model, model.q0, t.speeds, "crank", locked=t.locked)


def test_what_a_release_refuses() -> None:
    refused(r"release: axis 0 \(rate\) of the revolute joint of 'lower' is not locked", axes="lower", locked="upper")
    refused(
        r"release: axis 0 \(rate\) of the revolute joint of 'lower' is given as locked, but its speed is", axes="lower"
    )
    refused(r"the momentum requires at least [\d.]+ fg um\^2/us\^2; request at least that", energy=1e-3)
    refused(r"the momentum requires at least [\d.]+ fg um\^2/us\^2", energy=None, temperature="1 K")
    refused(r"release: temperature must not be negative, got -300; give a temperature", energy=None, temperature=-300)
    refused(r"release: share must not be negative, got '-1 K'", energy=None, share="-1 K")
    refused(r"metric 'mass': .* so that a reference is needed", metric="mass")
    refused(r"metric 'mass': .* so that a reference is needed", metric="mass", reference=np.zeros(12))
    refused(r"unknown choice 'closest'; choose one of published, nearest, canonical", choice="closest")
    refused(r"unknown metric 'l1'; choose one of euclidean, mass", metric="l1")
    refused(r"release: energy and temperature are targets of the same energy", temperature=300)
    model, u = moving_arm()
    kept = ar.lock(model, model.q0, u, ["upper", "lower"]).kept
    refused(r"the reservoir belongs to other axes than those released", energy=None, reservoir=kept)
    refused(r"no energy target is given", energy=None)
