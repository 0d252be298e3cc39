"""The classical Runge–Kutta formula of order 4 (Kutta 1901)."""

from articulon.integrate.tableaux import tableau

RK4 = tableau([[1 / 2], [0, 1 / 2], [0, 0, 1]], b=[1 / 6, 1 / 3, 1 / 3, 1 / 6], error=None, order=4)
