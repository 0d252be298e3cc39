"""Reads archives of arrays, as ``numpy.savez`` writes them, that someone else may have made."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import numpy as np

from articulon.sizes import amount, memory


class _TooLargeError(Exception):
    """More than memory holds."""


def read_arrays(path: str | Path) -> dict[str, np.ndarray]:
    """The arrays of a file by name.

    Raises
    ------
    ValueError
        With the reason, for a file that cannot be read, is no such archive, or holds more than half of the memory.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            size = sum(member.file_size for member in archive.infolist())
            if size > memory() // 2:
                raise _TooLargeError(f"its arrays take {amount(size)}, and there are {amount(memory())} of memory")
            names = [name.removesuffix(".npy") for name in archive.namelist()]
            return {
                name: np.lib.format.read_array(io.BytesIO(archive.read(member)), allow_pickle=False)
                for name, member in zip(names, archive.namelist(), strict=True)
            }
    except OSError as error:
        raise ValueError(f"cannot be read: {error.strerror or error}") from None
    except _TooLargeError as error:
        raise ValueError(str(error)) from None
    except Exception:
        # Of a damaged archive anything may be wrong: its directory, a check sum, a header, what compresses it.
        raise ValueError("is no file of arrays as numpy.savez writes it, or is damaged") from None
