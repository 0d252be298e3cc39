"""The cases of Guy (2018) under the conditions that he prints, and the figures that a comparison makes of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import articulon as ar
from articulon.comparisons import comparison as comparing
from articulon.comparisons import reference_cache
from articulon.comparisons.comparison_page import figures
from articulon.comparisons.path_measures import other_physics
from articulon.comparisons.variant_runs import entries

PUBLISHED = "nanoparticle-docking-published"


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reference_cache, "references_folder", lambda: tmp_path / "references")
    monkeypatch.setattr(comparing, "write_report", lambda folder: folder)


# Chapter 5


def test_the_published_docking_is_the_docking_from_afar_with_flow_and_noise() -> None:
    """So that constants of tables D.3 and D.4 that stand in two files cannot part."""
    changes = {
        "model.gap": "66.4 nm",
        "forces.stokes-drag.flow": ["0 mm/s", "0 mm/s", "1 mm/s"],
        "forces.brownian": {"temperature": "300 K", "shape": "direction"},
    }
    near, published = ar.load_case("nanoparticle-docking", changes), ar.load_case(PUBLISHED)
    keys = {key.partition(".")[0] for key in published.differences(near)}
    assert keys == {"scaling", "integrator", "run"}
    assert published.integrator.rule == "kutta-merson"
    assert (published.integrator.rtol, published.integrator.atol) == (1e-5, 1e-6)
    assert published.scaling.policy == "threshold-adaptive"


def test_its_core_starts_250_nm_from_the_plane_and_docks_where_the_tips_reach_it() -> None:
    """ "Initial nanoparticle position was 250 nm from the plane"; "approximately 65 nm" have to be traversed (5.5)."""
    case = ar.load_case(PUBLISHED)
    assert case.model_declaration.plane == pytest.approx(0.250, abs=1e-4)
    stop = case.run.stop
    assert stop is not None and float(stop.advance) == pytest.approx(0.065)
    assert 0.0 < float(case.model_declaration.gap) - float(stop.advance) < 2e-3


def test_its_partners_differ_from_it_in_how_they_are_made_alone() -> None:
    """Figure 5.4: unscaled, constantly scaled and adaptively scaled, and the first is what the others are measured
    from."""
    found = entries(ar.load_case(PUBLISHED), None, None)
    assert [(e.name, e.case.scaling.policy, e.is_reference, e.optional) for e in found] == [
        ("unscaled", "none", True, False),
        ("constant", "constant", False, False),
        ("adaptive", "threshold-adaptive", False, False),
        ("unscaled-explicit", "none", False, True),
    ]
    for entry in found[1:]:
        assert other_physics(entry.case, found[0].case) == ([], [])
    assert [getattr(e.case.scaling, "a2", None) for e in found] == [None, 0.01, 0.01, None]


@pytest.mark.slow
def test_the_published_rule_switches_and_docks_where_the_true_particle_has_hardly_moved(tmp_path: Path) -> None:
    """Figure 5.8. Below the threshold the drag is scaled by a2 and the potential is not, so that the particle drifts
    1/a2 times too fast. It begins 18.4 nm nearer than the case does, to as near the end, which takes a quarter of the
    time; those that dock nowhere are seen for 1.5 of the relaxation times of the constantly scaled one. The whole way
    is timed by ``articulon bench docking``."""
    us = 0.5
    near = {"model.gap": "48 nm", "run.stop.advance": "46.6 nm", "run.duration": f"{us} us", "run.frames": 500}
    done = comparing.compare(ar.load_case(PUBLISHED, near), against=["unscaled", "constant"], out=tmp_path / "runs")
    adaptive = done.row("case")
    assert adaptive["status"] == "docked" and 0.3 < adaptive["stop_time"] < 0.45
    assert adaptive["verdict"] == "violated" and adaptive["reference"] == "unscaled"
    view = done.views["case"]
    # The way that is left at the threshold is as long wherever it began: 30 ns.
    assert len(view.switches) == 1 and adaptive["stop_time"] - 0.05 < view.switches[0] < adaptive["stop_time"]
    assert {"position", "factors"} <= set(figures(done))
    for name in ("unscaled", "constant"):
        assert done.row(name)["stop_time"] is None
        # Three standard deviations of free diffusion, √(2 kT t/β), and the way under the attraction, 0.34 nm.
        assert np.abs(done.views[name].advance).max() < 3.0 * np.sqrt(2.0 * 4.14e-3 * us / 3355.0) + 4e-4
    # On one noise path it follows the unscaled one with the relaxation time τ/a2 = 0.32 us: (kT/β) τ/a2 is the mean
    # square of its distance along each axis.
    constant = done.row("constant")
    assert constant["reference"] == "unscaled"
    assert constant["largest_deviation"] < 4.0 * np.sqrt(3.0 * 4.14e-3 * 0.32 / 3355.0)


# Chapter 2


@pytest.mark.slow
def test_a_comparison_of_the_receptor_has_the_figures_of_chapter_2(tmp_path: Path) -> None:
    """2.5: the joints of the bulk and of the base of each side chain. 2.6: the particle's place. 2.7 and 2.8: energies
    of each run. 2.9: potential energies."""
    short = {"run.duration": "0.01 ns", "run.frames": 20}
    done = comparing.compare(
        ar.load_case("ebola-receptor", short), against=["friction-implicit"], out=tmp_path / "runs"
    )
    drawn = figures(done)
    assert {"joints", "path", "energies", "potential_energy"} <= set(drawn)
    titles = [axes.get_title(loc="right") for axes in drawn["joints"].axes]
    assert titles == ["bulk", "L57-CB", "L63-CB", "R64-CB", "F88-CB", "K95-CB"]
    assert drawn["path"].axes[0].get_title(loc="right") == "x of drug"
    assert [axes.get_title(loc="right") for axes in drawn["energies"].axes] == ["friction-implicit", "case"]
    measured = {(row["quantity"], row["run"]) for row in done.data["differences"]}
    assert {("bulk", "case"), ("K95-CB", "case"), ("x of drug", "case"), ("potential energy", "case")} <= measured


# Chapter 3


@pytest.mark.slow
def test_the_descents_begin_on_the_lattice_and_have_the_figures_of_chapter_3(tmp_path: Path) -> None:
    """3.3 and 3.4: positions at the end. 3.11: energies of both, and kinetic and potential energy together."""
    case = ar.load_case("molten-salt-100", {"run.duration": "0.4 ps", "run.frame_interval": "10 fs"})
    done = comparing.compare(case, against=["standard-descent", "modified-descent"], out=tmp_path / "runs")
    standard, modified, own = (done.views[name] for name in ("standard-descent", "modified-descent", "case"))
    np.testing.assert_array_equal(standard.positions[0], modified.positions[0])
    assert standard.case.thermostat.kind == "nose-hoover" and modified.case.thermostat.kind == "modified-nose-hoover"
    assert not standard.case.run.minimise and own.case.run.minimise
    start = [float(view.observables["energy_potential"][0]) for view in (standard, modified, own)]
    assert start[0] == start[1] > start[2], "they have a way to descend"
    assert standard.observables["energy_potential"][-1] < start[0]
    drawn = figures(done)
    assert {"final_positions", "energies", "total_energy", "temperature"} <= set(drawn)
    titles = [axes.get_title(loc="left") for axes in drawn["final_positions"].axes if axes.get_visible()]
    assert titles == [
        "start of standard-descent and 1 more",
        "start of case",
        "standard-descent",
        "modified-descent",
        "case",
    ]
    lines = drawn["total_energy"].axes[0].get_lines()
    both = [np.asarray(line.get_ydata())[0] for line in lines[:2]]
    assert both[0] == pytest.approx(both[1], rel=1e-12), "on one scale"
