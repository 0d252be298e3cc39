"""What mechanisms cannot do ends with a named error, and what a simulation cannot start from is refused."""

from __future__ import annotations

import numba
import numpy as np
import pytest

import articulon as ar

HINGE = ar.Revolute(axis=(0, 0, 1))


def slider_crank() -> ar.Model:
    """A crank of 1 and a rod of 1.5 reach 2.5; the slider is driven to 3.5."""
    builder = ar.ModelBuilder(units="kg-m-s")
    builder.add_body("crank", mass=1.0, inertia=0.1, com=(0.5, 0, 0), joint=HINGE)
    builder.add_body("rod", parent="crank", mass=1.0, inertia=0.1, com=(0.75, 0, 0), joint=HINGE, position=(1.0, 0, 0))
    builder.add_body("slider", mass=1.0, inertia=0.1, joint=ar.Prismatic(axis=(1, 0, 0)))
    builder.add_loop("pin", joint=HINGE, parent="rod", child="slider", position=(1.5, 0, 0))
    builder.add_drive("slider", times=(0, 1, 2, 3), values=(2.0, 2.3, 2.8, 3.5))
    return builder.build()


def four_bar(scale: float = 1.0, **given: float) -> ar.Model:
    builder = ar.ModelBuilder(units="kg-m-s")
    inertia, s = 0.2 * scale**2, scale
    builder.add_body("crank", mass=1.0, inertia=inertia, com=(0.5 * s, 0, 0), joint=HINGE, q=1.0, u=2.0)
    builder.add_body(
        "coupler",
        parent="crank",
        mass=2.0,
        inertia=inertia,
        com=(s, 0, 0),
        joint=HINGE,
        position=(s, 0, 0),
        q=-0.5,
        u=given.get("coupler"),
    )
    builder.add_body(
        "rocker", mass=1.0, inertia=inertia, com=(0.75 * s, 0, 0), joint=HINGE, position=(2.2 * s, 0, 0), q=1.5
    )
    builder.add_loop(
        "close", joint=HINGE, parent="coupler", child="rocker", position=(2 * s, 0, 0), child_position=(1.5 * s, 0, 0)
    )
    if "top" in given:
        builder.add_body("top", mass=1.0, inertia=1.0, joint=HINGE, u=given["top"])
    return builder.build()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rule": "rk4", "step": 0.01}, "loop 'pin' cannot be closed after the next step"),
        ({"rule": "adams-bashforth-moulton", "step": 0.01}, "loop 'pin' cannot be closed after the next step"),
        (
            {"rule": "dormand-prince", "rtol": 1e-8},
            "the loops of the mechanism become singular or can no longer be closed",
        ),
    ],
    ids=lambda value: value["rule"] if isinstance(value, dict) else "",
)
def test_a_mechanism_that_is_driven_beyond_its_reach_says_so(options, message):
    model = slider_crank()
    assert model.q0[2] == pytest.approx(2.0, abs=1e-13)  # stretched at first, and closed from beside it
    with pytest.raises(ar.DivergenceError, match=message) as caught:
        ar.simulate(model, 3.0, frames=6, **options)
    # The spline through the table reaches 2.5 at t = √6 − 1.
    assert caught.value.time == pytest.approx(np.sqrt(6.0) - 1.0, abs=0.01)


@numba.njit
def turn(time, result):
    result[0], result[1], result[2] = 1.0 + 0.2 * time, 0.2, 0.0


@numba.njit
def push(time, result):
    """Where the turning crank takes the slider, and t³/20 more."""
    a = 1.0 + 0.2 * time
    s, c = np.sin(a), np.cos(a)
    root = np.sqrt(2.25 - s * s)
    first, second = -s - s * c / root, -c - (c * c - s * s) / root - (s * c) ** 2 / root**3
    result[0] = c + root + 0.05 * time**3
    result[1] = 0.2 * first + 0.15 * time**2
    result[2] = 0.04 * second + 0.3 * time


@pytest.mark.slow
def test_motions_that_come_to_contradict_each_other_are_refused_when_they_do():
    builder = ar.ModelBuilder(units="kg-m-s")
    builder.add_body("crank", mass=1.0, inertia=0.1, com=(0.5, 0, 0), joint=HINGE, q=1.0)
    builder.add_body(
        "rod", parent="crank", mass=1.0, inertia=0.1, com=(0.75, 0, 0), joint=HINGE, position=(1.0, 0, 0), q=-1.5
    )
    builder.add_body("slider", mass=1.0, inertia=0.1, joint=ar.Prismatic(axis=(1, 0, 0)))
    builder.add_loop("pin", joint=HINGE, parent="rod", child="slider", position=(1.5, 0, 0))
    builder.add_drive("crank", function=turn)
    builder.add_drive("slider", function=push)
    with pytest.raises(ar.DivergenceError, match=r"cannot be closed after .*motions contradict each other"):
        ar.simulate(builder.build(), 3.0, rule="rk4", step=0.01, frames=6)


def test_given_speeds_that_break_a_loop_are_refused_whatever_else_moves():
    for given in ({"coupler": 0.0}, {"coupler": 0.0, "top": 1e10}):
        with pytest.raises(ar.ModelError, match="loop 'close': the given initial speeds violate it"):
            four_bar(**given)


@pytest.mark.parametrize("scale", [1.0, 1e-9, 1e6])
def test_loops_are_held_to_rounding_at_any_size(scale):
    run = ar.simulate(four_bar(scale), 5.0, rule="kutta-merson", rtol=1e-3, atol=1e-3, frames=4)
    residuals = [np.abs(ar.loop_residuals(run.model, q) / run.model.loops.size).max() for q in run.q]
    assert max(residuals) < 2e-14  # what a projection is ended at, and a rounding of the sum


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"q": (1.4, -0.8, 1.4)}, ar.ModelError, "q leaves loop 'close' open.*close_loops"),
        ({"u": (3.0, 0.0, 0.0)}, ar.ModelError, "u breaks loop 'close' open.*close_loops"),
        ({"q": 0.5}, ar.ModelError, "q: expected 3 finite numbers"),
        ({"q": "a"}, ar.ModelError, "q: expected 3 numbers"),
        ({"frames": 0}, ar.CaseError, "frames must be a whole number"),
        ({"frames": 2.5}, ar.CaseError, "frames must be a whole number"),
        ({"duration": float("nan")}, ar.CaseError, "duration: expected a finite number"),
        ({"duration": -1.0}, ar.CaseError, "duration must be positive"),
        ({"duration": "8 nm"}, ar.CaseError, "duration: expected a time"),
        ({"scaling": "none"}, ar.CaseError, "scaling must be a policy"),
    ],
)
def test_what_a_simulation_cannot_start_from_is_refused_by_name(given, error, message):
    options = {"duration": 1.0, **given}
    with pytest.raises(error, match=message):
        ar.simulate(four_bar(), options.pop("duration"), rule="rk4", step=0.01, **options)


def test_a_motion_is_not_looked_up_beyond_its_table():
    model = slider_crank()
    with pytest.raises(
        ar.ModelError, match="'drive of slider', times: the table from 0 to 3 does not cover the time 99"
    ):
        ar.forward_dynamics(model, model.q0, model.u0, time=99.0)
