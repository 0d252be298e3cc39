"""The choices of a run, and the features that the compatibility table checks.

An integrator has a name in the table, ``integrator_of``, and a run has features, ``FEATURES``. One integrator has
several names if different steppers take its steps: ``velocity-verlet`` has its own steppers for particles, grains and
touching bodies, and moves all other models in canonical momenta.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from articulon.barostats.base import BaseBarostat
from articulon.forces.base import Force
from articulon.forces.brownian import brownian_of
from articulon.forces.contact.contact_engine import contact_of
from articulon.forces.impacts.free_spheres import only_hard_spheres
from articulon.forces.impacts.joint_limits import has_impacts
from articulon.forces.linear_flow import flows_unevenly
from articulon.forces.sites.site_positions import only_particles
from articulon.integrate.grain_driver import only_grains
from articulon.integrate.integrators import (
    BrownianDynamics,
    Canonical,
    ErmakMcCammon,
    EventDriven,
    Explicit,
    FrictionImplicit,
    PredictorCorrector,
    Respa,
    SciPy,
)
from articulon.integrate.problem import CPU, Problem
from articulon.model import Model
from articulon.model.joints.swing import Swing
from articulon.scaling.base import ScalingPolicy
from articulon.thermostats.base import KICKS, OVERDAMPS, SCALES, BaseThermostat


class Combination(NamedTuple):
    """The choices that make up a run."""

    model: Model
    """The model with its forces."""
    integrator: Any
    """The declaration of the integrator."""
    policy: ScalingPolicy
    """The scaling policy of the forces."""
    thermostat: BaseThermostat | None = None
    """The thermostat, or None."""
    solver: str = "articulated"
    """Name of the equation-of-motion algorithm."""
    rotations: str = "speeds"
    """How rotations are integrated."""
    adaptive: bool = False
    """Whether joints and modes lock and release."""
    resists: frozenset[type[Force]] = frozenset()
    """Kinds of forces, other than Stokes drag, that resist speeds."""
    device: str = CPU
    """The device that takes the steps."""
    barostat: BaseBarostat | None = None
    """The barostat, or None."""


def combination_of(problem: Problem, adaptive: bool = False, device: str | None = None) -> Combination:
    """The choices of a problem, on a device that may differ from the problem's."""
    e, integrator, policy = problem.evaluator, problem.integrator, problem.policy
    device = problem.device if device is None else device
    resists = frozenset(kind for kind, table in e.system.forces.terms if kind.resists(table))
    own = e.model, integrator, policy, e.thermostat, e.solver_name, e.rotations
    return Combination(*own, adaptive, resists, device, problem.barostat)


def resists(model: Model) -> frozenset[type[Force]]:
    """Kinds of forces of a model, other than Stokes drag, that resist speeds. No tables are built for kinds of forces
    that never resist speeds."""
    found = set()
    kinds = {type(force) for force in model.forces if isinstance(force, Force)}
    for kind in kinds:
        if kind.resists.__func__ is Force.resists.__func__:  # type: ignore[attr-defined]
            continue
        declared = [(f"forces[{k}]", force) for k, force in enumerate(model.forces) if type(force) is kind]
        table = kind.gather(model, declared, None)
        if table is not None and kind.resists(table):
            found.add(kind)
    return frozenset(found)


def other_resistances(c: Combination) -> list[str]:
    """Kinds of forces that resist speeds, other than Stokes drag, joints and springs."""
    others = (kind for kind in c.resists if kind.resistance == "other")
    return sorted(str(kind.model_fields["kind"].default) for kind in others)


_BY_DECLARATION: dict[Any, str] = {
    Explicit: "explicit",
    PredictorCorrector: "predictor-corrector",
    Canonical: "canonical",
    SciPy: "scipy",
    FrictionImplicit: "friction-implicit",
    BrownianDynamics: "overdamped",
    Respa: "r-respa",
    ErmakMcCammon: "ermak-mccammon",
    EventDriven: "event-driven",
}

INTEGRATORS = {
    "explicit": "explicit rules",
    "predictor-corrector": "`adams-bashforth-moulton`",
    "scipy": "`scipy-bdf`, `scipy-radau`",
    "canonical": "canonical rules (`verlet` to `implicit-midpoint`)",
    "friction-implicit": "`friction-implicit`",
    "flights": '`friction-implicit` with `drift = "geodesic"`',
    "overdamped": "`overdamped`",
    "particles": "`velocity-verlet` of free particles",
    "r-respa": "`r-respa`",
    "ermak-mccammon": "`ermak-mccammon`",
    "grains": "`velocity-verlet` of grains",
    "touching": "`velocity-verlet` of touching bodies",
    "event-driven": "`event-driven`",
}
"""Integrators of the table by name, each with its name in the docs."""


def integrator_of(c: Combination) -> str:
    """Name of the integrator that takes the steps."""
    if c.integrator.rule == "velocity-verlet":
        if contact_of(c.model) is not None:
            return "grains" if only_grains(c.model) else "touching"
        if only_particles(c.model):
            return "particles"
    if isinstance(c.integrator, FrictionImplicit) and c.integrator.drift == "geodesic":
        return "flights"
    return next(name for kind, name in _BY_DECLARATION.items() if isinstance(c.integrator, kind))


class Feature(NamedTuple):
    """A feature that a run may have."""

    title: str
    """Name of the feature in the docs."""
    has: Callable[[Combination], bool]
    """Whether a run has the feature."""


def _touches(c: Combination) -> bool:
    return contact_of(c.model) is not None


def _noise(c: Combination, **options: str) -> bool:
    force = brownian_of(c.model)
    return force is not None and all(getattr(force, key) == value for key, value in options.items())


def _acts(c: Combination, effect: int) -> bool:
    return c.thermostat is not None and c.thermostat.way == effect and not c.thermostat.deterministic


FEATURES: dict[str, Feature] = {
    "nose-hoover": Feature(
        "thermostats of Nosé and Hoover", lambda c: c.thermostat is not None and c.thermostat.deterministic
    ),
    "rescaling": Feature("thermostat `stochastic-velocity-rescaling`", lambda c: _acts(c, SCALES)),
    "langevin": Feature("thermostat `langevin`", lambda c: _acts(c, KICKS)),
    "overdamping": Feature("thermostat `overdamped`", lambda c: _acts(c, OVERDAMPS)),
    "adaptive": Feature("joints and modes that lock and release", lambda c: c.adaptive),
    "bodies": Feature(
        "bodies on joints",
        lambda c: not (_touches(c) or only_particles(c.model) or only_hard_spheres(c.model)),
    ),
    "particles": Feature("free particles alone", lambda c: only_particles(c.model)),
    "hard spheres": Feature("hard spheres alone", lambda c: only_hard_spheres(c.model)),
    "grains": Feature("grains in contact alone", lambda c: _touches(c) and only_grains(c.model)),
    "touching": Feature("bodies on joints that touch", lambda c: _touches(c) and not only_grains(c.model)),
    "periodic": Feature("periodic boxes", lambda c: c.model.box is not None and "periodic" in c.model.box.boundaries),
    "reflecting": Feature(
        "reflecting boxes", lambda c: c.model.box is not None and "reflecting" in c.model.box.boundaries
    ),
    "euler-parameters": Feature('`rotations = "euler-parameters"`', lambda c: c.rotations == "euler-parameters"),
    "loops": Feature("loop constraints", lambda c: bool(c.model.loop_joints)),
    "drives": Feature("driven joints", lambda c: bool(c.model.drives)),
    "friction": Feature(
        "damping and friction of joints", lambda c: any(kind.resistance == "joints" for kind in c.resists)
    ),
    "damped springs": Feature(
        "damped point springs", lambda c: any(kind.resistance == "dashpots" for kind in c.resists)
    ),
    "resisting drives": Feature(
        "`joint-drive` with damping or a largest speed",
        lambda c: any(kind.resistance == "drives" for kind in c.resists),
    ),
    "other resistance": Feature("other forces that resist speeds", lambda c: bool(other_resistances(c))),
    "swing joints": Feature("swing joints", lambda c: bool((c.model.forest.kind == Swing.kind).any())),
    "kane": Feature("solver `kane`", lambda c: c.solver == "kane"),
    "divide-and-conquer": Feature("solver `divide-and-conquer`", lambda c: c.solver == "divide-and-conquer"),
    "flexible": Feature("flexible bodies", lambda c: bool(c.model.modes)),
    "fixman": Feature(
        "Fixman's potential", lambda c: any(getattr(force, "of_determinant", False) for force in c.model.forces)
    ),
    "armature": Feature("armatures of joints", lambda c: c.model.armature is not None),
    "impacts": Feature("impacts and joint limits", lambda c: has_impacts(c.model)),
    "velocity gradient": Feature("Stokes drag in a flow with a velocity gradient", lambda c: flows_unevenly(c.model)),
    "noise": Feature("Brownian forces", _noise),
    "instantaneous noise": Feature(
        "Brownian forces of the instantaneous temperature", lambda c: _noise(c, amplitude_from="instantaneous")
    ),
    "noise without drag": Feature("Brownian forces without dissipation", lambda c: _noise(c, dissipation="none")),
    "constant factors": Feature("scaling by constant factors", lambda c: c.policy.scales and not c.policy.varies),
    "varying factors": Feature("scaling by factors that vary", lambda c: c.policy.varies and not c.policy.follows),
    "atomistic factors": Feature("scaling by the `atomistic` policies", lambda c: c.policy.thermostatted),
    "thermostat's factor": Feature(
        "scaling by the policy `atomistic-adaptive`", lambda c: c.policy.varies and c.policy.thermostatted
    ),
    "following": Feature("scaling that follows the lag", lambda c: c.policy.follows),
    "tried volumes": Feature("barostat `monte-carlo`", lambda c: c.barostat is not None and not c.barostat.of_virial),
    "rescaled volumes": Feature(
        "barostat `stochastic-cell-rescaling`", lambda c: c.barostat is not None and c.barostat.of_virial
    ),
    "device": Feature('`run.device = "cuda"`', lambda c: c.device != CPU),
}
"""All features of the table, in the order in which refusals are looked up."""
