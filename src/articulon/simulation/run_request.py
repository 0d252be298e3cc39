"""What a run asks of a case, and of whoever wants to see how it goes."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from articulon.model import Model
from articulon.units import UnitSystem


class Description(Protocol):
    """A complete description of a run, such as :class:`articulon.cases.Case`: every quantity in its units."""

    @property
    def name(self) -> str:
        """What it is called."""
        ...

    @property
    def folder_name(self) -> str:
        """What the folder of its results is called by default: its name, and what its overrides change."""
        ...

    @property
    def source(self) -> str:
        """The file it was read from; messages begin with it."""
        ...

    @property
    def title(self) -> str:
        """One line for people."""
        ...

    @property
    def units(self) -> UnitSystem:
        """The units of every number in it."""
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
        """Which joints lock and release while the run goes on, or None."""
        ...

    @property
    def fidelity(self) -> Any:
        """What a scaled run is judged by: tolerance, pairs of runs and their budget."""
        ...

    @property
    def run(self) -> Any:
        """Duration, seed, frames, interval of checkpoints, threads and what stops it."""
        ...

    @property
    def checks(self) -> Any:
        """What must be true of the results."""
        ...

    @property
    def inferred(self) -> tuple[str, ...]:
        """What was inferred when the model was last built, a line each."""
        ...

    def check_code(self) -> None:
        """Raises CaseError where it names functions, which are code, and nobody has allowed them to run."""
        ...

    def build_model(self) -> Model:
        """The model with its forces."""
        ...

    def with_overrides(self, overrides: Mapping[str, Any]) -> "Description":
        """The description with changes by dotted key."""
        ...

    def digest(self) -> str:
        """SHA-256 of all that determines the numbers of a run, in hexadecimal."""
        ...

    def check_continues(self, file: Path) -> None:
        """Raises CaseError unless a run's ``case.toml`` describes the same run."""
        ...

    def to_toml(self) -> str:
        """A file that reads back as an equal description."""
        ...


class Progress(Protocol):
    """Shows how a run goes; :class:`articulon.cli.RunProgress` is one."""

    def start(self, total_time: float, unit: str, resumed_from: float = 0.0) -> None:
        """The run begins or goes on at a simulated time [time]."""

    def message(self, text: str) -> None:
        """Something that a person should know."""

    def update(self, time: float, step: float, steps: int) -> None:
        """Simulated time [time], length of the present step [time], steps taken."""

    def finish(self, text: str = "") -> None:
        """The run is over; the text says how it ended."""


class Silent:
    """Shows nothing."""

    def start(self, total_time: float, unit: str, resumed_from: float = 0.0) -> None:
        """See :class:`Progress`."""

    def message(self, text: str) -> None:
        """See :class:`Progress`."""

    def update(self, time: float, step: float, steps: int) -> None:
        """See :class:`Progress`."""

    def finish(self, text: str = "") -> None:
        """See :class:`Progress`."""
