"""Export of the atoms of a run as XTC, DCD or PDB, by MDAnalysis, and of its joint coordinates as a table.

Positions are computed in double precision from the joint coordinates of each frame, so all atoms can be exported,
independent of which atoms the trajectory stores. Molecules are whole. By default, frames are aligned to the first frame
that is written.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Literal

import numpy as np

from articulon.errors import ArticulonError
from articulon.forces.sites.atom_positions import atoms_of
from articulon.model import Model
from articulon.model.atom_selection import ANGSTROM, box_of, selected_atoms, universe
from articulon.model.atoms import Atoms
from articulon.runs.frame_choice import chosen_frames
from articulon.simulation.results import Run
from articulon.storage.atom_topology import atom_records, bonds_to_write
from articulon.storage.atomic_writing import replacing, write_text
from articulon.storage.model_layout import file_units
from articulon.storage.topology import LARGEST_DECIMAL

FORMATS = (".xtc", ".dcd", ".pdb")
"""File name endings of the atom formats."""
BACKBONE = {
    "amino-acid": ("N", "CA", "C"),
    "nucleotide": ("P", "O5'", "C5'", "C4'", "C3'", "O3'"),
}
"""Names of the backbone atoms by kind of residue."""
FEWEST = 3
"""Minimum number of atoms that determine a rotation."""


@dataclass(frozen=True, kw_only=True)
class Choice:
    """Options of an export: which atoms and frames, and in which form."""

    select: str = "all"
    """Selection of atoms, in MDAnalysis's language."""
    frames: str | slice | Sequence[int] | int | None = None
    """Selection of frames; see :func:`articulon.runs.frame_choice.chosen_frames`."""
    align: Literal["backbone", "none"] = "backbone"
    """Whether frames are aligned to the first exported frame by the backbone."""
    wrapped: bool = False
    """Whether each molecule is shifted as a whole so that its centre of mass lies in the box."""
    precision: int = 3
    """Decimal places of nanometres that XTC keeps."""


def write_atoms(run: Run, file: Path, choice: Choice) -> list[Path]:
    """Write atoms of a run; see :meth:`articulon.runs.run.Run.export`. Return the paths of the files.

    Raises
    ------
    ArticulonError
        For an unknown ending, an existing file, an empty selection, frames that do not exist, or a run without atoms.
    """
    ending = file.suffix.lower()
    if ending not in FORMATS:
        raise ArticulonError(f"export: {file}: expected a name that ends in {', '.join(FORMATS)}")
    check_new(file)
    model = run.model
    atoms = atoms_of(model, "export")
    frames = chosen_frames(choice.frames, len(run.times), "export, frames")
    edges = None if run.boxes is None or model.box is None or not model.box.periodic.all() else run.boxes
    if choice.wrapped and edges is None:
        raise ArticulonError("export, wrapped: the box is not periodic in all directions; leave it out")
    aligned = choice.align == "backbone" and not choice.wrapped
    first = run.atoms_at(frames[0])
    some = selected_atoms(atoms, first, choice.select, "export, select", None if edges is None else edges[frames[0]])
    fit = _fitted(atoms) if aligned else None
    places = _Places(run, model, fit, edges if choice.wrapped else None)
    # After an alignment, molecules no longer repeat along the edges of the box, so no box is written.
    boxes = edges if fit is None else None
    names = None if ending == ".pdb" else file.with_suffix(".pdb")
    if names is not None:
        _write_names(names, "\n".join(atom_records(model, some, places.at(frames[0])[some], _title(run))) + "\n")
    _write(run, file, ending, places, some, frames, boxes, choice.precision)
    return [file] if names is None else [file, names]


def _write_names(file: Path, text: str) -> None:
    """Write the topology of a file of atoms, unless an identical one exists, for example from an export in another
    format."""
    try:
        if file.is_file() and file.read_text(encoding="utf-8") == text:
            return
    except (OSError, ValueError):
        pass  # the existing file is not a text file
    check_new(file)
    write_text(file, text, new=True)


def write_coordinates(run: Run, file: Path, names: Sequence[str], frames: Any = None) -> Path:
    """Write joint coordinates as a table with a row for each frame. Angles are in degrees from −180 to 180, other
    coordinates in the units of the case.

    Parameters
    ----------
    run
        The run.
    file
        A new file.
    names
        Names of coordinates; ``*`` stands for any characters, as in ``"phi:*"``.
    frames
        See :class:`Choice`.

    Raises
    ------
    ArticulonError
        For a name that no coordinate has, frames that do not exist, and an existing file.
    """
    check_new(file)
    chosen: dict[str, None] = {}
    for name in names:
        found = [one for one in run.coordinate_names if fnmatchcase(one, name)] if "*" in name else [name]
        if not found:
            raise ArticulonError(f"export, coordinates: no coordinate matches '{name}'")
        chosen.update(dict.fromkeys(found))
    rows = chosen_frames(frames, len(run.times), "export, frames")
    heads, columns = ["time"], [run.times]
    for name in chosen:
        angle = run.coordinate_unit(name) == "rad"
        heads.append(f"{name} (degrees)" if angle else name)
        columns.append(run.coordinate(name, wrapped=angle, degrees=angle))
    quoted = [f'"{head}"' if "," in head or '"' in head else head for head in heads]
    lines = [",".join(quoted), *(",".join(repr(float(column[k])) for column in columns) for k in rows)]
    write_text(file, "\n".join(lines) + "\n", new=True)
    return file


def check_new(path: Path) -> None:
    """Raise ArticulonError if a file exists."""
    if os.path.lexists(path):
        raise ArticulonError(f"export: {path} exists and is not overwritten; give another name")


class _Places:
    """Computes the positions of all atoms at a frame, in the exported form."""

    def __init__(self, run: Run, model: Model, fit: np.ndarray | None, edges: np.ndarray | None) -> None:
        self.run, self.model, self.fit, self.edges = run, model, fit, edges
        self.reference: np.ndarray | None = None
        if edges is not None:
            atoms = atoms_of(model, "export")
            links = model.link[model.sites.body[atoms.site]]
            # A molecule is a tree. Atoms on the ground are not shifted.
            self.molecule = np.where(links < 0, model.trees, np.append(model.tree_of_link, 0)[links])
            self.masses = atoms.masses

    def at(self, frame: int) -> np.ndarray:
        """Return the positions at a frame [length], shape (atoms, 3)."""
        x = self.run.atoms_at(frame)
        if self.edges is not None:
            return self._wrapped(x, self.edges[frame])
        if self.fit is None:
            return x
        return self._moved(x)

    def _moved(self, x: np.ndarray) -> np.ndarray:
        """Align positions to the first frame by the least-squares rotation."""
        from MDAnalysis.analysis.align import rotation_matrix

        part = x[self.fit]
        here = part.mean(axis=0)
        if self.reference is None:
            # The reference is centred on the origin, where single precision is most accurate.
            self.reference = part - here
            return x - here
        R, _ = rotation_matrix(part - here, self.reference)
        return np.asarray((x - here) @ np.asarray(R).T)

    def _wrapped(self, x: np.ndarray, edges: np.ndarray) -> np.ndarray:
        """Shift each molecule by whole box edges so that its centre of mass lies in the box, relative to the origin of
        the box."""
        assert self.model.box is not None
        count = self.model.trees + 1
        weights = np.bincount(self.molecule, self.masses, count)
        moments = np.stack([np.bincount(self.molecule, self.masses * x[:, k], count) for k in range(3)], axis=1)
        corner = np.array([float(v) for v in self.model.box.origin])
        centres = moments / np.where(weights > 0.0, weights, 1.0)[:, None] - corner
        shift = np.floor(centres @ np.linalg.inv(edges))
        shift[-1] = 0.0
        return np.asarray(x - (shift @ edges)[self.molecule])


def _fitted(atoms: Atoms) -> np.ndarray | None:
    """Return the atoms by which frames are aligned: the backbones, or, without backbones, all heavy atoms except those
    of water and ions. None if there are too few atoms to determine a rotation."""
    kinds = [atoms.residue_kinds[r] for r in atoms.residue.tolist()]
    backbone = [
        k for k, (kind, name) in enumerate(zip(kinds, atoms.names, strict=True)) if name in BACKBONE.get(kind, ())
    ]
    heavy = [
        k
        for k, (kind, element) in enumerate(zip(kinds, atoms.elements, strict=True))
        if kind not in ("water", "ion") and element != "H"
    ]
    found = next((some for some in (backbone, heavy) if len(some) >= FEWEST), None)
    return None if found is None else np.array(found)


def _title(run: Run) -> str:
    return getattr(run.case, "title", "") or "articulon"


def _write(
    run: Run,
    file: Path,
    ending: str,
    places: _Places,
    some: np.ndarray,
    frames: Sequence[int],
    boxes: np.ndarray | None,
    precision: int,
) -> None:
    model = run.model
    atoms = atoms_of(model, "export")
    pairs = atoms.bonds[bonds_to_write(atoms)] if some.size <= LARGEST_DECIMAL else np.zeros((0, 2), dtype=np.int64)
    made = universe(atoms, places.at(frames[0]), "export", bonds=pairs)
    group, ts = made.atoms[some], made.trajectory.ts
    _, time = file_units(model.units)
    to_ps = 1.0 if time is None else 1e3 * time[1]
    times = to_ps * run.times
    apart = float(times[frames[1]] - times[frames[0]]) if len(frames) > 1 else 1.0
    with warnings.catch_warnings(), replacing(file, new=True) as stream:
        warnings.simplefilter("ignore")  # about missing bonds and boxes
        from MDAnalysis.coordinates import DCD, PDB, XTC

        if ending == ".xtc":
            writer = XTC.XTCWriter(stream.name, some.size, precision=precision)
        elif ending == ".dcd":
            writer = DCD.DCDWriter(stream.name, some.size, dt=apart, remarks=f"articulon: {_title(run)}"[:70])
        else:
            bonds = "conect" if pairs.size else None
            writer = PDB.PDBWriter(stream.name, bonds=bonds, multiframe=len(frames) > 1, n_atoms=some.size)
        with writer:
            for k in frames:
                made.atoms.positions = ANGSTROM * places.at(k)
                ts.frame, ts.time = k, times[k]
                ts.data["step"] = k
                ts.dimensions = None if boxes is None else box_of(boxes[k])
                writer.write(group)
