"""Joint frames in the frames of the parents, in which a model's bodies were given."""

import numpy as np

from articulon.model.array_rotations import matrices, quaternion_product
from articulon.model.model import Model


def joint_frame(model: Model, body: int) -> tuple[np.ndarray, np.ndarray]:
    """The joint frame of a body in its parent's frame: origin [length] (3,) and Euler parameters (4,)."""
    link, parent = int(model.link[body]), int(model.parents[body])
    if model.joints[body].nq:  # the model stores it in the frame of the parent's link
        position, rotation = model.forest.position[link], model.forest.rotation[link]
    else:
        position, rotation = model.offset_position[body], model.offset_rotation[body]
    if parent < 0:
        return position, rotation
    away, turned = model.offset_position[parent], model.offset_rotation[parent]
    if not away.any() and turned[0] == 1.0:  # the parent's frame is its link's frame, so nothing is rounded
        return position, rotation
    back = turned * np.array([1.0, -1.0, -1.0, -1.0])
    found = quaternion_product(back, rotation)
    return matrices(turned).T @ (position - away), found / np.linalg.norm(found)
