"""Buffer of frames that are not yet written, in memory or, if there are many, in an unnamed file."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import IO

import numpy as np

MEMORY = 64 * 2**20
"""Largest size of the frames that are buffered in memory, and of the frames that are copied at a time [bytes]."""


class FrameBuffer:
    """Frames that are not yet in the trajectory. They are kept in memory up to a limit; further frames are kept in an
    unnamed file in the trajectory's folder."""

    def __init__(self, record: np.dtype, folder: Path) -> None:
        self.record = record
        self._folder = folder
        self._memory: list[bytes] = []
        self._spilled = 0
        self._overflow: IO[bytes] | None = None

    def __len__(self) -> int:
        return self._spilled + len(self._memory)

    def append(self, record: np.ndarray) -> None:
        self._memory.append(record.tobytes())
        if len(self._memory) * self.record.itemsize > MEMORY:
            self._spill()

    def read(self, start: int, count: int) -> np.ndarray:
        """Return ``count`` records, beginning with the record ``start``."""
        size, parts = self.record.itemsize, []
        spilled = min(count, max(0, self._spilled - start))
        if spilled and self._overflow is not None:
            self._overflow.seek(start * size)
            parts.append(self._overflow.read(spilled * size))
        first = start + spilled - self._spilled
        parts.extend(self._memory[first : first + count - spilled])
        return np.frombuffer(b"".join(parts), dtype=self.record)

    def clear(self) -> None:
        self._memory.clear()
        self._spilled = 0
        if self._overflow is not None:
            self._overflow.close()
            self._overflow = None

    def _spill(self) -> None:
        if self._overflow is None:
            self._overflow = tempfile.TemporaryFile(dir=self._folder)  # noqa: SIM115 - it lives until clear()
        # Overwrite data that a failed attempt has left after the counted records.
        self._overflow.seek(self._spilled * self.record.itemsize)
        self._overflow.write(b"".join(self._memory))
        self._overflow.flush()
        self._spilled += len(self._memory)
        self._memory.clear()

    def columns(self, start: int, count: int) -> dict[str, np.ndarray]:
        """Return the fields of ``count`` records, beginning with the record ``start``."""
        block = self.read(start, count)
        # The columns are copied, because a view of one column would keep all columns in memory.
        return {name: np.array(block[name]) for name in self.record.names or ()}
