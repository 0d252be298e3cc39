"""Impacts against MuJoCo, whose contacts are springs: as they become stiff, an impact becomes one of rigid bodies."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import articulon as ar

mujoco = pytest.importorskip("mujoco")

BALL = [1.0, 0.5, -2.0, 0.3, -0.2, 0.4]
"""Velocity of its centre and angular velocity, of a ball that comes down askew."""
GAP = 1e-4


def stepped(xml: str, speeds: list[float], duration: float) -> Any:
    """MuJoCo's data after a time from given speeds."""
    model = mujoco.MjModel.from_xml_string(xml)
    data = mujoco.MjData(model)
    data.qvel[:] = speeds
    for _ in range(round(duration / model.opt.timestep)):
        mujoco.mj_step(model, data)
    return data


def oblique(stiffness: float, step: float, friction: float) -> np.ndarray:
    """Speeds of MuJoCo's ball after an impact on a plane: a spring without damping along the normal, and friction that
    takes the slip within two steps."""
    data = stepped(
        f"""<mujoco><option timestep="{step}" gravity="0 0 0" cone="elliptic" impratio="100" iterations="200"
        tolerance="1e-14"/><worldbody><geom name="floor" type="plane" size="5 5 .1"/><body pos="0 0 {0.5 + GAP}">
        <freejoint/><inertial pos="0 0 0" mass="1" diaginertia=".1 .1 .1"/><geom name="ball" type="sphere" size=".5"/>
        </body></worldbody><contact><pair geom1="ball" geom2="floor" condim="3"
        friction="{friction} {friction} 0 0 0" solref="{-stiffness} 0" solreffriction="{2.0 * step} 1"
        solimp="0.9999 0.9999 0.001"/></contact></mujoco>""",
        BALL,
        0.01,
    )
    return np.array(data.qvel)


@pytest.mark.parametrize("friction", [0.05, 0.1, 0.5])
def test_an_oblique_impact_with_friction_is_that_of_a_stiff_contact(friction: float) -> None:
    """Slip throughout, slip that all but ends, and rolling. The restitution of MuJoCo's contact comes out of its steps;
    with that one given, what friction does to velocity and spin is the same."""
    theirs = oblique(1e7, 2e-6, friction)
    b = ar.ModelBuilder("kg-m-s")
    b.add_body("ball", mass=1.0, inertia=0.1, joint=ar.Free(), q=(0, 0, 0.5 + GAP, 1, 0, 0, 0), u=BALL)
    b.add_site("ball", kind="steel", radius=0.5)
    floor = {"shape": "plane", "kind": "floor", "point": (0, 0, 0), "normal": (0, 0, 1)}
    b.add_force(ar.forces.Impacts(restitution=float(theirs[2]) / 2.0, friction=friction, walls=[floor]))
    ours = ar.simulate(b.build(), 0.01, rule="rk4", step=1e-3, frames=1).u[-1]
    # The spring's time is π √(m/k) = 1 ms, in which the ball's frame turns by 5e-4, and the friction's is 4 μs.
    assert ours == pytest.approx(theirs, abs=2e-3)
    assert abs(ours[0] - BALL[0]) > 0.1


def test_a_chain_that_hits_a_ball_moves_as_one() -> None:
    """Three links on hinges, whose tip hits a free ball without friction and without loss: the speeds of all hinges and
    of the ball after it, and the energy."""
    bends, speeds, tip, R = (0.3, -0.5, 0.9), (1.0, -2.0, 4.0), 0.05, 0.2
    link = {"mass": 1.0, "inertia": (1e-3, 0.09, 0.09), "com": (0.5, 0, 0)}
    b = ar.ModelBuilder("kg-m-s")
    for k, (bend, speed) in enumerate(zip(bends, speeds, strict=True)):
        place = {"parent": f"l{k - 1}", "position": (1, 0, 0)} if k else {}
        b.add_body(f"l{k}", joint=ar.Revolute(axis=(0, 0, 1)), q=bend, u=speed, **link, **place)
    b.add_site("l2", position=(1, 0, 0), kind="tip", radius=tip)
    angles = np.cumsum(bends)
    at = np.array([np.cos(angles).sum(), np.sin(angles).sum(), 0.0])
    v = np.cumsum(speeds) @ np.stack([-np.sin(angles), np.cos(angles), np.zeros(3)], axis=1)
    way = v / np.linalg.norm(v)
    aside = np.array([way[1] * np.cos(1.0), -way[0] * np.cos(1.0), 0.0]) * 0.6 + way * 0.8
    where = at + (tip + R + GAP) * aside / np.linalg.norm(aside)
    b.add_body("ball", mass=2.0, inertia=0.05, joint=ar.Free(), q=(*where, 1, 0, 0, 0))
    b.add_site("ball", kind="ball", radius=R)
    b.add_force(ar.forces.Impacts())
    model, duration = b.build(), 0.004
    run = ar.simulate(model, duration, rule="rk4", step=1e-3, frames=1)
    assert run.summary["impacts"]["impacts"] == 1
    inertia = '<inertial pos=".5 0 0" mass="1" diaginertia=".001 .09 .09"/>'
    links, end = "", ""
    for k, bend in enumerate(bends):
        offset = "1 0 0" if k else "0 0 0"
        links += f'<body pos="{offset}" euler="0 0 {bend}"><joint type="hinge" axis="0 0 1"/>{inertia}'
        end += "</body>"
    place = " ".join(str(x) for x in where)
    xml = f"""<mujoco><compiler angle="radian"/><option timestep="5e-7" gravity="0 0 0"/><worldbody>{links}
    <geom name="tip" type="sphere" pos="1 0 0" size="{tip}" contype="0" conaffinity="0"/>{end}
    <body pos="{place}"><freejoint/><inertial pos="0 0 0" mass="2" diaginertia=".05 .05 .05"/>
    <geom name="ball" type="sphere" size="{R}" contype="0" conaffinity="0"/></body></worldbody><contact>
    <pair geom1="tip" geom2="ball" condim="1" solref="-1e8 0" solimp="0.9999 0.9999 0.001"/></contact></mujoco>"""
    theirs = np.array(stepped(xml, [*speeds, *(0.0,) * 6], duration).qvel)
    change = np.abs(theirs - [*speeds, *(0.0,) * 6]).max()
    assert change > 0.5
    # The contact lasts 0.3 ms, in which the links turn by 1e-3 and more.
    assert np.abs(run.u[-1] - theirs).max() < 5e-3 * change
    assert run.kinetic_energy[-1] == pytest.approx(run.kinetic_energy[0], rel=1e-12)
