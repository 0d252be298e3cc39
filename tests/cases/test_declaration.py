"""What a user states is taken as it was meant or refused with the key, the expectation and the nearest valid key."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

import numpy as np
import pytest
from pydantic import Field

from articulon.declaration import Declaration, Dimension, Quantity
from articulon.errors import ArticulonError, CaseError, ModelError
from articulon.units import unit_system

UNITS = unit_system("fg-um-us")


class Drag(Declaration):
    kind: Literal["drag"] = "drag"
    viscosity: Annotated[Quantity, Dimension("viscosity", minimum=0)]
    flow: Annotated[tuple[Quantity, Quantity, Quantity], Dimension("velocity")] = (0.0, 0.0, 0.0)
    radius: Annotated[Quantity, Dimension("length", minimum=0, exclusive=True)] | None = None


class Springs(Declaration):
    kind: Literal["springs"] = "springs"
    rest: list[Annotated[Quantity, Dimension("angle")]] = []
    stiffness: dict[str, Annotated[Quantity, Dimension("torsional_stiffness")]] = {}
    cutoff: Annotated[Quantity, Dimension("length")] | Literal["none"] = "none"
    enabled: bool = True


class Section(Declaration):
    error_class: ClassVar[type[ArticulonError]] = CaseError

    forces: list[Annotated[Drag | Springs, Field(discriminator="kind")]] = []
    main: Drag | None = None
    seed: int = 0
    policy: Literal["none", "constant"] = "none"


def test_quantities_are_resolved_through_lists_tables_optionals_and_nested_declarations():
    section = Section.from_mapping(
        {
            "forces": [
                {"kind": "drag", "viscosity": "0.89 mPa s", "flow": ["0 mm/s", 0, "1 mm/s"], "radius": "300 nm"},
                {"kind": "springs", "rest": ["180 deg", 1.5], "stiffness": {"neck": "40 pN nm", "head": 2}},
                {"kind": "springs", "cutoff": "2 nm"},
            ],
            "main": {"viscosity": 3},
        }
    ).resolved(UNITS)
    drag, springs, short = section.forces
    assert isinstance(drag, Drag)
    assert isinstance(springs, Springs)
    assert isinstance(short, Springs)
    assert drag.viscosity == 890.0
    assert drag.flow == (0.0, 0.0, 0.001)
    assert drag.radius == 0.3
    assert springs.rest == [np.pi, 1.5]
    assert springs.stiffness == {"neck": 0.04, "head": 2.0}
    assert springs.cutoff == "none"
    assert springs.enabled is True
    assert short.cutoff == 0.002
    assert section.main == Drag(viscosity=3.0)
    assert section.seed == 0


def test_resolving_leaves_the_declaration_as_it_was_stated():
    stated = Drag(viscosity="0.89 mPa s")
    stated.resolved(UNITS)
    assert stated.viscosity == "0.89 mPa s"


def test_resolving_twice_changes_nothing():
    once = Drag(viscosity="0.89 mPa s", radius="300 nm").resolved(UNITS)
    assert once.resolved(UNITS) == once


def test_numpy_numbers_and_arrays_are_quantities():
    drag = Drag(viscosity=np.float32(0.5), radius=np.int64(2), flow=np.array([0.0, 1.0, 2.0])).resolved(UNITS)
    assert (drag.viscosity, drag.radius, drag.flow) == (0.5, 2.0, (0.0, 1.0, 2.0))
    assert all(type(component) is float for component in drag.flow)


@pytest.mark.parametrize(
    "data, line",
    [
        (
            {"forces": [{"kind": "drag", "viscosity": 1, "raduis": 2}]},
            "a.toml: forces[0].raduis: unknown key; did you mean 'radius'? (known: kind, viscosity, flow, radius)",
        ),
        ({"froces": []}, "a.toml: froces: unknown key; did you mean 'forces'? (known: forces, main, seed, policy)"),
        (
            {"forces": [{"kind": "drag"}]},
            "a.toml: forces[0].viscosity: is required: a viscosity (for example '0.89 mPa s')",
        ),
        (
            {"forces": [{"kind": "drga", "viscosity": 1}]},
            "a.toml: forces[0].kind: unknown word 'drga'; did you mean 'drag'? (known: drag, springs)",
        ),
        ({"forces": [{"viscosity": 1}]}, "a.toml: forces[0].kind: is required"),
        (
            {"main": {"viscosity": [1]}},
            "a.toml: main.viscosity: expected a viscosity (for example '0.89 mPa s'), got [1]",
        ),
        (
            {"main": {"viscosity": True}},
            "a.toml: main.viscosity: expected a quantity, got True",
        ),
        (
            {"main": {"viscosity": float("nan")}},
            "a.toml: main.viscosity: expected a finite number, got nan",
        ),
        (
            {"forces": [{"kind": "springs", "rest": [1, {}]}]},
            "a.toml: forces[0].rest[1]: expected an angle (for example '30 deg'), got {}",
        ),
        (
            {"forces": [{"kind": "springs", "stiffness": {"neck": []}}]},
            "a.toml: forces[0].stiffness.neck: expected a torsional stiffness (for example '40 pN nm/rad^2'), got []",
        ),
        ({"policy": "constnat"}, "a.toml: policy: expected 'none' or 'constant', got 'constnat'"),
    ],
)
def test_a_fault_in_a_file_is_reported_with_file_key_and_expectation(data, line):
    with pytest.raises(CaseError) as caught:
        Section.from_mapping(data, "a.toml")
    assert str(caught.value) == line


def test_every_fault_has_its_line():
    with pytest.raises(CaseError) as caught:
        Section.from_mapping({"sede": 1, "main": {"viscosity": 1, "flow": [0, 0]}, "policy": 3}, "a.toml")
    lines = str(caught.value).splitlines()
    assert len(lines) == 3
    assert {line.split(": ")[1] for line in lines} == {"sede", "main.flow[2]", "policy"}


def test_the_path_of_a_section_precedes_its_keys():
    with pytest.raises(CaseError, match=r"^a\.toml: forces\[3\]\.viscosity: is required"):
        Drag.from_mapping({}, "a.toml", "forces[3]")


@pytest.mark.parametrize(
    "data, message",
    [
        ({"viscosity": "8 nm"}, r"forces\[0\]\.viscosity: expected a viscosity .* got a length: '8 nm'"),
        ({"viscosity": "-1 mPa s"}, r"forces\[0\]\.viscosity: must be at least 0, got '-1 mPa s'"),
        ({"viscosity": 1, "radius": "0 nm"}, r"forces\[0\]\.radius: must be greater than 0, got '0 nm'"),
        ({"viscosity": 1, "flow": [0, 0, "1 s"]}, r"forces\[0\]\.flow\[2\]: expected a velocity .* got a time"),
    ],
)
def test_a_wrong_dimension_or_impossible_value_names_its_key_when_resolved(data, message):
    section = Section.from_mapping({"forces": [{"kind": "drag", **data}]})
    with pytest.raises(CaseError, match=message):
        section.resolved(UNITS)


def test_a_faulty_construction_in_python_is_a_model_error_that_names_the_class():
    with pytest.raises(ModelError, match=r"^Drag\.viscsity: unknown key; did you mean 'viscosity'\?") as caught:
        Drag(viscosity=1, viscsity=1)  # type: ignore[call-arg]
    assert caught.value.__cause__ is None
    with pytest.raises(CaseError, match=r"^Section\.main\.radius: expected a length"):
        Section(main={"viscosity": 1, "radius": []})  # type: ignore[arg-type]


def test_declarations_are_frozen():
    drag = Drag(viscosity=1)
    with pytest.raises(ValueError, match="frozen"):
        drag.viscosity = 2  # type: ignore[misc]


def test_a_dimension_that_does_not_exist_is_refused_where_it_is_written():
    with pytest.raises(ValueError, match="unknown dimension 'lenght'"):
        Dimension("lenght")
