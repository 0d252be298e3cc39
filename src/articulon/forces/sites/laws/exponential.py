"""The exponential without a library function, so that the loop over neighbours vectorises."""

from typing import Any

import numpy as np
from numba import types
from numba.extending import intrinsic

from articulon.kernels import jit

_LOG2_E = 1.4426950408889634
_LN2 = 0.6931471805599453


@intrinsic
def _float_of_bits(context: Any, bits: Any) -> Any:
    """Return the double with these bits."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], context.get_value_type(types.float64))

    return types.float64(types.int64), code


@jit
def exponential(x):
    """exp(x) to 1 + |x| rounding errors, the uncertainty that the rounding of x causes; infinity above 709.4, zero
    below −708.7.

    Computed as 2ⁿ exp(y) with n the integer nearest to x/ln 2, so that |y| ≤ ln(2)/2, where Taylor's series to y¹³ is
    exact up to rounding.
    """
    x = 710.0 if x > 710.0 else x
    x = -709.0 if x < -709.0 else x
    n = np.rint(x * _LOG2_E)
    y = x - n * _LN2
    p = 1.0 / 6227020800.0
    p = p * y + 1.0 / 479001600.0
    p = p * y + 1.0 / 39916800.0
    p = p * y + 1.0 / 3628800.0
    p = p * y + 1.0 / 362880.0
    p = p * y + 1.0 / 40320.0
    p = p * y + 1.0 / 5040.0
    p = p * y + 1.0 / 720.0
    p = p * y + 1.0 / 120.0
    p = p * y + 1.0 / 24.0
    p = p * y + 1.0 / 6.0
    p = p * y + 0.5
    p = p * y + 1.0
    p = p * y + 1.0
    # These are the bits of the exponent: all ones give infinity, and all zeros give zero. NaN propagates through the
    # polynomial.
    return p * _float_of_bits((np.int64(n) + 1023) << 52)
