"""Particles on a crystal lattice, in a periodic box that holds whole cells."""

import math
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from articulon.building import ModelBuilder
from articulon.cases.builders.builder_base import BaseBuilder
from articulon.cases.builders.particles_shared import Species, thermal_velocities
from articulon.declaration import Dimension, Quantity, Seed, Whole
from articulon.errors import CaseError, ModelError
from articulon.model.box import Box
from articulon.sizes import PARTICLE, check_size

_HALF = ((0.0, 0.5, 0.5), (0.5, 0.0, 0.5), (0.5, 0.5, 0.0))
_BASES: dict[str, tuple[tuple[tuple[float, float, float], int], ...]] = {
    "simple-cubic": (((0.0, 0.0, 0.0), 0),),
    "body-centred-cubic": (((0.0, 0.0, 0.0), 0), ((0.5, 0.5, 0.5), 0)),
    "face-centred-cubic": (((0.0, 0.0, 0.0), 0), *((place, 0) for place in _HALF)),
    "rock-salt": (
        ((0.0, 0.0, 0.0), 0),
        *((place, 0) for place in _HALF),
        ((0.5, 0.5, 0.5), 1),
        ((0.5, 0.0, 0.0), 1),
        ((0.0, 0.5, 0.0), 1),
        ((0.0, 0.0, 0.5), 1),
    ),
}
"""Positions in a cell of edge 1, each with the index of its species."""

_WIDTHS = ("constant", "number_density", "packing_fraction")
"""Keys that determine the width of a cell."""

Count = Annotated[Whole, Field(ge=1)]


class Lattice(BaseBuilder):
    """``cells`` crystal cells along x, y and z, each a cube with the edge ``constant``.

    If the case has no ``[box]``, it gets a periodic box that contains the cells exactly, with a corner at the origin.
    The size of a cell follows from ``constant``, ``number_density`` or ``packing_fraction``, or from the lengths of the
    box and the number of cells. The first particle of the first cell is a quarter of an edge away from the corner, so
    that no particle starts on a face.
    """

    error_class: ClassVar = ModelError

    builder: Literal["lattice"] = "lattice"
    structure: Literal["simple-cubic", "body-centred-cubic", "face-centred-cubic", "rock-salt"]
    """Crystal structure."""
    cells: Count | tuple[Count, Count, Count]
    """Number of cells, in all directions or in each."""
    species: dict[str, Species]
    """Species by kind: one species, or two for rock salt. The first one is at the corners of the cells."""
    constant: Annotated[Quantity | None, Dimension("length", minimum=0, exclusive=True)] = None
    """Edge of a cell [length]."""
    number_density: Annotated[Quantity | None, Dimension("number_density", minimum=0, exclusive=True)] = None
    """Number of particles per volume [1/length³]."""
    packing_fraction: Annotated[Quantity | None, Dimension("dimensionless", minimum=0, exclusive=True)] = None
    """Fraction of the volume that the spheres fill, instead of ``constant``; the species then need radii."""
    jitter: Annotated[Quantity, Dimension("dimensionless", minimum=0)] = 0.0
    """Largest random initial displacement of a particle along each axis, in cell edges; uniformly distributed."""
    temperature: Annotated[Quantity, Dimension("temperature", minimum=0)] = 0.0
    """Temperature of the initial velocities [temperature]. They have a Maxwell distribution with zero total momentum,
    and are scaled to exactly the kinetic energy of 3n − 3 degrees of freedom."""
    seed: Seed = 1
    """Seed for the velocities and the jitter."""

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        needed = 1 + max(which for _, which in _BASES[self.structure])
        if len(self.species) != needed:
            raise ValueError(f"species: {self.structure} needs {needed}, got {len(self.species)}")
        given = [key for key in _WIDTHS if getattr(self, key) is not None]
        if len(given) > 1:
            raise ValueError(f"give either {' or '.join(given)}")
        return self

    def populate(self, builder: ModelBuilder) -> None:
        """Add the particles, and a box if there is none; quantities are in the builder's units."""
        cells = np.array(self.cells if isinstance(self.cells, tuple) else [self.cells] * 3)
        basis = _BASES[self.structure]
        count = math.prod(cells.tolist()) * len(basis)
        check_size(count, PARTICLE, "particles", "model.cells")
        edges = self._edges(builder.box, cells, len(basis))
        if builder.box is None:
            builder.box = Box(lengths=tuple((cells * edges).tolist()))
        corner = np.array([float(x) for x in builder.box.origin])
        steps = np.stack(np.meshgrid(*(np.arange(n) for n in cells), indexing="ij"), axis=-1).reshape(-1, 1, 3)
        places = (steps + np.array([place for place, _ in basis]) + 0.25).reshape(-1, 3)
        which = np.tile([species for _, species in basis], steps.shape[0])
        rng = np.random.Generator(np.random.PCG64([self.seed, 1]))
        places = places + float(self.jitter) * rng.uniform(-1.0, 1.0, places.shape)
        names, kinds = list(self.species), list(self.species.values())
        masses = np.array([float(kind.mass) for kind in kinds])[which]
        velocities: Any = None
        if float(self.temperature) > 0.0:
            thermal_energy = builder.units.boltzmann * float(self.temperature)
            velocities = thermal_velocities(masses, thermal_energy, self.seed)
        builder.add_particles(
            which.size,
            mass=masses,
            positions=corner + places * edges,
            velocities=velocities,
            charge=np.array([float(kind.charge) for kind in kinds])[which],
            radius=np.array([float(kind.radius) for kind in kinds])[which],
            kind=[names[k] for k in which],
        )

    def _edges(self, box: Box | None, cells: np.ndarray, basis: int) -> np.ndarray:
        """Return the edges of a cell along x, y and z [length]; raises CaseError if no setting or several settings
        determine them."""
        edge = None if self.constant is None else float(self.constant)
        if self.number_density is not None:
            edge = float(np.cbrt(basis / float(self.number_density)))
        if self.packing_fraction is not None:
            radii = [float(kind.radius) for kind in self.species.values()]
            filled = 4.0 / 3.0 * np.pi * sum(radii[which] ** 3 for _, which in _BASES[self.structure])
            if filled == 0.0:
                raise CaseError("model.packing_fraction: the species have no radius; give them one, or number_density")
            edge = float(np.cbrt(filled / float(self.packing_fraction)))
        if box is None:
            if edge is None:
                raise CaseError(
                    "model: a lattice needs constant, number_density or packing_fraction, or a [box] to fill"
                )
            return np.full(3, edge)
        lengths = np.array([float(x) for x in box.lengths])
        if any(float(tilt) for tilt in box.tilts):
            raise CaseError("box.tilts: a lattice needs a rectangular box; leave out the tilts")
        if edge is None:
            return lengths / cells
        misfit = np.abs(cells * edge - lengths) > 1e-9 * lengths
        if (misfit & box.periodic).any() or (cells * edge > lengths * (1.0 + 1e-9)).any():
            raise CaseError(
                f"box.lengths: {lengths.tolist()} do not hold {cells.tolist()} whole cells with edges of {edge:.12g}; "
                "leave out the box, or the constant, number_density or packing_fraction of the lattice"
            )
        return np.full(3, edge)
