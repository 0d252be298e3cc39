"""Particles at given positions, written out in the case or in a file beside it."""

from pathlib import Path
from typing import Annotated, ClassVar, Literal, Self

import numpy as np
from pydantic import model_validator

from articulon.array_files import UnreadableError, read_arrays
from articulon.building import ModelBuilder
from articulon.cases.builders.builder_base import BaseBuilder
from articulon.cases.builders.explicit_joints import Vector
from articulon.cases.builders.particles_shared import Species, thermal_velocities
from articulon.declaration import Dimension, Quantity, Seed, marked, nearest
from articulon.errors import CaseError, ModelError
from articulon.inputs import array, real, shown


class Particles(BaseBuilder):
    """Free particles; each belongs to one of the ``species``.

    Positions, velocities and kinds are lists in the case, or come from a ``file``. In an ``.xyz`` file each line after
    the first two holds a kind, three coordinates and, optionally, three velocity components. An ``.npz`` file has the
    arrays ``positions``, ``kinds`` and, optionally, ``velocities``. The numbers of the file are in the units of the
    case.
    """

    error_class: ClassVar = ModelError

    builder: Literal["particles"] = "particles"
    species: dict[str, Species]
    """Species by kind."""
    positions: Annotated[tuple[Vector, ...] | None, Dimension("length")] = None
    """Positions of the particles [length]."""
    velocities: Annotated[tuple[Vector, ...] | None, Dimension("velocity")] = None
    """Initial velocities; by default zero [velocity]."""
    kinds: str | tuple[str, ...] | None = None
    """Kind of all particles, or of each particle; may be left out if there is only one species."""
    file: str | None = None
    """Path of a file with the particles, relative to the case, instead of lists."""
    sha256: str | None = None
    """SHA-256 of the file, so that a run does not continue with a different file; computed when the case is read."""
    temperature: Annotated[Quantity | None, Dimension("temperature", minimum=0)] = None
    """Temperature of random initial velocities, instead of given ones [temperature]. They have a Maxwell distribution
    with zero total momentum, and are scaled to exactly the kinetic energy of 3n − 3 degrees of freedom."""
    seed: Seed = 1
    """Seed for the random velocities."""

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if (self.positions is None) == (self.file is None):
            raise ValueError("give either positions or a file")
        if self.file is not None and (self.velocities is not None or self.kinds is not None):
            raise ValueError("the file contains kinds and velocities; leave them out here")
        if self.velocities is not None and self.temperature is not None:
            raise ValueError("give either velocities or their temperature")
        if not self.species:
            raise ValueError("species: expected at least one kind of particle")
        return self

    def beside(self, source: str) -> "Particles":
        """Return a copy whose file is located beside a case file and recorded by a digest; raises CaseError if it is
        missing or has changed."""
        return self if self.file is None else marked(self, "file", source, "model")

    def populate(self, builder: ModelBuilder) -> None:
        """Add the particles; quantities are in the builder's units."""
        positions, velocities, kinds = self._listed() if self.file is None else _of_file(Path(self.file))
        for kind in dict.fromkeys(kinds):
            if kind not in self.species:
                raise CaseError(
                    f"model.species: there is no species '{kind}', which some particles have; known: {[*self.species]}"
                )
        masses = np.array([float(self.species[kind].mass) for kind in kinds])
        if self.temperature is not None:
            if velocities is not None:
                raise CaseError("model.temperature: the file contains velocities; leave the temperature out")
            thermal_energy = builder.units.boltzmann * float(self.temperature)
            velocities = thermal_velocities(masses, thermal_energy, self.seed)
        builder.add_particles(
            len(kinds),
            mass=masses,
            positions=positions,
            velocities=velocities,
            charge=np.array([float(self.species[kind].charge) for kind in kinds]),
            radius=np.array([float(self.species[kind].radius) for kind in kinds]),
            kind=kinds,
        )

    def _listed(self) -> tuple[np.ndarray, np.ndarray | None, list[str]]:
        positions = np.array(self.positions, dtype=float).reshape(-1, 3)
        count = len(positions)
        if self.kinds is None and len(self.species) > 1:
            raise CaseError("model.kinds: is required if there are several species")
        given = next(iter(self.species)) if self.kinds is None else self.kinds
        kinds = [given] * count if isinstance(given, str) else list(given)
        velocities = None if self.velocities is None else np.array(self.velocities, dtype=float).reshape(-1, 3)
        for key, found in (("kinds", len(kinds)), ("velocities", count if velocities is None else len(velocities))):
            if found != count:
                raise CaseError(f"model.{key}: there are {found}, and {count} positions")
        return positions, velocities, kinds


def _of_file(path: Path) -> tuple[np.ndarray, np.ndarray | None, list[str]]:
    """Positions, velocities and kinds in a file; raises CaseError, naming the line, if it cannot be read."""
    if path.suffix == ".npz":
        return _of_arrays(path)
    if path.suffix != ".xyz":
        raise CaseError(f"model.file: {path}: expected an .xyz or an .npz file")
    rows: list[list[float]] = []
    kinds: list[str] = []
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, ValueError) as error:
        raise CaseError(f"model.file: {path} cannot be read: {getattr(error, 'strerror', None) or error}") from None
    for k, line in enumerate(lines[2:], start=3):
        words = line.split()
        if not words:
            continue
        try:
            rows.append([real(float(word)) for word in words[1:]])
        except ValueError:
            raise CaseError(f"model.file: {path}, line {k}: expected a kind and numbers, got {shown(line)}") from None
        if len(rows[-1]) not in (3, 6) or len(rows[-1]) != len(rows[0]):
            raise CaseError(
                f"model.file: {path}, line {k}: expected a kind and 3 or 6 numbers, the same in each line, got "
                f"{shown(line)}"
            )
        kinds.append(words[0])
    if not lines or lines[0].strip() != str(len(rows)):
        raise CaseError(
            f"model.file: {path}, line 1: expected the number of particles, {len(rows)}, got {shown(lines[:1])}"
        )
    if not rows:
        raise CaseError(f"model.file: {path} contains no particles")
    values = np.array(rows)
    return values[:, :3], values[:, 3:] if values.shape[1] == 6 else None, kinds


def _of_arrays(path: Path) -> tuple[np.ndarray, np.ndarray | None, list[str]]:
    where = f"model.file: {path}"
    try:
        found = read_arrays(path)
    except UnreadableError as reason:
        raise CaseError(f"{where} {reason}") from None
    for name in ("positions", "kinds"):
        if name not in found:
            raise CaseError(f"{where}: has no array '{name}'{nearest(name, list(found))}")
    if found["kinds"].ndim != 1 or not found["kinds"].size:
        raise CaseError(f"{where}: expected a list of kinds, got an array of shape {found['kinds'].shape}")
    kinds = [str(kind) for kind in found["kinds"]]
    positions = array(found["positions"], (len(kinds), 3), f"{where}, positions", CaseError)
    velocities = found.get("velocities")
    if velocities is not None:
        velocities = array(velocities, (len(kinds), 3), f"{where}, velocities", CaseError)
    return positions, velocities, kinds
