"""The model builder: it adds bodies one by one or many at once, and rejects invalid input immediately."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from articulon.building.closing import closed
from articulon.building.constraints import ConstraintBuilder
from articulon.building.flexible_bodies import with_modes, with_nodes
from articulon.building.grain_bodies import GrainBuilder
from articulon.building.handles import IDENTITY, ORIGIN, Body
from articulon.building.many_bodies import columns_of_many
from articulon.building.reach import check_reach
from articulon.building.shaped_bodies import armatures, by_density, resolved_shapes
from articulon.declaration import Declaration
from articulon.errors import ModelError
from articulon.inputs import one_word, shown
from articulon.model import body_checks
from articulon.model.assemble import assemble_forest
from articulon.model.atoms import joined_atoms
from articulon.model.box import Box
from articulon.model.joints import Joint
from articulon.model.model import Model
from articulon.model.modes import Modes
from articulon.model.polymer_chains import joined_chains
from articulon.model.shapes import Shape
from articulon.notebook_table import counted, table_of_words
from articulon.units import UnitSystem, unit_system


class ModelBuilder(GrainBuilder, ConstraintBuilder):
    """Collects bodies, loops, sites and forces, and then builds an immutable model.

    Parameters
    ----------
    units
        Unit system of all plain numbers; strings such as ``"8 nm"`` have their own units.
    box
        Boundaries of space, an :class:`articulon.Box`; by default open space.

    Examples
    --------
    >>> import articulon as ar
    >>> builder = ar.ModelBuilder(units="kg-m-s")
    >>> arm = builder.add_body("arm", mass=1.0, inertia=0.1, com=(0, 0, -0.5), joint=ar.Revolute(axis=(0, 1, 0)))
    >>> builder.build().nu
    1
    """

    def __init__(self, units: str = "fg-um-us", box: Box | None = None) -> None:
        self.units: UnitSystem = unit_system(units)
        if not isinstance(box, Box | None):
            raise ModelError(f"box: expected an ar.Box, got {shown(box)}")
        self.box = None if box is None else box.resolved(self.units, "box")
        self._names: list[str] = []
        self._index: dict[str, int] = {}
        self._joints: list[Joint] = []
        self._columns: dict[str, list[np.ndarray]] = {
            name: []
            for name in ("parent", "mass", "com", "inertia", "position", "rotation", "q", "u", "given_q", "given_u")
        }
        self._forces: list[Any] = []
        self._shapes: dict[int, tuple[Shape, ...]] = {}
        self._joint_names: dict[int, str] = {}
        self._armatures: dict[int, np.ndarray] = {}
        self.any_inertia = False
        """Whether physically impossible inertias are accepted, because they occur in third-party files."""
        self.inferred: list[str] = []
        """Assumptions and omissions during construction, one line each, for ``Model.inferred``."""
        super().__init__()

    def __repr__(self) -> str:
        """One-line description of what has been collected."""
        return f"ModelBuilder({'; '.join(text for text in self._collected().values() if text)})"

    def _repr_html_(self) -> str:
        """HTML representation for notebooks."""
        return table_of_words("ModelBuilder", self._collected())

    def _collected(self) -> dict[str, str]:
        """Description of what has been added so far."""
        kinds = [str(getattr(force, "kind", type(force).__name__)) for force in self._forces]
        loops = len(self._loops) + len(self._drives)
        return {
            "bodies": counted(len(self._names), "body", "bodies") or "no bodies",
            "sites": counted(self._site_count, "site", "sites"),
            "loops and drives": counted(loops, "loop or drive", "loops and drives"),
            "forces": ", ".join(dict.fromkeys(kinds)) or "no forces",
            "units": self.units.name,
        }

    def add_body(
        self,
        name: str,
        *,
        joint: Joint,
        mass: Any = None,
        inertia: Any = None,
        parent: Body | str | None = None,
        com: Any = None,
        position: Any = ORIGIN,
        rotation: Any = IDENTITY,
        q: Any = None,
        u: Any = None,
        modes: Modes | None = None,
        node: int | None = None,
        shape: Shape | Sequence[Shape] | None = None,
        density: Any = None,
        joint_name: str | None = None,
        armature: Any = None,
    ) -> Body:
        """Add one body and the joint that connects it to its parent.

        Parameters
        ----------
        name
            Unique among the bodies.
        mass
            Mass [mass], positive. A flexible body has the masses of its nodes; a mass given here is an additional rigid
            part at handle 1, and is optional.
        joint
            ``Weld``, ``Revolute``, ``Prismatic``, ``Universal``, ``Swing``, ``Spherical``, ``Xyz`` or ``Free``.
        inertia
            Inertia about the centre of mass, body frame [mass length²]: a number, three principal moments, or a 3x3
            matrix; by default 0, for a point mass.
        parent
            A body already added, by handle or name; None is the ground.
        com
            Centre of mass in the body frame [length], shape (3,); by default its origin.
        position, rotation
            Joint frame in the parent's frame: origin [length], shape (3,), and Euler parameters scalar first, shape
            (4,). If ``node`` is given, they are in the frame of this node of the parent.
        q, u
            Initial coordinates and speeds of the joint, in the order of the joint; a number is accepted if there is
            only one. The values of the modes of a flexible body follow, and are zero if left out.
        modes
            An :class:`articulon.Modes` for a flexible body, whose frame is that of handle 1.
        node
            Node of the flexible parent that carries the joint and moves with the deformation; None is handle 1.
        shape
            Shape of the body: one of ``articulon.shapes``, or several. Shapes are only drawn.
        density
            Density of the shape [mass/length³], positive. ``mass``, ``inertia`` and ``com`` are computed from it if
            they are left out; overlapping shapes count twice. A density is rejected if there is no shape, if modes or a
            mass are given, and if ``com`` is given without ``inertia``.
        joint_name
            Name of the joint, if it differs from the name of the body.
        armature
            Inertia of the joint speeds that belongs to no body, such as the rotor of a motor behind a gear [mass
            length² for rotations, mass for translations]. It is one number, or one per speed, and is added to the
            diagonal of the mass matrix.

        Raises
        ------
        ModelError
            For impossible values; the message names the body.
        """
        where = f"body '{name}'"
        if not isinstance(name, str) or not name:
            raise ModelError(f"a body's name must be a non-empty string, got {shown(name)}")
        if name in self._index:
            raise ModelError(f"{where}: there is already a body of this name; a body has one joint to one parent")
        if not isinstance(joint, Joint):
            raise ModelError(f"{where}: joint must be a joint such as ar.Revolute(axis=(0, 0, 1)), got {shown(joint)}")
        k, carrier = len(self._names), self._resolve(parent, where, "parent")
        shapes = self._resolved_modes(modes, where)
        self._check_node(node, carrier, where, frame=True)
        more = 0 if shapes is None else shapes.stiffness.shape[0]
        start_q = with_modes(_row(joint.zero() if q is None else q, joint.nq), joint.nq, more)
        start_u = with_modes(_row((0.0,) * joint.nu if u is None else u, joint.nu), joint.nu, more)
        looks = resolved_shapes(shape, self.units, where)
        given = {"mass": mass, "inertia": inertia, "com": com}
        mass, inertia, com = by_density(looks, density, given, shapes is not None, self.units, where).values()
        if mass is None and shapes is None:
            raise ModelError(f"{where}: give it a mass, a shape with a density, or modes, whose nodes have masses")
        row = {
            "parent": np.array([carrier]),
            "mass": body_checks.array(0.0 if mass is None else mass, (), "mass", self.units, f"{where}, mass").reshape(
                1
            ),
            "com": body_checks.array(com, (3,), "length", self.units, f"{where}, com")[None],
            "inertia": body_checks.symmetric(inertia, self.units, f"{where}, inertia")[None],
            "position": body_checks.array(position, (3,), "length", self.units, f"{where}, position")[None],
            "rotation": body_checks.array(rotation, (4,), "dimensionless", self.units, f"{where}, rotation")[None],
            "q": body_checks.array(start_q, (joint.nq + more,), "dimensionless", self.units, f"{where}, q"),
            "u": body_checks.array(start_u, (joint.nu + more,), "dimensionless", self.units, f"{where}, u"),
            "given_q": np.full(joint.nu + more, q is not None),
            "given_u": np.full(joint.nu + more, u is not None),
        }
        if not self.any_inertia:
            body_checks.possible_inertias(row["inertia"], lambda _: where)
        if shapes is not None:
            row["mass"], row["com"], row["inertia"] = with_nodes(row["mass"], row["com"], row["inertia"], shapes)
            self._modes[k] = shapes
        if node is not None:
            self._seats[k] = int(node)
        body_checks.positive_masses(row["mass"], lambda _: where)
        row["rotation"] = body_checks.unit_quaternions(row["rotation"], lambda _: f"{where}, rotation")
        if joint.quaternion is not None:
            at = slice(joint.quaternion, joint.quaternion + 4)
            row["q"][at] = body_checks.unit_quaternions(row["q"][at][None], lambda _: f"{where}, q")[0]
        if looks:
            self._shapes[k] = looks
        if armature is not None:
            self._armatures[k] = armatures(armature, joint, self.units, where)
        if joint_name is not None:
            self._joint_names[k] = one_word(joint_name, f"{where}, joint_name")
        self._names.append(name)
        self._index[name] = k
        self._joints.append(joint)
        for column, value in row.items():
            self._columns[column].append(value)
        return Body(k, name, self)

    def add_bodies(
        self,
        count: int,
        *,
        mass: Any,
        joint: Joint | Sequence[Joint],
        inertia: Any = 0.0,
        parents: Any = None,
        com: Any = ORIGIN,
        position: Any = ORIGIN,
        rotation: Any = IDENTITY,
        q: Any = None,
        u: Any = None,
        names: str | Sequence[str] = "body",
    ) -> range:
        """Add many bodies at once. The arguments are those of :meth:`add_body`. Each holds one value for all bodies, or
        has a leading axis with one value for each body.

        Parameters
        ----------
        count
            Number of bodies.
        joint
            One joint for all, or one each.
        inertia
            A number, three principal moments or a matrix for all bodies, or an array with a leading axis of bodies. For
            three bodies, an ambiguous shape needs an axis of length one: (3, 1) is one number for each body, and (1, 3)
            is three moments for all.
        parents
            Index of the parent of each body in the model, or −1 for the ground, which is the default. A parent must
            come before its children.
        q, u
            Initial coordinates and speeds, concatenated in body order.
        names
            One name each, or a prefix: "link" gives "link-0", "link-1" and so on.
        mass
            One mass for all bodies, or one each [mass], shape () or (count,).
        com
            Centres of mass in the bodies' frames [length], shape (3,) or (count, 3).
        position
            Origins of the joint frames in the parents' frames [length], shape (3,) or (count, 3).
        rotation
            Orientations of the joint frames in the parents' frames, Euler parameters scalar first, shape (4,) or
            (count, 4).

        Returns
        -------
        range
            Indices of the new bodies.

        Raises
        ------
        ModelError
            For impossible values; the message names the first body concerned.
        """
        first = len(self._names)
        listed, joints, new = columns_of_many(
            count,
            first,
            self._index,
            joint=joint,
            names=names,
            parents=parents,
            q=q,
            u=u,
            mass=mass,
            inertia=inertia,
            com=com,
            position=position,
            rotation=rotation,
        )
        count = len(listed)
        self._index.update(zip(listed, range(first, first + count), strict=True))
        self._names.extend(listed)
        self._joints.extend(joints)
        for column, value in new.items():
            self._columns[column].append(value)
        return range(first, first + count)

    def add_force(self, force: Any) -> None:
        """Add a force; all forces act together.

        Parameters
        ----------
        force
            One of ``articulon.forces``, such as ``ar.forces.StokesDrag(viscosity=0.89, radius=0.2)``. Plain numbers are
            in the units of the builder; strings have their own units. Bodies, kinds and groups of sites that the force
            names may be added later; :meth:`build` looks them up.

        Raises
        ------
        ModelError
            For anything that is not a force, and for an invalid quantity.
        """
        if not (isinstance(force, Declaration) and (hasattr(force, "is_force") or hasattr(force, "site_terms"))):
            raise ModelError(f"add_force: expected a force of ar.forces, got {shown(force)}")
        self._forces.append(force.resolved(self.units, f"forces[{len(self._forces)}]"))

    def _armature(self) -> np.ndarray | None:
        """Return the armatures of all speeds (nu,); None if there are none."""
        if not any(one.any() for one in self._armatures.values()):
            return None
        if self._modes:
            body = self._names[next(iter(self._modes))]
            raise ModelError(
                f"body '{body}': is flexible, but armatures are supported only for joints of rigid bodies; leave the "
                "armatures out, or make it rigid"
            )
        sizes = [joint.nu for joint in self._joints]
        found = np.zeros(sum(sizes))
        for k, one in self._armatures.items():
            start = sum(sizes[:k])
            found[start : start + one.size] = one
        return found

    def build(self) -> Model:
        """Build the immutable model, with its loops closed.

        Initial coordinates and speeds that the user gave are kept if the loops allow it. Missing ones follow from them.
        If the given coordinates do not close the loops, all coordinates are moved to close them, and ``model.closing``
        tells by how much. Given speeds that violate the loops are rejected.

        Raises
        ------
        ModelError
            If there are no bodies, a joint has no inertia, a force names something that does not exist, or the loops
            cannot be closed.
        """
        if not self._names:
            raise ModelError("the model has no bodies; add one with add_body")
        columns = {name: np.concatenate(chunks) for name, chunks in self._columns.items()}
        given_q, given_u = columns.pop("given_q"), columns.pop("given_u")
        model = assemble_forest(
            self.units,
            tuple(self._names),
            self._joints,
            columns,
            self._site_table(),
            tuple(self._forces),
            tuple(self._loops),
            tuple(self._drives),
            self.box,
            self._flexibility(self._site_count),
            joined_atoms(self._atoms),
            joined_chains(self._chains),
            self._shapes,
            self._joint_names,
            self._armature(),
            tuple(self.inferred),
        )
        model = closed(model, given_q, given_u)
        check_reach(model)
        _refuse_twins(model.forces)
        for k, force in enumerate(model.forces):
            force.check(model, f"forces[{k}]")
        return model


def _row(value: Any, size: int) -> Any:
    """Convert a number for a joint with one degree of freedom to a sequence."""
    single = not isinstance(value, Sequence | np.ndarray) or isinstance(value, str)
    return (value,) if size == 1 and (single or (isinstance(value, np.ndarray) and not value.ndim)) else value


def _refuse_twins(forces: tuple[Declaration, ...]) -> None:
    """Raise ModelError if the same force is declared twice, because it would act twice."""
    for k, force in enumerate(forces):
        for j, other in enumerate(forces[:k]):
            if type(force) is type(other) and force == other:
                kind = getattr(force, "kind", type(force).__name__)
                raise ModelError(f"forces[{k}]: this {kind} force is already declared as forces[{j}]; leave one out")
