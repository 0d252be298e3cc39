"""If forces are scaled down, a dragged sphere arrives late, and the verdict on the run says so.

A force that rises and falls drags a sphere through a viscous fluid. If all forces are multiplied by a2 < 1, the
relaxation time grows from m/γ to m/(γ a2), and the sphere is late by the difference of these two times.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import articulon as ar

plt.style.use(Path(__file__).with_name("paper.mplstyle"))
mass, drag, push, period = 1.0, 100.0, 30.0, 40.0
tau = mass / drag
b = ar.ModelBuilder(units="lj")
b.add_body("sphere", mass=mass, inertia=0.1, joint=ar.Prismatic(axis=(1, 0, 0)))
b.add_force(ar.forces.StokesDrag(translational={"sphere": drag}))
times = np.linspace(0, period, 81)
b.add_force(
    ar.forces.JointActuation(
        body="sphere", times=times.tolist(), values=(push * np.sin(np.pi * times / period) ** 2).tolist()
    )
)
model = b.build()
how = {"rule": "kutta-merson", "rtol": 1e-8, "atol": 1e-10, "frames": 400}
unscaled = ar.simulate(model, period, **how)

factors = np.array([0.3, 0.1, 0.03, 0.01, 0.005])
late, verdicts = [], []
for a2 in factors:
    run = ar.simulate(model, period, scaling=ar.scaling.Constant(a2=float(a2)), **how)
    middle = slice(100, 300)
    reached = np.interp(run.q[middle, 0], unscaled.q[:, 0], unscaled.times)
    late.append(np.mean(run.times[middle] - reached))
    verdicts.append(run.fidelity()["verdict"])
late = np.array(late)

fig, ax = plt.subplots()
fine = np.geomspace(3e-3, 0.6, 100)
ax.loglog(fine, 100 * tau * (1 / fine - 1) / period, label=r"$\tau\,(1/a_2 - 1)$ with $\tau = m/\gamma$")
colours = {"trusted": "C2", "suspect": "C4", "violated": "C1", "inconclusive": "0.5"}
for verdict in dict.fromkeys(verdicts):
    these = np.array([v == verdict for v in verdicts])
    ax.loglog(
        factors[these], 100 * late[these] / period, "o", color=colours[verdict], ms=7, label=f"verdict: {verdict}"
    )
ax.axhline(2, color="0.6", ls="--", lw=0.8)
ax.annotate("tolerance", (0.4, 2.2), fontsize=8)
ax.set(xlabel=r"scaling factor $a_2$", ylabel="lateness [% of the run]")
ax.legend()
fig.savefig("lag_of_scaling.png")

assert np.allclose(late, tau * (1 / factors - 1), rtol=0.06), "late by the scaled relaxation time"
assert verdicts[0] == "trusted" and verdicts[-1] in ("suspect", "violated"), "and the run says so itself"
