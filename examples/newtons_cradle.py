"""Newton's cradle: two balls fall and two balls leave at the other end, impact by impact.

Impacts are events between the steps. Each impact conserves momentum and energy to rounding.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import articulon as ar

plt.style.use(Path(__file__).with_name("paper.mplstyle"))
balls, radius, string = 5, 0.05, 1.0
b = ar.ModelBuilder(units="kg-m-s")
for k in range(balls):
    b.add_body(
        f"ball {k + 1}",
        mass=1.0,
        inertia=1e-3,
        com=(0, 0, -string),
        joint=ar.Revolute(axis=(0, 1, 0)),
        position=(2 * radius * k, 0, 0),
        q=np.radians(30) if k < 2 else 0.0,
    )
    b.add_site(f"ball {k + 1}", position=(0, 0, -string), kind="steel", radius=radius)
b.add_force(ar.forces.Gravity(acceleration=(0, 0, -9.81)))
b.add_force(ar.forces.Impacts(restitution=1.0))
model = b.build()
run = ar.simulate(model, 4.2, rtol=1e-11, atol=1e-12, frames=420)

angles = np.degrees(run.q)
fig, (left, right) = plt.subplots(1, 2, width_ratios=(1, 1.3))
for frame, shade in ((0, 1.0), (int(np.argmin(angles[:, -1])), 0.35)):
    for k in range(balls):
        x = 2 * radius * k - string * np.sin(run.q[frame, k])
        z = -string * np.cos(run.q[frame, k])
        left.plot([2 * radius * k, x], [0, z], color="0.6", lw=0.7, alpha=shade)
        left.add_patch(plt.Circle((x, z), radius, color=f"C{k}", alpha=shade, lw=0))
left.set(aspect="equal", xlim=(-0.65, 0.95), ylim=(-1.15, 0.05))
left.axis("off")
for k in range(balls):
    right.plot(run.times, -angles[:, k], color=f"C{k}", label=f"{k + 1}")
right.set(xlabel="time [s]", ylabel="angle [degrees]", ylim=(-33, 48))
right.legend(title="ball", ncols=5, loc="upper center", handlelength=1.0, columnspacing=0.9)
fig.savefig("newtons_cradle.png")

energy = run.kinetic_energy + run.potential_energy
assert np.ptp(energy) < 1e-9 * 9.81, "impacts without loss keep the energy"
assert np.allclose(angles[:, 3:].min(axis=0), -30, atol=0.05), "two fly out as far as two have fallen"
assert np.abs(angles[:, 2]).max() < 1e-6, "and the one in the middle stays"
