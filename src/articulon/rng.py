"""Counter-based random numbers: pure functions of (seed, stream, window, index), without a generator state.

The generator is Philox 4x32-10 (Salmon et al., Parallel random numbers: as easy as 1, 2, 3, SC11, 2011).
"""

import math

import numpy as np

from articulon.kernels import jit, kernel

LOW = np.uint64(0xFFFFFFFF)
HALF = np.uint64(32)
MULTIPLIERS = (np.uint64(0xD2511F53), np.uint64(0xCD9E8D57))
WEYL = (np.uint64(0x9E3779B9), np.uint64(0xBB67AE85))


@jit
def philox(c0, c1, c2, c3, k0, k1):
    """Four 32-bit words, each in an unsigned 64-bit integer, from a counter of four words and a key of two words."""
    for _ in range(10):
        p0, p1 = MULTIPLIERS[0] * c0, MULTIPLIERS[1] * c2
        c0, c1, c2, c3 = (p1 >> HALF) ^ c1 ^ k0, p1 & LOW, (p0 >> HALF) ^ c3 ^ k1, p0 & LOW
        k0, k1 = (k0 + WEYL[0]) & LOW, (k1 + WEYL[1]) & LOW
    return c0, c1, c2, c3


@jit
def uniform_pair(seed, stream, window, index):
    """Two uniform numbers in (0, 1), 53 bits each."""
    w, s = np.uint64(window), np.uint64(seed)
    a, b, c, d = philox(w & LOW, w >> HALF, np.uint64(index) & LOW, np.uint64(stream) & LOW, s & LOW, s >> HALF)
    scale = 1.0 / 9007199254740992.0
    x = np.float64((a << np.uint64(21)) ^ (b >> np.uint64(11))) + 0.5
    y = np.float64((c << np.uint64(21)) ^ (d >> np.uint64(11))) + 0.5
    return x * scale, y * scale


@jit
def normal_pair(seed, stream, window, index):
    """Two independent standard normal numbers (Box and Muller, 1958)."""
    x, y = uniform_pair(seed, stream, window, index)
    radius, angle = math.sqrt(-2.0 * math.log(x)), 2.0 * math.pi * y
    return radius * math.cos(angle), radius * math.sin(angle)


@kernel
def fill_uniforms(seed, stream, window, result):
    """Fills an array (n,) with independent uniform numbers in (0, 1), those with the indices 0, 1, ..."""
    for k in range(result.size):
        result[k], _ = uniform_pair(seed, stream, window, k)


@kernel
def fill_normals(seed, stream, window, result):
    """Fills an array (n,) with independent standard normal numbers, those with the indices 0, 1, ..."""
    for k in range(result.size):
        result[k], _ = normal_pair(seed, stream, window, k)
