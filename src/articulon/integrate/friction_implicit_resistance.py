"""The passes of a friction-implicit step for drag and noise, and for all other forces that resist speeds."""

from collections.abc import Callable

import numpy as np

from articulon.dynamics.loops.conditions import LoopScratch
from articulon.dynamics.motion_passes import move_links
from articulon.forces.base import At
from articulon.forces.evaluation_tables import ModelTables
from articulon.forces.filling import clear, fill_friction
from articulon.forces.joint_friction import no_frictions, resistance_of
from articulon.forces.linear_flow import booking_flow
from articulon.forces.stokes_drag import drag_wrenches
from articulon.integrate.friction_implicit_drives import driving_of
from articulon.integrate.friction_implicit_joints import (
    book_driving,
    book_rubbing,
    rubbing,
    solve_rubbed,
    solve_rubbed_tangent,
)
from articulon.integrate.friction_implicit_modes import add_modal_damping, book_modal_damping, damp_modes, is_damped
from articulon.integrate.friction_implicit_scratch import Scratch
from articulon.integrate.friction_implicit_springs import book_dashpots, dashpots_of, place_dashpots, solve_dashpots
from articulon.kernels import jit
from articulon.model import Forest, Workspace
from articulon.model.state import DAMPING, STOCHASTIC
from articulon.passes import Bound, pass_of

Loads = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Joint forces (nu,), wrenches on links (links, 6) and gravity (3,)."""


@pass_of
def add_friction(own, drag, span, factor, friction, inertias, total):
    """Compute the links' masses, first moments and inertias with half of a time ``span`` (1,) of their drag added, and
    the sum of drag and noise."""
    mass, moment, inertia = inertias
    s = 0.5 * span[0] * factor[DAMPING]
    for i in range(mass.size):
        mass[i] = own[0][i] + s * drag.mass[i]
        for k in range(3):
            moment[i, k] = own[1][i, k] + s * drag.moment[i, k]
        for k in range(6):
            inertia[i, k] = own[2][i, k] + s * drag.inertia[i, k]
            total[i, k] = factor[DAMPING] * friction[0, i, k] + factor[STOCHASTIC] * friction[1, i, k]


@jit
def power_of(wrench, ws):
    """Σ f·v + n·ω over the links."""
    one, twist = wrench.reshape(-1), ws.twist.reshape(-1)
    total = 0.0
    for k in range(one.size):
        total += one[k] * twist[k]
    return total


@pass_of
def book_friction(drag, ws, friction, powers):
    """Compute the power of noise and of drag (2,) at links whose velocities are known."""
    powers[0] = power_of(friction[1], ws)
    friction[0] = 0.0
    drag_wrenches(drag, ws, friction[0])
    powers[1] = power_of(friction[0], ws)


def resisting(
    e: ModelTables,
    arrays: Scratch,
    at: At,
    solving: Callable[[Forest, Loads, Workspace, np.ndarray], list[Bound]],
    driving: Callable[[np.ndarray, LoopScratch], list[Bound]],
) -> tuple[list[Bound], list[Bound]]:
    """The passes that solve for accelerations by drag, noise and other resistance, and the passes that record the power
    of these forces; empty if there is no resistance.

    Parameters
    ----------
    e, arrays, at
        The model and its forces, the arrays of a step, and the point at which forces are evaluated.
    solving
        Returns the passes that solve for accelerations, given inertias, loads, moved links and the result array.
    driving
        Returns the passes that record the work of drives, given a time and the scratch arrays of their rows.
    """
    forest, forces, ws, loops = at.forest, e.system.forces, at.ws, e.system.loops
    looped = bool(loops.kind.size)
    u, middle, factor = arrays.u, arrays.middle, arrays.factor
    rows, dashpots = resistance_of(forces.terms), dashpots_of(forces.terms, forest, loops, e.system.motions, e.model.nu)
    driven = driving_of(forces.terms, forest, arrays)
    resists = rows is not None or dashpots is not None or driven is not None
    flexes = is_damped(forest.flexible)
    if not (forces.drag.link.size > 0 or forces.noise.choice[0] != 0 or resists or flexes):
        return [], []
    inertias, over, pushed = (arrays.mass, arrays.moment, arrays.inertia), (arrays.clock[1:], factor), arrays.no_torque
    still = ws._replace(twist=arrays.still, bias=arrays.no_bias)
    augmented_forest, augmented_workspace = _with_inertias(forest, still, inertias)
    friction = [
        clear.bind(arrays.friction),
        *fill_friction(e, at),
        add_friction.bind(inertias_of(forest, ws), forces.drag, *over, arrays.friction, inertias, arrays.total),
    ]
    resisted: list[Bound] = []
    if flexes:
        assert augmented_forest.flexible is not None
        pushed, spare = np.zeros(e.model.nu), np.zeros(e.model.nu)
        friction.append(add_modal_damping.bind(forest.flexible, *over, augmented_forest.flexible.mass))
        friction.append(damp_modes.bind(forest, factor, u, pushed))
        resisted.append(book_modal_damping.bind(forest, middle, spare, arrays.powers))
    if not resists:
        friction.extend(
            solving(augmented_forest, (pushed, arrays.total, np.zeros(3)), augmented_workspace, arrays.udot)
        )
    else:
        own = rubbing(e.model.nu, arrays.diagonal, pushed, e.model.armature, e.zeros, driven)
        rubbed_by = (no_frictions() if rows is None else rows, *over, u, arrays.total, augmented_workspace, own)
        if dashpots is not None:
            springs, found = dashpots.springs, dashpots.arrays
            rigid = loops.kind.size
            friction.append(place_dashpots.bind(forest, loops, springs, *over, ws, found))
            friction.append(solve_dashpots.bind(augmented_forest, dashpots.rows, rigid, *rubbed_by, found, arrays.udot))
            resisted.append(book_dashpots.bind(springs, ws, arrays.powers))
        elif looped:
            friction.append(solve_rubbed_tangent.bind(augmented_forest, loops, *rubbed_by, e.solver.loops, arrays.udot))
        else:
            friction.append(solve_rubbed.bind(augmented_forest, *rubbed_by, e.zeros((0, 21)), arrays.udot))
        if rows is not None:
            resisted.append(book_rubbing.bind(own, middle, arrays.powers))
        if driven is not None:
            resisted.append(book_driving.bind(own, arrays.udot, middle, arrays.work))
    rubbed = [
        move_links.bind(forest, middle, ws),
        book_friction.bind(forces.drag, ws, arrays.friction, arrays.powers),
        *booking_flow(e.linear_flow, ws, arrays.friction[0], arrays.powers),
        *resisted,
        *driving(arrays.clock[1:], e.solver.loops if dashpots is None else dashpots.arrays),
    ]
    return friction, rubbed


def inertias_of(forest: Forest, ws: Workspace) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Masses, first moments and inertias of the links; for deformed bodies, at links whose poses are known."""
    own = forest if ws.modal is None else ws.modal
    return forest.mass, own.moment, own.inertia


def _with_inertias(
    forest: Forest, ws: Workspace, inertias: tuple[np.ndarray, np.ndarray, np.ndarray]
) -> tuple[Forest, Workspace]:
    """The links with other inertias, and a workspace in which deformed bodies have these inertias."""
    mass, moment, inertia = inertias
    forest = forest._replace(mass=mass, moment=moment, inertia=inertia)
    if forest.flexible is None or ws.modal is None:
        return forest, ws
    modal = ws.modal._replace(moment=moment, inertia=inertia)
    flexible = forest.flexible._replace(mass=forest.flexible.mass.copy())
    return forest._replace(flexible=flexible), ws._replace(modal=modal)
