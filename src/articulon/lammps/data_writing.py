"""Write plain arrays as a LAMMPS data file."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np

from articulon.errors import ModelError
from articulon.inputs import clipped, exists, path_of, shown
from articulon.lammps.data_file import CARRIED, FAMILIES, STYLES, DataFile
from articulon.lammps.data_layout import COEFFICIENTS, LABELS, TERMS
from articulon.storage.atomic_writing import write_text


def write_data_file(data: DataFile, path: str | Path, *, style: str | None = None) -> None:
    """Write a LAMMPS data file. Every number is written with enough digits to be read back exactly.

    Parameters
    ----------
    data
        Contents of the file.
    path
        A new file.
    style
        Atom style; that of the data by default.

    Raises
    ------
    ModelError
        If the file exists or cannot be written, or if the style does not support the contents.
    """
    path = path_of(path, "write_data_file, path")
    check_new(path, "write_data_file")
    style = checked_style(data, data.style if style is None else style, "write_data_file")
    write_text(path, data_text(data, style), new=True)


def data_text(data: DataFile, style: str) -> str:
    """Return the text of a data file in an atom style that supports its contents."""
    return "\n".join(_lines(data, style)) + "\n"


def check_new(path: Path, where: str) -> None:
    """Raise ModelError if a path exists, or if its folder does not exist."""
    if exists(path):
        raise ModelError(f"{where}: {clipped(path)} exists; choose another name, or remove it")
    if not path.parent.is_dir():
        raise ModelError(f"{where}: there is no folder {clipped(path.parent)}; create it first")


def checked_style(data: DataFile, style: str, where: str) -> str:
    """Return an atom style that supports the contents; raise ModelError if it does not."""
    if style not in STYLES:
        raise ModelError(f"{where}, style: expected one of {', '.join(STYLES)}, got {shown(style)}")
    for family in FAMILIES:
        if len(data.terms[family].type) and family not in CARRIED[style]:
            raise ModelError(f"{where}, style: '{style}' does not support {family}s; use 'molecular' or 'full'")
    if data.charges.any() and "q" not in STYLES[style]:
        raise ModelError(f"{where}, style: '{style}' does not support charges; use 'charge' or 'full'")
    if data.molecules.any() and "molecule" not in STYLES[style]:
        raise ModelError(f"{where}, style: '{style}' does not support molecules; use 'molecular' or 'full'")
    return style


def _lines(data: DataFile, style: str) -> Iterator[str]:
    counted = ("atom", *FAMILIES)
    yield data.title.replace("\n", " ") or "LAMMPS data file"
    yield ""
    sizes = {"atom": len(data), **{family: len(data.terms[family].type) for family in FAMILIES}}
    carried = ("atom", *CARRIED[style])
    for one in carried:
        yield f"{sizes[one]} {one}s"
    for one in counted:
        if data.type_counts[one] and one in carried:
            yield f"{data.type_counts[one]} {one} types"
    for words, number in data.extra.items():
        yield f"{number} extra {words}"
    yield ""
    for axis, (low, high) in zip("xyz", data.bounds.tolist(), strict=True):
        yield f"{low!r} {high!r} {axis}lo {axis}hi"
    if data.tilts is not None:
        yield f"{_numbers(data.tilts)} xy xz yz"
    for title, family in LABELS.items():
        if family in data.labels and family in carried:
            yield from _section(title, (f"{k} {label}" for k, label in enumerate(data.labels[family], start=1)))
    if data.masses is not None:
        yield from _section("Masses", (f"{k} {mass!r}" for k, mass in enumerate(data.masses.tolist(), start=1)))
    for title, family in COEFFICIENTS.items():
        if family in data.coefficients and (family in carried or family.startswith("pair")):
            found = data.coefficients[family]
            rows = (f"{' '.join(map(str, key))} {' '.join(words)}" for key, words in found.rows.items())
            yield from _section(title if found.style is None else f"{title} # {found.style}", rows)
    yield from _section(f"Atoms # {style}", _atoms(data, style))
    ids = data.ids.tolist()
    if data.velocities is not None:
        yield from _section("Velocities", (f"{i} {_numbers(v)}" for i, v in zip(ids, data.velocities, strict=True)))
    for title, family in TERMS.items():
        types, atoms, _ = data.terms[family]
        if types.size:
            listed = enumerate(zip(types.tolist(), data.ids[atoms].tolist(), strict=True), start=1)
            yield from _section(title, (f"{k} {kind} {' '.join(map(str, row))}" for k, (kind, row) in listed))


def _atoms(data: DataFile, style: str) -> Iterator[str]:
    images = [()] * len(data) if data.images is None else data.images.tolist()
    whole = {"id": data.ids.tolist(), "molecule": data.molecules.tolist(), "type": data.types.tolist()}
    columns = [whole[name] for name in STYLES[style] if name in whole]
    if "q" in STYLES[style]:
        columns.append([repr(q) for q in data.charges.tolist()])
    for *words, place, image in zip(*columns, data.positions, images, strict=True):
        yield " ".join(map(str, (*words, _numbers(place), *image)))


def _section(title: str, rows: Iterable[str]) -> Iterator[str]:
    yield from ("", title, "", *rows)


def _numbers(values: Sequence[float] | np.ndarray) -> str:
    return " ".join(repr(float(value)) for value in values)
