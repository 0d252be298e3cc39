"""The modes of an ideal chain relax as in Rouse's theory: 1/τ_p grows as sin²(pπ/2N).

Beads on harmonic bonds move by Brownian dynamics without inertia. The normal modes of the chain of N beads are cosines
along the chain, and τ_p is the relaxation time of mode p.
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import articulon as ar

plt.style.use(Path(__file__).with_name("paper.mplstyle"))
beads, chains, stiffness, friction, temperature = 16, 64, 3.0, 1.0, 1.0
step, duration = 0.01, 60.0 if "--short" in sys.argv else 400.0
rng = np.random.default_rng(1)
steps = np.sqrt(temperature / stiffness) * rng.normal(size=(chains, beads, 3))
b = ar.ModelBuilder(units="lj")
b.add_particles(beads * chains, mass=1.0, positions=np.cumsum(steps, axis=1).reshape(-1, 3), kind="A")
first = (beads * np.arange(chains)[:, None] + np.arange(beads - 1)).ravel()
b.add_force(ar.forces.HarmonicBonds(bonds=np.c_[first, first + 1].tolist(), stiffness=stiffness, length=0.0))
model = b.build()
bath = ar.thermostats.Overdamped(temperature=temperature, friction=friction)
run = ar.simulate(model, duration, rule="ermak-mccammon", step=step, thermostat=bath, frames=int(duration / 0.1))

x = run.positions.reshape(-1, chains, beads, 3)
p = np.arange(1, beads)
cosines = np.cos(np.pi * p[:, None] * (np.arange(beads) + 0.5) / beads) * np.sqrt(2 / beads)
modes = np.einsum("pk,fckd->pfcd", cosines, x).reshape(len(p), len(x), -1)
eigenvalues = 4 * stiffness * np.sin(np.pi * p / (2 * beads)) ** 2
variances = (modes**2).mean(axis=(1, 2))

fig, (left, right) = plt.subplots(1, 2)
found = []
for k in range(len(p)):
    tau = friction * 1 / eigenvalues[k]
    lags = np.unique(np.linspace(0, min(2.0 * tau, duration / 8) / 0.1, 12).astype(int))
    decay = np.array([(modes[k, : len(x) - lag] * modes[k, lag:]).mean() for lag in lags]) / variances[k]
    keep = decay > 0.2
    found.append(-1 / np.polyfit(0.1 * lags[keep], np.log(decay[keep]), 1)[0])
    if k in (0, 1, 2, 4):
        left.semilogy(0.1 * lags, decay, "o", color=f"C{k}", ms=3, label=f"p = {k + 1}")
        left.semilogy(0.1 * lags, np.exp(-0.1 * lags / tau), color=f"C{k}", lw=1)
left.set(xlabel="time", ylabel=r"$\langle X_p(t)\cdot X_p(0)\rangle/\langle X_p^2\rangle$")
left.legend()
right.loglog(p, friction / eigenvalues, label=r"$\gamma/4k\,\sin^2(p\pi/2N)$")
right.loglog(p, found, "o", label="simulated")
right.set(xlabel="mode p", ylabel="relaxation time")
right.legend()
fig.savefig("rouse_chain.png")

expected = temperature / (eigenvalues * (1 - eigenvalues * step / (2 * friction)))  # with the error of Euler's steps
samples = np.maximum(duration * eigenvalues / 2, 1) * 3 * chains
assert np.all(np.abs(variances / expected - 1) < 5 * np.sqrt(2 / samples) + 0.002), "equipartition"
assert np.allclose(found[:6], friction / eigenvalues[:6], rtol=0.2 if "--short" in sys.argv else 0.1), "Rouse's times"
