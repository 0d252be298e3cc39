"""The energy of two ions in an implicit solvent approaches Born's energy and screened Coulomb attraction.

The figure shows the generalised Born energy of two opposite charges as a function of their distance. If the charges are
far apart, their Coulomb attraction in water is weaker than in vacuum by the factor of the relative permittivity of
water.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import articulon as ar

plt.style.use(Path(__file__).with_name("paper.mplstyle"))
coulomb, water = 138.935458, 78.5  # kJ/mol nm/e², relative permittivity
radius, offset = 0.17, 0.009
b = ar.ModelBuilder(units="Da-nm-ps")
b.add_particles(2, mass=23.0, positions=[(0, 0, 0), (1, 0, 0)], charge=[1.0, -1.0], kind="ion")
b.add_force(ar.forces.GeneralizedBorn(radii=radius, scales=0.8, surface_tension=0.0, solvent_permittivity=water))
b.add_force(ar.forces.Coulomb())
model = b.build()

distance = np.geomspace(0.3, 100, 120)
Q = np.zeros((distance.size, 6))
Q[:, 3] = distance
total = np.asarray(ar.potential_energy(model, Q))
born = -coulomb * (1 - 1 / water) / (radius - offset)  # sum of both ions alone
screened = born - coulomb / (water * distance)

fig, ax = plt.subplots()
ax.semilogx(distance, total - born, label="generalised Born and Coulomb")
ax.semilogx(distance, screened - born, "--", label=r"$-q^2/4\pi\epsilon_0\epsilon_r r$")
ax.semilogx(distance, -coulomb / distance, ":", color="0.5", label="in vacuum")
ax.set(xlabel="distance [nm]", ylabel="energy of the pair [kJ/mol]", ylim=(-30, 5), xlim=(0.3, 100))
ax.legend()
fig.savefig("born_ions.png")

far = distance > 20
assert np.allclose(total[far], screened[far], rtol=2e-4), "Born's energies and screened Coulomb far apart"
