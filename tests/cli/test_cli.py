"""The command: what it calls, how it ends, and that a mistake is answered by one message and never by a traceback."""

from __future__ import annotations

import io
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import typer
from rich.console import Console
from rich.text import Text
from typer.testing import CliRunner, Result

import articulon as ar
from articulon import cli
from articulon.cases.library import built_in_cases

CASE = """
[case]
title = "A ball"
units = "zg-nm-ns"
cite = ["guy2018"]

[[model.bodies]]
name = "ball"
mass = 1
inertia = 1
joint = "free"

[run]
duration = 5

[variants]
coarse.run.frames = 10
"""


@pytest.fixture
def ball(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A case in the current folder, which is empty otherwise."""
    (tmp_path / "ball.toml").write_text(CASE, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return "ball.toml"


def invoke(*arguments: str) -> Result:
    # Wide, so that no message is broken into lines.
    return CliRunner().invoke(cli.app, list(arguments), env={"COLUMNS": "1000", "NO_COLOR": "1"})


def refused(result: Result, *parts: str) -> None:
    assert result.exit_code == 2, result.output
    assert isinstance(result.exception, SystemExit)
    assert result.stdout == ""
    assert result.stderr.startswith("error: ")
    for part in parts:
        assert part in result.stderr
    assert "Traceback" not in result.output


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, tuple[Any, ...], dict[str, Any]]]:
    """Records what the commands call instead of calling it."""
    made: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = []

    def recorder(name: str, result: Any = None) -> Any:
        def call(*arguments: Any, **named: Any) -> Any:
            made.append((name, arguments, named))
            return result

        return call

    summary = {"steps": 12, "wall_seconds": 1.23456789, "works": {"potential": 1.0}, "ended": "duration"}
    modules = {
        "articulon.runs.entry": SimpleNamespace(run=recorder("run", SimpleNamespace(summary=summary))),
        "articulon.studio.run_report": SimpleNamespace(
            write_report=recorder("write_report", Path("runs/ball/report.html"))
        ),
        "articulon.comparisons.comparison": SimpleNamespace(compare=recorder("compare")),
        "benchmarks": SimpleNamespace(main=recorder("bench")),
    }
    for name, module in modules.items():
        monkeypatch.setitem(sys.modules, name, module)
    return made


# What is called


def test_run_calls_the_function_of_that_name(ball: str, calls: list[Any]) -> None:
    result = invoke("run", ball, "--set", "run.duration=7 ns", "--set", "run.seed=3")
    assert result.exit_code == 0, result.output
    ((name, (case,), named),) = calls
    assert name == "run" and named.get("report", True), "which writes the report"
    assert (case.run.duration, case.run.seed) == (7.0, 3)
    folder = named["out"]
    assert folder.parent == Path("runs") and re.fullmatch(r"ball-duration-7_ns-seed-3-[0-9a-f]{8}", folder.name)
    assert named["resume"] is False
    assert isinstance(named["progress"], cli.RunProgress)
    lines = [line.split("  ") for line in result.stdout.splitlines()]
    assert "wall seconds  1.23457" in result.stdout
    assert "steps         12" in result.stdout
    assert "works" not in result.stdout
    assert lines[-1][-1] == str(folder / "report.html")


def test_run_says_what_moved_and_what_is_noted(ball: str, calls: list[Any]) -> None:
    moved = {"active_mean": 0.25, "saved": 4.0, "least_active": 6.0, "most_active": 26.0, "locked": 9, "released": 3}
    summary = sys.modules["articulon.runs.entry"].run().summary
    summary |= {"adaptive": moved, "notes": ["body 'rod' is deformed beyond the range"]}
    result = invoke("run", ball)
    assert "what moved    25\xa0% of the degrees of freedom on average over the steps, 6 to 26 of them" in result.stdout
    assert "9 locked and 3 released; a step took 4 times less work" in result.stdout
    assert "\nnote    body 'rod' is deformed beyond the range\n" in result.stdout


def test_run_writes_where_it_is_told(ball: str, calls: list[Any]) -> None:
    assert invoke("run", ball, "--out", "elsewhere").exit_code == 0
    assert calls[0][2]["out"] == Path("elsewhere")


def test_resume_goes_on_in_the_folder_of_the_case(ball: str, calls: list[Any]) -> None:
    folder = Path("runs/ball")
    folder.mkdir(parents=True)
    (folder / "case.toml").write_text(ar.load_case(ball).to_toml(), encoding="utf-8")
    assert invoke("run", ball, "--resume", "--set", "run.threads=1").exit_code == 0
    assert calls[0][2]["resume"] is True and calls[0][2]["out"] == folder


def test_resume_begins_a_run_where_there_is_none(ball: str, calls: list[Any]) -> None:
    assert invoke("run", ball, "--resume").exit_code == 0
    assert calls[0][2]["resume"] is True and calls[0][2]["out"] == Path("runs/ball")


def test_the_default_folder_says_what_varies(ball: str, calls: list[Any]) -> None:
    """So that the jobs of an array do not meet in one folder."""
    for seed in ("1", "2", "30"):
        assert invoke("run", ball, "--set", f"run.seed={seed}").exit_code == 0
    assert invoke("run", ball).exit_code == 0
    made = [named["out"].name for name, _, named in calls if name == "run"]
    assert made == ["ball-seed-1", "ball-seed-2", "ball-seed-30", "ball"]


def test_compare_passes_on_the_variants_and_values(ball: str, calls: list[Any]) -> None:
    vary = ("--vary", "run.seed=1,2", "--vary", "run.duration=1 ns, 2 ns")
    assert invoke("compare", ball, "--against", "coarse", *vary).exit_code == 0
    assert invoke("compare", ball, "--set", "run.seed=9", "--out", "there").exit_code == 0
    (_, (first,), named), (_, (second,), other) = calls
    assert first == ar.load_case(ball)
    assert named["against"] == ["coarse"]
    assert named["vary"] == {"run.seed": [1, 2], "run.duration": ["1 ns", "2 ns"]}
    assert named["out"] == Path("runs/ball-compare")
    assert (second.run.seed, other["against"], other["vary"], other["out"]) == (9, None, {}, Path("there"))


def test_bench_passes_on_its_name_and_form(calls: list[Any]) -> None:
    assert invoke("bench").exit_code == invoke("bench", "solver", "--json").exit_code == 0
    assert [arguments for _, arguments, _ in calls] == [(None, False), ("solver", True)]


def test_report_is_written_for_a_folder_with_a_run(ball: str, calls: list[Any]) -> None:
    Path("done").mkdir()
    refused(invoke("report", "done"), "done holds no run")
    Path("done/case.toml").write_text("", encoding="utf-8")
    assert invoke("report", "done").stdout.strip() == "runs/ball/report.html"
    assert calls == [("write_report", (Path("done"), None), {})]


# What is printed


def test_cases_lists_names_with_titles_and_prints_files(ball: str) -> None:
    listed = invoke("cases")
    assert listed.exit_code == 0
    assert [line.split()[0] for line in listed.stdout.splitlines()] == sorted(built_in_cases())
    assert all(len(line.split(maxsplit=1)) == 2 for line in listed.stdout.splitlines())
    assert "notes" in invoke("cases", "nanoparticle-docking").stdout
    assert invoke("cases", ball).stdout == CASE


def test_cite_prints_the_engine_and_what_the_case_stands_on(ball: str) -> None:
    result = invoke("cite", ball)
    assert result.exit_code == 0
    assert result.stdout.index("@software{articulon") < result.stdout.index("@phdthesis{guy2018")


def test_version_and_help() -> None:
    assert invoke("--version").stdout == f"articulon {ar.__version__}\n"
    for command in ("run", "cases", "cite", "compare", "report", "bench"):
        assert command in invoke("--help").stdout
        assert invoke(command, "--help").exit_code == 0


def test_no_text_of_the_help_is_read_as_markup() -> None:
    """Rich leaves out words in square brackets, and prints pictures for some between colons."""
    texts = []
    group: Any = typer.main.get_command(cli.app)
    with group.make_context("articulon", [], resilient_parsing=True) as outer:
        for name in group.list_commands(outer):
            command = group.get_command(outer, name)
            texts += [command.help, *(getattr(parameter, "help", None) for parameter in command.params)]
    texts = [text for text in texts if text]
    assert len(texts) > 50
    assert [text for text in texts if Text.from_markup(text).plain != text] == []


def test_help_says_where_results_go_by_default() -> None:
    found = {name: " ".join(invoke(name, "--help").stdout.split()) for name in ("run", "compare", "tune")}
    assert "runs/<case>, with the changes by --set in its name." in found["run"]
    assert "runs/<case>-compare." in found["compare"]
    assert "<case>-tuned.toml." in found["tune"]


def test_help_and_version_load_neither_kernels_nor_plots() -> None:
    """Which is what makes them quick."""
    program = (
        "import sys; from articulon import cli\n"
        "try: cli.app(['--help'])\n"
        "except SystemExit: pass\n"
        "print(sorted({'numpy', 'numba', 'scipy', 'h5py', 'pydantic', 'pint', 'matplotlib'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert done.stdout.splitlines()[-1] == "[]"


# What is refused


@pytest.mark.parametrize(
    "arguments, parts",
    [
        (("run", "ball.toml", "--set", "run.duration=8 nm"), ("ball.toml: run.duration: expected a time", "a length")),
        (("run", "ball.toml", "--set", "run.duratoin=8"), ("did you mean 'duration'?",)),
        (("run", "ball.toml", "--set", "run.duration"), ("write key=value",)),
        (("run", "nanoparticel-docking"), ("did you mean 'nanoparticle-docking'?",)),
        (("run", "absent.toml"), ("absent.toml: no such file",)),
        (("cases", "nanoparticel-docking"), ("did you mean 'nanoparticle-docking'?",)),
        (("cite", "absent.toml"), ("absent.toml: no such file",)),
        (("compare", "ball.toml", "--against", "corse"), ("did you mean 'coarse'?",)),
        (("compare", "ball.toml", "--vary", "run.seed"), ("--vary 'run.seed'", "key=value1,value2")),
        (("compare", "ball.toml", "--vary", "run.sede=1,2"), ("did you mean 'seed'?",)),
        (("report", "absent"), ("absent holds no run",)),
    ],
)
def test_a_mistake_is_answered_by_one_message(
    ball: str, calls: list[Any], arguments: tuple[str, ...], parts: tuple[str, ...]
) -> None:
    refused(invoke(*arguments), *parts)
    assert calls == [], "something ran before the mistake was found"
    assert not Path("runs").exists()


@pytest.mark.parametrize("file", cli.WRITTEN_BY_A_RUN)
def test_a_folder_that_holds_another_run_is_left_alone(ball: str, calls: list[Any], file: str) -> None:
    Path("runs/ball").mkdir(parents=True)
    (Path("runs/ball") / file).write_bytes(b"")
    refused(invoke("run", ball), "runs/ball holds another run", "--resume", "--out")
    assert calls == []


def test_a_folder_with_other_files_is_taken(ball: str, calls: list[Any]) -> None:
    Path("notes").mkdir()
    Path("notes/README").write_text("mine", encoding="utf-8")
    assert invoke("run", ball, "--out", "notes").exit_code == 0


def test_resume_refuses_another_case(ball: str, calls: list[Any]) -> None:
    Path("runs/ball").mkdir(parents=True)
    Path("runs/ball/case.toml").write_text(ar.load_case(ball).to_toml(), encoding="utf-8")
    arguments = ("run", ball, "--resume", "--set", "run.seed=2", "--out", "runs/ball")
    refused(invoke(*arguments), "holds another run: run.seed differ")
    assert calls == []


def test_what_the_system_refuses_is_one_message_too(ball: str, calls: list[Any], monkeypatch: Any) -> None:
    def full(*arguments: Any, **named: Any) -> None:
        raise PermissionError(13, "Permission denied", "runs")

    monkeypatch.setattr(sys.modules["articulon.runs.entry"], "run", full)
    refused(invoke("run", ball), "runs: Permission denied")


def test_a_fault_of_the_program_is_not_hidden(ball: str, calls: list[Any], monkeypatch: Any) -> None:
    def broken(*arguments: Any, **named: Any) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(sys.modules["articulon.runs.entry"], "run", broken)
    assert isinstance(invoke("run", ball).exception, ZeroDivisionError)


def test_messages_are_printed_as_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    """Brackets are keys of lists, not markup, and a long line stays one line."""
    cli.fail("forces[0].bodies: [red] " + "x" * 300)
    assert capsys.readouterr().err == "error: forces[0].bodies: [red] " + "x" * 300 + "\n"


# Ctrl-C


@pytest.mark.parametrize("written", [True, False])
def test_ctrl_c_says_where_the_checkpoint_is(ball: str, calls: list[Any], monkeypatch: Any, written: bool) -> None:
    def interrupted(case: Any, out: Path, **named: Any) -> None:
        out.mkdir(parents=True)
        if written:
            (out / "checkpoint.npz").write_bytes(b"")
        raise KeyboardInterrupt

    monkeypatch.setattr(sys.modules["articulon.runs.entry"], "run", interrupted)
    result = invoke("run", ball, "--set", "run.duration=7 ns", "--out", "runs/ball")
    assert result.exit_code == 130
    assert result.stderr.startswith("interrupted: ")
    assert "Traceback" not in result.output
    if written:
        assert "the checkpoint is runs/ball/checkpoint.npz" in result.stderr
        assert "articulon run ball.toml --set 'run.duration=7 ns' --out runs/ball --resume" in result.stderr
    else:
        assert "no checkpoint" in result.stderr
    assert calls == []


def test_an_interrupted_process_ends_with_130_and_no_traceback(tmp_path: Path) -> None:
    """A real signal to a real process, in the middle of a command."""
    # A shell that puts the tests into the background has every process under them ignore Ctrl-C.
    program = (
        "import signal, sys, time, types\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "def main(name, json): print('measuring', flush=True); time.sleep(60)\n"
        "sys.modules['benchmarks'] = types.SimpleNamespace(main=main)\n"
        "from articulon import cli\n"
        "sys.argv = ['articulon', 'bench']\n"
        "cli.main()"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", program], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "measuring\n"
    time.sleep(0.1)
    os.kill(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=30)
    assert process.returncode == 130
    assert errors == "interrupted: stopped by Ctrl-C\n"


def test_the_module_is_the_command() -> None:
    done = subprocess.run([sys.executable, "-m", "articulon", "--version"], capture_output=True, text=True)
    assert done.returncode == 0 and ar.__version__ in done.stdout


@pytest.mark.slow
def test_the_process_ends_with_2_and_no_traceback(tmp_path: Path) -> None:
    (tmp_path / "bad.toml").write_text("[run]\nduration = \n", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", "from articulon.cli import main; main()", "run", "bad.toml"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("error: bad.toml: is not valid TOML") and "line 2" in done.stderr
    assert len(done.stderr.splitlines()) == 1


# The progress of a run


def shown(terminal: bool, resumed_from: float = 0.0) -> str:
    screen = io.StringIO()
    progress = cli.RunProgress(Console(file=screen, force_terminal=terminal, width=120, highlight=False))
    progress.start(4.0, "us", resumed_from)
    progress.message("compiling [kernels]")
    for k in range(1, 401):
        if k / 100 > resumed_from:
            progress.update(k / 100, 0.01, k)
    progress.finish("docked after 4 us")
    return screen.getvalue()


def test_progress_off_a_terminal_is_a_line_for_every_tenth() -> None:
    lines = shown(terminal=False).splitlines()
    assert lines[0] == "compiling [kernels]"
    assert lines[-1] == "docked after 4 us"
    assert [line.split()[0] for line in lines[1:-1]] == [f"{0.4 * k:.6g}" for k in range(1, 11)]
    assert all("us/h" in line and "left" in line and "step 0.01 us" in line for line in lines[1:-1])


def test_progress_in_reduced_units_names_none() -> None:
    screen = io.StringIO()
    progress = cli.RunProgress(Console(file=screen, width=120))
    progress.start(4.0, "")
    progress.update(2.0, 0.01, 200)
    line = screen.getvalue()
    assert line.startswith("2 of 4  ") and "per hour  " in line and line.endswith("step 0.01, 200 taken\n")


def test_progress_of_a_resumed_run_begins_where_it_was() -> None:
    lines = shown(terminal=False, resumed_from=2.0).splitlines()
    assert lines[0] == "continuing from 2 us"
    assert [line.split()[0] for line in lines[2:-1]] == [f"{0.4 * k:.6g}" for k in range(6, 11)]


def test_progress_on_a_terminal_is_a_bar_that_goes_away() -> None:
    text = shown(terminal=True)
    assert "100 %" in text and "4 of 4 us" in text and "compiling [kernels]" in text
    assert text.rstrip().endswith("docked after 4 us")
