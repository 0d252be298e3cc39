"""A driven four-bar linkage traces its coupler curve and satisfies Freudenstein's equation in every frame.

A drive turns the crank at a steady speed, and a loop joint closes the linkage.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import articulon as ar

plt.style.use(Path(__file__).with_name("paper.mplstyle"))
a, c, r, ground = 1.0, 2.5, 2.0, 2.5  # crank, coupler, rocker, ground
hinge = ar.Revolute(axis=(0, 0, 1))
b = ar.ModelBuilder(units="kg-m-s")
b.add_body("crank", mass=1, inertia=0.1, com=(a / 2, 0, 0), joint=hinge, q=0.5)
b.add_body("coupler", parent="crank", mass=2, inertia=0.2, com=(c / 2, 0, 0), joint=hinge, position=(a, 0, 0), q=0.5)
b.add_body("rocker", mass=1, inertia=0.2, com=(r / 2, 0, 0), joint=hinge, position=(ground, 0, 0))
b.add_loop("pin", joint=hinge, parent="coupler", child="rocker", position=(c, 0, 0), child_position=(r, 0, 0))
b.add_drive("crank", times=[0, 1, 2, 3, 4], values=0.5 + 2 * np.pi * np.arange(5))
model = b.build()
run = ar.simulate(model, 1.0, rtol=1e-10, atol=1e-12, frames=200)

crank, coupler, rocker = run.q.T
direction = crank + coupler
joint = a * np.c_[np.cos(crank), np.sin(crank)]
path = joint + 1.6 * np.c_[np.cos(direction + 0.7), np.sin(direction + 0.7)]

fig, ax = plt.subplots()
for k in range(0, 200, 40):
    end = joint[k] + c * np.array([np.cos(direction[k]), np.sin(direction[k])])
    ax.fill(*np.array([joint[k], end, path[k]]).T, color="C5", alpha=0.25, lw=0)
    ax.plot(*np.array([(0, 0), joint[k], end, (ground, 0)]).T, "-o", color="0.55", lw=1, ms=3)
ax.plot(*path.T, color="C1", lw=2, label="coupler curve")
ax.plot([0, ground], [0, 0], "k^", ms=8)
ax.set(xlabel="x [m]", ylabel="y [m]", aspect="equal")
ax.legend(loc="upper right")
fig.savefig("four_bar.png")

# Freudenstein: the ends of crank and rocker stay one coupler apart.
k1, k2, k3 = ground / a, ground / r, (a**2 - c**2 + r**2 + ground**2) / (2 * a * r)
residual = k1 * np.cos(rocker) - k2 * np.cos(crank) + k3 - np.cos(crank - rocker)
assert np.abs(residual).max() < 1e-9, "Freudenstein's equation holds"
assert np.allclose(crank, 0.5 + 2 * np.pi * run.times, atol=1e-9), "the drive is followed exactly"
