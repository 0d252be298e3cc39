"""The position spectrum of a bead in an optical trap is a Lorentzian and gives the stiffness of the trap.

The run is overdamped Brownian dynamics of a micrometre bead in water. The corner frequency is K/(2πγ), and the variance
of the position is kT/K, for the stiffness K of the trap and the drag coefficient γ.
"""

import sys
from itertools import pairwise
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from scipy.signal import welch

import articulon as ar

plt.style.use(Path(__file__).with_name("paper.mplstyle"))
radius, stiffness, kT = 0.5, 10.0, 4.14195e-3  # um, fg/us² (10 pN/um), fg um²/us² at 300 K
drag = 6 * np.pi * 890.0 * radius  # fg/us: water has 0.89 mPa s = 890 fg/(um us)
corner = stiffness / (2 * np.pi * drag)
b = ar.ModelBuilder(units="fg-um-us")
b.add_body("bead", mass="0.5 pg", inertia=50.0, joint=ar.Free())
b.add_force(ar.forces.PointSpring(bodies=("bead", "ground"), stiffness=stiffness))
b.add_force(ar.forces.StokesDrag(viscosity="0.89 mPa s", radius={"bead": radius}))
b.add_force(ar.forces.Brownian(temperature="300 K"))
step, samples = 20.0, 2**14 if "--short" in sys.argv else 2**16
run = ar.simulate(b.build(), step * samples, rule="overdamped", step=step, frames=samples)

x = run.q[1:, :3]
f, power = welch(x, fs=1 / step, nperseg=2048, axis=0, return_onesided=True)
f, power = f[1:], power[1:].mean(axis=1)
k = np.arange(1, len(f) + 1)
decay = np.exp(-stiffness * step / drag)  # decay of the sampled process, including aliasing
lorentz = 2 * kT / stiffness * step * (1 - decay**2) / (1 + decay**2 - 2 * decay * np.cos(2 * np.pi * f * step))
bins = np.unique(np.geomspace(1, len(f), 40).astype(int)) - 1
mean_f = np.array([f[i:j].mean() for i, j in pairwise(bins)])
mean_p = np.array([power[i:j].mean() for i, j in pairwise(bins)])

fig, (left, right) = plt.subplots(1, 2, width_ratios=(1.5, 1))
left.loglog(1e6 * mean_f, 1e12 * mean_p, "o", label="simulated")
left.loglog(1e6 * f, 1e12 * lorentz, label="Lorentzian, as sampled")
left.axvline(1e6 * corner, color="0.6", ls="--", lw=0.8)
left.annotate("corner", (1e6 * corner, 1e12 * mean_p.min()), (4, 0), textcoords="offset points")
left.set(xlabel="frequency [Hz]", ylabel=r"spectral density [$\mu$m$^2$/THz]")
left.legend()
counts, edges, _ = right.hist(1e3 * x.ravel(), bins=60, density=True, color="C5")
middle = np.linspace(edges[0], edges[-1], 200)
width = 1e3 * np.sqrt(kT / stiffness)
right.plot(middle, np.exp(-0.5 * (middle / width) ** 2) / (width * np.sqrt(2 * np.pi)), color="C1")
right.set(xlabel="position [nm]", ylabel="density [1/nm]")
fig.savefig("optical_trap.png")

independent = 3 * samples * (1 - decay) / (1 + decay)
assert abs(x.var() * stiffness / kT - 1) < 5 * np.sqrt(2 / independent) + 0.005, "equipartition in the trap"
averaged = 3 * samples / 2048 * np.diff(bins)[:-1]  # number of averaged powers; the spread of a power is its mean
departure = np.abs(mean_p[:-1] / np.interp(mean_f[:-1], f, lorentz) - 1).mean()
assert departure < 2 * np.sqrt(2 / np.pi) * (averaged**-0.5).mean(), "a Lorentzian"
