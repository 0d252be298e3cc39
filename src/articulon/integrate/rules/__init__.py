"""One integration formula a file."""

from articulon.integrate.rules.euler import EULER
from articulon.integrate.rules.kutta_merson import KUTTA_MERSON
from articulon.integrate.rules.rk4 import RK4

EXPLICIT = {"kutta-merson": KUTTA_MERSON, "rk4": RK4, "euler": EULER}
"""Explicit Runge–Kutta formulas by name."""
