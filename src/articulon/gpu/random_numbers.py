"""Random numbers on a device, equal to those of ``rng.py``: functions of (seed, stream, window, index) only.

Philox 4x32-10 (Salmon et al., Parallel random numbers: as easy as 1, 2, 3, SC11, 2011).
"""

from typing import Any

from articulon.gpu.devices import load_warp

wp: Any = load_warp()


@wp.func
def uniform_pair(seed: Any, stream: Any, window: Any, index: Any):
    """Return two numbers in (0, 1), 53 bits each: Philox 4x32-10, as in ``rng.py``."""
    low = wp.uint64(0xFFFFFFFF)
    half = wp.uint64(32)
    c0 = window & low
    c1 = window >> half
    c2 = index & low
    c3 = stream & low
    k0 = seed & low
    k1 = seed >> half
    for _ in range(10):
        p0 = wp.uint64(0xD2511F53) * c0
        p1 = wp.uint64(0xCD9E8D57) * c2
        c0 = (p1 >> half) ^ c1 ^ k0
        c1 = p1 & low
        c2 = (p0 >> half) ^ c3 ^ k1
        c3 = p0 & low
        k0 = (k0 + wp.uint64(0x9E3779B9)) & low
        k1 = (k1 + wp.uint64(0xBB67AE85)) & low
    size = wp.float64(1.0) / wp.float64(9007199254740992.0)
    x = wp.float64((c0 << wp.uint64(21)) ^ (c1 >> wp.uint64(11))) + wp.float64(0.5)
    y = wp.float64((c2 << wp.uint64(21)) ^ (c3 >> wp.uint64(11))) + wp.float64(0.5)
    return x * size, y * size


@wp.func
def normal_pair(seed: Any, stream: Any, window: Any, index: Any):
    """Return two independent standard normal numbers (Box and Muller, 1958)."""
    x, y = uniform_pair(seed, stream, window, index)
    radius = wp.sqrt(wp.float64(-2.0) * wp.log(x))
    angle = wp.float64(6.283185307179586) * y
    return radius * wp.cos(angle), radius * wp.sin(angle)
