"""Powers of contact forces: for walls by ledger line, for pairs in total."""

from articulon.algebra.vectors import cross, dot, load_from, scale, sub
from articulon.forces.contact.contact_columns import MOTION, RECORD, RESISTANCE
from articulon.forces.contact.contact_tables import FREE, NORMAL_WORK, PLACES, SLIDES, WORKS
from articulon.kernels import jit, kernel


@jit
def surface_velocity(dvx, dvy, dvz, a, wix, wiy, wiz, b, wjx, wjy, wjz, nx, ny, nz):
    """Velocity of the first surface relative to the second. The first surface point lies at −a n from its centre, the
    second at b n."""
    wx, wy, wz = a * wix + b * wjx, a * wiy + b * wjy, a * wiz + b * wjz
    return dvx - (wy * nz - wz * ny), dvy - (wz * nx - wx * nz), dvz - (wx * ny - wy * nx)


@jit
def power_of_couple(resistance, slot, w):
    """Power of the rolling and twisting resistance at a relative angular velocity of the first body."""
    return dot(load_from(resistance, slot, RESISTANCE.couple), w)


@jit
def powers_at_wall(walls, slot, v, w):
    """Powers of a wall's forces on a grain that moves at v and rotates at w, by ledger line: of the elastic normal
    force, the tangential spring, the viscous forces and friction at the velocity relative to the wall, and of all these
    forces at the wall's own velocity."""
    record, velocity, slides = walls.record, walls.velocity, walls.touches[slot] == SLIDES
    n, f, t = (
        load_from(record, slot, RECORD.normal),
        load_from(record, slot, RECORD.force),
        load_from(record, slot, RECORD.tangential_viscous),
    )
    u = load_from(velocity, slot, 0)
    moving = dot(f, u)
    against = sub(sub(v, scale(record[slot, RECORD.arm], cross(w, n))), u)
    along, elastic, vn, damping = dot(f, n), record[slot, RECORD.elastic], dot(against, n), dot(t, against)
    tangential = dot(f, against) - along * vn
    spring, friction = 0.0 if slides else tangential - damping, tangential if slides else 0.0
    viscous = (along - elastic) * vn + damping
    if walls.resistance.shape[0] > 0:
        turning = load_from(velocity, slot, 3)
        moving += power_of_couple(walls.resistance, slot, turning)
        friction += power_of_couple(walls.resistance, slot, sub(w, turning))
    return elastic * vn, spring, viscous, friction, moving


@jit
def power_block(spheres, candidates, first, last, statistics):
    """Power of all forces of some places at the velocities in ``motion``. It is booked in the ledger line of elastic
    forces, which also holds the remainder."""
    motion, record, touches = spheres.motion, candidates.record, candidates.touches
    for a in range(WORKS):
        statistics[a] = 0.0
    for p in range(first, last):
        for slot in range(candidates.start[p], candidates.start[p + 1]):
            if touches[slot] == FREE:
                continue
            j = candidates.root[slot]
            nx, ny, nz = record[slot, RECORD.normal], record[slot, RECORD.normal + 1], record[slot, RECORD.normal + 2]
            ux, uy, uz = surface_velocity(
                motion[p, MOTION.velocity] - motion[j, MOTION.velocity],
                motion[p, MOTION.velocity + 1] - motion[j, MOTION.velocity + 1],
                motion[p, MOTION.velocity + 2] - motion[j, MOTION.velocity + 2],
                record[slot, RECORD.arm],
                motion[p, MOTION.angular_velocity],
                motion[p, MOTION.angular_velocity + 1],
                motion[p, MOTION.angular_velocity + 2],
                record[slot, RECORD.other_arm],
                motion[j, MOTION.angular_velocity],
                motion[j, MOTION.angular_velocity + 1],
                motion[j, MOTION.angular_velocity + 2],
                nx,
                ny,
                nz,
            )
            statistics[NORMAL_WORK] += dot(load_from(record, slot, RECORD.force), (ux, uy, uz))
            if candidates.resistance.shape[0] > 0:
                statistics[NORMAL_WORK] += power_of_couple(
                    candidates.resistance,
                    slot,
                    sub(load_from(motion, p, MOTION.angular_velocity), load_from(motion, j, MOTION.angular_velocity)),
                )


@kernel
def pair_powers(system):
    """Compute the powers of all pairs at the velocities in ``motion``, stored with their blocks in place of the works
    of the pass."""
    spheres, candidates = system.spheres, system.candidates
    n, statistics = spheres.radius.shape[0], candidates.block
    for b in range(statistics.shape[0]):
        first = PLACES * b
        power_block(spheres, candidates, first, min(first + PLACES, n), statistics[b])


@jit
def wall_powers(system, lines):
    """Add the powers of all walls at the velocities in ``motion``."""
    walls, motion = system.walls, system.spheres.motion
    for p in range(system.spheres.radius.shape[0]):
        for slot in range(walls.start[p], walls.start[p + 1]):
            if walls.touches[slot] != FREE:
                found = powers_at_wall(
                    walls, slot, load_from(motion, p, MOTION.velocity), load_from(motion, p, MOTION.angular_velocity)
                )
                for line in range(WORKS):
                    lines[line] += found[line]
