"""Functions that leaves call in the same way for one state and for lanes: sine and cosine, and single-precision
inverses.

In lanes they are computed for all states at once. The functions of ``math`` would be computed for one lane after the
other, or are not available in lanes.
"""

import math
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils
from numba.extending import intrinsic, overload

from articulon.kernels import LEAF, jit
from articulon.lanes import Lanes, any_of, choose, fused, lane_of, nearest, vector_type, width_of, with_lane


def _single(function: str) -> Any:
    """A function that computes 1/x or 1/√x of lanes in single precision."""

    @intrinsic
    def rough(typingctx: Any, x: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            short, long = vector_type(ir.FloatType(), x.width), vector_type(ir.DoubleType(), x.width)
            number = builder.fptrunc(values[0], short)
            if function == "root":
                kind = ir.FunctionType(short, [short])
                name = f"llvm.sqrt.v{x.width}f32"
                number = builder.call(cgutils.get_or_insert_function(builder.module, kind, name), [number])
            one = ir.Constant(short, [1.0] * x.width)
            return builder.fpext(builder.fdiv(one, number), long)

        return x(x), generate

    return rough


_rough_inverse_of_lanes, _rough_inverse_root_of_lanes = _single("inverse"), _single("root")


def rough_inverse(x: Any) -> Any:
    """Inverse 1/x in single precision, of one state or in lanes."""
    return float(np.float32(1.0) / np.float32(x))


@overload(rough_inverse, jit_options={**LEAF, "forceinline": True})
def _rough_inverse(x):
    if isinstance(x, Lanes):
        return lambda x: _rough_inverse_of_lanes(x)
    return lambda x: np.float64(np.float32(1.0) / np.float32(x))


def rough_inverse_root(x: Any) -> Any:
    """Inverse root 1/√x in single precision, of one state or in lanes."""
    return float(np.float32(1.0) / np.sqrt(np.float32(x)))


@overload(rough_inverse_root, jit_options={**LEAF, "forceinline": True})
def _rough_inverse_root(x):
    if isinstance(x, Lanes):
        return lambda x: _rough_inverse_root_of_lanes(x)
    return lambda x: np.float64(np.float32(1.0) / np.sqrt(np.float32(x)))


# π/2 in three parts; the product of each of the first two parts with a whole number below 2²⁰ is exact.
_PART1 = float.fromhex("0x1.921fb54400000p+0")
_PART2 = float.fromhex("0x1.0b4611a600000p-34")
_PART3 = float.fromhex("0x1.3198a2e037073p-69")
_REDUCED_TO = 2.0**20
"""Largest angle [rad] for which the three parts of π/2 are accurate enough."""


@jit
def _vector_sine_and_cosine(x):
    """sin x and cos x to one unit in the last place for |x| below ``_REDUCED_TO``: minimax polynomials on [−π/4,
    π/4]."""
    k = nearest(x * (2.0 / math.pi))
    y = fused(k, -_PART3, fused(k, -_PART2, fused(k, -_PART1, x)))
    y2 = y * y
    s = fused(y2, 1.58969099521155010221e-10, -2.50507602534068634195e-08)
    s = fused(y2, s, 2.75573137070700676789e-06)
    s = fused(y2, s, -1.98412698298579493134e-04)
    s = fused(y2, s, 8.33333333332248946124e-03)
    s = fused(y2, s, -1.66666666666666324348e-01)
    s = fused(y2 * y, s, y)
    c = fused(y2, -1.13596475577881948265e-11, 2.08757232129817482790e-09)
    c = fused(y2, c, -2.75573143513906633035e-07)
    c = fused(y2, c, 2.48015872894767294178e-05)
    c = fused(y2, c, -1.38888888888741095749e-03)
    c = fused(y2, c, 4.16666666666666019037e-02)
    c = fused(y2 * y2, c, fused(y2, -0.5, 1.0))
    quarter = k - 4.0 * math.floor(0.25 * k)
    odd, below, turned = quarter - 2.0 * math.floor(0.5 * quarter) > 0.5, quarter > 1.5, abs(quarter - 1.5) < 1.0
    sine, cosine = choose(odd, c, s), choose(odd, s, c)
    return choose(below, -sine, sine), choose(turned, -cosine, cosine)


def sine_and_cosine(x: Any) -> Any:
    """sin x and cos x, of one state or in lanes."""
    return math.sin(x), math.cos(x)


@overload(sine_and_cosine, jit_options={**LEAF, "forceinline": True})
def _sine_and_cosine(x):
    if isinstance(x, Lanes):
        return _sine_and_cosine_of_lanes
    return lambda x: (math.sin(x), math.cos(x))


def _sine_and_cosine_of_lanes(x):
    s, c = _vector_sine_and_cosine(x)
    far = abs(x) > _REDUCED_TO
    if any_of(far):
        for k in range(width_of(x)):
            one = lane_of(x, k)
            if abs(one) > _REDUCED_TO:
                s, c = with_lane(s, k, math.sin(one)), with_lane(c, k, math.cos(one))
    return s, c
