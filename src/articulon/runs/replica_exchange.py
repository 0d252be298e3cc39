"""Replica exchange: runs of one model at several temperatures, or with several sets of locked joints, that exchange
their coordinates now and then so that each keeps its own distribution exactly."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from articulon.adaptive.lockable import joints_of
from articulon.adaptive.momentum_exchange import Space
from articulon.dynamics import kinetic_energy
from articulon.dynamics.multibody_functions import check_model
from articulon.errors import CaseError, DivergenceError, ModelError
from articulon.forces.evaluation import potential_energy
from articulon.inputs import seed as checked_seed
from articulon.inputs import shown, words
from articulon.model import Model
from articulon.model.state import CONFORMATIONAL, THERMOSTAT
from articulon.runs.entry import simulate
from articulon.runs.run import Run
from articulon.simulation.frame_times import length_of
from articulon.thermostats.base import BaseThermostat

RANDOM_STREAM = 14
"""The stream of random numbers that speeds after an exchange are drawn from."""
MOST = 10_000_000
"""Exchanges of a call."""
REFUSED = {
    "barostat": "coordinates of one box do not fit another; exchange at constant volume",
    "scaling": "scaled forces sample another distribution than the one that exchanges weigh; leave it out",
    "adaptive": "joints that lock and release change what a run samples between exchanges; give each run its own "
    "locked joints, by locked=",
}
"""Options of simulate that exchanges do not take, and why."""


@dataclass(frozen=True, eq=False)
class ReplicaExchange:
    """Runs that have exchanged their coordinates."""

    temperatures: tuple[float, ...]
    """Of the runs [temperature]."""
    locked: tuple[tuple[str, ...], ...]
    """The joints that are locked in each run."""
    runs: tuple[Run, ...]
    """One run for each temperature and set of locked joints. Its coordinates jump where they have been exchanged, after
    the frame of that time; what is measured on its frames is of its own ensemble."""
    walkers: np.ndarray
    """Which of the initial coordinates each run has come to hold after each exchange, shape (exchanges, runs)."""
    tried: np.ndarray
    """Exchanges that were tried between each run and the next, shape (runs − 1,)."""
    accepted: np.ndarray
    """Those of them that were accepted, shape (runs − 1,)."""

    @property
    def acceptance(self) -> np.ndarray:
        """Part of the exchanges that were accepted between each run and the next, shape (runs − 1,)."""
        with np.errstate(invalid="ignore"):
            return self.accepted / self.tried

    @property
    def round_trips(self) -> int:
        """How often one of the initial coordinates has come from the first run to the last and back."""
        ends = np.full(len(self.runs), -1)
        half, trips = np.zeros(len(self.runs), dtype=bool), 0
        for row in self.walkers:
            first, last = int(row[0]), int(row[-1])
            half[last] |= ends[last] == 0
            trips += int(half[first])
            half[first] = False
            ends[first], ends[last] = 0, 1
        return trips

    def __repr__(self) -> str:
        parts = ", ".join(f"{100.0 * part:.0f} %" for part in self.acceptance)
        return f"ReplicaExchange({len(self.runs)} runs, {len(self.walkers)} exchanges; accepted: {parts})"


def replica_exchange(
    model: Model,
    duration: float | str,
    *,
    thermostat: BaseThermostat,
    every: float | str,
    temperatures: Sequence[float | str] | None = None,
    locked: Sequence[str | Sequence[str]] | None = None,
    seed: int = 1,
    **options: Any,
) -> ReplicaExchange:
    """Run a model at several temperatures, or with several sets of locked joints, and exchange coordinates.

    After each time ``every`` neighbouring runs i and j try to exchange their coordinates x and y, those of even i and
    of odd i in turn. The exchange is accepted with the probability

        min(1, π_i(y) π_j(x) / (π_i(x) π_j(y))),   π_k(q) ∝ exp(−U(q)/kT_k) √det M_k(q),

    M_k being the mass matrix of the joints that move in run k; with Fixman's potential, which takes the determinant
    out, the root is left out. Speeds are then drawn anew. So the product of all π_k is kept exactly (Sugita and
    Okamoto, Chem. Phys. Lett. 314, 141, 1999, whose rule this is for temperatures alone; with locked joints, each run
    keeps the distribution that π_k has where those joints are held, whatever they are held at).

    Parameters
    ----------
    model
        The model. The temperatures of Fixman's potential and of Brownian forces become those of each run.
    duration
        Simulated time of each run [time].
    thermostat
        One of ``articulon.thermostats``; its temperature becomes that of each run.
    every
        Time between two exchanges [time]: a whole number of them fills the duration.
    temperatures
        Of the runs, neighbours next to each other [temperature]; that of the thermostat for all by default.
    locked
        For each run the bodies whose joints are locked, as ``locked`` of :func:`articulon.simulate` takes them; none
        by default.
    seed
        Chooses the random numbers.
    options
        Of :func:`articulon.simulate`, the same for all runs: ``rule``, ``step``, ``drift`` …; ``frames`` between two
        exchanges, one by default.

    Returns
    -------
    ReplicaExchange
        The runs, in memory, and what has been exchanged.

    Raises
    ------
    CaseError
        For fewer than two runs, lists of different lengths, a duration that is no whole number of exchanges, and what
        :func:`articulon.simulate` refuses.
    ModelError
        For locked joints in a model with loop constraints.
    DivergenceError, KeyboardInterrupt
        As for :func:`articulon.simulate`; what has been computed between exchanges is the exception's ``exchange``.

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
    check_model(model, "replica_exchange")
    if not isinstance(thermostat, BaseThermostat):
        raise CaseError(f"replica_exchange: thermostat: expected one of articulon.thermostats, got {shown(thermostat)}")
    thermostat = thermostat.resolved(model.units, "replica_exchange: thermostat")
    ladder, locks = _states(model, thermostat, temperatures, locked)
    length, between = (length_of(model.units, time, "replica_exchange") for time in (duration, every))
    count = round(min(length / between, MOST + 1))
    if count > MOST:
        raise CaseError(f"replica_exchange: every: there would be more than {MOST} exchanges; take a longer time")
    if count < 1 or abs(count * between - length) > 1e-9 * length:
        raise CaseError(
            f"replica_exchange: every: {between:g} goes into {length:g} no whole number of times; take "
            f"{length / max(1, count):.9g}"
        )
    first = checked_seed(seed, "replica_exchange: seed", CaseError)
    for name, why in REFUSED.items():
        if options.get(name) is not None:
            raise CaseError(f"replica_exchange: {name}: {why}")
    frames = options.pop("frames", 1)
    options.setdefault("speeds", "thermal")
    runs: list[Run] = []
    for k, (temperature, names) in enumerate(zip(ladder, locks, strict=True)):
        own = thermostat.model_copy(update={"temperature": temperature})
        one = _at_temperature(model, temperature)
        seed_of = own_seed(first, k)
        runs.append(simulate(one, between, thermostat=own, locked=names, seed=seed_of, frames=frames, **options))
    swaps = _Swaps(runs, ladder, first)
    walkers = [swaps.attempt(1)]

    def done() -> ReplicaExchange:
        return ReplicaExchange(ladder, locks, tuple(runs), np.array(walkers), swaps.tried, swaps.accepted)

    try:
        for number in range(2, count + 1):
            for run in runs:
                run.extend(between, frames=frames)
            walkers.append(swaps.attempt(number))
    except (KeyboardInterrupt, DivergenceError) as error:
        error.exchange = done()  # type: ignore[union-attr]
        raise
    return done()


def own_seed(seed: int, run: int) -> int:
    """The seed of a run, so that the runs of one seed share no noise with those of another."""
    return int(np.random.SeedSequence([seed, run]).generate_state(1, np.uint64)[0] >> 1)


def _states(
    model: Model, thermostat: BaseThermostat, temperatures: Any, locked: Any
) -> tuple[tuple[float, ...], tuple[tuple[str, ...], ...]]:
    """Temperatures and locked joints of the runs; raises CaseError for lists that do not go together."""
    where = "replica_exchange"
    temperatures = temperatures.tolist() if isinstance(temperatures, np.ndarray) else temperatures
    for name, given in (("temperatures", temperatures), ("locked", locked)):
        if given is not None and (isinstance(given, str | bytes) or not isinstance(given, Sequence)):
            raise CaseError(f"{where}: {name}: expected one for each run, in a list, got {shown(given)}")
    number = max(len(temperatures) if temperatures is not None else 0, len(locked) if locked is not None else 0)
    if number < 2:
        raise CaseError(
            f"{where}: give the temperatures of two runs or more, or the joints that are locked in each, "
            'such as temperatures = ("300 K", "330 K")'
        )
    if temperatures is not None and locked is not None and len(temperatures) != len(locked):
        raise CaseError(
            f"{where}: there are {len(temperatures)} temperatures and {len(locked)} sets of locked joints; give as "
            "many of each"
        )
    if temperatures is None:
        if not isinstance(thermostat.temperature, int | float):
            raise CaseError(f"{where}: thermostat.temperature: expected one number, for it stays the same")
        temperatures = [thermostat.temperature] * number
    found = [
        float(model.units.value(T, "temperature", f"{where}: temperatures[{k}]")) for k, T in enumerate(temperatures)
    ]
    if not all(0.0 < T < math.inf for T in found):
        raise CaseError(f"{where}: temperatures: must be positive, got {found}")
    locks = [words(names, f"{where}: locked[{k}]", CaseError) for k, names in enumerate(locked or [()] * number)]
    if any(locks) and model.loops.kind.size:
        raise ModelError(
            f"{where}: locked: loop constraints bind the joints, and the determinant of what is then left to move is "
            "not known; leave out the locks, or the loops"
        )
    return tuple(found), tuple(tuple(names) for names in locks)


def _at_temperature(model: Model, temperature: float) -> Model:
    """The model with the temperatures of its forces changed to one."""
    forces = tuple(
        force.model_copy(update={"temperature": temperature}) if hasattr(force, "temperature") else force
        for force in model.forces
    )
    return replace(model, forces=forces)


class _Swaps:
    """The exchanges between runs.

    Parameters
    ----------
    runs
        The runs.
    temperatures
        Theirs [temperature].
    seed
        Of the random numbers.
    """

    def __init__(self, runs: list[Run], temperatures: Sequence[float], seed: int) -> None:
        self.runs, self.seed = runs, seed
        model = runs[0].memory.model  # type: ignore[union-attr]
        self.kT = [model.units.boltzmann * T for T in temperatures]
        # Fixman's potential and the determinant that it takes out are both left out.
        self.fixman = any(getattr(force, "of_determinant", False) for force in model.forces)
        bare = tuple(force for force in model.forces if not getattr(force, "of_determinant", False))
        self.bare = replace(model, forces=bare)
        self.joints = joints_of(model)
        self.locked = [self._locked(run) for run in runs]
        self.alike = all(np.array_equal(one, self.locked[0]) for one in self.locked)
        self.walkers = np.arange(len(runs))
        self.tried = np.zeros(len(runs) - 1, dtype=np.int64)
        self.accepted = np.zeros(len(runs) - 1, dtype=np.int64)

    def _locked(self, run: Run) -> np.ndarray:
        adaptive = run.memory.prepared.adaptive  # type: ignore[union-attr]
        if adaptive is None:
            return np.zeros(self.joints.degrees_of_freedom.size, dtype=bool)
        return np.asarray(adaptive.resolution.locked_parts(run.memory.state))  # type: ignore[union-attr]

    def attempt(self, number: int) -> np.ndarray:
        """Tries the exchanges of a number, counted from 1; returns which walker each run then holds."""
        random = np.random.Generator(np.random.Philox(key=[self.seed, number]))
        energies = [potential_energy(self.bare, run.memory.state.q) for run in self.runs]  # type: ignore[union-attr]
        for i in range((number + 1) % 2, len(self.runs) - 1, 2):
            self.tried[i] += 1
            if math.log(random.uniform()) < self._likelihood(i, energies):
                self._swap(i, number)
                self.accepted[i] += 1
        return self.walkers.copy()

    def _likelihood(self, i: int, energies: list[float]) -> float:
        """ln of π_i(y) π_j(x) / (π_i(x) π_j(y))."""
        j = i + 1
        found = (1.0 / self.kT[i] - 1.0 / self.kT[j]) * (energies[i] - energies[j])
        if self.fixman or self.alike:
            return found
        x, y = (self.runs[k].memory.state.q for k in (i, j))  # type: ignore[union-attr]
        return found + 0.5 * (
            self._determinant(i, y) + self._determinant(j, x) - self._determinant(i, x) - self._determinant(j, y)
        )

    def _determinant(self, k: int, q: np.ndarray) -> float:
        """ln det M_k at coordinates."""
        return float(Space(self.bare, self.joints, q, self.locked[k]).log_determinant())

    def _swap(self, i: int, number: int) -> None:
        """Exchanges the coordinates of run i and the next. What that changes is booked as heat, which the thermostats
        take and give, so that the books of both runs close."""
        states = [self.runs[k].memory.state for k in (i, i + 1)]  # type: ignore[union-attr]
        before = [self._energies(k) for k in (i, i + 1)]
        states[0].q[:], states[1].q[:] = states[1].q.copy(), states[0].q.copy()
        for k, state, (potential, kinetic) in zip((i, i + 1), states, before, strict=True):
            space = Space(self.bare, self.joints, state.q, self.locked[k])
            state.u[:] = space.thermal(own_seed(self.seed, k), RANDOM_STREAM, number, self.kT[k])
            after, moving = self._energies(k)
            state.work[:] -= after - potential
            state.work[THERMOSTAT] += (after - potential).sum() + moving - kinetic
            state.rebuild[:] = np.nan
            state.rule.acceleration[:] = 0.0
            state.rule.history[:] = 0.0
        self.walkers[[i, i + 1]] = self.walkers[[i + 1, i]]

    def _energies(self, k: int) -> tuple[np.ndarray, float]:
        """Potential energies of a run by channel (8,), and its kinetic energy [energy]."""
        memory = self.runs[k].memory
        assert memory is not None
        prepared, state = memory.prepared, memory.state
        found = prepared.evaluator.energies(state.q).copy()
        if prepared.adaptive is not None:
            found[CONFORMATIONAL] += prepared.adaptive.potential_shift(state)
        return found, float(kinetic_energy(memory.model, state.q, state.u))
