"""Effect of locking and releasing on the speeds: internal impulses conserve the momentum of the remaining motions
(Poursina 2012, chapter 3).

The fine speeds are u_f = P u_c + d with Pᵀ M d = 0, where P maps the coarse speeds u_c to fine speeds, and M is the
mass matrix.

Locking is a projection: the coarse speeds have the momentum of the fine speeds in every remaining motion. Releasing
adds a relative motion d that has no momentum in the previous motions, so that ½ dᵀ M d is exactly the added kinetic
energy. Both use two O(n) recursions: Newton-Euler for M u, and articulated bodies for M⁻¹ p.
"""

from dataclasses import dataclass

import numpy as np

from articulon.adaptive.lockable import Joints
from articulon.adaptive.merged_bodies import Merging, merged
from articulon.adaptive.thermal_draws import inverse_columns, thermal_speeds
from articulon.dynamics import articulated, kinetic_energies, mass_matrix, newton_euler, solvers
from articulon.dynamics.flexible.flexible_newton_euler import inverse_dynamics as flexible_inverse_dynamics
from articulon.dynamics.mass_determinant import determinant_arrays, log_determinant_at
from articulon.dynamics.momentum_sampling import draw_arrays
from articulon.errors import ModelError
from articulon.model import Model, kernel_tables
from articulon.model.forest_tables import workspace
from articulon.rng import fill_normals


class Space:
    """Space of motions of a model with some of its joints and modes locked.

    Parameters
    ----------
    model, joints
        Fine model and its parts.
    q
        Coordinates of the fine model.
    locked
        Locked parts, shape (parts,).
    made
        Coarse model and map, if already known.
    """

    def __init__(
        self,
        model: Model,
        joints: Joints,
        q: np.ndarray,
        locked: np.ndarray,
        made: tuple[Model, Merging] | None = None,
    ) -> None:
        self.fine, self.joints, self.locked = model, joints, locked
        self.model, self.merging = made or merged(model, joints, q, locked)
        self.q = q[self.merging.q]
        links, nu = self.model.forest.parent.size, self.model.nu
        self.forest = kernel_tables(self.model).forest
        self.ws, self.still = workspace(self.forest), workspace(self.forest)
        self.zero_u, self.zero_w, self.zero_g = np.zeros(nu), np.zeros((links, 6)), np.zeros(3)
        self.force = np.zeros((links, 6))

    def momentum(self, u: np.ndarray) -> np.ndarray:
        """Return the momentum M u as an array over all speeds of the fine model, with zero for locked speeds."""
        p = np.empty(self.model.nu)
        rigid = self.model.forest.flexible is None
        (newton_euler.inverse_dynamics if rigid else flexible_inverse_dynamics)(
            self.forest,
            self.q,
            self.zero_u,
            u[self.merging.u],
            self.zero_w,
            self.zero_g,
            self.ws,
            self.force,
            p,
        )
        return self.merging.fine_speeds(p)

    def solve(self, p: np.ndarray) -> np.ndarray:
        """Return the speeds that have the momentum p in these motions, both as arrays over all speeds of the fine
        model.

        With loops, the result satisfies the loop constraints, and has this momentum in every motion that they allow.
        """
        if not self.model.nu:
            return np.zeros(self.fine.nu)
        tau = p[self.merging.u]
        if self.model.loops.kind.size:
            arguments = (0.0, self.q, self.zero_u, tau, self.zero_w, self.zero_g)
            u = solvers.accelerations(self.model, "articulated", *arguments)
        else:
            u = np.empty(self.model.nu)
            articulated.forward_dynamics(self.forest, self.q, self.zero_u, tau, self.zero_w, self.zero_g, self.ws, u)
        return self.merging.fine_speeds(u)

    def energy(self, u: np.ndarray) -> float:
        """Return the kinetic energy for speeds of the fine model."""
        if not self.model.nu:
            return 0.0
        return float(kinetic_energies.kinetic_energy_at(self.forest, self.q, u[self.merging.u], self.ws))

    def thermal(self, seed: int, stream: int, count: int, kT: float) -> np.ndarray:
        """Draw speeds of the fine model from N(0, kT M⁻¹)."""
        draw = draw_arrays(self.model.nu)
        if self.model.forest.flexible is None:
            thermal_speeds(self.forest, self.q, seed, stream, count, self.still, draw)
        elif self.model.nu:  # modes are coupled, so a square root of the whole mass matrix is needed
            fill_normals(seed, stream, count, draw.speeds)
            draw.speeds[:] = np.linalg.solve(np.linalg.cholesky(mass_matrix(self.model, self.q)).T, draw.speeds)
        u = self.merging.fine_speeds(np.sqrt(kT) * draw.speeds)
        # Motions that loops do not allow are projected out, which leaves a draw from the allowed motions.
        return self.solve(self.momentum(u)) if self.model.loops.kind.size else u

    def columns(self, speeds: np.ndarray) -> np.ndarray:
        """Return the columns M⁻¹ e_k for the given speeds of the fine model, as arrays over all its speeds, shape
        (speeds, nu)."""
        rows = np.empty((speeds.size, self.model.nu))
        inverse_columns(
            self.forest,
            self.q,
            self.merging.u_of[speeds],
            self.still,
            np.zeros(self.model.nu),
            self.zero_w,
            rows,
        )
        result = np.zeros((speeds.size, self.fine.nu))
        result[:, self.merging.u] = rows
        return result

    def log_determinant(self) -> float:
        """Return ln det M for these motions."""
        if not self.model.nu:
            return 0.0
        links = self.forest.parent.size
        return float(log_determinant_at(self.forest, self.q, self.still, determinant_arrays(links, self.model.nu)))


@dataclass(frozen=True)
class Locking:
    """Result of locking."""

    speeds: np.ndarray
    """Speeds of the fine model, zero for locked parts, shape (nu,)."""
    relative: np.ndarray
    """Removed relative speeds, which are the speeds before minus the speeds after locking, shape (nu,)."""
    energies: np.ndarray
    """Kinetic energy lost by each locked joint or mode, stored at its first speed; their sum is the loss of the model
    [energy], shape (nu,)."""


def lock(before: Space, after: Space, u: np.ndarray) -> Locking:
    """Compute the speeds after locking, which have the momentum of u in every motion of ``after``."""
    speeds = after.solve(before.momentum(u))
    relative = u - speeds
    shares = 0.5 * relative * before.momentum(relative)
    # In exact arithmetic, the removed speeds have momentum only in the locked parts.
    energies, joints = np.zeros(u.size), before.joints
    new = after.locked & ~before.locked
    owner = joints.u[new[joints.u]]
    per_part = np.bincount(owner, shares[new[joints.u]], minlength=new.size)
    energies[joints.start[new]] = per_part[new]
    return Locking(speeds, relative, energies)


def relative_to(before: Space, after: Space, speeds: np.ndarray) -> np.ndarray:
    """Return the speeds d of ``after`` that have given values at the parts locked in ``before``, and no momentum in any
    motion of ``before``."""
    new = before.locked[before.joints.u] & ~after.locked[before.joints.u]
    given = np.where(new, speeds, 0.0)
    return given - before.solve(after.momentum(given))


def canonical(before: Space, after: Space, kT: float, seed: int, stream: int, count: int) -> np.ndarray:
    """Draw relative speeds d: speeds from N(0, kT M⁻¹) minus their projection onto the motions of ``before``."""
    drawn = after.thermal(seed, stream, count, kT)
    return drawn - before.solve(after.momentum(drawn))


def with_energy(after: Space, d: np.ndarray, wanted: float, who: str) -> np.ndarray:
    """Scale relative speeds d to a given kinetic energy; raises ModelError if d is zero or the energy is impossible."""
    if wanted < 0.0:
        raise ModelError(
            f"{who}: a release cannot lower the energy of the locked motion by {wanted:.6g}: this motion "
            "already has the least kinetic energy for its momentum; give a larger energy"
        )
    have = after.energy(d)
    if have == 0.0:
        if wanted == 0.0:
            return d
        raise ModelError(
            f"{who}: no relative speeds can get the energy {wanted:.6g}: the joints were locked at rest; "
            "use choice = 'canonical'"
        )
    return np.sqrt(wanted / have) * d
