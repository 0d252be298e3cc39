"""Models whose joints or springs resist speeds, and the order of friction-implicit steps of them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import articulon as ar
from articulon.integrate import Explicit, FrictionImplicit
from tests.support.loop_models import FourBar, add_loops
from tests.support.random_models import builder_of
from tests.support.running import Running

DAMPED = (ar.forces.JointDamping(rotational=0.7),)
RUBBED = (ar.forces.JointFriction(rotational=0.4, rotational_speed=0.3),)
FRICTIONS = {"damping": DAMPED, "friction": RUBBED, "both": DAMPED + RUBBED}


def pendulum(*forces: Any, drag: float = 0.5, flow: float = 0.0) -> Any:
    """A double pendulum on joints of several and of one speed, under gravity and drag."""
    builder = ar.ModelBuilder("lj")
    body = {"inertia": (0.1, 0.15, 0.2), "com": (0.2, -0.1, -0.4)}
    joints = {"upper": ar.Spherical(), "lower": ar.Universal(), "hand": ar.Revolute(axis=(0.0, 1.0, 1.0))}
    parent, at = None, (0.0, 0.0, 0.0)
    for k, (name, joint) in enumerate(joints.items()):
        u = 0.8 * np.cos(1.0 + np.arange(joint.nu) + k)
        parent = builder.add_body(name, parent=parent, joint=joint, mass=1.0 + 0.3 * k, **body, position=at, u=u)
        at = (0.1, 0.0, -1.0)
    slide = ar.Prismatic(axis=(1.0, 0.0, 0.5))
    builder.add_body("slide", parent="lower", joint=slide, mass=0.6, **body, position=(0.0, 0.3, -0.5), u=0.3)
    builder.add_force(ar.forces.Gravity(acceleration=(1.0, 0.0, -3.0)))
    if drag:
        builder.add_force(ar.forces.StokesDrag(translational=drag, rotational=0.3 * drag, flow=(0.0, flow, 0.0)))
    for force in forces:
        builder.add_force(force)
    return builder.build()


def four_bar(*forces: Any) -> Any:
    """A linkage of four hinges, one of them the loop's, that falls."""
    mechanism, q = FourBar().mechanism(), FourBar().coordinates(1.0)
    builder = builder_of(mechanism.forest, q, None)
    add_loops(builder, mechanism)
    for force in (ar.forces.Gravity(acceleration=(0.0, -9.81, 0.0)), *forces):
        builder.add_force(force)
    return builder.build()


def ring(*forces: Any) -> Any:
    """A ring on joints of several speeds, with a driven crank, whose joints the forces resist."""
    builder = ar.ModelBuilder("lj")
    hexagon = (math.cos(math.pi / 6), 0.0, 0.0, math.sin(math.pi / 6))
    body = {"inertia": (0.2, 0.3, 0.35), "com": (0.5, 0.1, -0.05)}
    builder.add_body("0", joint=ar.Free(), mass=2.0, **body, u=(0.1, 0.2, 0.3, 0.5, -0.4, 0.3))
    joints = [ar.Revolute(axis=(0.3, 0.4, 0.866)), ar.Spherical(), ar.Universal(), ar.Spherical()]
    for k, joint in enumerate(joints):
        at = {"position": (1.0, 0.0, 0.0), "rotation": hexagon}
        given = {"u": 0.6} if k == 0 else {}
        builder.add_body(str(k + 1), parent=str(k), joint=joint, mass=1.0 + 0.2 * k, **body, **at, **given)
    builder.add_loop("ring", joint=ar.Spherical(), parent="0", child="4", position=(-0.5, 0.5 * 3**0.5, 0.0),
                     child_position=(1.0, 0.0, 0.0))  # fmt: skip
    hinge = ar.Revolute(axis=(0.0, 1.0, 0.0))
    builder.add_body("crank", parent="0", joint=hinge, mass=0.5, **body, position=(0.0, 0.5, 0.0))
    builder.add_drive("crank", times=(0.0, 1.0, 2.0, 3.0), values=(0.0, 0.7, 0.2, 0.0))
    builder.add_force(ar.forces.StokesDrag(translational=0.5, rotational=0.2))
    for force in forces:
        builder.add_force(force)
    return builder.build()


MODELS = {"pendulum": pendulum, "four-bar": four_bar, "ring": ring}


def assert_second_order(model: Any) -> None:
    """Halving the step quarters the errors of coordinates, speeds and works, and of the books."""

    def found(run: Running) -> np.ndarray:
        return np.concatenate([run.q, run.u, run.state.work])

    exact = found(Running(model, Explicit(rule="dormand-prince", rtol=1e-11, atol=1e-12)).to(0.5))
    errors, books = [], []
    for steps in (100, 200):
        run = Running(model, FrictionImplicit(step=0.5 / steps)).to(0.5)
        errors.append(float(np.linalg.norm(found(run) - exact)))
        books.append(abs(run.imbalance()))
    assert errors[-1] > 1e-9, "rounding hides the order"
    assert math.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.15)
    assert books[-1] < 1e-3
    if books[-1] > 1e-10:
        assert math.log2(books[0] / books[1]) == pytest.approx(2.0, abs=0.3)
