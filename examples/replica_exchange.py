"""Replica exchange over temperatures crosses a barrier of fifteen kT; a plain run stays in its well.

The system is a rotor with a double-well torsion potential. Hot replicas cross the barrier, and exchanges pass states
from both wells down to the cold ones. At each temperature the two wells are populated in the right proportion.
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import articulon as ar

plt.style.use(Path(__file__).with_name("paper.mplstyle"))
height, tilt, duration = 15.0, 0.6, (500.0 if "--short" in sys.argv else 2500.0)
temperatures = (1.0, 2.2, 5.0, 11.0)
grid = np.linspace(-np.pi / 2, 3 * np.pi / 2, 801)


def density(temperature):
    """Boltzmann's, on the grid."""
    weight = np.exp(-(height * (1 - np.cos(2 * grid)) / 2 + tilt * np.cos(grid)) / temperature)
    return weight / np.trapezoid(weight, grid)


b = ar.ModelBuilder(units="lj")
b.add_body("rotor", mass=1.0, inertia=1.0, joint=ar.Revolute(axis=(0, 0, 1)), q=0.0)
ground = [b.add_site(None, position=place) for place in ((1, 0, 0), (0, 0, 0), (0, 0, 1))]
dihedral = [*ground, b.add_site("rotor", position=(1, 0, 1))]
b.add_force(
    ar.forces.PeriodicDihedrals(
        dihedrals=[dihedral, dihedral], stiffness=[height / 2, tilt], multiplicity=[2, 1], phase=[np.pi, 0.0]
    )
)
model = b.build()
how = {"rule": "friction-implicit", "step": 0.05, "thermostat": ar.thermostats.Langevin(temperature=1.0, friction=1.0)}
plain = ar.simulate(model, duration, frames=int(duration), **how)
exchange = ar.replica_exchange(model, duration, every=2.0, temperatures=temperatures, frames=2, **how)

fig, axes = plt.subplots(2, 2, sharex="col", sharey=True, width_ratios=(2, 1), figsize=(6.0, 3.6))
for (path, histogram), (run, title) in zip(axes, ((plain, "plain run"), (exchange.runs[0], "exchange"))):
    angle = np.mod(run.q[:, 0] + np.pi / 2, 2 * np.pi) - np.pi / 2
    path.plot(run.times, np.degrees(angle), ".", ms=1.5, color="C0")
    path.set(ylabel=f"{title}\nangle [degrees]", ylim=(-90, 270), yticks=(0, 180))
    histogram.hist(
        np.degrees(angle), bins=60, range=(-90, 270), density=True, orientation="horizontal", color="C5", label="run"
    )
    histogram.plot(density(1.0) * np.pi / 180, np.degrees(grid), color="C1", lw=1, label="Boltzmann")
    histogram.set(xticks=())
axes[1, 0].set(xlabel="time")
axes[1, 1].set(xlabel="density")
axes[0, 1].legend()
fig.savefig("replica_exchange.png")

for temperature, run in zip(temperatures, exchange.runs):
    other = np.cos(run.q[len(run.q) // 10 :, 0]) < 0  # without the first tenth, in which it leaves its first well
    exact = np.trapezoid(density(temperature) * (np.cos(grid) < 0), grid)
    blocks = np.array_split(other, 10)
    error = np.std([block.mean() for block in blocks], ddof=1) / np.sqrt(10)
    # Student's t with nine degrees of freedom exceeds 4.8 with a probability of a thousandth.
    assert abs(other.mean() - exact) < 4.8 * error, "both wells in their proportion"
rate = np.sqrt(2 * height) / np.pi * np.exp(-(height - tilt))  # of transition-state theory, an upper bound, both ways
assert rate * duration < 0.01 and np.all(np.cos(plain.q[:, 0]) > 0), "the plain run stays where it began"
