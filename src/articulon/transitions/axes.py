"""Selection of speeds by the user: by names of bodies, by axes of their joints, by modes of flexible bodies, or by a
mask."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from articulon.declaration import nearest
from articulon.errors import TransitionError
from articulon.inputs import shown
from articulon.model import Model

Axis = str | tuple[str, int | str]
Axes = Axis | Sequence[Axis] | np.ndarray
"""Selection of speeds. ``"body"`` selects all speeds of the joint that carries the body, and of the modes of the body;
``("body", k)`` or ``("body", "wx")`` selects one of these speeds by index or name; modes are named ``"mode1"``,
``"mode2"`` and so on. A list of such selections, or a mask over the speeds, (nu,) bool, is also valid."""


def speeds_of(model: Model, body: int) -> range:
    """Return the indices of the speeds of the joint that carries a body, and of the modes of the body."""
    link = int(model.link[body])
    if link < 0 or int(model.head[link]) != body:
        return range(0)
    start = int(model.forest.u_start[link])
    return range(start, start + len(speed_names(model, body)))


def speed_names(model: Model, body: int) -> list[str]:
    """Return the names of the speeds of the joint that carries a body, and of the modes of the body."""
    modes = model.modes[body].stiffness.shape[0] if body in model.modes else 0
    return [*(name for name, _ in model.joints[body].speeds), *(f"mode{j + 1}" for j in range(modes))]


def mask_of(model: Model, axes: Any, where: str) -> np.ndarray:
    """Return a mask of the selected speeds (nu,), bool. For invalid input, raises TransitionError; its message begins
    with ``where``."""
    if isinstance(axes, np.ndarray) or axes is None:
        given = np.zeros(model.nu, dtype=bool) if axes is None else axes
        if given.shape != (model.nu,) or given.dtype != bool:
            raise TransitionError(
                f"{where}: a mask is an array of {model.nu} bools, one for each speed of the model, not "
                f"{given.dtype} of shape {given.shape}"
            )
        return given.copy()
    if not isinstance(axes, str | Sequence):
        raise TransitionError(f"{where}: expected 'body', ('body', axis), a list of these or a mask, got {shown(axes)}")
    mask = np.zeros(model.nu, dtype=bool)
    for one in [axes] if isinstance(axes, str | tuple) else axes:
        mask[_speeds(model, one, where)] = True
    return mask


def _speeds(model: Model, axis: Any, where: str) -> list[int]:
    name, which = axis if isinstance(axis, tuple) and len(axis) == 2 else (axis, None)
    known = which is None or (isinstance(which, int | np.integer | str) and not isinstance(which, bool))
    if not isinstance(name, str) or not known:
        raise TransitionError(f"{where}: expected 'body', ('body', axis) or a mask over the speeds, got {shown(axis)}")
    try:
        body = model.body(name)
    except KeyError:
        raise TransitionError(f"{where}: there is no body '{name}'{nearest(name, list(model.names))}") from None
    speeds = speeds_of(model, body)
    if not speeds:
        raise TransitionError(f"{where}: body '{name}' is welded to its parent; its joint has no axis")
    if which is None:
        return list(speeds)
    names = speed_names(model, body)
    if isinstance(which, str):
        if which not in names:
            raise TransitionError(
                f"{where}: the {model.joint_name(body)} joint of '{name}' has no speed '{which}'; its speeds are "
                f"{', '.join(names)}"
            )
        return [speeds[names.index(which)]]
    if not 0 <= which < len(speeds):
        raise TransitionError(
            f"{where}: the {model.joint_name(body)} joint of '{name}' has axes 0 to {len(speeds) - 1} "
            f"({', '.join(names)}), not {which}"
        )
    return [speeds[which]]


def axis_name(model: Model, speed: int) -> str:
    """Return the description of a speed, such as "axis 1 (wy) of the spherical joint of 'arm'" or "mode 2 of 'arm'"."""
    body = next(body for body in range(model.bodies) if speed in speeds_of(model, body))
    k, axes = speed - speeds_of(model, body).start, model.joints[body].nu
    if k >= axes:
        return f"mode {k - axes + 1} of '{model.names[body]}'"
    return f"axis {k} ({speed_names(model, body)[k]}) of the {model.joint_name(body)} joint of '{model.names[body]}'"
