"""Forms made from declarations: every field of every kind is there, and what is shown reads back as what it was."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from typing import Annotated, Any

import pytest

from articulon.adaptive.conditions import CONDITIONS
from articulon.adaptive.settings import Group
from articulon.barostats import BAROSTATS
from articulon.cases.builders.explicit_loops import ExplicitDrive, ExplicitLoop
from articulon.cases.builders.written_model import ExplicitBody, ExplicitSite
from articulon.cases.library import built_in_cases
from articulon.cases.overrides import dotted
from articulon.cases.schema import CaseFile, with_discriminators
from articulon.cases.study_sections import Sought, Target
from articulon.declaration import Declaration
from articulon.declaration_help import stated
from articulon.errors import CaseError
from articulon.families import Family
from articulon.forces import FORCES
from articulon.integrate import INTEGRATORS
from articulon.scaling import POLICIES
from articulon.simulation.checks import CHECKS
from articulon.studio.editing.body_mentions import mentions
from articulon.studio.editing.body_view import SHAPES, coordinate_units
from articulon.studio.editing.editor_panel import LISTED, SHOWN, STUDIES
from articulon.studio.editing.forms import UNSET, FormField, form_of, members, section_choice, split
from articulon.thermostats import THERMOSTATS
from articulon.units import unit_system

UNITS = unit_system("kg-m-s")
FAMILIES = (FORCES, INTEGRATORS, POLICIES, THERMOSTATS, BAROSTATS, SHAPES, CHECKS, CONDITIONS)
SECTIONS = {
    key: section_choice(Annotated[(field.annotation, *field.metadata)] if field.metadata else field.annotation)
    for key, field in CaseFile.model_fields.items()
}
ALONE = [ExplicitBody, ExplicitSite, ExplicitLoop, ExplicitDrive, Group, Sought, Target]
ALONE += [one for one in SECTIONS.values() if isinstance(one, type)]
DECLARATIONS = [*(one for family in FAMILIES for one in family), *ALONE]


def form(declaration: type[Declaration]) -> dict[str, FormField]:
    return {field.name: field for field in form_of(declaration, UNITS, ["upper", "lower"])}


@pytest.mark.parametrize("declaration", DECLARATIONS, ids=lambda one: one.__name__)
def test_a_form_has_every_field_and_its_defaults_read_back(declaration: type[Declaration]) -> None:
    fields = form(declaration)
    assert set(fields) == set(stated(declaration))
    for field in fields.values():
        assert field.meaning, f"{field.name} has no meaning"
        if field.default not in (None, "", [], {}):
            assert field.value_of(field.text_of(field.default)) == field.default
        assert field.value_of(field.text_of(None)) is None


def test_every_section_has_a_form_but_those_that_are_text_alone() -> None:
    assert {*SHOWN, *STUDIES, "forces", "checks"} == set(CaseFile.model_fields) - {"plugins", "variants", "versions"}
    assert all(SECTIONS[key] is not None for key in (*SHOWN, *STUDIES))


def elements(table: dict[str, Any]) -> Iterator[tuple[type[Declaration], dict[str, Any]]]:
    """The tables of a case that have forms, each with its declaration."""
    for key, choice in SECTIONS.items():
        section = with_discriminators(table).get(key)
        if section is None or choice is None or key in ("model", "versions"):
            continue
        declaration = choice.members[section[choice.key]] if isinstance(choice, Family) else choice
        yield declaration, section
    for key, family in (("forces", FORCES), ("checks", CHECKS)):
        for one in table.get(key, ()):
            yield family.members[one["kind"]], one
    for (key, name), (_, declaration, inner) in LISTED.items():
        for one in table.get(key, {}).get(name, ()):
            yield declaration, {field: value for field, value in one.items() if field not in inner}
            yield from (
                (family.members[one[field]["when"]], one[field]) for field, family in inner.items() if field in one
            )
    for key, declaration in (("bodies", ExplicitBody), ("sites", ExplicitSite), ("loops", ExplicitLoop)):
        for one in table["model"].get(key, ()) if "builder" not in table["model"] else ():
            yield declaration, one


@pytest.mark.parametrize("name", built_in_cases())
def test_the_values_of_built_in_cases_are_shown_and_read_back(name: str) -> None:
    for declaration, values in elements(tomllib.loads(built_in_cases()[name].read_text())):
        fields = form(declaration)
        for key, value in values.items():
            if key in fields:
                assert fields[key].value_of(fields[key].text_of(value)) == value, f"{declaration.__name__}.{key}"


def test_fields_say_their_units_and_dimensions() -> None:
    fields = form(FORCES.members["point-spring"])
    assert fields["stiffness"].label == "stiffness [N/m]" and fields["stiffness"].required
    assert fields["rest_length"].label == "rest length [m]" and "By default 0.0." in fields["rest_length"].hint
    assert "Such as '40 pN/nm'." in fields["stiffness"].hint
    assert fields["stiffness"].dimension is not None and fields["stiffness"].dimension.name == "stiffness"
    body = {field.name: field for field in coordinate_units(tuple(form(ExplicitBody).values()), "prismatic", UNITS)}
    assert body["q"].label == "q [m]" and body["u"].label == "u [m/s]"
    assert "q" not in {field.name for field in coordinate_units(tuple(form(ExplicitBody).values()), "weld", UNITS)}


def test_choices_are_the_words_and_the_bodies_that_there_are() -> None:
    assert form(ExplicitBody)["parent"].choices == ("ground", "upper", "lower")
    assert form(FORCES.members["joint-drive"])["body"].choices == (UNSET, "upper", "lower")
    assert form(FORCES.members["joint-drive"])["beyond"].choices == ("refuse", "hold")
    assert form(FORCES.members["stokes-drag"])["shared_by_mass"].kind == "flag"
    assert members(POLICIES)["none"] is POLICIES.members["none"]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0, 0, -9.81 m/s^2", [0, 0, "-9.81 m/s^2"]),
        ("[0, 0, -9.81 m/s^2]", [0, 0, "-9.81 m/s^2"]),
        ('[0, 0, "-9.81 m/s^2"]', [0, 0, "-9.81 m/s^2"]),
        ("  ", None),
        ("1", [1]),
        ("g", ["g"]),
    ],
)
def test_lists_are_written_with_brackets_or_without(text: str, value: Any) -> None:
    assert form(FORCES.members["gravity"])["acceleration"].value_of(text) == value


def test_tables_by_body_take_units() -> None:
    field = form(FORCES.members["joint-damping"])["rotational"]
    assert field.value_of("{upper = 0.5 N m s, lower = 2}") == {"upper": "0.5 N m s", "lower": 2}
    assert field.value_of("0.5 mN m s") == "0.5 mN m s"


@pytest.mark.parametrize("text", ["[0, 0, 1", "0, 0], 1", "{upper 0.5}"])
def test_what_cannot_be_read_is_refused(text: str) -> None:
    field = form(FORCES.members["joint-damping" if "{" in text else "gravity"])
    key = "rotational" if "{" in text else "acceleration"
    with pytest.raises(CaseError, match="cannot read"):
        field[key].value_of(text)
    assert split("1, [2, 3], {a = 1, b = 2}", "") == ["1", "[2, 3]", "{a = 1, b = 2}"]


def test_every_body_that_a_case_names_is_found() -> None:
    """Among the fields of all that a case may hold, those that are marked; here each kind of place."""
    table = {
        "model": {
            "bodies": [{"name": "a", "parent": "ground"}],
            "sites": [{"body": "a"}],
            "drives": [{"body": "a"}],
            "atoms": {"torsions": [{"body": "a"}]},
        },
        "forces": [
            {"kind": "stokes-drag", "radius": {"a": 1.0, "b*": 2.0}},
            {"kind": "joint-limits", "lower": {"a": 0.0}},
            {"kind": "position-restraint", "bodies": ["a"]},
            {"kind": "no such kind", "bodies": ["a"]},
        ],
        "scaling": {"policy": "threshold-adaptive", "core": "a"},
        "adaptive": {"groups": [{"bodies": ["a"], "lock": {"when": "distance", "body": "a", "to": "b"}}]},
        "checks": [{"kind": "position", "body": "a"}],
        "run": {"stop": {"body": "a"}},
    }
    assert {dotted(one.path) + ("." + one.name if one.is_key else "") for one in mentions(table)} == {
        "model.bodies[0].parent",
        "model.sites[0].body",
        "model.drives[0].body",
        "model.atoms.torsions[0].body",
        "forces[0].radius.a",
        "forces[0].radius.b*",
        "forces[1].lower.a",
        "forces[2].bodies[0]",
        "scaling.core",
        "adaptive.groups[0].bodies[0]",
        "adaptive.groups[0].lock.body",
        "adaptive.groups[0].lock.to",
        "checks[0].body",
        "run.stop.body",
    }
