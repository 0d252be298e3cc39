"""Reading of the trajectory of a run, finished or not."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path

import numpy as np

from articulon.errors import ArticulonError
from articulon.storage import h5md_layout, seals
from articulon.storage.h5md_reading import REMEDY, TrajectoryFile, read_layout


class TrajectoryReader:
    """Reads a trajectory, in the units of the case; each array is read from the file on first access.

    If the run is still active, the reader sees only the frames that existed when it was opened.

    Parameters
    ----------
    path
        The file, `trajectory.h5` in the folder of a run.

    Raises
    ------
    ArticulonError
        If the file is missing, damaged or not a trajectory of articulon; also when a damaged array is read.
    """

    def __init__(self, path: Path) -> None:
        self.path = Path(path)
        is_sealed(self.path)
        self._file = TrajectoryFile(self.path)
        try:
            self.layout = read_layout(self._file)
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> TrajectoryReader:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __len__(self) -> int:
        return self._file.dataset(self.layout.step).shape[0]

    def close(self) -> None:
        """Close the file. Arrays that were read stay usable."""
        self._file.close()

    @cached_property
    def steps(self) -> np.ndarray:
        """Step numbers, shape (frames,), int64."""
        return self._file.values(self.layout.step)

    @cached_property
    def times(self) -> np.ndarray:
        """Simulated times [time], shape (frames,)."""
        return self._file.values(self.layout.time) / self.layout.time_factor

    @cached_property
    def positions(self) -> np.ndarray:
        """Origins of the bodies, world frame [length], shape (frames, n, 3). Raises ArticulonError if the file holds
        atoms in place of bodies."""
        self._check_bodies()
        return self._file.values(h5md_layout.POSITION) / self.layout.length_factor

    @cached_property
    def rotations(self) -> np.ndarray:
        """Quaternions (scalar first) from body frame to world frame, shape (frames, n, 4). Raises ArticulonError if the
        file holds atoms in place of bodies."""
        self._check_bodies()
        return self._file.values(h5md_layout.ORIENTATION)

    @cached_property
    def atom_positions(self) -> np.ndarray:
        """Positions of the stored atoms, world frame [length], in single precision, shape (frames with atoms, atoms,
        3). Raises ArticulonError if the file holds no atoms."""
        if self.layout.atoms is None:
            raise ArticulonError(f"{self.path} holds no atoms, but bodies; articulon.open_run computes atoms from them")
        return self._file.values(h5md_layout.ATOM_POSITION) / np.float32(self.layout.length_factor)

    @cached_property
    def boxes(self) -> np.ndarray | None:
        """Edges of the box at every frame, as rows [length], shape (frames, 3, 3); None without a box."""
        if self.layout.box_edges is None:
            return None
        return self._file.values(self.layout.frame_edges) / self.layout.length_factor

    def _check_bodies(self) -> None:
        if self.layout.atoms is not None:
            raise ArticulonError(
                f"{self.path} holds atoms instead of bodies, whose poses follow from the coordinates; "
                "articulon.open_run returns them as run.positions and run.rotations"
            )

    @cached_property
    def coordinates(self) -> np.ndarray:
        """Joint coordinates [per coordinate], shape (frames, nq)."""
        return self._file.values(h5md_layout.COORDINATES)

    @cached_property
    def speeds(self) -> np.ndarray:
        """Joint speeds [per speed], shape (frames, nu)."""
        return self._file.values(h5md_layout.SPEEDS)

    @cached_property
    def observables(self) -> dict[str, np.ndarray]:
        """Observables by name [per observable], each of shape (frames,)."""
        return {name: self._file.values(h5md_layout.observable_path(name)) for name in self.layout.observables}


def is_sealed(path: Path) -> bool:
    """Return whether a file has a digest of its content. All trajectories have a digest, except trajectories of earlier
    versions.

    The digest is verified before any dataset is read, because HDF5 may hang on a damaged file.

    Raises
    ------
    ArticulonError
        If the file is missing, or has been changed since articulon wrote it, even by one bit.
    """
    try:
        if path.is_file():
            return seals.check_seal(path)
    except OSError as failure:
        raise ArticulonError(f"{path} cannot be read: {failure.strerror}") from failure
    except seals.BrokenSealError:
        raise ArticulonError(
            f"{path} cannot be opened: it is damaged, or was changed by another program, since its content does not "
            f"match its digest. {REMEDY}"
        ) from None
    raise ArticulonError(f"there is no trajectory {path}; is the folder that of a run?")
