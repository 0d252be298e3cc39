"""Selection of the bodies on which a force acts, and of a value for each of them."""

from collections.abc import Mapping

import numpy as np

from articulon.declaration import nearest
from articulon.errors import ModelError
from articulon.model import Model

FORCE_OF = {"velocity": "force", "angular_velocity": "torque"}
"""Dimension of the generalised force that belongs to a speed."""


def body_index(model: Model, name: str, where: str) -> int:
    """Return the index of a named body; raises ModelError with the nearest name."""
    try:
        return model.body(name)
    except KeyError:
        raise ModelError(f"{where}: there is no body '{name}'{nearest(name, model.names)}") from None


def joint_with(model: Model, name: str, component: int, where: str) -> int:
    """Return the index of a named body whose joint has a speed of the given number; raises ModelError, naming the
    key."""
    body = body_index(model, name, f"{where}.body")
    joint = model.joints[body]
    if not 0 <= component < joint.nu:
        raise ModelError(
            f"{where}.component: body '{name}' has a {model.joint_name(body)} joint, with {joint.nu} speeds "
            f"({', '.join(name for name, _ in joint.speeds) or 'none'}), counted from 0; got {component}"
        )
    return body


def selected(model: Model, names: tuple[str, ...] | None, where: str) -> np.ndarray:
    """Return the indices of the named bodies, or of all bodies if ``names`` is None. A name ending in ``*`` means all
    bodies whose names begin so."""
    if names is None:
        return np.arange(model.bodies)
    chosen: list[int] = []
    for name in names:
        found = matching(model, name, where)
        chosen.extend(found)
    return np.array(sorted(set(chosen)), dtype=np.int64)


def matching(model: Model, pattern: str, where: str) -> list[int]:
    """Return the bodies that match a name, or a pattern ending in ``*``; raises ModelError if there are none."""
    if not pattern.endswith("*"):
        return [body_index(model, pattern, where)]
    found = [k for k, name in enumerate(model.names) if name.startswith(pattern[:-1])]
    if not found:
        raise ModelError(f"{where}: no body's name begins with '{pattern[:-1]}'")
    return found


def per_body(
    model: Model, value: float | str | Mapping[str, float | str], bodies: np.ndarray, where: str
) -> np.ndarray:
    """Return one number for each of ``bodies``: the same for all, or from a table by name or pattern.

    Raises ModelError for a name without a body, and for a body without a value.
    """
    if not isinstance(value, Mapping):
        return np.full(bodies.size, float(value))
    by_body: dict[int, float] = {}
    for name, number in value.items():
        for k in matching(model, name, where):
            by_body[k] = float(number)
    missing = [model.names[k] for k in bodies.tolist() if k not in by_body]
    if missing:
        raise ModelError(f"{where}: no value for body '{missing[0]}'")
    return np.array([by_body[k] for k in bodies.tolist()])


def on_link(model: Model, body: int, point: np.ndarray) -> np.ndarray:
    """Convert a point of a body's frame to the frame of its link, or to the world if the body is welded to the
    ground."""
    e = model.offset_rotation[body]
    v = e[1:]
    return model.offset_position[body] + point + 2.0 * np.cross(v, np.cross(v, point) + e[0] * point)


def still_moves(model: Model, coarse: Model, body: int) -> bool:
    """Whether the joint of a body also moves in a coarse model."""
    return bool(coarse.kinds[body] == model.kinds[body])
