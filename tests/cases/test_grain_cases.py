"""The built-in cases of grains: each passes its own checks, and the references in their files are right.

The references are computed here from the equations of each, which the engine has no part in.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.collections import LineCollection
from scipy.integrate import solve_ivp

import articulon as ar
from articulon.report.html import figures
from articulon.studio.run_report import write_report

QUICK = ("slip-to-roll", "stack", "two-spheres")
"""Cases of few spheres and few steps."""
LONG = ("angle-of-repose", "bounce", "box-packing", "granular-chain", "rotating-drum")
SOFT = {"young": "25 MPa"}
SHORTER = {
    "angle-of-repose": {
        "forces.contact.materials.grain.young": "7.5 MPa",
        "forces.contact.materials.smooth.young": "7.5 MPa",
        "integrator.step": "14.5 us",
    },
    "rotating-drum": {
        "forces.contact.materials.grain.young": "3.75 MPa",
        "forces.contact.materials.drum.young": "3.75 MPa",
        "integrator.step": "25 us",
    },
    "granular-chain": {
        "run.duration": "0.5 s",
        "run.frames": 50,
        "forces.contact.materials": {"grain": SOFT, "bead": SOFT},
        "integrator.step": "9 us",
    },
}
"""What leaves checks as they are: the chain and what it has fallen into lie still after 0.4 s, however stiff. The
slope of grains is set by friction; a quarter of the stiffness allows twice the step."""
G = 9.81


def failed(run: ar.Run) -> list[str]:
    checks = run.summary["checks"]
    assert len(checks) >= 3
    return [f"{check['what']}: {check['value']:.3g}" for check in checks if not check["passed"]]


@pytest.mark.slow
@pytest.mark.parametrize("name", QUICK)
def test_a_case_of_few_grains_passes_its_own_checks(name: str, tmp_path: Path) -> None:
    run = ar.run(name, tmp_path / "run", report=False)
    assert failed(run) == []
    found = run.summary["contacts"]
    assert found["ledger_error_relative"] < 1e-10
    assert found["elastic_error_relative"] < 1e-4
    assert found["step"] <= found["step_recommended"]
    drawn = figures(run)
    assert {"spheres", "contact_ledger"} <= set(drawn)
    assert ("grain_motion" in drawn) == (name != "stack")
    page = write_report(run.folder).read_text(encoding="utf-8")
    assert "ledger closes" in page and "normal elastic energy" in page
    if name == "stack":
        # Each contact carries the weight of what is above it, and lines are as wide.
        forces = next(c for c in drawn["spheres"].axes[2].collections if isinstance(c, LineCollection))
        np.testing.assert_allclose(np.array(forces.get_linewidths()) / 2.5 * 3.0, [1, 2, 3, 4, 5], rtol=1e-6)


@pytest.mark.slow
def test_a_run_whose_overlaps_leave_the_range_says_whose(tmp_path: Path) -> None:
    soft = {"forces.contact.materials.grain.young": "100 kPa", "integrator.step": "50 us", "run.duration": "30 ms"}
    run = ar.run("two-spheres", tmp_path / "run", overrides={**soft, "checks": []}, report=False)
    notes = [note for note in run.summary["notes"] if "overlap" in note]
    assert len(notes) == 1
    assert "beyond the 5%" in notes[0] and "'left' and 'right'" in notes[0]


@pytest.mark.slow
@pytest.mark.parametrize("name", LONG)
def test_a_case_of_many_grains_or_steps_passes_its_own_checks(name: str, tmp_path: Path) -> None:
    assert failed(ar.run(name, tmp_path / "run", overrides=SHORTER.get(name), report=False)) == []


SI = {"us": 1e-6, "mm": 1e-3, "deg": math.pi / 180}


def references(name: str) -> dict[str, float]:
    """References by what they are of, in SI units."""
    found = {}
    for check in ar.load_case(name).checks:
        number, _, unit = str(getattr(check, "reference", "")).partition(" ")
        if number:
            found[str(check.what)] = float(number) * SI.get(unit, 1.0)
    return found


def one(found: dict[str, float], start: str) -> float:
    values = [value for what, value in found.items() if what.startswith(start)]
    assert len(values) == 1, start
    return values[0]


def test_references_of_the_oblique_impact() -> None:
    """Two spheres in their plane, which slide on each other all along: Hertz's force along the line of centres, and
    friction mu F_n across it, whose moment about each centre has the arm r/2."""
    R, rho, E, nu, mu = 0.01, 2500.0, 70e9, 0.22, 0.2
    m, modulus = 4 / 3 * math.pi * R**3 * rho, E / (2 * (1 - nu**2))
    inertia, effective = 0.4 * m * R**2, 4 / 3 * modulus * math.sqrt(R / 2)
    gap = 2e-8

    def rates(_: float, y: np.ndarray) -> np.ndarray:
        x, v, w = y[0:4].reshape(2, 2), y[4:8].reshape(2, 2), y[8:]
        between = x[0] - x[1]
        r = np.linalg.norm(between)
        normal = between / r
        across = np.array([-normal[1], normal[0]])
        push = effective * max(2 * R - r, 0.0) ** 1.5
        slip = (v[0] - v[1]) @ across - 0.5 * r * w.sum()
        drag = -mu * push * np.sign(slip)
        force = push * normal + drag * across
        turn = -0.5 * r * drag / inertia
        return np.concatenate([y[4:8], force / m, -force / m, [turn, turn]])

    def apart(_: float, y: np.ndarray) -> float:
        return float(np.hypot(y[0] - y[2], y[1] - y[3]) - 2 * R)

    def deepest(_: float, y: np.ndarray) -> float:
        return float((y[0:2] - y[2:4]) @ (y[4:6] - y[6:8]))

    start = np.array([-2 * R - gap, 0, 0, 0, 0.1, 0.2, 0, 0, 0, 0])
    options: dict[str, Any] = {"method": "DOP853", "rtol": 1e-12, "atol": 1e-17}
    before = solve_ivp(rates, (0, gap / 0.1), start, **options)
    after = solve_ivp(rates, (0, 120e-6), before.y[:, -1], events=(deepest, apart), max_step=2e-7, **options)
    y, turned = after.y[:, -1], after.y_events[0][0]
    depth = 2 * R - np.hypot(turned[0] - turned[2], turned[1] - turned[3])
    found = references("two-spheres")
    assert one(found, "final velocity of the first sphere along") == pytest.approx(y[4], abs=1e-10)
    assert one(found, "final velocity of the first sphere across") == pytest.approx(y[5], rel=1e-8)
    assert one(found, "final velocity of the second sphere") == pytest.approx(y[6], rel=1e-8)
    assert one(found, "final spin of the second sphere") == pytest.approx(y[9], rel=1e-8)
    assert one(found, "largest overlap") == pytest.approx(depth / R, rel=1e-7)
    assert one(found, "largest force") == pytest.approx(effective * depth**1.5, rel=1e-6)
    # What the coefficients alone give, but for the turning of the line of centres by less than a milliradian.
    assert one(found, "final velocity of the first sphere across") == pytest.approx(0.2 - mu * 0.1, rel=1e-3)
    assert one(found, "final spin of the second sphere") == pytest.approx(-2.5 * mu * 0.1 / R, rel=2e-3)
    hertz = 2.8683 * ((m / 2) ** 2 / (R / 2 * modulus**2 * 0.1)) ** 0.2
    assert one(found, "duration of the contact") == pytest.approx(hertz, rel=1e-4)


def test_references_of_the_bouncing_ball() -> None:
    heights = [value for what, value in references("bounce").items() if what.startswith("height")]
    r, h, e = 0.02, 0.5, 0.8
    assert heights == pytest.approx([r + e ** (2 * k) * (h - r) for k in (1, 2, 3)], rel=1e-12)


def test_references_of_the_stack() -> None:
    R, modulus = 0.01, 100e6 / (2 * (1 - 0.22**2))
    weight = 4 / 3 * math.pi * R**3 * 2500.0 * G
    height, heights = 0.0, []
    for k in range(5):
        radius = R if k == 0 else R / 2
        overlap = (3 * (5 - k) * weight / (4 * modulus * math.sqrt(radius))) ** (2 / 3)
        height += (R if k == 0 else 2 * R) - overlap
        heights.append(height)
    found = references("stack")
    assert [value for what, value in found.items() if what.startswith("height")] == pytest.approx(heights, abs=2e-15)
    assert one(found, "force on the floor") == pytest.approx(5 * weight, rel=1e-11)


def test_references_of_the_bowled_ball() -> None:
    found = references("slip-to-roll")
    mass = 4 / 3 * math.pi * 0.02**3 * 2500.0
    assert one(found, "final speed") == pytest.approx(5 / 7, rel=1e-12)
    assert one(found, "final spin") == pytest.approx(5 / 7 / 0.02, rel=1e-12)
    assert one(found, "work of friction") == pytest.approx(-mass / 7, rel=1e-6)


@pytest.mark.parametrize("name", ["box-packing", "granular-chain"])
def test_walls_are_to_carry_the_weight_of_all(name: str) -> None:
    weight = ar.load_case(name).build_model().masses.sum() * G
    assert one(references(name), "force of the floor and the walls") == pytest.approx(weight, rel=1e-9)
