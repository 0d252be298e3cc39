"""The law of some contacts at once, as a few vector loops over the fields of a batch.

One loop with all of it would wait for one contact's roots and quotients before it began with the next ones.
"""

import math
from typing import Any

import numpy as np

from articulon.forces.contact.laws import DAMPING, KINETIC, SHEAR, STATIC, STIFFNESS, TANGENTIAL_DAMPING
from articulon.forces.contact.powers import powers, surface_velocity
from articulon.forces.contact.tables import (
    ARM,
    CLOSING,
    DISPLACEMENT,
    ELASTIC,
    FORCE,
    FRICTION_WORK,
    NORMAL,
    NORMAL_WORK,
    OTHER_ARM,
    RECORD,
    SPRING_WORK,
    TANGENTIAL_VISCOUS,
    VISCOUS_WORK,
)
from articulon.kernels import jit

LANES = 32
"""Contacts whose law is evaluated together."""
STRIDE = 40
"""From one of their fields to the next: some more, so that not all of them lie in the same lines of the cache."""
APART, RADII, LIGHTS, CLOSING_IN, SPIN_I, SPIN_J, SLID, OLD = 0, 3, 5, 6, 9, 12, 15, 16
"""Fields that are gathered: vector from j to i, the two radii, the sum of the inverse masses, relative velocity,
angular velocities, whether the surfaces slid, and the record."""
TABLE = OLD + RECORD
"""The row of the table, where there are several kinds."""
WIDTH, DEPTH, DAMPED, MASS, SURFACE, TURNED, TURNING = 38, 39, 40, 41, 42, 45, 48
"""Between the loops: ``contact_width``, overlap, ``damping_of``, m*, velocity of the surfaces, tangential displacement
in the new tangent plane, and the velocity at the arms of the torques."""
NEW, SLIDES_NOW, DEEP = 51, 67, 68
"""The record as it will be, whether the surfaces slide, and the overlap by the smaller radius."""
FIELDS = 69
OLD_DISPLACEMENT, OLD_CLOSING, OLD_FORCE, OLD_ELASTIC, OLD_NORMAL, OLD_ARM, OLD_VISCOUS, OLD_OTHER_ARM = (
    OLD + column for column in (DISPLACEMENT, CLOSING, FORCE, ELASTIC, NORMAL, ARM, TANGENTIAL_VISCOUS, OTHER_ARM)
)
NEW_DISPLACEMENT, NEW_CLOSING, NEW_FORCE, NEW_ELASTIC, NEW_NORMAL, NEW_ARM, NEW_VISCOUS, NEW_OTHER_ARM = (
    NEW + column for column in (DISPLACEMENT, CLOSING, FORCE, ELASTIC, NORMAL, ARM, TANGENTIAL_VISCOUS, OTHER_ARM)
)
RADIUS_I, RADIUS_J = RADII, RADII + 1
"""Named, since a loop whose indices have sums of constants in them does not become a vector loop."""
CARRIED: Any = None
CONTACT_WIDTH: Any = None
DAMPING_OF: Any = None
FORCES: Any = None
ARMS: Any = None
"""Stand for the parts of the law."""
ONE_KIND, TWO_ARMS = False, False
"""Whether there is but one kind, and whether velocities and torques have arms of their own."""


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
def book_old(batch, count, sums):
    """What the old forces do at the velocities of this half step."""
    normal_work, spring_work, viscous_work, friction_work = 0.0, 0.0, 0.0, 0.0
    for k in range(count):
        nx, ny, nz = get3(batch, OLD_NORMAL, k)
        fx, fy, fz = get3(batch, OLD_FORCE, k)
        wx, wy, wz = get3(batch, OLD_VISCOUS, k)
        dvx, dvy, dvz = get3(batch, CLOSING_IN, k)
        wix, wiy, wiz = get3(batch, SPIN_I, k)
        wjx, wjy, wjz = get3(batch, SPIN_J, k)
        ai, aj = batch[OLD_ARM * STRIDE + k], batch[OLD_OTHER_ARM * STRIDE + k]
        elastic, slid = batch[OLD_ELASTIC * STRIDE + k], batch[SLID * STRIDE + k]
        ux, uy, uz = surface_velocity(dvx, dvy, dvz, ai, wix, wiy, wiz, aj, wjx, wjy, wjz, nx, ny, nz)
        p0, p1, p2, p3 = powers(nx, ny, nz, elastic, fx, fy, fz, wx, wy, wz, slid > 0.5, ux, uy, uz)
        normal_work += p0
        spring_work += p1
        viscous_work += p2
        friction_work += p3
    sums[NORMAL_WORK] += normal_work
    sums[SPRING_WORK] += spring_work
    sums[VISCOUS_WORK] += viscous_work
    sums[FRICTION_WORK] += friction_work


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
        if TWO_ARMS:
            put3(batch, TURNING, k, surface_velocity(dvx, dvy, dvz, bi, wix, wiy, wiz, bj, wjx, wjy, wjz, nx, ny, nz))


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
def act(batch, count, h, rows, sums):
    """The forces, and what they do at the velocities of this half step."""
    normal_work, spring_work, viscous_work, friction_work = 0.0, 0.0, 0.0, 0.0
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
        pull = elastic + viscous
        fx, fy, fz = pull * nx + fx, pull * ny + fy, pull * nz + fz
        put3(batch, NEW_DISPLACEMENT, k, (x, y, z))
        put3(batch, NEW_FORCE, k, (fx, fy, fz))
        batch[NEW_ELASTIC * STRIDE + k] = elastic
        put3(batch, NEW_VISCOUS, k, (wx, wy, wz))
        batch[SLIDES_NOW * STRIDE + k] = slides
        if TWO_ARMS:
            vx, vy, vz = get3(batch, TURNING, k)
        p0, p1, p2, p3 = powers(nx, ny, nz, elastic, fx, fy, fz, wx, wy, wz, slides > 0.5, vx, vy, vz)
        normal_work += p0
        spring_work += p1
        viscous_work += p2
        friction_work += p3
    sums[NORMAL_WORK] += normal_work
    sums[SPRING_WORK] += spring_work
    sums[VISCOUS_WORK] += viscous_work
    sums[FRICTION_WORK] += friction_work
