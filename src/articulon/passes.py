"""Passes: compiled functions that are bound to the arrays that they read and write.

A pass is a leaf of kernels such as ``place(forest, q, ws)``. It is compiled by itself for the types of its arguments,
once on a machine, whoever runs it. Bound to arguments it has two addresses: that of its code, and that of its
*context*, the arguments as compiled code has them in memory. A kernel runs a program, a list of such pairs, without
knowing anything of the arguments: what a run does not use is not in its programs, and a kernel that drives them is
compiled once for all models.

    bound = PLACE.bind(forest, q, ws)
    program = Program([bound, ...])
    run(program.code)                       # in a kernel; ``program()`` in Python

Arrays are bound as they are: who replaces one, because it has become too small, binds anew (``Bound.rebind``).
"""

import struct
from collections.abc import Callable, Iterable
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core.dispatcher import Dispatcher
from numba.core.types import WrapperAddressProtocol
from numba.extending import intrinsic

from articulon.kernels import copied, jit, kernel, ours, prepare_all


@intrinsic
def _arguments(typingctx: Any, context: Any) -> Any:
    """The arguments that lie at an address, as a tuple."""

    def generate(target: Any, builder: Any, signature: Any, values: Any) -> Any:
        return target.data_model_manager[signature.return_type].load_from_data_pointer(builder, values[0])

    return context.dtype(context), generate


@intrinsic
def _call(typingctx: Any, function: Any, context: Any) -> Any:
    """Calls what has been compiled at an address; what it raises goes on from here."""

    def generate(target: Any, builder: Any, signature: Any, values: Any) -> Any:
        convention, taken = target.call_conv, (types.int64,)
        kind = convention.get_function_type(types.none, taken)
        pointer = builder.inttoptr(values[0], ir.PointerType(kind))
        status, _ = convention.call_function(builder, pointer, types.none, taken, [values[1]])
        with builder.if_then(status.is_error, likely=False):
            convention.return_status_propagate(builder, status)
        return target.get_dummy_value()

    return types.void(types.int64, types.int64), generate


@jit
def run(code):
    """Runs a program, ``Program.code``, from a kernel."""
    for k in range(code.shape[0]):
        _call(code[k, 0], code[k, 1])


@kernel
def _run(code):
    run(code)


LEAF: Any = None
"""Stands for the leaf of a pass."""


def _entry(context):
    LEAF(*_arguments(context))


class Function(WrapperAddressProtocol):
    """A compiled function as an argument of a pass.

    Parameters
    ----------
    function
        What ``numba`` has compiled.
    signature
        The signature that it is called with.
    """

    def __init__(self, function: Any, signature: Any) -> None:
        self.function, self._signature = function, signature
        if isinstance(function, Dispatcher):
            result = function.get_compile_result(signature)
            library, names = result.library, result.fndesc
            self._address = int(library.get_pointer_to_function(names.llvm_cfunc_wrapper_name))
            self.native = int(library.get_pointer_to_function(names.llvm_func_name))
        else:  # one that is known by its address
            self._address, self.native = int(function.__wrapper_address__()), 0

    def __wrapper_address__(self) -> int:
        return self._address

    def signature(self) -> Any:
        """What Numba asks for."""
        return self._signature


class Pass:
    """A pass that is not bound to anything.

    Parameters
    ----------
    leaf
        The leaf of kernels that does it (``kernels.jit``, or ``by_forest``).
    allocates
        Whether it calls dense algebra, or threads.
    """

    def __init__(self, leaf: Any, *, allocates: bool = False) -> None:
        self.leaf, self.allocates = leaf, allocates
        self._function: Any = None
        self._addresses: dict[Any, int] = {}

    @property
    def function(self) -> Any:
        """The dispatcher of what runs the leaf on a context."""
        if self._function is None:
            name = f"{self.leaf.__module__.rpartition('.')[2]}_{self.leaf.__name__}"
            entry = copied(_entry, name, LEAF=self.leaf)
            self._function = kernel(entry, allocates=self.allocates, cached=ours(self.leaf), entry=True)
        return self._function

    def bind(self, *arguments: Any) -> "Bound":
        """Binds the pass to arguments: arrays, numbers that never change, functions, and named tuples of all these."""
        return Bound(self, arguments)

    def address(self, signature: Any) -> int:
        """Address of what has been compiled for a signature."""
        if signature not in self._addresses:
            result = self.function.get_compile_result(signature)
            self._addresses[signature] = int(result.library.get_pointer_to_function(result.fndesc.llvm_func_name))
        return self._addresses[signature]


class Bound:
    """A pass and its arguments."""

    def __init__(self, which: Pass, arguments: tuple[Any, ...]) -> None:
        self.which, self.arguments = which, arguments
        self.signature = types.void(types.CPointer(_type_of(arguments)))
        self.context = np.array(_words(arguments), dtype=np.int64)

    def rebind(self, *arguments: Any) -> None:
        """Binds the pass to other arguments of the same types, in every program that holds it."""
        self.context[:] = _words(arguments)
        self.arguments = arguments


class Program:
    """Passes in the order in which they run.

    Parameters
    ----------
    passes
        The passes; what of them no run on this machine has needed before is compiled when ``code`` is first read.
    """

    def __init__(self, passes: Iterable[Bound] = ()) -> None:
        self.passes = tuple(passes)
        self._code: np.ndarray | None = None

    @property
    def code(self) -> np.ndarray:
        """Addresses of functions and contexts, shape (passes, 2)."""
        if self._code is None:
            compile_passes(self.passes)
            rows = [(one.which.address(one.signature), one.context.ctypes.data) for one in self.passes]
            self._code = np.array(rows, dtype=np.int64).reshape(-1, 2)
        return self._code

    def __call__(self) -> None:
        """Runs the passes."""
        _run(self.code)


def compile_passes(passes: Iterable[Bound]) -> None:
    """Compiles what is not in the cache, on all cores, and loads the rest."""
    wanted = {(id(one.which), one.signature): (one.which.function, one.signature) for one in passes}
    prepare_all(wanted.values())


_TYPES: dict[tuple[Any, ...], Any] = {}


def _type_of(value: Any) -> Any:
    """Numba's type of an argument. ``numba.typeof`` of a tuple of a hundred arrays takes as long as many steps."""
    if isinstance(value, np.ndarray):
        key = (value.dtype, value.ndim, value.flags.c_contiguous, value.flags.writeable)
        if key not in _TYPES:
            _TYPES[key] = numba.typeof(value)
        return _TYPES[key]
    if isinstance(value, tuple):
        parts = tuple(_type_of(one) for one in value)
        key = (type(value), *parts)
        if key not in _TYPES:
            named = hasattr(value, "_fields")
            _TYPES[key] = types.BaseTuple.from_types(parts, type(value) if named else None)
        return _TYPES[key]
    if isinstance(value, Function):
        return types.FunctionType(value.signature())
    if isinstance(value, bool | np.bool_):
        raise TypeError("a pass takes no truth values: a program has a pass, or it has not")
    return numba.typeof(value)


def _words(value: Any) -> list[int]:
    """An argument as compiled code has it in memory, in words of eight bytes."""
    found: list[int] = []
    _add_words(value, found)
    return found


def _add_words(value: Any, found: list[int]) -> None:
    if isinstance(value, np.ndarray):
        found += (0, 0, value.size, value.itemsize, value.ctypes.data, *value.shape, *value.strides)
    elif isinstance(value, tuple):
        for one in value:
            _add_words(one, found)
    elif value is None:
        found.append(0)
    elif isinstance(value, float):
        found.append(struct.unpack("=q", struct.pack("=d", value))[0])
    elif isinstance(value, int):
        found.append(value)
    elif isinstance(value, Function):
        found += (value.__wrapper_address__(), 0, value.native)
    else:
        raise TypeError(f"a pass takes no {type(value).__name__}")


def functions(found: tuple[Any, ...], signature: Any) -> tuple[Function, ...]:
    """Compiled functions as arguments of passes."""
    return tuple(Function(one, signature) for one in found)


def pass_of(leaf: Callable[..., None]) -> Pass:
    """A decorator: the pass that a function of arrays is."""
    return Pass(jit(leaf))


def pass_that_allocates(leaf: Callable[..., None]) -> Pass:
    """The same for one that calls dense algebra, which LAPACK gives arrays of its own, or threads."""
    from articulon.kernels import routine_that_allocates

    return Pass(routine_that_allocates(leaf), allocates=True)
