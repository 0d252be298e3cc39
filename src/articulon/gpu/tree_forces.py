"""Forces on a batch of states as Warp kernels: site pairs, torsional springs, Stokes drag and Brownian forces.

The laws match those of ``forces/``. Each kernel adds to the wrenches on links, about their origins in world axes, or to
the joint forces, times the factor of its channel. Sums have a fixed order, and no two threads add to the same place.
"""

from typing import Any

from articulon.gpu.devices import load_warp
from articulon.gpu.random_numbers import normal_pair, uniform_pair
from articulon.gpu.tree_algebra import (
    load3,
    load4,
    of_table3,
    of_table4,
    product,
    rotation_vector,
    store3,
)
from articulon.gpu.tree_kernels import body_rotation, kernel, kinetic_energy_of
from articulon.model.joints import REVOLUTE

wp = load_warp()

_REVOLUTE = wp.constant(REVOLUTE)


# Site pairs


@kernel
def place_sites(pairs: Any, work: Any, place: Any):
    """Compute world positions of the moving sites (3 sites, states), with a thread for each site and state."""
    k, s = wp.tid()
    i = pairs.link[k]
    at = load3(work.position, 3 * i, s) + body_rotation(work, i, s) * of_table3(pairs.local, k)
    store3(place, 3 * k, s, at)


@wp.func
def site_law(r2: Any, A: Any, B: Any, C: Any):
    """Return −U'(r)/r of U = A/r¹² − B/r⁶ + C/r."""
    inverse2 = type(r2)(1.0) / r2
    inverse6 = inverse2 * inverse2 * inverse2
    repulsion = type(r2)(12.0) * A * inverse6 * inverse6
    return (repulsion - type(r2)(6.0) * B * inverse6 + C * wp.sqrt(inverse2)) * inverse2


@kernel
def pair_forces(pairs: Any, place: Any, force: Any):
    """Compute −∇U at every moving site (3 sites, states); each sums over its own partners in a fixed order."""
    k, s = wp.tid()
    moving = pairs.link.shape[0]
    here = load3(place, 3 * k, s)
    total = here * here.dtype(0.0)
    for run in range(pairs.start[k], pairs.start[k + 1]):
        A = pairs.law[run, 0]
        B = pairs.law[run, 1]
        C = pairs.law[run, 2]
        for p in range(pairs.low[run], pairs.high[run]):
            d = here
            if p < moving:
                d = here - load3(place, 3 * p, s)
            else:  # the partner is on the ground
                d = here - of_table3(pairs.standing, p - moving)
            total = total + site_law(wp.dot(d, d), A, B, C) * d
    store3(force, 3 * k, s, total)


@kernel
def site_wrenches(pairs: Any, work: Any, place: Any, force: Any, factor: Any):
    """Add the forces on sites to the wrenches of their links, with a thread for each of these links and state."""
    c, s = wp.tid()
    i = pairs.carrier[c]
    origin = load3(work.position, 3 * i, s)
    f = origin * origin.dtype(0.0)
    n = f
    for at in range(pairs.carried_start[c], pairs.carried_start[c + 1]):
        k = pairs.carried[at]
        one = load3(force, 3 * k, s)
        f = f + one
        n = n + wp.cross(load3(place, 3 * k, s) - origin, one)
    store3(work.wrench, 6 * i, s, load3(work.wrench, 6 * i, s) + factor * f)
    store3(work.wrench, 6 * i + 3, s, load3(work.wrench, 6 * i + 3, s) + factor * n)


# Torsional springs


@kernel
def spring_torques(springs: Any, y: Any, work: Any, factor: Any):
    """Add −k φ to the joint forces, with a thread for each state."""
    s = wp.tid()
    for k in range(springs.kind.shape[0]):
        q = springs.q[k]
        u = springs.u[k]
        stiffness = factor * springs.stiffness[k]
        rest = of_table4(springs.rest, k)
        if springs.kind[k] == _REVOLUTE:
            work.tau[u, s] = work.tau[u, s] - stiffness * (y[q, s] - rest[0])
        else:
            back = wp.vector(rest[0], -rest[1], -rest[2], -rest[3])
            turned = rotation_vector(product(back, load4(y, q, s)))
            store3(work.tau, u, s, load3(work.tau, u, s) - stiffness * turned)


# Drag and noise


@kernel
def friction(forest: Any, drag: Any, work: Any, held: Any, damping: Any, stochastic: Any, thermal: Any):
    """Add Stokes drag in a linear flow, times ``damping``, and the held Brownian forces (6 bodies, states), times
    ``stochastic``, on the bodies with drag; a thread for each state.

    If ``thermal``, ½ kT of all degrees of freedom, is positive, the noise is at the instantaneous kinetic temperature
    (Guy 2018, 3.13)."""
    s = wp.tid()
    size = stochastic
    if thermal > type(thermal)(0.0):
        size = stochastic * wp.sqrt(kinetic_energy_of(forest, work, s) / thermal)
    for k in range(drag.link.shape[0]):
        i = drag.link[k]
        w = load3(work.twist, 6 * i + 3, s)
        c = body_rotation(work, i, s) * of_table3(drag.centre, k)
        v = load3(work.twist, 6 * i, s) + wp.cross(w, c) - of_table3(drag.flow, k)
        force = -drag.translational[k] * v
        moment = -drag.rotational[k] * w
        if drag.pull.shape[0] > 0:
            at = load3(work.position, 3 * i, s) + c
            for j in range(3):
                force[j] += wp.dot(of_table3(drag.pull, 3 * k + j), at)
            moment = moment + of_table3(drag.turn, k)
        force = damping * force
        moment = damping * moment
        if held.shape[0] > 0:
            force = force + size * load3(held, 6 * k, s)
            moment = moment + size * load3(held, 6 * k + 3, s)
        store3(work.wrench, 6 * i, s, load3(work.wrench, 6 * i, s) + force)
        store3(work.wrench, 6 * i + 3, s, load3(work.wrench, 6 * i + 3, s) + moment + wp.cross(c, force))


@wp.func
def on_sphere(a: Any, b: Any):
    """Return a direction from two uniform numbers, times √3: mean 0 and variance 1 in each component."""
    height = wp.float64(2.0) * a - wp.float64(1.0)
    angle = wp.float64(6.283185307179586) * b
    around = wp.sqrt(wp.float64(3.0) * (wp.float64(1.0) - height * height))
    return wp.vec3d(around * wp.cos(angle), around * wp.sin(angle), wp.sqrt(wp.float64(3.0)) * height)


@wp.func
def unit_pair(shape: int, seed: Any, stream: Any, window: Any, index: Any):
    """Return two triples of random numbers of mean 0 and variance 1 in a published shape; see
    ``forces/brownian.py``."""
    at = wp.uint64(3) * index
    if shape == 1:
        a, b = normal_pair(seed, stream, window, at)
        c, d = normal_pair(seed, stream, window, at + wp.uint64(1))
        e, f = normal_pair(seed, stream, window, at + wp.uint64(2))
        return wp.vec3d(a, b, c), wp.vec3d(d, e, f)
    a, b = uniform_pair(seed, stream, window, at)
    c, d = uniform_pair(seed, stream, window, at + wp.uint64(1))
    if shape == 3:
        return on_sphere(a, b), on_sphere(c, d)
    e, f = uniform_pair(seed, stream, window, at + wp.uint64(2))
    size = wp.sqrt(wp.float64(12.0))
    middle = wp.vec3d(wp.float64(0.5), wp.float64(0.5), wp.float64(0.5))
    return size * (wp.vec3d(a, b, c) - middle), size * (wp.vec3d(d, e, f) - middle)


@kernel
def draw_noise(noise: Any, seeds: Any, clock: Any, drawn: Any, held: Any):
    """Compute forces and torques of the held window ``clock[0]`` as the mean of its fine windows, with a thread for
    each body with drag and state; numbers already drawn for this window are kept."""
    k, s = wp.tid()
    window = clock[0]
    if drawn[k, s] == window:
        return
    drawn[k, s] = window
    force = wp.vec3d()
    torque = wp.vec3d()
    for fine in range(noise.average):
        at = wp.uint64(window) * wp.uint64(noise.average) + wp.uint64(fine)
        first, second = unit_pair(noise.shape, seeds[s], wp.uint64(noise.stream), at, wp.uint64(k))
        force = force + first
        torque = torque + second
    for j in range(3):
        held[6 * k + j, s] = held.dtype(noise.amplitude[k, 0] * force[j])
        held[6 * k + 3 + j, s] = held.dtype(noise.amplitude[k, 1] * torque[j])
