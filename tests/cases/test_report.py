"""Reports of runs: that they are one readable file, that every figure is there, and that figures show the data."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import matplotlib
import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import articulon as ar
from articulon.report import grain_figures, molecule_words, polymer_figures, style, thermal
from articulon.report.figures import FIGURES, by_size
from articulon.report.html import figures
from articulon.report.readable_numbers import number, percent, suited, wall_time
from articulon.report.view import View, in_box
from articulon.storage.trajectory import TrajectoryReader
from articulon.studio.run_report import write_report
from articulon.units import unit_system

TAILED = """
[case]
title = "A sphere with a tail <and> noise"
units = "fg-um-us"
cite = ["guy2018"]
notes = "One choice & its reason."

[[model.bodies]]
name = "head"
mass = 10
inertia = 0.2
joint = "free"

[[model.bodies]]
name = "tail"
parent = "head"
mass = 1
inertia = 0.002
joint = "spherical"
position = [0, 0, 0.2]
com = [0, 0, 0.05]

[[model.sites]]
body = "tail"
position = [0, 0, 0.1]

[[model.sites]]
body = "ground"
position = [0.1, 0, 0.3]
kind = "target"

[[forces]]
kind = "gravity"
acceleration = [0.8, 0.6, 0]

[[forces]]
kind = "torsional-springs"
stiffness = { tail = 0.1 }

[[forces]]
kind = "stokes-drag"
viscosity = "0.89 mPa s"
radius = { head = "200 nm", tail = "50 nm" }

[[forces]]
kind = "brownian"
temperature = "300 K"

[scaling]
policy = "constant"
a2 = 0.5

[integrator]
rule = "friction-implicit"
step = "1 ns"

[run]
duration = 0.5
frames = 50
stop = { body = "head", direction = [0.8, 0.6, 0], advance = "0.3 nm", label = "arrived" }
"""

PENDULUM = """
[case]
title = "A pendulum"
units = "kg-m-s"

[[model.bodies]]
name = "bob"
mass = 1
inertia = 0.01
joint = "revolute"
axis = [0, 1, 0]
com = [0, 0, -1]
q = "60 deg"

[[forces]]
kind = "gravity"
acceleration = [0, 0, "-9.81 m/s^2"]

[run]
duration = 3
frames = 30
"""


@pytest.fixture(scope="module")
def tailed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made(tmp_path_factory.mktemp("tailed"), TAILED)


@pytest.fixture(scope="module")
def pendulum(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made(tmp_path_factory.mktemp("pendulum"), PENDULUM)


def made(folder: Path, text: str) -> Path:
    (folder / "made.toml").write_text(text, encoding="utf-8")
    ar.run(ar.load_case(folder / "made.toml"), out=folder / "run")
    write_report(folder / "run")
    return folder / "run"


class Page(HTMLParser):
    """A page whose elements are closed in the order in which they were opened."""

    VOID = frozenset({"meta", "br", "img", "link", "hr", "input"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len({name for name, _ in attrs}) == len(attrs), f"<{tag}> has an attribute twice: {attrs}"
        self.elements.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open and self.open[-1] == tag, f"</{tag}> closes {self.open[-3:]}"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        if not {"style", "svg"} & set(self.open):
            self.words.append(data)

    def names(self, tag: str) -> list[str]:
        return [attributes.get("id") or "" for name, attributes in self.elements if name == tag]

    @property
    def text(self) -> str:
        return re.sub(r"\s+", " ", " ".join(self.words))


@pytest.fixture(scope="module", params=["tailed", "pendulum"])
def folder(request: pytest.FixtureRequest) -> Path:
    return request.getfixturevalue(request.param)


# The page


def test_the_page_is_well_formed_and_needs_nothing_from_elsewhere(folder: Path) -> None:
    text = (folder / "report.html").read_text(encoding="utf-8")
    page = Page(text)
    # The run in three dimensions is a page inside of this one.
    inside = [attributes for tag, attributes in page.elements if tag == "iframe"]
    assert [sorted(attributes) for attributes in inside] == [["loading", "srcdoc", "title"]]
    assert "://" not in re.sub(r'srcdoc="[^"]*"', "", text)
    tags = {tag for tag, _ in page.elements}
    assert not tags & {"script", "link", "object", "embed", "img"}
    assert len(text) < 5_000_000
    identities = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(identities) == len(set(identities))
    for tag, attributes in page.elements:
        for name in ("href", "xlink:href", "src"):
            target = attributes.get(name)
            if target is not None:
                assert target.startswith("#") and target[1:] in identities, f"<{tag} {name}={target!r}>"
        for reference in re.findall(r"url\(#([^)]*)\)", " ".join(filter(None, attributes.values()))):
            assert reference in identities
    assert "@import" not in text


def test_every_figure_with_data_is_on_the_page(tailed: Path, pendulum: Path) -> None:
    everything = Page((tailed / "report.html").read_text(encoding="utf-8")).names("figure")
    # A thermostat's, those of joints that lock and release, and those of contacts, molecules and chains.
    others = {"configurational_temperature", "thermostat_energies", "thermostat_phase", "activity"}
    others |= set(grain_figures.CAPTIONS) | set(molecule_words.CAPTIONS) | set(polymer_figures.CAPTIONS)
    assert sorted(everything) == sorted(set(FIGURES) - others)
    without = others | {"factors", "fidelity", "temperature", "works_normalised"}
    assert sorted(Page((pendulum / "report.html").read_text(encoding="utf-8")).names("figure")) == sorted(
        set(FIGURES) - without
    )


@pytest.mark.slow
def test_spins_that_are_rounding_have_no_figure(tailed: Path) -> None:
    view = View.of_folder(tailed)
    assert "joints" in figures(view)
    assert "joints" not in figures(replace(view, u=1e-12 * view.u))


def test_scaling_that_saves_no_steps_is_named(tailed: Path, pendulum: Path) -> None:
    said = "scaling saves nothing here"
    assert said in Page((tailed / "report.html").read_text(encoding="utf-8")).text
    assert said not in Page((pendulum / "report.html").read_text(encoding="utf-8")).text


@pytest.mark.slow
def test_what_locking_takes_out_is_told_and_its_sum_is_constant(tmp_path: Path) -> None:
    case = ar.load_case("adaptive-chain", {"model.links": 6, "run.duration": 8, "run.frames": 20})
    ar.run(case, out=tmp_path / "run")
    view = View.of_folder(tmp_path / "run")
    found = thermal.energies(view)
    assert found is not None and "reservoir" in found
    drift = np.abs(found["total"] - found["total"][0]).max()
    without = found["total"] - found["reservoir"]
    assert drift < 0.1 * np.abs(without - without[0]).max()
    active = view.observables["active_freedoms"]
    assert np.ptp(active) > 0
    assert thermal.canonical_spread(view, np.ones(view.times.size)) == pytest.approx(np.sqrt(2 / np.maximum(1, active)))
    page = Page(write_report(tmp_path / "run").read_text(encoding="utf-8")).text
    assert "R is the energy that locking joints has removed" in page and "the others are warmer" in page


def test_the_page_says_what_the_run_did(tailed: Path, pendulum: Path) -> None:
    summary = json.loads((tailed / "summary.json").read_text(encoding="utf-8"))
    text = Page((tailed / "report.html").read_text(encoding="utf-8")).text
    assert "A sphere with a tail <and> noise" in text
    assert "One choice & its reason." in text
    assert f"Arrived at {1e3 * summary['stop_time']:.4g} ns" in text
    assert number(summary["steps"]) in text
    assert f"verdict {summary['fidelity']['verdict']}" in text
    assert "constant scaling, a2 = 0.5" in text
    assert "divided by the factor of the damping" in text
    assert "under noise this is proportional to the step and the duration" in text
    plain = Page((pendulum / "report.html").read_text(encoding="utf-8")).text
    assert "unscaled" in plain and "Complete: 3 s simulated" in plain
    assert "Fidelity" not in plain and "under noise" not in plain


@pytest.mark.slow
def test_the_report_of_a_run_that_is_going_says_so(pendulum: Path, tmp_path: Path) -> None:
    going = tmp_path / "going"
    shutil.copytree(pendulum, going)
    file = going / "summary.json"
    summary = json.loads(file.read_text(encoding="utf-8"))
    kept = {key: summary[key] for key in ("duration", "steps", "rejected", "evaluations", "wall_seconds", "seed")}
    file.write_text(json.dumps({**kept, "status": "running", "simulated_time": 1.5}), encoding="utf-8")
    text = Page(write_report(going).read_text(encoding="utf-8")).text
    assert "Running: 1.5 s of 3 s simulated so far." in text


@pytest.mark.slow
def test_a_report_is_the_same_each_time(pendulum: Path) -> None:
    before = (pendulum / "report.html").read_bytes()
    assert write_report(pendulum) == pendulum / "report.html"
    assert (pendulum / "report.html").read_bytes() == before


def test_a_folder_without_a_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ar.ArticulonError, match=r"case\.toml: cannot be read"):
        write_report(tmp_path)


@pytest.mark.slow
def test_a_report_leaves_the_settings_of_plots_alone(pendulum: Path) -> None:
    """Nor does it touch ``pyplot``, which would open a display."""
    program = (
        "import sys, matplotlib; before = matplotlib.rcParams.copy()\n"
        "from pathlib import Path; from articulon.studio.run_report import write_report\n"
        f"write_report(Path({str(pendulum)!r}))\n"
        "assert matplotlib.rcParams.copy() == before\n"
        "print('matplotlib.pyplot' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert done.stdout == "False\n"


# What the figures show


def lines(axes: Axes) -> dict[str, np.ndarray]:
    return {str(line.get_label()): np.asarray(line.get_xydata()) for line in axes.get_lines()}


def drawn(folder: Path) -> tuple[View, dict[str, Figure]]:
    run = ar.open_run(folder)
    return View.of(run), figures(run)


def test_the_position_is_the_advance_in_nanometres_or_less(tailed: Path) -> None:
    view, found = drawn(tailed)
    with TrajectoryReader(tailed / "trajectory.h5") as reader:
        q, times = reader.coordinates, reader.times
    advance = (q[:, :3] - q[0, :3]) @ [0.8, 0.6, 0.0]
    axes, across = found["position"].axes
    assert axes.get_ylabel() == "advance of head (pm)"
    shown = lines(axes)["advance"]
    np.testing.assert_allclose(shown[:, 0], 1e3 * times, rtol=1e-12)
    rounding = 1e-12 * 1e6 * np.abs(q[:, :3]).max()
    np.testing.assert_allclose(shown[:, 1], 1e6 * advance, rtol=0, atol=rounding)
    np.testing.assert_allclose(view.advance, view.observables["advance"], rtol=0, atol=1e-6 * rounding)
    assert "arrived" in lines(axes)
    assert axes.get_xlabel() == "" and across.get_xlabel() == "time (ns)"
    # What is across has no part along the direction.
    parts = np.stack([lines(across)[f"along {axis}"][:, 1] for axis in "xyz"], axis=1)
    np.testing.assert_allclose(parts @ [0.8, 0.6, 0.0], 0.0, rtol=0, atol=1e-9 * np.abs(parts).max())


def test_energies_forces_and_works_are_those_of_the_run(tailed: Path) -> None:
    view, found = drawn(tailed)
    energies = {name: values for axes in found["energies"].axes for name, values in lines(axes).items()}
    assert set(energies) == {
        "$T$ kinetic",
        "$W_\\mathrm{d}$ damping",
        "$W_\\mathrm{b}$ Brownian",
        "$W_\\mathrm{k}$ conformational",
        "$W_\\mathrm{e}$ external",
    }
    np.testing.assert_array_equal(energies["$W_\\mathrm{d}$ damping"][:, 1], view.observables["work_damping"])
    (axes,) = found["forces"].axes
    assert axes.get_yscale() == "log" and "fg µm/µs" in axes.get_ylabel()
    shown = lines(axes)["$F_\\mathrm{e}$ external"][:, 1]
    # Gravity of unit strength on 11 fg, before the scaling by 0.5.
    np.testing.assert_allclose(shown, 11.0, rtol=1e-12)
    (axes,) = found["works_normalised"].axes
    assert {np.abs(values[:, 1]).max() for values in lines(axes).values()} == {1.0}
    (axes,) = found["factors"].axes
    assert {tuple(np.unique(values[:, 1])) for values in lines(axes).values()} == {(0.5,)}
    (axes,) = found["balance"].axes
    np.testing.assert_array_equal(lines(axes)["$T - T_0 - \\Sigma W$"][:, 1], view.observables["energy_balance"])


def test_a_factor_that_switches_is_marked_between_its_frames(tailed: Path) -> None:
    view = View.of(ar.open_run(tailed))
    case = view.case.with_overrides({"scaling": {"policy": "threshold-adaptive", "a2": 0.5, "threshold": 1.0}})
    switching = np.where(np.arange(view.times.size) < 4, 1.0, 0.5)
    view = replace(view, case=case, observables={**view.observables, "factor_external": switching})
    moment = 0.5 * (view.times[3] + view.times[4])
    assert view.switches == [moment]
    for name in ("forces", "energies", "kinetic_energy"):
        figure = FIGURES[name](view)
        assert figure is not None
        marks = lines(figure.axes[0])["factor switches"]
        np.testing.assert_allclose(marks[:, 0], 1e3 * moment, rtol=1e-12)


def test_bodies_are_drawn_to_scale_where_their_size_is_known(tailed: Path) -> None:
    view, found = drawn(tailed)
    np.testing.assert_allclose(view.radii, [0.2, 0.05], rtol=1e-14)
    side = found["model"].axes[0]
    (circles,) = [c for c in side.collections if type(c).__name__ == "EllipseCollection"]
    np.testing.assert_allclose(circles.get_widths(), [400.0, 100.0], rtol=1e-12)  # type: ignore[attr-defined]
    # Along x the head moves furthest; its centre and that of the tail, a joint away.
    centres = np.asarray(circles.get_offsets())
    np.testing.assert_allclose(centres, [[0.0, 0.0], [0.0, 250.0]], rtol=0, atol=1e-9)
    assert (side.get_xlabel(), side.get_ylabel()) == ("x (nm)", "z (nm)")


def test_centres_of_mass_are_those_of_the_poses(pendulum: Path) -> None:
    view = View.of(ar.open_run(pendulum))
    angle = ar.open_run(pendulum).q[:, 0]
    expected = np.stack([-np.sin(angle), np.zeros_like(angle), -np.cos(angle)], axis=1)
    np.testing.assert_allclose(view.path, expected, rtol=0, atol=1e-14)
    np.testing.assert_array_equal(view.centres(7)[0], view.path[7])


@pytest.mark.slow
def test_figures_are_of_a_size_for_print(tailed: Path) -> None:
    for name, figure in drawn(tailed)[1].items():
        assert figure.get_figwidth() == style.WIDTH, name
        sizes = [label.get_fontsize() for axes in figure.axes for label in (axes.xaxis.label, axes.yaxis.label)]
        assert min(sizes) >= 8.0


def test_channels_differ_in_colour_and_in_dashes() -> None:
    looks = [(look["color"], look["linestyle"]) for look in style.CHANNEL_STYLE.values()]
    assert len({colour for colour, _ in looks}) == len(looks)
    published = [
        style.CHANNEL_STYLE[name]["linestyle"] for name in ("damping", "potential", "stochastic", "conformational")
    ]
    assert len(set(map(str, published))) == 4


def test_series_of_one_size_share_a_panel() -> None:
    series = {"a": np.array([1.0]), "b": np.array([-1e3]), "c": np.array([2.0]), "d": np.array([1e-6])}
    assert by_size(series) == [["b"], ["a", "c"], ["d"]]
    assert by_size({"a": np.array([1.0]), "b": np.array([7.0])}) == [["a", "b"]]
    # Nothing beside a large number is no reason to warn.
    assert by_size({"a": np.array([1e5]), "b": np.zeros(1)}) == [["a"], ["b"]]
    assert by_size({"a": np.zeros(3), "b": np.ones(3)}) == [["b"], ["a"]]
    many = {str(k): np.array([10.0 ** (-2 * k)]) for k in range(6)}
    assert len(by_size(many)) == 3


# Numbers for people


@pytest.mark.parametrize(
    "value, text",
    [
        (0.0, "0"),
        (1234567.0, "1\u202f234\u202f567"),
        (-5.0, "−5"),
        (3.14159, "3.142"),
        (0.00012345, "0.0001234"),
        (1.5e-7, "1.5·10⁻⁷"),
        (-2.5e9 - 0.5, "−2.5·10⁹"),
        (None, "–"),
        (float("nan"), "–"),
    ],
)
def test_numbers(value: float | None, text: str) -> None:
    assert number(value) == text


def test_lengths_and_times_have_the_unit_of_their_size() -> None:
    units = unit_system("fg-um-us")
    for value, text in ((0.03, "30 nm"), (4.5, "4.5 µm"), (1e-6, "1 pm"), (2e6, "2 m"), (0.0, "0 m")):
        assert suited(units, "length", value).text(value).replace("\u00a0", " ") == text
    assert suited(unit_system("lj"), "time", 3.0).text(3.0) == "3"


@pytest.mark.parametrize(
    "seconds, text", [(0.123456, "0.123 s"), (119.0, "119 s"), (125.0, "2 min 05 s"), (7380.0, "2 h 03 min")]
)
def test_wall_times(seconds: float, text: str) -> None:
    assert wall_time(seconds).replace("\u00a0", " ") == text


def test_percentages() -> None:
    assert percent(0.974).replace("\u00a0", " ") == "97.4 %"
    assert percent(None) == "–"


def test_spheres_are_drawn_in_the_box_where_it_repeats() -> None:
    """Along a direction that is open they stay where they are."""
    builder = ar.ModelBuilder("lj", box=ar.Box((4.0, 5.0, 6.0), boundaries=("periodic", "periodic", "open")))
    builder.add_particles(1, mass=1.0, positions=[(1.0, 1.0, 1.0)])
    model = builder.build()
    places = np.array([(9.0, -1.0, 13.0), (3.5, 4.5, 2.0)])
    np.testing.assert_allclose(in_box(model, places), [(1.0, 4.0, 13.0), (3.5, 4.5, 2.0)], atol=1e-14)


def test_settings_of_the_program_around_leave_figures_as_they_are() -> None:
    with matplotlib.rc_context({"figure.constrained_layout.use": True, "axes.spines.left": False}), style.applied():
        figure, (axes,) = style.panels()
        assert figure.get_layout_engine() is None
        assert axes.spines["left"].get_visible()
