"""Derivatives of a user's force by differences of what its function writes.

A function is called at bodies that are a little elsewhere, turned, or faster, four times for each of the twelve ways of
each body (adjoint), or four times along a change of all of them (tangent). Differences are of fourth order, over a
thousandth of the largest place, speed or parameter, or of a radian, so that they err by some 1e-11 where a function is
smooth.
"""

import math

from articulon.algebra.rotations import load_quaternion, normalised, product, store_quaternion
from articulon.algebra.vectors import add, cross, dot, load, load_from, scale, store_from
from articulon.forces.point_springs import arm_of, motion_of, pull_at, pull_change
from articulon.forces.user_bodies import body_states
from articulon.kernels import jit
from articulon.passes import pass_of

PART = 1e-3
"""Of the largest number of its kind."""
WAYS = 12
"""Three places, three turns, three velocities and three angular velocities."""


@jit
def call(bodies, f, time, written):
    """What the f-th function writes at the bodies' places, into ``written`` (bodies, 6)."""
    written[:] = 0.0
    parameters = bodies.parameters[bodies.start[f] : bodies.start[f + 1]]
    bodies.functions[f](time[0], bodies.position, bodies.rotation, bodies.velocity, parameters, written)


@jit
def largest(array):
    """The largest magnitude of an array's numbers, 1 where all are zero."""
    found, flat = 0.0, array.reshape(-1)
    for k in range(flat.size):
        found = max(found, abs(flat[k]))
    return found if found > 0.0 else 1.0


@jit
def turned(e, angle):
    """Euler parameters turned by a rotation vector in the world's axes."""
    size = math.sqrt(dot(angle, angle))
    s = 0.5 if size == 0.0 else math.sin(0.5 * size) / size
    return normalised(product((math.cos(0.5 * size), s * angle[0], s * angle[1], s * angle[2]), e))


@jit
def weighed_power(bodies, weights):
    """Σ F·V + N·Ω of what has been written, by weights (bodies, 6)."""
    total = 0.0
    for k in range(weights.shape[0]):
        for m in range(6):
            total += bodies.written[k, m] * weights[k, m]
    return total


@jit
def move_body(bodies, k, way, step, e):
    """Moves, turns or speeds up a body; ``e`` are its Euler parameters before."""
    if way < 3:
        bodies.position[k, way] += step
    elif way < 6:
        angle = (step if way == 3 else 0.0, step if way == 4 else 0.0, step if way == 5 else 0.0)
        store_quaternion(bodies.rotation, k, turned(e, angle))
    else:
        bodies.velocity[k, way - 6] += step


@pass_of
def user_adjoint(bodies, gradient, time, ws, motion, weights, by, by_place, by_velocity):
    """Adds the derivatives of Σ F·V + N·Ω by places and velocities of links (links, 6), and by parameters;
    ``weights`` (bodies, 6) and ``by`` (bodies, 12) are scratch."""
    body_states(bodies, ws, bodies.position, bodies.rotation, bodies.velocity)
    length, speed, count = largest(bodies.position), largest(bodies.velocity), bodies.link.size
    for k in range(count):
        i = bodies.link[k]
        V, turning = motion_of(i, arm_of(i, load(bodies.offset_position, k), ws), motion)
        store_from(weights, k, 0, V)
        store_from(weights, k, 3, turning)
    for f in range(bodies.channel.size):
        for k in range(count):
            for way in range(WAYS):
                by[k, way] = 0.0
                if bodies.link[k] < 0:
                    continue
                h, e = PART * (length if way < 3 else 1.0 if way < 6 else speed), load_quaternion(bodies.rotation, k)
                before = bodies.position[k, way] if way < 3 else bodies.velocity[k, max(way - 6, 0)]
                for n in range(-2, 3):
                    if n == 0:
                        continue
                    move_body(bodies, k, way, n * h, e)
                    call(bodies, f, time, bodies.written)
                    factor = 8.0 if n == 1 else -8.0 if n == -1 else -1.0 if n == 2 else 1.0
                    by[k, way] += factor / (12.0 * h) * weighed_power(bodies, weights)
                    if way < 3:
                        bodies.position[k, way] = before
                    elif way < 6:
                        store_quaternion(bodies.rotation, k, e)
                    else:
                        bodies.velocity[k, way - 6] = before
        for j in range(bodies.start[f], bodies.start[f + 1]):
            before = bodies.parameters[j]
            h = PART * (abs(before) if before != 0.0 else 1.0)
            for n in range(-2, 3):
                if n == 0:
                    continue
                bodies.parameters[j] = before + n * h
                call(bodies, f, time, bodies.written)
                factor = 8.0 if n == 1 else -8.0 if n == -1 else -1.0 if n == 2 else 1.0
                gradient.parameters[j] += factor / (12.0 * h) * weighed_power(bodies, weights)
            bodies.parameters[j] = before
        call(bodies, f, time, bodies.written)
        for k in range(count):
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


@jit
def move_all(bodies, ws, step, ways):
    """Puts all bodies where they are after a part of a change ``ways`` (bodies, 12)."""
    body_states(bodies, ws, bodies.position, bodies.rotation, bodies.velocity)
    for k in range(ways.shape[0]):
        for m in range(3):
            bodies.position[k, m] += step * ways[k, m]
        store_quaternion(
            bodies.rotation, k, turned(load_quaternion(bodies.rotation, k), scale(step, load_from(ways, k, 3)))
        )
        for m in range(6):
            bodies.velocity[k, m] += step * ways[k, 6 + m]


@pass_of
def user_tangent(bodies, change, time, ws, moved, twist, ways, changed, given, wrench):
    """Adds the changes of the user's forces to the wrenches (links, 6); ``ways`` (bodies, 12), ``changed``
    (bodies, 6) and ``given`` (parameters,) are scratch."""
    body_states(bodies, ws, bodies.position, bodies.rotation, bodies.velocity)
    length, speed, fastest = largest(bodies.position), largest(bodies.velocity), 0.0
    for k in range(bodies.link.size):
        i = bodies.link[k]
        for way in range(WAYS):
            ways[k, way] = 0.0
        if i >= 0:
            arm, turn = arm_of(i, load(bodies.offset_position, k), ws), load_from(moved, i, 3)
            arms, w, dw = cross(turn, arm), load_from(ws.twist, i, 3), load_from(twist, i, 3)
            store_from(ways, k, 0, add(load_from(moved, i, 0), arms))
            store_from(ways, k, 3, turn)
            store_from(ways, k, 6, add(load_from(twist, i, 0), add(cross(dw, arm), cross(w, arms))))
            store_from(ways, k, 9, dw)
        for way in range(WAYS):
            fastest = max(fastest, abs(ways[k, way]) / (length if way < 3 else 1.0 if way < 6 else speed))
    for j in range(given.size):
        given[j] = bodies.parameters[j]
        fastest = max(fastest, abs(change.parameters[j]) / (abs(given[j]) if given[j] != 0.0 else 1.0))
    h = PART / fastest if fastest > 0.0 else PART
    for f in range(bodies.channel.size):
        changed[:] = 0.0
        for n in range(-2, 3):
            if n == 0:
                continue
            move_all(bodies, ws, n * h, ways)
            for j in range(given.size):
                bodies.parameters[j] = given[j] + n * h * change.parameters[j]
            call(bodies, f, time, bodies.written)
            factor = 8.0 if n == 1 else -8.0 if n == -1 else -1.0 if n == 2 else 1.0
            for k in range(changed.shape[0]):
                for m in range(6):
                    changed[k, m] += factor / (12.0 * h) * bodies.written[k, m]
        for j in range(given.size):
            bodies.parameters[j] = given[j]
        move_all(bodies, ws, 0.0, ways)
        call(bodies, f, time, bodies.written)
        for k in range(bodies.link.size):
            i = bodies.link[k]
            if i >= 0:
                arm = arm_of(i, load(bodies.offset_position, k), ws)
                arms, force = cross(load_from(moved, i, 3), arm), load_from(bodies.written, k, 0)
                pull_change(wrench, i, arm, arms, force, load_from(changed, k, 0))
                store_from(wrench, i, 3, add(load_from(wrench, i, 3), load_from(changed, k, 3)))
