"""A run that has been made, read from its folder."""

from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from articulon.errors import ArticulonError
from articulon.simulate.files import read_summary
from articulon.simulate.trajectory import TrajectoryReader

T = TypeVar("T")

CASE = "case.toml"
"""The case of a run, as resolved."""


def check_run(folder: Path) -> None:
    """Raises ArticulonError where a folder holds no run, or cannot be looked into."""
    try:
        there = (folder / CASE).is_file()
    except OSError as failure:  # a name that is too long, a folder that may not be entered
        raise ArticulonError(f"{folder}: cannot be read: {failure.strerror}; give the folder of a run") from None
    if not there:
        raise ArticulonError(f"{folder} holds no run (there is no {CASE} in it); give the folder of a run")


class Run:
    """The results of a run, read from its folder when they are asked for, in the units of the case.

    Parameters
    ----------
    folder
        The folder of the run.
    case
        The case as resolved, where it is known.
    """

    def __init__(self, folder: Path, case: Any = None) -> None:
        self.folder = Path(folder)
        self.case = case

    def __repr__(self) -> str:
        return f"Run({str(self.folder)!r})"

    @cached_property
    def summary(self) -> dict[str, Any]:
        """The figures of the run, the same as ``summary.json``."""
        return read_summary(self.folder)

    @cached_property
    def observables(self) -> dict[str, np.ndarray]:
        """Energies, works, temperatures, factors and "time" by name, each of shape (frames,)."""
        return self._read(lambda reader: {"time": reader.times, **reader.observables})

    @property
    def times(self) -> np.ndarray:
        """Times of the frames [time], shape (frames,)."""
        return self.observables["time"]

    @cached_property
    def positions(self) -> np.ndarray:
        """Origins of the bodies, world frame [length], shape (frames, bodies, 3)."""
        return self._read(lambda reader: reader.positions)

    @cached_property
    def rotations(self) -> np.ndarray:
        """Euler parameters, scalar first, body to world, shape (frames, bodies, 4)."""
        return self._read(lambda reader: reader.rotations)

    @cached_property
    def coordinates(self) -> np.ndarray:
        """Joint coordinates, shape (frames, nq)."""
        return self._read(lambda reader: reader.coordinates)

    @cached_property
    def speeds(self) -> np.ndarray:
        """Joint speeds, shape (frames, nu)."""
        return self._read(lambda reader: reader.speeds)

    @cached_property
    def body_names(self) -> tuple[str, ...]:
        """Names of the bodies, in the order of the arrays."""
        return self._read(lambda reader: reader.layout.body_names)

    def _read(self, what: Callable[[TrajectoryReader], T]) -> T:
        with TrajectoryReader(self.folder / "trajectory.h5") as reader:
            return what(reader)
