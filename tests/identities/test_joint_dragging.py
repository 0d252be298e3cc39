"""Joints follow their handles: exactly where they can, and as near as they come elsewhere."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import articulon as ar
from articulon.dynamics.multibody_functions import body_velocities, moved
from articulon.model.array_rotations import matrices, quaternion_product
from articulon.studio.editing.handle_drags import HandleDrags
from articulon.studio.editing.joint_dragging import Handle, dragged, joint_handle, joint_slice, joint_step

JOINTS: dict[str, Any] = {
    "revolute": ar.Revolute(axis=(1, 2, 2)),
    "prismatic": ar.Prismatic(axis=(0, 3, 4)),
    "universal": ar.Universal(),
    "swing": ar.Swing(),
    "spherical": ar.Spherical(),
    "xyz": ar.Xyz(),
    "free": ar.Free(),
}
TURNED = (np.cos(0.3), np.sin(0.3), 0.0, 0.0)


def on_a_base(joint: Any) -> ar.Model:
    """A body by a joint on a body that is itself moved and turned."""
    b = ar.ModelBuilder(units="kg-m-s")
    base = b.add_body("base", mass=1.0, inertia=1.0, joint=ar.Free(), q=(1, 2, 3, *TURNED))
    inertia = (1.0, 1.0, 0.0) if isinstance(joint, ar.Swing) else 1.0
    frame = {"position": (0, 1, 0), "rotation": (np.cos(0.5), 0, np.sin(0.5), 0)}
    b.add_body("arm", parent=base, mass=1.0, inertia=inertia, com=(0, 0, 1), joint=joint, **frame)
    return b.build()


@pytest.mark.parametrize("name", JOINTS)
def test_a_joint_comes_to_where_its_handle_has_been_dragged(name: str) -> None:
    """To any pose that the joint can have, up to large angles; nothing else moves."""
    model = on_a_base(JOINTS[name])
    own = joint_slice(model, 1)[1]
    rng = np.random.default_rng(5)
    for size in (0.1, 0.8):
        step = np.zeros(model.nu)
        step[own] = size * rng.uniform(-1.0, 1.0, own.stop - own.start)
        q = moved(model, model.q0, step)
        step[own] = size * rng.uniform(-1.0, 1.0, own.stop - own.start)
        aim = moved(model, q, step)
        found = dragged(model, 1, q, joint_handle(model, 1, q), joint_handle(model, 1, aim))
        assert np.array_equal(found[:7], model.q0[:7])
        for got, wanted in zip(ar.body_poses(model, found), ar.body_poses(model, aim), strict=True):
            np.testing.assert_allclose(got, wanted, atol=1e-13)


@pytest.mark.parametrize("name", ["universal", "swing"])
def test_two_axes_come_as_near_to_a_handle_as_they_can(name: str) -> None:
    """What is left of the turn is perpendicular to both axes."""
    model = on_a_base(JOINTS[name])
    before = joint_handle(model, 1, model.q0)
    turn = np.array([np.cos(0.4), *(np.sin(0.4) * np.array([2.0, 1.0, 2.0]) / 3.0)])
    aim = Handle(before.position, quaternion_product(before.rotation[None], turn[None])[0])
    q = dragged(model, 1, model.q0, before, aim)
    left = matrices(joint_handle(model, 1, q).rotation).T @ matrices(aim.rotation)
    vector = 0.5 * np.array([left[2, 1] - left[1, 2], left[0, 2] - left[2, 0], left[1, 0] - left[0, 1]])
    assert np.linalg.norm(vector) > 0.1
    own = joint_slice(model, 1)[1]
    axes = [body_velocities(model, q, unit)[1, 3:] for unit in np.eye(model.nu)[own]]
    np.testing.assert_allclose(np.array(axes) @ vector, 0.0, atol=1e-12)
    np.testing.assert_allclose(joint_step(model, 1, q, joint_handle(model, 1, q), aim), 0.0, atol=1e-12)


def test_a_page_that_is_closed_holds_no_handle() -> None:
    drags, held = HandleDrags(), ("arm", "motion")
    handles = [Handle(np.full(3, float(k)), np.eye(4)[0]) for k in range(3)]
    drags.tell("start", handles[0], held, 1)
    drags.tell("update", handles[1], held, 1)
    drags.tell("update", handles[2], ("hand", "motion"), 2)
    found = drags.latest()
    assert found[held] == (handles[1], False) and drags.held
    drags.forget(1)
    assert drags.latest() == {held: (handles[1], True)} and drags.held
    drags.tell("end", handles[0], ("hand", "motion"), 2)
    assert drags.latest() == {("hand", "motion"): (handles[0], True)} and not drags.held
    drags.forget(3)
    assert drags.latest() == {} and not drags.held
