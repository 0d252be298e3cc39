"""Functions written by a user: found by name and made callable from kernels, jitted or in plain Python."""

import ctypes
import hashlib
import importlib
import importlib.util
import sys
import weakref
from collections.abc import Callable, Iterable
from pathlib import Path
from types import ModuleType
from typing import Any

import numba
import numpy as np

from articulon.errors import ModelError
from articulon.inputs import clipped

CODE_KEYS = ("function", "adjoint_function", "tangent_function")
"""Keys of declarations that name functions, which are code."""


def loaded_function(function: str, where: str, key: str = "function") -> Callable[..., None]:
    """Return a user's function from its location: ``"module:name"`` or ``"path/to/file.py:name"``.

    Raises
    ------
    ModelError
        If the function cannot be loaded, or is no function; the message names the ``key`` of ``where``.
    """
    place, colon, name = function.rpartition(":")
    if not colon or not place or not name:
        raise ModelError(f"{where}.{key}: write 'module:name' or 'file.py:name', not '{function}'")
    try:
        if place.endswith(".py"):
            module = loaded_module(Path(place))
        else:
            module = importlib.import_module(place)
        found = getattr(module, name)
    except ModelError as error:
        raise ModelError(f"{where}.{key}: cannot load '{function}': the file {error}") from error.__cause__
    except Exception as error:  # the user's module may raise any exception
        raise ModelError(f"{where}.{key}: cannot load '{function}': {type(error).__name__}: {error}") from error
    if not callable(found) or isinstance(found, type):
        raise ModelError(f"{where}.{key}: '{function}' is not a function but {found!r}")
    return found


def loaded_module(file: Path) -> ModuleType:
    """Run a Python file as a module that is named after its content. Numba stores the user's cached functions under
    that name, so that another process finds them whatever modules it has loaded before.

    Raises
    ------
    ModelError
        If the file cannot be run; the caller puts the name of the file before the message.
    """
    try:
        name = f"articulon_file_{hashlib.sha256(file.read_bytes()).hexdigest()[:16]}"
    except OSError as error:
        raise ModelError(f"cannot be read: {error.strerror}") from error
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise ModelError("is not a Python file; its name must end in .py")
    module = importlib.util.module_from_spec(spec)
    # pydantic and Numba look a module up by its name.
    before = sys.modules.get(name)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:  # the user's file may raise any exception
        del sys.modules[name]
        if before is not None:
            sys.modules[name] = before
        raise ModelError(f"cannot be run: {type(error).__name__}: {clipped(error)}") from error
    return module


class Withheld:
    """Placeholder for a function that a case names but that nobody has allowed to run. The model can be inspected, but
    anything that would evaluate the function is rejected.

    Parameters
    ----------
    function
        Location of the function, as named in the case.
    """

    def __init__(self, function: str) -> None:
        self.function = function

    def __repr__(self) -> str:
        return f"Withheld({self.function!r})"

    def __call__(self, *arguments: object) -> None:
        """Raises ModelError, because nobody has allowed the function."""
        raise self.error("function")

    def error(self, where: str) -> ModelError:
        """Return the error to raise if the function would be run."""
        return ModelError(f"{where}: '{self.function}' is code that the case names, and it was not run. {CONSENT}")


CONSENT = "If you trust the case and this code, allow it by allow_code=True of load_case, run or open_run"
"""Instruction for allowing the code that a case names."""


class Bridge:
    """A jitted function that calls the plain Python function that it currently holds.

    Compiled code is never freed: each bridge costs a megabyte. So a bridge that is no longer used serves the next
    function.
    """

    def __init__(self, kind: "BridgeKind") -> None:
        self.function: Callable[..., None] = _none
        self.dispatcher, self._kept = kind(self._call)

    def _call(self, time: float, *arrays: np.ndarray) -> None:
        self.function(time, *arrays)


BridgeKind = Callable[[Callable[..., None]], tuple[Any, Any]]
"""A function that makes a jitted function that calls a Python function, and returns it with the objects that it
needs."""

_FREE: dict[BridgeKind, list[Bridge]] = {}
"""Unused bridges."""


def _none(*arguments: Any) -> None:
    """Function that an unused bridge calls."""


def _taken(kind: BridgeKind) -> Bridge:
    """Return an unused bridge of a kind."""
    # There is no lock: the garbage collector may return a bridge at any time, even within this function.
    try:
        return _FREE.setdefault(kind, []).pop()
    except IndexError:
        return Bridge(kind)


def _given_back(kind: BridgeKind, bridge: Bridge) -> None:
    bridge.function = _none
    _FREE[kind].append(bridge)


class Failure:
    """Errors in a user's functions."""

    error: BaseException | None = None
    """Latest error."""


class UserFunctions:
    """Users' functions in the form that kernels call, and the errors of plain Python ones.

    The functions can be called as long as this object exists.

    Parameters
    ----------
    kind
        Kind of the forces whose functions they are, for messages.
    others
        Further objects whose errors count as errors of this one.
    """

    def __init__(self, kind: str = "user", others: Iterable["UserFunctions"] = ()) -> None:
        self.kind, self.others = kind, tuple(others)
        self._failure, self._compiled = Failure(), False

    @property
    def own(self) -> BaseException | None:
        """Latest error in one of its own functions."""
        return self._failure.error

    def forget(self) -> None:
        """Clear the errors."""
        for users in (self, *self.others):
            users._failure.error = None

    @property
    def failed(self) -> "UserFunctions | None":
        """Return this object or the first of the others with an error."""
        return self if self.own is not None else next((other for other in self.others if other.own is not None), None)

    @property
    def error(self) -> BaseException | None:
        """Latest error."""
        return None if self.failed is None else self.failed.own

    @property
    def present(self) -> bool:
        """Whether there are users' functions here or in the others."""
        return self._compiled or any(other.present for other in self.others)

    def compiled(
        self,
        function: Callable[..., None],
        signature: Any,
        arguments: str,
        kind: BridgeKind,
        where: str,
        writes: int = 1,
    ) -> Any:
        """Compile a function for a signature.

        Parameters
        ----------
        function
            The user's function of the time and arrays, of which it writes the last ones.
        signature
            Numba signature.
        arguments
            Names of the arguments, for the message.
        kind
            Kind of bridge to a Python function.
        where
            Name of the function in messages.
        writes
            Number of arrays that it writes.

        Raises
        ------
        ModelError
            If Numba cannot compile the function, or if a case names a function that nobody has allowed.
        """
        if isinstance(function, Withheld):
            raise function.error(where)
        dispatcher = function
        if not isinstance(function, numba.core.registry.CPUDispatcher):
            bridge = _taken(kind)
            bridge.function = _guarded(function, where, self._failure, writes)
            # The callback must not refer to this object, because it would then keep the object alive.
            weakref.finalize(self, _given_back, kind, bridge).atexit = False
            dispatcher = bridge.dispatcher
            # An earlier user may have disabled compilation, which also disables existing signatures.
            dispatcher.disable_compile(False)
        try:
            dispatcher.compile(signature)  # type: ignore[attr-defined]
        except (numba.core.errors.NumbaError, TypeError) as error:  # wrong number of arguments
            raise ModelError(f"{where}: cannot be compiled for ({arguments}): {error}") from None
        self._compiled = True
        return dispatcher


def _guarded(function: Callable[..., None], where: str, failure: Failure, writes: int) -> Callable[..., None]:
    """Wrap a user's function so that it gets copies of the arrays: it may keep them, and only the last ones are written
    back.

    An exception cannot cross compiled code: the run sees NaN, stops, and raises it.
    """
    name = getattr(function, "__name__", repr(function))

    def call(time: float, *arrays: np.ndarray) -> None:
        given, written = arrays[:-writes], arrays[-writes:]
        results = [array.copy() for array in written]
        try:
            function(time, *(array.copy() for array in given), *results)
            for array, result in zip(written, results, strict=True):
                array[:] = result
        except BaseException as error:
            error.add_note(f"in {where}, {name}() at time {time:.9g}")
            failure.error = error
            for array in written:
                array[:] = np.nan

    return call


def view(address: int, *shape: int) -> np.ndarray:
    """Return the array of doubles at an address."""
    size = int(np.prod(shape))
    if not size:
        return np.zeros(shape)
    return np.ctypeslib.as_array((ctypes.c_double * size).from_address(address)).reshape(shape)


def callback(function: Callable[..., None], integers: int) -> Any:
    """Return a C function of the time and a number of addresses and sizes."""
    return ctypes.CFUNCTYPE(None, ctypes.c_double, *([ctypes.c_int64] * integers))(function)
