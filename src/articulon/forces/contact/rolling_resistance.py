"""The pass that computes rolling and twisting resistance of contacts.

Two spheres with relative angular velocity w = ω_i − ω_j roll at v = R* w × n, as if they touched at a distance R*. A
spring and a damper oppose the rolling displacement ∫ v dt with F_r = −k_r ξ_r − c_r v, of magnitude at most μ_r F_n.
F_r is not a net force on the spheres: it only defines the couple R* n × F_r on i and the opposite couple on j (Luding,
Granular Matter 10, 235, 2008; Santos et al., Phys. Rev. E 102, 032903, 2020). The twist about the normal is opposed in
the same way, by a couple of at most μ_t F_n with μ_t a length.

Couples are evaluated after the forces of a contact, from its normal force. Their work is booked as friction.
"""

import math
from typing import Any

import numpy as np
from numba import prange

from articulon.algebra.vectors import add, cross, dot, load_from, scale, store_from, sub
from articulon.forces.contact.contact_columns import LAW, LOAD, MOTION, RECORD, RESISTANCE, WALL_POSE
from articulon.forces.contact.contact_law import TINY, carried
from articulon.forces.contact.contact_tables import FREE, FRICTION_WORK, PLACES
from articulon.kernels import jit

HERTZ = True
"""Whether stiffnesses grow with √δ."""


@jit
def resist(record, resistance, slot, w, mean, R, delta, rows, row, h):
    """Advance the couple, the rolling displacement and the twist of a contact by a time h.

    Parameters
    ----------
    record, resistance, slot
        Record and resistance of the contact, and its slot.
    w, mean
        Angular velocity of the first body relative to the second, and the mean of the two.
    R, delta
        R* and the overlap.
    rows, row
        Law table, and the row of the two kinds.
    h
        Time since the last evaluation.
    """
    n = load_from(record, slot, RECORD.normal)
    push = abs(dot(load_from(record, slot, RECORD.force), n))
    k, c, most = rows[row, LAW.rolling_stiffness], rows[row, LAW.rolling_damping], rows[row, LAW.rolling] * push
    if k == 0.0:
        k = rows[row, LAW.shear] * (math.sqrt(R * max(delta, 0.0)) if HERTZ else 1.0)
    x, y, z = load_from(resistance, slot, RESISTANCE.roll)
    v = scale(R, cross(w, n))
    roll = add(carried(x, y, z, n[0], n[1], n[2], dot(mean, n), h), scale(h, v))
    force = sub(scale(-k, roll), scale(c, v))
    trial = math.sqrt(dot(force, force))
    if trial > most:
        force = scale(most / max(trial, TINY), force)
        # Spring and damper are in parallel, like those of the tangential force.
        roll = scale(1.0 / max(h * k + c, TINY), sub(scale(c, sub(roll, scale(h, v))), scale(h, force)))
    k, c, most = rows[row, LAW.twisting_stiffness], rows[row, LAW.twisting_damping], rows[row, LAW.twisting] * push
    rate = dot(w, n)
    twist = resistance[slot, RESISTANCE.twist] + h * rate
    moment = -k * twist - c * rate
    if abs(moment) > most:
        moment = math.copysign(most, moment)
        twist = (c * (twist - h * rate) - h * moment) / max(h * k + c, TINY)
    store_from(resistance, slot, RESISTANCE.couple, add(scale(R, cross(n, force)), scale(moment, n)))
    store_from(resistance, slot, RESISTANCE.roll, roll)
    resistance[slot, RESISTANCE.twist] = twist


@jit
def forget(resistance, slot):
    """Clear the resistance of a contact that has ended."""
    for a in range(RESISTANCE.width):
        resistance[slot, a] = 0.0


@jit
def add_couple(load, p, s, couple):
    """Add a couple, with a sign, to the torque on the sphere of a row."""
    for a in range(3):
        load[p, LOAD.torque + a] += s * couple[a]


@jit
def resist_strip(spheres, candidates, walls, shapes, table, first, last, h):
    """Evaluate the contacts of a strip of places. Couples between spheres are added to their contact loads, and the
    work of the mean of previous and new couples is added to the ledger line of friction. The work of couples at walls
    is booked with the kicks."""
    motion, load, rows, kinds = spheres.motion, spheres.load, table.rows, table.kinds[0]
    record, resistance, touches = candidates.record, candidates.resistance, candidates.touches
    for p in range(first, last):
        wi, Ri = load_from(motion, p, MOTION.angular_velocity), motion[p, MOTION.radius]
        statistics = candidates.block[p // PLACES]
        for slot in range(candidates.start[p], candidates.start[p + 1]):
            j, before = candidates.root[slot], load_from(resistance, slot, RESISTANCE.couple)
            wj, Rj = load_from(motion, j, MOTION.angular_velocity), motion[j, MOTION.radius]
            statistics[FRICTION_WORK] += 0.5 * h * dot(before, sub(wi, wj))
            if touches[slot] == FREE:
                forget(resistance, slot)
                continue
            delta = Ri + Rj - record[slot, RECORD.arm] - record[slot, RECORD.other_arm]
            row = kinds * int(motion[p, MOTION.kind]) + int(motion[j, MOTION.kind])
            mean = scale(0.5, add(wi, wj))
            resist(record, resistance, slot, sub(wi, wj), mean, Ri * Rj / (Ri + Rj), delta, rows, row, h)
            couple = load_from(resistance, slot, RESISTANCE.couple)
            statistics[FRICTION_WORK] += 0.5 * h * dot(couple, sub(wi, wj))
            add_couple(load, p, 1.0, couple)
            add_couple(load, candidates.into[slot], -1.0, couple)
        for slot in range(walls.start[p], walls.start[p + 1]):
            if walls.touches[slot] == FREE:
                forget(walls.resistance, slot)
                continue
            k = walls.wall[slot]
            wj = load_from(shapes.pose, k, WALL_POSE.angular_velocity)
            row = kinds * int(motion[p, MOTION.kind]) + shapes.material[k]
            mean = scale(0.5, add(wi, wj))
            delta = walls.record[slot, RECORD.other_arm]
            resist(walls.record, walls.resistance, slot, sub(wi, wj), mean, Ri, delta, rows, row, h)


def share_resistance(spheres, candidates, walls, shapes, table, h):
    """Evaluate all strips in parallel. Numba's parallel loops accept no tuples of tuples."""
    n, strip, strips = spheres.radius.shape[0], candidates.strip, candidates.strip.shape[0] - 1
    for b in prange(strips):
        s = np.int64(b)
        last = min(PLACES * strip[s + 1], n)
        resist_strip(spheres, candidates, walls, shapes, table, PLACES * strip[s], last, h)


SHARE: Any = None
"""Placeholder for the compiled function."""


def resistance_pass(system, time, h):
    """Compute the couples of all contacts, whose forces are already evaluated, at a time, a time h after the last
    pass."""
    SHARE(system.spheres, system.candidates, system.walls, system.shapes, system.table, h)
