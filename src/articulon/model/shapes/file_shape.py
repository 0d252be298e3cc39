"""What shapes have in common that stand in a file: where it is, and the mark of its contents."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Self

from articulon.declaration import marked_path
from articulon.errors import ModelError
from articulon.inputs import clipped, is_file
from articulon.model.shapes.base import Shape


class FileShape(Shape):
    """A shape that a file holds. Subclasses have the keys ``file`` and ``sha256``."""

    noun: ClassVar[str]
    """What the file is called in messages."""

    if TYPE_CHECKING:
        file: str
        sha256: str | None

    def beside(self, source: str, where: str, whose: str = "") -> Self:
        """A copy with its file found beside a case file and its contents marked; raises CaseError naming the key
        ``where`` and, after it, ``whose`` it is, for a file that is not there or has changed."""
        file, mark = marked_path(self.file, self.sha256, source, f"{where}.file{whose}", f"{where}.sha256")
        return self.model_copy(update={"file": file, "sha256": mark})

    def found(self, where: str) -> Self:
        """A copy with the whole path of its file and the mark of its contents; raises ModelError for one that is not
        there or has changed."""
        path = Path(self.file)
        if not is_file(path):
            raise ModelError(f"{where}: there is no {self.noun} {clipped(self.file)}")
        try:
            mark = hashlib.sha256(path.read_bytes()).hexdigest()
        except OSError as error:
            raise ModelError(f"{where}: {clipped(path)} cannot be read: {error.strerror}") from None
        if self.sha256 not in (None, mark):
            raise ModelError(f"{where}: {path} is not the file that sha256 says; leave that key out")
        return self.model_copy(update={"file": str(path.resolve()), "sha256": mark})

    @property
    def age(self) -> int:
        """When the file was changed last [ns], by which what has been read of it is kept; 0 where it is not there."""
        try:
            return Path(self.file).stat().st_mtime_ns
        except (OSError, ValueError):
            return 0
