"""Quotients and roots computed by additions and products, which vectorise better than divisions."""

from articulon.kernels import jit
from articulon.lane_functions import rough_inverse, rough_inverse_root


@jit
def inverse(x):
    """1/x: the quotient in single precision, corrected to third order in e = 1 − x y."""
    y = rough_inverse(x)
    e = 1.0 - x * y
    return y + y * (e + e * e)


@jit
def inverse_root(x):
    """1/√x: the value in single precision, corrected to third order."""
    y = rough_inverse_root(x)
    e = 1.0 - x * y * y
    return y + y * e * (0.5 + e * (0.375 + 0.3125 * e))
