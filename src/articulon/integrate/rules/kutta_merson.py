"""Kutta–Merson, order 4 with an error estimate that is correct for linear equations (Merson 1957; Guy 2018, 5.5)."""

from articulon.integrate.tableaux import tableau

KUTTA_MERSON = tableau(
    [[1 / 3], [1 / 6, 1 / 6], [1 / 8, 0, 3 / 8], [1 / 2, 0, -3 / 2, 2]],
    b=[1 / 6, 0, 0, 2 / 3, 1 / 6],
    error=[2 / 30, 0, -9 / 30, 8 / 30, -1 / 30],
    order=4,
)
