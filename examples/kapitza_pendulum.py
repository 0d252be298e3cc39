"""Kapitza's pendulum: a pendulum stays upright if its pivot shakes fast enough.

The pivot follows a given motion a cos ωt. Averaging over the fast motion predicts that the upright position of a
pendulum of length l is stable if a² ω² > 2 g l.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import articulon as ar

plt.style.use(Path(__file__).with_name("paper.mplstyle"))
length, gravity, amplitude = 1.0, 9.81, 0.05
threshold = np.sqrt(2 * gravity * length) / amplitude


def swing(frequency: float) -> ar.Run:
    """Four seconds of the pendulum with its pivot at this angular frequency [rad/s], from 6 degrees off."""
    b = ar.ModelBuilder(units="kg-m-s")
    b.add_body("pivot", mass=1.0, inertia=0.01, joint=ar.Prismatic(axis=(0, 0, 1)))
    rod = {"mass": 1.0, "inertia": (0, 0, 0), "com": (0, 0, length)}
    b.add_body("rod", parent="pivot", joint=ar.Revolute(axis=(0, 1, 0)), q=0.1, **rod)
    b.add_force(ar.forces.Gravity(acceleration=(0, 0, -gravity)))
    times = np.linspace(0, 4.0, int(4.0 * frequency / (2 * np.pi) * 24) + 1)
    b.add_drive("pivot", times=times, values=amplitude * np.cos(frequency * times))
    return ar.simulate(b.build(), 4.0, rtol=1e-8, atol=1e-10, frames=800)


fig, (left, right) = plt.subplots(1, 2, width_ratios=(1.4, 1))
ratios, largest = np.array([0.8, 0.9, 1.1, 1.2, 1.5, 2.0]), []
for ratio in ratios:
    run = swing(ratio * threshold)
    angle = np.degrees(run.q[:, 1])
    largest.append(np.abs(angle).max())
    if ratio in (0.9, 1.2, 2.0):
        left.plot(run.times, angle, label=f"{ratio:g} × threshold", lw=0.9)
left.set(xlabel="time [s]", ylabel="angle from upright [degrees]", ylim=(-60, 60))
left.legend()
right.axvline(1, color="0.6", ls="--", lw=0.8)
right.semilogy(ratios, largest, "o-")
right.set(xlabel=r"$a\omega/\sqrt{2g\ell}$", ylabel="largest angle in 4 s [degrees]")
fig.savefig("kapitza_pendulum.png")

assert all(angle > 90 for angle in np.array(largest)[ratios < 1]), "below the threshold it falls"
assert all(angle < 60 for angle in np.array(largest)[ratios > 1.05]), "above it stays up"
