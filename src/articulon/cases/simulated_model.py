"""In-memory runs of a model made in Python: the case of such a run, and its continuation."""

import warnings
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from articulon.adaptive import Adaptive, Group, Schedule
from articulon.announcements import announcing_to_the_terminal
from articulon.barostats.base import BaseBarostat
from articulon.building import cartesian
from articulon.building.closing import checked_state
from articulon.cases.case import Case
from articulon.cases.given_model import GivenModel
from articulon.cases.plugins import files_in_use
from articulon.cases.schema import Comparison, Dynamics, Fidelity, Plugins, RunSettings
from articulon.declaration import Declaration
from articulon.dynamics.loops.given_motions import check_motions
from articulon.dynamics.multibody_functions import check_model
from articulon.dynamics.solvers import ROTATIONS, SOLVERS
from articulon.errors import CaseError, ModelError
from articulon.forces.base import check_durations
from articulon.forces.brownian import brownian_of
from articulon.inputs import flag, shown, word, words
from articulon.inputs import seed as checked_seed
from articulon.integrate import FIXED, Integrator
from articulon.integrate.problem import CPU
from articulon.integrate.thermostatting import check_thermostat
from articulon.kernels import one_blas_thread
from articulon.model import Model
from articulon.molecules.locked_parts import bodies_of_words
from articulon.scaling import NoScaling
from articulon.scaling.base import ScalingPolicy
from articulon.simulation.frame_times import (
    FRAMES,
    FrameTimes,
    cut_steps,
    fitting_frames,
    frame_times,
    is_whole,
    length_of,
    number_of,
)
from articulon.simulation.memory_progress import begun, check_to_resume, continued
from articulon.simulation.memory_run import Setup
from articulon.simulation.preparation import Prepared, Scaling, prepare, start_state
from articulon.simulation.results import Run
from articulon.simulation.run_notes import notes_on
from articulon.simulation.run_request import Progress, Silent
from articulon.simulation.spinning import spins
from articulon.thermostats.base import BaseThermostat
from articulon.time_scales.contact_step_limit import with_unit
from articulon.units import UnitSystem


class _Choice(Declaration):
    """An integration rule with its settings, as in a case."""

    integrator: Integrator


def simulated(
    model: Model,
    duration: float | str,
    *,
    rule: str = "dormand-prince",
    frames: int | None = None,
    solver: str = "articulated",
    rotations: str = "speeds",
    coordinates: str = "relative",
    scaling: ScalingPolicy | None = None,
    thermostat: BaseThermostat | None = None,
    barostat: BaseBarostat | None = None,
    adaptive: Adaptive | None = None,
    seed: int = 1,
    q: Sequence[float] | np.ndarray | None = None,
    u: Sequence[float] | np.ndarray | None = None,
    locked: str | Sequence[str] = (),
    speeds: str = "given",
    temperature: float | str | None = None,
    minimise: bool = False,
    device: str = CPU,
    precision: str = "double",
    progress: Progress | None = None,
    **options: Any,
) -> Run:
    """Integrate a model with its own forces and loops, from time zero; see :func:`articulon.simulate`."""
    check_model(model, "simulate")
    if "state" in options:
        raise CaseError(
            "simulate: there is no option 'state': articulon.resume(run, duration) continues from the state of a run, "
            "bit for bit as in an uninterrupted one"
        )
    policy = _resolved(scaling, ScalingPolicy, "scaling", "a policy of articulon.scaling", model.units) or NoScaling()
    thermostat = _resolved(thermostat, BaseThermostat, "thermostat", "one of articulon.thermostats", model.units)
    barostat = _resolved(barostat, BaseBarostat, "barostat", "one of articulon.barostats", model.units)
    adaptive = _resolved(adaptive, Adaptive, "adaptive", "an articulon.adaptive.Adaptive", model.units)
    seed = checked_seed(seed, "simulate: seed", CaseError)
    word(coordinates, ("relative", "cartesian"), "simulate: unknown coordinates", CaseError)
    word(solver, SOLVERS, "simulate: unknown solver")
    word(rotations, ROTATIONS, "simulate: unknown rotations")
    word(speeds, ("given", "thermal"), "simulate: unknown speeds", CaseError)
    if temperature is not None:
        temperature = model.units.value(temperature, "temperature", "simulate: temperature")
        if not temperature > 0.0:
            raise CaseError(f"simulate: temperature must be positive, got {shown(temperature)}")
        if u is not None:
            raise CaseError("simulate: give either u, the initial speeds, or the temperature that they are drawn at")
        speeds = "thermal"
    minimise = flag(minimise, "simulate, minimise", CaseError)
    integrator, start = declared_integrator(rule, options, model, "simulate"), checked_state(model, q, u)
    brownian = brownian_of(model)
    held = None if brownian is None or brownian.window is None else float(brownian.window) * brownian.average
    times = frame_times(model, integrator, duration, frames, held)
    adaptive = _with_locked(model, adaptive, locked, times.end)
    with one_blas_thread(), announcing_to_the_terminal():
        model = _in_coordinates(model, coordinates, start)
        settings = RunSettings.from_mapping(
            {
                "duration": times.end,
                "seed": seed,
                "frames": times.frames,
                "speeds": speeds,
                "temperature": temperature,
                "minimise": minimise,
                "device": device,
                "precision": precision,
            },
            "simulate",
        )
        case = Case(
            name="simulation",
            source="simulate",
            units=model.units,
            title="Simulation of a model made in Python",
            cite=(),
            notes=(),
            plugins=Plugins(files=files_in_use((*model.forces, policy, thermostat, barostat, integrator, adaptive))),
            model_declaration=GivenModel(model),
            box=model.box,
            forces=model.forces,
            dynamics=Dynamics(solver=solver, rotations=rotations),
            scaling=policy,
            thermostat=thermostat,
            barostat=barostat,
            integrator=integrator,
            adaptive=adaptive,
            run=settings,
            fidelity=Fidelity(),
            checks=(),
            variants={},
            comparison=Comparison(),
            allow_code=True,
        )
        _check_duration(case, model, times.end, "simulate")
        prepared = prepare(case, model=model)
        setup = _set_up(case, prepared, times)
        state = start_state(prepared)
        for spin in spins(model, state.time, state.q[None], state.u[None]):
            warnings.warn(f"simulate: {spin.note(model)}", UserWarning, stacklevel=3)
        return begun(setup, prepared, state, Silent() if progress is None else progress)


def resumed(
    run: Run,
    duration: float | str | None = None,
    *,
    frames: int | None = None,
    progress: Progress | None = None,
    where: str = "resume",
) -> Run:
    """Continue an in-memory run from its end; see :func:`articulon.resume`. Messages begin with ``where``."""
    memory = check_to_resume(run)
    setup, model = memory.setup, memory.model
    times, unit = setup.times.after(memory.taken), "" if model.units.time is None else model.units.symbols[2]
    if memory.complete:
        if duration is None:
            raise CaseError(f"{where}: duration: the simulation has reached its end; give the additional duration")
        times = _extended(setup, length_of(model.units, duration, where), frames, unit, where)
    elif duration is not None or frames is not None:
        raise CaseError(
            f"{where}: the simulation was interrupted at {with_unit(float(memory.state.time[0]), unit, 9)}, before "
            f"its end at {with_unit(times.end, unit, 9)}; finish it with articulon.resume(run) before extending it"
        )
    _check_duration(setup.case, model, times.end, where)
    notes = setup.notes
    if memory.complete:
        noisy = brownian_of(model) is not None
        cut = [f"{where}: {note}" for note in cut_steps(setup.case.integrator, times, setup.windows, noisy, unit)]
        for note in cut:
            warnings.warn(note, UserWarning, stacklevel=3)
        notes = (*notes, *cut)
    case = setup.case
    if isinstance(case, Case):
        case = replace(case, run=_over(case.run, times))
    with one_blas_thread(), announcing_to_the_terminal():
        longer = replace(setup, case=case, times=times, notes=notes)
        return continued(longer, memory, Silent() if progress is None else progress)


def longer_case(case: Case, duration: float | str) -> Case:
    """Return the case of a run that is extended by a duration [time] with frames at the same interval.

    Raises
    ------
    CaseError
        If the duration is not a whole number of intervals between frames, or ends after the tables of drives or forces.
    """
    length, run = length_of(case.units, duration, "extend"), case.run
    before, more = Fraction(repr(float(run.duration))), Fraction(repr(length))
    if run.frame_interval is not None:
        longer = run.model_copy(update={"duration": float(before + more)})
    else:
        frames = run.frames or len(run.frame_times()) - 1
        added = more * frames / before
        if added.denominator != 1:
            unit = "" if case.units.time is None else case.units.symbols[2]
            given, apart, take = (
                with_unit(float(time), unit, 9) for time in (more, run.interval, before * max(1, round(added)) / frames)
            )
            raise CaseError(
                f"extend: duration: {given} is not a whole number of the {apart} between frames; take {take}"
            )
        longer = run.model_copy(update={"duration": float(before + more), "frames": frames + int(added)})
    return replace(case, run=longer)


def _over(run: RunSettings, times: FrameTimes) -> RunSettings:
    """Return the run settings of the extended run, with the given frame times."""
    changes: dict[str, Any] = {"duration": times.end}
    if run.frame_interval is None:
        changes["frames"] = times.frames
    return run.model_copy(update=changes)


def _resolved(value: Any, kind: type, name: str, wanted: str, units: UnitSystem) -> Any:
    """Return a declaration in the units of the model; raises CaseError, naming the key, for any other value."""
    if value is None:
        return None
    if not isinstance(value, kind):
        raise CaseError(f"simulate: {name} must be {wanted}, got {shown(value)}")
    return value.resolved(units, f"simulate: {name}")  # type: ignore[attr-defined]


def _with_locked(model: Model, adaptive: Adaptive | None, locked: Any, end: float) -> Adaptive | None:
    """Return the settings of locking and release, with the given joints locked from time zero on."""
    names = words(locked, "simulate: locked", CaseError)
    if not names:
        return adaptive
    try:
        names = bodies_of_words(model, names, "simulate: locked")
    except ModelError as error:
        raise CaseError(str(error)) from None
    if adaptive is not None and not adaptive.on:
        raise CaseError("simulate: locked: adaptive.on is False, which frees every joint; leave out one of the two")
    group = Group(name="locked", bodies=names, lock=Schedule(times=(0.0,))).resolved(model.units, "simulate: locked")
    if adaptive is None:
        return Adaptive(every=end, groups=(group,)).resolved(model.units, "simulate: locked")
    return adaptive.model_copy(update={"groups": (*adaptive.groups, group)})


def declared_integrator(rule: str, options: dict[str, Any], model: Model, where: str) -> Any:
    """Declaration of an integration rule; raises CaseError if it is invalid."""
    choice = _Choice.from_mapping({"integrator": {"rule": rule, **options}}, where)
    return choice.integrator.resolved(model.units, f"{where}: integrator")


def _in_coordinates(model: Model, coordinates: str, start: tuple[np.ndarray, np.ndarray]) -> Model:
    """Return the model in the coordinates that are integrated, with ``start`` as its initial state."""
    if coordinates == "cartesian":
        if model.modes:
            name = model.names[next(iter(model.modes))]
            raise CaseError(f"simulate: coordinates 'cartesian' take rigid bodies only, and '{name}' is flexible")
        return cartesian(model, *start)
    if np.array_equal(start[0], model.q0) and np.array_equal(start[1], model.u0):
        return model
    return replace(model, q0=start[0].copy(), u0=start[1].copy())


def _set_up(case: Case, prepared: Prepared, times: FrameTimes) -> Setup:
    """Return the setup of a prepared run; warns if its step differs from the given one."""
    model, unit = prepared.model, "" if case.units.time is None else case.units.symbols[2]
    windows = prepared.windows
    cut = cut_steps(case.integrator, times, windows, brownian_of(model) is not None, unit)
    notes = [f"simulate: {note}" for note in (*windows.notes, *cut)]
    for note in notes:
        warnings.warn(note, UserWarning, stacklevel=4)
    if prepared.threshold is not None:
        notes.append(f"simulate: {prepared.threshold.note(case.units)}")
    notes.extend(f"simulate: {note}" for note in notes_on(prepared))
    scaling = Scaling(prepared.policy, prepared.damping, prepared.parameters, prepared.threshold)
    return Setup(case, model, scaling, windows, times, tuple(notes))


def _check_duration(case: Any, model: Model, end: float, where: str) -> None:
    """Raise ModelError or CaseError if tables do not cover the duration, or settings are incompatible."""
    check_motions(model, end)
    check_durations(model, end)
    try:
        check_thermostat(case.thermostat, case.integrator, case.scaling, model, end, case.barostat)
    except CaseError as error:
        raise CaseError(f"{where}: {error}") from None


def _extended(setup: Setup, length: float, frames: Any, unit: str, where: str) -> FrameTimes:
    """Return the frame times of the extension of a run; raises CaseError if they are not at ends of steps."""
    times, integrator = setup.times, setup.case.integrator
    noisy = brownian_of(setup.model) is not None
    fixed = setup.step if isinstance(integrator, FIXED) else setup.windows.held if noisy else None
    what = "steps" if isinstance(integrator, FIXED) else "windows of noise"
    if fixed is not None and not is_whole(length / fixed):
        raise CaseError(
            f"{where}: duration: {with_unit(length, unit, 9)} is not a whole number of the {what} of the simulation, "
            f"of {with_unit(fixed, unit, 9)}; take {with_unit(max(1, round(length / fixed)) * fixed, unit, 9)}"
        )
    if frames is None:
        before = length / times.interval
        if is_whole(before):
            return times.extended(length, round(before))
        step = fixed if fixed is not None else setup.step
        frames = FRAMES if step is None else fitting_frames(length / step)
    count = number_of(setup.model, frames, where)
    if fixed is not None and not is_whole(length / count / fixed):
        raise CaseError(
            f"{where}: frames: {with_unit(length / count, unit, 9)} between frames is not a whole number of the {what} "
            f"of the simulation, of {with_unit(fixed, unit, 9)}; take {fitting_frames(length / fixed)} frames, or "
            "leave them out"
        )
    return times.extended(length, count)
