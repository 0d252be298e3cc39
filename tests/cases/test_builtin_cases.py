"""The built-in mechanisms and free bodies: each run passes its own checks, and the references in their files are right.

The references are computed here from the equations of each system, which the engine has no part in.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.integrate
import scipy.special

import articulon as ar
from articulon.cases.library import built_in_cases
from tests.support import andrews

G = 9.81
PARTICLES = {"lj-melt", "molten-salt-100", "molten-salt-1025", "rock-salt"}
MOLECULES = {
    "alanine-dipeptide-water",
    "nanoparticle-docking",
    "nanoparticle-docking-published",
    "ebola-receptor",
    "trp-zipper",
}
POLYMERS = {"polymer-melt", "polymer-melt-springs"}
"""Looked at in test_polymers.py."""
ADAPTIVE = {"adaptive-chain", "adaptive-protein"}
GRAINS = {
    "angle-of-repose",
    "bounce",
    "box-packing",
    "granular-chain",
    "rotating-drum",
    "slip-to-roll",
    "stack",
    "two-spheres",
}
"""Looked at in test_grain_cases.py."""
MECHANISMS = sorted(set(built_in_cases()) - PARTICLES - MOLECULES - POLYMERS - ADAPTIVE - GRAINS)
LONG = {
    "dzhanibekov": {"run.duration": "16 s", "run.frames": 800},
    "flexible-filament": {"run.duration": "20 ns"},
    "n-link-chain": {"run.duration": "4 s"},
}
"""What shortens a case for a quick test and leaves its checks as they are."""


SALT = {"run.duration": "2.5 ps", "checks[2].after": "1 ps", "checks[3].after": "1 ps"}
"""The same for the large molten salt, whose temperatures have settled after half a picosecond."""


def failed(run: ar.Run, least: int = 3) -> list[str]:
    checks = run.summary["checks"]
    assert len(checks) >= least
    return [check["what"] for check in checks if not check["passed"]]


@pytest.mark.slow
@pytest.mark.parametrize("name", MECHANISMS)
def test_a_built_in_case_passes_its_own_checks(name: str, tmp_path: Path) -> None:
    assert failed(ar.run(name, tmp_path / "run", overrides=LONG.get(name))) == []


@pytest.mark.slow
def test_rock_salt_has_madelungs_energy_and_pressure(tmp_path: Path) -> None:
    assert failed(ar.run("rock-salt", tmp_path / "run")) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(ADAPTIVE))
def test_a_case_of_changing_resolution_passes_its_own_checks(name: str, tmp_path: Path) -> None:
    run = ar.run(name, tmp_path / "run")
    assert failed(run, least=2) == []
    # When the protein's domains touch, and are released, is a matter of chance.
    assert run.summary["adaptive"]["locked" if name == "adaptive-protein" else "released"] > 100


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(PARTICLES - {"rock-salt"}))
def test_a_case_of_particles_passes_its_own_checks(name: str, tmp_path: Path) -> None:
    overrides = SALT if name == "molten-salt-1025" else None
    assert failed(ar.run(name, tmp_path / "run", overrides=overrides)) == []


@pytest.mark.slow
@pytest.mark.parametrize("variant", ["standard", "velocity-verlet", "chain"])
def test_the_variants_of_the_molten_salt_keep_their_energy(variant: str, tmp_path: Path) -> None:
    run = ar.run(ar.load_case("molten-salt-100").variant(variant), tmp_path / "run", report=False)
    checks = {check["what"]: check["passed"] for check in run.summary["checks"]}
    assert checks["change of T + Phi - W over the kinetic energy"]


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(LONG))
def test_a_long_case_passes_its_own_checks_to_its_end(name: str, tmp_path: Path) -> None:
    assert failed(ar.run(name, tmp_path / "run", report=False)) == []


def references(name: str) -> dict[str, float]:
    found = {check.what: getattr(check, "reference", None) for check in ar.load_case(name).checks}
    return {str(what): value for what, value in found.items() if isinstance(value, float)}


def solved(rates: Any, duration: float, start: list[float]) -> np.ndarray:
    """The state at the end, by SciPy."""
    solution = scipy.integrate.solve_ivp(rates, (0, duration), start, method="DOP853", rtol=1e-13, atol=1e-14)
    return np.asarray(solution.y[:, -1])


def test_reference_of_the_double_pendulum() -> None:
    """Two thin rods in absolute angles from the vertical."""
    m = length = 1.0
    h, inertia = 0.5 * length, m * length**2 / 12

    def rates(_: float, y: np.ndarray) -> list[float]:
        a, b, da, db = y
        c, s = m * length * h * np.cos(a - b), m * length * h * np.sin(a - b)
        M = [[inertia + m * h**2 + m * length**2, c], [c, inertia + m * h**2]]
        f = [-s * db**2 - m * (h + length) * G * np.sin(a), s * da**2 - m * h * G * np.sin(b)]
        return [da, db, *np.linalg.solve(M, f)]

    a, b, _, _ = solved(rates, 5.0, [np.pi / 2, np.pi / 2, 0.0, 0.0])
    found = references("double-pendulum")
    assert found["final angle of the upper rod"] == pytest.approx(a, abs=1e-10)
    assert found["final angle between the rods"] == pytest.approx(b - a, abs=1e-10)


def test_reference_of_the_four_bars() -> None:
    """Parallelograms are one pendulum."""
    n = 2
    inertia, weight = (n + 1) / 3 + n, G * ((n + 1) / 2 + n)
    angle, _ = solved(lambda _, y: [y[1], -weight / inertia * np.cos(y[0])], 10.0, [np.pi / 2, -1.0])
    found = references("n-four-bar")
    assert set(found) == {"final angle of the first crank", "final angle of the last crank"}
    assert all(value == pytest.approx(angle, abs=1e-9) for value in found.values())


def test_reference_of_the_flipping_nut() -> None:
    """Landau and Lifshitz, Mechanics, 37.10 to 37.12, with the axes in the other order since L² < 2 T I₂."""
    nut = ar.load_case("dzhanibekov").model_declaration.bodies[0]  # type: ignore[union-attr]
    I3, I2, I1 = (float(x) for x in nut.inertia)
    w = np.array(nut.u[3:], dtype=float)[::-1]
    moments = np.array([I1, I2, I3])
    energy2, L2 = float(moments @ w**2), float(moments**2 @ w**2)
    assert energy2 * I2 > L2
    p = np.sqrt((I3 - I2) * (L2 - energy2 * I1) / (I1 * I2 * I3))
    k2 = (I2 - I1) * (energy2 * I3 - L2) / ((I3 - I2) * (L2 - energy2 * I1))
    found = references("dzhanibekov")["period of the intermediate spin"]
    assert found == pytest.approx(4.0 * scipy.special.ellipk(k2) / p, rel=1e-9)


def test_reference_of_the_squeezer() -> None:
    found = list(references("andrews-squeezer").values())
    np.testing.assert_array_equal(found, andrews.REFERENCE_ANGLES)


def test_reference_of_the_satellite() -> None:
    """``ω I`` is kept, with I of the folded satellite before and of the unfolded one afterwards."""
    model = ar.load_case("unfolding-satellite").build_model()
    unfolded = model.q0.copy()
    unfolded[7:] = 0.0
    before, after = (ar.mass_matrix(model, q)[5, 5] for q in (model.q0, unfolded))
    m, w, r, length = 6.0, 0.06, 0.6, 1.1
    hub = 0.5 * 200.0 * r**2
    assert before == pytest.approx(hub + 12 * (m * w**2 / 3 + m * r**2), rel=1e-12)
    boom = sum(m * ((r + (s + 0.5) * length) ** 2 + length**2 / 12 + w**2 / 6) for s in range(3))
    assert after == pytest.approx(hub + 4 * boom, rel=1e-12)
    found = references("unfolding-satellite")["spin after the booms have come to rest"]
    assert found == pytest.approx(before / after, rel=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name, broken, which",
    [
        ("double-pendulum", {"model.bodies.lower.mass": "1.000001 kg"}, "final angle of the upper rod"),
        ("andrews-squeezer", {"forces.point-spring.stiffness": 4530.001}, "final β"),
        ("n-four-bar", {"model.speed": "1.00001 m/s"}, "final angle of the first crank"),
        ("dzhanibekov", {"model.bodies.nut.inertia": [1e-4, 2e-4, 2.50001e-4]}, "period of the intermediate spin"),
        ("n-link-chain", {"integrator.rtol": 1e-4, "integrator.atol": 1e-4}, "drift of the energy"),
        ("bricard", {"integrator": {"rule": "rk4", "step": "20 ms"}}, "energy drift over 1 J"),
    ],
)
def test_a_case_that_is_changed_a_little_fails_its_checks(
    name: str, broken: dict[str, Any], which: str, tmp_path: Path
) -> None:
    found = failed(ar.run(name, tmp_path / "run", overrides={**LONG.get(name, {}), **broken}, report=False))
    assert any(what.startswith(which) for what in found)


@pytest.mark.slow
@pytest.mark.parametrize(
    "joint, links",
    [("revolute", 5), ("universal", 5), ("spherical", 1), ("prismatic", 3), ("weld", 4)],
)
def test_a_chain_of_any_joint_keeps_its_momenta(joint: str, links: int, tmp_path: Path) -> None:
    overrides = {"model.joint": joint, "model.links": links, "run.duration": "1 s", "run.frames": 20}
    if joint == "revolute":
        overrides["model.axis"] = [0, 1, 1]
    run = ar.run("n-link-chain", tmp_path / "run", overrides=overrides, report=False)
    freedom = {"revolute": 1, "universal": 2, "spherical": 3, "prismatic": 1, "weld": 0}[joint]
    assert run.summary["degrees_of_freedom"] == 6 + (links - 1) * freedom
    assert failed(run) == []


@pytest.mark.slow
def test_a_hanging_chain_keeps_its_energy_and_its_angular_momentum_about_the_vertical(tmp_path: Path) -> None:
    case = ar.load_case("n-link-chain").variant("hanging").with_overrides({"run.duration": "1 s", "model.links": 6})
    checks = ar.run(case, tmp_path / "run", report=False).summary["checks"]
    assert [check["passed"] for check in checks] == [True, True]
    assert checks[1]["what"].startswith("drift of the angular momentum along (0, 0, 1)")


@pytest.mark.parametrize("loops", [1, 4])
def test_any_number_of_four_bars_has_one_freedom(loops: int) -> None:
    model = ar.load_case("n-four-bar", {"model.loops": loops}).build_model()
    assert model.bodies == 2 * loops + 1 and model.degrees_of_freedom == 1
    np.testing.assert_allclose(ar.body_poses(model, model.q0)[0][: loops + 1, 0], np.arange(loops + 1), atol=1e-15)


@pytest.mark.parametrize(
    "name, overrides, key, hint",
    [
        ("n-link-chain", {"model.joint": "free"}, "model.joint", "does not hold links together"),
        ("n-link-chain", {"model.axis": [0, 0, 1]}, "model.axis", "a spherical joint has no axis"),
        ("n-link-chain", {"model.base": "hung"}, "model.spin", "only a free one can be given a spin"),
        ("n-link-chain", {"model.links": 0}, "model.links", "greater than or equal to 1"),
        ("flexible-filament", {"model.joint": "free"}, "model.joint", "does not hold links together"),
        ("flexible-filament", {"model.base": "held"}, "model.spin", "only a free one can be given a spin"),
        ("flexible-filament", {"model.bending": 1}, "model.bending", "greater than or equal to 2"),
        ("n-four-bar", {"model.length": "0 m"}, "model.length", "must be greater than 0"),
        ("unfolding-satellite", {"model.spin": ["1 m", 0, 0]}, "model.spin[0]", "expected an angular velocity"),
    ],
)
def test_parameters_that_cannot_be_are_refused_by_their_key(
    name: str, overrides: dict[str, Any], key: str, hint: str
) -> None:
    with pytest.raises(ar.CaseError) as caught:
        ar.load_case(name, overrides)
    assert f": {key}: " in str(caught.value) and hint in str(caught.value)
