"""What a user states about a run whose resolution changes: which joints and modes, what locks and releases them."""

from collections.abc import Callable
from typing import Annotated, Any, ClassVar, Literal, Self, TypeAlias

from pydantic import ConfigDict, Field, model_validator

from articulon.declaration import Declaration, Dimension, Flag, Number, Quantity, Whole
from articulon.errors import CaseError

Count = Annotated[Whole, Field(ge=1)]
Chance = Annotated[Number, Field(ge=0.0, le=1.0)]


class BaseCondition(Declaration):
    """Base of what locks or releases a joint or a mode."""

    error_class: ClassVar = CaseError
    of_locked: ClassVar[bool] = True
    """Whether it can be asked of what is locked."""
    chances: ClassVar[bool] = False
    """Whether it is left to chance, so that what changes often does not chatter."""
    window: Count = 1
    """At how many decisions in a row it must hold."""


class _Bounded(BaseCondition):
    """A number beside a bound."""

    below: Quantity | None
    above: Quantity | None

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if (self.below is None) == (self.above is None):
            raise ValueError("give either below or above")
        return self

    def holds(self, values: Any) -> Any:
        """Whether numbers lie on the side of the bound that is asked for."""
        return values < float(self.below) if self.below is not None else values > float(self.above)  # type: ignore[arg-type]


class Speed(_Bounded):
    """How fast a joint turns, |u| over its axes."""

    when: Literal["speed"] = "speed"
    of_locked: ClassVar[bool] = False
    below: Annotated[Quantity | None, Dimension("angular_velocity", minimum=0)] = None
    """[angular velocity]"""
    above: Annotated[Quantity | None, Dimension("angular_velocity", minimum=0)] = None
    """[angular velocity]"""


class Acceleration(_Bounded):
    """How fast that changes, |u'|; of a locked joint, what it would be if all joints were free."""

    when: Literal["acceleration"] = "acceleration"
    below: Annotated[Quantity | None, Dimension("angular_acceleration", minimum=0)] = None
    """[angular velocity/time]"""
    above: Annotated[Quantity | None, Dimension("angular_acceleration", minimum=0)] = None
    """[angular velocity/time]"""


class Torque(_Bounded):
    """Size of the torque of springs and other forces of the joint itself."""

    when: Literal["torque"] = "torque"
    below: Annotated[Quantity | None, Dimension("torque", minimum=0)] = None
    """[torque]"""
    above: Annotated[Quantity | None, Dimension("torque", minimum=0)] = None
    """[torque]"""


class Energy(BaseCondition):
    """Kinetic energy that locking this joint or mode would take out.

    They are tried one after the other, each with those before it already locked or released. In thermal motion this
    energy is distributed as that of its degrees of freedom by themselves, whatever the coordinates, so that a
    lock chosen by it says nothing of them.
    """

    when: Literal["energy"] = "energy"
    of_locked: ClassVar[bool] = False
    chances: ClassVar[bool] = True
    below: Annotated[Quantity, Dimension("energy", minimum=0)]
    """[energy]"""
    attempts: Count | None = None
    """How many are tried at a decision, drawn at random; all by default."""


class ModeEnergy(_Bounded):
    """Energy of a mode of a flexible body about its equilibrium under the present forces.

    Each mode is seen as an oscillator of its own, with all else as it is: ½ m η'² + (m η'')²/2k with its mass
    m = 1/(M⁻¹)_jj and its stiffness k = K_jj. Of a locked one it is f²/2k, what the force f that holds it would give.
    """

    when: Literal["mode-energy"] = "mode-energy"
    below: Annotated[Quantity | None, Dimension("energy", minimum=0)] = None
    """[energy]"""
    above: Annotated[Quantity | None, Dimension("energy", minimum=0)] = None
    """[energy]"""


class Distance(_Bounded):
    """Distance of the centres of mass of two bodies, or of a body and a point of the world."""

    when: Literal["distance"] = "distance"
    body: str
    """A body."""
    to: str | None = None
    """Another one."""
    point: Annotated[tuple[Quantity, Quantity, Quantity] | None, Dimension("length")] = None
    """Or a point, world frame [length]."""
    below: Annotated[Quantity | None, Dimension("length", minimum=0)] = None
    """[length]"""
    above: Annotated[Quantity | None, Dimension("length", minimum=0)] = None
    """[length]"""

    @model_validator(mode="after")
    def _one_end(self) -> Self:
        if (self.to is None) == (self.point is None):
            raise ValueError("give either to, a body, or a point")
        return self


class Schedule(BaseCondition):
    """Holds at the first decision at or after each of the times."""

    when: Literal["schedule"] = "schedule"
    times: Annotated[tuple[Quantity, ...], Dimension("time", minimum=0)]
    """[time]"""


class Elapsed(BaseCondition):
    """Holds when the joint or mode has been as it is for some time."""

    when: Literal["elapsed"] = "elapsed"
    time: Annotated[Quantity, Dimension("time", minimum=0)]
    """[time]"""


class Random(BaseCondition):
    """Holds by chance, for each joint or mode by itself."""

    when: Literal["random"] = "random"
    chances: ClassVar[bool] = True
    probability: Chance
    """At every decision."""


class Function(BaseCondition):
    """``function(time, q, u, locked)`` gives the truth for every speed of the model, as an array (nu,); a joint's is
    that of its first speed."""

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)
    when: Literal["function"] = "function"
    function: Callable[..., Any] | str
    """The function, or where it is: ``"module:name"`` or ``"path/to/file.py:name"``."""


AnyCondition: TypeAlias = (
    Speed | Acceleration | Torque | Energy | ModeEnergy | Distance | Schedule | Elapsed | Random | Function
)
Condition: TypeAlias = Annotated[AnyCondition, Field(discriminator="when")]


class Group(Declaration):
    """Joints, or modes of flexible bodies, that are locked and released by the same conditions."""

    error_class: ClassVar = CaseError
    name: str | None = None
    """What it is called."""
    bodies: tuple[str, ...]
    """The bodies that the joints carry, or whose modes they are; a name ending in ``*`` stands for all that begin
    so."""
    without: tuple[str, ...] = ()
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
            raise ValueError(
                f"release: a locked joint has no {self.release.when}; choose acceleration, torque, mode-energy, "
                "distance, elapsed, schedule, random or function"
            )
        for key, condition in (("lock", self.lock), ("release", self.release)):
            if self.modes is not None and isinstance(condition, Speed | Acceleration | Torque):
                raise ValueError(f"{key}: '{condition.when}' is of joints; choose mode-energy for modes")
            if self.modes is None and isinstance(condition, ModeEnergy):
                raise ValueError(f"{key}: 'mode-energy' is of modes; say which, modes = 'all' or their numbers")
        if isinstance(self.lock, Energy) and self.release is not None and not isinstance(self.release, Random):
            raise ValueError("release: with lock = {when = 'energy'} joints are released at random: when = 'random'")
        if isinstance(self.lock, Energy) and (self.choice == "published" or self.metric == "euclidean"):
            raise ValueError("choice: with lock = {when = 'energy'} it is 'nearest' by mass, or 'canonical'")
        first, second = self.lock, self.release
        same = type(first) is type(second) and isinstance(first, _Bounded) and isinstance(second, _Bounded)
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
