"""A molten salt around a silica cluster, in a cube with walls (Guy 2018, 3.3 and 4.4)."""

import math
from typing import Annotated, ClassVar, Literal

import numpy as np
from pydantic import Field

from articulon.building import ModelBuilder
from articulon.cases.builders.builder_base import BaseBuilder
from articulon.cases.builders.particles_shared import Species, directions
from articulon.declaration import Declaration, Dimension, Quantity, Seed, Whole
from articulon.errors import CaseError, ModelError
from articulon.model.box import Box
from articulon.sizes import PARTICLE, check_size


class Ion(Species):
    """A kind of ion."""

    count: Annotated[Whole, Field(ge=0)]
    """Number of ions of this kind."""


class Cluster(Declaration):
    """A sphere among the ions that translates but does not rotate."""

    kind: str = "SiO2"
    """Kind of the site of the cluster, as used in tables of potentials."""
    radius: Annotated[Quantity, Dimension("length", minimum=0, exclusive=True)]
    """Radius of the cluster [length]."""
    density: Annotated[Quantity, Dimension("mass_density", minimum=0, exclusive=True)]
    """Density of the cluster, which determines its mass [mass/length³]."""
    charge: Annotated[Quantity, Dimension("charge")] = 0.0
    """Charge of the cluster [charge]."""

    @property
    def mass(self) -> float:
        """Mass of the cluster [mass]."""
        return 4.0 / 3.0 * math.pi * float(self.radius) ** 3 * float(self.density)


class MoltenSalt(BaseBuilder):
    """Ions around a cluster at the centre of a cube that is centred on the origin.

    The ions start on a simple cubic lattice between the cluster and the walls, where cations and anions alternate as
    far as their numbers allow. Each ion is displaced at random by up to ``jitter``. The cluster starts at rest. All
    ions start in random directions with the same speed, for which the kinetic temperature of all degrees of freedom is
    ``temperature``. Guy chooses a temperature that differs from the target of the thermostat, so that convergence can
    be seen. Bodies are named by kind and number.

    If the case has no ``[box]``, it gets this cube with open boundaries. Walls are separate forces, such as
    ``lennard-jones-wall``.
    """

    error_class: ClassVar = ModelError

    builder: Literal["molten-salt"] = "molten-salt"
    ions: dict[str, Ion]
    """Ions by kind."""
    cluster: Cluster | None = None
    """Silica cluster, if any."""
    side: Annotated[Quantity, Dimension("length", minimum=0, exclusive=True)]
    """Edge of the cube [length]."""
    clearance: Annotated[Quantity, Dimension("length", minimum=0, exclusive=True)]
    """Minimum initial distance of an ion from the walls and from the surface of the cluster [length]."""
    jitter: Annotated[Quantity, Dimension("dimensionless", minimum=0)] = 0.05
    """Largest random initial displacement of an ion along each axis, in lattice spacings; uniformly distributed."""
    temperature: Annotated[Quantity, Dimension("temperature", minimum=0)]
    """Initial kinetic temperature [temperature]."""
    seed: Seed = 1
    """Seed for the positions and the directions of the velocities."""

    def populate(self, builder: ModelBuilder) -> None:
        """Add the ions and the cluster, and a box if there is none; quantities are in the builder's units."""
        for kind, ion in self.ions.items():
            check_size(ion.count, PARTICLE, "ions", f"model.ions.{kind}.count")
        rng = np.random.Generator(np.random.PCG64(self.seed))
        kinds = [kind for kind, ion in self.ions.items() for _ in range(ion.count)]
        masses = np.array([float(self.ions[kind].mass) for kind in kinds])
        charges = np.array([float(self.ions[kind].charge) for kind in kinds])
        if not kinds:
            raise CaseError("model.ions: there are no ions; give each kind a count")
        positions = self._places(charges, rng)
        bodies = len(kinds) + (self.cluster is not None)
        thermal_energy = builder.units.boltzmann * float(self.temperature)
        speed = math.sqrt(3.0 * bodies * thermal_energy / masses.sum())
        if builder.box is None:
            side = float(self.side)
            builder.box = Box(lengths=(side,) * 3, boundaries=("open",) * 3, origin=(-0.5 * side,) * 3)
        if self.cluster is not None:
            builder.add_particles(
                1,
                mass=self.cluster.mass,
                positions=np.zeros((1, 3)),
                charge=float(self.cluster.charge),
                kind=self.cluster.kind,
                names=["cluster"],
            )
        builder.add_particles(
            len(kinds),
            mass=masses,
            positions=positions,
            velocities=speed * directions(rng, len(kinds)),
            charge=charges,
            kind=kinds,
            names=[f"{kind}-{k + 1}" for kind, ion in self.ions.items() for k in range(ion.count)],
        )

    def _places(self, charges: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Positions of the ions, in their order [length], shape (ions, 3); raises CaseError if they do not fit."""
        half = 0.5 * float(self.side) - float(self.clearance)
        hollow = 0.0 if self.cluster is None else float(self.cluster.radius) + float(self.clearance)
        count = charges.size
        for along in range(2, 2 + 4 * math.ceil(count ** (1 / 3))):
            spacing = 2.0 * half / (along - 1)
            steps = np.stack(np.meshgrid(*[np.arange(along)] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
            places = spacing * steps - half
            free = np.linalg.norm(places, axis=1) >= hollow
            if half > 0.0 and free.sum() >= count:
                break
        else:
            raise CaseError(
                f"model.side: a cube of {float(self.side):g} with a clearance of {float(self.clearance):g} has no "
                f"space for {count} ions outside the cluster"
            )
        places, even = places[free], steps[free].sum(axis=1) % 2 == 0
        mixed = rng.permutation(len(places))
        # Cations occupy even lattice sites and anions odd ones. If these are full, ions occupy sites of the other
        # parity.
        order = {sign: mixed[even[mixed] == sign] for sign in (True, False)}
        chosen = np.full(count, -1)
        for sign in (True, False):
            mine = np.flatnonzero((charges >= 0.0) == sign)
            mine = mine[rng.permutation(mine.size)]
            taken = min(mine.size, order[sign].size)
            chosen[mine[:taken]] = order[sign][:taken]
        left = np.setdiff1d(mixed, chosen)
        homeless = np.flatnonzero(chosen < 0)
        chosen[homeless] = left[rng.permutation(left.size)[: homeless.size]]
        shift = float(self.jitter) * spacing * rng.uniform(-1.0, 1.0, (count, 3))
        return places[chosen] + shift
