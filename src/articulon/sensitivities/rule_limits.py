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
    """Raise CaseError or ModelError for an integrator that has no derivatives, and for parts of the model that its
    derivatives do not cover. The message says what to choose instead."""
    rule = getattr(integrator, "rule", "")
    verlet = is_verlet(integrator)
    if not (verlet or isinstance(integrator, Explicit | FrictionImplicit | BrownianDynamics)):
        raise CaseError(f"{where}: integrator.rule: '{rule}' has no derivatives; choose one of {RULES}")
    if model.loops.kind.size and not isinstance(integrator, Explicit):
        what = "driven joints" if model.drives else "loops"
        raise ModelError(
            f"{where}: runs of models with {what} have derivatives with explicit Runge-Kutta rules, not with '{rule}', "
            "which finds the forces of loops for a whole step; choose an explicit rule, such as 'rk4'"
        )
    if model.forest.flexible is not None:
        _check_flexible(model, integrator, rule, where)
    for k, force in enumerate(model.forces):
        if isinstance(force, Brownian) and force.amplitude_from != "bath":
            raise CaseError(
                f"{where}: forces[{k}].amplitude_from: only noise of the 'bath' has derivatives, not noise of "
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
    """Raise CaseError if the model has armatures or flexible bodies, and a force whose derivatives cover only the mass
    matrix of rigid links without armatures."""
    if model.armature is None and model.forest.flexible is None:
        return
    what = "armatures" if model.armature is not None else "flexible bodies"
    overdamped = isinstance(integrator, BrownianDynamics) and varies_mass(model)
    for k, force in enumerate(model.forces):
        if getattr(force, "of_determinant", False) or (overdamped and isinstance(force, Brownian)):
            raise CaseError(
                f"{where}: forces[{k}]: the derivatives of ½ kT ∂ ln det M cover only rigid links without armatures; "
                f"leave out the {what}, or this force, or take differences of runs"
            )


def _check_flexible(model: Model, integrator: Any, rule: str, where: str) -> None:
    if not isinstance(integrator, Explicit):
        raise ModelError(
            f"{where}: runs of models with flexible bodies have derivatives with explicit Runge-Kutta rules, not with "
            f"'{rule}', which solves for the forces on their modes within a step; choose a rule such as 'rk4'"
        )
    if model.loops.kind.size:
        what = "driven joints" if model.drives else "loops"
        raise ModelError(
            f"{where}: derivatives of runs of models with flexible bodies and {what} are not implemented, because "
            "loops also move modes; take differences of runs"
        )


def is_verlet(integrator: Any) -> bool:
    """Whether an integrator is velocity Verlet."""
    return isinstance(integrator, Canonical) and CANONICAL[integrator.rule] is VELOCITY_VERLET


def only_slides(model: Model) -> bool:
    """Whether all joints of a model are prismatic, so that its mass matrix is constant."""
    return bool(np.isin(model.forest.kind, (XYZ, PRISMATIC)).all())


def check_thermostat(model: Model, integrator: Any, thermostat: Any, duration: float, where: str) -> None:
    """Raise CaseError for a thermostat that has no derivatives, and for a model, integrator or duration that does not
    fit the thermostat."""
    if thermostat is None:
        return
    if not (isinstance(thermostat, Langevin) and is_verlet(integrator) and only_particles(model)):
        raise CaseError(
            f"{where}: thermostat: runs have derivatives only with 'langevin', the rule 'velocity-verlet', and free "
            f"particles under forces between sites alone; leave '{thermostat.kind}' out, or choose Brownian forces "
            "with drag and 'friction-implicit'"
        )
    thermostat.check(model, f"{where}: thermostat")
    thermostat.check_schedule(duration, f"{where}: thermostat")


def _check_friction_implicit(model: Model, integrator: Any, where: str) -> None:
    if integrator.drift != "steady":
        raise CaseError(f"{where}: integrator.drift: only 'steady' drifts have derivatives; leave it out")
    if model.armature is not None:
        raise CaseError(
            f"{where}: integrator.rule: the derivatives of 'friction-implicit' steps with armatures are not "
            "implemented; choose an explicit Runge-Kutta rule, or leave the armatures out"
        )
    if int(integrator.long_range_every) != 1:
        raise CaseError(
            f"{where}: integrator.long_range_every: derivatives are available for slow forces in every step only; "
            "leave it out"
        )
    for k, force in enumerate(model.forces):
        if isinstance(force, UserForce) and force.reads_velocities:
            raise CaseError(
                f"{where}: forces[{k}].reads_velocities: with the rule 'friction-implicit', a user force that reads "
                "velocities has no derivatives; set reads_velocities=False, so that the function gets zeros for them, "
                "or choose an explicit Runge-Kutta rule, such as 'rk4'"
            )
        if isinstance(force, JointDrive) and JointDrive.resists(JointDrive.gather(model, [(where, force)], None)):
            raise CaseError(
                f"{where}: forces[{k}]: the rule 'friction-implicit' solves for drives that resist speeds together "
                "with the drag, and these derivatives are not implemented; leave out damping and max_speed, or "
                "choose an explicit Runge-Kutta rule"
            )
        if isinstance(force, PointSpring) and float(force.damping) > 0.0:
            raise CaseError(
                f"{where}: forces[{k}]: the rule 'friction-implicit' solves for damped point springs together with "
                "the drag, and these derivatives are not implemented; leave the damping out, or choose an explicit "
                "Runge-Kutta rule"
            )
        if isinstance(force, JointFriction) and any(
            row.end - row.start > 1 for row in force.rows(model, f"{where}: forces[{k}]")
        ):
            raise CaseError(
                f"{where}: forces[{k}]: the rule 'friction-implicit' solves for friction together with the drag, and "
                "this has derivatives for hinges and slides, but not for speeds that share one friction; give friction "
                "by the names of bodies on hinges and slides, or choose an explicit Runge-Kutta rule"
            )


def _check_verlet(model: Model, rule: str, where: str) -> None:
    if model.armature is not None:
        raise CaseError(
            f"{where}: integrator.rule: '{rule}' computes kinetic energy from links alone, without armatures; "
            "choose an explicit Runge-Kutta rule, or leave the armatures out"
        )
    noisy = next((k for k, force in enumerate(model.forces) if isinstance(force, Brownian)), None)
    if noisy is not None:
        raise CaseError(
            f"{where}: forces[{noisy}]: '{rule}' cannot hold noise over a step; choose 'friction-implicit', or leave "
            "the noise out"
        )
    if model.box is not None and "reflecting" in model.box.boundaries:
        raise CaseError(f"{where}: box.boundaries: reflecting walls have no derivatives")


def _check_overdamped(model: Model, where: str) -> None:
    kinds = resists(model)
    if kinds:
        kind = min(str(one.model_fields["kind"].default) for one in kinds)
        raise CaseError(f"{where}: integrator.rule: 'overdamped' does not take '{kind}', which resists speeds")
