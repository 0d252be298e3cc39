"""The files that OpenMM reads force fields from: its own, and those that a user brings."""

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
"""And of each solvent without molecules."""
IONS: Mapping[str, str] = {"amber14": "amber14/tip3p.xml", "charmm36": "charmm36/water.xml"}
"""Water and ions, where a solvent without molecules has some."""


class Water(NamedTuple):
    """A model of water."""

    filled_from: str
    """Which of the modeller's boxes of water is filled in; its molecules then get the model's own geometry."""
    files: Mapping[str, str]
    """OpenMM's file of it and of its ions, by the force field."""
    sites: int
    """Of a molecule."""


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
"""By the word for it."""
SOLVENTS = (*IMPLICIT, *WATERS)
MOST = 64 * 1024 * 1024
"""Largest file of a user's that is read [bytes]."""
_CODE = re.compile(r"<\s*(?:\w+:)?(\w*Script)\b")
_STRANGE = re.compile(r"(?i)<!DOCTYPE|<!ENTITY")
_INCLUDE = re.compile(r"<\s*(?:\w+:)?Include\b")


class Reader(NamedTuple):
    """A force field that has been read."""

    force_field: Any
    """OpenMM's ``ForceField``."""
    own: tuple[str, ...]
    """The names of OpenMM's files in it."""
    brought: tuple[str, ...]
    """What the user's files hold."""
    ions: bool
    """Whether ions and water of TIP3P's file were added beside a solvent without molecules."""


def check_words(name: Any, solvent: Any) -> None:
    """Raises ModelError for a force field or a solvent that there is not, and for two that do not go together."""
    for key, given, known in (("force_field", name, FILES), ("solvent", solvent, SOLVENTS)):
        if not isinstance(given, str) or given not in known:
            raise ModelError(f"model.{key}: there is no {shown(given)} (known: {', '.join(known)})")
    if solvent in WATERS and name not in WATERS[solvent].files:
        have = ", ".join(word for word, water in WATERS.items() if name in water.files)
        raise ModelError(f"model.solvent: OpenMM has no parameters of {solvent} for {name} (it has: {have})")


def reader(structure: Structure, name: str, solvent: str, files: Sequence[str] = ()) -> Reader:
    """The force field of a structure.

    Parameters
    ----------
    structure
        Its ions and water ask for parameters of them.
    name, solvent
        Words of :data:`FILES` and :data:`SOLVENTS`.
    files
        Of the user: paths, or names of files that come with OpenMM.

    Raises
    ------
    ModelError
        Naming the file, for one that cannot be read or holds code.
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
                f"model.force_field_files: {clipped(file)}: there is no such file, nor one of OpenMM's of this name"
            )
    return Reader(_read(tuple(dict.fromkeys(own)), tuple(brought)), tuple(own), tuple(brought), ions)


def _comes_with_openmm(file: str) -> bool:
    folder = Path(openmm_app().__file__).parent / "data"
    path = (folder / file).resolve()
    return folder.resolve() in path.parents and is_file(path)


def _content(path: Path) -> str:
    """The text of a user's file; raises ModelError for what holds code or includes other files."""
    where = f"model.force_field_files: {clipped(path)}"
    try:
        with path.open("rb") as stream:
            data = stream.read(MOST + 1)
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ModelError(f"{where}: is no text; expected a force field in OpenMM's XML") from None
    except OSError as error:
        raise ModelError(f"{where}: cannot be read: {error.strerror}") from None
    if len(data) > MOST:
        raise ModelError(f"{where}: holds more than {MOST} bytes")
    code = _CODE.search(text)
    if code:
        raise ModelError(f"{where}: has a <{code[1]}>, which is code and is not run; leave it out")
    if _STRANGE.search(text):
        raise ModelError(f"{where}: declares a type of document or an entity, which no force field needs; leave it out")
    if _INCLUDE.search(text):
        raise ModelError(
            f"{where}: includes another file; name that one in force_field_files too, and leave <Include> out"
        )
    _parsed(where, text)
    return text


def _parsed(where: str, text: str) -> None:
    """Raises ModelError for what OpenMM could not read by itself."""
    from xml.etree import ElementTree

    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        raise ModelError(f"{where}: is no XML: {error}") from None
    if root.tag != "ForceField":
        raise ModelError(f"{where}: its first element is <{root.tag}>; expected OpenMM's <ForceField>")


@lru_cache(maxsize=8)
def _read(own: tuple[str, ...], brought: tuple[str, ...]) -> Any:
    """OpenMM's reader of a force field; CHARMM's takes it ten seconds."""
    return fresh(own, brought)


def fresh(own: Sequence[str], brought: Sequence[str]) -> Any:
    """A reader of a force field that nobody else has."""
    app = openmm_app()
    try:
        return app.ForceField(*own, *(io.StringIO(text) for text in brought))
    except Exception as error:  # whatever OpenMM raises for a file with something wrong in it
        said = f"{type(error).__name__}: {clipped(error)}"
        raise ModelError(f"model.force_field_files: OpenMM cannot read the given files: {said}") from None
