"""Validation of the input of an ensemble: states, seeds and scaling."""

from typing import Any

import numpy as np

from articulon.dynamics.state_rows import rows_of
from articulon.errors import CaseError, ModelError
from articulon.forces.brownian import brownian_of, fastest_relaxation
from articulon.inputs import SEEDS, shown, whole
from articulon.integrate.combination import Combination, resists
from articulon.integrate.compatibility import check
from articulon.model import CHANNELS, Model
from articulon.model.body_checks import UNIT_TOLERANCE
from articulon.scaling import NoScaling
from articulon.scaling.base import INPUTS, ScalingPolicy
from articulon.sizes import check_size
from articulon.thermostats.base import BaseThermostat
from articulon.thermostats.langevin import Langevin

COPIES = 8
"""Number of copies of all states that must fit into memory."""


def states_of(model: Model, Q: Any, U: Any, unit: bool = True, seeds: Any = None) -> tuple[np.ndarray, np.ndarray]:
    """Return the validated coordinates (N, nq) and speeds (N, nu) of many states. None means zero. A single state is
    copied for each of several ``seeds``.

    Raises
    ------
    ModelError
        For non-finite values, and for Euler parameters that are all zero or, if ``unit`` is True, not of norm 1. The
        message names the row.
    """
    found = rows_of(("Q", Q, (model.nq,)), ("U", U, (model.nu,)))
    if not found.states:
        raise ModelError("Q: there are no states; give at least one")
    several = len(seeds) if isinstance(seeds, list | tuple | range | np.ndarray) and np.ndim(seeds) == 1 else 1
    states = max(several, 1) if found.states == 1 else found.states
    check_size(states, COPIES * 8 * (model.nq + model.nu), "states", "Q", error=ModelError)
    q, u = (np.array(np.broadcast_to(one, (states, one.shape[1]))) for one in found.rows)
    for start, link in zip(*model.euler_parameters, strict=True):
        norm = np.linalg.norm(q[:, start : start + 4], axis=1)
        bad = np.abs(norm - 1.0) > UNIT_TOLERANCE if unit else norm == 0.0
        if bad.any():
            s, body = int(np.argmax(bad)), model.names[int(model.head[link])]
            raise ModelError(
                f"Q: row {s}: the Euler parameters of body '{body}' have the norm {norm[s]:.6g}, not 1"
                + ("; divide them by it" if norm[s] else ", and are not a rotation")
            )
    return q, u


def constant_factors(scaling: Any, where: str) -> np.ndarray:
    """Return the channel factors (8,) of a policy with constant factors; raises ModelError for any other policy."""
    policy = NoScaling() if scaling is None else scaling
    if not isinstance(policy, ScalingPolicy):
        raise ModelError(f"{where}: scaling: expected a policy of articulon.scaling, got {type(scaling).__name__}")
    if policy.varies or policy.follows or policy.thermostatted:
        raise ModelError(
            f"{where}: scaling: the factors of {policy.policy} change during a run, and differ between states; use "
            "a policy with constant factors, such as Constant or TwoFactor, or one run for each state"
        )
    factor = np.ones(len(CHANNELS))
    policy.law(policy.parameters(0.0), np.zeros(INPUTS), factor)
    return factor


def time_above_zero(model: Model, given: float | str, where: str) -> float:
    """Return a positive time [time], given as a number or as a quantity such as ``"4 fs"``; raises ModelError for
    anything else."""
    try:
        time = float(model.units.value(given, "time", where))
    except CaseError as failure:
        raise ModelError(str(failure)) from None
    if not time > 0.0:
        raise ModelError(f"{where}: must be above 0, got {shown(given)}")
    return time


def held_window(model: Model, scaling: ScalingPolicy | None, held: float | str | None, where: str) -> float:
    """Return the time for which noise is held constant [time].

    It is the given time; otherwise ``window`` times ``average`` of the Brownian forces; otherwise a quarter of the
    fastest relaxation time, divided by the drag factor of the policy. Without Brownian forces it is 1.
    """
    force = brownian_of(model)
    if held is not None:
        return time_above_zero(model, held, f"{where}: held")
    if force is None:
        return 1.0
    if force.window is not None:
        return float(force.window) * force.average
    return fastest_relaxation(model) / (4.0 * (1.0 if scaling is None else scaling.noise_factor()))


def seeds_of(seeds: Any, states: int, where: str, needed: bool) -> np.ndarray:
    """Return the seed of each state, shape (states,), with zeros if no seeds are needed; raises ModelError, naming the
    state, for an invalid seed."""
    if not needed:
        return np.zeros(states, dtype=np.int64)
    if seeds is None:
        raise ModelError(
            f"{where}: seeds: there is noise, and without a seed for each state all states would get the same noise; "
            "give seeds, such as range(N)"
        )
    if not isinstance(seeds, list | tuple | range | np.ndarray) or np.ndim(seeds) != 1:
        raise ModelError(f"{where}: seeds: expected a whole number for each of the {states} states, got {shown(seeds)}")
    if len(seeds) != states:
        raise ModelError(f"{where}: seeds: expected one for each of the {states} states, got {len(seeds)}")
    listed = seeds.tolist() if isinstance(seeds, np.ndarray) else list(seeds)
    checked = [whole(s, f"{where}: seeds, state {k}", least=0, most=SEEDS - 1) for k, s in enumerate(listed)]
    return np.array(checked, dtype=np.int64)


def check_thermostat(model: Model, thermostat: Any, where: str) -> None:
    """Raise ModelError for a thermostat that does not support ensembles."""
    if thermostat is None:
        return
    if not isinstance(thermostat, Langevin):
        expected = f"{where}: thermostat: expected articulon.thermostats.Langevin"
        if isinstance(thermostat, BaseThermostat):
            kind = getattr(thermostat, "kind", type(thermostat).__name__)
            raise ModelError(
                f"{expected}, got {kind}, which depends on the kinetic energy of a run; simulate the states one by one"
            )
        raise ModelError(f"{expected}, got {shown(thermostat)}")
    if model.armature is not None:
        raise ModelError(
            f"{where}: thermostat: Langevin noise on armatures is not supported for several states in parallel; "
            "simulate the states one by one, or leave the armatures out"
        )
    try:
        thermostat.check(model, f"{where}: thermostat")
    except CaseError as failure:
        raise ModelError(str(failure)) from failure


def check_combination(model: Model, integrator: Any, policy: ScalingPolicy | None, thermostat: Any, where: str) -> None:
    """Raise ModelError for an incompatible combination of features (``integrate/compatibility.py``)."""
    chosen = Combination(model, integrator, policy or NoScaling(), thermostat, resists=resists(model))
    try:
        check(chosen)
    except CaseError as failure:
        raise ModelError(f"{where}: {failure}") from failure


def check_windows(model: Model, step: float, held: bool, where: str) -> None:
    """Raise ModelError if the time for which noise is held differs from the step [time], for an integrator that always
    holds it for one step. ``held`` tells whether a time was given in addition to that of the model."""
    force = brownian_of(model)
    if force is None:
        return
    window = None if force.window is None else float(force.window) * force.average
    if held or (window is not None and abs(window - step) > 1e-9 * step):
        what = "held was given" if held else f"forces.brownian.window times average is {window:.9g}"
        raise ModelError(
            f"{where}: step_size: 'friction-implicit' steps hold Brownian forces for one step, {step:.9g}, and {what}; "
            "leave it out, or make them equal"
        )
