"""The sections of a case file."""

import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
from pydantic import Field, field_validator, model_validator

from articulon.adaptive import Adaptive
from articulon.barostats import Barostat
from articulon.cases.builders import ModelDeclaration
from articulon.cases.references import check_cited
from articulon.cases.study_sections import Fit, Optimise, Sensitivities
from articulon.declaration import BodyName, Declaration, Dimension, Flag, Number, Quantity, Seed, Whole, nearest
from articulon.errors import CaseError
from articulon.forces import AnyForce
from articulon.forces.selection import body_index
from articulon.integrate import Explicit, Integrator
from articulon.integrate.stop_conditions import StopCondition, advance_of, approach_of
from articulon.model import Model
from articulon.model.box import Box
from articulon.scaling import NoScaling, Policy
from articulon.simulation.checks import AnyCheck
from articulon.sizes import number_of
from articulon.thermostats import Thermostat
from articulon.units import UnitSystem

NAME = "[A-Za-z0-9][A-Za-z0-9._-]*"
"""Pattern for names of cases and variants, which also name folders of results."""

FRAMES = 200
"""Default number of equal intervals between frames."""

MOST_FRAMES = 10_000_000
"""Largest number of frames of a run. The times and observables of more frames would not fit into memory."""


class Section(Declaration):
    """A table of a case file."""

    error_class: ClassVar = CaseError


class Heading(Section):
    """``[case]``: title, units and sources of the case."""

    title: str = ""
    """Title, one line."""
    name: Annotated[str | None, Field(pattern=f"^{NAME}$")] = None
    """Name of the folder of results; by default the name of the file."""
    cite: tuple[str, ...] = ()
    """Keys of references, or references written out in full."""
    units: str = "fg-um-us"
    """Unit system of all plain numbers."""
    notes: tuple[str, ...] = ()
    """Notes for the reader, such as choices that the source leaves open."""

    @field_validator("notes", mode="before")
    @classmethod
    def _one_note(cls, value: Any) -> Any:
        return [value] if isinstance(value, str) else value

    def resolved(self, units: UnitSystem, where: str = "case") -> Self:
        """Return the section unchanged; raises CaseError for a reference that does not exist."""
        check_cited(self.cite, f"{where}.cite")
        return super().resolved(units, where)


class Dynamics(Section):
    """``[dynamics]``: how the equations of motion are formulated and solved."""

    solver: Literal["articulated", "kane", "divide-and-conquer"] = "articulated"
    """Algorithm: articulated bodies, O(n); Kane's method, O(n³); divide and conquer, for many processors."""
    rotations: Literal["speeds", "euler-parameters"] = "speeds"
    """Variables integrated for rotations: angular velocities, or the second derivatives of Euler parameters."""
    coordinates: Literal["relative", "cartesian"] = "relative"
    """Coordinates: those of the joints (``relative``), or those of free bodies, with joints as loop constraints
    (``cartesian``)."""

    @model_validator(mode="after")
    def _together(self) -> Self:
        if self.rotations == "euler-parameters" and self.solver != "articulated":
            raise ValueError("rotations = 'euler-parameters' needs the solver 'articulated'")
        return self


class Stop(Section):
    """``[run.stop]``: a condition that ends a run before its full duration. Either the body advances along a direction,
    or it comes near to another body."""

    body: BodyName
    """Body that is watched."""
    direction: Annotated[tuple[Quantity, Quantity, Quantity] | None, Dimension("dimensionless")] = None
    """Direction of the motion, world frame; a vector of any length except zero."""
    advance: Annotated[Quantity | None, Dimension("length", minimum=0, exclusive=True)] = None
    """Distance that the centre of mass of the body must advance along the direction from its start [length]."""
    to: BodyName | None = None
    """Another body that the body approaches, instead of ``direction`` and ``advance``."""
    distance: Annotated[Quantity | None, Dimension("length", minimum=0, exclusive=True)] = None
    """Distance of the two centres of mass, or of their nearest images in a periodic box, at which the run ends
    [length]."""
    label: str = "reached"
    """Label of this event in the summary, such as ``"docked"``."""

    @model_validator(mode="after")
    def _one_condition(self) -> Self:
        moves, meets = (self.direction, self.advance), (self.to, self.distance)
        complete = [all(part is not None for part in pair) for pair in (moves, meets)]
        begun = [any(part is not None for part in pair) for pair in (moves, meets)]
        if sum(begun) != 1 or complete != begun:
            raise ValueError("expected either direction and advance, or to and distance")
        if self.to == self.body:
            raise ValueError(f"to: '{self.to}' is the body itself")
        return self

    @property
    def length(self) -> float:
        """Advance or distance at which the run ends [length]."""
        return float(self.distance if self.advance is None else self.advance)  # type: ignore[arg-type]

    def condition(self, model: Model, where: str = "run.stop", cell: Any = None) -> StopCondition:
        """Return the condition for a model.

        Parameters
        ----------
        model
            The model.
        where
            Name of the section in messages.
        cell
            Periodic box as the kernels of a run read it; by default that of the model.

        Raises
        ------
        CaseError
            For a body that does not exist or is welded to the ground, and for two bodies that are near from the start.
        """
        names = {"body": self.body} | ({} if self.to is None else {"to": self.to})
        body, *others = (body_index(model, name, f"{where}.{key}") for key, name in names.items())
        if model.link[body] < 0:
            advice = "" if not others else "; name it under to, and the other body under body"
            raise CaseError(f"{where}.body: '{self.body}' is welded to the ground{advice}")
        if not others:
            assert self.direction is not None
            return advance_of(model, body, [float(component) for component in self.direction], self.length)
        found = approach_of(model, body, others[0], self.length, cell)
        if not found.whole > 0.0:
            raise CaseError(
                f"{where}.distance: the centres of mass of '{self.body}' and '{self.to}' are "
                f"{self.length + found.whole:.6g} apart at the start, which is not more than {self.length:.6g}; give a "
                "smaller distance"
            )
        return found

    def resolved(self, units: UnitSystem, where: str = "run.stop") -> Self:
        """Return a copy in the given units; raises CaseError for a direction of zero length."""
        stop = super().resolved(units, where)
        if stop.direction is not None and not any(stop.direction):
            raise CaseError(
                f"{where}.direction: expected three numbers, not all zero, got {list(self.direction or ())}"
            )
        return stop


class RunSettings(Section):
    """``[run]``: duration, seed, start and output."""

    duration: Annotated[Quantity, Dimension("time", minimum=0, exclusive=True)]
    """Simulated time [time]."""
    seed: Seed = 1
    """Seed of the random numbers."""
    frames: Annotated[Whole, Field(ge=1)] | None = None
    """Number of equal intervals between frames; 200 by default."""
    frame_interval: Annotated[Quantity | None, Dimension("time", minimum=0, exclusive=True)] = None
    """Time between frames, instead of their number [time]."""
    checkpoint_interval: Annotated[Number, Field(gt=0)] = 30.0
    """Wall-clock time between checkpoints [s]. The trajectory is written with each checkpoint. If writing takes more
    than a fiftieth of the interval, the interval becomes longer."""
    threads: Annotated[Whole, Field(ge=1)] | None = None
    """Number of threads, by default all; the results are bitwise the same for any number."""
    device: str = "cpu"
    """Device that takes the steps: ``cpu``; ``cuda`` (the first GPU) or ``cuda:1`` (another GPU), for free particles
    under Lennard-Jones forces; ``warp-cpu``, which runs the GPU kernels on one CPU core."""
    engine: Literal["articulon", "lammps"] = "articulon"
    """Engine for the forces between sites: ``articulon`` itself, or ``lammps``, on several processors with
    ``mpiexec``."""
    precision: Literal["double", "mixed"] = "double"
    """Precision on a GPU: ``double``, or ``mixed``, which is single for pair computations and double for everything
    else."""
    minimise: Flag = False
    """Whether the energy is minimised before the run, starting from the initial coordinates, to remove overlaps of
    particles."""
    speeds: Literal["given", "thermal"] = "given"
    """Initial speeds: those of the model, or thermal speeds at the temperature of the thermostat or the Brownian
    forces, or at ``temperature``."""
    temperature: Annotated[Quantity | None, Dimension("temperature", minimum=0, exclusive=True)] = None
    """Temperature of thermal initial speeds [temperature]. It is needed if nothing controls the temperature, or if the
    run starts at a different temperature."""
    stop: Stop | None = None
    """Condition that ends the run before its full duration: ``body``, with ``direction`` and ``advance`` or with ``to``
    and ``distance``, and ``label``."""
    atoms: str | None = None
    """Atoms to store in the trajectory, as an MDAnalysis selection: ``"protein"``, ``"name CA"``; ``"none"`` stores
    bodies instead. By default all atoms, if the model has any."""
    atoms_every: Annotated[Whole, Field(ge=1)] = 1
    """Store atoms in every n-th frame."""
    gsd: Flag | None = None
    """Whether ``articulon run`` also writes the contact spheres as ``spheres.gsd``, for OVITO and freud."""

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if self.frames is not None and self.frame_interval is not None:
            raise ValueError("give either frames or frame_interval")
        return self

    @model_validator(mode="after")
    def _temperature_of_speeds(self) -> Self:
        if self.temperature is not None and self.speeds != "thermal":
            raise ValueError("temperature applies to thermal speeds: give speeds = 'thermal' too, or leave it out")
        return self

    @field_validator("device")
    @classmethod
    def _is_device(cls, value: str) -> str:
        if not re.fullmatch(r"cpu|warp-cpu|cuda(:\d+)?", value):
            raise ValueError(f"expected 'cpu', 'cuda', 'cuda:1' and so on, or 'warp-cpu', got {value!r}")
        return value

    @model_validator(mode="after")
    def _precision_of_device(self) -> Self:
        if self.precision != "double" and self.device == "cpu":
            raise ValueError(
                "precision = 'mixed' needs a device such as 'cuda'; the device 'cpu' computes in double precision"
            )
        return self

    def resolved(self, units: UnitSystem, where: str = "run") -> Self:
        """Return a copy in the given units; raises CaseError for a frame interval longer than the run."""
        run = super().resolved(units, where)
        if run.frame_interval is None:
            _check_frames(run.frames or FRAMES, f"{where}.frames")
            return run.model_copy(update={"frames": run.frames or FRAMES})
        if float(run.frame_interval) > float(run.duration):
            raise CaseError(
                f"{where}.frame_interval: {self.frame_interval!r} is longer than the duration, {self.duration!r}"
            )
        with np.errstate(over="ignore"):
            _check_frames(float(np.float64(run.duration) / np.float64(run.frame_interval)), f"{where}.frame_interval")
        return run

    @property
    def interval(self) -> float:
        """Time between frames [time], for a resolved declaration."""
        if self.frame_interval is not None:
            return float(self.frame_interval)
        return float(Fraction(repr(float(self.duration))) / (self.frames or FRAMES))

    def frame_times(self) -> list[float]:
        """Times of the frames, the first at 0, the last at or before the duration [time], for a resolved declaration.

        They are computed from the exact decimal numbers and rounded once, so that a longer run with the same interval
        has bitwise the same times.
        """
        duration = float(self.duration)
        if self.frame_interval is None:
            frames, whole = self.frames or FRAMES, Fraction(repr(duration))
            above, below = whole.numerator, whole.denominator * frames
            return [above * k / below for k in range(frames + 1)]  # a quotient of integers is rounded once
        interval = float(self.frame_interval)
        # If the duration is a whole number of intervals up to rounding, the last frame is at the end of the run.
        count = int(duration / interval * (1 + 1e-12))
        return [min(k * interval, duration) for k in range(count + 1)]


def _check_frames(frames: float, where: str) -> None:
    if frames > MOST_FRAMES:
        raise CaseError(
            f"{where}: a run keeps at most {MOST_FRAMES:,} frames, and these are {number_of(frames)}; keep fewer"
        )


class Fidelity(Section):
    """``[fidelity]``: criteria by which a scaled run is judged."""

    tolerance: Annotated[Quantity | None, Dimension("dimensionless", minimum=0, exclusive=True)] = None
    """Relative error up to which a run is trusted, such as ``"2 %"``. Up to five times this error a run is suspect, and
    above that it is violated. By default the tolerance is that of the scaling policy if it has one, otherwise 0.02."""
    error: Literal["time", "position"] = "time"
    """Kind of error to which the tolerance applies. ``time``: error of the times at which positions are reached,
    relative to the duration of the run. ``position``: error of the positions at each time, relative to the range of
    each motion. Both are reported."""
    budget: Annotated[Number, Field(ge=0)] = 0.05
    """Allowed cost of the unscaled reference runs after the end of the run, as a fraction of the force evaluations of
    the run. A few thousand evaluations are always allowed for small models. With 0 there are no reference runs."""


class Comparison(Section):
    """``[compare]``: default settings of ``articulon compare``."""

    reference: str | None = None
    """Reference variant for the comparison; by default the case itself."""
    variants: tuple[str, ...] = ()
    """Variants to run; by default all."""
    energy_spread: Annotated[Number, Field(gt=0)] | None = None
    """Standard deviation of the total energy divided by the mean kinetic energy. For runs at constant energy that
    differ only in the step, the comparison reports the step at which this value is reached."""


class Plugins(Section):
    """``[plugins]``: Python files that define further kinds of declarations. They are run only if code is allowed."""

    files: tuple[str, ...] = ()
    """Files, relative to the case, that define model builders, forces, walls, thermostats, scaling policies,
    conditions, checks or integration formulas."""


class CaseFile(Section):
    """All sections of a case."""

    case: Heading = Heading()
    """Title, units and sources."""
    plugins: Plugins = Plugins()
    """Files that define further kinds of declarations."""
    model: ModelDeclaration
    """Model that is simulated."""
    box: Box | None = None
    """Box: periodic or open boundaries of space."""
    forces: tuple[AnyForce, ...] = ()
    """Forces that act on the model."""
    dynamics: Dynamics = Dynamics()
    """Formulation and solver of the equations of motion."""
    scaling: Policy = NoScaling()
    """Scaling policy of the forces."""
    thermostat: Thermostat | None = None
    """Thermostat; none by default."""
    barostat: Barostat | None = None
    """Barostat, which controls the pressure by the size of the box; none by default."""
    integrator: Integrator = Explicit()
    """Integrator that advances the state."""
    adaptive: Adaptive | None = None
    """Rules by which joints lock and release during the run; none by default."""
    run: RunSettings
    """Duration, seed, start and output."""
    fidelity: Fidelity = Fidelity()
    """Criteria by which a scaled run is judged."""
    checks: tuple[AnyCheck, ...] = ()
    """Checks that the results must pass."""
    variants: dict[str, dict[str, Any]] = {}
    """Overrides by variant name."""
    compare: Comparison = Comparison()
    """Default settings of ``articulon compare``."""
    sensitivities: Sensitivities | None = None
    """Default settings of ``articulon sensitivities``."""
    fit: Fit | None = None
    """Parameters to fit to measurements."""
    optimise: Optimise | None = None
    """Parameters to optimise and their targets."""
    versions: dict[str, Any] = {}
    """Versions of the software that wrote the file. This section is not read."""

    @model_validator(mode="before")
    @classmethod
    def _written_as_tables(cls, data: Any) -> Any:
        """Insert the default policy, rule, builder or kind of each section, and reject single tables in place of
        lists."""
        if not isinstance(data, Mapping):
            return data
        if isinstance(data.get("forces"), Mapping):
            raise ValueError("forces is a list of tables: write [[forces]] above each force")
        if isinstance(data.get("checks"), Mapping):
            raise ValueError("checks is a list of tables: write [[checks]] above each check")
        return with_discriminators(data)

    def resolved(self, units: UnitSystem, where: str = "") -> Self:
        """Return a copy in the given units; raises CaseError, naming the key, for faults that span several sections."""
        file = super().resolved(units, where)
        for name in self.variants:
            if not re.fullmatch(NAME, name):
                raise CaseError(f"variants: {name!r} is not a valid folder name; use letters, digits, dots and dashes")
        named = [] if self.compare.reference is None else [("reference", self.compare.reference)]
        for key, name in [*named, *((f"variants[{k}]", name) for k, name in enumerate(self.compare.variants))]:
            if name not in self.variants:
                raise CaseError(f"compare.{key}: there is no variant '{name}'{nearest(name, list(self.variants))}")
        return file


def with_discriminators(table: Mapping[str, Any]) -> dict[str, Any]:
    """Return the table of a case in which each section names its policy, rule, builder or kind. Defaults are inserted
    where none is given."""
    result = dict(table)
    for section, key, default in (
        ("model", "builder", "explicit"),
        ("integrator", "rule", "kutta-merson"),
    ):
        if isinstance(result.get(section), Mapping) and key not in result[section]:
            result[section] = {key: default, **result[section]}
    result.setdefault("scaling", {"policy": "none"})
    result.setdefault("integrator", {"rule": "kutta-merson"})
    return result
