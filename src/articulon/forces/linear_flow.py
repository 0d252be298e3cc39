"""Contribution of a flow with a velocity gradient to Stokes drag: β G r, and the torque of its vorticity.

The drag of a sphere at r in a flow v + G r is −β (ṙ − v − G r), and its torque −β_ω (ω − ½∇×(G r)). The speed-dependent
part is that of a uniform flow. The rest, in this file, depends on positions alone, so that integrators that solve for
drag can treat it like any other force. It acts in the channel of the drag, and its work is booked as work of the drag.
"""

from collections.abc import Iterator

import numpy as np

from articulon.algebra.vectors import (
    add,
    apply,
    apply_t,
    cross,
    load,
    load_from,
    load_matrix,
    store,
    store_from,
)
from articulon.forces.base import Merging
from articulon.forces.solver_tables import Drag, LinearFlow
from articulon.forces.stokes_drag import StokesDrag, drag_gradients
from articulon.kernels import jit
from articulon.model import Model, Workspace
from articulon.passes import Bound, pass_of


def linear_flow(model: Model, drag: Drag) -> LinearFlow | None:
    """Return the table of a model with the given drag; None if no flow has a gradient."""
    if not flows_unevenly(model):
        return None
    gradients = drag_gradients(model)
    vorticity = np.stack(
        [
            gradients[:, 2, 1] - gradients[:, 1, 2],
            gradients[:, 0, 2] - gradients[:, 2, 0],
            gradients[:, 1, 0] - gradients[:, 0, 1],
        ],
        axis=1,
    )
    some = np.flatnonzero(gradients.any(axis=(1, 2)))
    return LinearFlow(
        drag.link[some],
        np.ascontiguousarray(drag.centre[some]),
        np.ascontiguousarray(drag.translational[some, None] * gradients[some].reshape(-1, 9)),
        np.ascontiguousarray(0.5 * drag.rotational[some, None] * vorticity[some]),
    )


def coarse_flow(flow: LinearFlow, merging: Merging) -> LinearFlow | None:
    """Return the table for merged bodies: each body stays at its position, on the coarse link that carries it; None if
    none of these bodies moves."""
    link, centre = merging.carriers(flow.link), merging.points(flow.link, flow.centre)
    moving = link >= 0
    if not moving.any():
        return None
    rows = (link, centre, flow.pull, flow.turn)
    return LinearFlow(*(np.ascontiguousarray(row[moving]) for row in rows))


def flows_unevenly(model: Model) -> bool:
    """Whether a flow of the model has a gradient."""
    return any(isinstance(force, StokesDrag) and bool(force.gradient().any()) for force in model.forces)


@jit
def flow_wrenches(flow, ws, wrench):
    """Add the forces of the flow to the links' wrenches about their origins, world axes."""
    links, centres, pull, turn = flow.link, flow.centre, flow.pull, flow.turn
    for k in range(links.size):
        i = links[k]
        c = apply(load_matrix(ws.rotation, i), load(centres, k))
        force = apply(load_matrix(pull, k), add(load(ws.position, i), c))
        store_from(wrench, i, 0, add(load_from(wrench, i, 0), force))
        store_from(wrench, i, 3, add(load_from(wrench, i, 3), add(load(turn, k), cross(c, force))))


@pass_of
def flow_adjoint(flow, gradient, ws, motion, by_place):
    """Add the derivatives of V·F + Ω·N with respect to displacements of links (links, 6) and to the numbers of the
    table. V is the virtual velocity of a body's centre of mass, and Ω its virtual angular velocity."""
    for k in range(flow.link.size):
        i = flow.link[k]
        R, pull = load_matrix(ws.rotation, i), load_matrix(flow.pull, k)
        c = apply(R, load(flow.centre, k))
        place, turning = add(load(ws.position, i), c), load_from(motion, i, 0)
        moving = add(load_from(motion, i, 3), cross(turning, c))
        by_x = apply_t(pull, moving)
        by_arm = add(by_x, cross(apply(pull, place), turning))
        store_from(by_place, i, 0, add(load_from(by_place, i, 0), by_x))
        store_from(by_place, i, 3, add(load_from(by_place, i, 3), cross(c, by_arm)))
        for a in range(3):
            for b in range(3):
                gradient.pull[k, 3 * a + b] += moving[a] * place[b]
        store(gradient.turn, k, add(load(gradient.turn, k), turning))
        store(gradient.centre, k, add(load(gradient.centre, k), apply_t(R, by_arm)))


@pass_of
def flow_tangent(flow, change, ws, moved, wrench):
    """Add the changes of the forces of the flow to the wrenches (links, 6)."""
    for k in range(flow.link.size):
        i = flow.link[k]
        R, pull = load_matrix(ws.rotation, i), load_matrix(flow.pull, k)
        c = apply(R, load(flow.centre, k))
        dc = add(cross(load_from(moved, i, 3), c), apply(R, load(change.centre, k)))
        place = add(load(ws.position, i), c)
        changed = add(apply(pull, add(load_from(moved, i, 0), dc)), apply(load_matrix(change.pull, k), place))
        moment = add(cross(c, changed), cross(dc, apply(pull, place)))
        store_from(wrench, i, 0, add(load_from(wrench, i, 0), changed))
        store_from(wrench, i, 3, add(load_from(wrench, i, 3), add(moment, load(change.turn, k))))


@pass_of
def fill_flow(flow, ws, damping):
    """Add the forces of the flow to the wrenches (links, 6)."""
    flow_wrenches(flow, ws, damping)


@pass_of
def book_flow(flow, ws, wrench, powers):
    """Add the power of the flow's forces to that of the drag, ``powers[1]``; ``wrench`` (links, 6) is scratch."""
    wrench[:] = 0.0
    flow_wrenches(flow, ws, wrench)
    one, twist, total = wrench.reshape(-1), ws.twist.reshape(-1), 0.0
    for k in range(one.size):
        total += one[k] * twist[k]
    powers[1] += total


def flowing(flow: LinearFlow | None, ws: Workspace, damping: np.ndarray) -> Iterator[Bound]:
    """Return the pass that adds the forces, if there is such a flow."""
    if flow is not None:
        yield fill_flow.bind(flow, ws, damping)


def booking_flow(flow: LinearFlow | None, ws: Workspace, wrench: np.ndarray, powers: np.ndarray) -> Iterator[Bound]:
    """Return the pass that books the power, if there is such a flow."""
    if flow is not None:
        yield book_flow.bind(flow, ws, wrench, powers)
