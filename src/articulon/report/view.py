"""Data for the figures of a report: the arrays and the model of a run, and the body whose motion the figures show."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from articulon.analysis.reference_structures import reference_positions
from articulon.cases.case import Case
from articulon.chains.chain_statistics import ChainStatistics, chain_statistics
from articulon.chains.model_chains import chain_frames
from articulon.conformations.chosen_atoms import chosen_atoms, solute
from articulon.conformations.conformation_record import Conformations
from articulon.errors import ArticulonError
from articulon.forces.brownian import brownian_of
from articulon.forces.stokes_drag import StokesDrag
from articulon.integrate import BrownianDynamics, ErmakMcCammon
from articulon.model import Model
from articulon.model.joints import UNBOUND
from articulon.model.state import CHANNELS
from articulon.report.readable_numbers import Scale, suited
from articulon.simulation.contact_statistics import ContactRecords, contact_records, saved_contacts
from articulon.simulation.ledger import with_energy, without_energy
from articulon.simulation.memory_run import Memory
from articulon.simulation.results import Run

WORDS = {"q": "coordinates", "u": "speeds"}
"""Names of arrays in messages."""


def in_box(model: Model, places: np.ndarray) -> np.ndarray:
    """Wrap positions [length] (n, 3) into the model's box, along its periodic directions."""
    box = model.box
    if box is None or not box.periodic.any():
        return places
    origin = np.array([float(x) for x in box.origin])
    parts = np.linalg.solve(box.vectors.T, (places - origin).T).T
    found: np.ndarray = origin + np.where(box.periodic, parts % 1.0, parts) @ box.vectors
    return found


@dataclass(frozen=True, eq=False)
class View:
    """Data of a run, with its model and its core: the body whose motion the figures show. All values are in the units
    of the case."""

    case: Case
    """The case that was run."""
    summary: Mapping[str, Any]
    """The summary of the run."""
    times: np.ndarray
    """Times of the frames [time], shape (frames,)."""
    positions: np.ndarray
    """Origins of the bodies, world frame [length], shape (frames, bodies, 3)."""
    rotations: np.ndarray
    """Rotations of the bodies as quaternions, body to world frame, shape (frames, bodies, 4)."""
    observables: Mapping[str, np.ndarray]
    """Observables that are defined in some frame, by name, each of shape (frames,)."""
    q: np.ndarray
    """Joint coordinates, shape (frames, nq)."""
    u: np.ndarray
    """Joint speeds, shape (frames, nu)."""
    folder: Path | None = None
    """The folder of the run; None for a run in memory."""
    undefined: tuple[str, ...] = ()
    """Observables that are undefined in all frames and therefore not drawn, such as the temperature of an integrator
    without inertia."""
    known_model: Model | None = None
    """The model, if it is already built."""
    known_contacts: ContactRecords | None = None
    """The contacts at the end of a run that is kept in memory."""
    reference: Path | None = None
    """Structure file with which molecules are compared; None for a comparison with the first frame."""

    @classmethod
    def of(cls, run: Run, reference: Path | None = None) -> View:
        """Return the view of a run; raise ArticulonError if a coordinate in the trajectory is not finite."""
        found = {name: np.asarray(values) for name, values in run.observables.items()}
        undefined = tuple(name for name, values in found.items() if values.size and not np.isfinite(values).any())
        motion = {name: np.asarray(getattr(run, name)) for name in ("positions", "rotations", "q", "u")}
        times = np.asarray(run.times)
        for name, values in motion.items():
            _check_numbers(run, WORDS.get(name, name), times, values)
        return cls(
            Case.read(run.folder / "case.toml") if run.case is None else run.case,
            run.summary,
            times,
            motion["positions"],
            motion["rotations"],
            {name: values for name, values in found.items() if name not in undefined},
            motion["q"],
            motion["u"],
            None if run.in_memory else run.folder,
            undefined,
            run.known_model,
            None if run.memory is None else _contacts_in_memory(run.memory),
            reference,
        )

    @classmethod
    def of_folder(cls, folder: Path, reference: Path | None = None) -> View:
        """Return the view of the run in a folder; raise ArticulonError if the folder contains no readable run."""
        return cls.of(Run(folder, Case.read(folder / "case.toml")), reference)

    @cached_property
    def edges(self) -> np.ndarray | None:
        """Edges of the box at every frame, as rows [length], shape (frames, 3, 3); None without a box."""
        box = self.model.box
        if box is None:
            return None
        volumes = np.asarray(self.observables.get("volume", np.full(self.times.size, box.volume)))
        # When the size of the box changes, its shape stays the same.
        return np.cbrt(volumes / box.volume)[:, None, None] * box.vectors

    @cached_property
    def model(self) -> Model:
        """The model of the case. A model that is built here lacks the Python functions that the case names, because a
        report runs no code of users.

        Raises ArticulonError if the trajectory belongs to another model.
        """
        model = self.case.build_model(run_code=False) if self.known_model is None else self.known_model
        frames = len(self.times)
        shapes = ((self.positions, (model.bodies, 3)), (self.q, (model.nq,)), (self.u, (model.nu,)))
        if any(array.shape != (frames, *shape) for array, shape in shapes):
            where = "" if self.folder is None else f"{self.folder}: "
            raise ArticulonError(
                f"{where}the trajectory belongs to another model than case.toml; restore the right files"
            )
        return model

    @property
    def molecular(self) -> bool:
        """Whether the model has atoms, so that torsions and shapes describe its motion."""
        return self.model.atoms is not None

    @cached_property
    def conformations(self) -> Conformations | None:
        """Conformations of the molecules in the frames; None if there are no molecules except water and ions. Raises
        ArticulonError if a reference lacks their atoms."""
        atoms = self.model.atoms
        if atoms is None or not self.times.size or not (chosen := solute(atoms)).size:
            return None
        places = None
        if self.reference is not None:
            places = reference_positions(chosen_atoms(atoms, chosen), self.reference, "report")
        volumes = self.observables.get("volume")
        return Conformations(self.model, self.times, self.q, reference=places, volumes=volumes)

    @cached_property
    def chain_statistics(self) -> ChainStatistics | None:
        """Statistics of the polymer chains over the frames; None without chains."""
        given = chain_frames(self.model, self.times, self.q, self.observables.get("volume"))
        return None if given is None or not self.times.size else chain_statistics(*given, unwrapped=True)

    @property
    def inertial(self) -> bool:
        """Whether bodies have speeds, which they do not have under integrators without inertia."""
        return not isinstance(self.case.integrator, BrownianDynamics | ErmakMcCammon)

    @cached_property
    def core(self) -> int:
        """Index of the body whose motion the figures show: the body of the stop condition. Without a stop condition it
        is the heaviest body in a tree that is not bound to the ground, or, if there is no such tree, the heaviest body
        that moves."""
        if self.case.run.stop is not None:
            return self.model.body(self.case.run.stop.body)
        forest, link = self.model.forest, self.model.link
        roots = forest.tree[np.searchsorted(forest.tree, link, side="right") - 1]
        unbound = (link >= 0) & np.isin(forest.kind[np.where(link >= 0, roots, 0)], UNBOUND)
        moving = unbound if unbound.any() else link >= 0
        return int(np.argmax(np.where(moving, self.model.masses, -np.inf)))

    @property
    def core_name(self) -> str:
        """Name of the core."""
        return self.model.names[self.core]

    def centres(self, frame: int) -> np.ndarray:
        """Centres of mass of all bodies at a frame, world frame [length], shape (bodies, 3)."""
        return self.positions[frame] + rotated(self.rotations[frame], self.model.centres)

    @cached_property
    def path(self) -> np.ndarray:
        """Centre of mass of the core, world frame [length], shape (frames, 3)."""
        return self.positions[:, self.core] + rotated(self.rotations[:, self.core], self.model.centres[self.core])

    @cached_property
    def direction(self) -> np.ndarray | None:
        """Unit vector along which the stop condition measures the advance, shape (3,); None without such a
        condition."""
        stop = self.case.run.stop
        if stop is None or stop.direction is None:
            return None
        direction = np.array([float(component) for component in stop.direction])
        return direction / np.linalg.norm(direction)

    @cached_property
    def advance(self) -> np.ndarray | None:
        """Advance of the core along the direction of the stop condition [length], shape (frames,), or None."""
        return None if self.direction is None else (self.path - self.path[0]) @ self.direction

    @cached_property
    def distance(self) -> np.ndarray | None:
        """Distance of the two bodies of the stop condition [length], shape (frames,); None without such a condition."""
        stop = self.case.run.stop
        return None if stop is None or stop.distance is None else self.observables.get("distance")

    @property
    def channels(self) -> tuple[str, ...]:
        """Channels that have a force, a work or a scaling factor."""
        kinds = ("work", "force", "factor")
        return tuple(c for c in CHANNELS if any(f"{kind}_{c}" in self.observables for kind in kinds))

    def series(self, prefix: str) -> dict[str, np.ndarray]:
        """Return one kind of observable for all channels: ``series("work")`` returns the works by channel."""
        return {c: self.observables[f"{prefix}_{c}"] for c in CHANNELS if f"{prefix}_{c}" in self.observables}

    @property
    def potential_energy(self) -> np.ndarray | None:
        """Change of the energy of the conservative forces since the start [energy], shape (frames,).

        None if there are no conservative forces. Also None if scaled or non-conservative forces act, because the total
        energy is then not conserved.
        """
        names = [c for c in self.channels if f"work_{c}" in self.observables]
        kept = with_energy(self.observables, self.case.scaling.scales, without_energy(self.model))
        if not names or set(names) != set(kept):
            return None
        energies = [self.observables[f"energy_{name}"] for name in kept]
        return np.asarray(sum(values - values[0] for values in energies))

    @property
    def time_scale(self) -> Scale:
        """Unit of the time axes."""
        return suited(self.case.units, "time", float(self.times[-1]) if self.times.size else 0.0)

    @cached_property
    def switches(self) -> list[float]:
        """Times at which the scaling factor of a channel changes, to within half the time between frames [time].

        Several changes between the same two frames count as one. The list is empty if a factor changes gradually.
        """
        if not self.case.scaling.varies or self.case.scaling.smooth:
            return []
        factors = self.series("factor").values()
        changed = np.zeros(max(self.times.size - 1, 0), dtype=bool)
        for factor in factors:
            changed |= factor[1:] != factor[:-1]
        middle = 0.5 * (self.times[1:] + self.times[:-1])
        return [float(t) for t in middle[changed]]

    @cached_property
    def bath_temperature(self) -> float | None:
        """Temperature of the medium [temperature]; None without Brownian forces."""
        force = brownian_of(self.model)
        return None if force is None else float(force.temperature)

    @cached_property
    def radii(self) -> np.ndarray:
        """Hydrodynamic radius of each body [length], shape (bodies,); NaN where none is declared."""
        return hydrodynamic_radii(self.model)

    @cached_property
    def last_contacts(self) -> ContactRecords | None:
        """Contacts in the checkpoint; for a finished run these are the contacts of the last frame. None without contact
        spheres or without a checkpoint."""
        if self.known_contacts is not None:
            return self.known_contacts
        found = None if self.folder is None else saved_contacts(self.folder, self.model)
        return None if found is None else found[1]

    @cached_property
    def stop_time(self) -> float | None:
        """Time at which the stop condition ended the run [time]; None if it did not."""
        return stop_time(self.summary)


def _contacts_in_memory(memory: Memory) -> ContactRecords | None:
    """Contacts at the end of a run in memory; None if no force has contacts between spheres."""
    radii, kept = memory.model.sites.radius, memory.state.contacts
    if not (radii > 0.0).any() or not kept.memory.shape[1]:
        return None
    return contact_records(kept.pairs, kept.memory, radii)


def _check_numbers(run: Run, what: str, times: np.ndarray, values: np.ndarray) -> None:
    """Raise ArticulonError if an array over the frames contains values that are not finite."""
    wrong = np.argwhere(~np.isfinite(values))
    if not wrong.size:
        return
    frame = int(wrong[0][0])
    whose = f" of body '{run.body_names[int(wrong[0][1])]}'" if values.ndim == 3 else ""
    place = f"the {what}{whose} in frame {frame} (t = {times[frame]:.6g}) are not a number"
    if run.in_memory:
        raise ArticulonError(place)
    raise ArticulonError(
        f"{run.folder / 'trajectory.h5'}: {place}: the file is damaged; make the run again in another folder"
    )


def hydrodynamic_radii(model: Model) -> np.ndarray:
    """Radius of each body from its Stokes drag [length], shape (bodies,); NaN where none is declared."""
    radii = np.full(model.bodies, np.nan)
    for force in model.forces:
        if isinstance(force, StokesDrag) and force.radius is not None and force.viscosity is not None:
            bodies, translational, _ = force.coefficients(model)
            radii[bodies] = translational / (6.0 * np.pi * float(force.viscosity))
    return radii


def stop_time(summary: Mapping[str, Any]) -> float | None:
    """Time at which the stop condition ended the run [time]; None if the run lasted for its full duration."""
    value = summary.get("stop_time")
    return None if value is None else float(value)


def rotated(quaternions: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """Rotate vectors from body frames to the world frame; quaternions scalar first, shapes (..., 4) and (..., 3)."""
    e0, e = quaternions[..., :1], quaternions[..., 1:]
    vectors = np.broadcast_to(vectors, e.shape)
    return vectors + 2.0 * np.cross(e, np.cross(e, vectors) + e0 * vectors)
