"""A case is resolved once and its model is built once, for the run and its report together."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import articulon as ar
from articulon.building.builder import ModelBuilder
from articulon.cases.schema import CaseFile
from tests.support.run_cases import BALL


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """How often cases have been resolved and models built."""
    found = {"resolved": 0, "built": 0}

    def counting(function: Callable[..., Any], what: str) -> Callable[..., Any]:
        def count(*arguments: Any, **options: Any) -> Any:
            found[what] += 1
            return function(*arguments, **options)

        return count

    monkeypatch.setattr(CaseFile, "resolved", counting(CaseFile.resolved, "resolved"))
    monkeypatch.setattr(ModelBuilder, "build", counting(ModelBuilder.build, "built"))
    return found


def test_a_run_and_its_report_prepare_one_case_once(tmp_path: Path, counted: dict[str, int]) -> None:
    (tmp_path / "ball.toml").write_text(BALL, encoding="utf-8")
    run = ar.run(tmp_path / "ball.toml", tmp_path / "run")
    assert (run.folder / "report.html").is_file()
    assert counted == {"resolved": 1, "built": 1}


def test_a_report_of_an_opened_run_prepares_its_case_once(tmp_path: Path, counted: dict[str, int]) -> None:
    (tmp_path / "ball.toml").write_text(BALL, encoding="utf-8")
    ar.run(tmp_path / "ball.toml", tmp_path / "run")
    counted.update(resolved=0, built=0)
    run = ar.open_run(tmp_path / "run")
    run.report()
    assert run.positions.shape[0] == run.times.size
    assert counted == {"resolved": 1, "built": 1}
