"""Estimate of the speeds at which spheres will collide with each other and with the walls of a model, before a run."""

import math

import numpy as np

from articulon.dynamics import body_poses
from articulon.forces.contact.materials import Contact
from articulon.forces.contact.sphere_motion import sphere_centres, sphere_velocities
from articulon.forces.contact.walls import PARALLEL, WallPart, parts_of
from articulon.forces.gravity import Gravity
from articulon.model import Model


def expected_speed(model: Model, law: Contact) -> float:
    """Compute the largest expected speed of a collision [velocity]. It is estimated from the initial speeds, the gain
    of speed by gravity from the highest sphere to the lowest sphere or wall, and the speed of walls."""
    spheres = np.flatnonzero(model.sites.radius > 0.0)
    every = sphere_centres(model, *body_poses(model, model.q0))
    centres, velocities = every[spheres], sphere_velocities(model, model.q0, model.u0, every)[spheres]
    walls = parts_of(law.walls, model, "walls")
    # Consider two spheres that move towards each other.
    fastest = max(float(np.linalg.norm(np.ptp(velocities, axis=0))), float(np.linalg.norm(velocities, axis=1).max()))
    moving = max((wall_speed(wall, centres) for wall in walls), default=0.0)
    weight = sum(
        (np.array([float(g) for g in force.acceleration]) for force in model.forces if isinstance(force, Gravity)),
        np.zeros(3),
    )
    g = float(np.linalg.norm(weight))
    if g == 0.0:
        return fastest + moving
    down = weight / g
    lowest = max(float((centres @ down).max()), *(wall_depth(wall, down) for wall in walls), -math.inf)
    fall = lowest - float((centres @ down).min())
    return math.sqrt(fastest**2 + 2.0 * g * fall) + moving


def wall_speed(wall: WallPart, centres: np.ndarray) -> float:
    """Compute the largest speed of a wall's surface at places that spheres can reach [velocity]. It is the sum of the
    wall's velocity, 2π f A of an oscillation with frequency f and amplitude A, and ω times a distance. This is the
    distance from the centre of rotation to the surface of the wall, or, for an infinite wall, to the farthest
    sphere."""
    point, velocity, amplitude, turning = (wall.motion[k : k + 3] for k in (0, 3, 6, 9))
    omega = float(np.linalg.norm(turning))
    arm = 0.0
    if omega > 0.0:
        if wall.surface is not None:
            arms = wall.surface.vertices
        elif wall.shape != "plane" and float(np.linalg.norm(np.cross(wall.direction, turning))) <= PARALLEL * omega:
            arms = np.array([[wall.radius, 0.0, 0.0]])
        else:
            arms = centres - point
        arm = float(np.linalg.norm(arms, axis=1).max())
    return float(np.linalg.norm(velocity) + wall.motion[12] * np.linalg.norm(amplitude)) + omega * arm


def wall_depth(wall: WallPart, down: np.ndarray) -> float:
    """Compute the depth of the lowest point of a wall on which spheres can rest, at t = 0 [length]; −∞ if there is no
    such point, for example for a ceiling, or a shaft without a floor."""
    along = float(wall.motion[:3] @ down)
    if wall.surface is not None:
        return along + float((wall.surface.vertices @ down).max())
    if wall.shape == "plane":
        return along if wall.direction @ down < 0.0 else -math.inf
    return along + wall.radius if abs(wall.direction @ down) <= PARALLEL else -math.inf
