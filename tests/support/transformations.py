"""Changes to a description that leave its physics as it is."""

from __future__ import annotations

import dataclasses

import numpy as np

from tests.support.random_models import Body, Description, quaternion_product, rotation_matrix


def without_welds(description: Description) -> tuple[Description, list[int | None]]:
    """The same model with every welded body composed into the body that carries it.

    Also, of each body of the old description, the index of its carrier in the new one (None: the ground, which takes
    what is welded to it out of the dynamics).
    """
    carriers: list[int | None] = []
    places: list[tuple[np.ndarray, np.ndarray]] = []  # each body's frame in its carrier's
    bodies: list[Body] = []
    for body in description.bodies:
        position, rotation = body.position, body.rotation
        carrier = None
        if body.parent is not None:
            carrier = carriers[body.parent]
            outer_position, outer_rotation = places[body.parent]
            position = outer_position + rotation_matrix(outer_rotation) @ position
            rotation = quaternion_product(outer_rotation, rotation)
            rotation = rotation / np.linalg.norm(rotation)
        if body.kind == "weld":
            carriers.append(carrier)
            places.append((position, rotation))
            if carrier is not None:
                bodies[carrier] = composed(bodies[carrier], body, position, rotation_matrix(rotation))
        else:
            bodies.append(dataclasses.replace(body, parent=carrier, position=position, rotation=rotation))
            carriers.append(len(bodies) - 1)
            places.append((np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0])))
    return Description(tuple(bodies)), carriers


def composed(carrier: Body, welded: Body, position: np.ndarray, rotation: np.ndarray) -> Body:
    """The carrier with the welded body's mass added: the parallel axis theorem, twice."""
    com = position + rotation @ welded.com
    mass = carrier.mass + welded.mass
    centre = (carrier.mass * carrier.com + welded.mass * com) / mass
    inertia = np.zeros((3, 3))
    for m, c, own in (
        (carrier.mass, carrier.com, carrier.inertia),
        (welded.mass, com, rotation @ welded.inertia @ rotation.T),
    ):
        d = c - centre
        inertia += own + m * (d @ d * np.eye(3) - np.outer(d, d))
    return dataclasses.replace(carrier, mass=mass, com=centre, inertia=(inertia + inertia.T) / 2)


def indices(starts: np.ndarray, order: list[int]) -> np.ndarray:
    """Where the coordinates of the bodies, taken in this order, stood before."""
    return np.concatenate([np.arange(starts[i], starts[i + 1]) for i in order] or [np.empty(0)]).astype(int)


def selected(description: Description, order: list[int]) -> Description:
    """These bodies only, in this order; the parents of all of them must be among those before them."""
    new_index = {old: new for new, old in enumerate(order)}
    bodies = []
    for old in order:
        body = description.bodies[old]
        bodies.append(dataclasses.replace(body, parent=None if body.parent is None else new_index[body.parent]))
    return Description(tuple(bodies))


def random_order(description: Description, rng: np.random.Generator) -> list[int]:
    """A random order of the bodies in which parents still come first."""
    waiting = {i: body.parent for i, body in enumerate(description.bodies)}
    order: list[int] = []
    while waiting:
        ready = [i for i, parent in waiting.items() if parent is None or parent in order]
        order.append(int(rng.choice(ready)))
        del waiting[order[-1]]
    return order


def trees(description: Description) -> list[list[int]]:
    """The bodies of each tree of the forest."""
    root_of: list[int] = []
    for i, body in enumerate(description.bodies):
        root_of.append(i if body.parent is None else root_of[body.parent])
    return [[i for i, r in enumerate(root_of) if r == root] for root in sorted(set(root_of))]


def moved(description: Description, translation: np.ndarray, rotation: np.ndarray) -> Description:
    """The whole model turned by a quaternion about the world's origin, then shifted."""
    bodies = []
    for body in description.bodies:
        if body.parent is None:
            e = quaternion_product(rotation, body.rotation)
            position = translation + rotation_matrix(rotation) @ body.position
            body = dataclasses.replace(body, position=position, rotation=e / np.linalg.norm(e))
        bodies.append(body)
    return Description(tuple(bodies))
