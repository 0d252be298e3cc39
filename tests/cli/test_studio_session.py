"""The studio's page as its runs go on, without a browser and with engines that say what they are told to."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import articulon as ar
from articulon.cases.loading import load_case
from articulon.errors import ModelError
from articulon.model.array_rotations import matrices
from articulon.studio import force_arrows, run_session
from articulon.studio.case_source import FixedCase
from articulon.studio.force_arrows import LONGEST
from articulon.studio.live_frames import LARGE, LiveFrames
from articulon.studio.live_plots import MOST_KEPT, Observed
from articulon.studio.opening import opened
from articulon.studio.page_server import server_at
from articulon.studio.pose_exchange import Look
from articulon.studio.pull_tool import strength_of
from articulon.studio.run_frames import locked_bodies
from articulon.studio.run_session import RunSession
from articulon.studio.run_words import RED, light_of
from articulon.studio.some_frames import with_some_frames
from articulon.studio.stage import SIZE
from articulon.studio.workspace import Workspace, first_frame
from tests.support.scripted_engine import ScriptedEngine, frame

SHORT = {"run.duration": "0.5 s", "run.frames": 10, "checks": []}
STARTED = {"kind": "started", "resumed_from": 0.0}
ENDED = {"kind": "ended", "status": "complete", "heading": "error", "error": None, "summary": None}
GONE = {"kind": "gone", "error": None}


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunSession:
    """A session whose engines are scripted."""
    monkeypatch.setattr(run_session, "Engine", ScriptedEngine)
    return RunSession(tmp_path / "runs")


@pytest.fixture
def studio(session: RunSession) -> Iterator[Workspace]:
    """A studio that nobody keeps up to date but the test."""

    workspace = Workspace(server_at(None), FixedCase(load_case("double-pendulum", SHORT)), session)
    yield workspace
    workspace.close()


def begun(session: RunSession) -> Any:
    """An engine of a run that goes on."""
    case = load_case("double-pendulum", SHORT)
    session.begin(case, case.build_model())
    engine: Any = session.engine
    engine.said = [STARTED]
    session.poll()
    assert session.state == "running"
    return engine


def test_the_frame_on_show_stays_when_others_are_left_out(studio: Workspace) -> None:
    frames = LiveFrames(room=50 * 2 * 7 * 4)
    studio.session.frames = frames
    for number in range(49):
        frames.add(frame(0.01 * number))
    studio.panel.show(40)
    for number in range(49, 56):
        frames.add(frame(0.01 * number))
        studio.panel._slow = -1.0
        studio.panel.update()
        assert studio.panel.shown is not None
        assert frames[studio.panel.shown].time == pytest.approx(0.4, abs=0.011)
    assert len(frames) < 40
    frames.clear()
    studio.panel._slow = -1.0
    studio.panel.update()
    assert studio.panel.shown is None


def test_an_error_in_the_studio_is_said_on_its_page_once(studio: Workspace, capfd: pytest.CaptureFixture[str]) -> None:
    engine = begun(studio.session)

    def wrong() -> None:
        raise ValueError("<what> a page has sent")

    for _ in range(2):
        studio.panel._wishes.put(wrong)
        studio.update(0.1)
    said = [text for _, text in studio.session.notes if "a page has sent" in text]
    assert len(said) == 1 and "not in the run" in said[0]
    assert "in wrong" in capfd.readouterr().err
    assert studio.session.engine is engine and "&lt;what&gt;" in studio.panel._notes.content


def test_a_run_that_cannot_be_started_is_said_so(studio: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(job: Any) -> None:
        raise OSError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(run_session, "Engine", refused)
    studio.panel.press()
    assert ("error", "the run cannot be started: Resource temporarily unavailable") in studio.session.notes
    assert studio.session.state == "idle" and not studio.session.going


def test_controls_take_no_values_that_they_do_not_offer(studio: Workspace) -> None:
    studio.panel._speed.value = "at once"  # type: ignore[misc]
    assert studio.panel.rate(studio.source.case()) is None and studio.panel._speed.value in run_speeds()
    assert strength_of(2.0) == 100.0
    for power in (1e9, float("nan"), "much", None):
        assert strength_of(power) == 1.0
    studio.session.frames.add(frame(0.0))
    studio.panel._seek(-7)
    assert studio.panel.shown == 0


def run_speeds() -> Any:
    """What the menu of speeds offers."""
    from articulon.studio.run_panel import SPEEDS

    return SPEEDS


def test_an_engine_that_finishes_ends_no_other_run(session: RunSession) -> None:
    first = begun(session)
    first.said = [ENDED]
    session.poll()
    assert session.state == "ended"
    begun(session)
    first.said = [{"kind": "message", "text": "the report is there"}, GONE]
    session.poll()
    assert session.state == "running" and session.error is None
    assert session.notes[0] == ("", "the report is there")


def test_the_last_state_is_shown(session: RunSession) -> None:
    """An engine shows it before it says that the run has ended; it is gone when it is looked at no more."""
    engine = begun(session)
    engine.said = [ENDED, GONE]
    last = session.poll()
    assert last is not None and last.time == 5.0 and session.frames[-1].time == 5.0


def test_a_run_whose_engine_was_killed_can_be_gone_on_with(session: RunSession) -> None:
    engine = begun(session)
    assert session.folder is not None and session.case is not None
    done = ar.run(session.case, session.folder, report=False)
    summary = done.folder / "summary.json"
    summary.write_text(json.dumps({**json.loads(summary.read_text()), "status": "running"}))
    engine.said = [{"kind": "gone", "error": "ended by signal 9"}]
    session.poll()
    assert session.state == "ended" and session.can_go_on
    assert light_of(session.state, session.summary, session.error).colour == RED
    # Opened, a run that has failed is red, and is none that goes on.
    summary.write_text(json.dumps({**json.loads(summary.read_text()), "status": "failed"}))
    session.open(done.folder, session.case, session.case.build_model())
    assert not session.can_go_on
    assert light_of(session.state, session.summary, session.error) == (RED, "failed")


def test_of_a_long_run_some_frames_are_read(
    session: RunSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From the first to the last, as far apart everywhere; those of the others take no room."""
    case = load_case("double-pendulum", {**SHORT, "run.frames": 100})
    done = ar.run(case, tmp_path / "long", report=False)
    for most, every in ((20, 6), (2, 100), (1_000, 1)):
        some = with_some_frames(ar.open_run(done.folder), most)
        rows = [*range(0, 100, every), 100]
        assert len(rows) <= most
        assert np.array_equal(some.times, done.times[rows])
        for name in ("positions", "rotations", "q", "u"):
            assert np.array_equal(getattr(some, name), getattr(done, name)[rows]), name
    monkeypatch.setattr(run_session, "MOST_LOADED", 20)
    session.open(done.folder, case, case.build_model())
    assert len(session.frames) == 18 and session.frames.times[-1] == done.times[-1]
    assert session.observed.taken == 101


def test_what_is_kept_of_a_frame_keeps_nothing_else() -> None:
    """Neither what it was a part of, nor more coordinates than there is room for."""
    kept = LiveFrames(room=10 * 8_000)
    for number in range(100):
        large = np.full(100_000, float(number))
        kept.add(frame(float(number))._replace(edges=large[:9].reshape(3, 3), q=large[9:1009]))
    assert len(kept) <= 10
    for one in (kept[0], kept[-1]):
        assert one.edges is not None and one.q is not None
        assert one.edges.base is None or one.edges.base.size == 9
        assert one.q.base is None and one.q.size == 1000 and one.q[0] == one.time


def test_a_large_state_is_kept_of_the_last_frame_alone() -> None:
    """So that as many frames have room as without it; a small one is kept of each."""
    for size, has in ((LARGE // 8, True), (LARGE // 8 + 1, False)):
        kept = LiveFrames()
        for number in range(3):
            kept.add(frame(float(number))._replace(state=np.full(size, float(number))))
        assert [one.state is not None for one in (kept[0], kept[1], kept[2])] == [has, has, True]
        assert kept[2].state is not None and kept[2].state[0] == 2.0


def test_forces_are_drawn_at_the_state_on_show(studio: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """The weight of both rods, in a frame whose state is known; what cannot be evaluated is said."""
    engine, model = begun(studio.session), studio.session.model
    assert model is not None
    state = np.concatenate([model.q0, model.u0])
    shown = first_frame(model)._replace(time=0.5, state=state)
    engine.look = Look(1, 1, shown)
    studio._show_run(model, shown)
    studio.update(0.1)
    arrows = studio._arrows
    assert arrows is not None and arrows._handle is None
    studio.panel.forces.value = True
    studio.update(0.1)
    ends = np.asarray(arrows._handle.points)
    centres = shown.positions + np.einsum("kij,kj->ki", matrices(shown.rotations), model.centres)
    assert studio._view is not None
    np.testing.assert_allclose(ends[:, 0], studio._view.stage.places(centres), atol=1e-5)
    np.testing.assert_allclose(ends[:, 1] - ends[:, 0], np.full((2, 1), LONGEST * SIZE) * [[0, 0, -1]], atol=1e-5)
    # The scale follows the strongest force so far, here of a rod that a drive holds.
    model_forces = force_arrows.forces_on_bodies
    monkeypatch.setattr(force_arrows, "forces_on_bodies", lambda *of: model_forces(*of) * [[1.0], [4.0]])
    engine.look = Look(2, 2, shown._replace(time=0.6))
    studio.update(0.1)
    ends = np.asarray(arrows._handle.points)
    lengths = np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1)
    assert lengths == pytest.approx([LONGEST * SIZE / 4, LONGEST * SIZE])
    engine.look = Look(3, 3, shown._replace(time=0.7, state=None))
    studio.update(0.1)
    assert arrows._handle is None

    def refused(*of: Any) -> None:
        raise ModelError("the function 'drive' is not loaded")

    monkeypatch.setattr(force_arrows, "forces_on_bodies", refused)
    engine.look = Look(4, 4, shown._replace(time=0.8))
    studio.update(0.1)
    assert not studio.panel.forces.value and ("forces", "the function 'drive' is not loaded") in studio.session.notes


def test_the_clock_goes_on_within_a_long_chunk(studio: Workspace) -> None:
    """Where nothing is reported, but states are shown; a report that is older does not turn it back."""
    engine, session = begun(studio.session), studio.session
    report = {"kind": "progress", "time": 0.5, "step": 0.01, "steps": 50, "rate": None, "waits": False, "pulled": False}
    engine.said, engine.look = [report], Look(1, 50, frame(0.5))
    session.poll()
    assert (session.time, session.steps) == (0.5, 50)
    engine.look = Look(2, 70, frame(0.7))
    session.poll()
    assert (session.time, session.steps) == (0.7, 70)


def test_observables_have_a_bound_and_equal_distances() -> None:
    observed, whole = Observed(), Observed()
    count = 3 * MOST_KEPT
    times = 0.5 * np.arange(count)
    works = np.where(np.arange(count) == 7, -5.0, 0.25)
    for time, work in zip(times.tolist(), works.tolist(), strict=True):
        observed.take(time, {"work_potential": work, "kinetic_energy": time})
    whole.fill(times, {"time": times, "work_potential": works, "kinetic_energy": times})
    for one in (observed, whole):
        assert MOST_KEPT // 3 < len(one.times) <= MOST_KEPT + 1 and one.taken == count
        apart = np.diff(one.times)[:-1]
        assert one.times[0] == 0.0 and one.times[-1] == times[-1] and apart.min() == apart.max()
        assert one.values["kinetic_energy"] == one.times
        assert one.largest["work_potential"] == 5.0  # left out, and not forgotten


def test_a_mechanism_at_rest_has_no_locked_bodies() -> None:
    model = load_case("double-pendulum", SHORT).build_model()
    speeds = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    assert locked_bodies(model, speeds).tolist() == [[False, False], [False, True], [True, False], [False, False]]


def test_a_file_that_is_no_toml_is_shown_and_opened_when_it_is_mended(tmp_path: Path) -> None:
    file, text = tmp_path / "one.toml", load_case("double-pendulum", SHORT).to_toml()
    file.write_text(text.replace("[run]", "[run\n# <script>"))
    with opened(str(tmp_path)) as place:
        workspace = place.workspace(server_at(None))
        try:
            fault = workspace.panel.fault
            assert fault is not None and "is not valid TOML" in fault and workspace.editor is None
            assert "&lt;script&gt;" in workspace._broken_text.content
            file.write_text(text + "\n[")
            workspace._looked = -np.inf
            workspace.update(0.1)
            assert workspace.editor is None and workspace.panel.fault != fault
            file.write_text(text)
            workspace._looked = -np.inf
            workspace.update(0.1)
            assert workspace.panel.fault is None and workspace.editor is not None
            assert workspace.source.case().title == "Double pendulum"
        finally:
            workspace.close()


@pytest.mark.parametrize("wrong", ["duration = -1", "duration = ["])
def test_a_run_whose_case_is_at_fault_opens_with_its_faults(tmp_path: Path, wrong: str) -> None:
    done = ar.run(load_case("double-pendulum", SHORT), tmp_path / "run", report=False)
    case = done.folder / "case.toml"
    case.write_text(re.sub(r"duration = .*", wrong, case.read_text()))
    with opened(str(done.folder)) as place:
        workspace = place.workspace(server_at(None))
        try:
            assert workspace.panel.fault is not None
            heading, said = workspace.session.notes[0]
            assert heading == "error" and said.startswith(f"the run in {done.folder} cannot be shown: ")
            workspace.update(0.1)
            assert workspace.panel._run.disabled and not workspace.session.can_go_on
        finally:
            workspace.close()
