"""Minimisation of the energy of a model until the forces are nearly balanced. Runs with overlapping particles start
with it.

The method is FIRE (Bitzek et al., Phys. Rev. Lett. 97, 170201, 2006). The model moves without friction and noise, and
velocities are turned towards the force. The motion stops when it would increase the energy, and steps become longer
while it decreases the energy. In addition, the displacement of a coordinate in a step is limited, so that the very
large forces of an overlap separate particles by small displacements only.
"""

from typing import Any

import numpy as np

from articulon.dynamics.multibody_functions import check_model, kinetic_energy, moved, vector
from articulon.errors import ModelError
from articulon.forces.evaluation import Evaluator
from articulon.forces.sites.site_positions import site_positions
from articulon.inputs import number, shown, whole
from articulon.kernels import one_blas_thread
from articulon.model import Model
from articulon.model.joints import BY_KIND
from articulon.model.state import CHANNELS, CONFORMATIONAL, EXTERNAL, POTENTIAL

PATIENCE, GROWTH, SHRINKAGE, TURN, FADING = 5, 1.1, 0.5, 0.1, 0.99
"""Parameters of FIRE: N_min, f_inc, f_dec, α_start and f_α of the paper."""
LEAP = 3.0
"""Largest allowed ratio of the forces after and before a step. While the energy decreases, the force can grow only if
the energy surface becomes steeper."""
ANGLE = 0.05
"""Largest rotation of a joint in a step [rad]."""
LOOK_BACK = 50
"""Number of steps over which the decrease of the energy is compared with the tolerance."""
THERMAL_TOLERANCE = 1e-3
"""Decrease of the energy over :data:`LOOK_BACK` steps that is negligible for a run, in ½kT per degree of freedom."""


def minimise(
    model: Model,
    q: np.ndarray | None = None,
    *,
    energy_tolerance: float = 1e-4,
    temperature: float | str | None = None,
    largest_move: float | str | None = None,
    steps: int = 20_000,
) -> np.ndarray:
    """Minimise the energy of a model, starting from the coordinates q; return the coordinates found, shape (nq,).

    Potential, conformational and external forces act; drag, noise and thermostats do not act. The search ends when the
    energy hardly decreases any more. The result is close to a local minimum. It is a starting point for a run, not a
    predicted structure.

    Parameters
    ----------
    model
        The model, without loops or driven joints.
    q
        Start coordinates, shape (nq,); the model's initial coordinates by default.
    energy_tolerance
        The search ends when the energy has decreased by less than this fraction of its magnitude over the last 50
        steps.
    temperature
        Temperature of the run that follows [temperature]; None by default. If given, the search also ends when the
        energy has decreased over the last 50 steps by less than a thousandth of ½kT per degree of freedom, which is
        negligible compared with thermal motion. This is needed for purely repulsive forces, whose energy decreases
        towards zero and would never satisfy the relative tolerance.
    largest_move
        Largest displacement of a coordinate in a step [length]; by default a fiftieth of the mean distance between
        sites.
    steps
        Largest number of steps.

    Raises
    ------
    ModelError
        For a model with loop constraints, an invalid value, or forces that are not finite at the start. They are not
        finite if two particles are at the same point.

    Examples
    --------
    >>> import articulon as ar, numpy as np
    >>> builder = ar.ModelBuilder(units="lj")
    >>> ids = builder.add_particles(2, mass=1, positions=[(0, 0, 0), (0.1, 0, 0)], kind="A")
    >>> builder.add_force(ar.forces.LennardJones(parameters={"A": {"epsilon": 1, "sigma": 1}}))
    >>> q = ar.minimise(builder.build(), energy_tolerance=1e-9)
    >>> round(float(np.linalg.norm(q[3:] - q[:3])), 2)  # 2^(1/6)
    1.12
    """
    check_model(model, "minimise")
    if model.loops.kind.size:
        raise ModelError("minimise: the model has loops or driven joints, which steps would violate; take them out")
    start = model.q0 if q is None else vector(q, model.nq, "minimise: q")
    if largest_move is None:
        move = _default_move(model, start)
    else:
        move = model.units.value(largest_move, "length", "minimise: largest_move")
    if not move > 0.0:
        raise ModelError(f"minimise: largest_move must be positive, got {shown(largest_move)}")
    energy_tolerance = number(energy_tolerance, "minimise: energy_tolerance")
    if energy_tolerance < 0.0:
        raise ModelError(f"minimise: energy_tolerance must not be negative, got {energy_tolerance:g}")
    thermal = 0.0
    if temperature is not None:
        temperature = model.units.value(temperature, "temperature", "minimise: temperature")
        if temperature < 0.0:
            raise ModelError(f"minimise: temperature must not be negative, got {temperature:g}")
        thermal = THERMAL_TOLERANCE * 0.5 * model.units.boltzmann * temperature * model.degrees_of_freedom
    steps = whole(steps, "minimise: steps", least=0)
    with one_blas_thread():
        return _Descent(model, move).run(start.copy(), energy_tolerance, thermal, steps)


class _Descent:
    """FIRE minimiser in the coordinates of a model."""

    def __init__(self, model: Model, move: float) -> None:
        self.model, self.evaluator = model, Evaluator(model)
        self.factor = np.zeros(len(CHANNELS))
        self.factor[[POTENTIAL, CONFORMATIONAL, EXTERNAL]] = 1.0
        forest = model.forest
        self.reach = np.full(model.nu, ANGLE)
        for kind, first in zip(forest.kind.tolist(), forest.u_start.tolist(), strict=True):
            self.reach[first : first + BY_KIND[kind].translations] = move
        self.y = np.zeros(model.nq + model.nu + 8)
        self.dy = np.zeros_like(self.y)

    def run(self, q: np.ndarray, tolerance: float, thermal: float, steps: int) -> np.ndarray:
        """Return the coordinates at the end."""
        v, turn, falling = np.zeros(self.model.nu), TURN, 0
        a, _ = self._accelerations(q, v)
        if not np.isfinite(a).all():
            first = int(np.argmin(np.isfinite(a)))
            link = int(np.searchsorted(self.model.forest.u_start, first, side="right")) - 1
            body = self.model.names[self.model.head[link]]
            raise ModelError(
                f"minimise: the force on body '{body}' is not finite: particles at the same point, or an undefined "
                "user's force, give no downhill direction; move the body"
            )
        if not a.any():
            return q
        h = float(np.sqrt(0.1 * (self.reach / np.maximum(np.abs(a), 1e-300)).min()))
        before = self._energy(q)
        for step in range(1, steps + 1):
            v = v + h * a
            speed, push = self._norm(q, v), self._norm(q, a)
            v = (1.0 - turn) * v + turn * (speed / push if push > 0.0 else 0.0) * a
            h_here = h * min(1.0, float((self.reach / np.maximum(np.abs(h * v), 1e-300)).min()))
            ahead = moved(self.model, q, v, h_here)
            a, power = self._accelerations(ahead, v)
            well = bool(np.isfinite(a).all())
            if not (well and power > 0.0 and self._norm(ahead, a) < LEAP * push):
                # The next step would increase the energy, or the force became much larger or not finite: go back half a
                # step and stop the motion. If steps were too long for the stiffest motion, charges without a repulsive
                # core, such as the hydrogens of water, could come so close that their energy has no lower bound.
                if well:
                    q = moved(self.model, ahead, v, -0.5 * h_here)
                h, turn, falling, v = SHRINKAGE * h, TURN, 0, np.zeros_like(v)
                a, _ = self._accelerations(q, v)
            else:
                q, falling = ahead, falling + 1
                if falling > PATIENCE:
                    h, turn = GROWTH * h, FADING * turn
            if step % LOOK_BACK == 0:
                now = self._energy(q)
                if before - now <= max(tolerance * abs(now), thermal):
                    break
                before = now
        return q

    def _accelerations(self, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, float]:
        """Return accelerations (nu,) and the power of the forces."""
        nq, nu = self.model.nq, self.model.nu
        self.y[:nq], self.y[nq : nq + nu], self.y[nq + nu :] = q, v, 0.0
        self.evaluator.rates(self.factor, 0.0, 0, self.y, self.dy)
        if self.evaluator.users.error is not None:
            raise self.evaluator.users.error
        return self.dy[nq : nq + nu].copy(), float(self.dy[nq + nu :].sum())

    def _norm(self, q: np.ndarray, v: np.ndarray) -> float:
        return float(np.sqrt(2.0 * kinetic_energy(self.model, q, v)))

    def _energy(self, q: np.ndarray) -> float:
        return float(self.evaluator.energies(q).sum())


def _default_move(model: Model, q: np.ndarray) -> float:
    """Return a fiftieth of the mean distance between sites, or of the size of the model if it has few sites
    [length]."""
    places: Any = site_positions(model, q) if model.sites.body.size else model.forest.position
    if model.box is not None:
        volume, count = model.box.volume, max(1, len(places))
    else:
        sides = np.ptp(places, axis=0) if len(places) else np.zeros(3)
        size = float(sides.max(initial=0.0)) or 1.0
        volume, count = float(np.prod(np.maximum(sides, 0.1 * size))), len(places)
    return 0.02 * (volume / max(1, count)) ** (1.0 / 3.0)
