"""The implicit midpoint rule, order 2: symplectic and symmetric; it conserves every quadratic invariant."""

from articulon.integrate.tableaux import pair

IMPLICIT_MIDPOINT = pair([[1 / 2]], [[1 / 2]], b=[1.0], order=2)
