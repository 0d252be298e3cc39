"""A wing nut that spins about its middle axis flips again and again, as Jacobi's elliptic functions predict.

The nut conserves energy and angular momentum. The energy defines one ellipsoid of angular velocities, the magnitude of
the angular momentum defines another, and the angular velocity moves along the curve in which the two ellipsoids
intersect.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from scipy.special import ellipj, ellipk

import articulon as ar

plt.style.use(Path(__file__).with_name("paper.mplstyle"))
I = np.array([3.0, 2.0, 1.0])  # noqa: E741
w0 = np.array([0.0, 2.0, 0.004])
b = ar.ModelBuilder(units="kg-m-s")
b.add_body("nut", mass=1.0, inertia=tuple(I), joint=ar.Free())
model = b.build()
run = ar.simulate(model, 60.0, u=(0, 0, 0, *w0), rtol=1e-12, atol=1e-13, frames=1500)
w, t = run.u[:, 3:], run.times

# Landau and Lifshitz, Mechanics, section 37, for M² < 2 E I2: axes 1 and 3 are exchanged.
E2, M2 = I @ w0**2, I**2 @ w0**2  # twice the energy, and the squared momentum
rate = np.sqrt((I[2] - I[1]) * (M2 - E2 * I[0]) / I.prod())
m = (I[1] - I[0]) * (E2 * I[2] - M2) / ((I[2] - I[1]) * (M2 - E2 * I[0]))
sn, cn, dn, _ = ellipj(rate * t + ellipk(m), m)
exact = np.c_[
    np.sqrt((E2 * I[2] - M2) / (I[0] * (I[2] - I[0]))) * cn,
    np.sqrt((E2 * I[2] - M2) / (I[1] * (I[2] - I[1]))) * sn,
    np.sqrt((M2 - E2 * I[0]) / (I[2] * (I[2] - I[0]))) * dn,
]

fig, ax = plt.subplots()
for k, name in enumerate(("largest", "middle", "smallest")):
    ax.plot(t, w[:, k], color=f"C{k}", label=f"{name} inertia")
    ax.plot(t[::30], np.abs(exact[::30, k]) * np.sign(w[::30, k]), "o", color=f"C{k}", ms=2.5)
ax.set(xlabel="time [s]", ylabel="angular velocity [rad/s]", ylim=(-2.5, 3.9))
ax.legend(loc="upper center", ncols=3, title="about the axis of")
fig.savefig("flipping_nut.png")

assert np.allclose(np.abs(w), np.abs(exact), atol=1e-6), "Jacobi's functions"
assert np.ptp(w**2 @ I) < 1e-9 * E2 and np.ptp(w**2 @ I**2) < 1e-9 * M2, "energy and momentum are conserved"
