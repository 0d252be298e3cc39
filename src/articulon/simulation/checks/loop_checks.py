"""Checks of loop constraints and driven joints, and of the number of degrees of freedom under these constraints."""

from collections.abc import Mapping
from typing import Annotated, Literal, Self

from pydantic import Field

from articulon.declaration import Dimension, Quantity, Whole
from articulon.dynamics.loops.loop_jacobians import loop_equations
from articulon.errors import CaseError
from articulon.model import Model
from articulon.simulation.checks.check_base import Check, Frames, Outcome, largest


class LoopCheck(Check):
    """Largest error of loop constraints and driven joints, in positions (``ar.loop_residuals``) or in speeds."""

    kind: Literal["loops"]
    """Which check this is."""
    of: Literal["positions", "speeds"] = "positions"
    """Kind of error that is measured."""
    tolerance: Annotated[Quantity, Dimension("dimensionless", minimum=0)]
    """Largest error, in the units of the case."""

    def prepared(self, model: Model, observables: Mapping[str, str], where: str) -> Self:
        """See :class:`Check`."""
        if not model.loops.kind.size:
            raise CaseError(f"{where}: the model has no loop constraints and no driven joints")
        return self

    def outcome(self, frames: Frames) -> Outcome:
        """See :class:`Check`."""
        worst = 0.0
        for time, q, u in zip(frames.times, frames.q, frames.u, strict=True):
            found = loop_equations(frames.model, q, u, float(time))
            worst = max(worst, largest(found.residual if self.of == "positions" else found.rate))
        what = self.what or ("error of the closed loops" if self.of == "positions" else "speed of the closed loops")
        return Outcome(what, worst, float(self.tolerance))


class FreedomCheck(Check):
    """Number of degrees of freedom at the start of the run. It is the number of speeds that are independent under the
    loop constraints and driven joints."""

    kind: Literal["degrees-of-freedom"]
    """Which check this is."""
    count: Annotated[Whole, Field(ge=0)]
    """Expected number of degrees of freedom."""

    def outcome(self, frames: Frames) -> Outcome:
        """See :class:`Check`."""
        found = frames.model.degrees_of_freedom
        what = self.what or "degrees of freedom"
        return Outcome(what, float(found - self.count), 0.0, "", float(found), float(self.count))
