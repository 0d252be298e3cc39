"""The folder of a study: files that are written together, and nothing that is overwritten."""

import os
from collections.abc import Mapping
from pathlib import Path

from articulon.errors import ArticulonError
from articulon.storage.atomic_writing import write_text

STUDIES = Path("studies")
"""Where results go by default, a folder for each study."""


def write_study(folder: Path, files: Mapping[str, str]) -> None:
    """Write the files of a study by name; raises ArticulonError where one is there already, before any is written."""
    taken = next((folder / name for name in files if os.path.lexists(folder / name)), None)
    if taken is not None:
        raise ArticulonError(f"{taken} is there already, of another study; give another folder (out=...)")
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        write_text(folder / name, text)


def free_folder(name: str) -> Path:
    """A folder of this name among studies that does not exist yet, numbered if need be."""
    folder, n = STUDIES / name, 1
    while os.path.lexists(folder):
        n += 1
        folder = STUDIES / f"{name}-{n}"
    return folder
