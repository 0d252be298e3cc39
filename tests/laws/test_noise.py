"""Random numbers and Brownian forces: known answers, moments, windows, one noise path for every step, and what a held
force does to free bodies.

Statistical bounds are five standard errors, computed from theory for the number of samples taken; every sample is a
body of its own, so that they are independent. At the sizes chosen a fault of 2 % shows.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numba
import numpy as np
import pytest
from scipy import stats

import articulon as ar
from articulon.integrate import Explicit, FrictionImplicit
from articulon.rng import normal_pair, philox, uniform_pair
from tests.support.langevin import Oscillator
from tests.support.running import Running, body_axes

SIGMAS = 5.0
SHAPES = ("normal", "uniform", "direction")
MASS, DRAG, KT = 2.0, 3.0, 1.7
INERTIA, TURNING = 0.4, 0.9
TAU, TAU_TURN = MASS / DRAG, INERTIA / TURNING


def bath(count: int, *, joint: Any = None, shape: str = "normal", kT: float = KT, **changes: Any) -> Any:
    """Independent spheres in a medium, each a sample."""
    given = {"mass": MASS, "inertia": INERTIA, "translational": DRAG, "rotational": TURNING, **changes}
    builder = ar.ModelBuilder(units="lj")
    builder.add_bodies(count, mass=given["mass"], inertia=given["inertia"], joint=ar.Free() if joint is None else joint)
    builder.add_force(ar.forces.StokesDrag(translational=given["translational"], rotational=given["rotational"]))
    builder.add_force(ar.forces.Brownian(temperature=kT, shape=shape))
    return builder.build()


def held_forces(model: Any, seed: int, windows: Iterable[int], length: float = 1.0, average: int = 1) -> np.ndarray:
    """Forces and torques held in windows, shape (windows, bodies, 6).

    A step of Euler's rule from rest, as long as the window, turns them into speeds: u = F Δ/m; the drag is still zero.
    """
    step = length * average
    run = Running(model, Explicit(rule="euler", step=step), seed=seed, window=length, average=average)
    inertia = np.array([MASS] * 3 + [INERTIA] * 3)
    found = []
    for window in windows:
        run.u[:] = 0.0
        run.state.time[0] = window * step
        run.in_window(window).to((window + 1) * step)
        found.append(run.u.reshape(-1, 6) * inertia / step)
    return np.array(found)


@numba.njit
def known(counter, key):  # type: ignore[no-untyped-def]
    return philox(counter[0], counter[1], counter[2], counter[3], key[0], key[1])


@numba.njit
def uniform_pairs(seed, stream, first, windows, start, indices):  # type: ignore[no-untyped-def]
    out = np.empty((windows, indices, 2))
    for w in range(windows):
        for i in range(indices):
            out[w, i, 0], out[w, i, 1] = uniform_pair(seed, stream, first + w, start + i)
    return out


@numba.njit
def normal_pairs(seed, stream, first, windows, start, indices):  # type: ignore[no-untyped-def]
    out = np.empty((windows, indices, 2))
    for w in range(windows):
        for i in range(indices):
            out[w, i, 0], out[w, i, 1] = normal_pair(seed, stream, first + w, start + i)
    return out


# Random123's own known-answer file, kat_vectors, philox4x32 with 10 rounds.
KNOWN = [
    ("00000000 00000000 00000000 00000000", "00000000 00000000", "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
    ("ffffffff ffffffff ffffffff ffffffff", "ffffffff ffffffff", "408f276d 41c83b0e a20bc7c6 6d5451fd"),
    ("243f6a88 85a308d3 13198a2e 03707344", "a4093822 299f31d0", "d16cfe09 94fdcceb 5001e420 24126ea1"),
]


@pytest.mark.parametrize(("counter", "key", "answer"), KNOWN)
def test_philox_gives_the_known_answers(counter: str, key: str, answer: str) -> None:
    words = known(*(np.array([int(word, 16) for word in text.split()], dtype=np.uint64) for text in (counter, key)))
    assert [f"{int(word):08x}" for word in words] == answer.split()


def test_uniform_numbers_fill_the_open_interval_evenly() -> None:
    x = uniform_pairs(5, 2, 0, 1000, 0, 500).ravel()
    assert x.min() > 0.0 and x.max() < 1.0
    bins = np.histogram(x, bins=1000, range=(0.0, 1.0))[0]
    statistic = ((bins - x.size / 1000.0) ** 2).sum() / (x.size / 1000.0)
    assert stats.chi2.sf(statistic, 999) > 1e-6
    assert stats.chi2.cdf(statistic, 999) > 1e-6
    # The last bits are as even as the first; below a half all 53 are held.
    last = np.bincount((np.ldexp(x[x < 0.5], 53) % 64.0).astype(int), minlength=64)
    assert stats.chi2.sf(((last - last.mean()) ** 2).sum() / last.mean(), 63) > 1e-6


@pytest.mark.slow
def test_normal_numbers_are_normal() -> None:
    x = normal_pairs(5, 2, 0, 1000, 0, 500).ravel()
    assert stats.kstest(x, "norm").pvalue > 1e-6
    # Moments 1, 2 and 4 of 10⁶ numbers; their variances are 1, 2 and 96.
    assert abs(x.mean()) < SIGMAS / np.sqrt(x.size)
    assert abs((x**2).mean() - 1.0) < SIGMAS * np.sqrt(2.0 / x.size)
    assert abs((x**4).mean() - 3.0) < SIGMAS * np.sqrt(96.0 / x.size)


@pytest.mark.parametrize(
    ("what", "seed", "stream", "window", "index"),
    [
        ("index", 8, 1, 1, 1),
        ("window", 8, 1, 2, 0),
        ("stream", 8, 2, 1, 0),
        ("seed", 9, 1, 1, 0),
        ("seed beyond 32 bits", 8 + 2**32, 1, 1, 0),
        ("window beyond 32 bits", 8, 1, 2**32 + 1, 0),
    ],
)
def test_numbers_of_different_counters_are_independent(
    what: str, seed: int, stream: int, window: int, index: int
) -> None:
    """Neither the numbers nor their squares are correlated when any counter differs, be it by one."""
    one = normal_pairs(8, 1, 1, 400, 0, 100)
    other = normal_pairs(seed, stream, window, 400, index, 100)
    assert abs((one * other).mean()) < SIGMAS / np.sqrt(one.size), what
    # (x² − 1)(y² − 1) has the variance 4.
    assert abs(((one**2 - 1.0) * (other**2 - 1.0)).mean()) < SIGMAS * 2.0 / np.sqrt(one.size), what


def test_the_two_numbers_of_a_pair_are_independent() -> None:
    x, y = normal_pairs(8, 1, 1, 400, 0, 100).reshape(-1, 2).T
    assert abs((x * y).mean()) < SIGMAS / np.sqrt(x.size)
    assert abs(((x**2 - 1.0) * (y**2 - 1.0)).mean()) < SIGMAS * 2.0 / np.sqrt(x.size)


def test_numbers_are_a_function_of_their_counters_alone() -> None:
    """A stretch drawn by itself is that stretch of the whole."""
    whole = normal_pairs(3, 1, 0, 40, 0, 10)
    assert np.array_equal(whole[17:23, 4:9], normal_pairs(3, 1, 17, 6, 4, 5))


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("length", [0.25, 4.0])
def test_held_forces_have_the_variance_of_fluctuation_and_dissipation(shape: str, length: float) -> None:
    """2 β k T/Δ per component in every published shape (Guy 2018, 3.11, 5.16, 5.17), mean zero, no correlations."""
    model = bath(4000, shape=shape)
    forces = held_forces(model, 11, range(12), length).reshape(-1, 6)
    scaled = forces / np.sqrt(2.0 * KT / length * np.array([DRAG] * 3 + [TURNING] * 3))
    n = scaled.shape[0]
    # Fourth moments of a component of unit variance: normal 3, uniform 9/5, a component of a direction 9/5.
    fourth = {"normal": 3.0, "uniform": 1.8, "direction": 1.8}[shape]
    assert np.abs(scaled.mean(axis=0)).max() < SIGMAS / np.sqrt(n)
    assert np.abs((scaled**2).mean(axis=0) - 1.0).max() < SIGMAS * np.sqrt((fourth - 1.0) / n)
    products = (scaled.T @ scaled / n)[np.triu_indices(6, 1)]
    assert np.abs(products).max() < SIGMAS / np.sqrt(n)


@pytest.mark.slow
def test_the_published_shapes_are_those_of_their_names() -> None:
    scale = np.sqrt(2.0 * KT * np.array([DRAG] * 3 + [TURNING] * 3))
    drawn = {shape: held_forces(bath(4000, shape=shape), 12, [0])[0] / scale for shape in SHAPES}
    assert stats.kstest(drawn["normal"].ravel(), "norm").pvalue > 1e-6
    width = np.sqrt(3.0)
    assert stats.kstest(drawn["uniform"].ravel(), "uniform", args=(-width, 2.0 * width)).pvalue > 1e-6
    for vectors in (drawn["direction"][:, :3], drawn["direction"][:, 3:]):
        # Constant magnitude, and by Archimedes every component of a random direction is uniform.
        assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.sqrt(3.0), rel=1e-14)
        for component in vectors.T:
            assert stats.kstest(component, "uniform", args=(-width, 2.0 * width)).pvalue > 1e-6


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("average", [2, 7])
def test_a_coarser_window_holds_the_mean_of_finer_ones(shape: str, average: int) -> None:
    """The same numbers, to rounding: runs with different steps share one noise path."""
    model = bath(50, shape=shape)
    fine = held_forces(model, 13, range(3 * average, 4 * average), 0.125)
    coarse = held_forces(model, 13, [3], 0.125, average)[0]
    # Each fine force has gone through a step of Euler's rule, which rounds a handful of times.
    assert np.abs(coarse - np.mean(fine, axis=0)).max() <= 20.0 * np.finfo(float).eps * np.abs(fine).max()


def test_windows_seeds_and_bodies_draw_their_own_numbers() -> None:
    model = bath(3)
    forces = held_forces(model, 1, [0, 1])
    assert np.array_equal(forces[::-1], held_forces(model, 1, [1, 0]))
    assert np.unique([*forces.ravel(), *held_forces(model, 2, [0, 1]).ravel()]).size == 72


def test_a_body_keeps_its_noise_when_others_are_added() -> None:
    assert np.array_equal(held_forces(bath(3), 1, [5])[0], held_forces(bath(40), 1, [5])[0, :3])


@pytest.mark.parametrize("integrator", ["explicit", "friction-implicit"])
def test_a_seed_fixes_every_bit(integrator: str) -> None:
    model = bath(20)

    def final(seed: int) -> bytes:
        rule = FrictionImplicit(step=0.25) if integrator == "friction-implicit" else Explicit()
        state = Running(model, rule, seed=seed, window=0.25).to(5.0).state
        return b"".join(array.tobytes() for array in state.arrays().values())

    assert final(4) == final(4)
    assert final(4) != final(5)


def test_the_length_of_a_chunk_does_not_change_the_bits() -> None:
    """Advancing by a few steps at a time, as a run with checkpoints does, is advancing at once."""
    for rule in (Explicit(), FrictionImplicit(step=0.25)):
        whole, parts = (Running(bath(5), rule, seed=4, window=0.25) for _ in range(2))
        whole.to(5.0)
        while parts.driver.advance(parts.state, 5.0, 3) != 0:
            assert parts.state.time[0] < 5.0
        for one, other in zip(whole.state.arrays().values(), parts.state.arrays().values(), strict=True):
            assert np.array_equal(one, other)


@pytest.mark.parametrize("shape", SHAPES)
def test_every_rule_takes_in_the_same_impulse_of_noise(shape: str) -> None:
    """From rest, m v + β x = ∫F dt holds for the motion, and exactly for both rules, whatever their steps: so on one
    noise path a coarse friction-implicit run and a fine explicit one end with the same m v + β x."""
    model = bath(10, joint=ar.Xyz(), shape=shape)
    window = 0.05 * TAU

    def impulse(run: Running) -> np.ndarray:
        return MASS * run.u + DRAG * run.q

    fine = impulse(Running(model, Explicit(rule="kutta-merson", step=window), seed=6, window=window).to(600 * window))
    size = np.abs(fine).max()
    for average in (1, 20, 600):
        rule = FrictionImplicit(step=average * window)
        coarse = Running(model, rule, seed=6, window=window, average=average).to(600 * window)
        # Sums of 600 windows in two orders, and of as many steps.
        assert np.abs(impulse(coarse) - fine).max() <= 600 * 4 * np.finfo(float).eps * size
    other = Running(model, FrictionImplicit(step=window), seed=7, window=window).to(600 * window)
    assert np.abs(impulse(other) - fine).max() > 0.1 * size


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("ratio", [0.5, 2.0, 8.0])
def test_a_held_force_feeds_less_than_thermal_energy(shape: str, ratio: float) -> None:
    """⟨½ m v²⟩ = ½ kT tanh(x)/x at the windows' boundaries, x = Δ/2τ, for translation and for rotation."""
    # The longer the windows, the less neighbours are alike.
    count, windows = 2500, 12 if ratio < 1.0 else 5
    # Both relaxation times alike, so that one window serves both.
    model = bath(count, shape=shape, inertia=TAU * TURNING)
    window = ratio * TAU
    steps = max(4, round(ratio / 0.2))
    x = 0.5 * window / TAU
    share = np.tanh(x) / x
    # From the stationary distribution of the second moments, so that nothing has to relax.
    rng = np.random.default_rng(17)
    inertia = np.array([MASS] * 3 + [TAU * TURNING] * 3)
    start = rng.normal(size=(count, 6)) * np.sqrt(share * KT / inertia)
    run = Running(model, Explicit(rule="kutta-merson", step=window / steps), seed=18, window=window, u=start.ravel())
    energies = []
    skip = int(np.ceil(3.0 / ratio))
    for k in range(1, windows + skip + 1):
        run.to(k * window)
        if k > skip:
            energies.append((run.u.reshape(-1, 6) ** 2 * inertia / KT).mean())
    # v at the boundaries is a Gaussian sequence of correlation a^l, or one of smaller fourth moment and error: the
    # variance of its mean square is 2 share² (1 + a²)/(1 − a²) per independent number.
    a2 = np.exp(-2.0 * ratio)
    error = share * np.sqrt(2.0 * (1.0 + a2) / (1.0 - a2) / (6 * count * windows))
    assert error * SIGMAS < 0.03 * share, "too few samples to see a fault of 3 %"
    # Kutta and Merson's rule errs by (h/τ)⁴ in a window; with h = τ/5 that is under 1e-4 of the energy.
    assert abs(np.mean(energies) - share) < SIGMAS * error + 1e-4 * share


TIMES = (5, 10, 30, 100)
"""At which displacements are measured, in windows."""
COPIES = 7


def squared_displacements(shape: str) -> np.ndarray:
    """Means over 9,000 displacements from equilibrium, at every time, of so many copies (copies, times). They follow
    each other in one run, which takes them to their start and draws their speeds anew; the windows go on. Where the
    force is constant a step of Kutta's rule, a tenth of τ long, errs by 1e-7."""
    window, rng, found = 0.1 * TAU, np.random.default_rng(19), []
    run = Running(bath(3000, joint=ar.Xyz(), shape=shape), Explicit(rule="rk4", step=window), seed=20, window=window)
    for copy in range(COPIES):
        run.q[:], run.u[:] = 0.0, rng.normal(size=9000) * np.sqrt(KT / MASS)
        start = copy * TIMES[-1]
        found.append([(run.to((start + windows) * window).q ** 2).mean() for windows in TIMES])
    return np.array(found)


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
def test_mean_square_displacement_is_that_of_finite_time(shape: str) -> None:
    """MSD = 6 D (t − τ (1 − e^{−t/τ})) from equilibrium (Ornstein and Fürth), from the ballistic start to diffusion."""
    D, window = KT / DRAG, 0.1 * TAU
    particle = Oscillator(MASS, DRAG, 0.0, KT)
    exact = particle.held(window).powers(np.diag([0.0, KT / MASS]), TIMES[-1])
    found = squared_displacements(shape).mean(axis=0)
    for windows, measured in zip(TIMES, found, strict=True):
        t = windows * window
        formula = 2.0 * D * (t - TAU * (1.0 - np.exp(-t / TAU)))
        # 63,000 independent displacements, Gaussian or of smaller fourth moment: 5σ is 2.8 %.
        error = formula * np.sqrt(2.0 / (9000 * COPIES))
        assert abs(measured - exact[windows, 0, 0]) < SIGMAS * error
        # A force held over a tenth of τ leaves the formula itself valid to a quarter of a percent.
        assert exact[windows, 0, 0] == pytest.approx(formula, rel=3e-3)


@pytest.mark.slow
def test_orientation_decays_by_rotational_diffusion() -> None:
    """⟨n(t)·n(0)⟩ = e^{−2 D_r t} for an axis fixed in a body, each component of the rotation diffusing by D_r."""
    count = 4000
    inertia, turning, kT = 0.004, 1.0, 0.05
    tau, D = inertia / turning, kT / turning
    # D_r τ = 2e-4: inertia delays the decay by τ, as it does displacements, and rotations commute within τ to 2e-4.
    model = bath(count, joint=ar.Spherical(), kT=kT, inertia=inertia, rotational=turning)
    start = np.random.default_rng(23).normal(size=3 * count) * np.sqrt(kT / inertia)
    h = 5.0 * tau
    run = Running(model, FrictionImplicit(step=h), seed=24, window=h, u=start)
    for steps in (100, 300, 700):
        t = steps * h
        cosines = body_axes(run.to(t).q.reshape(-1, 4))[
            :, 2, :
        ]  # the z component of each axis; of axis k at first δ_kz
        decay = np.exp(-2.0 * D * (t - tau))
        # Three axes of one body are not independent; the trace is the character of the rotation, with χ = 1 + 2 cos φ.
        traces = np.einsum("bii->b", body_axes(run.q.reshape(-1, 4))) / 3.0
        second = (1.0 + 3.0 * np.exp(-2.0 * D * t) + 5.0 * np.exp(-6.0 * D * t)) / 9.0
        error = np.sqrt((second - decay**2) / count)
        assert abs(traces.mean() - decay) < SIGMAS * error + 2.0 * D * tau * decay, (t, traces.mean(), decay)
        # Of the axis along z alone: ⟨n_z²⟩ = 1/3 + 2/3 e^{−6 D t}.
        spread = np.sqrt((1.0 / 3.0 + 2.0 / 3.0 * np.exp(-6.0 * D * t) - decay**2) / count)
        assert abs(cosines[:, 2].mean() - decay) < SIGMAS * spread + 2.0 * D * tau * decay
        # The other two axes start across z and stay without preference.
        across = np.sqrt((1.0 / 3.0 - 1.0 / 3.0 * np.exp(-6.0 * D * t)) / count)
        assert np.abs(cosines[:, :2].mean(axis=0)).max() < SIGMAS * across


@pytest.mark.slow
def test_orientation_decays_alike_under_an_explicit_rule() -> None:
    count, inertia, turning, kT = 3000, 0.02, 1.0, 0.05
    tau, D = inertia / turning, kT / turning
    model = bath(count, joint=ar.Spherical(), kT=kT, inertia=inertia, rotational=turning)
    start = np.random.default_rng(25).normal(size=3 * count) * np.sqrt(kT / inertia)
    window = 0.25 * tau
    run = Running(model, Explicit(rule="kutta-merson", step=window), seed=26, window=window, u=start)
    t = 1000 * window
    traces = np.einsum("bii->b", body_axes(run.to(t).q.reshape(-1, 4))) / 3.0
    decay = np.exp(-2.0 * D * (t - tau))
    second = (1.0 + 3.0 * np.exp(-2.0 * D * t) + 5.0 * np.exp(-6.0 * D * t)) / 9.0
    # What does not commute within τ, and the delay itself, is of the order D τ = 1e-3.
    assert abs(traces.mean() - decay) < SIGMAS * np.sqrt((second - decay**2) / count) + 2.0 * D * tau * decay


def test_the_instantaneous_temperature_sets_the_noise_of_a_thermostatted_run() -> None:
    """Guy (2018), 3.13: with the model's own temperature in place of the bath's, a body at rest stays at rest, and one
    at four times the temperature is kicked twice as hard."""
    builder = ar.ModelBuilder(units="lj")
    builder.add_bodies(2, mass=1.0, joint=ar.Xyz())
    builder.add_force(ar.forces.StokesDrag(translational=1.0))
    builder.add_force(ar.forces.Brownian(temperature=1.0, amplitude_from="instantaneous"))
    model = builder.build()
    assert not Running(model, FrictionImplicit(step=0.5), window=0.5).to(5.0).q.any()

    def noise(speed: float) -> np.ndarray:
        h = 1e-6
        u = np.full(6, speed)
        run = Running(model, Explicit(rule="euler", step=h), window=h, u=u).to(h)
        return run.u - u * (1.0 - h)

    # ½ Σ v² = 3 v² is the kinetic energy of six degrees of freedom: T = v².
    assert noise(2.0) == pytest.approx(2.0 * noise(1.0), rel=1e-6)
    assert np.abs(noise(1.0)).min() > 0.0


def test_forces_without_drag_bring_in_what_nothing_takes_out() -> None:
    """Guy (2018), chapter 3: β sizes the forces and does not act. Held over Δ, a force of variance 2βkT/Δ gives speeds
    of variance 2βkTΔ/m² in each window, in every component; the mean over n of them errs by √(2/n)."""
    beta, kT, held, mass, count = 1.5, 0.8, 0.25, 2.0, 2000
    builder = ar.ModelBuilder(units="lj")
    builder.add_bodies(count, mass=mass, joint=ar.Xyz())
    builder.add_force(ar.forces.StokesDrag(translational=beta))
    builder.add_force(ar.forces.Brownian(temperature=kT, dissipation="none"))
    run = Running(builder.build(), Explicit(rule="rk4", step=held), window=held).to(4 * held)
    expected = 4 * 2.0 * beta * kT * held / mass**2
    assert (run.u**2).mean() == pytest.approx(expected, rel=4.0 * np.sqrt(2.0 / (3 * count)))
    assert run.work("damping") == 0.0
    assert run.work("stochastic") == pytest.approx(run.kinetic_energy(), rel=1e-12)
