"""The softest modes of an elastic network bend a helix like an elastic rod.

The network represents an α-helix of 80 residues by springs between its Cα atoms. The lowest modes come in pairs,
because the helix bends in two planes, and their frequencies have the ratios of a free rod.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import articulon as ar

plt.style.use(Path(__file__).with_name("paper.mplstyle"))
n = 80
angle = np.radians(100) * np.arange(n)
places = np.c_[0.23 * np.cos(angle), 0.23 * np.sin(angle), 0.15 * np.arange(n)]
modes = ar.modes.elastic_network(
    positions=places, masses=np.full(n, 100.0), cutoff=1.0, spring_constant=1000.0, modes=8, units="Da-nm-ps"
)
shapes = np.asarray(modes.shapes)
mass = 100.0 * (shapes**2).sum(axis=(0, 1))
frequencies = np.sqrt(np.asarray(modes.stiffness) / mass)

# A free rod: cos x cosh x = 1 at x = 4.7300, 7.8532 and 10.9956.
roots = np.array([4.73004, 7.85320, 10.99561])
axis = np.stack(
    [[np.convolve(x, np.ones(18) / 18, "same") for x in shapes[:, :2, k].T] for k in range(8)]
)  # averages over 5 turns of the helix
bending = [k for k in range(8) if (axis[k] ** 2).sum() > 0.1 * (shapes[:, :2, k] ** 2).sum()][:6]  # twist averages out
fig, (left, right) = plt.subplots(1, 2, width_ratios=(1.2, 1))
for row, k in enumerate(bending[::2]):
    across = shapes[:, :2, k]
    direction = np.linalg.svd(across, full_matrices=False)[2][0]
    left.plot(places[:, 2], across @ direction / np.abs(across @ direction).max() + 2.3 * row, ".-", ms=3, lw=0.6)
left.set(
    xlabel="along the helix [nm]", ylabel="displacement", yticks=2.3 * np.arange(3), yticklabels=["1st", "2nd", "3rd"]
)
pairs = frequencies[bending].reshape(3, 2).mean(axis=1)
right.plot([1, 2, 3], pairs / pairs[0], "o", label="elastic network")
right.plot([1, 2, 3], (roots / roots[0]) ** 2, "k_", ms=14, label="free rod")
right.set(xlabel="bending mode", ylabel="frequency, relative to the first", xticks=[1, 2, 3])
right.legend()
fig.savefig("helix_modes.png")

split = frequencies[bending].reshape(3, 2)
assert np.all(np.abs(split[:, 1] / split[:, 0] - 1) < 0.05), "two planes of bending"
assert np.allclose(pairs / pairs[0], (roots / roots[0]) ** 2, rtol=0.03), "the ratios of a free rod, but for shear"
