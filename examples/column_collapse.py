"""A column of grains collapses into a heap, and the ledger shows where its energy goes.

The column of spheres stands in a channel that is periodic across its width. The column collapses when the gate in front
of it opens. The ledger shows how much of the energy from gravity is dissipated by damping, sliding and rolling.
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.collections import EllipseCollection

import articulon as ar

plt.style.use(Path(__file__).with_name("paper.mplstyle"))
columns, rows, depth = (6, 6, 3) if "--short" in sys.argv else (12, 16, 3)
rng = np.random.default_rng(1)
radius, spacing = 2e-3, 5e-3
z, x, y = np.meshgrid(np.arange(rows), np.arange(columns), np.arange(depth), indexing="ij")
places = (np.c_[x.ravel(), y.ravel(), z.ravel()] + 0.5) * spacing
places += 0.2 * radius * rng.uniform(-1, 1, places.shape)  # so that the packing is disordered
radii = radius * rng.uniform(0.9, 1.0, len(places))
width = columns * spacing
rough = {"young": "5 MPa", "poisson": 0.25, "static_friction": 0.5, "restitution": 0.3, "rolling_friction": 0.1}
materials = {"grain": rough, "smooth": {**rough, "static_friction": 0.0, "rolling_friction": 0.0}}


def channel(gate: bool):
    """The grains on a rough floor, before a smooth wall, with or without the gate."""
    box = ar.Box(lengths=(1.0, depth * spacing, 1.0), boundaries=("open", "periodic", "open"))
    b = ar.ModelBuilder(units="kg-m-s", box=box)
    b.add_grains(places, radii, density=2500.0)
    b.add_force(ar.forces.Gravity(acceleration=(0, 0, -9.81)))
    walls = [
        ar.forces.Plane(point=(0, 0, 0), normal=(0, 0, 1), kind="grain"),
        ar.forces.Plane(point=(0, 0, 0), normal=(1, 0, 0), kind="smooth"),
        ar.forces.Plane(point=(width, 0, 0), normal=(-1, 0, 0), kind="smooth"),
    ]
    b.add_force(ar.forces.Contact(materials=materials, walls=walls if gate else walls[:2], rolling="spring"))
    return b.build()


how = {"rule": "velocity-verlet", "step": 4e-5}
settled = ar.simulate(channel(gate=True), 0.25, frames=10, **how)
run = ar.simulate(channel(gate=False), 0.6, q=settled.q[-1], u=settled.u[-1], frames=60, **how)
x, z = run.q[:, ::7], run.q[:, 2::7]
front = np.quantile(x, 0.98, axis=1)  # leaves out single grains that roll on
height = z[0].max() + radius
reach = (front[-1] - width) / height

fig, axes = plt.subplots(3, 1, figsize=(6.0, 4.4), height_ratios=(1, 1, 1.3))
layers = np.argsort(np.argsort(z[0])) * 5 // len(radii)
for ax, k in zip(axes, (0, -1)):
    circles = {"units": "x", "offsets": np.c_[x[k], z[k]], "transOffset": ax.transData, "array": layers}
    ax.add_collection(EllipseCollection(2 * radii, 2 * radii, np.zeros(len(radii)), ec="w", lw=0.2, **circles))
    ax.plot([0, 0, 3 * width], [height, 0, 0], color="0.3", lw=1)
    ax.axvline(front[-1], color="C1", ls=":", lw=1)
    ax.set(xlim=(-radius, 3 * width), ylim=(-radius, 1.05 * height), aspect="equal")
    ax.axis("off")
o = run.observables
taken = {"dashpots": -o["work_contact_damping"], "sliding and rolling": -o["work_friction"]}
fallen = o["energy_external"][0] - o["energy_external"]
axes[2].plot(run.times, 1e6 * fallen, "k", label="given by gravity")
axes[2].plot(run.times, 1e6 * o["kinetic_energy"], label="kinetic")
for name, energy in taken.items():
    axes[2].plot(run.times, 1e6 * (energy - energy[0]), label=name)
axes[2].set(xlabel="time [s]", ylabel="energy [µJ]", xlim=(0, run.times[-1]))
axes[2].legend(ncols=2)
fig.savefig("column_collapse.png")

assert np.abs(o["energy_balance"]).max() < 1e-9 * fallen[-1], "every joule is booked"
assert np.all(np.diff(taken["dashpots"]) >= 0), "dashpots only take"
assert 1.0 < reach < 2.5, "run-out over height: 1.2 (beads, Lube et al. 2005) to 2.5 (discs, Staron and Hinch 2005)"
