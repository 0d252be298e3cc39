"""What a user states about a run whose resolution changes: which joints and modes, what locks and releases them."""

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
    """What it is called."""
    bodies: tuple[BodyName, ...]
    """The bodies that the joints carry, or whose modes they are; a name ending in ``*`` stands for all that begin
    so."""
    without: tuple[BodyName, ...] = ()
    """Bodies that are left out of these, such as the first of a chain."""
    modes: Literal["all"] | tuple[Count, ...] | None = None
    """Modes of these bodies in place of their joints, each by itself: all, or those of these numbers, the first mode
    being 1."""
    lock: Condition | None = None
    """What locks one of them."""
    release: Condition | None = None
    """What releases it."""
    choice: Literal["nearest", "canonical", "published"] = "nearest"
    """Relative speeds at release: nearest to those that were locked, drawn as in thermal motion, or those of
    ``articulon.release`` by this name."""
    metric: Literal["mass", "euclidean"] = "mass"
    """What ``nearest`` is measured by."""
    energy: Literal["reservoir", "temperature"] | Annotated[Quantity, Dimension("energy", minimum=0)] = "reservoir"
    """Kinetic energy that they bring in: what locking took out, that of thermal motion, or a number for each."""
    temperature: Annotated[Quantity | None, Dimension("temperature", minimum=0)] = None
    """Of thermal motion; that of the thermostat or of the Brownian forces by default."""

    @model_validator(mode="after")
    def _together(self) -> Self:
        if self.lock is None and self.release is None:
            raise ValueError("give lock, release or both")
        if self.release is not None and not self.release.of_locked:
            raise ValueError(f"release: a locked joint has no {_word(self.release)}; choose {_words_of_locked()}")
        for key, condition in (("lock", self.lock), ("release", self.release)):
            if condition is not None and self.modes is not None and condition.of == "joints":
                raise ValueError(f"{key}: '{_word(condition)}' is of joints; choose mode-energy for modes")
            if condition is not None and self.modes is None and condition.of == "modes":
                raise ValueError(f"{key}: '{_word(condition)}' is of modes; say which, modes = 'all' or their numbers")
        if isinstance(self.lock, TriedCondition):
            given = f"with lock = {{when = '{_word(self.lock)}'}}"
            if self.release is not None and self.release.chance is None:
                raise ValueError(f"release: {given} joints are released at random: when = 'random'")
            if self.choice == "published" or self.metric == "euclidean":
                raise ValueError(f"choice: {given} it is 'nearest' by mass, or 'canonical'")
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
    """``[adaptive]``: joints and modes that lock and release while the run goes on."""

    error_class: ClassVar = CaseError
    every: Annotated[Quantity, Dimension("time", minimum=0, exclusive=True)]
    """Time between decisions, the first at zero [time]; a whole number of steps where these are fixed."""
    groups: tuple[Group, ...]
    """The joints and modes, and their conditions."""
    on: Flag = True
    """False runs the same case with every joint and mode free, to compare with."""

    @model_validator(mode="after")
    def _some(self) -> Self:
        if not self.groups:
            raise ValueError("give at least one group of joints, [[adaptive.groups]]")
        return self


def _word(condition: BaseCondition) -> str:
    """What chooses a condition."""
    return str(getattr(condition, CONDITIONS.key))


def _words_of_locked() -> str:
    """The conditions that what is locked can be asked for, by what chooses them."""
    words = [word for word, member in CONDITIONS.members.items() if member.of_locked]  # type: ignore[attr-defined]
    return f"{', '.join(words[:-1])} or {words[-1]}"
