"""The three-dimensional scene of a model, as plain arrays: solids on bodies, springs, walls and the box."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from articulon.forces.gravity import Gravity
from articulon.forces.point_springs import GROUND as GROUND_NAME
from articulon.forces.point_springs import PointSpring
from articulon.forces.sites.bonds import FeneBonds, HarmonicBonds
from articulon.model import Model
from articulon.model.array_rotations import matrices
from articulon.model.joints import UNBOUND, WELD
from articulon.report.view import hydrodynamic_radii
from articulon.studio import colours
from articulon.studio.body_shapes import ROD, ROUND, site_radii, solid_edges
from articulon.studio.drawn_meshes import MeshSolids
from articulon.studio.shape_solids import ShapeSolids
from articulon.studio.solids import GROUND, Solids, Springs, along, on_bodies
from articulon.studio.traces import Trace, traces_of
from articulon.studio.walls import WallShape, wall_shapes

LIMB, JOINT, MARK, POINT = 0.022, 0.05, 0.04, 0.06
"""Radius of limbs, of joints, of sites that have no radius, and of bodies without inertia, relative to the link length.
Limbs are the rods from a body's centre of mass to its joints."""
FINE, NARROW = 0.7, 0.15
"""Two relative radii: of a site, relative to the median of the known radii of bodies; and of a limb, relative to the
radius of its body."""
BULKY, BULKY_BALL = 2.2, 0.5
"""Length of a solid, relative to the span of the body's joints and centre of mass, above which the solid would hide the
body's joints. The second number is for balls, which hide the limbs at smaller lengths."""
FEW = 12
"""Largest number of bodies that all get their own colour. With more bodies, colours follow the places in the trees."""
THICK = 0.06
"""Radius of limbs of bodies without a solid, relative to the link length."""
THIN, STOUT = 0.003, 0.12
"""Smallest radius of rods relative to the extent of the scene, so that rods are visible; and the upper limit of this
smallest radius, relative to the link length."""
STICK, ATOM = 0.18, 0.25
"""Radius of the stick that shows a bond, and radius of an atom, relative to the length of a bond."""


@dataclass(frozen=True, eq=False)
class Scene:
    """The drawn objects of a model. Lengths are in the model's units."""

    model: Model
    """The model."""
    balls: Solids
    """Ellipsoids, with their half axes as sizes."""
    rods: Solids
    """Cylinders, with radius, radius and length as sizes."""
    boxes: Solids
    """Boxes, with their edges as sizes."""
    springs: Springs
    """Springs between points, and bonds with a spring force."""
    walls: tuple[WallShape, ...]
    """Walls that spheres touch."""
    up: np.ndarray | None
    """Unit vector against gravity, shape (3,); None without gravity."""
    link: float
    """Typical length of a link [length]."""
    meshes: tuple[MeshSolids, ...] = ()
    """Meshes from files."""
    traces: tuple[Trace, ...] = ()
    """Lines along the nodes of flexible bodies, and along the backbones of molecules."""

    @property
    def wraps(self) -> bool:
        """Whether trees are wrapped into a periodic box. Each tree, such as a molecule, stays whole."""
        box = self.model.box
        return box is not None and bool(box.periodic.any())

    def spring_ends(self, edges: np.ndarray | None, positions: np.ndarray, rotations: np.ndarray) -> np.ndarray:
        """Return the ends of the springs [length], shape (springs, 2, 3). If a spring crosses a face of the box, both
        ends get the same point, so that the spring is not drawn.

        Parameters
        ----------
        edges
            Edges of the box, as rows [length], shape (3, 3); None without a box.
        positions, rotations
            Shown poses of the bodies, shapes (bodies, 3) and (bodies, 4).
        """
        ends = self.springs.placed(positions, rotations)
        if self.wraps and edges is not None:
            apart = np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1)
            across = apart > 0.5 * np.linalg.norm(edges, axis=1).min()
            ends[across, 1] = ends[across, 0]
        return ends


def scene_of(model: Model, positions: np.ndarray, rotations: np.ndarray) -> Scene:
    """Build the scene of a model.

    It contains the given shapes of bodies, lines from node to node of flexible bodies, spheres for bodies whose sites
    or drag have a radius, and sticks between atoms. All other bodies are drawn as the solid of their inertia, with
    limbs from joint to joint.

    Parameters
    ----------
    model
        The model.
    positions, rotations
        Poses of the bodies at one time, world frame, shapes (bodies, 3) and (bodies, 4). They determine the points at
        which the joints of children are fixed on their parents, and the ends of bonds.

    Raises
    ------
    ModelError
        For a mesh that does not exist or cannot be read; the message names the file and the body.
    """
    parts = _Parts(model, positions, rotations)
    parts.add_shapes()
    parts.add_site_balls()
    parts.add_atoms()
    parts.add_drag_balls()
    parts.add_inertia()
    parts.add_limbs()
    parts.add_joints()
    parts.add_marks()
    return Scene(
        model,
        Solids.of(parts.balls),
        Solids.of(parts.rods),
        Solids.of(parts.boxes),
        Springs.of([*parts.springs, *stretching_bonds(model)]),
        wall_shapes(model, positions),
        upwards(model),
        parts.link,
        parts.shapes.meshes(),
        traces_of(model, parts.colour, parts.link),
    )


def upwards(model: Model) -> np.ndarray | None:
    """Return the unit vector against gravity, shape (3,); None without gravity."""
    pull = sum(
        (np.array([float(g) for g in f.acceleration]) for f in model.forces if isinstance(f, Gravity)), np.zeros(3)
    )
    size = float(np.linalg.norm(pull))
    return np.asarray(-pull / size) if size > 0.0 else None


End = tuple[int, np.ndarray]
"""A body, −1 for the ground, and a point in its frame [length], shape (3,)."""


def point_springs(model: Model) -> list[tuple[End, End]]:
    """Return the ends of springs between points of bodies."""
    ends = []
    for force in model.forces:
        if isinstance(force, PointSpring):
            bodies = [GROUND if name == GROUND_NAME else model.body(name) for name in force.bodies]
            points = [np.array([float(x) for x in point]) for point in force.points]
            ends.append(((bodies[0], points[0]), (bodies[1], points[1])))
    return ends


def stretching_bonds(model: Model) -> list[tuple[End, End]]:
    """Return the ends of spring bonds between sites that are not atoms."""
    sites = model.sites
    if model.atoms is not None:
        return []
    bonds = [bond for force in model.forces if isinstance(force, HarmonicBonds | FeneBonds) for bond in force.bonds]
    return [((int(sites.body[a]), sites.position[a]), (int(sites.body[b]), sites.position[b])) for a, b in bonds]


def generations(model: Model) -> np.ndarray:
    """Return the number of joints between each body and the root of its tree, shape (bodies,)."""
    found = np.zeros(model.bodies, dtype=np.int64)
    for body in np.flatnonzero(model.parents >= 0).tolist():
        found[body] = found[model.parents[body]] + 1
    return found


class _Parts:
    """Collects the solids of a model."""

    def __init__(self, model: Model, positions: np.ndarray, rotations: np.ndarray) -> None:
        self.model, self.positions, self.rotations = model, positions, rotations
        self.balls: list[Solids] = []
        self.rods: list[Solids] = []
        self.boxes: list[Solids] = []
        self.springs = point_springs(model)
        self.radii = site_radii(model)
        self.drag = hydrodynamic_radii(model)
        self.colour = colours.cycled(np.arange(model.bodies) if model.bodies <= FEW else generations(model))
        self.link = self._link_length()
        extent = float(np.ptp(positions, axis=0).max()) if model.bodies else 0.0
        self.thinnest = min(THIN * extent, STOUT * self.link)
        self.shapes = ShapeSolids(model, self.colour)
        # Bodies with a shape from their sites, and bodies with a shape from their drag.
        self.carrying = np.zeros(model.bodies, dtype=bool)
        sites = model.sites
        self.carrying[sites.body[(sites.body >= 0) & (self.radii > 0.0)]] = True
        if model.atoms is not None:
            self.carrying[sites.body[model.atoms.site]] = True
        self.shaped = np.array([bool(several) for several in model.shapes], dtype=bool)
        # A body that is welded to a body with shapes is only a frame on this body, or has no shape on purpose.
        self.shaped |= (model.kinds == WELD) & np.isin(model.link, model.link[self.shaped])
        # Flexible bodies are drawn from node to node.
        self.shaped[list(model.modes)] = True
        self.sized = ~self.carrying & ~self.shaped & np.isfinite(self.drag)
        self.bare = np.zeros(model.bodies, dtype=bool)

    def _link_length(self) -> float:
        """Return the typical length of a link [length]. It is the median of the distances from joint to centre of mass,
        and from a parent's joint to its child's joint. If all are zero, it is the median of the known radii, or of the
        longest edges of the solids of inertia, or 1 if all bodies are points."""
        model = self.model
        child = np.flatnonzero(model.parents >= 0)
        spans = [
            np.linalg.norm(model.centres, axis=1),
            np.linalg.norm(self.positions[child] - self.positions[model.parents[child]], axis=1),
        ]
        for known in (np.concatenate(spans), self.drag, self.radii):
            some = known[np.isfinite(known) & (known > 0.0)]
            if some.size:
                return float(np.median(some))
        edges = [found[0][-1] for body in range(model.bodies) if (found := solid_edges(model, body)) is not None]
        return float(np.median(edges)) if edges else 1.0

    def add_shapes(self) -> None:
        """Add solids for the given shapes of bodies."""
        self.balls += self.shapes.balls
        self.rods += self.shapes.rods
        self.boxes += self.shapes.boxes

    def add_site_balls(self) -> None:
        """Add spheres for sites with a radius, coloured by kind, or by chain for polymers."""
        sites, chains = self.model.sites, self.model.chains
        own = np.flatnonzero(self.radii > 0.0)
        group = np.array(sites.kind)
        if chains is not None:
            group[chains.site] = np.repeat(np.arange(len(chains)), np.diff(chains.first))
        self.balls.append(Solids.at(sites.body[own], sites.position[own], self.radii[own], colours.cycled(group[own])))

    def add_atoms(self) -> None:
        """Add a ball for each atom, and half a stick for each end of a bond. The two halves may belong to different
        bodies, because one body can rotate about the bond."""
        atoms, sites = self.model.atoms, self.model.sites
        if atoms is None:
            return
        body, local = sites.body[atoms.site], sites.position[atoms.site]
        painted = colours.of_elements(atoms.elements)
        a, b = atoms.bonds.reshape(-1, 2).T
        places = on_bodies(self.positions, self.rotations, np.maximum(body, 0), local)
        places[body < 0] = local[body < 0]
        lengths = np.linalg.norm(places[a] - places[b], axis=1)
        typical = float(np.median(lengths)) if lengths.size else self.link
        bonded = np.isin(np.arange(len(atoms)), atoms.bonds)
        size = np.where(bonded, ATOM, 2.0 * ATOM) * typical
        self.balls.append(Solids.at(body, local, size, painted))
        for end, other in ((a, b), (b, a)):
            tips = self._in_frames(body[end], 0.5 * (places[end] + places[other]))
            self.rods.append(rods(body[end], local[end], tips, STICK * typical, painted[end]))

    def add_drag_balls(self) -> None:
        """Add spheres of the hydrodynamic radius about the centres of mass."""
        own = np.flatnonzero(self.sized)
        self.balls.append(Solids.at(own, self.model.centres[own], self.drag[own], self.colour[own]))

    def add_inertia(self) -> None:
        """Add solids for bodies of unknown shape: the solid of their inertia, or a small ball for a point mass."""
        model = self.model
        spans = np.linalg.norm(model.centres, axis=1)
        for body, start, end in self._limbs():
            points = np.stack([np.zeros(3), start, end])
            spans[body] = max(spans[body], np.linalg.norm(points[:, None] - points[None], axis=2).max())
        for body in np.flatnonzero(~self.carrying & ~self.sized & ~self.shaped).tolist():
            one, centre, colour = np.array([body]), model.centres[body], self.colour[body]
            found = solid_edges(model, body)
            if found is None or _misleading(found[0], float(spans[body])):
                self.bare[body] = True
                if model.masses[body] > 0.0:
                    self.balls.append(Solids.at(one, centre, np.array([POINT * self.link]), colour))
                continue
            edges, turn = found
            if edges[0] > ROUND * edges[-1]:
                # The ball with the same inertia: 2/5 r² = l²/6.
                self.balls.append(Solids.at(one, centre, edges[None] * np.sqrt(5.0 / 12.0), colour, turn[None]))
            elif edges[1] < ROD * edges[-1]:
                half = 0.5 * edges[-1] * matrices(turn)[:, 2]
                radius = max(0.25 * float(edges[0] + edges[1]), self.thinnest)
                self.rods.append(rods(one, (centre - half)[None], (centre + half)[None], radius, colour))
                ends = np.stack([centre - half, centre + half])
                self.balls.append(Solids.at(np.array([body, body]), ends, np.full(2, radius), colour))
            else:
                self.boxes.append(Solids.at(one, centre, edges[None], colour, turn[None]))

    def _limbs(self) -> list[tuple[int, np.ndarray, np.ndarray]]:
        """Return the limbs: for each, its body and two points in the body's frame [length]. Limbs go from a body's
        joint to its centre of mass, and from there to the joints of its children, to its loop joints and to its
        springs."""
        model = self.model
        ends: list[tuple[int, np.ndarray, np.ndarray]] = []
        hung = (model.parents >= 0) | ~np.isin(model.kinds, UNBOUND)
        for body in np.flatnonzero(hung).tolist():
            ends.append((body, np.zeros(3), model.centres[body]))
        for child in np.flatnonzero(model.parents >= 0).tolist():
            parent = int(model.parents[child])
            # A joint with a translation has no fixed place on its parent.
            if model.joints[child].translations == 0 and not (self.sized[parent] or self.carrying[parent]):
                place = self._in_frames(np.array([parent]), self.positions[[child]])[0]
                ends.append((parent, model.centres[parent], place))
        for loop in model.loop_joints:
            for body, place in ((loop.parent, loop.position), (loop.child, loop.child_position)):
                if body >= 0:
                    ends.append((body, model.centres[body], place))
        for spring in self.springs:
            ends += [(body, model.centres[body], point) for body, point in spring if body >= 0]
        return ends

    def add_limbs(self) -> None:
        """Add all limbs that are not of zero length, with round ends if their body has no solid."""
        ends = self._limbs()
        bare = ~self.carrying & ~self.shaped
        long = [end for end in ends if bare[end[0]] and np.linalg.norm(end[2] - end[1]) > 1e-9 * self.link]
        if long:
            body = np.array([end[0] for end in long])
            size = np.where(
                self.sized[body], NARROW * self.drag[body], np.where(self.bare[body], THICK, LIMB) * self.link
            )
            size = np.maximum(size, self.thinnest)
            start, tip = (np.array([end[k] for end in long]) for k in (1, 2))
            self.rods.append(rods(body, start, tip, size, self.colour[body]))
            round_ended = np.tile(self.bare[body], 2)
            self.balls.append(
                Solids.at(
                    np.tile(body, 2)[round_ended],
                    np.concatenate([start, tip])[round_ended],
                    np.tile(size, 2)[round_ended],
                    np.tile(self.colour[body], (2, 1))[round_ended],
                )
            )

    def add_joints(self) -> None:
        """Add a pin along the axis of each joint with one axis, and a ball for a joint that rotates in all
        directions."""
        model = self.model
        pins: list[tuple[int, np.ndarray, np.ndarray]] = []
        balls: list[tuple[int, np.ndarray]] = []
        upright = np.array([1.0, 0.0, 0.0, 0.0])
        fixed = [(body, model.joints[body], np.zeros(3), upright) for body in range(model.bodies)]
        fixed += [(loop.child, loop.joint, loop.child_position, loop.child_rotation) for loop in model.loop_joints]
        for body, joint, place, turn in fixed:
            if (body >= 0 and (self.sized[body] or self.carrying[body])) or joint.kind in UNBOUND:
                continue
            axis = np.asarray(joint.direction, dtype=float)
            if axis.any():
                pins.append((body, place, matrices(turn) @ axis))
            elif joint.nu:
                balls.append((body, place))
        size = JOINT * self.link
        if pins:
            carriers, places, axes = (np.array([pin[k] for pin in pins]) for k in (0, 1, 2))
            half = 2.0 * size * axes
            self.rods.append(rods(carriers, places - half, places + half, 0.6 * size, colours.JOINT))
        if balls:
            carriers, places = (np.array([ball[k] for ball in balls]) for k in (0, 1))
            self.balls.append(Solids.at(carriers, places, np.full(len(balls), size), colours.JOINT))

    def add_marks(self) -> None:
        """Add small balls for sites that have no radius and are not atoms, coloured by kind."""
        sites, atoms = self.model.sites, self.model.atoms
        own = self.radii == 0.0
        if atoms is not None:
            own[atoms.site] = False
        marked = np.flatnonzero(own)
        sizes = np.full(len(marked), MARK * self.link)
        known = self.drag[self.sized]
        if known.size:
            sizes[:] = FINE * float(np.median(known))
        painted = colours.cycled(sites.kind[marked], colours.SITES)
        self.balls.append(Solids.at(sites.body[marked], sites.position[marked], sizes, painted))

    def _in_frames(self, body: np.ndarray, places: np.ndarray) -> np.ndarray:
        """Convert positions in the world (n, 3) to the frames of bodies (n,); the result has the shape (n, 3)
        [length]."""
        moves = body >= 0
        local = np.array(places, dtype=float)
        turns = matrices(self.rotations[body[moves]])
        local[moves] = np.einsum("kji,kj->ki", turns, places[moves] - self.positions[body[moves]])
        return local


def _misleading(edges: np.ndarray, span: float) -> bool:
    """Whether a solid with these edges [length] (3,) would hide the joints of a body with this span [length]."""
    bulky = BULKY_BALL if edges[0] > ROUND * edges[-1] else BULKY
    return bool(span > 0.0 and edges[-1] > bulky * span)


def rods(
    body: np.ndarray, start: np.ndarray, end: np.ndarray, radius: float | np.ndarray, colour: np.ndarray
) -> Solids:
    """Return cylinders between pairs of ends in the frames of the bodies (n, 3); cylinders of zero length are left
    out."""
    lengths = np.linalg.norm(end - start, axis=1)
    some = lengths > 0.0
    radii = np.broadcast_to(radius, lengths.shape)[some]
    painted = np.broadcast_to(colour, (len(body), 3))[some]
    size = np.stack([radii, radii, lengths[some]], axis=1)
    return Solids.at(body[some], 0.5 * (start + end)[some], size, painted, along((end - start)[some]))
