"""What ``help`` says of what users declare, and which values they may give without names."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

import articulon as ar
from articulon.adaptive import Adaptive, Group
from articulon.declaration import Declaration
from articulon.declaration_help import stated

DECLARATIONS: list[Any] = [
    *(
        one
        for package in (ar.forces, ar.thermostats, ar.scaling, ar.adaptive)
        for one in map(package.__dict__.get, package.__all__)
        if isinstance(one, type) and issubclass(one, Declaration)
    ),
    ar.Box,
]


@pytest.mark.parametrize("one", DECLARATIONS, ids=lambda one: one.__name__)
def test_help_tells_the_meaning_of_every_field(one: Any) -> None:
    text = inspect.getdoc(one) or ""
    summary, _, parameters = text.partition("Parameters\n----------\n")
    assert summary.strip(), "says nothing of what it is"
    lines = parameters.splitlines()
    for name, field in stated(one).items():
        assert name in lines, name
        meaning = lines[lines.index(name) + 1]
        assert meaning.startswith("    ") and len(meaning.strip()) > 3, f"{name}: no meaning"
        dimension = next((mark for mark in field.metadata if hasattr(mark, "example")), None)
        if dimension is not None and dimension.name != "dimensionless":
            assert f"'{dimension.example}'" in " ".join(parameters.split()), f"{name}: no unit"


@pytest.mark.parametrize("one", DECLARATIONS, ids=lambda one: one.__name__)
def test_a_signature_names_the_fields_and_no_types_of_the_inside(one: Any) -> None:
    signature = inspect.signature(one)
    assert set(signature.parameters) == set(stated(one))
    assert "Annotated" not in str(signature) and "<" not in str(signature)
    first = [name for name, p in signature.parameters.items() if p.kind is p.POSITIONAL_OR_KEYWORD]
    assert tuple(first) == one.positional


WELLS = {"A": {"epsilon": 1.0, "sigma": 1.0}}


@pytest.mark.parametrize(
    ("given", "named"),
    [
        (ar.forces.Gravity((0, 0, -9.81)), ar.forces.Gravity(acceleration=(0, 0, -9.81))),
        (ar.forces.JointActuation("rod", 5), ar.forces.JointActuation(body="rod", values=5)),
        (ar.forces.TorsionalSprings({"rod": 2}), ar.forces.TorsionalSprings(stiffness={"rod": 2})),
        (ar.forces.LennardJones(WELLS, cutoff=3), ar.forces.LennardJones(parameters=WELLS, cutoff=3)),
        (ar.forces.Brownian("300 K"), ar.forces.Brownian(temperature="300 K")),
        (
            ar.forces.HarmonicBonds([(0, 1)], stiffness=1, length=1),
            ar.forces.HarmonicBonds(bonds=[(0, 1)], stiffness=1, length=1),
        ),
        (ar.scaling.Constant(0.1), ar.scaling.Constant(a2=0.1)),
        (ar.scaling.TwoFactor(0.1, 0.5), ar.scaling.TwoFactor(a2=0.1, b2=0.5)),
        (ar.thermostats.Langevin(1.0, friction=2), ar.thermostats.Langevin(temperature=1.0, friction=2)),
        (ar.Box((1, 2, 3)), ar.Box(lengths=(1, 2, 3))),
        (ar.Revolute((0, 0, 1)), ar.Revolute(axis=(0, 0, 1))),
    ],
    ids=lambda one: type(one).__name__,
)
def test_the_obvious_values_need_no_name(given: Any, named: Any) -> None:
    assert given == named


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: ar.forces.StokesDrag(1, 2),
            "StokesDrag: takes no value without a name, got 2; name them, as in StokesDrag(viscosity=..., radius=...)",
        ),
        (lambda: ar.forces.Gravity((0, 0, 1), 2), "Gravity: takes one value without a name, got 2"),
        (lambda: ar.forces.Gravity((0, 0, 1), acceleration=(0, 0, 1)), "Gravity.acceleration: is given twice"),
        (
            lambda: ar.forces.TorsionalSprings(3.0),
            "TorsionalSprings.stiffness: expected a table with a torsional stiffness",
        ),
        (lambda: Adaptive(1.0), "Adaptive: takes no value without a name, got 1; name them, as in Adaptive(every=..."),
        (lambda: Group("a"), "Group: takes no value without a name"),
    ],
)
def test_values_whose_names_nobody_can_guess_are_refused(make: Any, message: str) -> None:
    with pytest.raises(ar.ArticulonError) as raised:
        make()
    assert message in str(raised.value)


def test_a_declaration_is_shown_by_what_was_stated() -> None:
    assert repr(ar.forces.Gravity((0, 0, -9.81))) == str(ar.forces.Gravity((0, 0, -9.81)))
    assert repr(ar.forces.Gravity((0, 0, -9.81))) == "Gravity(acceleration=(0.0, 0.0, -9.81))"
    assert repr(ar.scaling.Constant(0.1)) == "Constant(a2=0.1)"
    assert "0.0, 0.0, -9.81" in ar.forces.Gravity((0, 0, -9.81))._repr_html_()


def test_a_builder_is_shown_by_what_it_has_collected() -> None:
    builder = ar.ModelBuilder(units="kg-m-s")
    assert repr(builder) == "ModelBuilder(no bodies; no forces; kg-m-s)"
    builder.add_body("ball", mass=1, inertia=1, joint=ar.Free())
    builder.add_force(ar.forces.Gravity((0, 0, -9.81)))
    assert repr(builder) == "ModelBuilder(1 body; gravity; kg-m-s)"
    for one in (builder, builder.build()):
        assert "1 body" in one._repr_html_() and "gravity" in one._repr_html_()
