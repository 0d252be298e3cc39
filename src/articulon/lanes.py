"""Numbers of several states side by side, in the lanes of a vector register.

A leaf is written for the numbers of one state. Compiled for *lanes*, it does the same for as many states as a register
holds: every sum, product and root is one instruction for all states. Quantities that are the same for all states, such
as masses and the order of the links, stay single numbers. The result for a state does not depend on the other lanes.

    q = LaneArray.zeros((model.nq,))        # coordinates of WIDTH states
    q.numbers[:, lane] = ...                # coordinates of one state, as plain numbers
    place_links.bind(forest, q, ws)         # a pass, compiled for lanes

A leaf for lanes must not branch on their numbers; it uses :func:`choose` instead.
"""

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from llvmlite.binding import get_host_cpu_features
from numba import types
from numba.core import cgutils
from numba.core.typeconv import Conversion
from numba.core.typing.templates import AbstractTemplate, infer_global
from numba.core.typing.templates import signature as signature_of
from numba.extending import intrinsic, lower_builtin, lower_cast, models, overload, register_model

from articulon.kernels import LEAF


def _width() -> int:
    """Number of states that fill the widest registers of this processor; two registers of half the width count as
    one."""
    features = get_host_cpu_features()
    return 8 if features.get("avx512f") else 4


WIDTH = _width()
"""Number of states side by side."""


class Lanes(types.Type):
    """Numba's type for the numbers of several states."""

    def __init__(self, width: int) -> None:
        self.width = width
        super().__init__(name=f"lanes{width}")

    @property
    def key(self) -> int:
        """Key that distinguishes the type from others."""
        return self.width

    def unify(self, _: Any, other: Any) -> Any:
        """Unifies a single number with lanes: the number is copied to all lanes."""
        return self if isinstance(other, types.Float | types.Integer) or other == self else None

    def can_convert_from(self, _: Any, other: Any) -> Any:
        """Allows the conversion of a single number to lanes: the number is copied to all lanes."""
        return Conversion.safe if isinstance(other, types.Float | types.Integer) else None


class Choices(types.Type):
    """Numba's type for the result of comparing lanes: a boolean for each lane."""

    def __init__(self, width: int) -> None:
        self.width = width
        super().__init__(name=f"choices{width}")

    @property
    def key(self) -> int:
        """Key that distinguishes the type from others."""
        return self.width


def vector_type(number: Any, width: int) -> Any:
    """LLVM's type for a register of ``width`` numbers."""
    return ir.VectorType(number, width)


@register_model(Lanes)
class _LanesModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Lanes) -> None:
        super().__init__(manager, kind, vector_type(ir.DoubleType(), kind.width))


@register_model(Choices)
class _ChoicesModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Choices) -> None:
        super().__init__(manager, kind, vector_type(ir.IntType(1), kind.width))


def splat(builder: Any, number: Any, width: int) -> Any:
    """A register with a number in all of its lanes."""
    kind = vector_type(number.type, width)
    first = builder.insert_element(ir.Constant(kind, ir.Undefined), number, ir.IntType(32)(0))
    order = ir.Constant(vector_type(ir.IntType(32), width), [0] * width)
    return builder.shuffle_vector(first, ir.Constant(kind, ir.Undefined), order)


def _constant(value: float, width: int) -> Any:
    return ir.Constant(vector_type(ir.DoubleType(), width), [float(value)] * width)


@lower_cast(types.Float, Lanes)
@lower_cast(types.Integer, Lanes)
def _to_lanes(context: Any, builder: Any, given: Any, wanted: Any, value: Any) -> Any:
    return splat(builder, context.cast(builder, value, given, types.float64), wanted.width)


def _lanes_among(arguments: Any) -> Any:
    """The type of lanes that results from combining numbers of these types; None if none of them are lanes."""
    found = {one for one in arguments if isinstance(one, Lanes)}
    others = [one for one in arguments if not isinstance(one, Lanes | types.Float | types.Integer)]
    return found.pop() if len(found) == 1 and not others else None


def _register(symbols: tuple[Any, ...], count: int, generate: Callable[..., Any], result: Any = None) -> None:
    """Adds an operation on lanes to Numba: ``generate(builder, width, *values)`` builds its code for vectors."""

    def generic(self: Any, arguments: Any, keywords: Any) -> Any:
        lanes = None if keywords or len(arguments) != count else _lanes_among(arguments)
        if lanes is None:
            return None
        return signature_of(lanes if result is None else result(lanes.width), *([lanes] * count))

    def lower(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return generate(builder, signature.args[0].width, *values)

    for symbol in symbols:
        infer_global(symbol)(type(f"LanesOf{symbol.__name__}", (AbstractTemplate,), {"generic": generic}))
        lower_builtin(symbol, *([Lanes] * count))(lower)


_register((operator.add, operator.iadd), 2, lambda builder, _, a, b: builder.fadd(a, b))
_register((operator.sub, operator.isub), 2, lambda builder, _, a, b: builder.fsub(a, b))
_register((operator.mul, operator.imul), 2, lambda builder, _, a, b: builder.fmul(a, b))
_register((operator.truediv, operator.itruediv), 2, lambda builder, _, a, b: builder.fdiv(a, b))
_register((operator.neg,), 1, lambda builder, width, a: builder.fsub(_constant(-0.0, width), a))
_register((operator.pos,), 1, lambda builder, width, a: a)


def _comparing(symbol: Any, sign: str) -> None:
    _register((symbol,), 2, lambda builder, _, a, b: builder.fcmp_ordered(sign, a, b), Choices)


for _symbol, _sign in (
    (operator.lt, "<"),
    (operator.le, "<="),
    (operator.gt, ">"),
    (operator.ge, ">="),
    (operator.eq, "=="),
):
    _comparing(_symbol, _sign)


def _intrinsic_of(name: str) -> Callable[..., Any]:
    """A function that calls one of LLVM's operations on vectors of floats."""

    def generate(builder: Any, width: int, *values: Any) -> Any:
        kind = vector_type(ir.DoubleType(), width)
        function = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(kind, [kind] * len(values)), f"llvm.{name}.v{width}f64"
        )
        return builder.call(function, values)

    return generate


_register((math.sqrt, np.sqrt), 1, _intrinsic_of("sqrt"))
_register((abs, math.fabs), 1, _intrinsic_of("fabs"))
_register((math.floor,), 1, _intrinsic_of("floor"))


def nearest(x: Any) -> Any:
    """The integer nearest to each lane, as a float."""
    raise TypeError("nearest is a leaf of kernels")


def fused(a: Any, b: Any, c: Any) -> Any:
    """The sum a b + c; in lanes, it is rounded only once."""
    return a * b + c


_register((nearest,), 1, _intrinsic_of("rint"))
_register((fused,), 3, _intrinsic_of("fma"))


@overload(fused, jit_options={**LEAF, "forceinline": True})
def _fused(a, b, c):
    if any(isinstance(one, Lanes) for one in (a, b, c)):
        return None
    return lambda a, b, c: a * b + c


@intrinsic
def _choose_lanes(typingctx: Any, condition: Any, a: Any, b: Any) -> Any:
    lanes = Lanes(condition.width)

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return builder.select(*values)

    return lanes(condition, lanes, lanes), generate


@intrinsic
def _any_lane(typingctx: Any, condition: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        bits = builder.bitcast(values[0], ir.IntType(condition.width))
        return builder.icmp_unsigned("!=", bits, ir.Constant(bits.type, 0))

    return types.boolean(condition), generate


@intrinsic
def lane_of(typingctx: Any, x: Any, k: Any) -> Any:
    """The number in lane ``k``."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return builder.extract_element(*values)

    return types.float64(x, types.int32), generate


@intrinsic
def width_of(typingctx: Any, x: Any) -> Any:
    """Number of lanes."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return context.get_constant(types.int64, x.width)

    return types.int64(x), generate


@intrinsic
def with_lane(typingctx: Any, x: Any, k: Any, value: Any) -> Any:
    """The lanes with the number in lane ``k`` replaced by ``value``."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        lanes, at, number = values
        return builder.insert_element(lanes, number, at)

    return x(x, types.int32, types.float64), generate


def any_of(condition: Any) -> Any:
    """Whether a condition holds in any lane; for one state, whether it holds."""
    return condition


@overload(any_of, jit_options={**LEAF, "forceinline": True})
def _any_of(condition):
    if isinstance(condition, Choices):
        return lambda condition: _any_lane(condition)
    return lambda condition: condition


def choose(condition: Any, a: Any, b: Any) -> Any:
    """``a`` if a condition holds, otherwise ``b``; for each lane, or for one state."""
    return a if condition else b


@overload(choose, jit_options={**LEAF, "forceinline": True})
def _choose(condition, a, b):
    if isinstance(condition, Choices):
        return lambda condition, a, b: _choose_lanes(condition, a, b)
    return lambda condition, a, b: a if condition else b


def both(a: Any, b: Any) -> Any:
    """Whether both conditions hold, for each lane or for one state."""
    return a and b


@intrinsic
def _both_lanes(typingctx: Any, a: Any, b: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return builder.and_(*values)

    return a(a, b), generate


@overload(both, jit_options={**LEAF, "forceinline": True})
def _both(a, b):
    if isinstance(a, Choices):
        return lambda a, b: _both_lanes(a, b)
    return lambda a, b: a and b


@overload(math.atan2, jit_options={**LEAF, "forceinline": True})
def _arctangent(y, x):
    if isinstance(y, Lanes) and isinstance(x, Lanes):
        return _arctangent_of_lanes
    return None


def _arctangent_of_lanes(y, x):
    result = y
    for k in range(width_of(y)):
        result = with_lane(result, k, math.atan2(lane_of(y, k), lane_of(x, k)))
    return result


def _one_by_one(function: Callable[[float], float]) -> Callable[..., Any]:
    """A function that applies a function of one number to each lane in turn."""

    def of_lanes(x):
        result = x
        for k in range(width_of(x)):
            result = with_lane(result, k, function(lane_of(x, k)))
        return result

    return of_lanes


def _lift(function: Callable[[float], float]) -> None:
    """Makes a function of one number available for lanes in Numba."""
    lifted = _one_by_one(function)
    overload(function, jit_options={**LEAF, "forceinline": True})(lambda x: lifted if isinstance(x, Lanes) else None)


for _function in (math.log, math.tanh):
    _lift(_function)


class LaneArray:
    """An array of lanes: numbers of several states side by side, aligned for vector registers.

    Parameters
    ----------
    numbers
        The numbers, with the states along the last axis, shape (..., width), as :meth:`zeros` makes them.
    """

    def __init__(self, numbers: np.ndarray) -> None:
        width = numbers.shape[-1]
        aligned = not numbers.size or numbers.ctypes.data % (8 * width) == 0
        if numbers.dtype != np.float64 or not numbers.flags.carray or not aligned:
            raise TypeError("lanes need contiguous floats at an address that is a multiple of their size")
        self.numbers = numbers
        """The same memory as plain numbers, shape (..., width)."""

    @property
    def width(self) -> int:
        """Number of states side by side."""
        return int(self.numbers.shape[-1])

    def __getitem__(self, k: int | slice) -> "LaneArray":
        """The lanes at an index, or in a slice, of the first axis."""
        return LaneArray(self.numbers[k])

    @property
    def kind(self) -> Any:
        """Numba's type of the array."""
        return types.Array(Lanes(self.width), self.numbers.ndim - 1, "C")

    @classmethod
    def zeros(cls, shape: tuple[int, ...], width: int = WIDTH) -> "LaneArray":
        """Zeroed lanes; each state has an array of the given shape."""
        count = math.prod(shape) * width
        memory = np.zeros(count + width)
        begin = (-memory.ctypes.data // 8) % width
        return cls(memory[begin : begin + count].reshape(*shape, width))
