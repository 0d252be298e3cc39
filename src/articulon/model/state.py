"""The state: everything that evolves, and exactly the content of a checkpoint.

A state is the time, the motion and the ledger, and what features store from step to step, each in its own slice: the
thermostat's ``bath``, the scaling law's ``memory``, the lists' ``rebuild``, and the slices ``rule``, ``contacts`` and
``resolution``.
"""

from collections.abc import Iterator, Mapping
from inspect import signature
from typing import Any, NamedTuple

import numpy as np

CHANNELS = (
    "potential",
    "conformational",
    "damping",
    "stochastic",
    "thermostat",
    "thermostat_rate",
    "contact",
    "external",
)
"""Channels of force: the unit of scaling and of the ledger, in the order of every array over channels."""

POTENTIAL, CONFORMATIONAL, DAMPING, STOCHASTIC, THERMOSTAT, THERMOSTAT_RATE, CONTACT, EXTERNAL = range(8)

STEPS, REJECTED, EVALUATIONS, WINDOW, SWITCHES = range(5)


class RuleMemory(NamedTuple):
    """Data that an integrator stores from step to step in addition to q and u."""

    acceleration: np.ndarray
    """Accelerations of the latest kick of friction-implicit, the initial guess of the next one, shape (nu,)."""
    history: np.ndarray
    """Data of other integrators, flat; empty for most. The first number is 0 before the first step. Code that changes q
    or u directly sets it to zero, so that the integrator starts again."""
    rate: np.ndarray
    """Rates of the coordinates if Euler parameters are integrated by their accelerations, shape (nq,)."""
    dependent: np.ndarray
    """Index of the Euler parameter that then depends on the others, at the first of each four, shape (nq,)."""
    drift: np.ndarray
    """Constraint drift of steps before the projection: the largest error of any loop constraint, and of its rate, since
    the start, shape (2,)."""


class ContactArrays(NamedTuple):
    """Arrays of contacts, by name and in order."""

    pairs: np.ndarray
    """Sites whose spheres touch, the lower first, sorted; for a contact with a wall the second is the number of sites
    plus the feature of the wall. Shape (contacts, 2), which changes as contacts begin and end."""
    memory: np.ndarray
    """History and forces of each contact; see ``contact_tables.py``, shape (contacts, 25)."""
    rebuild: np.ndarray
    """Positions of the spheres at the last list, which determine the order of sums [length], shape (3, spheres), NaN
    before the first list."""
    work: np.ndarray
    """Works since the start of elastic normal forces, tangential springs, viscous forces, friction, moving walls,
    gravity and drag on grains in contact [energy]; in the second row, the values from which they continue. Shape (2,
    7)."""
    times: np.ndarray
    """Numbers of contacts that have begun and ended; the sum and the longest of their durations [time]; the largest
    ratio of overlap to radius, and its pair: a sphere, numbered among the spheres of the model, and another one or the
    number of spheres plus the feature of a wall. Shape (7,)."""


class ContactMemory(ContactArrays):
    """Contact history of spheres.

    The number of contacts changes: their arrays are replaced, see :meth:`hold`, and a view that is kept elsewhere stays
    valid. For the compiler this is a tuple of fixed size and types without the contacts, which are passed to kernels
    separately.
    """

    __signature__ = signature(ContactArrays)
    """Name for the compiler, which passes it to threads."""
    _held: tuple[np.ndarray, np.ndarray]

    def __new__(cls, *arrays: np.ndarray, **named: np.ndarray) -> "ContactMemory":
        """Create from the arrays in order, or by name."""
        pairs, memory, *others = ContactArrays(*arrays, **named)
        nothing = (np.empty((0, *array.shape[1:]), array.dtype) for array in (pairs, memory))
        self = super().__new__(cls, *nothing, *others)
        self._held = pairs, memory
        return self

    @property
    def pairs(self) -> np.ndarray:
        """See :class:`ContactArrays`."""
        return self._held[0]

    @property
    def memory(self) -> np.ndarray:
        """See :class:`ContactArrays`."""
        return self._held[1]

    def __getitem__(self, k: Any) -> Any:
        return tuple(self)[k]

    def __iter__(self) -> Iterator[np.ndarray]:
        return (getattr(self, name) for name in self._fields)

    def _replace(self, **named: np.ndarray) -> "ContactMemory":
        return ContactMemory(**{**dict(zip(self._fields, self, strict=True)), **named})

    def __getnewargs__(self) -> tuple[np.ndarray, ...]:
        return tuple(self)

    def __getstate__(self) -> None:
        """Only the arrays are pickled."""

    def hold(self, pairs: np.ndarray, memory: np.ndarray) -> None:
        """Replace ``pairs`` and ``memory``; existing references keep the old arrays."""
        self._held = pairs, memory


class ResolutionMemory(NamedTuple):
    """Data of a run whose joints and modes lock and release."""

    locked: np.ndarray
    """Speeds that are currently locked, shape (nu,); (0,) if nothing locks or releases."""
    kept: np.ndarray
    """For locked speeds, their values relative to the coarse motion when they were locked, and in the second row, at
    the first speed of a joint, the kinetic energy that locking it removed, shape (2, nu); (2, 0) if nothing locks or
    releases."""
    reservoir: np.ndarray
    """Energy removed by all transitions since the start: kinetic energy, and energy of Fixman's potential, which
    differs for every lock state [energy], shape (2,)."""
    criteria: np.ndarray
    """Data that the criteria for locking and releasing store between decisions, flat; (0,) if there are none."""


class BoxMemory(NamedTuple):
    """Data of a run whose box changes; empty arrays otherwise."""

    edges: np.ndarray
    """Edges of the box, one per row [length], shape (3, 3)."""
    work: np.ndarray
    """Change of the potential energy, and of the kinetic energy, by changes of the box since the start [energy], shape
    (2,)."""
    moves: np.ndarray
    """Numbers of tried and of accepted changes, shape (2,)."""


class State(NamedTuple):
    """Everything from which a run continues with identical results, to the last bit. Its arrays are written in place
    and keep their shapes, except those of contacts. A copy made by :meth:`_replace` shares everything else with it,
    including contacts."""

    time: np.ndarray
    """Time [time], shape (1,)."""
    q: np.ndarray
    """Coordinates, shape (nq,)."""
    u: np.ndarray
    """Speeds, shape (nu,)."""
    work: np.ndarray
    """Work done by each channel as scaled, since the start [energy], shape (8,)."""
    unscaled_work: np.ndarray
    """Work of each channel without the factors: for a conservative channel, the energy that it has lost, whatever its
    factors were. Booked by the explicit integrators and friction-implicit [energy], shape (8,)."""
    factor: np.ndarray
    """Scaling factor of each channel [dimensionless], shape (8,)."""
    step: np.ndarray
    """Step that the integrator would try next [time], 0 before the first, shape (1,)."""
    counters: np.ndarray
    """Steps, rejected steps, evaluations, the current noise window, and switches of the dependent Euler parameter,
    shape (5,)."""
    memory: np.ndarray
    """Data that a scaling law with lag tracking stores from step to step (``integrate/lag_tracking.py``), shape (0,)
    for the others."""
    bath: np.ndarray
    """Variables of the thermostat, shape (0,) if there are none."""
    rebuild: np.ndarray
    """Positions of the sites at the last neighbour list, which determine the order of sums [length], shape (3, sites),
    NaN before the first list; (3, 0) if no neighbours are listed."""
    rule: RuleMemory
    """Data of the integrator."""
    contacts: ContactMemory
    """Contacts of spheres."""
    resolution: ResolutionMemory
    """Data of locking and releasing."""
    box: BoxMemory
    """Data of a box that changes."""

    def __repr__(self) -> str:
        counted = f"{self.q.size} coordinates, {self.u.size} speeds, {len(self.contacts.pairs)} contacts"
        return f"State(time {self.time[0]:.9g}, step {int(self.counters[STEPS])}: {counted})"

    def arrays(self) -> dict[str, np.ndarray]:
        """Return all arrays by name, those of slices as "contacts.pairs"."""
        found: dict[str, np.ndarray] = {}
        for name in self._fields:
            part = getattr(self, name)
            if isinstance(part, np.ndarray):
                found[name] = part
            else:
                found |= {f"{name}.{inner}": getattr(part, inner) for inner in part._fields}
        return found

    @classmethod
    def of(cls, arrays: Mapping[str, np.ndarray]) -> "State":
        """Return a state from arrays by name, as given by :meth:`arrays`."""
        parts: dict[str, Any] = {name: arrays[name] for name in cls._fields if name not in SLICES}
        for name, made in SLICES.items():
            parts[name] = made(**{inner: arrays[f"{name}.{inner}"] for inner in made._fields})
        return cls(**parts)

    def copy(self) -> "State":
        """Return an independent copy."""
        parts: Any = (
            part.copy() if isinstance(part, np.ndarray) else type(part)(*(array.copy() for array in part))
            for part in self
        )
        return State(*parts)

    def take(self, other: "State") -> None:
        """Copy another state into this one, in place.

        Parameters
        ----------
        other
            The state that is copied.
        """
        if self.contacts.pairs.shape != other.contacts.pairs.shape:
            self.contacts.hold(other.contacts.pairs.copy(), other.contacts.memory.copy())
        for mine, theirs in zip(self, other, strict=True):
            _overwrite(mine, theirs)


def _overwrite(mine: Any, theirs: Any) -> None:
    """Copy one array into another, or all of a slice into another slice."""
    for array, values in [(mine, theirs)] if isinstance(mine, np.ndarray) else zip(mine, theirs, strict=True):
        array[:] = values


SLICES: dict[str, Any] = {
    "rule": RuleMemory,
    "contacts": ContactMemory,
    "resolution": ResolutionMemory,
    "box": BoxMemory,
}
"""Parts of a state that are more than an array."""
ARRAYS = tuple(
    inner
    for name in State._fields
    for inner in ([f"{name}.{x}" for x in SLICES[name]._fields] if name in SLICES else [name])
)
"""Names of all arrays of a state, in order."""


def initial_state(
    q: np.ndarray,
    u: np.ndarray,
    history: int = 0,
    bath: int = 0,
    listed: int = 0,
    memory: int = 0,
    spheres: int = 0,
    contact_columns: int = 0,
    edges: np.ndarray | None = None,
) -> State:
    """Return the state at time zero.

    Parameters
    ----------
    q, u
        Coordinates and speeds.
    history, bath
        Sizes of these arrays, given by the integrator and the thermostat.
    listed
        Number of sites whose neighbours are listed.
    memory
        Size of that array, given by the integrator.
    spheres
        Number of spheres with contacts.
    contact_columns
        Number of values stored per contact.
    edges
        Edges of a box that changes [length], shape (3, 3).
    """
    return State(
        time=np.zeros(1),
        q=q.copy(),
        u=u.copy(),
        work=np.zeros(8),
        unscaled_work=np.zeros(8),
        factor=np.ones(8),
        step=np.zeros(1),
        counters=np.zeros(5, dtype=np.int64),
        memory=np.zeros(memory),
        bath=np.zeros(bath),
        rebuild=np.full((3, listed), np.nan),
        rule=rule_memory(q.size, u.size, history),
        contacts=ContactMemory(
            pairs=np.zeros((0, 2), dtype=np.int64),
            memory=np.zeros((0, contact_columns)),
            rebuild=np.full((3, spheres), np.nan),
            work=np.zeros((2, 7)),
            times=np.zeros(7),
        ),
        resolution=resolution_memory(),
        box=box_memory(edges),
    )


def rule_memory(nq: int, nu: int, history: int = 0) -> RuleMemory:
    """Data of an integrator before the first step."""
    dependent = np.zeros(nq, dtype=np.int64)
    return RuleMemory(np.zeros(nu), np.zeros(history), np.zeros(nq), dependent, np.zeros(2))


def box_memory(edges: np.ndarray | None = None) -> BoxMemory:
    """Initial data of a run whose box changes; empty otherwise."""
    if edges is None:
        return BoxMemory(np.zeros((0, 3)), np.zeros(0), np.zeros(0, dtype=np.int64))
    return BoxMemory(edges.copy(), np.zeros(2), np.zeros(2, dtype=np.int64))


def resolution_memory(nu: int = 0, criteria: int = 0) -> ResolutionMemory:
    """Initial data of a run with ``nu`` speeds that lock and release, and a given number of values for criteria."""
    return ResolutionMemory(np.zeros(nu, dtype=np.bool_), np.zeros((2, nu)), np.zeros(2), np.zeros(criteria))
