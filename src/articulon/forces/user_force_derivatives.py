"""Derivatives of a user's force: as given by the user, or by finite differences of the function's output.

If the user gives only one of adjoint and tangent, the other is derived from it: the adjoint from tangents along each of
the twelve directions of each body and each parameter, the tangent from adjoints of each of the six components of each
wrench. If neither is given, the function is called at slightly displaced, rotated or accelerated bodies, four times for
each direction (adjoint), or four times along a change of all of them (tangent). Differences are of fourth order, with
steps of a thousandth of the largest position, speed or parameter, or of a radian, so that errors are about 1e-11 for
smooth functions.
"""

import math

from articulon.algebra.rotations import load_quaternion, normalised, product, store_quaternion
from articulon.algebra.vectors import add, cross, dot, load, load_from, scale, store_from
from articulon.forces.point_springs import arm_of, motion_of, pull_at, pull_change
from articulon.forces.user_bodies import body_states
from articulon.kernels import jit
from articulon.passes import pass_of

PART = 1e-3
"""Step of a difference, relative to the largest number of its kind."""
DIRECTIONS, DISPLACEMENTS = 12, 6
"""Number of directions of a body (three displacements, three rotations, three velocities and three angular velocities),
and number of displacements and rotations, which come first."""


@jit
def directions_of(bodies, f):
    """Number of directions of a body on which the f-th function depends."""
    return DIRECTIONS if bodies.reads[f] else DISPLACEMENTS


@jit
def call(bodies, f, time, written):
    """Call the f-th function at the bodies' positions; its output goes to ``written`` (bodies, 6)."""
    written[:] = 0.0
    velocities = bodies.velocity if bodies.reads[f] else bodies.rest
    parameters = bodies.parameters[bodies.start[f] : bodies.start[f + 1]]
    bodies.functions[f](time[0], bodies.position, bodies.rotation, velocities, parameters, written)


@jit
def call_adjoint(bodies, f, time, weights, own):
    """Compute the derivatives of the virtual power Σ F·V + N·Ω by the user's adjoint, into the scratch ``own``."""
    own.by_place[:] = 0.0
    own.by_velocity[:] = 0.0
    own.by_parameters[:] = 0.0
    by_parameters = own.by_parameters[bodies.start[f] : bodies.start[f + 1]]
    bodies.adjoints[bodies.adjoint[f]](
        time[0],
        bodies.position,
        bodies.rotation,
        bodies.velocity if bodies.reads[f] else bodies.rest,
        bodies.parameters[bodies.start[f] : bodies.start[f + 1]],
        weights,
        own.by_place,
        own.by_velocity,
        by_parameters,
    )


@jit
def call_tangent(bodies, f, time, own, changed):
    """Compute the change of the f-th function's wrenches by the user's tangent, for the changes in the scratch ``own``,
    into ``changed`` (bodies, 6)."""
    changed[:] = 0.0
    bodies.tangents[bodies.tangent[f]](
        time[0],
        bodies.position,
        bodies.rotation,
        bodies.velocity if bodies.reads[f] else bodies.rest,
        bodies.parameters[bodies.start[f] : bodies.start[f + 1]],
        own.by_place,
        own.by_velocity,
        own.by_parameters[bodies.start[f] : bodies.start[f + 1]],
        changed,
    )


@jit
def largest(array):
    """Largest magnitude of an array's numbers, 1 if all are zero."""
    found, flat = 0.0, array.reshape(-1)
    for k in range(flat.size):
        found = max(found, abs(flat[k]))
    return found if found > 0.0 else 1.0


@jit
def rotated(e, angle):
    """Rotate Euler parameters by a rotation vector in world axes."""
    size = math.sqrt(dot(angle, angle))
    s = 0.5 if size == 0.0 else math.sin(0.5 * size) / size
    return normalised(product((math.cos(0.5 * size), s * angle[0], s * angle[1], s * angle[2]), e))


@jit
def virtual_power(written, weights):
    """Σ F·V + N·Ω of wrenches (bodies, 6) with weights (bodies, 6)."""
    total = 0.0
    for k in range(weights.shape[0]):
        for m in range(6):
            total += written[k, m] * weights[k, m]
    return total


@jit
def move_body(bodies, k, direction, step, e):
    """Displace, rotate or accelerate a body; ``e`` are its unchanged Euler parameters."""
    if direction < 3:
        bodies.position[k, direction] += step
    elif direction < 6:
        angle = (step if direction == 3 else 0.0, step if direction == 4 else 0.0, step if direction == 5 else 0.0)
        store_quaternion(bodies.rotation, k, rotated(e, angle))
    else:
        bodies.velocity[k, direction - 6] += step


@jit
def find_weights(bodies, ws, motion, weights):
    """Compute the poses of the bodies and, as ``weights`` (bodies, 6), the velocities of their origins for a motion of
    the links (links, 6)."""
    body_states(bodies, ws, bodies.position, bodies.rotation, bodies.velocity)
    for k in range(bodies.link.size):
        i = bodies.link[k]
        V, turning = motion_of(i, arm_of(i, load(bodies.offset_position, k), ws), motion)
        store_from(weights, k, 0, V)
        store_from(weights, k, 3, turning)


@jit
def fold(bodies, f, time, ws, motion, by, by_place, by_velocity):
    """Add derivatives by the directions of bodies (bodies, 12) to those by displacements and velocities of links
    (links, 6)."""
    call(bodies, f, time, bodies.written)
    for k in range(bodies.link.size):
        i = bodies.link[k]
        if i >= 0:
            arm, w = arm_of(i, load(bodies.offset_position, k), ws), load_from(ws.twist, i, 3)
            by_x, by_v, turning = load_from(by, k, 0), load_from(by, k, 6), load_from(motion, i, 0)
            by_arm = add(by_x, add(cross(load_from(bodies.written, k, 0), turning), cross(by_v, w)))
            pull_at(by_velocity, i, arm, by_v)
            store_from(by_velocity, i, 3, add(load_from(by_velocity, i, 3), load_from(by, k, 9)))
            store_from(by_place, i, 0, add(load_from(by_place, i, 0), by_x))
            moment = add(load_from(by, k, 3), cross(arm, by_arm))
            store_from(by_place, i, 3, add(load_from(by_place, i, 3), moment))


@pass_of
def differenced_adjoint(bodies, f, gradient, time, ws, motion, weights, by, by_place, by_velocity):
    """Add the derivatives of Σ F·V + N·Ω of the f-th function by displacements and velocities of links (links, 6), and
    by parameters, by finite differences; ``weights`` (bodies, 6) and ``by`` (bodies, 12) are scratch."""
    find_weights(bodies, ws, motion, weights)
    length, speed = largest(bodies.position), largest(bodies.velocity)
    for k in range(bodies.link.size):
        for direction in range(DIRECTIONS):
            by[k, direction] = 0.0
            if bodies.link[k] < 0 or direction >= directions_of(bodies, f):
                continue
            h, e = (
                PART * (length if direction < 3 else 1.0 if direction < 6 else speed),
                load_quaternion(bodies.rotation, k),
            )
            before = bodies.position[k, direction] if direction < 3 else bodies.velocity[k, max(direction - 6, 0)]
            for n in range(-2, 3):
                if n == 0:
                    continue
                move_body(bodies, k, direction, n * h, e)
                call(bodies, f, time, bodies.written)
                factor = 8.0 if n == 1 else -8.0 if n == -1 else -1.0 if n == 2 else 1.0
                by[k, direction] += factor / (12.0 * h) * virtual_power(bodies.written, weights)
                if direction < 3:
                    bodies.position[k, direction] = before
                elif direction < 6:
                    store_quaternion(bodies.rotation, k, e)
                else:
                    bodies.velocity[k, direction - 6] = before
    for j in range(bodies.start[f], bodies.start[f + 1]):
        before = bodies.parameters[j]
        h = PART * (abs(before) if before != 0.0 else 1.0)
        for n in range(-2, 3):
            if n == 0:
                continue
            bodies.parameters[j] = before + n * h
            call(bodies, f, time, bodies.written)
            factor = 8.0 if n == 1 else -8.0 if n == -1 else -1.0 if n == 2 else 1.0
            gradient.parameters[j] += factor / (12.0 * h) * virtual_power(bodies.written, weights)
        bodies.parameters[j] = before
    fold(bodies, f, time, ws, motion, by, by_place, by_velocity)


@pass_of
def given_adjoint(bodies, f, own, gradient, time, ws, motion, weights, by, by_place, by_velocity):
    """Add the derivatives of Σ F·V + N·Ω by the user's adjoint."""
    find_weights(bodies, ws, motion, weights)
    call_adjoint(bodies, f, time, weights, own)
    for k in range(bodies.link.size):
        for m in range(DISPLACEMENTS):
            by[k, m], by[k, DISPLACEMENTS + m] = own.by_place[k, m], own.by_velocity[k, m] if bodies.reads[f] else 0.0
    for j in range(bodies.start[f], bodies.start[f + 1]):
        gradient.parameters[j] += own.by_parameters[j]
    fold(bodies, f, time, ws, motion, by, by_place, by_velocity)


@pass_of
def adjoint_by_tangent(bodies, f, own, gradient, time, ws, motion, weights, by, by_place, by_velocity):
    """Add the derivatives of Σ F·V + N·Ω by the user's tangent, along each direction."""
    find_weights(bodies, ws, motion, weights)
    own.by_place[:] = 0.0
    own.by_velocity[:] = 0.0
    own.by_parameters[:] = 0.0
    for k in range(bodies.link.size):
        for direction in range(DIRECTIONS):
            by[k, direction] = 0.0
            if bodies.link[k] >= 0 and direction < directions_of(bodies, f):
                directions = own.by_place if direction < DISPLACEMENTS else own.by_velocity
                directions[k, direction % DISPLACEMENTS] = 1.0
                call_tangent(bodies, f, time, own, bodies.written)
                by[k, direction] = virtual_power(bodies.written, weights)
                directions[k, direction % DISPLACEMENTS] = 0.0
    for j in range(bodies.start[f], bodies.start[f + 1]):
        own.by_parameters[j] = 1.0
        call_tangent(bodies, f, time, own, bodies.written)
        gradient.parameters[j] += virtual_power(bodies.written, weights)
        own.by_parameters[j] = 0.0
    fold(bodies, f, time, ws, motion, by, by_place, by_velocity)


@jit
def find_changes(bodies, ws, moved, twist, directions):
    """Compute the changes of the bodies' poses and velocities with those of the links, into ``directions``
    (bodies, 12)."""
    for k in range(bodies.link.size):
        i = bodies.link[k]
        for direction in range(DIRECTIONS):
            directions[k, direction] = 0.0
        if i >= 0:
            arm, turn = arm_of(i, load(bodies.offset_position, k), ws), load_from(moved, i, 3)
            arms, w, dw = cross(turn, arm), load_from(ws.twist, i, 3), load_from(twist, i, 3)
            store_from(directions, k, 0, add(load_from(moved, i, 0), arms))
            store_from(directions, k, 3, turn)
            store_from(directions, k, 6, add(load_from(twist, i, 0), add(cross(dw, arm), cross(w, arms))))
            store_from(directions, k, 9, dw)


@jit
def move_all(bodies, ws, step, directions):
    """Move all bodies by a fraction of a change ``directions`` (bodies, 12)."""
    body_states(bodies, ws, bodies.position, bodies.rotation, bodies.velocity)
    for k in range(directions.shape[0]):
        for m in range(3):
            bodies.position[k, m] += step * directions[k, m]
        store_quaternion(
            bodies.rotation, k, rotated(load_quaternion(bodies.rotation, k), scale(step, load_from(directions, k, 3)))
        )
        for m in range(6):
            bodies.velocity[k, m] += step * directions[k, 6 + m]


@jit
def fold_changes(bodies, f, time, ws, moved, changed, wrench):
    """Add changes of wrenches (bodies, 6), and of their arms, to those of the links (links, 6)."""
    call(bodies, f, time, bodies.written)
    for k in range(bodies.link.size):
        i = bodies.link[k]
        if i >= 0:
            arm = arm_of(i, load(bodies.offset_position, k), ws)
            arms, force = cross(load_from(moved, i, 3), arm), load_from(bodies.written, k, 0)
            pull_change(wrench, i, arm, arms, force, load_from(changed, k, 0))
            store_from(wrench, i, 3, add(load_from(wrench, i, 3), load_from(changed, k, 3)))


@pass_of
def differenced_tangent(bodies, f, change, time, ws, moved, twist, directions, changed, given, wrench):
    """Add the changes of the f-th function's forces to the wrenches (links, 6), by finite differences; ``directions``
    (bodies, 12), ``changed`` (bodies, 6) and ``given`` (parameters,) are scratch."""
    body_states(bodies, ws, bodies.position, bodies.rotation, bodies.velocity)
    length, speed, fastest = largest(bodies.position), largest(bodies.velocity), 0.0
    find_changes(bodies, ws, moved, twist, directions)
    for k in range(bodies.link.size):
        for direction in range(directions_of(bodies, f)):
            fastest = max(
                fastest, abs(directions[k, direction]) / (length if direction < 3 else 1.0 if direction < 6 else speed)
            )
    first, end = bodies.start[f], bodies.start[f + 1]
    for j in range(first, end):
        given[j] = bodies.parameters[j]
        fastest = max(fastest, abs(change.parameters[j]) / (abs(given[j]) if given[j] != 0.0 else 1.0))
    h = PART / fastest if fastest > 0.0 else PART
    changed[:] = 0.0
    for n in range(-2, 3):
        if n == 0:
            continue
        move_all(bodies, ws, n * h, directions)
        for j in range(first, end):
            bodies.parameters[j] = given[j] + n * h * change.parameters[j]
        call(bodies, f, time, bodies.written)
        factor = 8.0 if n == 1 else -8.0 if n == -1 else -1.0 if n == 2 else 1.0
        for k in range(changed.shape[0]):
            for m in range(6):
                changed[k, m] += factor / (12.0 * h) * bodies.written[k, m]
    for j in range(first, end):
        bodies.parameters[j] = given[j]
    move_all(bodies, ws, 0.0, directions)
    fold_changes(bodies, f, time, ws, moved, changed, wrench)


@pass_of
def given_tangent(bodies, f, own, change, time, ws, moved, twist, directions, changed, wrench):
    """Add the changes of the f-th function's forces by the user's tangent."""
    body_states(bodies, ws, bodies.position, bodies.rotation, bodies.velocity)
    find_changes(bodies, ws, moved, twist, directions)
    for k in range(bodies.link.size):
        for m in range(DISPLACEMENTS):
            own.by_place[k, m], own.by_velocity[k, m] = (
                directions[k, m],
                directions[k, DISPLACEMENTS + m] if bodies.reads[f] else 0.0,
            )
    for j in range(bodies.start[f], bodies.start[f + 1]):
        own.by_parameters[j] = change.parameters[j]
    call_tangent(bodies, f, time, own, changed)
    fold_changes(bodies, f, time, ws, moved, changed, wrench)


@pass_of
def tangent_by_adjoint(bodies, f, own, change, time, ws, moved, twist, directions, changed, weights, wrench):
    """Add the changes of the f-th function's forces by the user's adjoint of each component of each wrench; ``weights``
    (bodies, 6) is scratch too."""
    body_states(bodies, ws, bodies.position, bodies.rotation, bodies.velocity)
    find_changes(bodies, ws, moved, twist, directions)
    weights[:] = 0.0
    for k in range(bodies.link.size):
        for m in range(6):
            changed[k, m] = 0.0
            if bodies.link[k] < 0:
                continue
            weights[k, m] = 1.0
            call_adjoint(bodies, f, time, weights, own)
            weights[k, m] = 0.0
            for n in range(bodies.link.size):
                for direction in range(directions_of(bodies, f)):
                    by = own.by_place if direction < DISPLACEMENTS else own.by_velocity
                    changed[k, m] += by[n, direction % DISPLACEMENTS] * directions[n, direction]
            for j in range(bodies.start[f], bodies.start[f + 1]):
                changed[k, m] += own.by_parameters[j] * change.parameters[j]
    fold_changes(bodies, f, time, ws, moved, changed, wrench)
