"""Files of a user's that add to what there is: builders of models, forces and laws of pairs, walls, thermostats,
scaling policies, conditions that lock and release, checks, formulas of integration. What works as a file of the package
works as one of these."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any, Literal, get_args, get_origin

from articulon.adaptive.conditions import CONDITIONS
from articulon.barostats import BAROSTATS
from articulon.cases.builders import BUILDERS
from articulon.cases.consent import are_numbers
from articulon.declaration import Choice, Declaration
from articulon.errors import CaseError, ModelError
from articulon.families import Family
from articulon.forces import FORCES
from articulon.forces.contact.walls import WALLS
from articulon.forces.user_functions import loaded_module
from articulon.inputs import is_file, shown
from articulon.integrate import INTEGRATORS, Canonical, Explicit, PredictorCorrector, rules
from articulon.scaling import POLICIES
from articulon.simulation.checks import CHECKS
from articulon.thermostats import THERMOSTATS

FAMILIES: tuple[Family, ...] = (BUILDERS, FORCES, WALLS, THERMOSTATS, BAROSTATS, POLICIES, CONDITIONS, CHECKS)
FORMULAS: dict[type[Declaration], Mapping[str, Any]] = {
    Explicit: rules.EXPLICIT,
    PredictorCorrector: rules.PREDICTOR_CORRECTOR,
    Canonical: rules.CANONICAL,
}
_LOADED: dict[Path, tuple[bytes, ModuleType]] = {}


def load_plugin(path: str | Path) -> ModuleType:
    """Run a Python file and add what it defines to what cases and models can name.

    A class with a ``kind`` that derives from ``articulon.forces.base.Force``, or that has ``site_terms``, is a force;
    one that derives from ``articulon.thermostats.base.BaseThermostat`` a thermostat, from
    ``articulon.barostats.base.BaseBarostat`` a barostat, and from ``articulon.simulation.checks.Check`` a check. One
    with a ``policy`` that derives from
    ``articulon.scaling.base.ScalingPolicy`` is a scaling policy, with a ``shape`` from
    ``articulon.forces.contact.walls.Wall`` a wall, with a ``when`` from
    ``articulon.adaptive.conditions.BaseCondition`` a condition, with a ``builder`` from
    ``articulon.cases.builders.BaseBuilder`` a builder of models. A ``tableau``, ``Multistep`` or ``pair`` under a
    name in capitals is a formula: ``HEUN`` is the rule ``heun``. A file is run once, and one with the same contents is
    the same plugin. One plugin does not import another: what they share stands in a module that is installed.

    Parameters
    ----------
    path
        The file.

    Returns
    -------
    ModuleType
        The module that the file makes.

    Raises
    ------
    CaseError
        Naming the file, where it cannot be run, defines nothing of the kind, takes a name that is another's, or has
        changed since it was run.
    """
    file = Path(path).expanduser().absolute()
    if not is_file(file):
        raise CaseError(f"{file}: there is no such file of plugins")
    source = file.read_bytes()
    known = _LOADED.get(file)
    if known is not None and known[0] != source:
        raise CaseError(f"{file}: has changed since it was run; start Python anew to run it again")
    known = known or next((one for one in _LOADED.values() if one[0] == source), None)
    if known is not None:
        _LOADED[file] = known
        return known[1]
    module = _run(file)
    try:
        _add_all(module)
    except ModelError as error:
        raise CaseError(f"{file}: {error}") from None
    _LOADED[file] = source, module
    return module


def _add_all(module: ModuleType) -> None:
    """Adds what a module defines to what can be named: all of it, or nothing where ModelError is raised for some."""
    found = {family: [one for one in vars(module).values() if family.defines(module, one)] for family in FAMILIES}
    for family, members in found.items():
        values = [value for member in members for value in family.values(member)]
        if len(set(values)) < len(values):
            raise ModelError(f"two classes have one {family.key}: {', '.join(sorted(values))}")
        for member in members:
            family.check(member)
    formulas = rules.found_in(module)
    for rule in formulas:
        if rule in INTEGRATORS.members:
            raise ModelError(f"{rule.upper()}: there is a rule '{rule}' already; choose another name")
    if not (any(found.values()) or formulas):
        raise ModelError(
            f"defines no {', '.join(family.name for family in FAMILIES)} or formula of integration; derive a class "
            "from articulon.forces.base.Force, for example"
        )
    for family, members in found.items():
        for member in members:
            family.add(member)
    rules.take(module)
    for declaration, known in FORMULAS.items():
        words: Any = Literal[tuple(known)]
        declaration.model_fields["rule"].annotation = words
        declaration.model_rebuild(force=True)
        INTEGRATORS.add(declaration)
    for declaration in _choosing():
        declaration.model_rebuild(force=True)


def _choosing() -> list[type[Declaration]]:
    """The declarations in which, at any depth, a member of a family is chosen; what stands in others comes first."""
    within: dict[type[Declaration], bool] = {}

    def chooses(declaration: type[Declaration]) -> bool:
        if declaration not in within:
            within[declaration] = False  # one that stands in itself
            found = [_chosen(field.annotation, field.metadata) for field in declaration.model_fields.values()]
            inside = [chooses(one) for choice, held in found for one in held]
            # Looked at again, so that it stands behind what it holds.
            del within[declaration]
            within[declaration] = any(choice for choice, _ in found) or any(inside)
        return within[declaration]

    for declaration in _derived(Declaration):
        chooses(declaration)
    return [declaration for declaration, chosen in within.items() if chosen]


def _derived(base: type[Declaration]) -> Iterator[type[Declaration]]:
    for one in base.__subclasses__():
        yield one
        yield from _derived(one)


def _chosen(annotation: Any, marks: tuple[Any, ...] | list[Any] = ()) -> tuple[bool, list[type[Declaration]]]:
    """Whether a type lets a member of a family be chosen, and the declarations that stand in it."""
    choices = [mark for mark in marks if isinstance(mark, Choice)]
    if choices:
        return True, [member for choice in choices for member in choice]
    if isinstance(annotation, type) and issubclass(annotation, Declaration):
        return False, [annotation]
    if get_origin(annotation) is Annotated:
        inner, *marks = get_args(annotation)
        return _chosen(inner, marks)
    found = [_chosen(part) for part in get_args(annotation)]
    return any(choice for choice, _ in found), [one for _, held in found for one in held]


def _run(file: Path) -> ModuleType:
    try:
        return loaded_module(file)
    except ModelError as error:
        raise CaseError(f"{file}: {error}") from error.__cause__


def files_in_use(declarations: Iterable[Any]) -> tuple[str, ...]:
    """The files of plugins that define what some declarations are, or what stands in them at any depth."""
    declarations = list(declarations)
    used = {type(one).__module__ for top in declarations for one in _declared(top)}
    rules_in_use = {getattr(one, "rule", None) for one in declarations}
    found: dict[str, str] = {}
    for file, (_, module) in _LOADED.items():
        if module.__name__ in used or rules_in_use & set(rules.found_in(module)):
            found.setdefault(module.__name__, str(file))
    return tuple(found.values())


def _declared(value: Any) -> Iterator[Declaration]:
    parts: Iterable[Any] = ()
    if isinstance(value, Declaration):
        yield value
        parts = dict(value).values()
    elif isinstance(value, Mapping):
        parts = value.values()
    elif isinstance(value, list | tuple) and not are_numbers(value):
        parts = value
    for one in parts:
        yield from _declared(one)


def load_plugins(files: object, source: str, allow_code: bool, consent: str) -> list[str]:
    """Runs the files that a case names, which lie beside it, and says where they are.

    Raises
    ------
    CaseError
        Naming the key, for what is no list of files, and where nobody has allowed the code of the case to run.
    """
    if not isinstance(files, list | tuple) or not all(isinstance(one, str) for one in files):
        raise CaseError(f"plugins.files: expected a list of files, got {shown(files)}")
    if files and not allow_code:
        named = ", ".join(f"'{one}'" for one in files[:3])
        raise CaseError(f"plugins.files: {named}: this is code that the case names, and it was not run. {consent}")
    found = []
    for k, one in enumerate(files):
        file = Path(source).parent / Path(one).expanduser()
        try:
            load_plugin(file)
        except CaseError as error:
            raise CaseError(f"plugins.files[{k}]: {error}") from error.__cause__
        found.append(str(file.absolute()))
    return found
