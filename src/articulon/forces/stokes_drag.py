"""Stokes drag on spheres in a flow, at their centres of mass (Guy 2018, 2.22 and 5.14).

Kernels here treat uniform flows; the contribution of a gradient is in ``linear_flow.py``.
"""

import math
from typing import Annotated, ClassVar, Literal, Self

import numpy as np
from pydantic import model_validator

from articulon.algebra.vectors import (
    add,
    apply,
    apply_t,
    cross,
    dot,
    load,
    load_from,
    load_matrix,
    scale,
    store,
    store_from,
    sub,
)
from articulon.declaration import BodyName, Declaration, Dimension, Flag, Quantity
from articulon.errors import ModelError
from articulon.forces.selection import on_link, per_body, selected
from articulon.forces.solver_tables import Drag
from articulon.kernels import jit
from articulon.model import Model
from articulon.passes import pass_of

_Row = tuple[Quantity, Quantity, Quantity]


class StokesDrag(Declaration):
    """F = −β (v − v_f) and N = −β_ω (ω − ½∇×v_f) at each body's centre of mass r, with β = 6πηR, β_ω = 8πηR³ and the
    velocity of the medium v_f = flow + velocity_gradient r.

    For spheres in a flow that is linear in r this is exact: Faxén's correction, R²/6 ∇²v_f, is zero. There are no
    hydrodynamic interactions between bodies.

    Give either ``viscosity`` and ``radius``, or the coefficients themselves. Give one value for all bodies, or a table
    by body name; a name that ends in ``*`` selects all bodies whose names begin with the part before it.
    """

    is_force: ClassVar[bool] = True
    laplacian: ClassVar[str] = "known"
    kind: Literal["stokes-drag"] = "stokes-drag"
    viscosity: Annotated[Quantity | None, Dimension("viscosity", minimum=0, exclusive=True)] = None
    """η [mass/(length time)]."""
    radius: Annotated[Quantity | dict[BodyName, Quantity] | None, Dimension("length", minimum=0, exclusive=True)] = None
    """R [length]."""
    translational: Annotated[Quantity | dict[BodyName, Quantity] | None, Dimension("translational_drag", minimum=0)] = (
        None
    )
    """β [mass/time], instead of viscosity and radius."""
    rotational: Annotated[Quantity | dict[BodyName, Quantity] | None, Dimension("rotational_drag", minimum=0)] = None
    """β_ω [mass length²/time], instead of viscosity and radius."""
    flow: Annotated[tuple[Quantity, Quantity, Quantity], Dimension("velocity")] = (0.0, 0.0, 0.0)
    """Velocity of the medium at the world's origin, world frame [length/time], shape (3,)."""
    velocity_gradient: Annotated[tuple[_Row, _Row, _Row] | None, Dimension("frequency")] = None
    """G of the flow v_f = flow + G r, where G[i][j] = ∂v_i/∂r_j: a row for each component of the velocity, world frame
    [1/time], shape (3, 3). ``[[0, γ, 0], [0, 0, 0], [0, 0, 0]]`` is a flow along x that grows along y and makes free
    spheres rotate at −γ/2 about z. Its trace is zero, because the medium is incompressible; no gradient by default."""
    bodies: tuple[BodyName, ...] | None = None
    """Bodies on which the drag acts; all by default."""
    shared_by_mass: Flag = False
    """Whether the given drag is the total of all the bodies, divided among them by mass (Guy 2018, 2.4)."""

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        spheres = self.viscosity is not None or self.radius is not None
        coefficients = self.translational is not None or self.rotational is not None
        if spheres == coefficients or (spheres and (self.viscosity is None or self.radius is None)):
            raise ValueError("give either viscosity and radius, or translational and rotational coefficients")
        if self.shared_by_mass and (isinstance(self.radius, dict) or isinstance(self.translational, dict)):
            raise ValueError("shared_by_mass divides one drag among the bodies: give one radius or one coefficient")
        return self

    def gradient(self) -> np.ndarray:
        """Return G of a declaration in the model's units, zeros without one [1/time], shape (3, 3)."""
        if self.velocity_gradient is None:
            return np.zeros((3, 3))
        return np.array([[float(number) for number in row] for row in self.velocity_gradient])

    def check(self, model: Model, where: str) -> None:
        """Raises ModelError for bodies that do not exist, have no value, or have drag from another declaration, and for
        a gradient that compresses the medium or is incompatible with the box."""
        self.coefficients(model, where)
        drag_table(model)
        G = self.gradient()
        if abs(np.trace(G)) > 1e-9 * np.abs(G).max(initial=0.0):
            raise ModelError(
                f"{where}.velocity_gradient: its trace is {np.trace(G):g}, but Stokes drag assumes an "
                "incompressible medium; the diagonal must sum to zero"
            )
        if model.box is None:
            return
        for k in np.flatnonzero(model.box.periodic).tolist():
            if np.abs(G @ model.box.vectors[k]).max() > 0.0:
                raise ModelError(
                    f"{where}.velocity_gradient: the box is periodic along its edge {'abc'[k]}, along which the "
                    "velocity of the medium changes: images would have to move with it (Lees-Edwards boundaries), "
                    "which they do not; make this boundary open, or leave the gradient out"
                )

    def coefficients(self, model: Model, where: str = "stokes-drag") -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return bodies, β [mass/time] and β_ω [mass length²/time], for a declaration in the model's units."""
        bodies = selected(model, self.bodies, where)
        if self.radius is not None and self.viscosity is not None:
            R, eta = per_body(model, self.radius, bodies, f"{where}.radius"), float(self.viscosity)
            translational, rotational = 6.0 * math.pi * eta * R, 8.0 * math.pi * eta * R**3
        else:
            translational = per_body(model, self.translational or 0.0, bodies, f"{where}.translational")
            rotational = per_body(model, self.rotational or 0.0, bodies, f"{where}.rotational")
        if self.shared_by_mass:
            share = model.masses[bodies] / model.masses[bodies].sum()
            translational, rotational = share * translational, share * rotational
        return bodies, translational, rotational


def drag_table(model: Model) -> Drag:
    """Return the table of all Stokes drag of a model, in its units. Bodies welded to the ground do not move and have no
    drag."""
    links = model.forest.mass.size
    rows: dict[int, tuple[float, float, np.ndarray]] = {}
    for k, force in enumerate(model.forces):
        if not isinstance(force, StokesDrag):
            continue
        flow = np.array([float(v) for v in force.flow])
        for body, b, bw in zip(*force.coefficients(model, f"forces[{k}]"), strict=True):
            if model.link[body] < 0:
                continue
            if body in rows:
                raise ModelError(
                    f"forces[{k}]: body '{model.names[body]}' already has Stokes drag; name each force's bodies"
                )
            rows[int(body)] = (b, bw, flow)
    bodies = np.array(sorted(rows), dtype=np.int64)
    link = model.link[bodies]
    centre = np.array([on_link(model, k, model.centres[k]) for k in bodies]).reshape(-1, 3)
    translational = np.array([rows[k][0] for k in bodies.tolist()])
    rotational = np.array([rows[k][1] for k in bodies.tolist()])
    mass, moment, inertia = np.zeros(links), np.zeros((links, 3)), np.zeros((links, 6))
    x, y, z = centre.T
    spread = np.stack([y * y + z * z, -x * y, -x * z, x * x + z * z, -y * z, x * x + y * y], axis=1)
    turning = rotational[:, None] * np.array([1.0, 0.0, 0.0, 1.0, 0.0, 1.0])
    np.add.at(mass, link, translational)
    np.add.at(moment, link, translational[:, None] * centre)
    np.add.at(inertia, link, translational[:, None] * spread + turning)
    flows = np.array([rows[k][2] for k in bodies.tolist()]).reshape(-1, 3)
    return Drag(link, centre, translational, rotational, flows, mass, moment, inertia)


def drag_gradients(model: Model) -> np.ndarray:
    """Return the gradients of the flows around the bodies of :func:`drag_table` [1/time], shape (bodies, 3, 3)."""
    found: dict[int, np.ndarray] = {}
    for k, force in enumerate(model.forces):
        if isinstance(force, StokesDrag):
            G = force.gradient()
            bodies = force.coefficients(model, f"forces[{k}]")[0]
            found.update({int(body): G for body in bodies if model.link[body] >= 0})
    return np.array([found[body] for body in sorted(found)]).reshape(-1, 3, 3)


@jit
def drag_wrenches(drag, ws, wrench):
    """Add the drag on every body to its link's wrench about the link's origin, world axes."""
    links, centres, translational, rotational = drag.link, drag.centre, drag.translational, drag.rotational
    flow = drag.flow
    rotation, twist = ws.rotation, ws.twist
    for k in range(links.size):
        i = links[k]
        w, c = load_from(twist, i, 3), apply(load_matrix(rotation, i), load(centres, k))
        v = sub(add(load_from(twist, i, 0), cross(w, c)), load(flow, k))
        force = scale(-translational[k], v)
        moment = sub(cross(c, force), scale(rotational[k], w))
        store_from(wrench, i, 0, add(load_from(wrench, i, 0), force))
        store_from(wrench, i, 3, add(load_from(wrench, i, 3), moment))


@jit
def motion_in_flow(drag, ws, k):
    """For the link in row k, return its rotation, its angular velocity, the arm to its centre of mass, and the velocity
    of this centre relative to the flow."""
    i = drag.link[k]
    R = load_matrix(ws.rotation, i)
    w, c = load_from(ws.twist, i, 3), apply(R, load(drag.centre, k))
    return R, w, c, sub(add(load_from(ws.twist, i, 0), cross(w, c)), load(drag.flow, k))


@pass_of
def drag_adjoint(drag, gradient, ws, motion, by_place, by_velocity):
    """Add the derivatives of V·F + Ω·N, with V and Ω the virtual velocities of the centre of mass and of rotation, with
    respect to displacements and velocities of links (links, 6), and to the numbers of the table."""
    links, translational, rotational = drag.link, drag.translational, drag.rotational
    for k in range(links.size):
        i = links[k]
        R, w, c, v = motion_in_flow(drag, ws, k)
        turning = load_from(motion, i, 0)
        moving = add(load_from(motion, i, 3), cross(turning, c))
        by_v, by_w = scale(-translational[k], moving), scale(-rotational[k], turning)
        by_centre = add(cross(scale(-translational[k], v), turning), cross(by_v, w))
        store_from(by_velocity, i, 0, add(load_from(by_velocity, i, 0), by_v))
        store_from(by_velocity, i, 3, add(load_from(by_velocity, i, 3), add(cross(c, by_v), by_w)))
        store_from(by_place, i, 3, add(load_from(by_place, i, 3), cross(c, by_centre)))
        gradient.translational[k] -= dot(moving, v)
        gradient.rotational[k] -= dot(turning, w)
        store(gradient.flow, k, sub(load(gradient.flow, k), by_v))
        store(gradient.centre, k, add(load(gradient.centre, k), apply_t(R, by_centre)))


@pass_of
def drag_tangent(drag, change, ws, moved, twist, wrench):
    """Add the changes of the drag to the wrenches (links, 6)."""
    links, translational, rotational = drag.link, drag.translational, drag.rotational
    for k in range(links.size):
        i = links[k]
        R, w, c, v = motion_in_flow(drag, ws, k)
        dw, dc = load_from(twist, i, 3), add(cross(load_from(moved, i, 3), c), apply(R, load(change.centre, k)))
        dv = add(load_from(twist, i, 0), add(cross(dw, c), cross(w, dc)))
        dv = sub(dv, load(change.flow, k))
        force = add(scale(-translational[k], dv), scale(-change.translational[k], v))
        moment = add(scale(-rotational[k], dw), scale(-change.rotational[k], w))
        moment = add(moment, add(cross(c, force), cross(dc, scale(-translational[k], v))))
        store_from(wrench, i, 0, add(load_from(wrench, i, 0), force))
        store_from(wrench, i, 3, add(load_from(wrench, i, 3), moment))
