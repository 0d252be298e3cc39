"""The receptor site of the Ebola virus glycoprotein: what its side chains are, and that scaling keeps what they do."""

import math
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

import articulon as ar
from articulon.cases.builders.side_chains import BACKBONE, ROTAMERS, links, place
from articulon.molecules.torsion_names import dihedral

TORSIONS = {"LEU": 4, "PHE": 2, "ARG": 4, "LYS": 5}
"""Single bonds of each side chain about which something turns: a methyl and an ammonium group count, a ring and a
guanidinium group do not."""
ATOMS = {"LEU": "CCCCHHHHHHHHH", "PHE": "CCCCCCCHHHHHHH", "ARG": "CCCCNNN" + "H" * 11, "LYS": "CCCCN" + "H" * 11}
"""Elements of each side chain without its alpha carbon, at neutral pH."""
RINGS = {"LEU": 0, "PHE": 1, "ARG": 0, "LYS": 0}


def torsion(*four: np.ndarray) -> float:
    return dihedral(np.array(four), (0, 1, 2, 3))


def atoms(residue: str) -> dict[str, np.ndarray]:
    chi = [math.radians(angle) for angle in ROTAMERS[residue]]
    return {"CA": BACKBONE["CA"], **place(residue, BACKBONE, chi)}


@pytest.mark.parametrize("residue", TORSIONS)
def test_a_side_chain_has_the_atoms_and_the_single_bonds_of_its_residue(residue: str) -> None:
    found = links(residue)
    assert len(found) == TORSIONS[residue]
    names = [atom for link in found for atom in link.atoms]
    assert sorted(name[0] for name in names) == sorted(ATOMS[residue])
    assert set(names) == set(atoms(residue)) - {"CA"}
    for k, link in enumerate(found):
        assert link.parent in {"", *(before.name for before in found[:k])}


@pytest.mark.parametrize("residue", TORSIONS)
def test_its_bonds_are_as_many_and_as_long_as_they_are(residue: str) -> None:
    """A tree of n atoms has n − 1 bonds and each ring one more; what is not bonded is farther than any bond."""
    placed = atoms(residue)
    heavy = {a: x for a, x in placed.items() if a[0] != "H"}
    bonds = [np.linalg.norm(heavy[a] - heavy[b]) for a, b in combinations(heavy, 2)]
    bonds = [d for d in bonds if d < 0.18]
    assert len(bonds) == len(heavy) - 1 + RINGS[residue]
    assert min(bonds) > 0.130 and max(bonds) < 0.155
    hydrogens = [x for a, x in placed.items() if a[0] == "H"]
    for x in hydrogens:
        near = sorted(np.linalg.norm(y - x) for a, y in heavy.items())
        assert 0.1 < near[0] < 0.11 and near[1] > 0.18
    assert min(np.linalg.norm(x - y) for x, y in combinations(hydrogens, 2)) > 0.16


def test_residues_are_left_handed_by_their_rule_and_rings_flat() -> None:
    """Looking from CB to CA, N, C and the hydrogen: (N − CA) × (C − CA) points to the side of CB in an L-amino acid."""
    placed = atoms("PHE")
    across = np.cross(BACKBONE["N"], BACKBONE["C"])
    assert across @ placed["CB"] > 0.0
    ring = np.array([placed[a] for a in ("CG", "CD1", "CE1", "CZ", "CE2", "CD2", "HZ", "HD1", "HE2")])
    assert np.linalg.svd(ring - ring.mean(axis=0))[1][2] < 1e-3
    for residue in TORSIONS:
        x = {**BACKBONE, **atoms(residue)}
        assert torsion(x["N"], x["CA"], x["CB"], x["CG"]) == pytest.approx(math.radians(ROTAMERS[residue][0]))


def test_the_methyl_groups_of_leucine_have_their_names() -> None:
    """CD1 is pro-R by IUPAC's rule, so that CD2 follows it by a third of a turn about the bond from CB to CG,
    as in crystal structures."""
    x = {**BACKBONE, **atoms("LEU")}
    one, two = (torsion(x["CA"], x["CB"], x["CG"], x[name]) for name in ("CD1", "CD2"))
    assert math.degrees(two - one) % 360.0 == pytest.approx(120.0, abs=5.0)


def test_the_model_is_that_of_the_table() -> None:
    model = ar.load_case("ebola-receptor").build_model()
    assert model.nu == 1 + sum(TORSIONS[r] for r in ("LEU", "LEU", "ARG", "PHE", "LYS")) + 3
    total = {"C": 1.994e-2, "N": 2.326e-2, "H": 1.674e-3}
    lysine = [k for k, name in enumerate(model.names) if name.startswith("K95-")]
    assert model.masses[lysine].sum() == pytest.approx(sum(total[e] for e in ATOMS["LYS"]))
    charges = model.sites.charge
    assert charges[charges > 0].sum() == pytest.approx(2.0) and charges.sum() == pytest.approx(0.0)
    assert ar.forces.brownian.brownian_of(model) is None


def test_turning_a_joint_is_turning_the_bond() -> None:
    """Angles of joints add to the torsions of the rotamer, whose atoms `place` puts there."""
    model = ar.load_case("ebola-receptor").build_model()
    q = model.q0.copy()
    index = {name: k for k, name in enumerate(model.names)}
    turned = {"K95-CB": 0.3, "K95-CG": -0.7, "K95-CD": 1.1, "K95-CE": 0.4}
    for name, angle in turned.items():
        q[model.forest.q_start[model.link[index[name]]]] += angle
    before, after = (ar.body_poses(model, x) for x in (model.q0, q))

    def atom(poses: tuple[np.ndarray, np.ndarray], body: str) -> np.ndarray:
        """The atom that a link's bond leads to turns about that bond and stays on it: it is the next link's origin."""
        return poses[0][index[body]]

    chain = ["K95-CB", "K95-CG", "K95-CD", "K95-CE", "K95-NZ"]
    for k, name in enumerate(["K95-CG", "K95-CD"]):
        four = [chain[k], chain[k + 1], chain[k + 2], chain[k + 3]]
        first, then = (torsion(*(atom(poses, body) for body in four)) for poses in (before, after))
        assert math.remainder(then - first - turned[name], 2.0 * math.pi) == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"model.residues": ["L57", "X1"]}, "expected one of L, F, R, K and a number"),
        ({"model.residues": ["L57", "L57"]}, "a residue is named twice"),
        ({"model.site_radius": "3 nm"}, "smaller than the radius of the bulk"),
        ({"model.masses.C": "-1 zg"}, "model.masses"),
    ],
)
def test_what_cannot_be_built_is_named(change: dict, reason: str) -> None:
    with pytest.raises(ar.ArticulonError, match=reason):
        ar.load_case("ebola-receptor", change).build_model()


def as_pdb(model: ar.Model, file: Path, *, without: str = "") -> None:
    """Heavy atoms of a built site in a frame of its own, as a PDB file of chain B with residues far apart, and alpha
    carbons of glycines in the bulk."""
    case = ar.load_case("ebola-receptor").model_declaration
    turn = np.linalg.qr(np.random.default_rng(4).normal(size=(3, 3)))[0]
    turn *= np.linalg.det(turn)
    atoms = [("GLY", 100 + k, "CA", x) for k, x in enumerate(np.random.default_rng(5).normal([2.0, 0, 0], 1.0, (9, 3)))]
    for name, backbone in zip(case.residues, case._backbones(1.0), strict=True):
        heavy = {**backbone.atoms, **place(backbone.residue, backbone.atoms, backbone.torsions)}
        kept = [(atom, x) for atom, x in heavy.items() if atom[0] != "H" and f"{name}:{atom}" != without]
        atoms += [(backbone.residue, int(name[1:]), atom, x) for atom, x in kept]
    lines = []
    for k, (residue, number, atom, x) in enumerate(atoms):
        a, b, c = 10.0 * (turn @ x + [1.0, -2.0, 0.5])
        place_of = f"ATOM  {k + 1:5d}  {atom:<3s} {residue} B{number:4d}    "
        lines.append(f"{place_of}{a:8.3f}{b:8.3f}{c:8.3f}  1.00  0.00           {atom[0]}")
    file.write_text("\n".join([*lines, "END"]) + "\n")


def test_a_structure_gives_backbones_and_torsions(tmp_path: Path) -> None:
    """What is written to a PDB file comes back, moved as a whole, to the 0.001 Å that the file keeps of each atom."""
    default = ar.load_case("ebola-receptor").build_model()
    as_pdb(default, tmp_path / "site.pdb")
    changes = {"model.structure": str(tmp_path / "site.pdb"), "model.chain": "B"}
    found = ar.load_case("ebola-receptor", changes).build_model()
    assert found.names == default.names

    def atoms(model: ar.Model) -> np.ndarray:
        positions, rotations = ar.body_poses(model, model.q0)
        own = model.sites.group == model.sites.groups.index("receptor")
        body = model.sites.body[own]
        assert np.abs(rotations[body, 1:]).max() == 0.0  # frames are parallel at the start
        return positions[body] + model.sites.position[own]

    a, b = atoms(default), atoms(found)
    distances = [np.linalg.norm(x[:, None] - x, axis=2) for x in (a, b)]
    assert np.abs(distances[0] - distances[1]).max() < 3e-3
    middle = b.mean(axis=0)
    assert middle[0] > 2.5


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"model.chain": "B", "model.residues": ["L58"]}, "chain B has no residue 58"),
        ({"model.chain": "B", "model.residues": ["F57"]}, "residue B:LEU57 is not PHE"),
        ({"model.chain": "B"}, "residue B:LYS95 lacks CE"),
    ],
)
def test_what_a_structure_lacks_is_named(change: dict, reason: str, tmp_path: Path) -> None:
    as_pdb(ar.load_case("ebola-receptor").build_model(), tmp_path / "site.pdb", without="K95:CE")
    with pytest.raises(ar.ArticulonError, match=reason):
        ar.load_case("ebola-receptor", {"model.structure": str(tmp_path / "site.pdb"), **change}).build_model()


@pytest.mark.slow
def test_scaled_by_a_thousand_it_does_the_same_a_little_later(tmp_path: Path) -> None:
    """Constant a2 = 1e-3 against the unscaled friction-implicit rule over 0.6 ns: the particle is late by its own
    relaxation time, 16 ps, and what little that of the others adds; the angles are the same within 0.01 rad."""
    short = {"run.duration": "0.6 ns", "run.frames": 60}
    implicit = {"integrator": {"rule": "friction-implicit", "step": "20 fs"}, "scaling": {"policy": "none"}}
    runs = {
        name: ar.run(ar.load_case("ebola-receptor", {**short, **change}), tmp_path / name, report=False)
        for name, change in (("scaled", {}), ("true", implicit))
    }
    scaled, true = (runs[name].q for name in ("scaled", "true"))
    times = runs["true"].times
    assert np.abs(scaled - true)[:, :-3].max() < 0.01
    velocity = np.gradient(true[:, -3], times)
    late = (scaled - true)[30:, -3] / -velocity[30:]
    relaxation = 1e3 * 0.4 / (6.0 * math.pi * 890.0 * 1.5)
    assert 0.8 * relaxation < late.mean() < 2.5 * relaxation
    assert runs["scaled"].summary["energy_balance_error_relative"] < 1e-6
