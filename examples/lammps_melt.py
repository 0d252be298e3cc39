"""A model written to a LAMMPS data file and read back has the same energies and the same path.

The model is a small melt of bead-spring chains, with the units and commands of LAMMPS.
"""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import matplotlib.pyplot as plt
import numpy as np

import articulon as ar

plt.style.use(Path(__file__).with_name("paper.mplstyle"))
chains, beads, density = 24, 8, 0.6
edge = (chains * beads / density) ** (1 / 3)
b = ar.ModelBuilder(units="lj", box=ar.Box(lengths=(edge,) * 3))
rng = np.random.default_rng(1)
side = np.arange(5) * edge / 5
starts = np.array([(0, y, z) for y in side for z in side])[:chains]
places = starts[:, None] + np.arange(beads)[None, :, None] * np.array([edge / beads, 0, 0])
b.add_particles(
    chains * beads, mass=1.0, positions=places.reshape(-1, 3), velocities=rng.normal(size=(chains * beads, 3)), kind="1"
)
first = (beads * np.arange(chains)[:, None] + np.arange(beads - 1)).ravel()
bonds = np.c_[first, first + 1].tolist()
b.add_force(ar.forces.FeneBonds(bonds=bonds, stiffness=30.0, extent=1.5, epsilon=1.0, sigma=1.0))
b.add_force(ar.forces.Exclusions(bonds=bonds, bonds_apart=1))
b.add_force(
    ar.forces.LennardJones(parameters={"1": {"epsilon": 1.0, "sigma": 1.0}}, cutoff=2 ** (1 / 6), truncation="shifted")
)
model = b.build()
with TemporaryDirectory() as folder:
    file = Path(folder) / "melt.data"
    ar.lammps.write_data(model, model.q0, model.u0, file)
    lines = file.read_text(encoding="utf-8").splitlines()
    commands = ["pair_style lj/cut 1.122462048309373", "pair_modify shift yes", "special_bonds fene"]
    again = ar.lammps.read_data(file, commands=commands)
how = {"rule": "velocity-verlet", "step": 0.004, "frames": 50}
duration = 2.0 if "--short" in sys.argv else 20.0
ours, theirs = (ar.simulate(one, duration, **how) for one in (model, again))
apart = np.abs(ours.q - theirs.q).max(axis=1)

fig, (left, right) = plt.subplots(1, 2, width_ratios=(1, 1.4))
left.text(
    0, 1, "\n".join(line for line in lines[:14]), family="monospace", fontsize=6.5, va="top", transform=left.transAxes
)
left.axis("off")
energy = ours.kinetic_energy + ours.potential_energy
right.plot(ours.times, ours.potential_energy / len(model.q0) * 3, label="potential, as built")
right.plot(theirs.times[::3], theirs.potential_energy[::3] / len(model.q0) * 3, "o", ms=3, label="read from the file")
right.plot(ours.times, energy / len(model.q0) * 3, label="total")
right.set(xlabel="time", ylabel="energy of a bead")
right.legend()
fig.savefig("lammps_melt.png")

assert np.isclose(ar.potential_energy(model, model.q0), ar.potential_energy(again, again.q0), rtol=1e-12), (
    "the same energy"
)
assert apart[ours.times < 0.5].max() < 1e-9, "and the same path, until chaos parts rounding"
assert np.ptp(energy) < 0.01 * ours.kinetic_energy.mean(), "energy is conserved"
