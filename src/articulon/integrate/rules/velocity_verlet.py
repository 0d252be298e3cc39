"""The Verlet scheme as half a kick, a drift, half a kick, order 2 (Hairer, Lubich and Wanner, VI.3, equation 3.3).

If the kinetic energy depends on q, the first kick and the drift are implicit; it is the Lobatto pair of two stages.
"""

from articulon.integrate.rules.lobatto_iiia_iiib_2 import LOBATTO_IIIA_IIIB_2

VELOCITY_VERLET = LOBATTO_IIIA_IIIB_2
