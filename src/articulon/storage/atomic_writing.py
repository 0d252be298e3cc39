"""Writing a file so that, at every instant and after any kill, its name refers to a whole file.

A file is written beside its final name, forced to the disk and renamed; POSIX makes the rename atomic. Whoever opens
the final name sees the content before or the content after, never a part.

The file beside it is created exclusively, under a name that nobody can foresee, and no link is followed: whatever lies
in the folder, nothing outside of it is written to. A final name that is a link is replaced like any other file; what
it leads to stays as it is.
"""

from __future__ import annotations

import errno
import fcntl
import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from articulon.errors import ArticulonError

NO_SPACE = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
"""Error numbers that mean that the disk, the quota or the allowed file size is used up."""

TEMPORARY_SUFFIX = ".tmp"
"""Ends the name of a file while it is being written. A kill can leave such a file; the next write removes it."""

_ATTEMPTS = 100
_NEW = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_OLD = os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


@contextmanager
def replacing(path: Path, error: type[ArticulonError] = ArticulonError, *, new: bool = False) -> Iterator[IO[bytes]]:
    """Give a new file to write to; on leaving, sync it to the disk and rename it to `path`.

    When anything fails, the new file is removed and `path` is left as it was. What takes a path in place of a stream
    may open the new file by its ``name``.

    Parameters
    ----------
    path
        The final name. Its folder must exist.
    error
        The class of the error that is raised when the operating system refuses to write.
    new
        Whether a file or link that has the final name already is an error, and stays as it is.

    Raises
    ------
    ArticulonError
        (or `error`) when the file cannot be written: it names the file, why, and what to do.
    """
    try:
        _remove_leftovers(path)
        stream = _new_file(path)
    except (OSError, ValueError) as failure:
        raise error(write_failure(path, failure)) from failure
    temporary = Path(stream.name)
    try:
        with stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
            if not _is_at(temporary, stream.fileno()):
                raise OSError(errno.ENOENT, os.strerror(errno.ENOENT), str(temporary))
            _put(temporary, path, new)
        sync(path.parent)
    except OSError as failure:
        discard(temporary)
        raise error(write_failure(path, failure)) from failure
    except BaseException:
        discard(temporary)
        raise


def write_text(path: Path, text: str, *, new: bool = False) -> None:
    """Replace the content of `path` by `text` (UTF-8) atomically; see `replacing`."""
    with replacing(path, new=new) as stream:
        stream.write(text.encode("utf-8"))


def link_aside(path: Path, other: Path) -> Path:
    """Give `other` a second name beside `path`, one that nobody can foresee; raises OSError where that cannot be."""
    _remove_leftovers(path)
    spare = _aside(path)
    os.link(other, spare)
    return spare


def sync(path: Path) -> None:
    """Force a folder's list of names to the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as failure:
        # Some network file systems know no fsync of a folder; there the rename alone is all that can be had.
        if failure.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise
    finally:
        os.close(descriptor)


def discard(path: Path) -> None:
    """Remove a file if it can be removed: used while another error is on its way, which must not be hidden."""
    with suppress(OSError):
        path.unlink(missing_ok=True)


def write_failure(path: Path, failure: OSError | ValueError) -> str:
    """The message for a user when `path` could not be written."""
    number = failure.errno if isinstance(failure, OSError) else None
    reason = os.strerror(number) if number else str(failure)
    if number in NO_SPACE:
        remedy = (
            f"Free some space on the disk of {path.parent} (or raise the quota), then continue the run (resume=True)."
        )
    else:
        remedy = f"Check that {path.parent} exists and can be written to, then continue the run (resume=True)."
    return f"could not write {path}: {reason}. Files written before are whole and untouched. {remedy}"


def _put(temporary: Path, path: Path, new: bool) -> None:
    """Give a file its final name; raises FileExistsError where it must be a new one and is not."""
    if not new:
        os.replace(temporary, path)
        return
    try:
        os.link(temporary, path, follow_symlinks=False)
    except FileExistsError:
        raise
    except OSError as failure:
        if failure.errno in NO_SPACE:
            raise
        if os.path.lexists(path):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path)) from None
        os.replace(temporary, path)  # a file system without hard links
        return
    os.unlink(temporary)


def _aside(path: Path) -> Path:
    return path.with_name(f"{path.name}.{secrets.token_hex(4)}{TEMPORARY_SUFFIX}")


def _new_file(path: Path) -> IO[bytes]:
    """A new file beside `path`, locked for as long as it is open, which tells it from what a kill has left."""
    for _ in range(_ATTEMPTS):
        with suppress(FileExistsError):
            stream = open(_aside(path), "x+b", opener=lambda name, _: os.open(name, _NEW, 0o666))  # noqa: SIM115
            with suppress(OSError):  # a file system without locks
                fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is_at(Path(stream.name), stream.fileno()):
                return stream
            stream.close()  # removed as a leftover before it was locked
    raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path))


def _is_at(path: Path, descriptor: int) -> bool:
    """Whether an open file still bears a name."""
    try:
        return os.path.samestat(os.stat(path, follow_symlinks=False), os.fstat(descriptor))
    except FileNotFoundError:
        return False


def _remove_leftovers(path: Path) -> None:
    """Remove what killed writers of `path` have left beside it; a file that is being written is locked, and stays."""
    pattern = re.compile(re.escape(path.name) + r"\.[0-9a-f]{8}" + re.escape(TEMPORARY_SUFFIX))
    try:
        names = os.listdir(path.parent)
    except OSError:  # the write itself will say why
        return
    for name in filter(pattern.fullmatch, names):
        leftover = path.with_name(name)
        with suppress(OSError):
            descriptor = os.open(leftover, _OLD)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                os.unlink(leftover)
            finally:
                os.close(descriptor)
