"""Declarations: user input for a run, from Python or from a case file, checked before anything is computed.

A force, a scaling policy or a section of a case is a subclass of :class:`Declaration`, a pydantic model whose
fields may hold quantities with units::

    class StokesDrag(Declaration):
        kind: Literal["stokes-drag"] = "stokes-drag"
        viscosity: Annotated[Quantity, Dimension("viscosity", minimum=0)]
        flow: Annotated[tuple[Quantity, Quantity, Quantity], Dimension("velocity")] = (0.0, 0.0, 0.0)

Both forms of input give the same object: ``StokesDrag(viscosity="0.89 mPa s")`` and a table ``[[forces]]`` with
``kind = "stokes-drag"``. :meth:`Declaration.resolved` then converts every quantity to a float in the units of the
case.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain, repeat
from pathlib import Path
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from articulon.declaration_help import HelpSignature, HelpText, stated
from articulon.declared_faults import explanation, joined, nearest
from articulon.declared_types import (
    BodyName,
    BodyOrGround,
    Choice,
    Dimension,
    Flag,
    Number,
    Place,
    Quantity,
    Seed,
    Whole,
    typed_field,
)
from articulon.errors import ArticulonError, CaseError, ModelError
from articulon.inputs import clipped, is_file, shown
from articulon.notebook_table import table_of_words
from articulon.units import UnitSystem

__all__ = [
    "BodyName",
    "BodyOrGround",
    "Choice",
    "Declaration",
    "Dimension",
    "Flag",
    "Number",
    "Quantity",
    "Seed",
    "Whole",
    "marked",
    "nearest",
]


class Declaration(BaseModel):
    """Base of all user input: immutable, and unknown keys are rejected with the nearest valid one."""

    model_config = ConfigDict(frozen=True, extra="forbid", validate_default=False)

    positional: ClassVar[tuple[str, ...]] = ()
    """Fields that may be given without names, in this order, because their meaning is obvious."""
    error_class: ClassVar[type[ArticulonError]] = ModelError
    """Error raised for invalid input in Python; :meth:`from_mapping` always raises CaseError."""
    foreign: ClassVar[Mapping[str, str]] = {}
    """Keys of related declarations that this one does not accept, each with advice."""
    advice: ClassVar[Mapping[str, str]] = {}
    """Required keys, each with advice on choosing its value."""

    @classmethod
    def __pydantic_init_subclass__(cls, **kwargs: Any) -> None:
        """Make ``help`` show the fields with their meaning."""
        super().__pydantic_init_subclass__(**kwargs)
        cls.__doc__ = HelpText(cls.__dict__.get("__doc__"))  # type: ignore[assignment]
        cls.__signature__ = HelpSignature()  # type: ignore[assignment]

    def __init__(self, /, *given: Any, **fields: Any) -> None:
        """Declare in Python; raises :attr:`error_class` with one line per fault."""
        if given:
            fields = self._named(given, fields)
        try:
            super().__init__(**fields)
        except ValidationError as error:
            name = type(self).__name__
            raise self.error_class(explanation(error, type(self), name)) from None

    @classmethod
    def _named(cls, given: Sequence[Any], fields: dict[str, Any]) -> dict[str, Any]:
        """Add fields given without names to those given by name."""
        name, known = cls.__name__, cls.positional
        if len(given) > len(known):
            kinds = {"builder", "kind", "policy", "rule", "shape", "when"}
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

    # Tells pydantic that this method does not change how the declaration is built. Nested declarations are then
    # validated in one pass, and a fault in an inner one is reported with its full path.
    __init__.__pydantic_base_init__ = True  # type: ignore[attr-defined]

    def __repr_args__(self) -> Iterator[tuple[str, Any]]:
        """Fields shown in the one-line representation: those stated explicitly, without defaults."""
        for name, field in stated(type(self)).items():
            value = getattr(self, name)
            if field.is_required() or value != field.get_default():
                yield name, value

    def __str__(self) -> str:
        return repr(self)

    def _repr_html_(self) -> str:
        """HTML representation for notebooks: the explicitly stated fields."""
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
            File of the table; prefixes each line of the message.
        path
            Key of the table in that file; prefixes the keys named in the message.

        Raises
        ------
        CaseError
            One line per fault: the file, the key, what was expected and the nearest valid key.
        """
        try:
            return cls.model_validate(data)
        except ValidationError as error:
            lines = explanation(error, cls, path)
            if source:
                lines = "\n".join(f"{source}: {line}" for line in lines.splitlines())
            raise CaseError(lines) from None

    def resolved(self, units: UnitSystem, where: str = "") -> Self:
        """Return a copy in which every quantity is a float in the given units.

        Parameters
        ----------
        units
            The units of the case.
        where
            Name of the declaration in messages, such as ``"forces[0]"``.

        Raises
        ------
        CaseError
            If a quantity cannot be read, has the wrong dimension or is below its minimum; the message names its key.
        """
        values = {
            name: _resolved(getattr(self, name), place, units, joined(where, name))
            for name, place in _places(type(self)).items()
        }
        return self.model_copy(update=values)


def _listed(value: Any) -> Any:
    """Convert an array to lists. An iterator may be endless. It is replaced by its description, which no key
    accepts."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    return shown(value) if isinstance(value, Iterator | range) else value


@lru_cache(maxsize=1000)
def _places(kind: type[Declaration]) -> dict[str, Place]:
    """Return a :class:`Place` for the value of each field, with the types that the value may have."""
    return {name: Place([typed_field(field)]) for name, field in kind.model_fields.items()}


def _resolved(value: Any, place: Place, units: UnitSystem, where: str) -> Any:
    """Return the value with every quantity converted to a float, as its place requires."""
    if isinstance(value, Declaration):
        return value.resolved(units, where)
    if isinstance(value, Mapping):
        return {
            key: _resolved(item, place.key(str(key)), units, joined(where, str(key))) for key, item in value.items()
        }
    if isinstance(value, list | tuple):
        # Lists may have as many items as a protein has atoms, so each item must be processed quickly.
        places = chain(place.items[:-1], repeat(place.items[-1]))
        return type(value)(
            item if there.is_resolved(item) else _resolved(item, there, units, joined(where, index))
            for index, (item, there) in enumerate(zip(value, places, strict=False))
        )
    return place.value(value, units, where)


D = TypeVar("D", bound=Declaration)


def marked(declaration: D, key: str, source: str, where: str, mark_key: str = "sha256") -> D:
    """Return a copy with the path of its file and the digest of the contents, so that a changed file is refused.

    Parameters
    ----------
    declaration
        Has a path under ``key``, and the digest or None under ``mark_key``.
    key
        Key of the path, which is relative to the folder of the case file or, without one, to the working directory.
    source
        The case file.
    where
        Path of keys to the declaration, such as ``model``.

    Raises
    ------
    CaseError
        If the file does not exist, or does not match the recorded digest.
    """
    given, mark = (getattr(declaration, name) for name in (key, mark_key))
    path, found = marked_path(given, mark, source, f"{where}.{key}", f"{where}.{mark_key}")
    return declaration.model_copy(update={key: path, mark_key: found})


def marked_path(given: str, mark: str | None, source: str, where: str, mark_where: str) -> tuple[str, str]:
    """Path of a file relative to a case file, and the digest of its contents; raises CaseError as in :func:`marked`."""
    beside = Path(source).parent / given
    path = beside if is_file(beside) else Path(given)
    try:
        found = hashlib.sha256(path.read_bytes()).hexdigest()
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise CaseError(f"{source}: {where}: {clipped(path)} cannot be read: {why}") from None
    if mark not in (None, found):
        raise CaseError(f"{source}: {where}: {path} does not match {mark_where}; leave that key out")
    return str(path.resolve()), found
