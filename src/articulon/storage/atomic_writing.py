"""Atomic writing of files: at any time, and also after a kill, a name refers to a complete file.

A file is written under a temporary name in the same folder, synced to the disk and renamed; POSIX makes the rename
atomic. A process that opens the final name therefore sees the complete old content or the complete new content.

The temporary file is created exclusively, under an unpredictable name, and no link is followed. Therefore no file
outside the folder can be overwritten. If the final name is a link, the link is replaced like any other file, and its
target stays unchanged.
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
"""Error numbers of an exhausted disk, quota or file size limit."""

TEMPORARY_SUFFIX = ".tmp"
"""Suffix of a file that is being written. A kill can leave such a file; the next write removes it."""

_ATTEMPTS = 100
_NEW = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_OLD = os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


@contextmanager
def replacing(path: Path, error: type[ArticulonError] = ArticulonError, *, new: bool = False) -> Iterator[IO[bytes]]:
    """Open a new file for writing; on leaving, sync it to the disk and rename it to `path`.

    On any failure, the new file is removed and `path` stays unchanged. Functions that need a path instead of a stream
    may open the new file by its ``name``.

    Parameters
    ----------
    path
        The final name. Its folder must exist.
    error
        Class of the error that is raised if the operating system refuses to write.
    new
        Whether it is an error if a file or link of the final name exists. This file or link then stays unchanged.

    Raises
    ------
    ArticulonError
        (or `error`) If the file cannot be written; the message names the file, the reason and the remedy.
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
    """Give the file `other` a second name, which is unpredictable, in the folder of `path`; raise OSError if this is
    impossible."""
    _remove_leftovers(path)
    spare = _aside(path)
    os.link(other, spare)
    return spare


def sync(path: Path) -> None:
    """Write the directory entries of a folder to the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as failure:
        # Some network file systems cannot fsync a folder; there, only the rename is guaranteed.
        if failure.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise
    finally:
        os.close(descriptor)


def discard(path: Path) -> None:
    """Remove a file if possible, without raising an error. It is used while another error is handled."""
    with suppress(OSError):
        path.unlink(missing_ok=True)


def write_failure(path: Path, failure: OSError | ValueError) -> str:
    """Return the message for the user that `path` could not be written."""
    number = failure.errno if isinstance(failure, OSError) else None
    reason = os.strerror(number) if number else str(failure)
    if number in NO_SPACE:
        remedy = (
            f"Free some space on the disk of {path.parent} (or raise the quota), then continue the run (resume=True)."
        )
    else:
        remedy = f"Check that {path.parent} exists and can be written to, then continue the run (resume=True)."
    return f"could not write {path}: {reason}. Files written before are complete and unchanged. {remedy}"


def _put(temporary: Path, path: Path, new: bool) -> None:
    """Give a file its final name; raise FileExistsError if the name must be new but already exists."""
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
        os.replace(temporary, path)  # for file systems without hard links
        return
    os.unlink(temporary)


def _aside(path: Path) -> Path:
    return path.with_name(f"{path.name}.{secrets.token_hex(4)}{TEMPORARY_SUFFIX}")


def _new_file(path: Path) -> IO[bytes]:
    """Return a new file beside `path`. It is locked while it is open; files left by a killed process are not locked."""
    for _ in range(_ATTEMPTS):
        with suppress(FileExistsError):
            stream = open(_aside(path), "x+b", opener=lambda name, _: os.open(name, _NEW, 0o666))  # noqa: SIM115
            with suppress(OSError):  # for file systems without locks
                fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is_at(Path(stream.name), stream.fileno()):
                return stream
            stream.close()  # before the file was locked, another process removed it as the leftover of a killed writer
    raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path))


def _is_at(path: Path, descriptor: int) -> bool:
    """Return whether an open file still has its name."""
    try:
        return os.path.samestat(os.stat(path, follow_symlinks=False), os.fstat(descriptor))
    except FileNotFoundError:
        return False


def _remove_leftovers(path: Path) -> None:
    """Remove files that killed writers of `path` have left beside it. A file that is being written is locked, and is
    not removed."""
    pattern = re.compile(re.escape(path.name) + r"\.[0-9a-f]{8}" + re.escape(TEMPORARY_SUFFIX))
    try:
        names = os.listdir(path.parent)
    except OSError:  # the write that follows reports the reason
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
