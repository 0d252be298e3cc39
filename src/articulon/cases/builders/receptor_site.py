"""A receptor protein with a few side chains as its active site, and a drug particle in front (Guy 2018, chapter 2)."""

import math
from typing import Annotated, ClassVar, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from articulon.building import ModelBuilder
from articulon.cases.builders.builder_base import BaseBuilder
from articulon.cases.builders.receptor_structure import Backbone, backbones_of
from articulon.cases.builders.side_chains import BACKBONE, FORMAL_CHARGES, ROTAMERS, Link, links, place
from articulon.declaration import Declaration, Dimension, Quantity
from articulon.errors import ModelError
from articulon.model import Revolute, Xyz

ONE_LETTER = {"L": "LEU", "F": "PHE", "R": "ARG", "K": "LYS"}


class Ball(Declaration):
    """A spherical body."""

    mass: Annotated[Quantity, Dimension("mass", minimum=0, exclusive=True)]
    """Mass of the sphere [mass]."""
    radius: Annotated[Quantity, Dimension("length", minimum=0, exclusive=True)]
    """Radius of the sphere [length]."""


class Particle(Ball):
    """The drug particle."""

    charge: Annotated[Quantity, Dimension("charge")] = 0.0
    """Charge at its centre [charge]."""
    distance: Annotated[Quantity, Dimension("length", minimum=0, exclusive=True)]
    """Initial distance along x from its surface to the outermost atom of the side chains [length]."""


class ReceptorSite(BaseBuilder):
    """A bulk protein that rotates about a fixed axis, the side chains of its active site, and a drug particle.

    The bulk is a sphere. It rotates about the z axis through the origin, where it touches the ground; its centre is on
    the x axis at a distance of its radius. The side chains are on its far side, with their alpha carbons evenly on a
    circle about the x axis and their beta carbons pointing outwards. Each side chain is divided into rigid links at its
    single bonds, about which the links rotate: link ``L57-CG`` rotates about the bond from CB to CG. Bond lengths and
    angles are standard; torsions are those of a frequent rotamer, at which joint angles are zero. The particle
    translates but does not rotate.

    The sites are the atoms (group ``receptor``), the centre of the particle (``drug``) and the centre of the bulk
    (``bulk``). The bulk carries the sites of the alpha carbons. The kind of a site is its element, ``drug`` or
    ``bulk``. The charge of arginine and lysine is distributed evenly over the atoms of their last link.
    """

    error_class: ClassVar = ModelError

    builder: Literal["receptor-site"] = "receptor-site"
    bulk: Ball
    """Protein without these side chains."""
    drug: Particle
    """Drug particle."""
    residues: Annotated[tuple[str, ...], Field(min_length=1)]
    """Residues: one-letter names of leucine, arginine, phenylalanine or lysine with their numbers, as ``L57``."""
    masses: Annotated[dict[str, Quantity], Dimension("mass", minimum=0, exclusive=True)]
    """Masses of the elements H, C and N [mass]."""
    site_radius: Annotated[Quantity, Dimension("length", minimum=0, exclusive=True)]
    """Radius of the circle of the alpha carbons [length]."""
    structure: str | None = None
    """PDB or mmCIF file from which backbones and torsions are taken instead of standard ones, such as PDB entry 3CSY.
    The centre of the alpha carbons of the chain is then at the centre of the bulk, and the centre of the alpha carbons
    of the site lies beyond it along x."""
    chain: str = "A"
    """Chain in the file ``structure``."""

    @model_validator(mode="after")
    def _known(self) -> Self:
        for name in self.residues:
            if name[:1] not in ONE_LETTER or not name[1:].isdigit():
                known = ", ".join(ONE_LETTER)
                raise ValueError(f"residues: expected one of {known} and a number, as L57, got {name!r}")
        if len(set(self.residues)) != len(self.residues):
            raise ValueError("residues: a residue is named twice")
        for element in "HCN":
            if element not in self.masses:
                raise ValueError(f"masses: the mass of {element} is missing")
        return self

    def populate(self, builder: ModelBuilder) -> None:
        """Add the bodies and sites; quantities are in the builder's units."""
        nm = builder.units.value("1 nm", "length", "model")
        radius, mass = float(self.bulk.radius), float(self.bulk.mass)
        builder.add_body(
            "bulk", mass=mass, inertia=0.4 * mass * radius**2, com=(radius, 0.0, 0.0), joint=Revolute(axis=(0, 0, 1))
        )
        builder.add_site("bulk", (radius, 0.0, 0.0), kind="bulk", group="bulk")
        outermost = 0.0
        for name, backbone in zip(self.residues, self._backbones(nm), strict=True):
            builder.add_site("bulk", nm * backbone.atoms["CA"], kind="C", group="receptor")
            atoms = place(backbone.residue, backbone.atoms, backbone.torsions)
            outermost = max(outermost, *(float(nm * x[0]) for x in atoms.values()))
            self._add_side_chain(builder, name, backbone, {atom: nm * x for atom, x in atoms.items()}, nm)
        start = outermost + float(self.drug.distance) + float(self.drug.radius)
        builder.add_body("drug", mass=self.drug.mass, joint=Xyz(), q=(start, 0.0, 0.0))
        builder.add_site("drug", kind="drug", group="drug", charge=self.drug.charge)

    def _backbones(self, nm: float) -> list[Backbone]:
        """Return the backbones of the structure. Without a structure, alpha carbons are on a circle at the surface of
        the bulk, with beta carbons along the surface normal."""
        radius, around = float(self.bulk.radius) / nm, float(self.site_radius) / nm
        if self.structure is not None:
            residues = [(ONE_LETTER[name[0]], int(name[1:])) for name in self.residues]
            return backbones_of(self.structure, self.chain, residues, radius)
        if around >= radius:
            raise ModelError("model.site_radius: must be smaller than the radius of the bulk")
        beta = place("LEU", BACKBONE, (0.0, 0.0))["CB"]
        # Columns: the axes of the backbone frame, with x towards its beta carbon.
        x = beta / np.linalg.norm(beta)
        y = np.cross(BACKBONE["C"], x)
        y /= np.linalg.norm(y)
        local = np.stack([x, y, np.cross(x, y)], axis=1)
        found = []
        for k, name in enumerate(self.residues):
            turn = 2.0 * math.pi * k / len(self.residues)
            across = np.array([0.0, math.cos(turn), math.sin(turn)])
            normal = (math.sqrt(radius**2 - around**2) * np.array([1.0, 0.0, 0.0]) + around * across) / radius
            aside = np.cross(normal, np.cross(np.array([1.0, 0.0, 0.0]), across))
            frame = np.stack([normal, aside, np.cross(normal, aside)], axis=1) @ local.T
            alpha = np.array([radius, 0.0, 0.0]) + radius * normal
            residue = ONE_LETTER[name[0]]
            atoms = {atom: alpha + frame @ position for atom, position in BACKBONE.items()}
            found.append(Backbone(residue, atoms, tuple(math.radians(chi) for chi in ROTAMERS[residue])))
        return found

    def _add_side_chain(
        self, builder: ModelBuilder, name: str, backbone: Backbone, atoms: dict[str, np.ndarray], nm: float
    ) -> None:
        """Add the links of one side chain; all frames are parallel to the world frame at the start."""
        alpha = nm * backbone.atoms["CA"]
        charged, charge = FORMAL_CHARGES.get(backbone.residue, ("", 0.0))
        unit = builder.units.value("1 e", "charge", "model")
        origins = {"": np.zeros(3)}
        for link in links(backbone.residue):
            origins[link.name] = origin = atoms.get(link.start, alpha)
            axis = atoms[link.name] - origin
            local = np.array([atoms[atom] - origin for atom in link.atoms])
            mass, com, inertia = self._rigid(link, local)
            body = f"{name}-{link.name}"
            builder.add_body(
                body,
                parent=f"{name}-{link.parent}" if link.parent else "bulk",
                mass=mass,
                com=com,
                inertia=inertia,
                joint=Revolute(axis=tuple((axis / np.linalg.norm(axis)).tolist())),
                position=origin - origins[link.parent],
            )
            share = charge * unit / len(link.atoms) if link.name == charged else 0.0
            for atom, position in zip(link.atoms, local, strict=True):
                builder.add_site(body, position, kind=atom[0], group="receptor", charge=share)

    def _rigid(self, link: Link, local: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        """Mass, centre of mass and inertia about it of the atoms of a link at local positions."""
        masses = np.array([float(self.masses[atom[0]]) for atom in link.atoms])
        com = masses @ local / masses.sum()
        d = local - com
        inertia = np.einsum("k,kij->ij", masses, (d**2).sum(axis=1)[:, None, None] * np.eye(3)) - (d.T * masses) @ d
        return float(masses.sum()), com, inertia
