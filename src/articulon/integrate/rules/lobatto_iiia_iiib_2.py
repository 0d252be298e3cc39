"""Lobatto IIIA for the coordinates with IIIB for the momenta, two stages, order 2 (Hairer, Lubich and Wanner, II.2.2).

It generalises velocity Verlet to kinetic energies that depend on q.
"""

from articulon.integrate.tableaux import pair

LOBATTO_IIIA_IIIB_2 = pair([[0, 0], [1 / 2, 1 / 2]], [[1 / 2, 0], [1 / 2, 0]], b=[1 / 2, 1 / 2], order=2)
