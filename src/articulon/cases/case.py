"""A case: everything that a run needs, with every quantity as a float in the case's units."""

import hashlib
import json
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

from articulon import __version__
from articulon.adaptive import Adaptive
from articulon.barostats import Barostat
from articulon.building import ModelBuilder, cartesian
from articulon.cases.builders import ModelDeclaration
from articulon.cases.builders.builder_base import function_beside
from articulon.cases.consent import named_code, refuse_code, without_code
from articulon.cases.folder_names import RUN_DEFAULTS, RUN_WITHOUT_EFFECT, WITHOUT_EFFECT, folder_name
from articulon.cases.given_model import GivenModel
from articulon.cases.overrides import changed, checked_overrides, dotted, parsed
from articulon.cases.plugins import load_plugins
from articulon.cases.schema import CaseFile, Comparison, Dynamics, Fidelity, Plugins, RunSettings, with_discriminators
from articulon.cases.study_sections import Fit, Optimise, Sensitivities
from articulon.cases.toml_writing import toml
from articulon.declaration import nearest
from articulon.errors import CaseError, ModelError
from articulon.forces import AnyForce
from articulon.forces.bath_temperatures import at_bath
from articulon.forces.user_functions import CODE_KEYS, CONSENT
from articulon.inputs import DEEPEST, clipped, too_deep
from articulon.integrate import Integrator
from articulon.lammps.engine import through_lammps
from articulon.model import Model
from articulon.model.box import Box
from articulon.notebook_table import table_of_words
from articulon.scaling import Policy
from articulon.simulation.checks import Check
from articulon.thermostats import Thermostat
from articulon.units import UnitSystem, unit_system


@dataclass(frozen=True)
class Case:
    """A complete description of a run. Created by :func:`articulon.load_case`."""

    name: str
    """Name of the case, and by default of its folder of results."""
    source: str = field(compare=False)
    """File that the case was read from; error messages begin with it."""
    units: UnitSystem
    """Units of all numbers of the case."""
    title: str
    """Title, one line."""
    cite: tuple[str, ...]
    """Keys of references, or references written out in full."""
    notes: tuple[str, ...]
    """Notes for the reader, such as choices that the source leaves open."""
    model_declaration: ModelDeclaration | GivenModel
    """Model that is simulated."""
    box: Box | None
    """Box: periodic or open boundaries of space."""
    forces: tuple[AnyForce, ...]
    """Forces that act on the model."""
    dynamics: Dynamics
    """Solver of the equations of motion."""
    scaling: Policy
    """Scaling policy of the forces."""
    thermostat: Thermostat | None
    """Thermostat of the run; None without one."""
    barostat: Barostat | None
    """Barostat of the run; None without one."""
    integrator: Integrator
    """Integrator that advances the state."""
    adaptive: Adaptive | None
    """Rules by which joints lock and release during the run; None without any."""
    run: RunSettings
    """Duration, seed and output of the run."""
    fidelity: Fidelity
    """Criteria by which a scaled run is judged."""
    checks: tuple[Check, ...]
    """Checks that the results must pass."""
    variants: dict[str, dict[str, Any]]
    """Overrides of each variant, as written in the file."""
    comparison: Comparison
    """Default settings of ``articulon compare``."""
    plugins: Plugins
    """Python files that define further kinds of declarations."""
    sensitivities: Sensitivities | None = None
    """Default settings of ``articulon sensitivities``; None without any."""
    fit: Fit | None = None
    """Parameters to fit to measurements; None without any."""
    optimise: Optimise | None = None
    """Parameters to optimise and their targets; None without any."""
    changes: dict[str, Any] = field(default_factory=dict, compare=False)
    """Overrides by dotted key that were applied to the file or variant of the same name to make this case."""
    allow_code: bool = field(default=False, compare=False)
    """Whether Python functions named in the case may be run."""

    def __repr__(self) -> str:
        return f"Case({self.name!r}: {self.words})"

    @property
    def words(self) -> str:
        """One-line description: model builder, scaling policy, integrator, duration and seed."""
        unit = "" if self.units.time is None else f" {self.units.symbols[2]}"
        scaled = "unscaled" if not self.scaling.scales else f"{self.scaling.policy} scaling"
        what = f"{self.model_declaration.builder} model, {scaled}, {self.integrator.rule}"
        return f"{what}, {float(self.run.duration):.6g}{unit}, seed {self.run.seed}"

    def _repr_html_(self) -> str:
        rows = {"title": self.title, "what": self.words, "file": self.source, "units": self.units.name}
        return table_of_words(f"Case {self.name}", rows)

    @property
    def folder_name(self) -> str:
        """Default name of the folder of results: the name of the case and the values that overrides change."""
        return folder_name(self.name, self.changes)

    @property
    def driven_by_code(self) -> bool:
        """Whether a Python function named in the case drives a joint."""
        return self.model_declaration.driven_by_code

    @property
    def code(self) -> list[tuple[str, str]]:
        """Return the keys and values of the Python functions that the case names."""
        sections = (("model", self.model_declaration), ("forces", self.forces), ("adaptive", self.adaptive))
        return [named for key, section in sections for named in named_code(section, key)]

    def check_code(self) -> None:
        """Raise CaseError if the case names Python functions that the user has not allowed to run."""
        if not self.allow_code:
            refuse_code(self.source, self.code)

    def build_model(self, *, run_code: bool = True) -> Model:
        """Build the model with its forces.

        Parameters
        ----------
        run_code
            Whether the functions that the case names are loaded; the case must then be allowed to run code. Without
            them the model can be inspected, but forces that these functions define cannot be evaluated, and coordinates
            that they drive are free. Forces between sites are then those of articulon, even if ``run.engine`` names
            another engine.

        Raises
        ------
        CaseError
            If the model cannot be built, or functions are not allowed to run; the message names the file.
        """
        declaration, forces = self.model_declaration, self.forces
        if isinstance(declaration, GivenModel):
            return declaration.model
        if run_code:
            self.check_code()
        else:
            forces = tuple(map(without_code, forces))
            declaration = declaration.without_code()
        try:
            builder = ModelBuilder(self.units.name, self.box)
            declaration.populate(builder)
            builder.inferred = list(declaration.inferred)
            for force in forces:
                builder.add_force(force)
            model = builder.build()
            if self.dynamics.coordinates == "cartesian":
                model = cartesian(model)
            if run_code and self.run.engine == "lammps":
                model = through_lammps(model, "run.engine")
            model = at_bath(model, self.thermostat)
            if self.run.stop is not None:
                self.run.stop.condition(model)
        except (CaseError, ModelError) as error:
            raise CaseError(located(str(error), self.source)) from None
        return model

    @property
    def inferred(self) -> tuple[str, ...]:
        """Assumptions about a file made when the model was last built, and parts of the file that are held constant or
        left out, one line each."""
        return self.model_declaration.inferred

    def variant(self, name: str) -> "Case":
        """Return the case with the overrides of a variant, named ``<case>-<variant>``.

        The returned case has no variants, because the variants of this case may not fit it. Raises CaseError for an
        unknown variant.
        """
        if name not in self.variants:
            hint = nearest(name, list(self.variants)) or "; the case has no [variants]"
            raise CaseError(f"{self.source}: variants: there is no variant '{name}'{hint}")
        try:
            case = self.with_overrides(self.variants[name])
        except CaseError as error:
            prefix = f"{self.source}: "
            lines = (f"{prefix}variants.{name}: {line.removeprefix(prefix)}" for line in str(error).splitlines())
            raise CaseError("\n".join(lines)) from None
        return replace(
            case, name=f"{self.name}-{name}", variants={}, comparison=Comparison(), changes=dict(self.changes)
        )

    def with_overrides(self, overrides: Mapping[str, Any]) -> "Case":
        """Return the case with overrides by dotted key, checked as in :func:`articulon.load_case`."""
        case = resolve(self.content(), self.source, self.name, overrides, self.allow_code)
        return replace(case, changes={**self.changes, **overrides})

    def content(self) -> dict[str, Any]:
        """Return every section as plain tables, lists, strings and numbers, with defaults written out."""
        heading = {
            "title": self.title,
            "name": self.name,
            "cite": self.cite,
            "units": self.units.name,
            "notes": self.notes,
        }
        sections = {
            "case": heading,
            **({"plugins": self.plugins.model_dump()} if self.plugins.files else {}),
            "model": self.model_declaration.model_dump(),
            **({} if self.box is None else {"box": self.box.model_dump()}),
            "forces": [force.model_dump() for force in self.forces],
            "dynamics": self.dynamics.model_dump(),
            "scaling": self.scaling.model_dump(),
            **({} if self.thermostat is None else {"thermostat": self.thermostat.model_dump()}),
            **({} if self.barostat is None else {"barostat": self.barostat.model_dump()}),
            "integrator": self.integrator.model_dump(),
            **({} if self.adaptive is None else {"adaptive": self.adaptive.model_dump()}),
            "run": self.run.model_dump(),
            "fidelity": self.fidelity.model_dump(),
            "checks": [check.model_dump() for check in self.checks],
            "variants": self.variants,
            "compare": self.comparison.model_dump(),
            **{name: asked.model_dump() for name, asked in self._studies if asked is not None},
        }
        return {name: _plain(section) for name, section in sections.items()}

    def to_toml(self) -> str:
        """Return TOML text that reads back as an equal case; raises CaseError for a force that is a Python object."""
        versions = {
            "articulon": __version__,
            "numpy": version("numpy"),
            "numba": version("numba"),
            "python": platform.python_version(),
        }
        if isinstance(self.model_declaration, GivenModel):
            self.model_declaration.check_writable()
        heading = f"# As resolved by articulon {__version__}; plain numbers are in the units of [case].\n\n"
        try:
            return heading + toml({**self.content(), "versions": versions})
        except CaseError as error:
            raise CaseError(f"{self.source}: {error}") from None

    def digest(self) -> str:
        """Return the SHA-256 of everything that determines the results of a run. Equal digests mean equal results.

        Titles, notes, variants, the number of threads, the checkpoint interval and the version of articulon are left
        out.
        """
        return hashlib.sha256(json.dumps(self._determining(), sort_keys=True, default=str).encode()).hexdigest()

    def differences(self, other: "Case") -> list[str]:
        """Return the dotted keys that affect the results of a run and whose values differ from those of another
        case."""
        return _differing(self._determining(), other._determining(), ())

    def check_continues(self, file: Path) -> None:
        """Raise CaseError unless the ``case.toml`` of a run describes the same run as this case."""
        stored = Case.read(file, allow_code=self.allow_code)
        keys = self.differences(stored)
        if keys:
            shown = ", ".join(keys[:5]) + (", ..." if len(keys) > 5 else "")
            raise CaseError(
                f"{file.parent} holds another run: {shown} differ from {file}; give the case and overrides that it was "
                "started with, or another folder (out=...)"
            )

    @staticmethod
    def read(file: Path, overrides: Mapping[str, Any] | None = None, allow_code: bool = False) -> "Case":
        """Read the case in a file; raises CaseError if it cannot be read or run."""
        return resolve(table_of(file), str(file), file.stem, overrides or {}, allow_code)

    @property
    def _studies(self) -> tuple[tuple[str, Sensitivities | Fit | Optimise | None], ...]:
        return ("sensitivities", self.sensitivities), ("fit", self.fit), ("optimise", self.optimise)

    def _determining(self) -> dict[str, Any]:
        content = self.content()
        kept = {name: section for name, section in content.items() if name not in WITHOUT_EFFECT}
        if "plugins" in kept:  # plugins are identified by their contents, not by their paths
            kept["plugins"] = [hashlib.sha256(Path(one).read_bytes()).hexdigest() for one in self.plugins.files]
        kept["run"] = {
            key: value
            for key, value in kept["run"].items()
            if key not in RUN_WITHOUT_EFFECT and RUN_DEFAULTS.get(key) != value
        }
        return {**kept, "units": self.units.name}


def text_of(file: Path) -> str:
    """Text of a case file; raises CaseError if it cannot be read."""
    try:
        return file.read_text(encoding="utf-8-sig")  # Windows editors add a byte-order mark
    except UnicodeDecodeError as error:
        raise CaseError(f"{file}: is not UTF-8 text: {error.reason} at byte {error.start}") from None
    except (OSError, ValueError) as error:
        raise CaseError(f"{clipped(file)}: cannot be read: {getattr(error, 'strerror', None) or error}") from None


def table_of(file: Path) -> dict[str, Any]:
    """Table in a TOML file; raises CaseError, with the line, for invalid TOML."""
    text = text_of(file)
    try:
        return parsed(text)
    except ValueError as error:
        raise CaseError(f"{file}: is not valid TOML: {clipped(error)}") from None


def resolve(
    table: Mapping[str, Any], source: str, name: str, overrides: Mapping[str, Any], allow_code: bool = False
) -> Case:
    """Build the case that a table describes, with overrides; ``allow_code`` lets functions that it names run.

    Raises
    ------
    CaseError
        One line per fault: the file, the key, what was expected and the nearest valid key.
    """
    overridden: list[str] = []
    try:
        overrides = checked_overrides(overrides)
        overridden = list(overrides)
        if too_deep(table):
            raise CaseError(f"tables and lists are nested more than {DEEPEST} deep, which no key allows")
        whole, overridden = changed(with_discriminators(table), overrides)
        plugins = whole.get("plugins")
        if isinstance(plugins, Mapping) and "files" in plugins:
            files = load_plugins(plugins["files"], source, allow_code, CONSENT)
            whole = {**whole, "plugins": {**plugins, "files": files}}
        file = CaseFile.from_mapping(whole)
        try:
            units = unit_system(file.case.units)
        except CaseError as error:
            raise CaseError(f"case.units: {error}") from None
        file = file.resolved(units)
    except CaseError as error:
        raise CaseError(located(str(error), source, overridden)) from None
    heading = file.case
    return Case(
        name=heading.name or name,
        source=source,
        units=units,
        title=heading.title or heading.name or name,
        cite=heading.cite,
        notes=heading.notes,
        model_declaration=file.model.beside(source),
        box=file.box,
        forces=tuple(_beside(force, source, f"forces[{k}]") for k, force in enumerate(file.forces)),
        dynamics=file.dynamics,
        scaling=file.scaling,
        thermostat=file.thermostat,
        barostat=file.barostat,
        integrator=file.integrator,
        adaptive=file.adaptive,
        run=file.run,
        fidelity=file.fidelity,
        checks=file.checks,
        variants=file.variants,
        comparison=file.compare,
        plugins=file.plugins,
        sensitivities=file.sensitivities,
        fit=file.fit,
        optimise=file.optimise,
        changes=dict(overrides),
        allow_code=allow_code,
    )


def located(message: str, source: str, overridden: Sequence[str] = ()) -> str:
    """Prefix each line with the file, and mark keys that an override has set."""
    lines = []
    for line in message.splitlines():
        key = line.partition(": ")[0].partition(",")[0]
        ours = any(key == path or key.startswith((f"{path}.", f"{path}[")) for path in overridden)
        front = "" if line.startswith(f"{source}: ") else f"{source}: "
        lines.append(f"{front}{line}" + (" (set by an override)" if ours else ""))
    return "\n".join(lines)


def _beside(force: AnyForce, source: str, where: str) -> AnyForce:
    """Return a force whose files and functions are located relative to the case file."""
    if hasattr(force, "beside"):
        return force.beside(source, where)
    named = {key: getattr(force, key, None) for key in CODE_KEYS}
    found = {key: function_beside(function, source) for key, function in named.items() if isinstance(function, str)}
    return force.model_copy(update=found) if found else force


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items() if item is not None}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value


def _differing(a: Any, b: Any, path: tuple[str | int, ...]) -> list[str]:
    if isinstance(a, dict) and isinstance(b, dict):
        keys = [*a, *(key for key in b if key not in a)]
        return [line for key in keys for line in _differing(a.get(key), b.get(key), (*path, key))]
    if isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        return [line for k, (x, y) in enumerate(zip(a, b, strict=True)) for line in _differing(x, y, (*path, k))]
    return [] if a == b else [dotted(path)]
