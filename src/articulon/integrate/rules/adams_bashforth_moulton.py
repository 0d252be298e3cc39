"""The Adams–Bashforth–Moulton predictor–corrector of order 4, as PECE (Hairer, Nørsett and Wanner, Solving Ordinary
Differential Equations I, III.1)."""

import numpy as np

from articulon.integrate.rules.rk4 import RK4
from articulon.integrate.tableaux import Multistep

ADAMS_BASHFORTH_MOULTON = Multistep(
    predictor=np.array([55, -59, 37, -9]) / 24,
    corrector=np.array([9, 19, -5, 1]) / 24,
    start=RK4,
)
