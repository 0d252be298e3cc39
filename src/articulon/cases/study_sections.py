"""Sections of a case for studies of its parameters: ``[sensitivities]``, ``[fit]`` and ``[optimise]``."""

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from articulon.declaration import Declaration, Number, Whole
from articulon.errors import CaseError


class StudySection(Declaration):
    """A study section of a case file."""

    error_class: ClassVar = CaseError


class Sensitivities(StudySection):
    """``[sensitivities]``: default settings of ``articulon sensitivities``."""

    objective: str | None = None
    """Quantity to differentiate: an observable at the end of the run, or ``"stop_time"``, which is the default for a
    run with a stop condition."""
    parameters: tuple[str, ...] = ()
    """Keys of the parameters with respect to which the objective is differentiated; by default all nonzero numbers of
    the model and its forces."""
    method: Literal["adjoint", "forward"] = "adjoint"
    """Method: ``adjoint`` for many parameters; ``forward`` for few, or for steps chosen by an error estimate."""


class Sought(StudySection):
    """Unknown parameter: an entry of ``[[fit.parameters]]`` or ``[[optimise.parameters]]``."""

    key: str
    """Key of the parameter in the case."""
    start: Any = None
    """Start value of the search, written like the value of the key; by default the value in the case."""
    minimum: Any = None
    """Lower bound, written like the value of the key; none by default."""
    maximum: Any = None
    """Upper bound, written like the value of the key; none by default."""


class Fit(StudySection):
    """``[fit]``: parameters to determine from measurements, by ``articulon fit``."""

    parameters: tuple[Sought, ...] = ()
    """Parameters to fit."""
    observables: tuple[str, ...] = ()
    """Names of the measured observables; by default all columns of ``data`` except the time."""
    data: str | None = None
    """CSV file with a heading, relative to the case. It has a column ``time`` and one for each observable, in the units
    of the case. Without a file, a run of the case itself is measured, and random errors from ``run.seed`` are added."""
    samples: Annotated[Whole, Field(ge=1)] = 50
    """Number of equal intervals. If there is no ``data``, a run of the case itself is measured at the end of each."""
    errors: tuple[Annotated[Number, Field(gt=0)], ...] = ()
    """Standard deviation of the errors of each observable, or one value for all [unit of the observable]. By default
    all observables have equal weights, and the size of the errors is estimated from the residuals of the fit."""


class Target(StudySection):
    """``[[optimise.targets]]``: a value that an observable should have at the end of the run."""

    observable: str
    """Name of the observable."""
    value: Number = 0.0
    """Target value of the observable [unit of the observable, in the units of the case]."""
    scale: Annotated[Number, Field(gt=0)] = 1.0
    """Scale by which the deviation from the target is divided [unit of the observable]."""


class Optimise(StudySection):
    """``[optimise]``: parameters to find by ``articulon optimise``. With these parameters the observables reach their
    targets."""

    parameters: tuple[Sought, ...] = ()
    """Parameters to find."""
    targets: tuple[Target, ...] = ()
    """Targets at the end of the run."""
    tolerance: Annotated[Number, Field(gt=0)] = 1e-6
    """Largest deviation from a target at which the search ends, relative to the scale of the target."""
    runs: Annotated[Whole, Field(ge=1)] = 200
    """Maximum number of runs in the search."""
