"""End-to-end distances of freely jointed chains of rigid rods follow Treloar's exact distribution.

Rigid rods prefer right angles between neighbours, unlike stiff springs. Fixman's potential removes this bias.
"""

import sys
from math import comb, factorial
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import articulon as ar

plt.style.use(Path(__file__).with_name("paper.mplstyle"))
rods, states, snapshots = 8, (128 if "--short" in sys.argv else 1024), 20
rng = np.random.default_rng(1)
langevin = ar.thermostats.Langevin(temperature=1.0, friction=1.0)


def directions(fixman: bool):
    """Unit vectors along the rods, shape (snapshots, 3, rods, states), at times some relaxation times apart."""
    b = ar.ModelBuilder(units="lj")
    parent = b.add_body("bead 0", mass=1.0, joint=ar.Xyz())
    for k in range(rods):
        place = (0, 0, 1 if k else 0)
        parent = b.add_body(f"bead {k + 1}", parent=parent, mass=1.0, com=(0, 0, 1), joint=ar.Swing(), position=place)
    if fixman:
        b.add_force(ar.forces.Fixman(temperature=1.0))
    model = b.build()
    Q, U = np.tile(model.q0, (states, 1)), np.zeros((states, model.nu))
    euler = rng.normal(size=(states, rods, 4))  # Euler parameters of random rotations
    Q[:, 3:] = (euler / np.linalg.norm(euler, axis=2, keepdims=True)).reshape(states, -1)
    ensemble = ar.Ensemble(model, Q, U, seeds=range(states), thermostat=langevin)
    found = []
    for k in range(snapshots + 2):  # during the first two, the speeds reach equilibrium
        ensemble.advance(100, 0.05, rule="friction-implicit")
        e0, e1, e2, e3 = ensemble.poses()[1][:, 1:].T
        found.append([2 * (e1 * e3 + e0 * e2), 2 * (e2 * e3 - e0 * e1), e0**2 - e1**2 - e2**2 + e3**2])
    return np.array(found[2:])


def exact(r):
    """Density of the length of a sum of unit vectors in random directions (Treloar 1946)."""
    terms = [(-1.0) ** k * comb(rods, k) * np.maximum(rods - r - 2 * k, 0) ** (rods - 2) for k in range(rods // 2 + 1)]
    return r / (2 ** (rods - 1) * factorial(rods - 2)) * sum(terms)


fig, (left, right) = plt.subplots(1, 2, figsize=(6.0, 3.0), width_ratios=(1.4, 1))
squares, cosines = {}, {}
for fixman, colour in ((True, "C5"), (False, "C1")):
    n = directions(fixman)
    distance = np.linalg.norm(n.sum(axis=2), axis=1)
    cosine = (n[:, :, 1:] * n[:, :, :-1]).sum(axis=1)
    if fixman:
        left.hist(distance.ravel(), bins=50, range=(0, rods), density=True, color=colour, label="rods, Fixman")
    label = "rods, Fixman" if fixman else "rods alone"
    right.hist(cosine.ravel(), bins=20, range=(-1, 1), density=True, histtype="step", color=colour, lw=1.2, label=label)
    squares[fixman] = (distance**2).mean(axis=0)  # states are independent, snapshots almost
    cosines[fixman] = (cosine**2).mean(axis=(0, 1))
r = np.linspace(0, rods, 200)
left.plot(r, exact(r), "k", lw=1, label="Treloar")
left.plot(r, 4 * np.pi * r**2 * (1.5 / np.pi / rods) ** 1.5 * np.exp(-1.5 * r**2 / rods), "k:", label="Gaussian")
left.set(xlabel="end-to-end distance [rods]", ylabel="density", xlim=(0, 7))
right.axhline(0.5, color="k", lw=0.8)
right.set(xlabel="cosine of the angle", ylim=(0.4, 0.6))
left.legend()
right.legend()
fig.savefig("chain_end_to_end.png")


def off(values, expected):
    """How many standard errors a mean is off."""
    return abs(values.mean() - expected) / (values.std() / np.sqrt(states))


c = rng.uniform(-1, 1, (200_000, rods - 1))  # the weight of rigid rods is √det H, H tridiagonal (Fixman 1974)
det, before = 2.0, 1.0
for k in range(rods - 1):
    det, before = 2 * det - c[:, k] ** 2 * before, det
rigid = (np.sqrt(det) * (c**2).mean(axis=1)).mean() / np.sqrt(det).mean()
assert off(squares[True], rods) < 4, "the mean square distance is the number of rods"
assert off(cosines[True], 1 / 3) < 4, "with Fixman's potential rods point anywhere"
assert off(cosines[False], rigid) < 4 < off(cosines[False], 1 / 3), "without it they have the weight of rigid rods"
