"""Parameters by their dotted names, and how the numbers of a model's tables follow from them.

Tables hold polynomials of the numbers that are declared, of a degree of four at most. Of those, differences of fourth
order are derivatives but for rounding, so that no force need say how its table is made.
"""

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from articulon.cases.overrides import Part, dotted, parts
from articulon.errors import CaseError, ModelError
from articulon.forces.model_tables import force_tables
from articulon.inputs import shown, words
from articulon.model import Model
from articulon.sensitivities.table_gradients import differentiated, flat

STATE = ("q", "u")
"""Parameters that are the initial state: coordinates in their tangent space, and speeds."""


@dataclass(frozen=True)
class Parameter:
    """A parameter, of one number or several."""

    name: str
    """As it was asked for."""
    shape: tuple[int, ...]
    """Of its derivative, () for one number."""
    columns: np.ndarray | None
    """What the numbers of the tables change by with each of its numbers, one behind the other, shape (numbers in all
    tables, numbers); None for the initial state."""


def parameters_of(model: Model, names: Any, where: str) -> list[Parameter]:
    """The parameters with these names.

    Raises
    ------
    CaseError
        For one that does not exist, or has no derivatives since it is a choice and no number.
    """
    found = list(dict.fromkeys(words(names, f"{where}: parameters", CaseError)))
    if not found:
        raise CaseError(f"{where}: parameters: name at least one, 'q', 'u' or 'forces[0].stiffness' say")
    return [_parameter(model, name, f"{where}: parameters") for name in found]


def _parameter(model: Model, name: str, where: str) -> Parameter:
    if name in STATE:
        return Parameter(name, (model.nu,), None)
    path = parts(name)
    if path[0] != "forces" or len(path) < 3:
        raise CaseError(
            f"{where}: there is no parameter {shown(name)}; there are 'q' and 'u', the initial state, and numbers of "
            "forces, such as 'forces[0].stiffness.rod' or 'forces.gravity.acceleration'"
        )
    k = _force(model, path[1], name, where)
    field, rest = str(path[2]), path[3:]
    force = model.forces[k]
    if field not in type(force).model_fields:
        close = difflib.get_close_matches(field, type(force).model_fields, n=1)
        hint = f"; did you mean '{close[0]}'?" if close else f" ({', '.join(type(force).model_fields)})"
        raise CaseError(f"{where}: {name}: '{force.kind}' has no {field}{hint}")
    if field in getattr(type(force), "not_differentiated", ()):
        raise CaseError(f"{where}: {name}: derivatives by {field} of '{force.kind}' are not known; leave it out")
    value = getattr(force, field)
    numbers = np.asarray(_numbers(_at(value, rest, name, where), name, where), dtype=np.float64)
    try:
        columns = [_derivative(model, k, field, rest, numbers, index) for index in np.ndindex(*numbers.shape)]
    except ModelError as error:
        raise CaseError(f"{where}: {name}: its numbers cannot be changed one by one ({error}); leave it out") from None
    return Parameter(name, numbers.shape, np.transpose(columns))


def _force(model: Model, label: Part, name: str, where: str) -> int:
    """The number of a force by its number, kind or name."""
    count = len(model.forces)
    if isinstance(label, int):
        if not -count <= label < count:
            raise CaseError(f"{where}: {name}: the model has {count} forces, counted from 0")
        return label % count
    found = [k for k, force in enumerate(model.forces) if label in (force.kind, getattr(force, "name", None))]
    if len(found) != 1:
        known = ", ".join(f"forces[{k}] is '{force.kind}'" for k, force in enumerate(model.forces))
        many = f"{len(found)} forces are" if found else "no force is"
        raise CaseError(
            f"{where}: {name}: {many} called '{label}'; name one by its number: {known or 'there are none'}"
        )
    return found[0]


def _at(value: Any, path: Sequence[Part], name: str, where: str) -> Any:
    """What lies at a path within a declared value."""
    for part in path:
        if isinstance(value, Mapping):
            there = part in value
        else:
            there = isinstance(value, tuple) and isinstance(part, int) and -len(value) <= part < len(value)
        if not there:
            known = f"there are {', '.join(map(str, value))}" if isinstance(value, Mapping) else f"it is {shown(value)}"
            raise CaseError(f"{where}: {name}: there is no {dotted([part])} in it; {known}")
        found: Any = value
        value = found[part]
    return value


def _numbers(value: Any, name: str, where: str) -> Any:
    """A number, or tuples of them; raises CaseError for anything else."""
    if isinstance(value, Mapping):
        key = next(iter(value), "")
        raise CaseError(f"{where}: {name}: it has a number for each of {', '.join(value)}; name one, {name}.{key} say")
    if value is None:
        raise CaseError(f"{where}: {name}: it has not been given; give it a number first, or leave it out")
    if isinstance(value, tuple) and value:
        return [_numbers(one, name, where) for one in value]
    if not isinstance(value, float):
        raise CaseError(
            f"{where}: {name}: it is {shown(value)}, which is a choice and no number that could be a little larger; "
            "leave it out"
        )
    return value


def _derivative(
    model: Model, k: int, field: str, path: Sequence[Part], numbers: np.ndarray, index: tuple[int, ...]
) -> np.ndarray:
    """What the tables change by with one number of a force."""
    force, size = model.forces[k], abs(float(numbers[index]))
    h = 0.25 * size if size > 0.0 else 1.0

    def tables(change: float) -> np.ndarray:
        changed = numbers.copy()
        changed[index] += change
        value = _with(getattr(force, field), path, _tuples(changed))
        forces = (*model.forces[:k], force.model_copy(update={field: value}), *model.forces[k + 1 :])
        return flat_tables(replace(model, forces=forces))

    return (8.0 * (tables(h) - tables(-h)) - (tables(2.0 * h) - tables(-2.0 * h))) / (12.0 * h)


def _tuples(numbers: np.ndarray) -> Any:
    """Numbers as they are declared."""
    return float(numbers) if numbers.ndim == 0 else tuple(_tuples(one) for one in numbers)


def _with(value: Any, path: Sequence[Part], new: Any) -> Any:
    """A declared value with another one at a path within it."""
    if not path:
        return new
    part, rest = path[0], path[1:]
    if isinstance(value, Mapping):
        return {**value, part: _with(value[part], rest, new)}
    changed = list(value)
    changed[int(part)] = _with(value[int(part)], rest, new)
    return tuple(changed)


def flat_tables(model: Model) -> np.ndarray:
    """The numbers of all tables that have derivatives, one behind the other."""
    return flat(differentiated(force_tables(model)))
