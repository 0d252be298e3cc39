"""The mean-square displacement of a Brownian sphere passes from ballistic to diffusive.

A hundred or more states are simulated side by side. Over four decades of time their mean-square displacement follows
the exact law of a sphere with inertia, 6 D [t − τ(1 − e^(−t/τ))], for the diffusion coefficient D and the relaxation
time τ.
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import articulon as ar

plt.style.use(Path(__file__).with_name("paper.mplstyle"))
n = 512 if "--short" in sys.argv else 4096
temperature, mass, drag = 1.0, 1.0, 2.0
tau, diffusion = mass / drag, temperature / drag
b = ar.ModelBuilder(units="lj")
b.add_body("sphere", mass=mass, inertia=0.1, joint=ar.Xyz())
b.add_force(ar.forces.StokesDrag(translational={"sphere": drag}))
b.add_force(ar.forces.Brownian(temperature=temperature))
model = b.build()

rng = np.random.default_rng(1)
U = np.sqrt(temperature / mass) * rng.normal(size=(n, 3))
ensemble = ar.Ensemble(model, np.zeros((n, 3)), U, seeds=range(n))
times, squares, errors = [], [], []
step, done, wanted = 0.01, 0, np.unique(np.geomspace(1, 4000, 28).astype(int))
for count in wanted:
    Q, U = ensemble.advance(int(count - done), step, rule="friction-implicit")
    done = count
    r2 = (Q**2).sum(axis=1)
    times.append(count * step)
    squares.append(r2.mean())
    errors.append(r2.std() / np.sqrt(n))
times, squares, errors = np.array(times), np.array(squares), np.array(errors)


def exact(t):
    return 6 * diffusion * (t - tau * (1 - np.exp(-t / tau)))


fine = np.geomspace(times[0], times[-1], 200)
fig, ax = plt.subplots()
ax.loglog(fine, exact(fine), label="exact")
ax.loglog(fine, 3 * temperature / mass * fine**2, ":", color="0.5", label=r"$3kT\,t^2/m$")
ax.loglog(fine, 6 * diffusion * fine, "--", color="0.5", label=r"$6Dt$")
ax.errorbar(times, squares, 2 * errors, fmt="o", color="C1", label=f"{n} spheres")
ax.axvline(tau, color="0.8", lw=0.8)
ax.set(xlabel="time", ylabel=r"$\langle r^2\rangle$", ylim=(exact(times[0]) / 2, 2 * exact(times[-1])))
ax.legend()
fig.savefig("brownian_sphere.png")

assert np.all(np.abs(squares - exact(times)) < 4.5 * errors + 2e-3 * squares), "the exact law at every time"
