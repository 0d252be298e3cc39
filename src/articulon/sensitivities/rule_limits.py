"""Parts of a model that have no derivatives with a given integrator."""

from typing import Any

import numpy as np

from articulon.errors import CaseError, ModelError
from articulon.forces.brownian import Brownian
from articulon.forces.joint_drive import JointDrive
from articulon.forces.joint_friction import JointFriction
from articulon.forces.point_springs import PointSpring
from articulon.forces.sites.site_positions import only_particles
from articulon.forces.user_force import UserForce
from articulon.integrate.combination import resists
from articulon.integrate.integrators import BrownianDynamics, Canonical, Explicit, FrictionImplicit
from articulon.integrate.overdamped_driver import varies_mass
from articulon.integrate.rules import CANONICAL, EXPLICIT
from articulon.integrate.rules.velocity_verlet import VELOCITY_VERLET
from articulon.model import Model
from articulon.model.joints import PRISMATIC, XYZ
from articulon.thermostats.langevin import Langevin

RULES = ", ".join(["friction-implicit", "overdamped", "velocity-verlet", *EXPLICIT])


def check_rule(model: Model, integrator: Any, where: str) -> None:
    """Raise CaseError or ModelError for an integrator without known derivatives, and for parts of the model that its
    derivatives do not cover; the message says what to choose instead."""
    rule = getattr(integrator, "rule", "")
    verlet = is_verlet(integrator)
    if not (verlet or isinstance(integrator, Explicit | FrictionImplicit | BrownianDynamics)):
        raise CaseError(f"{where}: integrator.rule: '{rule}' has no derivatives; choose one of {RULES}")
    if model.loops.kind.size and not isinstance(integrator, Explicit):
        what = "driven joints" if model.drives else "loops"
        raise ModelError(
            f"{where}: runs of models with {what} have derivatives with explicit Runge-Kutta rules, not with '{rule}', "
            "whose forces of loops are those of a step and not of a moment; choose 'rk4', say"
        )
    if model.forest.flexible is not None:
        _check_flexible(model, integrator, rule, where)
    for k, force in enumerate(model.forces):
        if isinstance(force, Brownian) and force.amplitude_from != "bath":
            raise CaseError(
                f"{where}: forces[{k}].amplitude_from: derivatives are those of noise of the 'bath', and not of "
                f"'{force.amplitude_from}'; choose 'bath'"
            )
    _check_mass_matrix(model, integrator, where)
    if verlet:
        _check_verlet(model, rule, where)
    elif isinstance(integrator, BrownianDynamics):
        _check_overdamped(model, where)
    elif isinstance(integrator, FrictionImplicit):
        _check_friction_implicit(model, integrator, where)


def _check_mass_matrix(model: Model, integrator: Any, where: str) -> None:
    """Raise CaseError for forces whose derivatives read the mass matrix of rigid links alone, in a model with armatures
    or flexible bodies."""
    if model.armature is None and model.forest.flexible is None:
        return
    what = "armatures" if model.armature is not None else "flexible bodies"
    overdamped = isinstance(integrator, BrownianDynamics) and varies_mass(model)
    for k, force in enumerate(model.forces):
        if getattr(force, "of_determinant", False) or (overdamped and isinstance(force, Brownian)):
            raise CaseError(
                f"{where}: forces[{k}]: the derivatives of ½ kT ∂ ln det M are those of rigid links alone; leave out "
                f"the {what}, or this force, or take differences of runs"
            )


def _check_flexible(model: Model, integrator: Any, rule: str, where: str) -> None:
    if not isinstance(integrator, Explicit):
        raise ModelError(
            f"{where}: runs of models with flexible bodies have derivatives with explicit Runge-Kutta rules, not with "
            f"'{rule}', which solves for the forces on their modes within a step; choose 'rk4', say"
        )
    if model.loops.kind.size:
        what = "driven joints" if model.drives else "loops"
        raise ModelError(
            f"{where}: derivatives of runs of models with flexible bodies and {what} are not built: rows of loops "
            "move modes along; take differences of runs"
        )


def is_verlet(integrator: Any) -> bool:
    """Whether an integrator is velocity Verlet."""
    return isinstance(integrator, Canonical) and CANONICAL[integrator.rule] is VELOCITY_VERLET


def only_slides(model: Model) -> bool:
    """Whether all joints of a model slide, so that its mass matrix is constant."""
    return bool(np.isin(model.forest.kind, (XYZ, PRISMATIC)).all())


def check_thermostat(model: Model, integrator: Any, thermostat: Any, duration: float, where: str) -> None:
    """Raise CaseError for a thermostat without known derivatives, and for a model, integrator or duration that it
    cannot be combined with."""
    if thermostat is None:
        return
    if not (isinstance(thermostat, Langevin) and is_verlet(integrator) and only_particles(model)):
        raise CaseError(
            f"{where}: thermostat: runs have derivatives with 'langevin' and the rule 'velocity-verlet' for free "
            f"particles under forces between sites alone, with their noise held; leave "
            f"'{thermostat.kind}' out, or choose Brownian forces with drag and 'friction-implicit'"
        )
    thermostat.check(model, f"{where}: thermostat")
    thermostat.check_schedule(duration, f"{where}: thermostat")


def _check_friction_implicit(model: Model, integrator: Any, where: str) -> None:
    if integrator.drift != "steady":
        raise CaseError(f"{where}: integrator.drift: derivatives are those of 'steady' drifts; leave it out")
    if model.armature is not None:
        raise CaseError(
            f"{where}: integrator.rule: the derivatives of 'friction-implicit' steps with armatures are not built; "
            "choose an explicit Runge-Kutta rule, or leave the armatures out"
        )
    if int(integrator.long_range_every) != 1:
        raise CaseError(
            f"{where}: integrator.long_range_every: derivatives are those of steps that all have the slow forces; "
            "leave it out"
        )
    for k, force in enumerate(model.forces):
        if isinstance(force, UserForce) and force.reads_velocities:
            raise CaseError(
                f"{where}: forces[{k}].reads_velocities: the rule 'friction-implicit' has derivatives of forces that "
                "read no velocities; say reads_velocities=False, and the function is given zeros, or choose an "
                "explicit Runge-Kutta rule, 'rk4' say"
            )
        if isinstance(force, JointDrive) and JointDrive.resists(JointDrive.gather(model, [(where, force)], None)):
            raise CaseError(
                f"{where}: forces[{k}]: the rule 'friction-implicit' solves for drives that resist with the drag, and "
                "the derivatives of that are not built; leave out damping and max_speed, or choose an explicit "
                "Runge-Kutta rule"
            )
        if isinstance(force, PointSpring) and float(force.damping) > 0.0:
            raise CaseError(
                f"{where}: forces[{k}]: the rule 'friction-implicit' solves for damped point springs with the drag, "
                "and the derivatives of that are not built; leave it out, or choose an explicit Runge-Kutta rule"
            )
        if isinstance(force, JointFriction) and any(
            row.end - row.start > 1 for row in force.rows(model, f"{where}: forces[{k}]")
        ):
            raise CaseError(
                f"{where}: forces[{k}]: the rule 'friction-implicit' solves for friction with the drag, and the "
                "derivatives of that are those of hinges and slides, and not of speeds that share one friction; "
                "name the bodies of the former, or choose an explicit Runge-Kutta rule"
            )


def _check_verlet(model: Model, rule: str, where: str) -> None:
    if model.armature is not None:
        raise CaseError(
            f"{where}: integrator.rule: '{rule}' takes kinetic energy for that of links, and armatures belong to none; "
            "choose an explicit Runge-Kutta rule, or leave the armatures out"
        )
    noisy = next((k for k, force in enumerate(model.forces) if isinstance(force, Brownian)), None)
    if noisy is not None:
        raise CaseError(
            f"{where}: forces[{noisy}]: '{rule}' holds no noise for a step; choose 'friction-implicit', or leave the "
            "noise out"
        )
    if model.box is not None and "reflecting" in model.box.boundaries:
        raise CaseError(f"{where}: box.boundaries: walls that throw particles back have no derivatives")


def _check_overdamped(model: Model, where: str) -> None:
    kinds = resists(model)
    if kinds:
        kind = min(str(one.model_fields["kind"].default) for one in kinds)
        raise CaseError(f"{where}: integrator.rule: 'overdamped' does not take '{kind}', which resists speeds")
