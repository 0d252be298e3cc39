"""A ball on a slope rolls if tan θ < 7μ/2 and slides on steeper slopes: its acceleration has a kink there.

The ball is a grain on a plane with the tilt θ. The contact law is that of Hertz and Mindlin, with the coefficient of
friction μ. Each slope is one short run.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import articulon as ar

plt.style.use(Path(__file__).with_name("paper.mplstyle"))
radius, gravity, friction = 0.01, 9.81, 0.2
slopes = np.radians([5, 15, 25, 30, 34, 37, 42, 50, 60])
found, spins = [], []
for slope in slopes:
    b = ar.ModelBuilder(units="kg-m-s")
    b.add_grain("ball", radius=radius, density=2500.0, position=(0, 0, radius))
    b.add_force(ar.forces.Gravity(acceleration=(gravity * np.sin(slope), 0, -gravity * np.cos(slope))))
    material = {"young": "100 MPa", "poisson": 0.25, "static_friction": friction, "restitution": 0.3}
    plane = ar.forces.Plane(point=(0, 0, 0), normal=(0, 0, 1), kind="grain")
    b.add_force(ar.forces.Contact(materials={"grain": material}, walls=[plane]))
    run = ar.simulate(b.build(), 0.3, rule="velocity-verlet", step=1e-5, frames=60)
    late = run.times > 0.05
    found.append(np.polyfit(run.times[late], run.u[late, 0], 1)[0])
    q0, q1, q2, q3 = run.q[:, 3:].T
    spin = (
        run.u[:, 3] * 2 * (q1 * q2 + q0 * q3)
        + run.u[:, 4] * (q0**2 - q1**2 + q2**2 - q3**2)
        + run.u[:, 5] * 2 * (q2 * q3 - q0 * q1)
    )
    spins.append(np.polyfit(run.times[late], spin[late], 1)[0])
found, spins = np.array(found), np.array(spins)

critical = np.arctan(3.5 * friction)
fine = np.linspace(0, np.radians(65), 300)


def exact(t):
    return np.where(t < critical, 5 / 7 * gravity * np.sin(t), gravity * (np.sin(t) - friction * np.cos(t)))


fig, ax = plt.subplots()
ax.plot(np.degrees(fine), exact(fine), label="rolls, then slides")
ax.plot(np.degrees(fine), gravity * np.sin(fine), ":", color="0.6", label="without friction")
ax.plot(np.degrees(slopes), found, "o", label="acceleration")
ax.plot(np.degrees(slopes), radius * spins, "s", label="radius × angular acceleration", mfc="none")
ax.axvline(np.degrees(critical), color="0.6", ls="--", lw=0.8)
ax.annotate(r"$\tan\theta = 7\mu/2$", (np.degrees(critical), 0.6), (4, 0), textcoords="offset points")
ax.set(xlabel="slope [degrees]", ylabel=r"acceleration [m/s$^2$]", xlim=(0, 65), ylim=(0, None))
ax.legend(loc="upper left")
fig.savefig("rolling_on_a_slope.png")

spin_exact = np.where(slopes < critical, 5 / 7 * gravity * np.sin(slopes), 2.5 * friction * gravity * np.cos(slopes))
assert np.allclose(found, exact(slopes), rtol=2e-3), "5/7 g sin θ while it rolls, friction's part above"
assert np.allclose(radius * spins, spin_exact, rtol=5e-3), "and it turns as it rolls"
