"""Parameters that are keys of a case, such as ``model.spheres.A.mass``. The case's builder may use such a key in any
way."""

from collections.abc import Iterator, Mapping
from typing import Any, NoReturn

import numpy as np

from articulon.cases.case import Case
from articulon.cases.overrides import Part, dotted, label_of, value_at
from articulon.errors import CaseError, ModelError
from articulon.inputs import shown
from articulon.model import Model, kernel_tables
from articulon.sensitivities.parameters import SMALL, Parameter, flat_tables

MODEL = "model"
"""First part of all case keys that are parameters."""
KNOWN = ("mass", "moment", "inertia", "position", "rotation")
"""Tables of the links with respect to whose numbers derivatives are known."""
UNKNOWN = {"axis": "the axes of joints", "flexible": "shapes, stiffness and damping of flexible bodies"}
"""Words that name other tables of the links in messages."""


def keys_of_numbers(case: Case) -> list[str]:
    """Return the keys of all numbers in the model and the forces of a case that are not zero and can change by a small
    amount."""
    content = case.content()
    return [dotted((name, *path)) for name in ("model", "forces") for path in _numbers_in(content[name])]


def value_of_key(case: Case, name: str, where: str) -> Any:
    """Return the value at a key of a case, in the units of the case; raises CaseError if there is no such key."""
    try:
        return value_at(case.content(), name)
    except CaseError as error:
        raise CaseError(f"{where}: {error}") from None


def parameter_of_key(case: Case, model: Model, name: str, where: str) -> Parameter:
    """Return the parameter that changes this key of a case's model; the builder may use the key in any way.

    Raises
    ------
    CaseError
        For a key that does not exist, is a choice rather than a number, or changes the size of the model.
    """
    value, where = value_of_key(case, name, where), f"{where}: {name}"
    try:
        numbers = np.array(value, dtype=np.float64)
        usable = not _has_choice(value) and bool(np.isfinite(numbers).all())
    except (TypeError, ValueError):
        usable = False
    if not usable:
        raise CaseError(
            f"{where}: it is {shown(value)}, which is a choice and not a number that can change slightly; leave it out"
        )

    def changed(numbers: np.ndarray) -> Model:
        return case.with_overrides({name: numbers.tolist()}).build_model()

    found = Parameter(name, numbers, changed, of_builder=True)
    try:
        size, start = flat_tables(changed(numbers)).size, found.start
        same = size == flat_tables(model).size and found.columns.shape[0] == size
        same = same and bool(np.isfinite(found.columns).all() and np.isfinite(start).all())
    except (CaseError, ModelError, ValueError) as error:
        raise CaseError(f"{where}: it cannot be changed slightly ({error}); leave it out") from None
    if not same:
        raise CaseError(f"{where}: the number of bodies or other elements changes with it; leave it out")
    _check_known(model, changed(numbers + SMALL * (float(np.abs(numbers).max()) or 1.0)), where)
    return found


def _check_known(model: Model, other: Model, where: str) -> None:
    """Raise CaseError if the parameter changes numbers of the model for which derivatives are not known."""
    own, new = kernel_tables(model).forest, kernel_tables(other).forest
    for field in own._fields:
        if field not in KNOWN and not _same(getattr(own, field), getattr(new, field)):
            _refuse(UNKNOWN.get(field, f"{field} of joints"), where)
    if not _same(model.armature, other.armature):
        _refuse("armatures", where)
    if not _same(_edges(model), _edges(other)):
        _refuse("the edges of the box, which determine nearest images,", where)


def _refuse(what: str, where: str) -> NoReturn:
    raise CaseError(
        f"{where}: {what} change with it, for which derivatives are not implemented; leave it out, or use "
        "differences of runs"
    )


def _edges(model: Model) -> tuple[Any, ...]:
    """Return lengths, tilts and origin of the box; an empty tuple without a box."""
    box = model.box
    return () if box is None else tuple(np.asarray(one) for one in (box.lengths, box.tilts, box.origin))


def _same(one: Any, other: Any) -> bool:
    """Whether two tables, or tuples of tables, contain the same numbers."""
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(map(_same, one, other))
    return bool(np.array_equal(one, other))


def _has_choice(value: Any) -> bool:
    """Whether a value contains a whole number, a flag or a word, or is an empty list."""
    if isinstance(value, list):
        return not value or any(_has_choice(one) for one in value)
    return not isinstance(value, float)


def _numbers_in(value: Any) -> Iterator[tuple[Part, ...]]:
    """Yield the paths of the numbers in tables and in lists of tables."""
    pairs: Iterator[tuple[Part, Any]]
    if isinstance(value, Mapping):
        pairs = iter(value.items())
    elif isinstance(value, list):
        pairs = iter((label_of(value, k), one) for k, one in enumerate(value))
    else:
        return
    for part, one in pairs:
        if isinstance(one, float):
            if one != 0.0:
                yield (part,)
        else:
            yield from ((part, *path) for path in _numbers_in(one))
