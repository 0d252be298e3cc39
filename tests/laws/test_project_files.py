"""Files of the project that no program of its own reads: they say what the package says."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import yaml

from articulon.cases.library import built_in_cases

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def test_the_matrix_is_that_of_the_classifiers() -> None:
    jobs = yaml.safe_load(read(".github/workflows/test.yml"))["jobs"]
    matrix = jobs["quick"]["strategy"]["matrix"]
    said = re.findall(r"Python :: (3\.\d+)", "\n".join(PROJECT["classifiers"]))
    assert matrix["python"] == said
    assert matrix["os"] == ["ubuntu-latest", "macos-latest"]
    assert PROJECT["requires-python"] == f">={said[0]}"


def test_extras_of_the_workflows_and_of_the_image_exist() -> None:
    for name in (".github/workflows/test.yml", "Dockerfile"):
        (extras,) = re.findall(r"\.\[([a-z,]+)\]", read(name))
        assert set(extras.split(",")) <= set(PROJECT["optional-dependencies"]), name


def test_targets_of_make_exist() -> None:
    targets = set(re.findall(r"^([a-z]+):", read("Makefile"), re.MULTILINE))
    asked = {*re.findall(r"run: make ([a-z]+)", read(".github/workflows/test.yml"))}
    asked |= {*re.findall(r"^make ([a-z]+)", read("CONTRIBUTING.md"), re.MULTILINE)}
    assert asked
    assert asked <= targets


def test_the_image_warms_kernels_by_cases_that_exist() -> None:
    warmed = re.findall(r"^ +short ([a-z0-9-]+) ", read("Dockerfile"), re.MULTILINE)
    assert len(warmed) > 5
    assert set(warmed) <= set(built_in_cases())


def test_what_contributors_are_told_is_there() -> None:
    for page in ("CONTRIBUTING.md", "SECURITY.md"):
        links = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", read(page))
        assert links
        assert [link for link in links if not (ROOT / link).exists()] == []
    for form in ("bug.yml", "idea.yml"):
        found = yaml.safe_load(read(f".github/ISSUE_TEMPLATE/{form}"))
        assert found["name"]
        assert all(part["type"] in ("textarea", "input", "markdown") for part in found["body"])
    hooks = yaml.safe_load(read(".pre-commit-config.yaml"))["repos"][0]["hooks"]
    assert [hook["id"] for hook in hooks] == ["ruff-check", "ruff-format", "mypy", "prose"]
