"""Motion without inertia: the speeds at which drag balances all other forces, ζ(q) u = Γ(q, t).

ζ = Jᵀ B J with the drag B of the bodies. The system is solved by the articulated recursion, as for the mass matrix,
with every body's inertia replaced by its drag. The forces are those of the run's own right-hand side at rest, Γ = M u'.

``SlowMotion`` adds inertia to first order. If relaxation times are short compared with all other times, part of the
forces accelerates the bodies, and drag balances the rest: u = u₀ − ζ⁻¹ (M u₀' + C(q, u₀)), with the drift velocities
u₀, their rate u₀' along the motion and the velocity products C. All other motions approach such a slow motion within a
relaxation time.
"""

from collections.abc import Iterator

import numpy as np

from articulon.dynamics import articulated, newton_euler
from articulon.forces.evaluation import Evaluator
from articulon.model import Forest
from articulon.model.array_rotations import quaternion_product
from articulon.model.assemble import joint_without_inertia
from articulon.model.joints import BY_KIND, Joint
from articulon.model.state import STOCHASTIC

MATCH = 1e-6
"""Difference of the damping from Stokes drag, relative to the largest speed, above which the model has other
damping."""


class DriftVelocity:
    """Drift velocities of a model without inertia.

    Parameters
    ----------
    evaluator
        The model with its forces.
    idle
        Speeds that need no drag, because they are always zero or are not read, shape (nu,).
    noise
        Whether the forces include the Brownian ones of the noise window ``window``.
    """

    def __init__(self, evaluator: Evaluator, idle: np.ndarray, noise: bool = False) -> None:
        self.evaluator, self.model = evaluator, evaluator.model
        model, drag = self.model, evaluator.system.forces.drag
        self._forest = forest = evaluator.system.forest
        self.evaluations = 0
        """Number of evaluations of forces so far."""
        self.window = 0
        """Number of the noise window, if there is noise."""
        self.latest = np.zeros(model.nu)
        """The latest drift velocities, shape (nu,)."""
        self.inertia = _with_idle(forest, drag.inertia, idle)
        """Drag of the links in the form of an inertia, shape (links, 6)."""
        self._drag = forest._replace(mass=drag.mass, moment=drag.moment, inertia=self.inertia)
        self._still, self._wrench = np.zeros(model.nu), np.zeros((forest.mass.size, 6))
        self._scratch, self._fall, self._factors = np.zeros_like(self._wrench), np.zeros(3), np.ones(8)
        self._factors[STOCHASTIC] = float(noise)
        self._y, self._dy = np.zeros((2, model.nq + model.nu + 8))
        # Speeds that are rates of coordinates, and those that are angular velocities with Euler parameters.
        self._rates: list[int] = []
        self._speeds: list[int] = []
        self._turns: list[list[int]] = []
        self._spins: list[list[int]] = []
        absent = model.nu
        for q, u, joint in _joints(forest):
            plain = joint.nu if joint.quaternion is None else joint.translations
            self._rates += range(q, q + plain)
            self._speeds += range(u, u + plain)
            if joint.quaternion is not None:
                self._turns.append([q + joint.quaternion + k for k in range(4)])
                # The index after the speeds refers to a zero, the angular velocity about an axis that the joint does
                # not have.
                self._spins.append([u + plain + k if plain + k < joint.nu else absent for k in range(3)])

    def why_not(self) -> str | None:
        """Why drift velocities do not exist for the model, or None if they do."""
        e, model = self.evaluator, self.model
        if e.particles or e.thermostat is not None or e.contacts is not None:
            return "motion without inertia is that of bodies with drag, without contacts or a thermostat"
        if model.loops.kind.size:
            return f"{model.loop_name(0)} carries forces that depend on inertia"
        if model.modes:
            return f"body '{model.names[next(iter(model.modes))]}' is flexible, and no drag acts on its modes"
        starts = model.forest.tree[:-1]
        bare = np.flatnonzero(~(np.add.reduceat(self._drag.mass, starts) > 0.0))
        link = int(starts[bare[0]]) if bare.size else joint_without_inertia(self._drag)
        if link is not None:
            return f"no drag holds back the joint of body '{model.names[int(model.head[link])]}'"
        if not np.isfinite(self.lost(model.q0, np.ones(model.nu))).all():
            return "drag does not hold back every joint"
        return None

    def damped_otherwise(self, t: float, q: np.ndarray, u: np.ndarray) -> bool:
        """Whether forces other than Stokes drag depend on the speeds u at coordinates q."""
        model = self.model
        self._y[: model.nq], self._y[model.nq :] = q, 0.0
        self._y[model.nq : model.nq + model.nu] = u
        self._evaluate(t)
        short = self._balance(q, self._inertial(q, u, self._dy[model.nq : model.nq + model.nu].copy()))
        drift = self.speeds(t, q)
        size = max(float(np.abs(u).max(initial=0.0)), float(np.abs(drift).max(initial=0.0)))
        return bool(np.abs(drift - u - short).max(initial=0.0) > MATCH * size)

    def speeds(self, t: float, q: np.ndarray) -> np.ndarray:
        """Solve ζ u = Γ for u at a time and coordinates, shape (nu,)."""
        model = self.model
        self._y[: model.nq], self._y[model.nq :] = q, 0.0
        for k in self._turns:
            self._y[k] /= np.linalg.norm(self._y[k])
        self._evaluate(t)
        at = self._y[: model.nq].copy()
        self.latest = self.lost(at, self._dy[model.nq : model.nq + model.nu])
        return self.latest

    def started(self, t: float, q: np.ndarray, u: np.ndarray) -> np.ndarray:
        """Start of the tracked motion for a run that starts from coordinates q and speeds u, shape (nq,)."""
        return q.copy()

    def lost(self, q: np.ndarray, change: np.ndarray) -> np.ndarray:
        """ζ⁻¹ M Δu: the displacement lost to inertia when the speeds change by Δu, shape (nu,)."""
        return self._balance(q, self._times(self._forest, q, change))

    def held_back(self, q: np.ndarray, u: np.ndarray) -> np.ndarray:
        """ζ u: the drag forces at speeds u, with opposite sign, shape (nu,)."""
        return self._times(self._drag, q, u)

    def _inertial(self, q: np.ndarray, u: np.ndarray, udot: np.ndarray) -> np.ndarray:
        """The inertial forces M u' + C(q, u)."""
        tau, none, e = np.empty(self.model.nu), np.zeros_like(self._wrench), self.evaluator
        newton_euler.inverse_dynamics(
            self._forest, np.array(q), np.array(u), udot, none, self._fall, e.ws, self._scratch, tau
        )
        return tau

    def _times(self, forest: Forest, q: np.ndarray, u: np.ndarray) -> np.ndarray:
        """The mass matrix of a forest times speeds: M u or ζ u."""
        tau, none, ws = np.empty(self.model.nu), np.zeros_like(self._wrench), self.evaluator.ws
        # For the compiler, a read-only array has another type.
        at, speeds = np.array(q), np.array(u)
        newton_euler.inverse_dynamics(forest, at, self._still, speeds, none, self._fall, ws, self._scratch, tau)
        return tau

    def rates(self, t: float, q: np.ndarray) -> np.ndarray:
        """Rates of the coordinates at the drift velocities, shape (nq,)."""
        return self._coordinate_rates(q, self.speeds(t, q))

    def _coordinate_rates(self, q: np.ndarray, u: np.ndarray) -> np.ndarray:
        found = np.zeros(self.model.nq)
        found[self._rates] = u[self._speeds]
        if self._turns:
            angular_velocity = np.append(u, 0.0)[np.array(self._spins)]
            found[np.array(self._turns)] = 0.5 * quaternion_product(
                q[np.array(self._turns)],
                np.concatenate([np.zeros((len(angular_velocity), 1)), angular_velocity], axis=1),
            )
        return found

    def project(self, q: np.ndarray) -> None:
        """Normalise the Euler parameters."""
        for k in self._turns:
            q[k] /= np.linalg.norm(q[k])

    def _balance(self, q: np.ndarray, tau: np.ndarray) -> np.ndarray:
        """Solve ζ u = τ for u."""
        u = np.empty(self.model.nu)
        self._wrench[:] = 0.0
        articulated.forward_dynamics(
            self._drag, np.array(q), self._still, tau, self._wrench, self._fall, self.evaluator.ws, u
        )
        return u

    def _evaluate(self, t: float) -> None:
        self.evaluator.rates(self._factors, t, self.window, self._y, self._dy)
        self.evaluations += 1


class SlowMotion(DriftVelocity):
    """Drift velocities with inertia to first order.

    Parameters
    ----------
    evaluator, idle
        See :class:`DriftVelocity`.
    moves
        Displacements over which the speeds are differenced, by speed, shape (nu,).
    """

    def __init__(self, evaluator: Evaluator, idle: np.ndarray, moves: np.ndarray) -> None:
        super().__init__(evaluator, idle)
        self._moves = moves

    def speeds(self, t: float, q: np.ndarray) -> np.ndarray:
        """Speeds u at a time and coordinates, shape (nu,)."""
        first = super().speeds(t, q)
        at = self._y[: self.model.nq].copy()
        fastest = float((np.abs(first) / self._moves).max(initial=0.0))
        if not 0.0 < fastest < np.inf:
            return first
        h = 1.0 / fastest
        change = (super().speeds(t + h, at + h * self._coordinate_rates(at, first)) - first) / h
        self.latest = first - self._balance(at, self._inertial(at, first, change))
        return self.latest

    def started(self, t: float, q: np.ndarray, u: np.ndarray) -> np.ndarray:
        """Start of the slow motion that a run from coordinates q and speeds u relaxes to: on the way to u₀ the bodies
        lose the displacement ζ⁻¹ M (u₀ − u)."""
        moved = q - self._coordinate_rates(q, self.lost(q, super().speeds(t, q) - u))
        self.project(moved)
        return moved


def _joints(forest: Forest) -> Iterator[tuple[int, int, type[Joint]]]:
    """First coordinate and first speed of every link's joint, and the joint's kind."""
    for q, u, kind in zip(forest.q_start.tolist(), forest.u_start.tolist(), forest.kind.tolist(), strict=True):
        yield q, u, BY_KIND[kind]


def _with_idle(forest: Forest, inertia: np.ndarray, idle: np.ndarray) -> np.ndarray:
    """Drag in the form of an inertia, with a substitute on links whose rotation has no drag and needs none."""
    found = inertia.copy()
    spare = float(np.abs(inertia).max(initial=0.0)) or 1.0
    for i, (_, u, joint) in enumerate(_joints(forest)):
        turns = slice(u + joint.translations, u + joint.nu)
        if joint.rotates() and idle[turns].all():
            found[i, [0, 3, 5]] += 1e-6 * spare
    return found
