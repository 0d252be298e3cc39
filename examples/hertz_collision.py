"""The duration, largest overlap and largest force of an elastic collision follow Hertz's theory.

Each point is a short run in which two grains collide, and each run has another speed. Faster collisions are shorter:
the duration is inversely proportional to the fifth root of the speed.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import articulon as ar

plt.style.use(Path(__file__).with_name("paper.mplstyle"))
radius, density, young, poisson = 5e-3, 2500.0, 1e9, 0.25
mass = density * 4 / 3 * np.pi * radius**3 / 2  # reduced mass
stiffness = 4 / 3 * young / (2 * (1 - poisson**2)) * np.sqrt(radius / 2)
speeds = np.geomspace(0.01, 3.0, 9)
durations, forces = [], []
fig, (left, right) = plt.subplots(1, 2)
for k, v in enumerate(speeds):
    duration = 2.943 * (mass**2 / (stiffness**2 * v) * (5 / 4) ** 2) ** 0.2
    b = ar.ModelBuilder(units="kg-m-s")
    for name, side in (("a", -1), ("b", 1)):
        b.add_grain(
            name, radius=radius, density=density, position=(side * radius, 0, 0), velocity=(-side * v / 2, 0, 0)
        )
    b.add_force(
        ar.forces.Contact(
            materials={"grain": {"young": young, "poisson": poisson, "static_friction": 0.0, "restitution": 1.0}}
        )
    )
    run = ar.simulate(b.build(), 1.2 * duration, rule="velocity-verlet", step=duration / 2000, frames=600)
    gap = run.q[:, 7] - run.q[:, 0]
    depth = np.maximum(2 * radius - gap, 0)
    overlap = 2 * radius - gap
    i = np.flatnonzero(overlap[1:] < 0)[0] + 1
    durations.append(
        run.times[i - 1] + (run.times[i] - run.times[i - 1]) * overlap[i - 1] / (overlap[i - 1] - overlap[i])
    )
    forces.append(stiffness * depth.max() ** 1.5)
    if k % 2 == 0:
        left.plot(1e6 * run.times, stiffness * depth**1.5, label=f"{v:.2g} m/s")
    assert np.isclose(run.u[-1, 0], -v / 2, rtol=1e-4), "an elastic collision turns the velocities round"
left.set(xlabel="time [µs]", ylabel="force [N]", yscale="log", ylim=(1e-2, None))
left.legend(title="speed")
exact = 2.943 * (mass**2 / (stiffness**2 * speeds) * (5 / 4) ** 2) ** 0.2
right.loglog(speeds, 1e6 * exact, label="Hertz")
right.loglog(speeds, 1e6 * np.array(durations), "o", label="simulated")
right.set(xlabel="speed [m/s]", ylabel="duration [µs]")
right.legend()
fig.savefig("hertz_collision.png")

largest = stiffness**0.4 * (5 / 4 * mass * speeds**2) ** 0.6
assert np.allclose(durations, exact, rtol=2e-3), "the duration of a Hertzian collision"
assert np.allclose(forces, largest, rtol=1e-3), "and its largest force"
