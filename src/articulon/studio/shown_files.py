"""Choice of the reader for a file that the page shows, by the suffix of the file."""

from __future__ import annotations

from pathlib import Path

from articulon.errors import ArticulonError
from articulon.studio.file_frames import FileFrames

STRUCTURES = (".pdb", ".ent", ".cif", ".mmcif", ".pdbx")
"""Suffixes of structure files; ``.gz`` may follow."""
KINDS = "the folder of a run, or a .gsd, .pdb or .cif file"
"""Description of the files that can be shown."""


def file_frames(file: Path) -> FileFrames:
    """Read a file of particles or atoms for the page that plays it.

    Parameters
    ----------
    file
        A GSD file, or a PDB or mmCIF file, which may be compressed (``.gz``).

    Raises
    ------
    ArticulonError
        For other files, and for files that cannot be read. The message names the file and says what to do.
    """
    ending = next((suffix for suffix in reversed(file.suffixes) if suffix != ".gz"), "").lower()
    if ending == ".gsd":
        # The gsd package is optional, and SciPy's trees take time to import, so both are imported only when a file
        # needs them.
        from articulon.studio.gsd_scene import gsd_frames

        return gsd_frames(file)
    if ending in STRUCTURES:
        from articulon.studio.structure_scene import structure_frames

        return structure_frames(file)
    raise ArticulonError(f"{file}: cannot be shown; give {KINDS}")
