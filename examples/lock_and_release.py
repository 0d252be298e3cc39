"""Locking a joint removes energy and conserves momentum: Carnot's theorem on 200 random states.

A freely flying chain locks one joint after the other, and then releases all of them with the energy in the reservoir.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import articulon as ar

plt.style.use(Path(__file__).with_name("paper.mplstyle"))
b = ar.ModelBuilder(units="kg-m-s")
b.add_body("0", mass=1.0, inertia=(0.1, 0.1, 0.02), com=(0, 0, 0.25), joint=ar.Free())
for k in range(1, 8):
    rod = {"mass": 1.0, "inertia": (0.1, 0.1, 0.02), "com": (0, 0, 0.25), "position": (0, 0, 0.5)}
    b.add_body(f"{k}", parent=f"{k - 1}", joint=ar.Spherical(), **rod)
model = b.build()

rng = np.random.default_rng(1)
lost, carnot, momentum, again = [], [], [], []
paths = []
for trial in range(200):
    q = model.q0.copy()
    for start in range(3, model.nq, 4):
        e = rng.normal(size=4)
        q[start : start + 4] = e / np.linalg.norm(e)
    M = ar.mass_matrix(model, q)
    u = np.linalg.solve(np.linalg.cholesky(M).T, rng.normal(size=model.nu))  # thermal speeds
    energies = [0.5 * u @ M @ u]
    names: list[str] = []
    for k in range(1, 8):
        names.append(f"{k}")
        t = ar.lock(model, q, u, names)
        energies.append(0.5 * t.speeds @ M @ t.speeds)
    d = u - t.speeds
    lost.append(t.kept.energy)
    carnot.append(0.5 * d @ M @ d)
    momentum.append(np.abs((M @ u - M @ t.speeds)[~t.locked]).max() / np.abs(M @ u).max())
    back = ar.release(model, q, t.speeds, t.locked, reservoir=t.kept)
    again.append(np.abs(back.speeds - u).max())
    paths.append(np.array(energies) / energies[0])

fig, (left, right) = plt.subplots(1, 2)
left.plot(range(8), np.array(paths[:40]).T, color="0.8", lw=0.6)
left.plot(range(8), np.mean(paths, axis=0), "o-", label="mean of 200 thermal states")
left.plot(range(8), 1 - 3 * np.arange(8) / model.nu, "k--", lw=0.8, label="share of the speeds that are left")
left.set(xlabel="joints locked", ylabel="kinetic energy left", ylim=(0, 1))
left.legend()
right.plot(lost, carnot, ".", ms=3)
right.plot([0, max(lost)], [0, max(lost)], "k-", lw=0.6)
right.set(xlabel="energy lost [J]", ylabel="energy of the lost speeds [J]")
fig.savefig("lock_and_release.png")

assert np.allclose(lost, carnot, rtol=1e-10), "Carnot: the energy lost is that of the lost speeds"
error = np.std(paths, axis=0) / np.sqrt(len(paths))
assert np.all(np.abs(np.mean(paths, axis=0) - 1 + 3 * np.arange(8) / model.nu) <= 4.5 * error), "equipartition"
assert max(momentum) < 1e-11, "momentum in the motions that are left"
assert max(again) < 1e-9, "a release from the reservoir gives the speeds back"
