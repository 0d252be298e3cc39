"""A canonical run that locks and releases by chance is canonical in every lock state, with that state's degrees of
freedom: its kinetic energies by physical_validation (Merz and Shirts, PLOS ONE 13, e0202764, 2018), and equipartition
joint by joint.

Frames are 2.5 units of time apart and friction is 1, so that kinetic energies have forgotten each other. A right result
may be off by four standard errors, one in 16,000; a temperature that is wrong by 5 % must lie beyond. It does so in all
but one in 10,000 samples only where it is expected 7.7 standard errors away: of n frames with f degrees of freedom, at
0.0476 √(f n / 2). Frames of one scheme in one state (3,000, f from 9 to 15) are too few for that, and are asked to be
right alone; all frames of a scheme are expected at 12.6, and both schemes' frames of a state at 7.8 to 10.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy import stats

import articulon as ar
from articulon.adaptive import Adaptive, Energy, Group, Random
from tests.support.link_chains import floating_chains

BEYOND = 4.0
"""Standard errors that a right result may be off."""
PLANTED = 1.05
"""A temperature that is wrong by 5 %."""
APART = 2.5
"""Time between frames."""
CHAINS = 10
"""Chains beside each other, each a run of its own: all lock and release at the same times, each by its own chance."""
JOINTS = {"link-2": slice(6, 9), "link-4": slice(12, 15)}
"""The joints that lock and release, with their speeds."""
SCHEMES = {
    "random": (Random(probability=0.5), Random(probability=0.5), "temperature"),
    "quiet": (Energy(below=1.5), Random(probability=0.6), "reservoir"),
}


class Sample(NamedTuple):
    """Frames of all chains of a run at kT = 1, chain after chain."""

    locked: np.ndarray
    """Which of the joints are locked, shape (frames, 2)."""
    kinetic: np.ndarray
    """Kinetic energies of a chain, shape (frames,)."""
    total: np.ndarray
    """Kinetic energies of the run, shape (times,)."""
    shares: np.ndarray
    """Squares of the speeds in units of their own thermal motion, (Lᵀu)² with L Lᵀ the mass matrix of what moves: each
    one χ² of one freedom. Not a number for what is locked; shape (frames, nu)."""


@cache
def sample(scheme: str, frames: int) -> Sample:
    """Floating chains of four links on spherical joints, two of which lock and release."""
    model, times = floating_chains(CHAINS, links=4, radius=0.5, stiffness=2.0, fixman=True), frames // CHAINS
    lock, release, energy = SCHEMES[scheme]
    bodies = tuple(f"{chain}-{name}" for chain in range(CHAINS) for name in JOINTS)
    group = Group(bodies=bodies, lock=lock, release=release, choice="canonical", energy=energy)
    run = ar.simulate(
        model,
        APART * (times + 20),
        rule="friction-implicit",
        step=0.02,
        thermostat=ar.thermostats.Langevin(temperature=1.0, friction=1.0),
        frames=times + 20,
        seed=5,
        adaptive=Adaptive(every=1.6, groups=(group,)),
    )
    q, u = run.q[-times:], run.u[-times:].reshape(times, CHAINS, -1)
    moving, nu = u != 0.0, u.shape[2]
    shares = np.full((CHAINS, times, nu), np.nan)
    for k in range(times):
        masses = ar.mass_matrix(model, q[k]).reshape(CHAINS, nu, CHAINS, nu)
        for chain in range(CHAINS):
            own = np.flatnonzero(moving[k, chain])
            root = np.linalg.cholesky(masses[chain, :, chain][np.ix_(own, own)])
            shares[chain, k, own] = (root.T @ u[k, chain, own]) ** 2
    locked = np.stack([~moving[:, :, own.start].T.ravel() for own in JOINTS.values()], axis=1)
    shares = shares.reshape(-1, nu)
    return Sample(locked, 0.5 * np.nansum(shares, axis=1), run.kinetic_energy[-times:], shares)


def states(s: Sample) -> dict[tuple[bool, ...], np.ndarray]:
    """The frames of each lock state."""
    return {state: np.flatnonzero((s.locked == state).all(axis=1)) for state in map(tuple, np.unique(s.locked, axis=0))}


def degrees_of_freedom(state: tuple[bool, ...]) -> int:
    """Six of the floating link, and three of each joint that moves."""
    return 15 - 3 * sum(state)


def off(values: np.ndarray, expected: float, spread: float) -> float:
    """How far a mean is off, in standard errors, of independent values of a known standard deviation."""
    return abs(float(values.mean()) - expected) / (spread / np.sqrt(values.size))


@pytest.mark.slow
@pytest.mark.parametrize("scheme", SCHEMES)
def test_joints_lock_and_release_and_the_temperature_stays(scheme: str) -> None:
    """What kinetic energies are in the gamma distribution of their state is even from 0 to 1, all states together."""
    s = sample(scheme, 250)
    every = states(s)
    assert len(every) == 4 and min(frames.size for frames in every.values()) > 25
    count = np.array([degrees_of_freedom(tuple(state)) for state in s.locked])
    assert off(2.0 * s.kinetic / count, 1.0, np.sqrt(np.mean(2.0 / count))) < BEYOND
    assert stats.kstest(stats.gamma.cdf(s.kinetic, 0.5 * count), "uniform").pvalue > 1e-4
    assert s.kinetic.reshape(CHAINS, -1).sum(axis=0) == pytest.approx(s.total, rel=1e-9)


def distributions(kinetic: np.ndarray, temperature: float, degrees_of_freedom: int) -> tuple[float, float, float]:
    """physical_validation's distances of T(μ) and T(σ) in standard errors, and Kolmogorov and Smirnov's p."""
    validation = pytest.importorskip("physical_validation")
    data = validation.data
    run = data.SimulationData(
        units=data.UnitData(
            kb=1.0,
            energy_conversion=1.0,
            length_conversion=1.0,
            volume_conversion=1.0,
            temperature_conversion=1.0,
            pressure_conversion=1.0,
            time_conversion=1.0,
        ),
        ensemble=data.EnsembleData("NVT", natoms=degrees_of_freedom, volume=1.0, temperature=temperature),
        # So many point masses, of whose motions constraints leave one in three.
        system=data.SystemData(
            natoms=degrees_of_freedom, nconstraints=2 * degrees_of_freedom, ndof_reduction_tra=0, ndof_reduction_rot=0
        ),
        observables=data.ObservableData(kinetic_energy=kinetic),
    )
    options: dict[str, Any] = {"verbosity": 0, "bootstrap_seed": 1, "data_is_uncorrelated": True}
    mean, width = validation.kinetic_energy.distribution(run, strict=False, **options)
    return abs(mean), abs(width), validation.kinetic_energy.distribution(run, strict=True, **options)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("scheme", SCHEMES)
def test_kinetic_energies_of_every_lock_state_have_the_distribution_of_its_freedoms(scheme: str) -> None:
    s = sample(scheme, 12_000)
    every = states(s)
    assert len(every) == 4
    for state, frames in every.items():
        kinetic, count = s.kinetic[frames], degrees_of_freedom(state)
        mean, width, p = distributions(kinetic, 1.0, count)
        assert mean < BEYOND and width < BEYOND and p > 1e-4, (state, frames.size, mean, width, p)
        # Frames are independent: neighbours of one state correlate by chance alone.
        near = frames[1:][np.diff(frames) == 1]
        pairs = (s.kinetic[near] - 0.5 * count) * (s.kinetic[near - 1] - 0.5 * count)
        assert abs(pairs.mean()) < BEYOND * 0.5 * count / np.sqrt(near.size) + 0.05 * 0.5 * count


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_temperature_that_is_wrong_by_five_percent_shows_in_every_scheme_and_every_lock_state() -> None:
    samples = [sample(scheme, 12_000) for scheme in SCHEMES]
    for s in samples:
        count = np.array([degrees_of_freedom(tuple(state)) for state in s.locked])
        for wrong in (PLANTED, 1.0 / PLANTED):
            assert off(2.0 * s.kinetic / count / wrong, 1.0, np.sqrt(np.mean(2.0 / count))) > BEYOND
    for state in states(samples[0]):
        kinetic = np.concatenate([s.kinetic[states(s)[state]] for s in samples])
        for wrong in (PLANTED, 1.0 / PLANTED):
            assert distributions(kinetic, wrong, degrees_of_freedom(state))[0] > BEYOND, (state, kinetic.size)


@pytest.mark.slow
def test_every_joint_has_its_share_in_every_lock_state() -> None:
    """χ² of three degrees of freedom: mean 3, variance 6. All frames together would show a joint whose share is wrong
    by 5 %."""
    joints = {"base": slice(0, 6), "link-2": slice(6, 9), "link-3": slice(9, 12), "link-4": slice(12, 15)}
    for name, own in joints.items():
        size, every = own.stop - own.start, []
        for scheme in SCHEMES:
            s = sample(scheme, 12_000)
            share = s.shares[:, own].sum(axis=1)
            for state, frames in states(s).items():
                known = share[frames][~np.isnan(share[frames])]
                assert known.size in (0, frames.size)
                if known.size:
                    assert off(known, size, np.sqrt(2.0 * size)) < BEYOND, (name, scheme, state)
                    every.append(known)
        together = np.concatenate(every)
        for wrong in (PLANTED, 1.0 / PLANTED):
            assert off(together / wrong, size, np.sqrt(2.0 * size)) > BEYOND, (name, together.size)
