"""The smallest runs that have given features of the table of what goes with what."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal

import numpy as np

import articulon as ar
from articulon.adaptive import Adaptive, Group, Schedule
from articulon.declaration import Quantity
from articulon.forces.base import At, Force, Merging
from articulon.forces.joint_friction import JointFrictions
from articulon.integrate.combination import FEATURES, Combination, resists

STEP = 1e-3
STEPS = 4
RULES: dict[str, dict[str, Any]] = {
    "explicit": {"rule": "kutta-merson"},
    "predictor-corrector": {"rule": "adams-bashforth-moulton", "step": STEP},
    "scipy": {"rule": "scipy-radau"},
    "canonical": {"rule": "verlet", "step": STEP},
    "friction-implicit": {"rule": "friction-implicit", "step": STEP},
    "flights": {"rule": "friction-implicit", "step": STEP, "drift": "geodesic"},
    "overdamped": {"rule": "overdamped", "step": STEP},
    "particles": {"rule": "velocity-verlet", "step": STEP},
    "r-respa": {"rule": "r-respa", "step": STEP},
    "ermak-mccammon": {"rule": "ermak-mccammon", "step": STEP},
    "grains": {"rule": "velocity-verlet", "step": STEP},
    "touching": {"rule": "velocity-verlet", "step": STEP},
    "event-driven": {"rule": "event-driven"},
}
"""A rule of every integrator of the table."""
MODELS = ("bodies", "particles", "hard spheres", "grains", "touching")
"""Features of which a model has just one."""
USUAL = {
    "particles": "particles",
    "r-respa": "particles",
    "ermak-mccammon": "particles",
    "event-driven": "hard spheres",
} | {name: name for name in ("grains", "touching")}
"""What an integrator moves that does not move bodies on joints."""
OF_BODIES = {
    "loops",
    "drives",
    "swing joints",
    "friction",
    "damped springs",
    "resisting drives",
    "other resistance",
    "flexible",
    "armature",
    "fixman",
    "impacts",
    "velocity gradient",
    "noise",
    "instantaneous noise",
    "noise without drag",
}
"""Features of models of bodies on joints."""
THERMOSTATS = {
    "nose-hoover": lambda: ar.thermostats.ModifiedNoseHoover(temperature=1.0, mass=5.0, derivative_gain=0.1),
    "rescaling": lambda: ar.thermostats.StochasticVelocityRescaling(temperature=1.0, time=1.0),
    "langevin": lambda: ar.thermostats.Langevin(temperature=1.0, friction=1.0),
    "overdamping": lambda: ar.thermostats.Overdamped(temperature=1.0, friction=1.0),
}
POLICIES = {
    "constant factors": lambda: ar.scaling.Constant(a2=0.5),
    "varying factors": lambda: ar.scaling.SmoothAdaptive(a2=0.5, threshold=1.0, width=0.5),
    "atomistic factors": lambda: ar.scaling.Atomistic(a2=0.5),
    "thermostat's factor": lambda: ar.scaling.AtomisticAdaptive(time_scale=1.0),
    "following": lambda: ar.scaling.ErrorControlled(),
}
VOLUME = {"pressure": 0.1, "compressibility": 0.1, "every": 1}
BAROSTATS = {
    "tried volumes": lambda: ar.barostats.MonteCarlo(**VOLUME),
    "rescaled volumes": lambda: ar.barostats.StochasticCellRescaling(**VOLUME, relaxation=1.0),
}
MATERIAL = {"young": 1e3, "poisson": 0.3, "static_friction": 0.3, "restitution": 0.8}


class Thickening(Force):
    """τ = −c u of the joints that turn, by a force that no integrator knows."""

    on_joints = True

    kind: Literal["thickening"] = "thickening"
    rotational: Quantity
    """c [torque per angular speed]."""

    @classmethod
    def gather(cls, model: Any, declared: Sequence[tuple[str, Any]], users: Any) -> JointFrictions:
        known = [(where, ar.forces.JointDamping(rotational=force.rotational)) for where, force in declared]
        return ar.forces.JointDamping.gather(model, known, users)

    @classmethod
    def channels(cls, table: JointFrictions) -> Any:
        return ar.forces.JointDamping.channels(table)

    @classmethod
    def fill(cls, table: JointFrictions, at: At) -> Iterator[Any]:
        yield from ar.forces.JointDamping.fill(table, at)

    @classmethod
    def resists(cls, table: JointFrictions) -> bool:
        return True

    @classmethod
    def coarsen(cls, table: JointFrictions, merging: Merging, links: int, speeds: int) -> JointFrictions | None:
        return ar.forces.JointDamping.coarsen(table, merging, links, speeds)


def completed(integrator: str, features: Iterable[str]) -> set[str]:
    """The features with what they cannot be without: something that moves, and a thermostat where one is needed.

    Factors that vary are those of a thermostat where particles have no drag that a threshold could be divided by.
    """
    found = set(features)
    if not found & set(MODELS):
        moved = USUAL.get(integrator, "bodies")
        if found & OF_BODIES and not (moved == "hard spheres" and found & OF_BODIES == {"impacts"}):
            moved = "touching" if moved in ("grains", "touching") else "bodies"
        found.add(moved)
    if "hard spheres" in found:
        found.add("impacts")
    if "varying factors" in found and "particles" in found:
        found.add("thermostat's factor")
    if "thermostat's factor" in found:
        found |= {"varying factors", "atomistic factors"}
    if "atomistic factors" in found and "varying factors" not in found:
        found.add("constant factors")
    if "atomistic factors" in found and not found & {"rescaling", "langevin", "overdamping"}:
        found.add("nose-hoover")
    if found & set(BAROSTATS):
        found.add("periodic")
        noises = ("noise", "instantaneous noise", "noise without drag")
        if integrator == "overdamped":
            found.add("noise")
        elif integrator != "ermak-mccammon" and not any(name in found for name in (*noises, *POLICIES, *THERMOSTATS)):
            found.add("langevin")
    if integrator == "ermak-mccammon" and not found & set(THERMOSTATS):
        found.add("overdamping")
    if found & {"instantaneous noise", "noise without drag"}:
        found.add("noise")
    return found


def model_of(features: set[str]) -> Any:
    """A model in reduced units that has the features which are of models."""
    whole = "periodic" if features & set(BAROSTATS) else "open"
    axes = ["reflecting" if "reflecting" in features else whole] * 3
    if "periodic" in features:
        axes[0] = "periodic"
    box = ar.Box(lengths=(10.0,) * 3, boundaries=tuple(axes)) if features & {"periodic", "reflecting"} else None
    builder = ar.ModelBuilder(units="lj", box=box)
    if "particles" in features:
        positions = [(3.0, 3.0, 3.0), (4.2, 3.0, 3.0), (3.0, 4.2, 3.0), (3.0, 3.0, 4.2)]
        builder.add_particles(4, mass=1.0, positions=positions, velocities=[(0.1, 0.2, -0.3)] * 4)
        builder.add_force(ar.forces.LennardJones(parameters={"particle": {"epsilon": 1.0, "sigma": 1.0}}, cutoff=2.0))
        return builder.build()
    if "hard spheres" in features:
        positions = [(3.0, 3.0, 3.0), (4.2, 3.0, 3.0), (3.0, 4.2, 3.0), (3.0, 3.0, 4.2)]
        speeds = [(0.1, 0.2, -0.3), (-300.0, 0.0, 0.0), (0.0, 0.1, 0.0), (0.0, 0.0, 0.2)]
        builder.add_particles(4, mass=1.0, positions=positions, velocities=speeds, radius=0.5)
        builder.add_force(ar.forces.Impacts(restitution=0.9))
        return builder.build()
    if features & {"grains", "touching"}:
        for k, x in enumerate((3.0, 4.0)):
            builder.add_grain(f"grain{k}", kind="grain", radius=0.501, position=(x, 3.0, 3.0), density=1.0)
        builder.add_force(ar.forces.Contact(materials={"grain": MATERIAL}, largest_overlap=0.3))
    if features & {"bodies", "touching"}:
        _add_bodies(builder, features)
    return builder.build()


def _add_bodies(builder: Any, features: set[str]) -> None:
    """A free body with an arm, and what the features ask for hung on it."""
    z = (0.0, 0.0, 1.0)
    core = {"mass": 3.0, "inertia": (1.0, 2.0, 2.5), "joint": ar.Free(), "q": (6.0, 6.0, 6.0, 1.0, 0.0, 0.0, 0.0)}
    builder.add_body("core", **core, u=(0.1, 0.2, 0.3, 0.3, -0.2, 0.1))

    def add(name: str, parent: str, at: tuple[float, float, float]) -> None:
        hinge, rotor = ar.Revolute(axis=z), {"armature": 0.3} if "armature" in features else {}
        builder.add_body(name, parent=parent, mass=1.0, inertia=0.4, joint=hinge, position=at, **rotor)

    add("arm", "core", (-1.0, 0.0, 0.0))
    if "loops" in features:  # a parallelogram
        add("left", "core", (0.0, 0.0, 0.0))
        add("top", "left", (0.0, 1.0, 0.0))
        add("right", "core", (2.0, 0.0, 0.0))
        at = {"position": (2.0, 0.0, 0.0), "child_position": (0.0, 1.0, 0.0)}
        builder.add_loop("corner", joint=ar.Revolute(axis=z), parent="top", child="right", **at)
    if "drives" in features:
        add("crank", "core", (0.0, -1.0, 0.0))
        builder.add_drive("crank", times=(0.0, 1.0, 2.0, 3.0), values=(0.0, 0.1, 0.2, 0.0))
    if "swing joints" in features:  # a chain of three beads
        builder.add_body("bead0", mass=1.0, joint=ar.Xyz(), q=(1.0, 8.0, 8.0), u=(0.2, 0.1, -0.1))
        for k in (1, 2):
            turned = (np.cos(0.3), np.sin(0.3), 0.0, 0.0)
            rod = {"parent": f"bead{k - 1}", "position": (0.0, 0.0, 0.7 * (k > 1)), "com": (0.0, 0.0, 0.7)}
            builder.add_body(f"bead{k}", mass=1.0, joint=ar.Swing(), q=turned, u=(0.3, -0.2), **rod)
    if "flexible" in features:
        shapes = ar.modes.beam(length=1.0, mass=2.0, bending=(2, 1), bending_stiffness=40.0, gyration=0.05)
        builder.add_body("beam", parent="core", joint=ar.Revolute(axis=z), position=(0.0, 0.0, 1.0), modes=shapes)
    flow = {}
    if "velocity gradient" in features:  # along x, where boxes are periodic
        flow["velocity_gradient"] = [[0.0, 0.2, 0.1], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
    builder.add_force(ar.forces.StokesDrag(translational=1.0, rotational=1.0, **flow))
    if "friction" in features:
        builder.add_force(ar.forces.JointDamping(rotational=0.5))
    if "damped springs" in features:
        ends = {"bodies": ("core", "arm"), "points": ((0.0, 1.0, 0.0), (-1.0, 0.0, 0.0))}
        builder.add_force(ar.forces.PointSpring(**ends, stiffness=1.0, damping=0.5))
    if "resisting drives" in features:
        builder.add_force(ar.forces.JointDrive("arm", speeds=0.5, damping=0.5))
    if "other resistance" in features:
        builder.add_force(Thickening(rotational=0.5))
    if "fixman" in features:
        builder.add_force(ar.forces.Fixman(temperature=1.0))
    if "impacts" in features:
        if not features & {"grains", "touching"}:  # whose spheres have contacts
            builder.add_site("core", kind="ball", radius=0.2)
            walls = [{"shape": "plane", "kind": "floor", "point": (6.0, 6.0, 5.0), "normal": z}]
            if features & set(BAROSTATS):  # whose boxes repeat along every axis, and no plane does
                builder.add_site("arm", kind="ball", radius=0.1)
                walls = []
            builder.add_force(ar.forces.Impacts(walls=walls))
        builder.add_force(ar.forces.JointLimits(lower={"arm": -1.0}, upper={"arm": 1.0}))
    if "noise" in features:
        options = {}
        if "instantaneous noise" in features:
            options["amplitude_from"] = "instantaneous"
        if "noise without drag" in features:
            options["dissipation"] = "none"
        builder.add_force(ar.forces.Brownian(temperature=1.0, **options))


def options_of(integrator: str, features: set[str]) -> dict[str, Any]:
    """What ``ar.simulate`` is to be called with beside the model."""
    found: dict[str, Any] = {**RULES[integrator], "frames": 1}
    for name, make in THERMOSTATS.items():
        if name in features:
            found["thermostat"] = make()
    for name, make in POLICIES.items():
        if name in features:
            found["scaling"] = make()
    for name, make in BAROSTATS.items():
        if name in features:
            found["barostat"] = make()
    for name in ("kane", "divide-and-conquer"):
        if name in features:
            found["solver"] = name
    if "euler-parameters" in features:
        found["rotations"] = "euler-parameters"
    if "device" in features:
        found["device"] = "warp-cpu"
    if "adaptive" in features:
        bodies = ("arm",) if features & {"bodies", "touching"} else ("*",)
        found["adaptive"] = Adaptive(every=2 * STEP, groups=(Group(bodies=bodies, lock=Schedule(times=(STEP,))),))
    return found


def simulated(integrator: str, features: Iterable[str], steps: int = STEPS) -> Any:
    """A short run that has the features; raises what it is refused with."""
    wanted = completed(integrator, features)
    return ar.simulate(model_of(wanted), steps * STEP, **options_of(integrator, wanted))


def combined(integrator: str, features: Iterable[str]) -> Combination:
    """What is chosen for that run."""
    from articulon.cases.simulated_model import _Choice  # the declaration of a rule by its name

    wanted = completed(integrator, features)
    model, options = model_of(wanted), options_of(integrator, wanted)
    rule = _Choice.from_mapping({"integrator": RULES[integrator]}, "test").integrator
    policy = options.get("scaling") or ar.scaling.NoScaling()
    return Combination(
        model,
        rule,
        policy,
        options.get("thermostat"),
        options.get("solver", "articulated"),
        options.get("rotations", "speeds"),
        "adaptive" in options,
        resists(model),
        options.get("device", "cpu"),
        options.get("barostat"),
    )


def features_of(c: Combination) -> set[str]:
    """The features of a combination."""
    return {name for name, feature in FEATURES.items() if feature.has(c)}
