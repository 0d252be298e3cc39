"""Parameters by their dotted names, and the derivatives of the numbers of a model's tables with respect to them.

The entries of most tables are polynomials of the declared numbers, of degree four at most. For these, differences of
fourth order are exact up to rounding, so no force has to define the derivatives of its table. The tables of some forces
contain other functions (``curved``), such as mixing rules and twelfth powers of diameters. For these, differences are
of tenth order, with a step that is a small fraction of the number; for x¹² their error is about 1e-14.
"""

import difflib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from articulon.cases.overrides import Part, dotted, parts
from articulon.declaration import Declaration
from articulon.errors import CaseError, ModelError
from articulon.forces.model_tables import force_tables
from articulon.inputs import shown, words
from articulon.model import Model, kernel_tables
from articulon.sensitivities.body_parameters import body_parameter
from articulon.sensitivities.site_parameters import site_parameter
from articulon.sensitivities.table_gradients import differentiated, flat, site_numbers
from articulon.sensitivities.tangent_spaces import displacement

FOURTH = 2.0 / 3.0, -1.0 / 12.0
TENTH = 5.0 / 6.0, -5.0 / 21.0, 5.0 / 84.0, -5.0 / 504.0, 1.0 / 1260.0
"""Weights of the central differences over one step, two steps and so on to each side, of tenth order; ``FOURTH`` holds
those of fourth order."""
SMALL = 1e-3
"""Step of the differences of arbitrary functions, as a fraction of the number."""
STATE = ("q", "u")
"""Parameters that are the initial state: coordinates in their tangent space, and speeds."""


@dataclass(frozen=True)
class Parameter:
    """A parameter, which is one number or several."""

    name: str
    """Name as the user gave it."""
    numbers: np.ndarray
    """Numbers of the parameter; derivatives have the same shape, which is () for one number."""
    changed: Callable[[np.ndarray], Model] | None
    """Function that builds the model with other numbers; None for the initial state."""
    curved: bool = False
    """Whether tables depend on the numbers by functions other than polynomials of degree four at most."""
    of_builder: bool = False
    """Whether a builder uses the parameter; it may then also change the initial state."""

    @property
    def scheme(self) -> tuple[tuple[float, ...], float]:
        """Difference scheme for tables: weights, and the step as a fraction of a number."""
        if self.of_builder:
            return FOURTH, SMALL
        return (TENTH, 1.0 / 64.0) if self.curved else (FOURTH, 0.25)

    @property
    def of_forces(self) -> bool:
        """Whether the parameter belongs to forces, so that bodies do not depend on it."""
        return parts(self.name)[0] == "forces"

    @property
    def of_bodies(self) -> bool:
        """Whether bodies may depend on the parameter."""
        return parts(self.name)[0] in ("bodies", "model")

    @cached_property
    def columns(self) -> np.ndarray:
        """Return the derivatives of the numbers of all tables with respect to each number of the parameter, shape
        (numbers in all tables, numbers)."""
        assert self.changed is not None
        changed = self.changed
        frames = kernel_tables(changed(self.numbers)).forest.rotation
        return np.transpose(
            [self._derivative(lambda x: flat_tables(changed(x), frames), i, *self.scheme) for i in self._indices]
        )

    @cached_property
    def start(self) -> np.ndarray:
        """Return the derivatives of the model's initial state with respect to each number of the parameter: coordinates
        in their tangent space and speeds, shape (numbers, 2 nu)."""
        assert self.changed is not None
        changed = self.changed
        model = changed(self.numbers)
        if not self.of_builder:
            return np.zeros((self.numbers.size, 2 * model.nu))

        def of(x: np.ndarray) -> np.ndarray:
            new = changed(x)
            return np.concatenate([new.q0, new.u0])

        rows = [self._derivative(of, i, *self.scheme) for i in self._indices]
        return np.array(
            [np.concatenate([displacement(model, model.q0, row[: model.nq]), row[model.nq :]]) for row in rows]
        )

    def of(self, function: Callable[[Model], Any]) -> np.ndarray:
        """Return the derivatives of a function of the model with respect to the parameter's numbers, along the first
        axis. They are differences of fourth order, with a step of a thousandth of each number."""
        assert self.changed is not None
        changed = self.changed
        return np.array(
            [self._derivative(lambda x: np.array(function(changed(x))), i, FOURTH, SMALL) for i in self._indices]
        )

    @property
    def _indices(self) -> list[tuple[int, ...]]:
        return list(np.ndindex(*self.numbers.shape))

    def _derivative(
        self,
        function: Callable[[np.ndarray], np.ndarray],
        index: tuple[int, ...],
        weights: tuple[float, ...],
        part: float,
    ) -> np.ndarray:
        """Return the derivative of a function of the parameter's numbers with respect to one of them, with a step that
        is the fraction ``part`` of this number."""
        size = abs(float(self.numbers[index])) or float(np.abs(self.numbers).max(initial=0.0)) or 1.0
        h = part * size

        def at(change: float) -> np.ndarray:
            numbers = self.numbers.copy()
            numbers[index] += change
            return function(numbers)

        steps = [(weight / h) * (at(k * h) - at(-k * h)) for k, weight in enumerate(weights, 1)]
        return np.sum(steps, axis=0)


def names_of(names: Any, where: str) -> list[str]:
    """Return the names of parameters, each once; raises CaseError if there is no name."""
    found = list(dict.fromkeys(words(names, f"{where}: parameters", CaseError)))
    if not found:
        raise CaseError(f"{where}: parameters: name at least one, such as 'q', 'u' or 'forces[0].stiffness'")
    return found


def changes_by(parameters: list[Parameter], model: Model) -> tuple[np.ndarray, np.ndarray]:
    """Return the derivatives of the numbers of the tables (parameters, numbers) and of the initial state (parameters, 2
    nu). They are taken with respect to each parameter except the initial state itself."""
    changing = [one for one in parameters if one.changed is not None]
    if not changing:
        return np.zeros((0, flat_tables(model).size)), np.zeros((0, 2 * model.nu))
    return np.hstack([one.columns for one in changing]).T, np.vstack([one.start for one in changing])


UNCHANGED = {
    "loops": "derivatives with respect to frames of loops are not implemented; make this joint a joint of the tree and "
    "close the loop at another joint, so that the frame is 'bodies.NAME.position', or take differences of runs",
    "drives": "derivatives with respect to given motions are not implemented; take differences of runs",
}
"""Reasons why some numbers cannot be parameters, and what to choose instead, by the first part of their names."""


def parameter_of(model: Model, name: str, where: str) -> Parameter:
    """Return the parameter of a model with this name; raises CaseError if it does not exist or is not a number."""
    if name in STATE:
        for k, force in enumerate(model.forces):
            field = _from_the_start(force)
            if name == "q" and field is not None:
                raise CaseError(
                    f"{where}: q: forces[{k}].{field} is 'initial', so that '{force.kind}' changes with the initial "
                    "coordinates, and derivatives for this are not implemented; give numbers there, or leave q out"
                )
        return Parameter(name, np.zeros(model.nu), None)
    path = parts(name)
    path = path[1:] if path[:2] in (("model", "bodies"), ("model", "sites")) else path
    # Some forces take a distance or an angle from the initial positions; their tables are not polynomials of positions.
    curved = any(_from_the_start(force) is not None for force in model.forces)
    if path[0] == "bodies" and len(path) == 3:
        return Parameter(name, *body_parameter(model, str(path[1]), str(path[2]), f"{where}: {name}"), curved)
    if path[0] == "sites" and len(path) == 3:
        return Parameter(name, *site_parameter(model, _number(path[1]), str(path[2]), f"{where}: {name}"), curved)
    if path[0] in UNCHANGED:
        raise CaseError(f"{where}: {name}: {UNCHANGED[str(path[0])]}")
    if path[0] != "forces" or len(path) < 3:
        raise CaseError(
            f"{where}: there is no parameter {shown(name)}; parameters are the initial state, 'q' and 'u', "
            "numbers of forces, such as 'forces[0].stiffness.rod' or 'forces.gravity.acceleration', and of bodies and "
            "sites, such as 'bodies.rod.mass' or 'sites[0].position'"
        )
    k = force_index(model, path[1], name, where)
    field, rest = str(path[2]), path[3:]
    force = model.forces[k]
    if field not in type(force).model_fields:
        close = difflib.get_close_matches(field, type(force).model_fields, n=1)
        hint = f"; did you mean '{close[0]}'?" if close else f" ({', '.join(type(force).model_fields)})"
        raise CaseError(f"{where}: {name}: '{force.kind}' has no {field}{hint}")
    unknown = getattr(type(force), "not_differentiated", ())
    if field in unknown or path[-1] in unknown:
        by = path[-1] if path[-1] in unknown else field
        raise CaseError(
            f"{where}: {name}: derivatives of '{force.kind}' with respect to {by} are not known; leave it out, or take "
            "differences of runs"
        )
    value = getattr(force, field)
    numbers = np.asarray(_numbers(_at(value, rest, name, where), name, where), dtype=np.float64)

    def changed(numbers: np.ndarray) -> Model:
        new = force.model_copy(update={field: _with(value, rest, _tuples(numbers))})
        return replace(model, forces=(*model.forces[:k], new, *model.forces[k + 1 :]))

    found = Parameter(name, numbers, changed, field in getattr(type(force), "curved", ()))
    try:
        _ = found.columns
    except ModelError as error:
        raise CaseError(
            f"{where}: {name}: its numbers cannot be changed one by one ({error}); leave it out, "
            "or take differences of runs"
        ) from None
    return found


def _from_the_start(force: Any) -> str | None:
    """Return the field of a force that takes its numbers from the initial coordinates; None if there is no such
    field."""
    for field in type(force).model_fields:
        value = getattr(force, field)
        if "initial" in (value.values() if isinstance(value, Mapping) else (value,)):
            return str(field)
    return None


def force_index(model: Model, label: Part, name: str, where: str) -> int:
    """Return the index of a force from its index, kind or name."""
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


def _number(part: Part) -> Part:
    """Return the index of an entry, which may be written as ``[0]`` or ``.0``."""
    return int(part) if isinstance(part, str) and part.isdecimal() else part


def _at(value: Any, path: Sequence[Part], name: str, where: str) -> Any:
    """Return the value at a path (keys and indices) within a declared value."""
    for part in path:
        entries = dict(value) if isinstance(value, Declaration | Mapping) else None
        at = part if entries is not None else _number(part)
        if entries is not None:
            there = at in entries
        else:
            there = isinstance(value, tuple) and isinstance(at, int) and -len(value) <= at < len(value)
        if not there:
            known = f"it is {shown(value)}" if entries is None else f"there are {', '.join(map(str, entries))}"
            raise CaseError(f"{where}: {name}: there is no {dotted([part])} in it; {known}")
        found: Any = value if entries is None else entries
        value = found[at]
    return value


def _numbers(value: Any, name: str, where: str) -> Any:
    """Return a number, or tuples of numbers; raises CaseError for other values."""
    if isinstance(value, Declaration | Mapping):
        keys = list(dict(value))
        key = keys[0] if keys else ""
        raise CaseError(
            f"{where}: {name}: it has a number for each of {', '.join(keys)}; name one, such as {name}.{key}"
        )
    if value is None:
        raise CaseError(f"{where}: {name}: it has not been given; give it a number first, or leave it out")
    if isinstance(value, tuple) and value:
        return [_numbers(one, name, where) for one in value]
    if isinstance(value, str) and value.startswith(tuple("+-.0123456789")):
        raise CaseError(
            f"{where}: {name}: it is {shown(value)}, whose unit depends on the joint; give it as a number in the units "
            "of the model"
        )
    if not isinstance(value, float):
        raise CaseError(
            f"{where}: {name}: it is {shown(value)}, which is a choice and not a number that can change slightly; "
            "leave it out"
        )
    return value


def _tuples(numbers: np.ndarray) -> Any:
    """Convert numbers to the form in which they are declared."""
    return float(numbers) if numbers.ndim == 0 else tuple(_tuples(one) for one in numbers)


def _with(value: Any, path: Sequence[Part], new: Any) -> Any:
    """Return a declared value with another value at a path within it."""
    if not path:
        return new
    part, rest = path[0], path[1:]
    if isinstance(value, Mapping):
        return {**value, part: _with(value[part], rest, new)}
    if isinstance(value, Declaration):
        return value.model_copy(update={str(part): _with(getattr(value, str(part)), rest, new)})
    changed = list(value)
    changed[int(part)] = _with(value[int(part)], rest, new)
    return tuple(changed)


def flat_tables(model: Model, frames: np.ndarray | None = None) -> np.ndarray:
    """Return the numbers of all tables that have derivatives, as one array. Rotations of joint frames are measured from
    ``frames``, Euler parameters of shape (links, 4); they are zero if ``frames`` is None."""
    links = kernel_tables(model)
    tables = differentiated(links.forest, force_tables(model), links.loops, frames)
    return flat(tables._replace(sites=site_numbers(model)))
