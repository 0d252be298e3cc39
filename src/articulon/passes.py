"""Passes: compiled functions that are bound to the arrays that they read and write.

A pass is a leaf of kernels such as ``place(forest, q, ws)``. It is compiled separately for the types of its arguments,
once per machine, for all processes. When it is bound to arguments, it has two addresses: the address of its code, and
the address of its *context*, which contains the arguments in the memory layout of compiled code. A kernel runs a
program, which is a list of such pairs, and does not need to know the arguments. The programs of a run therefore contain
only what the run uses, and a kernel that runs programs is compiled once for all models.

    bound = PLACE.bind(forest, q, ws)
    program = Program([bound, ...])
    run(program.code)                       # in a kernel; ``program()`` in Python

A binding stores the addresses of arrays. Code that replaces an array, for example by a larger one, must bind the pass
again (``Bound.rebind``).

A pass may also be bound to programs, and run them: ``sweep(tree, nodes.code)`` in a pass bound to ``(tree, nodes)``. A
pass made by ``pass_at`` does one of many similar things; ``run_at`` selects it by a number.
"""

import ctypes
import struct
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property, partial
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core.dispatcher import Dispatcher
from numba.core.types import WrapperAddressProtocol
from numba.extending import intrinsic

from articulon.kernel_variants import copied
from articulon.kernels import (
    check_value,
    finish_preparing,
    is_awaited,
    jit,
    kernel,
    prepare,
    preparing_together,
    when_ready,
)
from articulon.lanes import LaneArray


@intrinsic
def _arguments(typingctx: Any, context: Any) -> Any:
    """Loads the arguments at an address, as a tuple."""

    def generate(target: Any, builder: Any, signature: Any, values: Any) -> Any:
        return target.data_model_manager[signature.return_type].load_from_data_pointer(builder, values[0])

    return context.dtype(context), generate


@intrinsic
def _call(typingctx: Any, function: Any, context: Any) -> Any:
    """Calls compiled code at an address and propagates its errors."""

    def generate(target: Any, builder: Any, signature: Any, values: Any) -> Any:
        convention, taken = target.call_conv, (types.int64,)
        kind = convention.get_function_type(types.none, taken)
        pointer = builder.inttoptr(values[0], ir.PointerType(kind))
        status, _ = convention.call_function(builder, pointer, types.none, taken, [values[1]])
        with builder.if_then(status.is_error, likely=False):
            convention.return_status_propagate(builder, status)
        return target.get_dummy_value()

    return types.void(types.int64, types.int64), generate


@intrinsic
def _call_at(typingctx: Any, function: Any, number: Any, context: Any) -> Any:
    """Calls compiled code at an address with a number as an additional argument, and propagates its errors."""

    def generate(target: Any, builder: Any, signature: Any, values: Any) -> Any:
        convention, taken = target.call_conv, (types.int64, types.int64)
        kind = convention.get_function_type(types.none, taken)
        pointer = builder.inttoptr(values[0], ir.PointerType(kind))
        status, _ = convention.call_function(builder, pointer, types.none, taken, [values[1], values[2]])
        with builder.if_then(status.is_error, likely=False):
            convention.return_status_propagate(builder, status)
        return target.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64), generate


@jit
def run_at(code, which, number):
    """Runs the pass in row ``which`` of a program, with a number as its first argument."""
    _call_at(code[which, 0], number, code[which, 1])


@jit
def run(code):
    """Runs a program, ``Program.code``, from a kernel."""
    for k in range(code.shape[0]):
        _call(code[k, 0], code[k, 1])


@kernel
def run_from_python(code):
    """Runs a program from Python."""
    run(code)


LEAF: Any = None
"""Placeholder for the leaf of a pass."""


def _entry(context):
    LEAF(*_arguments(context))


def _entry_at(number, context):
    LEAF(number, *_arguments(context))


class Function(WrapperAddressProtocol):
    """A compiled function as an argument of a pass.

    Parameters
    ----------
    function
        The function as compiled by Numba.
    signature
        The signature with which it is called.
    """

    def __init__(self, function: Any, signature: Any) -> None:
        self.function, self._signature = function, signature
        self._address = self.native = 0
        if not isinstance(function, Dispatcher):  # a function that is known only by its address
            self._address = int(function.__wrapper_address__())
            return
        check_value(function)
        if is_awaited(function):
            when_ready(self._find)
        else:
            self._find()

    def _find(self) -> None:
        result = self.function.get_compile_result(self._signature)
        library, names = result.library, result.fndesc
        self._address = int(library.get_pointer_to_function(names.llvm_cfunc_wrapper_name))
        self.native = int(library.get_pointer_to_function(names.llvm_func_name))

    @cached_property
    def number(self) -> int:
        """Number of the function's type."""
        return _number(("function", self._signature), lambda: types.FunctionType(self._signature))

    def __wrapper_address__(self) -> int:
        return self._address

    def signature(self) -> Any:
        """Signature; called by Numba."""
        return self._signature


class Pass:
    """A pass that is not bound to arguments yet.

    Parameters
    ----------
    leaf
        The leaf that does the work (``kernels.jit``, or ``by_forest``).
    allocates
        Whether the leaf calls dense algebra or threads.
    numbered
        Whether the leaf does one of many things, selected by a number, which is its first argument.
    """

    def __init__(self, leaf: Any, *, allocates: bool = False, numbered: bool = False) -> None:
        self.leaf, self.allocates, self.numbered = leaf, allocates, numbered
        self._function: Any = None
        self.addresses: dict[int, int] = {}
        """Addresses of loaded code, by the number of the type of the arguments."""

    @property
    def function(self) -> Any:
        """Dispatcher of the entry point that runs the leaf on a context."""
        if self._function is None:
            module = self.leaf.__module__.removeprefix("articulon.").replace(".", "_")
            name = f"{module}_{self.leaf.__name__}"
            entry = copied(_entry_at if self.numbered else _entry, name, LEAF=self.leaf)
            self._function = kernel(entry, allocates=self.allocates, called="address")
        return self._function

    def bind(self, *arguments: Any) -> "Bound":
        """Binds the pass to arguments: arrays, numbers that never change, functions, and named tuples of these."""
        return Bound(self, arguments)

    def signature(self, kind: int) -> Any:
        """Signature of the entry point for arguments of the type with number ``kind``."""
        context = types.CPointer(_KINDS[kind])
        return types.void(types.int64, context) if self.numbered else types.void(context)

    def load(self, kind: int) -> None:
        """Stores the address of the code compiled for arguments of the type with number ``kind``."""
        result = self.function.get_compile_result(self.signature(kind))
        self.addresses[kind] = int(result.library.get_pointer_to_function(result.fndesc.llvm_func_name))


class Bound:
    """A pass and its arguments."""

    def __init__(self, which: Pass, arguments: tuple[Any, ...]) -> None:
        finish_preparing()  # complete requests left by an error, because function arguments may still need addresses
        self.which, self.arguments = which, arguments
        self.kind, words = _bound(arguments)
        self.context = np.frombuffer(bytearray(words), dtype=np.int64)
        self.programs = _programs(arguments)
        if is_awaited():
            when_ready(self._find_functions)

    def _find_functions(self) -> None:
        """Takes the addresses of functions that were not available before."""
        _TABLES.clear()
        self.context[:] = np.frombuffer(_bound(self.arguments)[1], dtype=np.int64)

    def rebind(self, *arguments: Any) -> None:
        """Binds the pass to other arguments of the same types, in every program that contains it.

        Raises
        ------
        TypeError
            For arguments of other types, because the compiled code would misread them.
        """
        kind, words = _bound(arguments)
        _TABLES.clear()
        if kind != self.kind:
            raise TypeError(f"{self.which.leaf.__name__}: bound to {_KINDS[self.kind]}, got {_KINDS[kind]}")
        self.context[:] = np.frombuffer(words, dtype=np.int64)
        self.arguments, self.programs = arguments, _programs(arguments)
        for program in self.programs:
            _ = program.code  # compile it here, because running this pass does not compile programs


def _programs(arguments: tuple[Any, ...]) -> "tuple[Program, ...]":
    return tuple(one for one in arguments if isinstance(one, Program))


class Program:
    """Passes in the order in which they run.

    Parameters
    ----------
    passes
        The passes. Passes that no run on this machine has used before are compiled when ``code`` is first read.
    """

    def __init__(self, passes: Iterable[Bound] = ()) -> None:
        self.passes = tuple(passes)
        self.addresses = np.zeros((len(self.passes), 2), dtype=np.int64)
        """The array that ``code`` returns; its numbers are valid once all passes are compiled."""
        self._ready = False

    @property
    def code(self) -> np.ndarray:
        """Addresses of functions and contexts, shape (passes, 2); they are zero until the kernels that the thread has
        requested together are compiled."""
        finish_preparing()
        if not self._ready:
            compile_passes(self.passes)
            when_ready(self._fill)
        return self.addresses

    def _fill(self) -> None:
        for k, one in enumerate(self.passes):
            self.addresses[k] = one.which.addresses[one.kind], one.context.ctypes.data
            for program in one.programs:
                program._fill()
        self._ready = True

    def __call__(self) -> None:
        """Runs the passes. Raises RuntimeError if they are still waiting to be compiled together with other kernels."""
        code = self.code
        if not self._ready:
            raise RuntimeError("a program is run before its passes are compiled")
        run_from_python(code)


def _every(passes: Iterable[Bound]) -> Iterator[Bound]:
    """The given passes, and the passes of the programs that they run."""
    for one in passes:
        yield one
        for program in one.programs:
            yield from _every(program.passes)


def compile_passes(passes: Iterable[Bound]) -> None:
    """Compiles the passes that are not in the cache, on all cores, and loads the others. This is done immediately, or,
    if the thread is collecting requests for kernels, together with these kernels."""
    wanted = {(id(one.which), one.kind): one for one in _every(passes) if one.kind not in one.which.addresses}
    _TABLES.clear()
    if not wanted:
        return
    with preparing_together():
        for one in wanted.values():
            prepare(one.which.function, one.which.signature(one.kind))
            when_ready(partial(one.which.load, one.kind))


_NUMBERS: dict[tuple[Any, ...], int] = {}
_KINDS: list[Any] = []
"""Numba's types by number. Comparing types is slow, because those of tables consist of a hundred others."""
_WORD, _NUMBERS_AT = ctypes.c_ssize_t, object.__basicsize__
"""Size of a word, and offset of an array's first field after the head that every Python object has. The field is the
address of the array's numbers (NumPy's PyArrayObject_fields). Reading the address from ``__array_interface__`` instead
would take most of the time in which a program is made."""
_LAYOUT_FLAGS = 0x403
"""Mask of NumPy's flags that distinguish types of arrays: row-contiguous, column-contiguous and writable."""
_TABLES: dict[int, tuple[Any, int, bytes]] = {}
"""Types and words of tuples, stored while programs are made, because most passes of a model share its tables."""
_WORDS = [struct.Struct(f"={count}q") for count in range(40)]
"""Objects that pack ``count`` words of eight bytes."""


def _number(key: tuple[Any, ...], make: Callable[[], Any]) -> int:
    """Number of a type with the given key; a type with a new key is made and gets the next number."""
    found = _NUMBERS.get(key)
    if found is None:
        _KINDS.append(make())
        found = _NUMBERS[key] = len(_KINDS) - 1
    return found


def _bound(arguments: tuple[Any, ...]) -> tuple[int, bytes]:
    """The number of the arguments' type, and the arguments in the memory layout of compiled code, as words of eight
    bytes."""
    numbers, words = zip(*map(_part, arguments), strict=True) if arguments else ((), ())
    form = type(arguments) if hasattr(arguments, "_fields") else None

    def make() -> Any:
        return types.BaseTuple.from_types(tuple(_KINDS[number] for number in numbers), form)

    return _number((form, *numbers), make), b"".join(words)


def _part(value: Any) -> tuple[int, bytes]:
    if isinstance(value, np.ndarray):
        shape = value.shape
        key = (value.dtype, len(shape), value.flags.num & _LAYOUT_FLAGS)
        number = _NUMBERS.get(key)
        if number is None:
            number = _number(key, lambda: numba.typeof(value))
        address = _WORD.from_address(id(value) + _NUMBERS_AT).value
        write = _WORDS[5 + 2 * len(shape)].pack
        return number, write(0, 0, value.size, value.itemsize, address, *shape, *value.strides)
    if isinstance(value, LaneArray):
        numbers, dimensions, width = value.numbers, value.numbers.ndim - 1, value.width
        number = _number(("lanes", dimensions, width), lambda: value.kind)
        shape, strides, size = numbers.shape[:-1], numbers.strides[:-1], numbers.size // width
        words = _WORDS[5 + 2 * dimensions].pack(0, 0, size, 8 * width, numbers.ctypes.data, *shape, *strides)
        return number, words
    if isinstance(value, tuple):
        known = _TABLES.get(id(value))
        if known is not None and known[0] is value:
            return known[1], known[2]
        number, words = _bound(value)
        _TABLES[id(value)] = value, number, words
        return number, words
    if value is None:
        return _number(("none",), lambda: types.none), _WORDS[1].pack(0)
    if isinstance(value, Program):
        return _part(value.addresses)
    if isinstance(value, Function):
        return value.number, _WORDS[3].pack(value.__wrapper_address__(), 0, value.native)
    if isinstance(value, bool | np.bool_):
        raise TypeError("a pass takes no booleans: instead of a flag, include the pass in the program or leave it out")
    if isinstance(value, float):
        return _number(("float",), lambda: types.float64), struct.pack("=d", value)
    if isinstance(value, int):
        return _number(("int",), lambda: types.int64), _WORDS[1].pack(value)
    raise TypeError(f"a pass takes no {type(value).__name__}")


def functions(found: tuple[Any, ...], signature: Any) -> tuple[Function, ...]:
    """Compiled functions, wrapped as arguments of passes."""
    return tuple(Function(one, signature) for one in found)


def pass_of(leaf: Callable[..., None]) -> Pass:
    """Decorator: makes a pass from a leaf function of arrays."""
    return Pass(jit(leaf))


def pass_at(leaf: Callable[..., None]) -> Pass:
    """Decorator: makes a pass that does one of many things; the first argument of the leaf is the number that selects
    it."""
    return Pass(jit(leaf), numbered=True)


def pass_that_allocates(leaf: Callable[..., None]) -> Pass:
    """Decorator: makes a pass that calls threads or dense algebra, because calls of LAPACK allocate arrays."""
    from articulon.kernels import routine_that_allocates

    return Pass(routine_that_allocates(leaf), allocates=True)
