"""Recursion and divide and conquer take O(n) for n bodies, Kane's method with a dense mass matrix O(n³).

Accelerations of tumbling chains of up to 512 bodies by three solvers, which agree to rounding.
"""

import sys
from pathlib import Path
from time import perf_counter

import matplotlib.pyplot as plt
import numpy as np

import articulon as ar

plt.style.use(Path(__file__).with_name("paper.mplstyle"))
sizes = [8, 16, 32, 64, 128] if "--short" in sys.argv else [8, 16, 32, 64, 128, 256, 512]
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
    found = {}
    for solver in solvers:
        repeats = max(3, 400 // n) if solver != "kane" else 3
        seconds = []
        for _ in range(5):
            start = perf_counter()
            for _ in range(repeats):
                found[solver] = ar.forward_dynamics(model, q, u, gravity=(0, 0, -9.81), solver=solver)
            seconds.append((perf_counter() - start) / repeats)
        times[solver].append(min(seconds))
    largest = np.abs(found["articulated"]).max()
    for other in found.values():
        assert np.abs(other - found["articulated"]).max() < 1e-6 * largest, "the solvers agree"

fig, ax = plt.subplots()
for marker, (solver, name) in zip("o^s", solvers.items()):
    ax.loglog(sizes, 1e6 * np.array(times[solver]), marker + "-", label=name)
n = np.array(sizes[-3:])
ax.loglog(n, 0.5e6 * times["articulated"][-1] * n / n[-1], "k:", lw=0.8)
ax.annotate("O(n)", (n[1], 0.3e6 * times["articulated"][-1] * n[1] / n[-1]))
ax.set(xlabel="bodies in the chain", ylabel="one evaluation [µs]")
ax.legend()
fig.savefig("solver_scaling.png")

growth = np.polyfit(np.log(sizes[-3:]), np.log(times["articulated"][-3:]), 1)[0]
assert growth < 1.6, "the time of the recursion grows in proportion to the bodies"
assert times["kane"][-1] / times["kane"][-2] > 1.5 * times["articulated"][-1] / times["articulated"][-2]
