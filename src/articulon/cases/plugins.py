"""Files of a user's that add to what there is: forces and laws of pairs, thermostats, scaling policies, formulas of
integration. What works as a file of the package works as one of these."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any, Literal, get_args, get_origin

from articulon.declaration import Choice, Declaration
from articulon.errors import CaseError, ModelError
from articulon.families import Family
from articulon.forces import FORCES
from articulon.forces.user_functions import loaded_module
from articulon.inputs import is_file, shown
from articulon.integrate import INTEGRATORS, Canonical, Explicit, PredictorCorrector, rules
from articulon.scaling import POLICIES
from articulon.thermostats import THERMOSTATS

FAMILIES: tuple[Family, ...] = (FORCES, THERMOSTATS, POLICIES)
FORMULAS: dict[type[Declaration], Mapping[str, Any]] = {
    Explicit: rules.EXPLICIT,
    PredictorCorrector: rules.PREDICTOR_CORRECTOR,
    Canonical: rules.CANONICAL,
}
_LOADED: dict[Path, tuple[bytes, ModuleType]] = {}


def load_plugin(path: str | Path) -> ModuleType:
    """Run a Python file and add what it defines to what cases and models can name.

    A class with a ``kind`` that derives from ``articulon.forces.base.Force``, or that has ``site_terms``, is a force;
    one that derives from ``articulon.thermostats.base.BaseThermostat`` a thermostat; one with a ``policy`` that derives
    from ``articulon.scaling.base.ScalingPolicy`` a scaling policy. A ``tableau``, ``Multistep`` or ``pair`` under a
    name in capitals is a formula: ``HEUN`` is the rule ``heun``. A file is run once.

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
    if known is not None:
        if known[0] != source:
            raise CaseError(f"{file}: has changed since it was run; start Python anew to run it again")
        return known[1]
    module = _run(file)
    try:
        found = [one for family in FAMILIES for one in family.take(module)] + rules.take(module)
    except ModelError as error:
        raise CaseError(f"{file}: {error}") from None
    if not found:
        raise CaseError(
            f"{file}: defines no force, thermostat, scaling policy or formula of integration; derive a class from "
            "articulon.forces.base.Force, for example"
        )
    _LOADED[file] = source, module
    for declaration, formulas in FORMULAS.items():
        words: Any = Literal[tuple(formulas)]
        declaration.model_fields["rule"].annotation = words
        declaration.model_rebuild(force=True)
        INTEGRATORS.add(declaration)
    for declaration in _choosing(Declaration):
        declaration.model_rebuild(force=True)
    return module


def _choosing(base: type[Declaration]) -> Iterator[type[Declaration]]:
    """The declarations that have a field whose type is chosen among a family."""
    for one in base.__subclasses__():
        if any(_is_choice(field.annotation, field.metadata) for field in one.model_fields.values()):
            yield one
        yield from _choosing(one)


def _is_choice(annotation: Any, marks: Sequence[Any] = ()) -> bool:
    if any(isinstance(mark, Choice) for mark in marks):
        return True
    marks = annotation.__metadata__ if get_origin(annotation) is Annotated else ()
    return bool(marks and _is_choice(None, marks)) or any(_is_choice(part) for part in get_args(annotation))


def _run(file: Path) -> ModuleType:
    try:
        return loaded_module(file, f"articulon_plugin_{file.stem}_{len(_LOADED)}")
    except ModelError as error:
        raise CaseError(f"{file}: {error}") from error.__cause__


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
