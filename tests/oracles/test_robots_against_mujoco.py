"""Robots in MJCF files against MuJoCo: with the armatures, the damping and the springs of their joints."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import mujoco
import numpy as np
import pytest

import articulon as ar
from tests.support.robot_files import MJCF, packaged

ROBOTS = (
    "ant.xml",
    "half_cheetah.xml",
    "hopper.xml",
    "humanoid.xml",
    "humanoidstandup.xml",
    "inverted_double_pendulum.xml",
    "pusher.xml",
    "reacher.xml",
    "swimmer.xml",
    "walker2d.xml",
)
STATES = 100
TRICKY = """
<mujoco>
  <compiler angle="degree"/>
  <default>
    <joint armature="0.02" damping="0.3"/>
    <geom density="700"/>
  </default>
  <worldbody>
    <body name="base" pos="0.1 0.2 1" euler="10 20 30">
      <freejoint name="root"/>
      <geom type="box" size="0.2 0.1 0.05" pos="0.02 0 0.01"/>
      <body name="shoulder" pos="0.2 0 0" quat="0.9 0.1 0.2 0.3">
        <joint name="ball" type="ball" pos="0.03 -0.02 0.01" stiffness="2" armature="0.05"/>
        <geom type="capsule" size="0.03" fromto="0 0 0 0.3 0 0.1"/>
        <body name="hand" pos="0.3 0 0.1" euler="0 40 0">
          <joint name="slide" type="slide" axis="1 1 0" ref="0.1" springref="0.2" stiffness="7" pos="0 0 0.05"/>
          <joint name="hinge" type="hinge" axis="0 1 2" ref="25" pos="0.05 0 0.02" springref="-15" stiffness="3"/>
          <joint name="twist" type="hinge" axis="1 0 0" pos="-0.02 0.04 0" armature="0"/>
          <geom type="ellipsoid" size="0.06 0.04 0.02"/>
          <body name="flag" pos="0 0.1 0" euler="5 6 7">
            <geom type="sphere" size="0.02"/>
          </body>
        </body>
      </body>
    </body>
  </worldbody>
</mujoco>
"""


def compared(path: str) -> None:
    """Both engines at random states, with their own gravity, damping and springs."""
    model = ar.read_mjcf(path)
    theirs = mujoco.MjModel.from_xml_path(path)
    # What acts in MuJoCo by its solver of constraints, and in a medium, is not in the model, or not as a plain force.
    theirs.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT) | int(mujoco.mjtDisableBit.mjDSBL_ACTUATION)
    theirs.opt.density = theirs.opt.viscosity = 0.0
    data = mujoco.MjData(theirs)
    assert (model.nq, model.nu) == (theirs.nq, theirs.nv)
    own = replace(model, forces=tuple(force for force in model.forces if force.kind != "joint-friction"))
    rng = np.random.default_rng(5)
    for _ in range(STATES):
        q = theirs.qpos0.copy()
        mujoco.mj_integratePos(theirs, q, rng.normal(size=theirs.nv), 1.0)
        u, tau = rng.normal(size=(2, theirs.nv))
        data.qpos[:], data.qvel[:], data.qfrc_applied[:] = q, u, tau
        mujoco.mj_forward(theirs, data)
        found = ar.forward_dynamics(model, q, u, tau=tau + ar.generalized_forces(own, q, u))
        assert np.abs(found - data.qacc).max() <= 1e-9 * np.abs(data.qacc).max()


@pytest.mark.parametrize("name", ROBOTS)
def test_forward_dynamics_are_those_of_mujoco(name: str) -> None:
    compared(str(packaged(MJCF, f"assets/{name}")))


def test_joints_off_the_origin_and_several_in_one_body(tmp_path: Path) -> None:
    path = tmp_path / "tricky.xml"
    path.write_text(TRICKY)
    compared(str(path))


def test_bodies_are_where_mujoco_has_them(tmp_path: Path) -> None:
    path = tmp_path / "tricky.xml"
    path.write_text(TRICKY)
    model = ar.read_mjcf(path)
    theirs = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(theirs)
    mujoco.mj_integratePos(theirs, data.qpos, np.random.default_rng(8).normal(size=theirs.nv), 1.0)
    mujoco.mj_forward(theirs, data)
    q = np.array(data.qpos)
    positions, rotations = ar.body_poses(model, q)
    for name in ("base", "shoulder", "hand", "flag"):
        body, other = model.body(name), theirs.body(name).id
        turn = np.zeros(9)
        mujoco.mju_quat2Mat(turn, rotations[body])
        centre = positions[body] + turn.reshape(3, 3) @ model.centres[body]
        assert centre == pytest.approx(data.xipos[other], abs=1e-12)
        assert turn == pytest.approx(data.xmat[other], abs=1e-12)


def test_initial_coordinates_are_those_of_the_file() -> None:
    path = str(packaged(MJCF, "assets/humanoid.xml"))
    assert ar.read_mjcf(path, limits=False).q0 == pytest.approx(mujoco.MjModel.from_xml_path(path).qpos0, abs=1e-15)


HELD = """
<mujoco>
  <option><flag contact="disable"/></option>
  <worldbody>
    <site name="nail" pos="0.1 0.3 0.2" euler="20 20 40"/>
    <body name="a" pos="0 0 1" euler="10 20 30">
      <joint type="ball" pos="0.1 0 0.05"/>
      <geom size="0.1" pos="0.1 0 0"/>
      <site name="on a" pos="0.1 0.2 0.3" euler="40 5 6"/>
      <body name="b" pos="0.4 0 0" euler="-10 0 50">
        <joint type="hinge" axis="0 1 1" pos="-0.1 0.05 0" ref="20"/>
        <geom size="0.1" pos="0.2 0 0"/>
      </body>
    </body>
    <body name="c" pos="1 0 1" euler="-10 20 70">
      <freejoint/>
      <geom size="0.1"/>
      <site name="on c" pos="0.3 -0.2 0.1" euler="40 -10 -30"/>
    </body>
  </worldbody>
  <equality>{held}</equality>
</mujoco>
"""


def placed(rotation: np.ndarray) -> np.ndarray:
    """The matrix (3, 3) of Euler parameters."""
    found = np.zeros(9)
    mujoco.mju_quat2Mat(found, rotation)
    return found.reshape(3, 3)


@pytest.mark.parametrize(
    ("held", "rows"),
    [
        ('<connect body1="b" body2="c" anchor="0.1 0.2 0.3"/>', 3),
        ('<connect body1="b" anchor="0.1 0.2 0.3"/>', 3),
        ('<connect site1="on a" site2="on c"/>', 3),
        ('<connect site1="on c" site2="nail"/>', 3),
        ('<weld body1="b" body2="c"/>', 6),
        ('<weld body1="b"/>', 6),
        ('<weld body1="b" body2="c" anchor="0.1 0.2 0.3"/>', 6),
        ('<weld body1="b" anchor="0.1 0.2 0.3"/>', 6),
        ('<weld body1="b" body2="c" relpose="0.1 0.2 -0.3 1 0.2 0.2 -0.1"/>', 6),
        ('<weld body1="b" body2="c" relpose="0.1 0.2 -0.3 2 0.5 -0.5 0.3" anchor="0.3 0 0.1"/>', 6),
        ('<weld body1="b" body2="c" anchor="0.1 0.2 0.3" torquescale="0"/>', 3),
        ('<weld site1="on a" site2="on c"/>', 6),
        ('<weld site1="on c" site2="nail"/>', 6),
    ],
)
def test_equalities_hold_what_those_of_mujoco_hold(tmp_path: Path, held: str, rows: int) -> None:
    """Displacements and turns at random states, of which those of a loop have to vanish and no others."""
    path = tmp_path / "held.xml"
    path.write_text(HELD.format(held=held))
    model = ar.read_mjcf(path)
    assert len(model.loops.loop) == rows
    theirs = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(theirs)
    rng = np.random.default_rng(3)
    for k in range(20):
        q = theirs.qpos0.copy()
        if k:
            mujoco.mj_integratePos(theirs, q, rng.normal(size=theirs.nv), 1.0)
        data.qpos[:] = q
        mujoco.mj_forward(theirs, data)
        apart, turned = np.array(data.efc_pos[:3]), np.array(data.efc_pos[3:6]) if rows == 6 else np.zeros(0)
        found = ar.loop_residuals(model, q)
        assert np.linalg.norm(found[:3]) == pytest.approx(np.linalg.norm(apart), abs=1e-12)
        if rows == 6:
            # MuJoCo has n sin(a/2) of the turn between the two sides, with either sign of cos(a/2); the rows here are
            # cosines of its matrix, which that sign transposes.
            between = placed(np.array([np.sqrt(max(0.0, 1.0 - turned @ turned)), *turned]))
            cosines = [np.array([R[1, 0], R[2, 1], R[0, 2]]) for R in (between, between.T)]
            assert min(np.abs(found[3:] - expected).max() for expected in cosines) <= 1e-12


@pytest.mark.parametrize("flags", ["gravity", "spring", "damper", "gravity spring damper"])
def test_what_the_flags_of_a_file_switch_off_does_not_act(tmp_path: Path, flags: str) -> None:
    switched = " ".join(f'{flag}="disable"' for flag in flags.split())
    path = tmp_path / "switched.xml"
    path.write_text(TRICKY.replace("<default>", f"<option><flag {switched}/></option><default>", 1))
    compared(str(path))
    listed = ", ".join(sorted(flags.split(), key=("spring", "damper", "gravity").index))
    assert f"switched off by the flags of the file's <option>: {listed}" in ar.read_mjcf(path).inferred
