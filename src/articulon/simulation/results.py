"""Results of a run, with the same names for a run in a folder and a run in memory."""

from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from articulon.declared_faults import nearest
from articulon.errors import ArticulonError
from articulon.forces.sites.atom_positions import atom_positions, atoms_of
from articulon.inputs import flag, one_word
from articulon.model import CHANNELS, Model, State
from articulon.model.coordinate_names import coordinate_names
from articulon.simulation.memory_run import Memory
from articulon.simulation.observers import poses_of
from articulon.sizes import NUMBER, check_size
from articulon.storage.file_reading import read_summary
from articulon.storage.model_layout import label
from articulon.storage.trajectory import TrajectoryReader

T = TypeVar("T")

CASE = "case.toml"
"""File of the case of a run, with all defaults resolved."""


def check_run(folder: Path) -> None:
    """Raise ArticulonError if a folder holds no run, or cannot be read."""
    try:
        there = (folder / CASE).is_file()
    except OSError as failure:  # the name is too long, or permission is missing
        raise ArticulonError(f"{folder}: cannot be read: {failure.strerror}; give the folder of a run") from None
    if not there:
        raise ArticulonError(f"{folder} holds no run (there is no {CASE} in it); give the folder of a run")


class Run:
    """The results of a run, in the units of its case. Arrays are read or computed on first access.

    Parameters
    ----------
    folder
        The folder of the run; None for a run in memory.
    case
        The case with all defaults resolved, if known.
    model
        The model that was simulated, if it is already built.
    memory
        Data of a run in memory; None for a run in a folder.
    """

    def __init__(
        self,
        folder: Path | None = None,
        case: Any = None,
        model: Model | None = None,
        memory: Memory | None = None,
    ) -> None:
        self._folder = None if folder is None else Path(folder)
        self.case = case
        self.memory = memory
        if model is not None:
            self.model = model

    def __repr__(self) -> str:
        return f"Run({str(self._folder)!r})" if self.memory is None else f"Run({self.memory.words()})"

    @property
    def in_memory(self) -> bool:
        """Whether the results are in memory only."""
        return self._folder is None

    @property
    def folder(self) -> Path:
        """The folder of the run; raises ArticulonError for a run in memory."""
        if self._folder is None:
            raise ArticulonError("this run is in memory and has no folder; write it into one with run.save(folder)")
        return self._folder

    @cached_property
    def model(self) -> Model:
        """The model that was simulated. If the model is not in memory, it is built from the case. Python functions that
        the case names are loaded only if the case was opened with permission to run code. Without permission, the
        forces of these functions cannot be evaluated, and a case in which functions drive joints is rejected."""
        if self.memory is not None:
            return self.memory.model
        if self.case is None:
            raise ArticulonError(f"{self.folder}: the case of this run is not known; open it with articulon.open_run")
        # Without the function that drives a coordinate, the model would have one more degree of freedom.
        model: Model = self.case.build_model(run_code=self.case.allow_code or self.case.driven_by_code)
        return model

    @property
    def known_model(self) -> Model | None:
        """The model that was simulated; None if the model is not built yet."""
        return self.memory.model if self.memory is not None else self.__dict__.get("model")

    @cached_property
    def summary(self) -> dict[str, Any]:
        """The results of the run, as in ``summary.json``. For a run in memory they are computed on first access. A
        scaled run also needs a verdict; for this, the first access computes an unscaled reference run for
        comparison."""
        return read_summary(self.folder) if self.memory is None else self.memory.summary(self)

    @cached_property
    def observables(self) -> dict[str, np.ndarray]:
        """Energies, works, temperatures, factors and "time" by name, each of shape (frames,)."""
        if self.memory is not None:
            return self.memory.observables()
        return self._read(lambda reader: {"time": reader.times, **reader.observables})

    @property
    def times(self) -> np.ndarray:
        """Times of the frames [time], shape (frames,)."""
        return self.observables["time"]

    @cached_property
    def positions(self) -> np.ndarray:
        """Origins of the bodies, world frame [length], shape (frames, bodies, 3)."""
        return self._poses[0]

    @cached_property
    def rotations(self) -> np.ndarray:
        """Euler parameters, scalar first, body to world, shape (frames, bodies, 4)."""
        return self._poses[1]

    def atoms_at(self, frame: int) -> np.ndarray:
        """Return the positions of the model's atoms at a frame, world frame [length], shape (atoms, 3).

        All atoms are computed from the coordinates in double precision, even if the trajectory stores only some atoms.
        Molecules are whole, not split at the faces of the box. Raises ModelError for a model without atoms, and
        IndexError for a frame that does not exist.

        Parameters
        ----------
        frame
            Index of the frame; negative indices count from the end.
        """
        return atom_positions(self.model, self.q[frame])

    @cached_property
    def atom_positions(self) -> np.ndarray:
        """Positions of the model's atoms at all frames, world frame [length], shape (frames, atoms, 3); see
        :meth:`atoms_at`."""
        count = len(atoms_of(self.model, "run.atom_positions"))
        check_size(len(self.q), 3 * NUMBER * count, "frames", "run.atom_positions", "use run.atoms_at for one frame")
        return np.array([self.atoms_at(k) for k in range(len(self.q))]).reshape(len(self.q), count, 3)

    @cached_property
    def boxes(self) -> np.ndarray | None:
        """Edges of the box at all frames, as rows [length], shape (frames, 3, 3); None without periodic box."""
        if self.memory is None:
            return self._read(lambda reader: reader.boxes)
        box = self.memory.model.box
        if box is None or not box.periodic.any():
            return None
        return np.array([box.vectors if row.box is None else row.box for row in self.memory.rows])

    @property
    def coordinate_names(self) -> tuple[str, ...]:
        """Names of the joint coordinates, in the order of ``q``. A torsion of a molecule has a name like
        ``phi:A:TRP2``; other names consist of the body and the component."""
        return tuple(self._coordinates)

    @cached_property
    def _coordinates(self) -> dict[str, tuple[int, str]]:
        """Index and unit of every coordinate, by name."""
        if self.memory is None:
            names, units = self._read(lambda r: (r.layout.coordinate_names, r.layout.coordinate_units))
        else:
            named, _ = coordinate_names(self.memory.model)
            names = tuple(name for name, _ in named)
            units = tuple(label(self.memory.model.units, dimension) for _, dimension in named)
        return {name: (k, unit) for k, (name, unit) in enumerate(zip(names, units, strict=True))}

    def coordinate(self, name: str, *, wrapped: bool = False, degrees: bool = False) -> np.ndarray:
        """Return one joint coordinate at all frames, by its name.

        Parameters
        ----------
        name
            One of ``coordinate_names``, such as ``"phi:A:TRP2"``.
        wrapped
            Whether an angle is wrapped to (−π, π]. By default it is continuous and counts whole turns.
        degrees
            Whether an angle is in degrees instead of radians.

        Returns
        -------
        np.ndarray
            Values of the coordinate, shape (frames,): angles in radians or degrees, others in the units of the case.

        Raises
        ------
        ArticulonError
            For an unknown name, and if ``wrapped`` or ``degrees`` is set for a coordinate that is not an angle.
        """
        name = one_word(name, "run.coordinate, name", ArticulonError)
        wrapped = flag(wrapped, "run.coordinate, wrapped", ArticulonError)
        degrees = flag(degrees, "run.coordinate, degrees", ArticulonError)
        place, unit = self._named(name)
        if (wrapped or degrees) and unit != "rad":
            raise ArticulonError(f"run.coordinate: '{name}' is not an angle; leave out wrapped and degrees")
        values = self.q[:, place]
        if wrapped:
            values = np.pi - np.mod(np.pi - values, 2.0 * np.pi)
        return np.degrees(values) if degrees else np.array(values)

    def coordinate_unit(self, name: str) -> str:
        """Return the unit of a coordinate, "rad" for an angle; raise ArticulonError for an unknown name.

        Parameters
        ----------
        name
            Name of the coordinate, one of ``coordinate_names``.
        """
        return self._named(name)[1]

    def _named(self, name: str) -> tuple[int, str]:
        if name not in self._coordinates:
            near = nearest(name, list(self._coordinates))
            raise ArticulonError(f"run.coordinate: there is no coordinate '{name}'{near}")
        return self._coordinates[name]

    @cached_property
    def q(self) -> np.ndarray:
        """Joint coordinates, shape (frames, nq)."""
        return self.memory.q() if self.memory is not None else self._read(lambda reader: reader.coordinates)

    @cached_property
    def u(self) -> np.ndarray:
        """Joint speeds, shape (frames, nu)."""
        return self.memory.u() if self.memory is not None else self._read(lambda reader: reader.speeds)

    @property
    def kinetic_energy(self) -> np.ndarray:
        """Kinetic energy [energy], shape (frames,)."""
        return self.observables["kinetic_energy"]

    @cached_property
    def potential_energy(self) -> np.ndarray:
        """Energy of all potential and conformational terms and of gravity, unscaled [energy], shape (frames,)."""
        return self._by_channel("energy").sum(axis=1)

    @cached_property
    def works(self) -> np.ndarray:
        """Work done by each channel since the start [energy], in the order of ``articulon.model.CHANNELS``, shape
        (frames, 8)."""
        return self._by_channel("work")

    @cached_property
    def body_names(self) -> tuple[str, ...]:
        """Names of the bodies, in the order of the arrays."""
        return self.memory.model.names if self.memory is not None else self._read(lambda r: r.layout.body_names)

    @property
    def complete(self) -> bool:
        """Whether the run reached its end or its stop condition; False if it was interrupted or failed."""
        if self.memory is not None:
            return self.memory.complete
        return self.summary["status"] not in ("running", "interrupted", "failed")

    @property
    def notes(self) -> list[str]:
        """Messages about the run, for example on a step that was shortened, on a threshold that the run determined, or
        on flexible bodies that deformed too much or rotated too fast for their modes."""
        return list(self.summary.get("notes") or ()) if self.memory is None else self.memory.notes(self)

    @property
    def step(self) -> float | None:
        """The step if all steps are equal [time]; frames or noise windows may shorten some steps. None if an error
        estimate chose the steps."""
        return self.summary.get("step") if self.memory is None else self.memory.step

    @property
    def state(self) -> State:
        """The full state from which a run in memory continues, at its last frame or at its interruption. Raises
        ArticulonError for a run in a folder, because there the checkpoint holds the state."""
        return self._memory("state").state

    def _memory(self, what: str) -> Memory:
        """Return the data of a run in memory; raise ArticulonError for a run in a folder."""
        if self.memory is None:
            raise ArticulonError(f"{self.folder}: only a run in memory has '{what}'; this one is in its folder")
        return self.memory

    @cached_property
    def _poses(self) -> tuple[np.ndarray, np.ndarray]:
        if self.memory is not None:
            return self.memory.poses()
        kept = self._read(lambda r: (r.positions, r.rotations) if r.layout.atoms is None else None)
        return poses_of(self.model, self.q) if kept is None else kept

    def _by_channel(self, kind: str) -> np.ndarray:
        """Return one observable of every channel, 0 for channels without force, shape (frames, 8)."""
        found = np.zeros((self.times.size, len(CHANNELS)))
        for c, name in enumerate(CHANNELS):
            found[:, c] = self.observables.get(f"{kind}_{name}", 0.0)
        return found

    def _read(self, what: Callable[[TrajectoryReader], T]) -> T:
        with TrajectoryReader(self.folder / "trajectory.h5") as reader:
            return what(reader)
