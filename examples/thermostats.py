"""Langevin, Nosé–Hoover and stochastic rescaling thermostats give the canonical kinetic energy distribution.

Each thermostat controls a fluid of 32 particles. With the modified Nosé–Hoover thermostat the distribution is much
narrower, as the authors of this thermostat say.
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import chi2

import articulon as ar

plt.style.use(Path(__file__).with_name("paper.mplstyle"))
duration = 300.0 if "--short" in sys.argv else 1500.0
n, temperature = 32, 1.0
edge = (n / 0.6) ** (1 / 3)
corners = np.indices((2,) * 3).reshape(3, -1).T[:, None]
lattice = (corners + np.array([(0, 0, 0), (0.5, 0.5, 0), (0.5, 0, 0.5), (0, 0.5, 0.5)])).reshape(-1, 3)
speeds = np.random.default_rng(1).normal(size=(n, 3))
b = ar.ModelBuilder(units="lj", box=ar.Box(lengths=(edge,) * 3))
b.add_particles(n, mass=1.0, positions=lattice * edge / 2, velocities=speeds - speeds.mean(0), kind="A")
b.add_force(ar.forces.WeeksChandlerAndersen(parameters={"A": {"epsilon": 1.0, "sigma": 1.0}}))
model = b.build()
removed = {"temperature": temperature, "centre_of_mass": "removed"}
kinds = {
    "Langevin\n": ar.thermostats.Langevin(temperature=temperature, friction=1.0),
    "Nosé–Hoover\nchain": ar.thermostats.NoseHooverChain(period=1.0, **removed),
    "stochastic\nrescaling": ar.thermostats.StochasticVelocityRescaling(time=0.5, **removed),
    "modified\nNosé–Hoover": ar.thermostats.ModifiedNoseHoover(period=1.0, derivative_gain=1.0, **removed),
}
grid = np.linspace(0.4, 1.7, 300)

fig, axes = plt.subplots(1, 4, sharey=True, figsize=(6.0, 2.4))
for ax, (name, thermostat) in zip(axes, kinds.items()):
    run = ar.simulate(
        model, duration, rule="velocity-verlet", step=0.005, thermostat=thermostat, frames=int(duration / 0.1)
    )
    freedoms = 3 * n if name == "Langevin\n" else 3 * (n - 1)  # noise moves the centre of mass too
    T = 2 * run.kinetic_energy[len(run.times) // 10 :] / freedoms
    ax.hist(T, bins=40, density=True, color="C5")
    ax.plot(grid, freedoms * chi2.pdf(freedoms * grid, freedoms), color="C1", lw=1)
    ax.set(title=name, xlabel="temperature", xlim=(0.4, 1.7))
    spread = T.std() / np.sqrt(2 / freedoms)
    assert abs(T.mean() - temperature) < 0.03, f"{name}: the mean temperature"
    assert abs(spread - 1) < 0.1 or (name.startswith("modified") and spread < 0.5), f"{name}: the canonical spread"
axes[0].set(ylabel="density")
axes[-1].set_ylim(0, 4.5)
fig.savefig("thermostats.png")
