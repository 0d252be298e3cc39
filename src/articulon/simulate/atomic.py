"""Writing a file so that, at every instant and after any kill, its name refers to a whole file.

A file is written beside its final name, forced to the disk and renamed; POSIX makes the rename atomic. Whoever opens
the final name sees the content before or the content after, never a part.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from articulon.errors import ArticulonError

NO_SPACE = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
"""Error numbers that mean that the disk, the quota or the allowed file size is used up."""

TEMPORARY_SUFFIX = ".tmp"
"""Follows the final name while a file is being written. A kill can leave such a file; the next write replaces it."""


@contextmanager
def replacing(path: Path, error: type[ArticulonError] = ArticulonError) -> Iterator[Path]:
    """Give a temporary path to write to; on leaving, sync it to the disk and rename it to `path`.

    When anything fails, the temporary file is removed and `path` is left as it was.

    Parameters
    ----------
    path
        The final name. Its folder must exist.
    error
        The class of the error that is raised when the operating system refuses to write.

    Raises
    ------
    ArticulonError
        (or `error`) when the file cannot be written: it names the file, why, and what to do.
    """
    temporary = path.with_name(path.name + TEMPORARY_SUFFIX)
    try:
        yield temporary
        sync(temporary)
        os.replace(temporary, path)
        sync(path.parent)
    except OSError as failure:
        discard(temporary)
        raise error(write_failure(path, failure)) from failure
    except BaseException:
        discard(temporary)
        raise


def write_text(path: Path, text: str) -> None:
    """Replace the content of `path` by `text` (UTF-8) atomically; see `replacing`."""
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")


def sync(path: Path) -> None:
    """Force a file's content, or a folder's list of names, to the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as failure:
        # Some network file systems know no fsync of a folder; there the rename alone is all that can be had.
        if not (path.is_dir() and failure.errno in (errno.EINVAL, errno.ENOTSUP)):
            raise
    finally:
        os.close(descriptor)


def discard(path: Path) -> None:
    """Remove a file if it can be removed: used while another error is on its way, which must not be hidden."""
    with suppress(OSError):
        path.unlink(missing_ok=True)


def write_failure(path: Path, failure: OSError) -> str:
    """The message for a user when `path` could not be written."""
    reason = os.strerror(failure.errno) if failure.errno else str(failure)
    if failure.errno in NO_SPACE:
        remedy = f"Free some space on the disk of {path.parent} (or raise the quota), then continue with --resume."
    else:
        remedy = f"Check that {path.parent} exists and can be written to, then continue with --resume."
    return f"could not write {path}: {reason}. Files written before are whole and untouched. {remedy}"
