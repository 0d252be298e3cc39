"""Known problems of the table of verdicts: what a review found judged wrongly, and plain ones beside it."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import articulon as ar
from articulon import scaling
from validation.force_laws import row
from validation.verdict_problems import Problem, Vector, _Draft

Z: Vector = (0.0, 0.0, 1.0)
CONTROLLED = scaling.ErrorControlled(tolerance=0.02)


def _constant(a2: float) -> Any:
    return scaling.Constant(a2=a2)


def _problem(name: str, policy: Any, fill: Callable[[_Draft], None], kT: float = 0.0, frames: int = 200) -> Problem:
    def build(window: float | None) -> Any:
        draft = _Draft()
        fill(draft)
        return draft.model(kT, window)

    return Problem(name, "known", build, policy, kT > 0.0, frames)


def _turning_ball(d: _Draft) -> None:
    """A steady force, and a torque that grows with the angle."""
    d.body("ball", 1e-3, turning=1.0, joint=ar.Free())
    d.rows += [row(0, "steady", 1.0), row(0, "torque-grows", 0.35, 0.0, 0.5, 3.0)]


def _hinged_arm(d: _Draft) -> None:
    """The same torque on an arm that hangs on a core that drifts."""
    core = d.body("core", 1e-3, turning=1.0, joint=ar.Free())
    d.body("arm", 1e-3, 0.05, 0.02, parent=core, com=(0.3, 0, 0), joint=ar.Revolute(axis=(0, 0, 1)))
    d.rows += [row(0, "steady", 1.0, n=Z), row(1, "torque-grows", 0.02, 0.0, 0.5, 3.0)]


def _captured(d: _Draft) -> None:
    """A light ball is captured while a heavy one drifts."""
    d.body("heavy", 2e-3, 10.0, joint=ar.Xyz())
    d.body("light", 4e-4, 1.0, joint=ar.Xyz(), position=(0, 0, 50.0))
    d.rows += [row(0, "steady", 10.0), row(1, "power", 0.25, 2.0, 0.5, 0.1)]


def _dipole(d: _Draft) -> None:
    """A dipole turns from near the opposite of its field into it while it drifts."""
    d.body("ball", 2e-3, turning=1.0, joint=ar.Free())
    angle = math.pi - 0.05
    d.rows += [row(0, "steady", 1.0, n=Z), row(0, "dipole", 8.0, n=(math.cos(angle), math.sin(angle), 0.0))]


def _torque_alone(d: _Draft) -> None:
    d.body("ball", 1e-3, turning=1.0, joint=ar.Free())
    d.rows.append(row(0, "torque-swings", 2.0, 3.0, 12.0, 0.0))


def _at_rest(d: _Draft) -> None:
    """A ball that has long come to rest in its well."""
    d.body("ball", 5e-5, joint=ar.Xyz())
    d.rows.append(row(0, "well", 60.0, 0.0, 1.0))


def _swinging(d: _Draft) -> None:
    d.body("ball", 2e-4, joint=ar.Xyz())
    d.rows.append(row(0, "swing", 1.0, 1.2, 60.0, 0.0))


def _rotating(d: _Draft) -> None:
    d.body("ball", 2e-4, joint=ar.Xyz())
    d.rows.append(row(0, "rotating", 0.0, 1.0, 22.0, 0.0))


def _spun_up(d: _Draft) -> None:
    """A torque that is switched on, and stays."""
    d.body("ball", 2e-4, turning=1.0, joint=ar.Free())
    d.rows += [row(0, "steady", 1.0), row(0, "switch", 0.1, 1.0, 0.3, 0.02), row(0, "torque", 3.0)]


def _sudden(d: _Draft) -> None:
    """A steady force for half of the run, then one ten times as large at once."""
    d.body("ball", 5e-4, joint=ar.Xyz())
    d.rows.append(row(0, "onset", 1.0, 10.0, 0.5, 1e-3))


def _drawn(d: _Draft) -> None:
    """An approach that ends at the end of the run."""
    d.body("ball", 4e-4, joint=ar.Xyz())
    d.rows.append(row(0, "power", 0.3, 2.0, 0.85, 0.05))


def _drifting(d: _Draft) -> None:
    d.body("ball", 2e-4, joint=ar.Xyz())
    d.rows.append(row(0, "steady", 3.0))


def _well(d: _Draft) -> None:
    d.body("ball", 1e-4, joint=ar.Xyz())
    d.rows.append(row(0, "well", 20.0, 0.0, 0.3))


def _heavy_swing(d: _Draft) -> None:
    """A body that follows a swinging force late by itself."""
    d.body("ball", 0.03, joint=ar.Xyz())
    d.rows.append(row(0, "swing", 0.0, 1.0, 20.0))


def _fast_swing(d: _Draft) -> None:
    """So many swings that each takes no time to speak of."""
    d.body("ball", 1e-4, joint=ar.Xyz())
    d.rows.append(row(0, "swing", 0.0, 50.0 * math.pi, 50.0 * math.pi))


def _double_well(d: _Draft) -> None:
    d.body("ball", 1e-4, joint=ar.Xyz())
    d.rows.append(row(0, "double-well", 20.0, 0.0, 0.3))


KNOWN = (
    _problem("turning ball", CONTROLLED, _turning_ball),
    _problem("turning ball", _constant(0.02), _turning_ball),
    _problem("hinged arm on a drifting core", CONTROLLED, _hinged_arm),
    _problem("hinged arm on a drifting core", _constant(0.02), _hinged_arm),
    _problem("light tree captured", CONTROLLED, _captured),
    _problem("light tree captured", _constant(0.05), _captured),
    _problem("dipole that turns", CONTROLLED, _dipole),
    _problem("dipole that turns", _constant(0.1), _dipole),
    _problem("torque without a force", _constant(0.02), _torque_alone),
    _problem("at rest in a well", _constant(0.1), _at_rest),
    _problem("at rest in a well", CONTROLLED, _at_rest),
    _problem("swinging force", _constant(0.05), _swinging),
    _problem("swinging heavy body", CONTROLLED, _heavy_swing),
    _problem("fast swings", _constant(1e-4 * 50.0 * math.pi / 3.0), _fast_swing, frames=400),
    _problem("rotating force", _constant(0.04), _rotating),
    _problem("spun up", _constant(0.05), _spun_up),
    _problem("sudden force", CONTROLLED, _sudden),
    _problem("approach", _constant(0.1), _drawn),
    _problem("approach", scaling.TwoFactor(a2=0.1, b2=0.5), _drawn),
    _problem("noise that drifts", _constant(0.05), _drifting, kT=0.02),
    _problem("noise in a well", _constant(0.05), _well, kT=0.05),
    _problem("noise in two wells", _constant(0.05), _double_well, kT=0.1),
)
"""Twenty-two problems; a few are of the same model under two policies."""
