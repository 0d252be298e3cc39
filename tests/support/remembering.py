"""Simulations in memory whose states have something to remember, and whether parts have the bits of the whole."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import articulon as ar
from articulon.adaptive import Adaptive, Group, Random, Speed
from articulon.model import State
from articulon.scaling import Constant, ErrorControlled, ThresholdAdaptive
from tests.support import grain_models as gm

ROWS = ("times", "q", "u", "works", "kinetic_energy", "potential_energy")


def arm(*forces: Any, units: str = "fg-um-us") -> Any:
    """A floating core with an arm on a ball joint and a hand on a hinge, which moves."""
    builder = ar.ModelBuilder(units=units)
    builder.add_body("core", mass=10.0, inertia=0.3, joint=ar.Free(), u=(0.2, 0, 0, 0.1, 0.3, 0))
    where: dict[str, Any] = {"position": (0.2, 0, 0), "com": (0.1, 0, 0.02)}
    moving: dict[str, Any] = {"joint": ar.Spherical(), "u": (1.0, 0.0, 0.5)}
    builder.add_body("arm", parent="core", mass=1.0, inertia=(0.02, 0.03, 0.02), **where, **moving)
    hinge = ar.Revolute(axis=(0, 0, 1))
    builder.add_body("hand", parent="arm", mass=0.5, inertia=0.01, **where, joint=hinge, q=0.3)
    for force in (ar.forces.Gravity(acceleration=(0, 0, -0.2)), *forces):
        builder.add_force(force)
    return builder.build()


DRAG = ar.forces.StokesDrag(translational={"core": 10.0, "arm": 5.0, "hand": 5.0}, rotational=0.1)
NOISE = ar.forces.Brownian(temperature=300.0)


def beads() -> Any:
    """Particles that repel each other, with lists of neighbours."""
    builder = ar.ModelBuilder(units="lj")
    places = 1.1 * np.indices((4, 4, 4)).reshape(3, -1).T
    builder.add_particles(64, mass=1.0, positions=places, velocities=np.random.default_rng(1).normal(size=(64, 3)))
    builder.add_force(ar.forces.WeeksChandlerAndersen(parameters={"particle": {"epsilon": 1.0, "sigma": 1.0}}))
    return builder.build()


def linkage() -> Any:
    builder = ar.ModelBuilder(units="kg-m-s")
    hinge = ar.Revolute(axis=(0, 0, 1))
    builder.add_body("crank", mass=1, inertia=0.1, com=(0.5, 0, 0), joint=hinge, q=1.0, u=2.0)
    builder.add_body("coupler", parent="crank", mass=2, inertia=0.2, com=(1, 0, 0), joint=hinge, position=(1, 0, 0))
    builder.add_body("rocker", mass=1, inertia=0.2, com=(0.75, 0, 0), joint=hinge, position=(2.2, 0, 0), q=1.5)
    ends = {"parent": "coupler", "child": "rocker", "position": (2, 0, 0), "child_position": (1.5, 0, 0)}
    builder.add_loop("pin", joint=hinge, **ends)
    builder.add_force(ar.forces.Gravity(acceleration=(0, -9.81, 0)))
    return builder.build()


def heap() -> Any:
    radii, _, start = gm.heap(3, 3, 0.05)
    floor = ar.forces.Plane(point=(0.0, 0.0, -1.05 * radii.mean()), normal=(0.0, 0.0, 1.0), kind="grain")
    return gm.moving(start, radii, floor, gravity=(0.0, 0.0, -9.81))


def clump() -> Any:
    """Two spheres on a rod that fall on a floor."""
    builder = ar.ModelBuilder(units="kg-m-s")
    rod = builder.add_body("rod", mass=1.0, inertia=0.01, joint=ar.Free(), position=(0, 0, 0.105), u=(1, 0, 0, 0, 3, 0))
    for x in (-0.1, 0.1):
        builder.add_site(rod, (x, 0, 0), kind="grain", radius=0.1)
    floor = ar.forces.Plane(point=(0, 0, 0), normal=(0, 0, 1), kind="grain")
    builder.add_force(ar.forces.Contact(materials={"grain": dict(gm.GRAIN)}, walls=[floor], largest_overlap=0.3))
    builder.add_force(ar.forces.Gravity(acceleration=(0, 0, -9.81)))
    return builder.build()


def locking() -> Adaptive:
    group = Group(
        bodies=("arm", "hand"),
        lock=Speed(below=8.0),
        release=Random(probability=0.4),
        choice="canonical",
        energy="temperature",
        temperature=300.0,
    )
    return Adaptive(every=0.02, groups=(group,))


WARM = ar.thermostats.Langevin(temperature=300.0, friction=5.0)
CASES: dict[str, tuple[Callable[[], Any], float, dict[str, Any]]] = {
    "error-controlled steps": (arm, 0.2, {"rtol": 1e-8}),
    "noise, by error": (lambda: arm(DRAG, NOISE), 0.2, {"rule": "kutta-merson", "seed": 5}),
    "noise, fixed": (lambda: arm(DRAG, NOISE), 0.2, {"rule": "friction-implicit", "step": 0.005, "seed": 5}),
    "noise, overdamped": (lambda: arm(DRAG, NOISE), 0.2, {"rule": "overdamped", "step": 0.002, "seed": 5}),
    "noise in averaged windows": (
        lambda: arm(DRAG, ar.forces.Brownian(temperature=300.0, window=0.001, average=5)),
        0.2,
        {"rule": "rk4", "step": 0.005, "seed": 5},
    ),
    "several steps": (arm, 0.2, {"rule": "adams-bashforth-moulton", "step": 0.002}),
    "momenta": (arm, 0.2, {"rule": "implicit-midpoint", "step": 0.005}),
    "geodesic": (arm, 0.2, {"rule": "friction-implicit", "step": 0.005, "drift": "geodesic"}),
    "Euler parameters": (arm, 0.2, {"rotations": "euler-parameters"}),
    "divide and conquer": (arm, 0.2, {"solver": "divide-and-conquer"}),
    "Cartesian": (lambda: arm(), 0.02, {"coordinates": "cartesian"}),
    "SciPy": (arm, 0.1, {"rule": "scipy-radau", "rtol": 1e-8}),
    "loops": (linkage, 0.4, {"rtol": 1e-8}),
    "Langevin": (arm, 0.2, {"rule": "friction-implicit", "step": 0.005, "thermostat": WARM, "seed": 7}),
    "Nosé and Hoover": (
        arm,
        0.2,
        {"rule": "kutta-merson", "thermostat": ar.thermostats.NoseHoover(temperature=300.0, mass=10.0)},
    ),
    "velocity rescaling": (
        arm,
        0.2,
        {
            "rule": "friction-implicit",
            "step": 0.005,
            "thermostat": ar.thermostats.StochasticVelocityRescaling(temperature=300.0, time=0.1),
        },
    ),
    "lists of neighbours": (beads, 0.2, {"rule": "velocity-verlet", "step": 0.005}),
    "grains": (heap, 0.02, {"rule": "velocity-verlet", "step": 1e-5}),
    "contacts of bodies": (clump, 0.04, {"rule": "velocity-verlet", "step": 2e-5}),
    "scaled": (lambda: arm(DRAG, NOISE), 0.2, {"rule": "kutta-merson", "scaling": Constant(a2="10 %")}),
    "a threshold": (
        lambda: arm(DRAG, NOISE),
        0.2,
        {"rule": "kutta-merson", "scaling": ThresholdAdaptive(a2=0.1)},
    ),
    "error-controlled scaling": (
        lambda: arm(DRAG),
        0.2,
        {"rule": "kutta-merson", "scaling": ErrorControlled(tolerance=5.0, minimum=0.3)},
    ),
    "joints that lock": (
        arm,
        0.4,
        {"rule": "friction-implicit", "step": 0.005, "thermostat": WARM, "adaptive": locking(), "seed": 7},
    ),
    "joints that lock, by error": (arm, 0.4, {"adaptive": locking(), "seed": 7}),
}


def assert_same_state(one: State, other: State) -> None:
    theirs = other.arrays()
    for name, array in one.arrays().items():
        assert np.array_equal(array, theirs[name], equal_nan=array.dtype.kind == "f"), name


def assert_joined(whole: Any, *parts: Any) -> None:
    """The parts one after the other are the whole, to the bit."""
    for name in ROWS:
        pieces = [getattr(parts[0], name), *(getattr(part, name)[1:] for part in parts[1:])]
        assert np.array_equal(np.concatenate(pieces), getattr(whole, name)), name
    assert_same_state(parts[-1].state, whole.state)
