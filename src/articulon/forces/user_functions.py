"""Functions that a user writes, found by name and made callable by kernels, jitted or in plain Python."""

import ctypes
import importlib
import importlib.util
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numba
import numpy as np

from articulon.errors import ModelError


def loaded_function(function: str, where: str) -> Callable[..., None]:
    """A function of the user's, from where it is: ``"module:name"`` or ``"path/to/file.py:name"``.

    Raises
    ------
    ModelError
        Naming the key ``function`` of ``where``, for what cannot be loaded or is no function.
    """
    place, colon, name = function.rpartition(":")
    if not colon or not place or not name:
        raise ModelError(f"{where}.function: write 'module:name' or 'file.py:name', not '{function}'")
    try:
        if place.endswith(".py"):
            spec = importlib.util.spec_from_file_location(Path(place).stem, place)
            if spec is None or spec.loader is None:
                raise ImportError(f"no such file {place}")
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
        else:
            module = importlib.import_module(place)
        found = getattr(module, name)
    except Exception as error:  # the user's file may raise anything at all
        raise ModelError(f"{where}.function: cannot load '{function}': {type(error).__name__}: {error}") from error
    if not callable(found) or isinstance(found, type):
        raise ModelError(f"{where}.function: '{function}' is not a function but {found!r}")
    return found


class Withheld:
    """Stands for a function that a case names and that nobody has allowed to run: a model can be looked at with it, and
    whatever would evaluate it is refused.

    Parameters
    ----------
    function
        Where the function is, as the case names it.
    """

    def __init__(self, function: str) -> None:
        self.function = function

    def __repr__(self) -> str:
        return f"Withheld({self.function!r})"

    def __call__(self, *arguments: object) -> None:
        """Raises ModelError."""
        raise self.error("function")

    def error(self, where: str) -> ModelError:
        """What to raise where the function would be run."""
        return ModelError(f"{where}: '{self.function}' is code that the case names, and it was not run. {CONSENT}")


CONSENT = (
    "If you trust the case and this code, allow it: --allow-code on the command line, allow_code=True of load_case, "
    "run or open_run in Python"
)
"""How to allow the code that a case names."""


class UserFunctions:
    """Users' functions in the form that kernels call, and what went wrong in a plain Python one.

    Parameters
    ----------
    kind
        Of the forces whose functions they are, for messages.
    others
        Whose errors are this one's too.
    """

    def __init__(self, kind: str = "user", others: Iterable["UserFunctions"] = ()) -> None:
        self.kind, self.others = kind, tuple(others)
        self.own: BaseException | None = None
        self._kept: list[Any] = []

    @property
    def failed(self) -> "UserFunctions | None":
        """This one or the first of the others in which something went wrong."""
        return self if self.own is not None else next((other for other in self.others if other.own is not None), None)

    @property
    def error(self) -> BaseException | None:
        """What went wrong."""
        return None if self.failed is None else self.failed.own

    def compiled(
        self,
        function: Callable[..., None],
        signature: Any,
        arguments: str,
        bridge: Callable[[Callable[..., None]], tuple[Any, Any]],
        where: str,
    ) -> Any:
        """The function compiled for a signature.

        Parameters
        ----------
        function
            The user's: the time, then arrays, of which it writes the last.
        signature
            Numba's.
        arguments
            Their names, for the message.
        bridge
            Makes of a Python function a jitted one that calls it, and what must be kept alive for it.
        where
            What it is called in messages.

        Raises
        ------
        ModelError
            Where Numba cannot compile it, or a case names it and nobody has allowed it.
        """
        if isinstance(function, Withheld):
            raise function.error(where)
        dispatcher = function
        if not isinstance(function, numba.core.registry.CPUDispatcher):
            dispatcher, kept = bridge(self._guarded(function, where))
            self._kept.append(kept)
        try:
            dispatcher.compile(signature)  # type: ignore[attr-defined]
        except numba.core.errors.NumbaError as error:
            raise ModelError(f"{where}: cannot be compiled for ({arguments}): {error}") from None
        return dispatcher

    def _guarded(self, function: Callable[..., None], where: str) -> Callable[..., None]:
        def call(time: float, *arrays: np.ndarray) -> None:
            try:
                function(time, *arrays)
            except BaseException as error:
                error.add_note(f"in {where}, {function.__name__}() at time {time:.9g}")
                # An exception cannot cross the compiled code: the run sees NaN, stops, and raises this one.
                self.own = error
                arrays[-1][:] = np.nan

        return call


def view(address: int, *shape: int) -> np.ndarray:
    """The array of doubles at an address."""
    size = int(np.prod(shape))
    if not size:
        return np.zeros(shape)
    return np.ctypeslib.as_array((ctypes.c_double * size).from_address(address)).reshape(shape)


def callback(function: Callable[..., None], integers: int) -> Any:
    """A C function of the time and a number of addresses and sizes."""
    return ctypes.CFUNCTYPE(None, ctypes.c_double, *([ctypes.c_int64] * integers))(function)
