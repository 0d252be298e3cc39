"""The Verlet scheme as half a drift, a kick, half a drift, order 2 (Hairer, Lubich and Wanner, VI.3, equation 3.3).

If the kinetic energy depends on q, the first drift and the kick are implicit.
"""

from articulon.integrate.tableaux import pair

VERLET = pair([[1 / 2, 0], [1 / 2, 0]], [[0, 0], [1 / 2, 1 / 2]], b=[1 / 2, 1 / 2], order=2)
