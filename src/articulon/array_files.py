"""Files of arrays (npz), which are checked before anything is unpacked.

The directory of a zip archive gives the sizes of its entries, and an array begins with its type and shape. Both are
read first, so that a small file that would unpack to gigabytes is rejected before it is unpacked.
"""

from __future__ import annotations

import math
import os
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import numpy as np

from articulon.sizes import amount, memory

__all__ = ["Archive", "Entry", "UnreadableError", "read_arrays"]

SUFFIX = ".npy"
FREE = 64 * 2**20
"""Number of bytes to which any archive may unpack, regardless of the size of its file."""
RATIO = 64
"""Largest ratio of unpacked size to file size for archives that unpack to more than FREE bytes. Measured numbers hardly
compress at all."""
_BLOCK = 2**20
_BEGIN, _END, _END_SIZE = b"PK\x03\x04", b"PK\x05\x06", 22


class UnreadableError(Exception):
    """Reason why the arrays of a file cannot be read, phrased as the end of a sentence about the file."""


@dataclass(frozen=True)
class Entry:
    """Description of an array in an archive, before it is read."""

    dtype: np.dtype
    """Data type of the array."""
    shape: tuple[int, ...]
    """Shape of the array."""
    begins: int
    """Offset of its values in the entry [bytes]."""
    fortran: bool
    """Whether the first axis varies fastest."""

    @property
    def size(self) -> int:
        """Size of its values [bytes]."""
        return math.prod(self.shape) * self.dtype.itemsize


class Archive:
    """Arrays in an npz file by name: their descriptions, and their values on request.

    Parameters
    ----------
    path
        Path of the file.
    packed
        Whether arrays may be compressed. Otherwise they need no more memory than the file on disk.

    Raises
    ------
    UnreadableError
        If the file is missing, damaged or not an npz file, contains Python objects, or would unpack to far more than
        its size.
    """

    def __init__(self, path: Path, *, packed: bool = True) -> None:
        self.path = path
        if not os.path.lexists(path):
            raise UnreadableError("is missing")
        if not path.is_file():
            raise UnreadableError("is not a file")
        try:
            self._stream = path.open("rb")
        except OSError as failure:
            raise UnreadableError(f"cannot be read ({failure.strerror})") from None
        try:
            self._archive = zipfile.ZipFile(self._stream)
            directory = self._archive.infolist()
            if not packed:
                _check_ends(self._stream)
            _check_sizes(directory, os.fstat(self._stream.fileno()).st_size, packed)
            self.entries = {info.filename.removesuffix(SUFFIX): _entry(self._archive, info) for info in directory}
        except UnreadableError:
            self.close()
            raise
        except Exception as failure:  # damaged bytes can raise any error in the parsers
            self.close()
            raise damaged(failure) from None

    def __enter__(self) -> Archive:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file. Arrays that have been read stay usable."""
        self._stream.close()

    def array(self, name: str) -> np.ndarray:
        """Values of an array; raises UnreadableError if they are damaged, and KeyError if there is no such array."""
        entry = self.entries[name]
        try:
            values = np.empty(math.prod(entry.shape), dtype=entry.dtype)
            start, content = 0, values.view(np.uint8) if entry.size else np.empty(0, dtype=np.uint8)
            for block in self.blocks(name):
                content[start : start + len(block)] = np.frombuffer(block, dtype=np.uint8)
                start += len(block)
        except UnreadableError:
            raise
        except Exception as failure:
            raise damaged(failure) from None
        return values.reshape(entry.shape[::-1]).T.copy() if entry.fortran else values.reshape(entry.shape)

    def blocks(self, name: str) -> Iterator[bytes]:
        """Bytes of an array in blocks; raises UnreadableError if they are damaged."""
        entry = self.entries[name]
        try:
            with self._archive.open(name + SUFFIX) as stream:
                stream.read(entry.begins)
                left = entry.size
                while left:
                    block = stream.read(min(left, _BLOCK))
                    if not block:
                        raise UnreadableError(f"is damaged (the array '{name}' ends too early)")
                    left -= len(block)
                    yield block
                if stream.read(1):  # reading to the end also makes the archive check its checksum
                    raise UnreadableError(f"is damaged (the array '{name}' is longer than its shape says)")
        except UnreadableError:
            raise
        except Exception as failure:
            raise damaged(failure) from None


def read_arrays(path: str | Path) -> dict[str, np.ndarray]:
    """Arrays of a file, by name.

    Raises
    ------
    UnreadableError
        As for :class:`Archive`, and if the arrays need more than half of the memory.
    """
    with Archive(Path(path)) as archive:
        size = sum(entry.size for entry in archive.entries.values())
        if size > memory() // 2:
            raise UnreadableError(f"contains arrays of {amount(size)}, but the memory is {amount(memory())}")
        return {name: archive.array(name) for name in archive.entries}


def _check_ends(stream: IO[bytes]) -> None:
    """Raises UnreadableError for a file with data before or after its archive."""
    stream.seek(0)
    begin = stream.read(len(_BEGIN))
    stream.seek(-_END_SIZE, os.SEEK_END)
    if begin != _BEGIN or not stream.read(_END_SIZE).startswith(_END):
        raise UnreadableError("is damaged (there is data before or after its arrays)")


def damaged(failure: Exception) -> UnreadableError:
    """Error for a failure of the parsers."""
    reason = " ".join(str(failure).split()) or type(failure).__name__
    return UnreadableError(f"is damaged, truncated or not a file of arrays ({reason})")


def _check_sizes(directory: list[zipfile.ZipInfo], size: int, packed: bool) -> None:
    """Raises UnreadableError for entries that unpack to far more than the file, or are not arrays."""
    names = [info.filename for info in directory]
    if len(set(names)) < len(names) or not all(name.endswith(SUFFIX) for name in names):
        raise UnreadableError("is damaged or not a file of arrays (its entries are not one .npy file for each array)")
    unpacked = sum(info.file_size for info in directory)
    if unpacked > (max(FREE, RATIO * size) if packed else size):
        raise UnreadableError(
            f"is damaged or was not written by articulon (its {size} bytes would unpack to {unpacked})"
            if not packed
            else f"would unpack from {size} to {unpacked} bytes, and was not read; write it with numpy.savez"
        )


def _entry(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Entry:
    with archive.open(info) as stream:
        version = np.lib.format.read_magic(stream)
        readers = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
        shape, fortran, dtype = readers[version](stream)
        begins = stream.tell()
    if dtype.hasobject or dtype.names is not None or min(shape, default=0) < 0:
        raise UnreadableError(f"is damaged or not a file of arrays ('{info.filename}' has Python objects or records)")
    entry = Entry(dtype, tuple(map(int, shape)), begins, bool(fortran) and len(shape) > 1)
    if begins + entry.size != info.file_size:
        raise UnreadableError(f"is damaged ('{info.filename}' does not have the length of its shape)")
    return entry
