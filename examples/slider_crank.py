"""The motion of the piston of a slider-crank at steady speed, and the torque that drives it.

The stroke and acceleration agree with the closed form. Only the drive does work, so its torque times its speed equals
the rate of change of the kinetic energy.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import articulon as ar

plt.style.use(Path(__file__).with_name("paper.mplstyle"))
r, rod, speed = 0.04, 0.14, 2 * np.pi * 50  # crank and rod [m], 3000 turns a minute
hinge = ar.Revolute(axis=(0, 0, 1))
b = ar.ModelBuilder(units="kg-m-s")
b.add_body("crank", mass=2.0, inertia=2e-3, joint=hinge, q=0.0)
b.add_body("rod", parent="crank", mass=0.6, inertia=1.2e-3, com=(rod / 3, 0, 0), joint=hinge, position=(r, 0, 0), q=0.0)
b.add_body("piston", mass=0.5, inertia=1e-4, joint=ar.Prismatic(axis=(1, 0, 0)), q=r + rod)
b.add_loop("gudgeon", joint=hinge, parent="rod", child="piston", position=(rod, 0, 0))
turns = np.linspace(0, 0.08, 17)
b.add_drive("crank", times=turns, values=speed * turns)
model = b.build()
run = ar.simulate(model, 0.04, rtol=1e-10, atol=1e-12, frames=400)

angle = run.q[:, 0]
exact = r * np.cos(angle) + np.sqrt(rod**2 - (r * np.sin(angle)) ** 2)
accelerations = np.array(
    [ar.forward_dynamics(model, q, u, forces=True, time=t) for t, q, u in zip(run.times, run.q, run.u)]
)
power = np.array([u @ ar.mass_matrix(model, q) @ a for q, u, a in zip(run.q, run.u, accelerations)])
energy = run.kinetic_energy
rate = np.gradient(energy, run.times, edge_order=2)

fig, (top, bottom) = plt.subplots(2, 1, sharex=True)
top.plot(np.degrees(angle), 1e3 * run.q[:, 2], label="simulated")
top.plot(np.degrees(angle[::20]), 1e3 * exact[::20], "o", label="closed form")
top.set(ylabel="piston [mm]")
top.legend()
bottom.plot(np.degrees(angle), rate / speed)
bottom.axhline(0, color="0.7", lw=0.6)
bottom.set(xlabel="crank angle [degrees]", ylabel="torque [N m]", xlim=(0, 720), xticks=range(0, 721, 90))
fig.savefig("slider_crank.png")

assert np.allclose(run.q[:, 2], exact, atol=1e-10), "the piston is where the closed form has it"
assert np.isclose(run.works[-1].sum(), energy[-1] - energy[0], atol=1e-6 * energy.max()), "only the drive does work"
