"""Interfaces that a run needs: the description of the case, and the display of its progress."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from articulon.model import Model
from articulon.units import UnitSystem


class Description(Protocol):
    """A complete description of a run, such as :class:`articulon.cases.Case`, with all quantities in its unit
    system."""

    @property
    def name(self) -> str:
        """Name of the case."""
        ...

    @property
    def folder_name(self) -> str:
        """Default folder name of the results: the case's name and its overrides."""
        ...

    @property
    def source(self) -> str:
        """File from which the case was read; messages begin with it."""
        ...

    @property
    def title(self) -> str:
        """Title of the case in one line."""
        ...

    @property
    def units(self) -> UnitSystem:
        """Unit system of all numbers in the description."""
        ...

    @property
    def dynamics(self) -> Any:
        """Solver, rotations and coordinates."""
        ...

    @property
    def scaling(self) -> Any:
        """The scaling policy."""
        ...

    @property
    def thermostat(self) -> Any:
        """The thermostat, or None."""
        ...

    @property
    def barostat(self) -> Any:
        """The barostat, or None."""
        ...

    @property
    def integrator(self) -> Any:
        """The declared integrator."""
        ...

    @property
    def adaptive(self) -> Any:
        """Conditions for locking and releasing joints during the run, or None."""
        ...

    @property
    def fidelity(self) -> Any:
        """Settings of the verdict on a scaled run: tolerance, pairs of runs and their budget."""
        ...

    @property
    def run(self) -> Any:
        """Duration, seed, frames, checkpoint interval, threads and stop condition."""
        ...

    @property
    def checks(self) -> Any:
        """Checks on the results."""
        ...

    @property
    def inferred(self) -> tuple[str, ...]:
        """Assumptions made when the model was last built, one line each."""
        ...

    def check_code(self) -> None:
        """Raise CaseError if the case names Python functions that the user has not allowed to run."""
        ...

    def build_model(self) -> Model:
        """Build the model with its forces."""
        ...

    def with_overrides(self, overrides: Mapping[str, Any]) -> "Description":
        """Return the description with changes by dotted key."""
        ...

    def digest(self) -> str:
        """Return the SHA-256 of all data that determine the results of a run, in hexadecimal."""
        ...

    def check_continues(self, file: Path) -> None:
        """Raise CaseError unless a run's ``case.toml`` describes the same run."""
        ...

    def to_toml(self) -> str:
        """Return the text of a case file; reading the file gives an equal description."""
        ...


class Progress(Protocol):
    """Displays the progress of a run, such as :class:`articulon.cli.RunProgress`."""

    def start(self, total_time: float, unit: str, resumed_from: float = 0.0) -> None:
        """Show that the run begins, or resumes at a simulated time [time]."""

    def message(self, text: str) -> None:
        """Show a message to the user."""

    def update(self, time: float, step: float, steps: int) -> None:
        """Show the simulated time [time], the current step length [time] and the number of steps."""

    def finish(self, text: str = "") -> None:
        """Show that the run has ended; the text says how."""


class Silent:
    """A progress display that shows nothing.

    Parameters
    ----------
    announces
        Whether standard error receives announcements, such as that kernels are compiled.
    """

    def __init__(self, announces: bool = False) -> None:
        self.announces = announces

    def start(self, total_time: float, unit: str, resumed_from: float = 0.0) -> None:
        """See :class:`Progress`."""

    def message(self, text: str) -> None:
        """See :class:`Progress`."""

    def update(self, time: float, step: float, steps: int) -> None:
        """See :class:`Progress`."""

    def finish(self, text: str = "") -> None:
        """See :class:`Progress`."""
