"""Checkpoints: the whole State as named arrays, in a file that can always be trusted or is known to be broken.

Two generations are kept in a run's folder, `checkpoint.npz` and `checkpoint_prev.npz`. Each carries a digest of its
content, so a damaged one is recognised whatever the damage. At every instant at least one whole checkpoint bears one
of the two names:

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
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from articulon.errors import CheckpointError
from articulon.simulate.atomic import TEMPORARY_SUFFIX, discard, replacing, sync

NEWEST = "checkpoint.npz"
PREVIOUS = "checkpoint_prev.npz"

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
    content = _canonical(arrays)
    newest = folder / NEWEST
    with replacing(newest, CheckpointError) as temporary:
        _write_archive(temporary, content)
        # The new file must be safe before an older one loses its name.
        sync(temporary)
        if _is_whole(newest):
            _keep(newest, folder / PREVIOUS)


def read_checkpoint(folder: Path) -> tuple[dict[str, np.ndarray], str | None]:
    """Read the newest whole checkpoint of `folder`.

    Returns
    -------
    arrays, note
        The arrays as they were given to `write_checkpoint`, and None; or, when `checkpoint.npz` is missing or damaged,
        those of `checkpoint_prev.npz` and a sentence for the user that says so.

    Raises
    ------
    CheckpointError
        When neither file can be read: it names both, why each failed, and what to do.
    """
    folder = Path(folder)
    try:
        return _read_archive(folder / NEWEST), None
    except _UnreadableError as failure:
        newest_failure = str(failure)
    try:
        arrays = _read_archive(folder / PREVIOUS)
    except _UnreadableError as failure:
        raise CheckpointError(
            f"no checkpoint in {folder} can be read: {NEWEST} {newest_failure}, and {PREVIOUS} {failure}. "
            "Put a good copy of either file back, or start the run again in another folder without --resume."
        ) from None
    return arrays, (
        f"{NEWEST} in {folder} {newest_failure}; continuing from the checkpoint before it, {PREVIOUS}. "
        "Nothing is lost: what came after that checkpoint is computed again."
    )


class _UnreadableError(Exception):
    """Says, as the end of a sentence about a file, why it is not a whole checkpoint."""


def _canonical(arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The arrays in one order of names, one byte order and one memory order."""
    content = {}
    for name in sorted(arrays):
        array = np.asarray(arrays[name])
        if array.dtype.hasobject:
            raise CheckpointError(f"the array '{name}' of a checkpoint holds Python objects; give it a numeric type")
        if not name or name == _DIGEST or "/" in name or "\\" in name or "\0" in name:
            raise CheckpointError(f"'{name}' cannot be the name of an array in a checkpoint; choose another name")
        content[name] = array.astype(array.dtype.newbyteorder("<"), order="C", copy=False)
    return content


def _digest(content: Mapping[str, np.ndarray]) -> np.ndarray:
    """SHA-256 over names, types, shapes and bytes, shape (32,)."""
    digest = hashlib.sha256()
    for name in sorted(content):
        array = content[name]
        # repr quotes the name, so that no two different contents give the same text.
        digest.update(repr((name, np.lib.format.dtype_to_descr(array.dtype), array.shape)).encode())
        digest.update(array.tobytes())
    return np.frombuffer(digest.digest(), dtype=np.uint8)


def _write_archive(path: Path, content: Mapping[str, np.ndarray]) -> None:
    # numpy.savez would do, but it makes no promise about dates and order, and the bytes are part of our contract.
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for name, array in {**content, _DIGEST: _digest(content)}.items():
            entry = zipfile.ZipInfo(f"{name}.npy", _EPOCH)
            with archive.open(entry, "w", force_zip64=True) as stream:
                np.lib.format.write_array(stream, array, allow_pickle=False)


def _read_archive(path: Path) -> dict[str, np.ndarray]:
    if not path.exists():
        raise _UnreadableError("is missing")
    try:
        with np.load(path, allow_pickle=False) as archive:
            content = {name: archive[name] for name in archive.files}
        stored = content.pop(_DIGEST)
        whole = np.array_equal(stored, _digest(content))
    except Exception as failure:  # damaged bytes make the zip and npy parsers fail in any way: each means the same
        reason = " ".join(str(failure).split()) or type(failure).__name__
        raise _UnreadableError(f"is damaged, truncated or not a checkpoint ({reason})") from None
    if not whole:
        raise _UnreadableError("is damaged (its content does not match its digest)")
    return content


def _is_whole(path: Path) -> bool:
    try:
        _read_archive(path)
    except _UnreadableError:
        return False
    return True


def _keep(newest: Path, previous: Path) -> None:
    """Let `previous` be the file that `newest` is, while `newest` keeps its name."""
    if previous.exists() and os.path.samefile(newest, previous):
        return  # a kill came between the two renames of the last write
    spare = previous.with_name(previous.name + TEMPORARY_SUFFIX)
    spare.unlink(missing_ok=True)
    try:
        os.link(newest, spare)
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
