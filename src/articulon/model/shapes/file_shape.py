"""Base class of shapes that are read from a file: the location of the file, and the hash of its contents."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Self

from articulon.declaration import marked_path
from articulon.errors import ModelError
from articulon.inputs import clipped, is_file
from articulon.model.shapes.base import Shape

KEPT = 128
"""Number of files whose hashes are kept in memory, because many bodies may have shapes from one file."""


@lru_cache(KEPT)
def _digest(file: str, age: int) -> str:
    """SHA-256 of the contents of a file; the modification time ``age`` [ns] identifies the contents."""
    return hashlib.sha256(Path(file).read_bytes()).hexdigest()


class FileShape(Shape):
    """A shape that is read from a file. Subclasses have the keys ``file`` and ``sha256``."""

    noun: ClassVar[str]
    """Name of the file type in messages."""

    if TYPE_CHECKING:
        file: str
        sha256: str | None

    def beside(self, source: str, where: str, whose: str = "") -> Self:
        """Return a copy with the hash of the file, and with its path resolved relative to a case file. Raises CaseError
        if the file is missing or has changed; the message names the key ``where`` and the owner ``whose``."""
        file, mark = marked_path(self.file, self.sha256, source, f"{where}.file{whose}", f"{where}.sha256")
        return self.model_copy(update={"file": file, "sha256": mark})

    def found(self, where: str) -> Self:
        """Return a copy with the full path of its file and the hash of its contents; raises ModelError if the file is
        missing or has changed."""
        path = Path(self.file)
        if not is_file(path):
            raise ModelError(f"{where}: there is no {self.noun} {clipped(self.file)}")
        try:
            mark = _digest(str(path.resolve()), self.age)
        except OSError as error:
            raise ModelError(f"{where}: {clipped(path)} cannot be read: {error.strerror}") from None
        if self.sha256 not in (None, mark):
            raise ModelError(f"{where}: {path} does not match sha256; leave that key out")
        return self.model_copy(update={"file": str(path.resolve()), "sha256": mark})

    @property
    def age(self) -> int:
        """Modification time of the file [ns], which identifies its contents in the cache; 0 if there is no file."""
        try:
            return Path(self.file).stat().st_mtime_ns
        except (OSError, ValueError):
            return 0
