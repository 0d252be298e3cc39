"""Sections of a case that ask about its parameters: ``[sensitivities]``, ``[fit]`` and ``[optimise]``."""

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from articulon.declaration import Declaration, Number, Whole
from articulon.errors import CaseError


class StudySection(Declaration):
    """A table of a case file."""

    error_class: ClassVar = CaseError


class Sensitivities(StudySection):
    """``[sensitivities]``: what ``articulon sensitivities`` differentiates when it is told nothing."""

    objective: str | None = None
    """An observable at the end, by its name, or ``"stop_time"``, which it is by default for a run that stops."""
    parameters: tuple[str, ...] = ()
    """Keys of the case; by default all numbers of its model and forces that are not zero."""
    method: Literal["adjoint", "forward"] = "adjoint"
    """``adjoint`` for many parameters; ``forward`` for few, or for steps that an error estimate chooses."""


class Sought(StudySection):
    """Numbers that are sought: an entry of ``[[fit.parameters]]`` or ``[[optimise.parameters]]``."""

    key: str
    """Their key in the case."""
    start: Any = None
    """Where the search begins, written as the key's value is; that value by default."""
    minimum: Any = None
    """The least they may be, written as the key's value is; anything by default."""
    maximum: Any = None
    """The largest they may be, written as the key's value is; anything by default."""


class Fit(StudySection):
    """``[fit]``: parameters that are found from measurements, by ``articulon fit``."""

    parameters: tuple[Sought, ...] = ()
    """What is found."""
    observables: tuple[str, ...] = ()
    """What is measured, by name; by default all columns of ``data`` but the time."""
    data: str | None = None
    """A file of comma-separated values with a heading, beside the case: a column ``time`` and one for each observable,
    in the units of the case. Without it the case's own run is measured, with errors drawn from ``run.seed``."""
    samples: Annotated[Whole, Field(ge=1)] = 50
    """Equal intervals at the ends of which the case's own run is measured."""
    errors: tuple[Annotated[Number, Field(gt=0)], ...] = ()
    """Standard deviation of the errors of each observable, or one for all [of the observable]. By default all weigh
    alike, and the size of their errors is taken from what the fit leaves."""


class Target(StudySection):
    """``[[optimise.targets]]``: a value that an observable is to have at the end."""

    observable: str
    """Its name."""
    value: Number = 0.0
    """What it is to be [of the observable, in the units of the case]."""
    scale: Annotated[Number, Field(gt=0)] = 1.0
    """A departure that counts as one [of the observable]."""


class Optimise(StudySection):
    """``[optimise]``: parameters with which a run ends as it is to, found by ``articulon optimise``."""

    parameters: tuple[Sought, ...] = ()
    """What is found."""
    targets: tuple[Target, ...] = ()
    """What the run is to end with."""
    tolerance: Annotated[Number, Field(gt=0)] = 1e-6
    """The largest departure, over the scale of its target, at which the search ends."""
    runs: Annotated[Whole, Field(ge=1)] = 200
    """Runs of the search at most."""
