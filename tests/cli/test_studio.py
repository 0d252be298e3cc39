"""The studio without a browser: what its pages are told, what they may ask for, and what the command refuses."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner
from websockets.exceptions import InvalidStatus

import articulon as ar
from articulon.cases.case import Case
from articulon.cases.loading import load_case
from articulon.cli import app
from articulon.errors import CaseError
from articulon.studio.live_frames import LiveFrames
from articulon.studio.live_plots import Observed, ledger_table
from articulon.studio.opening import opened
from articulon.studio.page_access import NO_WEBGL
from articulon.studio.run_session import free_folder
from articulon.studio.run_words import GREEN, GREY, RED, light_of, note_box, pace_text
from articulon.studio.stage import Frame
from articulon.studio.workspace import Workspace
from articulon.units import unit_system
from tests.support.live_studio import live_studio, port_of
from tests.support.page_client import PageClient

SHORT = {"run.duration": "0.5 s", "run.frames": 10, "checks": []}


class Given:
    """A case, or why there is none."""

    def __init__(self, case: Case | str) -> None:
        self._case = case

    def case(self) -> Case:
        """See :class:`articulon.studio.case_source.CaseSource`."""
        if isinstance(self._case, str):
            raise CaseError(self._case)
        return self._case

    def on_change(self, callback: object) -> None:
        """It never does."""


@pytest.fixture
def studio(tmp_path: Path) -> Iterator[Workspace]:
    """A studio that shows the double pendulum."""
    with live_studio(Given(load_case("double-pendulum", SHORT)), tmp_path / "runs") as workspace:
        yield workspace


def told(page: PageClient, words: str) -> bool:
    """Whether some words stand on a page."""
    return any(words in str(control.get("content", "")) for control in page.controls.values())


def rods(page: PageClient) -> np.ndarray:
    """Middles of the rods on a page, shape (rods, 3)."""
    return np.asarray(page.nodes["/rods"]["batched_positions"]).reshape(-1, 3)


@pytest.mark.slow
def test_a_case_is_run_by_a_button_and_every_page_sees_it(studio: Workspace) -> None:
    """The engine's process takes some seconds to load what it runs with."""
    pages = [PageClient(port_of(studio)) for _ in range(2)]
    for page in pages:
        page.listen(lambda page: "/rods" in page.nodes and told(page, "not run yet"))
    begun = rods(pages[0]).copy()
    button, _ = pages[0].control("GuiButtonMessage", "Run")
    pages[0].change(button, True)
    for page in pages:
        page.listen(lambda page: told(page, "complete; not scaled"), patience=120.0)
        page.listen(lambda page: told(page, "500\u00a0ms of 500\u00a0ms"))
        assert page.controls[button]["label"] == "Run again"
        assert np.abs(rods(page) - begun).max() > 0.1
    assert rods(pages[1]) == pytest.approx(rods(pages[0]))
    folder = studio.session.folder
    assert folder is not None
    done, plain = ar.open_run(folder), ar.run("double-pendulum", folder.parent / "plain", overrides=SHORT, report=False)
    assert np.array_equal(done.q, plain.q)
    # The slider goes over all frames that the folder has, the first of which is where it began.
    slider, control = pages[0].control("GuiSliderMessage", "frame")
    assert control["max"] >= 10
    pages[0].change(slider, 0)
    for page in pages:
        page.listen(lambda page: np.allclose(rods(page), begun, atol=1e-5))
    # Once more, in another folder, and stopped on its way.
    pages[0].change(button, True)
    pages[0].listen(lambda page: told(page, "the results go to") and studio.session.folder != folder, patience=30.0)


def test_a_case_that_is_none_is_shown_with_its_faults(tmp_path: Path) -> None:
    fault = "pendulum.toml: model.bodies[0].mass: expected <b>a mass</b>, got 'heavy'"
    with live_studio(Given(fault), tmp_path) as workspace:
        page = PageClient(port_of(workspace))
        page.listen(lambda page: told(page, "this case cannot be run yet") and told(page, "expected &lt;b&gt;a mass"))
        assert not told(page, "<b>a mass</b>")
        assert page.control("GuiButtonMessage", "Run")[1]["disabled"]


def test_what_others_have_written_is_escaped() -> None:
    text = note_box([("error", '<script>alert("body")</script>\x1b[2J')])
    assert "<script>" not in text and "\x1b" not in text and "&lt;script&gt;" in text


def asked(port: int, path: str, **headers: str) -> tuple[int, str, str]:
    """Status, body and cookie of what a server answers."""
    connection = HTTPConnection("127.0.0.1", port, timeout=10)
    connection.request("GET", path, headers={"Connection": "close", **headers})
    answer = connection.getresponse()
    found = answer.status, answer.read().decode(), answer.getheader("Set-Cookie") or ""
    connection.close()
    return found


def test_pages_without_the_token_are_refused(tmp_path: Path) -> None:
    with live_studio(Given(load_case("double-pendulum")), tmp_path, token="a-secret") as workspace:
        port = port_of(workspace)
        for path in ("/", "/?token=another", "/?token="):
            status, body, _ = asked(port, path)
            assert status == 403 and "token" in body
        with pytest.raises(InvalidStatus, match="403"):
            PageClient(port)
        status, body, cookie = asked(port, "/?token=a-secret")
        assert status == 200 and "HttpOnly" in cookie and "SameSite=Strict" in cookie
        # What a browser without WebGL says stands in the page itself.
        assert NO_WEBGL in body and "<title>articulon</title>" in body
        assert asked(port, "/", Cookie=cookie.split(";")[0])[0] == 200
        page = PageClient(port, cookie=cookie.split(";")[0])
        page.listen(lambda page: "/rods" in page.nodes)


@pytest.mark.parametrize("path", ["/../../../etc/passwd", "/%2e%2e/%2e%2e/pyproject.toml", "/case.toml"])
def test_no_file_is_served_but_those_of_the_page(studio: Workspace, path: str) -> None:
    assert asked(port_of(studio), path)[0] == 404


def test_a_host_that_others_reach_needs_a_token() -> None:
    from articulon.studio.page_server import server_at

    with pytest.raises(ar.ArticulonError, match="pages need a token"):
        server_at(None, "0.0.0.0")


def test_a_second_studio_on_a_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "one.toml").write_text(load_case("double-pendulum").to_toml())
    with opened(str(tmp_path)):
        result = CliRunner().invoke(app, ["studio", str(tmp_path / "one.toml"), "--no-open"])
        assert result.exit_code == 2
        assert "a studio is open on this folder already (process" in result.stderr
        assert "end it by Ctrl-C in its terminal" in result.stderr
    with opened(str(tmp_path)) as place:
        assert place.home == tmp_path.resolve() and place.source.case().title == "Double pendulum"
    assert [file.name for file in tmp_path.iterdir()] == ["one.toml"]


def test_a_folder_of_several_cases_asks_which(tmp_path: Path) -> None:
    for name in ("one.toml", "two.toml"):
        (tmp_path / name).write_text(load_case("double-pendulum").to_toml())
    result = CliRunner().invoke(app, ["studio", str(tmp_path), "--no-open"])
    assert result.exit_code == 2 and "there are 2 cases here (one.toml, two.toml)" in result.stderr


def test_a_port_that_is_taken_is_refused() -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        result = CliRunner().invoke(app, ["studio", "double-pendulum", "--no-open", "--port", str(port)])
    assert result.exit_code == 2 and f"port {port} is in use by another program" in result.stderr


@pytest.mark.slow
@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGKILL])
def test_a_studio_that_is_ended_leaves_a_run_that_goes_on(tmp_path: Path, end: signal.Signals) -> None:
    """Two processes load what they run with: the studio, and the engine, which is left behind by the second signal."""
    case = tmp_path / "slow.toml"
    case.write_text(load_case("double-pendulum", {**SHORT, "run.duration": "20 s", "run.frames": 400}).to_toml())
    command = [sys.executable, "-m", "articulon", "studio", str(case), "--no-open"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stderr is not None
        line = process.stdout.readline()
        page = PageClient(int(line.split("127.0.0.1:")[1].split()[0]))
        page.listen(lambda page: "/rods" in page.nodes and told(page, "not run yet"))
        speed, _ = page.control("GuiDropdownMessage", "speed")
        page.change(speed, "real time")
        page.change(page.control("GuiButtonMessage", "Run")[0], True)
        page.listen(lambda page: told(page, "running") and told(page, "× real time"), patience=120.0)
        process.send_signal(end)
        process.wait(timeout=60)
        rest = process.stdout.read()
    folder = tmp_path / "runs" / "double-pendulum"
    deadline = time.monotonic() + 30.0
    while ar.open_run(folder).summary["status"] != "interrupted" and time.monotonic() < deadline:
        time.sleep(0.1)
    assert ar.open_run(folder).summary["status"] == "interrupted"
    if end == signal.SIGINT:
        assert process.returncode == 0 and f"articulon studio {folder}" in rest
    done = ar.run(case, folder, resume=True, report=False)
    assert done.summary["status"] == "complete"


def frame(time: float, bodies: int = 100) -> Frame:
    """Some poses."""
    return Frame(np.full((bodies, 3), time), np.ones((bodies, 4)), time, None)


def test_frames_that_are_kept_have_a_bound_and_equal_distances() -> None:
    """Of a thousand, at most fifty fit: they are there from the first to the last, as far apart everywhere."""
    kept = LiveFrames(room=50 * 100 * 7 * 4)
    for number in range(1000):
        kept.add(frame(0.1 * number))
        assert len(kept) <= 50 and kept[-1].time == pytest.approx(0.1 * number)
    times = kept.times
    assert times[0] == 0.0 and len(kept) > 20
    apart = np.diff(times)[:-1]
    assert apart.max() == pytest.approx(apart.min())
    kept.add(frame(1.0))  # earlier than the last
    assert len(kept) == len(times)


def test_what_is_observed_is_drawn_in_groups_and_summed() -> None:
    observed = Observed()
    for at in (0.0, 1.0, 2.0):
        values = {"kinetic_energy": at, "energy_potential": 3.0 - at, "energy_balance": 0.0, "work_potential": at}
        observed.take(at, values)
    assert observed.members("energies") == ["kinetic_energy", "energy_potential"]
    assert observed.values["kinetic and potential energy"] == [3.0, 3.0, 3.0]
    assert observed.members("works") == ["work_potential"] and observed.members("fidelity") == []
    assert set(observed.choices()) >= {"energies", "works", "energy_balance"}
    table = ledger_table(observed, unit_system("kg-m-s"))
    assert "<td>potential</td>" in table and "kinetic 2" in table


PASSED, FAILED = {"passed": True, "what": "speed"}, {"passed": False, "what": "energy"}
TRUSTED = {"verdict": "trusted", "tolerance": 0.05}


@pytest.mark.parametrize(
    "state, summary, error, colour, words",
    [
        ("idle", None, None, GREY, "not run yet"),
        ("idle", None, "x", RED, "this case cannot be run yet"),
        ("ended", None, "x", RED, "failed"),
        (
            "ended",
            {"status": "failed", "fidelity": {"verdict": "violated", "tolerance": 0.05}},
            "x",
            RED,
            "failed; verdict violated",
        ),
        ("ended", {"status": "interrupted"}, None, GREY, "stopped; Run continues from here"),
        ("ended", {"status": "complete", "checks": [PASSED]}, None, GREEN, "complete; its check passed; not scaled"),
        ("ended", {"status": "complete", "checks": [FAILED]}, None, RED, "complete; check failed: energy"),
        (*("ended", {"status": "complete", "fidelity": TRUSTED}, None), GREEN, "complete; trusted: errors below 5 %"),
    ],
)
def test_the_light_says_how_a_run_stands(state: str, summary: dict | None, error: str | None, colour: str, words: str):
    assert light_of(state, summary, error) == (colour, words)


def test_the_pace_is_told_in_units_of_the_world() -> None:
    assert pace_text(unit_system("kg-m-s"), 2.5) == "2.5 × real time"
    assert pace_text(unit_system("fg-um-us"), 0.07).startswith("252\u00a0µs per hour (7·10⁻⁸")
    assert pace_text(unit_system("lj"), 2.0) == "7\u202f200 per hour"
    assert pace_text(unit_system("lj"), None) == ""


def test_a_run_never_goes_into_the_folder_of_another(tmp_path: Path) -> None:
    assert free_folder(tmp_path, "a") == tmp_path / "a"
    (tmp_path / "a").mkdir()
    assert free_folder(tmp_path, "a") == tmp_path / "a"
    (tmp_path / "a" / "case.toml").touch()
    assert free_folder(tmp_path, "a") == tmp_path / "a-2"
