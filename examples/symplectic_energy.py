"""Symplectic rules keep the energy for hundreds of swings; a Runge–Kutta rule of order four loses it.

A stiff chain of three bodies swings under gravity.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import articulon as ar

plt.style.use(Path(__file__).with_name("paper.mplstyle"))
b = ar.ModelBuilder(units="kg-m-s")
parent = None
for k in range(3):
    b.add_body(
        f"{k}",
        parent=parent,
        mass=1.0,
        inertia=(0.02, 0.02, 0.001),
        com=(0, 0, -0.25),
        joint=ar.Revolute(axis=(0, 1, 0)),
        position=(0, 0, -0.5 if k else 0),
        q=0.6,
    )
    parent = f"{k}"
b.add_force(ar.forces.Gravity(acceleration=(0, 0, -9.81)))
b.add_force(ar.forces.TorsionalSprings(stiffness={"1": 20.0, "2": 20.0}))
model = b.build()

fig, ax = plt.subplots()
drift = {}
for rule, step in (("rk4", 0.01), ("velocity-verlet", 0.005), ("implicit-midpoint", 0.01)):
    run = ar.simulate(model, 400.0, rule=rule, step=step, frames=800)
    energy = run.kinetic_energy + run.potential_energy
    error = np.abs(energy - energy[0]) / run.kinetic_energy.max()
    ax.semilogy(run.times, np.maximum.accumulate(error), label=f"{rule}, step {step} s")
    half = len(error) // 2
    drift[rule] = abs(energy[half:].mean() - energy[1:half].mean()) / run.kinetic_energy.max()
ax.set(xlabel="time [s]", ylabel="largest energy error so far,\nof the largest kinetic energy")
ax.legend()
fig.savefig("symplectic_energy.png")

assert drift["velocity-verlet"] < 3e-4 and drift["implicit-midpoint"] < 3e-3, "errors of symplectic rules do not add up"
assert drift["rk4"] > 5 * drift["velocity-verlet"], "those of others do"
