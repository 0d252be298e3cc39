"""What evolves. A checkpoint is exactly this.

A state is the time, the motion and the ledger, and beside them what features keep from step to step, each its own
slice: the thermostat's ``bath``, the scaling law's ``memory``, the lists' ``rebuild``, and the slices ``rule``,
``contacts`` and ``resolution``.
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
"""The kinds of force: the unit of scaling and of the ledger, in the order of every array over channels."""

POTENTIAL, CONFORMATIONAL, DAMPING, STOCHASTIC, THERMOSTAT, THERMOSTAT_RATE, CONTACT, EXTERNAL = range(8)

STEPS, REJECTED, EVALUATIONS, WINDOW, SWITCHES = range(5)


class RuleMemory(NamedTuple):
    """What an integrator keeps from step to step beside q and u."""

    acceleration: np.ndarray
    """Accelerations of the latest kick of the friction-implicit rule, from which the next one sets out, shape (nu,)."""
    history: np.ndarray
    """What another rule keeps, flat; empty for most. Its first number is 0 before the first step. Whoever changes q or
    u by hand sets it to zero: then the rule begins anew."""
    rate: np.ndarray
    """Rates of the coordinates, where Euler parameters are integrated by their accelerations, shape (nq,)."""
    dependent: np.ndarray
    """Which of four Euler parameters then depends on the others, at the first of each four, shape (nq,)."""
    drift: np.ndarray
    """How far steps have led from the loops before the state was moved back onto them: the largest error of any
    condition, and of its rate, since the start, shape (2,)."""


class ContactArrays(NamedTuple):
    """The arrays of contacts, by name and in order."""

    pairs: np.ndarray
    """Sites whose spheres touch, the lower first, sorted; the second is the number of sites and the feature of a wall
    where the first touches one. Shape (contacts, 2), which changes as contacts begin and end."""
    memory: np.ndarray
    """What each of these contacts remembers, and its forces; see ``contact_tables.py``, shape (contacts, 25)."""
    rebuild: np.ndarray
    """Positions of the spheres when what is near to what was last listed, which fixes the order of sums [length], shape
    (3, spheres), NaN before the first list."""
    work: np.ndarray
    """Works since the start of elastic normal forces, tangential springs, viscous forces, friction, moving walls,
    gravity and drag on grains in contact [energy]; below them, what they go on from. Shape (2, 7)."""
    times: np.ndarray
    """Contacts that have begun, and that have ended; the sum and the longest of their durations [time]; the largest
    overlap by radius, and whose it is: a sphere, counted over the spheres of the model, and another one or the number
    of spheres and the feature of a wall. Shape (7,)."""


class ContactMemory(ContactArrays):
    """What spheres in contact remember.

    Of contacts there are now more and now fewer: their arrays are replaced, see :meth:`hold`, and a view that someone
    has kept stays good. To the compiler this is a tuple whose size and types never change. It finds no contacts there:
    kernels are handed those by themselves.
    """

    __signature__ = signature(ContactArrays)
    """What the compiler calls it by, where it hands it to threads."""
    _held: tuple[np.ndarray, np.ndarray]

    def __new__(cls, *arrays: np.ndarray, **named: np.ndarray) -> "ContactMemory":
        """From the arrays in order, or by name."""
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
        """All there is to pickle are the arrays."""

    def hold(self, pairs: np.ndarray, memory: np.ndarray) -> None:
        """Puts other arrays in the place of ``pairs`` and ``memory``; who keeps those still has them."""
        self._held = pairs, memory


class ResolutionMemory(NamedTuple):
    """What a run keeps whose joints and modes lock and release."""

    locked: np.ndarray
    """Speeds that are locked at present, shape (nu,); (0,) where nothing locks or releases any."""
    kept: np.ndarray
    """Of locked speeds: what they were against the coarse motion when they were locked, and in the second row, at the
    first speed of a joint, the kinetic energy that locking it took out, shape (2, nu); (2, 0) likewise."""
    reservoir: np.ndarray
    """What all transitions have taken out since the start: kinetic energy, and energy of Fixman's potential, which is
    another one for every lock state [energy], shape (2,)."""
    criteria: np.ndarray
    """What the criteria that lock and release keep from decision to decision, flat; (0,) where there are none."""


class BoxMemory(NamedTuple):
    """What a run keeps whose box changes; empty arrays where it does not."""

    edges: np.ndarray
    """The edges of the box, one a row [length], shape (3, 3)."""
    work: np.ndarray
    """What changes of the box have added to the potential energy since the start, and to the kinetic energy [energy],
    shape (2,)."""
    moves: np.ndarray
    """Changes that were tried, and those that were accepted, shape (2,)."""


class State(NamedTuple):
    """Everything from which a run goes on to the same bits. Its arrays are written to in place, and keep their shapes,
    but for those of contacts. What :meth:`_replace` makes of it shares all else with it, and so do its contacts."""

    time: np.ndarray
    """[time], shape (1,)."""
    q: np.ndarray
    """Coordinates, shape (nq,)."""
    u: np.ndarray
    """Speeds, shape (nu,)."""
    work: np.ndarray
    """Work done by each channel as scaled, since the start [energy], shape (8,)."""
    unscaled_work: np.ndarray
    """The same without the factors: of a conservative channel, the energy that it has lost, whatever its factors were.
    Booked by the explicit rules and friction-implicit [energy], shape (8,)."""
    factor: np.ndarray
    """Scaling factor of each channel [dimensionless], shape (8,)."""
    step: np.ndarray
    """Step that the driver would try next [time], 0 before the first, shape (1,)."""
    counters: np.ndarray
    """Steps, rejected steps, evaluations, the noise window that the time lies in, and switches of the dependent Euler
    parameter, shape (5,)."""
    memory: np.ndarray
    """What a scaling law that follows how forces change keeps from step to step (``integrate/lag_tracking.py``), shape
    (0,) for the others."""
    bath: np.ndarray
    """Variables of the thermostat, shape (0,) where there is none or it has none."""
    rebuild: np.ndarray
    """Positions of the sites when their neighbours were last listed, which fixes the order of sums [length], shape
    (3, sites), NaN before the first list; (3, 0) where no neighbours are listed."""
    rule: RuleMemory
    """Of the integrator."""
    contacts: ContactMemory
    """Of spheres that touch."""
    resolution: ResolutionMemory
    """Of what locks and releases."""
    box: BoxMemory
    """Of a box that changes."""

    def __repr__(self) -> str:
        counted = f"{self.q.size} coordinates, {self.u.size} speeds, {len(self.contacts.pairs)} contacts"
        return f"State(time {self.time[0]:.9g}, step {int(self.counters[STEPS])}: {counted})"

    def arrays(self) -> dict[str, np.ndarray]:
        """All arrays by name, those of slices as "contacts.pairs"."""
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
        """A state of arrays by name, as :meth:`arrays` gives them."""
        parts: dict[str, Any] = {name: arrays[name] for name in cls._fields if name not in SLICES}
        for name, made in SLICES.items():
            parts[name] = made(**{inner: arrays[f"{name}.{inner}"] for inner in made._fields})
        return cls(**parts)

    def copy(self) -> "State":
        """An independent state."""
        parts: Any = (
            part.copy() if isinstance(part, np.ndarray) else type(part)(*(array.copy() for array in part))
            for part in self
        )
        return State(*parts)

    def take(self, other: "State") -> None:
        """Becomes what another state is, in place.

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
    """Writes one array into another, or all of a slice into another slice."""
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
    """The state at time zero.

    Parameters
    ----------
    q, u
        Coordinates and speeds.
    history, bath
        Sizes of these arrays, which the rule's driver and the thermostat say.
    listed
        Number of sites whose neighbours are listed.
    memory
        Size of that array, which the rule's driver says.
    spheres
        Number of spheres that touch.
    contact_columns
        What a contact remembers, in numbers.
    edges
        The edges of a box that changes [length], shape (3, 3).
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
    """What an integrator keeps before the first step."""
    dependent = np.zeros(nq, dtype=np.int64)
    return RuleMemory(np.zeros(nu), np.zeros(history), np.zeros(nq), dependent, np.zeros(2))


def box_memory(edges: np.ndarray | None = None) -> BoxMemory:
    """What a run keeps of a box that changes, at the start; nothing where it does not."""
    if edges is None:
        return BoxMemory(np.zeros((0, 3)), np.zeros(0), np.zeros(0, dtype=np.int64))
    return BoxMemory(edges.copy(), np.zeros(2), np.zeros(2, dtype=np.int64))


def resolution_memory(nu: int = 0, criteria: int = 0) -> ResolutionMemory:
    """What a run keeps of ``nu`` speeds that lock and release, by so many numbers of criteria, at the start."""
    return ResolutionMemory(np.zeros(nu, dtype=np.bool_), np.zeros((2, nu)), np.zeros(2), np.zeros(criteria))
