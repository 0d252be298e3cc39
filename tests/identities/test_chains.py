"""Statistics of chains by plain sums, what may not change them, and what is refused."""

from __future__ import annotations

import json
import sys
from typing import Any

import numpy as np
import pytest

import articulon as ar
from articulon.chains.bond_angles import bond_angles, dihedral_angles
from articulon.chains.chain_motion import chain_motion, drift_of, inner_beads
from articulon.chains.chain_sizes import chain_sizes, internal_distances
from articulon.chains.chain_statistics import Chains, ChainStatistics, chain_statistics
from articulon.chains.mode_relaxation import eigenvalues, relaxation, rouse_vectors
from articulon.chains.model_chains import chain_frames
from articulon.chains.pair_distances import pair_distribution
from articulon.chains.persistence_length import exponential_fit, persistence_length
from articulon.chains.replicates import Replicate
from tests.support.ideal_chains import Rouse, freely_jointed

FRAMES = 12
FIRST = np.array([0, 5, 8, 14, 18, 21])
RING, BRANCHED = np.array([0, 0, 1, 0, 0], dtype=bool), np.array([0, 0, 0, 1, 0], dtype=bool)


@pytest.fixture(scope="module")
def mixture() -> tuple[Chains, np.ndarray]:
    """Linear chains of 5, 3 and 3 beads, a ring of 6 and a branched molecule of 4, among 23 beads in any order."""
    random = np.random.default_rng(1)
    chains = Chains(random.permutation(23)[:21], FIRST, RING, BRANCHED)
    return chains, np.cumsum(random.normal(size=(FRAMES, 23, 3)), axis=0)


def whole(chains: Chains) -> tuple[Replicate, ...]:
    return (Replicate(slice(0, FRAMES), np.arange(len(chains))),)


def own(chains: Chains, k: int) -> np.ndarray:
    return chains.bead[chains.first[k] : chains.first[k + 1]]


def test_sizes_are_their_sums(mixture: tuple[Chains, np.ndarray]) -> None:
    chains, x = mixture
    masses = np.random.default_rng(2).uniform(0.5, 2.0, size=23)
    found = chain_sizes(x, chains, masses)
    for k in range(5):
        m, r = masses[own(chains, k)], x[:, own(chains, k)]
        centre = (m[:, None] * r).sum(axis=1) / m.sum()
        np.testing.assert_allclose(found.centres[:, k], centre, atol=1e-13)
        away = (m * ((r - centre[:, None]) ** 2).sum(axis=2)).sum(axis=1) / m.sum()
        np.testing.assert_allclose(found.gyration[:, k], away, rtol=1e-12)
        if chains.kind[k] == "linear":
            np.testing.assert_allclose(found.end_to_end[:, k], ((r[:, -1] - r[:, 0]) ** 2).sum(axis=1), rtol=1e-13)
    assert np.isnan(found.end_to_end[:, 2:4]).all()


@pytest.mark.parametrize("kind", ["linear", "ring"])
def test_internal_distances_are_their_sums(kind: str, mixture: tuple[Chains, np.ndarray]) -> None:
    """To the rounding of transforms: 1e-13 of squared sizes."""
    chains, x = mixture
    found = internal_distances(x, chains, kind, whole(chains))
    assert found is not None
    for n, value in zip(found.bonds.tolist(), found.squares.value, strict=True):
        squares = []
        for k in np.flatnonzero(chains.kind == kind).tolist():
            r = x[:, own(chains, k)]
            if kind == "ring":
                squares.append(((np.roll(r, -n, axis=1) - r) ** 2).sum(axis=2).ravel())
            elif n < r.shape[1]:
                squares.append(((r[:, n:] - r[:, :-n]) ** 2).sum(axis=2).ravel())
        assert value == pytest.approx(np.concatenate(squares).mean(), rel=1e-11)


def test_bond_correlations_are_their_sums(mixture: tuple[Chains, np.ndarray]) -> None:
    chains, x = mixture
    found = persistence_length(x, chains, whole(chains))
    assert found is not None
    products: dict[int, list[float]] = {n: [] for n in range(4)}
    projections = []
    for k in (0, 1, 4):
        r = x[:, own(chains, k)]
        t = np.diff(r, axis=1) / np.linalg.norm(np.diff(r, axis=1), axis=2, keepdims=True)
        for n in range(t.shape[1]):
            products[n] += (t[:, : t.shape[1] - n] * t[:, n:]).sum(axis=2).ravel().tolist()
        projections += [(t[:, end] * (r[:, -1] - r[:, 0])).sum(axis=1).tolist() for end in (0, -1)]
    np.testing.assert_allclose(found.correlation.value, [np.mean(products[n]) for n in range(4)], atol=1e-13)
    assert float(found.projection.value) == pytest.approx(np.mean(projections), rel=1e-12)


def test_displacements_are_their_sums(mixture: tuple[Chains, np.ndarray]) -> None:
    chains, x = mixture
    masses = np.random.default_rng(2).uniform(0.5, 2.0, size=23)
    drift, centres = drift_of(x, masses), chain_sizes(x, chains, masses).centres
    found = chain_motion(np.arange(float(FRAMES)), x, chains, centres, drift)
    total = (masses[:, None] * x).sum(axis=1) / masses.sum()
    np.testing.assert_allclose(drift, total - total[0], atol=1e-12)

    def displaced(r: np.ndarray, lag: int) -> float:
        return float(((r[lag:] - r[:-lag]) ** 2).sum(axis=-1).mean())

    assert found.inner is not None and found.inner_about_centre is not None
    for lag in range(1, FRAMES // 2 + 1):
        g3 = [displaced(centres[:, k] - drift, lag) for k in range(5)]
        assert found.centres.value[lag - 1] == pytest.approx(np.mean(g3), rel=1e-10)
        inner = [own(chains, k) for k in (0, 1, 2, 4)]
        g1 = [displaced(x[:, bead] - drift[:, None], lag) for bead in inner]
        assert found.inner.value[lag - 1] == pytest.approx(np.mean(g1), rel=1e-10)
        g2 = [displaced(x[:, b] - centres[:, [k]], lag) for k, b in zip((0, 1, 2, 4), inner, strict=True)]
        assert found.inner_about_centre.value[lag - 1] == pytest.approx(np.mean(g2), rel=1e-10)


@pytest.mark.parametrize(
    ("beads", "kind", "places"),
    [(16, "linear", [6, 7, 8, 9]), (9, "linear", [2, 3, 4, 5, 6]), (3, "linear", [0, 1, 2]), (4, "ring", [0, 1, 2, 3])],
)
def test_inner_beads_are_in_the_middle(beads: int, kind: str, places: list[int]) -> None:
    assert inner_beads(beads, kind).tolist() == places


@pytest.mark.parametrize(("beads", "kind"), [(7, "linear"), (7, "ring"), (8, "ring")])
def test_rouse_vectors_diagonalise_the_springs(beads: int, kind: str) -> None:
    count = beads - 1 if kind == "linear" else beads // 2
    matrix = Rouse(beads, kind == "ring")._matrix()
    vectors, values = rouse_vectors(beads, count, kind), eigenvalues(beads, count, kind)
    np.testing.assert_allclose(vectors @ matrix, values[:, None, None] * vectors, atol=1e-13)
    flat = vectors.reshape(-1, beads) if 2 * count < beads or kind == "linear" else vectors[:-1].reshape(-1, beads)
    np.testing.assert_allclose(flat @ flat.T, np.eye(len(flat)), atol=1e-13)
    np.testing.assert_allclose((vectors[-1] ** 2).sum(axis=1), 1.0, rtol=1e-13)


def test_a_relaxation_is_its_sums() -> None:
    vectors = np.random.default_rng(3).normal(size=(30, 5, 3))
    found = relaxation(np.arange(30.0), vectors, np.array([0, 1, 3, 4]))
    kept = vectors[:, [0, 1, 3, 4]]
    expected = [(kept[: 30 - lag] * kept[lag:]).sum(axis=2).mean() for lag in range(16)]
    np.testing.assert_allclose(found.correlation.value, np.array(expected) / expected[0], atol=1e-13)


def test_angles_of_known_shapes() -> None:
    """A zigzag of 120° in the plane, trans all along; a square ring; a straight rod, which has no dihedrals."""
    k = np.arange(6)
    zigzag = np.stack([k * np.sqrt(0.75), 0.5 * (k % 2), 0.0 * k], axis=1)
    square = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.0]])
    rod = np.stack([k, 0 * k, 0 * k], axis=1).astype(float)
    for shape, ring, cosine, dihedral in ((zigzag, False, -0.5, -1.0), (square, True, 0.0, 1.0), (rod, False, -1.0, 0)):
        x = np.tile(shape, (FRAMES, 1, 1))
        chains = Chains.of_equal_length(1, len(shape), ring)
        angles, dihedrals = bond_angles(x, chains, whole(chains)), dihedral_angles(x, chains, whole(chains))
        assert angles is not None
        assert float(angles.mean_cosine.value) == pytest.approx(cosine, abs=1e-12)
        assert (dihedrals is None) == (dihedral == 0)
        if dihedrals is not None:
            assert float(dihedrals.mean_cosine.value) == pytest.approx(dihedral, abs=1e-12)
    assert exponential_fit(np.ones(5), 1.0) == np.inf and exponential_fit(np.array([1.0, -0.1]), 1.0) == 0.0
    assert exponential_fit(0.7 ** np.arange(9), 2.0) == pytest.approx(-2.0 / np.log(0.7), rel=1e-12)


def test_numbers_of_beads_and_chains_mean_nothing(mixture: tuple[Chains, np.ndarray]) -> None:
    """Chains in another order, backwards, a ring begun elsewhere, a branched molecule with beads in any order."""
    chains, x = mixture
    box = np.full((FRAMES, 3), 40.0)
    before = chain_statistics(np.arange(float(FRAMES)), x, chains, box, skip=0.0).summary()
    beads = [own(chains, k) for k in range(5)]
    turned = [beads[4], np.roll(beads[2], 2)[::-1], beads[3][[2, 0, 3, 1]], beads[0][::-1], beads[1]]
    first = np.concatenate([[0], np.cumsum([len(one) for one in turned])])
    other = Chains(
        np.concatenate(turned), first, np.array([0, 1, 0, 0, 0], dtype=bool), np.array([0, 0, 1, 0, 0], dtype=bool)
    )
    after = chain_statistics(np.arange(float(FRAMES)), x, other, box, skip=0.0).summary()
    assert means(after) == pytest.approx(means(before), rel=1e-9, abs=1e-9, nan_ok=True)


def means(found: Any) -> list[float]:
    """All means in a summary."""
    if isinstance(found, dict):
        if "mean" in found:
            return [np.nan if found["mean"] is None else found["mean"]]
        return [value for one in found.values() for value in means(one)]
    return [value for one in found for value in means(one)] if isinstance(found, list) else []


def test_images_of_a_chain_are_no_neighbours_within_it() -> None:
    """A straight chain of 9 beads in a box of 10 is 2 away from its own image, which is another chain."""
    x = np.zeros((1, 9, 3))
    x[0, :, 0] = np.arange(9.0)
    chains = Chains.of_equal_length(1, 9)
    box, parts = np.tile(np.diag([10.0, 10.0, 10.0]), (1, 1, 1)), (Replicate(slice(0, 1), np.array([0])),)
    found = pair_distribution(x, chains, box, parts, 4.6, 46)
    shell = 4.0 / 3.0 * np.pi * np.diff(found.edges**3) * 81.0 / 1000.0
    within, between = ((one.value * shell).round(6) for one in (found.within, found.between))
    assert [int(within[int(10 * r)]) for r in (1, 2, 3, 4)] == [16, 14, 12, 10]
    assert [int(between[int(10 * r)]) for r in (1, 2, 3, 4)] == [0, 2, 4, 6]


def test_statistics_are_plain_numbers_in_a_summary(mixture: tuple[Chains, np.ndarray]) -> None:
    chains, x = mixture
    found = chain_statistics(np.arange(float(FRAMES)), x, chains)
    text = json.dumps(found.summary(), allow_nan=False)
    assert json.loads(text)["linear_chains"] == 3 and found.pairs is None
    assert {"pair_distribution", "end_to_end_distance", "branched_molecules"} <= set(found.not_computed)


def test_what_a_system_does_not_have_is_named() -> None:
    """Single beads, rings, branched molecules alone; a single frame, and too few for lags."""
    x = np.random.default_rng(4).normal(size=(20, 12, 3))
    times = np.arange(20.0)
    beads = chain_statistics(times, x, Chains.of_equal_length(12, 1))
    assert beads.end_to_end is None and beads.bond is None and not beads.rouse and beads.motion is not None
    star = chain_statistics(times, x, Chains(np.arange(12), np.array([0, 6, 12]), branched=np.ones(2, dtype=bool)))
    assert star.motion is not None and star.motion.inner is None and not star.internal and star.angles is None
    assert float(star.gyration["branched"].value) > 0.0
    one = chain_statistics(times[:1], x[:1], Chains.of_equal_length(3, 4))
    assert one.motion is None and np.isfinite(one.end_to_end.value if one.end_to_end else np.nan)
    few = chain_statistics(times[:6], x[:6], Chains.of_equal_length(3, 4), skip=0.0)
    assert few.motion is None and "8 are needed" in few.not_computed["motion"]
    for found in (beads, star, one, few):
        json.dumps(found.summary(), allow_nan=False)


def test_a_last_frame_that_comes_sooner_counts_in_averages_alone() -> None:
    x = Rouse(4).run(np.random.default_rng(5), 41, 6, 0.5)
    times, chains = 0.5 * np.arange(41), Chains.of_equal_length(6, 4)
    full, early = chain_statistics(times[:40], x[:40], chains, skip=0.0), times.copy()
    early[-1] -= 0.3
    stopped = chain_statistics(early, x, chains, skip=0.0)
    assert full.motion is not None and stopped.motion is not None
    np.testing.assert_array_equal(stopped.motion.centres.value, full.motion.centres.value)
    assert stopped.end_to_end is not None and full.end_to_end is not None
    assert stopped.end_to_end.value != full.end_to_end.value
    early[20] += 0.1
    uneven = chain_statistics(early, x, chains, skip=0.0)
    assert uneven.motion is None and uneven.relaxation is None and not uneven.rouse
    assert "not equally spaced" in uneven.not_computed["motion"]
    np.testing.assert_array_equal(uneven.end_to_end, stopped.end_to_end)


def test_without_freud_all_else_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "freud", None)
    x = freely_jointed(np.random.default_rng(6), 20, 5, 4)
    found = chain_statistics(np.arange(20.0), x, Chains.of_equal_length(5, 4), np.full((20, 3), 20.0))
    assert found.pairs is None and "articulon[analysis]" in found.not_computed["pair_distribution"]
    assert found.end_to_end is not None


def test_beads_of_a_model_are_where_its_sites_are() -> None:
    """Five particles, of which the last four are two chains, the second listed backwards; a box that grows."""
    builder = ar.ModelBuilder(units="lj", box=ar.Box(lengths=(10.0, 12.0, 14.0)))
    x = np.random.default_rng(8).uniform(0.0, 10.0, size=(5, 3))
    builder.add_particles(5, mass=2.5, positions=x, kind="bead")
    builder.add_chains(np.array([1, 2, 4, 3]), np.array([0, 2, 4]))
    model = builder.build()
    q = np.stack([model.q0, model.q0 + 20.0])
    found = chain_frames(model, np.array([0.0, 1.0]), q, np.array([1.0, 8.0]) * 1680.0)
    assert found is not None and found.boxes is not None
    np.testing.assert_allclose(found.positions[1], x[[1, 2, 4, 3]] + 20.0, atol=1e-13)
    np.testing.assert_allclose(found.boxes[1], np.diag([20.0, 24.0, 28.0]), rtol=1e-13)
    assert found.chains.bead.tolist() == [0, 1, 2, 3] and found.chains.first.tolist() == [0, 2, 4]
    assert found.masses.tolist() == [2.5] * 4
    bare = ar.ModelBuilder(units="lj")
    bare.add_particles(2, mass=1.0, positions=x[:2], kind="bead")
    assert chain_frames(bare.build(), np.zeros(1), np.zeros((1, 6))) is None


def statistics(**changed: Any) -> ChainStatistics:
    given: dict[str, Any] = {
        "times": np.arange(10.0),
        "positions": freely_jointed(np.random.default_rng(7), 10, 3, 4),
        "chains": Chains.of_equal_length(3, 4),
        "boxes": np.full((10, 3), 9.0),
    }
    return chain_statistics(**{**given, **changed})


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"chains": [[0, 1, 2]]}, "expected Chains"),
        ({"chains": Chains.of_equal_length(4, 4)}, "no bead 15; positions has 12"),
        ({"positions": np.zeros((10, 12))}, r"shape \(frames, beads, 3\)"),
        ({"positions": np.zeros((0, 12, 3))}, r"shape \(frames, beads, 3\)"),
        ({"positions": np.full((10, 12, 3), np.nan)}, "positions: not finite"),
        ({"times": np.arange(9.0)}, r"times: expected shape \(10,\)"),
        ({"times": np.zeros(10)}, "times that increase"),
        ({"masses": np.zeros(12)}, "masses: must be positive"),
        ({"masses": np.ones(3)}, r"masses: expected shape \(12,\)"),
        ({"boxes": np.zeros((10, 3))}, "boxes: expected the lengths"),
        ({"boxes": np.ones((10, 4))}, "boxes: expected shape"),
        ({"boxes": "cubic"}, "boxes: "),
        ({"boxes": np.full((10, 3), 0.9)}, "bond longer than half of the box in frame 0; give unwrapped"),
        ({"skip": 1.0}, "skip must be"),
        ({"reach": -1.0}, "reach must be positive"),
        ({"modes": 0}, "modes: must be at least 1"),
    ],
)
def test_bad_arrays_are_named(changed: dict[str, Any], words: str) -> None:
    with pytest.raises(ar.ArticulonError, match=words):
        statistics(**changed)


def test_a_bond_may_be_long_where_positions_are_known_to_be_unwrapped() -> None:
    assert statistics(boxes=np.full((10, 3), 0.9), unwrapped=True, pairs=False).bond is not None


@pytest.mark.parametrize(
    ("bead", "first", "flags", "words"),
    [
        ([0, 1, 2], [0, 2], {}, "end with the 3 beads"),
        ([0, 1, 2], [0, 2, 2, 3], {}, "increase by at least 1"),
        ([0, 1, 2], [1, 3], {}, "start with 0"),
        ([0, 1, 1], [0, 3], {}, "each of them only once"),
        ([0, -1, 1], [0, 3], {}, "of at least 0"),
        ([0.0, 1.0], [0, 2], {}, "whole numbers"),
        ([], [0], {}, "whole numbers"),
        ([0, 1], [0, 2], {"ring": [True]}, "chain 0 has fewer than three beads"),
        ([0, 1, 2], [0, 3], {"ring": [True], "branched": [True]}, "a ring and branched"),
        ([0, 1, 2], [0, 3], {"ring": [True, False]}, "each of the 1 chains"),
        ([0, 1, 2], [0, 3], {"branched": [1]}, "true or false"),
    ],
)
def test_bad_chains_are_named(bead: list[int], first: list[int], flags: dict[str, list[bool]], words: str) -> None:
    with pytest.raises(ar.ArticulonError, match=words):
        Chains(np.array(bead), np.array(first), **{name: np.array(value) for name, value in flags.items()})


def test_chains_are_frozen() -> None:
    chains = Chains.of_equal_length(2, 3)
    with pytest.raises(ValueError, match="read-only"):
        chains.bead[0] = 5
    assert len(chains) == 2 and chains.kinds == ("linear",) and chains.owner.tolist() == [0, 0, 0, 1, 1, 1]
