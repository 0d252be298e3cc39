"""What makes, continues and opens runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import numpy as np

from articulon.adaptive import Adaptive
from articulon.barostats.base import BaseBarostat
from articulon.cases import case_library_runs
from articulon.cases.case import Case
from articulon.cases.simulated_model import resumed, simulated
from articulon.errors import CaseError
from articulon.inputs import flag
from articulon.model import Model
from articulon.runs.progress import shown_by
from articulon.runs.run import Run
from articulon.scaling.base import ScalingPolicy
from articulon.simulation import results
from articulon.simulation.run_request import Progress
from articulon.thermostats.base import BaseThermostat


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
    barostat: BaseBarostat | None = None,
    adaptive: Adaptive | None = None,
    seed: int = 1,
    q: Sequence[float] | np.ndarray | None = None,
    u: Sequence[float] | np.ndarray | None = None,
    locked: str | Sequence[str] = (),
    speeds: Literal["given", "thermal"] = "given",
    temperature: float | str | None = None,
    minimise: bool = False,
    device: str = "cpu",
    precision: Literal["double", "mixed"] = "double",
    progress: Progress | bool | None = None,
    **options: Any,
) -> Run:
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
        steps, steps are shortened: ``run.notes`` and a warning say so, and ``run.step`` is the one taken.
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
    barostat
        One of ``articulon.barostats``, which changes the size of a periodic box; none by default.
    adaptive
        Joints that lock and release while it goes on, an ``articulon.adaptive.Adaptive``; none by default.
    seed
        Chooses the random numbers, which are a function of it and of the time since the start.
    q, u
        Initial coordinates (nq,) and speeds (nu,), those of the model by default. They must fulfil its loops; see
        :func:`articulon.close_loops`, which moves them there. They are the beginning of another simulation, at time
        zero: with the same seed it has the same noise, window by window, whatever the state, and thermostats, contacts
        and rules of several steps begin anew.

    locked
        Bodies whose joints are locked from the first step to the last, by the impulse that takes their relative speeds;
        a name that ends in ``*`` stands for all that begin so. Of molecules words do too: ``"side-chains"``,
        ``"backbone"``, ``"A:10-20"``, ``"residue LIG"``; see :func:`articulon.molecules.locked_bodies`.
    speeds
        ``"thermal"`` draws the initial speeds at the temperature of the thermostat or of the Brownian forces.
    temperature
        Draws the initial speeds at this temperature, ``"300 K"`` say; nothing keeps it but a thermostat.
    minimise
        Whether it begins downhill from the initial coordinates, where particles no longer overlap.
    device
        What takes the steps: ``"cpu"``; ``"cuda"``, the first GPU, or ``"cuda:1"``, another one, for free particles
        under Lennard-Jones forces by velocity-verlet; ``"warp-cpu"``, which runs the kernels of a GPU on one core.
    precision
        On a GPU, ``"mixed"`` computes each pair in single precision, and all else in double.
    progress
        See :func:`articulon.run`.
    options
        Settings of the rule.

    Returns
    -------
    Run
        The results, in memory.

    Raises
    ------
    CaseError
        For a rule, solver, policy or option that does not exist or does not fit.
    ModelError
        For a state of the wrong shape, Euler parameters without unit length, or a state off the loops.
    DivergenceError
        Where the numbers stop meaning anything.
    KeyboardInterrupt
        After Ctrl-C, at the end of a step. What has been computed by then is the exception's ``run``, which
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
    with _runs_of_users():
        return Run.of(
            simulated(
                model,
                duration,
                rule=rule,
                frames=frames,
                solver=solver,
                rotations=rotations,
                coordinates=coordinates,
                scaling=scaling,
                thermostat=thermostat,
                barostat=barostat,
                adaptive=adaptive,
                seed=seed,
                q=q,
                u=u,
                locked=locked,
                speeds=speeds,
                temperature=temperature,
                minimise=minimise,
                device=device,
                precision=precision,
                progress=shown_by(progress),
                **options,
            )
        )


def resume(
    run: Run, duration: float | str | None = None, *, frames: int | None = None, progress: Progress | bool | None = None
) -> Run:
    """Go on with a simulation from where it ended, with all that it was asked for, to the bits of an unbroken one.

    Rule, solver, scaling, thermostat, what locks and releases, seed and noise are those of the first; what contacts,
    thermostats and rules of several steps remember is in its state.

    Parameters
    ----------
    run
        What :func:`articulon.simulate` or this function has given, or the ``run`` of the exception by which Ctrl-C has
        ended it. It is left as it is.
    duration
        How much longer [time]; a string carries its unit. None for one that was interrupted: to the end that was asked
        for.
    frames
        Number of equal intervals between the states that are kept; by default they are as long as those before or,
        where the duration is no whole number of these, as many as for :func:`articulon.simulate`.
    progress
        See :func:`articulon.run`.

    Returns
    -------
    Run
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
    with _runs_of_users():
        return Run.of(resumed(run, duration, frames=frames, progress=shown_by(progress)))


def run(
    case: Case | str | Path,
    out: str | Path | None = None,
    resume: bool = False,
    progress: Progress | bool | None = None,
    overrides: Mapping[str, Any] | None = None,
    *,
    report: bool = True,
    allow_code: bool = False,
) -> Run:
    """Run a case and keep its results and its report in a folder, as ``articulon run`` does.

    Parameters
    ----------
    case
        A case of :func:`articulon.load_case`, the name of a built-in one, or the path of a case file.
    out
        Folder of the results, by default one in ``runs`` that is called like the case and what its overrides change,
        such as ``runs/nanoparticle-docking-seed-7``. It must not hold a run, unless ``resume`` says to go on with it.
    resume
        Continue the run that the folder holds from its last checkpoint, to the same bits as an unbroken run. One that
        has ended is returned at once, and where there is none yet it begins. With a longer ``run.duration`` among the
        overrides it goes on to that time, with frames as far apart as before, to the bits of one that was as long at
        once.
    progress
        True shows a bar with simulated time, speed and time left, in a terminal and in a notebook alike; False shows
        nothing. By default a run is shown where a person is looking, once it has taken a second. Anything with the
        methods ``start``, ``message``, ``update`` and ``finish`` is told instead.
    overrides
        Changes of the case by dotted key, as for :func:`articulon.load_case`.
    report
        Whether ``report.html`` is written; ``run.report()`` writes it later.
    allow_code
        Whether functions that the case names may run: they are code, of whoever wrote the case.

    Returns
    -------
    Run
        The results.

    Raises
    ------
    CaseError
        For a case that cannot be read or run.
    ArticulonError
        For a folder that holds another run, or in which one is going on, for a trajectory that is damaged or of another
        case, a full disk, or a force of the user's that fails.
    CheckpointError
        Where no checkpoint can be read, or one holds what no run of this case can go on from.
    DivergenceError
        Where the numbers stop meaning anything.
    KeyboardInterrupt
        After Ctrl-C or a request to terminate, when the state has been saved; go on by ``resume=True``.

    Examples
    --------
    >>> import articulon as ar, tempfile
    >>> folder = tempfile.mkdtemp() + "/pendulum"
    >>> run = ar.run("double-pendulum", folder, overrides={"run.duration": "0.1 s"}, report=False)
    >>> run.summary["status"], run.q.shape[1]
    ('complete', 2)
    """
    report = flag(report, "run, report", CaseError)
    done = Run.of(case_library_runs.run(case, out, resume, shown_by(progress), overrides, allow_code=allow_code))
    if report:
        done.report()
    return done


def open_run(folder: str | Path, *, allow_code: bool = False) -> Run:
    """The results in the folder of a run, which may still be going, with the case that it was made from.

    Parameters
    ----------
    folder
        The folder.
    allow_code
        Whether functions that the case names may run, where an analysis evaluates the forces. Nothing runs them
        otherwise.

    Raises
    ------
    ArticulonError
        Where the folder holds no run.
    """
    return Run.of(case_library_runs.open_run(folder, allow_code=allow_code))


@contextmanager
def _runs_of_users() -> Iterator[None]:
    """What an exception holds of a run is a run as users have it."""
    try:
        yield
    except BaseException as error:
        found = getattr(error, "run", None)
        if isinstance(found, results.Run):
            error.run = Run.of(found)  # type: ignore[attr-defined]
        raise
