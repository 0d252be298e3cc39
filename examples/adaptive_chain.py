"""A swinging chain locks its quiet joints: fewer joints move, and all energy is accounted for.

A joint locks when a condition finds that it hardly moves, and is released when it would accelerate. The energy that a
lock removes is kept in a reservoir, so the energy balance still closes.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import articulon as ar

plt.style.use(Path(__file__).with_name("paper.mplstyle"))
links = 24
b = ar.ModelBuilder(units="kg-m-s")
parent = None
for k in range(links):
    b.add_body(
        f"link {k}",
        parent=parent,
        mass=0.05,
        inertia=(4e-5, 4e-5, 1e-6),
        com=(0, 0, -0.05),
        joint=ar.Revolute(axis=(0, 1, 0)),
        position=(0, 0, -0.1 if k else 0),
        q=0.7 if k == 0 else 0.0,
    )
    parent = f"link {k}"
b.add_force(ar.forces.Gravity(acceleration=(0, 0, -9.81)))
b.add_force(ar.forces.JointDamping(rotational={"link *": 2e-3}))
model = b.build()
A = ar.adaptive
group = A.Group(
    bodies=("link *",),
    without=("link 0",),
    lock=A.Speed(below=0.25, window=3),
    release=A.Acceleration(above=25.0),
    choice="nearest",
    energy="reservoir",
)
how = {"rule": "rk4", "step": 1e-3, "frames": 300}
full = ar.simulate(model, 6.0, **how)
run = ar.simulate(model, 6.0, adaptive=A.Adaptive(every=0.01, groups=[group]), **how)

fig, (top, bottom) = plt.subplots(2, 1, sharex=True, figsize=(6.0, 4.0))


def tip(r):
    return r.positions[:, -1, 0] - 0.1 * np.sin(r.q.sum(axis=1))


top.plot(full.times, tip(full), label="every joint free")
top.plot(run.times, tip(run), "--", label="quiet joints locked")
top.set(ylabel="tip [m]")
top.legend()
bottom.step(run.times, run.observables["active_freedoms"], where="post")
bottom.set(xlabel="time [s]", ylabel="joints that move", ylim=(0, links + 1))
fig.savefig("adaptive_chain.png")

o = run.observables
balance = run.kinetic_energy - run.kinetic_energy[0] - run.works.sum(axis=1) + o["reservoir_energy"]
assert np.abs(balance).max() < 1e-5 * run.kinetic_energy.max(), "what locking takes out is booked"
assert o["active_freedoms"].mean() < 0.8 * links, "joints do lock"
assert np.abs(tip(run) - tip(full)).max() < 0.25 * np.ptp(tip(full)), (
    "and the motion stays near that of the whole chain"
)
