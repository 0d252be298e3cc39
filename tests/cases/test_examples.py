"""The examples: each runs, draws its figure and checks its own physics, by the public interface alone."""

from __future__ import annotations

import ast
import os
import runpy
import subprocess
import sys
from pathlib import Path

import matplotlib
import matplotlib.pyplot as plt
import pytest

import articulon as ar

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "docs"))
import gallery_pages  # noqa: E402

SCRIPTS = gallery_pages.scripts()
NEEDS = {
    "first_passage": ("distributed", "cryptography"),
    "peptide_map": ("openmm", "gemmi"),
}
"""Modules of extras that an example needs."""
ALONE = "pendulum_period"
"""One that has a process to itself."""


def tree(name: str) -> ast.Module:
    return ast.parse((gallery_pages.EXAMPLES / f"{name}.py").read_text(encoding="utf-8"))


def test_there_are_enough_of_them() -> None:
    assert len(SCRIPTS) >= 30


def test_the_pages_are_those_of_the_docstrings() -> None:
    for page, text in gallery_pages.pages().items():
        assert page.read_text(encoding="utf-8") == text, f"{page}: run python docs/gallery_pages.py"


@pytest.mark.parametrize("name", SCRIPTS)
def test_an_example_is_short_and_has_its_figure(name: str) -> None:
    lines = (gallery_pages.EXAMPLES / f"{name}.py").read_text(encoding="utf-8").splitlines()
    assert 20 <= len(lines) <= 85
    title, rest = gallery_pages.docstring(name)
    assert title.endswith(".")
    assert len(title) <= 120
    assert rest
    figure = gallery_pages.FIGURES / f"{name}.png"
    assert 2_000 < figure.stat().st_size <= gallery_pages.LARGEST
    asserts = [node for node in ast.walk(tree(name)) if isinstance(node, ast.Assert)]
    assert any(not isinstance(node.test, ast.Constant) for node in asserts)


@pytest.mark.parametrize("name", SCRIPTS)
def test_an_example_uses_the_public_interface_alone(name: str) -> None:
    for node in ast.walk(tree(name)):
        if isinstance(node, ast.Import):
            for alias in node.names:
                assert not alias.name.startswith("articulon.")
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("articulon"):
            assert node.module == "articulon"
            assert {alias.name for alias in node.names} <= set(ar.__all__)
        if isinstance(node, ast.Attribute):
            assert not node.attr.startswith("_"), node.attr
            if isinstance(node.value, ast.Name) and node.value.id == "ar":
                assert node.attr in ar.__all__
            inner = node.value
            if isinstance(inner, ast.Attribute) and isinstance(inner.value, ast.Name) and inner.value.id == "ar":
                module = getattr(ar, inner.attr)
                if hasattr(module, "__all__"):
                    assert node.attr in module.__all__, f"ar.{inner.attr}.{node.attr}"


# Each takes some seconds, the slowest half a minute, and compiles its kernels at the first run on a machine.
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # as an example that a reader runs shows none from within libraries
@pytest.mark.parametrize("name", SCRIPTS)
def test_an_example_runs_and_checks_itself(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In this process, which has loaded everything, but for one."""
    for module in NEEDS.get(name, ()):
        pytest.importorskip(module)
    script = gallery_pages.EXAMPLES / f"{name}.py"
    if name == ALONE:
        environment = {**os.environ, "MPLBACKEND": "Agg", "PYTHONPATH": str(Path(ar.__file__).parents[1])}
        command = [sys.executable, str(script), "--short"]
        done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=environment, timeout=1200)
        assert done.returncode == 0, done.stderr[-3000:]
    else:
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(sys, "argv", [str(script), "--short"])
        with matplotlib.rc_context({"backend": "Agg"}):
            try:
                runpy.run_path(str(script), run_name="__main__")
            finally:
                plt.close("all")
    assert [path.name for path in tmp_path.iterdir()] == [f"{name}.png"]
    assert (tmp_path / f"{name}.png").read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
