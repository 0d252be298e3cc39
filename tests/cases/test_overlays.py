"""Figures and figures of merit of a comparison that lay its runs over each other: that they are those of the runs."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import articulon as ar
from articulon.comparisons import comparison as comparing
from articulon.comparisons import comparison_page, overlays, reference_cache
from articulon.comparisons.comparison_page import figures, looks, tables
from articulon.report import style
from articulon.report.joint_figures import angles
from articulon.report.particle_drawing import DRAWN, KINDS, particles, sphere_radii
from articulon.report.view import View
from articulon.studio.run_report import write_report

ARMS = """
[case]
title = "An arm of two links in a fluid, and a ball"
units = "fg-um-us"

[[model.bodies]]
name = "upper"
mass = 1.0
inertia = 0.1
joint = "revolute"
axis = [0, 1, 0]
com = [0, 0, -1]
q = 0.5

[[model.bodies]]
name = "lower"
parent = "upper"
mass = 1.0
inertia = 0.1
joint = "revolute"
axis = [0, 1, 0]
position = [0, 0, -2]
com = [0, 0, -1]
q = 0.2

[[model.bodies]]
name = "ball"
mass = 2.0
joint = "xyz"

[[model.sites]]
body = "lower"
position = [0, 0, -2]
kind = "hand"

[[model.sites]]
body = "ground"
position = [3, 0, -3]
kind = "target"

[[forces]]
kind = "site-pairs"
between = [["hand", "target"]]
table = [{ kinds = ["hand", "target"], C = -0.5 }]

[[forces]]
kind = "gravity"
acceleration = [0.3, 0, -1.0]

[[forces]]
kind = "stokes-drag"
translational = 5.0

[run]
duration = 4.0
frames = 50

[compare]
reference = "unscaled"
variants = ["unscaled", "scaled", "adaptive"]

[variants.unscaled]
scaling = { policy = "none" }

[variants.scaled]
scaling = { policy = "constant", a2 = 0.5 }

[variants.adaptive]
scaling = { policy = "threshold-adaptive", a2 = 0.5, threshold = 1e3 }
"""

SALT = """
[case]
title = "Ions in a box that repeats"
units = "zg-nm-ns"

[model]
builder = "particles"
species = { Na = { mass = 0.038, charge = 1.6e-19 }, Cl = { mass = 0.059, charge = -1.6e-19 } }
kinds = ["Na", "Cl", "Na", "Cl"]
positions = [[0.2, 0.2, 0.2], [0.7, 0.2, 0.2], [2.4, 0.7, 0.2], [-0.3, 0.7, 0.9]]

[box]
lengths = [2.0, 2.0, 2.0]

[[forces]]
kind = "lennard-jones"
cutoff = 0.9
parameters = { Na = { epsilon = 600, sigma = 0.27 }, Cl = { epsilon = 700, sigma = 0.45 } }

[integrator]
rule = "velocity-verlet"
step = 1e-6

[run]
duration = 1e-4
frames = 10

[variants.finer]
integrator = { rule = "velocity-verlet", step = 5e-7 }
"""


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> comparing.Comparison:
    folder = tmp_path_factory.mktemp("arms")
    (folder / "arms.toml").write_text(ARMS, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reference_cache, "references_folder", lambda: folder / "references")
        patch.setattr(comparing, "write_report", lambda place: place)
        return comparing.compare(ar.load_case(folder / "arms.toml"), out=folder / "runs")


def drawn(done: comparing.Comparison, name: str) -> dict[str, dict[str, np.ndarray]]:
    """Lines of a figure by panel and label."""
    figure = figures(done)[name]
    return {
        axes.get_title(loc="right"): {str(line.get_label()): np.asarray(line.get_ydata()) for line in axes.get_lines()}
        for axes in figure.axes
        if axes.get_visible()
    }


def test_joint_angles_of_all_runs_are_laid_over_each_other(done: comparing.Comparison) -> None:
    panels = drawn(done, "joints")
    assert list(panels) == ["upper", "lower"]
    for k, (_, lines) in enumerate(panels.items()):
        assert set(lines) == set(done.views)
        for name, values in lines.items():
            np.testing.assert_array_equal(values, ar.open_run(done.folder / name).q[:, k])


def test_the_place_of_the_core_has_a_panel_for_each_axis_that_it_moves_along(done: comparing.Comparison) -> None:
    panels = drawn(done, "path")
    assert list(panels) == ["x of ball", "z of ball"], "it does not move along y"
    for axis, lines in zip((0, 2), panels.values(), strict=True):
        for name, values in lines.items():
            path = ar.open_run(done.folder / name).positions[:, 2, axis]
            ratio = values[-1] / path[-1]
            np.testing.assert_allclose(values, ratio * path, rtol=1e-12)
            assert np.log10(abs(ratio)) % 3 == pytest.approx(0.0, abs=1e-12), "a unit of length"


def test_energies_add_up_where_the_factors_stay(done: comparing.Comparison) -> None:
    """T + Φ − W is constant to the error of the integration; where a factor changes there is no such sum."""
    panels = drawn(done, "energies")
    assert set(panels) == {name for name in done.views if name != "adaptive"}
    for name, lines in panels.items():
        run = ar.open_run(done.folder / name).observables
        np.testing.assert_array_equal(lines["$W$ friction"], run["work_damping"])
        total = lines["$T + \\Phi - W$"]
        assert np.ptp(total) < 1e-5 * np.ptp(lines["$\\Phi$ potential"])
        scaled = sum(run[f"factor_{c}"] * run[f"energy_{c}"] for c in ("potential", "external"))
        expected = run["kinetic_energy"] + scaled - run["work_damping"]
        np.testing.assert_allclose(total, expected, rtol=1e-12)


def test_potential_energies_are_before_scaling(done: comparing.Comparison) -> None:
    (lines,) = drawn(done, "potential_energy").values()
    for name, values in lines.items():
        run = ar.open_run(done.folder / name).observables
        np.testing.assert_allclose(values, run["energy_potential"] + run["energy_external"], rtol=1e-14)


def test_differences_are_those_of_the_coordinates(done: comparing.Comparison) -> None:
    """All runs have the same frames, so that nothing is interpolated."""
    rows = {(row["quantity"], row["run"]): row for row in done.data["differences"]}
    file = json.loads((done.folder / "comparison.json").read_text(encoding="utf-8"))
    assert file["differences"] == done.data["differences"]
    runs = {name: ar.open_run(done.folder / name) for name in done.views}
    for run in ("scaled", "adaptive"):
        apart = np.abs(runs[run].q[:, 0] - runs["unscaled"].q[:, 0])
        row = rows["upper", run]
        assert (row["reference"], row["dimension"]) == ("unscaled", "angle")
        assert row["largest"] == pytest.approx(apart.max(), rel=1e-12) and apart.max() > 1e-3
        assert row["rms"] == pytest.approx(np.sqrt(np.mean(apart**2)), rel=1e-12)
        assert row["sigma"] == pytest.approx(apart.std(), rel=1e-12)
    assert {quantity for quantity, _ in rows} == {"upper", "lower", "x of ball", "z of ball", "potential energy"}
    heads, texts = tables(done)["Differences from the reference"]
    assert len(heads) == 5 and len(texts) == len(rows)
    page = (done.folder / "comparison.html").read_text(encoding="utf-8")
    assert "standard deviation of the magnitude" in page and 'id="joints"' in page


@pytest.mark.slow
def test_a_run_of_several_factors_says_which_is_which(done: comparing.Comparison) -> None:
    figure = figures(done)["factors"]
    labels = [line.get_label() for line in figure.axes[0].get_lines()]
    assert "scaled" in labels and "adaptive:\ndamping,\nexternal" in labels and "adaptive:\npotential" in labels
    assert not any(str(label).startswith("unscaled") for label in labels)


def test_the_noise_of_a_run_hides_the_sum_of_its_energies(
    done: comparing.Comparison, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(View, "bath_temperature", property(lambda view: 300.0))
    assert overlays.figures_over_each_other(done, looks(done))["energies"] is None


def test_of_more_joints_than_panels_those_nearest_to_the_ground_are_left(done: comparing.Comparison) -> None:
    view = next(iter(done.views.values()))
    assert list(angles(view, 2)) == ["upper", "lower"] and list(angles(view, 1)) == ["upper"]


def test_a_run_that_ends_far_earlier_than_others_is_seen(done: comparing.Comparison) -> None:
    """On a linear axis of time it would be a line at its edge."""
    axis = figures(done)["position"].axes[-1]
    assert axis.get_xscale() == "linear"
    view = done.views["scaled"]
    paths = ("times", "positions", "rotations", "q", "u")
    few = replace(view, **{name: getattr(view, name)[:2] for name in paths})
    early = replace(done, views={**done.views, "scaled": few}, deviations={})
    axis = comparison_page._position(early).axes[-1]
    assert axis.get_xscale() == "log"
    low, high = axis.get_xlim()
    assert low * 5.0 < float(few.times[-1]) < 0.1 * high, "the unit of the axis is that of the case"


# Particles


@pytest.mark.slow
def test_particles_are_drawn_by_their_kinds_in_the_box_that_repeats(tmp_path: Path) -> None:
    (tmp_path / "salt.toml").write_text(SALT, encoding="utf-8")
    view = View.of(ar.run(ar.load_case(tmp_path / "salt.toml"), tmp_path / "run"))
    damped = ar.load_case(tmp_path / "salt.toml", {"forces.stokes-drag": {"translational": 1.0}})
    assert sphere_radii(damped.build_model()) is not None, "other forces make no other particles"
    radii = sphere_radii(view.model)
    np.testing.assert_allclose(radii, [0.135, 0.225, 0.135, 0.225], rtol=1e-12)
    with style.applied():
        figure = particles(view)
    assert figure is not None
    shown = [axes for axes in figure.axes if axes.get_visible()]
    assert len(shown) == 2
    (spheres,) = shown[0].collections
    places = np.asarray(spheres.get_offsets())
    expected = np.array([[0.2, 0.2], [0.7, 0.2], [0.4, 0.7], [1.7, 0.7]])
    # From the back to the front, and the same shift of the noise in drawing order.
    order = np.argsort([0.2, 0.2, 0.2, 0.9])
    np.testing.assert_allclose(places, expected[order], atol=1e-12)
    np.testing.assert_allclose(spheres._widths * 2.0, 2.0 * DRAWN * radii[order], rtol=1e-12)
    words = [text.get_text() for text in figure.legends[0].get_texts()]
    assert words == ["Na", "Cl"] and len(set(KINDS)) == len(KINDS)
    page = write_report(tmp_path / "run").read_text(encoding="utf-8")
    assert 'id="model"' in page and "The particles in the first frame (left) and the last (right)" in page


def test_bodies_that_are_no_particles_are_not_drawn_so(done: comparing.Comparison) -> None:
    view = next(iter(done.views.values()))
    assert sphere_radii(view.model) is None
    assert "final_positions" not in figures(done)
