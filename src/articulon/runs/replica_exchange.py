"""Replica exchange: runs of one model at several temperatures, or with several sets of locked joints, exchange their
coordinates at intervals. The exchanges preserve the distribution of each run exactly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from articulon.cases import load_case
from articulon.cases.case import Case
from articulon.cases.run_extension import extended_case
from articulon.dynamics.multibody_functions import check_model
from articulon.errors import CaseError, DivergenceError
from articulon.forces.sites.lammps_ranks import world
from articulon.inputs import flag, path_of, shown
from articulon.inputs import seed as checked_seed
from articulon.lammps.rank_runs import by_lammps
from articulon.model import Model
from articulon.runs.entry import simulate
from articulon.runs.exchange_folder import exchange_in_folder
from articulon.runs.exchange_ladder import REFUSED, Ladder, at_temperature, check_case, ladder_of
from articulon.runs.exchange_page import PAGE, exchange_page
from articulon.runs.exchange_plan import BASE
from articulon.runs.exchange_results import ReplicaExchange
from articulon.runs.exchange_rule import Exchanges, Replica, own_seed
from articulon.runs.progress import shown_by
from articulon.runs.run import Run
from articulon.simulation.run_request import Progress
from articulon.storage.atomic_writing import write_text
from articulon.thermostats.base import BaseThermostat

EXCHANGES = Path("exchanges")
"""Default folder of results; each case gets a subfolder."""
OWN = ("duration", "thermostat")
"""Arguments that must not be given for a case, because the case specifies them."""


def replica_exchange(
    model: Model | Case | str | Path,
    duration: float | str | None = None,
    *,
    every: float | str,
    temperatures: Sequence[float | str] | None = None,
    locked: Sequence[str | Sequence[str]] | None = None,
    thermostat: BaseThermostat | None = None,
    seed: int | None = None,
    out: str | Path | None = None,
    resume: bool = False,
    progress: Progress | bool | None = None,
    allow_code: bool = False,
    **options: Any,
) -> ReplicaExchange:
    """Run a model at several temperatures, or with several sets of locked joints, and exchange coordinates.

    After each interval ``every``, neighbouring runs i and j try to exchange their coordinates x and y, alternately for
    even and for odd i. The exchange is accepted with the probability

        min(1, π_i(y) π_j(x) / (π_i(x) π_j(y))),   π_k(q) ∝ exp(−U(q)/kT_k) √det M_k(q),

    where M_k is the mass matrix of the joints that move in run k. With Fixman's potential, which cancels the
    determinant, the factor √det M_k is left out. After an exchange, speeds are redrawn. This preserves the product of
    all π_k exactly. The rule for temperatures is that of Sugita and Okamoto, Chem. Phys. Lett. 314, 141, 1999. A run
    with locked joints preserves the distribution π_k for any fixed values of these joints.

    Parameters
    ----------
    model
        A model, or a case (also its name or file). The runs of a model are kept in memory, and those of a case in one
        folder each. The temperatures of Fixman's potential and of Brownian forces are set to that of each run.
    duration
        Simulated time of each run of a model [time]; not for a case, which specifies it.
    every
        Time between exchanges [time]; the duration must be a whole number of these intervals. For a case it must be a
        whole number of the frame intervals.
    temperatures
        Temperatures of the runs in order [temperature]; by default all runs have the thermostat's temperature.
    locked
        For each run, the bodies whose joints are locked, as in the argument ``locked`` of :func:`articulon.simulate`;
        none by default.
    thermostat
        For a model, one of ``articulon.thermostats``; its temperature is set to that of each run. Not for a case, which
        specifies it.
    seed
        Seed of the random numbers; 1 by default, or that of the case.
    out
        For a case, the folder of the results, ``exchanges/<case>`` by default. It receives a folder for each run,
        ``exchange.json`` with the accepted exchanges, ``walkers.csv``, and the page ``exchange.html``.
    resume
        For a case: whether to continue the exchange in the folder. Results are bitwise equal to those of an
        uninterrupted exchange. If the folder contains no exchange, a new one starts. If the overrides of the case have
        a longer ``run.duration``, the exchange continues to that time.
    progress
        See :func:`articulon.run`. For a model, nothing is shown by default.
    allow_code
        For a case: whether Python functions named in it may be run.
    options
        For a model, options of :func:`articulon.simulate`, equal for all runs: ``rule``, ``step``, ``drift`` …;
        ``frames`` counts the frames between two exchanges, one by default.

    Returns
    -------
    ReplicaExchange
        The runs and their exchanges.

    Raises
    ------
    CaseError
        For fewer than two runs, lists of different lengths, a duration that is not a whole number of exchange
        intervals, and arguments that :func:`articulon.simulate` or :func:`articulon.run` rejects.
    ModelError
        For locked joints in a model with loop constraints.
    ArticulonError
        If the folder contains another exchange, or an exchange is active in it.
    DivergenceError, KeyboardInterrupt
        See :func:`articulon.simulate` and :func:`articulon.run`. For a model, the exception's ``exchange`` holds the
        results up to the last exchange. To continue the exchange of a case, use ``resume=True``.

    Examples
    --------
    >>> import articulon as ar
    >>> builder = ar.ModelBuilder("lj")
    >>> rotor = builder.add_body("rotor", mass=1.0, inertia=1.0, joint=ar.Revolute(axis=(0, 0, 1)))
    >>> builder.add_force(ar.forces.TorsionalSprings(stiffness={"rotor": 1.0}))
    >>> how = {"rule": "friction-implicit", "step": 0.1}
    >>> how["thermostat"] = ar.thermostats.Langevin(temperature=1.0, friction=1.0)
    >>> exchange = ar.replica_exchange(builder.build(), 2.0, every=0.5, temperatures=(1.0, 1.5), **how)
    >>> len(exchange.runs), exchange.walkers.shape
    (2, (4, 2))
    """
    if isinstance(model, Case | str | Path):
        given = {"duration": duration, "thermostat": thermostat, **options}
        for name, value in given.items():
            if value is not None:
                say = f"give run.duration of {model.name if isinstance(model, Case) else model}"
                raise CaseError(
                    f"replica_exchange: {name}: a case has its own; {say if name == 'duration' else 'leave it out'}"
                )
        return _of_case(model, every, temperatures, locked, seed, out, resume, progress, allow_code)
    check_model(model, "replica_exchange")
    if out is not None or resume:
        raise CaseError(
            "replica_exchange: out, resume: the runs of a model are kept in memory; give a case, or write each run "
            "into a folder with its save method"
        )
    if not isinstance(thermostat, BaseThermostat):
        raise CaseError(f"replica_exchange: thermostat: expected one of articulon.thermostats, got {shown(thermostat)}")
    if duration is None:
        raise CaseError("replica_exchange: duration: give the duration of the runs")
    thermostat = thermostat.resolved(model.units, "replica_exchange: thermostat")
    first = checked_seed(1 if seed is None else seed, "replica_exchange: seed", CaseError)
    ladder = ladder_of(model, thermostat, duration, every, first, temperatures, locked)
    for name, why in REFUSED.items():
        if options.get(name) not in (None, "speeds"):
            raise CaseError(f"replica_exchange: {name}: {why}")
    return _of_model(model, thermostat, ladder, progress, options)


def _of_model(
    model: Model, thermostat: BaseThermostat, ladder: Ladder, progress: Any, options: dict[str, Any]
) -> ReplicaExchange:
    """Run the exchange of a model, in memory."""
    frames = options.pop("frames", 1)
    options.setdefault("speeds", "thermal")
    shown_as = False if progress is None else progress
    runs: list[Run] = []
    for k, (temperature, names) in enumerate(zip(ladder.temperatures, ladder.locked, strict=True)):
        own = thermostat.model_copy(update={"temperature": temperature})
        one = at_temperature(model, temperature)
        given = {"locked": names, "seed": own_seed(ladder.seed, k), "progress": shown_as, **options}
        runs.append(simulate(one, ladder.every, frames=frames, thermostat=own, **given))
    exchanges = Exchanges(runs[0].model, ladder.temperatures, ladder.seed)
    walkers = [exchanges.attempt(replicas_of(runs), 1)]

    def done() -> ReplicaExchange:
        tried, accepted = exchanges.tried, exchanges.accepted
        return ReplicaExchange(ladder.temperatures, ladder.locked, tuple(runs), np.array(walkers), tried, accepted)

    try:
        for number in range(2, ladder.exchanges + 1):
            for run in runs:
                run.extend(ladder.every, frames=frames, progress=shown_as)
            walkers.append(exchanges.attempt(replicas_of(runs), number))
    except (KeyboardInterrupt, DivergenceError) as error:
        error.exchange = done()  # type: ignore[union-attr]
        raise
    return done()


def replicas_of(runs: Sequence[Run]) -> list[Replica]:
    """Return runs in memory as replicas."""
    return [Replica(run.memory.prepared, run.memory.state) for run in runs]  # type: ignore[union-attr]


def default_folder(case: Case) -> Path:
    """Default folder of a case's exchange."""
    return EXCHANGES / case.folder_name


def _of_case(
    given: Case | str | Path,
    every: Any,
    temperatures: Any,
    locked: Any,
    seed: int | None,
    out: str | Path | None,
    resume: bool,
    progress: Any,
    allow_code: bool,
) -> ReplicaExchange:
    """Run the exchange of a case, in a folder."""
    resume = flag(resume, "replica_exchange, resume", CaseError)
    allow_code = flag(allow_code, "replica_exchange, allow_code", CaseError)
    case = given if isinstance(given, Case) else load_case(given, allow_code=allow_code)
    if allow_code:
        case = replace(case, allow_code=True)
    case.check_code()
    thermostat = check_case(case)
    if by_lammps(case) and world().size > 1:
        raise CaseError(f"{case.source}: replica exchange runs on one rank of MPI; start it without mpiexec")
    if seed is not None:
        case = case.with_overrides({"run.seed": checked_seed(seed, "replica_exchange: seed", CaseError)})
    folder = default_folder(case) if out is None else path_of(out, "replica_exchange, out", CaseError)
    held = None
    if resume:
        case, held = extended_case(folder, case, BASE)
    model = case.build_model()
    ladder = ladder_of(model, thermostat, float(case.run.duration), every, int(case.run.seed), temperatures, locked)
    found = exchange_in_folder(case, held, model, ladder, folder, resume, shown_by(progress))
    runs = tuple(Run.of(run) for run in found.runs)
    done = ReplicaExchange(ladder.temperatures, ladder.locked, runs, found.walkers, found.tried, found.accepted, folder)
    write_text(folder / PAGE, exchange_page(case, done))
    return done
