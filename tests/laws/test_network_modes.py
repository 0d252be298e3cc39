"""Modes of elastic networks and of the matrices of finite elements, against dense solutions and theory."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.linalg
from scipy import sparse
from scipy.spatial import cKDTree

import articulon as ar
from articulon.errors import ModelError
from articulon.modes.eigen import DENSE, local_rotations, lowest_modes
from articulon.modes.elastic_network import network_hessian
from articulon.units import unit_system
from tests.support.flexible_bodies import BETA, beam_elements, correlation, natural_frequencies, rigid_parts

EPS = np.finfo(float).eps
SI = unit_system("kg-m-s")


def ball(rng: np.random.Generator, nodes: int) -> tuple[np.ndarray, np.ndarray]:
    """Nodes at random in a ball of volume one for each, and masses."""
    direction = rng.normal(size=(nodes, 3))
    direction /= np.linalg.norm(direction, axis=1)[:, None]
    radius = (3.0 / (4.0 * np.pi) * nodes * rng.uniform(size=nodes)) ** (1.0 / 3.0)
    return radius[:, None] * direction, rng.uniform(0.5, 2.0, nodes)


def helix(residues: int) -> ar.molecules.Structure:
    return ar.molecules.peptide("A" * residues)


def test_the_hessian_of_a_network_is_the_second_derivative_of_its_energy():
    """Central differences of the gradient, whose error is h² of size one: h = 1e-5 leaves 1e-10 and rounding."""
    rng = np.random.default_rng(0)
    x, _ = ball(rng, 12)
    i, j = cKDTree(x).query_pairs(2.5, output_type="ndarray").T
    rest = np.linalg.norm(x[i] - x[j], axis=1)

    def gradient(y: np.ndarray) -> np.ndarray:
        d = y[i] - y[j]
        r = np.linalg.norm(d, axis=1)
        pull = ((r - rest) / r)[:, None] * d
        result = np.zeros_like(y)
        np.add.at(result, i, pull)
        np.add.at(result, j, -pull)
        return result.ravel()

    H = network_hessian(x, np.stack([i, j], axis=1)).toarray()
    step = 1e-5
    for k in range(x.size):
        e = np.zeros(x.size)
        e[k] = step
        difference = (gradient(x + e.reshape(-1, 3)) - gradient(x - e.reshape(-1, 3))) / (2 * step)
        np.testing.assert_allclose(difference, H[:, k], rtol=0, atol=1e-9)


@pytest.mark.parametrize("nodes", [40, 140])
def test_the_modes_of_a_network_are_those_of_a_dense_solution(nodes):
    """Below and above the size at which the eigenproblem is solved sparsely. Eigenvalues agree to rounding of the
    largest; vectors to that over the distance to the next."""
    assert (3 * nodes <= DENSE) == (nodes == 40)
    x, m = ball(np.random.default_rng(nodes), nodes)
    modes = ar.modes.elastic_network(positions=x, masses=m, cutoff=2.5, spring_constant=2.0, modes=8)
    pairs = cKDTree(x).query_pairs(2.5, output_type="ndarray")
    weight = np.repeat(m, 3) ** -0.5
    values, vectors = scipy.linalg.eigh(2.0 * weight[:, None] * network_hessian(x, pairs).toarray() * weight)
    assert np.abs(values[:6]).max() < 1e-12 * values[-1] < values[6]
    omega = natural_frequencies(modes)
    np.testing.assert_allclose(omega**2, values[6:14], rtol=0, atol=1e-12 * values[-1])
    weighted = (np.sqrt(m)[:, None, None] * modes.shapes).reshape(3 * nodes, 8)
    weighted /= np.linalg.norm(weighted, axis=0)
    gap = np.diff(values[5:15]).clip(max=values[-1])
    alike = np.abs(np.einsum("ij,ij->j", weighted, vectors[:, 6:14]))
    assert (1.0 - alike < (1e-12 * values[-1] / np.minimum(gap[:-1], gap[1:])) ** 2 + 100 * EPS).all()


def test_the_lowest_modes_of_a_helix_are_orthogonal_to_rigid_motion_and_to_each_other():
    modes = ar.modes.elastic_network(helix(40), cutoff=1.3, spring_constant="1 kcal/mol/angstrom^2", modes=12)
    assert rigid_parts(modes).max() < 1e-12
    np.testing.assert_allclose(correlation(modes), np.eye(12), atol=1e-12)
    shapes = modes.resolved(unit_system("fg-um-us"), "body 'helix'")
    assert not np.isnan(shapes.rotations).any()
    # The two softest modes of a round rod are its bending in two planes, alike but for the ends of the chain.
    omega = natural_frequencies(modes)
    assert omega[1] < 1.05 * omega[0] < 0.8 * omega[2]


def test_a_long_helical_network_bends_as_a_free_beam():
    """A thousand residues in a helix, 150 nm by 0.5 nm: its bending is that of Euler and Bernoulli up to the turning of
    cross-sections and shear, of order (βd/L)² = 7e-4 for the second mode. Its eigenvalues are 5e-10 of the largest."""
    k = np.arange(1000)
    x = np.stack([0.23 * np.cos(1.745 * k), 0.23 * np.sin(1.745 * k), 0.15 * k], axis=1)
    modes = ar.modes.elastic_network(
        positions=x, masses=np.full(1000, 100.0), cutoff=1.0, spring_constant=400.0, modes=6
    )
    omega = natural_frequencies(modes).reshape(3, 2)
    np.testing.assert_allclose(omega[:, 1], omega[:, 0], rtol=1e-4)
    expected = (np.array(BETA["free"][:3]) / BETA["free"][0]) ** 2
    np.testing.assert_allclose(omega[:, 0] / omega[0, 0], expected, rtol=7e-4 * 2)


def test_the_lowest_modes_of_adenylate_kinase_are_orthogonal_to_rigid_motion():
    files = pytest.importorskip("MDAnalysisTests.datafiles")
    kinase = ar.molecules.read_structure(files.PDB_small)
    modes = ar.modes.elastic_network(kinase, cutoff=1.5, spring_constant="1 kcal/mol/angstrom^2", modes=10)
    assert rigid_parts(modes).max() < 1e-10
    # Its softest mode closes a lid: residues 30 to 59 (which bind AMP) and 122 to 159 (the lid) move most.
    moved = np.linalg.norm(modes.shapes[:, :, 0], axis=1)
    lids = np.concatenate([moved[29:59], moved[121:159]])
    core = np.concatenate([moved[:29], moved[59:121], moved[159:]])
    assert lids.mean() > 2.0 * core.mean()


def test_a_part_of_a_structure_can_be_a_body_with_handle_1_where_it_hangs():
    whole = helix(30)
    modes = ar.modes.elastic_network(
        whole, residues=range(10, 25), handle=14, cutoff=1.3, spring_constant=400.0, modes=3
    )
    shapes = modes.resolved(unit_system("Da-nm-ps"), "body 'end'")
    assert shapes.positions.shape == (15, 3) and not shapes.positions[14].any()
    atoms = slice(whole.residues[10].start, whole.residues[24].stop)
    assert shapes.masses.sum() == pytest.approx(whole.masses[atoms].sum(), rel=1e-14)


def test_rotations_of_nodes_by_their_neighbours_are_exact_for_rigid_motion():
    rng = np.random.default_rng(5)
    x, _ = ball(rng, 30)
    pairs = cKDTree(x).query_pairs(2.5, output_type="ndarray")
    velocity, turn = rng.normal(size=(2, 3))
    moved = (velocity + np.cross(turn, x))[:, :, None]
    expected = np.broadcast_to(turn[:, None], moved.shape)
    np.testing.assert_allclose(local_rotations(x, moved, pairs), expected, rtol=0, atol=1e-12)
    line = np.arange(4.0)[:, None] * np.array([1.0, 2.0, -1.0])
    assert np.isnan(local_rotations(line, np.zeros((4, 3, 1)), np.array([[0, 1], [1, 2], [2, 3]]))).all()


TETRAHEDRON = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"modes": 7}, "7 modes were requested, but 4 nodes have only 6 non-rigid motions"),
        ({"modes": 0}, "modes: expected a whole number of at least 1"),
        ({"cutoff": 0.5}, "has 4 unconnected parts at a cutoff of 0.5: node 0 is in a part of 1 node"),
        ({"cutoff": 1.1}, "nothing resists a motion that is not rigid, mainly of node [123]"),
        ({"cutoff": -1.0}, "cutoff: must be positive"),
        ({"masses": [1.0, 1.0, 0.0, 1.0]}, "node 2: mass must be positive, got 0"),
        ({"masses": [1.0]}, r"masses: expected shape \(4,\)"),
        ({"masses": None}, "either a structure, or positions and masses"),
        ({"positions": None}, "either a structure, or positions and masses"),
        ({"positions": [1.0, 2.0]}, r"positions: expected the shape \(nodes, 3\)"),
        ({"handle": 4}, "handle: there are 4 nodes"),
        ({"residues": [0]}, "residues: this needs a structure"),
        ({"positions": TETRAHEDRON[[0, 1, 2, 2]]}, "node 2 and node 3 are at the same place"),
        ({"spring_constant": "1 kcal/mol/angstrom^2"}, "has a unit; give units="),
    ],
)
def test_networks_that_cannot_be_are_refused_by_name(changes, message):
    given: dict[str, Any] = {
        "positions": TETRAHEDRON,
        "masses": np.ones(4),
        "cutoff": 2.0,
        "spring_constant": 1.0,
        "modes": 2,
    }
    with pytest.raises(ModelError, match=f"elastic_network.*{message}"):
        ar.modes.elastic_network(**given | changes)


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"modes": 25}, "25 modes were requested, but 10 nodes have only 24 non-rigid motions"),
        ({"cutoff": 0.3}, "has 10 unconnected parts at a cutoff of 0.3: residue A:ALA1 is"),
        ({"cutoff": 0.45}, "nothing resists a motion that is not rigid, mainly of residue A:ALA"),
        ({"residues": [3, 4, 11]}, r"residues: expected indices from 0 to 9, each once; got \[11\]"),
        ({"residues": [3, 3]}, r"residues: expected indices from 0 to 9, each once; got \[3, 3\]"),
        ({"nodes": "beads"}, "nodes: expected 'residues' or 'atoms', got 'beads'"),
        ({"units": "kg-m-s"}, "units: those of a structure are 'Da-nm-ps', got 'kg-m-s'"),
    ],
)
def test_structures_without_the_modes_asked_are_refused_by_residue(changes, message):
    given: dict[str, Any] = {"cutoff": 1.3, "spring_constant": 400.0, "modes": 3}
    with pytest.raises(ModelError, match=message):
        ar.modes.elastic_network(helix(10), **given | changes)


def test_a_residue_without_an_atom_that_stands_for_it_is_named():
    class Lone:
        names = ("XX",)
        residues = (ar.molecules.Residue("UNK", 7, "", "B", "ligand", "", 0, 1),)
        positions = np.zeros((1, 3))
        masses = np.ones(1)

        def label(self, atom: int) -> str:
            return "B:UNK7:XX"

    with pytest.raises(ModelError, match="residue B:UNK7 has none of the atoms CA, P"):
        ar.modes.elastic_network(Lone(), cutoff=1.0, spring_constant=1.0, modes=1)


def test_finite_elements_of_a_beam_give_the_modes_of_theory():
    """Cubic elements with lumped masses: frequencies converge by h², here h = L/60, with a constant of order (βh)²."""
    nodes, EI = 61, (0.7, 0.5)
    positions = np.zeros((nodes, 3))
    positions[:, 0] = np.linspace(0.0, 2.0, nodes)
    masses = np.full(nodes, 3.0 / (nodes - 1))
    masses[[0, -1]] *= 0.5
    K = beam_elements(nodes, 2.0, EI, 0.3, 1e4)
    for clamped, boundary in ((None, "free"), ([0], "clamped")):
        modes = ar.modes.from_matrices(positions, masses, K, modes=4, clamped=clamped)
        beta = np.array(BETA[boundary])[[0, 0, 1, 1]]
        omega = np.sort(beta**2 * np.sqrt(np.array([0.7, 0.5, 0.7, 0.5]) / (3.0 * 2.0**3)))
        np.testing.assert_allclose(natural_frequencies(modes), omega, rtol=(beta.max() / 60) ** 2)
        shapes = modes.resolved(SI, "body 'rod'")
        theory = ar.modes.beam(
            length=2.0, mass=3.0, bending=(1, 1), bending_stiffness=EI, boundary=boundary, nodes=nodes, masses="lumped"
        ).resolved(SI, "body 'rod'")
        # The softest bends along z, which has the lower stiffness.
        scale = shapes.shapes[-1, 2, 0] / theory.shapes[-1, 2, 1]
        np.testing.assert_allclose(shapes.shapes[:, 2, 0], scale * theory.shapes[:, 2, 1], rtol=0, atol=5e-3)
        np.testing.assert_allclose(shapes.rotations[:, 1, 0], scale * theory.rotations[:, 1, 1], rtol=0, atol=1e-2)


def test_the_hessian_of_a_network_as_a_matrix_gives_the_modes_of_the_network():
    x, m = ball(np.random.default_rng(11), 40)
    pairs = cKDTree(x).query_pairs(2.5, output_type="ndarray")
    K = 2.0 * network_hessian(x, pairs)
    of_matrix = ar.modes.from_matrices(x, sparse.diags_array(np.repeat(m, 3)), K, modes=5, handle=3)
    of_network = ar.modes.elastic_network(positions=x, masses=m, cutoff=2.5, spring_constant=2.0, modes=5, handle=3)
    np.testing.assert_allclose(of_matrix.stiffness, of_network.stiffness, rtol=1e-9)
    np.testing.assert_allclose(of_matrix.shapes, of_network.shapes, rtol=0, atol=1e-9)
    np.testing.assert_allclose(of_matrix.rotations, of_network.rotations, rtol=0, atol=1e-8)


def test_a_solid_held_at_three_nodes_has_the_modes_of_its_rest():
    x, m = ball(np.random.default_rng(12), 30)
    K = network_hessian(x, cKDTree(x).query_pairs(2.5, output_type="ndarray"))
    held = [4, 7, 20]
    modes = ar.modes.from_matrices(x, m, K, modes=4, handle=7, clamped=held)
    rest = np.setdiff1d(np.arange(30), held)
    at = (3 * rest[:, None] + np.arange(3)).ravel()
    values = scipy.linalg.eigh(K.toarray()[np.ix_(at, at)], np.diag(np.repeat(m[rest], 3)), eigvals_only=True)
    np.testing.assert_allclose(natural_frequencies(modes) ** 2, values[:4], rtol=1e-10)
    modes.resolved(SI, "body 'solid'")


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"mass": np.ones((12, 12))}, "mass: the matrix is not diagonal; lump it"),
        ({"mass": np.diag(np.arange(1.0, 13.0))}, "the masses of a node in x, y and z must be equal"),
        ({"mass": -np.ones(4)}, "node 0: mass must be positive, got -1"),
        ({"stiffness": np.eye(5)}, r"a matrix of 12 or 24 rows, got \(5, 5\)"),
        ({"stiffness": np.triu(np.ones((12, 12)))}, "stiffness: the matrix is not symmetric"),
        ({"stiffness": np.full((12, 12), np.nan)}, "stiffness: the matrix contains numbers that are not finite"),
        ({"stiffness": np.eye(12)}, "it resists rigid motion"),
        ({"stiffness": "soft"}, "stiffness: expected a matrix of numbers"),
        ({"clamped": [1, 2, 3]}, r"clamped: expected nodes from 0 to 3, including handle 1 \(node 0\)"),
        ({"clamped": [0]}, "nothing resists a motion"),
        ({"modes": 7}, "7 modes were requested, but 4 nodes have only 6 non-rigid motions"),
    ],
)
def test_matrices_that_are_of_no_body_are_refused_by_name(changes, message):
    K = network_hessian(TETRAHEDRON, np.array([[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]])).toarray()
    given: dict[str, Any] = {"positions": TETRAHEDRON, "mass": np.ones(4), "stiffness": K, "modes": 2}
    with pytest.raises(ModelError, match=f"from_matrices.*{message}"):
        ar.modes.from_matrices(**given | changes)


def test_a_stiffness_that_pushes_apart_is_refused():
    K = -network_hessian(TETRAHEDRON, np.array([[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]]))
    with pytest.raises(ModelError, match="the stiffness has the negative eigenvalue"):
        ar.modes.from_matrices(TETRAHEDRON, np.ones(4), K, modes=2)


def test_lowest_modes_are_the_same_to_the_bit_every_time():
    x, m = ball(np.random.default_rng(13), 150)
    K = network_hessian(x, cKDTree(x).query_pairs(2.5, output_type="ndarray"))
    options: dict[str, Any] = {"free": True, "fault": ModelError, "label": str}
    first, second = (lowest_modes(x, m, K, 6, **options) for _ in range(2))
    assert all(np.array_equal(a, b) for a, b in zip(first, second, strict=True))
