"""Response of all speeds to a unit impulse at a contact: rows of J, and M⁻¹ Jᵀ by the recursion.

For links at given poses, an impulse is a wrench on one link and its opposite on another, or a torque or force on one
speed. The articulated-body recursion at rest converts it into the jump of all speeds, in O(n). If loops constrain the
model, their constraint impulses are included.
"""

from typing import Any, NamedTuple

import numpy as np

from articulon.algebra.vectors import add, copy_into, cross, load, scale, store, sub
from articulon.dynamics import motion_passes
from articulon.dynamics.armatures import adding_armatures, open_solution, solve_with_armatures
from articulon.dynamics.damped_articulated import joint_dampings
from articulon.dynamics.kinematics import drift
from articulon.dynamics.loops.conditions import loop_scratch
from articulon.dynamics.loops.loop_passes import solving_with_loops
from articulon.dynamics.newton_euler import project
from articulon.forces.impacts.impact_geometry import contact_gap, norm, sphere_states
from articulon.forces.impacts.impact_tables import STOP
from articulon.forces.impacts.path_departures import link_motion
from articulon.kernels import jit, kernel, routine
from articulon.model import Forest, Model, Workspace, kernel_tables, workspace
from articulon.passes import Program, run


class Response(NamedTuple):
    """Programs and arrays that compute responses, for kernels."""

    place: np.ndarray
    """Code of the program that computes poses and velocities of the links at ``q`` and ``u``."""
    solve: np.ndarray
    """Code of the program that computes ``jump`` from ``tau`` and ``wrench``, for links whose poses are computed."""
    forest: Forest
    q: np.ndarray
    """Coordinates, shape (nq,)."""
    u: np.ndarray
    """Speeds, shape (nu,)."""
    ws: Workspace
    """Workspace of the links at ``q`` and ``u``."""
    tau: np.ndarray
    """Impulses on joints, shape (nu,)."""
    wrench: np.ndarray
    """Impulses on links and their moments about the links' origins, world axes, shape (links, 6)."""
    jump: np.ndarray
    """Resulting jump of the speeds, shape (nu,)."""
    force: np.ndarray
    """Scratch, shape (links, 6)."""


def response(
    model: Model,
    inertias: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None,
    diagonal: np.ndarray | None = None,
) -> tuple[Response, tuple[Program, ...]]:
    """Return the response of a model, and its programs, which the caller must keep alive. ``inertias`` (mass, first
    moment and inertia of the links) replace the model's own; ``diagonal`` (nu,) is added to the diagonal of the mass
    matrix."""
    forest, loops, motions = kernel_tables(model)
    links, nu = forest.mass.size, model.nu
    q, u, tau, jump = np.zeros(model.nq), np.zeros(nu), np.zeros(nu), np.zeros(nu)
    wrench, ws = np.zeros((links, 6)), workspace(forest)
    still = ws._replace(twist=np.zeros((links, 6)), bias=np.zeros((links, 6)))
    place = Program([motion_passes.place_links.bind(forest, q, ws), motion_passes.move_links.bind(forest, u, ws)])
    loads: Any = (tau, wrench, np.zeros(3), np.ones(1))
    if inertias is not None:
        mass, moment, inertia = inertias
        forest = forest._replace(mass=mass, moment=moment, inertia=inertia)
    if loops.kind.size:  # driven motions are not evaluated: at rest they require no jump
        arrays = loop_scratch(forest, loops, motions, nu)
        solve = Program(solving_with_loops(forest, loops, loads, still, arrays, jump, adding_armatures(model, tau)))
    elif diagonal is not None:
        added = joint_dampings(nu)._replace(diagonal=diagonal)
        solve = Program([solve_with_armatures.bind(forest, *loads, still, added, jump, still.gathered[:0])])
    else:
        solve = Program([open_solution(model, forest, loads, still, jump)])
    found = Response(place.code, solve.code, forest, q, u, ws, tau, wrench, jump, np.zeros((links, 6)))
    return found, (place, solve)


@jit
def push(r, link, at, f):
    """Add an impulse f at a point of the world to a link."""
    if link >= 0:
        moment = cross(sub(at, load(r.ws.position, link)), f)
        for k in range(3):
            r.wrench[link, k] += f[k]
            r.wrench[link, 3 + k] += moment[k]


@jit
def clear(r):
    """Clear all impulses."""
    for k in range(r.tau.size):
        r.tau[k] = 0.0
    for i in range(r.wrench.shape[0]):
        for k in range(6):
            r.wrench[i, k] = 0.0


@routine
def unit_row(r, table, a, b, at, xb, direction, row, jump):
    """Compute the rows of J and of M⁻¹ Jᵀ of a contact in a direction, into ``row`` and ``jump`` (nu,), for links whose
    poses are computed.

    ``at`` is the contact point on the first object. ``xb`` is the same point for the second, which may differ by a
    period if the first meets an image.
    """
    clear(r)
    if a == STOP:
        r.tau[table.stop_speed[b]] += table.stop[b, 1]
    else:
        push(r, table.link[a], at, direction)
        if b < table.link.size:
            push(r, table.link[b], xb, scale(-1.0, direction))
    run(r.solve)
    copy_into(jump, r.jump)
    for i in range(r.wrench.shape[0]):
        for k in range(6):
            r.force[i, k] = r.wrench[i, k]
    project(r.forest, r.ws, r.force, row)
    for k in range(row.size):
        row[k] += r.tau[k]


@kernel
def locate(r, table, x, v, angular_velocity, arm):
    """At the coordinates and speeds of ``r``, compute poses and velocities of the links, and centres and velocities of
    the spheres (spheres, 3). Also compute the motion of the links relative to their parents, see
    :func:`link_motion`."""
    run(r.place)
    sphere_states(table, r.ws, x, v)
    link_motion(r.forest.parent, r.ws, angular_velocity, arm)


@jit
def across(n):
    """A unit vector perpendicular to n, constructed from the world axis that is farthest from n."""
    a, b, c = abs(n[0]), abs(n[1]), abs(n[2])
    e = (1.0, 0.0, 0.0) if a <= b and a <= c else (0.0, 1.0, 0.0) if b <= c else (0.0, 0.0, 1.0)
    t = cross(n, e)
    return scale(1.0 / norm(t), t)


@kernel
def contact_rows(r, table, x, contacts, per, normal, rows, jumps):
    """Compute rows of J and of M⁻¹ Jᵀ of some contacts (n, 2), after ``locate``: ``per`` for each, 1 for the normal or
    3 for it and two directions across, into ``rows`` and ``jumps`` (n per, nu); and the normals (n, 3).

    A stop has no directions across; its rows there are zero.
    """
    for k in range(contacts.shape[0]):
        a, b = contacts[k, 0], contacts[k, 1]
        gap, n, _ = contact_gap(table, x, r.q, a, b)
        store(normal, k, n)
        at = other = (0.0, 0.0, 0.0)
        if a != STOP:
            at = add(load(x, a), scale(-(table.radius[a] + 0.5 * gap), n))
            other = at
            if b < table.link.size:
                other = add(load(x, b), scale(table.radius[b] + 0.5 * gap, n))
        for j in range(per):
            row = per * k + j
            if j > 0 and a == STOP:
                for i in range(rows.shape[1]):
                    rows[row, i] = jumps[row, i] = 0.0
                continue
            direction = n
            if j > 0:
                direction = across(n)
                if j == 2:
                    direction = cross(n, direction)
            unit_row(r, table, a, b, at, other, direction, rows[row], jumps[row])


@kernel
def move_coordinates(forest, q, u):
    """Move coordinates (nq,) by u (nu,)."""
    drift(forest, q, u, 1.0)
