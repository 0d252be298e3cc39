"""An ensemble of runs measures how long a Brownian particle takes to reach an absorbing end.

All runs are runs of one case with a steady drift, each with another seed. A run stops when the particle is absorbed.
The mean time is the distance divided by the drift velocity. The times have the inverse Gaussian distribution, which
follows from the diffusion equation.
"""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import norm

import articulon as ar

plt.style.use(Path(__file__).with_name("paper.mplstyle"))
seeds = 12 if "--short" in sys.argv else 60
CASE = """
[case]
title = "A drifting particle and an absorbing end"
units = "lj"
[[model.bodies]]
name = "particle"
joint = "prismatic"
axis = [1, 0, 0]
mass = 0.02
inertia = 1
[[forces]]
kind = "stokes-drag"
translational = { particle = 1 }
[[forces]]
kind = "brownian"
temperature = 1
[[forces]]
kind = "gravity"
acceleration = [100, 0, 0]
[integrator]
rule = "friction-implicit"
step = 0.002
[run]
duration = 20
frames = 200
stop = { body = "particle", direction = [1, 0, 0], advance = 4, label = "absorbed" }
"""
drift, distance, diffusion = 0.02 * 100.0, 4.0, 1.0
with TemporaryDirectory() as folder:
    file = Path(folder) / "absorbed.toml"
    file.write_text(CASE, encoding="utf-8")
    sweep = ar.ensemble(file, seeds=seeds, out=Path(folder) / "sweep", workers=2, progress=False)
    times = np.sort([run.times[-1] for run in sweep.runs])
    paths = [(run.times.copy(), run.q[:, 0].copy()) for run in sweep.runs[:8]]


def survival(t):
    """Part of the particles that are not yet absorbed: the inverse Gaussian distribution of a drifting particle."""
    a, b = (distance - drift * t) / np.sqrt(2 * diffusion * t), -(distance + drift * t) / np.sqrt(2 * diffusion * t)
    return norm.cdf(a) - np.exp(drift * distance / diffusion) * norm.cdf(b)


fig, (left, right) = plt.subplots(1, 2)
for t, x in paths:
    left.plot(t, x, lw=0.7)
left.axhline(distance, color="k", lw=1)
left.set(xlabel="time", ylabel="place")
fine = np.linspace(0.01, 1.2 * times[-1], 300)
right.step(np.r_[0, times], 1 - np.arange(seeds + 1) / seeds, where="post", label=f"{seeds} runs")
right.plot(fine, survival(fine), label="diffusion equation")
right.set(xlabel="time", ylabel="not yet absorbed", ylim=(0, 1.02))
right.legend()
fig.savefig("first_passage.png")

mean, spread = distance / drift, np.sqrt(2 * diffusion * distance / drift**3)
assert abs(times.mean() - mean) < 3.5 * spread / np.sqrt(seeds) + 0.05, "the mean time is distance over drift"
