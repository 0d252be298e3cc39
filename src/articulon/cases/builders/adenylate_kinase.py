"""Adenylate kinase as an elastic network of its alpha carbons in the open form, with springs that close it."""

from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np

from articulon.building import ModelBuilder
from articulon.cases.builders.builder_base import BaseBuilder
from articulon.declaration import Dimension, Quantity
from articulon.forces import HarmonicBonds
from articulon.model import Free
from articulon.model.joints.spherical import Spherical

TABLE = Path(__file__).with_name("adenylate_kinase.csv")
NMP, LID = range(30, 60), range(122, 160)
"""Residues of the AMP-binding domain and of the lid; all others are the core."""
HINGE = 4
"""Number of hinge residues at each end of a domain other than the core."""
SEAMS = {60: 29, 160: 121}
"""Core residues whose predecessor in the sequence belongs to another domain, and the core residue that carries each."""
PULLED = 0.3
"""Minimum decrease of distance from the open to the closed form for which two residues attract each other [nm]."""


class AdenylateKinase(BaseBuilder):
    """The 214 residues of adenylate kinase of *Escherichia coli*, each a rigid ball at its alpha carbon.

    Each residue is carried by its predecessor on a spherical joint midway between the two. The core is one connected
    part of the tree, so that it can be merged into one body. For this purpose residues 60 and 160 are carried by
    residues 29 and 121,
    and springs of the network hold the ends of the other domains. Bodies are named by domain, residue and number:
    ``core:MET1``, ``nmp:``, ``lid:``, and ``nmp-hinge:`` and ``lid-hinge:`` for the four residues at both ends of each
    domain.
    """

    builder: Literal["adenylate-kinase"] = "adenylate-kinase"
    mass: Annotated[Quantity, Dimension("mass", minimum=0, exclusive=True)] = 110.0
    """Mass of a residue [mass]."""
    radius: Annotated[Quantity, Dimension("length", minimum=0, exclusive=True)] = 0.3
    """Radius of the ball that determines the inertia of a residue [length]."""
    cutoff: Annotated[Quantity, Dimension("length", minimum=0, exclusive=True)] = 1.0
    """Distance in the open form below which two residues are connected by a spring [length]."""
    stiffness: Annotated[Quantity, Dimension("stiffness", minimum=0)] = 400.0
    """Stiffness k of the springs of the network, which have their rest lengths in the open form [energy/length²]."""
    closing: Annotated[Quantity, Dimension("stiffness", minimum=0)] = 10.0
    """Stiffness k of the springs between residues of different domains that touch in the closed form [energy/length²].
    These springs have their rest lengths in the closed form."""

    def populate(self, builder: ModelBuilder) -> None:
        """Add the residues and the network; quantities are in the builder's units, lengths in nm."""
        names, is_open, closed = residues()
        mass, inertia = float(self.mass), 0.4 * float(self.mass) * float(self.radius) ** 2
        for k, name in enumerate(names):
            above = SEAMS.get(k + 1, k) - 1
            common: dict[str, Any] = {"mass": mass, "inertia": inertia * np.eye(3)}
            if above < 0:
                builder.add_body(name, joint=Free(), q=(*is_open[k], 1, 0, 0, 0), **common)
            else:
                # The frame of a body is at its joint, half-way between the alpha carbons of its predecessor and itself.
                half = _arm(is_open, k)
                place = _arm(is_open, above) + half
                builder.add_body(name, parent=names[above], joint=Spherical(), position=place, com=half, **common)
            builder.add_site(name, _arm(is_open, k), kind="alpha-carbon")
        self._add_network(builder, is_open, closed)

    def _add_network(self, builder: ModelBuilder, is_open: np.ndarray, closed: np.ndarray) -> None:
        near, then = _distances(is_open), _distances(closed)
        first, second = np.triu_indices(len(is_open), 1)
        joined = near[first, second] < float(self.cutoff)
        of = np.array([_domain(k + 1) for k in range(len(is_open))])
        touching = (of[first] != of[second]) & (then[first, second] < float(self.cutoff))
        pulled = touching & ~joined & (near[first, second] - then[first, second] > PULLED)
        for chosen, lengths, k in ((joined, near, self.stiffness), (pulled, then, self.closing)):
            pairs = np.stack([first[chosen], second[chosen]], axis=1)
            builder.add_force(
                HarmonicBonds(
                    bonds=tuple(map(tuple, pairs.tolist())),
                    stiffness=float(k),
                    length=tuple(lengths[first[chosen], second[chosen]].tolist()),
                )
            )


def residues() -> tuple[list[str], np.ndarray, np.ndarray]:
    """Names of the bodies, and positions of the alpha carbons in the open and closed form [nm], shape (residues, 3)."""
    lines = TABLE.read_text(encoding="utf-8").splitlines()[2:]
    rows = [line.split(",") for line in lines]
    names = [f"{_part(int(row[1]))}:{row[0]}{row[1]}" for row in rows]
    places = 0.1 * np.array([[float(x) for x in row[2:]] for row in rows])
    return names, places[:, :3], places[:, 3:]


def _arm(places: np.ndarray, k: int) -> np.ndarray:
    """Vector from the origin of the frame of residue k to its alpha carbon."""
    above = SEAMS.get(k + 1, k) - 1
    return np.zeros(3) if above < 0 else 0.5 * (places[k] - places[above])


def _domain(number: int) -> int:
    return 1 if number in NMP else 2 if number in LID else 0


def _part(number: int) -> str:
    for name, domain in (("nmp", NMP), ("lid", LID)):
        if number in domain:
            inner = domain[HINGE] <= number <= domain[-1 - HINGE]
            return name if inner else f"{name}-hinge"
    return "core"


def _distances(places: np.ndarray) -> np.ndarray:
    return np.linalg.norm(places[:, None] - places[None], axis=2)
