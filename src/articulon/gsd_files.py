"""Opening GSD files, the format of HOOMD-blue. Messages of errors continue a prefix that names the file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from articulon.errors import ModelError
from articulon.inputs import clipped, is_file

__all__ = ["opened_gsd"]


@contextmanager
def opened_gsd(file: str | Path, where: str = "") -> Iterator[Any]:
    """Yield the frames of a GSD file, as the package gsd gives them.

    Parameters
    ----------
    file
        The file.
    where
        Prefix of error messages, such as ``"model.file: "``.

    Raises
    ------
    ModelError
        If gsd is not installed, there is no such file, or it cannot be read, also within the block.
    """
    try:
        import gsd.hoomd
    except ImportError:
        raise ModelError(f"{where}reading GSD files needs the package gsd: pip install 'articulon[grains]'") from None
    if not is_file(Path(file)):
        raise ModelError(f"{where}there is no file {clipped(file)}")
    try:
        with gsd.hoomd.open(str(file), "r") as frames:
            yield frames
    except (OSError, RuntimeError, ValueError, IndexError, KeyError) as error:
        raise ModelError(f"{where}{clipped(file)} cannot be read as a GSD file: {clipped(error)}") from None
