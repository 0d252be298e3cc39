"""Lobatto IIIA for the coordinates with IIIB for the momenta, three stages, order 4 (Hairer, Lubich and Wanner, tables
II.1.2 and II.2.2)."""

from articulon.integrate.tableaux import pair

LOBATTO_IIIA_IIIB_3 = pair(
    [[0, 0, 0], [5 / 24, 1 / 3, -1 / 24], [1 / 6, 2 / 3, 1 / 6]],
    [[1 / 6, -1 / 6, 0], [1 / 6, 1 / 3, 0], [1 / 6, 5 / 6, 0]],
    b=[1 / 6, 2 / 3, 1 / 6],
    order=4,
)
