"""What must hold for the model of any molecule, whatever its torsions."""

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("gemmi")

import articulon as ar
from articulon.model.array_rotations import quaternion_product
from articulon.molecules import build, peptide, perceive, read_structure, site_positions, stokes_drag
from articulon.molecules.molecular_model import body_radii
from articulon.molecules.torsion_names import dihedral

ROUNDING = 1e-12
"""Of places a few nm apart, after some tens of rotations [nm]."""

PEPTIDES = [
    "GAVLIPFYWSTCMDNEQKRH",
    ["ACE", "PRO", "HIP", "ASH", "GLH", "LYN", "NH2"],
    ["PRO", "GLY", "TRP", "NME"],
]


def random_coordinates(model, seed=1):
    """All torsions anywhere, roots as they are."""
    q, at, rng = model.q0.copy(), 0, np.random.default_rng(seed)
    for joint in model.joints:
        if joint.nq == 1:
            q[at] = rng.uniform(-np.pi, np.pi)
        elif joint.nq == 4:
            e = rng.normal(size=4)
            q[at : at + 4] = e / np.linalg.norm(e)
        at += joint.nq
    return q


def lengths(structure, x):
    return np.linalg.norm(x[structure.bonds[:, 0]] - x[structure.bonds[:, 1]], axis=1)


@pytest.mark.parametrize("level", ["all-atom-torsion", "side-chains", "residue"])
@pytest.mark.parametrize("sequence", PEPTIDES)
def test_the_model_stands_where_the_structure_does(sequence, level):
    structure = peptide(sequence)
    model = build(structure, perceive(structure, level=level))
    assert np.abs(site_positions(model, model.q0) - structure.positions).max() < ROUNDING


@pytest.mark.parametrize("level", ["all-atom-torsion", "side-chains", "residue"])
@pytest.mark.parametrize("sequence", PEPTIDES)
def test_no_motion_changes_bonds_or_clusters(sequence, level):
    """Every bond keeps its length, every cluster its shape."""
    structure = peptide(sequence)
    articulation = perceive(structure, level=level)
    model = build(structure, articulation)
    x = site_positions(model, random_coordinates(model))
    assert np.abs(lengths(structure, x) - lengths(structure, structure.positions)).max() < ROUNDING
    for atoms in articulation.members:
        now, then = (np.linalg.norm(y[atoms][:, None] - y[atoms][None], axis=2) for y in (x, structure.positions))
        assert np.abs(now - then).max() < ROUNDING
    assert np.abs(x - structure.positions).max() > 0.5


@pytest.mark.parametrize("sequence", PEPTIDES)
def test_no_torsion_changes_a_bond_angle(sequence):
    structure = peptide(sequence)
    model = build(structure, perceive(structure, omega="free"))
    x = site_positions(model, random_coordinates(model))
    pairs = [(a, c) for bonds in structure.neighbours for a in bonds for c in bonds if a < c]
    a, c = np.array(pairs).T
    now, then = (np.linalg.norm(y[a] - y[c], axis=1) for y in (x, structure.positions))
    assert np.abs(now - then).max() < ROUNDING


@pytest.mark.parametrize("sequence", PEPTIDES)
def test_coordinates_are_the_named_dihedral_angles(sequence):
    structure = peptide(sequence)
    articulation = perceive(structure, omega="free")
    model = build(structure, articulation)
    for q in (model.q0, random_coordinates(model)):
        x = site_positions(model, q)
        angles = np.array([dihedral(x, torsion.atoms) for torsion in articulation.torsions])
        coordinates = q[[int(model.forest.q_start[model.link[t.child]]) for t in articulation.torsions]]
        assert np.abs(np.angle(np.exp(1j * (angles - coordinates)))).max() < 1e-11


@pytest.mark.parametrize("level", ["all-atom-torsion", "side-chains", "residue"])
def test_kinetic_energy_is_that_of_the_atoms(level):
    """½ u·M u = ½ Σ m v², the atoms' velocities by central differences of their places."""
    structure = peptide("ARWK")
    model = build(structure, perceive(structure, level=level))
    u = np.random.default_rng(3).normal(size=model.nu)
    h = 1e-5
    moved = [site_positions(model, _moved(model, u, sign * h)) for sign in (1.0, -1.0)]
    velocity = (moved[0] - moved[1]) / (2.0 * h)
    expected = 0.5 * structure.masses @ (velocity**2).sum(axis=1)
    # Central differences err by h² times the third derivative, |ω|³ r with |ω| of a few tens along a chain.
    assert ar.kinetic_energy(model, model.q0, u) == pytest.approx(expected, rel=1e-6)


def _moved(model, u, time):
    """Coordinates after a while at speeds, but for what is even in it, which central differences do not see."""
    q, at, k = model.q0.copy(), 0, 0
    for joint in model.joints:
        if joint.quaternion is None:
            q[at : at + joint.nq] += time * u[k : k + joint.nu]
        else:
            n = joint.quaternion
            q[at : at + n] += time * u[k : k + n]
            e = q[at + n : at + n + 4]
            e = e + 0.5 * time * quaternion_product(e, np.array([0.0, *u[k + n : k + n + 3]]))
            q[at + n : at + n + 4] = e / np.linalg.norm(e)
        at, k = at + joint.nq, k + joint.nu
    return q


def test_masses_names_and_sites():
    structure = peptide("AK")
    articulation = perceive(structure)
    model = build(
        structure, articulation, charges=np.arange(len(structure)), kinds=[f"t{k}" for k in range(len(structure))]
    )
    assert model.masses.sum() == pytest.approx(structure.masses.sum(), rel=1e-14)
    assert len(set(model.names)) == len(model.names)
    assert {"A:LYS2:CE-NZ", "A:ALA1:N-CA", "A:ALA1:CA-C"} <= set(model.names)
    assert np.array_equal(model.sites.charge, np.arange(len(structure)))
    assert [model.sites.kinds[k] for k in model.sites.kind] == [f"t{k}" for k in range(len(structure))]


def test_drag_is_that_of_spheres_of_the_bodies_sizes():
    """A single atom has its van der Waals radius, and a dumbbell of points at ±d more by (5/3) d²."""
    structure = peptide("AA")
    articulation = perceive(structure)
    radii = body_radii(structure, articulation)
    assert np.all(radii > 0.1) and np.all(radii < 0.4)
    model = build(structure, articulation, forces=[stokes_drag(structure, articulation, "0.89 mPa s")])
    _, translational, rotational = model.forces[0].coefficients(model)
    viscosity = translational / (6.0 * np.pi * radii)
    assert viscosity == pytest.approx(np.full(len(radii), viscosity[0]))
    assert rotational == pytest.approx(8.0 * np.pi * viscosity * radii**3)


@pytest.fixture(scope="module")
def toxin():
    """Cobrotoxin, whose four disulfides close overlapping loops."""
    tests = pytest.importorskip("MDAnalysisTests")
    path = Path(tests.__file__).parent / "data" / "cobrotoxin_dry_neutral_0.pdb"
    return read_structure(path, accept=["missing-hydrogens"])


@pytest.mark.parametrize("disulfides, torsions", [("loops", 3), ("welds", 0)])
def test_disulfides_close_loops(toxin, disulfides, torsions):
    """A bridge's three torsions turn or do not; each loop takes five degrees of freedom, none of them twice."""
    articulation = perceive(toxin, disulfides=disulfides)
    model = build(toxin, articulation)
    sulfur = {k for k, name in enumerate(toxin.names) if name == "SG"}
    about = [t for t in articulation.torsions if set(t.atoms[1:3]) & sulfur]
    assert len(about) == 4 * torsions and len(articulation.loops) == 4
    assert model.closing.rank == 20
    assert model.closing.residual < ROUNDING
    assert np.abs(site_positions(model, model.q0) - toxin.positions).max() < ROUNDING


def test_a_rigid_backbone_holds_its_disulfides(toxin):
    """Five torsions in a ring cannot move."""
    articulation = perceive(toxin, level="side-chains")
    assert not articulation.loops
    assert sum("the disulfide is rigid" in line for line in articulation.inferred) == 4
    for a, b in [(a, b) for a, b in toxin.bonds.tolist() if toxin.names[a] == toxin.names[b] == "SG"]:
        assert articulation.cluster[a] == articulation.cluster[b]


@pytest.mark.slow
def test_a_protein_with_disulfides_moves_without_opening_them(toxin):
    """Free motion of 293 bodies in four loops: bonds that are no joint's, those that were cut among them, keep their
    lengths. Energy is kept within the rule's tolerance, 1e-8 a step, times its some hundred steps."""
    structure = toxin
    model = build(structure, perceive(structure))
    u = 0.3 * np.random.default_rng(1).normal(size=model.nu)
    q, u = ar.close_loops(model, model.q0, u)
    motion = ar.simulate(model, 0.2, q=q, u=u, rule="dormand-prince", rtol=1e-8)
    energy = [ar.kinetic_energy(model, motion.q[k], motion.u[k]) for k in (0, -1)]
    assert energy[1] == pytest.approx(energy[0], rel=1e-6)
    x = site_positions(model, motion.q[-1])
    assert np.abs(x - structure.positions).max() > 0.1
    assert np.abs(lengths(structure, x) - lengths(structure, structure.positions)).max() < 1e-10
