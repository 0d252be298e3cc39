"""Handles of joints: where a handle has been dragged to, the joint is, whatever it hangs on."""

from __future__ import annotations

import numpy as np
import pytest

import articulon as ar
from articulon.dynamics.multibody_functions import moved
from articulon.model.array_rotations import matrices, quaternion_product
from articulon.studio.editing.joint_dragging import Handle, dragged, joint_handle, joint_slice, placed_joint

TURN = np.array([0.8, 0.36, -0.48, 0.0])
JOINTS = [
    ar.Revolute(axis=(1, 2, 3)),
    ar.Prismatic(axis=(3, -1, 2)),
    ar.Spherical(),
    ar.Free(),
    ar.Xyz(),
]


def hanging(joint: ar.Joint, **frame: object) -> ar.Model:
    """A body on a turned joint frame, which hangs by a weld and a ball on a free body."""
    b = ar.ModelBuilder(units="kg-m-s")
    root = b.add_body("root", mass=1.0, inertia=0.1, joint=ar.Free(), q=(0.3, -0.2, 0.1, 0.6, 0.0, 0.8, 0.0))
    arm = b.add_body("arm", mass=1.0, inertia=0.1, parent=root, joint=ar.Spherical(), position=(1, 0, 0), q=TURN)
    hand = b.add_body(
        "hand", mass=1.0, inertia=0.1, parent=arm, joint=ar.Weld(), position=(0, 0.5, 0.2), rotation=(0, 0.6, 0.8, 0)
    )
    placed = {"position": (0.1, 0.2, 0.3), "rotation": (0.48, 0.6, 0.0, 0.64), **frame}
    b.add_body("finger", mass=1.0, inertia=0.1, parent=hand, joint=joint, **placed)
    return b.build()


@pytest.mark.parametrize("joint", JOINTS, ids=lambda joint: type(joint).__name__)
def test_a_joint_follows_its_handle(joint: ar.Joint) -> None:
    model = hanging(joint)
    body = model.names.index("finger")
    start = moved(model, model.q0, np.linspace(-0.4, 0.5, model.nu))
    step = np.zeros(model.nu)
    step[joint_slice(model, body)[1]] = np.linspace(0.2, -0.3, joint.nu)
    # Translations first: the rotation of a free joint leaves its place.
    there = moved(model, start, step)
    found = dragged(model, body, start, joint_handle(model, body, start), joint_handle(model, body, there))
    np.testing.assert_allclose(found, there, rtol=0, atol=1e-14)
    assert not np.allclose(found, start, atol=1e-3)


@pytest.mark.parametrize("joint", JOINTS[:3], ids=lambda joint: type(joint).__name__)
def test_a_joint_is_where_its_handle_has_been_put(joint: ar.Joint) -> None:
    model = hanging(joint)
    body = model.names.index("finger")
    before = joint_handle(model, body, model.q0)
    turned = quaternion_product(TURN[None], before.rotation[None])[0]
    after = Handle(before.position + np.array([0.2, -0.1, 0.4]), turned)
    keys = placed_joint(model, body, model.q0, after)
    axis = keys.pop("axis", None)
    again = hanging(joint if axis is None else type(joint)(axis=axis), **keys)
    there = joint_handle(again, body, again.q0)
    np.testing.assert_allclose(there.position, after.position, rtol=0, atol=1e-14)
    # Of a joint with an axis that alone is told; its handle may be turned about it.
    columns = slice(2, 3) if axis is not None else slice(0, 3)
    np.testing.assert_allclose(
        matrices(there.rotation)[:, columns], matrices(after.rotation)[:, columns], rtol=0, atol=1e-14
    )
    assert list(placed_joint(model, body, model.q0, before)) == ["position"]
