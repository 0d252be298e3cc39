"""Whatever lies in the folder of a run, nothing outside of it is written to."""

from __future__ import annotations

import os
import secrets
from pathlib import Path
from typing import Any

import pytest

import articulon as ar
from articulon.errors import ArticulonError
from articulon.storage import atomic_writing
from articulon.storage.atomic_writing import TEMPORARY_SUFFIX, replacing, write_text
from articulon.studio.run_report import write_report
from tests.support.run_cases import BALL, case_of

FALLING = BALL + '[[forces]]\nkind = "gravity"\nacceleration = [0, 0, -1]\n'
pytestmark = pytest.mark.usefixtures("undrawn")
OUTPUTS = (
    *("case.toml", "trajectory.h5", "topology.pdb", "checkpoint.npz", "checkpoint_prev.npz", "summary.json"),
    "report.html",
)


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A file of the user's, elsewhere."""
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "precious").write_text("mine")
    return tmp_path / "home" / "precious"


@pytest.mark.slow
def test_links_under_the_names_of_temporary_files_are_not_followed(tmp_path: Path, outside: Path) -> None:
    """As they were called once: by the file that they became, and .tmp."""
    out = tmp_path / "run"
    out.mkdir()
    for name in OUTPUTS:
        (outside.parent / name).write_text("mine")
        (out / f"{name}{TEMPORARY_SUFFIX}").symlink_to(outside.parent / name)
    ar.run(case_of(tmp_path, FALLING), out)
    write_report(out)
    assert {path.read_bytes() for path in outside.parent.iterdir()} == {b"mine"}
    assert sorted(os.listdir(outside.parent)) == sorted([*OUTPUTS, "precious"])


@pytest.mark.slow
@pytest.mark.parametrize("name", OUTPUTS)
def test_an_output_that_is_a_link_is_replaced_and_what_it_leads_to_stays(
    tmp_path: Path, outside: Path, name: str
) -> None:
    case, out = case_of(tmp_path, FALLING), tmp_path / "run"
    ar.run(case, out)
    if name == "report.html":
        write_report(out)
    content = (out / name).read_bytes()
    outside.write_bytes(content)
    (out / name).unlink()
    (out / name).symlink_to(outside)
    # Begun anew from the first frame on, so that everything is written.
    if name not in ("case.toml", "checkpoint_prev.npz"):
        (out / "summary.json").unlink()
    ar.run(case, out, resume=True)
    if name == "report.html":
        write_report(out)
    assert outside.read_bytes() == content
    assert os.listdir(outside.parent) == ["precious"]


@pytest.mark.parametrize("name", ["case.toml", "trajectory.h5", "checkpoint.npz", "summary.json"])
def test_a_link_that_leads_nowhere_is_a_run_too(tmp_path: Path, name: str) -> None:
    out = tmp_path / "run"
    out.mkdir()
    (out / name).symlink_to(tmp_path / "nowhere")
    with pytest.raises(ArticulonError, match=rf"holds another run \({name}\)".replace(".", r"\.")):
        ar.run(case_of(tmp_path, FALLING), out)
    assert not (tmp_path / "nowhere").exists()


def test_a_temporary_file_is_created_exclusively(tmp_path: Path, outside: Path, monkeypatch: Any) -> None:
    """Even if somebody had foreseen its name."""
    monkeypatch.setattr(secrets, "token_hex", lambda _: "01234567")
    planted = tmp_path / f"report.html.01234567{TEMPORARY_SUFFIX}"
    for target in (outside, outside.with_name("nothing")):
        planted.symlink_to(target)
        with pytest.raises(ArticulonError, match=r"could not write .*report\.html: File exists"):
            write_text(tmp_path / "report.html", "new")
        assert planted.is_symlink()
        planted.unlink()
    assert outside.read_text() == "mine"
    assert os.listdir(outside.parent) == ["precious"]


def test_a_temporary_file_that_is_exchanged_meanwhile_is_not_taken(tmp_path: Path, outside: Path) -> None:

    def exchange() -> None:
        with replacing(tmp_path / "summary.json") as stream:
            stream.write(b"new")
            os.unlink(stream.name)
            os.symlink(outside, stream.name)

    with pytest.raises(ArticulonError, match=r"could not write .*summary\.json"):
        exchange()
    assert not (tmp_path / "summary.json").exists()
    assert outside.read_text() == "mine"


def test_what_a_killed_writer_leaves_is_removed_and_what_another_one_writes_is_not(tmp_path: Path) -> None:
    left = tmp_path / f"report.html.89abcdef{TEMPORARY_SUFFIX}"
    left.write_text("half")
    (tmp_path / f"report.html.mine{TEMPORARY_SUFFIX}").write_text("of the user")
    with replacing(tmp_path / "report.html") as one:
        one.write(b"one")
        assert not left.exists()
        with replacing(tmp_path / "report.html") as two:
            two.write(b"two")
            assert Path(one.name).exists()
        assert (tmp_path / "report.html").read_text() == "two"
    assert (tmp_path / "report.html").read_text() == "one"
    assert sorted(os.listdir(tmp_path)) == ["report.html", f"report.html.mine{TEMPORARY_SUFFIX}"]


def test_a_new_file_replaces_nothing(tmp_path: Path, outside: Path, monkeypatch: Any) -> None:
    for refused in (False, True):
        with monkeypatch.context() as patch:
            if refused:  # a file system without hard links

                def refuse(*_: object, **__: object) -> None:
                    raise PermissionError(1, "Operation not permitted")

                patch.setattr(os, "link", refuse)
            for name in ("taken", "link"):
                (tmp_path / name).unlink(missing_ok=True)
            (tmp_path / "taken").write_text("mine")
            (tmp_path / "link").symlink_to(outside.parent / "nothing")
            for name in ("taken", "link"):
                with pytest.raises(ArticulonError, match=f"could not write .*{name}: File exists"):
                    write_text(tmp_path / name, "new", new=True)
            assert (tmp_path / "taken").read_text() == "mine"
            assert not (outside.parent / "nothing").exists()
            write_text(tmp_path / f"free{refused}", "new", new=True)
            assert (tmp_path / f"free{refused}").read_text() == "new"
    assert not [name for name in os.listdir(tmp_path) if name.endswith(atomic_writing.TEMPORARY_SUFFIX)]
