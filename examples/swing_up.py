"""An optimiser finds the torques that swing a double pendulum up and bring it to rest upright.

The optimiser uses gradients of the whole run. The built-in case swing-up describes the torque of each joint by a spline
through seven values.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

import matplotlib.pyplot as plt
import numpy as np

import articulon as ar

plt.style.use(Path(__file__).with_name("paper.mplstyle"))
with TemporaryDirectory() as folder:
    found = ar.optimise("swing-up", out=Path(folder) / "search")
    run = ar.run(found.case, Path(folder) / "run", report=False)
    times, q, u = run.times, run.q, run.u

upper, lower = q[:, 0], q.sum(axis=1)
joint = -np.c_[np.sin(upper), np.cos(upper)]
tip = joint - np.c_[np.sin(lower), np.cos(lower)]
fig, (left, right) = plt.subplots(1, 2, width_ratios=(1, 1.3))
for frame in range(0, len(times), 12):
    shade = str(0.85 - 0.85 * frame / len(times))
    left.plot(*np.array([(0, 0), joint[frame], tip[frame]]).T, "-", color=shade, lw=1.2)
left.plot(*tip.T, color="C1", lw=0.9)
left.set(aspect="equal", xlim=(-2.1, 2.1), ylim=(-2.1, 2.1))
left.axis("off")
right.plot(times, np.degrees(q), label=["upper joint", "lower joint"])
right.axhline(180, color="0.7", lw=0.6)
right.axhline(0, color="0.7", lw=0.6)
right.set(xlabel="time [s]", ylabel="angle [degrees]")
right.legend()
fig.savefig("swing_up.png")

assert np.allclose(q[-1], (np.pi, 0), atol=1e-5) and np.allclose(u[-1], 0, atol=1e-5), "upright and at rest"
balance = run.kinetic_energy - run.kinetic_energy[0] - run.works.sum(axis=1)
assert np.abs(balance).max() < 1e-4, "its energy is the work of torques, damping and gravity"
