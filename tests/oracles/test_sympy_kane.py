"""Pendulums against the equations that SymPy's ``KanesMethod`` derives symbolically, to machine precision.

POEMS (section 9) was verified against a symbolic package in the same way. SymPy is given the parameters as exact
rationals and its equations are evaluated with 40 digits, so that the only rounding is the engine's.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest
import sympy as sp
from sympy.physics import mechanics as me

import articulon as ar
from tests.support import bounds
from tests.support.random_models import Body, Description, random_quaternion, to_articulon

GRAVITY = np.array([0.5, -9.75, 1.25])
IDENTITY = np.array([1.0, 0.0, 0.0, 0.0])
THIRD_OF_A_TURN = np.array([0.5, 0.5, 0.5, 0.5])
"""x to y to z to x: exact in binary, so that SymPy's rational is the engine's double."""


def body(name: str, parent: int | None, kind: str, axis: tuple[float, float, float]) -> Body:
    second = parent is not None
    return Body(
        name=name,
        parent=parent,
        kind=kind,
        axis=np.array(axis),
        position=np.array([1.25, 0.125, -0.25]) if second else np.array([0.5, 0.25, 0.75]),
        rotation=THIRD_OF_A_TURN if second else IDENTITY,
        mass=1.75 if second else 2.5,
        com=np.array([-0.25, 0.75, 0.375]) if second else np.array([0.625, -0.125, 0.25]),
        inertia=np.array([[1.0, 0.125, -0.0625], [0.125, 1.25, 0.25], [-0.0625, 0.25, 1.5]]) * (0.5 if second else 1.0),
    )


def planar() -> Description:
    """Both axes along the world's z."""
    second = dataclasses.replace(body("second", 0, "revolute", (0, 0, 1)), rotation=IDENTITY)
    return Description((body("first", None, "revolute", (0, 0, 1)), second))


SYSTEMS: dict[str, Description] = {
    "planar double pendulum": planar(),
    "three-dimensional double pendulum": Description(
        (body("first", None, "revolute", (0.0, 0.6, 0.8)), body("second", 0, "revolute", (0.8, 0.0, -0.6)))
    ),
    "spherical pendulum": Description((body("first", None, "spherical", (0, 0, 1)),)),
    "double spherical pendulum": Description(
        (body("first", None, "spherical", (0, 0, 1)), body("second", 0, "spherical", (0, 0, 1)))
    ),
    "hinge on a spherical pendulum": Description(
        (body("first", None, "spherical", (0, 0, 1)), body("second", 0, "revolute", (0.8, 0.0, -0.6)))
    ),
}


def exact(values: Any) -> list[sp.Rational]:
    return [sp.Rational(float(x)) for x in values]


def vector(frame: me.ReferenceFrame, components: list[Any]) -> Any:
    return components[0] * frame.x + components[1] * frame.y + components[2] * frame.z


@functools.cache
def kane_equations(name: str) -> Callable[..., tuple[Any, Any]]:
    """SymPy's mass matrix and right-hand side as a function of the numbers q, u, tau."""
    description = SYSTEMS[name]
    world = me.ReferenceFrame("N")
    origin = me.Point("O")
    origin.set_vel(world, 0)
    q = me.dynamicsymbols(f"q:{description.nq}")
    u = me.dynamicsymbols(f"u:{description.nu}")
    tau = sp.symbols(f"tau:{description.nu}")
    t = me.dynamicsymbols._t
    kinematics, rigid_bodies, loads = [], [], []
    frames: list[Any] = []
    origins: list[Any] = []
    for i, b in enumerate(description.bodies):
        parent_frame = world if b.parent is None else frames[b.parent]
        parent_origin = origin if b.parent is None else origins[b.parent]
        joint = me.ReferenceFrame(f"J{i}")
        joint.orient_quaternion(parent_frame, tuple(exact(b.rotation)))
        hinge = parent_origin.locatenew(f"P{i}", vector(parent_frame, exact(b.position)))
        if b.parent is None:
            hinge.set_vel(world, 0)
        else:
            hinge.v2pt_theory(parent_origin, world, parent_frame)
        moving = me.ReferenceFrame(f"B{i}")
        x = q[description.q_starts[i] : description.q_starts[i + 1]]
        w = u[description.u_starts[i] : description.u_starts[i + 1]]
        torques = tau[description.u_starts[i] : description.u_starts[i + 1]]
        if b.kind == "revolute":
            axis = vector(joint, exact(b.axis)).normalize()
            moving.orient_axis(joint, axis, x[0])
            moving.set_ang_vel(joint, w[0] * axis)
            kinematics.append(x[0].diff(t) - w[0])
            torque = torques[0] * axis
        else:
            # Euler parameters: with p = (e1, e2, e3), e0' = −p·ω/2 and p' = (e0 ω + p × ω)/2, ω in the body frame.
            moving.orient_quaternion(joint, x)
            moving.set_ang_vel(joint, vector(moving, w))
            p, omega = sp.Matrix(x[1:]), sp.Matrix(w)
            rates = [-p.dot(omega) / 2, *((x[0] * omega + p.cross(omega)) / 2)]
            kinematics += [xi.diff(t) - rate for xi, rate in zip(x, rates, strict=True)]
            torque = vector(moving, torques)
        centre = hinge.locatenew(f"G{i}", vector(moving, exact(b.com)))
        centre.v2pt_theory(hinge, world, moving)
        moments = b.inertia
        inertia = me.inertia(
            moving, *exact([moments[0, 0], moments[1, 1], moments[2, 2], moments[0, 1], moments[1, 2], moments[2, 0]])
        )
        mass = sp.Rational(b.mass)
        rigid_bodies.append(me.RigidBody(b.name, centre, moving, mass, (inertia, centre)))
        loads += [(centre, mass * vector(world, exact(GRAVITY))), (moving, torque), (parent_frame, -torque)]
        frames.append(moving)
        origins.append(hinge)
    loads = [load for load in loads if load[0] is not world]
    kane = me.KanesMethod(world, q_ind=q, u_ind=u, kd_eqs=kinematics)
    kane.kanes_equations(rigid_bodies, loads)
    evaluate = sp.lambdify([*q, *u, *tau], [kane.mass_matrix, kane.forcing], modules="mpmath", cse=True)
    return evaluate


def state(description: Description, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng([seed, 5])
    q: list[float] = []
    for b in description.bodies:
        q.extend(rng.uniform(-np.pi, np.pi, size=1) if b.kind == "revolute" else random_quaternion(rng))
    return np.array(q), 3 * rng.normal(size=description.nu), 5 * rng.normal(size=description.nu)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(s, marks=pytest.mark.slow) for s in range(2, 10))])
@pytest.mark.parametrize("name", SYSTEMS)
def test_forward_dynamics_equals_sympy(name: str, seed: int) -> None:
    description = SYSTEMS[name]
    q, u, tau = state(description, seed)
    with mpmath.workdps(40):
        mass_matrix, forcing = kane_equations(name)(*map(mpmath.mpf, [*q, *u, *tau]))
        expected = np.array([float(x) for x in mpmath.lu_solve(mass_matrix, forcing)])
    matrix = np.array(mass_matrix.tolist(), dtype=float)
    model = to_articulon(description)
    udot = ar.forward_dynamics(model, q, u, tau=tau, gravity=GRAVITY)
    assert np.linalg.norm(udot - expected) <= bounds.forward(float(np.linalg.cond(matrix)), expected)


@pytest.mark.parametrize("name", SYSTEMS)
def test_mass_matrix_equals_sympy(name: str) -> None:
    description = SYSTEMS[name]
    q, u, tau = state(description, 0)
    with mpmath.workdps(40):
        mass_matrix, _ = kane_equations(name)(*map(mpmath.mpf, [*q, *u, *tau]))
    expected = np.array(mass_matrix.tolist(), dtype=float)
    error = ar.mass_matrix(to_articulon(description), q) - expected
    assert np.abs(error).max() <= 10 * bounds.EPS * np.abs(expected).max()
