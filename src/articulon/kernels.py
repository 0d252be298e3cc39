"""How kernels are compiled: the flags that they all share, once on a machine, in processes of their own."""

import gc
import hashlib
import itertools
import os
import secrets
import signal
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import numba
from numba.core.bytecode import FunctionIdentity
from numba.core.caching import NullCache
from numba.core.errors import NumbaExperimentalFeatureWarning

from articulon.announcements import announce
from articulon.errors import ArticulonError
from articulon.kernel_cache import PackageLocator, cache_folder, cache_root, files_of, ours, sources_of
from articulon.leaf_compiler import LeafCompiler

if os.name == "posix":
    import fcntl

# Passing jitted functions as first-class values is what lets a kernel with a user's force be cached.
warnings.filterwarnings("ignore", category=NumbaExperimentalFeatureWarning)

FASTMATH = {"nsz", "arcp", "contract", "afn", "reassoc"}
"""Never plain ``True``: NaN and infinity must survive, divergence is detected by them."""

LEAF = {
    "fastmath": FASTMATH,
    "error_model": "numpy",
    "_nrt": False,  # no leaf allocates, and reference counts on every array cost more than the arithmetic
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
    "pipeline_class": LeafCompiler,
}

jit = numba.njit(**LEAF, forceinline=True)
"""For leaf functions: compiled into the kernel that calls them, every call inlined. Python cannot call them.

A leaf must not return an array to a kernel that counts references (``parallel`` or ``allocates``): the kernel would
give back what the leaf never took, and the memory would be freed under its owner."""

routine_that_allocates = numba.njit(
    **{name: value for name, value in LEAF.items() if name != "_nrt"}, forceinline=False
)
"""The same for dense algebra, which LAPACK gives arrays of its own."""

routine = numba.njit(**LEAF, forceinline=False)
"""For the parts of a kernel that are called from several places and are too long to inline at each. That is said, for
Numba would hand on to them that whoever calls them is inlined."""


_WAYS = {"python": ("cfunc",), "value": ("cpython",), "either": (), "address": ("cpython", "cfunc")}
"""How a kernel is called: from Python, as a value that another kernel has been handed, in both ways, or by the address
of its code and by kernels that it is compiled into; and what each of these does without."""


def kernel(
    function: Callable | None = None,
    *,
    parallel: bool = False,
    allocates: bool = False,
    cached: bool = True,
    called: str = "python",
) -> Any:
    """Compile an entry point, cached on disk; its callees are compiled into it.

    ``parallel`` shares its ``prange`` loops out among threads; ``allocates`` lets it call dense algebra. One that holds
    a user's code, or that is not ``cached``, is compiled in every process: values that such code has taken from
    elsewhere are compiled into it, and nothing would tell that they have changed. How it is ``called``, see ``_WAYS``,
    says what is compiled around it: to take a table of a hundred arrays from Python costs more than many a kernel.
    """

    def wrap(function: Callable) -> Any:
        previous = numba.config.CACHE_LOCATOR_CLASSES
        numba.config.CACHE_LOCATOR_CLASSES = f"{PackageLocator.__module__}.{PackageLocator.__name__}"
        try:
            # No kernel allocates: without reference counts on every array it is a quarter faster. Threads need them.
            options = {"parallel": True} if parallel else {} if allocates else {"_nrt": False}
            options |= {f"no_{one}_wrapper": True for one in _WAYS[called]}
            return numba.njit(fastmath=FASTMATH, error_model="numpy", cache=cached and ours(function), **options)(
                function
            )
        finally:
            numba.config.CACHE_LOCATOR_CLASSES = previous

    return wrap if function is None else wrap(function)


def first_class(function: Callable) -> Any:
    """Compile a function that is handed to kernels as a value, cached on disk as a kernel is; see :func:`ready`."""
    return kernel(function, allocates=True, called="either")


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Dense algebra on one thread, so that its bits do not depend on how many there are."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1, user_api="blas"):
        yield


def prepare(function: Any, signature: Any) -> Any:
    """Compile a kernel for a signature, or load it from the cache, and let calls from Python only use what there is.

    A call that hands over jitted functions would otherwise be compiled anew for just these functions, past the cache.

    Raises
    ------
    ArticulonError
        Naming the folder of the cache, where the disk is full.
    """
    if _later.waits:
        _later.wanted.append((function, signature))
    else:
        prepare_all([(function, signature)])
    return function


class _Later(threading.local):
    """Kernels that a thread asks for now and has compiled later."""

    def __init__(self) -> None:
        self.waits = False
        self.wanted: list[tuple[Any, Any]] = []
        """Each with its signature."""
        self.then: list[Callable[[], None]] = []
        """What is to be done when they are ready."""


_later = _Later()


def is_awaited(function: Any = None) -> bool:
    """Whether this thread has asked for a kernel, or for any, that is compiled with others later."""
    return _later.waits and (function is None or any(one is function for one, _ in _later.wanted))


def once_ready(action: Callable[[], None]) -> None:
    """Does something when the kernels that this thread has asked for are ready."""
    if _later.waits:
        _later.then.append(action)
    else:
        action()


@contextmanager
def preparing_together() -> Iterator[None]:
    """Kernels that this thread asks for while it is entered, passes among them, are compiled when it is left, on all
    cores; until then they must not be called. What an error leaves is compiled the next time. Entered again
    before it is left, it waits for the first."""
    if _later.waits:
        yield
        return
    _later.waits = True
    try:
        yield
    finally:
        _later.waits = False
    finish_preparing()


def finish_preparing() -> None:
    """Compiles what this thread has asked for together and does what waits for it, unless it is still being asked for.
    After an error there may be both left: what has been made before it is finished before it is used."""
    if _later.waits or not (_later.wanted or _later.then):
        return
    wanted, then = _later.wanted[:], _later.then[:]
    _later.wanted.clear()
    _later.then.clear()
    try:
        prepare_all(wanted)
    except KeyboardInterrupt:
        _later.wanted[:0], _later.then[:0] = wanted, then
        raise
    for action in then:
        action()


@contextmanager
def preparing_at_once() -> Iterator[None]:
    """Kernels that this thread asks for while it is entered are compiled as they are asked for, although others wait:
    for what must have run before it is known which others are needed."""
    outer = _later.waits, _later.wanted, _later.then
    _later.waits, _later.wanted, _later.then = False, [], []
    try:
        yield
    finally:
        _later.waits, _later.wanted, _later.then = outer


def ready(function: Any, signature: Any) -> Any:
    """A function that is handed to kernels as a value, compiled or loaded from the cache; a user's own is compiled in
    this process. Both may be called from Python with arguments of other types too."""
    check_value(function)
    if _is_kept(function):
        prepare_all([(function, signature)])
        function.disable_compile(False)
    else:
        function.compile(signature)
    return function


def check_value(function: Any) -> None:
    """Raises TypeError for a kernel that cannot be handed to others: its address would be null."""
    if function.targetoptions.get("no_cfunc_wrapper"):
        raise TypeError(f"{function.__name__} is compiled to be called from Python alone, not as a value")


def prepare_for(function: Any, arguments: Iterable[Any]) -> Any:
    """``prepare`` for the types of arguments. Returns what is to be called with arguments of just these types, at which
    it does not look: asking for the types of a hundred arrays takes as long as many steps of a small model."""
    signature = tuple(numba.typeof(one) for one in arguments)
    return _Chosen(prepare(function, signature), signature)


class _Chosen:
    """A kernel for one signature."""

    def __init__(self, function: Any, signature: Any) -> None:
        self.function, self.signature = function, signature
        self.entry: Any = None

    def __call__(self, *arguments: Any) -> Any:
        if self.entry is None:
            self.entry = self.function.overloads[self.signature].entry_point
        return self.entry(*arguments)


def prepare_all(wanted: Iterable[tuple[Any, Any]]) -> None:
    """The same for several kernels, each with its signature: what is missing is compiled on all cores.

    Raises
    ------
    ArticulonError
        As :func:`prepare`.
    """
    wanted = {(id(one[0]), one[1]): one for one in wanted}
    missing = [(one, _mark(*one)) for key, one in wanted.items() if key not in _READY]
    try:
        fresh = [one for one, mark in missing if not mark.exists() and _is_kept(one[0])]
        if fresh:
            # What takes the most arguments takes the longest; begun last, it would keep one core busy alone.
            fresh.sort(key=lambda one: len(str(one[1])), reverse=True)
            kept = cache_root().absolute() == cache_folder().parent
            often = "once per machine" if kept else "for this process alone"
            seconds = max(1, round(SECONDS * len(fresh) / _cores()))
            # What these lead to is not known yet: a run announces its first batch alone.
            what = _counted(len(fresh), "kernel")
            announce(f"compiling {what}, {often}: about {seconds} s, up to a minute in all")
            _compile_aside(fresh)
        if missing:
            _start_threads()
        for (function, signature), mark in missing:
            _load(function, signature, mark)
            _READY[id(function), signature] = function
    except OSError as failure:
        raise ArticulonError(
            f"{cache_folder()}: kernels cannot be kept here: {failure.strerror}. Free some space, or set "
            "ARTICULON_CACHE_DIR to a folder that you may write to"
        ) from failure


_forked: list[bool] = [False]


def _forget_threads() -> None:
    """In the child of a fork, which has none of its parent's threads, and must not ask for them."""
    _forked[0] = _start_threads.cache_info().currsize > 0


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_threads)


def threads_to_share() -> int:
    """How many threads may share work out: one in a forked child of a process that has started threads, which OpenMP
    would end there."""
    return 1 if _forked[0] else int(numba.get_num_threads())


@cache
def _start_threads() -> None:
    """Starts those that kernels share work out among: 3 ms. Numba does so where it compiles or loads such a kernel, and
    not where it loads one that this has been compiled into, whose loading then ends the process."""
    numba.get_num_threads()


def _load(function: Any, signature: Any, mark: Path) -> None:
    """Loads a kernel from the cache, and compiles it again where what is kept of it is damaged."""
    function.disable_compile(False)
    try:
        function.compile(signature)
    except OSError:
        raise
    except Exception as failure:  # whatever a damaged file makes of its reader
        if not mark.exists():
            raise
        what, where = function.__name__, cache_folder()
        announce(f"{where}: what is kept of {what} is damaged ({failure}); compiling it again")
        Path(function._cache._cache_file._index_path).unlink(missing_ok=True)
        mark.unlink(missing_ok=True)
        _compile_aside([(function, signature)])
        function.compile(signature)
    function.disable_compile()
    if _is_kept(function):
        mark.parent.mkdir(parents=True, exist_ok=True)
        mark.touch()


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _is_kept(function: Any) -> bool:
    """Whether what is compiled of a kernel goes to the cache."""
    return not isinstance(getattr(function, "_cache", None), NullCache)


_READY: dict[tuple[int, Any], Any] = {}
"""What this process has loaded, by function and signature; the functions are kept, so that their ids stay theirs."""


def _mark(function: Any, signature: Any) -> Path:
    """The file that says that a kernel has been compiled."""
    source = function.py_func
    key = f"{source.__module__}.{source.__qualname__}{signature}"
    folder = cache_folder() / sources_of(files_of(source)) / "compiled"
    return folder / hashlib.sha256(key.encode()).hexdigest()[:32]


def count_anew() -> None:
    """Lets Numba number the functions that this process compiles from a number that no other process begins with.

    Numba names a function by its own name and its number, and the body of a parallel loop by its address and that
    number. Children of one parent would count from the same number and find memory at the same addresses; and of two
    kernels with the same names, a process that has loaded both runs the loops of the first for either.
    """
    FunctionIdentity._unique_ids = itertools.count(1 + secrets.randbits(60))


count_anew()


SECONDS = 0.8
"""Time that a kernel takes to compile, on average: the 22 of a docking take 17 s of one core [s]."""
POLL = 0.005
"""How often processes that compile are looked at [s]."""
INTERRUPTIONS = (signal.SIGINT, signal.SIGTERM)
"""Signals that end a compilation at once."""


def _compile_aside(wanted: Sequence[tuple[Any, Any]]) -> None:
    """Compiles kernels in processes of their own, so that this one loads from the cache what all later ones load.

    A process that compiles has what a kernel calls in two copies, compiled by themselves and once more with the kernel,
    and runs the first; one that loads has only the second, which may round differently.

    Raises KeyboardInterrupt at once where any of them is interrupted. What has been compiled by then is kept: files of
    the cache are whole or not there.
    """
    if not hasattr(os, "fork"):  # on Windows the first run of all may then differ in its last bits
        return
    left, children, again = list(wanted), set[int](), False
    try:
        while left or children:
            while left and len(children) < _cores():
                children.add(_compiling(*left.pop(0)))
            for child in list(children):
                done, status = os.waitpid(child, os.WNOHANG)
                if not done:
                    continue
                children.remove(child)
                if os.WIFSIGNALED(status) and os.WTERMSIG(status) in INTERRUPTIONS:
                    raise KeyboardInterrupt("interrupted while kernels were compiled, before the first step")
                again = again or status != 0
            time.sleep(POLL)
    except BaseException:
        for child in children:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
        raise
    if again:
        announce("compiling again, in this process: the last bits of this run may differ from those of later ones")


def _compiling(function: Any, signature: Any) -> int:
    """A new process that compiles a kernel, by its number."""
    child = os.fork()
    if child == 0:
        failed = 1
        try:
            for number in INTERRUPTIONS:  # whatever the parent does, this process has nothing to save
                signal.signal(number, signal.SIG_DFL)
            count_anew()
            gc.disable()  # the memory goes with the process
            mark = _mark(function, signature)
            mark.parent.mkdir(parents=True, exist_ok=True)
            with mark.with_suffix(".lock").open("w") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)  # another process may be at it already
                if not mark.exists():
                    function.disable_compile(False)
                    function.compile(signature)
                    mark.touch()
            failed = 0
        finally:
            os._exit(failed)  # nothing of the parent's is to be closed or written twice
    return child
