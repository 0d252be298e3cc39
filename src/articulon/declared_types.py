"""Types of the fields of declarations: quantities, numbers and words, and the information in their annotations."""

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
    """Reject values that pydantic would silently convert to a number, and accept every kind of real number."""
    if isinstance(value, bool):
        raise ValueError(f"expected a quantity, got {value}")
    return real(value) if isinstance(value, numbers.Real) else value


Quantity: TypeAlias = Annotated[float | str, BeforeValidator(_number_or_text)]
"""A number in the units of the case, or a string with units such as ``"0.89 mPa s"``."""
Number: TypeAlias = Annotated[float, BeforeValidator(real)]
"""A finite number without a unit."""
Whole: TypeAlias = Annotated[int, BeforeValidator(integral)]
"""A whole number that fits into 64 bits."""
Seed: TypeAlias = Annotated[Whole, Field(ge=0, lt=SEEDS)]
"""Seed of random numbers."""
Flag: TypeAlias = Annotated[bool, BeforeValidator(truth)]
"""True or false. No other value is accepted in place of them."""


@dataclass(frozen=True)
class Dimension:
    """Marks the quantities of a field, at any depth of lists and tables, with a dimension.

    Parameters
    ----------
    name
        One of :data:`articulon.units.DIMENSIONS`.
    minimum
        Smallest value allowed [units of the case], or None.
    exclusive
        Whether ``minimum`` itself is rejected: ``Dimension("mass", minimum=0, exclusive=True)`` is a positive mass.
    """

    name: str
    minimum: float | None = None
    exclusive: bool = False

    def __post_init__(self) -> None:
        if self.name not in DIMENSIONS:
            raise ValueError(f"unknown dimension {self.name!r}; choose one of {', '.join(DIMENSIONS)}")

    @property
    def example(self) -> str:
        """A quantity of this dimension as text, empty if it has no unit."""
        return "" if self.name == "dimensionless" else example(self.name)

    def value(self, quantity: float | str, units: UnitSystem, where: str) -> float:
        """Value of the quantity in the given units; raises CaseError as :meth:`UnitSystem.value` does, or below the
        minimum."""
        number = units.value(quantity, self.name, where)
        if abs(number) > LARGEST:
            raise CaseError(f"{where}: {shown(quantity)} is too large for the computation; the maximum is {LARGEST:g}")
        if self.minimum is not None and (number < self.minimum or (self.exclusive and number == self.minimum)):
            bound = "greater than" if self.exclusive else "at least"
            raise CaseError(f"{where}: must be {bound} {self.minimum:g}, got {shown(quantity)}")
        return number


@dataclass(frozen=True)
class NamesBody:
    """Marks text that names a body of the model, or a pattern of such names.

    Parameters
    ----------
    ground
        Whether it may also be the ground.
    """

    ground: bool = False


BodyName: TypeAlias = Annotated[str, NamesBody()]
"""The name of a body; it is updated if the body is renamed, and an editor offers the names to choose from."""
BodyOrGround: TypeAlias = Annotated[str, NamesBody(ground=True)]
"""The name of a body, or the ground."""


class Choice:
    """Marks a field whose type is one of several declarations, selected by a key. Iteration yields these
    declarations."""

    def __iter__(self) -> Iterator[Any]:
        raise NotImplementedError


Typed: TypeAlias = tuple[Any, Dimension | None]
"""A type, and the dimension of the quantities in it."""


class Place:
    """A place in a declaration that holds values. The requirements of its types are determined once for all its values.

    Parameters
    ----------
    typed
        Types allowed at the place.
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
        """Place under a key of a table at this place."""
        return Place([typed for member in self._members for typed in types_inside(*member, key)])

    @property
    def items(self) -> list[Place]:
        """Places in a list at this place: the first items one by one, and finally one place for all others."""
        if not self._items:
            fixed = max((len(get_args(annotation)) for annotation, _ in self._members), default=0)
            self._items = [
                Place([typed for member in self._members for typed in types_inside(*member, index)])
                for index in range(fixed + 1)
            ]
        return self._items

    def is_resolved(self, value: Any) -> bool:
        """Whether a value is recognised quickly as an allowed number in the units of the case."""
        return type(value) is float and (self._dimension is None or self._above < value <= LARGEST)

    def value(self, quantity: Any, units: UnitSystem, where: str) -> Any:
        """The value at this place in the given units; raises CaseError as :meth:`Dimension.value` does."""
        if self._dimension is None or quantity is None or quantity in self._words:
            return quantity
        return self._dimension.value(quantity, units, where)


def types_inside(annotation: Any, dimension: Dimension | None, part: str | int) -> list[Typed]:
    """Types at a key or index of a value of the given type; empty if it has no such place."""
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
    # pydantic removes the outermost marks of a field from its type.
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
    """Names that pydantic may give to a member of a union in the location of a fault."""
    if not is_declaration(annotation):
        return set()
    return {annotation.__name__}.union(
        *(words_of_literal(field.annotation) for field in annotation.model_fields.values())
    )


def words_of_literal(annotation: Any) -> tuple[Any, ...]:
    """Words of a literal type; empty for any other type."""
    origin: Any = get_origin(annotation)
    return get_args(annotation) if origin is Literal else ()
