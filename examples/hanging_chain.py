"""The frequencies of a hanging chain are given by zeros of Bessel's function: √(g/L) j₀ₖ/2.

The stiffness matrix of a chain of 100 links is the derivative of inverse dynamics with respect to the coordinates. The
generalised eigenvectors of stiffness and mass matrix are the shapes in which the chain swings. In the title, L is the
length of the chain, and j₀ₖ is the k-th zero of Bessel's function J₀.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from scipy.linalg import eigh
from scipy.special import j0, jn_zeros

import articulon as ar

plt.style.use(Path(__file__).with_name("paper.mplstyle"))
n, length, gravity = 100, 1.0, 9.81
b = ar.ModelBuilder(units="kg-m-s")
link, parent = length / n, None
for k in range(n):
    b.add_body(
        f"{k}",
        parent=parent,
        mass=1.0 / n,
        inertia=(link**2 / n / 12, link**2 / n / 12, 0),
        com=(0, 0, -link / 2),
        joint=ar.Revolute(axis=(0, 1, 0)),
        position=(0, 0, -link if k else 0),
    )
    parent = f"{k}"
model = b.build()

still = np.zeros(n)
M = ar.mass_matrix(model, model.q0)
K = ar.force_derivatives(model, model.q0, still, still, gravity=(0, 0, -gravity)).q
squares, shapes = eigh(K, M)
frequencies = np.sqrt(squares[:5])
exact = 0.5 * np.sqrt(gravity / length) * jn_zeros(0, 5)

depth = np.linspace(0, length, n + 1)
fig, (left, right) = plt.subplots(1, 2, width_ratios=(1.2, 1))
for k in range(4):
    bend = np.r_[0, np.cumsum(np.cumsum(shapes[:, k])) * link]
    exactly = j0(jn_zeros(0, k + 1)[-1] * np.sqrt(1 - depth / length))
    left.plot(bend / bend[-1] + 2.2 * k, -depth, color=f"C{k}", lw=1.6)
    left.plot(exactly[::5] + 2.2 * k, -depth[::5], "o", color=f"C{k}", ms=2.5)
left.set(xlabel="mode", ylabel="depth [m]", xticks=2.2 * np.arange(4), xticklabels=range(1, 5))
right.plot(range(1, 6), exact, "o", mfc="none", ms=8, label="Bessel")
right.plot(range(1, 6), frequencies, "k.", label=f"{n} links")
right.set(xlabel="mode", ylabel="angular frequency [rad/s]")
right.legend()
fig.savefig("hanging_chain.png")

assert np.allclose(frequencies, exact, rtol=3e-3), "Bernoulli's hanging chain, but for the length of a link"
