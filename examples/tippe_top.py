"""A tippe top turns upside down: contact friction lifts its centre of mass and keeps Jellett's constant.

The top is a sphere with its centre of mass off its middle. It spins on a table. The contact with the table follows
Hertz's law, with sliding friction. The energy that the rotation loses becomes heat and lifts the centre of mass.
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import articulon as ar

plt.style.use(Path(__file__).with_name("paper.mplstyle"))
radius, offset, mass = 0.02, 0.006, 0.02
duration, step = (0.6 if "--short" in sys.argv else 2.5), 4e-5
across, along = 0.45 * mass * radius**2, 0.42 * mass * radius**2
tilt = 0.1
b = ar.ModelBuilder(units="kg-m-s")
q = (0, 0, radius - offset * np.cos(tilt), np.cos(tilt / 2), 0, np.sin(tilt / 2), 0)
spin = 250.0
u = (0, 0, 0, -spin * np.sin(tilt), 0, spin * np.cos(tilt))  # spin about the vertical, in the body's frame
b.add_body("top", mass=mass, inertia=(across, across, along), joint=ar.Free(), q=q, u=u)
b.add_site("top", position=(0, 0, offset), kind="wood", radius=radius)
b.add_force(ar.forces.Gravity(acceleration=(0, 0, -9.81)))
wood = {"young": "2 MPa", "poisson": 0.3, "static_friction": 0.3, "restitution": 0.3}
table = ar.forces.Plane(point=(0, 0, 0), normal=(0, 0, 1), kind="wood")
b.add_force(ar.forces.Contact(materials={"wood": wood}, walls=[table]))
model = b.build()
run = ar.simulate(model, duration, rule="velocity-verlet", step=step, frames=500)

q0, q1, q2, q3 = run.q[:, 3:].T
axis = np.c_[2 * (q1 * q3 + q0 * q2), 2 * (q2 * q3 - q0 * q1), q0**2 - q1**2 - q2**2 + q3**2]
up = np.c_[2 * (q1 * q3 - q0 * q2), 2 * (q2 * q3 + q0 * q1), axis[:, 2]]  # the vertical in the body's frame
inertia = np.array([across, across, along])
momentum = run.u[:, 3:] * inertia
# Jellett: L times the vector from the contact to the centre of mass, which no force at the contact changes.
jellett = radius * np.sum(momentum * up, axis=1) - offset * momentum[:, 2]
energy = run.kinetic_energy + run.potential_energy

fig, axes = plt.subplots(3, 1, sharex=True, figsize=(6.0, 4.2))
axes[0].plot(run.times, np.degrees(np.arccos(axis[:, 2])))
axes[0].set(ylabel="tilt [degrees]", ylim=(0, 180), yticks=(0, 90, 180))
axes[1].plot(run.times, 1e3 * run.q[:, 2])
axes[1].set(ylabel="centre of mass [mm]")
axes[2].plot(run.times, jellett / jellett[0], label="Jellett's constant")
axes[2].plot(run.times, energy / energy[0], label="energy")
axes[2].set(xlabel="time [s]", ylabel="relative to start", ylim=(0, 1.1))
axes[2].legend(loc="lower left")
fig.savefig("tippe_top.png")

assert np.abs(jellett / jellett[0] - 1).max() < 0.01, "Jellett's constant, but for the depth of the contact"
assert np.all(np.diff(energy) < 1e-3 * energy[0]), "friction takes energy"
assert "--short" in sys.argv or axis[-1, 2] < -0.8, "it stands on its head"
