"""The section ``[run.stop]`` of a case: when a run ends early."""

from typing import Annotated, Any, ClassVar, Self

from pydantic import model_validator

from articulon.declaration import BodyName, Declaration, Dimension, Quantity
from articulon.errors import CaseError, ModelError
from articulon.forces.selection import body_index
from articulon.integrate.stop_conditions import StopCondition, advance_of, proximity_of
from articulon.model import Model
from articulon.units import UnitSystem


class Stop(Declaration):
    """``[run.stop]``: a condition that ends a run before its full duration. Either the body advances along a direction,
    or it comes near to another body."""

    error_class: ClassVar = CaseError

    body: BodyName
    """Body that is watched."""
    direction: Annotated[tuple[Quantity, Quantity, Quantity] | None, Dimension("dimensionless")] = None
    """Direction of the motion, world frame; a vector of any length except zero."""
    advance: Annotated[Quantity | None, Dimension("length", minimum=0, exclusive=True)] = None
    """Distance that the centre of mass of the body must advance along the direction, from its place in the model before
    any minimisation [length]."""
    to: BodyName | None = None
    """Another body that the body approaches, instead of ``direction`` and ``advance``."""
    distance: Annotated[Quantity | None, Dimension("length", minimum=0, exclusive=True)] = None
    """Distance of the two centres of mass, or of their nearest images in a periodic box, at which the run ends
    [length]."""
    label: str = "reached"
    """Label of this event in the summary, such as ``"docked"``."""

    @model_validator(mode="after")
    def _one_condition(self) -> Self:
        moves, meets = (self.direction, self.advance), (self.to, self.distance)
        complete = [all(part is not None for part in pair) for pair in (moves, meets)]
        begun = [any(part is not None for part in pair) for pair in (moves, meets)]
        if sum(begun) != 1 or complete != begun:
            raise ValueError("expected either direction and advance, or to and distance; set the other two to none")
        if self.to == self.body:
            raise ValueError(f"to: '{self.to}' is the body itself")
        return self

    @property
    def length(self) -> float:
        """Advance or distance at which the run ends [length]."""
        return float(self.distance if self.advance is None else self.advance)  # type: ignore[arg-type]

    def condition(self, model: Model, where: str = "run.stop", cell: Any = None) -> StopCondition:
        """Return the condition for a model.

        Parameters
        ----------
        model
            The model.
        where
            Name of the section in messages.
        cell
            Periodic box as the kernels of a run read it; by default that of the model.

        Raises
        ------
        CaseError
            For a body that does not exist or is welded to the ground, and for two bodies that are near from the start.
        """
        names = {"body": self.body} | ({} if self.to is None else {"to": self.to})
        try:
            body, *others = (body_index(model, name, f"{where}.{key}") for key, name in names.items())
        except ModelError as error:
            raise CaseError(str(error)) from None
        if model.link[body] < 0:
            advice = "" if not others else "; name it under to, and the other body under body"
            raise CaseError(f"{where}.body: '{self.body}' is welded to the ground{advice}")
        if not others:
            assert self.direction is not None
            return advance_of(model, body, [float(component) for component in self.direction], self.length)
        found = proximity_of(model, body, others[0], self.length, cell)
        if not found.whole > 0.0:
            raise CaseError(
                f"{where}.distance: the centres of mass of '{self.body}' and '{self.to}' are "
                f"{self.length + found.whole:.6g} apart at the start, which is not more than {self.length:.6g}; give a "
                "smaller distance"
            )
        return found

    def resolved(self, units: UnitSystem, where: str = "run.stop") -> Self:
        """Return a copy in the given units; raises CaseError for a direction of zero length."""
        stop = super().resolved(units, where)
        if stop.direction is not None and not any(stop.direction):
            raise CaseError(
                f"{where}.direction: expected three numbers, not all zero, got {list(self.direction or ())}"
            )
        return stop
