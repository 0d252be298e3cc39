"""The state: all quantities that change during a run. A checkpoint contains exactly the state.

A state consists of the time, the motion, the ledger, and data that features store from step to step, each in its own
part: the thermostat's ``bath``, the scaling law's ``memory``, the neighbour lists' ``rebuild``, and the groups of
arrays ``rule``, ``contacts``, ``resolution`` and ``box``.
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
"""Channels of force, in the order of every array over channels. Each channel has a scaling factor and an entry in the
ledger."""

POTENTIAL, CONFORMATIONAL, DAMPING, STOCHASTIC, THERMOSTAT, THERMOSTAT_RATE, CONTACT, EXTERNAL = range(8)

STEPS, REJECTED, EVALUATIONS, WINDOW, SWITCHES = range(5)


class RuleMemory(NamedTuple):
    """Data that an integrator stores from step to step in addition to q and u."""

    acceleration: np.ndarray
    """Accelerations of the latest kick of friction-implicit, used as the initial guess of the next kick, shape
    (nu,)."""
    history: np.ndarray
    """Data of other integrators, flat; empty for most integrators. The first number is 0 before the first step. Code
    that changes q or u directly sets this number to zero, so that the integrator starts again."""
    rate: np.ndarray
    """Rates of the coordinates, for integrators that advance Euler parameters by their second derivatives, shape
    (nq,)."""
    dependent: np.ndarray
    """Index of the Euler parameter that these integrators compute from the other three, stored at the first coordinate
    of each set of four, shape (nq,)."""
    drift: np.ndarray
    """Constraint drift of steps before the projection: the largest error of any loop constraint since the start, and
    the largest rate of this error, shape (2,)."""


class ContactArrays(NamedTuple):
    """Arrays of contacts, in the order of the names below."""

    pairs: np.ndarray
    """Sites whose spheres touch, the lower site first, sorted, shape (contacts, 2). For a contact with a wall, the
    second number is the number of sites plus the index of the wall's feature. The shape changes as contacts begin and
    end."""
    memory: np.ndarray
    """History and forces of each contact; see ``contact_tables.py``, shape (contacts, 25)."""
    rebuild: np.ndarray
    """Positions of the spheres when the neighbour list was last built, which determine the order of sums [length],
    shape (3, spheres); NaN before the first list."""
    work: np.ndarray
    """Work since the start [energy] of elastic normal forces, tangential springs, viscous forces, friction, moving
    walls, gravity on grains in contact, and drag on grains in contact; in the second row, the values from which the
    sums continue. Shape (2, 7)."""
    times: np.ndarray
    """Statistics of contacts, shape (7,): the numbers of contacts that have begun and ended; the sum and the longest of
    their durations [time]; the largest ratio of overlap to radius; and the pair with this ratio: a sphere, numbered
    among the spheres of the model, and a second sphere, or the number of spheres plus the index of a wall's feature."""


class ContactMemory(ContactArrays):
    """Contact history of spheres.

    The number of contacts changes, so :meth:`hold` replaces the arrays of contacts, and references to this tuple stay
    valid. For the compiler this is a tuple of fixed size and types without the arrays of contacts, which are passed to
    kernels separately.
    """

    __signature__ = signature(ContactArrays)
    """Signature by which the compiler names this type when it passes the tuple to threads."""
    _held: tuple[np.ndarray, np.ndarray]

    def __new__(cls, *arrays: np.ndarray, **named: np.ndarray) -> "ContactMemory":
        """Create from the arrays, given in order or by name."""
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
    """Values stored when speeds were locked, shape (2, nu); (2, 0) if nothing locks or releases. First row: the values
    of the locked speeds relative to the coarse motion. Second row, at the first speed of each joint: the kinetic energy
    that locking the joint removed."""
    reservoir: np.ndarray
    """Energy that all transitions since the start removed: kinetic energy, and energy of Fixman's potential, which
    differs between lock states [energy], shape (2,)."""
    criteria: np.ndarray
    """Data that the criteria for locking and releasing store between decisions, flat; (0,) if there are no criteria."""


class BoxMemory(NamedTuple):
    """Data of a run whose box changes; empty arrays otherwise."""

    edges: np.ndarray
    """Edges of the box, one per row [length], shape (3, 3)."""
    work: np.ndarray
    """Changes of the potential energy and of the kinetic energy that changes of the box have caused since the start
    [energy], shape (2,)."""
    moves: np.ndarray
    """Numbers of attempted and of accepted changes of the box, shape (2,)."""


class State(NamedTuple):
    """All data from which a run continues with identical results, to the last bit. Its arrays are written in place and
    keep their shapes, except those of contacts. A copy made by :meth:`_replace` shares all other arrays with the
    original, including the contacts."""

    time: np.ndarray
    """Time [time], shape (1,)."""
    q: np.ndarray
    """Coordinates, shape (nq,)."""
    u: np.ndarray
    """Speeds, shape (nu,)."""
    work: np.ndarray
    """Work of each channel with its scaling factor, since the start [energy], shape (8,)."""
    unscaled_work: np.ndarray
    """Work of each channel without its scaling factor [energy], shape (8,). For a conservative channel this is the
    energy that it has lost. Only the explicit integrators and friction-implicit record it."""
    factor: np.ndarray
    """Scaling factor of each channel [dimensionless], shape (8,)."""
    step: np.ndarray
    """Step that the integrator will try next [time], 0 before the first step, shape (1,)."""
    counters: np.ndarray
    """Numbers of steps, of rejected steps and of evaluations, the number of the current noise window, and the number of
    switches of the dependent Euler parameter, shape (5,)."""
    memory: np.ndarray
    """Data that a scaling law with lag tracking stores from step to step (``integrate/lag_tracking.py``); shape (0,)
    for other scaling laws."""
    bath: np.ndarray
    """Variables of the thermostat; shape (0,) if it has none."""
    rebuild: np.ndarray
    """Positions of the sites when the neighbour list was last built, which determine the order of sums [length], shape
    (3, sites); NaN before the first list; shape (3, 0) if there is no neighbour list."""
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
        """Return all arrays by name; an array of a group has a name such as "contacts.pairs"."""
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
        """Return a state from arrays by name, in the form that :meth:`arrays` returns."""
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
    """Copy one array into another, or the arrays of one group into those of another group."""
    for array, values in [(mine, theirs)] if isinstance(mine, np.ndarray) else zip(mine, theirs, strict=True):
        array[:] = values


SLICES: dict[str, Any] = {
    "rule": RuleMemory,
    "contacts": ContactMemory,
    "resolution": ResolutionMemory,
    "box": BoxMemory,
}
"""Parts of a state that are groups of several arrays."""
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
        Sizes of the arrays ``history`` and ``bath``, given by the integrator and the thermostat.
    listed
        Number of sites whose neighbours are listed.
    memory
        Size of the array ``memory``, given by the integrator.
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
