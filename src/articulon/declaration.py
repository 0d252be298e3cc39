"""Declarations: what a user states about a run, in Python or in a case file, checked before anything is computed.

A force, a scaling policy or a section of a case is one subclass of :class:`Declaration`, a pydantic model whose
fields may hold quantities with units::

    class StokesDrag(Declaration):
        kind: Literal["stokes-drag"] = "stokes-drag"
        viscosity: Annotated[Quantity, Dimension("viscosity", minimum=0)]
        flow: Annotated[tuple[Quantity, Quantity, Quantity], Dimension("velocity")] = (0.0, 0.0, 0.0)

Both doors end in the same object: ``StokesDrag(viscosity="0.89 mPa s")`` and a table ``[[forces]]`` with
``kind = "stokes-drag"``. :meth:`Declaration.resolved` then replaces every quantity by a float in the units of the
case.
"""

from __future__ import annotations

import difflib
import hashlib
import numbers
import types
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self, TypeAlias, TypeVar, Union, get_args, get_origin

import numpy as np
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator
from pydantic.fields import FieldInfo

from articulon.declaration_help import HelpSignature, HelpText, stated
from articulon.errors import ArticulonError, CaseError, ModelError
from articulon.inputs import LARGEST, SEEDS, clipped, integral, is_file, real, shown, truth
from articulon.notebook_table import table_of_words
from articulon.units import DIMENSIONS, UnitSystem, example, expectation


def _number_or_text(value: Any) -> Any:
    """Refuse what pydantic would quietly turn into a number, and accept every kind of real number."""
    if isinstance(value, bool):
        raise ValueError(f"expected a quantity, got {value}")
    return real(value) if isinstance(value, numbers.Real) else value


Quantity: TypeAlias = Annotated[float | str, BeforeValidator(_number_or_text)]
"""A number in the units of the case, or a string with units such as ``"0.89 mPa s"``."""
Number: TypeAlias = Annotated[float, BeforeValidator(real)]
"""A finite number without a unit."""
Whole: TypeAlias = Annotated[int, BeforeValidator(integral)]
"""A whole number that 64 bits hold."""
Seed: TypeAlias = Annotated[Whole, Field(ge=0, lt=SEEDS)]
"""What chooses random numbers."""
Flag: TypeAlias = Annotated[bool, BeforeValidator(truth)]
"""True or false, and nothing that stands for one of them."""

FAULTS_SHOWN = 20
"""How many faults a message lists; of further ones it says how many there are."""
ALIKE = 16
"""Elements of a list from this one on are of one type: no list of a fixed length is as long."""


@dataclass(frozen=True)
class Dimension:
    """Marks the quantities of a field, however deep in lists and tables, as having a dimension.

    Parameters
    ----------
    name
        One of :data:`articulon.units.DIMENSIONS`.
    minimum
        Smallest value allowed [units of the case], or None.
    exclusive
        Whether ``minimum`` itself is refused: ``Dimension("mass", minimum=0, exclusive=True)`` is a positive mass.
    """

    name: str
    minimum: float | None = None
    exclusive: bool = False

    def __post_init__(self) -> None:
        if self.name not in DIMENSIONS:
            raise ValueError(f"unknown dimension {self.name!r}; choose one of {', '.join(DIMENSIONS)}")

    @property
    def example(self) -> str:
        """A quantity of this dimension as text, empty where it has no unit."""
        return "" if self.name == "dimensionless" else example(self.name)

    def value(self, quantity: float | str, units: UnitSystem, where: str) -> float:
        """The quantity in the given units; raises CaseError as :meth:`UnitSystem.value` does, or below the minimum."""
        number = units.value(quantity, self.name, where)
        if abs(number) > LARGEST:
            raise CaseError(f"{where}: {shown(quantity)} is too large to compute with; the most is {LARGEST:g}")
        if self.minimum is not None and (number < self.minimum or (self.exclusive and number == self.minimum)):
            bound = "greater than" if self.exclusive else "at least"
            raise CaseError(f"{where}: must be {bound} {self.minimum:g}, got {shown(quantity)}")
        return number


class Declaration(BaseModel):
    """Base of everything a user states: frozen, and unknown keys are refused with the nearest valid one."""

    model_config = ConfigDict(frozen=True, extra="forbid", validate_default=False)

    positional: ClassVar[tuple[str, ...]] = ()
    """Fields that may be given without their names, in this order: those of which nobody has to ask which they are."""
    error_class: ClassVar[type[ArticulonError]] = ModelError
    """What a faulty construction in Python raises; :meth:`from_mapping` always raises CaseError."""
    foreign: ClassVar[Mapping[str, str]] = {}
    """Keys of its relatives that it cannot have, each with what to do instead."""
    advice: ClassVar[Mapping[str, str]] = {}
    """Keys that must be given, each with what helps to choose its value."""

    @classmethod
    def __pydantic_init_subclass__(cls, **kwargs: Any) -> None:
        """Lets ``help`` show the fields with their meaning."""
        super().__pydantic_init_subclass__(**kwargs)
        cls.__doc__ = HelpText(cls.__dict__.get("__doc__"))  # type: ignore[assignment]
        cls.__signature__ = HelpSignature()  # type: ignore[assignment]

    def __init__(self, /, *given: Any, **fields: Any) -> None:
        """Declare in Python; raises :attr:`error_class` with one line for each fault."""
        if given:
            fields = self._named(given, fields)
        try:
            super().__init__(**fields)
        except ValidationError as error:
            name = type(self).__name__
            raise self.error_class(explanation(error, type(self), name)) from None

    @classmethod
    def _named(cls, given: Sequence[Any], fields: dict[str, Any]) -> dict[str, Any]:
        """Fields with those that have been given without their names."""
        name, known = cls.__name__, cls.positional
        if len(given) > len(known):
            kinds = {"kind", "policy", "rule", "shape", "when"}
            wanted = ", ".join(
                f"{key}=..." for key in known or [key for key in cls.model_fields if key not in kinds][:2]
            )
            most = "no value" if not known else "one value" if len(known) == 1 else f"{len(known)} values"
            raise cls.error_class(
                f"{name}: takes {most} without a name, got {len(given)}; name them, as in {name}({wanted})"
            )
        for key, value in zip(known, given, strict=False):
            if key in fields:
                raise cls.error_class(f"{name}.{key}: is given twice, with its name and without")
            fields = {**fields, key: value}
        return fields

    # Tells pydantic that this is no other way of building the model, so that declarations inside declarations are
    # validated in one pass and a fault in the inner one is reported with its full path.
    __init__.__pydantic_base_init__ = True  # type: ignore[attr-defined]

    def __repr_args__(self) -> Iterator[tuple[str, Any]]:
        """What it is shown with in one line: what has been stated, and not what is so by default."""
        for name, field in stated(type(self)).items():
            value = getattr(self, name)
            if field.is_required() or value != field.get_default():
                yield name, value

    def __str__(self) -> str:
        return repr(self)

    def _repr_html_(self) -> str:
        """What a notebook shows: what has been stated."""
        return table_of_words(type(self).__name__, {name: clipped(repr(value)) for name, value in self.__repr_args__()})

    @model_validator(mode="before")
    @classmethod
    def _arrays_as_lists(cls, data: Any) -> Any:
        if not isinstance(data, Mapping):
            return data
        return {key: _listed(value) for key, value in data.items()}

    @classmethod
    def from_mapping(cls, data: Mapping[str, Any], source: str = "", path: str = "") -> Self:
        """Declare from a table of a case file.

        Parameters
        ----------
        data
            The table.
        source
            The file it came from; precedes each line of the message.
        path
            The key of the table in that file; precedes the keys named in the message.

        Raises
        ------
        CaseError
            With one line for each fault: file, key, what was expected and the nearest valid key.
        """
        try:
            return cls.model_validate(data)
        except ValidationError as error:
            lines = explanation(error, cls, path)
            if source:
                lines = "\n".join(f"{source}: {line}" for line in lines.splitlines())
            raise CaseError(lines) from None

    def resolved(self, units: UnitSystem, where: str = "") -> Self:
        """A copy in which every quantity is a float in the given units.

        Parameters
        ----------
        units
            The units of the case.
        where
            What the declaration is called in messages, such as ``"forces[0]"``.

        Raises
        ------
        CaseError
            If a quantity cannot be read, has another dimension or lies below its minimum; the message names its key.
        """
        values = {
            name: _resolved(getattr(self, name), [_typed(field)], units, _joined(where, name))
            for name, field in type(self).model_fields.items()
        }
        return self.model_copy(update=values)


def _listed(value: Any) -> Any:
    """An array as lists; what is not there yet, and may have no end, in words that no key takes."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    return shown(value) if isinstance(value, Iterator | range) else value


def explanation(error: ValidationError, root: type[BaseModel], where: str = "") -> str:
    """What a validation found, one line for each fault: the key, what was expected, the nearest valid key.

    Of more than :data:`FAULTS_SHOWN` the last line says how many more there are.
    """
    places: dict[str, tuple[Any, type[BaseModel] | None, Dimension | None]] = {}
    for fault in error.errors(include_url=False):
        key, owner, dimension = _place(root, fault["loc"], where)
        if fault["type"].startswith("union_tag"):
            key = _joined(key, fault["ctx"]["discriminator"].strip("'"))
        # A union reports a fault once for each of its members; the first says enough.
        places.setdefault(key, (fault, owner, dimension))
    for key in [key for key, (fault, *_) in places.items() if fault["type"] == "too_short"]:
        if any(other.startswith(f"{key}[") for other in places):  # it is empty because of what is wrong with its items
            del places[key]
    lines = [
        f"{key}: {_fault(*found)}" if key else _fault(*found) for key, found in islice(places.items(), FAULTS_SHOWN)
    ]
    if len(places) > FAULTS_SHOWN:
        lines.append(f"and {len(places) - FAULTS_SHOWN} more faults; mend these first")
    return "\n".join(lines)


def _fault(fault: Any, owner: type[BaseModel] | None, dimension: Dimension | None) -> str:
    kind, context, given = fault["type"], fault.get("ctx", {}), fault["input"]
    if kind == "extra_forbidden":
        key = str(fault["loc"][-1])
        foreign: Mapping[str, str] = getattr(owner, "foreign", {})
        if key in foreign:
            return foreign[key]
        known = list(owner.model_fields) if owner else []
        return f"unknown key{nearest(key, known)}"
    if kind == "missing":
        expected = f"is required: {expectation(dimension.name)}" if dimension else "is required"
        advice: Mapping[str, str] = getattr(owner, "advice", {})
        return "; ".join([expected, *(advice[key] for key in fault["loc"][-1:] if key in advice)])
    if kind == "union_tag_invalid":
        tags = [tag.strip().strip("'\"") for tag in context["expected_tags"].split(",")]
        return f"unknown word {shown(context['tag'])}{nearest(context['tag'], tags)}"
    if kind == "union_tag_not_found":
        return "is required"
    if kind == "literal_error":
        return f"expected {context['expected']}, got {shown(given)}"
    if kind == "value_error":
        return str(context["error"])
    if dimension and kind == "dict_type":
        return f"expected a table with, for each name, {expectation(dimension.name)}, got {shown(given)}"
    if dimension and kind in ("tuple_type", "list_type"):
        return f"expected a list with, at each place, {expectation(dimension.name)}, got {shown(given)}"
    if dimension:
        return f"expected {expectation(dimension.name)}, got {shown(given)}"
    message = fault["msg"]
    return f"{message[:1].lower()}{message[1:]}, got {shown(given)}"


D = TypeVar("D", bound=Declaration)


def marked(declaration: D, key: str, source: str, where: str) -> D:
    """A copy with its file found and its contents marked, so that a run does not go on with another.

    Parameters
    ----------
    declaration
        Has a path under ``key`` and the mark, or None, under ``sha256``.
    key
        Of a path from the folder of the case file or, where there is none, from that of the process.
    source
        The case file.
    where
        Path of keys down to the declaration, such as ``model``.

    Raises
    ------
    CaseError
        If the file is not there, or is not the one that was marked.
    """
    given, mark = (getattr(declaration, name) for name in (key, "sha256"))
    beside = Path(source).parent / given
    path = beside if is_file(beside) else Path(given)
    try:
        found = hashlib.sha256(path.read_bytes()).hexdigest()
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise CaseError(f"{source}: {where}.{key}: {clipped(path)} cannot be read: {why}") from None
    if mark not in (None, found):
        raise CaseError(f"{source}: {where}.{key}: {path} is not the file that {where}.sha256 says; leave that key out")
    return declaration.model_copy(update={key: str(path.resolve()), "sha256": found})


def nearest(word: str, known: Sequence[str]) -> str:
    """The clause that ends a message about an unknown word: the nearest known one, and all that there are."""
    close = difflib.get_close_matches(word[:100], known, n=1, cutoff=0.5)
    hint = f"; did you mean '{close[0]}'?" if close else ""
    return f"{hint} (known: {', '.join(known)})" if known else hint


def _joined(where: str, key: str | int) -> str:
    if isinstance(key, int):
        return f"{where}[{key}]"
    return f"{where}.{key}" if where else key


Typed: TypeAlias = tuple[Any, Dimension | None]
"""A type and the dimension of the quantities in it."""


def _place(
    root: type[BaseModel], location: Sequence[str | int], where: str
) -> tuple[str, type[BaseModel] | None, Dimension | None]:
    """Key path of a fault, the declaration whose key it is and the dimension expected there."""
    # Of a long list all elements are of one type; only short ones, of a fixed length, have others at each place.
    alike = tuple(min(part, ALIKE) if isinstance(part, int) else part for part in location)
    keys, owner, dimension = _typed_place(root, alike)
    for k in keys:
        where = _joined(where, location[k])
    return where, owner, dimension


@lru_cache(maxsize=4096)
def _typed_place(
    root: type[BaseModel], location: tuple[str | int, ...]
) -> tuple[list[int], type[BaseModel] | None, Dimension | None]:
    """Which parts of a location are keys, the declaration that the last is of and the dimension expected there.

    pydantic's locations hold, between the keys, the tags of the unions that were passed; these are left out.
    """
    here: list[Typed] = [(root, None)]
    owner: type[BaseModel] | None = root
    keys: list[int] = []
    for k, part in enumerate(location):
        members = [member for typed in here for member in _members(*typed)]
        declarations = [annotation for annotation, _ in members if _is_declaration(annotation)]
        inside = [typed for member in members for typed in _inside(*member, part)]
        tagged = [member for member in members if part in _tags(member[0])]
        # In a union the tag comes first, also one that is called like a key of its declaration.
        if inside and not (tagged and len(declarations) > 1):
            keys.append(k)
            here = inside
            owner = next((d for d in declarations if part in d.model_fields), owner)
        elif tagged:
            here = tagged
            owner = tagged[0][0]
        elif declarations and isinstance(part, str):
            return [*keys, k], declarations[0], None
        else:
            # Not a key but the name that pydantic gives to a type, such as "float" after the key of a quantity.
            break
    dimensions = (dimension for typed in here for _, dimension in _members(*typed) if dimension)
    return keys, owner, next(dimensions, None)


def _resolved(value: Any, typed: list[Typed], units: UnitSystem, where: str) -> Any:
    """The value with every quantity in it turned into a float, by what its types say of it."""
    if isinstance(value, Declaration):
        return value.resolved(units, where)
    members = [member for one in typed for member in _members(*one)]
    if isinstance(value, Mapping):
        return {
            key: _resolved(item, _items(members, str(key)), units, _joined(where, str(key)))
            for key, item in value.items()
        }
    if isinstance(value, list | tuple):
        return type(value)(
            _resolved(item, _items(members, index), units, _joined(where, index)) for index, item in enumerate(value)
        )
    words = {word for annotation, _ in members for word in _words(annotation)}
    dimension = next((dimension for _, dimension in members if dimension), None)
    if dimension is None or value is None or value in words:
        return value
    return dimension.value(value, units, where)


def _items(members: list[Typed], part: str | int) -> list[Typed]:
    return [typed for member in members for typed in _inside(*member, part)]


def _inside(annotation: Any, dimension: Dimension | None, part: str | int) -> list[Typed]:
    """What lies at a key or index of a value of the given type, or nothing if it has no such place."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if _is_declaration(annotation):
        field = annotation.model_fields.get(part)
        return [] if field is None else [_typed(field)]
    if isinstance(part, int) and origin is tuple and Ellipsis not in arguments:
        return [(arguments[min(part, len(arguments) - 1)], dimension)]
    if isinstance(part, int) and origin in (list, tuple, Sequence):
        return [(arguments[0], dimension)]
    if isinstance(part, str) and origin in (dict, Mapping):
        return [(arguments[1], dimension)]
    return []


def _typed(field: FieldInfo) -> Typed:
    # pydantic takes the outermost marks of a field from its type.
    choices = [item for item in field.metadata if isinstance(item, Choice)]
    return (Annotated[field.annotation, *choices] if choices else field.annotation), _marker(field.metadata)


def _members(annotation: Any, dimension: Dimension | None) -> Iterator[Typed]:
    """The types that an annotation allows, each with the dimension that applies to it."""
    origin: Any = get_origin(annotation)
    if origin is Annotated:
        inner, *metadata = get_args(annotation)
        choices = [item for item in metadata if isinstance(item, Choice)]
        for member in [one for choice in choices for one in choice] or [inner]:
            yield from _members(member, _marker(metadata) or dimension)
    elif origin in (Union, types.UnionType):
        for member in get_args(annotation):
            yield from _members(member, dimension)
    else:
        yield annotation, dimension


class Choice:
    """Marks a field whose type is one of several declarations, which a key chooses among. Iterates over them."""

    def __iter__(self) -> Iterator[Any]:
        raise NotImplementedError


def _marker(metadata: Sequence[Any]) -> Dimension | None:
    return next((item for item in metadata if isinstance(item, Dimension)), None)


def _is_declaration(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)


def _tags(annotation: Any) -> set[Any]:
    """What pydantic may call a member of a union in the location of a fault."""
    if not _is_declaration(annotation):
        return set()
    return {annotation.__name__}.union(*(_words(field.annotation) for field in annotation.model_fields.values()))


def _words(annotation: Any) -> tuple[Any, ...]:
    """The words of a literal type; of any other type, none."""
    origin: Any = get_origin(annotation)
    return get_args(annotation) if origin is Literal else ()
