"""Families of declarations: all forces, all thermostats, all scaling policies, each chosen by a key.

The members of a family are the classes that stand in the modules of its package: one is added by being there. A user's
classes are added while a program runs (``plugins.py``).
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
    """Declarations that a key chooses among.

    It stands in annotations as ``Annotated[Declaration, FAMILY]``.

    Parameters
    ----------
    name
        What a member is called, as in "force".
    key
        The key that chooses one, as in "kind".
    belongs
        Whether a class is a member.
    """

    def __init__(self, name: str, key: str, belongs: Callable[[type[Declaration]], bool]) -> None:
        self.name, self.key, self._belongs = name, key, belongs
        self.members: dict[str, type[Declaration]] = {}
        """Classes by the values of the key that choose them."""

    def discover(self, package: str, path: Any, besides: tuple[str, ...] = ()) -> None:
        """Adds the members in the modules of a package, ``besides`` some that have none and need a library that may not
        be installed: these are loaded by who needs them."""
        for info in walk_packages(path, f"{package}."):
            if not info.ispkg and info.name.rpartition(".")[2] not in besides:
                self.take(import_module(info.name))

    def take(self, module: ModuleType) -> list[type[Declaration]]:
        """Adds the members that a module defines, and says which they are."""
        found = [value for value in vars(module).values() if self.defines(module, value)]
        for one in found:
            self.add(one)
        return found

    def defines(self, module: ModuleType, value: Any) -> bool:
        """Whether a value is a member that a module defines."""
        own = isinstance(value, type) and issubclass(value, Declaration) and value.__module__ == module.__name__
        return own and bool(self.values(value)) and self._belongs(value)

    def values(self, member: type[Declaration]) -> tuple[str, ...]:
        """Values of the key that choose a class."""
        field = member.model_fields.get(self.key)
        annotation = None if field is None else field.annotation
        return get_args(annotation) if get_origin(annotation) is Literal else ()

    def check(self, member: type[Declaration]) -> None:
        """Raises ModelError where a class's value of the key is another's."""
        for value in self.values(member):
            known = self.members.get(value)
            if known is not None and known is not member:
                raise ModelError(
                    f"{member.__name__}: there is a {self.name} of the {self.key} '{value}' "
                    f"already, {known.__name__}; choose another {self.key}"
                )

    def add(self, member: type[Declaration]) -> None:
        """Adds a class; raises ModelError where its value of the key is another's."""
        self.check(member)
        self.members.update(dict.fromkeys(self.values(member), member))

    def __iter__(self) -> Iterator[type[Declaration]]:
        """The classes."""
        return iter(dict.fromkeys(self.members.values()))

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """What pydantic asks for: the members that there are when a class is made that names the family."""
        choices = {value: handler.generate_schema(member) for value, member in self.members.items()}
        return core_schema.tagged_union_schema(choices, discriminator=self.key)
