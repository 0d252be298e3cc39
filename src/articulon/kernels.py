"""Compiles kernels with common flags, in separate processes, once per machine."""

import gc
import hashlib
import itertools
import os
import secrets
import signal
import sys
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

from articulon.announcements import BATCH, announce
from articulon.errors import ArticulonError
from articulon.kernel_cache import PackageLocator, cache_folder, cache_root, files_of, ours, sources_of
from articulon.leaf_compiler import LeafCompiler

if os.name == "posix":
    import fcntl

# A kernel with a user's force can be cached only if jitted functions are passed to it as first-class values.
warnings.filterwarnings("ignore", category=NumbaExperimentalFeatureWarning)

FASTMATH = {"nsz", "arcp", "contract", "afn", "reassoc"}
"""Fast-math flags without ``nnan`` and ``ninf``: NaN and infinity must propagate, because divergence is detected by
them."""

LEAF = {
    "fastmath": FASTMATH,
    "error_model": "numpy",
    "_nrt": False,  # no leaf allocates, and counting references to every array would cost more than the arithmetic
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
    "pipeline_class": LeafCompiler,
}

jit = numba.njit(**LEAF, forceinline=True)
"""Decorator for leaf functions, which are inlined into the kernels that call them. Python cannot call them.

A leaf must not return an array to a kernel that counts references (``parallel`` or ``allocates``). The kernel would
release a reference that the leaf never took, so the memory would be freed while the array's owner still uses it.
"""

routine_that_allocates = numba.njit(
    **{name: value for name, value in LEAF.items() if name != "_nrt"}, forceinline=False
)
"""Decorator for routines that use dense algebra, because calls of LAPACK allocate arrays."""

routine = numba.njit(**LEAF, forceinline=False)
"""Decorator for parts of a kernel that are called from several places and are too long to inline at each of them. It
sets ``forceinline`` explicitly, because Numba would otherwise apply the callers' inlining to these parts."""


_OMITTED_WRAPPERS = {"python": ("cfunc",), "value": ("cpython",), "either": (), "address": ("cpython", "cfunc")}
"""Numba's wrappers that are omitted, by how a kernel is called: ``python``: from Python; ``value``: as a value passed
to another kernel; ``either``: in both of these ways; ``address``: by the address of its code, and by kernels that it is
compiled into."""


def kernel(
    function: Callable | None = None,
    *,
    parallel: bool = False,
    allocates: bool = False,
    cached: bool = True,
    called: str = "python",
) -> Any:
    """Compile an entry point, cached on disk, with its callees compiled into it.

    ``parallel`` shares its ``prange`` loops among threads; ``allocates`` lets it call dense algebra. A kernel that
    contains a user's code, or that is not ``cached``, is compiled in every process: values that the user's code reads
    from elsewhere are compiled into the kernel, and a cached kernel would not notice that they changed. ``called`` (see
    ``_OMITTED_WRAPPERS``) selects the wrappers that are compiled. Unpacking a table of a hundred arrays from Python
    takes longer than many kernels run.
    """

    def wrap(function: Callable) -> Any:
        previous = numba.config.CACHE_LOCATOR_CLASSES
        numba.config.CACHE_LOCATOR_CLASSES = f"{PackageLocator.__module__}.{PackageLocator.__name__}"
        try:
            # Without reference counts on every array, a kernel is a quarter faster. Most kernels do not allocate, so
            # they need no reference counts; kernels with threads need them.
            options = {"parallel": True} if parallel else {} if allocates else {"_nrt": False}
            options |= {f"no_{one}_wrapper": True for one in _OMITTED_WRAPPERS[called]}
            return numba.njit(fastmath=FASTMATH, error_model="numpy", cache=cached and ours(function), **options)(
                function
            )
        finally:
            numba.config.CACHE_LOCATOR_CLASSES = previous

    return wrap if function is None else wrap(function)


def first_class(function: Callable) -> Any:
    """Compile a function that is passed to kernels as a value; it is cached on disk like a kernel. See
    :func:`ready`."""
    return kernel(function, allocates=True, called="either")


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Runs dense algebra on one thread, so that its last bits do not depend on the number of threads."""
    # Kernels use the LAPACK of SciPy, which loads its own BLAS.
    with _dense_algebra("scipy.linalg" in sys.modules).limit(limits=1, user_api="blas"):
        yield


@cache
def _dense_algebra(of_scipy: bool) -> Any:
    """The dense algebra libraries loaded in this process, without SciPy's or with them. The search for them takes a
    millisecond, longer than most single calls of a kernel."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def prepare(function: Any, signature: Any) -> Any:
    """Compile a kernel for a signature, or load it from the cache. Afterwards calls from Python use only compiled
    signatures.

    Without this restriction, a call that passes jitted functions would be compiled again for exactly these functions,
    without the cache.

    Raises
    ------
    ArticulonError
        With the name of the cache folder, if the disk is full.
    """
    if _later.waits:
        _later.wanted.append((function, signature))
    else:
        prepare_all([(function, signature)])
    return function


class _Later(threading.local):
    """Kernels that a thread has requested and that are compiled later."""

    def __init__(self) -> None:
        self.waits = False
        self.wanted: list[tuple[Any, Any]] = []
        """Requested kernels, each with its signature."""
        self.then: list[Callable[[], None]] = []
        """Actions to run when the kernels are ready."""


_later = _Later()


def is_awaited(function: Any = None) -> bool:
    """Whether this thread has requested this kernel, or any kernel if None, for a later compilation."""
    return _later.waits and (function is None or any(one is function for one, _ in _later.wanted))


def when_ready(action: Callable[[], None]) -> None:
    """Runs an action when the kernels that this thread has requested are ready."""
    if _later.waits:
        _later.then.append(action)
    else:
        action()


@contextmanager
def preparing_together() -> Iterator[None]:
    """Collects the kernels, including passes, that this thread requests in the context, and compiles them together on
    all cores when the context ends. Until then they must not be called. Requests that an error leaves behind are
    compiled the next time. A nested context waits for the outer one."""
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
    """Compiles the kernels that this thread has requested together and then runs the waiting actions, unless requests
    are still being collected. Requests and actions that an error leaves behind are finished before the next use."""
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
    """Compiles the kernels that this thread requests in the context immediately, although other requests wait. It is
    for kernels that must run before it is known which other kernels are needed."""
    outer = _later.waits, _later.wanted, _later.then
    _later.waits, _later.wanted, _later.then = False, [], []
    try:
        yield
    finally:
        _later.waits, _later.wanted, _later.then = outer


def ready(function: Any, signature: Any) -> Any:
    """A function for kernels to take as a value, compiled or loaded from the cache; a user's function is compiled in
    this process. Both may still be called from Python with arguments of other types."""
    check_value(function)
    if _is_kept(function):
        prepare_all([(function, signature)])
        function.disable_compile(False)
    else:
        function.compile(signature)
    return function


def check_value(function: Any) -> None:
    """Raises TypeError for a kernel that cannot be handed to others, because its address would be null."""
    if function.targetoptions.get("no_cfunc_wrapper"):
        raise TypeError(f"{function.__name__} is compiled only for calls from Python, not for use as a value")


def prepare_for(function: Any, arguments: Iterable[Any]) -> Any:
    """Prepares a kernel for the types of the arguments. Returns a callable for arguments of exactly these types. The
    callable does not check them, because looking up the types of a hundred arrays takes as long as many steps of a
    small model."""
    signature = tuple(numba.typeof(one) for one in arguments)
    return _Chosen(prepare(function, signature), signature)


class _Chosen:
    """A kernel compiled for one signature."""

    def __init__(self, function: Any, signature: Any) -> None:
        self.function, self.signature = function, signature
        self.entry: Any = None

    def __call__(self, *arguments: Any) -> Any:
        if self.entry is None:
            self.entry = self.function.overloads[self.signature].entry_point
        return self.entry(*arguments)


def prepare_all(wanted: Iterable[tuple[Any, Any]]) -> None:
    """Prepares several kernels, each with its signature; missing ones are compiled on all cores.

    Raises
    ------
    ArticulonError
        As in :func:`prepare`.
    """
    wanted = {(id(one[0]), one[1]): one for one in wanted}
    missing = [(one, _mark(*one)) for key, one in wanted.items() if key not in _READY]
    try:
        fresh = [one for one, mark in missing if not mark.exists() and _is_kept(one[0])]
        if fresh:
            # Kernels with the most arguments take the longest to compile. If such a kernel started last, it would run
            # alone on one core at the end.
            fresh.sort(key=lambda one: len(str(one[1])), reverse=True)
            kept = cache_root().absolute() == cache_folder().parent
            often = "once per machine" if kept else "for this process alone"
            seconds = max(1, round(SECONDS * len(fresh) / _cores()))
            # Later kernels are not known yet, so a run announces only its first batch.
            what = _counted(len(fresh), "kernel")
            announce(f"{BATCH} {what}, {often}: about {seconds} s, up to three minutes in all")
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
    """Called in the child of a fork. It has none of its parent's threads and must not use them."""
    _forked[0] = _start_threads.cache_info().currsize > 0


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_threads)


def threads_to_share() -> int:
    """Number of threads that may share work. It is one in a forked child of a process that has started threads, because
    OpenMP would end the child."""
    return 1 if _forked[0] else int(numba.get_num_threads())


@cache
def _start_threads() -> None:
    """Starts the threads among which kernels share work, in 3 ms. Numba starts them when it compiles or loads a
    parallel kernel, but not when it loads a kernel that contains a parallel kernel. Loading the latter without threads
    would end the process."""
    numba.get_num_threads()


def _load(function: Any, signature: Any, mark: Path) -> None:
    """Loads a kernel from the cache; compiles it again if the cached file is damaged."""
    function.disable_compile(False)
    try:
        function.compile(signature)
    except OSError:
        raise
    except Exception as failure:  # any error that reading a damaged file may raise
        if not mark.exists():
            raise
        what, where = function.__name__, cache_folder()
        announce(f"{where}: the cached code of {what} is damaged ({failure}); compiling it again")
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
    """Whether compiled code of a kernel goes to the cache."""
    return not isinstance(getattr(function, "_cache", None), NullCache)


_READY: dict[tuple[int, Any], Any] = {}
"""Loaded kernels of this process, by function and signature. The functions are kept alive, so that their ids stay
unique."""


def _mark(function: Any, signature: Any) -> Path:
    """The file that marks a kernel as compiled."""
    source = function.py_func
    key = f"{source.__module__}.{source.__qualname__}{signature}"
    folder = cache_folder() / sources_of(files_of(source)) / "compiled"
    return folder / hashlib.sha256(key.encode()).hexdigest()[:32]


def randomise_function_numbers() -> None:
    """Makes Numba number the functions that this process compiles from a random start, different in every process.

    Numba names a function by its own name and its number, and the body of a parallel loop by its address and that
    number. Child processes of one parent would all count from the same number and find memory at the same addresses, so
    that two of their kernels could get the same names. A process that loaded both kernels would run the loops of the
    first kernel for both.
    """
    FunctionIdentity._unique_ids = itertools.count(1 + secrets.randbits(60))


randomise_function_numbers()


SECONDS = 0.8
"""Mean time to compile a kernel [s]: the 22 kernels of a docking take 17 s on one core."""
POLL = 0.005
"""Interval at which compiling processes are polled [s]."""
PROGRESS_INTERVAL = 15.0
"""Time between progress messages of a long compilation [s]."""
INTERRUPTIONS = (signal.SIGINT, signal.SIGTERM)
"""Signals that end a compilation immediately."""


def _compile_aside(wanted: Sequence[tuple[Any, Any]]) -> None:
    """Compiles kernels in separate processes, so that this process loads the same code from the cache as all later
    processes.

    A process that compiles a kernel has two copies of each function that the kernel calls: one compiled alone and one
    compiled into the kernel. It runs the first copy. A process that loads the kernel has only the second copy, which
    may round differently.

    Raises KeyboardInterrupt immediately if any of the compiling processes is interrupted. Kernels that are already
    compiled are kept, because a file of the cache is complete or absent.
    """
    if not hasattr(os, "fork"):  # on Windows the very first run may then differ in its last bits
        return
    left, children, again = list(wanted), set[int](), False
    began, last_message = time.monotonic(), 0.0
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
            spent = time.monotonic() - began
            if children and spent - last_message >= PROGRESS_INTERVAL:
                finished, last_message = len(wanted) - len(left) - len(children), spent
                announce(f"compiled {finished} of {_counted(len(wanted), 'kernel')} after {spent:.0f} s")
            time.sleep(POLL)
    except BaseException:
        for child in children:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
        raise
    if again:
        announce(
            "kernels are compiled again, in this process: the last bits of this run may differ from those of later ones"
        )


def _compiling(function: Any, signature: Any) -> int:
    """Starts a process that compiles a kernel, and returns its process id."""
    child = os.fork()
    if child == 0:
        failed = 1
        try:
            for number in INTERRUPTIONS:  # this process has nothing to save when a signal ends it
                signal.signal(number, signal.SIG_DFL)
            randomise_function_numbers()
            gc.disable()  # the memory is freed when the process ends
            mark = _mark(function, signature)
            mark.parent.mkdir(parents=True, exist_ok=True)
            with mark.with_suffix(".lock").open("w") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)  # another process may be compiling it already
                if not mark.exists():
                    function.disable_compile(False)
                    function.compile(signature)
                    mark.touch()
            failed = 0
        finally:
            os._exit(failed)  # do not close or write the parent's files a second time
    return child
