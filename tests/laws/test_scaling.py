"""What the scaling of forces does: constant scaling is a change of masses (Guy 2018, 2.14), two factors change clock
and temperature (2.15), the published adaptive rule is as published (5.6, 5.7), and constant scaling is late by what the
lag estimate says.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq

import articulon as ar
from articulon.errors import ArticulonError
from articulon.integrate import Explicit, FrictionImplicit
from articulon.model.state import CHANNELS, POTENTIAL
from articulon.scaling import Constant, NoScaling, ThresholdAdaptive, TwoFactor
from articulon.units import unit_system
from tests.support.langevin import error_of_mean_square
from tests.support.running import Running

EPS = float(np.finfo(float).eps)
RULES = {
    "explicit": Explicit(rule="rk4", step=0.01),
    "controlled": Explicit(rule="kutta-merson", rtol=1e-9, atol=1e-10),
    "friction-implicit": FrictionImplicit(step=0.02),
}


def jointed(mass: float = 1.0, spring: float = 2.0, kT: float = 0.3, pull: float = -1.0) -> Any:
    """A floating chain with every channel of the docking: sites, springs, drag, noise."""
    rng = np.random.default_rng(91)
    builder = ar.ModelBuilder(units="lj")
    parent = None
    for k, joint in enumerate((ar.Free(), ar.Spherical(), ar.Spherical())):
        parent = builder.add_body(
            f"link-{k}",
            parent=parent,
            joint=joint,
            mass=mass * (1.0 + 0.3 * k),
            inertia=mass * np.array([0.1, 0.15, 0.2]),
            com=(0.1, 0.05, -0.5),
            position=(0.0, 0.1, -1.0 if k else 0.0),
            u=0.3 * rng.normal(size=joint.nu),
        )
        builder.add_site(parent, (0.1, 0.0, -0.6), kind="ligand")
    builder.add_site(None, (1.0, 2.0, -4.0), kind="receptor")
    builder.add_force(
        ar.forces.SitePairs(
            table=(ar.forces.PairLaw(kinds=("ligand", "receptor"), C=pull),), between=(("ligand", "receptor"),)
        )
    )
    builder.add_force(ar.forces.TorsionalSprings(stiffness={"link-1": spring, "link-2": 0.5 * spring}))
    builder.add_force(ar.forces.StokesDrag(translational=1.0, rotational=0.3))
    builder.add_force(ar.forces.Brownian(temperature=kT))
    return builder.build()


def pair_of_runs(rule: str, scaled: Any, heavy: Any, policy: Any) -> tuple[Running, Running]:
    given: dict[str, Any] = {"seed": 5, "window": 0.02}
    return (
        Running(scaled, RULES[rule], policy=policy, **given).to(2.0),
        Running(heavy, RULES[rule], **given).to(2.0),
    )


@pytest.mark.parametrize("rule", RULES)
def test_constant_scaling_divides_the_masses(rule: str) -> None:
    """M q'' + C + a2 β D q' = a2 Γ, divided by a2: the same forces on bodies heavier by 1/a2, step for step."""
    a2 = 0.25
    scaled, heavy = pair_of_runs(rule, jointed(), jointed(mass=1.0 / a2), Constant(a2=a2))
    # A power of two scales without rounding; fused operations may round differently, and 200 steps carry that on.
    allowed = 1e-11
    if rule == "controlled":
        # The works are smaller by a2, so that the controller may choose other steps: then the tolerance is what counts.
        allowed = 1e-6
    assert np.abs(scaled.q - heavy.q).max() <= allowed
    assert np.abs(scaled.u - heavy.u).max() <= allowed
    assert np.abs(scaled.state.work - a2 * heavy.state.work).max() <= allowed
    assert scaled.kinetic_energy() == pytest.approx(a2 * heavy.kinetic_energy(), rel=1e-5)
    # And it is a change: the unscaled run ends elsewhere.
    assert np.abs(scaled.q - Running(jointed(), RULES[rule], seed=5, window=0.02).to(2.0).q).max() > 0.01


@pytest.mark.parametrize("rule", ["explicit", "friction-implicit"])
def test_two_factors_are_masses_a_clock_and_a_temperature(rule: str) -> None:
    """M q'' + C + a2 β D q' = a2 b2 Γ: masses divided by a2, potentials multiplied by b2, noise that of b2² T."""
    a2, b2 = 0.25, 0.5
    heavy = jointed(mass=1.0 / a2, spring=2.0 * b2, pull=-b2, kT=0.3 * b2**2)
    scaled, other = pair_of_runs(rule, jointed(), heavy, TwoFactor(a2=a2, b2=b2))
    assert np.abs(scaled.q - other.q).max() <= 1e-11
    assert np.abs(scaled.u - other.u).max() <= 1e-11


@pytest.mark.slow
@pytest.mark.parametrize(
    ("policy", "positions", "speeds", "spring"),
    [(NoScaling(), 1.0, 1.0, 1.0), (Constant(a2=0.2), 1.0, 0.2, 0.2), (TwoFactor(a2=0.2, b2=0.5), 0.5, 0.05, 0.1)],
)
def test_scaling_samples_positions_and_speeds_at_the_temperatures_it_should(
    policy: Any, positions: float, speeds: float, spring: float
) -> None:
    """⟨x²⟩ = b2 kT/k and ⟨m v²⟩ = a2 b2² kT (physics of 2.14 and 2.15 with noise), within five standard errors."""
    count, samples, kT, k, h = 3000, 100, 0.8, 1.0, 0.5
    builder = ar.ModelBuilder(units="lj")
    builder.add_bodies(count, mass=1.0, inertia=1.0, joint=ar.Revolute(axis=(0, 0, 1)), names="rotor")
    builder.add_force(ar.forces.TorsionalSprings(stiffness={"rotor*": k}))
    builder.add_force(ar.forces.StokesDrag(rotational=1.0))
    builder.add_force(ar.forces.Brownian(temperature=kT))
    rng = np.random.default_rng(92)
    q = rng.normal(size=count) * np.sqrt(positions * kT / k)
    u = rng.normal(size=count) * np.sqrt(speeds * kT)
    run = Running(builder.build(), FrictionImplicit(step=h), seed=93, window=h, policy=policy, q=q, u=u)
    x, v = np.empty((samples, count)), np.empty((samples, count))
    for n in range(samples):
        run.to((n + 1) * 4 * h)
        x[n], v[n] = run.q, run.u
    # Correlations measured on the series themselves, over lags that hold them, give the error of the mean squares.
    for series, expected in ((x, positions * kT / k), (v, speeds * kT)):
        c = np.array([(series[lag:] * series[: samples - lag]).mean() for lag in range(40)] + [0.0] * (samples - 40))
        error = error_of_mean_square(c, count)
        assert error < 0.012 * expected
        # Half kicks lower ⟨v²⟩ by (ω₀h)²/4, with ω₀² the spring's factor times k.
        lowered = 1.0 - h**2 * k * spring / 4.0 if series is v else 1.0
        assert abs((series**2).mean() - expected * lowered) < 5.0 * error


def attracted(distance: float, **given: Any) -> Any:
    """Two dragged ions near a receptor each; the potential channel's Σ|F| is known in closed form."""
    builder = ar.ModelBuilder(units="lj")
    for k, y in enumerate((0.0, 50.0)):
        ion = builder.add_body(f"ion-{k}", mass=1.0, joint=ar.Xyz(), q=(distance, y, 0.0), **given)
        builder.add_site(ion, kind="ion", group=f"ion-{k}")
        builder.add_site(None, (0.0, y, 0.0), kind="receptor", group=f"receptor-{k}")
    builder.add_force(
        ar.forces.SitePairs(
            table=(ar.forces.PairLaw(kinds=("ion", "receptor"), C=-1.0),),
            between=(("ion-0", "receptor-0"), ("ion-1", "receptor-1")),
        )
    )
    builder.add_force(ar.forces.StokesDrag(translational=4.0))
    return builder.build()


def test_the_adaptive_rule_switches_at_its_threshold() -> None:
    """a2* = a2 where Γ_p/β > α and 1 elsewhere, with Γ_p = Σ|F| over the bodies and β the core's, at a step's start."""
    model = attracted(1.25)
    # Two ions, each drawn by 1/r²: Γ_p/β = 2/(4 · 1.5625).
    value = 2.0 / 1.25**2 / 4.0
    for threshold, expected in ((0.999 * value, 0.01), (1.001 * value, 1.0)):
        policy = ThresholdAdaptive(a2=0.01, threshold=threshold)
        run = Running(model, Explicit(rule="rk4", step=1e-6), policy=policy, damping=4.0).to(1e-6)
        factors = dict(zip(CHANNELS, run.state.factor, strict=True))
        assert factors.pop("potential") == expected
        assert set(factors.values()) == {0.01}


@pytest.mark.parametrize("rule", ["explicit", "friction-implicit"])
def test_the_adaptive_rule_follows_the_forces_step_by_step(rule: str) -> None:
    model, h, a2, threshold = attracted(2.0, u=(-0.5, 0.0, 0.0)), 0.05, 0.1, 0.2
    chosen: Any = Explicit(rule="rk4", step=h) if rule == "explicit" else FrictionImplicit(step=h)
    run = Running(model, chosen, policy=ThresholdAdaptive(a2=a2, threshold=threshold), damping=4.0)
    seen = []
    for n in range(1, 60):
        x = run.q.reshape(2, 3) - [[0.0, 0.0, 0.0], [0.0, 50.0, 0.0]]
        expected = a2 if (1.0 / (x**2).sum(axis=1)).sum() / 4.0 > threshold else 1.0
        run.to(n * h)
        assert run.state.factor[POTENTIAL] == expected
        seen.append(expected)
    assert set(seen) == {a2, 1.0}, "it never switched"


def test_below_its_threshold_the_adaptive_rule_drifts_too_fast_by_the_factor() -> None:
    """As published: the drag is scaled and the potential is not, so that a slow drift is F/(a2 β) instead of F/β."""
    a2, distance = 0.1, 1000.0
    slow = Running(attracted(distance), Explicit(rtol=1e-8, atol=1e-14)).to(100.0)
    fast = Running(
        attracted(distance),
        Explicit(rtol=1e-8, atol=1e-14),
        policy=ThresholdAdaptive(a2=a2, threshold=1.0),
        damping=4.0,
    ).to(100.0)
    # Over the drift of some 1e-5 the force changes by 1e-7 of itself.
    assert slow.u[0] == pytest.approx(-1.0 / distance**2 / 4.0, rel=1e-4)
    assert fast.u[0] / slow.u[0] == pytest.approx(1.0 / a2, rel=1e-4)


MASS, DRAG, COULOMB = 1.0, 1.0, -1.0


def docking_time(a2: float, start: float, end: float) -> float:
    """Time at which one dragged body, drawn from rest by a site at the origin, passes ``end``."""
    builder = ar.ModelBuilder(units="lj")
    ion = builder.add_body("ion", mass=MASS, joint=ar.Xyz(), q=(start, 0.0, 0.0))
    builder.add_site(ion, kind="ion")
    builder.add_site(None, kind="receptor")
    law = ar.forces.PairLaw(kinds=("ion", "receptor"), C=COULOMB)
    builder.add_force(ar.forces.SitePairs(table=(law,), between=(("ion", "receptor"),)))
    builder.add_force(ar.forces.StokesDrag(translational=DRAG))
    model = builder.build()
    run = Running(model, Explicit(rtol=1e-10, atol=1e-12), policy=Constant(a2=a2))
    # In leaps that end safely before the passage, then by a root over ever new ends from there.
    while run.q[0] > end + 0.05 * (start - end):
        speed = max(abs(run.u[0]), 1.0 / run.q[0] ** 2)
        run.to(run.state.time[0] + 0.2 * (run.q[0] - end) / speed)
    held = run.state.copy()

    def beyond(time: float) -> float:
        run.state.take(held)
        return float(run.to(time).q[0] - end)

    t = float(held.time[0])
    span = (run.q[0] - end) / abs(run.u[0])
    return float(brentq(beyond, t + 1e-3 * span, t + 1.5 * span, xtol=1e-10 * t))


@pytest.mark.parametrize("start", [8.0, 10.0, 13.0])
def test_constant_scaling_is_late_by_what_the_lag_estimate_says(start: float) -> None:
    """Delay = (τ/a2) (1 + ln(F_end/F_start)) to first order in τ/a2: from rest the body loses τ/a2 once, and as the
    force grows, the velocity lags it by τ/a2. What is left over falls as the square of τ/a2."""
    tau, end = MASS / DRAG, 0.5 * start
    # Without inertia: dt = β dx / F.
    overdamped = DRAG * quad(lambda x: x**2, end, start)[0]
    estimate = 1.0 + np.log((start / end) ** 2)
    left = []
    for share in (0.04, 0.02, 0.01):  # of τ/a2 in the docking time
        a2 = tau / (share * overdamped)
        assert a2 < 1.0
        delay = docking_time(a2, start, end) - overdamped
        left.append(delay - tau / a2 * estimate)
        # The second order is that of (τ/a2)², times a number that the growth of the force gives: some ten here.
        assert abs(left[-1]) < 10.0 * share * tau / a2 * estimate
    orders = np.log2(np.abs(left[:-1]) / np.abs(left[1:]))
    assert orders[-1] == pytest.approx(2.0, abs=0.25), (left, orders)


def test_a_slow_approach_is_faithful_and_a_near_start_is_not() -> None:
    """The same a2 costs a smaller share of the docking time from farther away: what counts is τ/a2 to the event."""
    a2 = 0.2

    def late(start: float) -> float:
        end = 0.5 * start
        return docking_time(a2, start, end) / docking_time(1.0, start, end) - 1.0

    far, near = late(13.0), late(5.0)
    assert 0.0 < far < 0.02
    assert near > 5.0 * far


@pytest.mark.parametrize(
    "declared", [lambda: Constant(a2=0.0), lambda: Constant(a2=-1.0), lambda: TwoFactor(a2=0.1, b2=0.0)]
)
def test_impossible_factors_are_refused(declared: Any) -> None:
    with pytest.raises(ArticulonError, match="scaling"):
        declared().resolved(unit_system("lj"), "scaling")
