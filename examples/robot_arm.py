"""A robot arm from a URDF file draws a circle with the torques of inverse dynamics.

The file is written from a model and read back. A simulation tests the torques: they move the arm along the path, and
weak drives only correct rounding errors.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

import matplotlib.pyplot as plt
import numpy as np
from scipy.interpolate import CubicSpline

import articulon as ar

plt.style.use(Path(__file__).with_name("paper.mplstyle"))
lengths, gravity = (0.4, 0.35), np.array([0, 0, -9.81])
b = ar.ModelBuilder(units="kg-m-s")
b.add_body("turret", mass=4.0, inertia=0.02, joint=ar.Revolute(axis=(0, 0, 1)))
rod = {"inertia": (0.03, 0.03, 0.002), "joint": ar.Revolute(axis=(0, 1, 0))}
b.add_body("upper", parent="turret", mass=3.0, com=(0, 0, 0.2), position=(0, 0, 0.3), **rod)
b.add_body("lower", parent="upper", mass=2.0, com=(0, 0, 0.17), position=(0, 0, lengths[0]), **rod)
with TemporaryDirectory() as folder:
    arm = ar.read_urdf(ar.write_urdf(b.build(), Path(folder) / "arm.urdf"))


def angles(point):
    """Joint angles that bring the tip to a point, elbow up."""
    x, y, z = point
    r, h = np.hypot(x, y), z - 0.3
    c = (r**2 + h**2 - lengths[0] ** 2 - lengths[1] ** 2) / (2 * lengths[0] * lengths[1])
    bend = np.arccos(c)
    lean = np.arctan2(r, h) - np.arctan2(lengths[1] * np.sin(bend), lengths[0] + lengths[1] * np.cos(bend))
    return np.arctan2(y, x), lean, bend


times = np.linspace(0, 4, 401)
phase = 2 * np.pi * (times / 4 - np.sin(2 * np.pi * times / 4) / (2 * np.pi))  # begins and ends at rest
circle = np.c_[np.full_like(phase, 0.45), 0.18 * np.cos(phase), 0.5 + 0.18 * np.sin(phase)]
path = CubicSpline(times, [angles(point) for point in circle])
torques = np.array([ar.inverse_dynamics(arm, path(t), path(t, 1), path(t, 2), gravity=gravity) for t in times])

b.add_force(ar.forces.Gravity(acceleration=tuple(gravity)))
for k, name in enumerate(("turret", "upper", "lower")):
    b.add_force(ar.forces.JointActuation(body=name, times=times.tolist(), values=torques[:, k].tolist()))
    wanted = {"times": times.tolist(), "positions": path(times)[:, k].tolist()}
    b.add_force(ar.forces.JointDrive(body=name, stiffness=50.0, damping=5.0, **wanted))  # against rounding errors
model = b.build()
run = ar.simulate(model, 4.0, q=path(0.0), u=path(0.0, 1), rtol=1e-10, atol=1e-12, frames=200)
positions, rotations = run.positions, run.rotations
e0, e1, e2, e3 = rotations[:, -1].T
tip = (
    positions[:, -1]
    + lengths[1] * np.c_[2 * (e1 * e3 + e0 * e2), 2 * (e2 * e3 - e0 * e1), e0**2 - e1**2 - e2**2 + e3**2]
)

fig = plt.figure(figsize=(6.0, 3.2))
left = fig.add_subplot(1, 2, 1, projection="3d")
for frame in range(0, 200, 25):
    joints = np.array([(0, 0, 0), (0, 0, 0.3), positions[frame, 2], tip[frame]])
    left.plot(*joints.T, "-o", color="0.45", alpha=0.5, ms=3, lw=2)
left.plot(*circle.T, color="C1", lw=2)
left.set(xlim=(0, 0.6), ylim=(-0.3, 0.3), zlim=(0, 0.8), xticks=(0, 0.5), yticks=(-0.3, 0, 0.3), zticks=(0, 0.4, 0.8))
left.set_box_aspect((0.6, 0.6, 0.8), zoom=0.9)
left.set(xlabel="x [m]", ylabel="y [m]")
left.view_init(18, -50)
right = fig.add_subplot(1, 2, 2)
right.plot(times, torques, label=["turret", "shoulder", "elbow"])
right.set(xlabel="time [s]", ylabel="torque [N m]")
right.legend()
fig.savefig("robot_arm.png")

still = ar.forward_dynamics(arm, path(1.0), path(1.0, 1), torques[100], gravity=gravity)
assert np.allclose(still, path(1.0, 2), atol=1e-9), "forward dynamics undoes inverse dynamics"
assert np.abs(tip - circle[::2]).max() < 2e-4, "the tip draws the circle"
