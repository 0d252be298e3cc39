"""A heavy top precesses and nods; its tip traces cusps if the axis is released at rest.

The mean rate of precession is near m g l/(I s), for the mass m, the distance l of the centre of mass from the pivot,
the axial moment of inertia I and the spin s. The energy and both conserved angular momenta stay constant to the
tolerance.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import articulon as ar

plt.style.use(Path(__file__).with_name("paper.mplstyle"))
mass, gravity, arm, across, along, spin = 1.0, 9.81, 0.1, 0.012, 0.002, 250.0
b = ar.ModelBuilder(units="kg-m-s")
about_com = across - mass * arm**2
b.add_body("top", mass=mass, inertia=(about_com, about_com, along), com=(0, 0, arm), joint=ar.Spherical())
b.add_force(ar.forces.Gravity(acceleration=(0, 0, -gravity)))
model = b.build()
tilt = np.radians(50)
start = (np.cos(tilt / 2), 0, np.sin(tilt / 2), 0)

fig, axes = plt.subplots(1, 3, subplot_kw={"projection": "3d"}, figsize=(6.0, 2.2))
sphere = np.mgrid[0 : 2 * np.pi : 25j, 0 : np.pi / 2 : 13j]
mesh = np.cos(sphere[0]) * np.sin(sphere[1]), np.sin(sphere[0]) * np.sin(sphere[1]), np.cos(sphere[1])
for ax, wx, title in zip(axes, (-3.0, 0.0, 5.0), ("pushed on", "let go at rest", "pushed back"), strict=True):
    run = ar.simulate(model, 1.4, q=start, u=(wx, 0.0, spin), rtol=1e-11, atol=1e-12, frames=1400)
    q0, q1, q2, q3 = run.q.T
    tip = np.c_[2 * (q1 * q3 + q0 * q2), 2 * (q2 * q3 - q0 * q1), q0**2 - q1**2 - q2**2 + q3**2]
    vertical = np.einsum(
        "ij,j,ij->i", run.u, (across, across, along), np.c_[2 * (q1 * q3 - q0 * q2), 2 * (q2 * q3 + q0 * q1), tip[:, 2]]
    )
    ax.plot_wireframe(*mesh, color="0.9", lw=0.4)
    ax.plot(*tip.T, lw=1)
    ax.set(title=title, xlim=(-0.8, 0.8), ylim=(-0.8, 0.8), zlim=(0, 0.8))
    ax.set_box_aspect((1, 1, 0.5), zoom=1.5)
    ax.set_axis_off()
    ax.view_init(38, 20)
    energy = run.kinetic_energy + run.potential_energy
    assert np.ptp(energy) < 1e-8 * energy[0], "energy is conserved"
    assert np.ptp(run.u[:, 2]) < 1e-8 * spin, "nothing turns the top about its own axis"
    assert np.ptp(vertical) < 1e-8 * along * spin, "nor about the vertical"
    if wx == 0:
        azimuth = np.unwrap(np.arctan2(tip[:, 1], tip[:, 0]))
        mean = (azimuth[-1] - azimuth[0]) / run.times[-1]
        slow = mass * gravity * arm / (along * spin)
        assert abs(mean / slow - 1) < 0.1, "a fast top precesses at m g l/(I s)"
fig.savefig("heavy_top.png")
