"""Detection of flexible bodies that rotate too fast for their modes.

The centrifugal tension in a rotating body makes it stiffer than a body at rest. Linear modes lack this stiffening
(Kane, Ryan and Banerjee, J. Guid. Control Dyn. 10, 139, 1987) and contain only the softening term G. If the motion of
the body frame (the frame of handle 1) is prescribed, and rotates with a constant angular velocity ω, the modal
coordinates η follow

    M η'' + 2 B η' + (K − G) η = 0,    G_jk = Σ m (ω × Φ_j)·(ω × Φ_k),    B_jk = ω · Σ m Φ_k × Φ_j

with the modal mass M, stiffness K and shapes Φ. If the body floats freely, η follows the linearised equations of motion
of the whole body. Above some ω, near the first frequency √(K/M), a solution grows without bound.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy

from articulon.dynamics.multibody_functions import body_velocities
from articulon.model import Model
from articulon.model.joints import UNBOUND
from articulon.model.modes import InertiaIntegrals, inertia_integrals
from articulon.time_scales.contact_step_limit import with_unit

NOTED = 0.3
"""Fraction of the first frequency above which a rotation gets a note. At this angular velocity, the stiffness is about
a tenth too small."""
GROWS = 1e-6
"""Growth rate, relative to the first frequency, above which growth is not due to rounding errors."""
TUMBLES = 1.2, 0.05
"""Two numbers of the bound above which a deformation grows faster than a rigid body tumbles. The bound is the first
number times the growth rate of tumbling, plus the second number times the first frequency."""
FRAMES = 200
"""Largest number of a run's frames to examine."""

FULL = [0, 1, 2, 1, 3, 4, 2, 4, 5]


@dataclass(frozen=True)
class Spin:
    """Rotation of a flexible body during a run."""

    body: str
    """Name of the body."""
    largest: float
    """Largest angular velocity of the body [angle/time]."""
    across: float
    """Largest value of that component of the angular velocity that pulls nodes outwards [angle/time]."""
    first: float
    """First frequency of the modes [angle/time]."""
    grows: float | None
    """Time of the first frame at which a deformation grows without bound [time]; None if there is none."""

    @property
    def noted(self) -> bool:
        """Whether the rotation is fast enough to be noted."""
        return self.across > NOTED * self.first

    def note(self, model: Model) -> str:
        """Return the note for the user."""
        units = model.units
        rate, time = ("", "") if units.time is None else (units.label("angular_velocity"), units.symbols[2])
        turns = (
            f"body '{self.body}' rotates at up to {with_unit(self.largest, rate)}, and the first frequency of its "
            f"modes is {with_unit(self.first, rate)}"
        )
        if self.grows is not None:
            return (
                f"{turns}: at its angular velocity from t = {with_unit(self.grows, time, 9)} on, its deformation grows "
                "without bound, since linear modes lack the stiffening of a rotating body; use a slower rotation, "
                "stiffer modes, or several bodies on joints instead, which stiffen correctly"
            )
        part = (self.across / self.first) ** 2
        return (
            f"{turns}: linear modes lack the stiffening of a rotating body, so its stiffness is off by about "
            f"{100 * part:.2g} %"
        )


def spins(model: Model, times: np.ndarray, q: np.ndarray, u: np.ndarray) -> list[Spin]:
    """Return the rotations of those flexible bodies that rotate fast enough for a note.

    Parameters
    ----------
    model
        The model.
    times
        Times of the frames [time], shape (frames,).
    q, u
        Coordinates (frames, nq) and speeds (frames, nu) at these times.
    """
    if not model.modes or not len(times):
        return []
    looked = np.unique(np.linspace(0, len(times) - 1, min(len(times), FRAMES)).round().astype(np.int64)).tolist()
    velocities = np.array([body_velocities(model, q[frame], u[frame])[:, 3:] for frame in looked])
    found = []
    for body in model.modes:
        mine, spinning = velocities[:, body], _Spinning(model, body)
        across = np.array([spinning.across(spin) for spin in mine])
        fast = [k for k in range(len(looked)) if not across[k] <= NOTED * spinning.first]
        grows = (float(times[looked[k]]) for k in fast if spinning.growth(mine[k]) > 0.0)
        largest = float(np.linalg.norm(mine, axis=1).max())
        spin = Spin(model.names[body], largest, float(across.max()), spinning.first, next(grows, None))
        if spin.noted:
            found.append(spin)
    return found


class _Spinning:
    """Coefficients of the motion of a flexible body, with masses at its nodes, about a steady rotation."""

    def __init__(self, model: Model, body: int) -> None:
        forest, shapes, link = model.forest, model.modes[body], int(model.link[body])
        carried = _carried(model, body)
        whole = shapes._replace(masses=shapes.masses + carried)
        self.stiffness = shapes.stiffness
        self.integrals: InertiaIntegrals = inertia_integrals(whole)
        # A floating body moves freely; for an attached body, the motion of its frame is assumed to be prescribed.
        self.floats = int(forest.parent[link]) < 0 and int(forest.kind[link]) in UNBOUND
        X = shapes.positions
        dyads = (carried[:, None] * X).T @ X
        self.total = float(forest.mass[link] + carried.sum())
        self.moment = forest.moment[link] + carried @ X
        self.inertia = forest.inertia[link][FULL].reshape(3, 3) + np.trace(dyads) * np.eye(3) - dyads
        mass = self.integrals.M
        if self.floats:
            mass = mass - self.integrals.S1 @ self.integrals.S1.T / self.total
        squares = scipy.linalg.eigh(self.stiffness, mass, eigvals_only=True)
        # Modes without stiffness cannot be softened by rotation.
        stiff = squares > 1e-12 * max(float(squares[-1]), 0.0)
        self.first = math.sqrt(float(squares[stiff][0])) if stiff.any() else math.inf
        middle = whole.masses @ X / whole.masses.sum() if self.floats else 0.0
        self.arms, self.weights = X - middle, whole.masses

    def across(self, spin: np.ndarray) -> float:
        """Return the component of an angular velocity (3,) in the body frame that pulls nodes outwards [angle/time].
        For a slender body, this is the component perpendicular to its axis."""
        square = float(self.weights @ (self.arms**2).sum(axis=1))
        pull = float(self.weights @ (np.cross(spin, self.arms) ** 2).sum(axis=1))
        return math.sqrt(pull / square) if square > 0.0 else 0.0

    def growth(self, spin: np.ndarray) -> float:
        """Return the largest growth rate of a deformation for a steady angular velocity (3,) in the body frame
        [1/time]; 0 if no deformation grows."""
        if not np.isfinite(spin).all():
            return math.inf
        size = max(self.first, float(np.linalg.norm(spin)))
        if not self.floats:
            fastest = _fastest(self._held(spin))
            return fastest if fastest > GROWS * size else 0.0
        bent = np.concatenate([spin, np.zeros(2 * self.stiffness.shape[0])])
        fastest, rigid = _fastest(_slope(self._floating, bent)), _fastest(_slope(self._rigid, spin))
        # Growth by tumbling is not counted: a rigid body that rotates about the axis of its intermediate moment of
        # inertia also tumbles.
        limit = GROWS * size if rigid <= GROWS * size else TUMBLES[0] * rigid + TUMBLES[1] * self.first
        return fastest if fastest > limit else 0.0

    def _held(self, spin: np.ndarray) -> np.ndarray:
        """Return the matrix of the linear equations for (η, η') in a frame that rotates with a constant angular
        velocity."""
        n, i = self.stiffness.shape[0], self.integrals
        softening = np.einsum("a,jkab,b->jk", spin, i.N1.reshape(n, n, 3, 3), spin)
        gyration = np.einsum("a,jka->jk", spin, i.B1)
        rates = np.zeros((2 * n, 2 * n))
        rates[:n, n:] = np.eye(n)
        rates[n:, :n] = -scipy.linalg.solve(i.M, self.stiffness - 0.5 * (softening + softening.T), assume_a="pos")
        rates[n:, n:] = -2.0 * scipy.linalg.solve(i.M, gyration, assume_a="pos")
        return rates

    def _floating(self, x: np.ndarray) -> np.ndarray:
        """Return the rates of x = (ω, η, η') for a body without external forces (Shabana, 5.5; docs/flexible.md)."""
        n, i = self.stiffness.shape[0], self.integrals
        omega, eta, speed = x[:3], x[3 : 3 + n], x[3 + n :]
        A = self.inertia + np.einsum("jab,j->ab", i.A1[:, FULL].reshape(n, 3, 3), eta)
        h = self.moment + eta @ i.S1
        B = i.B0 + np.einsum("jka,k->ja", i.B1, eta)
        N = i.N0.reshape(n, 3, 3) + np.einsum("jkab,k->jab", i.N1.reshape(n, n, 3, 3), eta)
        mass = np.zeros((6 + n, 6 + n), dtype=x.dtype)
        mass[:3, :3], mass[:3, 3:6], mass[3:6, :3] = A, _cross(h), -_cross(h)
        mass[3:6, 3:6] = self.total * np.eye(3)
        mass[:3, 6:], mass[6:, :3], mass[3:6, 6:], mass[6:, 3:6], mass[6:, 6:] = B.T, B, i.S1.T, i.S1, i.M
        force = np.concatenate(
            [
                np.cross(omega, A @ omega) + 2.0 * np.einsum("j,jab,b->a", speed, N, omega),
                np.cross(omega, np.cross(omega, h)) + 2.0 * np.cross(omega, speed @ i.S1),
                -np.einsum("a,jab,b->j", omega, N, omega)
                + 2.0 * np.einsum("a,jka,k->j", omega, i.B1, speed)
                + self.stiffness @ eta,
            ]
        )
        found = np.linalg.solve(mass, -force)
        return np.concatenate([found[:3], speed, found[6:]])

    def _rigid(self, omega: np.ndarray) -> np.ndarray:
        """Return the rate of ω of the body as a rigid body, without modes and without external forces."""
        centre = self.moment / self.total
        about = self.inertia - self.total * (centre @ centre * np.eye(3) - np.outer(centre, centre))
        return np.linalg.solve(about, -np.cross(omega, about @ omega))


def _slope(rates: Callable[[np.ndarray], np.ndarray], steady: np.ndarray) -> np.ndarray:
    """Return the Jacobian of rates at a state, by complex steps; they have no cancellation errors."""
    columns = []
    for k in range(steady.size):
        x = steady.astype(complex)
        x[k] += 1e-30j
        columns.append(rates(x).imag * 1e30)
    return np.array(columns).T


def _fastest(rates: np.ndarray) -> float:
    return float(np.linalg.eigvals(rates).real.max())


def _cross(a: np.ndarray) -> np.ndarray:
    """Matrix of the cross product a ×."""
    x, y, z = a
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]], dtype=a.dtype)


def _carried(model: Model, body: int) -> np.ndarray:
    """Return the mass at each node of a flexible body, including bodies attached to the node [mass], shape (nodes,)."""
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
