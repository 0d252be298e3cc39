"""What a case says must be true of its results: ``[[checks]]``, looked at when a run has ended.

A check measures a value that should be zero, and passes where its magnitude is within the bound that the case states.
What it looks at are the frames; what happens between them it does not see.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, ClassVar, Literal, Self, TypeAlias

import numpy as np
from pydantic import Field

from articulon.declaration import Declaration, Dimension, Quantity, nearest
from articulon.dynamics import body_poses
from articulon.dynamics.loop_functions import loop_equations
from articulon.dynamics.momentum import momentum
from articulon.errors import CaseError, ModelError
from articulon.forces.selection import body_index
from articulon.model import CHANNELS, Model
from articulon.model.rotations import matrices
from articulon.simulate import ledger
from articulon.simulate.layout import label

Take: TypeAlias = Literal["final", "largest", "smallest", "period"]
"""What is taken of a quantity over time; a period is the mean time between its upward passages through zero."""


@dataclass(frozen=True)
class Frames:
    """What a run leaves to be checked."""

    model: Model
    """The model."""
    times: np.ndarray
    """[time], shape (frames,)."""
    q: np.ndarray
    """Coordinates, shape (frames, nq)."""
    u: np.ndarray
    """Speeds, shape (frames, nu)."""
    observables: Mapping[str, np.ndarray]
    """By name, each of shape (frames,)."""
    dimensions: Mapping[str, str]
    """Those of the observables, by name."""
    varies: bool = False
    """Whether the factors of the channels change along the run."""

    @cached_property
    def momenta(self) -> np.ndarray:
        """P, L, Σ|p| and Σ|l| of every frame, shape (frames, 8)."""
        return np.array([momentum(self.model, q, u) for q, u in zip(self.q, self.u, strict=True)])


@dataclass(frozen=True)
class Outcome:
    """What a check has found."""

    what: str
    """What was checked, for people."""
    value: float
    """What should be zero."""
    bound: float
    """The largest magnitude of it that passes."""
    unit: str = ""
    """Unit of all numbers here; empty for a pure number."""
    measured: float | None = None
    """What was compared with a reference, if anything was."""
    reference: float | None = None
    """That reference."""

    @property
    def passed(self) -> bool:
        """Not where the value is not a number."""
        return abs(self.value) <= self.bound

    def record(self) -> dict[str, Any]:
        """The entry in ``summary.json``."""
        found = {"what": self.what, "value": self.value, "bound": self.bound, "passed": self.passed, "unit": self.unit}
        if self.measured is not None:
            found |= {"measured": self.measured, "reference": self.reference}
        return found


class Check(Declaration):
    """Base of the checks."""

    error_class: ClassVar = CaseError

    what: str | None = None
    """What the summary and the report call it."""

    def prepared(self, model: Model, observables: Mapping[str, str], where: str) -> Self:
        """A copy in the units of a model, whose observables have these dimensions; raises ModelError or CaseError
        for what does not exist there."""
        return self

    def outcome(self, frames: Frames) -> Outcome:
        """What the frames of a run show."""
        raise NotImplementedError


class EnergyCheck(Check):
    """max |T + V − T₀ − V₀ − W| over a scale, with V the energies of the channels that have one and W the work of the
    others, as scaled."""

    kind: Literal["energy"]
    """Which check this is."""
    tolerance: Annotated[Quantity, Dimension("dimensionless", minimum=0)]
    """Largest drift over the scale."""
    scale: Annotated[Quantity | None, Dimension("energy", minimum=0, exclusive=True)] = None
    """[energy]; the largest kinetic energy of all frames by default."""

    def outcome(self, frames: Frames) -> Outcome:
        """See :class:`Check`."""
        seen = frames.observables
        kept = ledger.with_energy(seen, frames.varies, ledger.without_energy(frames.model))
        drift = seen["kinetic_energy"] - seen["kinetic_energy"][0]
        for name in CHANNELS:
            if name in kept:
                drift = drift + seen[f"factor_{name}"] * (seen[f"energy_{name}"] - seen[f"energy_{name}"][0])
            elif f"work_{name}" in seen:
                drift = drift - seen[f"work_{name}"]
        scale = float(seen["kinetic_energy"].max() if self.scale is None else self.scale)
        over = "the largest kinetic energy" if self.scale is None else "its scale"
        what = self.what or f"drift of the energy over {over}"
        return Outcome(what, _largest(drift) / scale if scale > 0.0 else _largest(drift), float(self.tolerance))


class MomentumCheck(Check):
    """max |P − P₀| over the largest Σ|p| of the bodies; likewise of the angular momentum about the world's origin."""

    kind: Literal["momentum", "angular-momentum"]
    """Which check this is."""
    tolerance: Annotated[Quantity, Dimension("dimensionless", minimum=0)]
    """Largest relative drift."""
    direction: Annotated[tuple[Quantity, Quantity, Quantity] | None, Dimension("dimensionless")] = None
    """World axis along which it is looked at; all components by default."""

    def prepared(self, model: Model, observables: Mapping[str, str], where: str) -> Self:
        """See :class:`Check`."""
        if self.direction is not None and not any(self.direction):
            raise CaseError(f"{where}.direction: expected three numbers, not all zero, got {list(self.direction)}")
        return self

    def outcome(self, frames: Frames) -> Outcome:
        """See :class:`Check`."""
        turning = self.kind == "angular-momentum"
        found = frames.momenta[:, 3:6] if turning else frames.momenta[:, :3]
        drift = found - found[0]
        along = ""
        if self.direction is not None:
            axis = np.array([float(x) for x in self.direction])
            drift, along = drift @ axis / np.linalg.norm(axis), f" along ({', '.join(f'{x:g}' for x in axis)})"
        scale = float(frames.momenta[:, 7 if turning else 6].max())
        size = np.linalg.norm(drift.reshape(len(drift), -1), axis=1)
        what = self.what or f"drift of the {self.kind.replace('-', ' ')}{along} over the sum of the bodies' own"
        return Outcome(what, _largest(size) / scale if scale > 0.0 else _largest(size), float(self.tolerance))


class LoopCheck(Check):
    """The largest error of the loops and drives: of their positions (``ar.loop_residuals``), or of its rates."""

    kind: Literal["loops"]
    """Which check this is."""
    of: Literal["positions", "speeds"] = "positions"
    """What is looked at."""
    tolerance: Annotated[Quantity, Dimension("dimensionless", minimum=0)]
    """Largest error, in the units of the case."""

    def prepared(self, model: Model, observables: Mapping[str, str], where: str) -> Self:
        """See :class:`Check`."""
        if not model.loops.kind.size:
            raise CaseError(f"{where}: the model has no loops and no drives to be checked")
        return self

    def outcome(self, frames: Frames) -> Outcome:
        """See :class:`Check`."""
        worst = 0.0
        for time, q, u in zip(frames.times, frames.q, frames.u, strict=True):
            found = loop_equations(frames.model, q, u, float(time))
            worst = max(worst, _largest(found.residual if self.of == "positions" else found.rate))
        what = self.what or ("error of the closed loops" if self.of == "positions" else "speed of the closed loops")
        return Outcome(what, worst, float(self.tolerance))


class FreedomCheck(Check):
    """The number of speeds that loops and drives leave free, at the start of the run."""

    kind: Literal["degrees-of-freedom"]
    """Which check this is."""
    count: Annotated[int, Field(strict=True, ge=0)]
    """How many there should be."""

    def outcome(self, frames: Frames) -> Outcome:
        """See :class:`Check`."""
        found = frames.model.degrees_of_freedom
        what = self.what or "degrees of freedom"
        return Outcome(what, float(found - self.count), 0.0, "", float(found), float(self.count))


class ValueCheck(Check):
    """Base of the checks that compare a quantity over time with a reference."""

    take: Take = "final"
    """What of it is compared."""
    reference: Quantity
    """What it should be, in the quantity's own dimension; a time for a period."""
    tolerance: Quantity
    """How far it may be from that."""

    def dimension(self, model: Model, observables: Mapping[str, str], where: str) -> str:
        """Of the quantity; raises CaseError or ModelError where there is none such."""
        raise NotImplementedError

    def series(self, frames: Frames) -> np.ndarray:
        """The quantity, shape (frames,)."""
        raise NotImplementedError

    def name(self) -> str:
        """What the quantity is called."""
        raise NotImplementedError

    def prepared(self, model: Model, observables: Mapping[str, str], where: str) -> Self:
        """See :class:`Check`."""
        found = self.dimension(model, observables, where)
        dimension = "time" if self.take == "period" else found
        values = {
            key: model.units.value(given, dimension, f"{where}.{key}")
            for key, given in (("reference", self.reference), ("tolerance", self.tolerance))
        }
        if values["tolerance"] < 0.0:
            raise CaseError(f"{where}.tolerance: must be at least 0, got {self.tolerance!r}")
        return self.model_copy(update=values)

    def outcome(self, frames: Frames) -> Outcome:
        """See :class:`Check`."""
        measured, reference = taken(self.take, frames.times, self.series(frames)), float(self.reference)
        period = self.take == "period"
        dimension = "time" if period else self.dimension(frames.model, frames.dimensions, "")
        what = self.what or (f"period of the {self.name()}" if period else f"{self.take} {self.name()}")
        unit = label(frames.model.units, dimension)
        return Outcome(what, measured - reference, float(self.tolerance), unit, measured, reference)


class JointCheck(ValueCheck):
    """A coordinate or a speed of a body's joint."""

    kind: Literal["coordinate", "speed"]
    """Which check this is."""
    body: str
    """The body that the joint carries."""
    component: Annotated[int, Field(strict=True, ge=0)] = 0
    """Which of the joint's coordinates or speeds."""

    def dimension(self, model: Model, observables: Mapping[str, str], where: str) -> str:
        """See :class:`ValueCheck`."""
        joint = model.joints[body_index(model, self.body, f"{where}.body")]
        if any(loop.name == f"joint of {self.body}" for loop in model.loop_joints):
            raise CaseError(
                f"{where}: in Cartesian coordinates the joint of '{self.body}' is a loop and has no {self.kind}; check "
                "a position instead, or run with dynamics.coordinates = 'relative'"
            )
        named = joint.coordinates if self.kind == "coordinate" else joint.speeds
        if self.component >= len(named):
            name = type(joint).__name__.lower()
            raise CaseError(
                f"{where}.component: the {name} joint of '{self.body}' has {len(named)} {self.kind}s, counted from 0, "
                f"got {self.component}"
            )
        return named[self.component][1]

    def series(self, frames: Frames) -> np.ndarray:
        """See :class:`ValueCheck`."""
        forest, i = frames.model.forest, int(frames.model.link[frames.model.body(self.body)])
        if self.kind == "coordinate":
            return frames.q[:, forest.q_start[i] + self.component]
        return frames.u[:, forest.u_start[i] + self.component]

    def name(self) -> str:
        """See :class:`ValueCheck`."""
        return f"{self.kind} of '{self.body}'" + (f", component {self.component}" if self.component else "")


class PositionCheck(ValueCheck):
    """Where a point of a body is along a world axis [length]."""

    kind: Literal["position"]
    """Which check this is."""
    body: str
    """The body."""
    point: Annotated[tuple[Quantity, Quantity, Quantity], Dimension("length")] = (0.0, 0.0, 0.0)
    """In the body's frame [length]."""
    axis: Literal["x", "y", "z"]
    """World axis."""

    def dimension(self, model: Model, observables: Mapping[str, str], where: str) -> str:
        """See :class:`ValueCheck`."""
        body_index(model, self.body, f"{where}.body")
        return "length"

    def series(self, frames: Frames) -> np.ndarray:
        """See :class:`ValueCheck`."""
        body, k = frames.model.body(self.body), "xyz".index(self.axis)
        point = np.array([float(x) for x in self.point])
        poses = (body_poses(frames.model, q) for q in frames.q)
        return np.array([x[body, k] + (matrices(e[body]) @ point)[k] for x, e in poses])

    def name(self) -> str:
        """See :class:`ValueCheck`."""
        return f"{self.axis} of '{self.body}'"


class ObservableCheck(ValueCheck):
    """An observable of the run, such as ``kinetic_energy``."""

    kind: Literal["observable"]
    """Which check this is."""
    observable: str
    """Its name in the trajectory."""

    def dimension(self, model: Model, observables: Mapping[str, str], where: str) -> str:
        """See :class:`ValueCheck`."""
        if self.observable not in observables:
            known = nearest(self.observable, list(observables))
            raise CaseError(f"{where}.observable: there is no observable '{self.observable}'{known}")
        return observables[self.observable]

    def series(self, frames: Frames) -> np.ndarray:
        """See :class:`ValueCheck`."""
        return np.asarray(frames.observables[self.observable])

    def name(self) -> str:
        """See :class:`ValueCheck`."""
        return self.observable.replace("_", " ")


AnyCheck: TypeAlias = Annotated[
    EnergyCheck | MomentumCheck | LoopCheck | FreedomCheck | JointCheck | PositionCheck | ObservableCheck,
    Field(discriminator="kind"),
]
"""Any declared check, chosen by its ``kind``."""


def prepared_checks(
    checks: Sequence[Check], model: Model, observables: Mapping[str, str], source: str
) -> tuple[Check, ...]:
    """The checks in a model's units; raises CaseError, naming the file and the key, for what they cannot look at."""
    try:
        return tuple(check.prepared(model, observables, f"checks[{k}]") for k, check in enumerate(checks))
    except (CaseError, ModelError) as error:
        raise CaseError(f"{source}: {error}") from None


def taken(take: Take, times: np.ndarray, values: np.ndarray) -> float:
    """What is taken of values over the times of frames, shapes (frames,); not a number where there is nothing."""
    if take != "period":
        return float({"final": values[-1], "largest": values.max(), "smallest": values.min()}[take])
    upward = [t for t, rising in passages(times, values) if rising]
    return (upward[-1] - upward[0]) / (len(upward) - 1) if len(upward) > 1 else np.nan


def passages(times: np.ndarray, values: np.ndarray) -> list[tuple[float, bool]]:
    """When a spline of fifth degree through the values passes through zero, and whether it rises there."""
    # SciPy's splines take a second to import, which a run without such a check need not pay.
    from scipy.interpolate import PPoly, make_interp_spline

    if len(times) < 6:
        return []
    spline = make_interp_spline(times, values, k=5)
    roots = PPoly.from_spline(spline).roots(discontinuity=False, extrapolate=False)
    inside = roots[np.isfinite(roots) & (roots > times[0]) & (roots < times[-1])]
    return [(float(t), bool(spline.derivative()(t) > 0.0)) for t in inside]


def _largest(values: np.ndarray) -> float:
    return float(np.abs(values).max(initial=0.0))
