"""What a user says of the integration: the rule, and the step or the tolerances."""

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
"""The rule where none is named."""
RTOL, ATOL = 1e-5, 1e-6
"""Tolerances where none are given."""


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


LEAST = 100.0 * sys.float_info.epsilon
"""Least relative tolerance: below it rounding, not the rule, makes the error that a step is judged by."""

_CONTROLS = (
    "controls the steps of rules with an error estimate, such as 'dormand-prince', and this rule takes fixed steps: "
    "leave it out and choose integrator.step"
)
_FIXED = dict.fromkeys(("rtol", "atol", "first_step", "max_step"), _CONTROLS)


class Controlled(Declaration):
    """A rule whose steps are chosen by tolerances, which must be ones that numbers can fulfil."""

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
        """The key of a tolerance that cannot be fulfilled and what is wrong with it, if there is one."""
        for key, relative, absolute in self.tolerances():
            if isinstance(relative, float) and 0.0 < relative < LEAST:
                return key, (
                    f"{relative:g} is below rounding, {sys.float_info.epsilon:.2g} in every operation: give at least "
                    f"{LEAST:.3g}, or 0 with an absolute tolerance"
                )
            if relative == 0.0 and absolute == 0.0:
                return key, "is 0 and so is atol, and no step is free of error: give one of them"
        return None

    @model_validator(mode="after")
    def _can_be_fulfilled(self) -> Self:
        fault = self.fault()
        if fault is not None:
            raise ValueError(" ".join(fault))
        return self

    def resolved(self, units: UnitSystem, where: str = "") -> Self:
        """See :class:`Declaration`; raises CaseError also for tolerances that cannot be fulfilled."""
        result = super().resolved(units, where)
        fault = result.fault()
        if fault is not None:
            raise CaseError(f"{where}.{fault[0]}: {fault[1]}" if where else " ".join(fault))
        return result


class Explicit(Controlled):
    """An explicit Runge–Kutta rule, with steps controlled by its error estimate or fixed.

    A step is accepted when, for every joint's translation, rotation and their speeds, and for the works, the largest
    component of the error estimate is below atol + rtol times the largest component of the quantity itself (for the
    works: of the largest work).
    """

    rule: ExplicitRule = DEFAULT
    """The formula; all but ``rk4`` and ``euler`` have an error estimate."""
    rtol: Annotated[Quantity | Tolerances | None, Dimension("dimensionless", minimum=0)] = RTOL
    """Relative tolerance, one for all or by kind of variable; None for a rule without an error estimate."""
    atol: Annotated[Quantity | Tolerances | None, Dimension("dimensionless", minimum=0)] = ATOL
    """Absolute tolerance in the units of the case, one for all or by kind of variable; None likewise."""
    step: Annotated[Quantity | None, Dimension("time", minimum=0, exclusive=True)] = None
    """Fixed step [time]; None lets the error choose it."""
    first_step: Annotated[Quantity | None, Dimension("time", minimum=0, exclusive=True)] = None
    """First step tried [time]; None starts from the fastest relaxation."""
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
    """A linear multistep rule, predictor and corrector, at fixed steps; its first steps are of a Runge–Kutta rule."""

    foreign: ClassVar[Mapping[str, str]] = _FIXED

    rule: MultistepRule = "adams-bashforth-moulton"
    """The formula, of order 4, as PECE."""
    step: Annotated[Quantity, Dimension("time", minimum=0, exclusive=True)]
    """The step [time]."""


class Canonical(Declaration):
    """A symplectic rule in canonical momenta, at fixed steps.

    Its stages are implicit and solved to rounding. Energy then does not drift, momentum and angular momentum of an
    isolated tree are kept to rounding, and time can be reversed to rounding. With drag it keeps its order only.
    """

    foreign: ClassVar[Mapping[str, str]] = _FIXED
    advice: ClassVar[Mapping[str, str]] = {
        "step": "articulon.analysis.analyse_contacts recommends one where there are contacts"
    }

    rule: CanonicalRule = "implicit-midpoint"
    """The formula: of order 4 for ``lobatto-iiia-iiib-3``, else of order 2."""
    step: Annotated[Quantity, Dimension("time", minimum=0, exclusive=True)]
    """The step [time]."""
    force_step: Flag | None = None
    """Whether contacts may be given a step beyond their limit of stability."""


class Respa(Declaration):
    """r-RESPA for free particles: velocity Verlet with several steps of the fast forces in each step of the slow ones.

    Long-range forces are evaluated once in a step, those of pairs ``pair_steps`` times, and those of bonds, angles,
    dihedrals and walls ``bonded_steps`` times in each of these.
    """

    foreign: ClassVar[Mapping[str, str]] = _FIXED

    rule: Literal["r-respa"] = "r-respa"
    """The formula, of order 2."""
    step: Annotated[Quantity, Dimension("time", minimum=0, exclusive=True)]
    """The outermost step [time]."""
    pair_steps: Annotated[Whole, Field(ge=1)] = 1
    """Steps of pairs in each step."""
    bonded_steps: Annotated[Whole, Field(ge=1)] = 4
    """Steps of bonded forces in each step of pairs."""


class ErmakMcCammon(Declaration):
    """Overdamped steps of free particles, with a thermostat of the kind ``overdamped``: x += h F/(m γ) + noise.

    Of weak order 1 in the step, which the stiffest force bounds by h ≪ m γ/k.
    """

    foreign: ClassVar[Mapping[str, str]] = _FIXED

    rule: Literal["ermak-mccammon"] = "ermak-mccammon"
    """The formula."""
    step: Annotated[Quantity, Dimension("time", minimum=0, exclusive=True)]
    """The step [time]."""


class EventDriven(Declaration):
    """Event-driven molecular dynamics of hard spheres: from impact to impact, each found exactly, without steps.

    For smooth spheres that fly freely: particles with a radius, ``impacts`` without friction and no other force but
    gravity. Between frames nothing is lost to a step that is too long, and nothing goes through anything at any speed.
    Impacts are found anew at every frame, so that another number of frames rounds otherwise, and a resumed run has the
    bits of an unbroken one.
    """

    foreign: ClassVar[Mapping[str, str]] = {
        "step": "this rule has no steps, it goes from impact to impact: leave it out",
        **dict.fromkeys(("rtol", "atol", "first_step", "max_step"), "this rule finds impacts exactly: leave it out"),
    }

    rule: Literal["event-driven"] = "event-driven"
    """The rule."""


class BrownianDynamics(Declaration):
    """Overdamped steps of bodies on joints, ζ(q) u = Γ + noise, with Stokes drag and the temperature of the Brownian
    forces, by the midpoint scheme of Fixman (J. Chem. Phys. 69, 1527, 1978) in O(n).

    For motion that is slow against every relaxation time m/β. Positions are distributed as those of bodies with
    inertia; speeds there are none. Of order 2 without noise, of weak order 1 with it. The stiffest force bounds the
    step by h ≪ β/k, and so does the angle √(2 kT h/β_ω) that the smallest body turns in it. Steps beyond twice the
    fastest relaxation of the positions, where the rule is not stable, end the run, with the body that is too fast.
    """

    foreign: ClassVar[Mapping[str, str]] = _FIXED

    rule: Literal["overdamped"] = "overdamped"
    """The formula."""
    step: Annotated[Quantity, Dimension("time", minimum=0, exclusive=True)]
    """The step [time]."""


class SciPy(Controlled):
    """A stiff solver of SciPy: variable-order backward differences, or Radau IIA of order 5.

    It begins anew at every frame, so that a run resumes to the same bits; between frames it cannot be interrupted. Its
    Jacobian is differenced and dense: a reference for models of some hundred variables, not for large ones.
    """

    foreign: ClassVar[Mapping[str, str]] = {
        "step": "this rule chooses its own steps: leave it out and give rtol and atol; max_step bounds the steps"
    }

    rule: Literal["scipy-bdf", "scipy-radau"] = "scipy-radau"
    """The solver."""
    rtol: Annotated[Quantity, Dimension("dimensionless", minimum=0)] = RTOL
    """Relative tolerance of every variable."""
    atol: Annotated[Quantity | Tolerances, Dimension("dimensionless", minimum=0)] = ATOL
    """Absolute tolerance in the units of the case, one for all or by kind of variable."""
    first_step: Annotated[Quantity | None, Dimension("time", minimum=0, exclusive=True)] = None
    """First step tried after each frame [time]; None lets the solver choose it."""
    max_step: Annotated[Quantity | None, Dimension("time", minimum=0, exclusive=True)] = None
    """Longest step allowed [time]."""


class FrictionImplicit(Declaration):
    """Half kick, half drift, a midpoint step with the drag taken as an inertia, half drift, half kick.

    Steps may be far longer than the fastest relaxation time m/β; they are bounded by the fastest force and by the angle
    that a body turns in one step. Every part of a step stays on loop constraints and given motions. Damping and
    friction of joints, drives that resist speeds, damping of springs between points and that of the modes of flexible
    bodies are taken with the drag.
    """

    foreign: ClassVar[Mapping[str, str]] = _FIXED

    rule: Literal["friction-implicit"] = "friction-implicit"
    """The formula."""
    step: Annotated[Quantity, Dimension("time", minimum=0, exclusive=True)]
    """The step [time]."""
    force_step: Flag | None = None
    """Whether contacts may be given a step beyond their limit of stability."""
    drift: Literal["steady", "geodesic"] = "steady"
    """How bodies move between the kicks: at steady speeds, with velocity products as a part of the kicks, or along
    ``geodesic`` lines, as they do where nothing acts. These take some twenty recursions a step more and make the rule
    symplectic without drag and thermostat: where forces cost more than that, as between the atoms of a protein, longer
    steps keep the energy. Rigid bodies only."""
    long_range_every: Annotated[Whole, Field(ge=1)] = 1
    """Steps from one evaluation of the slow forces between sites to the next: long-range sums of charges, generalised
    Born solvents and forces of other programs. They then act for as many steps at once (r-RESPA: Tuckerman, Berne and
    Martyna, J. Chem. Phys. 97, 1990, 1992)."""
