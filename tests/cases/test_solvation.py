"""Boxes of water and ions: what is in them, that they are the same every time, and what is refused."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

pytest.importorskip("gemmi")
pytest.importorskip("openmm")

import articulon as ar
from articulon import molecules
from articulon.errors import CaseError, ModelError
from articulon.molecules.boxes import box_of
from articulon.molecules.editing import edited
from articulon.molecules.structure import Structure
from articulon.molecules.system_making import total_charge

GEOMETRY = {
    "tip3p": (0.09572, 104.52),
    "spce": (0.1, 109.47),
    "tip4pew": (0.09572, 104.52),
    "opc": (0.08724, 103.6),
    "tip3pfb": (0.101181, 108.1484),
}
"""O-H [nm] and H-O-H [°] of the models, as they were published."""


@pytest.fixture(scope="module")
def dipeptide() -> Structure:
    return molecules.peptide(["ACE", "ALA", "NME"])


def counts(structure: Structure) -> Counter[str]:
    return Counter(residue.name for residue in structure.residues)


@pytest.mark.parametrize("water", GEOMETRY)
def test_water_has_its_models_geometry(dipeptide, water):
    wet = molecules.solvate(dipeptide, water, box=(2.0, 2.0, 2.0))
    assert np.array_equal(wet.positions[: len(dipeptide)], dipeptide.positions)
    rows = np.array([range(r.start, r.stop) for r in wet.residues if r.kind == "water"])
    arms = wet.positions[rows[:, 1:]] - wet.positions[rows[:, :1]]
    lengths = np.linalg.norm(arms, axis=2)
    cosines = np.einsum("ki,ki->k", arms[:, 0], arms[:, 1]) / lengths.prod(axis=1)
    length, angle = GEOMETRY[water]
    # To the digits that are published.
    assert np.abs(lengths - length).max() < 1e-5
    assert np.abs(np.degrees(np.arccos(cosines)) - angle).max() < 0.01
    # 33.4 molecules in a cubic nanometre, less those in whose place the solute is, of 0.1 to 0.15 nm³ and its surface.
    assert 200 < counts(wet)["HOH"] < 267


def test_the_same_input_gives_the_same_box(dipeptide):
    charged = molecules.peptide("AKA")
    boxes = []
    for _ in range(2):
        random.seed()  # what others do with Python's own numbers has no part in it
        boxes.append(molecules.solvate(charged, padding=0.8, ionic_strength=0.3))
    one, two = boxes
    assert np.array_equal(one.positions, two.positions) and one.elements == two.elements
    other = molecules.solvate(charged, padding=0.8, ionic_strength=0.3, seed=2)
    assert len(other) == len(one) and not np.array_equal(other.positions, one.positions)
    random.seed(5)
    before = random.getstate()
    molecules.solvate(charged, padding=0.8, ionic_strength=0.3)
    assert random.getstate() == before


@pytest.mark.parametrize("positive, negative", [("Na+", "Cl-"), ("K+", "Br-")])
def test_ions_neutralise_and_make_the_strength_that_is_asked_for(positive, negative):
    wet = molecules.solvate(
        molecules.peptide("KAKA"), box=(3, 3, 3), ionic_strength=0.5, positive_ion=positive, negative_ion=negative
    )
    found = counts(wet)
    # Pairs by OpenMM's rule: 55.4 mol/l of water, of which two molecules in any case become ions.
    plus, minus = found[positive[:-1].upper()], found[negative[:-1].upper()]
    water = found["HOH"] + plus + minus
    assert minus - plus == 2 and plus == round((water - 2) * 0.5 / 55.4)
    assert abs(total_charge(molecules.openmm_system(wet, solvent="tip3p"))) < 1e-3
    articulation = molecules.perceive(wet)
    assert articulation.joint.count("xyz") == plus + minus and articulation.joint.count("free") == found["HOH"] + 1
    assert {r.chain for r in wet.residues if r.kind == "water"} == {"W"}
    assert {r.chain for r in wet.residues if r.kind == "ion"} == {"I"}


@pytest.mark.parametrize("shape, share", [("cube", 1.0), ("octahedron", 4 * 3**0.5 / 9), ("dodecahedron", 0.5**0.5)])
def test_shapes_hold_less_water_at_the_same_distance_between_images(dipeptide, shape, share):
    """An octahedron's volume is 4√3/9 of the cube's with the same distance between images, a dodecahedron's 1/√2."""
    wet = molecules.solvate(dipeptide, padding=1.0, box_shape=shape)
    radius = np.linalg.norm(
        dipeptide.positions - 0.5 * (dipeptide.positions.min(axis=0) + dipeptide.positions.max(axis=0)), axis=1
    ).max()
    assert wet.box.volume == pytest.approx(share * max(2 * radius + 1.0, 2.0) ** 3, rel=1e-12)
    shifts = np.array(np.meshgrid(*[(-1, 0, 1)] * 3)).reshape(3, -1).T @ wet.box.vectors
    nearest = np.sort(np.linalg.norm(shifts, axis=1))[1]
    assert nearest == pytest.approx(max(2 * radius + 1.0, 2.0), rel=1e-12)
    model = molecules.build(wet, molecules.perceive(wet))
    assert np.array_equal(model.box.vectors, wet.box.vectors)


@pytest.mark.parametrize(
    "keys, message",
    [
        ({}, "give either padding, a distance, or box"),
        ({"padding": 1.0, "box": (3, 3, 3)}, "give either padding, a distance, or box"),
        ({"padding": -1.0}, "padding: must be positive"),
        ({"padding": "1 ps"}, "expected a length"),
        ({"padding": 1000.0}, "would hold about .* atoms, more than the limit of 3000000"),
        ({"box": (0.7, 0.7, 0.7)}, "the box of 0.7 x 0.7 x 0.7 nm is too small: A:.* nm from a periodic image"),
        ({"box": (3, 3)}, "lengths"),
        ({"box": "file"}, "expected three lengths"),
        ({"box": (3, 3, 3), "box_shape": "octahedron"}, "'octahedron' applies to padding only"),
        ({"padding": 1.0, "box_shape": "ball"}, "box_shape: expected one of 'cube'"),
        ({"padding": 1.0, "positive_ion": "Zn2+"}, "positive_ion: expected one of 'Cs\\+', 'K\\+'"),
        ({"padding": 1.0, "negative_ion": "Na+"}, "negative_ion: expected one of 'Br-'"),
        ({"padding": 1.0, "ionic_strength": -0.1}, "ionic_strength: expected mol/l"),
        ({"padding": 1.0, "ionic_strength": 10.0}, "too little water for this many ions"),
        ({"padding": 1.0, "water": "tip9p"}, "water: expected one of 'tip3p'"),
        ({"padding": 1.0, "water": "tip4p2005"}, "OpenMM has no parameters of tip4p2005 for amber14"),
    ],
)  # fmt: skip
def test_boxes_that_cannot_be_are_refused(dipeptide, keys, message):
    with pytest.raises(ModelError, match=message):
        molecules.solvate(dipeptide, **keys)


def test_charged_boxes_are_refused():
    with pytest.raises(ModelError, match=r"has a charge of .3 e, but a periodic box must be neutral"):
        molecules.solvate(molecules.peptide("KKK"), padding=1.0, neutralise=False)
    wet = molecules.solvate(molecules.peptide(["ACE", "LYS", "NME"]), box=(2.2, 2.2, 2.2))
    last = wet.residues[-1]
    assert last.name == "CL"
    bare = edited(wet, {}, [last.start])
    with pytest.raises(ModelError, match=r"the box has a charge of \+1 e"):
        molecules.openmm_system(replace(bare, residues=bare.residues[:-1]), solvent="tip3p")


def test_boxes_too_small_for_the_cutoff_are_refused(dipeptide):
    wet = molecules.solvate(dipeptide, box=(2.0, 2.0, 2.0))
    with pytest.raises(ModelError, match=r"1.2 nm is more than half of the narrowest width of the box .*, 2 nm"):
        molecules.openmm_system(wet, solvent="tip3p", cutoff=1.2)
    with pytest.raises(ModelError, match="obc2 is an implicit solvent"):
        molecules.openmm_system(wet, solvent="obc2")


def test_a_box_of_a_file_is_read_and_water_that_overlaps_across_it_is_not(dipeptide, tmp_path):
    wet = molecules.solvate(dipeptide, padding=1.0, box_shape="dodecahedron")
    molecules.write_structure(wet, tmp_path / "wet.pdb")
    # Three digits of an ångström, and two of the angles of 60°, 60° and 90°.
    assert np.abs(molecules.read_structure(tmp_path / "wet.pdb", box="file").box.vectors - wet.box.vectors).max() < 4e-4
    molecules.write_structure(dipeptide, tmp_path / "dry.pdb")
    with pytest.raises(ModelError, match="no CRYST1 record or cell"):
        molecules.read_structure(tmp_path / "dry.pdb", box="file")
    lines = (tmp_path / "wet.pdb").read_text().splitlines(keepends=True)
    text = "".join(line for line in lines if not line.startswith("CRYST1"))
    width = 10.0 * float(wet.box.lengths[0])

    def written(scale: float, group: str = "P 1") -> Any:
        a = scale * width
        (tmp_path / "boxed.pdb").write_text(
            f"CRYST1{a:9.3f}{a:9.3f}{a:9.3f}  60.00  60.00  90.00 {group:11s}   1\n{text}"
        )
        return molecules.read_structure(tmp_path / "boxed.pdb", box="file")

    # Three digits of an ångström, and the tilts of the rhombic dodecahedron, to which 60°, 60° and 90° belong.
    assert np.abs(written(1.0).box.vectors - wet.box.vectors).max() < 1e-4
    assert molecules.read_structure(tmp_path / "boxed.pdb").box is None
    with pytest.raises(ModelError, match=r"W:HOH.* and a periodic image of .* nm apart"):
        written(0.9)
    with pytest.raises(ModelError, match=r"the cell is that of a crystal .P 21 21 21."):
        written(1.0, "P 21 21 21")


def test_edges_are_brought_within_half_of_each_other():
    box = box_of([[2.0, 0, 0], [1.5, 2.0, 0], [-1.7, 1.4, 2.0]])
    lengths, tilts = np.array(box.lengths), np.array(box.tilts)
    assert np.array_equal(lengths, [2.0, 2.0, 2.0]) and np.abs(tilts).max() <= 1.0
    # The same lattice: each edge is a whole combination of the given ones.
    whole = np.linalg.solve(np.array([[2.0, 0, 0], [1.5, 2.0, 0], [-1.7, 1.4, 2.0]]).T, box.vectors.T)
    assert np.abs(whole - np.rint(whole)).max() < 1e-12
    with pytest.raises(ModelError, match="three edges"):
        box_of(np.ones((3, 3)))


CASE = """
[case]
units = "Da-nm-ps"
[model]
builder = "molecule"
sequence = ["ACE", "ALA", "NME"]
{}
[run]
duration = "2 fs"
[integrator]
rule = "friction-implicit"
step = "1 fs"
"""
WET = 'force_field = "amber14"\nsolvent = "tip3p"\n'


@pytest.mark.parametrize(
    "keys, message",
    [
        (WET + 'padding = "1 nm"\nbox = ["3 nm", "3 nm", "3 nm"]', "padding and box both set"),
        ('force_field = "amber14"\npadding = "1 nm"', "need a water model, and 'vacuum' is not one"),
        ('force_field = "amber14"\nsolvent = "obc2"\npadding = "1 nm"', "need a water model, and 'obc2' is not one"),
        (WET + 'box = "file"', "box = 'file' needs a structure file"),
        (WET + 'box = ["3 nm", "3 nm", "3 nm"]\nbox_shape = "octahedron"', "box_shape applies to a padding"),
        (WET + "ionic_strength = 0.1", "ionic_strength applies to added water"),
        (WET + 'padding = "1 nm"\npositive_ion = "Zn2+"', "positive_ion: unknown word 'Zn2\\+' .known: Cs\\+"),
        (WET + 'padding = "1 nm"\nsolvent2 = "x"', "solvent2"),
        ('force_field = "amber14"\nsolvent = "tip9p"', "model.solvent: expected"),
    ],
)  # fmt: skip
def test_a_case_refuses_what_cannot_be(tmp_path, keys, message):
    (tmp_path / "case.toml").write_text(CASE.format(keys))
    with pytest.raises(CaseError, match=message):
        ar.load_case(tmp_path / "case.toml")


def test_a_water_model_without_water_is_refused(dipeptide, tmp_path):
    """It would be a run in a vacuum under the name of a solvent."""
    message = r"model.solvent: tip3p is a water model, and .* has no water: give model.padding or model.box"
    with pytest.raises(ModelError, match=message):
        molecules.force_field_model(dipeptide, molecules.perceive(dipeptide), "amber14", solvent="tip3p")
    with pytest.raises(ModelError, match=message):
        molecules.openmm_system(dipeptide, solvent="tip3p")
    molecules.write_structure(dipeptide, tmp_path / "dry.pdb")
    from_file = CASE.replace('sequence = ["ACE", "ALA", "NME"]', 'structure = "dry.pdb"')
    for text, source in ((CASE, "case.toml"), (from_file, "dry.pdb")):
        for engine in ("articulon", "openmm"):
            (tmp_path / "case.toml").write_text(text.format(WET + f'evaluate = "{engine}"'))
            with pytest.raises(CaseError, match=message) as refused:
                ar.load_case(tmp_path / "case.toml").build_model()
            assert source in str(refused.value)


def test_a_case_has_the_box_that_its_structure_has(tmp_path):
    (tmp_path / "case.toml").write_text(
        CASE.format(WET + 'box = ["2 nm", "2.2 nm", "2 nm"]\nevaluate = "openmm"\nplatform = "Reference"')
    )
    case = ar.load_case(tmp_path / "case.toml")
    model = case.build_model()
    assert np.array_equal(np.diag(model.box.vectors), [2.0, 2.2, 2.0])
    assert any("molecules of tip3p and 0 ions were added" in line for line in case.inferred)
    with pytest.raises(CaseError, match=r"the structure has its own box, and the case has a section \[box\]"):
        case.with_overrides({"box.lengths": [2.0, 2.0, 2.0]}).build_model()
