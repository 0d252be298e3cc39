"""Runs that pages steer: the same bits as others, whatever they are asked for, and what is written of pulls."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import articulon as ar
from articulon.cases.case_library_runs import run
from articulon.cases.loading import load_case
from articulon.simulation.interruption import ask_runs_to_stop
from articulon.simulation.pull_record import HEADING, PullRecord, PullRow, continue_pulls, pull_figures, read_pulls
from articulon.studio.engine_handle import frame_form
from articulon.studio.engine_link import Link
from articulon.studio.engine_pulls import EnginePulls, effective_mass
from articulon.studio.engine_steering import RATE, EngineSteering
from articulon.studio.force_arrows import MOST
from articulon.studio.pose_exchange import FrameForm, Look, PoseExchange
from articulon.studio.stage import Frame

SHORT = {"run.duration": "1 s", "run.frames": 20, "checks": []}
"""Of the double pendulum, in which it swings once."""


class Page:
    """What the other end of an engine's line hears, and whatever it answers to that at once."""

    def __init__(self, link: Link, answer: Callable[[Page, dict[str, Any]], None]) -> None:
        self.link, self.heard, self._answer = link, [], answer
        self._going = True
        self._thread = threading.Thread(target=self._listen)
        self._thread.start()

    def _listen(self) -> None:
        while self._going and not self.link.closed:
            for said in self.link.hear(0.005):
                self.heard.append(said)
                self._answer(self, said)

    def of_kind(self, kind: str) -> list[dict[str, Any]]:
        """What has been heard of a kind."""
        return [said for said in self.heard if said["kind"] == kind]

    def close(self) -> None:
        """Stop listening."""
        self._going = False
        self._thread.join()


@contextmanager
def page(answer: Callable[[Page, dict[str, Any]], None] = lambda page, said: None) -> Iterator[tuple[Link, Page]]:
    """The engine's end of a line, and a page at the other one."""
    mine, its = socket.socketpair()
    listening = Page(Link(mine), answer)
    link = Link(its)
    try:
        yield link, listening
    finally:
        listening.close()
        link.close()
        listening.link.close()
        ask_runs_to_stop(False)


def steered(
    folder: Path,
    answer: Callable[[Page, dict[str, Any]], None] = lambda page, said: None,
    resume: bool = False,
    overrides: dict[str, Any] | None = None,
    **how: Any,
) -> tuple[Any, Page, EngineSteering]:
    """A run of the double pendulum that a page steers, in this process."""
    case = load_case("double-pendulum", {**SHORT, **(overrides or {})})
    poses = PoseExchange.made(FrameForm(2, False, 0, False))
    with page(answer) as (link, heard):
        steering = EngineSteering(link, poses, EnginePulls(link, folder), **how)
        done = run(case, folder, resume, steering=steering)
        steering.last_look()
        link.finish(1.0)
        time.sleep(0.05)
    return done, heard, steering


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The run that nobody steers."""
    return ar.run("double-pendulum", tmp_path_factory.mktemp("plain") / "run", overrides=SHORT, report=False)


def test_a_run_on_a_page_has_the_bits_of_one_without(plain: Any, tmp_path: Path) -> None:
    """Also where its chunks are short, as it keeps to a speed, and where it is paused and stepped."""
    stepped: list[int] = []

    def answer(page: Page, said: dict[str, Any]) -> None:
        if said["kind"] == "progress" and said["waits"] and said["steps"] not in stepped:
            stepped.append(said["steps"])
            page.link.say("go" if len(stepped) > 3 else "step")

    done, heard, steering = steered(tmp_path / "run", answer, rate=2.0, waits=True)
    assert stepped == [0, 1, 2, 3]
    for name in ("times", "q", "u"):
        assert np.array_equal(getattr(done, name), getattr(plain, name))
    assert done.observables.keys() == plain.observables.keys()
    for name, values in plain.observables.items():
        assert np.array_equal(done.observables[name], values, equal_nan=True), name
    # What waits is none of the run's time, and one second at twice the speed takes half a second.
    assert steering.idle_seconds > 0.2
    assert done.summary["wall_seconds"] < steering.idle_seconds
    frames = heard.of_kind("frame")
    assert [frame["time"] for frame in frames] == pytest.approx(plain.times)
    assert [frame["values"]["kinetic_energy"] for frame in frames] == pytest.approx(plain.kinetic_energy)


def test_a_run_keeps_to_the_speed_that_is_asked_for(tmp_path: Path) -> None:
    began = time.monotonic()
    _, heard, _ = steered(tmp_path / "run", rate=1.0)
    assert time.monotonic() - began > 0.9
    rates = [said["rate"] for said in heard.of_kind("progress") if said["rate"] is not None]
    assert rates and rates[0] == pytest.approx(1.0, rel=0.1)


def test_the_page_is_shown_where_the_run_has_come_to(plain: Any, tmp_path: Path) -> None:
    case = load_case("double-pendulum", SHORT)
    poses = PoseExchange.made(frame_form(case, plain.model))
    with page() as (link, _):
        steering = EngineSteering(link, poses, EnginePulls(link, tmp_path / "run"))
        run(case, tmp_path / "run", steering=steering)
        steering.last_look()
    look = poses.latest()
    assert look is not None and look.number > 1 and look.steps == plain.summary["steps"]
    assert look.frame.time == plain.times[-1] and look.frame.edges is None
    assert np.array_equal(look.frame.positions, plain.positions[-1])
    assert np.array_equal(look.frame.rotations, plain.rotations[-1])
    assert look.frame.state is not None
    assert np.array_equal(look.frame.state, [*plain.q[-1], *plain.u[-1]])
    assert poses.latest(look.number) is None


@pytest.mark.parametrize("single", [False, True], ids=["double", "single"])
def test_a_frame_in_shared_memory_is_whole_or_none(single: bool) -> None:
    """Written without end while it is read: every frame that is read is one that was written."""
    poses = PoseExchange.made(FrameForm(500, True, 0, False, single=single))
    going = threading.Event()

    def write() -> None:
        number = 0
        while not going.is_set():
            number += 1
            filled = np.full((500, 4), float(number))
            poses.put(Frame(filled[:, :3], filled, float(number), filled[:3, :3]), number)

    thread = threading.Thread(target=write)
    thread.start()
    some: list[Look] = []
    end = time.monotonic() + 10.0
    while len(some) < 200 and time.monotonic() < end:
        look = poses.latest(some[-1].number if some else 0)
        some += [] if look is None else [look]
    going.set()
    thread.join()
    assert len(some) == 200
    for look in some:
        for part in look.frame[:2]:
            assert (part == look.frame.time).all() and look.steps == look.frame.time


@pytest.mark.parametrize("state", [0, 5], ids=["large", "small"])
def test_coordinates_are_in_shared_memory_once(state: int) -> None:
    """On their own, or as the beginning of the state."""
    form = FrameForm(1, False, 3, False, state)
    assert form.layout.itemsize == 8 * (1 + 1 + 9 + 3 + 4 + max(state, 3))
    poses, numbers = PoseExchange.made(form), np.arange(5.0)
    turn = np.array([[1.0, 0.0, 0.0, 0.0]])
    poses.put(Frame(np.zeros((1, 3)), turn, 0.0, None, numbers[:3], state=numbers if state else None), 1)
    look = poses.latest()
    assert look is not None and look.frame.q is not None and look.frame.q.tolist() == [0.0, 1.0, 2.0]
    assert (None if look.frame.state is None else look.frame.state.size) == (state or None)


@pytest.mark.parametrize(
    ("bodies", "single", "rate"), [(MOST, False, RATE), (MOST + 1, True, RATE), (20_000, True, 27.1)]
)
def test_many_bodies_are_shown_in_single_precision_and_as_often_as_a_page_can_receive(
    bodies: int, single: bool, rate: float, tmp_path: Path
) -> None:
    """Six and a half million bytes of positions in a second, of twelve bytes each."""
    b = ar.ModelBuilder(units="kg-m-s")
    b.add_bodies(bodies, mass=1.0, inertia=0.1, joint=ar.Free())
    form = frame_form(load_case("double-pendulum"), b.build())
    poses = PoseExchange.made(form)
    places, turns = np.random.default_rng(1).normal(size=(bodies, 3)), np.tile([0.6, 0.0, 0.0, 0.8], (bodies, 1))
    state = np.arange(13.0 * bodies) if bodies <= MOST else None
    poses.put(Frame(places, turns, 0.25, None, state=state), 7)
    look = poses.latest()
    assert look is not None and (look.steps, look.frame.time) == (7, 0.25)
    kind = np.float32 if single else np.float64
    assert look.frame.positions.dtype == look.frame.rotations.dtype == kind
    assert np.array_equal(look.frame.positions, places.astype(kind))
    assert np.array_equal(look.frame.rotations, turns.astype(kind))
    assert (look.frame.state is None) == single and look.frame.edges is None
    with page() as (link, _):
        steering = EngineSteering(link, poses, EnginePulls(link, tmp_path / "run"))
    assert 1.0 / steering.often == pytest.approx(rate, rel=0.02)


def test_a_run_whose_page_is_gone_saves_its_state_and_goes_on_to_the_same_bits(plain: Any, tmp_path: Path) -> None:
    def leave(page: Page, said: dict[str, Any]) -> None:
        if said["kind"] == "progress" and said["time"] > 0.3:
            page.link.close()

    folder = tmp_path / "run"
    with pytest.raises(KeyboardInterrupt):
        steered(folder, leave, rate=1.0)
    assert json.loads((folder / "summary.json").read_text())["status"] == "interrupted"
    done = ar.run("double-pendulum", folder, resume=True, overrides=SHORT, report=False)
    assert np.array_equal(done.q, plain.q) and np.array_equal(done.u, plain.u)


def pulling(page: Page, said: dict[str, Any]) -> None:
    """Pulls on the lower rod from 0.2 s to 0.6 s, and moves the target once."""
    if said["kind"] != "progress":
        return
    if said["time"] > 0.6:
        page.link.say("let_go")
    elif said["time"] > 0.2:
        target = [0.5, 0.0, 1.0 if said["time"] < 0.4 else 0.5]
        page.link.say("pull", body=1, point=[0.0, 0.0, -0.5], target=target, strength=1.0)


@pytest.fixture(scope="module")
def pulled(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Page, EngineSteering]:
    """A run that a page pulls on."""
    return steered(tmp_path_factory.mktemp("pulled") / "run", pulling, rate=0.5)


def test_the_work_of_a_pull_is_booked(pulled: tuple[Any, Page, EngineSteering]) -> None:
    """T − T₀ = ΣW to the tolerance of the rule, though energy comes and goes through the spring."""
    done = pulled[0]
    energy = done.kinetic_energy + done.observables["energy_external"]
    assert np.abs(energy - energy[0]).max() > 1.0
    assert np.abs(done.observables["energy_balance"]).max() < 1e-9 * np.abs(done.observables["work_external"]).max()


def test_a_spring_that_has_let_go_is_gone(pulled: tuple[Any, Page, EngineSteering]) -> None:
    """The energy of the pendulum stays what it is by then."""
    done = pulled[0]
    energy = done.kinetic_energy + done.observables["energy_external"]
    after = energy[done.times > read_pulls(done.folder)[-1].time]
    assert len(after) > 3 and np.ptp(after) < 1e-6 * np.abs(after).max()


def test_a_run_that_was_pulled_on_says_so(pulled: tuple[Any, Page, EngineSteering], plain: Any) -> None:
    done, heard, _ = pulled
    rows = read_pulls(done.folder)
    assert [row.body for row in rows] == ["lower"] * len(rows)
    assert rows[0].stiffness > 0.0 and rows[-1].stiffness == 0.0 and 0.2 < rows[0].time < 0.6
    assert {row.target[2] for row in rows} == {1.0, 0.5}
    assert done.summary["pulls"]["pulls"] == 1 and done.summary["pulls"]["bodies"] == ["lower"]
    (note,) = [note for note in done.summary["notes"] if "pulled by hand" in note]
    assert "once, on 'lower'" in note and "pulls.csv" in note
    # What the spring does has no energy function: the work of the channel is not held against that of gravity.
    assert done.summary["conservative_works"]["external"]["error"] is None
    assert "pulls" not in plain.summary and plain.summary["conservative_works"]["external"]["error"] < 1e-9
    assert any(said["pulled"] for said in heard.of_kind("progress"))
    # Until somebody pulls, it is the run that the case gives.
    before = done.times < rows[0].time
    assert np.array_equal(done.q[before], plain.q[before])
    assert not np.array_equal(done.q[-1], plain.q[-1])


def test_a_pull_on_what_cannot_be_moved_is_refused(tmp_path: Path) -> None:
    asked: list[bool] = []

    def answer(page: Page, said: dict[str, Any]) -> None:
        if said["kind"] == "progress" and not asked:
            asked.append(True)
            page.link.say("pull", body=0, point=[0.0, 0.0, 0.0], target=[0.0, 0.0, 0.0], strength=1.0)

    # Its origin is on the axis, and moves in no direction.
    done, heard, _ = steered(tmp_path / "run", answer, rate=2.0)
    (refusal,) = heard.of_kind("refused")
    assert "body 'upper' cannot be moved at this point" in refusal["text"]
    assert done.summary["status"] == "complete" and not (done.folder / "pulls.csv").exists()


def test_pulls_after_the_state_that_a_run_goes_on_from_are_taken_back(tmp_path: Path) -> None:
    record = PullRecord(tmp_path)
    held = PullRow(10, 0.1, 'a, "b"', (0.0, 0.0, 0.0), (1.0, 2.0, 3.0), 5.0, 1.0, 0.0)
    moved = held._replace(step=20, time=0.2, target=(2.0, 2.0, 3.0), work=0.5)
    for row in (held, moved, moved._replace(step=30, time=0.3, stiffness=0.0, damping=0.0)):
        record.add(row)
    assert record.path.read_text().splitlines()[0] == ",".join(HEADING)
    assert read_pulls(tmp_path)[:2] == [held, moved]
    figures = pull_figures(tmp_path)
    assert figures is not None and (figures["pulls"], figures["first"], figures["last"]) == (1, 0.1, 0.3)
    continue_pulls(tmp_path, 15, 0.15)
    assert read_pulls(tmp_path) == [held, held._replace(step=15, time=0.15, stiffness=0.0, damping=0.0)]
    continue_pulls(tmp_path, 5, 0.05)
    assert not record.path.exists() and pull_figures(tmp_path) is None
    record.path.write_text("something else\n")
    with pytest.raises(ar.ArticulonError, match="expected the heading"):
        read_pulls(tmp_path)


def test_the_mass_at_the_end_of_a_rod() -> None:
    """A rod on a pin with the moment I about it: a force across it at a distance l is resisted by I/l², and one along
    it or along the pin by the pin alone."""
    builder = ar.ModelBuilder(units="kg-m-s")
    builder.add_body(
        "rod", mass=2.0, inertia=(0.3, 0.3, 0.1), com=(0, 0, -0.5), joint=ar.Revolute(axis=(0, 1, 0)), q=0.7
    )
    model = builder.build()
    moment = 0.3 + 2.0 * 0.25
    assert effective_mass(model, model.q0, 0, np.array([0.0, 0.0, -0.8])) == pytest.approx(moment / 0.64)
