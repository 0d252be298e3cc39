"""Quotients and roots made of additions and products, which a processor does many of at once."""

from articulon.kernels import jit
from articulon.lane_functions import rough_inverse, rough_inverse_root


@jit
def inverse(x):
    """1/x: the quotient in single precision, with e = 1 − x y taken from it to third order."""
    y = rough_inverse(x)
    e = 1.0 - x * y
    return y + y * (e + e * e)


@jit
def inverse_root(x):
    """1/√x likewise."""
    y = rough_inverse_root(x)
    e = 1.0 - x * y * y
    return y + y * e * (0.5 + e * (0.375 + 0.3125 * e))
