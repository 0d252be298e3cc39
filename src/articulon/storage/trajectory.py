"""The trajectory of a run, `trajectory.h5`: an H5MD 1.1 file that can be opened at any time, even after a kill.

The file is never changed in place. Frames are collected in a buffer. From time to time a complete new file, with the
old and the new frames, is written beside the old file and renamed over it. The times of these writes are chosen by the
clock, so that copying takes at most about a fiftieth of the run, even for a long trajectory. They do not affect the
contents: the bytes depend only on the layout and the frames (see `h5md_layout`). A run that was killed and resumed ends
with the same bytes as an uninterrupted run. Every chunk of values has a checksum. The file has a seal, which is
verified before a run continues.
"""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from shutil import disk_usage
from typing import IO

import numpy as np

from articulon.errors import ArticulonError, CheckpointError
from articulon.storage import frame_buffer, h5md_layout, seals
from articulon.storage.atomic_writing import replacing, write_failure
from articulon.storage.frame_buffer import FrameBuffer
from articulon.storage.h5md_layout import TrajectoryLayout
from articulon.storage.h5md_reading import TrajectoryFile
from articulon.storage.h5md_writing import FrameSink, room
from articulon.storage.trajectory_reading import TrajectoryReader, is_sealed

__all__ = ["Frame", "TrajectoryLayout", "TrajectoryReader", "TrajectoryWriter"]

_QUICK = 0.1  # a write that takes no longer than this may happen at any time [s]
COPY_SHARE = 50.0
"""Minimum time between two writes, divided by the duration of the last write."""


@dataclass(frozen=True, kw_only=True)
class Frame:
    """A frame of a run, in the units of the case."""

    step: int
    """Number of the step, larger than in the previous frame."""
    time: float
    """Simulated time [time]."""
    positions: np.ndarray
    """Origins of the bodies, world frame [length], shape (n, 3); ignored if the file holds atoms."""
    rotations: np.ndarray
    """Quaternions (scalar first) from body frame to world frame, shape (n, 4); ignored if the file holds atoms."""
    q: np.ndarray
    """Joint coordinates [per coordinate], shape (nq,)."""
    u: np.ndarray
    """Joint speeds [per speed], shape (nu,)."""
    observables: Mapping[str, float] = field(default_factory=dict)
    """Value of every observable of the layout, by name [per observable]."""
    atoms: np.ndarray | None = None
    """Positions of the layout's atoms, world frame [length], shape (atoms, 3); None in a frame without atoms."""
    box: np.ndarray | None = None
    """Edge vectors of the box as rows [length], shape (3, 3); None for the edges of the layout."""


class TrajectoryWriter:
    """Appends frames to a trajectory.

    Parameters
    ----------
    path
        The file, `trajectory.h5` in the run's folder. The folder must exist; the file appears with the first frame.
    layout
        Properties that all frames share.
    keep_frames
        None for a new trajectory. To resume a run, the number of frames in the checkpoint: the constructor removes
        later frames from the file, atomically.
    interval
        Shortest time between two writes of the file [s of wall time].
    shorter
        Digest of the case of a shorter run that this run extends. The file of the shorter run is accepted, and
        rewritten as a file of the longer case.

    Raises
    ------
    ArticulonError
        If a new trajectory would replace an existing file. Also if the existing file is damaged, even by one bit, or
        belongs to another model, case or seed.
    CheckpointError
        If the existing file holds fewer frames than `keep_frames`.

    Notes
    -----
    Call `flush` before writing a checkpoint that refers to the frames. `flush_due` says whether enough time has passed
    for a flush and a checkpoint.
    """

    def __init__(
        self,
        path: Path,
        layout: TrajectoryLayout,
        keep_frames: int | None = None,
        *,
        interval: float = 2.0,
        shorter: str | None = None,
    ) -> None:
        self.path = Path(path)
        self.layout = layout
        self._record = h5md_layout.record(layout)
        self._buffer = FrameBuffer(self._record, self.path.parent)
        atoms = h5md_layout.atom_record(layout)
        self._atoms = None if atoms is None else FrameBuffer(atoms, self.path.parent)
        self._interval = interval
        self._last_flush = time.monotonic()
        self._flush_duration = 0.0
        self._last_step: int | None = None
        self._on_disk = 0
        self._current = False  # whether the file holds exactly the first frames of this trajectory
        if keep_frames is None:
            if os.path.lexists(self.path):
                raise ArticulonError(
                    f"{self.path} already exists; give another folder (out=...), or continue it (resume=True)"
                )
        elif keep_frames > 0:
            self._resume(keep_frames, shorter)

    @property
    def frames(self) -> int:
        """Number of frames appended so far, including the frames before a resumption."""
        return self._on_disk + len(self._buffer)

    @property
    def atoms_due(self) -> bool:
        """Whether the next frame must contain atoms."""
        return self.layout.atoms is not None and self.frames % self.layout.atoms.every == 0

    @property
    def frames_on_disk(self) -> int:
        """Number of frames that would remain in the file after a kill now."""
        return self._on_disk

    @property
    def flush_due(self) -> bool:
        """Whether enough wall time has passed since the last write, so that another write is cheap.

        It is True until the file exists, so that the file is written with the first frame.
        """
        wait = max(self._interval, COPY_SHARE * self._flush_duration)
        return self._on_disk == 0 or time.monotonic() - self._last_flush >= wait

    @property
    def flush_cheap(self) -> bool:
        """Whether a write is cheap now: it is quick, or the last write was long ago, or there is nothing to write."""
        nothing = self._current and len(self._buffer) == 0
        rest = 0.0 if self._flush_duration < _QUICK else COPY_SHARE * self._flush_duration
        return nothing or time.monotonic() - self._last_flush >= rest

    def append(self, frame: Frame) -> None:
        """Add a frame; write the file if due.

        Raises
        ------
        ValueError
            If the frame does not fit the layout, or its step is not larger than the previous one.
        ArticulonError
            If the disk is full. The file stays as it was after the last write.
        """
        record, atoms = self._as_record(frame), self._as_atoms(frame)
        self._last_step = int(frame.step)
        try:
            try:
                if self._atoms is not None and atoms is not None:
                    self._atoms.append(atoms)
            finally:  # a buffer keeps a frame even if it cannot write it, and both buffers must hold the same frames
                self._buffer.append(record)
        except OSError as failure:
            raise ArticulonError(write_failure(self.path, failure)) from failure
        if self.flush_due:
            self.flush()

    def flush(self) -> None:
        """Write all frames appended so far to the file, atomically and durably.

        Raises
        ------
        ArticulonError
            If the file cannot be written. The file stays unchanged, and the frames stay in the buffer.
        """
        if self._current and len(self._buffer) == 0:
            return
        started = time.monotonic()
        self._write(self._on_disk)
        self._last_flush = time.monotonic()
        self._flush_duration = self._last_flush - started

    def finish(self) -> None:
        """Write all remaining frames. The bytes of the file then depend only on the frames and the layout."""
        self.flush()

    def _resume(self, keep_frames: int, shorter: str | None) -> None:
        if not is_sealed(self.path):
            raise ArticulonError(
                f"{self.path} cannot be continued: it was written by an earlier version of articulon, or by another "
                "program. Continue the run with the version that began it, or start it again in another folder"
            )
        with TrajectoryReader(self.path) as existing:
            before = existing.layout
            extended = shorter is not None and before.case == shorter != self.layout.case
            self._check_continues(replace(before, case=self.layout.case) if extended else before)
            found = len(existing)
            if found < keep_frames:
                raise CheckpointError(
                    f"{self.path} holds {found} frames, but the checkpoint was taken after {keep_frames}: one of the "
                    "two belongs to another run. Restore the right files, or start again in another folder"
                )
            self._last_step = int(existing.steps[keep_frames - 1])
        if found > keep_frames or extended:
            self._write(keep_frames)
        self._on_disk = keep_frames
        self._current = True

    def _check_continues(self, existing: TrajectoryLayout) -> None:
        field_name = self.layout.difference(existing)
        if field_name is None:
            return
        remedy = "Resume with the case that began it, or give another folder"
        if field_name == "case":
            raise ArticulonError(
                f"{self.path} cannot be continued: it is the trajectory of another case or seed. {remedy}"
            )
        raise ArticulonError(
            f"{self.path} cannot be continued: it was written for another model or case ({field_name} differs). "
            f"{remedy}"
        )

    def _as_record(self, frame: Frame) -> np.ndarray:
        layout = self.layout
        if self._last_step is not None and frame.step <= self._last_step:
            raise ValueError(f"frame of step {frame.step} appended after that of step {self._last_step}")
        if frame.observables.keys() != layout.observables.keys():
            differing = sorted(frame.observables.keys() ^ layout.observables.keys())
            raise ValueError(f"frame of step {frame.step}: observables missing or not in the layout: {differing}")
        record = np.zeros((), dtype=self._record)
        record[layout.step] = frame.step
        record[layout.time] = frame.time * layout.time_factor
        columns = [
            (h5md_layout.COORDINATES, np.asarray(frame.q, dtype=np.float64)),
            (h5md_layout.SPEEDS, np.asarray(frame.u, dtype=np.float64)),
        ]
        if layout.atoms is None:
            columns += [
                (h5md_layout.POSITION, np.asarray(frame.positions, dtype=np.float64) * layout.length_factor),
                (h5md_layout.ORIENTATION, np.asarray(frame.rotations, dtype=np.float64)),
            ]
        for name, values in columns:
            if values.shape != self._record[name].shape:
                raise ValueError(
                    f"frame of step {frame.step}: {name} must have shape {self._record[name].shape}, got {values.shape}"
                )
            record[name] = values
        if layout.box_edges is not None:
            record[layout.frame_edges] = self._edges(frame)
        for name, value in frame.observables.items():
            record[h5md_layout.observable_path(name)] = value
        return record

    def _edges(self, frame: Frame) -> np.ndarray:
        """Return the box edges at a frame, in the unit of the file."""
        edges = self.layout.box_edges if frame.box is None else np.asarray(frame.box, dtype=np.float64)
        if edges is None or edges.shape != (3, 3):
            raise ValueError(f"frame of step {frame.step}: the box must have shape (3, 3)")
        return edges * self.layout.length_factor

    def _as_atoms(self, frame: Frame) -> np.ndarray | None:
        """Return the atoms of a frame as a record; None if the frame has no atoms."""
        if not self.atoms_due:
            if frame.atoms is not None:
                raise ValueError(f"frame of step {frame.step} holds atoms, but must not")
            return None
        assert self._atoms is not None and self.layout.atoms is not None
        layout, record = self.layout, np.zeros((), dtype=self._atoms.record)
        wanted = (len(self.layout.atoms), 3)
        if frame.atoms is None or frame.atoms.shape != wanted:
            shape = None if frame.atoms is None else frame.atoms.shape
            raise ValueError(f"frame of step {frame.step}: its atoms must have shape {wanted}, got {shape}")
        record[h5md_layout.ATOM_POSITION] = frame.atoms * layout.length_factor
        if layout.atom_step in (self._atoms.record.names or ()):
            record[layout.atom_step], record[layout.atom_time] = frame.step, frame.time * layout.time_factor
        if layout.box_edges is not None:
            record[layout.edges] = self._edges(frame)
        return record

    def _write(self, kept: int) -> None:
        """Replace the file by a file of its first `kept` frames and the frames in the buffer."""
        frames = kept + len(self._buffer)
        with replacing(self.path) as stream:
            temporary = Path(stream.name)
            # The free space is checked before the write, because HDF5 handles a full disk badly.
            needed = seals.SIZE + room(self.layout, frames)
            if disk_usage(temporary.parent).free < needed:
                raise OSError(errno.ENOSPC, f"{needed} bytes are needed")
            _reserve(stream, needed)
            with FrameSink(temporary, self.layout, frames) as sink:
                for count, columns in chain(self._written(kept), self._buffered()):
                    sink.append(count, columns)
            seals.write_seal(stream)
        self._on_disk = frames
        self._current = True
        self._buffer.clear()
        if self._atoms is not None:
            self._atoms.clear()

    @property
    def _at_once(self) -> int:
        """Return the number of frames that are copied at a time."""
        atoms = 0 if self._atoms is None else self._atoms.record.itemsize
        return max(1, frame_buffer.MEMORY // (self._record.itemsize + atoms))

    def _written(self, kept: int) -> Iterator[tuple[int, dict[str, np.ndarray]]]:
        """Yield the first frames of the existing file in blocks: the number of frames in a block, and their columns."""
        if not kept:
            return
        columns = h5md_layout.all_columns(self.layout)
        with closing(TrajectoryFile(self.path)) as existing:
            for start in range(0, kept, self._at_once):
                count = min(self._at_once, kept - start)
                yield (
                    count,
                    {
                        name: existing.values(name, slice(-(-start // apart), -(-(start + count) // apart)))
                        for name, (_, apart) in columns.items()
                    },
                )

    def _buffered(self) -> Iterator[tuple[int, dict[str, np.ndarray]]]:
        """Yield the frames in the buffer in blocks: the number of frames in a block, and their columns."""
        for start in range(0, len(self._buffer), self._at_once):
            count = min(self._at_once, len(self._buffer) - start)
            yield count, {**self._buffer.columns(start, count), **self._buffered_atoms(start, count)}

    def _buffered_atoms(self, start: int, count: int) -> dict[str, np.ndarray]:
        """Return the atoms of some frames in the buffer."""
        if self._atoms is None or self.layout.atoms is None:
            return {}
        rows, before = self.layout.atoms.rows, self.layout.atoms.rows(self._on_disk)
        first, end = (rows(self._on_disk + frame) - before for frame in (start, start + count))
        return self._atoms.columns(first, end - first)


def _reserve(stream: IO[bytes], size: int) -> None:
    """Reserve disk space for a file of a given size; raise OSError if this is not possible. Systems that cannot reserve
    space skip this check. It is needed because HDF5 crashes if it reaches a quota or a file size limit while it
    writes."""
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(stream.fileno(), 0, size)
