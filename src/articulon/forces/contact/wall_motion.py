"""Motion of walls: a function of time alone, so that it needs no state."""

import math

from articulon.algebra.vectors import add, apply, cross, dot, load_from, scale, store_from, sub
from articulon.forces.contact.contact_columns import WALL_MOTION, WALL_POSE
from articulon.forces.contact.wall_shapes import MESH, PLANE
from articulon.kernels import jit


@jit
def rotation_of(pose, w):
    first = WALL_POSE.rotation
    return load_from(pose, w, first), load_from(pose, w, first + 3), load_from(pose, w, first + 6)


@jit
def place_walls(walls, time):
    """Compute the poses of all walls at a time: p + v t + A sin(2π f t), rotated by ω t (Rodrigues' formula)."""
    motion, pose = walls.motion, walls.pose
    for w in range(motion.shape[0]):
        point, velocity = load_from(motion, w, WALL_MOTION.point), load_from(motion, w, WALL_MOTION.velocity)
        amplitude, turning = (
            load_from(motion, w, WALL_MOTION.amplitude),
            load_from(motion, w, WALL_MOTION.angular_velocity),
        )
        rate = motion[w, WALL_MOTION.rate]
        swing, sway = math.sin(rate * time), rate * math.cos(rate * time)
        store_from(pose, w, WALL_POSE.place, add(add(point, scale(time, velocity)), scale(swing, amplitude)))
        store_from(pose, w, WALL_POSE.velocity, add(velocity, scale(sway, amplitude)))
        store_from(pose, w, WALL_POSE.angular_velocity, turning)
        speed = math.sqrt(dot(turning, turning))
        nx, ny, nz = scale(1.0 / speed, turning) if speed > 0.0 else (0.0, 0.0, 0.0)
        s, c = math.sin(speed * time), math.cos(speed * time)
        k = 1.0 - c
        store_from(pose, w, WALL_POSE.rotation, (c + k * nx * nx, k * nx * ny - s * nz, k * nx * nz + s * ny))
        store_from(pose, w, WALL_POSE.rotation + 3, (k * ny * nx + s * nz, c + k * ny * ny, k * ny * nz - s * nx))
        store_from(pose, w, WALL_POSE.rotation + 6, (k * nz * nx - s * ny, k * nz * ny + s * nx, c + k * nz * nz))
        store_from(pose, w, WALL_POSE.direction, apply(rotation_of(pose, w), load_from(walls.constants, w, 0)))


@jit
def walls_stand(walls):
    """Whether no wall ever moves."""
    motion, moving = walls.motion, 0
    for w in range(motion.shape[0]):
        for k in range(WALL_MOTION.velocity, WALL_MOTION.rate):
            moving += motion[w, k] != 0.0
    return moving == 0


@jit
def wall_velocity(pose, w, x):
    """Velocity of a wall's material at a point x of the world."""
    arm = sub(x, load_from(pose, w, WALL_POSE.place))
    return add(load_from(pose, w, WALL_POSE.velocity), cross(load_from(pose, w, WALL_POSE.angular_velocity), arm))


@jit
def largest_displacement(walls, listed, w, far2):
    """Upper bound of the displacement of any relevant point of a wall since its pose was ``listed`` [length].

    ``far2`` is the largest squared distance of a sphere from the wall's reference point, which limits the relevant part
    of a plane or cylinder; a mesh has a known size.
    """
    pose, centre = walls.pose, walls.centre
    gone = sub(load_from(pose, w, WALL_POSE.place), load_from(listed, w, WALL_POSE.place))
    displacement = math.sqrt(dot(gone, gone))
    if walls.shape[w] == MESH:
        c = load_from(centre, w, 0)
        arm = math.sqrt(dot(c, c)) + centre[w, 3]
        turn = 0.0
        for k in range(9):
            d = pose[w, WALL_POSE.rotation + k] - listed[w, WALL_POSE.rotation + k]
            turn += d * d
        return displacement + math.sqrt(turn) * arm  # |ΔR y| ≤ ‖ΔR‖ |y|
    # For a plane or cylinder, only the rotation of its normal or axis matters.
    d = sub(load_from(pose, w, WALL_POSE.direction), load_from(listed, w, WALL_POSE.direction))
    arm = math.sqrt(far2) + (centre[w, 3] if walls.shape[w] != PLANE else 0.0)
    return displacement + math.sqrt(dot(d, d)) * arm
