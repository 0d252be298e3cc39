"""Figures, tables and files of what chains do, of usual and unusual ones."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

import articulon as ar
from articulon.analysis.polymer_results import polymer_analysis
from articulon.chains.chain_statistics import Chains, ChainStatistics, chain_statistics
from articulon.report import style
from articulon.report.polymer_figures import CAPTIONS, FIGURES
from articulon.units import unit_system
from tests.support.ideal_chains import Rouse

LINEAR = {"chain_size", "internal_distances", "chain_motion", "mode_relaxation", "pair_distribution", "chain_angles"}
"""Figures of linear chains in a periodic box."""


def positions(frames: int = 120, chains: int = 5, beads: int = 6) -> np.ndarray:
    return Rouse(beads).run(np.random.default_rng(1), frames, chains, 0.4)


def statistics(frames: int = 120, **given: object) -> ChainStatistics:
    chains = Chains(np.arange(30), np.arange(6) * 6, **given)  # type: ignore[arg-type]
    return chain_statistics(0.4 * np.arange(frames), positions(frames), chains, np.full((frames, 3), 30.0))


def drawn(found: ChainStatistics, units: str = "lj") -> dict[str, str]:
    """Figures by name, as a page has them."""
    with style.applied():
        figures = {name: draw(found, unit_system(units)) for name, draw in FIGURES.items()}
        return {name: style.svg(figure, name) for name, figure in figures.items() if figure is not None}


@pytest.mark.slow
@pytest.mark.parametrize("units", ["lj", "Da-nm-ps"])
def test_all_figures_are_drawn(units: str) -> None:
    found = drawn(statistics(), units)
    assert set(found) == LINEAR == set(CAPTIONS)
    assert all(text.startswith("<svg") and "nan" not in text.lower() for text in found.values())


@pytest.mark.slow
def test_what_has_no_data_has_no_figure() -> None:
    every = np.ones(5, dtype=bool)
    assert set(drawn(statistics(branched=every))) == {"chain_size", "chain_motion", "pair_distribution"}
    assert set(drawn(statistics(ring=every))) == LINEAR
    assert set(drawn(statistics(4))) == LINEAR - {"chain_motion", "mode_relaxation"}
    alone = chain_statistics(0.4 * np.arange(120), positions(), Chains.of_equal_length(5, 6))
    assert set(drawn(alone)) == LINEAR - {"pair_distribution"}


def test_lines_are_what_was_measured() -> None:
    found = statistics()
    assert found.motion is not None
    with style.applied():
        figure = FIGURES["chain_motion"](found, unit_system("lj"))
    assert figure is not None
    lines = {line.get_label(): line.get_xydata() for line in figure.axes[0].get_lines()}
    third = np.asarray(lines["$g_3$ centres of mass"])
    np.testing.assert_allclose(third, np.stack([found.motion.times, found.motion.centres.value], axis=1), rtol=1e-13)
    for name, slope in (("slope ½", 0.5), ("slope 1", 1.0)):
        guide = np.log(np.asarray(lines[name]))
        np.testing.assert_allclose(np.diff(guide[:, 1]) / np.diff(guide[:, 0]), slope, rtol=1e-9)


def test_tables_are_files(tmp_path: Path) -> None:
    found = polymer_analysis(
        0.4 * np.arange(120), positions(), Chains.of_equal_length(5, 6), np.full((120, 3), 30.0), skip=0.1
    )
    assert set(found.tables) == {
        *("chain_size", "internal_distances", "bond_correlation", "bond_angles", "dihedrals", "pair_distribution"),
        *("displacements", "relaxation", "rouse_modes"),
    }
    written = found.write(tmp_path / "out")
    assert {path.name for path in written} == {"polymers.json", *(f"{name}.csv" for name in found.tables)}
    figures = json.loads((tmp_path / "out" / "polymers.json").read_text())
    assert found.statistics.end_to_end is not None
    assert figures["mean_square_end_to_end_distance"]["mean"] == float(found.statistics.end_to_end.value)
    with (tmp_path / "out" / "displacements.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    assert found.statistics.motion is not None
    assert [float(row["g3"]) for row in rows] == found.statistics.motion.centres.value.tolist()
    assert any("rouse modes" in note for note in found.notes)
    with pytest.raises(ar.ArticulonError, match=r"polymers\.json exists already"):
        found.write(tmp_path / "out")
