"""Declarations of integrators: the scheme, with its step or its tolerances."""

import sys
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self, TypeAlias

from pydantic import Field, ValidationInfo, field_validator, model_validator

from articulon.declaration import Declaration, Dimension, Flag, Quantity, Whole
from articulon.errors import CaseError
from articulon.integrate.rules import CANONICAL, ESTIMATING, EXPLICIT, PREDICTOR_CORRECTOR
from articulon.units import UnitSystem

if TYPE_CHECKING:
    ExplicitRule: TypeAlias = str
    MultistepRule: TypeAlias = str
    CanonicalRule: TypeAlias = str
else:
    ExplicitRule, MultistepRule, CanonicalRule = (
        Literal[tuple(rules)] for rules in (EXPLICIT, PREDICTOR_CORRECTOR, CANONICAL)
    )

DEFAULT = "kutta-merson"
"""Default scheme."""
RTOL, ATOL = 1e-5, 1e-6
"""Default relative and absolute tolerance."""


class Tolerances(Declaration):
    """A tolerance for each kind of variable."""

    position: Annotated[Quantity | None, Dimension("dimensionless", minimum=0)] = None
    """Tolerance of translations."""
    rotation: Annotated[Quantity | None, Dimension("dimensionless", minimum=0)] = None
    """Tolerance of angles and Euler parameters."""
    velocity: Annotated[Quantity | None, Dimension("dimensionless", minimum=0)] = None
    """Tolerance of speeds of translation."""
    angular_velocity: Annotated[Quantity | None, Dimension("dimensionless", minimum=0)] = None
    """Tolerance of angular velocities."""
    work: Annotated[Quantity | None, Dimension("dimensionless", minimum=0)] = None
    """Tolerance of the works of the ledger."""

    def filled(self, default: float) -> tuple[float, float, float, float, float]:
        """The five tolerances, with ``default`` for those that are not given."""
        given = (self.position, self.rotation, self.velocity, self.angular_velocity, self.work)
        p, r, v, w, e = (default if value is None else float(value) for value in given)
        return p, r, v, w, e


LEAST = 100.0 * sys.float_info.epsilon
"""Smallest relative tolerance: below it the error estimate consists of rounding errors."""

_CONTROLS = (
    "controls the steps of rules with an error estimate, such as 'dormand-prince', and this rule takes fixed steps: "
    "leave it out and choose integrator.step"
)
_FIXED = dict.fromkeys(("rtol", "atol", "first_step", "max_step"), _CONTROLS)


class Controlled(Declaration):
    """An integrator whose steps are controlled by tolerances, which must be large enough for floating-point numbers."""

    def tolerances(self) -> Iterator[tuple[str, Any, Any]]:
        """Key, relative and absolute tolerance of each kind of variable, in the order of ``Tolerances``."""
        rtol, atol = getattr(self, "rtol", None), getattr(self, "atol", None)
        for kind in Tolerances.model_fields:
            key = f"rtol.{kind}" if isinstance(rtol, Tolerances) else "rtol"
            relative, absolute = (
                getattr(value, kind) if isinstance(value, Tolerances) else value for value in (rtol, atol)
            )
            yield key, RTOL if relative is None else relative, ATOL if absolute is None else absolute

    def fault(self) -> tuple[str, str] | None:
        """The key of a tolerance that cannot be met and the reason, or None."""
        for key, relative, absolute in self.tolerances():
            if isinstance(relative, float) and 0.0 < relative < LEAST:
                return key, (
                    f"{relative:g} is below the rounding error {sys.float_info.epsilon:.2g} of an operation: give at "
                    f"least {LEAST:.3g}, or 0 with an absolute tolerance"
                )
            if relative == 0.0 and absolute == 0.0:
                return key, "is 0, and so is atol, but no step is free of error: give one of them"
        return None

    @model_validator(mode="after")
    def _can_be_fulfilled(self) -> Self:
        fault = self.fault()
        if fault is not None:
            raise ValueError(" ".join(fault))
        return self

    def resolved(self, units: UnitSystem, where: str = "") -> Self:
        """See :class:`Declaration`; also raises CaseError for tolerances that cannot be met."""
        result = super().resolved(units, where)
        fault = result.fault()
        if fault is not None:
            raise CaseError(f"{where}.{fault[0]}: {fault[1]}" if where else " ".join(fault))
        return result


class Explicit(Controlled):
    """An explicit Runge–Kutta scheme, with steps controlled by its error estimate or fixed.

    A step is accepted if the largest component of the error estimate is below atol + rtol times the largest component
    of the quantity itself, separately for every joint's translation, rotation and their speeds, and for the works
    (whose bound is atol + rtol times the largest work).
    """

    rule: ExplicitRule = DEFAULT
    """The formula; all but ``rk4`` and ``euler`` have an error estimate."""
    rtol: Annotated[Quantity | Tolerances | None, Dimension("dimensionless", minimum=0)] = RTOL
    """Relative tolerance, one for all or one for each kind of variable; None for a scheme without an error estimate."""
    atol: Annotated[Quantity | Tolerances | None, Dimension("dimensionless", minimum=0)] = ATOL
    """Absolute tolerance in the units of the case, one for all or one for each kind of variable; None for a scheme
    without an error estimate."""
    step: Annotated[Quantity | None, Dimension("time", minimum=0, exclusive=True)] = None
    """Fixed step [time]; None for steps controlled by the error estimate."""
    first_step: Annotated[Quantity | None, Dimension("time", minimum=0, exclusive=True)] = None
    """First step to try [time]; None for a choice from the fastest relaxation."""
    max_step: Annotated[Quantity | None, Dimension("time", minimum=0, exclusive=True)] = None
    """Longest step allowed [time]."""

    @model_validator(mode="before")
    @classmethod
    def _nothing_to_control(cls, data: Any) -> Any:
        if not isinstance(data, Mapping) or data.get("rule", DEFAULT) in ESTIMATING:
            return data
        return {"rtol": None, "atol": None, **data}

    @field_validator("rtol", "atol", "first_step", "max_step")
    @classmethod
    def _can_control(cls, value: Any, info: ValidationInfo) -> Any:
        rule = info.data.get("rule", DEFAULT)
        if value is not None and rule not in ESTIMATING:
            raise ValueError(_CONTROLS)
        return value

    @model_validator(mode="after")
    def _has_estimate(self) -> Self:
        if self.rule not in ESTIMATING and self.step is None:
            raise ValueError(
                f"rule '{self.rule}' has no error estimate: give a fixed step, or choose one of {', '.join(ESTIMATING)}"
            )
        return self


class PredictorCorrector(Declaration):
    """A linear multistep method, predictor and corrector, at fixed steps; a Runge–Kutta scheme takes its first
    steps."""

    foreign: ClassVar[Mapping[str, str]] = _FIXED

    rule: MultistepRule = "adams-bashforth-moulton"
    """The formula, of order 4: predict, evaluate, correct, evaluate (PECE)."""
    step: Annotated[Quantity, Dimension("time", minimum=0, exclusive=True)]
    """The step [time]."""


class Canonical(Declaration):
    """A symplectic scheme in canonical momenta, at fixed steps.

    Its stages are implicit and solved to rounding. Energy then does not drift, the momentum and angular momentum of an
    isolated tree are conserved to rounding, and the motion is time-reversible to rounding. With drag, only the order of
    accuracy is preserved.
    """

    foreign: ClassVar[Mapping[str, str]] = _FIXED
    advice: ClassVar[Mapping[str, str]] = {
        "step": "articulon.analysis.analyse_contacts recommends one where there are contacts"
    }

    rule: CanonicalRule = "implicit-midpoint"
    """The formula: of order 4 for ``lobatto-iiia-iiib-3``, otherwise of order 2."""
    step: Annotated[Quantity, Dimension("time", minimum=0, exclusive=True)]
    """The step [time]."""
    force_step: Flag | None = None
    """Whether to allow a step that is longer than the stability limit of contacts."""


class Respa(Declaration):
    """r-RESPA for free particles: velocity Verlet with several steps of the fast forces in each step of the slow ones.

    Long-range forces are evaluated once per step, pair forces ``pair_steps`` times per step, and forces of bonds,
    angles, dihedrals and walls ``bonded_steps`` times per step of pairs.
    """

    foreign: ClassVar[Mapping[str, str]] = _FIXED

    rule: Literal["r-respa"] = "r-respa"
    """The formula, of order 2."""
    step: Annotated[Quantity, Dimension("time", minimum=0, exclusive=True)]
    """The outermost step [time]."""
    pair_steps: Annotated[Whole, Field(ge=1)] = 1
    """Number of steps of pair forces in each step."""
    bonded_steps: Annotated[Whole, Field(ge=1)] = 4
    """Number of steps of bonded forces in each step of pairs."""


class ErmakMcCammon(Declaration):
    """Overdamped steps of free particles, for a thermostat of the kind ``overdamped``: x += h F/(m γ) + noise.

    The weak order is 1. The stiffest force, of stiffness k, bounds the step by h ≪ m γ/k.
    """

    foreign: ClassVar[Mapping[str, str]] = _FIXED

    rule: Literal["ermak-mccammon"] = "ermak-mccammon"
    """The formula."""
    step: Annotated[Quantity, Dimension("time", minimum=0, exclusive=True)]
    """The step [time]."""


class EventDriven(Declaration):
    """Event-driven molecular dynamics of hard spheres: exact motion from impact to impact, without steps.

    For smooth spheres that fly freely: particles with a radius, ``impacts`` without friction and no other force but
    gravity. There is no time-step error, and no sphere passes through another at any speed. All impacts are computed
    again at every frame, so that a resumed run gives the same bits as an uninterrupted one; another number of frames
    gives other rounding errors.
    """

    foreign: ClassVar[Mapping[str, str]] = {
        "step": "this rule has no steps, it goes from impact to impact: leave it out",
        **dict.fromkeys(("rtol", "atol", "first_step", "max_step"), "this rule finds impacts exactly: leave it out"),
    }

    rule: Literal["event-driven"] = "event-driven"
    """The method."""


class BrownianDynamics(Declaration):
    """Overdamped steps of bodies on joints, ζ(q) u = Γ + noise, with Stokes drag and the temperature of the Brownian
    forces, by the midpoint scheme of Fixman (J. Chem. Phys. 69, 1527, 1978) in O(n).

    It is meant for motion that is slow compared with every relaxation time m/β. Positions have the same distribution as
    with inertia; there are no speeds. The order is 2 without noise, and the weak order is 1 with it. The step is
    bounded by the stiffest force, h ≪ β/k, and by the angle √(2 kT h/β_ω) by which the smallest body turns in a step.
    Steps longer than twice the fastest relaxation time of the positions are unstable; they end the run, and the message
    names the body that is too fast.
    """

    foreign: ClassVar[Mapping[str, str]] = _FIXED

    rule: Literal["overdamped"] = "overdamped"
    """The formula."""
    step: Annotated[Quantity, Dimension("time", minimum=0, exclusive=True)]
    """The step [time]."""


class SciPy(Controlled):
    """A stiff solver of SciPy: variable-order backward differences, or Radau IIA of order 5.

    The solver is restarted at every frame, so that a resumed run gives the same bits; it cannot be interrupted between
    frames. Its Jacobian is dense and computed by differences: use it as a reference for models of some hundred
    variables, not for large ones.
    """

    foreign: ClassVar[Mapping[str, str]] = {
        "step": "this rule chooses its own steps: leave it out and give rtol and atol; max_step bounds the steps"
    }

    rule: Literal["scipy-bdf", "scipy-radau"] = "scipy-radau"
    """The solver."""
    rtol: Annotated[Quantity, Dimension("dimensionless", minimum=0)] = RTOL
    """Relative tolerance of every variable."""
    atol: Annotated[Quantity | Tolerances, Dimension("dimensionless", minimum=0)] = ATOL
    """Absolute tolerance in the units of the case, one for all or one for each kind of variable."""
    first_step: Annotated[Quantity | None, Dimension("time", minimum=0, exclusive=True)] = None
    """First step to try after each frame [time]; None lets the solver choose it."""
    max_step: Annotated[Quantity | None, Dimension("time", minimum=0, exclusive=True)] = None
    """Longest step allowed [time]."""


class FrictionImplicit(Declaration):
    """Half kick, half drift, an implicit midpoint step of drag and noise, half drift, half kick.

    Steps may be much longer than the fastest relaxation time m/β; they are bounded by the fastest force and by the
    angle by which a body turns in one step. Every part of a step satisfies loop constraints and given motions. Damping
    and friction of joints, drives that resist speeds, damping of springs between points and damping of the modes of
    flexible bodies are taken implicitly, together with the drag.
    """

    foreign: ClassVar[Mapping[str, str]] = _FIXED

    rule: Literal["friction-implicit"] = "friction-implicit"
    """The formula."""
    step: Annotated[Quantity, Dimension("time", minimum=0, exclusive=True)]
    """The step [time]."""
    force_step: Flag | None = None
    """Whether to allow a step that is longer than the stability limit of contacts."""
    drift: Literal["steady", "geodesic"] = "steady"
    """Motion of bodies between the kicks: ``steady``, at constant speeds with velocity products as part of the kicks,
    or along ``geodesic`` lines, which is their motion without forces. Geodesic drifts take some twenty more recursions
    per step and make the scheme symplectic without drag and thermostat. If forces cost more than these recursions, as
    between the atoms of a protein, geodesic drifts allow longer steps at the same energy error. They are for rigid
    bodies only."""
    long_range_every: Annotated[Whole, Field(ge=1)] = 1
    """Number of steps from one evaluation of the slow forces between sites to the next: long-range sums of charges,
    generalised Born solvents and forces of other programs. Each evaluation then acts for as many steps at once
    (r-RESPA: Tuckerman, Berne and Martyna, J. Chem. Phys. 97, 1990, 1992)."""
