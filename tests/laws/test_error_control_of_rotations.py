"""The policy that bounds the predicted delay bounds that of rotations and of joints as it does that of translations,
and follows no motion that nothing tells it of.
"""

from __future__ import annotations

import math
from typing import Any

import numba
import numpy as np
import pytest
from scipy.integrate import solve_ivp

import articulon as ar
from articulon.errors import CaseError
from articulon.integrate import Explicit, base
from articulon.model.state import DAMPING
from articulon.scaling import Constant, ErrorControlled, NoScaling
from tests.support.running import Running

TORQUE, ANGLE, END = 0.35, 0.5, 1.4
"""A torque TORQUE e^{θ/ANGLE}, over a drag of 1, which turns a body e-folding faster, to END [rad]."""
RULE = Explicit(rtol=1e-7, atol=1e-9)


@numba.njit
def driven(time, positions, rotations, velocities, parameters, wrenches):
    """A steady force on body 0 across the axis z, and a torque about z on the last body that grows with its angle."""
    last, drag = rotations.shape[0] - 1, parameters[0]
    q0, q1, q2, q3 = rotations[last, 0], rotations[last, 1], rotations[last, 2], rotations[last, 3]
    angle = math.atan2(2.0 * (q1 * q2 + q0 * q3), 1.0 - 2.0 * (q2 * q2 + q3 * q3))
    wrenches[0, 2] += 1.0
    wrenches[last, 5] += drag * 0.35 * math.exp(min(angle, 2.0) / 0.5)


def ball() -> Any:
    """A ball that drifts along z and turns about it; τ = 1e-3."""
    builder = ar.ModelBuilder(units="lj")
    builder.add_body("ball", mass=1e-3, inertia=1e-3, joint=ar.Free())
    builder.add_force(ar.forces.StokesDrag(translational=1.0, rotational=1.0))
    builder.add_force(ar.forces.UserForce(function=driven, parameters=(1.0,), channel="potential"))
    return builder.build()


def arm() -> Any:
    """A core that drifts along z, and an arm that turns about z on a hinge in the core's centre; τ = 1e-3."""
    builder = ar.ModelBuilder(units="lj")
    core = builder.add_body("core", mass=1e-3, inertia=1e-3, joint=ar.Free())
    builder.add_body(
        "arm", parent=core, mass=5e-5, inertia=2e-5, com=(0.3, 0.0, 0.0), joint=ar.Revolute(axis=(0, 0, 1))
    )
    drag = ar.forces.StokesDrag(translational={"core": 1.0, "arm": 0.05}, rotational={"core": 1.0, "arm": 0.02})
    builder.add_force(drag)
    builder.add_force(ar.forces.UserForce(function=driven, parameters=(0.02 + 0.05 * 0.3**2,), channel="potential"))
    return builder.build()


def angle(run: Running) -> float:
    """That of the hinge, or of the ball about z."""
    return float(run.q[7]) if run.model.nu == 7 else 2.0 * math.atan2(run.q[6], run.q[3])


def times_at(angles: np.ndarray, run: Running) -> np.ndarray:
    """When the angle passes angles [time]: linear between times so near that this errs by 1e-6 of them."""
    times, found = [0.0], [angle(run)]
    while found[-1] < END:
        times.append(times[-1] + 1e-3)
        found.append(angle(run.to(times[-1])))
    return np.interp(angles, found, times)


def delays(model: Any, truth: np.ndarray, angles: np.ndarray, followed: bool = True) -> np.ndarray:
    """By how much the policy makes a body late at angles, relative to the times at which it is there."""
    run = Running(model, RULE, policy=ErrorControlled(tolerance=0.02))
    if not followed:
        run.driver.followed.relaxation[1:] = 0.0
    late = times_at(angles, run) / truth - 1.0
    assert run.state.factor[DAMPING] < 0.6
    return late


ANGLES = np.linspace(0.2, END, 13)
"""From four times the angle on below which delays count as those of one that is so large: what a joint loses before is
2.1 % of the time until 0.1 rad."""


@pytest.mark.slow
def test_a_ball_turns_late_by_less_than_the_tolerance() -> None:
    """Against τ θ'' + θ' = 0.35 e^{2θ}. By its translation alone, under a steady force, nothing would bound a2."""

    def rates(_: float, y: np.ndarray) -> list[float]:
        return [y[1], (TORQUE * math.exp(y[0] / ANGLE) - y[1]) / 1e-3]

    exact = solve_ivp(rates, (0.0, 1.4), [0.0, 0.0], method="Radau", rtol=1e-10, atol=1e-12, dense_output=True)
    times = np.linspace(0.0, 1.4, 14001)
    truth = np.interp(ANGLES, exact.sol(times)[0], times)
    late = delays(ball(), truth, ANGLES)
    assert (late > 0.0).all()
    assert 0.005 < late.max() < 0.02
    assert delays(ball(), truth, ANGLES, followed=False).max() > 0.1


def test_a_hinged_arm_turns_late_by_less_than_the_tolerance() -> None:
    """On a core that drifts; the core is turned by the arm, whose mass is not on the hinge, too."""
    model = arm()
    truth = times_at(ANGLES, Running(model, RULE))
    late = delays(model, truth, ANGLES)
    assert 0.005 < late.max() < 0.02
    assert late.min() > 0.0
    assert delays(model, truth, ANGLES, followed=False).max() > 0.1


@pytest.mark.parametrize("policy", [NoScaling(), Constant(a2=0.5)])
def test_what_does_not_scale_by_the_lag_follows_none(monkeypatch: pytest.MonkeyPatch, policy: Any) -> None:
    """No drag and no loop is refused then, nothing is looked for, and no memory is kept."""

    def none(*arguments: Any) -> Any:
        raise AssertionError("it looks for what to follow")

    monkeypatch.setattr(base, "followed_groups", none)
    builder = ar.ModelBuilder(units="lj")
    builder.add_body("rotor", mass=1.0, inertia=1.0, joint=ar.Revolute(axis=(0, 0, 1)), u=1.0)
    run = Running(builder.build(), RULE, policy=policy).to(2.0)
    assert run.q[0] == pytest.approx(2.0, rel=1e-9)
    assert run.driver.memory == run.state.memory.size == 0 and run.driver.followed is None
    with pytest.raises(CaseError, match="there is no drag"):
        Running(run.model, RULE, policy=ErrorControlled())
    with pytest.raises(AssertionError, match="looks for"):
        Running(ball(), RULE, policy=ErrorControlled())


def test_motions_that_no_drag_of_a_medium_holds_back_are_not_followed() -> None:
    """A rotation without drag lags behind nothing, and damping of a joint is a force that no drift velocity knows; what
    is beside them is followed: translation, rotation and joints apart."""
    builder = ar.ModelBuilder(units="lj")
    core = builder.add_body("core", mass=1.0, inertia=1.0, joint=ar.Free())
    for k, name in enumerate(("free", "damped")):
        builder.add_body(
            name, parent=core, mass=1.0, inertia=1.0, position=(0.0, 2.0 * k - 1.0, 0.0), joint=ar.Spherical()
        )
    builder.add_body("smooth", mass=2.0, inertia=1.0, joint=ar.Free(), position=(9.0, 0.0, 0.0))
    names = ("core", "free", "damped")
    drags = dict.fromkeys(names, 1.0)
    builder.add_force(ar.forces.StokesDrag(translational={**drags, "smooth": 0.5}, rotational={**drags, "smooth": 0.0}))
    builder.add_force(ar.forces.JointDamping(rotational={"damped": 0.1}))
    followed = Running(builder.build(), RULE, policy=ErrorControlled()).driver.followed
    assert followed.start.tolist() == [0, 3, 6, 9, 12, 15, 18]
    assert (followed.relaxation > 0.0).tolist() == [True, True, True, False, True, False]
    assert followed.within.tolist() == [False, False, True, True, False, False]
    assert followed.relaxation[4] == pytest.approx(4.0)  # m/β of 'smooth'
    assert followed.slowest[0] >= followed.relaxation.max()
