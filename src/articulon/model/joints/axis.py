"""Common parts of joints with one degree of freedom: the joint axis, and the elimination of one speed."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from articulon.algebra.inertia import force_of, moment_of, shift
from articulon.algebra.vectors import add, cross, dot, matrix_add, scale, symmetric_less_outer
from articulon.errors import ModelError
from articulon.inputs import floats, shown
from articulon.kernels import jit
from articulon.model.joints.base import Joint


@dataclass(frozen=True)
class AxisJoint(Joint):
    """A joint with an axis; any length is accepted and normalised.

    Raises ModelError if the axis does not have three finite components, or is zero.
    """

    axis: Sequence[float] = (0.0, 0.0, 1.0)
    """Direction in the joint frame [dimensionless], shape (3,)."""

    def __post_init__(self) -> None:
        try:
            axis = floats(self.axis).tolist()
        except ValueError:
            axis = []
        three = isinstance(axis, list) and len(axis) == 3 and all(isinstance(a, float) for a in axis)
        length = math.sqrt(sum(a * a for a in axis)) if three else 0.0
        if not 0.0 < length < math.inf:
            name = type(self).__name__
            raise ModelError(f"{name}: axis must be three finite numbers, not all zero, got {shown(self.axis)}")
        object.__setattr__(self, "axis", tuple(a / length for a in axis))

    @property
    def direction(self) -> tuple[float, float, float]:
        x, y, z = self.axis
        return (x, y, z)


@jit
def eliminate_one(uw, uv, d, g, r, cw, cv, A, H, M, n, f):
    """Eliminate one speed with column s, where (uw, uv) is U = I s, d = 1/(sᵀ U) and g = τ − sᵀ p.

    Returns I − d U Uᵀ and p + I c + U d (g − Uᵀ c), shifted to the parent (Featherstone 2008, 7.44 to 7.47); I and p
    are the articulated inertia and bias force, c is (cw, cv), and τ the joint force.
    """
    s = d * (g - dot(uw, cw) - dot(uv, cv))
    n = add(add(n, moment_of(A, H, cw, cv)), scale(s, uw))
    f = add(add(f, force_of(H, M, cw, cv)), scale(s, uv))
    dw = scale(-d, uw)
    H = matrix_add(H, (scale(dw[0], uv), scale(dw[1], uv), scale(dw[2], uv)))
    A, M = symmetric_less_outer(A, d, uw), symmetric_less_outer(M, d, uv)
    A, H = shift(r, A, H, M)
    record = (d * uw[0], d * uw[1], d * uw[2], d * uv[0], d * uv[1], d * uv[2], d * g, 0.0, 0.0, 0.0, 0.0, 0.0)
    return A, H, M, add(n, cross(r, f)), f, record


@jit
def rate_of_one(record, i, aw, av):
    """Rate of the eliminated speed, given the parent's acceleration."""
    rate = record[i, 6] - (record[i, 0] * aw[0] + record[i, 1] * aw[1] + record[i, 2] * aw[2])
    return rate - (record[i, 3] * av[0] + record[i, 4] * av[1] + record[i, 5] * av[2])
