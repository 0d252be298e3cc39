"""A Lennard-Jones fluid near its triple point: radial distribution function, and pressure in two ways.

A lattice melts under a thermostat that hardly changes the dynamics. The pressure from the virial equals the pressure
from an integral over the radial distribution function g(r).
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import articulon as ar

plt.style.use(Path(__file__).with_name("paper.mplstyle"))
cells, density, temperature = 6, 0.8, 1.0
corners = np.indices((cells,) * 3).reshape(3, -1).T[:, None]
lattice = (corners + np.array([(0, 0, 0), (0.5, 0.5, 0), (0.5, 0, 0.5), (0, 0.5, 0.5)])).reshape(-1, 3)
n = len(lattice)
edge = (n / density) ** (1 / 3)
b = ar.ModelBuilder(units="lj", box=ar.Box(lengths=(edge,) * 3))
speeds = np.random.default_rng(1).normal(size=(n, 3))
b.add_particles(n, mass=1.0, positions=lattice * edge / cells, velocities=speeds - speeds.mean(0), kind="A")
lj = {"A": {"epsilon": 1.0, "sigma": 1.0}}
b.add_force(ar.forces.LennardJones(parameters=lj, cutoff=3.0, truncation="force-shifted"))
model = b.build()
warm = ar.thermostats.StochasticVelocityRescaling(temperature=temperature, time=0.5)
duration = 8.0 if "--short" in sys.argv else 40.0
run = ar.simulate(model, duration, rule="velocity-verlet", step=0.004, thermostat=warm, frames=int(duration / 0.2))

g = np.zeros(360)
edges = np.linspace(0, 3.6, 361)
late = range(len(run.times) // 4, len(run.times))
for frame in late:
    x = run.positions[frame]
    d = x[:, None] - x[None]
    d -= edge * np.round(d / edge)
    g += np.histogram(np.sqrt((d**2).sum(-1)[np.triu_indices(n, 1)]), edges)[0]
r = 0.5 * (edges[1:] + edges[:-1])
g *= 2 / (n * density * len(late) * 4 / 3 * np.pi * np.diff(edges**3))
pressures = np.array([ar.pressure(model, run.q[k], run.u[k]) for k in late])
slope = np.where(r < 3.0, 24 * (r**-7 - 2 * r**-13) - 24 * (3.0**-7 - 2 * 3.0**-13), 0.0)  # of the force-shifted law
by_g = density * temperature - 2 / 3 * np.pi * density**2 * np.trapezoid(slope * g * r**3, r)

fig, (left, right) = plt.subplots(1, 2, width_ratios=(1.7, 1))
left.plot(r, g)
left.axhline(1, color="0.7", lw=0.8)
left.set(xlabel=r"$r/\sigma$", ylabel="g(r)", xlim=(0, 3.6), ylim=(0, None))
right.plot(run.times[late], pressures, lw=0.6, color="C5")
right.axhline(pressures.mean(), label="virial")
right.axhline(by_g, color="C1", ls="--", label="from g(r)")
right.set(xlabel="time", ylabel=r"pressure [$\epsilon/\sigma^3$]")
right.legend()
fig.savefig("lennard_jones_fluid.png")

mean = run.observables["temperature_kinetic"][late].mean()
assert abs(mean - temperature) < 5 * np.sqrt(2 / (3 * n * len(late))) + 0.01, "the thermostat keeps its temperature"
assert abs(pressures.mean() - by_g) < 0.05, "the pressure of the virial is that of g(r)"
assert abs(g[(r > 2.9)].mean() - 1) < 0.02 and 2.4 < g.max() < 3.1, "a liquid's structure"
