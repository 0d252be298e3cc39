"""Base classes of the checks of a run, and the statistics of a quantity over time that they use."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, ClassVar, Literal, Self, TypeAlias

import numpy as np

from articulon.declaration import Declaration, Dimension, Quantity
from articulon.dynamics.momenta import momentum
from articulon.errors import CaseError
from articulon.model import Model
from articulon.storage.model_layout import label

Take: TypeAlias = Literal["final", "largest", "smallest", "mean", "standard-deviation", "period"]
"""Statistic of a quantity over time. ``period`` is the mean time between upward passages of the quantity through
zero."""


@dataclass(frozen=True)
class Frames:
    """The results of a run that checks read."""

    model: Model
    """The model."""
    times: np.ndarray
    """Times of the frames [time], shape (frames,)."""
    q: np.ndarray
    """Coordinates, shape (frames, nq)."""
    u: np.ndarray
    """Speeds, shape (frames, nu)."""
    observables: Mapping[str, np.ndarray]
    """Observables by name, each of shape (frames,)."""
    dimensions: Mapping[str, str]
    """Dimensions of the observables, by name."""
    varies: bool = False
    """Whether the scaling factors of the channels change along the run."""

    @cached_property
    def momenta(self) -> np.ndarray:
        """Total momentum P and angular momentum L, and the sums Σ|p| and Σ|l| over the bodies, of every frame, shape
        (frames, 8)."""
        return np.array([momentum(self.model, q, u) for q, u in zip(self.q, self.u, strict=True)])


@dataclass(frozen=True)
class Outcome:
    """The result of a check."""

    what: str
    """Description of the checked quantity."""
    value: float
    """The measured value, which should be zero."""
    bound: float
    """The largest magnitude that passes."""
    unit: str = ""
    """Unit of all numbers of the outcome; empty for pure numbers."""
    measured: float | None = None
    """The quantity that was compared with a reference; None if there is no reference."""
    reference: float | None = None
    """Value of the reference; None if there is no reference."""

    @property
    def passed(self) -> bool:
        """Whether the value is within the bound; NaN fails."""
        return abs(self.value) <= self.bound

    def record(self) -> dict[str, Any]:
        """Return the entry in ``summary.json``."""
        found = {"what": self.what, "value": self.value, "bound": self.bound, "passed": self.passed, "unit": self.unit}
        if self.measured is not None:
            found |= {"measured": self.measured, "reference": self.reference}
        return found


class Check(Declaration):
    """Base of all checks."""

    error_class: ClassVar = CaseError

    what: str | None = None
    """Name of the check in the summary and the report."""

    def prepared(self, model: Model, observables: Mapping[str, str], where: str) -> Self:
        """Return a copy in the units of a model; ``observables`` gives the dimensions of its observables. Raise
        ModelError or CaseError if the checked quantity does not exist."""
        return self

    def outcome(self, frames: Frames) -> Outcome:
        """Evaluate the check on the frames of a run."""
        raise NotImplementedError


class ValueCheck(Check):
    """Base of the checks that compare a quantity over time with a reference."""

    take: Take = "final"
    """Statistic of the quantity that is compared with the reference."""
    after: Annotated[Quantity, Dimension("time", minimum=0)] = 0.0
    """Time of the first frame that is used [time]."""
    reference: Quantity
    """Expected value, in the dimension of the quantity. For ``take = "period"`` it is a time."""
    tolerance: Quantity
    """Largest allowed difference from the reference."""

    def dimension(self, model: Model, observables: Mapping[str, str], where: str) -> str:
        """Return the dimension of the quantity; raise CaseError or ModelError if the quantity does not exist."""
        raise NotImplementedError

    def series(self, frames: Frames) -> np.ndarray:
        """The quantity, shape (frames,)."""
        raise NotImplementedError

    def name(self) -> str:
        """Name of the quantity."""
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
        values["after"] = model.units.value(self.after, "time", f"{where}.after")
        return self.model_copy(update=values)

    def outcome(self, frames: Frames) -> Outcome:
        """See :class:`Check`."""
        late = frames.times >= float(self.after) * (1.0 - 1e-9)
        values = self.series(frames) if late.any() else np.full(late.size, np.nan)
        measured, reference = taken(self.take, frames.times[late], values[late]), float(self.reference)
        period = self.take == "period"
        dimension = "time" if period else self.dimension(frames.model, frames.dimensions, "")
        taken_of = self.take in ("period", "mean", "standard-deviation")
        what = self.what or f"{self.take.replace('-', ' ')} {'of the ' if taken_of else ''}{self.name()}"
        if not late.any():
            what += f" (the run ends before checks.after, {float(self.after):g})"
        unit = label(frames.model.units, dimension)
        return Outcome(what, measured - reference, float(self.tolerance), unit, measured, reference)


def taken(take: Take, times: np.ndarray, values: np.ndarray) -> float:
    """Compute a statistic of values at the times of frames. Values and times have the shape (frames,); NaN if they are
    empty."""
    if not values.size:
        return np.nan
    if take != "period":
        of = {"final": values[-1], "largest": values.max(), "smallest": values.min(), "mean": values.mean()}
        return float(values.std() if take == "standard-deviation" else of[take])
    upward = [t for t, rising in passages(times, values) if rising]
    return (upward[-1] - upward[0]) / (len(upward) - 1) if len(upward) > 1 else np.nan


def passages(times: np.ndarray, values: np.ndarray) -> list[tuple[float, bool]]:
    """Return the times at which a quintic spline through the values crosses zero, each with whether the spline rises
    there."""
    # This import takes a second, and only checks of a period need it.
    from scipy.interpolate import PPoly, make_interp_spline

    if len(times) < 6:
        return []
    spline = make_interp_spline(times, values, k=5)
    roots = PPoly.from_spline(spline).roots(discontinuity=False, extrapolate=False)
    inside = roots[np.isfinite(roots) & (roots > times[0]) & (roots < times[-1])]
    return [(float(t), bool(spline.derivative()(t) > 0.0)) for t in inside]


def largest(values: np.ndarray) -> float:
    """Largest magnitude; 0 for an empty array."""
    return float(np.abs(values).max(initial=0.0))
