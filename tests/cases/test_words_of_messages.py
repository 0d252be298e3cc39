"""Messages name what a user of Python can write; the command line names its options in their place."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import articulon as ar
from articulon.cli.commands import OPTIONS, as_options
from tests.support.run_cases import BALL, case_of

PACKAGE = Path(ar.__file__).parent
COMMAND_LINE = re.compile(
    r"(?<!-)--[a-z]+[a-z-]*|"
    r"\barticulon (run|resume|report|compare|analyse|tune|export|warm-up|sweep|exchange|advise|bench)\b"
)
ELSEWHERE = ("cli", "__main__.py")
ALLOWED = {"cases/advice.py", "advice/advised_options.py", "sweeps/slurm_script.py"}
"""What only the command line calls, and what a command is made of."""
PERHAPS = re.compile(r"(?<!-)--(?!-)|articulon[ \"']+(?!import|as )")
"""What a file contains that has any of these, however its lines are broken; most files need not be parsed."""
OF_OTHERS = re.compile(r"--nthreads 1 --nworkers N")
"""Options of other programs, which users of Python need too."""


def texts(file: Path) -> list[str]:
    """Texts in a module but for its docstrings; none where none can name the command line."""
    source = file.read_text(encoding="utf-8")
    if not PERHAPS.search(source):
        return []
    tree = ast.parse(source)
    said = {
        id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    return [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in said
    ]


@pytest.mark.slow
def test_no_text_outside_of_the_command_line_names_its_options() -> None:
    found = {}
    for file in sorted(PACKAGE.rglob("*.py")):
        name = file.relative_to(PACKAGE).as_posix()
        if name.split("/")[0] in ELSEWHERE or name in ALLOWED:
            continue
        named = [text for text in texts(file) if COMMAND_LINE.search(OF_OTHERS.sub("", text))]
        if named:
            found[name] = named
    assert found == {}


def test_the_command_line_has_words_of_its_own() -> None:
    message = "x holds another run; continue it (resume=True), or choose another folder (out=...)"
    assert as_options(message) == "x holds another run; continue it (--resume), or choose another folder (--out DIR)"
    assert all(COMMAND_LINE.search(option) for option in OPTIONS.values())


def _twice(folder: Path) -> None:
    case = case_of(folder, BALL)
    ar.run(case, folder / "run", report=False)
    ar.run(case, folder / "run", report=False)


def _another(folder: Path) -> None:
    ar.run(case_of(folder, BALL), folder / "run", report=False)
    ar.run(case_of(folder, BALL, {"run.seed": 9}), folder / "run", resume=True, report=False)


def _code(folder: Path) -> None:
    text = '[[forces]]\nkind = "user"\nfunction = "pull.py:pull"\n'
    (folder / "pull.py").write_text("def pull(*arguments):\n    pass\n")
    file = folder / "pulled.toml"
    file.write_text((folder / "a-case.toml").read_text() + text if (folder / "a-case.toml").exists() else BALL + text)
    ar.run(file, folder / "pulled", report=False)


def _damaged(folder: Path) -> None:
    run = ar.run(case_of(folder, BALL), folder / "run", report=False)
    (run.folder / "summary.json").write_text("{")
    _ = ar.open_run(run.folder).summary


def _file_for_folder(folder: Path) -> None:
    (folder / "place").write_text("")
    ar.run(case_of(folder, BALL), folder / "place" / "run", report=False)


def _pendulum() -> ar.Model:
    builder = ar.ModelBuilder(units="kg-m-s")
    builder.add_body("rod", mass=1, inertia=0.1, com=(0, 0, -1), joint=ar.Revolute((0, 1, 0)), q=1)
    return builder.build()


@pytest.mark.parametrize(
    ("fault", "says"),
    [
        (_twice, "continue it (resume=True)"),
        (_another, "another folder (out=...)"),
        (_code, "allow_code=True"),
        (_damaged, "resume=True"),
        (_file_for_folder, "is a file, not a folder; choose another folder (out=...)"),
        (lambda folder: ar.run("no-such-case"), "no-such-case"),
        (lambda folder: ar.load_case("double-pendulum", {"run.duratoin": 1}), "did you mean 'duration'?"),
        (lambda folder: ar.open_run(folder), "holds no run"),
        (lambda folder: ar.simulate(_pendulum(), 1.0, rule="verlet"), "step"),
        (lambda folder: ar.simulate(_pendulum(), 1.0, rule="rk5"), "rk4"),
        (lambda folder: ar.simulate(_pendulum(), -1.0), "duration"),
        (lambda folder: ar.simulate(_pendulum(), 1.0, q=[1.0, 2.0]), "q"),
        (lambda folder: ar.forward_dynamics(_pendulum(), np.ones(3), np.ones(1)), "q"),
        (lambda folder: ar.run("double-pendulum", folder / "x", progress="yes"), "progress"),
    ],
)
def test_faults_in_python_are_told_in_its_words(tmp_path: Path, fault: Callable[[Path], object], says: str) -> None:
    with pytest.raises(ar.ArticulonError) as raised:
        fault(tmp_path)
    message = str(raised.value)
    assert says in message
    assert not COMMAND_LINE.search(message), message
