"""Where the output of executed pages is kept: a folder for each state of the package."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

import articulon

PACKAGE = Path(articulon.__file__).parent


def digest_of_package() -> str:
    """A digest of all Python and case files of the package."""
    found = hashlib.sha256()
    for path in sorted(PACKAGE.rglob("*")):
        if path.suffix in (".py", ".toml"):
            found.update(path.relative_to(PACKAGE).as_posix().encode())
            found.update(path.read_bytes())
    return found.hexdigest()[:16]


def folder(above: Path) -> Path:
    """The cache of this state of the package."""
    return above / digest_of_package()


def delete_others(mine: Path) -> None:
    """Deletes the caches of other states of the package."""
    for other in mine.parent.glob("*"):
        if other.is_dir() and other != mine:
            shutil.rmtree(other)
