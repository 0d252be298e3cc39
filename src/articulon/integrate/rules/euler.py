"""Forward Euler, order 1."""

from articulon.integrate.tableaux import tableau

EULER = tableau([], b=[1.0], error=None, order=1)
