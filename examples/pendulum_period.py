"""The period of a pendulum grows with its amplitude, as the complete elliptic integral predicts.

A rod swings with amplitudes from 5 to 175 degrees. Its quarter period is the time at which it first hangs straight
down, found by Hermite interpolation between frames.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from scipy.interpolate import CubicHermiteSpline
from scipy.special import ellipk

import articulon as ar

plt.style.use(Path(__file__).with_name("paper.mplstyle"))
length, gravity = 1.0, 9.81
amplitudes = np.radians(np.linspace(5, 175, 18))

b = ar.ModelBuilder(units="kg-m-s")
b.add_body("rod", mass=1.0, inertia=(0, 0, 0), com=(0, 0, -length), joint=ar.Revolute(axis=(0, 1, 0)))
b.add_force(ar.forces.Gravity(acceleration=(0, 0, -gravity)))
model = b.build()

periods = []
for amplitude in amplitudes:
    run = ar.simulate(model, 3.0, q=[amplitude], rtol=1e-11, atol=1e-12, frames=300)
    angle = CubicHermiteSpline(run.times, run.q[:, 0], run.u[:, 0])
    periods.append(4 * angle.roots(extrapolate=False)[0])

small = 2 * np.pi * np.sqrt(length / gravity)
exact = small * 2 / np.pi * ellipk(np.sin(amplitudes / 2) ** 2)
fine = np.radians(np.linspace(0, 176, 300))
fig, ax = plt.subplots()
ax.plot(np.degrees(fine), 2 / np.pi * ellipk(np.sin(fine / 2) ** 2), label=r"$2K(\sin\frac{\theta_0}{2})/\pi$")
ax.plot(np.degrees(amplitudes), np.array(periods) / small, "o", label="simulated")
ax.plot(np.degrees(fine), 1 + fine**2 / 16, "--", color="0.6", label=r"$1+\theta_0^2/16$")
ax.set(xlabel="amplitude [degrees]", ylabel=r"period / $2\pi\sqrt{\ell/g}$", xlim=(0, 180))
ax.legend()
fig.savefig("pendulum_period.png")

assert np.allclose(periods, exact, rtol=1e-7), "the period is that of the elliptic integral"
