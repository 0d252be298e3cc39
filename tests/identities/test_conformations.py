"""What is measured on the frames of molecules, where the answer is known in closed form."""

from __future__ import annotations

import numpy as np
import pytest

import articulon as ar
from articulon import molecules
from articulon.conformations.backbone_torsions import JointTorsions, dihedrals, joint_torsions
from articulon.conformations.backbones import alignment_atoms, backbone_of, ends, residue_atoms, traces
from articulon.conformations.chosen_atoms import chosen_atoms, positions_of, solute
from articulon.conformations.conformation_clusters import clusters_of, torsion_distances
from articulon.conformations.conformation_record import some_frames
from articulon.conformations.conformation_summary import mean_with_error
from articulon.conformations.native_contacts import SLACK, STEEPNESS, native_contacts
from articulon.conformations.superposition import (
    about_mean,
    fluctuations,
    pairwise_deviations,
    root_mean_square_deviation,
    superposed,
)
from articulon.conformations.time_correlation import inefficiency, normalised_autocorrelations
from articulon.conformations.torsion_maps import torsion_map
from articulon.conformations.torsion_memory import torsion_memory
from tests.support.peptide_frames import conformations, peptide_model, turned


def rotations(count: int) -> np.ndarray:
    from scipy.spatial.transform import Rotation

    return Rotation.random(count, random_state=1).as_matrix()


def test_a_structure_that_is_only_moved_has_no_deviation() -> None:
    x = np.random.default_rng(1).normal(size=(20, 3))
    moved = np.einsum("fij,aj->fai", rotations(5), x) + np.arange(5.0)[:, None, None]
    every = np.arange(20)
    # Rounding of numbers of order one.
    np.testing.assert_allclose(superposed(moved, x, every), np.broadcast_to(x, moved.shape), atol=1e-13)
    assert root_mean_square_deviation(moved, x, every).max() < 1e-13
    assert pairwise_deviations(moved).max() < 1e-7  # the square root of a difference of rounded squares


def test_a_mirror_image_is_not_laid_upon_its_original() -> None:
    x = np.random.default_rng(2).normal(size=(20, 3))
    mirrored = (x * [1.0, 1.0, -1.0])[None]
    assert root_mean_square_deviation(mirrored, x, np.arange(20))[0] > 0.3
    both = np.concatenate([x[None], mirrored])
    expected = root_mean_square_deviation(both, x, np.arange(20))[1]
    np.testing.assert_allclose(pairwise_deviations(both)[0, 1], expected, rtol=1e-12)


def test_a_superposition_is_the_best_one() -> None:
    random = np.random.default_rng(3)
    x, y = random.normal(size=(2, 12, 3))
    best = root_mean_square_deviation(x[None], y, np.arange(12))[0]
    for turn in rotations(200):
        away = (x - x.mean(axis=0)) @ turn.T - (y - y.mean(axis=0))
        assert np.sqrt((away**2).sum(axis=1).mean()) > best


def test_the_fluctuation_of_gaussian_displacements_is_their_spread_less_six_freedoms() -> None:
    """Σ RMSF² = (3N − 6) σ² (1 − 1/n): a superposition takes six of 3N freedoms, the mean one of n frames. Its relative
    error is √(2/(n (3N − 6))); next order in σ over the size, 1e-4."""
    atoms, frames, spread = 30, 2000, 0.01
    random = np.random.default_rng(4)
    x = random.normal(size=(atoms, 3)) + spread * random.normal(size=(frames, atoms, 3))
    x = np.einsum("fij,faj->fai", rotations(frames), x)
    found = fluctuations(about_mean(x, np.arange(atoms)))
    freedoms = 3 * atoms - 6
    expected = freedoms * spread**2 * (1.0 - 1.0 / frames)
    assert (found**2).sum() == pytest.approx(expected, rel=4.0 * np.sqrt(2.0 / (frames * freedoms)) + 2e-4)


@pytest.mark.slow
@pytest.mark.parametrize("memory", [0.0, 0.6, 0.9])
def test_correlation_times_are_those_of_an_autoregressive_process(memory: float) -> None:
    """C(t) = a^t and g = (1 + a)/(1 − a). The estimate of g with m lags has the relative error √(2 (2m + 1)/n), with m
    some 5 correlation times: 0.15 at a = 0.9, a seventh of that in a mean over fifty; the sum up to the first zero of
    C is biased by a few per cent of noise, and e^{iφ} is linear in φ to 1 %."""
    frames, columns = 10_000, 50
    noise = np.random.default_rng(5).normal(size=(frames, columns))
    x = np.empty_like(noise)
    x[0] = noise[0]
    for k in range(1, frames):
        x[k] = memory * x[k - 1] + np.sqrt(1.0 - memory**2) * noise[k]
    found = normalised_autocorrelations(x)
    for lag in (1, 2, 5):
        # A mean over all of 5e5 frames, of which (1 − a)/(1 + a) count.
        assert found[lag].mean() == pytest.approx(memory**lag, abs=5.0 / np.sqrt(5e5 * (1 - memory) / (1 + memory)))
    expected = (1.0 + memory) / (1.0 - memory)
    torsions = JointTorsions(tuple(f"t{k}" for k in range(columns)), 0.1 * x, np.ones(columns, dtype=int))
    seen = torsion_memory(0.5 * np.arange(frames), torsions)
    assert seen is not None
    np.testing.assert_allclose(np.mean(frames / seen.effective_samples), expected, rtol=0.08)
    np.testing.assert_allclose(seen.correlation_times, 0.25 * frames / seen.effective_samples)
    assert np.mean([inefficiency(row) for row in found.T[:20]]) == pytest.approx(expected, rel=0.1)
    # The error of a mean of such values is √(g/n) of their spread.
    assert mean_with_error(x[:, 0])["error"] == pytest.approx(np.sqrt(expected / frames), rel=0.5)


def test_a_torsion_that_jumps_between_places_that_look_the_same_forgets_at_once() -> None:
    """A methyl group that jumps by 120° every hundred frames and quivers in between: e^{3iφ} sees the quivering."""
    random = np.random.default_rng(6)
    wells = np.repeat(random.integers(0, 3, size=20), 100) * 2.0 * np.pi / 3.0
    angles = (wells + 0.1 * random.normal(size=2000))[:, None]
    found = {
        fold: torsion_memory(np.arange(2000.0), JointTorsions(("t",), angles, np.array([fold]))) for fold in (1, 3)
    }
    assert found[1] is not None and found[1].effective_samples[0] < 100
    # White noise: g = 1 but for the sum up to the first negative value.
    assert found[3] is not None and found[3].effective_samples[0] > 1500


def test_what_does_not_move_has_no_memory() -> None:
    still = JointTorsions(("t",), np.ones((10, 1)), np.ones(1, dtype=int))
    assert torsion_memory(np.arange(10.0), still) is None
    assert torsion_memory(np.arange(2.0), still._replace(angles=np.array([[0.0], [1.0]]))) is None


def test_torsions_are_the_coordinates_and_those_of_the_places() -> None:
    model = peptide_model(["SER", "PHE", "ALA", "LYS"])
    q = turned(model, 4)
    found = joint_torsions(model, q)
    atoms = model.atoms
    assert atoms is not None
    bodies = {name: body for body, name in atoms.torsions.items()}
    x = positions_of(model, q, atoms.site)
    measured = dihedrals(x, np.array([atoms.dihedrals[bodies[name]] for name in found.names]))
    # Rounding of positions of a few nm over arms of a tenth of one.
    np.testing.assert_allclose(np.exp(1j * measured), np.exp(1j * found.angles), atol=1e-11)
    folds = dict(zip(found.names, found.folds.tolist(), strict=True))
    assert folds["CB-OG:A:SER1"] == 1 and folds["chi2:A:PHE2"] == 2
    assert folds["CA-CB:A:ALA3"] == 3 and folds["CE-NZ:A:LYS4"] == 3 and folds["phi:A:ALA3"] == 1


def test_phi_and_psi_are_those_that_a_peptide_was_built_with() -> None:
    model = peptide_model(["ALA", "GLY", "ALA", "PRO", "ALA"], phi=-70.0, psi=140.0)
    seen = conformations(model, model.q0[None])
    found = seen.backbone_torsions
    assert found is not None
    assert found.classes == ("general", "glycine", "pre-proline", "proline", "general")
    assert np.isnan(found.phi[0, 0]) and np.isnan(found.psi[0, -1])
    phi = np.degrees(found.phi[0])
    np.testing.assert_allclose(phi[[1, 2, 4]], -70.0, atol=1e-9)  # proline's is that of its ring
    np.testing.assert_allclose(np.degrees(found.psi[0, :-1]), 140.0, atol=1e-9)


def test_the_part_of_contacts_that_are_left_follows_its_formula() -> None:
    """Scaled by λ all distances are λ r₀, where every term is ½; unmoved each is 1/(1 + e^{−β (λ − 1) r₀})."""
    model = peptide_model(["ALA"] * 12)
    assert model.atoms is not None
    x = positions_of(model, model.q0[None], model.atoms.site)[0]
    found = native_contacts(model.atoms, x, np.arange(3.0), np.stack([x, SLACK * x, 100.0 * x]))
    assert found is not None and len(found.pairs) > 5
    assert found.distances.max() < 0.45
    residues = model.atoms.residue[found.pairs]
    assert (np.abs(residues[:, 0] - residues[:, 1]) > 3).all()
    expected = (1.0 / (1.0 + np.exp(-STEEPNESS * (SLACK - 1.0) * found.distances))).mean()
    np.testing.assert_allclose(found.values, [expected, 0.5, 0.0], atol=1e-12)
    stretched = peptide_model(["ALA"] * 12, phi=-150.0, psi=150.0)
    far = positions_of(stretched, stretched.q0[None], stretched.atoms.site)[0]  # type: ignore[union-attr]
    assert native_contacts(model.atoms, far, np.arange(1.0), far[None]) is None


def test_free_energies_and_their_errors_are_those_of_independent_draws() -> None:
    """Counts are multinomial, so that the error of −kT ln p is kT √((1 − p)/(n p)); a spread over B blocks is known to
    1/√(2 (B − 1)), which is 5 % at 200, and 2.5 % in the mean of four."""
    parts, count, blocks = np.array([[0.5, 0.2], [0.2, 0.1]]), 40_000, 200
    random = np.random.default_rng(7)
    cell = random.choice(4, size=count, p=parts.ravel())
    phi, psi = np.array([-1.0, 1.0])[cell // 2][:, None], np.array([-1.0, 1.0])[cell % 2][:, None]
    found = torsion_map(phi, psi, 2.5, bins=2, blocks=blocks)
    assert found is not None and found.samples == count
    expected = 2.5 * np.sqrt((1.0 - parts) / (count * parts))
    np.testing.assert_allclose(found.free_energy, -2.5 * np.log(parts / 0.5), atol=4.0 * expected.max() * np.sqrt(2.0))
    assert (found.error / expected).mean() == pytest.approx(1.0, abs=0.1)
    turn = torsion_map(phi + 2.0 * np.pi, psi - 4.0 * np.pi, 2.5, bins=2, blocks=blocks)
    assert turn is not None
    np.testing.assert_array_equal(turn.probability, found.probability)
    half = torsion_map(phi[:1], psi[:1], 1.0, bins=2)
    assert half is not None and np.isnan(half.error).all() and np.isnan(half.free_energy).sum() == 3
    assert torsion_map(np.full((3, 1), np.nan), psi[:3], 1.0) is None


def test_frames_in_three_places_make_three_clusters() -> None:
    random = np.random.default_rng(8)
    place = np.repeat([0, 1, 2], [6, 3, 1])
    angles = np.array([[0.0, 3.1], [2.0, 0.0], [-2.0, -1.0]])[place] + 0.02 * random.normal(size=(10, 2))
    angles[1] = [2.0 * np.pi, -2.0 * np.pi + 3.1]  # the middle of the first, once around
    frames = 10 * np.arange(10)
    found = clusters_of(torsion_distances(angles), frames, frames / 10.0, "torsions")
    np.testing.assert_array_equal(found.labels, place)
    np.testing.assert_allclose(found.populations, [0.6, 0.3, 0.1])
    assert found.representatives[0] == 10 and found.representatives[2] == 90
    assert len(clusters_of(torsion_distances(angles), frames, frames / 10.0, "torsions", number=2).populations) == 2
    one = clusters_of(np.zeros((1, 1)), np.zeros(1, int), np.zeros(1), "rmsd")
    assert one.populations.tolist() == [1.0] and one.representatives.tolist() == [0]


def test_distances_of_torsions_are_their_root_mean_square_where_small() -> None:
    angles = np.array([[0.0, 0.0, np.nan], [0.03, 0.04, 1.0]])
    # 2 (1 − cos x) = x² − x⁴/12 …
    assert torsion_distances(angles)[0, 1] == pytest.approx(np.sqrt((0.03**2 + 0.04**2) / 2.0), rel=1e-3)


def test_atoms_of_a_solute_have_their_own_numbers() -> None:
    structure = molecules.peptide(["ACE", "ALA", "NME"])
    builder = ar.ModelBuilder(units="Da-nm-ps")
    molecules.populate(builder, structure, molecules.perceive(structure))
    model = builder.build()
    atoms = model.atoms
    assert atoms is not None and solute(atoms).size == len(atoms)
    chosen = np.flatnonzero(atoms.residue > 0)
    part = chosen_atoms(atoms, chosen)
    assert part.residue_names == ("ALA", "NME") and part.label(0) == atoms.label(int(chosen[0]))
    inside = np.isin(atoms.bonds, chosen).all(axis=1)
    np.testing.assert_array_equal(chosen[part.bonds], atoms.bonds[inside])
    for body, four in part.dihedrals.items():
        assert tuple(chosen[list(four)]) == atoms.dihedrals[body] and part.torsions[body] == atoms.torsions[body]
    assert "phi:A:ALA2" not in part.torsions.values()  # its carbon before is left out
    x = positions_of(model, model.q0[None], part.site)[0]
    np.testing.assert_array_equal(x, molecules.site_positions(model, model.q0)[atoms.site[chosen]])


def test_a_backbone_is_found_by_bonds() -> None:
    model = peptide_model(["ACE", "ALA", "PRO", "GLY", "NH2"])
    atoms = model.atoms
    assert atoms is not None
    found = backbone_of(atoms)
    labels = [[None if a < 0 else atoms.label(int(a)) for a in column] for column in found[1:8]]
    assert labels[5] == ["A:ACE1:C", "A:ALA2:C", "A:PRO3:C"] and labels[6] == ["A:PRO3:N", "A:GLY4:N", "A:NH25:N"]
    assert labels[4] == ["A:ALA2:H", None, "A:GLY4:H"] and labels[3] == ["A:ALA2:O", "A:PRO3:O", "A:GLY4:O"]
    assert found.following.tolist() == [1, 2, -1]
    names = [atoms.names[a] for a in alignment_atoms(atoms)]
    assert names == ["C", "O", "N", "CA", "C", "O", "N", "CA", "C", "O", "N", "CA", "C", "O", "N"]
    assert [atoms.names[own[0]] for own in residue_atoms(atoms)][1:4] == ["CA"] * 3
    assert [len(chain) for chain in traces(atoms)] == [3]
    assert ends(atoms) == (int(found.ca[0]), int(found.ca[-1]))


def test_frames_are_chosen_evenly_with_both_ends() -> None:
    assert some_frames(11, 0, 100).tolist() == list(range(11))
    assert some_frames(11, 0, 3).tolist() == [0, 5, 10]
    assert some_frames(11, 6, 3).tolist() == [6, 8, 10]
    assert some_frames(1, 0, 5).tolist() == [0]
    model = peptide_model(["GLY", "GLY"])
    q = turned(model, 30)
    every, some = conformations(model, q, most=None), conformations(model, q, most=4)
    assert some.frames[0] == 0 and some.frames[-1] == 29 and len(some.frames) == 4
    np.testing.assert_array_equal(some.radius_of_gyration, every.radius_of_gyration[some.frames])
