"""A flexible cantilever vibrates at the frequencies of Euler and Bernoulli's beam theory.

The beam is one flexible body with four bending modes. Its tip starts with a velocity and then vibrates freely. The
peaks of its spectrum are at the wave numbers β that solve cos βℓ cosh βℓ = −1, where ℓ is the length of the beam.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import brentq

import articulon as ar

plt.style.use(Path(__file__).with_name("paper.mplstyle"))
length, mass, stiffness = 1.0, 2.0, 800.0  # m, kg, E I [N m²]
roots = [brentq(lambda x: np.cos(x) + 1 / np.cosh(x), *ends) for ends in ((1, 3), (4, 6), (7, 9), (10, 12))]
exact = np.array(roots) ** 2 * np.sqrt(stiffness / (mass * length**3)) / (2 * np.pi)

modes = ar.modes.beam(length=length, mass=mass, bending=(4, 0), bending_stiffness=stiffness, units="kg-m-s")
b = ar.ModelBuilder(units="kg-m-s")
b.add_body("beam", joint=ar.Weld(), modes=modes, u=0.5 * np.array([1.0, 2.0, 3.0, 4.0]))
model = b.build()
period = 1 / exact[0]
run = ar.simulate(model, 40 * period, rule="rk4", step=period / 3200, frames=40 * 160)

tip = run.q @ modes.shapes[-1, np.abs(modes.shapes[-1]).sum(axis=1).argmax()]
window = np.hanning(len(tip))
spectrum = np.abs(np.fft.rfft(tip * window))
frequencies = np.fft.rfftfreq(len(tip), run.times[1])
peaks = []
for f in exact:
    k = np.abs(frequencies - f).argmin() + np.arange(-3, 4)
    top = k[spectrum[k].argmax()]
    left, middle, right = np.log(spectrum[top - 1 : top + 2])
    peaks.append(frequencies[top] + 0.5 * (left - right) / (left - 2 * middle + right) * frequencies[1])

fig, (top, bottom) = plt.subplots(2, 1)
top.plot(run.times[:800], 1e3 * tip[:800], lw=0.9)
top.set(xlabel="time [s]", ylabel="tip [mm]")
bottom.semilogy(frequencies, spectrum / spectrum.max(), lw=0.9)
for k, f in enumerate(exact):
    bottom.axvline(f, color="C1", ls="--", lw=0.8, label="Euler and Bernoulli" if k == 0 else None)
bottom.set(xlabel="frequency [Hz]", ylabel="spectrum", xlim=(0, 1.15 * exact[-1]), ylim=(1e-6, 2))
bottom.legend(loc="upper right", bbox_to_anchor=(0.97, 1))
fig.savefig("cantilever.png")

assert np.allclose(peaks, exact, rtol=2e-4), "the spectrum's peaks are the frequencies of the beam"
