"""Summaries, reports and analyses of runs of molecules, usual and unusual ones."""

from __future__ import annotations

import csv
import gzip
import json
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import articulon as ar
from articulon import cli, molecules
from articulon.conformations.conformation_summary import warning_of_few_samples
from articulon.molecules.structure import Structure
from articulon.report.html import figures
from articulon.report.molecule_words import molecule_words
from articulon.report.view import View
from tests.cases.test_analysis_of_runs import ON_MOLECULES
from tests.support.peptide_frames import peptide_model, short_run

PEPTIDE = """
[case]
title = "A peptide that turns freely"
units = "Da-nm-ps"

[model]
builder = "molecule"
sequence = ["ALA", "ALA", "GLY", "ALA", "ALA", "SER", "ALA"]

[thermostat]
kind = "langevin"
temperature = "300 K"
friction = "5 1/ps"

[integrator]
rule = "friction-implicit"
step = "5 fs"

[run]
duration = "0.2 ps"
frames = 10
speeds = "thermal"
"""
MOLECULE = {"molecule_shape", "clusters", "torsions", "torsion_correlation"}
"""Figures of any molecule with a few torsions."""
MECHANISM = {"position", "joints", "model", "forces", "works_normalised", "step_size"}
"""Figures that say nothing about one."""


@pytest.fixture(scope="module")
def peptide(tmp_path_factory: pytest.TempPathFactory) -> ar.Run:
    folder = tmp_path_factory.mktemp("peptide")
    (folder / "case.toml").write_text(PEPTIDE)
    return ar.run(folder / "case.toml", folder / "run")


def pdb(path: Path, rows: list[tuple[str, str, str, str, int, np.ndarray]]) -> Structure:
    """A structure of HETATM lines: name, element, residue, chain, number and place [nm]."""
    lines = [
        f"HETATM{n:5d} {name:^4s} {residue:>3s} {chain}{number:4d}    "
        f"{10 * x[0]:8.3f}{10 * x[1]:8.3f}{10 * x[2]:8.3f}  1.00  0.00          {element:>2s}"
        for n, (name, element, residue, chain, number, x) in enumerate(rows, start=1)
    ]
    path.write_text("\n".join([*lines, "END", ""]))
    return molecules.read_structure(path)


def cut(structure: Structure, **options: object) -> ar.Model:
    builder = ar.ModelBuilder(units="Da-nm-ps", **options)  # type: ignore[arg-type]
    molecules.populate(builder, structure, molecules.perceive(structure))
    return builder.build()


def ligand(folder: Path) -> ar.Model:
    """Hydrogen peroxide, whose one torsion turns, and nothing else."""
    places = np.array([[-0.02, 0.09, 0.0], [0.0, 0.0, 0.0], [0.145, 0.0, 0.0], [0.165, 0.03, 0.085]])
    names = (("H1", "H"), ("O1", "O"), ("O2", "O"), ("H2", "H"))
    rows = [(name, e, "PEO", "A", 1, x) for (name, e), x in zip(names, places, strict=True)]
    return cut(pdb(folder / "ligand.pdb", rows))


def water(folder: Path) -> ar.Model:
    """Twenty-seven waters in a periodic box."""
    rows = []
    for k in range(27):
        o = 0.31 * np.array([k % 3, k // 3 % 3, k // 9])
        for name, place in (("O", (0, 0, 0)), ("H1", (0.0957, 0, 0)), ("H2", (-0.024, 0.0927, 0))):
            rows.append((name, name[0], "HOH", "A", k + 1, o + np.array(place)))
    return cut(pdb(folder / "water.pdb", rows), box=ar.Box(lengths=(0.93, 0.93, 0.93)))


def nucleotides(folder: Path) -> ar.Model:
    """The first four nucleotides of a strand of RNA."""
    from MDAnalysisTests.datafiles import RNA_PDB

    with gzip.open(RNA_PDB, "rt") as stream:
        kept = [line for line in stream if line.startswith("ATOM") and int(line[22:26]) <= 4]
    (folder / "rna.pdb").write_text("".join([*kept, "END\n"]))
    accept = ("missing-atoms", "missing-hydrogens", "missing-ends", "gaps", "clashes", "bond-lengths")
    return cut(molecules.read_structure(folder / "rna.pdb", accept=accept))


def two_chains(folder: Path) -> ar.Model:
    builder = ar.ModelBuilder(units="Da-nm-ps")
    one = molecules.peptide(["ALA"] * 8)
    other = replace(
        one,
        residues=tuple(residue._replace(chain="B") for residue in one.residues),
        positions=one.positions + np.array([0.0, 1.2, 0.0]),
    )
    for structure in (one, other):
        molecules.populate(builder, structure, molecules.perceive(structure))
    return builder.build()


UNUSUAL: dict[str, tuple[Callable[[Path], ar.Model], set[str], set[str]]] = {
    "dipeptide": (lambda _: peptide_model(["ACE", "ALA", "NME"]), MOLECULE | {"ramachandran", "fluctuations"}, set()),
    "one-residue": (lambda _: peptide_model(["GLY"]), {"clusters", "molecule_shape"}, {"ramachandran"}),
    "two-chains": (two_chains, MOLECULE | {"ramachandran", "secondary_structure"}, {"water_structure"}),
    "ligand": (ligand, {"clusters", "torsions"}, {"ramachandran", "secondary_structure", "fluctuations"}),
    "nucleotides": (nucleotides, MOLECULE | {"fluctuations"}, {"ramachandran", "secondary_structure"}),
    "water": (water, {"water_structure"}, MOLECULE),
}
"""How each is made, figures that its report has, and others that it has not."""


@pytest.mark.slow
@pytest.mark.parametrize("name", UNUSUAL)
def test_reports_of_unusual_molecules_have_the_figures_that_they_can_have(name: str, tmp_path: Path) -> None:
    make, there, missing = UNUSUAL[name]
    run = short_run(make(tmp_path))
    drawn = set(figures(run))
    assert there <= drawn and not (missing | MECHANISM) & drawn
    page = run.report(tmp_path / "report.html").read_text(encoding="utf-8")
    assert "fixed in space" not in page and "isplacement" not in page
    assert f"{run.model.degrees_of_freedom} degrees of freedom" in page.replace("\u202f", "")
    json.dumps(run.summary, allow_nan=False)


@pytest.mark.slow
def test_a_run_of_one_interval_has_a_report(tmp_path: Path) -> None:
    run = short_run(peptide_model(["ACE", "ALA", "NME"]), frames=1)
    assert run.summary["molecules"]["slowest_torsion"] is None
    assert "RMSD" in run.report(tmp_path / "report.html").read_text(encoding="utf-8")


def test_means_of_few_independent_samples_come_with_a_warning() -> None:
    """Ten samples are where a mean begins to mean something."""
    for samples, warned in ((9.9, True), (10.0, False)):
        slowest = {"name": "phi:A:ALA2", "effective_samples": samples, "correlation_time": 1.0, "frames": 40}
        line = molecule_words({"slowest_torsion": slowest, "skip": 0.25})
        assert ("phi:A:ALA2, the slowest torsion, has fewer than 10 independent samples" in line) == warned
        assert "means without the first 25" in line
    assert warning_of_few_samples(None) == ""


@pytest.mark.slow
def test_the_summary_has_what_the_analyses_find(peptide: ar.Run) -> None:
    found = peptide.summary["molecules"]
    assert found["atoms"] == len(peptide.model.atoms) and found["residues"] == 7 and found["not_computed"] == {}
    late = slice(int(0.25 * 11), None)
    for name in ("rmsd", "radius_of_gyration", "end_to_end_distance"):
        values = getattr(ar.analysis, name)(peptide).values
        assert found[name]["mean"] == pytest.approx(values[late].mean(), rel=1e-12)
        assert found[name]["final"] == values[-1] and found[name]["first"] == values[0]
    parts = ar.analysis.secondary_structure(peptide).fractions[late].mean(axis=0)
    assert [found["secondary_structure"][kind] for kind in ("loop", "helix", "strand")] == pytest.approx(parts.tolist())
    assert found["secondary_structure"]["helix"] > 0.0
    assert found["hydrogen_bonds"]["mean"] == pytest.approx(ar.analysis.hydrogen_bonds(peptide).counts[late].mean())
    memory = ar.analysis.torsion_correlation(peptide, skip=0.25)
    assert found["slowest_torsion"]["name"] == memory.names[memory.slowest]
    heat = peptide.observables["temperature_kinetic"][late]
    assert found["temperature"]["mean"] == pytest.approx(heat.mean())
    assert found["temperature"]["degrees_of_freedom"] == peptide.model.degrees_of_freedom
    assert found["temperature"]["target"] == 300.0
    line = molecule_words(found)
    assert found["skip"] == 0.25 and "means without the first 25" in line
    assert found["slowest_torsion"]["effective_samples"] < 10.0 and "the region that the run happened to visit" in line
    assert line.startswith("RMSD ") and f"of {found['slowest_torsion']['name']}, the slowest" in line


@pytest.mark.slow
def test_the_report_of_a_peptide_tells_its_numbers(peptide: ar.Run) -> None:
    page = (peptide.folder / "report.html").read_text(encoding="utf-8")
    for words in (
        "radius of gyration",
        "secondary structure",
        "slowest torsion",
        "mean temperature",
        "the region that the run happened to visit",
        "without the first 25",
        'id="ramachandran"',
    ):
        assert words in page
    assert not any(f'<figure id="{name}"' in page for name in MECHANISM)


@pytest.mark.slow
def test_a_report_compares_with_a_reference(peptide: ar.Run, tmp_path: Path) -> None:
    other = tmp_path / "strand.pdb"
    stretched = molecules.peptide(["ALA", "ALA", "GLY", "ALA", "ALA", "SER", "ALA"], phi=-120.0, psi=120.0)
    molecules.write_structure(stretched, other)
    told = CliRunner().invoke(cli.app, ["report", str(peptide.folder), "--reference", str(other)])
    assert told.exit_code == 0, told.output
    assert "backbone from strand.pdb" in (peptide.folder / "report.html").read_text(encoding="utf-8")
    drawn = figures(View.of(peptide, other))["molecule_shape"].axes[0].lines[0]
    np.testing.assert_array_equal(drawn.get_ydata(), ar.analysis.rmsd(peptide, other).values)
    peptide.report()
    assert "backbone from the first frame" in (peptide.folder / "report.html").read_text(encoding="utf-8")


@pytest.mark.slow
def test_without_mdanalysis_the_report_says_what_to_install(
    peptide: ar.Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    ar.analysis.hydrogen_bonds(peptide)  # so that it has been imported
    for name in [name for name in sys.modules if name.partition(".")[0] == "MDAnalysis"]:
        monkeypatch.setitem(sys.modules, name, None)
    drawn = set(figures(peptide))
    assert MOLECULE | {"ramachandran", "fluctuations"} <= drawn
    assert not {"secondary_structure", "hydrogen_bonds"} & drawn
    page = peptide.report(tmp_path / "report.html").read_text(encoding="utf-8")
    assert "pip install 'articulon[analysis]'" in page.replace("&#x27;", "'")
    for name in ("hydrogen_bonds", "secondary_structure", "universe"):
        with pytest.raises(ar.ArticulonError, match=rf"{name} needs MDAnalysis: pip install"):
            getattr(ar.analysis, name)(peptide)
    run = short_run(peptide_model(["ACE", "ALA", "NME"]))
    assert set(run.summary["molecules"]["not_computed"]) == {"secondary_structure", "hydrogen_bonds"}
    found = ar.analysis.analyse_molecules(peptide)
    assert len(found.notes) == 2 and "hydrogen_bonds" not in found.tables


@pytest.mark.slow
def test_the_command_writes_what_it_finds(peptide: ar.Run, tmp_path: Path) -> None:
    other = tmp_path / "other.pdb"
    stretched = molecules.peptide(["ALA", "ALA", "GLY", "ALA", "ALA", "SER", "ALA"], phi=-120.0, psi=120.0)
    molecules.write_structure(stretched, other)
    folder = str(peptide.folder)
    told = CliRunner().invoke(cli.app, ["analyse", folder, "--reference", str(other), "--out", str(tmp_path / "out")])
    assert told.exit_code == 0, told.output
    assert "radius of gyration (nm)" in told.output and "slowest torsion" in told.output
    assert "means skip the first 25% of the frames" in told.output
    assert "the region that the run happened to visit" in told.output
    with (tmp_path / "out" / "time_series.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    expected = ar.analysis.rmsd(peptide, other)
    assert [float(row["time"]) for row in rows] == expected.times.tolist()
    np.testing.assert_array_equal([float(row["rmsd"]) for row in rows], expected.values)
    assert expected.values.min() > 0.1  # a helix is not a strand
    with (tmp_path / "out" / "residues.csv").open(newline="") as stream:
        residues = list(csv.DictReader(stream))
    np.testing.assert_allclose([float(row["rmsf"]) for row in residues], ar.analysis.rmsf(peptide).values, rtol=1e-12)
    figures_found = json.loads((tmp_path / "out" / "molecules.json").read_text())
    assert figures_found["temperature"]["degrees_of_freedom"] == peptide.model.degrees_of_freedom
    middle = molecules.read_structure(tmp_path / "out" / "cluster-1.pdb", accept=("clashes",))
    frame = ar.analysis.clusters(peptide, skip=0.2).representatives[0]
    # Files hold thousandths of an ångström.
    assert ar.analysis.rmsd(peptide, middle).values[frame] < 1e-4
    again = CliRunner().invoke(cli.app, ["analyse", folder, "--out", str(tmp_path / "out")])
    assert again.exit_code == 2 and "exists already" in again.output


@pytest.mark.slow
def test_a_reference_need_not_have_all_atoms(peptide: ar.Run, tmp_path: Path) -> None:
    """Without hydrogens and under another chain's name it is the same backbone."""
    structure = molecules.peptide(["ALA", "ALA", "GLY", "ALA", "ALA", "SER", "ALA"], phi=-120.0, psi=120.0)
    molecules.write_structure(structure, tmp_path / "whole.pdb")
    lines = (tmp_path / "whole.pdb").read_text().splitlines(keepends=True)
    heavy = [f"{line[:21]}X{line[22:]}" for line in lines if line.startswith("ATOM") and line[76:78].strip() != "H"]
    (tmp_path / "part.pdb").write_text("".join([*heavy, "END\n"]))
    whole, part = (ar.analysis.rmsd(peptide, tmp_path / f"{name}.pdb").values for name in ("whole", "part"))
    np.testing.assert_allclose(part, whole, atol=1e-12)
    (tmp_path / "few.pdb").write_text("".join([*heavy[:2], "END\n"]))
    with pytest.raises(ar.ArticulonError, match=r"has 2 of the 28 atoms .* lacks A:ALA1:C, A:ALA1:O"):
        ar.analysis.rmsd(peptide, tmp_path / "few.pdb")
    shifted = [f"{line[:22]}{int(line[22:26]) + 100:4d}{line[26:]}" for line in heavy]
    (tmp_path / "shifted.pdb").write_text("".join([*shifted, "END\n"]))
    with pytest.raises(ar.ArticulonError, match="chain names and residue numbers"):
        ar.analysis.native_contacts(peptide, tmp_path / "shifted.pdb")
    with pytest.raises(ar.ArticulonError, match="cannot be read"):
        ar.analysis.rmsd(peptide, tmp_path / "nothing.pdb")


@pytest.mark.slow
def test_analyses_refuse_what_they_cannot_measure(peptide: ar.Run, tmp_path: Path) -> None:
    for words, call in (
        ("there are no residues 'A:ALA99'", lambda: ar.analysis.ramachandran(peptide, "A:ALA99")),
        ("no residue of 'A:ALA1' has both", lambda: ar.analysis.ramachandran(peptide, "A:ALA1")),
        ("temperature: must be positive", lambda: ar.analysis.ramachandran(peptide, temperature=-1.0)),
        ("clusters, by", lambda: ar.analysis.clusters(peptide, "colour")),  # type: ignore[arg-type]
        (", not both", lambda: ar.analysis.clusters(peptide, cutoff=0.1, number=2)),
        ("cutoff: must be positive", lambda: ar.analysis.clusters(peptide, cutoff=0.0)),
        ("skip must be a fraction", lambda: ar.analysis.rmsd(peptide, skip=1.0)),
    ):
        with pytest.raises(ar.ArticulonError, match=words):
            call()
    found = ar.analysis.clusters(peptide, "torsions", number=3)
    first = ar.analysis.write_clusters(peptide, found, tmp_path / "clusters")
    assert [file.name for file in first] == [f"cluster-{k + 1}.pdb" for k in range(len(found.populations))]
    with pytest.raises(ar.ArticulonError, match="exists already"):
        ar.analysis.write_clusters(peptide, found, tmp_path / "clusters")
    for name in ON_MOLECULES - {"write_clusters"}:
        with pytest.raises(ar.ArticulonError, match="expected a run"):
            getattr(ar.analysis, name)("runs/peptide")
    builder = ar.ModelBuilder(units="kg-m-s")
    builder.add_body("rod", mass=1, inertia=0.1, joint=ar.Revolute(axis=(0, 1, 0)), u=1)
    rod = ar.simulate(builder.build(), 0.1, frames=2)
    with pytest.raises(ar.ArticulonError, match="has no atoms"):
        ar.analysis.rmsd(rod)
    with pytest.raises(ar.ArticulonError, match="no molecules besides water and ions"):
        ar.analysis.rmsf(short_run(water(tmp_path), frames=2))
    with pytest.raises(ar.ArticulonError, match="no peptide"):
        ar.analysis.backbone_torsions(short_run(ligand(tmp_path), frames=2))
    told = CliRunner().invoke(cli.app, ["analyse", "double-pendulum", "--out", str(tmp_path / "none")])
    assert told.exit_code == 2 and "is no run folder" in told.output


@pytest.mark.slow
def test_free_energies_of_a_run_are_in_units_of_its_temperature(peptide: ar.Run) -> None:
    found = ar.analysis.ramachandran(peptide, "all", skip=0.0, bins=4)
    assert found.samples == 11 * 5  # residues between the ends
    twice = ar.analysis.ramachandran(peptide, "all", skip=0.0, bins=4, temperature=600.0)
    np.testing.assert_allclose(twice.free_energy, 2.0 * found.free_energy)
    least = found.probability[found.probability > 0.0].min()
    expected = -0.0083144626 * 300.0 * np.log(least / found.probability.max())
    assert np.nanmax(found.free_energy) == pytest.approx(expected, rel=1e-7)
