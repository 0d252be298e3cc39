"""Work in a second process: figures of a report, and what is kept of the definitions of units."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from contextlib import nullcontext
from pathlib import Path

import pytest
from matplotlib.figure import Figure

from articulon.report import style
from articulon.report.beside import beside

FORKS = sys.platform == "linux" and len(os.sched_getaffinity(0)) > 1


def drawn(count: int) -> dict[str, Figure]:
    figures = {f"figure{k}": Figure() for k in range(count)}
    for k, figure in enumerate(figures.values()):
        figure.subplots().plot([0.0, 1.0], [k, 1.0 + k])
    return figures


@pytest.mark.parametrize("count", [0, 1, 2, 5])
def test_figures_are_the_same_whoever_draws_them(count: int) -> None:
    alone = {name: style.svg(figure, name) for name, figure in drawn(count).items()}
    shared = style.svgs(drawn(count))
    assert shared == alone and list(shared) == list(alone)


@pytest.mark.skipif(not FORKS, reason="needs a second core, and Linux")
def test_the_result_comes_from_another_process(monkeypatch: pytest.MonkeyPatch) -> None:
    # Threads that other tests of this process have left would have it work alone.
    monkeypatch.setattr(threading, "active_count", lambda: 1)
    with beside(os.getpid) as result:
        found = result()
    assert isinstance(found, int) and found != os.getpid()


def _fail() -> None:
    raise ValueError("no")


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def children() -> list[str]:
    """Processes of this one, ended ones among them; other tests may have left some."""
    return sorted(Path("/proc/self/task").joinpath(str(os.getpid()), "children").read_text().split())


@pytest.mark.skipif(not FORKS, reason="needs a second core, and Linux")
@pytest.mark.parametrize("work", [_fail, _die])
def test_work_that_fails_gives_nothing(work, capfd: pytest.CaptureFixture[str]) -> None:
    before = children()
    with beside(work) as result:
        assert result() is None
    assert capfd.readouterr() == ("", "")
    assert children() == before


def test_figures_that_fail_there_are_drawn_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(style, "beside", lambda work: nullcontext(lambda: None))
    assert style.svgs(drawn(3)) == {name: style.svg(figure, name) for name, figure in drawn(3).items()}


@pytest.mark.skipif(not FORKS, reason="needs a second core, and Linux")
def test_no_process_and_no_pipe_is_left_where_this_one_fails() -> None:
    """It is the other one's large result that would wait for a reader for ever."""
    processes, before = children(), os.listdir("/proc/self/fd")
    with pytest.raises(KeyboardInterrupt), beside(lambda: bytes(10_000_000)):
        raise KeyboardInterrupt
    assert children() == processes
    assert os.listdir("/proc/self/fd") == before


@pytest.mark.skipif(not FORKS, reason="needs a second core, and Linux")
@pytest.mark.parametrize("name", ["fork", "pipe"])
def test_where_the_system_has_no_room_there_is_no_second_process(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> None:
        raise BlockingIOError("no room")

    monkeypatch.setattr(os, name, refuse)
    before = os.listdir("/proc/self/fd")
    with beside(os.getpid) as result:
        assert result() is None
    assert os.listdir("/proc/self/fd") == before


def test_beside_other_threads_there_is_no_second_process() -> None:
    done = threading.Event()
    thread = threading.Thread(target=done.wait)
    thread.start()
    try:
        with beside(os.getpid) as result:
            assert result() is None
    finally:
        done.set()
        thread.join()


READS = (
    "from articulon.units import unit_system; print(unit_system('fg-um-us').value('0.89 mPa s', 'viscosity', 'here'))"
)


def reading(cache: Path) -> str:
    environment = {**os.environ, "ARTICULON_CACHE_DIR": str(cache)}
    done = subprocess.run([sys.executable, "-c", READS], env=environment, capture_output=True, text=True, check=True)
    return done.stdout + done.stderr


@pytest.mark.slow
def test_units_are_read_whatever_is_kept_of_their_definitions(tmp_path: Path) -> None:
    """Kept, damaged, in a folder that others may write to, and where none can be."""
    first = reading(tmp_path / "a")
    kept = sorted((tmp_path / "a" / "units").glob("*.pickle"))
    assert kept and reading(tmp_path / "a") == first
    for file in kept:
        file.write_bytes(file.read_bytes()[:100])
    assert reading(tmp_path / "a") == first and not any(file.exists() for file in kept)
    theirs = tmp_path / "b"
    (theirs / "units").mkdir(parents=True)
    (theirs / "units").chmod(0o777)
    assert reading(theirs) == first and not list((theirs / "units").iterdir())
    (tmp_path / "c").write_text("a file")
    assert reading(tmp_path / "c") == first
