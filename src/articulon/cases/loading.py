"""Find and load a case by name or path."""

import difflib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from articulon.cases.case import Case, resolve, table_of
from articulon.cases.library import built_in_cases
from articulon.errors import CaseError
from articulon.inputs import clipped, exists, shown

STRUCTURES = {".pdb", ".ent", ".cif", ".mmcif", ".pdbx"}
"""Endings of structure files. A name that contains one of these endings is not a case, even if more text follows."""


def load_case(
    name_or_path: str | Path, overrides: Mapping[str, Any] | None = None, *, allow_code: bool = False
) -> Case:
    """Read a case and check it completely.

    Parameters
    ----------
    name_or_path
        Name of a built-in case (``articulon cases`` lists them), or the path of a TOML file.
    overrides
        Changes by dotted key, such as ``{"run.duration": "0.1 us", "forces.stokes-drag.viscosity": "1 mPa s"}``;
        list elements are addressed by number, or by their kind or name if it is unique. None removes a key.
    allow_code
        Whether Python functions that the case names in forces, drives and conditions may be run; they are code of the
        author of the case. Without permission, a case that names functions can be read, but not run.

    Raises
    ------
    CaseError
        One line per fault: the file, the key, what was expected and the nearest valid key.

    Examples
    --------
    >>> import articulon as ar
    >>> case = ar.load_case("nanoparticle-docking", {"run.duration": "0.1 us"})
    >>> case.run.duration
    0.1
    """
    file = find(name_or_path)
    table = table_of(file)
    case = resolve(table, str(file), file.stem, {} if overrides is None else overrides, allow_code)
    # Variants are checked only without overrides, because they may not fit a case with overrides. A case that a run
    # wrote may contain overrides.
    if not overrides and "versions" not in table:
        for name in case.variants:
            case.variant(name)
    return case


def given_case(case: Case | str | Path, overrides: Mapping[str, Any] | None, allow_code: bool) -> Case:
    """Return the case, given as a case, a name or a file, with overrides; raises as :func:`load_case` does."""
    if not isinstance(case, Case):
        return load_case(case, overrides, allow_code=allow_code)
    return case.with_overrides(overrides) if overrides else case


def find(name_or_path: str | Path) -> Path:
    """Return the file of a case; raises CaseError, with the nearest built-in name, if there is none."""
    known = built_in_cases()
    if not isinstance(name_or_path, str | Path):
        raise CaseError(f"expected the name or the path of a case, got {shown(name_or_path)}")
    text = str(name_or_path)
    if text in known and not isinstance(name_or_path, Path):
        return known[text]
    path = Path(name_or_path)
    if not exists(path):
        stem = path.name.removesuffix(".toml")
        close = difflib.get_close_matches(stem[:100], known, n=1, cutoff=0.5)
        hint = f"; did you mean '{close[0]}'?" if close else ""
        filed = path.suffix == ".toml" or len(path.parts) > 1
        what = "no such file" if filed else "no built-in case and no file of that name"
        raise CaseError(f"{clipped(text)}: {what}{hint} (built-in cases: {', '.join(known)})")
    if path.is_dir():
        raise CaseError(f"{path} is a folder; give a case file, such as the case.toml in a run's folder")
    if STRUCTURES & set(path.suffixes):
        raise CaseError(
            f"{path} is a structure, not a case; name it in a case (docs/molecules.md), or pass it to one, such as "
            f"trp-zipper with model.structure = {path}"
        )
    return path
