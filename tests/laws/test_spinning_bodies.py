"""A flexible body that turns as fast as its first frequency bends without bound, since its linear modes lack the
stiffening by rotation; it is said before and after, by name and with both numbers."""

from __future__ import annotations

import dataclasses
import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import linalg

import articulon as ar
from articulon.simulation.spinning import _Spinning, spins
from tests.support.run_cases import Shown, case_of

CANTILEVER = 1.8751040687119611**2
"""√(ω² m L³/EI) of the first mode of a cantilever."""
SMALL = 1e-6


def beam(boundary: str, stiffness: float = 1.0) -> Any:
    return ar.modes.beam(
        length=1.0,
        mass=1.0,
        gyration=0.01,
        bending=2,
        bending_stiffness=stiffness,
        boundary=boundary,
        units="kg-m-s",
    )


def turning(how: str, spin: float, bend: float = SMALL) -> Any:
    """A beam of unit mass, length and EI that turns at a spin, slightly bent in all of its modes."""
    builder = ar.ModelBuilder(units="kg-m-s")
    eta = bend * np.ones(4)
    speeds = np.zeros(4)
    axes = {"across": (0, 0, 1), "along": (1, 0, 0)}
    if how.startswith("free"):
        turn = spin * np.array(axes[how.split()[1]])
        q, u = [0, 0, 0, 1, 0, 0, 0, *eta], [0, 0, 0, *turn, *speeds]
        builder.add_body("rod", joint=ar.Free(), modes=beam("free"), q=q, u=u)
    else:
        hinge = ar.Revolute(axis=axes[how.split()[1]])
        builder.add_body("rod", joint=hinge, modes=beam("clamped"), q=[0.0, *eta], u=[spin, *speeds])
        if how.startswith("driven"):
            times = np.linspace(0.0, 20.0, 5)
            builder.add_drive("rod", times=times, values=spin * times)
    return builder.build()


def run(model: Any, duration: float = 4.0) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return ar.simulate(model, duration, rtol=1e-8, atol=1e-12, frames=40)


def first_frequency(how: str) -> float:
    model = turning(how, 1e9)
    (spin,) = spins(model, np.zeros(1), model.q0[None], model.u0[None])
    return spin.first


def test_the_first_frequency_of_a_beam_that_is_held_is_that_of_a_cantilever() -> None:
    assert first_frequency("hinged across") == pytest.approx(CANTILEVER, rel=1e-6)


@pytest.mark.parametrize("how", ["driven across", "hinged across", "free across"])
def test_a_spin_is_called_too_fast_where_deformation_begins_to_grow(how: str) -> None:
    """At 0.97 of the first frequency a small deformation stays small, at 1.05 it grows a thousandfold."""
    critical = first_frequency(how)
    slow, fast = (run(turning(how, part * critical), 8.0) for part in (0.97, 1.05))
    sizes = [np.abs(one.q[:, -4:]).max() for one in (slow, fast)]
    assert sizes[0] < 30.0 * SMALL and sizes[1] > 1e3 * sizes[0]
    (mild,), (strong, *_) = slow.notes, fast.notes
    assert "stiffness is off by about 94 %" in mild
    assert "its deformation grows without bound" in strong and "from t = 0 s on" in strong


def test_spinning_about_its_own_length_does_no_harm() -> None:
    for how in ("free along", "hinged along"):
        fast = run(turning(how, 5.0 * first_frequency("hinged across")))
        assert np.abs(fast.q[:, -4:]).max() < 30.0 * SMALL
        assert fast.notes == []


def stiffer_in_one_plane(axis: tuple[int, int, int], spin: float) -> Any:
    """A free beam that is four times as stiff against bending along z as along y."""
    soft = beam("free")
    builder = ar.ModelBuilder(units="kg-m-s")
    modes = dataclasses.replace(soft, stiffness=np.asarray(soft.stiffness) * [1.0, 1.0, 4.0, 4.0])
    turn = spin * np.array(axis)
    q, u = [0, 0, 0, 1, 0, 0, 0, *SMALL * np.ones(4)], [0, 0, 0, *turn, 0, 0, 0, 0]
    builder.add_body("rod", joint=ar.Free(), modes=modes, q=q, u=u)
    return builder.build()


@pytest.mark.parametrize(
    "spin", [(0, 0, 7.4), (0, 0, 10.0), (0, 7.2, 0), (0, 14.0, 0), (30.0, 0, 0)], ids=lambda spin: str(spin)
)
def test_growth_is_what_a_simulation_shows(spin: tuple[float, float, float]) -> None:
    """Of a body that floats freely, from the equations of its whole motion; the last is the instability of a shaft that
    is stiffer in one plane, which is no fault of the modes."""
    model = stiffer_in_one_plane(spin, 1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        done = ar.simulate(model, 4.0, rtol=1e-9, atol=1e-13, frames=800)
    sizes = np.abs(done.q[:, -4:]).max(axis=1)
    first, last = int(np.argmax(sizes > 2e-5)), int(np.argmax(sizes > 1e-3))
    growing = slice(first, last)
    measured = np.polyfit(done.times[growing], np.log(sizes[growing]), 1)[0]
    assert _Spinning(model, 0).growth(np.array(spin)) == pytest.approx(measured, rel=0.03)


@pytest.mark.parametrize("spin", [(0, 0, 6.7), (0, 6.7, 0), (20.0, 0, 0), (46.0, 0, 0), (4.0, 0, 4.0)])
def test_where_nothing_grows_it_is_not_said(spin: tuple[float, float, float]) -> None:
    model = stiffer_in_one_plane(spin, 1.0)
    assert np.abs(run(model).q[:, -4:]).max() < 10.0 * SMALL
    assert _Spinning(model, 0).growth(np.array(spin, dtype=float)) == 0.0


def test_the_tumbling_of_a_rigid_body_is_not_taken_for_it() -> None:
    """About the axis of its middle moment of inertia a body turns over, stiff as it may be."""
    builder = ar.ModelBuilder(units="kg-m-s")
    places = [(0, 0, 0), (1, 0, 0), (-1, 0, 0), (0, 0.6, 0), (0, -0.6, 0), (0, 0, 0.2)]
    shapes = np.zeros((6, 3, 1))
    shapes[1, 2, 0] = 1.0
    modes = ar.Modes(positions=places, masses=np.ones(6), shapes=shapes, stiffness=[100.0])
    builder.add_body("plate", joint=ar.Free(), modes=modes, u=[0, 0, 0, 1e-3, 5.0, 0, 0])
    model = builder.build()
    done = run(model, 10.0)
    assert done.u[:, 4].min() < -4.0, "it turns over"
    assert _Spinning(model, 0).growth(np.array([0.0, 5.0, 0.0])) == 0.0
    assert not any("grows without bound" in note for note in done.notes)


@pytest.mark.parametrize("seed", range(4))
def test_growth_of_a_body_that_is_held_is_that_of_the_sums_over_nodes(seed: int) -> None:
    rng = np.random.default_rng(seed)
    places, masses, shapes = rng.normal(size=(6, 3)), rng.uniform(0.5, 2.0, 6), rng.normal(size=(6, 3, 3))
    places[0] = shapes[0] = 0.0
    root = rng.normal(size=(3, 3))
    stiffness = root @ root.T
    modes = ar.Modes(positions=places, masses=masses, shapes=shapes, stiffness=stiffness)
    builder = ar.ModelBuilder(units="kg-m-s")
    builder.add_body("body", joint=ar.Spherical(), modes=modes, mass=1.5, inertia=1.0)
    spinning, spin = _Spinning(builder.build(), 0), 4.0 * rng.normal(size=3)
    mass = np.einsum("i,iaj,iak->jk", masses, shapes, shapes)
    swept = np.array([[np.cross(spin, shapes[i, :, j]) for j in range(3)] for i in range(6)])
    softening = np.einsum("i,ija,ika->jk", masses, swept, swept)
    coriolis = 2.0 * np.einsum("i,iaj,ika->jk", masses, shapes, swept)  # 2 Φ_j · (ω × Φ_k)
    rates = np.zeros((6, 6))
    rates[:3, 3:] = np.eye(3)
    rates[3:, :3] = -np.linalg.solve(mass, stiffness - softening)
    rates[3:, 3:] = -np.linalg.solve(mass, coriolis)
    expected = float(np.linalg.eigvals(rates).real.max())
    assert spinning.first == pytest.approx(np.sqrt(linalg.eigh(stiffness, mass, eigvals_only=True)[0]), rel=1e-9)
    assert spinning.growth(spin) == pytest.approx(expected if expected > 1e-4 else 0.0, rel=1e-7, abs=1e-7)


def test_a_slow_spin_is_not_noted() -> None:
    assert run(turning("hinged across", 0.29 * CANTILEVER), 0.1).notes == []
    assert len(run(turning("hinged across", 0.31 * CANTILEVER), 0.1).notes) == 1


def test_what_a_beam_carries_counts() -> None:
    """A mass M at the end of a light cantilever: ω² = 3 EI/(M L³), which two modes overstate by 1/0.995."""
    builder = ar.ModelBuilder(units="kg-m-s")
    light = beam("clamped")
    places = np.asarray(light.positions)
    tip = int(np.argmax(places[:, 0] - 1e3 * np.abs(places[:, 1:]).sum(axis=1)))
    builder.add_body("rod", joint=ar.Revolute(axis=(0, 0, 1)), modes=light, u=[1e9, *np.zeros(4)])
    builder.add_body("ball", parent="rod", node=tip, joint=ar.Spherical(), mass=100.0, inertia=1.0)
    model = builder.build()
    (spin,) = spins(model, np.zeros(1), model.q0[None], model.u0[None])
    assert spin.first == pytest.approx(np.sqrt(3.0 / 0.995 / (100.0 + 33.0 / 140.0)), rel=5e-4)


def test_it_is_said_before_the_run_with_body_spin_and_frequency() -> None:
    model = turning("hinged across", 5.0)
    with pytest.warns(
        UserWarning, match=r"simulate: body 'rod' rotates at up to 5 rad/s, and .* is 3\.52 rad/s: at its"
    ):
        ar.simulate(model, 0.01, frames=1)


def test_loads_are_not_blamed_for_what_the_spin_does() -> None:
    notes = run(turning("hinged across", 6.0)).notes
    assert len(notes) == 2
    assert "deformed beyond the range" in notes[1] and "which its spin makes grow" in notes[1]
    assert not any("smaller loads" in note for note in notes)
    builder = ar.ModelBuilder(units="kg-m-s")
    builder.add_body("rod", joint=ar.Weld(), modes=beam("clamped"))
    builder.add_force(ar.forces.Gravity(acceleration=(0.0, 5.0, 0.0)))
    (note,) = run(builder.build()).notes
    assert "take smaller loads" in note


def test_a_run_that_ends_of_it_says_so() -> None:
    builder = ar.ModelBuilder(units="kg-m-s")
    builder.add_body("rod", joint=ar.Revolute(axis=(0, 0, 1)), modes=beam("clamped"), q=[0.0, *SMALL * np.ones(4)])
    builder.add_drive("rod", times=[0, 50, 100, 1000], values=[0, 500, 1000, 10000])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        with pytest.raises(ar.DivergenceError) as caught:
            ar.simulate(builder.build(), 1000.0, rule="rk4", step=0.01, frames=1000)
    assert re.search(r"Body 'rod' rotates at up to 10 rad/s, and the first frequency .* 3\.52 rad/s", str(caught.value))
    assert "site" not in str(caught.value)


CASE = """
[case]
units = "kg-m-s"

[[model.bodies]]
name = "rod"
joint = "revolute"
axis = [0.0, 0.0, 1.0]
u = [5.0]

[model.bodies.modes]
kind = "beam"
length = 1.0
mass = 1.0
gyration = 0.01
bending = 2
bending_stiffness = 1.0
boundary = "clamped"

[run]
duration = 0.5
frames = 5
"""


@pytest.mark.slow
def test_a_case_says_it_before_and_after(tmp_path: Path) -> None:
    shown = Shown()
    done = ar.run(case_of(tmp_path, CASE), tmp_path / "run", progress=shown)
    said = [text for text in shown.messages if "body 'rod' rotates at up to 5 rad/s" in text]
    assert len(said) == 1
    assert [note for note in done.summary["notes"] if "body 'rod' rotates at up to 5" in note]
