"""The chains that the solvers are timed on, in the engine and in the peers that are installed.

A chain hangs from the ground; every body has mass 1, its centre of mass 0.25 below its joint, the moments of inertia
0.1, 0.1 and 0.02 about it, and carries the next joint at 0.5. Revolute joints turn about x, y and z in turn.
All engines use the same coordinates but for the order of a quaternion's components.
"""

from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np

from articulon.building import ModelBuilder
from articulon.dynamics.state_functions import scratch
from articulon.forces.accelerations import forward_dynamics
from articulon.model import Model, kernel_tables
from articulon.model.joints import Revolute, Spherical

MASS, CENTRE, MOMENTS, LENGTH = 1.0, (0.0, 0.0, 0.25), (0.1, 0.1, 0.02), 0.5
GRAVITY = np.array([0.0, 0.0, -9.81])
AXES = np.eye(3)

PINOCCHIO_FREEDOMS = 400
"""Pinocchio's Data holds four dense arrays of nv³ numbers: 2 GB at this many degrees of freedom."""
MUJOCO_BODIES = {"revolute": 512, "spherical": 128}
"""MuJoCo refuses trees 1,024 deep; its factorisation of a chain's mass matrix is cubic in the depth."""


@dataclass(frozen=True)
class Chain:
    """One or more equal chains, and where they are in their motion."""

    kind: str
    """``"revolute"`` or ``"spherical"``."""
    bodies: int
    """In each chain."""
    q: np.ndarray
    """Coordinates, quaternions scalar first."""
    u: np.ndarray
    """Speeds."""
    trees: int = 1
    """How many chains."""

    @property
    def degrees_of_freedom(self) -> int:
        """Degrees of freedom of all."""
        return self.u.size


@dataclass(frozen=True)
class Solver:
    """Forward dynamics of a chain in some engine, ready to be timed."""

    call: Callable[[], Any]
    """Computes the accelerations once."""
    accelerations: Callable[[], np.ndarray]
    """What the last call found, in the engine's own order, (degrees of freedom,)."""


def chain(kind: str, bodies: int, trees: int = 1) -> Chain:
    """A chain in random motion: angles, or components of rotation vectors, of 0.5 rad, and speeds of 0.1 rad/s."""
    rng, total = np.random.default_rng(0), bodies * trees
    if kind == "revolute":
        return Chain(kind, bodies, 0.5 * rng.normal(size=total), 0.1 * rng.normal(size=total), trees)
    vectors = 0.5 * rng.normal(size=(total, 3))
    angle = np.linalg.norm(vectors, axis=1, keepdims=True)
    q = np.hstack([np.cos(0.5 * angle), np.sin(0.5 * angle) / angle * vectors])
    return Chain(kind, bodies, q.ravel(), 0.1 * rng.normal(size=3 * total), trees)


def our_model(c: Chain) -> Model:
    """The chains as a model."""
    total = c.bodies * c.trees
    first = np.arange(total) % c.bodies == 0
    position = np.zeros((total, 3))
    position[~first, 2] = LENGTH
    turning = [Revolute(axis=tuple(axis)) for axis in AXES.tolist()]
    builder = ModelBuilder(units="kg-m-s")
    builder.add_bodies(
        total,
        mass=MASS,
        com=CENTRE,
        inertia=[MOMENTS],
        joint=[turning[k % 3] for k in range(total)] if c.kind == "revolute" else Spherical(),
        parents=np.where(first, -1, np.arange(total) - 1),
        position=position,
        q=c.q,
        u=c.u,
    )
    return builder.build()


def ours(c: Chain, model: Model, kernel: Any = None) -> Solver:
    """The public function, called from Python as the peers are; or a kernel."""
    if kernel is None:
        found = [np.empty(model.nu)]

        def call() -> None:
            found[0] = forward_dynamics(model, c.q, c.u, gravity=GRAVITY)

        return Solver(call, lambda: found[0])
    udot = np.empty(model.nu)
    links = model.forest.mass.size
    forest, tau, wrench = kernel_tables(model).forest, np.zeros(model.nu), np.zeros((links, 6))
    arguments = (forest, c.q, c.u, tau, wrench, GRAVITY, scratch(model), udot)
    return Solver(lambda: kernel(*arguments), lambda: udot)


def pinocchio(c: Chain) -> Solver | None:
    """Pinocchio's ``aba``; None where it is not installed or the chain is too long for it."""
    pin = installed("pinocchio")
    if pin is None or c.degrees_of_freedom > PINOCCHIO_FREEDOMS:
        return None
    model = pinocchio_model(c)
    q = c.q if c.kind == "revolute" else c.q.reshape(-1, 4)[:, [1, 2, 3, 0]].ravel()
    data, u, tau = pin.Data(model), c.u, np.zeros(c.degrees_of_freedom)
    return Solver(lambda: pin.aba(model, data, q, u, tau), lambda: np.array(data.ddq))


def pinocchio_model(c: Chain) -> Any:
    """Pinocchio's model of a chain."""
    pin: Any = installed("pinocchio")
    model, last = pin.Model(), 0
    model.gravity = pin.Motion(GRAVITY, np.zeros(3))
    turning = (pin.JointModelRX, pin.JointModelRY, pin.JointModelRZ)
    inertia = pin.Inertia(MASS, np.array(CENTRE), np.diag(MOMENTS))
    for k in range(c.bodies):
        joint = turning[k % 3]() if c.kind == "revolute" else pin.JointModelSpherical()
        place = pin.SE3(np.eye(3), np.array([0.0, 0.0, LENGTH if k else 0.0]))
        last = model.addJoint(last, joint, place, f"joint-{k}")
        model.appendBodyToJoint(last, inertia, pin.SE3.Identity())
    return model


def mujoco(c: Chain) -> Solver | None:
    """MuJoCo's ``mj_forward`` without contacts; None where it is not installed or the chain is too long for it."""
    mj = installed("mujoco")
    if mj is None or c.bodies > MUJOCO_BODIES[c.kind]:
        return None
    model, data = mujoco_model(mj, c)
    return Solver(lambda: mj.mj_forward(model, data), lambda: np.array(data.qacc))


def mujoco_model(mj: ModuleType, c: Chain) -> tuple[Any, Any]:
    """The chain in MuJoCo, without contacts, and where it is in its motion."""
    spec = mj.MjSpec()
    spec.option.gravity = GRAVITY
    spec.option.disableflags = int(mj.mjtDisableBit.mjDSBL_CONTACT | mj.mjtDisableBit.mjDSBL_CONSTRAINT)
    joint = mj.mjtJoint.mjJNT_HINGE if c.kind == "revolute" else mj.mjtJoint.mjJNT_BALL
    body = spec.worldbody
    for k in range(c.bodies):
        body = body.add_body(pos=[0.0, 0.0, LENGTH if k else 0.0])
        body.mass, body.ipos, body.inertia, body.explicitinertial = MASS, CENTRE, MOMENTS, True
        body.add_joint(type=joint, axis=AXES[k % 3])
    model = spec.compile()
    data = mj.MjData(model)
    data.qpos[:], data.qvel[:] = c.q, c.u
    return model, data


def installed(name: str) -> ModuleType | None:
    from importlib import import_module

    try:
        return import_module(name)
    except ImportError:
        return None
