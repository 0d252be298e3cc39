"""The law of some contacts at once, as a few vector loops over the fields of a batch.

One loop with all of it would wait for one contact's roots and quotients before it began with the next ones.
"""

import math
from typing import Any

import numpy as np

from articulon.forces.contact.laws import DAMPING, KINETIC, SHEAR, STATIC, STIFFNESS, TANGENTIAL_DAMPING
from articulon.forces.contact.powers import surface_velocity
from articulon.forces.contact.tables import (
    ARM,
    CLOSING,
    DISPLACEMENT,
    ELASTIC,
    ELASTIC_FORCE,
    FORCE,
    FRICTION_FORCE,
    FRICTION_TORQUE,
    MEMORY,
    NORMAL,
    OTHER_ARM,
    SPRING_FORCE,
    SPRING_TORQUE,
    TANGENTIAL_VISCOUS,
    VISCOUS_FORCE,
    VISCOUS_TORQUE,
)
from articulon.kernels import jit

LANES = 32
"""Contacts whose law is evaluated together."""
STRIDE = 40
"""From one of their fields to the next: some more, so that not all of them lie in the same lines of the cache."""
APART, RADII, LIGHTS, CLOSING_IN, SPIN_I, SPIN_J, OLD = 0, 3, 5, 6, 9, 12, 15
"""Fields that are gathered: vector from j to i, the two radii, the sum of the inverse masses, relative velocity,
angular velocities, and what is remembered of the contact."""
TABLE = OLD + MEMORY
"""The row of the table, where there are several kinds."""
WIDTH, DEPTH, DAMPED, MASS, SURFACE, TURNED = 25, 26, 27, 28, 29, 32
"""Between the loops: ``contact_width``, overlap, ``damping_of``, m*, velocity of the surfaces, and tangential
displacement in the new tangent plane."""
VISCOUS, ACROSS = 35, 36
"""Viscous normal force, and tangential force."""
NEW, SLIDES_NOW, DEEP = 39, 55, 56
"""The record as it will be, whether the surfaces slide, and the overlap by the smaller radius."""
FIELDS = 57
OLD_DISPLACEMENT, OLD_CLOSING = OLD + DISPLACEMENT, OLD + CLOSING
NEW_DISPLACEMENT, NEW_CLOSING, NEW_FORCE, NEW_ELASTIC, NEW_NORMAL, NEW_ARM, NEW_VISCOUS, NEW_OTHER_ARM = (
    NEW + column for column in (DISPLACEMENT, CLOSING, FORCE, ELASTIC, NORMAL, ARM, TANGENTIAL_VISCOUS, OTHER_ARM)
)
RADIUS_I, RADIUS_J = RADII, RADII + 1
NORMAL_Y, NORMAL_Z = NEW_NORMAL + 1, NEW_NORMAL + 2
ACROSS_Y, ACROSS_Z = ACROSS + 1, ACROSS + 2
VISCOUS_Y, VISCOUS_Z = NEW_VISCOUS + 1, NEW_VISCOUS + 2
"""Named, since a loop whose indices have sums of constants in them does not become a vector loop."""
CARRIED: Any = None
CONTACT_WIDTH: Any = None
DAMPING_OF: Any = None
FORCES: Any = None
ARMS: Any = None
"""Stand for the parts of the law."""
ONE_KIND = False
"""Whether there is but one kind."""


@jit
def put(batch, field, k, value):
    """Sets a field of the k-th contact. An index without a sign is not counted from the end."""
    batch[np.uint64(field * STRIDE) + np.uint64(k)] = value


@jit
def get(batch, field, k):
    """A field of the k-th contact."""
    return batch[np.uint64(field * STRIDE) + np.uint64(k)]


@jit
def put3(batch, field, k, v):
    """Sets a vector of the k-th contact, in the loops below."""
    batch[field * STRIDE + k], batch[(field + 1) * STRIDE + k], batch[(field + 2) * STRIDE + k] = v


@jit
def get3(batch, field, k):
    """A vector of the k-th contact, in the loops below."""
    return batch[field * STRIDE + k], batch[(field + 1) * STRIDE + k], batch[(field + 2) * STRIDE + k]


@jit
def entry(batch, column, k, one):
    """A column of the table for the k-th contact; ``one`` where there is but one kind."""
    return one if ONE_KIND else batch[(TABLE + column) * STRIDE + k]


@jit
def measure(batch, count, rows):
    """Normals, arms and overlaps, with what depends on these alone."""
    c0 = rows[0, DAMPING]
    for k in range(count):
        dx, dy, dz = get3(batch, APART, k)
        Ri, Rj, light = get3(batch, RADII, k)
        r = math.sqrt(dx * dx + dy * dy + dz * dz)
        reach, least = Ri + Rj, min(Ri, Rj)
        # One division for four quotients.
        here, there = reach * light, r * least
        inverse = 1.0 / (here * there)
        by_r, by_least, by_reach, ms = (
            inverse * here * least,
            inverse * here * r,
            inverse * there * light,
            inverse * there * reach,
        )
        delta = reach - r
        depth = max(delta, 0.0)
        a = CONTACT_WIDTH(Ri * Rj * by_reach, depth)
        put3(batch, NEW_NORMAL, k, (dx * by_r, dy * by_r, dz * by_r))
        batch[WIDTH * STRIDE + k] = a
        batch[DEPTH * STRIDE + k] = depth
        batch[DAMPED * STRIDE + k] = DAMPING_OF(a, ms, entry(batch, DAMPING, k, c0))
        batch[MASS * STRIDE + k] = ms
        batch[DEEP * STRIDE + k] = depth * by_least


@jit
def find_velocities(batch, count):
    """Velocities of the surfaces."""
    for k in range(count):
        ai, aj, bi, bj = ARMS(batch[RADIUS_I * STRIDE + k], batch[RADIUS_J * STRIDE + k], batch[DEPTH * STRIDE + k])
        batch[NEW_ARM * STRIDE + k] = bi
        batch[NEW_OTHER_ARM * STRIDE + k] = bj
        nx, ny, nz = get3(batch, NEW_NORMAL, k)
        wix, wiy, wiz = get3(batch, SPIN_I, k)
        wjx, wjy, wjz = get3(batch, SPIN_J, k)
        dvx, dvy, dvz = get3(batch, CLOSING_IN, k)
        ux, uy, uz = surface_velocity(dvx, dvy, dvz, ai, wix, wiy, wiz, aj, wjx, wjy, wjz, nx, ny, nz)
        put3(batch, SURFACE, k, (ux, uy, uz))
        batch[NEW_CLOSING * STRIDE + k] = ux * nx + uy * ny + uz * nz


@jit
def turn(batch, count, h):
    """Tangential displacements in the new tangent planes."""
    for k in range(count):
        nx, ny, nz = get3(batch, NEW_NORMAL, k)
        wix, wiy, wiz = get3(batch, SPIN_I, k)
        wjx, wjy, wjz = get3(batch, SPIN_J, k)
        spin = 0.5 * ((wix + wjx) * nx + (wiy + wjy) * ny + (wiz + wjz) * nz)
        x, y, z = get3(batch, OLD_DISPLACEMENT, k)
        put3(batch, TURNED, k, CARRIED(x, y, z, nx, ny, nz, spin, h))


@jit
def act(batch, count, h, rows):
    """The forces."""
    k0, kt0, ct0, s0, m0 = (
        rows[0, STIFFNESS],
        rows[0, SHEAR],
        rows[0, TANGENTIAL_DAMPING],
        rows[0, STATIC],
        rows[0, KINETIC],
    )
    for k in range(count):
        nx, ny, nz = get3(batch, NEW_NORMAL, k)
        vx, vy, vz = get3(batch, SURFACE, k)
        x, y, z = get3(batch, TURNED, k)
        elastic, viscous, fx, fy, fz, wx, wy, wz, slides, x, y, z = FORCES(
            batch[DEPTH * STRIDE + k],
            batch[WIDTH * STRIDE + k],
            batch[MASS * STRIDE + k],
            batch[DAMPED * STRIDE + k],
            nx,
            ny,
            nz,
            vx,
            vy,
            vz,
            x,
            y,
            z,
            batch[OLD_CLOSING * STRIDE + k],
            h,
            entry(batch, STIFFNESS, k, k0),
            entry(batch, SHEAR, k, kt0),
            entry(batch, TANGENTIAL_DAMPING, k, ct0),
            entry(batch, STATIC, k, s0),
            entry(batch, KINETIC, k, m0),
        )
        put3(batch, NEW_DISPLACEMENT, k, (x, y, z))
        put3(batch, ACROSS, k, (fx, fy, fz))
        batch[VISCOUS * STRIDE + k] = viscous
        batch[NEW_ELASTIC * STRIDE + k] = elastic
        put3(batch, NEW_VISCOUS, k, (wx, wy, wz))
        batch[SLIDES_NOW * STRIDE + k] = slides


@jit
def sum_forces(batch, count):
    """The whole forces, for records."""
    for k in range(count):
        nx, ny, nz = get3(batch, NEW_NORMAL, k)
        fx, fy, fz = get3(batch, ACROSS, k)
        pull = batch[NEW_ELASTIC * STRIDE + k] + batch[VISCOUS * STRIDE + k]
        put3(batch, NEW_FORCE, k, (pull * nx + fx, pull * ny + fy, pull * nz + fz))


@jit
def put_row(loads, k, force, torque, f, n):
    """Writes a force, and its torque on either sphere for an arm of one length."""
    row = np.uint64(k)
    loads[row, force], loads[row, force + 1], loads[row, force + 2] = f
    loads[row, torque] = n[2] * f[1] - n[1] * f[2]
    loads[row, torque + 1] = n[0] * f[2] - n[2] * f[0]
    loads[row, torque + 2] = n[1] * f[0] - n[0] * f[1]


@jit
def list_loads(batch, count, loads):
    """What each contact does, by lines of the ledger: a row as in ``Spheres.load``, whose torques are for arms of one
    length."""
    for k in range(count):
        row = np.uint64(k)
        n = get(batch, NEW_NORMAL, k), get(batch, NORMAL_Y, k), get(batch, NORMAL_Z, k)
        f = get(batch, ACROSS, k), get(batch, ACROSS_Y, k), get(batch, ACROSS_Z, k)
        w = get(batch, NEW_VISCOUS, k), get(batch, VISCOUS_Y, k), get(batch, VISCOUS_Z, k)
        elastic, viscous = get(batch, NEW_ELASTIC, k), get(batch, VISCOUS, k)
        slides = get(batch, SLIDES_NOW, k)
        sticks = 1.0 - slides
        f = f[0] - w[0], f[1] - w[1], f[2] - w[2]
        for a in range(3):
            loads[row, ELASTIC_FORCE + a] = elastic * n[a]
        put_row(loads, k, SPRING_FORCE, SPRING_TORQUE, (sticks * f[0], sticks * f[1], sticks * f[2]), n)
        put_row(loads, k, FRICTION_FORCE, FRICTION_TORQUE, (slides * f[0], slides * f[1], slides * f[2]), n)
        put_row(loads, k, VISCOUS_FORCE, VISCOUS_TORQUE, w, n)
        for a in range(3):
            loads[row, VISCOUS_FORCE + a] += viscous * n[a]
