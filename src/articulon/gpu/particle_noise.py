"""Random numbers on a device: those of ``rng.py`` and ``thermostats/langevin.py``, a function of (seed, stream, step,
index) and nothing else, so that a particle is shaken alike on every device.

Philox 4x32-10 (Salmon et al., Parallel random numbers: as easy as 1, 2, 3, SC11, 2011).
"""

# No annotations as strings: Warp reads the types of arguments where a function is defined.
from typing import Any

from articulon.gpu.devices import load_warp

wp: Any = load_warp()

LOW = wp.constant(wp.uint64(0xFFFFFFFF))
FIRST, SECOND = wp.constant(wp.uint64(0xD2511F53)), wp.constant(wp.uint64(0xCD9E8D57))
WEYL, OTHER_WEYL = wp.constant(wp.uint64(0x9E3779B9)), wp.constant(wp.uint64(0xBB67AE85))
UNIT = wp.constant(wp.float64(1.0 / 9007199254740992.0))
TURN = wp.constant(wp.float64(6.283185307179586))


@wp.func
def normal_pair(seed: wp.uint64, stream: wp.uint64, step: wp.uint64, index: wp.uint64):
    """Two independent standard normal numbers (Box and Muller, 1958)."""
    half = wp.uint64(32)
    c0 = step & LOW
    c1 = step >> half
    c2 = index & LOW
    c3 = stream & LOW
    k0 = seed & LOW
    k1 = seed >> half
    for _m in range(10):
        p0 = FIRST * c0
        p1 = SECOND * c2
        c0 = (p1 >> half) ^ c1 ^ k0
        c1 = p1 & LOW
        c2 = (p0 >> half) ^ c3 ^ k1
        c3 = p0 & LOW
        k0 = (k0 + WEYL) & LOW
        k1 = (k1 + OTHER_WEYL) & LOW
    x = (wp.float64((c0 << wp.uint64(21)) ^ (c1 >> wp.uint64(11))) + wp.float64(0.5)) * UNIT
    y = (wp.float64((c2 << wp.uint64(21)) ^ (c3 >> wp.uint64(11))) + wp.float64(0.5)) * UNIT
    radius = wp.sqrt(wp.float64(-2.0) * wp.log(x))
    angle = TURN * y
    return radius * wp.cos(angle), radius * wp.sin(angle)


@wp.func
def particle_normals(seed: wp.uint64, stream: wp.uint64, step: wp.uint64, particle: int):
    """Three independent standard normal numbers of a particle in a step."""
    index = wp.uint64(2) * wp.uint64(particle)
    x, y = normal_pair(seed, stream, step, index)
    z, _w = normal_pair(seed, stream, step, index + wp.uint64(1))
    return wp.vec3d(x, y, z)
