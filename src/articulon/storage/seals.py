"""Seals of files. A seal is a digest at the beginning of a file, which detects every change of the following bytes.

HDF5 allows a program to use the first bytes of a file, the user block. Here the user block contains a line of text for
users and the SHA-256 of all following bytes.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import IO

SIZE = 512
"""Size of the user block [bytes]. HDF5 allows powers of two of at least this size."""
_BLOCK = 2**20


def write_seal(stream: IO[bytes]) -> None:
    """Seal an open file, in which the first bytes have been reserved, and leave the position at its end."""
    block = _block(stream)
    stream.seek(0)
    stream.write(block)
    stream.seek(0, 2)


def check_seal(path: Path) -> bool:
    """Return whether a file is sealed, and verify the seal. A verified file is not verified again until it changes.

    Raises
    ------
    BrokenSealError
        If the content has changed since the file was sealed, even by one bit.
    OSError
        If the file cannot be read.
    """
    with path.open("rb") as stream:
        block, now = stream.read(SIZE), os.fstat(stream.fileno())
        if not block.startswith(_TITLE):
            return False
        state = now.st_dev, now.st_ino, now.st_size, now.st_mtime_ns, now.st_ctime_ns
        if state not in _whole:
            if block != _block(stream):
                raise BrokenSealError
            _whole[state] = None
            while len(_whole) > _REMEMBERED:
                del _whole[next(iter(_whole))]
    return True


class BrokenSealError(Exception):
    """The content of a file has changed since it was sealed."""


_TITLE = b"articulon: the HDF5 file begins at byte 512, and from there to its end it has the SHA-256\n"
_REMEMBERED = 1000
_whole: dict[tuple[int, ...], None] = {}


def _block(stream: IO[bytes]) -> bytes:
    digest = hashlib.sha256()
    stream.seek(SIZE)
    while block := stream.read(_BLOCK):
        digest.update(block)
    return (_TITLE + digest.hexdigest().encode("ascii") + b"\n").ljust(SIZE, b"\n")
