"""Fixman's potential takes the bias of rigid bonds and angles out of torsions: two-sample tests on angles whose number
of independent samples is counted, and which see angles that are 5 % too small."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import articulon as ar
from articulon.model import CHANNELS
from articulon.thermostats import Langevin

MASSES = (15.035, 14.027, 14.027, 15.035)
BOND, ANGLE = 0.154, np.radians(114.0)
BOLTZMANN = 0.008314462618
"""[Da nm²/(ps² K)]."""
TEMPERATURE = 600.0
KT = BOLTZMANN * TEMPERATURE
TORSION = {1: 355.03 * BOLTZMANN, 2: -68.19 * BOLTZMANN, 3: 791.32 * BOLTZMANN}
"""c_n of Σ c_n (1 ± cos nφ), φ = 0 cis, of united atoms (Martin and Siepmann, J. Phys. Chem. B 102, 2569, 1998)."""
LEVEL = 1.95
"""Kolmogorov's distance times √n that is exceeded once in a thousand."""


def energy(angle: np.ndarray) -> np.ndarray:
    """Of the torsion."""
    signs = {n: 1.0 if n % 2 else -1.0 for n in TORSION}
    return sum(V * (1.0 + signs[n] * np.cos(n * angle)) for n, V in TORSION.items())


def dihedral_terms(sites: list[tuple[int, int, int, int]]) -> list[Any]:
    return [
        ar.forces.PeriodicDihedrals(dihedrals=tuple(sites), stiffness=V, multiplicity=n, phase=0.0 if n % 2 else np.pi)
        for n, V in TORSION.items()
    ]


def places() -> np.ndarray:
    """Four united atoms in trans: the second and third on x."""
    c, s = BOND * np.cos(ANGLE), BOND * np.sin(ANGLE)
    return np.array([[c, s, 0.0], [0.0, 0.0, 0.0], [BOND, 0.0, 0.0], [BOND - c, -s, 0.0]])


def pair_of(masses: tuple[float, float], first: np.ndarray, second: np.ndarray) -> dict[str, Any]:
    """Mass, centre and inertia of two point masses on one body."""
    total, r = sum(masses), second - first
    reduced = masses[0] * masses[1] / total
    return {
        "mass": total,
        "com": (masses[0] * first + masses[1] * second) / total,
        "inertia": reduced * (r @ r * np.eye(3) - np.outer(r, r)),
    }


def rigid(count: int, fixman: bool, torsion: bool, temperature: float | None = TEMPERATURE) -> Any:
    """Butanes of two bodies, joined about the middle bond; the angle of the joint is that from trans."""
    builder, x, sites = ar.ModelBuilder(units="Da-nm-ps"), places(), []
    for k in range(count):
        one = builder.add_body(
            f"first-{k}", **pair_of(MASSES[:2], x[0], x[1]), joint=ar.Free(), position=(3.0 * k, 0.0, 0.0)
        )
        two = builder.add_body(
            f"second-{k}",
            parent=one,
            **pair_of(MASSES[2:], x[2] - x[2], x[3] - x[2]),
            joint=ar.Revolute(axis=(1.0, 0.0, 0.0)),
            position=tuple(x[2]),
        )
        if torsion:
            ends = zip((one, one, two, two), (x[0], x[1], x[2] - x[2], x[3] - x[2]), strict=True)
            sites.append(tuple(builder.add_site(body, tuple(place)) for body, place in ends))
    for term in dihedral_terms(sites) if torsion else ():
        builder.add_force(term)
    if fixman:
        builder.add_force(ar.forces.Fixman(temperature=temperature))
    return builder.build()


def flexible(count: int) -> Any:
    """Butanes of free united atoms, with bonds and angles ten times as stiff as those of OPLS (CT–CT: 268 kcal/(mol
    Å²), as k x²) and of Martin and Siepmann (62,500 K/rad², as ½ k x²)."""
    builder, x = ar.ModelBuilder(units="Da-nm-ps"), places()
    start = np.concatenate([x + [3.0 * k, 0.0, 0.0] for k in range(count)])
    builder.add_particles(4 * count, mass=np.tile(MASSES, count), positions=start)
    first = range(0, 4 * count, 4)
    bonds = [(k + j, k + j + 1) for k in first for j in range(3)]
    angles = [(k + j, k + j + 1, k + j + 2) for k in first for j in range(2)]
    stiff = 10.0 * 2.0 * 268.0 * 418.4, 10.0 * 62500.0 * BOLTZMANN
    builder.add_force(ar.forces.HarmonicBonds(bonds=tuple(bonds), stiffness=stiff[0], length=BOND))
    builder.add_force(ar.forces.HarmonicAngles(angles=tuple(angles), stiffness=stiff[1], angle=ANGLE))
    for term in dihedral_terms([(k, k + 1, k + 2, k + 3) for k in first]):
        builder.add_force(term)
    return builder.build()


def dihedrals(x: np.ndarray) -> np.ndarray:
    """|φ| of four points each, shape (..., 4, 3)."""
    a, b, c = x[..., 1, :] - x[..., 0, :], x[..., 2, :] - x[..., 1, :], x[..., 3, :] - x[..., 2, :]
    m, n = np.cross(a, b), np.cross(b, c)
    return np.arccos((m * n).sum(-1) / np.sqrt((m * m).sum(-1) * (n * n).sum(-1)).clip(1e-300))


def folded(angles: np.ndarray) -> np.ndarray:
    """|φ| within half a turn, φ = 0 cis."""
    return np.abs((angles + np.pi) % (2.0 * np.pi) - np.pi)


def independent(angles: np.ndarray) -> float:
    """How many independent samples angles (times, molecules) are worth: by the slowest of cos φ, cos 2φ and cos 3φ,
    over lags up to where its autocorrelation vanishes."""
    slowest = 1.0
    for n in (1, 2, 3):
        d = np.cos(n * angles)
        d -= d.mean()
        correlation = np.array([(d[lag:] * d[: len(d) - lag]).mean() for lag in range(len(d) // 2)])
        correlation /= correlation[0]
        end = int(np.argmax(correlation < 0.02)) or len(correlation)
        slowest = max(slowest, 1.0 + 2.0 * correlation[1:end].sum())
    return angles.size / slowest


def distance(angles: np.ndarray, reference: np.ndarray, samples: float, others: float) -> float:
    """Kolmogorov's distance of two samples over the one that is exceeded once in a thousand, by independent samples."""
    both = np.concatenate([angles, reference])
    cumulated = [np.searchsorted(np.sort(sample), both, side="right") / sample.size for sample in (angles, reference)]
    return float(np.abs(cumulated[0] - cumulated[1]).max() / (LEVEL * np.sqrt(1.0 / samples + 1.0 / others)))


def drawn(torsion: bool, count: int, rng: np.random.Generator) -> np.ndarray:
    """|φ| of the stiff limit: where a torsion does not change the lengths and angles of bonds, the volume element r²
    sin θ of these leaves e^{−V(φ)/kT} dφ whatever their stiffness."""
    grid = np.linspace(0.0, np.pi, 20001)
    weight = np.exp(-energy(grid) / KT) if torsion else np.ones_like(grid)
    cumulated = np.concatenate([[0.0], np.cumsum(0.5 * (weight[1:] + weight[:-1]))])
    return np.interp(rng.random(count), cumulated / cumulated[-1], grid)


def sampled(fixman: bool, torsion: bool, count: int, duration: float, frames: int) -> np.ndarray:
    """|φ| (frames, molecules) of butanes that begin as the stiff limit, after a tenth of the time."""
    model, rng = rigid(count, fixman, torsion), np.random.default_rng(3)
    q, turns = np.array(model.q0), np.array([model.forest.q_start[model.link[2 * k + 1]] for k in range(count)])
    q[turns] = drawn(torsion, count, rng) - np.pi
    run = ar.simulate(
        model,
        duration,
        rule="friction-implicit",
        step=0.016,
        frames=frames,
        thermostat=Langevin(temperature=TEMPERATURE, friction=4.0),
        q=q,
        seed=5,
    )
    return folded(run.q[frames // 10 :, turns] + np.pi)


CASES = {"free chain": (False, 150, (60.0, 240), (30.0, 120)), "butane": (True, 250, (120.0, 240), (120.0, 240))}
"""Whether there is a torsion, how many molecules, and duration and frames with Fixman's potential and without."""


@pytest.mark.slow
def test_stiff_flexible_butane_has_the_torsions_that_it_is_said_to_have() -> None:
    """A simulation of united atoms, as a check of the reference, which holds for any stiffness: ten times that of the
    force fields allows steps three times as long as a hundred times."""
    count, duration, frames = 130, 60.0, 240
    run = ar.simulate(
        flexible(count),
        duration,
        rule="velocity-verlet",
        step=0.0012,
        frames=frames,
        thermostat=Langevin(temperature=TEMPERATURE, friction=4.0),
        seed=6,
    )
    angles = dihedrals(run.q[frames // 5 :].reshape(-1, count, 4, 3))
    reference, samples = drawn(True, 200000, np.random.default_rng(4)), independent(angles)
    assert samples > 1000
    assert distance(angles.ravel(), reference, samples, reference.size) < 1.0


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_torsions_of_rigid_molecules_are_those_of_flexible_ones(name: str) -> None:
    """With Fixman's potential; without it both are told apart from the reference by more than the test's level."""
    torsion, count, kept, biased = CASES[name]
    reference = drawn(torsion, 200000, np.random.default_rng(4))
    angles = sampled(True, torsion, count, *kept)
    samples = independent(angles)
    assert samples > 1000
    assert distance(angles.ravel(), reference, samples, reference.size) < 1.0
    assert distance(0.95 * angles.ravel(), reference, samples, reference.size) > 1.0, "a shift of 5 % goes unseen"
    angles = sampled(False, torsion, count, *biased)
    assert distance(angles.ravel(), reference, independent(angles), reference.size) > 1.0


def test_energy_is_conserved_with_fixmans_potential_and_its_work_is_what_it_loses() -> None:
    model = rigid(2, fixman=True, torsion=True)
    u = 8.0 * np.random.default_rng(8).normal(size=model.nu)
    run = ar.simulate(model, 2.0, rule="dormand-prince", rtol=1e-9, atol=1e-10, frames=20, u=u)
    total, gained = run.kinetic_energy + run.potential_energy, run.kinetic_energy - run.kinetic_energy[0]
    scale = run.kinetic_energy.max()
    assert np.ptp(run.potential_energy) > 1.0
    assert np.abs(total - total[0]).max() < 1e-6 * scale
    assert np.abs(run.works[:, CHANNELS.index("conformational")]).max() > 0.01
    assert np.abs(run.works.sum(axis=1) - gained).max() < 1e-6 * scale


def test_the_temperature_must_be_that_of_the_bath() -> None:
    options: dict[str, Any] = {"rule": "friction-implicit", "step": 0.001, "frames": 1}
    with pytest.raises(ar.ModelError, match="temperature 600 and the thermostat 300"):
        ar.simulate(rigid(1, True, False), 0.002, thermostat=Langevin(temperature=300.0, friction=1.0), **options)


def test_the_temperature_is_that_of_the_bath_where_it_is_left_out() -> None:
    """The same bits as with the temperature given, in a run, in many states and in a case."""
    options: dict[str, Any] = {"rule": "friction-implicit", "step": 0.001}
    given, open_ = (rigid(1, True, False, temperature) for temperature in (TEMPERATURE, None))
    bath = Langevin(temperature=TEMPERATURE, friction=1.0)
    runs = [ar.simulate(model, 0.01, frames=1, thermostat=bath, **options) for model in (given, open_)]
    assert np.array_equal(runs[0].u, runs[1].u) and np.any(runs[0].u)
    assert runs[1].model.forces[0].temperature == TEMPERATURE
    many = [ar.Ensemble(model, model.q0, model.u0, seeds=range(2), thermostat=bath) for model in (given, open_)]
    ends = [one.advance(10, 0.001, "friction-implicit")[1] for one in many]
    assert np.array_equal(*ends)
    with pytest.raises(ar.ModelError, match=r"forces\[0\].temperature: there is no thermostat"):
        ar.potential_energy(open_, open_.q0)
    case = ar.load_case("trp-zipper", {"thermostat.temperature": "350 K"})
    assert [force.temperature for force in case.build_model().forces if force.kind == "fixman"] == [350.0]
