"""Checkpoints: the complete state of a run, as named arrays in a file. Damage of the file is always detected.

The folder of a run holds two generations, `checkpoint.npz` and `checkpoint_prev.npz`. Each contains a digest of its
content, so that any damage is detected. It also contains the version of articulon that wrote it, because results of
another version may not be bitwise the same. At any time, at least one of the two names refers to a complete checkpoint,
because a checkpoint is written in three steps:

1. the new checkpoint is written to a temporary file and synced to the disk, while both names stay unchanged;
2. `checkpoint_prev.npz` becomes a second name of the newest checkpoint, by an atomic rename;
3. `checkpoint.npz` becomes the name of the new checkpoint, by an atomic rename.

A kill before step 2 leaves both old checkpoints. A kill between steps 2 and 3 leaves the newer old checkpoint under
both names. After step 3, the folder holds the new checkpoint and its predecessor. A damaged `checkpoint.npz` never
replaces a good `checkpoint_prev.npz`.
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
"""Version of the checkpoint's contents; it increases whenever an array of the state changes its meaning."""

_WRITER = "written_by"
_LONGEST = 1024  # largest size of the version text [bytes]
_DIGEST = "content_sha256"
_EPOCH = (1980, 1, 1, 0, 0, 0)  # earliest date of a zip archive; equal content gives equal bytes


def write_checkpoint(folder: Path, arrays: Mapping[str, np.ndarray]) -> None:
    """Make `arrays` the newest checkpoint of `folder` and keep the previous one.

    Equal arrays (names, types, shapes and values, in any order of the names) give equal bytes. The existing checkpoint
    is read once, to check that it is not damaged before it replaces the previous one.

    Parameters
    ----------
    folder
        The run's folder; it must exist.
    arrays
        Numeric, boolean or fixed-length string arrays of any shape, by name.

    Raises
    ------
    CheckpointError
        If the file cannot be written, for example because the disk is full. Earlier checkpoints stay unchanged.
    """
    folder = Path(folder)
    content = _canonical(arrays) | {_WRITER: np.array(_writer())}
    newest = folder / NEWEST
    with replacing(newest, CheckpointError) as stream:
        _write_archive(stream, content)
        # The new file must be on the disk before an older file loses its name.
        stream.flush()
        os.fsync(stream.fileno())
        if _is_whole(newest):
            _keep(newest, folder / PREVIOUS)


@dataclass(frozen=True)
class Checkpoint:
    """A complete checkpoint. Types and shapes of its arrays are known before the arrays are read."""

    path: Path
    """The file."""
    archive: Archive
    """Archive of the arrays."""
    note: str | None = None
    """Message for the user if this is not the newest checkpoint."""

    prefix: str = ""
    """Prefix of the names of the arrays that can be accessed; their names are used without the prefix."""

    @property
    def entries(self) -> dict[str, Entry]:
        """Type and shape of every array, by name."""
        return {
            name.removeprefix(self.prefix): entry
            for name, entry in self.archive.entries.items()
            if name not in (_WRITER, _DIGEST) and name.startswith(self.prefix)
        }

    def part(self, prefix: str) -> Checkpoint:
        """Return the checkpoint of one of several runs: the arrays with a prefix, by their names without the prefix."""
        return replace(self, prefix=self.prefix + prefix)

    def __enter__(self) -> Checkpoint:
        return self

    def __exit__(self, *exception: object) -> None:
        self.archive.close()

    def array(self, name: str) -> np.ndarray:
        """Return an array by its name; raise CheckpointError if it does not exist or can no longer be read."""
        if name not in self.entries:
            raise CheckpointError(f"{self.path} holds no array '{name}', so no run can continue from it")
        try:
            return self.archive.array(self.prefix + name)
        except UnreadableError as failure:
            raise CheckpointError(f"{self.path} {failure}") from None


def open_checkpoint(folder: Path) -> Checkpoint:
    """Open the newest complete checkpoint of `folder`.

    This is the previous checkpoint, with a note, if `checkpoint.npz` is missing or damaged. The content has been
    compared with its digest, but the arrays are not yet in memory.

    Raises
    ------
    CheckpointError
        If neither file can be read (the message names both, the reasons and the remedy), or if another version of
        articulon wrote the checkpoint.
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
            "Restore a good copy of either file, or start the run again in another folder."
        ) from None
    note = (
        f"{NEWEST} in {folder} {newest_failure}; continuing from the previous checkpoint, {PREVIOUS}. "
        "Nothing is lost: everything after that checkpoint is computed again."
    )
    return Checkpoint(before.path, before.archive, note)


def read_checkpoint(folder: Path) -> tuple[dict[str, np.ndarray], str | None]:
    """Read the newest complete checkpoint of `folder` at once; see `open_checkpoint`.

    Returns
    -------
    arrays, note
        The arrays as they were given to `write_checkpoint`, and None. If `checkpoint.npz` is missing or damaged: the
        arrays of `checkpoint_prev.npz`, and a message that informs the user.
    """
    with open_checkpoint(folder) as found:
        return {name: found.array(name) for name in found.entries}, found.note


def _writer() -> str:
    return f"articulon {__version__}, format {FORMAT}"


def _canonical(arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return the arrays in canonical order of names, byte order and memory order."""
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
    """Compute the SHA-256 of names, types, shapes and bytes."""
    digest = hashlib.sha256()
    for name, dtype, shape, blocks in arrays:
        # repr puts the name in quotes, so that different contents never give the same text.
        digest.update(repr((name, np.lib.format.dtype_to_descr(dtype), shape)).encode())
        for block in blocks:
            digest.update(block)
    return digest.digest()


def _write_archive(stream: IO[bytes], content: Mapping[str, np.ndarray]) -> None:
    described = ((name, content[name]) for name in sorted(content))
    digest = _digest((name, array.dtype, array.shape, [array.tobytes()]) for name, array in described)
    # numpy.savez does not guarantee dates and order, but equal checkpoints must have equal bytes.
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:
        for name, array in {**content, _DIGEST: np.frombuffer(digest, dtype=np.uint8)}.items():
            entry = zipfile.ZipInfo(f"{name}.npy", _EPOCH)
            with archive.open(entry, "w", force_zip64=True) as stored:
                np.lib.format.write_array(stored, array, allow_pickle=False)


def _opened(path: Path) -> Checkpoint:
    """Open a checkpoint and verify its digest. Raise UnreadableError if the content does not match the digest, and
    CheckpointError if another version wrote the checkpoint."""
    archive = Archive(path, packed=False)
    try:
        found = _compared(archive)
    except UnreadableError:
        archive.close()
        raise
    if found != _writer():
        archive.close()
        raise CheckpointError(
            f"{path} was written by {found}, but this is {_writer()}, whose results may differ in the last bits. "
            "Continue the run with the version that began it, or start it again in another folder"
        )
    return Checkpoint(path, archive)


def _compared(archive: Archive) -> str:
    """Verify the digest of a checkpoint, and return the version that wrote it; raise UnreadableError if the content
    does not match."""
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
    """Make `previous` a name of the file `newest`, while `newest` keeps its name."""
    if previous.exists() and os.path.samefile(newest, previous):
        return  # the last write was killed between its two renames
    try:
        spare = link_aside(previous, newest)
    except OSError as failure:
        if failure.errno in (errno.ENOSPC, errno.EDQUOT, errno.EIO):
            raise
        # This is for file systems without hard links. Between this rename and the next, the newest complete checkpoint
        # has only the name `previous`, and read_checkpoint reports this.
        os.replace(newest, previous)
        return
    try:
        os.replace(spare, previous)
    except OSError:
        discard(spare)
        raise
