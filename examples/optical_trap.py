"""A bead in an optical trap: the spectrum of its position is a Lorentzian, from which the stiffness is calibrated.

Overdamped Brownian dynamics of a micrometre bead in water. The corner frequency is k/(2πγ), the variance kT/k.
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from scipy.signal import welch

import articulon as ar

plt.style.use(Path(__file__).with_name("paper.mplstyle"))
radius, stiffness, kT = 0.5, 1e4, 4.14195  # um, fg/us² = 1e-3 pN/um, fg um²/us² at 300 K
