"""Derivatives of Brownian forces on a fixed noise path. The normal random numbers of a time window are held fixed, and
only their amplitude depends on the body's drag and the temperature.

A force F is drawn from N(0, v/Δ) along the world axes, with v = 2 β k T, drag coefficient β and window length Δ. It
changes by F δv/2v.
"""

from articulon.algebra.vectors import add, apply, apply_t, cross, dot, load, load_from, load_matrix, scale, store
from articulon.dynamics.derivatives.composites import add_from
from articulon.dynamics.derivatives.motion_columns import load_motion
from articulon.forces.brownian import noise_wrenches
from articulon.passes import pass_of


@pass_of
def held_noise_wrenches(drag, ws, held, wrench):
    """Compute the wrench of held noise on each link alone (links, 6); the wrenches of a step are sums towards the
    roots."""
    wrench[:] = 0.0
    noise_wrenches(drag, ws, held, 1.0, wrench)


@pass_of
def noise_adjoint(drag, noise, ws, held, motion, by_place, by_centre, by_variance):
    """Add the derivatives of V·F + Ω·N with respect to rotations of links (links, 6), centres and variances (bodies,
    2). F and N are the force and the torque of the noise, V is the virtual velocity of the centre of mass, and Ω the
    virtual angular velocity."""
    for k in range(drag.link.size):
        i = drag.link[k]
        R = load_matrix(ws.rotation, i)
        c, (turning, way) = apply(R, load(drag.centre, k)), load_motion(motion, i, 0)
        force, torque = load_from(held, k, 0), load_from(held, k, 3)
        arm = cross(force, turning)
        add_from(by_place, i, 3, cross(c, arm))
        store(by_centre, k, add(load(by_centre, k), apply_t(R, arm)))
        for m in range(2):
            variance = noise.amplitude[k, m] * noise.amplitude[k, m]
            power = dot(turning, torque) if m == 1 else dot(add(way, cross(turning, c)), force)
            if variance > 0.0:
                by_variance[k, m] += 0.5 * power / variance


@pass_of
def noise_tangent(drag, noise, ws, held, moved, by_centre, by_variance, wrench):
    """Add the changes of the noise to the wrenches (links, 6)."""
    for k in range(drag.link.size):
        i = drag.link[k]
        R = load_matrix(ws.rotation, i)
        c = apply(R, load(drag.centre, k))
        dc = add(cross(load_from(moved, i, 3), c), apply(R, load(by_centre, k)))
        force, torque, size = load_from(held, k, 0), load_from(held, k, 3), (0.0, 0.0)
        first, second = noise.amplitude[k, 0] ** 2, noise.amplitude[k, 1] ** 2
        size = (
            0.5 * by_variance[k, 0] / first if first > 0.0 else 0.0,
            0.5 * by_variance[k, 1] / second if second > 0.0 else 0.0,
        )
        moment = add(scale(size[1], torque), cross(dc, force))
        force = scale(size[0], force)
        add_from(wrench, i, 0, force)
        add_from(wrench, i, 3, add(moment, cross(c, force)))
