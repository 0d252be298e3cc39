"""The manual: every public name and key of a case file stands in it with its meaning, and links lead somewhere."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import articulon as ar
from articulon.cases import schema
from articulon.declaration import Declaration
from articulon.declaration_help import stated

DOCS = Path(__file__).parents[2] / "docs"
sys.path.insert(0, str(DOCS))
import manual_docstrings  # noqa: E402
import manual_key_tables  # noqa: E402
import manual_reference  # noqa: E402

TABLE = re.compile(r"^\| key \|.*\n\| ---.*\n((?:\|.*\n)+)", re.MULTILINE)
ROW = re.compile(r"^\| `([^`]+)` \|(.*)\|", re.MULTILINE)


def test_every_public_name_is_in_the_manual() -> None:
    page = manual_reference.python_page()
    names = {name for name in ar.__all__ if name != "__version__"}
    missing = [name for name in sorted(names) if not re.search(rf"articulon\.{re.escape(name)}\b", page)]
    assert missing == []
    assert manual_reference.ungrouped() == []


def test_members_of_base_classes_are_in_the_manual() -> None:
    """A builder and a run consist of several classes; a reader looks for all methods in one place."""
    page = manual_reference.python_page()
    for name in ("ModelBuilder", "Run"):
        entry = page.partition(f".. autoclass:: articulon.{name}\n")[2].partition(".. auto")[0]
        assert ":inherited-members:" in entry, name
    bases = manual_reference.parts_of(ar.ModelBuilder)
    assert {"add_loop", "add_drive", "add_site", "add_particles"} <= {key for base in bases for key in vars(base)}
    assert manual_reference.parts_of(ar.Revolute) == manual_reference.parts_of(ar.ModelError) == []


def test_every_key_of_a_case_has_a_meaning() -> None:
    page = manual_reference.case_page()
    rows = ROW.findall(page)
    assert len(rows) > 300
    assert [key for key, rest in rows if not rest.split("|")[0].strip()] == []
    for family in (pair[1] for pair in manual_reference.FAMILIES.values()):
        for word in manual_reference.ours(family):
            assert f"`{word}`" in page or f'= "{word}"`' in page, word
    stop = page.partition("### `[run.stop]`")[2].partition("\n## ")[0]
    assert [key for key, _ in ROW.findall(stop)] == ["body", "direction", "advance", "to", "distance", "label"]


def objects_inside(owner: type[Declaration]) -> set[type[Declaration]]:
    """Declarations that stand anywhere inside the fields of one, read from the schema that pydantic makes of them."""
    found: set[type[Declaration]] = set()
    waiting: list[object] = [owner.__pydantic_core_schema__]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            inner = one.get("cls") if one.get("type") == "model" else None
            if isinstance(inner, type) and issubclass(inner, Declaration) and inner not in found:
                found.add(inner)
                waiting.append(inner.__pydantic_core_schema__)
            waiting += [value for key, value in one.items() if key not in ("metadata", "serialization")]
        elif isinstance(one, list | tuple):
            waiting += one
    return found - {owner}


def test_every_section_and_every_object_of_a_case_has_its_table() -> None:
    page = manual_reference.case_page()
    sections = re.split(r"^## `\[(\w+)\]`$", page, flags=re.MULTILINE)[1:]
    assert sections[::2] == list(schema.CaseFile.model_fields)
    assert [name for name, text in zip(sections[::2], sections[1::2], strict=True) if not TABLE.search(text)] == []
    documented = [tuple(key for key, _ in ROW.findall(rows)) for rows in TABLE.findall(page)]
    owners = {one for family in manual_reference.FAMILIES.values() for one in manual_reference.ours(family[1]).values()}
    owners |= {one for owner in (schema.CaseFile, *owners) for one in objects_inside(owner)} - {schema.CaseFile}
    assert {"MorsePair", "Material", "Box", "Stop", "Sought", "Tolerances"} <= {owner.__name__ for owner in owners}
    keys = {owner: tuple(field.alias or name for name, field in stated(owner).items()) for owner in owners}
    own = {owner: known for owner, known in keys.items() if known and owner.__module__.startswith("articulon.")}
    assert [owner.__name__ for owner, known in own.items() if known not in documented] == []


def test_every_link_to_an_object_of_a_case_leads_to_its_one_table() -> None:
    page = manual_reference.case_page()
    targets = re.findall(r"^\(([\w-]+)\)=$", page, re.MULTILINE)
    assert len(targets) == len(set(targets)) > 40
    assert set(re.findall(r"\]\(#([\w-]+)\)", page)) <= set(targets)
    assert manual_key_tables.target(schema.Stop) in targets


def test_every_command_and_option_is_in_the_manual() -> None:
    page = manual_reference.command_page()
    assert {"## articulon run", "## articulon studio", "## articulon export"} <= set(page.splitlines())
    rows = ROW.findall(page)
    assert [name for name, rest in rows if not rest.strip()] == []
    assert any("--video" in name for name, _ in rows)


# Sphinx reads every docstring and page: a minute.
@pytest.mark.slow
def test_the_manual_is_made_without_a_warning(tmp_path: Path) -> None:
    """A link that leads nowhere is one."""
    # The code of the pages is run by test_pages.py.
    unexecuted = ["-D", "nb_execution_mode=off"]
    command = [sys.executable, "-m", "sphinx", "--fail-on-warning", "--keep-going", "-q", *unexecuted, "-b", "html"]
    done = subprocess.run([*command, str(DOCS), str(tmp_path)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    assert (tmp_path / "reference" / "python.html").stat().st_size > 100_000


def test_a_docstring_that_is_not_complete_stops_the_build(monkeypatch: pytest.MonkeyPatch) -> None:
    def shortened(model: object, q: object) -> None:
        """The mass matrix.

        Parameters
        ----------
        model
            The model.
        """

    assert list(manual_docstrings.lacking("ar.mass_matrix", shortened)) == ["ar.mass_matrix: 'q' is not described"]
    monkeypatch.setattr(ar, "mass_matrix", shortened)
    with pytest.raises(ValueError, match=r"mass_matrix: 'q' is not described"):
        manual_reference.python_page()
    with_bare_method = type("Bare", (), {"__doc__": "A class.", "size": property(lambda self: 1)})
    assert list(manual_docstrings.lacking("ar.Bare", with_bare_method)) == ["ar.Bare.size: no docstring"]
