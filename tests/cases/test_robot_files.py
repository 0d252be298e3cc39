"""Descriptions of robots: what is inferred, what is refused and where, cases that name them, and URDF written again."""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import articulon as ar
from tests.identities.test_shapes import stl
from tests.support.meshes import CUBE, SIDES
from tests.support.robot_files import URDF, packaged

ARM = """<?xml version="1.0"?>
<robot name="arm">
  <material name="blue"><color rgba="0 0 1 1"/></material>
  <link name="base"/>
  <link name="upper">
    <inertial>
      <origin xyz="0 0 0.2" rpy="0.1 0.2 0.3"/>
      <mass value="2"/>
      <inertia ixx="0.03" ixy="0" ixz="0.001" iyy="0.03" iyz="0" izz="0.01"/>
    </inertial>
    <visual>
      <origin xyz="0 0 0.2"/>
      <geometry><cylinder radius="0.05" length="0.4"/></geometry>
      <material name="blue"/>
    </visual>
    <collision><geometry><box size="0.1 0.1 0.4"/></geometry></collision>
  </link>
  <link name="hand">
    <inertial><mass value="1"/><inertia ixx="0.01" iyy="0.01" izz="0.01"/></inertial>
    <visual><geometry><mesh filename="hand.stl" scale="0.1 0.1 0.1"/></geometry></visual>
  </link>
  <link name="finger">
    <inertial><mass value="0.1"/><inertia ixx="0.001" iyy="0.001" izz="0.001"/></inertial>
  </link>
  <joint name="shoulder" type="revolute">
    <parent link="base"/>
    <child link="upper"/>
    <axis xyz="0 1 0"/>
    <limit lower="-1.5" upper="2" effort="30" velocity="2"/>
    <dynamics damping="0.7" friction="0.2"/>
  </joint>
  <joint name="wrist" type="continuous">
    <origin xyz="0 0 0.4" rpy="0 1.5707963267948966 0"/>
    <parent link="upper"/>
    <child link="hand"/>
  </joint>
  <joint name="grip" type="prismatic">
    <origin xyz="0 0.02 0"/>
    <parent link="hand"/>
    <child link="finger"/>
    <axis xyz="0 0 1"/>
    <limit lower="0.01" upper="0.04" effort="5" velocity="1"/>
    <mimic joint="wrist" multiplier="0.5"/>
  </joint>
  <transmission name="drive"><joint name="shoulder"/></transmission>
  <gazebo/>
</robot>
"""
PENDULUM = """<mujoco>
  <worldbody>
    <geom name="floor" type="plane" size="1 1 1"/>
    <body name="rod" pos="0 0 1">
      <joint name="pin" axis="0 1 0" range="-90 90" armature="0.1" frictionloss="0.2" damping="0.3"/>
      <geom type="capsule" size="0.02" fromto="0 0 0 0 0 -0.5" mass="1"/>
    </body>
  </worldbody>
  <actuator><motor name="push" joint="pin"/></actuator>
</mujoco>
"""


def written(folder: Path, text: str = ARM, name: str = "arm.urdf") -> Path:
    """The description and its mesh in a folder."""
    stl(folder / "hand.stl", CUBE, SIDES)
    path = folder / name
    path.write_text(text)
    return path


def test_what_a_file_says_is_in_the_model_or_in_inferred(tmp_path: Path) -> None:
    model = ar.read_urdf(written(tmp_path))
    assert model.names == ("base", "upper", "hand", "finger")
    assert model.joint_names == ("base", "shoulder", "wrist", "grip")
    limits, damping, friction = model.forces
    assert (limits.lower, limits.upper) == ({"upper": -1.5, "finger": 0.01}, {"upper": 2.0, "finger": 0.04})
    assert (damping.rotational, friction.rotational) == ({"upper": 0.7}, {"upper": 0.2})
    assert model.q0.tolist() == [0.0, 0.0, 0.01]
    assert [[shape.kind for shape in several] for several in model.shapes] == [[], ["cylinder"], ["mesh"], []]
    said = "\n".join(model.inferred)
    assert model.inferred[0] == (
        "WARNING: this is not the mechanism of the file: joints that the file couples move freely and independently "
        "here: grip (= 0.5 wrist + 0, a mimic joint)"
    )
    for words in (
        "links without mass: 'base'",
        "limits of joints are stops without restitution",
        "friction of joints is Coulomb friction",
        "<transmission>: drive (line 45)",
        "<gazebo>: (line 46)",
        "limits of effort: shoulder, grip",
        "limits of velocity: shoulder, grip",
        "joints that start at a stop, because zero lies beyond it: grip at 0.01",
        "left out: contacts between links, and between links and the ground",
    ):
        assert words in said, words


def test_a_free_root_comes_first(tmp_path: Path) -> None:
    model = ar.read_urdf(written(tmp_path), root="free", limits=False)
    assert isinstance(model.joints[0], ar.Free) and model.nu == 9
    assert "stops, as requested: shoulder, grip" in "\n".join(model.inferred)


def test_a_planar_joint_is_two_slides_and_a_hinge(tmp_path: Path) -> None:
    text = ARM.replace('type="continuous"', 'type="planar"')
    model = ar.read_urdf(written(tmp_path, text), limits=False, meshes=False)
    kinds = [type(joint).__name__ for joint in model.joints]
    assert kinds == ["Weld", "Revolute", "Prismatic", "Prismatic", "Revolute", "Prismatic"]
    axes = np.array([model.joints[k].direction for k in (2, 3, 4)])
    assert axes @ axes.T == pytest.approx(np.eye(3), abs=1e-15) and np.linalg.det(axes) == pytest.approx(1.0)
    # The slides carry no mass: what they do is what the hand's mass does.
    found = ar.mass_matrix(model, np.zeros(5))
    assert found[1, 1] == pytest.approx(1.1, rel=1e-15)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('type="continuous"', 'type="screw"', r"line 32, <joint 'wrist'>: type: expected one of fixed, revolute"),
        ('<parent link="upper"/>', '<parent link="lower"/>', r"line 34, <parent>: there is no link 'lower'"),
        ('<child link="hand"/>', "", r"line 32, <joint 'wrist'>: has no <child>"),
        ('<child link="hand"/>', '<child link="upper"/>', r"line 32, <joint 'wrist'>: link 'upper' is the child of"),
        ('<axis xyz="0 1 0"/>', '<axis xyz="0 one 0"/>', r"line 28, <axis>: xyz: expected 3 finite numbers"),
        ('<axis xyz="0 1 0"/>', '<axis xyz="0 0 0"/>', r"line 28, <axis>: xyz: an axis needs a length"),
        ('<mass value="2"/>', '<mass value="nan"/>', r"line 8, <mass>: value: expected a finite number, got 'nan'"),
        ('<mass value="2"/>', '<mass value="-2"/>', r"line 8, <mass>: value: must not be negative, got -2"),
        ('<mass value="2"/>', "", r"line 6, <inertial>: has no <mass>"),
        ('lower="-1.5"', 'lower="3"', r"line 29, <limit>: lower, 3, lies above upper, 2"),
        ('radius="0.05"', 'radius="-1"', r"body 'upper', shape: radius: must be greater than 0"),
        ('radius="0.05"', 'diameter="0.1"', r"line 13, <cylinder>: has no attribute radius"),
        ("hand.stl", "gone.stl", r"line 20, <mesh>: there is no mesh 'gone\.stl', of link 'hand'"),
        ("hand.stl", "http://example.org/hand.stl", r"line 20, <mesh>: there is no mesh 'http:"),
        ("hand.stl", "package://robot/hand.stl", r"line 20, <mesh>: there is no mesh 'package:"),
        ('name="upper"', 'name="hand"', r"line 18, <link 'hand'>: there is a link of this name already, in line 5"),
        ('joint="wrist" multi', 'joint="waist" multi', r"line 43, <mimic>: there is no joint 'waist'"),
        ('<link name="base"/>', "", r"<parent>: there is no link 'base'"),
        ('<link name="base"/>', '<link name="base"/><link name="stray"/>', r"<link 'stray'>: is a second root"),
        ("</link>", "</lonk>", r"line 17, inside of <link 'upper'>: is not valid XML: mismatched tag"),
        ('mass value="0.1"', 'mass value="0"', r"'finger': its prismatic joint carries neither"),
        ("<robot", "<sdf", r"is not valid XML"),
    ],
)
def test_a_broken_urdf_is_refused_by_line_and_element(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in ARM
    text = ARM.replace(old, new, 1)
    if "carries neither" in message:
        text = text.replace('ixx="0.001" iyy="0.001" izz="0.001"', 'ixx="0" iyy="0" izz="0"')
    path = written(tmp_path, text)
    with pytest.raises(ar.ModelError, match=message) as caught:
        ar.read_urdf(path)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize("read", [ar.read_urdf, ar.read_mjcf], ids=["urdf", "mjcf"])
def test_entities_do_no_harm(tmp_path: Path, read: Any) -> None:
    secret = tmp_path / "secret"
    secret.write_text("do not read")
    bomb = "".join(f'<!ENTITY e{k} "{f"&e{k - 1};" * 10}">' for k in range(1, 12))
    for declared in (f'<!ENTITY e0 "x">{bomb}', f'<!ENTITY e11 SYSTEM "{secret}">', '<!ENTITY % e11 "x">'):
        path = tmp_path / "bomb.xml"
        path.write_text(f'<!DOCTYPE robot [{declared}]>\n<robot name="&e11;"/>')
        with pytest.raises(ar.ModelError, match=r"bomb\.xml, line 1: declares an entity"):
            read(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (PENDULUM.replace('type="capsule"', 'type="capsul"'), r"invalid keyword: 'capsul'.*line 6"),
        (PENDULUM.replace("</body>", "</bdy>"), r"line 7, inside of <body 'rod'>: is not valid XML: mismatched tag"),
        (PENDULUM.replace('joint="pin"', 'joint="pan"'), r"pan.*line 9"),
        (PENDULUM.replace('mass="1"', 'mass="0"'), r"mass and inertia of moving bodies.*line 4"),
        (PENDULUM.replace('"capsule"', '"mesh" mesh="m"'), r"arm\.xml: MuJoCo cannot read it: .*m"),
        ("<mujoco><include file='gone.xml'/></mujoco>", r"gone\.xml"),
        ("<mujoco><extension><plugin plugin='x'/></extension></mujoco>", r"contains code"),
        ("<mujoco/>", r"arm\.xml: no link has a mass"),
        (
            PENDULUM.replace(
                "</mujoco>",
                '<equality><weld name="shut" body1="rod" relpose="0 0 9 1 0 0 0"/></equality></mujoco>',
            ),
            r"arm\.xml: loop 'shut': the loops cannot be closed",
        ),
        ("<robot/>", r"<robot>: is a URDF file; read it with read_urdf"),
        ("", r"arm\.xml, line 1: is not valid XML: no element found"),
    ],
)
def test_a_broken_mjcf_is_refused_by_line_and_element(tmp_path: Path, text: str, message: str) -> None:
    path = written(tmp_path, text, "arm.xml")
    with pytest.raises(ar.ModelError, match=message) as caught:
        ar.read_mjcf(path)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    ("flag", "gone"),
    [
        ("limit", {"joint-limits"}),
        ("frictionloss", {"joint-friction"}),
        ("equality", {"loops"}),
        ("constraint", {"joint-limits", "joint-friction", "loops"}),
        ("contact", set()),
    ],
)
def test_constraints_that_a_file_switches_off_are_not_in_the_model(tmp_path: Path, flag: str, gone: set[str]) -> None:
    text = PENDULUM.replace("</mujoco>", '<equality><connect body1="rod" anchor="0 0 0"/></equality></mujoco>')
    text = text.replace("<mujoco>", f'<mujoco><option><flag {flag}="disable" energy="enable"/></option>')
    model = ar.read_mjcf(written(tmp_path, text, "arm.xml"))
    found = {force.kind for force in model.forces} | ({"loops"} if model.loop_joints else set())
    assert found == {"gravity", "joint-limits", "joint-damping", "joint-friction", "loops"} - gone
    switched = f"switched off by the flags of the file's <option>: {flag}"
    assert (switched in model.inferred) == bool(gone)
    others = 'energy="enable"' if gone else 'contact="disable", energy="enable"'
    assert f"flags of the file's <option> that have no effect here: {others}" in model.inferred


def test_joints_that_mjcf_couples_are_said_first_to_move_freely(tmp_path: Path) -> None:
    second = '<body name="tip"><joint name="twist" axis="0 0 1"/><geom size="0.1"/></body></body>'
    held = """
      <tendon><fixed name="belt"><joint joint="pin" coef="1"/></fixed></tendon>
      <equality>
        <joint name="gears" joint1="twist" joint2="pin" polycoef="0.1 -2 0 3 0"/>
        <joint name="brake" joint1="pin" polycoef="0.2 0 0 0 0"/>
        <joint joint1="pin" active="false"/>
        <tendon name="taut" tendon1="belt"/>
      </equality></mujoco>"""
    model = ar.read_mjcf(
        written(tmp_path, PENDULUM.replace("</body>", second, 1).replace("</mujoco>", held), "arm.xml")
    )
    start, _, named = model.inferred[0].partition(" here: ")
    assert start == (
        "WARNING: this is not the mechanism of the file: joints that the file couples move freely and independently"
    )
    assert named == (
        "twist (= 0.1 + -2 (pin) + 3 (pin)^3, each measured from its initial value; equality gears), "
        "pin (= 0.2, each measured from its initial value; equality brake), "
        "tendon belt (= 0, each measured from its initial value; equality taut)"
    )
    assert "left out: equalities that are not active: equality 2" in model.inferred


LOOKS = """<mujoco>
  <compiler meshdir="parts"/>
  <asset>
    <texture name="paint" type="2d" file="gone.png"/>
    <material name="painted" texture="paint"/>
    <hfield name="hills" file="gone.png" size="1 1 1 1"/>
    <mesh file="gone.obj"/>
  </asset>
  <default><geom material="painted"/></default>
  <worldbody>
    <geom type="hfield" hfield="hills"/>
    <body name="rod">
      <joint name="pin" axis="0 1 0"/>
      <inertial pos="0 0 -0.3" mass="2" diaginertia="0.1 0.1 0.01"/>
      <geom type="mesh" mesh="gone"/>
      <body name="tip" pos="0 0 -0.5">
        <joint name="twist" axis="0 0 1"/>
        <geom type="sphere" size="0.1" density="1000"/>
        <geom name="skirt" type="mesh" mesh="gone" mass="0"/>
      </body>
    </body>
  </worldbody>
  <deformable><skin name="hide" file="gone.skn"/></deformable>
</mujoco>
"""


def cube(path: Path) -> None:
    """A mesh in a file that MuJoCo reads."""
    path.parent.mkdir()
    lines = [f"v {x} {y} {z}" for x, y, z in CUBE] + [f"f {a + 1} {b + 1} {c + 1}" for a, b, c in SIDES]
    path.write_text("\n".join(lines) + "\n")


def test_files_of_looks_are_not_opened(tmp_path: Path) -> None:
    path = written(tmp_path, LOOKS, "arm.xml")
    model = ar.read_mjcf(path, meshes=False)
    assert model.masses == pytest.approx([2.0, 1000 * 4 / 3 * np.pi * 0.1**3])
    assert [[shape.kind for shape in several] for several in model.shapes] == [[], ["sphere"]]
    said = "\n".join(model.inferred)
    assert "left out: meshes, as requested: gone, gone" in said and "left out: skins: hide" in said
    with pytest.raises(ar.ModelError, match=r"gone\.obj"):
        ar.read_mjcf(path)
    # The same with its mesh, and still without pictures.
    cube(tmp_path / "parts" / "gone.obj")
    drawn = ar.read_mjcf(path)
    assert [[shape.kind for shape in several] for several in drawn.shapes] == [["mesh"], ["sphere", "mesh"]]
    assert drawn.masses == pytest.approx(model.masses)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (' mass="0"', ""),
        (' mass="0"', ' mass="0.3"'),
        ("<compiler", '<compiler inertiafromgeom="true"'),
    ],
)
def test_a_mesh_that_gives_a_body_its_mass_has_to_be_there(tmp_path: Path, old: str, new: str) -> None:
    text = LOOKS.replace(old, new)
    path = written(tmp_path, text, "arm.xml")
    named = "rod" if "true" in new else "tip"
    with pytest.raises(ar.ModelError, match=rf"no mesh 'gone\.obj', which determines the mass of body '{named}'"):
        ar.read_mjcf(path, meshes=False)
    cube(tmp_path / "parts" / "gone.obj")
    equal_masses = ar.read_mjcf(path, meshes=False).masses
    assert equal_masses == pytest.approx(ar.read_mjcf(path).masses)


def test_damaged_files_end_in_a_message(tmp_path: Path) -> None:
    """Cut, doubled and exchanged at random: a model, or a refusal that names the file."""
    chance = random.Random(7)
    for read, text in ((ar.read_urdf, ARM), (ar.read_mjcf, PENDULUM)):
        refused = 0
        for _ in range(150):
            at, length = chance.randrange(len(text)), chance.randrange(1, 40)
            words = [match.span(1) for match in re.finditer(r'"([^"]*)"', text)]
            (a, b), (c, d) = chance.choice(words), chance.choice(words)
            spoilt = chance.choice(["", "nan", "1e400", "-1", "é", "1 2", "\x01"])
            damaged = chance.choice(
                [text[:at] + text[at + length :], text[:a] + spoilt + text[b:], text[:a] + text[c:d] + text[b:]]
            )
            path = written(tmp_path, damaged, "damaged.xml")
            said = refusal(read, path)
            assert said is None or "damaged.xml" in said
            refused += said is not None
        assert refused > 50


def refusal(read: Any, path: Path) -> str | None:
    """What a file is refused with, None where it is read; fails for any other end of it."""
    try:
        read(path)
    except ar.ModelError as error:
        return str(error)
    return None


def test_odd_names_are_escaped_where_they_are_shown(tmp_path: Path) -> None:
    text = ARM.replace('name="drive"', 'name="a&#10;b&#x202e;c"').replace('"finger"', '"fin&lt;ger&#10;"')
    model = ar.read_urdf(written(tmp_path, text))
    assert r"<transmission>: 'a\nb\u202ec'" in "\n".join(model.inferred)
    assert "fin<ger\n" in model.names
    again = ar.read_urdf(ar.write_urdf(model, tmp_path / "again.urdf"))
    assert again.names == model.names


def equal(one: ar.Model, other: ar.Model) -> None:
    """Asserts that two models are the same but for their notes."""
    for key in ("names", "joint_names", "joints", "forces"):
        assert getattr(one, key) == getattr(other, key), key
    for key in ("parents", "masses", "centres", "inertias", "q0", "u0"):
        assert np.array_equal(getattr(one, key), getattr(other, key)), key
    for key in ("position", "rotation", "axis"):
        assert getattr(one.forest, key) == pytest.approx(getattr(other.forest, key), abs=1e-15), key
    assert one.offset_position == pytest.approx(other.offset_position, abs=1e-15)
    for mine, theirs in zip(one.shapes, other.shapes, strict=True):
        for a, b in zip(mine, theirs, strict=True):
            assert a.model_dump(exclude={"rotation"}) == b.model_dump(exclude={"rotation"})
            assert a.turn == pytest.approx(b.turn, abs=1e-15)


@pytest.mark.parametrize(
    ("name", "root"),
    [
        (None, "fixed"),
        (None, "free"),
        ("panda_description/urdf/panda.urdf", "fixed"),
        ("bolt_description/robots/bolt.urdf", "free"),
        ("tiago_description/robots/tiago.urdf", "free"),
    ],
)
def test_a_model_that_is_written_is_read_again(tmp_path: Path, name: str | None, root: Any) -> None:
    path = written(tmp_path) if name is None else packaged(URDF, name)
    model = ar.read_urdf(path, root=root)
    (tmp_path / "out").mkdir()
    equal(model, ar.read_urdf(ar.write_urdf(model, tmp_path / "out" / "again.urdf"), root=root))


def test_a_tree_that_hangs_from_the_ground_gets_a_world_link(tmp_path: Path) -> None:
    b = ar.ModelBuilder(units="fg-um-us")
    b.add_body("a", mass=1, inertia=1, joint=ar.Revolute(axis=(0, 1, 0)), position=(0, 0, 3))
    b.add_body("b", mass=1, inertia=1, joint=ar.Weld(), position=(1, 0, 0))
    model = ar.read_urdf(ar.write_urdf(b.build(), tmp_path / "two.urdf"))
    assert model.names == ("world", "a", "b") and model.parents.tolist() == [-1, 0, 0]
    assert model.masses[1] == pytest.approx(1e-18) and model.forest.position[0].tolist() == pytest.approx([0, 0, 3e-6])


SOLID = {"mass": 1, "inertia": 1}
BOUNCY = ar.forces.JointLimits(lower={"arm": 0.0}, upper={"arm": 1.0})


@pytest.mark.parametrize(
    ("change", "message", "left"),
    [
        (lambda b: b.add_force(ar.forces.Gravity((0, 0, -9.81))), r"forces\[0\] \(gravity\)", "gravity"),
        (lambda b: b.add_site("arm"), "the model has sites", "sites"),
        (lambda b: b.add_body("x", mass=1, inertia=1, joint=ar.Spherical()), "body 'x' has a spherical joint", None),
        (lambda b: b.add_body("x", mass=1, joint=ar.Prismatic()), "the prismatic joint of body 'x' has no stops", None),
        (
            lambda b: b.add_body("x", mass=1, inertia=1, joint=ar.Revolute(), u=1),
            "has an initial state",
            "initial state",
        ),
        (lambda b: b.add_body("x", mass=1, inertia=1, joint=ar.Revolute(), armature=1), "have armatures", "armature"),
        (
            lambda b: b.add_body("a\x01", mass=1, inertia=1, joint=ar.Revolute()),
            r"an XML file cannot contain the name .*\\x01",
            None,
        ),
        (lambda b: b.add_body("world", mass=1, joint=ar.Weld()), "a body is called 'world'", None),
        (
            lambda b: b.add_force(ar.forces.JointLimits(lower={"arm": 0.0}, upper={"arm": 1.0})),
            "restitution",
            "restitution",
        ),
    ],
)
def test_what_urdf_cannot_say_is_refused_by_name(tmp_path: Path, change: Any, message: str, left: str | None) -> None:
    b = ar.ModelBuilder(units="kg-m-s")
    b.add_body("arm", mass=1, inertia=1, joint=ar.Revolute(axis=(0, 1, 0)))
    change(b)
    model = b.build()
    with pytest.raises(ar.ModelError, match=message):
        ar.write_urdf(model, tmp_path / "x.urdf")
    assert not (tmp_path / "x.urdf").exists()
    if left is not None:
        ar.read_urdf(ar.write_urdf(model, tmp_path / "x.urdf", leave_out=[left]))


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_of_several_stops_the_innermost_are_written(tmp_path: Path, order: tuple[int, int]) -> None:
    resting = {"restitution": 0.0, "rotational_resting_speed": 1e-3, "translational_resting_speed": 1e-3}
    bounds = [({"arm": -2.0}, {"arm": 0.5}), ({"arm": -1.0}, {"arm": 3.0})]
    b = ar.ModelBuilder(units="kg-m-s")
    b.add_body("arm", mass=1, inertia=1, joint=ar.Revolute(axis=(0, 1, 0)))
    for k in order:
        b.add_force(ar.forces.JointLimits(lower=bounds[k][0], upper=bounds[k][1], **resting))
    (limits,) = ar.read_urdf(ar.write_urdf(b.build(), tmp_path / "x.urdf")).forces
    assert (limits.lower, limits.upper) == ({"arm": -1.0}, {"arm": 0.5})


CASE = """
[case]
title = "A robot"
units = "kg-m-s"

[model]
builder = "{builder}"
file = "{file}"
{more}

[integrator]
rule = "kutta-merson"
rtol = 1e-6
atol = 1e-9

[run]
duration = 0.02
frames = 2
"""


@pytest.mark.parametrize(
    ("builder", "text", "file"), [("urdf", ARM, "arm.urdf"), ("mjcf", PENDULUM, "arm.xml")], ids=["urdf", "mjcf"]
)
def test_a_case_names_its_robot_beside_it(tmp_path: Path, builder: str, text: str, file: str) -> None:
    written(tmp_path, text, file)
    path = tmp_path / "case.toml"
    path.write_text(CASE.format(builder=builder, file=file, more=""))
    run = ar.run(ar.load_case(path), out=tmp_path / "run", report=False)
    opened = ar.open_run(tmp_path / "run")
    direct = (ar.read_urdf if builder == "urdf" else ar.read_mjcf)(tmp_path / file)
    equal(direct, opened.model)
    assert opened.model.inferred == direct.inferred
    assert any("left out: contacts between" in note for note in run.summary["notes"])


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('file = "arm.urdf"', 'file = "leg.urdf"', r"model\.file: .*leg\.urdf cannot be read"),
        ('"kg-m-s"', '"fg-um-us"', r"model\.builder: robot descriptions are in kilograms"),
        ('"urdf"', '"mjcf"', r"is a URDF file; read it with read_urdf, or by the builder 'urdf'"),
        ('builder = "urdf"', 'builder = "urdf"\nroot = "afloat"', r"model\.root: .*fixed.*free"),
        ('builder = "urdf"', 'builder = "urdf"\nmeshs = false', r"model\.meshs.*meshes"),
    ],
)
def test_what_is_wrong_with_the_case_of_a_robot_is_named(tmp_path: Path, old: str, new: str, message: str) -> None:
    written(tmp_path)
    path = tmp_path / "case.toml"
    path.write_text(CASE.format(builder="urdf", file="arm.urdf", more="").replace(old, new))
    with pytest.raises(ar.CaseError, match=message):
        ar.load_case(path).build_model()


def test_packages_are_where_the_case_says(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    written(tmp_path / "elsewhere", ARM.replace("hand.stl", "package://parts/hand.stl"))
    (tmp_path / "elsewhere" / "arm.urdf").rename(tmp_path / "arm.urdf")
    path = tmp_path / "case.toml"
    path.write_text(CASE.format(builder="urdf", file="arm.urdf", more='packages = { parts = "elsewhere" }'))
    model = ar.load_case(path).build_model()
    assert model.shapes[2][0].file == str((tmp_path / "elsewhere" / "hand.stl").resolve())
    # A path in a package does not lead out of it.
    written(tmp_path, ARM.replace("hand.stl", "package://elsewhere/../hand.stl"))
    with pytest.raises(ar.ModelError, match=r"there is no mesh 'package://elsewhere/\.\./hand\.stl'"):
        ar.read_urdf(tmp_path / "arm.urdf")
