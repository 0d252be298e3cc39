"""The energy of alanine dipeptide as a function of φ and ψ, in vacuum and in an implicit solvent.

The two angles are coordinates of one model. All bonds and bond angles are rigid, and all other torsions stay fixed, so
the map consists of two thousand evaluations of the energy.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import articulon as ar
from articulon import molecules

plt.style.use(Path(__file__).with_name("paper.mplstyle"))
dipeptide = molecules.peptide(["ACE", "ALA", "NME"], phi=-80.0, psi=80.0)
articulation = molecules.perceive(dipeptide)
names = [torsion.name for torsion in articulation.torsions]
angles = np.linspace(-180, 180, 49)

fig, axes = plt.subplots(1, 2, sharey=True, figsize=(6.0, 2.9))
maps = []
for ax, (title, solvent) in zip(axes, (("vacuum", None), ("implicit water (OBC2)", "obc2"))):
    model = molecules.force_field_model(dipeptide, articulation, "amber14", **({"solvent": solvent} if solvent else {}))
    phi, psi = 7 + names.index("phi"), 7 + names.index("psi")
    Q = np.tile(model.q0, (angles.size**2, 1))
    Q[:, phi], Q[:, psi] = (np.radians(grid.ravel()) for grid in np.meshgrid(angles, angles))
    energy = ar.potential_energy(model, Q).reshape(angles.size, -1)
    energy -= energy.min()
    maps.append(energy)
    filled = ax.contourf(angles, angles, np.minimum(energy, 60), levels=np.arange(0, 61, 5), cmap="viridis_r")
    ax.contour(angles, angles, energy, levels=[5, 10, 20], colors="k", linewidths=0.4)
    ax.set(title=title, xlabel="φ [degrees]", xticks=range(-180, 181, 90), yticks=range(-180, 181, 90), aspect="equal")
axes[0].set(ylabel="ψ [degrees]")
fig.colorbar(filled, ax=axes, label="energy [kJ/mol]")
fig.savefig("peptide_map.png")

for energy in maps:
    assert np.allclose(energy[0], energy[-1], atol=1e-6) and np.allclose(energy[:, 0], energy[:, -1], atol=1e-6), (
        "periodic"
    )
    row, column = np.unravel_index(energy.argmin(), energy.shape)
    assert -170 < angles[column] < -40, "the favoured φ is negative, as of all L-amino acids"
# The force is minus the slope of the energy.
q, h = model.q0.copy(), 1e-5
ends = [ar.potential_energy(model, np.where(np.arange(q.size) == phi, q + s * h, q)) for s in (1, -1)]
force = ar.generalized_forces(model, q, np.zeros(model.nu))[phi - 1]
assert np.isclose(force, -(ends[0] - ends[1]) / (2 * h), rtol=1e-5, atol=1e-3), "forces are slopes of the energy"
