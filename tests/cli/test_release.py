"""What is released: wheel and sdist are built, and the wheel runs in a clean environment, without a checkout."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

from articulon import __version__

ROOT = Path(__file__).parents[2]


def test_the_version_stands_in_one_place_and_agrees() -> None:
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {__version__}\n" in citation
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    released = re.findall(r"^## \[(\d+\.\d+\.\d+)\] - (\d{4}-\d{2}-\d{2})$", changelog, re.MULTILINE)
    assert released[0][0] == __version__
    assert f"date-released: {released[0][1]}" in citation


def program(folder: Path, name: str) -> str:
    return str(folder / ("Scripts" if os.name == "nt" else "bin") / name)


def command(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    outside = {
        key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "VIRTUAL_ENV", "PYTHONHOME")
    }
    done = subprocess.run(arguments, capture_output=True, text=True, cwd=cwd, env=outside, timeout=1500, check=False)
    assert done.returncode == 0, f"{' '.join(arguments)}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
    return done


# A clean environment is filled from the package registry: some minutes.
@pytest.mark.slow
def test_the_wheel_runs_in_a_clean_environment(tmp_path: Path) -> None:
    environment = tmp_path / "clean"
    command(sys.executable, "-m", "venv", "--without-pip", str(environment), cwd=tmp_path)
    python = program(environment, "python")
    pip = (sys.executable, "-m", "pip", "--python", python, "--disable-pip-version-check")
    quiet = (*pip, "install", "--quiet", "--no-compile")
    constrained = ("--constraint", str(ROOT / "constraints.txt"))
    # The environment is as clean as one that is made for the build alone, which would take as long again.
    needed = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["build-system"]["requires"]
    command(*quiet, "build", *needed, cwd=tmp_path)
    command(python, "-m", "build", "--no-isolation", "--outdir", str(tmp_path / "dist"), str(ROOT), cwd=tmp_path)
    (wheel,) = (tmp_path / "dist").glob("*.whl")
    (source,) = (tmp_path / "dist").glob("*.tar.gz")
    assert wheel.name == f"articulon-{__version__}-py3-none-any.whl"
    with zipfile.ZipFile(wheel) as packed:
        names = packed.namelist()
    assert "articulon/py.typed" in names
    assert "articulon/cases/nanoparticle-docking.toml" in names
    assert [name for name in names if not name.startswith(("articulon/", f"articulon-{__version__}.dist-info/"))] == []
    with tarfile.open(source) as packed_source:
        held = set(packed_source.getnames())
    of_tests = ("Dockerfile", ".github/workflows/test.yml", ".pre-commit-config.yaml", "examples/pendulum_period.py")
    for name in ("pyproject.toml", "README.md", "LICENSE", *of_tests, "tests/cli/test_release.py"):
        assert f"articulon-{__version__}/{name}" in held

    command(*quiet, *constrained, str(wheel), cwd=tmp_path)
    said = command(python, "-c", "import articulon; print(articulon.__file__)", cwd=tmp_path).stdout
    assert str(environment) in said
    articulon = program(environment, "articulon")
    assert "nanoparticle-docking" in command(articulon, "cases", cwd=tmp_path).stdout
    shorter = ("--set", "run.duration=8 ns", "--set", "run.frames=10")
    command(articulon, "run", "nanoparticle-docking", *shorter, "--out", "docking", cwd=tmp_path)
    summary = json.loads((tmp_path / "docking" / "summary.json").read_text(encoding="utf-8"))
    assert summary["steps"] == 1000
    assert (tmp_path / "docking" / "report.html").is_file()
