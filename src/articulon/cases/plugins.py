"""User files that extend the package: model builders, forces, pair laws, walls, thermostats, barostats, scaling
policies, lock and release conditions, checks and integration formulas. A file that works inside the package also works
as a plugin."""

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
    """Run a Python file and register what it defines, so that cases and models can name it.

    Classes are recognised by an attribute and a base class:

    - force: ``kind``, and ``articulon.forces.base.Force`` or the attribute ``site_terms``;
    - thermostat: ``kind``, and ``articulon.thermostats.base.BaseThermostat``;
    - barostat: ``kind``, and ``articulon.barostats.base.BaseBarostat``;
    - check: ``kind``, and ``articulon.simulation.checks.Check``;
    - scaling policy: ``policy``, and ``articulon.scaling.base.ScalingPolicy``;
    - wall: ``shape``, and ``articulon.forces.contact.walls.Wall``;
    - condition: ``when``, and ``articulon.adaptive.conditions.BaseCondition``;
    - model builder: ``builder``, and ``articulon.cases.builders.BaseBuilder``.

    A ``tableau``, ``Multistep`` or ``pair`` assigned to a name in capitals is an integration formula: ``HEUN`` defines
    the rule ``heun``. A file is run once; files with the same contents are the same plugin. Plugins cannot import each
    other: shared code belongs in an installed module.

    Parameters
    ----------
    path
        The file.

    Returns
    -------
    ModuleType
        The module that was made from the file.

    Raises
    ------
    CaseError
        If the file cannot be run, defines nothing of these kinds, uses a name that is taken, or has changed since it
        was run; the message names the file.
    """
    file = Path(path).expanduser().absolute()
    if not is_file(file):
        raise CaseError(f"{file}: there is no such plugin file")
    source = file.read_bytes()
    known = _LOADED.get(file)
    if known is not None and known[0] != source:
        raise CaseError(f"{file}: has changed since it was run; restart Python to run it again")
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
    """Register everything that a module defines. If a part raises ModelError, nothing is registered."""
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
    """Return the declarations in which a member of a family can be chosen, at any depth; nested declarations come
    first."""
    within: dict[type[Declaration], bool] = {}

    def chooses(declaration: type[Declaration]) -> bool:
        if declaration not in within:
            within[declaration] = False  # ends the recursion for a declaration that contains itself
            found = [_chosen(field.annotation, field.metadata) for field in declaration.model_fields.values()]
            inside = [chooses(one) for choice, held in found for one in held]
            # Inserted again, so that it comes after the declarations that it contains.
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
    """Return whether a type allows the choice of a family member, and the declarations that the type contains."""
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
    """Return the plugin files that define the classes of the given declarations and of those nested in them."""
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
    """Run the plugin files that a case names, relative to the case, and return their paths.

    Raises
    ------
    CaseError
        If ``files`` is not a list of files, or code of the case is not allowed to run; the message names the key.
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
