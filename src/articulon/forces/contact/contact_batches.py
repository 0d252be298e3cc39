"""Contact law for several contacts at once, as a few vector loops over the fields of a batch.

A single loop over contacts would wait for the square roots and divisions of each contact before it begins with the
next.
"""

import math
from typing import Any

import numpy as np

from articulon.forces.contact.contact_columns import BATCH, LAW, STATISTICS
from articulon.forces.contact.contact_law import TINY
from articulon.forces.contact.contact_powers import surface_velocity
from articulon.forces.contact.contact_tables import FRICTION_WORK, PARTS, SLIDES, SPRING_WORK, STICKS, VISCOUS_WORK
from articulon.kernels import jit

LANES = 32
"""Number of contacts whose law is evaluated together."""
STRIDE = 36
"""Stride between fields of a batch: a few more than ``LANES``, so that fields do not all map to the same cache
lines."""
CARRIED: Any = None
CONTACT_WIDTH: Any = None
DAMPING_OF: Any = None
FORCES: Any = None
ARMS: Any = None
VISCOUS_BEFORE: Any = None
"""Placeholders for the parts of the law."""
ONE_KIND = False
"""Whether there is only one kind of sphere."""
RESTORES, LAMMPS = True, False
"""Same constants as in ``contact_law.py``."""


@jit
def put(batch, field, k, value):
    """Set a field of the k-th contact. The index is unsigned, so that the compiler omits the check for negative
    indices."""
    batch[np.uint64(field * STRIDE) + np.uint64(k)] = value


@jit
def get(batch, field, k):
    """Return a field of the k-th contact."""
    return batch[np.uint64(field * STRIDE) + np.uint64(k)]


@jit
def put3(batch, field, k, v):
    """Set a vector of the k-th contact, in the loops below."""
    batch[field * STRIDE + k], batch[(field + 1) * STRIDE + k], batch[(field + 2) * STRIDE + k] = v


@jit
def get3(batch, field, k):
    """Return a vector of the k-th contact, in the loops below."""
    return batch[field * STRIDE + k], batch[(field + 1) * STRIDE + k], batch[(field + 2) * STRIDE + k]


@jit
def entry(batch, column, k, one):
    """Return a column of the law table for the k-th contact; ``one`` if there is only one kind."""
    return one if ONE_KIND else batch[(BATCH.law + column) * STRIDE + k]


@jit
def active(batch, k):
    """Return whether a contact was active (stuck or slid) at the last evaluation, and whether it is now: 1 or 0."""
    state = batch[BATCH.touches * STRIDE + k]
    here = 1.0 if state < PARTS else 0.0
    before = state - PARTS * (1.0 - here)
    slid = max(before - STICKS, 0.0)
    return before - SLIDES * slid, slid, here


@jit
def measure(batch, count, rows):
    """Compute normals, arms and overlaps, and the quantities that depend only on these."""
    c0 = rows[0, LAW.damping]
    for k in range(count):
        xi, yi, zi = get3(batch, BATCH.position_i, k)
        xj, yj, zj = get3(batch, BATCH.position_j, k)
        dx, dy, dz = xi - xj, yi - yj, zi - zj
        Ri, Rj = batch[BATCH.radius_i * STRIDE + k], batch[BATCH.radius_j * STRIDE + k]
        inverse_mass = batch[BATCH.inverse_mass_i * STRIDE + k] + batch[BATCH.inverse_mass_j * STRIDE + k]
        r = math.sqrt(dx * dx + dy * dy + dz * dz)
        reach, least = Ri + Rj, min(Ri, Rj)
        # One division instead of four.
        here, there = reach * inverse_mass, r * least
        inverse = 1.0 / (here * there)
        by_r, by_least, by_reach, ms = (
            inverse * here * least,
            inverse * here * r,
            inverse * there * inverse_mass,
            inverse * there * reach,
        )
        delta = reach - r
        depth = max(delta, 0.0)
        Rs = Ri * Rj * by_reach
        a = CONTACT_WIDTH(Rs, depth)
        put3(batch, BATCH.new_normal, k, (dx * by_r, dy * by_r, dz * by_r))
        batch[BATCH.contact_width * STRIDE + k] = a
        batch[BATCH.depth * STRIDE + k] = depth
        batch[BATCH.damping * STRIDE + k] = DAMPING_OF(a, ms, entry(batch, LAW.damping, k, c0))
        batch[BATCH.mass * STRIDE + k] = ms
        batch[BATCH.relative_depth * STRIDE + k] = depth * by_least
        batch[BATCH.size * STRIDE + k] = Rs
        batch[BATCH.overlap * STRIDE + k] = delta


@jit
def find_velocities(batch, count):
    """Compute the relative velocities of the surfaces."""
    for k in range(count):
        ai, aj, bi, bj = ARMS(
            batch[BATCH.radius_i * STRIDE + k], batch[BATCH.radius_j * STRIDE + k], batch[BATCH.depth * STRIDE + k]
        )
        batch[BATCH.new_arm * STRIDE + k] = bi
        batch[BATCH.new_other_arm * STRIDE + k] = bj
        nx, ny, nz = get3(batch, BATCH.new_normal, k)
        wix, wiy, wiz = get3(batch, BATCH.angular_velocity_i, k)
        wjx, wjy, wjz = get3(batch, BATCH.angular_velocity_j, k)
        vix, viy, viz = get3(batch, BATCH.velocity_i, k)
        vjx, vjy, vjz = get3(batch, BATCH.velocity_j, k)
        ux, uy, uz = surface_velocity(vix - vjx, viy - vjy, viz - vjz, ai, wix, wiy, wiz, aj, wjx, wjy, wjz, nx, ny, nz)
        put3(batch, BATCH.surface_velocity, k, (ux, uy, uz))
        batch[BATCH.new_closing * STRIDE + k] = ux * nx + uy * ny + uz * nz


@jit
def turn(batch, count, h):
    """Rotate the tangential displacements into the new tangent planes."""
    for k in range(count):
        nx, ny, nz = get3(batch, BATCH.new_normal, k)
        wix, wiy, wiz = get3(batch, BATCH.angular_velocity_i, k)
        wjx, wjy, wjz = get3(batch, BATCH.angular_velocity_j, k)
        spin = 0.5 * ((wix + wjx) * nx + (wiy + wjy) * ny + (wiz + wjz) * nz)
        x, y, z = get3(batch, BATCH.old_displacement, k)
        put3(batch, BATCH.rotated, k, CARRIED(x, y, z, nx, ny, nz, spin, h))


@jit
def act(batch, count, h, rows):
    """Compute the forces."""
    k0, kt0, ct0, s0, m0 = (
        rows[0, LAW.stiffness],
        rows[0, LAW.shear],
        rows[0, LAW.tangential_damping],
        rows[0, LAW.static_friction],
        rows[0, LAW.kinetic_friction],
    )
    for k in range(count):
        nx, ny, nz = get3(batch, BATCH.new_normal, k)
        vx, vy, vz = get3(batch, BATCH.surface_velocity, k)
        x, y, z = get3(batch, BATCH.rotated, k)
        elastic, viscous, fx, fy, fz, wx, wy, wz, slides, x, y, z = FORCES(
            batch[BATCH.depth * STRIDE + k],
            batch[BATCH.contact_width * STRIDE + k],
            batch[BATCH.mass * STRIDE + k],
            batch[BATCH.damping * STRIDE + k],
            nx,
            ny,
            nz,
            vx,
            vy,
            vz,
            x,
            y,
            z,
            batch[BATCH.old_closing * STRIDE + k],
            h,
            entry(batch, LAW.stiffness, k, k0),
            entry(batch, LAW.shear, k, kt0),
            entry(batch, LAW.tangential_damping, k, ct0),
            entry(batch, LAW.static_friction, k, s0),
            entry(batch, LAW.kinetic_friction, k, m0),
        )
        here = active(batch, k)[2]
        put3(batch, BATCH.new_displacement, k, (x, y, z))
        put3(batch, BATCH.tangential, k, (here * fx, here * fy, here * fz))
        batch[BATCH.viscous * STRIDE + k] = here * viscous
        batch[BATCH.new_elastic * STRIDE + k] = here * elastic
        put3(batch, BATCH.new_tangential_viscous, k, (here * wx, here * wy, here * wz))
        batch[BATCH.slides * STRIDE + k] = slides


@jit
def sum_forces(batch, count):
    """Compute the total forces, for records."""
    for k in range(count):
        nx, ny, nz = get3(batch, BATCH.new_normal, k)
        fx, fy, fz = get3(batch, BATCH.tangential, k)
        pull = batch[BATCH.new_elastic * STRIDE + k] + batch[BATCH.viscous * STRIDE + k]
        put3(batch, BATCH.new_force, k, (pull * nx + fx, pull * ny + fy, pull * nz + fz))


@jit
def lever(batch, k):
    """Difference between the relative surface velocities with the arms for torques and with the arms for velocities;
    zero except in the convention of LAMMPS."""
    if not LAMMPS:
        return 0.0, 0.0, 0.0
    ai, aj, bi, bj = ARMS(
        batch[BATCH.radius_i * STRIDE + k], batch[BATCH.radius_j * STRIDE + k], batch[BATCH.depth * STRIDE + k]
    )
    wix, wiy, wiz = get3(batch, BATCH.angular_velocity_i, k)
    wjx, wjy, wjz = get3(batch, BATCH.angular_velocity_j, k)
    nx, ny, nz = get3(batch, BATCH.new_normal, k)
    return surface_velocity(0.0, 0.0, 0.0, bi - ai, wix, wiy, wiz, bj - aj, wjx, wjy, wjz, nx, ny, nz)


@jit
def book(batch, count, h, rows, statistics):
    """Add to the ledger lines of a block the work of contacts since the last evaluation, a time h ago: the mean of the
    previous and current forces times the displacement of the surfaces. This is the trapezoidal rule. It is of second
    order in h/t_c, except in the first step of a contact, and of first order in h v/R, the angle by which the normal
    rotates.

    Previous forces are those of the law at the overlap δ + h v_n, with the stored tangential displacement. The
    magnitude of previous friction follows from the previous normal force. Its direction is that of the trial force k ξ'
    + c v, with the stored displacement ξ' and, in place of the previous velocity v⁻, the current one. The work of the
    previous damping force −γ v⁻ over the current displacement h v is −½ h γ (v⁻² + v²) to second order; its first part
    was already booked in the previous step, so that no velocity has to be stored. A contact that has ended adds the
    second half of its last work.
    """
    k0, kt0, c0, ct0 = rows[0, LAW.stiffness], rows[0, LAW.shear], rows[0, LAW.damping], rows[0, LAW.tangential_damping]
    m0 = rows[0, LAW.kinetic_friction]
    spring, viscous, friction, viscous_to_come, friction_to_come = 0.0, 0.0, 0.0, 0.0, 0.0
    for k in range(count):
        nx, ny, nz = get3(batch, BATCH.new_normal, k)
        ux, uy, uz = get3(batch, BATCH.surface_velocity, k)
        x, y, z = get3(batch, BATCH.rotated, k)
        fx, fy, fz = get3(batch, BATCH.tangential, k)
        wx, wy, wz = get3(batch, BATCH.new_tangential_viscous, k)
        ex, ey, ez = lever(batch, k)
        vn, ms = batch[BATCH.new_closing * STRIDE + k], batch[BATCH.mass * STRIDE + k]
        stuck, slid, here = active(batch, k)
        sx, sy, sz = ux - vn * nx, uy - vn * ny, uz - vn * nz
        tx, ty, tz = sx + ex, sy + ey, sz + ez
        depth = max(batch[BATCH.overlap * STRIDE + k] + h * vn, 0.0)
        a = CONTACT_WIDTH(batch[BATCH.size * STRIDE + k], depth)
        damping = DAMPING_OF(a, ms, entry(batch, LAW.damping, k, c0))
        stretched = -entry(batch, LAW.shear, k, kt0) * a * (x * tx + y * ty + z * tz)
        stretches = (fx - wx) * tx + (fy - wy) * ty + (fz - wz) * tz
        v2, ct = sx * tx + sy * ty + sz * tz, entry(batch, LAW.tangential_damping, k, ct0)
        damped = 0.5 * ct * (damping if RESTORES else ms) * v2
        damps = 0.5 * ct * (batch[BATCH.damping * STRIDE + k] if RESTORES else ms) * v2
        slides = here * batch[BATCH.slides * STRIDE + k]
        sticks = here - slides
        if LAMMPS:  # a spring that is not yet stretched gives no friction
            gx, gy, gz = get3(batch, BATCH.new_displacement, k)
            slid = slid if x * x + y * y + z * z > 0.0 else 0.0
            slides = slides if gx * gx + gy * gy + gz * gz > 0.0 else 0.0
        elastic = entry(batch, LAW.stiffness, k, k0) * a * depth
        pull = VISCOUS_BEFORE(elastic, damping, batch[BATCH.old_closing * STRIDE + k], vn)
        slips = stretched - damped
        if not LAMMPS:  # previous friction: limited by the normal force, along the trial force
            eta = ct * (damping if RESTORES else ms)
            kt = entry(batch, LAW.shear, k, kt0) * a
            gx, gy, gz = kt * x + eta * sx, kt * y + eta * sy, kt * z + eta * sz
            along = gx * tx + gy * ty + gz * tz
            size = math.sqrt(gx * gx + gy * gy + gz * gz)
            slips = -entry(batch, LAW.kinetic_friction, k, m0) * abs(elastic + pull) * along / max(size, TINY)
        spring += stuck * stretched + sticks * stretches
        friction += slid * slips + slides * stretches
        viscous += (
            ((stuck + slid) * pull + batch[BATCH.viscous * STRIDE + k]) * vn - stuck * damped - 2.0 * sticks * damps
        )
        viscous_to_come -= sticks * damps
        friction_to_come -= slides * damps if LAMMPS else 0.0
    statistics[SPRING_WORK] += 0.5 * h * spring
    statistics[VISCOUS_WORK] += 0.5 * h * viscous
    statistics[FRICTION_WORK] += 0.5 * h * friction
    statistics[STATISTICS.viscous_to_come] += viscous_to_come
    statistics[STATISTICS.friction_to_come] += friction_to_come


@jit
def list_loads(batch, count):
    """Store the loads of each contact in place of the first fields; torques are those for arms of unit length."""
    for k in range(count):
        nx, ny, nz = get3(batch, BATCH.new_normal, k)
        fx, fy, fz = get3(batch, BATCH.tangential, k)
        pull = batch[BATCH.new_elastic * STRIDE + k] + batch[BATCH.viscous * STRIDE + k]
        put3(batch, BATCH.load_force, k, (pull * nx + fx, pull * ny + fy, pull * nz + fz))
        put3(batch, BATCH.load_torque, k, (nz * fy - ny * fz, nx * fz - nz * fx, ny * fx - nx * fy))
        batch[BATCH.load_force_spare * STRIDE + k] = 0.0
        batch[BATCH.load_torque_spare * STRIDE + k] = 0.0
