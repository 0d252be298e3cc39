"""Statistics of chains beside closed forms of ideal chains, MDAnalysis and freud.

Where a closed form is met by chance, it is met within five standard errors as the statistics give them: from 32 parts,
such an error is 12 % uncertain, and Student's t of 31 degrees of freedom is beyond 5 in one of 50,000 cases.
"""

from __future__ import annotations

import numpy as np
import pytest

from articulon.chains.bond_angles import _angles, _dihedrals
from articulon.chains.chain_motion import chain_motion
from articulon.chains.chain_sizes import bond_vectors
from articulon.chains.chain_statistics import Chains, ChainStatistics, chain_statistics
from articulon.chains.pair_distances import faces_apart, pair_distribution
from articulon.chains.replicates import Estimate, Replicate
from tests.support.ideal_chains import Rouse, freely_jointed, freely_rotating

FAR = 5.0
"""Standard errors."""


def seeded(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


def deviations(found: Estimate, truth: np.ndarray | float) -> np.ndarray:
    """How many standard errors estimates are from the truth."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.abs(found.value - truth) / found.error


def phantoms(chains: int, beads: int, frames: int = 400, bond: float = 1.0, seed: int = 1) -> ChainStatistics:
    x = freely_jointed(seeded(seed), frames, chains, beads, bond)
    return chain_statistics(np.arange(float(frames)), x, Chains.of_equal_length(chains, beads), skip=0.0)


@pytest.mark.slow
@pytest.mark.parametrize("beads", [2, 3, 16, 40])
def test_sizes_of_freely_jointed_chains(beads: int) -> None:
    """⟨R²⟩ = (N − 1) b²; var R² = ⅔ n (n − 1) b⁴ of n bonds, as ⟨R⁴⟩ = (5 n² − 2 n) b⁴/3. ⟨R²⟩/⟨Rg²⟩ = 6 N/(N + 1)."""
    found, bonds = phantoms(16, beads), beads - 1
    assert found.end_to_end is not None and found.ratio is not None and found.errors_by == "time"
    spread = np.sqrt(2.0 / 3.0 * bonds * (bonds - 1) / (16 * 400))
    # Chains of two beads have nothing but rounding.
    assert abs(float(found.end_to_end.value) - bonds) <= FAR * spread + 1e-13
    assert float(found.ratio.value) == pytest.approx(6.0 * beads / (beads + 1.0), abs=FAR * found.ratio.error + 1e-13)
    assert float(found.gyration["linear"].value) == pytest.approx(
        (beads**2 - 1) / (6.0 * beads), abs=FAR * found.gyration["linear"].error + 1e-13
    )
    assert found.ideal_ratio == pytest.approx(6.0 * beads / (beads + 1.0), rel=1e-14)
    if beads > 3:
        assert float(found.ratio.error) < 0.02 * float(found.ratio.value)  # which a ratio of 6 would fail
        assert float(found.end_to_end.error) == pytest.approx(spread, rel=0.5)  # four times 12 %


def test_five_per_cent_of_a_bond_are_seen() -> None:
    """R² goes with b², so that 5 % are 10.25 %; the error of the mean of 6400 chains is √(2/3/6400) = 1.0 %."""
    found = phantoms(16, 16, bond=1.05)
    assert found.end_to_end is not None and found.bond is not None
    assert deviations(found.end_to_end, 15.0 * 1.05**2) < FAR
    assert deviations(found.end_to_end, 15.0) > FAR
    assert float(found.bond.value) == pytest.approx(1.05**2, rel=1e-12)
    assert found.ratio is not None and deviations(found.ratio, 96.0 / 17.0) < FAR  # which knows nothing of b


def test_internal_distances_and_angles_of_freely_jointed_chains() -> None:
    found = phantoms(16, 16)
    internal = found.internal["linear"]
    assert (np.abs(internal.ratios.value - 1.0) < FAR * internal.ratios.error + 1e-12).all()
    assert internal.ratios.value[0] == pytest.approx(1.0, rel=1e-12)
    np.testing.assert_allclose(internal.squares.value, internal.ratios.value * internal.bonds, rtol=1e-13)
    angles, dihedrals = found.angles, found.dihedrals
    assert angles is not None and dihedrals is not None
    middles = np.diff(-0.5 * np.cos(angles.edges)) / np.diff(angles.edges)
    # χ² of 90 bins is 90 ± 13; from blocks, each weight is off by its own 2 · 12 %.
    for one, truth in ((angles, middles), (dihedrals, np.full(90, 0.5 / np.pi))):
        assert 45.0 < (deviations(one.density, truth) ** 2).sum() < 150.0
        assert (one.density.value * np.diff(one.edges)).sum() == pytest.approx(1.0, rel=1e-12)
        assert deviations(one.mean_cosine, 0.0) < FAR


@pytest.mark.parametrize("cosine", [0.0, 0.5, 0.9])
def test_persistence_of_freely_rotating_chains(cosine: float) -> None:
    """C(n) = c^n; −b/ln c by the fit, b (1 − cⁿ)/(1 − c) of n bonds by the projection (Flory 1969)."""
    beads, chains, frames, bond = 24, 16, 300, 0.97
    x = freely_rotating(seeded(3), frames, chains, beads, cosine, bond)
    found = chain_statistics(np.arange(float(frames)), x, Chains.of_equal_length(chains, beads), skip=0.0)
    bent = found.persistence
    assert bent is not None and found.angles is not None
    away = np.abs(bent.correlation.value - cosine**bent.bonds)
    assert (away <= FAR * bent.correlation.error + 1e-12).all()
    assert deviations(bent.projection, bond * (1.0 - cosine ** (beads - 1)) / (1.0 - cosine)) < FAR
    if cosine > 0.0:
        # That of one angle is exact but for the noise of larger n, which the fit has a part of.
        assert float(bent.exponential_fit.value) == pytest.approx(
            -bond / np.log(cosine), abs=FAR * bent.exponential_fit.error
        )
        assert float(bent.exponential_fit.error) < 0.02 * float(bent.exponential_fit.value)
        assert float(found.angles.mean_cosine.value) == pytest.approx(-cosine, abs=1e-12)


def test_rouse_modes_of_freely_jointed_chains() -> None:
    """⟨X_p²⟩ = b²/4 sin²(pπ/2N), for all modes, whatever the law of the bonds' lengths."""
    found = phantoms(16, 12).rouse["linear"]
    assert found.modes.tolist() == list(range(1, 12))
    assert deviations(found.scaled_amplitudes, 1.0).max() < FAR
    assert found.scaled_amplitudes.error.max() < 0.02
    expected = 1.0 / (4.0 * np.sin(np.pi * found.modes / 24.0) ** 2)
    assert deviations(found.amplitudes, expected).max() < FAR


INTERVAL, FRAMES, DRIFT = 0.25, 3000, np.array([0.3, -0.4, 0.0])
"""A steady drift of the whole goes 0.25 t², beside 0.75 t of a chain."""
ROUSE = Rouse(8)


@pytest.fixture(scope="module")
def melt() -> ChainStatistics:
    x = ROUSE.run(seeded(5), FRAMES, 32, INTERVAL) + DRIFT * INTERVAL * np.arange(FRAMES)[:, None, None]
    return chain_statistics(INTERVAL * np.arange(FRAMES), x, Chains.of_equal_length(32, 8), skip=0.0)


@pytest.mark.slow
def test_displacements_of_rouse_chains(melt: ChainStatistics) -> None:
    """g3 = 6 D t, g2 and g1 by the sum over the modes; taking out the drift takes 1/32 out of g3 and of the same in
    g1, and all of the steady drift that was put in."""
    moved = melt.motion
    assert moved is not None and moved.inner is not None and moved.inner_about_centre is not None
    lags, inner = [0, 1, 3, 9, 29, 99], np.arange(2, 6)
    t = moved.times[lags]
    np.testing.assert_allclose(t, INTERVAL * (np.array(lags) + 1), rtol=1e-12)
    taken = 6.0 * ROUSE.diffusion * t / 32.0
    for one, truth in (
        (moved.centres, 6.0 * ROUSE.diffusion * t - taken),
        (moved.inner_about_centre, ROUSE.displacement(t, True, inner)),
        (moved.inner, ROUSE.displacement(t, False, inner) - taken),
    ):
        away = np.abs(one.value[lags] - truth) / one.error[lags]
        assert away.max() < FAR
        assert (one.error[lags] < 0.12 * truth).all()
    assert deviations(moved.diffusion_coefficient, ROUSE.diffusion * 31.0 / 32.0) < FAR
    assert deviations(moved.centre_exponent, 1.0) < FAR
    # Chains that drift with the whole of themselves lose nothing where it is not asked for.
    kept = chain_statistics(
        melt.times, ROUSE.run(seeded(5), FRAMES, 32, INTERVAL), melt.chains, skip=0.0, take_out_drift=False
    ).motion
    assert kept is not None and deviations(kept.diffusion_coefficient, ROUSE.diffusion) < FAR


@pytest.mark.slow
def test_relaxation_of_rouse_chains(melt: ChainStatistics) -> None:
    """C_p = exp(−t/τ_p), and Σ 1/p² over odd p of the end-to-end vector. A sum over frames Δt apart is by (Δt/τ)²/12
    too large, an integral up to 5 τ by e⁻⁵ too small."""
    modes = melt.rouse["linear"]
    for p, truth in enumerate(ROUSE.times[:2]):
        one = modes.relaxations[p]
        kept = one.times <= 2.0 * truth
        early = Estimate(one.correlation.value[kept], one.correlation.error[kept], 32)
        assert deviations(early, np.exp(-one.times[kept] / truth))[1:].max() < FAR
        bias = truth * ((INTERVAL / truth) ** 2 / 12.0 + np.exp(-5.0))
        assert abs(float(one.time.value) - truth) < FAR * float(one.time.error) + bias
        assert float(one.time.error) < 0.08 * truth
    assert np.isnan(modes.relaxation_times.value[-1])  # which two frames do not resolve
    assert "relaxation_time_of_linear_rouse_modes" in melt.not_computed
    ends = melt.relaxation
    assert ends is not None
    weight = (ROUSE.vectors[:, -1] - ROUSE.vectors[:, 0]) ** 2 / ROUSE.eigenvalues
    truth = float((weight * ROUSE.times).sum() / weight.sum())
    # What is left of the slowest mode after five relaxation times, and what fast modes are beside frames.
    late = float((weight * ROUSE.times * np.exp(-5.0 * truth / ROUSE.times)).sum() / weight.sum())
    coarse = float((weight / ROUSE.times).sum() / weight.sum()) * INTERVAL**2 / 12.0
    assert abs(float(ends.time.value) - truth) < FAR * float(ends.time.error) + late + coarse


@pytest.mark.slow
def test_rings() -> None:
    """Springs of ⟨b₀²⟩ = 1 that close have ⟨R²(n)⟩ = n (N − n)/N, ⟨Rg²⟩ = (N² − 1)/12 N, and modes of b₀²/4 sin²(pπ/N)
    that relax by ζ b₀²/12 kT sin²(pπ/N)."""
    beads, chains, frames = 12, 32, 800
    ring = Rouse(beads, ring=True)
    x = ring.run(seeded(6), frames, chains, 0.25)
    found = chain_statistics(0.25 * np.arange(frames), x, Chains.of_equal_length(chains, beads, ring=True), skip=0.0)
    assert found.end_to_end is None and found.ratio is None and found.persistence is None and found.relaxation is None
    assert {"end_to_end_distance", "persistence_length"} <= set(found.not_computed)
    internal = found.internal["ring"]
    n = internal.bonds
    assert n.tolist() == [1, 2, 3, 4, 5, 6]
    assert deviations(internal.squares, n * (beads - n) / beads).max() < FAR
    assert found.bond is not None and deviations(found.bond, (beads - 1) / beads) < FAR
    assert deviations(found.gyration["ring"], (beads**2 - 1) / (12.0 * beads)) < FAR
    assert deviations(found.gyration["ring"], float(found.bond.value) * (beads + 1) / 12.0) < FAR
    modes = found.rouse["ring"]
    assert modes.modes.tolist() == [1, 2, 3, 4, 5, 6]
    assert deviations(modes.scaled_amplitudes, 1.0).max() < FAR
    slowest, truth = modes.relaxations[0].time, 1.0 / (12.0 * np.sin(np.pi / beads) ** 2)
    assert abs(float(slowest.value) - truth) < FAR * float(slowest.error) + truth * (0.25 / truth) ** 2 / 12.0 + 0.01
    assert found.motion is not None and found.motion.inner_about_centre is not None
    late = np.array([40, 80])
    plateau = 2.0 * (beads**2 - 1) / (12.0 * beads)  # twice Rg², as every bead of a ring is like any other
    away = np.abs(found.motion.inner_about_centre.value[late] - plateau) / found.motion.inner_about_centre.error[late]
    assert away.max() < FAR


SINGLE = 2e-6
"""Rounding of single precision, in which MDAnalysis and freud have positions of order ten."""


def universe(x: np.ndarray, chains: int):
    import MDAnalysis
    from MDAnalysis.coordinates.memory import MemoryReader

    beads = x.shape[1] // chains
    made = MDAnalysis.Universe.empty(
        x.shape[1], chains, atom_resindex=np.repeat(np.arange(chains), beads), trajectory=False
    )
    made.add_TopologyAttr("masses", np.ones(x.shape[1]))
    made.load_new(x.astype(np.float32), format=MemoryReader, dt=1.0)
    return made


@pytest.mark.slow
def test_persistence_and_gyration_are_those_of_mdanalysis() -> None:
    from MDAnalysis.analysis.polymer import PersistenceLength

    # No correlation falls below e⁻², so that both fit all of them.
    x = freely_rotating(seeded(7), 20, 6, 9, 0.9)
    found = chain_statistics(np.arange(20.0), x, Chains.of_equal_length(6, 9), skip=0.0)
    peer = universe(x, 6)
    theirs = PersistenceLength([residue.atoms for residue in peer.residues]).run().results
    assert found.persistence is not None
    # Their sums over 960 bonds are in single precision too.
    np.testing.assert_allclose(found.persistence.correlation.value, theirs.bond_autocorrelation, atol=10 * SINGLE)
    assert float(found.persistence.exponential_fit.value) == pytest.approx(theirs.lp, rel=1e-4)
    sizes = [[residue.atoms.radius_of_gyration() ** 2 for residue in peer.residues] for _ in peer.trajectory]
    np.testing.assert_allclose(found.gyration_series["linear"], np.mean(sizes, axis=1), rtol=10 * SINGLE)


def test_displacements_are_those_of_mdanalysis() -> None:
    from MDAnalysis.analysis.msd import EinsteinMSD

    x = Rouse(5).run(seeded(8), 40, 4, 0.3)
    chains = Chains.of_equal_length(4, 5)
    centres = x.reshape(40, 4, 5, 3).mean(axis=2)
    found = chain_motion(0.3 * np.arange(40), x, chains, centres, np.zeros((40, 3)))
    for ours, points in ((found.inner, x), (found.centres, centres)):
        theirs = EinsteinMSD(universe(points, 4), select="all", msd_type="xyz", fft=False).run().results.timeseries
        assert ours is not None
        np.testing.assert_allclose(ours.value, theirs[1:21], atol=10 * SINGLE)


def test_angles_are_those_of_mdanalysis() -> None:
    from MDAnalysis.lib.distances import calc_angles, calc_dihedrals

    x = freely_jointed(seeded(9), 30, 1, 10)
    vectors = bond_vectors(x, "linear")
    theirs = np.array([calc_angles(one[:-2], one[1:-1], one[2:]) for one in x])
    np.testing.assert_allclose(_angles(vectors, "linear"), theirs.ravel(), atol=SINGLE)
    theirs = np.array([calc_dihedrals(one[:-3], one[1:-2], one[2:-1], one[3:]) for one in x])
    np.testing.assert_allclose(_dihedrals(vectors, "linear"), theirs.ravel(), atol=SINGLE)


@pytest.mark.slow
@pytest.mark.parametrize("tilted", [False, True])
def test_pair_distributions_add_up_to_that_of_freud(tilted: bool) -> None:
    """Of chains far from the box they began in; within a chain, by counting all its pairs."""
    import freud

    edges = np.array([[6.0, 0.0, 0.0], [1.5, 7.0, 0.0], [-1.0, 2.0, 6.5]]) if tilted else np.diag([6.0, 7.0, 6.5])
    boxes, frames, chains, beads, bins = np.tile(edges, (10, 1, 1)), 10, 12, 8, 60
    reach = 0.45 * float(faces_apart(boxes).min())
    x = freely_jointed(seeded(10), frames, chains, beads)
    places = seeded(11).uniform(-3, 3, size=(frames, chains, 1, 3)).round(2) @ (edges * 5.0)
    x = (x.reshape(frames, chains, beads, 3) + places).reshape(frames, -1, 3)
    parts = (Replicate(slice(0, frames), np.arange(chains)),)
    found = pair_distribution(x, Chains.of_equal_length(chains, beads), boxes, parts, reach, bins)
    lengths = np.diag(edges)
    cell = freud.box.Box(*lengths, edges[1, 0] / lengths[1], edges[2, 0] / lengths[2], edges[2, 1] / lengths[2])
    rdf = freud.density.RDF(bins=bins, r_max=reach)
    for k, one in enumerate(x):
        rdf.compute((cell, cell.wrap(one)), reset=k == 0)
    assert found.frames == frames
    # A pair at the edge of a bin may be rounded into either, and freud's histogram is in single precision.
    shell = 4.0 / 3.0 * np.pi * np.diff(found.edges**3) * (chains * beads) ** 2 / np.linalg.det(edges) * frames
    off = np.abs(found.within.value + found.between.value - rdf.rdf) * shell
    assert off.max() <= 4.0 + 1e-4 * shell.max() and off.sum() <= 12.0 + 1e-4 * shell.sum()
    i, j = np.triu_indices(beads, 1)
    own = np.linalg.norm(np.diff(x.reshape(frames, chains, beads, 3)[:, :, np.stack([i, j])], axis=2), axis=-1)
    counts = 2.0 * np.histogram(own, found.edges)[0]
    assert np.abs(found.within.value * shell - counts).sum() <= 8.0
    # Chains that know nothing of each other: eleven of twelve beads, and a few of a chain's own images. The last ten
    # bins have 14,000 pairs of beads, in clusters of up to 64.
    assert found.within.value[-1] > 0.0 and found.between.value[-10:].mean() == pytest.approx(11 / 12, abs=0.1)
