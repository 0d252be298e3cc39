"""What a user says of the integration: the rule, and the step or the tolerances."""

from typing import Annotated, Literal, Self

from pydantic import model_validator

from articulon.declaration import Declaration, Dimension, Quantity


class Tolerances(Declaration):
    """A tolerance for each kind of variable."""

    position: Annotated[Quantity | None, Dimension("dimensionless", minimum=0)] = None
    """Translations."""
    rotation: Annotated[Quantity | None, Dimension("dimensionless", minimum=0)] = None
    """Angles and Euler parameters."""
    velocity: Annotated[Quantity | None, Dimension("dimensionless", minimum=0)] = None
    """Speeds of translation."""
    angular_velocity: Annotated[Quantity | None, Dimension("dimensionless", minimum=0)] = None
    """Speeds of rotation."""
    work: Annotated[Quantity | None, Dimension("dimensionless", minimum=0)] = None
    """Works of the ledger."""

    def filled(self, default: float) -> tuple[float, float, float, float, float]:
        """The five tolerances, ``default`` where none is given."""
        given = (self.position, self.rotation, self.velocity, self.angular_velocity, self.work)
        p, r, v, w, e = (default if value is None else float(value) for value in given)
        return p, r, v, w, e


class Explicit(Declaration):
    """An explicit Runge–Kutta rule, with steps controlled by its error estimate or fixed.

    A step is accepted when, for every joint's translation, rotation and their speeds, and for the works, the largest
    component of the error estimate is below atol + rtol times the largest component of the quantity itself (for the
    works: of the largest work).
    """

    rule: Literal["kutta-merson", "rk4", "euler"] = "kutta-merson"
    """The formula."""
    rtol: Annotated[Quantity | Tolerances, Dimension("dimensionless", minimum=0)] = 1e-5
    """Relative tolerance, one for all or by kind of variable."""
    atol: Annotated[Quantity | Tolerances, Dimension("dimensionless", minimum=0)] = 1e-6
    """Absolute tolerance in the units of the case, one for all or by kind of variable."""
    step: Annotated[Quantity | None, Dimension("time", minimum=0, exclusive=True)] = None
    """Fixed step [time]; None lets the error choose it."""
    first_step: Annotated[Quantity | None, Dimension("time", minimum=0, exclusive=True)] = None
    """First step tried [time]; None starts from the fastest relaxation."""
    max_step: Annotated[Quantity | None, Dimension("time", minimum=0, exclusive=True)] = None
    """Longest step allowed [time]."""

    @model_validator(mode="after")
    def _has_estimate(self) -> Self:
        if self.rule != "kutta-merson" and self.step is None:
            raise ValueError(f"rule '{self.rule}' has no error estimate: give a fixed step")
        return self


class FrictionImplicit(Declaration):
    """Half kick, half drift, a midpoint step with the drag taken as an inertia, half drift, half kick.

    Steps may be far longer than the fastest relaxation time m/β; they are bounded by the fastest force and by the angle
    that a body turns in one step.
    """

    rule: Literal["friction-implicit"] = "friction-implicit"
    """The formula."""
    step: Annotated[Quantity, Dimension("time", minimum=0, exclusive=True)]
    """The step [time]."""
