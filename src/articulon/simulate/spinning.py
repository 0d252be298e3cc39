"""Flexible bodies that turn too fast for their modes.

A body that turns is pulled outwards, and the pull straightens it: a real one is stiffer than at rest. Linear modes lack
that (Kane, Ryan and Banerjee, J. Guid. Control Dyn. 10, 139, 1987), and keep the part that softens. About a body that
turns steadily at ω its modal coordinates follow

    M η'' + 2 B η' + (K − G) η = 0,    G_jk = Σ m (ω × Φ_j)·(ω × Φ_k),    B_jk = ω · Σ m Φ_k × Φ_j

with M, G and B less what the motion of the whole body takes up where it floats freely. From some ω on, near the first
frequency √(K/M), a solution grows: deformation then has no bound.
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy import linalg

from articulon.dynamics.functions import body_velocities
from articulon.model import Model
from articulon.model.joints import UNBOUND
from articulon.model.modes import inertia_integrals
from articulon.simulate.contact_steps import with_unit

NOTED = 0.3
"""Part of the first frequency from which on a spin is noted: a tenth of the stiffness is then missing."""
GROWS = 1e-6
"""Growth of a solution, by the first frequency, that is more than rounding."""
FRAMES = 1000
"""Frames of a run that are looked at, at most."""


@dataclass(frozen=True)
class Spin:
    """How fast a flexible body has turned."""

    body: str
    """Its name."""
    largest: float
    """Its largest angular velocity [angle/time]."""
    across: float
    """The largest part of one that pulls its nodes outwards [angle/time]."""
    first: float
    """The first frequency of its modes [angle/time]."""
    grows: float | None
    """When a deformation that grows without bound was first found [time]; None where none was."""

    @property
    def noted(self) -> bool:
        """Whether it is fast enough to be noted."""
        return self.grows is not None or self.across > NOTED * self.first

    def note(self, model: Model) -> str:
        """A line for people."""
        units = model.units
        rate, time = ("", "") if units.time is None else (units.label("angular_velocity"), units.symbols[2])
        turns = (
            f"body '{self.body}' turns at up to {with_unit(self.largest, rate)}, and the first frequency of its modes "
            f"is {with_unit(self.first, rate)}"
        )
        if self.grows is not None:
            return (
                f"{turns}: as fast as it turns from t = {with_unit(self.grows, time, 9)} on, its deformation grows "
                "without bound, since linear modes leave out that turning stiffens a body; take a slower spin, stiffer "
                "modes, or several bodies on joints in its place, which stiffen as they should"
            )
        part = (self.across / self.first) ** 2
        return (
            f"{turns}: linear modes leave out that turning stiffens a body, so that its stiffness is off by some "
            f"{100 * part:.2g} %"
        )


class _Spinning:
    """What of a flexible body enters its motion about a steady spin."""

    def __init__(self, model: Model, body: int) -> None:
        shapes, link = model.modes[body], int(model.link[body])
        whole = shapes._replace(masses=shapes.masses + _carried(model, body))
        integrals, modes = inertia_integrals(whole), shapes.stiffness.shape[0]
        self.stiffness, self.mass = shapes.stiffness, integrals.M
        self.softening = integrals.N1.reshape(modes, modes, 3, 3)
        self.gyration = integrals.B1
        self.moved = integrals.S1
        tree = int(model.tree_of_link[link])
        first, last = (int(start) for start in model.forest.tree[tree : tree + 2])
        # What floats freely gives way as a whole; what hangs on something is taken to be held.
        self.total = float(model.forest.mass[first:last].sum())
        self.floats = int(model.forest.parent[link]) < 0 and int(model.forest.kind[link]) in UNBOUND
        if self.floats:
            self.mass = self.mass - self.moved @ self.moved.T / self.total
        frequencies = linalg.eigh(self.stiffness, self.mass, eigvals_only=True)
        # Modes without stiffness are none that a spin could soften.
        stiff = frequencies > 1e-12 * max(float(frequencies[-1]), 0.0)
        self.first = math.sqrt(float(frequencies[stiff][0])) if stiff.any() else math.inf
        arms = shapes.positions
        if self.floats:
            arms = arms - whole.masses @ arms / whole.masses.sum()
        self.arms, self.weights = arms, whole.masses

    def across(self, spin: np.ndarray) -> float:
        """The part of a spin (3,), body frame, that pulls nodes outwards [angle/time]."""
        square = float(self.weights @ (self.arms**2).sum(axis=1))
        pull = float(self.weights @ (np.cross(spin, self.arms) ** 2).sum(axis=1))
        return math.sqrt(pull / square) if square > 0.0 else 0.0

    def growth(self, spin: np.ndarray) -> float:
        """The fastest growth of a deformation about a steady spin (3,), body frame [1/time]; 0 where none grows."""
        if not np.isfinite(spin).all():
            return math.inf
        if float(np.linalg.norm(spin)) < self.first:  # G is less than ω² M
            return 0.0
        softening = np.einsum("a,jkab,b->jk", spin, self.softening, spin)
        gyration = np.einsum("a,jka->jk", spin, self.gyration)
        if self.floats:
            swept = np.cross(spin, self.moved)
            softening = softening - swept @ swept.T / self.total
            moved = np.cross(self.moved[None, :, :], self.moved[:, None, :])
            gyration = gyration - np.einsum("a,jka->jk", spin, moved) / self.total
        factor, n = linalg.cho_factor(self.mass), self.mass.shape[0]
        rates = np.zeros((2 * n, 2 * n))
        rates[:n, n:] = np.eye(n)
        rates[n:, :n] = -linalg.cho_solve(factor, self.stiffness - 0.5 * (softening + softening.T))
        rates[n:, n:] = -2.0 * linalg.cho_solve(factor, gyration)
        growth = float(np.linalg.eigvals(rates).real.max())
        return growth if growth > GROWS * max(self.first, float(np.linalg.norm(spin))) else 0.0


def spins(model: Model, times: np.ndarray, q: np.ndarray, u: np.ndarray) -> list[Spin]:
    """How fast the flexible bodies have turned, those fast enough to be noted.

    Parameters
    ----------
    model
        The model.
    times
        Of the frames [time], shape (frames,).
    q, u
        Coordinates (frames, nq) and speeds (frames, nu) at these.
    """
    if not model.modes or not len(times):
        return []
    looked = np.unique(np.linspace(0, len(times) - 1, min(len(times), FRAMES)).round().astype(np.int64)).tolist()
    velocities = np.array([body_velocities(model, q[frame], u[frame])[:, 3:] for frame in looked])
    found = []
    for body in model.modes:
        mine, spinning = velocities[:, body], _Spinning(model, body)
        grows = (float(times[k]) for k, spin in zip(looked, mine, strict=True) if spinning.growth(spin) > 0.0)
        spin = Spin(
            model.names[body],
            float(np.linalg.norm(mine, axis=1).max()),
            max(spinning.across(spin) for spin in mine),
            spinning.first,
            next(grows, None),
        )
        if spin.noted:
            found.append(spin)
    return found


def _carried(model: Model, body: int) -> np.ndarray:
    """Mass that each node of a flexible body carries, with all that hangs on it [mass], shape (nodes,)."""
    forest, shapes = model.forest, model.modes[body]
    carried, own = np.zeros(shapes.masses.size), int(model.link[body])
    tables = forest.flexible
    assert tables is not None
    below = forest.mass.copy()
    for link in range(below.size - 1, -1, -1):
        parent = int(forest.parent[link])
        if parent >= 0:
            below[parent] += below[link]
    for link in np.flatnonzero((tables.node >= 0) & (forest.parent == own)).tolist():
        nearest = int(np.argmin(((shapes.positions - forest.position[link]) ** 2).sum(axis=1)))
        carried[nearest] += below[link]
    return carried
