"""The folder of a study: its files are written together, and nothing is overwritten."""

import os
from collections.abc import Mapping
from pathlib import Path

from articulon.errors import ArticulonError
from articulon.storage.atomic_writing import write_text

STUDIES = Path("studies")
"""Default folder of results; each study gets a subfolder."""


def write_study(folder: Path, files: Mapping[str, str]) -> None:
    """Write the files of a study by name; if one of them exists, raise ArticulonError before any is written."""
    taken = next((folder / name for name in files if os.path.lexists(folder / name)), None)
    if taken is not None:
        raise ArticulonError(f"{taken} exists and belongs to another study; give another folder (out=...)")
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        write_text(folder / name, text)


def free_folder(name: str) -> Path:
    """Return a new folder of this name in the folder of studies, with a number added if the name is taken."""
    folder, n = STUDIES / name, 1
    while os.path.lexists(folder):
        n += 1
        folder = STUDIES / f"{name}-{n}"
    return folder
