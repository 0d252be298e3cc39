"""A ball bounces to e² of its previous height each time, and comes to rest in a finite time.

The intervals between bounces form a geometric series. The sum of this series gives the time at which the ball comes to
rest: √(2h/g) (1 + e)/(1 − e), for the initial height h and the coefficient of restitution e.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from scipy.interpolate import CubicHermiteSpline

import articulon as ar

plt.style.use(Path(__file__).with_name("paper.mplstyle"))
restitution, height, gravity, radius = 0.8, 1.0, 9.81, 0.05
b = ar.ModelBuilder(units="kg-m-s")
b.add_body("ball", mass=1.0, inertia=1e-3, joint=ar.Free(), q=(0, 0, height + radius, 1, 0, 0, 0))
b.add_site("ball", kind="rubber", radius=radius)
b.add_force(ar.forces.Gravity(acceleration=(0, 0, -gravity)))
floor = ar.forces.Plane(point=(0, 0, 0), normal=(0, 0, 1), kind="floor")
b.add_force(ar.forces.Impacts(restitution=restitution, walls=[floor], resting_speed="1 mm/s"))
run = ar.simulate(b.build(), 5.0, rtol=1e-9, atol=1e-10, frames=600)

fall = np.sqrt(2 * height / gravity)
k = np.arange(12)
hits = fall * (1 + 2 * np.r_[0, np.cumsum(restitution ** k[1:])])
tops = hits - fall * restitution**k
rest = fall * (1 + restitution) / (1 - restitution)
z = run.q[:, 2] - radius

fig, ax = plt.subplots()
fine = np.linspace(0, 5, 5000)
ax.plot(fine, CubicHermiteSpline(run.times, z, run.u[:, 2])(fine).clip(0), lw=1)
ax.plot(tops, height * restitution ** (2 * k), "o", mfc="none", label=r"$h\,e^{2k}$")
ax.axvline(rest, color="0.5", ls="--", lw=0.8)
ax.annotate(r"at rest: $\sqrt{2h/g}\;\frac{1+e}{1-e}$", (rest, 0.8), (-6, 0), textcoords="offset points", ha="right")
ax.set(xlabel="time [s]", ylabel="height [m]", ylim=(0, None), xlim=(0, 5))
ax.legend(loc="upper center")
fig.savefig("bouncing_ball.png")

at_tops = CubicHermiteSpline(run.times, z, run.u[:, 2])(tops)
assert np.allclose(at_tops, height * restitution ** (2 * k), atol=1e-6), "heights form a geometric series"
assert np.abs(z[run.times > rest + 0.01]).max() < 1e-6, "it rests when the series ends"
