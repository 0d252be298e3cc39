"""Diagnosis of a run that has diverged: its numbers are not finite or have no physical meaning."""

from pathlib import Path

import numpy as np

from articulon.errors import DivergenceError
from articulon.forces.evaluation import Evaluator
from articulon.model import CHANNELS, Model, State
from articulon.model.state import EXTERNAL, STEPS
from articulon.simulation.observers import evaluate
from articulon.simulation.spinning import spins


def diagnosis(
    evaluator: Evaluator,
    fixed_step: float | None,
    state: State,
    checkpoint: Path | str | None,
    failure: str | None = None,
    culprit: int | None = None,
) -> DivergenceError:
    """Return the error for a run that diverged after its last valid ``state``.

    The message names the link with the largest acceleration and the cause of this acceleration. If the stepper reports
    a ``failure`` and a link (``culprit``), the message names these instead.

    Angular accelerations and torques are converted to linear accelerations and forces at the radius of gyration of the
    link.
    """
    model = evaluator.model
    evaluate(evaluator, state)
    forest, channels = model.forest, evaluator.channels
    with np.errstate(all="ignore"):
        # Links that represent nodes of flexible bodies have no mass and no size.
        square = forest.inertia[:, [0, 3, 5]].sum(axis=1) / (2.0 * forest.mass)
        radius = np.sqrt(np.where(forest.mass > 0.0, square, 0.0))
        acceleration = evaluator.ws.acceleration
        size = np.linalg.norm(acceleration[:, 3:], axis=1) + radius * np.linalg.norm(acceleration[:, :3], axis=1)
    finite = bool(np.isfinite(size).all())
    link = int(np.argmax(size)) if finite else int(np.argmin(np.isfinite(size)))
    reason = "the step has become too short to continue" if finite else "the acceleration is not finite"
    if finite and fixed_step is not None:
        reason = "the next step is not finite, and the acceleration is largest"
    reason, link = failure or reason, link if culprit is None else culprit
    later = forest.u_start[forest.u_start > forest.u_start[link]]
    end = int(later.min()) if later.size else model.nu
    with np.errstate(all="ignore"):
        forces = np.linalg.norm(channels.wrench[:, link, :3], axis=1)
        torques = np.linalg.norm(channels.wrench[:, link, 3:], axis=1)
        torques += np.linalg.norm(channels.joint[:, forest.u_start[link] : end], axis=1)
        size = state.factor * (forces + (torques / radius[link] if radius[link] > 0.0 else 0.0))
    size[EXTERNAL] += state.factor[EXTERNAL] * forest.mass[link] * np.linalg.norm(evaluator.system.forces.gravity)
    size[~np.isfinite(size)] = np.inf
    body = int(model.head[link])
    return DivergenceError(
        reason,
        time=float(state.time[0]),
        step=int(state.counters[STEPS]) + 1,
        body=model.names[body],
        joint=model.joint_name(body),
        channel=CHANNELS[int(np.argmax(size))],
        checkpoint=checkpoint,
        time_unit="" if model.units.time is None else model.units.symbols[2],
        advice=getattr(failure, "advice", None) or _of_spin(model, state),
    )


def _of_spin(model: Model, state: State) -> str | None:
    """Return advice if a flexible body spins so fast that its deformation grows without bound; otherwise None."""
    growing = [spin for spin in spins(model, state.time, state.q[None], state.u[None]) if spin.grows is not None]
    if not growing:
        return None
    note = growing[0].note(model)
    return f"{note[:1].upper()}{note[1:]}."
