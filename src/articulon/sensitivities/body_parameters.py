"""Masses, inertias and joint frames of bodies as parameters: functions that read their values, and that build the model
with other values.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from articulon.errors import CaseError, ModelError
from articulon.forces.selection import matching
from articulon.forces.stokes_drag import StokesDrag
from articulon.model import Model, kernel_tables
from articulon.model.array_rotations import exponentials, matrices, quaternion_product
from articulon.model.joints import WELD

FULL, HALF = [0, 1, 2, 1, 3, 4, 2, 4, 5], [0, 1, 2, 4, 5, 8]
"""Index among the six numbers of a symmetric matrix, for each of its nine entries; and index among the nine entries,
for each of the six numbers."""
FIELDS = ("mass", "com", "inertia", "position", "rotation")
"""Keys of a body's parameters: mass [mass]; centre of mass in the body's frame [length]; inertia about the centre of
mass, (xx, xy, xz, yy, yz, zz), in the body's frame [mass length²]; origin of the joint frame in the frame of the parent
[length]; rotation of the joint frame from its given orientation, as a rotation vector in the frame of the parent
[rad]."""


class Part(NamedTuple):
    """Contribution of a body to its link."""

    mass: float
    moment: np.ndarray
    inertia: np.ndarray


def body_parameter(model: Model, name: str, field: str, where: str) -> tuple[np.ndarray, Callable[[np.ndarray], Model]]:
    """Return the numbers of a body under a case key, and a function that builds the model with other numbers. A name
    that ends in ``*`` selects all bodies whose names have this beginning; their numbers must be equal. Raises CaseError
    for a body or key that does not exist, and for bodies whose numbers differ."""
    try:
        bodies = matching(model, name, where)
    except ModelError as error:
        raise CaseError(str(error)) from None
    if field not in FIELDS:
        raise CaseError(f"{where}: bodies have derivatives with respect to {', '.join(FIELDS)}, not '{field}'")
    if field in ("position", "rotation"):
        if len(bodies) > 1:
            raise CaseError(f"{where}: each of the bodies '{name}' has its own {field}; name one body")
        return (_place if field == "position" else _turn)(model, bodies[0], where)
    flexible = next((k for k in bodies if k in model.modes), None)
    if flexible is not None:
        raise CaseError(
            f"{where}: '{model.names[flexible]}' is flexible, and its {field} is that of its nodes and modes, for "
            "which derivatives are not implemented; name a rigid body"
        )
    if field == "mass" and any(isinstance(force, StokesDrag) and force.shared_by_mass for force in model.forces):
        raise CaseError(f"{where}: Stokes drag is divided by mass; give the drag of every body, or leave the mass out")
    of_all = {"mass": model.masses, "com": model.centres, "inertia": model.inertias}[field]
    other = next((k for k in bodies if not np.array_equal(of_all[k], of_all[bodies[0]])), None)
    if other is not None:
        first, second = model.names[bodies[0]], model.names[other]
        raise CaseError(f"{where}: '{first}' and '{second}' have different values; name one body")

    def changed(numbers: np.ndarray) -> Model:
        masses, centres, inertias = model.masses.copy(), model.centres.copy(), model.inertias.copy()
        {"mass": masses, "com": centres, "inertia": inertias}[field][bodies] = numbers
        made = replace(model, masses=masses, centres=centres, inertias=inertias)
        tables = kernel_tables(model)
        mass, moment, inertia = (
            one.copy() for one in (tables.forest.mass, tables.forest.moment, tables.forest.inertia)
        )
        for body in bodies:
            link = int(model.link[body])
            if link >= 0:
                before, after = _part(model, body), _part(made, body)
                mass[link] += after.mass - before.mass
                moment[link] += after.moment - before.moment
                inertia[link] += after.inertia - before.inertia
        forest = tables.forest._replace(mass=mass, moment=moment, inertia=inertia)
        return replace(made, _tables=tables._replace(forest=forest))

    return np.array(of_all[bodies[0]]), changed


def _part(model: Model, body: int) -> Part:
    """Return a body's mass, first moment and inertia about the origin of its link, link frame."""
    R, m = matrices(model.offset_rotation[body]), float(model.masses[body])
    c = model.offset_position[body] + R @ model.centres[body]
    inertia = R @ model.inertias[body][FULL].reshape(3, 3) @ R.T + m * ((c @ c) * np.eye(3) - np.outer(c, c))
    return Part(m, m * c, inertia.reshape(9)[HALF])


class Frame(NamedTuple):
    """The frame in which the joint frame of a body is declared, which is the frame of the parent body."""

    link: int
    """Link of the body."""
    origin: np.ndarray
    """Origin of the parent body in the frame of its link [length], shape (3,)."""
    rotation: np.ndarray
    """Rotation matrix from the parent body's frame to the frame of its link, shape (3, 3)."""


def _frame(model: Model, body: int, where: str) -> Frame:
    """Return the frame in which a body's joint frame is declared; raises CaseError for a welded body."""
    if int(model.kinds[body]) == WELD:
        name = model.names[body]
        raise CaseError(
            f"{where}: '{name}' is welded, and derivatives with respect to frames of welds are not implemented; take "
            "differences of runs"
        )
    link, parent = int(model.link[body]), int(model.parents[body])
    if parent < 0:
        return Frame(link, np.zeros(3), np.eye(3))
    return Frame(link, model.offset_position[parent], matrices(model.offset_rotation[parent]))


def _place(model: Model, body: int, where: str) -> tuple[np.ndarray, Callable[[np.ndarray], Model]]:
    """Return the origin of a joint frame in the frame of the parent, and a function that builds the model with another
    origin."""
    (link, origin, R), tables = _frame(model, body, where), kernel_tables(model)

    def changed(numbers: np.ndarray) -> Model:
        position = tables.forest.position.copy()
        position[link] = origin + R @ numbers
        return replace(model, _tables=tables._replace(forest=tables.forest._replace(position=position)))

    return R.T @ (tables.forest.position[link] - origin), changed


def _turn(model: Model, body: int, where: str) -> tuple[np.ndarray, Callable[[np.ndarray], Model]]:
    """Return zero, the rotation vector of a joint frame from its given orientation in the frame of the parent, and a
    function that builds the model with another rotation."""
    (link, _, R), tables = _frame(model, body, where), kernel_tables(model)

    def changed(numbers: np.ndarray) -> Model:
        rotation = tables.forest.rotation.copy()
        rotation[link] = quaternion_product(exponentials(R @ numbers), rotation[link])
        return replace(model, _tables=tables._replace(forest=tables.forest._replace(rotation=rotation)))

    return np.zeros(3), changed
