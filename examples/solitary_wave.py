"""A blow travels along a row of beads as Nesterenko's solitary wave, faster for a harder blow.

Sixty glass beads touch in a row without load. The solitary wave keeps its shape, and its speed grows as the fifth root
of the peak velocity of the beads.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import articulon as ar

plt.style.use(Path(__file__).with_name("paper.mplstyle"))
n, radius, density, young, poisson = 60, 5e-3, 2500.0, 1e9, 0.25
blows = [0.05, 0.2, 0.8]
speeds, peaks = [], []
fig, (left, right) = plt.subplots(1, 2, width_ratios=(1.4, 1))
for blow in blows:
    b = ar.ModelBuilder(units="kg-m-s")
    velocities = np.zeros((n, 3))
    velocities[0, 0] = blow
    b.add_grains(np.c_[2 * radius * np.arange(n), np.zeros((n, 2))], radius, density=density, velocities=velocities)
    b.add_force(
        ar.forces.Contact(
            materials={"grain": {"young": young, "poisson": poisson, "static_friction": 0.0, "restitution": 1.0}}
        )
    )
    duration = 2 * radius * n / (180 * blow**0.2)
    run = ar.simulate(b.build(), duration, rule="velocity-verlet", step=2e-7, frames=600)
    v = run.u[:, ::6]
    arrival = run.times[v.argmax(axis=0)]
    part = slice(15, 45)
    speed = np.polyfit(arrival[part], 2 * radius * np.arange(n)[part], 1)[0]
    speeds.append(speed)
    peaks.append(v[:, 30].max())
    if blow == 0.2:
        for frame in np.searchsorted(run.times, arrival[[10, 22, 34, 46]]):
            left.plot(range(n), v[frame], ".-", lw=0.8)
    momentum = run.u[:, ::6].sum(axis=1)
    assert np.ptp(momentum) < 1e-9 * blow, "momentum is conserved"
left.set(xlabel="bead", ylabel="velocity [m/s]")
# Nesterenko: c = (16/25)^(1/5) (2 E/(ρ (1 − ν²) ...))^(2/5) v^(1/5), here in terms of the contact's stiffness.
k = 4 / 3 * young / (2 * (1 - poisson**2)) * np.sqrt(radius / 2)
mass = density * 4 / 3 * np.pi * radius**3
exact = (16 / 25) ** 0.2 * 2 * radius * (k / mass) ** 0.4 * np.array(peaks) ** 0.2
fine = np.geomspace(0.02, 1.2, 50)
right.loglog(fine, (16 / 25) ** 0.2 * 2 * radius * (k / mass) ** 0.4 * fine**0.2, label="Nesterenko")
right.loglog(peaks, speeds, "o", label="simulated")
right.set(xlabel="peak velocity of a bead [m/s]", ylabel="speed of the wave [m/s]")
right.legend()
fig.savefig("solitary_wave.png")

assert np.allclose(speeds, exact, rtol=0.03), "the speed of a solitary wave, by the continuum's closed form"
assert abs(np.polyfit(np.log(peaks), np.log(speeds), 1)[0] - 0.2) < 0.01, "the fifth root"
