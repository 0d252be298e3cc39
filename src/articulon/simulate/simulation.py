"""Integrating a model from Python, in memory: what a researcher does before there is a case."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from articulon.adaptive import Adaptive
from articulon.baths.base import BaseThermostat
from articulon.building import cartesian
from articulon.building.closing import checked_state
from articulon.declaration import Declaration
from articulon.dynamics.functions import check_model
from articulon.dynamics.motions import check_motions
from articulon.dynamics.solvers import ROTATIONS, SOLVERS
from articulon.errors import CaseError
from articulon.forces.brownian import brownian_of
from articulon.forces.joint_actuation import check_actuations
from articulon.inputs import seed as checked_seed
from articulon.inputs import shown, word
from articulon.integrate import FIXED, Integrator
from articulon.integrate.thermostatting import check_thermostat
from articulon.kernels import announcing_to_the_terminal, one_blas_thread
from articulon.model import Model
from articulon.scaling import NoScaling
from articulon.scaling.base import ScalingPolicy
from articulon.simulate.contact_steps import check_contact_step, with_unit
from articulon.simulate.frame_times import (
    FRAMES,
    FrameTimes,
    cut_steps,
    fitting_frames,
    frame_times,
    is_whole,
    length_of,
    number_of,
)
from articulon.simulate.in_memory import InMemory, Setup, Trajectory, last_row, row_of
from articulon.simulate.noise_windows import windows_of
from articulon.simulate.preparation import scaling_of
from articulon.simulate.spinning import spins
from articulon.units import UnitSystem

__all__ = ["Trajectory", "resume", "simulate"]


class _Choice(Declaration):
    """A rule with its settings, as in a case."""

    integrator: Integrator


@dataclass(frozen=True)
class _Timing:
    """When states are kept, and the random numbers."""

    times: FrameTimes
    seed: int

    @property
    def duration(self) -> float:
        """Of all that is simulated [time]."""
        return self.times.end

    def frame_times(self) -> list[float]:
        """The first two, which is what windows are made from."""
        return [0.0, self.times.interval]


@dataclass(frozen=True)
class _Plan:
    """What windows of noise and thresholds are made from."""

    integrator: Any
    scaling: ScalingPolicy
    run: _Timing
    units: UnitSystem
    source: str = field(default="simulate")


def simulate(
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
    adaptive: Adaptive | None = None,
    seed: int = 1,
    q: Sequence[float] | np.ndarray | None = None,
    u: Sequence[float] | np.ndarray | None = None,
    **options: Any,
) -> Trajectory:
    """Integrate a model with its own forces and loops, from time zero.

    To go on from where a simulation ended, call :func:`articulon.resume`.

    Parameters
    ----------
    model
        The model.
    duration
        Simulated time [time]; a string carries its unit.
    rule
        Name of an integration rule; ``options`` are its settings, as in ``[integrator]`` of a case: ``step`` for fixed
        steps, ``rtol`` and ``atol`` for steps that their error estimate chooses, and so on.
    frames
        Number of equal intervals between the states that are kept. By default 100; where a ``step`` is given, as many
        up to 100 as leave a whole number of steps in each. Where an interval that is asked for is no whole number of
        steps, steps are shortened: ``Trajectory.notes`` and a warning say so, and ``Trajectory.step`` is the one taken.
    solver
        Name of the equation-of-motion algorithm: ``"articulated"``, ``"kane"`` or ``"divide-and-conquer"``.
    rotations
        ``"speeds"`` integrates angular velocities and Euler parameters of unit length; ``"euler-parameters"`` the
        accelerations of Euler parameters by constraint embedding (Guy 2018, appendix C).
    coordinates
        ``"relative"`` keeps the joints' coordinates; ``"cartesian"`` frees every body and keeps the joints by loops.
    scaling
        A policy of ``articulon.scaling`` that scales the forces; none by default. A threshold that a policy leaves out
        is found by a short unscaled run, as in a case.
    thermostat
        One of ``articulon.thermostats``; none by default.
    adaptive
        Joints that lock and release while it goes on, an ``articulon.adaptive.Adaptive``; none by default.
    seed
        Chooses the random numbers, which are a function of it and of the time since the start.
    q, u
        Initial coordinates (nq,) and speeds (nu,), those of the model by default. They must fulfil its loops; see
        :func:`articulon.close_loops`, which moves them there. They are the beginning of another simulation, at time
        zero: with the same seed it has the same noise, window by window, whatever the state, and thermostats, contacts
        and rules of several steps begin anew.

    Raises
    ------
    CaseError
        For a rule, solver, policy or option that does not exist or does not fit.
    ModelError
        For a state of the wrong shape, Euler parameters without unit length, or a state off the loops.
    DivergenceError
        Where the numbers stop meaning anything.
    KeyboardInterrupt
        After Ctrl-C, at the end of a step. What has been computed by then is the exception's ``trajectory``, which
        :func:`articulon.resume` takes to the end; before the first step, while kernels are compiled, there is none.

    Examples
    --------
    >>> import articulon as ar
    >>> builder = ar.ModelBuilder(units="kg-m-s")
    >>> hinge = ar.Revolute(axis=(0, 1, 0))
    >>> rod = builder.add_body("rod", mass=1, inertia=(0.1, 0.1, 0), com=(0, 0, -0.5), joint=hinge, q=1)
    >>> builder.add_force(ar.forces.Gravity(acceleration=(0, 0, -9.81)))
    >>> run = ar.simulate(builder.build(), 1.0, rtol=1e-9, atol=1e-12)
    >>> float(abs(run.kinetic_energy + run.potential_energy - run.potential_energy[0]).max()) < 1e-7
    True
    """
    check_model(model, "simulate")
    if "state" in options:
        raise CaseError(
            "simulate: there is no option 'state': articulon.resume(trajectory, duration) goes on from the state of a "
            "trajectory, to the bits of an unbroken simulation"
        )
    policy = _resolved(scaling, ScalingPolicy, "scaling", "a policy of articulon.scaling", model.units) or NoScaling()
    thermostat = _resolved(thermostat, BaseThermostat, "thermostat", "one of articulon.thermostats", model.units)
    adaptive = _resolved(adaptive, Adaptive, "adaptive", "an articulon.adaptive.Adaptive", model.units)
    seed = checked_seed(seed, "simulate: seed", CaseError)
    word(coordinates, ("relative", "cartesian"), "simulate: unknown coordinates", CaseError)
    word(solver, SOLVERS, "simulate: unknown solver")
    word(rotations, ROTATIONS, "simulate: unknown rotations")
    integrator, start = _integrator(rule, options, model), checked_state(model, q, u)
    brownian = brownian_of(model)
    held = None if brownian is None or brownian.window is None else float(brownian.window) * brownian.average
    times = frame_times(model, integrator, duration, frames, held)
    with one_blas_thread(), announcing_to_the_terminal():
        model, start = _in_coordinates(model, coordinates, start)
        plan = _Plan(integrator, policy, _Timing(times, seed), model.units)
        setup = _set_up(model, plan, thermostat, adaptive, solver, rotations, start)
        run = InMemory(setup)
        state = run.begin(*start)
        for spin in spins(model, state.time, state.q[None], state.u[None]):
            warnings.warn(f"simulate: {spin.note(model)}", UserWarning, stacklevel=2)
        return run.integrate(state, [row_of(state)])


def resume(trajectory: Trajectory, duration: float | str | None = None, *, frames: int | None = None) -> Trajectory:
    """Go on with a simulation from where it ended, with all that it was asked for, to the bits of an unbroken one.

    Rule, solver, scaling, thermostat, what locks and releases, seed and noise are those of the first; what contacts,
    thermostats and rules of several steps remember is in its state.

    Parameters
    ----------
    trajectory
        What :func:`articulon.simulate` or this function has given, or the ``trajectory`` of the exception by which
        Ctrl-C has ended it. It is left as it is.
    duration
        How much longer [time]; a string carries its unit. None for one that was interrupted: to the end that was asked
        for.
    frames
        Number of equal intervals between the states that are kept; by default they are as long as those before or,
        where the duration is no whole number of these, as many as for :func:`articulon.simulate`.

    Returns
    -------
    Trajectory
        It begins with the last frame of the other, and its times go on from there. The bits are those of one simulation
        over both durations if its frames fall on the same times; steps that their error chooses end on frames.

    Raises
    ------
    CaseError
        For a duration or a number of frames between whose states the steps or the windows of noise of the simulation do
        not fit, and for one that was interrupted, where a duration is given.
    ModelError
        Where the motion of a drive or the table of a force ends before.
    DivergenceError, KeyboardInterrupt
        As for :func:`articulon.simulate`.

    Examples
    --------
    >>> import articulon as ar, numpy as np
    >>> builder = ar.ModelBuilder(units="kg-m-s")
    >>> rod = builder.add_body("rod", mass=1, inertia=0.1, joint=ar.Revolute(axis=(0, 1, 0)), u=1)
    >>> model = builder.build()
    >>> first = ar.simulate(model, 1.0, frames=10)
    >>> second = ar.resume(first, 2.0)
    >>> whole = ar.simulate(model, 3.0, frames=30)
    >>> bool(np.array_equal(np.concatenate([first.q, second.q[1:]]), whole.q))
    True
    """
    if not isinstance(trajectory, Trajectory):
        raise CaseError(f"resume: expected a trajectory of articulon.simulate, got {shown(trajectory)}")
    setup, model = trajectory.setup, trajectory.model
    times, unit = setup.times, "" if model.units.time is None else model.units.symbols[2]
    if trajectory.complete:
        if duration is None:
            raise CaseError("resume: duration: the simulation has come to its end; say how much longer it is to go on")
        times = _extended(setup, length_of(model.units, duration, "resume"), frames, unit)
    elif duration is not None or frames is not None:
        raise CaseError(
            f"resume: the simulation was interrupted at {with_unit(float(trajectory.state.time[0]), unit, 9)}, before "
            f"its end at {with_unit(times.end, unit, 9)}; go on with articulon.resume(trajectory), and longer after "
            "that"
        )
    _check_duration(setup.thermostat, setup.integrator, setup.scaling.policy, model, times.end, "resume")
    notes = setup.notes
    if trajectory.complete:
        cut = cut_steps(setup.integrator, times, setup.windows, brownian_of(model) is not None, unit)
        for note in cut:
            warnings.warn(f"resume: {note}", UserWarning, stacklevel=2)
        notes = (*notes, *(f"resume: {note}" for note in cut))
    with one_blas_thread(), announcing_to_the_terminal():
        run = InMemory(replace(setup, times=times, notes=notes))
        return run.integrate(trajectory.state.copy(), [last_row(trajectory)])


def _resolved(value: Any, kind: type, name: str, wanted: str, units: UnitSystem) -> Any:
    """A declaration in the units of the model; raises CaseError with the key for what is none."""
    if value is None:
        return None
    if not isinstance(value, kind):
        raise CaseError(f"simulate: {name} must be {wanted}, got {shown(value)}")
    return value.resolved(units, f"simulate: {name}")  # type: ignore[attr-defined]


def _integrator(rule: str, options: dict[str, Any], model: Model) -> Any:
    """The declaration of a rule; raises CaseError with what is wrong with it."""
    choice = _Choice.from_mapping({"integrator": {"rule": rule, **options}}, "simulate")
    return choice.integrator.resolved(model.units, "simulate: integrator")


def _in_coordinates(
    model: Model, coordinates: str, start: tuple[np.ndarray, np.ndarray]
) -> tuple[Model, tuple[np.ndarray, np.ndarray]]:
    """The model that is integrated, and where it begins."""
    if coordinates == "relative":
        return model, start
    if model.modes:
        name = model.names[next(iter(model.modes))]
        raise CaseError(f"simulate: coordinates 'cartesian' take rigid bodies only, and '{name}' is flexible")
    freed = cartesian(model, *start)
    return freed, (freed.q0, freed.u0)


def _set_up(
    model: Model,
    plan: _Plan,
    thermostat: BaseThermostat | None,
    adaptive: Adaptive | None,
    solver: str,
    rotations: str,
    start: tuple[np.ndarray, np.ndarray],
) -> Setup:
    """What is made of what was asked for; warns of a step that is not the one that was given."""
    integrator, times, unit = plan.integrator, plan.run.times, "" if plan.units.time is None else plan.units.symbols[2]
    _check_duration(thermostat, integrator, plan.scaling, model, times.end, "simulate")
    windows = windows_of(plan, model)
    cut = cut_steps(integrator, times, windows, brownian_of(model) is not None, unit)
    notes = [f"simulate: {note}" for note in (*windows.notes, *cut)]
    for note in notes:
        warnings.warn(note, UserWarning, stacklevel=3)
    if windows.step is not None:
        integrator = integrator.model_copy(update={"step": windows.step})
    check_contact_step(model, integrator, getattr(integrator, "step", None), "simulate")
    scaling = scaling_of(plan, model, start=start)
    if scaling.threshold is not None:
        notes.append(f"simulate: {scaling.threshold.note(plan.units)}")
    return Setup(
        model,
        integrator,
        scaling,
        thermostat,
        adaptive,
        solver,
        rotations,
        plan.run.seed,
        windows,
        times,
        tuple(notes),
    )


def _check_duration(
    thermostat: BaseThermostat | None, integrator: Any, policy: ScalingPolicy, model: Model, end: float, where: str
) -> None:
    """Raises ModelError or CaseError for what does not go on as long, or does not go together."""
    check_motions(model, end)
    check_actuations(model, end)
    try:
        check_thermostat(thermostat, integrator, policy, model, end)
    except CaseError as error:
        raise CaseError(f"{where}: {error}") from None


def _extended(setup: Setup, length: float, frames: Any, unit: str) -> FrameTimes:
    """The frames of what comes after a simulation; raises CaseError where its steps do not fit."""
    times, integrator = setup.times, setup.integrator
    noisy = brownian_of(setup.model) is not None
    fixed = setup.step if isinstance(integrator, FIXED) else setup.windows.held if noisy else None
    what = "steps" if isinstance(integrator, FIXED) else "windows of noise"
    if fixed is not None and not is_whole(length / fixed):
        raise CaseError(
            f"resume: duration: {with_unit(length, unit, 9)} is no whole number of the {what} of the simulation, of "
            f"{with_unit(fixed, unit, 9)}; take {with_unit(max(1, round(length / fixed)) * fixed, unit, 9)}"
        )
    if frames is None:
        before = length / times.interval
        if is_whole(before):
            return times.extended(length, round(before))
        step = fixed if fixed is not None else setup.step
        frames = FRAMES if step is None else fitting_frames(length / step)
    count = number_of(setup.model, frames, "resume")
    if fixed is not None and not is_whole(length / count / fixed):
        raise CaseError(
            f"resume: frames: {with_unit(length / count, unit, 9)} between frames is no whole number of the {what} of "
            f"the simulation, of {with_unit(fixed, unit, 9)}; take {fitting_frames(length / fixed)} frames, or leave "
            "them out"
        )
    return times.extended(length, count)
