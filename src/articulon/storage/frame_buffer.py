"""Frames that wait to be written, in memory or, where they are many, in a nameless file."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import IO

import numpy as np

MEMORY = 64 * 2**20
"""Bytes of buffered frames that are held in memory, and of frames that are copied at a time."""


class FrameBuffer:
    """Frames that are not yet in the file: in memory up to a bound, beyond it in a nameless file of the same folder."""

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
        """So many records, from one on."""
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
        # Whatever an earlier attempt left half-written lies beyond the records counted and is written over.
        self._overflow.seek(self._spilled * self.record.itemsize)
        self._overflow.write(b"".join(self._memory))
        self._overflow.flush()
        self._spilled += len(self._memory)
        self._memory.clear()

    def columns(self, start: int, count: int) -> dict[str, np.ndarray]:
        """So many records by their fields, from one on."""
        block = self.read(start, count)
        # Copies: a column that waits for its chunk to be full would hold all the others.
        return {name: np.array(block[name]) for name in self.record.names or ()}
