"""What a field of a declaration may hold: quantities, numbers and words, and what its annotation says of them."""

from __future__ import annotations

import numbers
import types
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeAlias, Union, get_args, get_origin

from pydantic import BaseModel, BeforeValidator, Field
from pydantic.fields import FieldInfo

from articulon.errors import CaseError
from articulon.inputs import LARGEST, SEEDS, integral, real, shown, truth
from articulon.units import DIMENSIONS, UnitSystem, example


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


@dataclass(frozen=True)
class NamesBody:
    """Marks text that names a body of the model, or is a pattern of such names.

    Parameters
    ----------
    ground
        Whether it may be the ground too.
    """

    ground: bool = False


BodyName: TypeAlias = Annotated[str, NamesBody()]
"""The name of a body: what follows when the body is renamed, and what an editor offers to choose from."""
BodyOrGround: TypeAlias = Annotated[str, NamesBody(ground=True)]
"""The name of a body, or the ground."""


class Choice:
    """Marks a field whose type is one of several declarations, which a key chooses among. Iterates over them."""

    def __iter__(self) -> Iterator[Any]:
        raise NotImplementedError


Typed: TypeAlias = tuple[Any, Dimension | None]
"""A type and the dimension of the quantities in it."""


class Place:
    """A place in a declaration at which a value stands: what its types say of it, found once for all values there.

    Parameters
    ----------
    typed
        What may stand there.
    """

    def __init__(self, typed: Sequence[Typed]) -> None:
        self._members = [member for one in typed for member in members_of(*one)]
        self._words = {word for annotation, _ in self._members for word in words_of_literal(annotation)}
        self._dimension = next((dimension for _, dimension in self._members if dimension), None)
        self._above = -LARGEST
        if self._dimension is not None and self._dimension.minimum is not None:
            self._above = self._dimension.minimum
        self._items: list[Place] = []

    def key(self, key: str) -> Place:
        """What stands under a key of a table that stands here."""
        return Place([typed for member in self._members for typed in types_inside(*member, key)])

    @property
    def items(self) -> list[Place]:
        """What stands in a list that stands here: its first items one by one, and as the last the others' one place."""
        if not self._items:
            fixed = max((len(get_args(annotation)) for annotation, _ in self._members), default=0)
            self._items = [
                Place([typed for member in self._members for typed in types_inside(*member, index)])
                for index in range(fixed + 1)
            ]
        return self._items

    def is_resolved(self, value: Any) -> bool:
        """Whether a value is seen at a glance to be a number in the units of the case that is allowed here."""
        return type(value) is float and (self._dimension is None or self._above < value <= LARGEST)

    def value(self, quantity: Any, units: UnitSystem, where: str) -> Any:
        """What stands here in the given units; raises CaseError as :meth:`Dimension.value` does."""
        if self._dimension is None or quantity is None or quantity in self._words:
            return quantity
        return self._dimension.value(quantity, units, where)


def types_inside(annotation: Any, dimension: Dimension | None, part: str | int) -> list[Typed]:
    """What lies at a key or index of a value of the given type, or nothing if it has no such place."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if is_declaration(annotation):
        field = annotation.model_fields.get(part)
        return [] if field is None else [typed_field(field)]
    if isinstance(part, int) and origin is tuple and Ellipsis not in arguments:
        return [(arguments[min(part, len(arguments) - 1)], dimension)]
    if isinstance(part, int) and origin in (list, tuple, Sequence):
        return [(arguments[0], dimension)]
    if isinstance(part, str) and origin in (dict, Mapping):
        return [(arguments[1], dimension)]
    return []


def typed_field(field: FieldInfo) -> Typed:
    # pydantic takes the outermost marks of a field from its type.
    choices = [item for item in field.metadata if isinstance(item, Choice)]
    return (Annotated[field.annotation, *choices] if choices else field.annotation), _marker(field.metadata)


def members_of(annotation: Any, dimension: Dimension | None) -> Iterator[Typed]:
    """The types that an annotation allows, each with the dimension that applies to it."""
    origin: Any = get_origin(annotation)
    if origin is Annotated:
        inner, *metadata = get_args(annotation)
        choices = [item for item in metadata if isinstance(item, Choice)]
        for member in [one for choice in choices for one in choice] or [inner]:
            yield from members_of(member, _marker(metadata) or dimension)
    elif origin in (Union, types.UnionType):
        for member in get_args(annotation):
            yield from members_of(member, dimension)
    else:
        yield annotation, dimension


def _marker(metadata: Sequence[Any]) -> Dimension | None:
    return next((item for item in metadata if isinstance(item, Dimension)), None)


def is_declaration(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)


def tags_of(annotation: Any) -> set[Any]:
    """What pydantic may call a member of a union in the location of a fault."""
    if not is_declaration(annotation):
        return set()
    return {annotation.__name__}.union(
        *(words_of_literal(field.annotation) for field in annotation.model_fields.values())
    )


def words_of_literal(annotation: Any) -> tuple[Any, ...]:
    """The words of a literal type; of any other type, none."""
    origin: Any = get_origin(annotation)
    return get_args(annotation) if origin is Literal else ()
