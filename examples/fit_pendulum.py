"""A fit finds the stiffness and damping of a joint from a noisy measurement, with a confidence region.

The data come from the model itself, with known parameters and errors of two degrees. The fit recovers the parameters
within its confidence intervals.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import chi2

import articulon as ar

plt.style.use(Path(__file__).with_name("paper.mplstyle"))
CASE = """
[case]
title = "A damped torsional pendulum"
units = "kg-m-s"
[[model.bodies]]
name = "disc"
joint = "revolute"
axis = [0, 0, 1]
mass = 1
inertia = 0.02
q = 1
[[forces]]
kind = "torsional-springs"
stiffness = { disc = 0.5 }
[[forces]]
kind = "joint-damping"
rotational = { disc = 0.01 }
[integrator]
rule = "rk4"
step = 0.01
[run]
duration = 6
frames = 120
"""
keys = ["forces.torsional-springs.stiffness.disc", "forces.joint-damping.rotational.disc"]
truth, error = np.array([0.5, 0.01]), np.radians(2)
with TemporaryDirectory() as folder:
    file = Path(folder) / "pendulum.toml"
    file.write_text(CASE, encoding="utf-8")
    run = ar.run(file, Path(folder) / "run", report=False)
    times = run.times[1:]
    measured = run.q[1:, 0] + error * np.random.default_rng(1).normal(size=120)
    start = {keys[0]: 0.4, keys[1]: 0.03}
    found = ar.fit(file, {"time": times, "disc.angle": measured}, start, errors=error)
    fitted = ar.run(found.case, Path(folder) / "fitted", report=False).q[1:, 0]
values = np.array([found.values[key] for key in keys])

fig, (left, right) = plt.subplots(1, 2, width_ratios=(1.5, 1))
left.errorbar(times, np.degrees(measured), 2, fmt=".", color="0.6", lw=0.6, label="measured")
left.plot(times, np.degrees(fitted), label="fit")
left.set(xlabel="time [s]", ylabel="angle [degrees]")
left.legend()
axes, turn = np.linalg.eigh(found.covariance)
angle = np.linspace(0, 2 * np.pi, 100)
for level, label in ((0.68, "68 %"), (0.95, "95 %")):
    ellipse = values + np.sqrt(chi2.ppf(level, 2)) * np.c_[np.cos(angle), np.sin(angle)] * np.sqrt(axes) @ turn.T
    right.plot(*ellipse.T, label=label)
right.plot(*values, "o", color="C0")
right.plot(*truth, "k+", ms=9, label="truth")
right.set(xlabel="stiffness [N m]", ylabel="damping [N m s]")
right.margins(y=0.2)
right.legend(loc="upper center", ncols=3, columnspacing=1)
fig.savefig("fit_pendulum.png")

off = values - truth
assert off @ np.linalg.solve(found.covariance, off) < chi2.ppf(0.999, 2), "the truth lies in the region of 99.9 %"
