"""The examples in the documentation run, and give what they say."""

from __future__ import annotations

import dataclasses
import doctest
import importlib
import re
import shlex
from pathlib import Path

import numpy as np
import pytest

import articulon

ROOT = Path(__file__).parents[2]
PACKAGE = Path(articulon.__file__).parent

WITH_EXAMPLES = sorted(
    ".".join(("articulon", *path.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(".__init__")
    for path in PACKAGE.rglob("*.py")
    if ">>> " in path.read_text(encoding="utf-8")
)


@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_the_examples_of_a_module_give_what_they_say(name):
    results = doctest.testmod(importlib.import_module(name), optionflags=doctest.NORMALIZE_WHITESPACE)
    assert results.attempted > 0
    assert results.failed == 0


def test_the_model_of_the_readme_falls_as_a_whole():
    """From rest in uniform gravity every body of a free tree falls alike, so no joint moves."""
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    names: dict = {}
    exec(blocks[0], names)
    expected = np.zeros(9)
    expected[2] = -9.81e-6
    # Rounding of the weight, 2^-53 in each of some ten operations, becomes angular acceleration by the arm's mass times
    # its lever over its least inertia, 0.2 · 0.05 / 2e-5 = 500 per unit of length.
    np.testing.assert_allclose(names["udot"], expected, rtol=0, atol=10 * 2**-53 * 500 * 9.81e-6)


@pytest.mark.slow
def test_the_examples_on_grains_run_as_they_are_printed(tmp_path, monkeypatch):
    """Python in its order, and the case files with it, whose mesh the Python writes."""
    pytest.importorskip("trimesh")
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "docs" / "grains.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```(python|toml)\n(.*?)```", text, re.DOTALL)
    names: dict = {}
    for language, block in blocks:
        if language == "python" and "import freud" not in block:
            exec(block.replace("simulate(model, 0.5,", "simulate(model, 0.002,"), names)
    assert names["height"].shape == (101,) and names["b"].build().bodies == 3
    cases = [block for language, block in blocks if language == "toml" and "[run]" in block]
    for k, block in enumerate(cases):
        (tmp_path / f"case{k}.toml").write_text(block, encoding="utf-8")
        found = articulon.analysis.analyse_contacts(articulon.load_case(tmp_path / f"case{k}.toml"))
        assert found.step is not None and 0.9 < found.step / found.scales.recommended < 1.0
    assert len(cases) == 2


def blocks_of(page: str) -> list[str]:
    """The blocks of Python on a page of the documentation."""
    return re.findall(r"```python\n(.*?)```", (ROOT / "docs" / page).read_text(encoding="utf-8"), re.DOTALL)


@pytest.mark.slow
def test_force_fields_water_and_exchange_of_a_molecule_run_as_they_are_printed(tmp_path, monkeypatch):
    """The Python of the page in its order, but for ligands, whose file is on the Internet, and for what reads a run."""
    pytest.importorskip("gemmi")
    pytest.importorskip("openmm")
    monkeypatch.chdir(tmp_path)
    names: dict = {}
    models = []
    for block in blocks_of("molecules.md"):
        if "1hvr.pdb" in block or "runs/trp-zipper" in block:
            continue
        if "replica_exchange" in block:
            names["model"] = models[1]
        # Less water, and a few exchanges of the peptide without it.
        shorter = block.replace('padding="1 nm"', 'padding="0.4 nm"').replace(
            '"1 ns", every="2 ps"', '"80 fs", every="20 fs"'
        )
        exec(shorter, names)
        models.append(names["model"])
    _, ours, by_openmm, in_water, _ = models
    assert ours.nq == by_openmm.nq < in_water.nq
    assert articulon.potential_energy(by_openmm, ours.q0) == pytest.approx(
        articulon.potential_energy(ours, ours.q0), rel=1e-5
    )
    assert len(names["exchange"].runs) == 4 and names["exchange"].walkers.shape == (4, 4)


@pytest.mark.slow
def test_what_comes_out_of_a_run_of_a_molecule_is_as_it_is_printed(tmp_path, monkeypatch):
    pytest.importorskip("openmm")
    pytest.importorskip("MDAnalysis")
    from typer.testing import CliRunner

    from articulon.cli import app

    monkeypatch.chdir(tmp_path)
    changes = {"run.duration": "0.8 ps", "run.frames": 200, "run.minimise": False}
    articulon.run("trp-zipper", overrides=changes, out="runs/trp-zipper", report=False)
    names: dict = {"ar": articulon}
    for block in blocks_of("molecules.md"):
        if "runs/trp-zipper" in block or "strand.pdb" in block:
            # Entry 1LE1 of the PDB is not among the files of the tests: the strand has its atoms and names.
            exec(block.replace("1le1.pdb", "strand.pdb"), names)
    assert names["x"].shape == (201, 220, 3) and names["u"].trajectory.n_frames == names["phi"].size == 201
    text = (ROOT / "docs" / "molecules.md").read_text(encoding="utf-8")
    commands = re.findall(r"^articulon (export [^#\n]*)", text, re.MULTILINE)
    for command in commands:
        result = CliRunner().invoke(app, shlex.split(command))
        assert result.exit_code == 0, result.output
    assert Path("clusters/cluster-1.pdb").is_file() and names["memory"].effective_samples.min() > 0.0
    assert len(commands) == 4 and Path("backbone.dcd").is_file()
    assert {path.name for path in Path("runs/trp-zipper").iterdir()} >= {"atoms.xtc", "atoms.pdb", "coordinates.csv"}


def test_the_domains_that_the_page_on_molecules_shows_are_those_of_adenylate_kinase():
    pytest.importorskip("gemmi")
    files = pytest.importorskip("MDAnalysisTests.datafiles")
    from articulon.molecules import build, perceive, read_structure

    text = (ROOT / "docs" / "molecules.md").read_text(encoding="utf-8")
    found = re.search(r"\| `domain` \|.*?`(\[.*?\])`", text)
    assert found is not None
    read = read_structure(files.PDB_small)
    structure = dataclasses.replace(read, residues=tuple(r._replace(chain="A") for r in read.residues))
    articulation = perceive(structure, level="domain", domains=eval(found[1]))
    sizes = sorted(np.bincount(articulation.cluster).tolist())[-3:]
    assert sum(sizes) > 0.95 * len(structure) and len(articulation.loops) == 2
    assert build(structure, articulation).closing.residual < 1e-10
