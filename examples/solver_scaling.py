"""Recursion and divide and conquer take O(n) for n bodies; Kane's method with a dense mass matrix takes O(n³).

Three solvers compute the accelerations of tumbling chains of up to 512 bodies. Inverse dynamics, which solves no
equations, recovers the forces from each result.
"""

from pathlib import Path
from time import perf_counter

import matplotlib.pyplot as plt
import numpy as np

import articulon as ar

plt.style.use(Path(__file__).with_name("paper.mplstyle"))
sizes = np.array([8, 16, 32, 64, 128, 256, 512])
rng = np.random.default_rng(1)
solvers = {"articulated": "recursion", "divide-and-conquer": "divide and conquer", "kane": "Kane's method"}
times = {solver: [] for solver in solvers}

for n in sizes:
    b = ar.ModelBuilder(units="kg-m-s")
    rod = {"mass": 1.0, "inertia": (0.08, 0.08, 0.01), "com": (0, 0, 0.5)}
    b.add_body("0", joint=ar.Spherical(), **rod)
    for k in range(1, n):
        b.add_body(f"{k}", parent=f"{k - 1}", joint=ar.Revolute(axis=(1, 0, 0)), position=(0, 0, 1), **rod)
    model = b.build()
    q, u = model.q0.copy(), 0.3 * rng.normal(size=model.nu)
    q[4:] = 0.3 * rng.normal(size=model.nq - 4)
    torques = rng.normal(size=model.nu)
    for solver in solvers:
        seconds = []
        for _ in range(5 if solver == "kane" else 50):
            start = perf_counter()
            found = ar.forward_dynamics(model, q, u, tau=torques, solver=solver)
            seconds.append(perf_counter() - start)
        times[solver].append(min(seconds))
        terms = np.abs(ar.mass_matrix(model, q)) @ np.abs(found)
        rounding = n * np.finfo(float).eps * terms  # of a backward stable solution of n equations (Higham 2002)
        left = ar.inverse_dynamics(model, q, u, found) - torques
        assert np.all(np.abs(left) < rounding), "inverse dynamics gives the torques back"

fig, ax = plt.subplots()
for marker, (solver, name) in zip("o^s", solvers.items()):
    ax.loglog(sizes, 1e6 * np.array(times[solver]), marker + "-", label=name)
long = sizes[-3:]
for solver, power, label in (("articulated", 1, "n"), ("kane", 3, "n³")):
    line = 0.5e6 * times[solver][-1] * (long / long[-1]) ** power
    ax.loglog(long, line, "k:", lw=0.8)
    ax.annotate(label, (long[1], line[1]), xytext=(4, -10), textcoords="offset points")
ax.set(xlabel="bodies in the chain", ylabel="one call [µs]")
ax.legend()
fig.savefig("solver_scaling.png")

powers = {solver: np.polyfit(np.log(long), np.log(times[solver][-3:]), 1)[0] for solver in solvers}
assert powers["articulated"] < 2 < powers["kane"], "times grow in proportion to n, and as n³"
