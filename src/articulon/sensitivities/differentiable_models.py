"""Checks whether a model and a run have derivatives, and the times of the steps of a run."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from articulon.building.closing import checked_state
from articulon.cases.case import Case
from articulon.cases.loading import load_case
from articulon.cases.schema import Stop
from articulon.cases.simulated_model import declared_integrator
from articulon.errors import CaseError, ModelError
from articulon.forces.base import Force, check_baths, check_durations
from articulon.forces.bath_temperatures import at_bath
from articulon.forces.brownian import Brownian, brownian_of
from articulon.forces.gravity import Gravity
from articulon.forces.stokes_drag import StokesDrag
from articulon.inputs import flag, shown
from articulon.inputs import seed as checked_seed
from articulon.integrate.combination import Combination, resists
from articulon.integrate.compatibility import check
from articulon.model import Model
from articulon.model.joints import SPINLESS
from articulon.scaling import Constant, NoScaling
from articulon.scaling.base import ScalingPolicy
from articulon.sensitivities.acting_forces import Acting
from articulon.sensitivities.rule_limits import check_rule, check_thermostat
from articulon.sensitivities.site_derivatives import known
from articulon.simulation.frame_times import frame_times
from articulon.thermostats.base import BaseThermostat
from articulon.time_scales.noise_windows import Windows, windows_of
from articulon.units import UnitSystem


@dataclass(frozen=True)
class DifferentiableRun:
    """A run for which derivatives are known."""

    model: Model
    """Model that is simulated, with its initial state."""
    integrator: Any
    """Integrator with known derivatives."""
    times: Sequence[float]
    """Times of the frames, at which steps end [time]."""
    windows: Windows
    """Times of equal steps, if the integrator has them, and of the noise windows."""
    seed: int
    """Seed of the noise."""
    policy: Any
    """Scaling policy of the forces: no scaling, or one constant factor for all forces."""
    stop: Stop | None = None
    """Condition that ends the run early."""
    case: Case | None = None
    """Case of the run, if there is one."""
    thermostat: Any = None
    """Thermostat, if there is one."""

    @property
    def acting(self) -> Acting:
        """Return the selection of all forces with their factor."""
        scaled = isinstance(self.policy, Constant)
        return Acting(float(self.policy.a2) if scaled else 1.0, scaled)


@dataclass(frozen=True)
class _Length:
    """Duration of a run."""

    duration: float
    interval: float


@dataclass(frozen=True)
class _Timed:
    """Data that determine the windows of a run."""

    source: str
    units: UnitSystem
    integrator: Any
    scaling: Any
    run: Any


def run_of(
    model: Any,
    where: str,
    *,
    duration: Any,
    rule: str | None,
    frames: int | None,
    q: Any,
    u: Any,
    stop: Any,
    seed: Any,
    scaling: Any,
    allow_code: bool,
    options: dict[str, Any],
    thermostat: Any = None,
) -> DifferentiableRun:
    """Return the run of a model or of a case; a case may be given by its name or path.

    Raises
    ------
    CaseError, ModelError
        For a run that has no derivatives; the message says what to choose instead.
    """
    if isinstance(model, Model):
        if duration is None:
            raise CaseError(f"{where}: duration: give the duration of the simulation, such as duration=2.0")
        integrator = declared_integrator("rk4" if rule is None else rule, options, model, where)
        start = checked_state(model, q, u)
        frame = frame_times(model, integrator, duration, frames, _held(model))
        times: Sequence[float] = frame
        model = replace(model, q0=start[0].copy(), u0=start[1].copy())
        number = 1 if seed is None else checked_seed(seed, f"{where}: seed", CaseError)
        policy = _policy(model, scaling, where)
        timed = _Timed(where, model.units, integrator, policy, _Length(frame.end, frame.interval))
        if stop is not None:
            stop = Stop.from_mapping(stop, f"{where}: stop").resolved(model.units, f"{where}: stop")
        windows = windows_of(timed, model)
        bath = _thermostat(model, thermostat, where)
        return _checked(
            DifferentiableRun(at_bath(model, bath), integrator, times, windows, number, policy, stop, thermostat=bath),
            where,
        )
    case = model if isinstance(model, Case) else load_case(model, allow_code=flag(allow_code, f"{where}, allow_code"))
    given = {"duration": duration, "rule": rule, "frames": frames, "q": q, "u": u, "stop": stop, "seed": seed}
    given |= {"scaling": scaling, "thermostat": thermostat, **options}
    wrong = next((name for name, value in given.items() if value is not None), None)
    if wrong is not None:
        raise CaseError(f"{where}: the case already gives {wrong}; change it with load_case(case, overrides)")
    return run_of_case(case, where)


def run_of_case(case: Case, where: str) -> DifferentiableRun:
    """Return the run of a case; raises CaseError and ModelError like :func:`run_of`."""
    _check_case(case)
    case.check_code()
    model, run, policy = case.build_model(), case.run, case.scaling
    windows = windows_of(_Timed(case.source, case.units, case.integrator, policy, run), model)
    found = DifferentiableRun(
        model, case.integrator, run.frame_times(), windows, run.seed, policy, run.stop, case, case.thermostat
    )
    return _checked(found, where)


def _checked(run: DifferentiableRun, where: str) -> DifferentiableRun:
    """Return the run; raises CaseError or ModelError if it has no derivatives."""
    _check_policy(run.policy, where)
    check_rule(run.model, run.integrator, where)
    check_thermostat(run.model, run.integrator, run.thermostat, float(run.times[-1]), where)
    check_differentiable(run.model, where)
    check(Combination(run.model, run.integrator, run.policy, run.thermostat, resists=resists(run.model)))
    noise = brownian_of(run.model)
    if noise is not None and not run.policy.scales:
        check_baths(run.model, [("Brownian forces", float(noise.temperature))])
    check_durations(run.model, float(run.times[-1]))
    if run.stop is not None:
        run.stop.condition(run.model, f"{where}: stop")
    return run


def _held(model: Model) -> float | None:
    """Return the time for which noise is held [time]; None if it is not given."""
    brownian = brownian_of(model)
    return None if brownian is None or brownian.window is None else float(brownian.window) * brownian.average


def _policy(model: Model, scaling: Any, where: str) -> Any:
    """Return the scaling policy of a model's run, in the units of the model."""
    if scaling is None:
        return NoScaling()
    if not isinstance(scaling, ScalingPolicy):
        raise CaseError(f"{where}: scaling must be a policy of articulon.scaling, got {shown(scaling)}")
    return scaling.resolved(model.units, f"{where}: scaling")


def _thermostat(model: Model, thermostat: Any, where: str) -> Any:
    """Return the thermostat of a model's run, in the units of the model."""
    if thermostat is None:
        return None
    if not isinstance(thermostat, BaseThermostat):
        raise CaseError(f"{where}: thermostat must be one of articulon.thermostats, got {shown(thermostat)}")
    return thermostat.resolved(model.units, f"{where}: thermostat")


def _check_policy(policy: Any, where: str) -> None:
    """Raise CaseError for a policy whose factors are not constant throughout the run."""
    if policy.scales and not isinstance(policy, Constant):
        raise CaseError(
            f"{where}: scaling.policy: the factors of '{policy.policy}' change during the run, and such runs have no "
            "derivatives; choose 'constant' with a2, or 'none'"
        )


def _check_case(case: Case) -> None:
    """Raise CaseError for parts of a case that have no derivatives."""
    run = case.run
    what = {
        "barostat": case.barostat is not None,
        "adaptive": case.adaptive is not None and case.adaptive.on,
        "dynamics.rotations = 'euler-parameters'": case.dynamics.rotations != "speeds",
        "run.speeds = 'thermal'": run.speeds != "given",
        "run.minimise": run.minimise,
        f"run.device = '{run.device}'": run.device != "cpu",
    }
    for key, there in what.items():
        if there:
            raise CaseError(f"{case.source}: {key}: runs with it have no derivatives; leave it out of the case")


TRUNCATED = "choose 'coulomb' with a truncation"
INSTEAD = {
    "ewald": TRUNCATED,
    "particle-mesh-ewald": TRUNCATED,
    "fast-multipole": TRUNCATED,
    "user-pair": "choose ar.forces.UserForce, whose derivatives come from a function or from differences",
}
"""Alternatives to forces whose derivatives are not known, by kind of the force."""
BRANCHING = ("impacts", "joint-limits", "contact")
"""Kinds of forces that act only where bodies or joints touch."""


def check_differentiable(model: Model, where: str) -> None:
    """Raise ModelError, naming the part, for a model whose right-hand side has no derivatives."""
    if (swinging := np.flatnonzero(np.isin(model.kinds, SPINLESS))).size:
        raise ModelError(
            f"{where}: derivatives of runs of models with swing joints, such as the joint of body "
            f"'{model.names[int(swinging[0])]}', are not implemented: the rotation that it excludes depends on its "
            "coordinates; choose a spherical joint, or take differences of runs"
        )
    for k, force in enumerate(model.forces):
        if isinstance(force, Gravity | StokesDrag | Brownian):
            continue
        if hasattr(force, "site_terms"):
            there = all(known(term) for term in force.site_terms(model))
        else:
            there = isinstance(force, Force) and type(force).adjoint is not None
        if getattr(force, "kind", "") in BRANCHING or getattr(force, "repulsion", "soft") == "impact":
            raise ModelError(
                f"{where}: forces[{k}]: a run branches where bodies meet or separate and where joints reach their "
                f"stops, so that it has no derivatives with this '{force.kind}'; choose a smooth repulsion, such as "
                "'weeks-chandler-andersen' between sites or a UserForce at a joint, or take differences of runs"
            )
        if not there:
            name = getattr(force, "kind", type(force).__name__)
            other = INSTEAD.get(name, "leave it out")
            raise ModelError(
                f"{where}: forces[{k}]: the derivatives of '{name}' are not known; {other}, or take differences of runs"
            )
        if isinstance(force, Force):
            force.check_adjoint(f"{where}: forces[{k}]")
