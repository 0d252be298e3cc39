"""Sums of a pair law over the neighbours of all particles on a device.

If there are few particles, several threads share one: each takes every n-th neighbour, and their sums are added in
order (``particle_moves.total_force``). No two threads write to the same place and every order is fixed, so a device
always gives the same bits.

In mixed precision a sum is a pair of numbers, of which the second is the rounding error of the first (Knuth, The Art of
Computer Programming 2, 4.2.2, theorem B). This is as accurate as double precision, which is slow on many GPUs. The
forces at the two ends of a pair are opposite to the last bit, so momentum is conserved as well as in double precision.
"""

# Annotations must not be strings: Warp reads the types of arguments when a kernel is defined.
from functools import cache
from typing import Any

from articulon.gpu.devices import load_warp
from articulon.gpu.particle_laws import law_of
from articulon.gpu.particle_moves import STOPPED
from articulon.gpu.particle_places import places

wp: Any = load_warp()


TOGETHER = wp.constant(8)
"""Number of neighbours in an unrolled loop, which lets a GPU load several at once."""
MEASURES = 8
"""Number of measures: energy, virial (xx, yy, zz, xy, xz, yz) and Laplacian."""


@cache
def pair_kernels(precision: str, name: str, one_kind: bool) -> tuple[Any, Any]:
    """Return the kernels of a law's forces and measures, in a precision, for particles of one kind or of several."""
    kernels = places(precision)
    real, point, apart = kernels.real, kernels.point, kernels.apart
    triple: Any = wp.types.vector(3, real)
    law = law_of(name, real)
    kinds = "one_kind" if one_kind else "kinds"
    module = wp.get_module(f"articulon_pairs_{precision}_{name.replace('-', '_')}_{kinds}")

    @wp.func
    def row_of(kind: wp.array(dtype=wp.int32), first: int, j: int):
        if wp.static(one_kind):
            return 0
        return first + kind[j]

    @wp.func
    def sum_of(total: triple, rest: triple, more: triple):
        """Add a number to a sum with its rounding error."""
        after = total + more
        if wp.static(precision == "double"):
            return after, rest
        added = after - total
        return after, rest + ((total - (after - added)) + (more - added))

    @wp.kernel(module=module, enable_backward=False)
    def pair_forces(
        near: wp.array(dtype=point),
        frame: wp.array(dtype=real),
        kind: wp.array(dtype=wp.int32),
        kinds: int,
        rows: wp.array2d(dtype=real),
        number: wp.array(dtype=wp.int32),
        neighbours: wp.array2d(dtype=wp.int32),
        more: int,
        limit: wp.float64,
        longest: wp.array(dtype=wp.float64),
        flags: wp.array(dtype=wp.int32),
        force: wp.array2d(dtype=wp.vec3d),
    ):
        """Compute −Σ_j ∇U(r_ij) over a thread's share of the neighbours; with ``more``, add it to the existing
        force."""
        if flags[STOPPED] != 0 or longest[0] > limit:
            return
        lane, p = wp.tid()
        here = near[p]
        first = kinds * kind[p]
        total = triple()
        rest = triple()
        k = wp.int32(lane)
        count = number[p]
        lanes = force.shape[0]
        while k < count:
            for _m in range(TOGETHER):
                if k < count:
                    j = neighbours[k, p]
                    d = apart(here, near[j], frame)
                    r2 = wp.dot(d, d)
                    t = row_of(kind, first, j)
                    if r2 < rows[t, 0]:
                        total, rest = sum_of(total, rest, law(r2, rows, t)[1] * d)
                    k += lanes
        found = wp.vec3d(wp.float64(total[0]), wp.float64(total[1]), wp.float64(total[2]))
        found += wp.vec3d(wp.float64(rest[0]), wp.float64(rest[1]), wp.float64(rest[2]))
        if more != 0:
            found += force[lane, p]
        force[lane, p] = found

    @wp.kernel(module=module, enable_backward=False)
    def pair_measures(
        near: wp.array(dtype=point),
        frame: wp.array(dtype=real),
        kind: wp.array(dtype=wp.int32),
        kinds: int,
        rows: wp.array2d(dtype=real),
        number: wp.array(dtype=wp.int32),
        neighbours: wp.array2d(dtype=wp.int32),
        result: wp.array2d(dtype=wp.float64),
    ):
        """Add the measures of each particle: half of a pair's energy and virial, all of its Laplacian."""
        p = wp.tid()
        here = near[p]
        first = kinds * kind[p]
        half = wp.float64(0.5)
        e = wp.float64(0.0)
        xx = wp.float64(0.0)
        yy = wp.float64(0.0)
        zz = wp.float64(0.0)
        xy = wp.float64(0.0)
        xz = wp.float64(0.0)
        yz = wp.float64(0.0)
        laplacian = wp.float64(0.0)
        for k in range(number[p]):
            j = neighbours[k, p]
            d = apart(here, near[j], frame)
            r2 = wp.dot(d, d)
            t = row_of(kind, first, j)
            if r2 < rows[t, 0]:
                value = law(r2, rows, t)
                g = wp.float64(value[1])
                x = wp.float64(d[0])
                y = wp.float64(d[1])
                z = wp.float64(d[2])
                e += wp.float64(value[0])
                laplacian += wp.float64(value[2])
                xx += g * x * x
                yy += g * y * y
                zz += g * z * z
                xy += g * x * y
                xz += g * x * z
                yz += g * y * z
        result[0, p] = result[0, p] + half * e
        result[1, p] = result[1, p] + half * xx
        result[2, p] = result[2, p] + half * yy
        result[3, p] = result[3, p] + half * zz
        result[4, p] = result[4, p] + half * xy
        result[5, p] = result[5, p] + half * xz
        result[6, p] = result[6, p] + half * yz
        result[7, p] = result[7, p] + laplacian

    return pair_forces, pair_measures
