"""The nanoparticle with a ring of ligand chains in front of a plane of receptors (Guy 2018, chapter 5)."""

import math
from typing import Annotated, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from articulon.building import ModelBuilder
from articulon.cases.builders.builder_base import BaseBuilder
from articulon.declaration import Declaration, Dimension, Quantity, Whole
from articulon.model import Free, Spherical
from articulon.sizes import BODY, SITE, check_size


class Sphere(Declaration):
    """A spherical body."""

    mass: Annotated[Quantity, Dimension("mass", minimum=0, exclusive=True)]
    """Mass of the sphere [mass]."""
    inertia: Annotated[Quantity, Dimension("inertia", minimum=0, exclusive=True)]
    """Moment of inertia about its centre [mass length²]."""
    radius: Annotated[Quantity, Dimension("length", minimum=0, exclusive=True)]
    """Radius of the sphere [length]."""


class ConjugatedNanoparticle(BaseBuilder):
    """A free core that carries ``ligands`` straight radial chains of spheres on spherical joints, in front of receptors
    in a fixed plane.

    The chains leave the core in a ring at ``ring_angle`` from the x axis, along which the core approaches the plane.
    Each sphere turns about the point where it touches its predecessor; its site is at its centre. Bodies are named
    ``core`` and, for chain k, the name of the sphere followed by k: ``A1`` to ``A8``. The groups of the sites are
    ``ligand`` and ``receptor``. The kind of a sphere's site is the sphere's name, and the kind of a receptor's site is
    ``receptor``.
    """

    builder: Literal["conjugated-nanoparticle"] = "conjugated-nanoparticle"
    core: Sphere
    """The nanoparticle."""
    spheres: dict[str, Sphere]
    """Kinds of spheres in a chain, by name."""
    chain: tuple[str, ...]
    """Names of the spheres of a chain, from the core outwards."""
    ligands: Annotated[Whole, Field(ge=1)] = 8
    """Number of chains."""
    ring_angle: Annotated[Quantity, Dimension("angle")] = "30 deg"
    """Angle between the x axis and a chain [rad]."""
    gap: Annotated[Quantity, Dimension("length", minimum=0, exclusive=True)]
    """Initial distance from the surfaces of the outermost spheres to the receptors' plane, along x [length]."""
    receptors: Annotated[Whole, Field(ge=1)] = 20
    """Number of receptors."""
    receptor_layout: Literal["ring", "grid"] = "ring"
    """Layout of the receptors: evenly on a circle about the x axis, or on the points of a square grid nearest to that
    axis."""
    receptor_ring_radius: Annotated[Quantity | None, Dimension("length", minimum=0, exclusive=True)] = None
    """Radius of the ring of receptors [length]; by default that of the circle through the tips of the chains."""
    receptor_spacing: Annotated[Quantity | None, Dimension("length", minimum=0, exclusive=True)] = None
    """Spacing of the grid [length]; by default the receptors fill the circle through the tips of the chains."""
    receptor_turn: Annotated[Quantity, Dimension("angle")] = 0.0
    """Angle by which the receptors are rotated about x relative to the chains [rad]."""

    @model_validator(mode="after")
    def _known_spheres(self) -> Self:
        if not self.chain:
            raise ValueError("chain needs at least one sphere")
        for name in self.chain:
            if name not in self.spheres:
                raise ValueError(f"chain names the sphere '{name}', which spheres does not define")
        if len(set(self.chain)) != len(self.chain):
            twice = next(name for k, name in enumerate(self.chain) if name in self.chain[:k])
            raise ValueError(f"chain names '{twice}' twice: name each sphere once; repeat its data under another name")
        return self

    def populate(self, builder: ModelBuilder) -> None:
        """Add the bodies and sites; quantities are in the builder's units."""
        check_size(self.ligands * len(self.chain), BODY, "spheres of chains", "model.ligands")
        check_size(self.receptors, SITE, "receptors", "model.receptors")
        builder.add_body("core", mass=self.core.mass, inertia=self.core.inertia, joint=Free())
        angle, radius = float(self.ring_angle), float(self.core.radius)
        for k in range(self.ligands):
            # The rotation by ring_angle from the x axis to the direction of the chain.
            around = 2.0 * math.pi * k / self.ligands
            half = 0.5 * angle
            rotation: tuple[float, ...] = (
                math.cos(half),
                0.0,
                -math.sin(half) * math.sin(around),
                math.sin(half) * math.cos(around),
            )
            direction = (math.cos(angle), math.sin(angle) * math.cos(around), math.sin(angle) * math.sin(around))
            position = tuple(radius * d for d in direction)
            parent = "core"
            for name in self.chain:
                sphere = self.spheres[name]
                reach = float(sphere.radius)
                parent_name, parent = parent, f"{name}{k + 1}"
                builder.add_body(
                    parent,
                    parent=parent_name,
                    mass=sphere.mass,
                    inertia=sphere.inertia,
                    com=(reach, 0.0, 0.0),
                    joint=Spherical(),
                    position=position,
                    rotation=rotation,
                )
                builder.add_site(parent, (reach, 0.0, 0.0), kind=name, group="ligand")
                position, rotation = (2.0 * reach, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0)
        for y, z in self._receptor_points():
            builder.add_site(None, (self.plane, y, z), kind="receptor", group="receptor")

    @property
    def tip(self) -> float:
        """Distance from the centre of the core to the end of a chain [length]."""
        return float(self.core.radius) + 2.0 * sum(float(self.spheres[name].radius) for name in self.chain)

    @property
    def plane(self) -> float:
        """Position of the receptors' plane on the x axis; the core starts at the origin [length]."""
        return self.tip * math.cos(float(self.ring_angle)) + float(self.gap)

    def _receptor_points(self) -> np.ndarray:
        around = self.tip * abs(math.sin(float(self.ring_angle)))
        turn, n = float(self.receptor_turn), self.receptors
        if self.receptor_layout == "ring":
            ring = around if self.receptor_ring_radius is None else float(self.receptor_ring_radius)
            angles = turn + 2.0 * math.pi * np.arange(n) / n
            return ring * np.stack([np.cos(angles), np.sin(angles)], axis=1)
        spacing = around * math.sqrt(math.pi / n) if self.receptor_spacing is None else float(self.receptor_spacing)
        most = math.ceil(math.sqrt(n / math.pi)) + 2  # a disc of this radius contains n points
        side = np.arange(-most, most + 1)
        y, z = np.meshgrid(side, side)
        points = np.stack([y.ravel(), z.ravel()], axis=1)
        nearest = np.lexsort((points[:, 1], points[:, 0], (points**2).sum(axis=1)))[:n]
        c, s = math.cos(turn), math.sin(turn)
        return spacing * points[nearest] @ np.array([[c, s], [-s, c]])
