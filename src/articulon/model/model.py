"""The model, which does not change once it is built."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from articulon.model.atoms import Atoms
from articulon.model.box import Box
from articulon.model.forest_tables import Forest, KernelTables, Loops, Motions
from articulon.model.freezing import Frozen, read_only
from articulon.model.joints import BY_KIND, Joint
from articulon.model.loop_declarations import Drive, LoopJoint
from articulon.model.modes import ModeShapes
from articulon.model.polymer_chains import PolymerChains
from articulon.model.shapes import Shape
from articulon.model.state import State, initial_state
from articulon.notebook_table import counted, table_of_words
from articulon.units import UnitSystem


class Sites(NamedTuple):
    """Points fixed on bodies, or on the ground, where pair forces act."""

    body: np.ndarray
    """Body, −1 for the ground, shape (sites,)."""
    position: np.ndarray
    """Position in the body's frame [length], shape (sites, 3)."""
    charge: np.ndarray
    """Charge of each site [charge], shape (sites,)."""
    kind: np.ndarray
    """Index into ``kinds``, shape (sites,)."""
    group: np.ndarray
    """Index into ``groups``, shape (sites,)."""
    radius: np.ndarray
    """Radius of a contact sphere, 0 for a point without contacts [length], shape (sites,)."""
    kinds: tuple[str, ...]
    """Names of the kinds, which select the force law."""
    groups: tuple[str, ...]
    """Names of the groups, which select the pairs."""


class Closing(NamedTuple):
    """Errors of the loop constraints in the state that the user gave."""

    residual: float
    """Largest of ``loop_residuals``."""
    rate: float
    """Largest rate of change of ``loop_residuals`` [1/time]."""
    rank: int
    """Number of independent constraint rows in the initial state."""


OPEN = Closing(0.0, 0.0, 0)
"""Value for a model without loop constraints."""


@dataclass(frozen=True, eq=False)
class Model(Frozen):
    """A simulated system, built by :class:`ModelBuilder`; its arrays, and those of its copies, are read-only.

    Bodies are in the order in which they were added; ``forest`` has the solver's links, in which welded bodies are
    merged and trees are contiguous.
    """

    units: UnitSystem
    """System of units of all numbers in the model."""
    names: tuple[str, ...]
    """Names of the bodies."""
    parents: np.ndarray
    """Parent body, −1 for the ground, shape (bodies,)."""
    kinds: np.ndarray
    """Joint kind of each body, shape (bodies,)."""
    masses: np.ndarray
    """Mass of each body [mass], shape (bodies,)."""
    centres: np.ndarray
    """Centre of mass in the body's frame [length], shape (bodies, 3)."""
    inertias: np.ndarray
    """Inertia about the centre of mass, body frame, (xx, xy, xz, yy, yz, zz) [mass length²], shape (bodies, 6)."""
    link: np.ndarray
    """Link that carries each body, −1 if it is welded to the ground, shape (bodies,)."""
    offset_position: np.ndarray
    """Origin of the body in its link's frame [length], shape (bodies, 3)."""
    offset_rotation: np.ndarray
    """Body's frame to its link's frame, Euler parameters, shape (bodies, 4)."""
    head: np.ndarray
    """Bodies whose joints move the links, one for each link, shape (links,)."""
    _tables: KernelTables
    """Tables of links, loop constraints and motions. The attributes ``forest``, ``loops`` and ``motions`` are read-only
    views of them; see :func:`kernel_tables`."""
    q0: np.ndarray
    """Initial coordinates, shape (nq,)."""
    u0: np.ndarray
    """Initial speeds, shape (nu,)."""
    sites: Sites
    """The sites."""
    forces: tuple[Any, ...]
    """Declared forces, with quantities in the model's units."""
    loop_joints: tuple[LoopJoint, ...]
    """Joints that close loops."""
    drives: tuple[Drive, ...]
    """Coordinates that follow prescribed motions."""
    motion_functions: tuple[Callable[..., Any], ...]
    """Functions of the motions that are not given by a table."""
    joints: tuple[Joint, ...]
    """The joint of each body."""
    box: Box | None = None
    """Periodic or bounded box; None for unbounded space."""
    modes: Mapping[int, ModeShapes] = field(default_factory=dict)
    """Modes of the flexible bodies, by body; modal coordinates and speeds follow those of the body's joint."""
    node_sites: Mapping[int, int] = field(default_factory=dict)
    """Links of the nodes of flexible bodies that carry sites, by site."""
    closing: Closing = OPEN
    """Errors of the loop constraints when the model was built."""
    atoms: Atoms | None = None
    """Sites that are atoms, with their names; None if there are no molecules."""
    chains: PolymerChains | None = None
    """Sites that are the beads of polymer chains; None if there are none."""
    shapes: tuple[tuple[Shape, ...], ...] = ()
    """Shapes of each body, with quantities in the model's units; one tuple for each body."""
    armature: np.ndarray | None = None
    """Armature of each speed: inertia that belongs to no body, such as a motor's, and is added to the diagonal of the
    mass matrix [mass length² for rotations, mass for translations], shape (nu,); None if there is none."""
    joint_names: tuple[str, ...] = ()
    """Name of each body's joint; the name of the body by default."""
    inferred: tuple[str, ...] = ()
    """Assumptions, and omitted parts of the source file, one line each."""

    def __repr__(self) -> str:
        words = self._words()
        counts = ", ".join(text for name, text in words.items() if text and name not in ("forces", "units"))
        return f"Model({counts or 'no bodies'}; {words['forces']}; {words['units']})"

    def _repr_html_(self) -> str:
        """HTML representation in a notebook."""
        return table_of_words("Model", self._words())

    def _words(self) -> dict[str, str]:
        """Numbers of bodies, forces and so on, in words."""
        kinds = dict.fromkeys(str(getattr(force, "kind", force)) for force in self.forces)
        return {
            "bodies": counted(self.bodies, "body", "bodies"),
            "speeds": counted(self.nu, "speed", "speeds"),
            "sites": counted(self.sites.body.size, "site", "sites"),
            "loops": counted(len(self.loop_joints), "loop", "loops"),
            "flexible bodies": counted(len(self.modes), "flexible body", "flexible bodies"),
            "forces": ", ".join(kinds) or "no forces",
            "units": self.units.name,
        }

    @cached_property
    def forest(self) -> Forest:
        """Tables of links, for the solver."""
        return read_only(self._tables.forest)

    @cached_property
    def loops(self) -> Loops:
        """Constraint rows of the loop joints and drives."""
        return read_only(self._tables.loops)

    @cached_property
    def motions(self) -> Motions:
        """Prescribed motions."""
        return read_only(self._tables.motions)

    @property
    def nq(self) -> int:
        """Number of coordinates."""
        return self.q0.size

    @property
    def nu(self) -> int:
        """Number of speeds."""
        return self.u0.size

    @property
    def degrees_of_freedom(self) -> int:
        """Number of speeds that loop constraints and drives leave free in the initial state."""
        return self.nu - self.closing.rank

    @property
    def bodies(self) -> int:
        """Number of bodies."""
        return len(self.names)

    @property
    def trees(self) -> int:
        """Number of kinematic trees."""
        return self.forest.tree.size - 1

    @cached_property
    def euler_parameters(self) -> tuple[np.ndarray, np.ndarray]:
        """First coordinate of each set of Euler parameters, and the link that it rotates, shape (sets,) each."""
        found = [
            (int(start) + at, link)
            for link, (kind, start) in enumerate(zip(self.forest.kind.tolist(), self.forest.q_start, strict=True))
            if (at := BY_KIND[kind].quaternion) is not None
        ]
        starts, links = zip(*found, strict=True) if found else ((), ())
        return read_only(np.array(starts, dtype=np.int64)), read_only(np.array(links, dtype=np.int64))

    @cached_property
    def site_links(self) -> np.ndarray:
        """Link that carries each site, −1 for the ground, shape (sites,); a site on a node is carried by the node's
        link."""
        body = self.sites.body
        result = np.where(body < 0, -1, self.link[body]) if body.size else np.zeros(0, dtype=np.int64)
        result[list(self.node_sites)] = list(self.node_sites.values())
        return read_only(result)

    @cached_property
    def sites_on_nodes(self) -> np.ndarray:
        """Whether each site is on a node of a flexible body, shape (sites,)."""
        result = np.zeros(self.sites.body.size, dtype=bool)
        result[list(self.node_sites)] = True
        return read_only(result)

    @cached_property
    def jointed(self) -> np.ndarray:
        """Link to which each link's joint is attached, shape (links,); for a joint on a node, the node's flexible
        body."""
        parent, tables = self.forest.parent, self.forest.flexible
        if tables is None:
            return parent
        on_node = (parent >= 0) & (tables.node[parent] >= 0)
        return read_only(np.where(on_node, parent[parent], parent))

    @cached_property
    def _index(self) -> dict[str, int]:
        return {name: k for k, name in enumerate(self.names)}

    def body(self, name: str) -> int:
        """Index of the body with this name; raises KeyError if there is none.

        Parameters
        ----------
        name
            Name of a body.
        """
        return self._index[name]

    def loop_name(self, row: int) -> str:
        """Name of the loop or drive that a row belongs to: "loop 'name'" or "drive 'name'".

        Parameters
        ----------
        row
            Number of the row.
        """
        k, n = int(self.loops.loop[row]), len(self.loop_joints)
        return f"loop '{self.loop_joints[k].name}'" if k < n else f"drive '{self.drives[k - n].name}'"

    def joint_name(self, body: int) -> str:
        """Name of the kind of joint that carries a body.

        Parameters
        ----------
        body
            Index of the body.
        """
        return joint_type(int(self.kinds[body])).__name__.lower()

    @cached_property
    def tree_of_link(self) -> np.ndarray:
        """Tree of each link, shape (links,)."""
        return read_only(np.repeat(np.arange(self.trees), np.diff(self.forest.tree)))

    def initial_state(
        self,
        history: int = 0,
        bath: int = 0,
        listed: int = 0,
        memory: int = 0,
        spheres: int = 0,
        contact_columns: int = 0,
        edges: np.ndarray | None = None,
    ) -> State:
        """The state at time zero; the sizes of its arrays are those of :func:`articulon.model.state.initial_state`.

        Parameters
        ----------
        history
            Size of ``State.rule.history``, given by the integrator.
        bath
            Number of the thermostat's variables.
        listed
            Number of sites whose neighbours are listed.
        memory
            Size of ``State.memory``, given by the integrator.
        spheres
            Number of spheres with contacts.
        contact_columns
            Number of values stored per contact.
        edges
            Edges of a box that changes [length], shape (3, 3).
        """
        return initial_state(self.q0, self.u0, history, bath, listed, memory, spheres, contact_columns, edges)


def kernel_tables(model: Model) -> KernelTables:
    """Return forest, loops and motions of a model in the form that kernels take.

    They are the arrays of the model itself, which must not be changed. They are not read-only arrays because the
    compiler treats read-only arrays as a different type and would compile every kernel a second time.
    """
    return model._tables


def joint_type(kind: int) -> type[Joint]:
    """Joint class with the given code of its kind."""
    return BY_KIND[kind]
