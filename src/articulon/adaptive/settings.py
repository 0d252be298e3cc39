"""User settings of a run with adaptive resolution: the joints and modes, and the conditions to lock and release
them."""

from typing import Annotated, ClassVar, Literal, Self

from pydantic import model_validator

from articulon.adaptive.conditions import CONDITIONS, BaseCondition, BoundedCondition, Condition, TriedCondition
from articulon.adaptive.conditions.condition_base import Count
from articulon.declaration import BodyName, Declaration, Dimension, Flag, Quantity
from articulon.errors import CaseError


class Group(Declaration):
    """Joints, or modes of flexible bodies, that are locked and released by the same conditions."""

    error_class: ClassVar = CaseError
    name: str | None = None
    """Name of the group."""
    bodies: tuple[BodyName, ...]
    """Bodies carried by the joints, or bodies with the modes; a name that ends in ``*`` matches all names with that
    beginning."""
    without: tuple[BodyName, ...] = ()
    """Bodies excluded from the group, such as the first of a chain."""
    modes: Literal["all"] | tuple[Count, ...] | None = None
    """Modes of these bodies, instead of their joints: all modes, or the modes with the given numbers, counted from 1.
    Each mode locks separately."""
    lock: Condition | None = None
    """Condition that locks a member."""
    release: Condition | None = None
    """Condition that releases a member."""
    choice: Literal["nearest", "canonical", "published"] = "nearest"
    """Relative speeds at release: the nearest ones to the speeds removed by locking (``nearest``), speeds drawn from
    thermal motion (``canonical``), or the published choice of ``articulon.release``."""
    metric: Literal["mass", "euclidean"] = "mass"
    """Metric of ``nearest``."""
    energy: Literal["reservoir", "temperature"] | Annotated[Quantity, Dimension("energy", minimum=0)] = "reservoir"
    """Kinetic energy added at release: the energy removed by locking (``reservoir``), thermal energy (``temperature``),
    or a given value for each joint or mode."""
    temperature: Annotated[Quantity | None, Dimension("temperature", minimum=0)] = None
    """Temperature of thermal motion; by default that of the thermostat or of the Brownian forces."""

    @model_validator(mode="after")
    def _together(self) -> Self:
        if self.lock is None and self.release is None:
            raise ValueError("give lock, release or both")
        if self.release is not None and not self.release.of_locked:
            raise ValueError(f"release: '{_word(self.release)}' needs a free joint; choose {_words_of_locked()}")
        for key, condition in (("lock", self.lock), ("release", self.release)):
            if condition is not None and self.modes is not None and condition.of == "joints":
                raise ValueError(f"{key}: '{_word(condition)}' applies to joints; choose mode-energy for modes")
            if condition is not None and self.modes is None and condition.of == "modes":
                raise ValueError(f"{key}: '{_word(condition)}' applies to modes; give modes = 'all' or their numbers")
        if isinstance(self.lock, TriedCondition):
            given = f"with lock = {{when = '{_word(self.lock)}'}}"
            if self.release is not None and self.release.chance is None:
                raise ValueError(f"release: {given} joints must be released at random: when = 'random'")
            if self.choice == "published" or self.metric == "euclidean":
                raise ValueError(f"choice: {given} it must be 'nearest' by mass, or 'canonical'")
        first, second = self.lock, self.release
        same = (
            type(first) is type(second) and isinstance(first, BoundedCondition) and isinstance(second, BoundedCondition)
        )
        if same and first.below is not None and second.above is not None:  # type: ignore[union-attr]
            low, high = first.below, second.above  # type: ignore[union-attr]
            if isinstance(low, float) and isinstance(high, float) and low > high:
                raise ValueError(f"release.above, {high:g}, must not be less than lock.below, {low:g}")
        return self


class Adaptive(Declaration):
    """``[adaptive]``: joints and modes that lock and release during the run."""

    error_class: ClassVar = CaseError
    every: Annotated[Quantity, Dimension("time", minimum=0, exclusive=True)]
    """Time between decisions [time]. The first decision is at time zero. The time between decisions must be a whole
    number of steps if steps are fixed."""
    groups: tuple[Group, ...]
    """Groups of joints and modes, with their conditions."""
    on: Flag = True
    """Whether joints and modes lock; False runs the same case with all of them free, for comparison."""

    @model_validator(mode="after")
    def _some(self) -> Self:
        if not self.groups:
            raise ValueError("give at least one group of joints, [[adaptive.groups]]")
        return self


def _word(condition: BaseCondition) -> str:
    """Return the word that selects a condition."""
    return str(getattr(condition, CONDITIONS.key))


def _words_of_locked() -> str:
    """Return the words that select the conditions available for locked parts."""
    words = [word for word, member in CONDITIONS.members.items() if member.of_locked]  # type: ignore[attr-defined]
    return f"{', '.join(words[:-1])} or {words[-1]}"
