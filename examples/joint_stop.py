"""A door swings against its stop, and each impact leaves e² of its energy.

The stop is a limit of the joint's range, and a spring pulls the door against the stop. The coefficient of restitution
of the stop is e.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import articulon as ar

plt.style.use(Path(__file__).with_name("paper.mplstyle"))
restitution, stiffness, inertia = 0.7, 2.0, 0.5
b = ar.ModelBuilder(units="kg-m-s")
b.add_body("door", mass=5.0, inertia=inertia, joint=ar.Revolute(axis=(0, 0, 1)), q=1.5)
b.add_force(ar.forces.TorsionalSprings(stiffness={"door": stiffness}))
b.add_force(ar.forces.JointLimits(lower={"door": 0.0}, restitution=restitution))
period = np.pi * np.sqrt(inertia / stiffness)  # half a swing between two impacts
run = ar.simulate(b.build(), 6 * period, rtol=1e-11, atol=1e-13, frames=600)

angle, rate = run.q[:, 0], run.u[:, 0]
energy = run.kinetic_energy + run.potential_energy
knocks = np.floor(run.times / period + 0.5)
expected = energy[0] * restitution ** (2 * knocks)

fig, (left, right) = plt.subplots(1, 2, width_ratios=(1.3, 1))
left.plot(run.times, np.degrees(angle))
left.axhline(0, color="k", lw=2)
left.set(xlabel="time [s]", ylabel="angle of the door [degrees]", ylim=(-4, 90))
right.plot(angle, rate, lw=0.9)
right.axvline(0, color="k", lw=2)
right.set(xlabel="angle [rad]", ylabel="rate [rad/s]")
fig.savefig("joint_stop.png")

between = np.abs(run.times / period + 0.5 - np.round(run.times / period + 0.5)) > 1e-3
assert np.allclose(energy[between], expected[between], rtol=1e-8), "a knock leaves e² of the energy"
assert angle.min() > -1e-10, "the door stays on its side of the stop"
