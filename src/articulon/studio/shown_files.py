"""Choose the reader of a file that the page shows, by the ending of its name."""

from __future__ import annotations

from pathlib import Path

from articulon.errors import ArticulonError
from articulon.studio.file_frames import FileFrames

STRUCTURES = (".pdb", ".ent", ".cif", ".mmcif", ".pdbx")
"""Endings of structure files, which may be followed by ``.gz``."""
KINDS = "the folder of a run, or a .gsd, .pdb or .cif file"
"""What can be shown."""


def file_frames(file: Path) -> FileFrames:
    """Read a file of particles or atoms for the page that plays it.

    Parameters
    ----------
    file
        A GSD file, or a PDB or mmCIF file, which may be compressed (``.gz``).

    Raises
    ------
    ArticulonError
        For other files, and for those that cannot be read; the message names the file and says what to do.
    """
    ending = next((suffix for suffix in reversed(file.suffixes) if suffix != ".gz"), "").lower()
    if ending == ".gsd":
        # The gsd package is an extra, and SciPy's trees take time to import: each file imports what it needs.
        from articulon.studio.gsd_scene import gsd_frames

        return gsd_frames(file)
    if ending in STRUCTURES:
        from articulon.studio.structure_scene import structure_frames

        return structure_frames(file)
    raise ArticulonError(f"{file}: cannot be shown; give {KINDS}")
