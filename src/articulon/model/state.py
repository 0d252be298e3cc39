"""What evolves. A checkpoint is exactly this."""

from collections.abc import Iterator
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


class StateArrays(NamedTuple):
    """The arrays of a state, by name and in order."""

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
    memory: np.ndarray
    """What a scaling law that follows how forces change keeps from step to step (``integrate/lag_tracking.py``), shape
    (0,) for the others."""
    step: np.ndarray
    """Step that the driver would try next [time], 0 before the first, shape (1,)."""
    acceleration: np.ndarray
    """Accelerations of the latest kick of the friction-implicit rule, from which the next one sets out, shape (nu,)."""
    history: np.ndarray
    """What a rule keeps from step to step beside q and u, flat; empty for most, and zeroed whenever q or u is changed
    by hand: then the rule begins anew. Its first number is 0 before the first step."""
    rate: np.ndarray
    """Rates of the coordinates, where Euler parameters are integrated by their accelerations, shape (nq,)."""
    dependent: np.ndarray
    """Which of four Euler parameters then depends on the others, at the first of each four, shape (nq,)."""
    bath: np.ndarray
    """Variables of the thermostat, shape (0,) where there is none or it has none."""
    rebuild: np.ndarray
    """Positions of the sites when their neighbours were last listed, which fixes the order of sums [length], shape
    (3, sites), NaN before the first list; (3, 0) where no neighbours are listed."""
    contact_pairs: np.ndarray
    """Sites whose spheres touch, the lower first, sorted; the second is the number of sites and the feature of a wall
    where the first touches one. Shape (contacts, 2), which changes as contacts begin and end."""
    contact_memory: np.ndarray
    """What each of these contacts remembers, and its forces; see ``contact_tables.py``, shape (contacts, 25)."""
    contact_rebuild: np.ndarray
    """Positions of the spheres when what is near to what was last listed, which fixes the order of sums [length], shape
    (3, spheres), NaN before the first list."""
    contact_work: np.ndarray
    """Works since the start of elastic normal forces, tangential springs, viscous forces, friction, moving walls,
    gravity and drag on grains in contact [energy]; below them, what they go on from. Shape (2, 7)."""
    contact_times: np.ndarray
    """Contacts that have begun, and that have ended; the sum and the longest of their durations [time]; the largest
    overlap by radius, and whose it is: a sphere, counted over the spheres of the model, and another one or the number
    of spheres and the feature of a wall. Shape (7,)."""
    drift: np.ndarray
    """How far steps have led from the loops before the state was moved back onto them: the largest error of any
    condition, and of its rate, since the start, shape (2,)."""
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
    counters: np.ndarray
    """Steps, rejected steps, evaluations, the noise window that the time lies in, and switches of the dependent Euler
    parameter, shape (5,)."""


_PAIRS, _MEMORY = (StateArrays._fields.index(name) for name in ("contact_pairs", "contact_memory"))


class State(StateArrays):
    """Everything from which a run goes on to the same bits.

    Arrays of a state are written to in place, and keep their shapes. Those of contacts, of which there are now more and
    now fewer, are replaced: :meth:`hold_contacts`. A view of an array stays good whatever becomes of the state.

    To the compiler a state is a tuple whose size and types never change. It finds no contacts there: kernels are handed
    those by themselves.
    """

    __signature__ = signature(StateArrays)
    """What the compiler calls it by, where it hands a state to threads."""
    _held: tuple[np.ndarray, np.ndarray]

    def __new__(cls, *arrays: np.ndarray, **named: np.ndarray) -> "State":
        """From the arrays in order, or by name."""
        given = list(StateArrays(*arrays, **named))
        held = given[_PAIRS], given[_MEMORY]
        given[_PAIRS], given[_MEMORY] = (np.empty((0, *array.shape[1:]), array.dtype) for array in held)
        self = super().__new__(cls, *given)
        self._held = held
        return self

    def __repr__(self) -> str:
        counted = f"{self.q.size} coordinates, {self.u.size} speeds, {len(self.contact_pairs)} contacts"
        return f"State(time {self.time[0]:.9g}, step {int(self.counters[STEPS])}: {counted})"

    @property
    def contact_pairs(self) -> np.ndarray:
        """See :class:`StateArrays`."""
        return self._held[0]

    @property
    def contact_memory(self) -> np.ndarray:
        """See :class:`StateArrays`."""
        return self._held[1]

    def __iter__(self) -> Iterator[np.ndarray]:
        for k, array in enumerate(super().__iter__()):
            yield self._held[0] if k == _PAIRS else self._held[1] if k == _MEMORY else array

    def __getitem__(self, k: Any) -> Any:
        return tuple(self)[k]

    def __getnewargs__(self) -> tuple[np.ndarray, ...]:
        return tuple(self)

    def __getstate__(self) -> None:
        """All there is to pickle are the arrays."""

    def _asdict(self) -> dict[str, Any]:
        return dict(zip(self._fields, self, strict=True))

    def _replace(self, **named: np.ndarray) -> "State":
        return State(**{**self._asdict(), **named})

    def copy(self) -> "State":
        """An independent state."""
        return State(*(array.copy() for array in self))

    def take(self, other: "State") -> None:
        """Becomes what another state is, in place."""
        if self.contact_pairs.shape != other.contact_pairs.shape:
            self.hold_contacts(other.contact_pairs.copy(), other.contact_memory.copy())
        for array, values in zip(self, other, strict=True):
            array[:] = values

    def hold_contacts(self, pairs: np.ndarray, memory: np.ndarray) -> None:
        """Puts other arrays in the place of ``contact_pairs`` and ``contact_memory``; who keeps those still has them.

        A state that :meth:`_replace` has made of this one, or this one of it, goes on with what it has.
        """
        self._held = pairs, memory


def initial_state(
    q: np.ndarray,
    u: np.ndarray,
    history: int = 0,
    bath: int = 0,
    listed: int = 0,
    memory: int = 0,
    spheres: int = 0,
    contact_columns: int = 0,
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
    """
    return State(
        time=np.zeros(1),
        q=q.copy(),
        u=u.copy(),
        work=np.zeros(8),
        unscaled_work=np.zeros(8),
        factor=np.ones(8),
        memory=np.zeros(memory),
        step=np.zeros(1),
        acceleration=np.zeros(u.size),
        history=np.zeros(history),
        rate=np.zeros(q.size),
        dependent=np.zeros(q.size, dtype=np.int64),
        bath=np.zeros(bath),
        rebuild=np.full((3, listed), np.nan),
        contact_pairs=np.zeros((0, 2), dtype=np.int64),
        contact_memory=np.zeros((0, contact_columns)),
        contact_rebuild=np.full((3, spheres), np.nan),
        contact_work=np.zeros((2, 7)),
        contact_times=np.zeros(7),
        drift=np.zeros(2),
        locked=np.zeros(0, dtype=np.bool_),
        kept=np.zeros((2, 0)),
        reservoir=np.zeros(2),
        criteria=np.zeros(0),
        counters=np.zeros(5, dtype=np.int64),
    )
