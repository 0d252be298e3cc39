"""Ewald's sum gives Madelung's constant of rock salt to as many digits as requested.

For each precision the method chooses how to split the sum into a part in real space and a part in reciprocal space.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import articulon as ar

plt.style.use(Path(__file__).with_name("paper.mplstyle"))
exact = 1.7475645946331822
edge = 4
grid = np.indices((edge,) * 3).reshape(3, -1).T
charges = np.where(grid.sum(axis=1) % 2 == 0, 1.0, -1.0)


def constant(force) -> float:
    """Minus twice the energy of an ion, with one unit of length between neighbours."""
    b = ar.ModelBuilder(units="lj", box=ar.Box(lengths=(edge,) * 3))
    b.add_particles(len(grid), mass=1.0, positions=grid, charge=charges, kind="ion")
    b.add_force(force)
    model = b.build()
    return -2 * float(ar.potential_energy(model, model.q0)) / len(grid)


precisions = 10.0 ** -np.arange(2, 13)
errors = [abs(constant(ar.forces.Ewald(precision=p)) / exact - 1) for p in precisions]

# Sums over larger and larger cubes: with whole ions at the faces the sum oscillates; Evjen's fractions prevent this.
plain, evjen = [], []
for half in range(1, 9):
    x = np.indices((2 * half + 1,) * 3).reshape(3, -1).T - half
    r = np.linalg.norm(x, axis=1)
    sign = np.where(x.sum(axis=1) % 2 == 0, 1.0, -1.0)
    part = 0.5 ** (np.abs(x) == half).sum(axis=1)
    plain.append(-(sign[r > 0] / r[r > 0]).sum())
    evjen.append(-(sign * part)[r > 0] @ (1 / r[r > 0]))

fig, (left, right) = plt.subplots(1, 2)
left.plot(range(1, 9), plain, "o-", label="cubes of ions")
left.plot(range(1, 9), evjen, "s-", label="Evjen's fractions")
left.axhline(exact, color="k", lw=0.7)
left.set(xlabel="half edge of the cube", ylabel="Madelung's constant")
left.legend()
right.loglog(precisions, np.maximum(errors, 1e-16), "o-", label="Ewald's sum")
right.loglog(precisions, precisions, "k:", lw=0.8)
right.set(xlabel="precision asked for", ylabel="error", xlim=(2e-2, 5e-13))
right.legend()
fig.savefig("madelung.png")

assert np.all(np.array(errors) < 3 * precisions + 1e-14), "each sum is as precise as was asked for"
