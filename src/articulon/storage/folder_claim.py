"""Locks of folders. A run first locks its folder, and it holds the lock until it ends.

The lock (flock) is on a file in the folder; a killed run leaves no lock behind. If two runs start at the same time in a
new folder, the lock decides atomically which run gets the folder.
"""

from __future__ import annotations

import errno
import fcntl
import os
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from articulon.errors import ArticulonError

LOCK = ".articulon.lock"
"""The locked file; it is removed when the run ends."""

_FLAGS = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_NO_LOCKS = frozenset({errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL})
_ATTEMPTS = 100
_claims: set[int] = set()


@contextmanager
def claimed(folder: Path, say: Callable[[str], None], what: str = "run") -> Iterator[None]:
    """Return a context that locks a folder for this run; the folder is created if it is missing.

    Folders that were created for a run that did not begin are removed again.

    Parameters
    ----------
    folder
        The folder.
    say
        Function that is called with a message if the file system has no locks, so that other runs cannot be excluded.
    what
        Kind of holder for messages: ``"run"`` or ``"sweep"``.

    Raises
    ------
    ArticulonError
        If another run has locked the folder, or if the folder is a file or cannot be created or written to.
    """
    made: list[Path] = []
    try:
        descriptor = _lock(folder, made, what)
    except (OSError, ValueError) as failure:
        _remove(made)
        raise ArticulonError(_refusal(folder, failure)) from failure
    if descriptor is None:
        say(
            f"{folder}: this file system has no locks; make sure that no other {what} uses this folder at the same time"
        )
    try:
        yield
    finally:
        with suppress(OSError):
            os.unlink(folder / LOCK)
        if descriptor is not None:
            _claims.discard(descriptor)
            os.close(descriptor)
        _remove(made)


def _lock(folder: Path, made: list[Path], what: str) -> int | None:
    """Lock a file in the folder and return its open descriptor, or None if the file system has no locks. Created
    folders are added to ``made``."""
    file = folder / LOCK
    for _ in range(_ATTEMPTS):
        _make(folder, made)
        try:
            descriptor = os.open(file, _FLAGS, 0o666)
        except FileNotFoundError:  # another run has just removed the folder that it created
            continue
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            who = os.read(descriptor, 200).decode(errors="replace").strip()
            os.close(descriptor)
            whose = f" ({who})" if who and who.isprintable() else ""
            raise ArticulonError(
                f"{folder}: a {what} is active here{whose}; wait for it, stop it, or choose another folder (out=...)"
            ) from None
        except OSError as failure:
            os.close(descriptor)
            if failure.errno in _NO_LOCKS:
                return None
            raise
        with suppress(FileNotFoundError):
            # A run that has just ended may have removed the file after it was opened here and before it was locked.
            if os.path.samestat(os.stat(file, follow_symlinks=False), os.fstat(descriptor)):
                os.ftruncate(descriptor, 0)
                with suppress(OSError):  # the disk may be full; the text in the file is only for users
                    os.write(descriptor, f"process {os.getpid()} on {socket.gethostname()}\n".encode())
                _claims.add(descriptor)
                return descriptor
        os.close(descriptor)
    raise OSError(errno.EAGAIN, os.strerror(errno.EAGAIN), str(file))


def _make(folder: Path, made: list[Path]) -> None:
    if folder.is_dir():  # for a name that is too long, this raises an error before any folder is created
        return
    for place in (*reversed(folder.parents), folder):
        if not place.exists():
            with suppress(FileExistsError):
                place.mkdir()
                made.append(place)
    if not folder.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(folder))


def _remove(made: list[Path]) -> None:
    """Remove empty folders, the deepest first."""
    for place in reversed(made):
        with suppress(OSError):
            place.rmdir()


def _refusal(folder: Path, failure: OSError | ValueError) -> str:
    number = failure.errno if isinstance(failure, OSError) else None
    if number == errno.ELOOP:
        return f"{folder / LOCK} is a link, and was not followed; remove it, or choose another folder (out=...)"
    if number == errno.ENOTDIR:
        file = next((place for place in (folder, *folder.parents) if place.exists() and not place.is_dir()), folder)
        return f"{file} is a file, not a folder; choose another folder (out=...)"
    reason = os.strerror(number) if number else str(failure)
    return f"{folder} cannot be written to: {reason}; choose another folder (out=...)"


def _release_all() -> None:
    """Release the folders in a process that was forked from a run, for example to compile kernels. Otherwise this
    process would still hold the locks after the run is killed."""
    for descriptor in _claims:
        with suppress(OSError):
            os.close(descriptor)
    _claims.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_release_all)
