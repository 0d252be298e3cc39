"""The pressure of a fluid of hard spheres agrees with Carnahan and Starling's equation.

The simulation goes from impact to impact, without time steps and without a potential. The compressibility factor
follows from the momentum that the impacts transfer.
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import articulon as ar

plt.style.use(Path(__file__).with_name("paper.mplstyle"))
short = "--short" in sys.argv
duration = 6.0 if short else 30.0
packing = np.array([0.1, 0.3, 0.45]) if short else np.array([0.05, 0.1, 0.2, 0.3, 0.4, 0.45, 0.49])


def carnahan_starling(eta):
    return (1 + eta + eta**2 - eta**3) / (1 - eta) ** 3


cells, diameter = 5, 1.0
corners = np.indices((cells,) * 3).reshape(3, -1).T
lattice = (corners[:, None] + np.array([(0, 0, 0), (0.5, 0.5, 0), (0.5, 0, 0.5), (0, 0.5, 0.5)])).reshape(-1, 3)
n = len(lattice)
Z, errors = [], []
for eta in packing:
    edge = (n * np.pi / 6 * diameter**3 / eta) ** (1 / 3)
    speeds = np.random.default_rng(1).normal(size=(n, 3))
    b = ar.ModelBuilder(units="lj", box=ar.Box(lengths=(edge,) * 3))
    b.add_particles(
        n, mass=1.0, radius=diameter / 2, positions=lattice * edge / cells, velocities=speeds - speeds.mean(0)
    )
    b.add_force(ar.forces.Impacts(restitution=1.0))
    run = ar.simulate(b.build(), duration, rule="event-driven", frames=40)
    blocks = run.observables["compressibility_factor"][9:].reshape(8, -1).mean(axis=1)  # after the lattice has melted
    Z.append(blocks.mean())
    errors.append(blocks.std(ddof=1) / np.sqrt(8))
    assert np.ptp(run.kinetic_energy) < 1e-9 * n, "impacts without loss keep the energy"
Z, errors = np.array(Z), np.array(errors)

fig, (left, right) = plt.subplots(1, 2, width_ratios=(1.3, 1))
eta = np.linspace(0, 0.5, 200)
left.plot(eta, carnahan_starling(eta), label="Carnahan and Starling")
left.plot(eta, 1 + 4 * eta, "--", color="0.6", label="second virial coefficient")
left.errorbar(packing, Z, errors, fmt="o", label=f"{n} spheres")
left.set(xlabel="packing fraction", ylabel=r"$pV/NkT$")
left.legend()
right.errorbar(packing, 100 * (Z / carnahan_starling(packing) - 1), 200 * errors / Z, fmt="o", color="C2", capsize=2)
right.axhline(0, color="0.6", lw=0.8)
right.set(xlabel="packing fraction", ylabel="departure [%], 95 %")
fig.savefig("hard_sphere_pressure.png")

# The equation is accurate to a few per mille; the fixed centre of mass changes Z by a fraction of 1/N.
off = np.abs(Z - carnahan_starling(packing))
assert np.all(off < 4 * errors + 0.01 * Z), "within the error of the mean and of the equation"
