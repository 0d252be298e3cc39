"""Functions that make, continue and open runs."""

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
    """Integrate a model with its own forces and loop constraints, from time zero.

    To continue a simulation from its end, call :func:`articulon.resume`.

    Parameters
    ----------
    model
        The model.
    duration
        Simulated time [time]; a string includes its unit.
    rule
        Name of an integrator; ``options`` are its settings, as in ``[integrator]`` of a case: ``step`` for fixed steps,
        ``rtol`` and ``atol`` for steps that an error estimate chooses, and so on.
    frames
        Number of equal intervals between the states that are kept. The default is 100. If a ``step`` is given, the
        default is the largest number up to 100 for which each interval is a whole number of steps. If a requested
        interval is not a whole number of steps, steps are shortened; ``run.notes`` and a warning say so, and
        ``run.step`` is the step taken.
    solver
        Name of the equation-of-motion algorithm: ``"articulated"``, ``"kane"`` or ``"divide-and-conquer"``.
    rotations
        ``"speeds"`` integrates angular velocities and unit Euler parameters; ``"euler-parameters"`` integrates the
        accelerations of Euler parameters by constraint embedding (Guy 2018, appendix C).
    coordinates
        ``"relative"`` uses joint coordinates; ``"cartesian"`` frees every body and imposes the joints as loop
        constraints.
    scaling
        A policy of ``articulon.scaling`` that scales the forces; none by default. A threshold that the policy leaves
        out is found by a short unscaled run, as in a case.
    thermostat
        One of ``articulon.thermostats``; none by default.
    barostat
        One of ``articulon.barostats``, which changes the size of a periodic box; none by default.
    adaptive
        Conditions for locking and releasing joints during the run, an ``articulon.adaptive.Adaptive``; none by default.
    seed
        Seed of the random numbers. They depend only on the seed and on the time since the start.
    q, u
        Initial coordinates (nq,) and speeds (nu,); by default those of the model. They must satisfy the loop
        constraints of the model, onto which :func:`articulon.close_loops` projects them. The simulation starts at time
        zero. Its noise depends on the seed and the time, not on the state. Thermostats, contacts and multistep
        integrators start without history.

    locked
        Bodies whose joints stay locked during the whole run. Their relative speeds are removed by an impulse at the
        start. A name that ends in ``*`` selects all names with that beginning. For molecules, selection words also
        work: ``"side-chains"``, ``"backbone"``, ``"A:10-20"``, ``"residue LIG"``; see
        :func:`articulon.molecules.locked_bodies`.
    speeds
        ``"thermal"`` draws the initial speeds at the temperature of the thermostat or of the Brownian forces.
    temperature
        Temperature at which the initial speeds are drawn, such as ``"300 K"``. Only a thermostat maintains it.
    minimise
        Whether the energy of the initial coordinates is minimised first, which removes overlaps of particles.
    device
        Device of the steps: ``"cpu"``; ``"cuda"``, the first GPU, or ``"cuda:1"``, another one, for free particles with
        Lennard-Jones forces under velocity-verlet; ``"warp-cpu"``, which runs the GPU kernels on one CPU core.
    precision
        On a GPU, ``"mixed"`` computes each pair in single precision and everything else in double.
    progress
        See :func:`articulon.run`.
    options
        Settings of the integrator.

    Returns
    -------
    Run
        The results, in memory.

    Raises
    ------
    CaseError
        For an integrator, solver, policy or option that does not exist or does not fit the others.
    ModelError
        For a state of the wrong shape, Euler parameters without unit length, or a state that violates loop constraints.
    DivergenceError
        If the state becomes non-finite.
    KeyboardInterrupt
        After Ctrl-C, at the end of a step. The exception's ``run`` contains the results so far, and
        :func:`articulon.resume` completes it. Before the first step, while kernels compile, there is no ``run``.

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
    """Continue a simulation from its end with the same settings. The result is bitwise equal to that of an
    uninterrupted simulation.

    Integrator, solver, scaling, thermostat, locking, seed and noise are those of the first part. Contacts, thermostats
    and multistep integrators continue with their history.

    Parameters
    ----------
    run
        A run of :func:`articulon.simulate` or of this function, or the ``run`` of the exception that Ctrl-C raised. It
        stays unchanged.
    duration
        Additional simulated time [time]; a string includes its unit. None continues an interrupted run up to the end
        that was originally requested.
    frames
        Number of equal intervals between the states that are kept. By default the intervals are as long as before. If
        the duration is not a whole number of them, they are chosen as in :func:`articulon.simulate`.
    progress
        See :func:`articulon.run`.

    Returns
    -------
    Run
        A run whose first frame is the last frame of ``run``; times continue. It is bitwise equal to a single simulation
        over both durations if the frames are at the same times, because error-controlled steps end at frames.

    Raises
    ------
    CaseError
        For a duration or a number of frames that does not fit the steps or the noise windows of the simulation, and for
        an interrupted run if a duration is given.
    ModelError
        If the given motion of a drive or the table of a force ends earlier than the simulation.
    DivergenceError, KeyboardInterrupt
        See :func:`articulon.simulate`.

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
    """Run a case, and store its results and a report in a folder, as ``articulon run`` does.

    Parameters
    ----------
    case
        A case from :func:`articulon.load_case`, the name of a built-in case, or the path of a case file.
    out
        Folder of the results; by default a folder in ``runs`` named after the case and its overrides, such as
        ``runs/nanoparticle-docking-seed-7``. It must not contain a run, unless ``resume`` is True.
    resume
        Whether to continue the run in the folder from its last checkpoint. Results are bitwise those of an
        uninterrupted run. If the folder contains no run, a new one starts; a finished run is returned at once. If
        ``overrides`` has a longer ``run.duration``, the run continues to that time with the same frame interval;
        results are bitwise those of a run that had the longer duration from the start.
    progress
        True shows a bar with simulated time, speed and remaining time, in a terminal or a notebook; False shows
        nothing. By default the bar appears in interactive sessions, for runs longer than a second; elsewhere standard
        error is told only that kernels are compiled. An object with the methods ``start``, ``message``, ``update`` and
        ``finish`` receives the progress instead.
    overrides
        Changes of the case by dotted key, as for :func:`articulon.load_case`.
    report
        Whether ``report.html`` is written; ``run.report()`` writes it later.
    allow_code
        Whether Python functions named in the case may be run. They are code of the author of the case.

    Returns
    -------
    Run
        The results.

    Raises
    ------
    CaseError
        For a case that cannot be read or run.
    ArticulonError
        For a folder that contains another run, or in which a run is active; for a trajectory that is damaged or belongs
        to another case; for a full disk; or for a user's force that fails.
    CheckpointError
        If no checkpoint can be read, or no run of this case can continue from it.
    DivergenceError
        If the state becomes non-finite.
    KeyboardInterrupt
        After Ctrl-C or a request to terminate, once the state has been saved; continue with ``resume=True``.

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
    """Open the results in a run's folder, finished or not, with their case.

    Parameters
    ----------
    folder
        The folder.
    allow_code
        Whether Python functions named in the case may be run when an analysis evaluates the forces. Otherwise they are
        never run.

    Raises
    ------
    ArticulonError
        If the folder contains no run.
    """
    return Run.of(case_library_runs.open_run(folder, allow_code=allow_code))


@contextmanager
def _runs_of_users() -> Iterator[None]:
    """Context in which the run stored in an exception is converted to the public :class:`Run`."""
    try:
        yield
    except BaseException as error:
        found = getattr(error, "run", None)
        if isinstance(found, results.Run):
            error.run = Run.of(found)  # type: ignore[attr-defined]
        raise
