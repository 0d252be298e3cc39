"""Families of declarations: all forces, all thermostats, all scaling policies, each selected by a key.

The members of a family are the classes in the modules of its package; a new member is found automatically. A user's
classes are added at run time (``plugins.py``).
"""

from collections.abc import Callable, Iterator
from importlib import import_module
from pkgutil import walk_packages
from types import ModuleType
from typing import Any, Literal, get_args, get_origin

from pydantic import GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema

from articulon.declaration import Choice, Declaration
from articulon.errors import ModelError


class Family(Choice):
    """Declarations from which a key selects one.

    It is used in annotations as ``Annotated[Declaration, FAMILY]``.

    Parameters
    ----------
    name
        Name of a member, such as "force".
    key
        Key that selects a member, such as "kind".
    belongs
        Whether a class is a member.
    """

    def __init__(self, name: str, key: str, belongs: Callable[[type[Declaration]], bool]) -> None:
        self.name, self.key, self._belongs = name, key, belongs
        self.members: dict[str, type[Declaration]] = {}
        """Classes by the values of the key that select them."""

    def discover(self, package: str, path: Any, besides: tuple[str, ...] = ()) -> None:
        """Add the members in the modules of a package, except the modules ``besides``, which have no members and need a
        library that may not be installed; these are loaded by their users."""
        for info in walk_packages(path, f"{package}."):
            if not info.ispkg and info.name.rpartition(".")[2] not in besides:
                self.take(import_module(info.name))

    def take(self, module: ModuleType) -> list[type[Declaration]]:
        """Add the members that a module defines, and return them."""
        found = [value for value in vars(module).values() if self.defines(module, value)]
        for one in found:
            self.add(one)
        return found

    def defines(self, module: ModuleType, value: Any) -> bool:
        """Whether a value is a member defined by a module."""
        own = isinstance(value, type) and issubclass(value, Declaration) and value.__module__ == module.__name__
        return own and bool(self.values(value)) and self._belongs(value)

    def values(self, member: type[Declaration]) -> tuple[str, ...]:
        """Values of the key that select a class."""
        field = member.model_fields.get(self.key)
        annotation = None if field is None else field.annotation
        return get_args(annotation) if get_origin(annotation) is Literal else ()

    def check(self, member: type[Declaration]) -> None:
        """Raises ModelError if another class has the same value of the key."""
        for value in self.values(member):
            known = self.members.get(value)
            if known is not None and known is not member:
                raise ModelError(
                    f"{member.__name__}: the {self.key} '{value}' of a {self.name} is already used by "
                    f"{known.__name__}; choose another {self.key}"
                )

    def add(self, member: type[Declaration]) -> None:
        """Add a class; raises ModelError if another class has the same value of the key."""
        self.check(member)
        self.members.update(dict.fromkeys(self.values(member), member))

    def __iter__(self) -> Iterator[type[Declaration]]:
        """Iterate over the classes."""
        return iter(dict.fromkeys(self.members.values()))

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Schema for pydantic: the members known when a class that names the family is created."""
        choices = {value: handler.generate_schema(member) for value, member in self.members.items()}
        return core_schema.tagged_union_schema(choices, discriminator=self.key)
