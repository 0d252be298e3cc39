"""Powers of the forces of contacts: of walls by the lines of the ledger, of pairs as a whole."""

from articulon.algebra.vectors import dot, load_from
from articulon.forces.contact.tables import (
    ARM,
    COUPLE,
    ELASTIC,
    FORCE,
    FREE,
    FRICTION_WORK,
    NORMAL,
    NORMAL_WORK,
    OTHER_ARM,
    PLACES,
    SLIDES,
    SPIN,
    SPRING_WORK,
    TANGENTIAL_VISCOUS,
    VISCOUS_WORK,
    WALL_WORK,
    WORKS,
    V,
)
from articulon.kernels import jit, kernel


@jit
def surface_velocity(dvx, dvy, dvz, a, wix, wiy, wiz, b, wjx, wjy, wjz, nx, ny, nz):
    """Velocity of the first surface against the second: the first point lies at −a n from its centre, the second at
    b n."""
    wx, wy, wz = a * wix + b * wjx, a * wiy + b * wjy, a * wiz + b * wjz
    return dvx - (wy * nz - wz * ny), dvy - (wz * nx - wx * nz), dvz - (wx * ny - wy * nx)


@jit
def add_powers(record, slot, slides, v, seen):
    """Adds the powers of a contact's forces at a velocity of the first surface against the second: of the elastic
    normal force, the tangential spring, the viscous forces and friction."""
    n, f, w = (
        load_from(record, slot, NORMAL),
        load_from(record, slot, FORCE),
        load_from(record, slot, TANGENTIAL_VISCOUS),
    )
    along, elastic, vn, damping = dot(f, n), record[slot, ELASTIC], dot(v, n), dot(w, v)
    tangential = dot(f, v) - along * vn
    seen[NORMAL_WORK] += elastic * vn
    seen[SPRING_WORK] += 0.0 if slides else tangential - damping
    seen[VISCOUS_WORK] += (along - elastic) * vn + damping
    seen[FRICTION_WORK] += tangential if slides else 0.0


@jit
def power_of_couple(resistance, slot, wx, wy, wz):
    """Of what resists rolling and twisting, at an angular velocity of the first body against the second."""
    return resistance[slot, COUPLE] * wx + resistance[slot, COUPLE + 1] * wy + resistance[slot, COUPLE + 2] * wz


@jit
def add_wall_powers(walls, slot, v, w, lines, first):
    """Adds the powers of a wall's forces on a grain that moves at v and spins at w: of the motion against the wall, and
    of the wall's own."""
    record, lever = walls.record, walls.record[slot, ARM]
    n = (record[slot, NORMAL], record[slot, NORMAL + 1], record[slot, NORMAL + 2])
    ux, uy, uz = walls.velocity[slot, 0], walls.velocity[slot, 1], walls.velocity[slot, 2]
    lines[first + WALL_WORK] += record[slot, FORCE] * ux + record[slot, FORCE + 1] * uy + record[slot, FORCE + 2] * uz
    ux = v[0] - lever * (w[1] * n[2] - w[2] * n[1]) - ux
    uy = v[1] - lever * (w[2] * n[0] - w[0] * n[2]) - uy
    uz = v[2] - lever * (w[0] * n[1] - w[1] * n[0]) - uz
    add_powers(record, slot, walls.touches[slot] == SLIDES, (ux, uy, uz), lines[first:])
    if walls.resistance.shape[0] > 0:
        tx, ty, tz = walls.velocity[slot, 3], walls.velocity[slot, 4], walls.velocity[slot, 5]
        lines[first + WALL_WORK] += power_of_couple(walls.resistance, slot, tx, ty, tz)
        lines[first + FRICTION_WORK] += power_of_couple(walls.resistance, slot, w[0] - tx, w[1] - ty, w[2] - tz)


@jit
def power_block(spheres, candidates, first, last, seen):
    """The power of all forces of some places at the velocities that are in ``motion``, in the line of elastic forces,
    to which belongs what is left of it."""
    motion, record, touches = spheres.motion, candidates.record, candidates.touches
    for a in range(WORKS):
        seen[a] = 0.0
    for p in range(first, last):
        for slot in range(candidates.start[p], candidates.start[p + 1]):
            if touches[slot] == FREE:
                continue
            j = candidates.root[slot]
            nx, ny, nz = record[slot, NORMAL], record[slot, NORMAL + 1], record[slot, NORMAL + 2]
            ux, uy, uz = surface_velocity(
                motion[p, V] - motion[j, V],
                motion[p, V + 1] - motion[j, V + 1],
                motion[p, V + 2] - motion[j, V + 2],
                record[slot, ARM],
                motion[p, SPIN],
                motion[p, SPIN + 1],
                motion[p, SPIN + 2],
                record[slot, OTHER_ARM],
                motion[j, SPIN],
                motion[j, SPIN + 1],
                motion[j, SPIN + 2],
                nx,
                ny,
                nz,
            )
            seen[NORMAL_WORK] += dot(load_from(record, slot, FORCE), (ux, uy, uz))
            if candidates.resistance.shape[0] > 0:
                seen[NORMAL_WORK] += power_of_couple(
                    candidates.resistance,
                    slot,
                    motion[p, SPIN] - motion[j, SPIN],
                    motion[p, SPIN + 1] - motion[j, SPIN + 1],
                    motion[p, SPIN + 2] - motion[j, SPIN + 2],
                )


@kernel
def pair_powers(system):
    """Powers of all pairs, at the velocities that are in ``motion``, left with their blocks in place of what the pass
    has seen of works."""
    spheres, candidates = system.spheres, system.candidates
    n, seen = spheres.radius.shape[0], candidates.block
    for b in range(seen.shape[0]):
        first = PLACES * b
        power_block(spheres, candidates, first, min(first + PLACES, n), seen[b])


@jit
def wall_powers(system, lines):
    """Adds the powers of all walls, at the velocities that are in ``motion``."""
    walls, motion = system.walls, system.spheres.motion
    for p in range(system.spheres.radius.shape[0]):
        for slot in range(walls.start[p], walls.start[p + 1]):
            if walls.touches[slot] != FREE:
                v = (motion[p, V], motion[p, V + 1], motion[p, V + 2])
                w = (motion[p, SPIN], motion[p, SPIN + 1], motion[p, SPIN + 2])
                add_wall_powers(walls, slot, v, w, lines, 0)
