"""Derivatives of docking runs: through forces between sites, springs and drag, by the keys of the case.

Differences of fourth order over h of a number p err by h⁴ of the change, some 1e-12 with h = 1e-3, and by rounding of
the runs, 1e-16/h of what they end with.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import articulon as ar

PART, BOUND = 1e-3, 1e-10
LAWS, DRAG = "forces.site-pairs.table", "forces.stokes-drag"
NEAR = {
    f"{LAWS}.0.A": 4.23e-27,
    f"{LAWS}.0.B": 3.15e-11,
    f"{DRAG}.viscosity": 890.0,
    f"{DRAG}.radius.A*": 2e-3,
    "bodies.core.mass": 10.72,
    "bodies.A*.mass": 3.91e-5,
    "bodies.B*.inertia": 8.38e-12,
}
"""Where chains touch receptors."""
FAR = {
    f"{LAWS}[2].C": -2.66e-6,
    "forces.torsional-springs.stiffness.A*": 1e-3,
    "forces.torsional-springs.stiffness.C*": 2e-3,
    f"{DRAG}.radius.core": 0.2,
    f"{DRAG}.flow": (0.0, 0.0, 1.0),
    "bodies.D*.mass": 1.63e-5,
}
"""Where they are drawn by charges alone."""
IN_CASE = {
    "bodies.core.mass": "model.core.mass",
    "bodies.A*.mass": "model.spheres.A.mass",
    "bodies.B*.inertia": "model.spheres.B.inertia",
    "bodies.D*.mass": "model.spheres.D.mass",
}
"""Keys of the case that the numbers of all its bodies follow from."""


def docking(gap: str, **keys: Any) -> ar.Model:
    """A particle with two chains before four receptors, its joints bent a little and in motion."""
    small = {"model.ligands": 2, "model.receptors": 4, "model.gap": gap, "run.stop": None}
    return ar.load_case("nanoparticle-docking", {**small, f"{DRAG}.flow": (0.0, 0.0, 1.0), **keys}).build_model()


def start(model: ar.Model) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(5)
    q = model.q0 + 0.0
    for first in range(7, model.nq, 4):
        e = np.array([1.0, *rng.normal(scale=0.05, size=3)])
        q[first : first + 4] = e / np.linalg.norm(e)
    return q, rng.normal(size=model.nu)


def weights(model: ar.Model) -> np.ndarray:
    """Random, but for the masses, so that the core counts beside spheres of a millionth of its mass."""
    inertias = np.diag(ar.mass_matrix(docking("1 nm"), docking("1 nm").q0))
    return np.random.default_rng(6).normal(size=model.nu) * np.sqrt(inertias)


def run_of(gap: str) -> dict[str, Any]:
    return {"rule": "rk4", "step": 1e-9 if gap == "1 nm" else 2e-8, "frames": 1}


def found(gap: str, names: list[str], method: Any = "adjoint", **keys: Any) -> ar.Sensitivity:
    model, steps = docking(gap), run_of(gap)
    q, u = start(model)
    w = weights(model)
    how = {"q": q, "u": u, "duration": 12 * steps["step"], **steps, **keys}
    return ar.sensitivity(model, lambda q, u: (w @ u, np.zeros(model.nu), w), names, method, **how)


def value(gap: str, **keys: Any) -> float:
    """The objective of a case that has been changed and built anew."""
    model, steps = docking(gap, **keys), run_of(gap)
    q, u = start(model)
    run = ar.simulate(model, 12 * steps["step"], q=q, u=u, **steps)
    return float(weights(model) @ run.u[-1])


@pytest.mark.parametrize(("gap", "numbers"), [("1 nm", NEAR), ("44 nm", FAR)])
def test_derivatives_by_keys_of_the_case_are_differences_of_runs(gap: str, numbers: dict[str, Any]) -> None:
    s = found(gap, list(numbers))
    assert s.value == pytest.approx(value(gap), rel=1e-12)
    for name, number in numbers.items():
        p, key = np.array(number), IN_CASE.get(name, name.replace(".0.", "[0]."))
        h = PART * np.abs(p).max()

        def at(change: float, p: np.ndarray = p, key: str = key) -> float:
            moved = p + change * (np.arange(p.size).reshape(p.shape) == p.size - 1)
            return value(gap, **{key: moved.tolist()})

        expected = (8.0 * (at(h) - at(-h)) - (at(2.0 * h) - at(-2.0 * h))) / (12.0 * h)
        gradient = np.ravel(s.gradient[name])
        # The case has one number for the moments of inertia about all axes.
        by_number = gradient[[0, 3, 5]].sum() if name.endswith("inertia") else gradient[-1]
        assert abs(by_number - expected) * h / PART <= BOUND * abs(s.value), name
        assert abs(by_number) * h / PART > 100.0 * BOUND * abs(s.value), name


EVERY = [*NEAR, *FAR, "q", "u", "sites[7].position", "sites.9.position", "bodies.B2.position", "bodies.A*.com"]


@pytest.mark.parametrize("gap", ["1 nm", "44 nm"])
def test_the_adjoint_of_a_docking_is_the_forward_method(gap: str) -> None:
    adjoint, forward = found(gap, EVERY), found(gap, EVERY, "forward")
    few = found(gap, EVERY, checkpoints=2)
    for name in EVERY:
        size = np.abs(forward.gradient[name]).max()
        assert size > 0.0, name
        assert np.abs(np.subtract(adjoint.gradient[name], forward.gradient[name])).max() <= 1e-9 * size, name
        assert np.array_equal(few.gradient[name], adjoint.gradient[name]), name


def test_a_docking_in_noise_has_the_derivatives_of_its_path_with_friction_implicit_steps() -> None:
    """Kicks, drifts and friction at other places than those where forces were found last."""
    small = {"model.ligands": 2, "model.receptors": 4, "model.gap": "20 nm", "run.stop": None, "run.seed": 3}
    small |= {"scaling": {"policy": "none"}, "run.duration": "40 ps", "run.frames": 1}
    case = ar.load_case(
        "nanoparticle-docking-published", {**small, "integrator": {"rule": "friction-implicit", "step": "2 ps"}}
    )
    names = [*NEAR, "forces.brownian.temperature", f"{LAWS}[2].C", "sites[9].position", "u"]
    adjoint, forward = (ar.sensitivity(case, "position.A1.x", names, method) for method in ("adjoint", "forward"))
    few = ar.sensitivity(case, "position.A1.x", names, checkpoints=2)
    assert adjoint.steps == 20
    for name in names:
        size = np.abs(forward.gradient[name]).max()
        assert size > 0.0, name
        assert np.abs(np.subtract(adjoint.gradient[name], forward.gradient[name])).max() <= 1e-9 * size, name
        assert np.array_equal(few.gradient[name], adjoint.gradient[name]), name
