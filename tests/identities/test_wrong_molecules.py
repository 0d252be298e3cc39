"""Calls of what makes molecules with arguments that cannot be meant: each is refused, whatever it is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import articulon as ar
from articulon import molecules
from articulon.errors import ArticulonError

pytest.importorskip("gemmi")
pytest.importorskip("openmm")
WRONG: list[Any] = [
    "rubbish", -1.5, float("nan"), float("inf"), 10**400, b"x", object(), [1, "a"], {"a": 1}, ["rubbish"], [None],
    np.array(["a"]), "x\0y", [["a"]],
]  # fmt: skip
"""None of these is a value of any argument below, but for those in MEANT."""
MEANT = {
    ("build", "charges"): (float,),
    ("populate", "charges"): (float,),
    ("peptide", "chain"): (str,),
    ("peptide", "phi"): (float,),
    ("peptide", "psi"): (float,),
    ("peptide", "omega"): (float,),
}
"""Arguments that may be any of a type."""


@pytest.fixture(scope="module")
def calls(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Callable[..., Any], dict[str, Any], list[str]]]:
    """By name: the function, arguments with which it works, and those that are spoilt."""
    folder = tmp_path_factory.mktemp("files")
    structure = molecules.peptide(["ACE", "ALA", "NME"])
    cut = molecules.perceive(structure)
    molecules.write_structure(structure, folder / "a.pdb")
    both = {"structure": structure, "articulation": cut}
    options = ["structure", "name", "solvent", "cutoff", "files"]

    def populated(**given: Any) -> Any:
        return molecules.populate(**({"builder": ar.ModelBuilder(units="Da-nm-ps")} | given))

    return {
        "read_structure": (
            molecules.read_structure,
            {"path": folder / "a.pdb"},
            ["path", "model", "altloc", "chains", "leave_out", "add_missing", "accept", "box", "protonation", "ligands"]
            + ["limit"],
        ),
        "perceive": (
            molecules.perceive,
            {"structure": structure},
            ["structure", "level", "omega", "disulfides", "domains", "rings", "locked"],
        ),
        "peptide": (
            molecules.peptide,
            {"sequence": "AA"},
            ["sequence", "phi", "psi", "omega", "chi", "chain", "accept"],
        ),
        "force_field": (molecules.force_field, {"structure": structure}, [*options, "articulation"]),
        "openmm_system": (molecules.openmm_system, {"structure": structure}, options),
        "build": (
            molecules.build,
            both,
            [*both, "force_field", "solvent", "cutoff", "files", "charges", "kinds", "forces"],
        ),
        "populate": (populated, both, ["builder", *both, "charges", "kinds", "sites"]),
        "force_field_model": (
            molecules.force_field_model,
            both,
            [*both, "name", "solvent", "cutoff", "files", "forces"],
        ),
        "from_system": (
            molecules.from_system,
            {"system": molecules.openmm_system(structure)},
            ["system", "articulation"],
        ),
        "stokes_drag": (molecules.stokes_drag, both | {"viscosity": "1 mPa s"}, [*both, "viscosity"]),
        "heavier_hydrogens": (
            molecules.heavier_hydrogens,
            {"structure": structure, "mass": "3 Da"},
            ["structure", "mass"],
        ),
        "write_structure": (
            molecules.write_structure,
            {"structure": structure, "path": folder / "b.pdb"},
            ["structure", "path", "positions"],
        ),
        "solvate": (
            molecules.solvate,
            {"structure": structure, "box": (2.0, 2.0, 2.0)},
            ["structure", "water", "padding", "box", "box_shape", "ionic_strength", "neutralise", "positive_ion"]
            + ["negative_ion", "force_field", "files", "seed"],
        ),
        "as_water_model": (
            molecules.as_water_model,
            {"structure": structure, "water": "tip3p"},
            ["structure", "water", "force_field"],
        ),
        "locked_bodies": (molecules.locked_bodies, both | {"locked": "backbone"}, [*both, "locked"]),
        "write_ligand_parameters": (
            molecules.write_ligand_parameters,
            {"structure": structure, "name": "ALA", "smiles": "C", "path": folder / "c.xml"},
            ["structure", "name", "smiles", "path", "charges"],
        ),
    }


NAMES = [
    "read_structure", "perceive", "peptide", "force_field", "openmm_system", "build", "populate", "force_field_model",
    "from_system", "stokes_drag", "heavier_hydrogens", "write_structure", "solvate", "as_water_model", "locked_bodies",
    "write_ligand_parameters",
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_whatever_it_is_an_argument_that_cannot_be_meant_is_refused(calls, name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    function, good, arguments = calls[name]
    if name != "write_ligand_parameters":  # which needs a ligand
        function(**good)
    for argument in arguments:
        for value in WRONG:
            finite = not isinstance(value, float) or np.isfinite(value)
            if isinstance(value, MEANT.get((name, argument), ())) and finite:
                continue
            with pytest.raises(ArticulonError) as caught:
                function(**(good | {argument: value}))
            assert len(str(caught.value)) < 1000, (argument, value)
    assert not list(Path(tmp_path).iterdir())
