"""Impacts and joint limits as they are declared: what is refused, and that the message names the key."""

from __future__ import annotations

from typing import Any

import pytest

import articulon as ar

FLOOR = {"shape": "plane", "kind": "floor", "point": (0, 0, 0), "normal": (0, 0, 1)}


def ball(radius: float = 0.5, **law: Any) -> Any:
    b = ar.ModelBuilder("kg-m-s")
    b.add_body("ball", mass=1.0, inertia=0.1, joint=ar.Free(), q=(0, 0, 1.5, 1, 0, 0, 0))
    b.add_site("ball", kind="steel", radius=radius)
    b.add_force(ar.forces.Impacts(**{"walls": [FLOOR], **law}))
    return b.build()


def arm(joint: Any = None, **limits: Any) -> Any:
    b = ar.ModelBuilder("kg-m-s")
    b.add_body("arm", mass=1.0, inertia=0.1, joint=joint or ar.Revolute(axis=(0, 1, 0)))
    b.add_force(ar.forces.JointLimits(**limits))
    return b.build()


@pytest.mark.parametrize(
    ("law", "said"),
    [
        ({"restitution": 1.5}, r"restitution: 1\.5 is not in \[0, 1\]"),
        ({"restitution": "1.5"}, r"forces\[0\]\.restitution: 1\.5 is not in \[0, 1\]"),
        ({"restitution": -0.1}, r"restitution"),
        ({"friction": -1.0}, r"forces\[0\]\.friction: must be at least 0"),
        ({"law": "huygens"}, r"law"),
        ({"frictoin": 1.0}, r"frictoin: unknown key; did you mean 'friction'"),
        ({"resting_speed": "1 m"}, r"forces\[0\]\.resting_speed"),
        ({"pairs": [{"kinds": ("steel", "flor"), "friction": 1.0}]}, r"forces\[0\]\.pairs\[0\]\.kinds.*'floor'"),
        ({"pairs": [{"kinds": ("steel", "floor"), "restitution": 2.0}]}, r"pairs.*restitution: 2 is not in"),
        ({"pairs": [{"kinds": ("steel", "floor"), "friction": 1.0}] * 2}, r"pairs\[1\].*given twice"),
        ({"pairs": [{"kinds": ("steel", "floor")}]}, r"give restitution or friction"),
        ({"walls": [{**FLOOR, "velocity": (0, 0, 1)}]}, r"forces\[0\]\.walls\[0\]\.velocity.*cannot move"),
        ({"walls": []}, r"one sphere has nothing to hit"),
        ({"radius": 0.0}, r"no spheres; give sites a radius"),
    ],
)
def test_faulty_impacts_are_refused_by_their_key(law: dict[str, Any], said: str) -> None:
    with pytest.raises((ar.ModelError, ar.CaseError), match=said):
        ball(**law)


@pytest.mark.parametrize(
    ("limits", "said"),
    [
        ({}, "give lower or upper"),
        ({"lower": {"amr": 0.0}}, r"forces\[0\]\.lower: there is no body 'amr'.*'arm'"),
        ({"lower": {"arm": 0.5}, "upper": {"arm": 0.2}}, r"forces\[0\]\.upper: .*'arm' has no range"),
        ({"lower": {"arm": "3 m"}}, r"forces\[0\]\.lower\.arm"),
        ({"lower": {"arm": 0.0}, "restitution": 1.2}, r"restitution: 1\.2 is not in"),
        ({"lower": {"arm": 0.0}, "joint": ar.Spherical()}, r"forces\[0\]\.lower: .*revolute and prismatic joints"),
    ],
)
def test_faulty_limits_are_refused_by_their_key(limits: dict[str, Any], said: str) -> None:
    with pytest.raises((ar.ModelError, ar.CaseError), match=said):
        arm(**limits)


def test_impacts_beside_contacts_are_refused() -> None:
    b = ar.ModelBuilder("kg-m-s")
    for k in range(2):
        b.add_grain(f"g{k}", radius=0.5, position=(2.0 * k, 0, 0), density=1.0)
    b.add_force(ar.forces.Contact(materials={"grain": {"young": 1e6, "poisson": 0.3, "restitution": 0.5}}))
    b.add_force(ar.forces.Impacts())
    with pytest.raises(ar.ModelError, match=r"forces\[1\]: .*also have contact forces"):
        b.build()


def test_pairs_and_units_are_read() -> None:
    law = ball(restitution=0.5, pairs=[{"kinds": ("floor", "steel"), "friction": 0.3}], resting_speed="1 mm/s")
    table = law.forces[0].table(law)
    assert table.names == ("steel", "floor")
    assert table.restitution[0, 1] == 0.5
    assert table.friction.tolist() == [[0.0, 0.3], [0.3, 0.0]]
    assert law.forces[0].resting_speed == pytest.approx(1e-3)
    limits = arm(lower={"arm": "-30 deg"}, upper={"a*": 0.3}).forces[0]
    assert [round(limit.bound, 6) for limit in limits.limits(arm(lower={"arm": 0.0}))] == [-0.523599, 0.3]


def test_what_overlaps_at_the_start_is_refused() -> None:
    b = ar.ModelBuilder("kg-m-s")
    for k in range(2):
        b.add_body(f"ball{k}", mass=1.0, inertia=0.1, joint=ar.Free(), q=(0.9 * k, 0, 0, 1, 0, 0, 0))
        b.add_site(f"ball{k}", kind="steel", radius=0.5)
    b.add_force(ar.forces.Impacts())
    with pytest.raises((ar.ModelError, ar.CaseError), match=r"'ball0' and 'ball1' overlap by 0\.1 m at the start"):
        ar.simulate(b.build(), 1.0, rule="rk4", step=0.1)
    with pytest.raises(
        (ar.ModelError, ar.CaseError), match=r"the lower limit of the joint of 'arm' is exceeded by 0\.5"
    ):
        ar.simulate(arm(lower={"arm": 0.5}), 1.0, rule="rk4", step=0.1)
