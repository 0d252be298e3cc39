"""The model's own forces on Warp's CPU device, and ensembles of states that they move, beside runs on the CPU.

Noise is the same function of seed, stream, window and index on both, so that even noisy states can be compared to
rounding.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest

import articulon as ar
from articulon import gpu
from articulon.errors import DivergenceError, ModelError
from articulon.forces.evaluation import Evaluator

pytest.importorskip("warp")

from articulon.gpu import tree_forces, tree_kernels, tree_steps
from articulon.gpu.devices import load_warp

STATES = 4
WINDOW, AVERAGE = 0.01, 3
SEEDS = np.array([0, 7, 2**40 + 1, 2**63 - 1], dtype=np.uint64)
"""From the smallest that there is to the largest."""
AGREE = 1e-12
"""Relative to the largest acceleration: rounding of a few hundred operations, times a condition number of a hundred."""
GENTLE = 1e22
"""A temperature at which bodies of a kilogram move by noise [K]."""

FORCES = {
    "nothing": [],
    "gravity": [ar.forces.Gravity((1.0, 2.0, -9.81))],
    "drag": [ar.forces.StokesDrag(translational={"core": 3.0, "a*": 1.0, "b*": 2.0}, rotational=0.3, flow=(0.1, 0, 1))],
    "sphere drag in a shear flow": [
        ar.forces.StokesDrag(
            viscosity=0.9, radius=0.2, velocity_gradient=((0.1, 0.3, 0), (0, -0.1, 0.2), (0.4, 0, 0)), flow=(1, 0, 2)
        )
    ],
    **{
        f"{shape} noise": [
            ar.forces.StokesDrag(translational=1.0, rotational=0.3),
            ar.forces.Brownian(GENTLE, shape=shape, window=WINDOW, average=AVERAGE),
        ]
        for shape in ("normal", "uniform", "direction")
    },
    "noise at the instantaneous temperature": [
        ar.forces.StokesDrag(translational=1.0, rotational=0.3),
        ar.forces.Brownian(GENTLE, window=WINDOW, average=AVERAGE, amplitude_from="instantaneous"),
    ],
    "noise without its drag": [
        ar.forces.StokesDrag(translational=1.0, rotational=0.3),
        ar.forces.Brownian(GENTLE, window=WINDOW, average=AVERAGE, dissipation="none"),
    ],
    "site pairs": [
        ar.forces.SitePairs(
            table=[
                {"kinds": ("A", "B"), "A": 1e-4, "B": 1e-2, "C": 0.3},
                {"kinds": ("A", "A"), "A": 2e-4, "B": 2e-2, "C": -0.1},
                {"kinds": ("B", "B"), "A": 3e-4, "B": 3e-2, "C": 0.2},
                {"kinds": ("A", "R"), "A": 4e-4, "B": 4e-2, "C": 0.5},
                {"kinds": ("B", "R"), "A": 5e-4, "B": 5e-2, "C": -0.6},
            ],
            excluded_joints=1,
        )
    ],
    "springs": [ar.forces.TorsionalSprings({"a*": 20.0, "b*": 30.0}, rest={"a0": (0.6, 0.0, 0.8, 0.0), "b1": 0.4})],
}


@functools.cache
def model_of(*names: str) -> Any:
    """A free core with two arms, a welded tip with a site, and receptors on the ground, under some of these forces."""
    builder = ar.ModelBuilder(units="kg-m-s")
    core = builder.add_body("core", mass=3.0, inertia=0.4, joint=ar.Free())
    for k in range(2):
        first = builder.add_body(
            f"a{k}", parent=core, mass=1.0, inertia=(0.1, 0.2, 0.15), com=(0.1, 0, 0.2), joint=ar.Spherical(),
            position=(1.0 - 2.0 * k, 0.2, 0.0),
        )  # fmt: skip
        second = builder.add_body(
            f"b{k}", parent=first, mass=2.0, inertia=0.2, com=(0, 0.1, 0.3), joint=ar.Revolute(axis=(0, 1, 0)),
            position=(0.0, 0.0, 0.8),
        )  # fmt: skip
        tip = builder.add_body(f"tip{k}", parent=second, mass=0.5, inertia=0.1, joint=ar.Weld(), position=(0, 0, 0.5))
        builder.add_site(first, position=(0.1, 0.3, 0.2), kind="A")
        builder.add_site(tip, position=(0.0, 0.1, 0.2), kind="B", charge=1.0)
    for k in range(3):
        builder.add_site(None, position=(k - 1.0, 0.5, 4.0), kind="R")
    for name in names:
        for force in FORCES[name]:
            if isinstance(force, ar.forces.StokesDrag) and isinstance(force.translational, dict):
                force = force.model_copy(update={"bodies": ("core", "a*", "b*")})
            builder.add_force(force)
    return builder.build()


def states(model: Any) -> tuple[np.ndarray, np.ndarray]:
    """Random states near the initial one."""
    rng = np.random.default_rng(8)
    Q = model.q0 + 0.2 * rng.normal(size=(STATES, model.nq))
    for start in (3, 7, 12):
        Q[:, start : start + 4] /= np.linalg.norm(Q[:, start : start + 4], axis=1, keepdims=True)
    return Q, rng.normal(size=(STATES, model.nu))


def plain(
    model: Any,
    q: np.ndarray,
    u: np.ndarray,
    seed: int,
    window: int,
    factor: np.ndarray,
    window_length: float = WINDOW,
    average: int = AVERAGE,
) -> np.ndarray:
    """u' of one state by the right-hand side that runs integrate."""
    evaluator = Evaluator(model, seed=seed, window=window_length, average=average)
    y = np.concatenate([q, u, np.zeros(8)])
    dy = np.zeros_like(y)
    evaluator.rates(factor, 0.0, window, y, dy)
    return dy[model.nq : model.nq + model.nu]


def differences(model: Any, found: np.ndarray, window: int = 0, factor: np.ndarray | None = None) -> np.ndarray:
    """Relative to the largest acceleration of each state."""
    Q, U = states(model)
    each = np.ones(8) if factor is None else factor
    expected = np.array([plain(model, Q[s], U[s], int(SEEDS[s]), window, each) for s in range(STATES)])
    return np.abs(found - expected).max(axis=1) / np.abs(expected).max(axis=1)


@pytest.mark.parametrize("name", FORCES)
def test_each_force_is_that_of_runs_on_the_cpu(name: str) -> None:
    model = model_of(name)
    Q, U = states(model)
    found = gpu.accelerations(model, Q, U, device="warp-cpu", seeds=SEEDS, window=5)
    assert differences(model, found, window=5).max() <= AGREE
    if name != "nothing":
        assert np.abs(found - gpu.accelerations(model_of("nothing"), Q, U, device="warp-cpu")).max() > 1e-3
    single = gpu.accelerations(model, Q, U, device="warp-cpu", seeds=SEEDS, window=5, precision="single")
    assert 1e-10 < differences(model, single, window=5).max() <= 1e-4


ALL = ("gravity", "sphere drag in a shear flow", "site pairs", "springs")


@pytest.mark.parametrize(
    ("policy", "factor"),
    [
        (ar.scaling.Constant(0.25), np.full(8, 0.25)),
        (ar.scaling.TwoFactor(0.5, 0.25), np.array([0.125, 0.125, 0.5, *[0.125] * 5])),
    ],
)
def test_constant_factors_multiply_their_channels(policy: Any, factor: np.ndarray) -> None:
    model = model_of(*ALL)
    found = gpu.accelerations(model, *states(model), device="warp-cpu", scaling=policy)
    assert differences(model, found, factor=factor).max() <= AGREE


def test_a_noisy_state_depends_on_its_seed_and_window_alone() -> None:
    model = model_of("normal noise")
    Q, U = states(model)
    here = functools.partial(gpu.accelerations, model, device="warp-cpu")
    all_at_once = here(Q, U, seeds=SEEDS)
    for k in range(STATES):
        np.testing.assert_array_equal(here(Q[k : k + 1], U[k : k + 1], seeds=SEEDS[k : k + 1])[0], all_at_once[k])
    assert np.abs(here(Q, U, seeds=SEEDS + 1 - 2 * (SEEDS > 5).astype(np.uint64)) - all_at_once).min(axis=1).max() > 0
    assert np.abs(here(Q, U, seeds=SEEDS, window=1) - all_at_once).max() > 1e-3


@pytest.mark.filterwarnings("ignore:simulate")
@pytest.mark.parametrize(("rule", "step"), [("rk4", 0.02), ("kutta-merson", 0.02), ("euler", 0.005)])
def test_an_ensemble_goes_the_way_of_runs_on_the_cpu(rule: str, step: float) -> None:
    """Steps of 0.02 do not fill the windows of 0.03: every second one is cut short, as on the CPU."""
    model = model_of("gravity", "normal noise", "site pairs", "springs")
    Q, U = states(model)
    ensemble = gpu.Ensemble(model, Q, U, device="warp-cpu", seeds=SEEDS)
    steps = round(0.12 / step) if rule == "euler" else 8
    found = ensemble.advance(steps, step, rule)
    assert ensemble.time == pytest.approx(0.12, abs=1e-15) and ensemble.steps == steps
    for s in range(STATES):
        run = ar.simulate(model, 0.12, rule=rule, step=step, frames=1, seed=int(SEEDS[s]), q=Q[s], u=U[s])
        assert run.summary["steps"] == steps
        assert np.abs(found[0][s] - run.q[-1]).max() <= 1e-12 * max(1.0, np.abs(run.q[-1]).max())
        assert np.abs(found[1][s] - run.u[-1]).max() <= 1e-12 * max(1.0, np.abs(run.u[-1]).max())


def test_an_ensemble_has_the_same_bits_whatever_its_size_and_its_calls() -> None:
    model = model_of("gravity", "direction noise", "site pairs", "springs")
    Q, U = states(model)
    whole = gpu.Ensemble(model, Q, U, device="warp-cpu", seeds=SEEDS)
    end = whole.advance(30, 0.004)
    parts = gpu.Ensemble(model, Q, U, device="warp-cpu", seeds=SEEDS)
    for steps in (1, 2, 0, 27):
        pieces = parts.advance(steps, 0.004)
    np.testing.assert_array_equal(np.hstack(pieces), np.hstack(end))
    assert parts.time == whole.time
    for k in range(STATES):
        one = gpu.Ensemble(model, Q[k : k + 1], U[k : k + 1], device="warp-cpu", seeds=SEEDS[k : k + 1])
        np.testing.assert_array_equal(np.hstack(one.advance(30, 0.004))[0], np.hstack(end)[k])


def test_rk4_conserves_energy_to_its_fourth_order() -> None:
    """Half the step leaves a sixteenth of the error, where steps are short against all motions."""
    model = model_of("gravity", "springs")
    Q, U = states(model)
    errors = []
    for steps in (320, 640):
        q, u = gpu.Ensemble(model, Q, U, device="warp-cpu").advance(steps, 0.4 / steps, "rk4")
        errors.append(np.array([_energy(model, q[s], u[s]) - _energy(model, Q[s], U[s]) for s in range(STATES)]))
    assert np.linalg.norm(errors[1]) <= np.linalg.norm(errors[0]) / 12.0


def test_an_ensemble_says_where_its_bodies_are_and_how_they_move() -> None:
    model = model_of("gravity", "springs")
    ensemble = gpu.Ensemble(model, *states(model), device="warp-cpu")
    Q, U = ensemble.advance(10, 0.01)
    positions, rotations = ensemble.poses()
    energies = ensemble.kinetic_energies()
    for s in range(STATES):
        place, turn = ar.body_poses(model, Q[s])
        np.testing.assert_allclose(positions[s], place, rtol=0, atol=1e-14 * np.abs(place).max())
        np.testing.assert_allclose(rotations[s], turn, rtol=0, atol=1e-14)
        assert energies[s] == pytest.approx(ar.kinetic_energy(model, Q[s], U[s]), rel=1e-14)
    np.testing.assert_array_equal(gpu.body_poses(model, Q, "warp-cpu")[0], positions)


def test_a_state_that_diverges_is_named_and_the_others_go_on() -> None:
    model = model_of("site pairs")
    Q, U = states(model)
    U[2] *= 1e160
    ensemble = gpu.Ensemble(model, Q, U, device="warp-cpu")
    with pytest.raises(DivergenceError, match="state 2 is no longer finite") as caught:
        ensemble.advance(3, 0.01)
    assert caught.value.step == 1 and caught.value.time == 0.01
    assert ensemble.diverged.tolist() == [0, 0, 1, 0]
    alone = gpu.Ensemble(model, Q[3:], U[3:], device="warp-cpu").advance(3, 0.01)
    np.testing.assert_array_equal(ensemble.Q[3], alone[0][0])
    ensemble.advance(1, 0.01)  # what has been said is not said again


def test_what_an_ensemble_has_returned_stays_as_it_was() -> None:
    model = model_of("site pairs")
    Q, U = states(model)
    ensemble = gpu.Ensemble(model, Q[:1], U[:1], device="warp-cpu")  # of one state nothing needs to be turned round
    q, u = ensemble.advance(2, 0.01)
    kept = q.copy(), u.copy()
    ensemble.advance(3, 0.01)
    assert (q == kept[0]).all() and (u == kept[1]).all() and (q != ensemble.Q).any()


def test_refusals_name_the_thing() -> None:
    model = model_of("normal noise")
    Q, U = states(model)
    with pytest.raises(ModelError, match="seeds: there is noise, and without a seed for each state"):
        gpu.accelerations(model, Q, U, device="warp-cpu")
    with pytest.raises(ModelError, match="seeds: expected one for each of the 4 states"):
        gpu.accelerations(model, Q, U, device="warp-cpu", seeds=range(3))
    with pytest.raises(ModelError, match="seeds, state 1: must be at least 0"):
        gpu.accelerations(model, Q, U, device="warp-cpu", seeds=[0, -1, 2, 3])
    with pytest.raises(ModelError, match="the factors of error-controlled change during a run"):
        gpu.accelerations(model, Q, U, device="warp-cpu", seeds=SEEDS, scaling=ar.scaling.ErrorControlled(0.01))
    with pytest.raises(ModelError, match=r"expected an explicit Runge-Kutta rule, one of .*kutta-merson.*'verlet'"):
        gpu.Ensemble(model, Q, U, device="warp-cpu", seeds=SEEDS).advance(1, 0.1, "verlet")
    with pytest.raises(ModelError, match="step_size: must be above 0"):
        gpu.Ensemble(model, Q, U, device="warp-cpu", seeds=SEEDS).advance(1, 0.0)
    longer = Q.copy()
    longer[1, 7:11] *= 2.0
    with pytest.raises(ModelError, match="Q: row 1: the Euler parameters of body 'a0' have the norm 2, not 1"):
        gpu.Ensemble(model, longer, U, device="warp-cpu", seeds=SEEDS)
    for force, words in (
        (ar.forces.JointActuation(body="b0", values=5), "joint-actuation has no kernels on a device, unlike gravity"),
    ):
        builder = ar.ModelBuilder(units="kg-m-s")
        builder.add_body("b0", mass=1, inertia=1, joint=ar.Revolute())
        builder.add_force(ar.forces.StokesDrag(translational=1.0, rotational=1.0))
        builder.add_force(force)
        refused = builder.build()
        with pytest.raises(ModelError, match=words):
            gpu.accelerations(refused, refused.q0[None], refused.u0[None], device="warp-cpu", seeds=[1])


def _energy(model: Any, q: np.ndarray, u: np.ndarray) -> float:
    return ar.kinetic_energy(model, q, u) + ar.potential_energy(model, q)


def test_numbers_that_single_precision_has_not_are_refused_by_name() -> None:
    builder = ar.ModelBuilder(units="fg-um-us")
    builder.add_site(builder.add_body("a", mass=1e-5, inertia=1e-11, joint=ar.Free()), kind="A", group="moving")
    builder.add_site(None, position=(0, 0, 1), kind="B", group="fixed")
    law = {"kinds": ("A", "B"), "A": 1e-40, "B": 1e-20}
    builder.add_force(ar.forces.SitePairs(table=[law], between=[("moving", "fixed")]))
    model = builder.build()
    Q, U = model.q0[None], model.u0[None]
    gpu.accelerations(model, Q, U, device="warp-cpu")
    with pytest.raises(ModelError, match=r"'single' cannot represent 1e-40 \(A, B or C of site pairs\)"):
        gpu.accelerations(model, Q, U, device="warp-cpu", precision="single")


@pytest.mark.slow
def test_every_kernel_compiles_for_a_gpu(tmp_path: Any) -> None:
    """By NVIDIA's compiler, which comes with Warp and needs no GPU. It takes some seconds, and is all that a machine
    without a GPU can say of one; the driver's assembler, which comes after it, takes as long again."""
    wp = load_warp()
    if 90 not in wp.get_cuda_supported_archs():
        pytest.skip("Warp comes without NVIDIA's compiler on this system")
    model = model_of("normal noise", "site pairs", "springs")
    Q, U = states(model)
    gpu.Ensemble(model, Q, U, device="warp-cpu", seeds=SEEDS).advance(1, 0.001)
    gpu.forward_dynamics(model, Q, U, wrenches=np.zeros((model.bodies, 6)), device="warp-cpu")
    ensemble = gpu.Ensemble(model, Q, U, device="warp-cpu", seeds=SEEDS)
    ensemble.poses(), ensemble.kinetic_energies()
    kernels = {
        f"{home.__name__}.{name}": value
        for home in (tree_kernels, tree_forces, tree_steps)
        for name, value in vars(home).items()
        if isinstance(value, wp.Kernel)
    }
    assert len(kernels) == 16
    for name, kernel in kernels.items():
        for module in {one.module for one in (kernel.overloads.values() if kernel.is_generic else [kernel])}:
            wp.compile_aot_module(module, arch=90, module_dir=str(tmp_path / name), use_ptx=True)
        assert list((tmp_path / name).glob("*.ptx"))


@pytest.mark.slow
def test_the_published_docking_has_the_accelerations_of_its_runs() -> None:
    """33 bodies on spherical joints, with every force but gravity: what ensembles of dockings take."""
    model, held = ar.load_case("nanoparticle-docking-published").build_model(), 1e-3
    rng = np.random.default_rng(3)
    Q, U = np.tile(model.q0, (STATES, 1)), 0.01 * rng.normal(size=(STATES, model.nu))
    scaling, factor = ar.scaling.Constant(0.01), np.full(8, 0.01)
    found = gpu.accelerations(model, Q, U, device="warp-cpu", seeds=SEEDS, window=2, held=held, scaling=scaling)
    for s in range(STATES):
        expected = plain(model, Q[s], U[s], int(SEEDS[s]), 2, factor, window_length=held, average=1)
        assert np.abs(found[s] - expected).max() <= AGREE * np.abs(expected).max()
