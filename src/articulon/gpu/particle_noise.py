"""Random numbers of ``thermostats/langevin.py`` on a device, equal on every device."""

# Annotations must not be strings: Warp reads the types of arguments when a function is defined.
from typing import Any

from articulon.gpu.devices import load_warp
from articulon.gpu.random_numbers import normal_pair

wp: Any = load_warp()


@wp.func
def particle_normals(seed: wp.uint64, stream: wp.uint64, step: wp.uint64, particle: int):
    """Return three independent standard normal numbers for a particle in a step."""
    index = wp.uint64(2) * wp.uint64(particle)
    x, y = normal_pair(seed, stream, step, index)
    z, _w = normal_pair(seed, stream, step, index + wp.uint64(1))
    return wp.vec3d(x, y, z)
