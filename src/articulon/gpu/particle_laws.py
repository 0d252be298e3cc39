"""The Lennard-Jones law on a device, with each truncation, in either precision.

The functions match those of ``forces/sites/laws`` and use the same parameter rows: r_c², A, B, the shift, and the
truncation's own parameters. ``tests/identities/test_gpu_particles.py`` compares the two.
"""

# Annotations must not be strings: Warp reads the types of arguments when a function is defined.
from functools import cache
from typing import Any

from articulon.gpu.devices import load_warp

wp: Any = load_warp()


LAWS = ("lennard-jones", "lennard-jones-force-shifted", "lennard-jones-switched")
"""Names of the available pair laws, as in ``PairTerm.name``."""


@cache
def law_of(name: str, real: Any) -> Any:
    """Return the function of a law: ``law(r2, rows, k) -> (U, -U'/r, U'' + 2U'/r)``, with Warp's number type
    ``real``."""
    triple = wp.types.vector(3, real)

    @wp.func
    def lennard_jones(r2: real, rows: wp.array2d(dtype=real), k: int):
        A = rows[k, 1]
        B = rows[k, 2]
        inverse2 = real(1.0) / r2
        inverse6 = inverse2 * inverse2 * inverse2
        return triple(
            (A * inverse6 - B) * inverse6 - rows[k, 3],
            (real(12.0) * A * inverse6 - real(6.0) * B) * inverse6 * inverse2,
            (real(132.0) * A * inverse6 - real(30.0) * B) * inverse6 * inverse2,
        )

    @wp.func
    def force_shifted(r2: real, rows: wp.array2d(dtype=real), k: int):
        bare = lennard_jones(r2, rows, k)
        slope = rows[k, 4]
        inverse = wp.sqrt(real(1.0) / r2)
        f = slope * inverse
        return triple(bare[0] - slope * (r2 * inverse), bare[1] + f, bare[2] - real(2.0) * f)

    @wp.func
    def switched(r2: real, rows: wp.array2d(dtype=real), k: int):
        bare = lennard_jones(r2, rows, k)
        width = rows[k, 5]
        inverse = wp.sqrt(real(1.0) / r2)
        r = r2 * inverse
        x = wp.clamp((r - rows[k, 4]) * width, real(0.0), real(1.0))
        rest = real(1.0) - x
        S = real(1.0) - x * x * x * (real(10.0) - x * (real(15.0) - real(6.0) * x))
        S1 = real(-30.0) * x * x * rest * rest * width
        S2 = real(-60.0) * x * rest * (rest - x) * width * width
        U = bare[0]
        g = bare[1]
        return triple(
            S * U,
            S * g - S1 * inverse * U,
            S * bare[2] + U * (S2 + real(2.0) * S1 * inverse) - real(2.0) * S1 * r * g,
        )

    return dict(zip(LAWS, (lennard_jones, force_shifted, switched), strict=True))[name]
