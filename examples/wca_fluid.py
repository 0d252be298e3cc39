"""Soft repulsive spheres have the pressure of hard spheres with the Barker–Henderson diameter.

The spheres repel each other by the potential of Weeks, Chandler and Andersen, at kT = ε. The reference is Carnahan and
Starling's equation with the effective diameter.
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from scipy.integrate import quad

import articulon as ar

plt.style.use(Path(__file__).with_name("paper.mplstyle"))
short = "--short" in sys.argv
cells, temperature, duration = 4, 1.0, (4.0 if short else 30.0)
densities = [0.2, 0.6] if short else [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7]
corners = np.indices((cells,) * 3).reshape(3, -1).T[:, None]
lattice = (corners + np.array([(0, 0, 0), (0.5, 0.5, 0), (0.5, 0, 0.5), (0, 0.5, 0.5)])).reshape(-1, 3)
n, end = len(lattice), 2 ** (1 / 6)
diameter = quad(lambda r: 1 - np.exp(-(4 * (r**-12 - r**-6) + 1) / temperature), 0.3, end)[0] + 0.3
second = (
    2
    * np.pi
    / 3
    * (0.3**3 + 3 * quad(lambda r: r**2 * (1 - np.exp(-(4 * (r**-12 - r**-6) + 1) / temperature)), 0.3, end)[0])
)


def carnahan_starling(density):
    eta = np.pi / 6 * density * diameter**3
    return (1 + eta + eta**2 - eta**3) / (1 - eta) ** 3


Z, errors = [], []
for density in densities:
    edge = (n / density) ** (1 / 3)
    speeds = np.random.default_rng(1).normal(size=(n, 3))
    b = ar.ModelBuilder(units="lj", box=ar.Box(lengths=(edge,) * 3))
    b.add_particles(n, mass=1.0, positions=lattice * edge / cells, velocities=speeds, kind="A")
    b.add_force(ar.forces.WeeksChandlerAndersen(parameters={"A": {"epsilon": 1.0, "sigma": 1.0}}))
    model = b.build()
    bath = ar.thermostats.Langevin(temperature=temperature, friction=1.0)
    run = ar.simulate(model, duration, rule="velocity-verlet", step=0.004, thermostat=bath, frames=int(duration / 0.05))
    virials = np.array([ar.virial(model, q).trace() for q in run.q[len(run.q) // 4 :]])
    blocks = virials[: len(virials) // 8 * 8].reshape(8, -1).mean(axis=1) / (3 * n * temperature)
    Z.append(1 + blocks.mean())
    errors.append(blocks.std(ddof=1) / np.sqrt(8))
Z, errors = np.array(Z), np.array(errors)

fine = np.linspace(0, 0.75, 100)
fig, ax = plt.subplots()
ax.plot(fine, carnahan_starling(fine), label=f"hard spheres of diameter {diameter:.4f} σ")
ax.plot(fine, 1 + second * fine, "--", color="0.6", label="second virial coefficient")
ax.errorbar(densities, Z, 2 * errors, fmt="o", color="C1", label=f"{n} soft spheres")
ax.set(xlabel=r"density [$\sigma^{-3}$]", ylabel=r"$p/\rho kT$", ylim=(1, None))
ax.legend()
fig.savefig("wca_fluid.png")

assert np.all(np.abs(Z - carnahan_starling(np.array(densities))) < 4 * errors + 0.03 * Z), "hard spheres, to 3 %"
