"""Checkpoints: the whole State as named arrays, in a file that can always be trusted or is known to be broken.

Two generations are kept in a run's folder, `checkpoint.npz` and `checkpoint_prev.npz`. Each carries a digest of its
content, so a damaged one is recognised whatever the damage, and says which version of articulon wrote it: another one
need not go on to the same bits. At every instant at least one whole checkpoint bears one of the two names:

1. the new checkpoint is written to a temporary file and forced to the disk, both names untouched;
2. `checkpoint_prev.npz` becomes a second name of the newest checkpoint, by an atomic rename;
3. `checkpoint.npz` becomes the new one, by an atomic rename.

A kill before 2 leaves both old ones, between 2 and 3 the newest old one under both names, after 3 the new one and the
one before. A damaged `checkpoint.npz` never takes the place of a good `checkpoint_prev.npz`.
"""

from __future__ import annotations

import errno
import hashlib
import os
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO

import numpy as np

from articulon import __version__
from articulon.array_files import Archive, Entry, UnreadableError
from articulon.errors import CheckpointError
from articulon.storage.atomic_writing import discard, link_aside, replacing

NEWEST = "checkpoint.npz"
PREVIOUS = "checkpoint_prev.npz"

FORMAT = 5
"""Version of what a checkpoint holds; it goes up whenever an array of the state gets another meaning."""

_WRITER = "written_by"
_LONGEST = 1024  # bytes that this may take
_DIGEST = "content_sha256"
_EPOCH = (1980, 1, 1, 0, 0, 0)  # the earliest date that a zip archive can hold: equal content gives equal bytes


def write_checkpoint(folder: Path, arrays: Mapping[str, np.ndarray]) -> None:
    """Make `arrays` the newest checkpoint of `folder` and keep the one before it.

    Equal arrays (names, types, shapes and values, in any order of the names) give the same bytes. The existing
    checkpoint is read once, to make sure that it is worth keeping.

    Parameters
    ----------
    folder
        The run's folder; it must exist.
    arrays
        Numeric, boolean or fixed-length string arrays of any shape, by name.

    Raises
    ------
    CheckpointError
        When the file cannot be written (a full disk, say). The checkpoints written before are untouched.
    """
    folder = Path(folder)
    content = _canonical(arrays) | {_WRITER: np.array(_writer())}
    newest = folder / NEWEST
    with replacing(newest, CheckpointError) as stream:
        _write_archive(stream, content)
        # The new file must be safe before an older one loses its name.
        stream.flush()
        os.fsync(stream.fileno())
        if _is_whole(newest):
            _keep(newest, folder / PREVIOUS)


@dataclass(frozen=True)
class Checkpoint:
    """A whole checkpoint: what its arrays are, before they are read."""

    path: Path
    """The file."""
    archive: Archive
    """What is in it."""
    note: str | None = None
    """A sentence for the user where it is not the newest one."""

    prefix: str = ""
    """Begins the names of the arrays that are looked at; it is left out of them."""

    @property
    def entries(self) -> dict[str, Entry]:
        """Type and shape of every array by name."""
        return {
            name.removeprefix(self.prefix): entry
            for name, entry in self.archive.entries.items()
            if name not in (_WRITER, _DIGEST) and name.startswith(self.prefix)
        }

    def part(self, prefix: str) -> Checkpoint:
        """The arrays whose names begin so, by what follows, as a checkpoint of one of several runs."""
        return replace(self, prefix=self.prefix + prefix)

    def __enter__(self) -> Checkpoint:
        return self

    def __exit__(self, *exception: object) -> None:
        self.archive.close()

    def array(self, name: str) -> np.ndarray:
        """An array; raises CheckpointError where there is none of this name, or it can no longer be read."""
        if name not in self.entries:
            raise CheckpointError(f"{self.path} holds no array '{name}', so that no run can go on from it")
        try:
            return self.archive.array(self.prefix + name)
        except UnreadableError as failure:
            raise CheckpointError(f"{self.path} {failure}") from None


def open_checkpoint(folder: Path) -> Checkpoint:
    """The newest whole checkpoint of `folder`, or the one before it, with a note, where `checkpoint.npz` is missing or
    damaged. Its arrays have been compared with its digest, and are not in memory yet.

    Raises
    ------
    CheckpointError
        When neither file can be read: it names both, why each failed, and what to do. When the checkpoint is that of
        another version of articulon.
    """
    folder = Path(folder)
    try:
        return _opened(folder / NEWEST)
    except UnreadableError as failure:
        newest_failure = str(failure)
    try:
        before = _opened(folder / PREVIOUS)
    except UnreadableError as failure:
        raise CheckpointError(
            f"no checkpoint in {folder} can be read: {NEWEST} {newest_failure}, and {PREVIOUS} {failure}. "
            "Put a good copy of either file back, or start the run again in another folder."
        ) from None
    note = (
        f"{NEWEST} in {folder} {newest_failure}; continuing from the checkpoint before it, {PREVIOUS}. "
        "Nothing is lost: what came after that checkpoint is computed again."
    )
    return Checkpoint(before.path, before.archive, note)


def read_checkpoint(folder: Path) -> tuple[dict[str, np.ndarray], str | None]:
    """Read the newest whole checkpoint of `folder`, all at once; see `open_checkpoint`.

    Returns
    -------
    arrays, note
        The arrays as they were given to `write_checkpoint`, and None; or, when `checkpoint.npz` is missing or damaged,
        those of `checkpoint_prev.npz` and a sentence for the user that says so.
    """
    with open_checkpoint(folder) as found:
        return {name: found.array(name) for name in found.entries}, found.note


def _writer() -> str:
    return f"articulon {__version__}, format {FORMAT}"


def _canonical(arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The arrays in one order of names, one byte order and one memory order."""
    content = {}
    for name in sorted(arrays):
        array = np.asarray(arrays[name])
        if array.dtype.hasobject:
            raise CheckpointError(f"the array '{name}' of a checkpoint holds Python objects; give it a numeric type")
        if not name or name in (_DIGEST, _WRITER) or "/" in name or "\\" in name or "\0" in name:
            raise CheckpointError(f"'{name}' cannot be the name of an array in a checkpoint; choose another name")
        content[name] = array.astype(array.dtype.newbyteorder("<"), order="C", copy=False)
    return content


def _digest(arrays: Iterable[tuple[str, np.dtype, tuple[int, ...], Iterable[bytes]]]) -> bytes:
    """SHA-256 over names, types, shapes and bytes."""
    digest = hashlib.sha256()
    for name, dtype, shape, blocks in arrays:
        # repr quotes the name, so that no two different contents give the same text.
        digest.update(repr((name, np.lib.format.dtype_to_descr(dtype), shape)).encode())
        for block in blocks:
            digest.update(block)
    return digest.digest()


def _write_archive(stream: IO[bytes], content: Mapping[str, np.ndarray]) -> None:
    described = ((name, content[name]) for name in sorted(content))
    digest = _digest((name, array.dtype, array.shape, [array.tobytes()]) for name, array in described)
    # numpy.savez would do, but it makes no promise about dates and order, and the bytes are part of our contract.
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:
        for name, array in {**content, _DIGEST: np.frombuffer(digest, dtype=np.uint8)}.items():
            entry = zipfile.ZipInfo(f"{name}.npy", _EPOCH)
            with archive.open(entry, "w", force_zip64=True) as stored:
                np.lib.format.write_array(stored, array, allow_pickle=False)


def _opened(path: Path) -> Checkpoint:
    """A checkpoint whose content matches its digest; raises UnreadableError for any other, and CheckpointError for one
    of another version."""
    archive = Archive(path, packed=False)
    try:
        found = _compared(archive)
    except UnreadableError:
        archive.close()
        raise
    if found != _writer():
        archive.close()
        raise CheckpointError(
            f"{path} was written by {found}, and this is {_writer()}, which need not go on to the same bits. Continue "
            "the run with the version that began it, or start it again in another folder"
        )
    return Checkpoint(path, archive)


def _compared(archive: Archive) -> str:
    """Who wrote a checkpoint whose content matches its digest; raises UnreadableError for any other."""
    if _DIGEST not in archive.entries:
        raise UnreadableError("is damaged or not a checkpoint (it has no digest)")
    content = sorted((n, e) for n, e in archive.entries.items() if n != _DIGEST)
    digest = _digest((name, entry.dtype, entry.shape, archive.blocks(name)) for name, entry in content)
    if archive.array(_DIGEST).tobytes() != digest:
        raise UnreadableError("is damaged (its content does not match its digest)")
    writer = archive.entries.get(_WRITER)
    if writer is None or writer.dtype.kind != "U" or writer.shape or writer.size > _LONGEST:
        return "an earlier version of articulon"
    return str(archive.array(_WRITER))


def _is_whole(path: Path) -> bool:
    try:
        with Archive(path, packed=False) as archive:
            _compared(archive)
    except UnreadableError:
        return False
    return True


def _keep(newest: Path, previous: Path) -> None:
    """Let `previous` be the file that `newest` is, while `newest` keeps its name."""
    if previous.exists() and os.path.samefile(newest, previous):
        return  # a kill came between the two renames of the last write
    try:
        spare = link_aside(previous, newest)
    except OSError as failure:
        if failure.errno in (errno.ENOSPC, errno.EDQUOT, errno.EIO):
            raise
        # A file system without hard links. Between this rename and the next the newest whole checkpoint is found as
        # the previous one, and read_checkpoint says so.
        os.replace(newest, previous)
        return
    try:
        os.replace(spare, previous)
    except OSError:
        discard(spare)
        raise
