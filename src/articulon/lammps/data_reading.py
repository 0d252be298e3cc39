"""Read a LAMMPS data file into plain arrays.

MDAnalysis's reader of the format is not suitable. It drops comments after ``#``, which contain the styles. It reads no
coefficients and no PairIJ, stores positions in single precision and does not check bonds. For an invalid file it does
not name the line of the error.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from articulon.declaration import nearest
from articulon.errors import ModelError
from articulon.inputs import path_of, shown
from articulon.lammps.data_file import CARRIED, FAMILIES, STYLES, Coefficients, DataFile, Terms, no_terms
from articulon.lammps.data_layout import (
    COEFFICIENTS,
    LABELS,
    TERMS,
    Layout,
    Row,
    Section,
    fault,
    float_columns,
    layout_of,
    numbers,
    whole_columns,
    whole_number,
)


def read_data_file(path: str | Path, *, atom_style: str | None = None) -> DataFile:
    """Read a LAMMPS data file.

    Parameters
    ----------
    path
        The file, as written by LAMMPS's ``write_data`` or a tool for LAMMPS.
    atom_style
        ``atomic``, ``bond``, ``angle``, ``molecular``, ``charge`` or ``full``. It is needed if the title, such as
        ``Atoms # full``, does not give it and the number of columns fits several styles.

    Returns
    -------
    DataFile
        Arrays in the units of the file, atoms in the order of their ids.

    Raises
    ------
    ModelError
        For contents that LAMMPS would reject or that are not supported: lines that are missing, incomplete or not
        numeric, sections in the wrong order, bonds to missing atoms, types beyond those of the header, image flags of
        only some atoms, and unknown styles. The message names the file and the line.
    """
    path = path_of(path, "read_data_file, path")
    if atom_style is not None and atom_style not in STYLES:
        raise ModelError(
            f"atom_style: expected one of {', '.join(STYLES)}, got {shown(atom_style)}"
            f"{nearest(str(atom_style), list(STYLES))}"
        )
    return _Reader(layout_of(path)).read(atom_style)


class _Reader:
    """Converts the sections of a file to arrays."""

    def __init__(self, layout: Layout) -> None:
        self.layout, self.path = layout, layout.path
        self.labels = {LABELS[title]: self._labels(section) for title, section in self._of(LABELS)}

    def read(self, given: str | None) -> DataFile:
        """Return the file; ``given`` is the atom style that the user gave, or None."""
        layout, count = self.layout, self._count("atom")
        section = self._section("Atoms", count, "atoms")
        if section is None:
            raise ModelError(f"{self.path}: there are no atoms; a model needs at least one")
        style = self._style(section, given)
        columns, width = STYLES[style], len(section.rows[0].words)
        rows = self._even(section, (len(columns), len(columns) + 3), f"the atom style {style}")
        at = {name: k for k, name in enumerate(columns)}
        ids = whole_columns(self.path, rows, slice(0, 1))[:, 0]
        order = np.argsort(ids, kind="stable")
        self._check_ids(ids, order, rows)
        lines = np.array([row.line for row in rows])
        x = float_columns(self.path, rows, slice(at["x"], at["x"] + 3))
        types = self._types(rows, at["type"], "atom")
        molecules, charges = np.zeros(count, dtype=np.int64), np.zeros(count)
        if "molecule" in at:
            molecules = whole_columns(self.path, rows, slice(1, 2))[:, 0]
        if "q" in at:
            charges = float_columns(self.path, rows, slice(at["q"], at["q"] + 1))[:, 0]
        images = None
        if width > len(columns):
            images = whole_columns(self.path, rows, slice(len(columns), None))[order]
        self.ids = ids[order]
        for family in FAMILIES:
            if self._count(family) and family not in CARRIED[style]:
                raise fault(
                    self.path,
                    section.line,
                    f"the atom style {style} does not support {family}s, but the header gives "
                    f"{self._count(family)} of them; use atom_style='molecular' or 'full'",
                )
        terms = {family: self._terms(title, family) for title, family in TERMS.items()}
        return DataFile(
            path=self.path,
            title=layout.title,
            style=style,
            bounds=layout.bounds,
            tilts=layout.tilts,
            ids=self.ids,
            types=types[order],
            molecules=molecules[order],
            charges=charges[order],
            positions=np.ascontiguousarray(x[order]),
            images=images,
            velocities=self._velocities(),
            masses=self._masses(),
            terms=terms,
            type_counts={family: layout.types.get(family, 0) for family in ("atom", *FAMILIES)},
            coefficients={COEFFICIENTS[title]: self._coefficients(one) for title, one in self._of(COEFFICIENTS)},
            labels=self.labels,
            extra=layout.extra,
            atom_lines=lines[order],
        )

    def _of(self, titles: Sequence[str] | dict[str, str]) -> list[tuple[str, Section]]:
        return [(title, self.layout.sections[title]) for title in titles if title in self.layout.sections]

    def _count(self, family: str) -> int:
        return self.layout.counts.get(family, (0, 0))[0]

    def _section(self, title: str, count: int, what: str) -> Section | None:
        """Return a section that must have ``count`` rows, or None if it is missing; raise ModelError if the number of
        rows differs."""
        section = self.layout.sections.get(title)
        if section is None:
            if count and title not in ("Masses", "Velocities"):
                raise ModelError(f"{self.path}: the header gives {count} {what}, but there is no section '{title}'")
            return None
        rows = section.rows
        if len(rows) > count:
            raise fault(
                self.path,
                rows[count].line,
                f"the section '{title}' has {len(rows)} lines, but the header gives {count} {what}",
            )
        if len(rows) < count:
            raise fault(
                self.path,
                section.end,
                f"the section '{title}' (from line {section.line}) ends after {len(rows)} lines, but the header gives "
                f"{count} {what}; is the file incomplete?",
            )
        return section

    def _even(self, section: Section, widths: tuple[int, ...], what: str) -> list[Row]:
        """Return the rows of a section, which must all have the same, allowed number of columns."""
        allowed = " or ".join(map(str, widths))
        for row in section.rows:
            if len(row.words) not in widths:
                raise fault(
                    self.path, row.line, f"expected {allowed} columns by {what}, got {len(row.words)}: {_text(row)}"
                )
        usual = len(section.rows[0].words) if section.rows else 0
        for row in section.rows:
            if len(row.words) != usual:
                has = "no image flags" if len(row.words) < usual else "image flags"
                raise fault(
                    self.path,
                    row.line,
                    f"this atom has {has}, unlike those before it; give them for all or for none: {_text(row)}",
                )
        return section.rows

    def _style(self, section: Section, given: str | None) -> str:
        """Return the atom style: from the title, from the user, or the only one with this number of columns."""
        hint = section.hint
        if hint is not None and hint not in STYLES:
            raise fault(
                self.path,
                section.line,
                f"the atom style '{hint}' is not supported{nearest(hint, list(STYLES))}; known: {', '.join(STYLES)}",
            )
        if hint is not None and given is not None and hint != given:
            raise fault(self.path, section.line, f"the atom style is '{hint}' here, but atom_style='{given}' is given")
        if hint is not None or given is not None:
            return str(hint or given)
        width = len(section.rows[0].words)
        linked = [family for family in FAMILIES if self._count(family)]
        fitting = [
            style
            for style, columns in STYLES.items()
            if width in (len(columns), len(columns) + 3) and all(family in CARRIED[style] for family in linked)
        ]
        if linked and len({STYLES[style] for style in fitting}) == 1:
            return fitting[-1]  # all these styles have the same columns: take the most general style
        if len(fitting) != 1:
            which = f"fit {' or '.join(fitting)}" if fitting else "fit no known style"
            raise fault(
                self.path,
                section.line,
                f"the title does not give the atom style, and {width} columns {which}; write it, as in 'Atoms # full', "
                f"or give atom_style='...'",
            )
        return fitting[0]

    def _check_ids(self, ids: np.ndarray, order: np.ndarray, rows: list[Row]) -> None:
        for k in np.flatnonzero(ids < 1)[:1].tolist():
            raise fault(self.path, rows[k].line, f"the id of an atom must be at least 1, got {ids[k]}")
        twice = np.flatnonzero(np.diff(ids[order]) == 0)
        if twice.size:
            first, second = sorted(rows[k].line for k in order[twice[0] : twice[0] + 2].tolist())
            raise fault(self.path, second, f"atom {ids[order[twice[0]]]} is already defined in line {first}")

    def _type(self, row: Row, column: int, family: str) -> int:
        """Parse a type, given by number or label."""
        word, count = row.words[column], self.layout.types.get(family, 0)
        labels = self.labels.get(family, ())
        if not word[:1].isdigit() and word[:1] not in "+-":
            if word not in labels:
                known = f"{nearest(word, list(labels))}" if labels else f"; there is no section of {family} type labels"
                raise fault(self.path, row.line, f"expected a type of {family}s, got {shown(word)}{known}")
            return labels.index(word) + 1
        found = whole_number(self.path, row.line, word)
        if not 1 <= found <= count:
            raise fault(
                self.path, row.line, f"expected a type of {family}s from 1 to {count}, as the header says, got {found}"
            )
        return found

    def _types(self, rows: list[Row], column: int, family: str) -> np.ndarray:
        return np.array([self._type(row, column, family) for row in rows], dtype=np.int64)

    def _atoms(self, rows: list[Row], columns: slice) -> np.ndarray:
        """Return the row indices of atoms by their ids, shape (rows, columns)."""
        ids = whole_columns(self.path, rows, columns)
        found = np.minimum(np.searchsorted(self.ids, ids), self.ids.size - 1)
        missing = np.argwhere(self.ids[found] != ids)
        if missing.size:
            k, j = missing[0].tolist()
            raise fault(self.path, rows[k].line, f"there is no atom {ids[k, j]}: {_text(rows[k])}")
        return found

    def _terms(self, title: str, family: str) -> Terms:
        section = self._section(title, self._count(family), f"{family}s")
        if section is None or not section.rows:
            return no_terms(family)
        rows = self._even(section, (2 + FAMILIES[family],), f"'{title}': id, type and {FAMILIES[family]} atoms")
        whole_columns(self.path, rows, slice(0, 1))
        found, atoms = self._types(rows, 1, family), self._atoms(rows, slice(2, None))
        ordered = np.sort(atoms, axis=1)
        for k in np.flatnonzero((ordered[:, 1:] == ordered[:, :-1]).any(axis=1))[:1].tolist():
            raise fault(self.path, rows[k].line, f"an atom is listed twice: {_text(rows[k])}")
        if family in ("bond", "angle"):
            self._refuse_twins(atoms, rows, family)
        return Terms(found, atoms, np.array([row.line for row in rows]))

    def _refuse_twins(self, atoms: np.ndarray, rows: list[Row], family: str) -> None:
        """Raise ModelError for duplicate terms; only dihedrals may have several terms of the same four atoms."""
        backwards = atoms[:, 0] > atoms[:, -1]
        ways = np.where(backwards[:, None], atoms[:, ::-1], atoms)
        order = np.lexsort(ways.T[::-1])
        same = np.flatnonzero((np.diff(ways[order], axis=0) == 0).all(axis=1))
        if same.size:
            first, second = sorted(rows[k].line for k in order[same[0] : same[0] + 2].tolist())
            raise fault(
                self.path, second, f"this {family} is already defined in line {first}, and both would act; remove one"
            )

    def _velocities(self) -> np.ndarray | None:
        section = self._section("Velocities", self._count("atom"), "atoms")
        if section is None:
            return None
        rows = self._even(section, (4,), "'Velocities': id and three components")
        at = self._atoms(rows, slice(0, 1))[:, 0]
        values = np.zeros((at.size, 3))
        twice = np.flatnonzero(np.bincount(at, minlength=at.size) > 1)
        if twice.size:
            k = int(np.flatnonzero(at == twice[0])[1])
            raise fault(self.path, rows[k].line, f"atom {self.ids[twice[0]]} has a velocity already")
        values[at] = float_columns(self.path, rows, slice(1, None))
        return values

    def _masses(self) -> np.ndarray | None:
        section = self._section("Masses", self.layout.types.get("atom", 0), "atom types")
        if section is None:
            return None
        rows = self._even(section, (2,), "'Masses': type and mass")
        values = np.zeros(len(rows))
        for row, kind in zip(rows, self._types(rows, 0, "atom").tolist(), strict=True):
            (mass,) = numbers(self.path, row.line, row.words[1:])
            if not mass > 0.0:
                raise fault(self.path, row.line, f"a mass must be positive, got {mass:g}")
            if values[kind - 1]:
                raise fault(self.path, row.line, f"type {kind} has a mass already")
            values[kind - 1] = mass
        return values

    def _coefficients(self, section: Section) -> Coefficients:
        family = COEFFICIENTS[section.title]
        kind, width = ("atom", 2 if family == "pair-ij" else 1) if family.startswith("pair") else (family, 1)
        types = self.layout.types.get(kind, 0)
        count, what = (types, f"{kind} types") if width == 1 else (types * (types + 1) // 2, "pairs of types")
        self._section(section.title, count, what)
        rows: dict[tuple[int, ...], tuple[str, ...]] = {}
        for row in section.rows:
            if len(row.words) <= width:
                raise fault(self.path, row.line, f"expected {'a type' if width == 1 else 'two types'} and coefficients")
            key = tuple(self._type(row, k, kind) for k in range(width))
            if key in rows or key[::-1] in rows:
                raise fault(self.path, row.line, f"type {' '.join(map(str, key))} has coefficients already")
            rows[key] = tuple(row.words[width:])
        return Coefficients(section.hint, rows, section.line)

    def _labels(self, section: Section) -> tuple[str, ...]:
        family = LABELS[section.title]
        count = self.layout.types.get(family, 0)
        self._section(section.title, count, f"{family} types")
        found: dict[int, str] = {}
        for row in section.rows:
            if len(row.words) != 2:
                raise fault(self.path, row.line, f"expected a type and its label, got {_text(row)}")
            number, label = whole_number(self.path, row.line, row.words[0]), row.words[1]
            if label[0].isdigit() or label[0] in "*#+-" or label in found.values():
                raise fault(self.path, row.line, f"a label must be unique and begin with a letter, got {shown(label)}")
            if number in found or not 1 <= number <= count:
                raise fault(self.path, row.line, f"expected each type from 1 to {count} once, got {number}")
            found[number] = label
        return tuple(found[k] for k in range(1, count + 1))


def _text(row: Row) -> str:
    return shown(" ".join(row.words))
