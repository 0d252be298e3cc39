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
from articulon.integrate import Explicit, Integrator
from articulon.model.box import Box
from articulon.scaling import NoScaling, Policy
from articulon.simulation.checks import AnyCheck
from articulon.sizes import number_of
from articulon.thermostats import Thermostat
from articulon.units import UnitSystem

NAME = "[A-Za-z0-9][A-Za-z0-9._-]*"
"""What may name a case or a variant, and so the folder of its results."""

FRAMES = 200
"""Equal intervals between the frames of a run that says nothing else."""

MOST_FRAMES = 10_000_000
"""Frames of a run: more would take the memory of a machine for their times and observables alone."""


class Section(Declaration):
    """A table of a case file."""

    error_class: ClassVar = CaseError


class Heading(Section):
    """``[case]``: what the case is."""

    title: str = ""
    """One line for people."""
    name: Annotated[str | None, Field(pattern=f"^{NAME}$")] = None
    """What its folder of results is called; the file's name by default."""
    cite: tuple[str, ...] = ()
    """Keys of the references, or references written out."""
    units: str = "fg-um-us"
    """System of units of all plain numbers."""
    notes: tuple[str, ...] = ()
    """What a reader must know: choices that the source leaves open, say."""

    @field_validator("notes", mode="before")
    @classmethod
    def _one_note(cls, value: Any) -> Any:
        return [value] if isinstance(value, str) else value

    def resolved(self, units: UnitSystem, where: str = "case") -> Self:
        """The same; raises CaseError for a reference that does not exist."""
        check_cited(self.cite, f"{where}.cite")
        return super().resolved(units, where)


class Dynamics(Section):
    """``[dynamics]``: how the equations of motion are put and solved."""

    solver: Literal["articulated", "kane", "divide-and-conquer"] = "articulated"
    """The algorithm: articulated bodies, O(n); Kane's method, O(n³); divide and conquer, for many processors."""
    rotations: Literal["speeds", "euler-parameters"] = "speeds"
    """What is integrated of rotations: angular velocities, or the accelerations of Euler parameters."""
    coordinates: Literal["relative", "cartesian"] = "relative"
    """Those of the joints, or every body free with its joints as loops."""

    @model_validator(mode="after")
    def _together(self) -> Self:
        if self.rotations == "euler-parameters" and self.solver != "articulated":
            raise ValueError("rotations = 'euler-parameters' goes with the solver 'articulated'")
        return self


class Stop(Section):
    """``[run.stop]``: what ends a run before its duration is over."""

    body: BodyName
    """The body that is watched."""
    direction: Annotated[tuple[Quantity, Quantity, Quantity], Dimension("dimensionless")]
    """Where to, world frame; of any length but zero."""
    advance: Annotated[Quantity, Dimension("length", minimum=0, exclusive=True)]
    """How far the body's centre of mass has to come along the direction from where it began [length]."""
    label: str = "reached"
    """What this is called in the summary, such as ``"docked"``."""

    def resolved(self, units: UnitSystem, where: str = "run.stop") -> Self:
        """A copy in the given units; raises CaseError for a direction of no length."""
        stop = super().resolved(units, where)
        if not any(stop.direction):
            raise CaseError(f"{where}.direction: expected three numbers, not all zero, got {list(self.direction)}")
        return stop


class RunSettings(Section):
    """``[run]``: how long, from which seed, and what is kept."""

    duration: Annotated[Quantity, Dimension("time", minimum=0, exclusive=True)]
    """Simulated time [time]."""
    seed: Seed = 1
    """Chooses the random numbers."""
    frames: Annotated[Whole, Field(ge=1)] | None = None
    """Number of equal intervals between frames; 200 by default."""
    frame_interval: Annotated[Quantity | None, Dimension("time", minimum=0, exclusive=True)] = None
    """Time between frames, instead of their number [time]."""
    checkpoint_interval: Annotated[Number, Field(gt=0)] = 30.0
    """Wall-clock time between checkpoints [s]; longer where the trajectory, which is written with each, takes more than
    a fiftieth of it."""
    threads: Annotated[Whole, Field(ge=1)] | None = None
    """Threads to use, all by default; the results are the same bits for any number."""
    device: str = "cpu"
    """What takes the steps: ``cpu``; ``cuda``, the first GPU, or ``cuda:1``, another one, for free particles under
    Lennard-Jones forces; ``warp-cpu``, which runs the kernels of a GPU on one core."""
    engine: Literal["articulon", "lammps"] = "articulon"
    """What computes the forces between sites: ``lammps`` has LAMMPS do so, under ``mpiexec`` on several processors."""
    precision: Literal["double", "mixed"] = "double"
    """On a GPU, the precision of what is computed of a pair: double, or single with all else in double."""
    minimise: Flag = False
    """Whether the run begins downhill from the model's initial coordinates, where particles no longer overlap."""
    speeds: Literal["given", "thermal"] = "given"
    """Whether the run begins with the model's speeds, or with speeds drawn at the temperature of the thermostat or of
    the Brownian forces, or at ``temperature``."""
    temperature: Annotated[Quantity | None, Dimension("temperature", minimum=0, exclusive=True)] = None
    """At which thermal speeds are drawn, where nothing keeps a temperature or they are to begin at another one
    [temperature]."""
    stop: Stop | None = None
    """What ends the run before its duration is over."""
    atoms: str | None = None
    """Which atoms the trajectory holds, in MDAnalysis's language: ``"protein"``, ``"name CA"``; ``"none"`` for
    bodies in their place. All by default, where the model has atoms."""
    atoms_every: Annotated[Whole, Field(ge=1)] = 1
    """Atoms are in each frame whose number is a multiple of this."""
    gsd: Flag | None = None
    """Whether ``articulon run`` writes the contact spheres as ``spheres.gsd`` too, for OVITO and freud."""

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if self.frames is not None and self.frame_interval is not None:
            raise ValueError("give either frames or frame_interval")
        return self

    @model_validator(mode="after")
    def _temperature_of_speeds(self) -> Self:
        if self.temperature is not None and self.speeds != "thermal":
            raise ValueError("temperature is one of thermal speeds: give speeds = 'thermal' too, or leave it out")
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
                "precision = 'mixed' is one of devices such as 'cuda'; the device 'cpu' computes in double"
            )
        return self

    def resolved(self, units: UnitSystem, where: str = "run") -> Self:
        """A copy in the given units; raises CaseError for frames that are further apart than the run is long."""
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
        """Time between frames [time], when resolved."""
        if self.frame_interval is not None:
            return float(self.frame_interval)
        return float(Fraction(repr(float(self.duration))) / (self.frames or FRAMES))

    def frame_times(self) -> list[float]:
        """Times of the frames, the first at 0 and the last at the duration or before [time], when resolved.

        They are those of decimal numbers, rounded once, so that a longer run with the same interval has the same ones.
        """
        duration = float(self.duration)
        if self.frame_interval is None:
            frames, whole = self.frames or FRAMES, Fraction(repr(duration))
            above, below = whole.numerator, whole.denominator * frames
            return [above * k / below for k in range(frames + 1)]  # whole numbers: their quotient is rounded once
        interval = float(self.frame_interval)
        # A duration that is a whole number of intervals but for rounding has its last frame at its end.
        count = int(duration / interval * (1 + 1e-12))
        return [min(k * interval, duration) for k in range(count + 1)]


def _check_frames(frames: float, where: str) -> None:
    if frames > MOST_FRAMES:
        raise CaseError(
            f"{where}: a run keeps at most {MOST_FRAMES:,} frames, and these are {number_of(frames)}; keep fewer"
        )


class Fidelity(Section):
    """``[fidelity]``: what a scaled run is judged by."""

    tolerance: Annotated[Quantity | None, Dimension("dimensionless", minimum=0, exclusive=True)] = None
    """Relative error that is trusted, such as ``"2 %"``; five times as much is suspect, and more a violation. That of
    the scaling policy by default where it has one, or else 0.02."""
    error: Literal["time", "position"] = "time"
    """What the tolerance is about: when places are reached, relative to the duration of the run, or where bodies are at
    each moment, relative to the range of each motion. Both are reported."""
    budget: Annotated[Number, Field(ge=0)] = 0.05
    """What unscaled runs beside it, made once it has ended, may cost, as a part of its evaluations of forces; some
    thousands are always allowed for small models. 0 for none."""


class Comparison(Section):
    """``[compare]``: what ``articulon compare`` runs when it is told nothing."""

    reference: str | None = None
    """The variant that the others are measured from; the case itself by default."""
    variants: tuple[str, ...] = ()
    """The variants that are run; all by default."""
    energy_spread: Annotated[Number, Field(gt=0)] | None = None
    """A standard deviation of the total energy over the mean kinetic energy: the comparison says at which step runs at
    constant energy that differ only in it reach this."""


class Plugins(Section):
    """Python files that add to what the case can name. They are code, which runs only where that is allowed."""

    files: tuple[str, ...] = ()
    """Files beside the case that define what it can name: builders of models, forces, walls, thermostats, scaling
    policies, conditions, checks and formulas of integration."""


class CaseFile(Section):
    """A whole case."""

    case: Heading = Heading()
    """What it is."""
    plugins: Plugins = Plugins()
    """Files that add to what it can name."""
    model: ModelDeclaration
    """What is simulated."""
    box: Box | None = None
    """Where space repeats or ends."""
    forces: tuple[AnyForce, ...] = ()
    """What acts on it."""
    dynamics: Dynamics = Dynamics()
    """How the equations of motion are solved."""
    scaling: Policy = NoScaling()
    """How forces are scaled."""
    thermostat: Thermostat | None = None
    """What keeps the temperature, if anything does."""
    barostat: Barostat | None = None
    """What keeps the pressure, by changing the size of the box, if anything does."""
    integrator: Integrator = Explicit()
    """How the state is advanced."""
    adaptive: Adaptive | None = None
    """Which joints lock and release while the run goes on, if any do."""
    run: RunSettings
    """How long, and what is kept."""
    fidelity: Fidelity = Fidelity()
    """What a scaled run is judged by."""
    checks: tuple[AnyCheck, ...] = ()
    """What must be true of the results."""
    variants: dict[str, dict[str, Any]] = {}
    """Overrides by the variant's name."""
    compare: Comparison = Comparison()
    """What is compared."""
    sensitivities: Sensitivities | None = None
    """What it is asked which parameters decide."""
    fit: Fit | None = None
    """What is found from measurements."""
    optimise: Optimise | None = None
    """What is to be made of its end."""
    versions: dict[str, Any] = {}
    """What wrote the file; not read."""

    @model_validator(mode="before")
    @classmethod
    def _written_as_tables(cls, data: Any) -> Any:
        """What is left out because it has a default, and the usual slip with lists of tables."""
        if not isinstance(data, Mapping):
            return data
        if isinstance(data.get("forces"), Mapping):
            raise ValueError("forces is a list of tables: write [[forces]] above each force")
        if isinstance(data.get("checks"), Mapping):
            raise ValueError("checks is a list of tables: write [[checks]] above each check")
        return with_discriminators(data)

    def resolved(self, units: UnitSystem, where: str = "") -> Self:
        """A copy in the given units; raises CaseError for what no section can have by itself, and names its key."""
        file = super().resolved(units, where)
        for name in self.variants:
            if not re.fullmatch(NAME, name):
                raise CaseError(f"variants: {name!r} is no name for a folder; use letters, digits, dots and dashes")
        named = [] if self.compare.reference is None else [("reference", self.compare.reference)]
        for key, name in [*named, *((f"variants[{k}]", name) for k, name in enumerate(self.compare.variants))]:
            if name not in self.variants:
                raise CaseError(f"compare.{key}: there is no variant '{name}'{nearest(name, list(self.variants))}")
        return file


def with_discriminators(table: Mapping[str, Any]) -> dict[str, Any]:
    """The table of a case in which each section says which of its forms it has, where there is a default."""
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
