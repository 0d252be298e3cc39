"""Force field files for OpenMM: files that come with OpenMM, and files of the user."""

import io
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

from articulon.errors import ModelError
from articulon.inputs import clipped, is_file, shown, words
from articulon.molecules.openmm_exchange import openmm_app
from articulon.molecules.structure import Structure

ForceFieldName = Literal["amber14", "charmm36"]
Solvent = Literal["vacuum", "obc2", "tip3p", "tip3pfb", "spce", "opc3", "tip4pew", "tip4pfb", "opc", "tip4p2005"]
FILES: Mapping[str, tuple[str, ...]] = {"amber14": ("amber14-all.xml",), "charmm36": ("charmm36.xml",)}
"""OpenMM's files of each force field."""
IMPLICIT: Mapping[str, tuple[str, ...]] = {"vacuum": (), "obc2": ("implicit/obc2.xml",)}
"""OpenMM's files of each implicit solvent."""
IONS: Mapping[str, str] = {"amber14": "amber14/tip3p.xml", "charmm36": "charmm36/water.xml"}
"""OpenMM's files of water and ions, for use with an implicit solvent."""


class Water(NamedTuple):
    """A water model."""

    filled_from: str
    """Name of the modeller's box of water that fills the box of a structure. Its molecules then get the geometry of
    this water model."""
    files: Mapping[str, str]
    """OpenMM's file of the water model and its ions, for each force field."""
    sites: int
    """Number of sites of a molecule."""


WATERS: Mapping[str, Water] = {
    "tip3p": Water("tip3p", {"amber14": "amber14/tip3p.xml", "charmm36": "charmm36/water.xml"}, 3),
    "tip3pfb": Water("tip3p", {"amber14": "amber14/tip3pfb.xml"}, 3),
    "spce": Water("spce", {"amber14": "amber14/spce.xml", "charmm36": "charmm36/spce.xml"}, 3),
    "opc3": Water("spce", {"amber14": "amber14/opc3.xml"}, 3),
    "tip4pew": Water("tip4pew", {"amber14": "amber14/tip4pew.xml", "charmm36": "charmm36/tip4pew.xml"}, 4),
    "tip4pfb": Water("tip4pew", {"amber14": "amber14/tip4pfb.xml"}, 4),
    "opc": Water("tip4pew", {"amber14": "amber14/opc.xml"}, 4),
    "tip4p2005": Water("tip4pew", {"charmm36": "charmm36/tip4p2005.xml"}, 4),
}
"""Water models by name."""
SOLVENTS = (*IMPLICIT, *WATERS)
MOST = 64 * 1024 * 1024
"""Largest size of a user's file [bytes]."""
_CODE = re.compile(r"<\s*(?:\w+:)?(\w*Script)\b")
_STRANGE = re.compile(r"(?i)<!DOCTYPE|<!ENTITY")
_INCLUDE = re.compile(r"<\s*(?:\w+:)?Include\b")


class Reader(NamedTuple):
    """A force field that has been read."""

    force_field: Any
    """OpenMM's ``ForceField``."""
    own: tuple[str, ...]
    """Names of the files that come with OpenMM."""
    brought: tuple[str, ...]
    """Contents of the user's files."""
    ions: bool
    """Whether the file of TIP3P water and its ions was added for an implicit solvent."""


def check_words(name: Any, solvent: Any) -> None:
    """Raise ModelError for an unknown force field or solvent, or for a force field and a solvent that are
    incompatible."""
    for key, given, known in (("force_field", name, FILES), ("solvent", solvent, SOLVENTS)):
        if not isinstance(given, str) or given not in known:
            raise ModelError(f"model.{key}: there is no {shown(given)} (known: {', '.join(known)})")
    if solvent in WATERS and name not in WATERS[solvent].files:
        have = ", ".join(word for word, water in WATERS.items() if name in water.files)
        raise ModelError(f"model.solvent: OpenMM has no parameters of {solvent} for {name} (it has: {have})")


def reader(structure: Structure, name: str, solvent: str, files: Sequence[str] = ()) -> Reader:
    """Read the force field of a structure.

    Parameters
    ----------
    structure
        The structure; its ions and water determine whether their parameters are needed.
    name, solvent
        Keys of :data:`FILES` and :data:`SOLVENTS`.
    files
        Additional files: paths of user files, or names of files that come with OpenMM.

    Raises
    ------
    ModelError
        For a file that cannot be read or contains code; the message names it.
    """
    check_words(name, solvent)
    own = list(FILES[name])
    ions = False
    if solvent in WATERS:
        own.append(WATERS[solvent].files[name])
    else:
        own.extend(IMPLICIT[solvent])
        ions = any(residue.kind in ("ion", "water") for residue in structure.residues)
        if ions:
            own.append(IONS[name])
    brought = []
    for file in words(files, "model.force_field_files"):
        path = Path(file)
        if is_file(path):
            brought.append(_content(path))
        elif file.endswith(".xml") and _comes_with_openmm(file):
            own.append(file)
        else:
            raise ModelError(
                f"model.force_field_files: {clipped(file)}: there is no such file, and none of this name comes with "
                "OpenMM"
            )
    return Reader(_read(tuple(dict.fromkeys(own)), tuple(brought)), tuple(own), tuple(brought), ions)


def _comes_with_openmm(file: str) -> bool:
    folder = Path(openmm_app().__file__).parent / "data"
    path = (folder / file).resolve()
    return folder.resolve() in path.parents and is_file(path)


def _content(path: Path) -> str:
    """Read the text of a user's file; raise ModelError if it contains code or includes other files."""
    where = f"model.force_field_files: {clipped(path)}"
    try:
        with path.open("rb") as stream:
            data = stream.read(MOST + 1)
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ModelError(f"{where}: is not a text file; expected a force field in OpenMM's XML") from None
    except OSError as error:
        raise ModelError(f"{where}: cannot be read: {error.strerror}") from None
    if len(data) > MOST:
        raise ModelError(f"{where}: holds more than {MOST} bytes")
    code = _CODE.search(text)
    if code:
        raise ModelError(f"{where}: has a <{code[1]}>, which is code and is not run; leave it out")
    if _STRANGE.search(text):
        raise ModelError(f"{where}: declares a document type or an entity, which no force field needs; leave it out")
    if _INCLUDE.search(text):
        raise ModelError(
            f"{where}: includes another file; name that file in force_field_files too, and remove <Include>"
        )
    _parsed(where, text)
    return text


def _parsed(where: str, text: str) -> None:
    """Raise ModelError if OpenMM cannot read the text of a file."""
    from xml.etree import ElementTree

    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        raise ModelError(f"{where}: is not valid XML: {error}") from None
    if root.tag != "ForceField":
        raise ModelError(f"{where}: its first element is <{root.tag}>; expected OpenMM's <ForceField>")


@lru_cache(maxsize=8)
def _read(own: tuple[str, ...], brought: tuple[str, ...]) -> Any:
    """Return OpenMM's force field from a cache, because reading the CHARMM force field takes ten seconds."""
    return fresh(own, brought)


def fresh(own: Sequence[str], brought: Sequence[str]) -> Any:
    """Read OpenMM's force field again, so that it is not shared with other callers."""
    app = openmm_app()
    try:
        return app.ForceField(*own, *(io.StringIO(text) for text in brought))
    except Exception as error:  # OpenMM raises various exceptions for a faulty file
        said = f"{type(error).__name__}: {clipped(error)}"
        raise ModelError(f"model.force_field_files: OpenMM cannot read the given files: {said}") from None
