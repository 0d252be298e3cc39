"""Base class of the named model builders."""

from pathlib import Path
from typing import TYPE_CHECKING, Self

from articulon.building import ModelBuilder
from articulon.declaration import Declaration
from articulon.inputs import is_file


class BaseBuilder(Declaration):
    """Base of the model builders. A derived class has a ``builder``, the name that selects it."""

    if TYPE_CHECKING:
        builder: str

    def populate(self, builder: ModelBuilder) -> None:
        """Add bodies, sites and forces to a builder; the declaration's quantities are in the builder's units.

        Raises ModelError or CaseError, naming the key, for invalid input.
        """
        raise NotImplementedError

    def beside(self, source: str) -> Self:
        """Return a copy in which paths of files are relative to the folder of the case file; raises CaseError if a file
        is missing or has changed."""
        return self

    @property
    def driven_by_code(self) -> bool:
        """Whether a function named by the builder drives a joint."""
        return False

    def without_code(self) -> Self:
        """Return a copy in which no function drives a joint, for inspection."""
        return self

    @property
    def inferred(self) -> tuple[str, ...]:
        """Assumptions made when the model was last populated, one line each."""
        return ()


def function_beside(function: str, source: str) -> str:
    """Return the location of a user's function: a Python file in the folder of the case file if there is one."""
    place, _, name = function.rpartition(":")
    beside = Path(source).parent / place
    return f"{beside.resolve()}:{name}" if place.endswith(".py") and is_file(beside) else function
