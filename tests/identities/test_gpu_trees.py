"""Forward dynamics of many states at once on Warp's CPU device, beside the plain functions state by state.

Bounds are those of ``tests.support.bounds``: two stable ways to the same accelerations differ by rounding times the
condition number of the mass matrix. In single precision every number has 2²⁹ times the rounding.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

import numpy as np
import pytest

import articulon as ar
from articulon import gpu
from articulon.errors import ArticulonError, ModelError
from articulon.gpu import devices
from tests.support import bounds
from tests.support.random_models import Situation, random_forest, random_situation, to_articulon

pytest.importorskip("warp")

STATES = 5
SINGLE = float(np.finfo(np.float32).eps) / bounds.EPS
KINDS = ("revolute", "prismatic", "spherical", "universal", "xyz", "free")


@functools.cache
def batch(seed: int, bodies: int = 0, roots: float = 0.2) -> tuple[Any, tuple[Situation, ...]]:
    """A random forest with every kind of joint, welds among them, and random situations of it."""
    rng = np.random.default_rng([seed, 41])
    description = random_forest(rng, bodies or int(rng.integers(1, 25)), max_depth=10, root_chance=roots)
    return to_articulon(description), tuple(random_situation(description, rng) for _ in range(STATES))


def stacked(situations: tuple[Situation, ...]) -> dict[str, np.ndarray]:
    """The situations, with a leading axis."""
    return {f.name: np.array([getattr(s, f.name) for s in situations]) for f in dataclasses.fields(Situation)}


def on_device(model: Any, situations: tuple[Situation, ...], **options: Any) -> np.ndarray:
    given = stacked(situations)
    return gpu.forward_dynamics(
        model, given["q"], given["u"], given["tau"], given["wrenches"], given["gravity"], device="warp-cpu", **options
    )


def allowed(model: Any, s: Situation, udot: np.ndarray) -> float:
    """How far two computations of the same accelerations may lie apart, in double precision."""
    matrix = ar.mass_matrix(model, s.q)
    bias = ar.inverse_dynamics(model, s.q, s.u, 0 * s.u, wrenches=s.wrenches, gravity=s.gravity)
    return bounds.forward(float(np.linalg.cond(matrix)), udot) + bounds.forward_of_forces(matrix, s.tau, bias)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize(("precision", "rounding"), [("double", 1.0), ("single", SINGLE)])
def test_the_accelerations_are_those_of_the_plain_function(seed: int, precision: str, rounding: float) -> None:
    model, situations = batch(seed)
    found = on_device(model, situations, precision=precision)
    assert found.dtype == np.float64 and found.shape == (STATES, model.nu)
    for s, udot in zip(situations, found, strict=True):
        expected = ar.forward_dynamics(model, s.q, s.u, s.tau, s.wrenches, s.gravity)
        assert np.linalg.norm(udot - expected) <= rounding * allowed(model, s, expected)


@pytest.mark.parametrize("kind", KINDS)
def test_a_chain_of_one_kind_of_joint_agrees_to_1e_12(kind: str) -> None:
    joint = {"revolute": ar.Revolute(axis=(1, 2, 3)), "prismatic": ar.Prismatic(axis=(3, 1, 2))}
    builder, last = ar.ModelBuilder(units="kg-m-s"), None
    for k in range(4):
        last = builder.add_body(
            f"body-{k}",
            parent=last,
            mass=1.0 + k,
            com=(0.1, 0.2, 0.3),
            inertia=(0.3, 0.4, 0.5),
            joint=joint.get(kind) or getattr(ar, kind.capitalize())(),
            position=(0.5, -0.1, 0.2),
            rotation=(0.8, 0.0, 0.6, 0.0),
        )
    model, rng = builder.build(), np.random.default_rng(1)
    Q, U = rng.normal(size=(STATES, model.nq)), rng.normal(size=(STATES, model.nu))
    tau, g = rng.normal(size=(STATES, model.nu)), np.array([1.0, 2.0, -9.81])
    found = gpu.forward_dynamics(model, Q, U, tau=tau, gravity=g, device="warp-cpu")
    for s in range(STATES):
        expected = ar.forward_dynamics(model, Q[s], U[s], tau=tau[s], gravity=g)
        assert np.abs(found[s] - expected).max() <= 1e-12 * np.abs(expected).max()


@pytest.mark.parametrize("precision", ["double", "single"])
def test_the_bits_of_a_state_depend_neither_on_its_neighbours_nor_on_the_call(precision: str) -> None:
    model, situations = batch(3, bodies=12)
    many = on_device(model, situations, precision=precision)
    np.testing.assert_array_equal(on_device(model, situations, precision=precision), many)
    for k in range(STATES):
        np.testing.assert_array_equal(on_device(model, situations[k : k + 1], precision=precision)[0], many[k])
    np.testing.assert_array_equal(on_device(model, situations[::-1] * 9, precision=precision)[:STATES], many[::-1])


def test_what_is_given_once_is_given_to_every_state() -> None:
    model, situations = batch(4, bodies=9)
    given, s = stacked(situations), situations[0]
    for name, value in (("tau", s.tau), ("wrenches", s.wrenches), ("gravity", s.gravity)):
        once = gpu.forward_dynamics(model, given["q"], given["u"], device="warp-cpu", **{name: value})
        each = np.array([value] * STATES)
        np.testing.assert_array_equal(
            once, gpu.forward_dynamics(model, given["q"], given["u"], device="warp-cpu", **{name: each})
        )
        assert np.abs(once - gpu.forward_dynamics(model, given["q"], given["u"], device="warp-cpu")).max() > 0.0


def test_arguments_are_left_alone() -> None:
    model, situations = batch(5, bodies=6)
    given = stacked(situations)
    before = {name: value.copy() for name, value in given.items()}
    gpu.forward_dynamics(
        model, given["q"], given["u"], given["tau"], given["wrenches"], given["gravity"], device="warp-cpu"
    )
    for name, value in given.items():
        np.testing.assert_array_equal(value, before[name])


def rod(**options: Any) -> ar.ModelBuilder:
    builder = ar.ModelBuilder(units="kg-m-s")
    builder.add_body("rod", mass=1, inertia=0.1, com=(0, 0, -0.5), joint=ar.Spherical(), **options)
    return builder


def test_a_row_that_is_no_state_is_named() -> None:
    model = rod().build()
    Q, U = np.tile(model.q0, (4, 1)), np.zeros((4, 3))
    broken = U.copy()
    broken[2, 1] = np.nan
    with pytest.raises(ModelError, match=r"U: row 2 is not finite: nan at \[1\]"):
        gpu.forward_dynamics(model, Q, broken, device="warp-cpu")
    with pytest.raises(ModelError, match=r"tau: row 2 is not finite"):
        gpu.forward_dynamics(model, Q, U, tau=broken, device="warp-cpu")
    none = Q.copy()
    none[3] = 0.0
    with pytest.raises(ModelError, match=r"Q: row 3: the Euler parameters of body 'rod' have the norm 0"):
        gpu.forward_dynamics(model, none, U, device="warp-cpu")
    words = r"Q: expected shape \(4,\), or \(states, 4\) for many states, got"
    for wrong in (Q[0, :2], Q[:, :2], Q[None]):
        with pytest.raises(ModelError, match=words):
            gpu.forward_dynamics(model, wrong, U, device="warp-cpu")
        with pytest.raises(ModelError, match=words):
            gpu.body_poses(model, wrong, device="warp-cpu")
    with pytest.raises(ModelError, match="U: 3 states, but Q has 4"):
        gpu.forward_dynamics(model, Q, U[:3], device="warp-cpu")
    with pytest.raises(ModelError, match="precision: expected one of 'double', 'single'"):
        gpu.forward_dynamics(model, Q, U, device="warp-cpu", precision="half")


def test_models_that_have_no_kernels_are_refused_with_the_reason() -> None:
    looped = rod()
    looped.add_loop("ring", joint=ar.Spherical(), child="rod", position=(0, 0, -1), child_position=(0, 0, -1))
    driven = ar.ModelBuilder(units="kg-m-s")
    driven.add_body("arm", mass=1, inertia=0.1, joint=ar.Revolute())
    driven.add_drive("arm", times=range(4), values=range(4))
    for builder, what in ((looped, "closed loops"), (driven, "driven joints")):
        model = builder.build()
        with pytest.raises(ModelError, match=f"forward_dynamics: the model has {what}"):
            gpu.forward_dynamics(model, model.q0[None], model.u0[None], device="warp-cpu")


def test_states_that_do_not_fit_into_memory_are_refused_with_their_size(monkeypatch: pytest.MonkeyPatch) -> None:
    from articulon.gpu import tree_tables

    monkeypatch.setattr(tree_tables, "memory", lambda: 100_000)
    model = rod().build()
    Q, U = np.tile(model.q0, (400, 1)), np.zeros((400, 3))
    gpu.forward_dynamics(model, Q[:100], U[:100], device="warp-cpu")
    with pytest.raises(ModelError, match=r"400 states of this model need at least .* kB, but cpu has 100 kB"):
        gpu.forward_dynamics(model, Q, U, device="warp-cpu")


def test_a_model_in_which_nothing_moves_has_no_accelerations() -> None:
    builder = ar.ModelBuilder(units="kg-m-s")
    builder.add_body("wall", mass=1, inertia=1, joint=ar.Weld())
    model, nothing = builder.build(), np.zeros((3, 0))
    assert gpu.forward_dynamics(model, nothing, nothing, wrenches=np.ones((1, 6)), device="warp-cpu").shape == (3, 0)
    with pytest.raises(ModelError, match="nothing moves in this model"):
        gpu.Ensemble(model, nothing, nothing, device="warp-cpu")


def test_a_device_that_is_not_there_is_refused_by_name() -> None:
    model = rod().build()
    for name in ("gpu", "cpu", "cuda:", 0, None):
        with pytest.raises(ArticulonError, match="device: expected 'cuda', 'cuda:1' or 'warp-cpu'"):
            gpu.forward_dynamics(model, model.q0[None], model.u0[None], device=name)
    with pytest.raises(ArticulonError, match=r"there is no 'cuda:97'; available: 'warp-cpu'"):
        gpu.forward_dynamics(model, model.q0[None], model.u0[None], device="cuda:97")


def test_warp_is_asked_for_where_it_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise ModuleNotFoundError(f"No module named {name!r}")

    monkeypatch.setattr(devices, "import_module", missing)
    with pytest.raises(ArticulonError, match=r"No module named 'warp'.*pip install 'articulon\[gpu\]'"):
        devices.load_warp.__wrapped__()


def test_kernels_are_kept_in_our_own_cache() -> None:
    from articulon.kernel_cache import cache_folder

    assert str(devices.load_warp().config.kernel_cache_dir).startswith(str(cache_folder()))
