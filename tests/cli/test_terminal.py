"""What goes to the terminal cannot steer it, and what the system refuses is one message."""

from __future__ import annotations

import ast
import contextlib
import doctest
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from typer.testing import CliRunner, Result

import articulon as ar
from articulon import cli, terminal
from articulon.cli.output import echo
from articulon.errors import ArticulonError, CaseError, CheckpointError
from articulon.terminal import printable
from tests.support.run_cases import BALL, case_of

pytestmark = pytest.mark.usefixtures("undrawn")
CLEAR = "\x1b[2J\x1b]0;owned\x07"
"""Clears the screen and gives the window another title."""
FALLING = BALL + '[[forces]]\nkind = "gravity"\nacceleration = [0, 0, -1]\n'


def invoke(*arguments: str) -> Result:
    return CliRunner().invoke(cli.app, list(arguments), env={"COLUMNS": "1000", "NO_COLOR": "1"})


def harmless(text: str) -> bool:
    return all(letter in "\n\t" or letter.isprintable() or letter in "\xa0\u202f" for letter in text)


# What would steer a terminal


@pytest.mark.parametrize(
    "text, shown",
    [
        ("arm 1.0 µm\n\tβ = 2", "arm 1.0 µm\n\tβ = 2"),
        ("a\x1b[31mb", "a\\x1b[31mb"),
        ("12\r99", "12\\r99".replace("\\r", "\\x0d")),
        ("\x07\x08\x7f\x00", "\\x07\\x08\\x7f\\x00"),
        ("\x9b2J\x85", "\\x9b2J\\x85"),
        ("\u202egnp.exe", "\\u202egnp.exe"),
        ("\udcff", "\\udcff"),
        (Path("a\x1bb"), "a\\x1bb"),
    ],
)
def test_what_would_steer_a_terminal_is_written_out(text: Any, shown: str) -> None:
    assert printable(text) == shown


def test_the_examples_hold() -> None:
    found = doctest.testmod(terminal)
    assert found.attempted and not found.failed


def test_a_message_and_what_is_echoed_are_harmless(capsys: pytest.CaptureFixture[str]) -> None:
    cli.fail(f"no body '{CLEAR}'")
    echo(f"note {CLEAR}")
    out, err = capsys.readouterr()
    assert err == "error: no body '\\x1b[2J\\x1b]0;owned\\x07'\n"
    assert out == "note \\x1b[2J\\x1b]0;owned\\x07\n"


@pytest.mark.slow
def test_names_of_a_case_do_not_reach_the_terminal_as_they_are(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    escaped = CLEAR.replace("\x1b", "\\u001b").replace("\x07", "\\u0007")
    named = FALLING.replace('"ball"', f'"{escaped}"').replace(
        "[case]", f'[case]\ntitle = "{escaped}"\nnotes = "{escaped}"'
    )
    (tmp_path / "sent.toml").write_text(named, encoding="utf-8")
    strange = "a\x1b[2Jb.toml"
    (tmp_path / strange).write_text("[run]\nduration = \n", encoding="utf-8")
    for arguments in (
        ("run", "sent.toml"),
        ("run", "sent.toml", "--resume"),
        ("run", "sent.toml", "--set", "run.stop.body=other"),
        ("run", strange),
        ("run", "sent.toml", "--set", f"run.{CLEAR}=1"),
        ("report", f"{CLEAR}"),
        ("cases", "sent.toml"),
        ("analyse", "sent.toml"),
        ("compare", "sent.toml", "--vary", "integrator.rtol=1e-5"),
    ):
        result = invoke(*arguments)
        assert harmless(result.stdout), arguments
        assert harmless(result.stderr), arguments
        assert result.exception is None or isinstance(result.exception, SystemExit), arguments


def test_what_a_run_shows_is_harmless() -> None:
    import io

    for is_terminal in (False, True):
        screen = io.StringIO()
        progress = cli.RunProgress(Console(file=screen, force_terminal=is_terminal, width=120, highlight=False))
        progress.start(4.0, "us", 0.0)
        progress.message(f"scaling {CLEAR}")
        progress.finish(f"reached {CLEAR}")
        assert CLEAR not in screen.getvalue() and "\x07" not in screen.getvalue()


def test_no_command_prints_past_what_makes_text_harmless() -> None:
    folder = Path(cli.__file__).parent
    for path in folder.glob("*.py"):
        if path.name == "output.py":
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                called = ast.unparse(node.func)
                assert called not in ("typer.echo", "typer.secho", "print", "sys.stdout.write", "sys.stderr.write"), (
                    path
                )


# What the system refuses

LONG = "x" * 300
REFUSED: dict[str, Callable[[Path], Any]] = {
    "a name that is too long": lambda folder: folder / LONG,
    "a path of many folders": lambda folder: folder.joinpath(*["deep"] * 900),
    "a file": lambda folder: folder / "file",
    "in a file": lambda folder: folder / "file" / "run",
    "a name with a zero": lambda folder: str(folder / "a\0b"),
}


@pytest.mark.parametrize("where", REFUSED)
def test_a_folder_that_cannot_be_is_refused_in_words(tmp_path: Path, where: str) -> None:
    (tmp_path / "file").write_text("mine")
    place = REFUSED[where](tmp_path)
    case = case_of(tmp_path, FALLING)
    for resume in (False, True):
        with pytest.raises(ArticulonError, match=r"choose another folder|run, out: expected a path"):
            ar.run(case, place, resume=resume)
    with pytest.raises(ArticulonError, match=r"give the folder of a run|expected a path"):
        ar.open_run(place)
    for arguments in (
        ("run", str(tmp_path / "a-case.toml"), "--out", str(place)),
        ("run", str(tmp_path / "a-case.toml"), "--out", str(place), "--resume"),
        ("report", str(place)),
        ("export", str(place), "--gsd"),
        ("compare", str(tmp_path / "a-case.toml"), "--vary", "integrator.rtol=1e-5,1e-6", "--out", str(place)),
    ):
        if "\0" in str(place):  # which no shell can hand over
            continue
        result = invoke(*arguments)
        assert result.exit_code == 2, (arguments, result.output)
        assert isinstance(result.exception, SystemExit)
        assert "error: " in result.stderr and "Traceback" not in result.output
    assert sorted(os.listdir(tmp_path)) == ["a-case.toml", "file"]
    assert (tmp_path / "file").read_text() == "mine"


@pytest.mark.parametrize("name", [LONG, f"{LONG}.toml", "a\0b.toml", "file/case.toml"])
def test_a_case_that_cannot_be_found_is_refused_in_words(tmp_path: Path, monkeypatch: Any, name: str) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("mine")
    for given in (name, Path(name)):
        with pytest.raises(CaseError, match=r"cannot be read|no such file|no built-in case"):
            ar.load_case(given)


@pytest.mark.parametrize("command", ["cases", "cite", "run", "analyse", "compare", "tune", "advise"])
@pytest.mark.parametrize("content", [FALLING.encode("utf-16"), b"[case]\n# \xb5m\n"])
def test_a_file_in_another_encoding_is_refused_in_words(tmp_path: Path, command: str, content: bytes) -> None:
    file = tmp_path / "case.toml"
    file.write_bytes(content)
    result = invoke(command, str(file))
    assert result.exit_code == 2 and isinstance(result.exception, SystemExit)
    assert f"{file}: is not UTF-8 text" in result.stderr and "Traceback" not in result.output


def test_a_case_is_printed_without_the_mark_of_its_encoding(tmp_path: Path) -> None:
    file = tmp_path / "case.toml"
    file.write_bytes(b"\xef\xbb\xbf" + FALLING.encode())
    assert invoke("cases", str(file)).stdout == FALLING


def as_somebody_without_rights(action: Callable[[], object]) -> int:
    """How an action ends in a process of its own that has no more rights than others; 0 where it returns."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            if os.geteuid() == 0:
                os.setegid(65534)
                os.seteuid(65534)
            action()
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def test_a_folder_without_permission_is_refused_in_words(tmp_path: Path) -> None:
    case = case_of(tmp_path, FALLING)
    # Pytest's own folders let nobody else in.
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        for closed, mode in (("closed", 0o000), ("readable", 0o555)):
            (folder / closed).mkdir()
            (folder / closed).chmod(mode)

        def try_all() -> None:
            for place in ("closed", "closed/run", "readable", "readable/run"):
                for resume in (False, True):
                    with pytest.raises(ArticulonError, match=r"cannot be written to: Permission denied"):
                        ar.run(case, folder / place, resume=resume)
                with pytest.raises(ArticulonError, match=r"Permission denied|holds no run"):
                    ar.open_run(folder / place)
                with pytest.raises(CaseError, match=r"Permission denied|no such file"):
                    ar.load_case(folder / place / "case.toml")

        assert as_somebody_without_rights(try_all) == 0
        for closed in ("closed", "readable"):
            (folder / closed).chmod(0o755)
            assert os.listdir(folder / closed) == []


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a case, and the run of it in the folder of a comparison."""
    folder = tmp_path_factory.mktemp("ended")
    case = case_of(folder, FALLING, {"run.frames": 3})
    ar.run(case, folder / "out" / "case")
    (folder / "out" / "case" / "checkpoint_prev.npz").unlink()
    return folder


DAMAGE = {"empty": b"", "zeros": bytes(600), "brackets": b"[[[[" * 30000, "no text": b"{\xff}"}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["checkpoint.npz", "trajectory.h5", "summary.json", "case.toml"])
@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_file_of_a_run_is_named(ended: Path, tmp_path: Path, name: str, damage: str) -> None:
    """By resumption, report, comparison, and in Python. What does not need the file goes on."""
    commands = {
        "resume": ("run", "a-case.toml", "--set", "run.frames=3", "--out", "out/case", "--resume"),
        "report": ("report", "out/case"),
        "compare": (
            "compare",
            "a-case.toml",
            "--set",
            "run.frames=3",
            "--vary",
            "integrator.rtol=1e-5",
            "--out",
            "out",
        ),
    }
    needed = {
        "checkpoint.npz": {"resume"},
        "trajectory.h5": {"resume", "report", "compare"},
        "summary.json": {"report"},
        "case.toml": {"resume", "report", "compare"},
    }
    for what, arguments in commands.items():
        folder = Path(shutil.copytree(ended, tmp_path / what))
        (folder / "out" / "case" / name).write_bytes(DAMAGE[damage])
        with contextlib.chdir(folder):
            result = invoke(*arguments)
        assert result.exception is None or isinstance(result.exception, SystemExit), (what, result.exception)
        assert result.exit_code == (2 if what in needed[name] else 0), (what, result.output)
        if result.exit_code:
            said = result.stderr[result.stderr.index("error: ") :]
            assert name in said or "holds another run" in said, (what, said)
    folder = Path(shutil.copytree(ended, tmp_path / "opened")) / "out" / "case"
    (folder / name).write_bytes(DAMAGE[damage])
    if name == "checkpoint.npz":
        assert len(ar.open_run(folder).times) == 4
        return

    def read() -> None:
        opened = ar.open_run(folder)
        assert opened.summary and opened.positions.size

    with pytest.raises(ArticulonError, match=name.replace(".", r"\.")):
        read()


@pytest.mark.slow
def test_a_full_disk_is_told_by_the_command(tmp_path: Path) -> None:
    case_of(tmp_path, FALLING)

    def full() -> None:
        import signal

        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (20, 20))

    program = "from articulon import cli; cli.main()"
    ar.run(case_of(tmp_path, FALLING), tmp_path / "warm")
    done = subprocess.run(
        [sys.executable, "-c", program, "run", str(tmp_path / "a-case.toml"), "--out", str(tmp_path / "out")],
        capture_output=True,
        text=True,
        preexec_fn=full,
        check=False,
    )
    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr
    assert "File too large" in done.stderr and "Free some space" in done.stderr


@pytest.mark.slow
def test_a_checkpoint_error_is_what_python_gets(tmp_path: Path) -> None:
    case, out = case_of(tmp_path, FALLING, {"run.frames": 3}), tmp_path / "out"
    ar.run(case, out)
    for name in ("checkpoint.npz", "checkpoint_prev.npz"):
        (out / name).unlink()
        os.mkfifo(out / name)
    with pytest.raises(CheckpointError, match=r"checkpoint\.npz is not a file, and checkpoint_prev\.npz is not a file"):
        ar.run(case, out, resume=True)
