"""What every named builder of models is."""

from pathlib import Path
from typing import TYPE_CHECKING, Self

from articulon.building import ModelBuilder
from articulon.declaration import Declaration
from articulon.inputs import is_file


class BaseBuilder(Declaration):
    """Base of the builders of models. One that derives from it has a ``builder``, the name that chooses it."""

    if TYPE_CHECKING:
        builder: str

    def populate(self, builder: ModelBuilder) -> None:
        """Add bodies, sites and forces to a builder, whose units the declaration's quantities are in; raises ModelError
        or CaseError, naming the key, for what cannot be."""
        raise NotImplementedError

    def beside(self, source: str) -> Self:
        """A copy with its files found beside a case file; raises CaseError for one that is not there or has changed."""
        return self

    @property
    def driven_by_code(self) -> bool:
        """Whether a function that it names drives a joint."""
        return False

    def without_code(self) -> Self:
        """A copy in which nothing is driven by functions: it can be looked at."""
        return self

    @property
    def inferred(self) -> tuple[str, ...]:
        """What was inferred when the model was last populated, a line each."""
        return ()


def function_beside(function: str, source: str) -> str:
    """Where a user's function is: in a Python file beside a case file, if it is there."""
    place, _, name = function.rpartition(":")
    beside = Path(source).parent / place
    return f"{beside.resolve()}:{name}" if place.endswith(".py") and is_file(beside) else function
