"""The pages of reference, made from the source: names of the package, keys of case files, and commands."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import manual_docstrings
import typer

import articulon
from articulon.adaptive.conditions import CONDITIONS
from articulon.barostats import BAROSTATS
from articulon.cases import schema
from articulon.cases.builders import BUILDERS
from articulon.cli import app
from articulon.declaration import Declaration
from articulon.declaration_help import meanings_of, stated
from articulon.families import Family
from articulon.forces import FORCES
from articulon.forces.contact.walls import WALLS
from articulon.integrate import INTEGRATORS
from articulon.integrate.base import Driver
from articulon.model.joints import Joint
from articulon.scaling import POLICIES
from articulon.simulation.checks import CHECKS
from articulon.thermostats import THERMOSTATS

GROUPS: Mapping[str, tuple[str, ...]] = {
    "Models": (
        *("ModelBuilder", "Model", "State", "Box", "Modes", "Free", "Xyz", "Spherical", "Revolute", "Prismatic"),
        *("Universal", "Swing", "Weld", "cartesian", "close_loops", "read_urdf", "read_mjcf", "write_urdf"),
    ),
    "Dynamics": (
        *("forward_dynamics", "inverse_dynamics", "mass_matrix", "body_poses", "kinetic_energy", "potential_energy"),
        *("generalized_forces", "virial", "pressure", "configurational_laplacian", "loop_jacobian", "loop_residuals"),
        *("Workspace",),
    ),
    "Derivatives": ("derivatives", "force_derivatives", "jacobian_vector", "vector_jacobian", "sensitivity"),
    "Runs": (
        *("simulate", "run", "resume", "open_run", "Run", "load_case", "load_plugin", "minimise", "compare", "advise"),
        *("ensemble", "Ensemble", "replica_exchange", "rank_parameters", "fit", "optimise"),
    ),
    "Transitions": ("lock", "release", "Transition", "Reservoir"),
    "Errors": (
        *("ArticulonError", "ModelError", "CaseError", "CheckpointError", "DivergenceError", "TransitionError"),
    ),
}
"""Names of the package by what they are about."""
FAMILIES = {
    "model": ("Builders of models", BUILDERS),
    "forces": ("Forces", FORCES),
    "walls": ("Walls", WALLS),
    "scaling": ("Scaling policies", POLICIES),
    "thermostat": ("Thermostats", THERMOSTATS),
    "barostat": ("Barostats", BAROSTATS),
    "integrator": ("Integrators", INTEGRATORS),
    "adaptive": ("Conditions that lock and release joints", CONDITIONS),
    "checks": ("Checks", CHECKS),
}
"""What is chosen by a key, by the section where it stands."""


def write(folder: Path) -> None:
    """Write the pages into a folder; those that are as they should be stay as they are."""
    folder.mkdir(exist_ok=True)
    pages = {"python.rst": python_page(), "case_keys.md": case_page(), "commands.md": command_page()}
    for name, text in pages.items():
        page = folder / name
        if not page.exists() or page.read_text(encoding="utf-8") != text:
            page.write_text(text, encoding="utf-8")


def ungrouped() -> list[str]:
    """Public names that stand in no group and are no modules."""
    known = {name for names in GROUPS.values() for name in names} | {"__version__"}
    return [
        name for name in articulon.__all__ if name not in known and not isinstance(getattr(articulon, name), ModuleType)
    ]


def modules() -> list[str]:
    """Public modules of the package."""
    return [name for name in articulon.__all__ if isinstance(getattr(articulon, name), ModuleType)]


def _of_module(name: str) -> Iterator[tuple[str, Any]]:
    """Classes and functions of a public module, by their paths."""
    module = getattr(articulon, name)
    for one in sorted(getattr(module, "__all__", [one for one in vars(module) if not one.startswith("_")])):
        value = getattr(module, one)
        if not isinstance(value, ModuleType) and (inspect.isclass(value) or inspect.isroutine(value)):
            yield f"articulon.{name}.{one}", value


def documented() -> Iterator[tuple[str, Any]]:
    """All public classes and functions, by their paths."""
    for names in GROUPS.values():
        yield from ((f"articulon.{name}", getattr(articulon, name)) for name in names)
    for name in modules():
        yield from _of_module(name)


def python_page() -> str:
    """The page of all public names of the package, by their docstrings."""
    missing = ungrouped()
    if missing:
        raise ValueError(f"docs/manual_reference.py: put into a group: {', '.join(missing)}")
    faults = [
        fault
        for path, value in documented()
        for one in (value, *parts_of(value))
        for fault in manual_docstrings.lacking(path, one)
    ]
    if faults:
        raise ValueError("docstrings of public names are not complete:\n" + "\n".join(faults))
    parts = [_heading("Python", "="), "``import articulon as ar``. All names below load when they are first used.\n"]
    for group, names in GROUPS.items():
        parts.append(_heading(group, "-"))
        parts += [_automatic(f"articulon.{name}", getattr(articulon, name)) for name in names]
    for name in modules():
        module = getattr(articulon, name)
        parts.append(_heading(f"articulon.{name}", "-"))
        parts.append(f"{_first_paragraph(module)}\n")
        parts += [_automatic(path, value) for path, value in _of_module(name)]
    return "\n".join(parts)


def _automatic(path: str, value: Any) -> str:
    if inspect.isclass(value):
        # The fields of a declaration are in its docstring.
        members = "" if issubclass(value, Declaration) else "\n   :members:"
        if parts_of(value):
            members += "\n   :inherited-members:"
        bare = "\n   :no-members:" if issubclass(value, Declaration) else ""
        return f".. autoclass:: {path}{members}{bare}\n"
    return f".. autofunction:: {path}\n"


def parts_of(value: Any) -> list[type]:
    """Base classes whose public members a user of the class calls; none where they are an interface to be
    implemented, as of joints and drivers, or Python's own."""
    if not inspect.isclass(value) or issubclass(value, (Declaration, Joint, Driver)):
        return []
    bases = value.__mro__[1:-1]
    return list(bases) if all(base.__module__.startswith("articulon.") for base in bases) else []


def _heading(text: str, line: str) -> str:
    return f"{text}\n{line * len(text)}\n"


def _first_paragraph(module: ModuleType) -> str:
    return inspect.cleandoc(module.__doc__ or "").split("\n\n")[0]


def case_page() -> str:
    """The page of all keys of case files, with their meaning, unit and default."""
    parts = [
        "# Keys of case files",
        'Quantities are numbers in the units of the case, or text with a unit, such as `"0.5 mm"`. What has no '
        "default must be given.",
    ]
    for name, field in schema.CaseFile.model_fields.items():
        meaning = meanings_of(schema.CaseFile).get(name, "")
        parts += [f"## `[{name}]`", _inline(meaning)]
        for section in _declarations(field.annotation):
            if stated(section):
                parts.append(_table(section))
            for key, inner in stated(section).items():
                for nested in _declarations(inner.annotation):
                    parts += [f"### `[{name}.{key}]`", _inline(_about(nested)), _table(nested)]
        for title, family in (
            pair for key, pair in FAMILIES.items() if key == name or (name, key) == ("forces", "walls")
        ):
            parts.append(f"{title} are chosen by `{family.key}`.")
            for word, member in sorted(ours(family).items()):
                about = _inline(_about(member))
                parts += [f'### `{family.key} = "{word}"`' if name != "forces" else f"### `{word}`", about]
                if stated(member):
                    parts.append(_table(member))
    return "\n\n".join(parts) + "\n"


def ours(family: Family) -> dict[str, type[Declaration]]:
    """The members of a family that are of the package, and not added by a user."""
    return {word: member for word, member in family.members.items() if member.__module__.startswith("articulon.")}


def _declarations(annotation: Any) -> Iterator[type[Declaration]]:
    """The section itself, where it is one table of fixed keys."""
    options = [annotation, *getattr(annotation, "__args__", ())]
    for option in options:
        if inspect.isclass(option) and issubclass(option, schema.Section) and not inspect.isabstract(option):
            yield option


def _about(member: type) -> str:
    """The first paragraph of what a declaration's author wrote."""
    text = inspect.cleandoc(member.__doc__ or "")
    return text.split("\n\n")[0].split("Parameters\n---")[0]


def _table(owner: type[Declaration]) -> str:
    meanings = meanings_of(owner)
    lines = ["| key | meaning | default |", "| --- | --- | --- |"]
    for name, field in stated(owner).items():
        example = next((mark.example for mark in field.metadata if hasattr(mark, "example")), "")
        meaning = _inline(meanings.get(name, "")) + (f' Such as `"{example}"`.' if example else "")
        default = "" if field.is_required() else _value(field.get_default(call_default_factory=True))
        lines.append(f"| `{field.alias or name}` | {meaning} | {default} |")
    return "\n".join(lines)


def _value(value: Any) -> str:
    if value is None or value in ((), {}, ""):
        return "none"
    if isinstance(value, Declaration):
        return "as below"
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


def _inline(text: str) -> str:
    """A docstring's text on one line of a table, with its marks as Markdown has them."""
    flat = " ".join(text.split()).replace("|", "\\|")
    flat = re.sub(r":\w+:`~?(?:articulon\.)?([^`<]*)`", r"`\1`", flat)
    return flat.replace("``", "`")


def command_page() -> str:
    """The page of all commands and their options, by their help."""
    group: Any = typer.main.get_command(app)
    parts = ["# Commands", "Each says the same by `--help`."]
    with group.make_context("articulon", [], resilient_parsing=True) as outer:
        for name in group.list_commands(outer):
            command = group.get_command(outer, name)
            if not command.hidden:
                with command.make_context(name, [], parent=outer, resilient_parsing=True) as context:
                    parts += _command(command, context)
    return "\n\n".join(parts) + "\n"


def _command(command: Any, context: Any) -> Iterable[str]:
    usage = " ".join(command.collect_usage_pieces(context))
    parts = [f"## articulon {command.name}", f"```\narticulon {command.name} {usage}\n```", _inline(command.help or "")]
    rows = []
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context)
        if record is not None:
            rows.append(f"| `{record[0]}` | {_inline(record[1])} |")
        elif parameter.param_type_name == "argument" and getattr(parameter, "help", None):
            rows.append(f"| `{parameter.make_metavar(context)}` | {_inline(parameter.help)} |")
    if rows:
        parts.append("\n".join(["| option | meaning |", "| --- | --- |", *rows]))
    return parts
