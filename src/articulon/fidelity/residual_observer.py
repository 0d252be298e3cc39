"""Observables of the cancellation of forces at every frame of a scaled run; see :mod:`residual`."""

import math
import time

import numpy as np

from articulon.algebra.vectors import apply, cross, load, load_matrix, scale, store_from
from articulon.dynamics.newton_euler import project
from articulon.forces.evaluation import Evaluator
from articulon.integrate.lag_groups import group_starts
from articulon.kernels import kernel
from articulon.model import CHANNELS
from articulon.model.state import DAMPING, EXTERNAL, STOCHASTIC

RESIDUAL, OVER_JOINTS, TOO_SLOW = "residual", "residual_over_joints", "too_slow"
"""Names of the observables: the residual |Σ G_c|/Σ|G_c| of the slowest tree's translation; the mean residual of all
joints; the fraction by which the slowest tree is too slow for the forces on it."""


@kernel
def cancel(
    forest, gravity, wrench_channels, joint_channels, found, joint, ws, starts, slow, wrench, tau, forces, result
):
    """Residual of the slow block, mean residual of the blocks, speed deficit, and |G_c| of the slow block, for links
    with positions and channels already filled."""
    links, nu = forest.mass.size, tau.size
    for c in range(8):
        for k in range(nu):
            forces[c, k] = 0.0
    for c in wrench_channels:
        for i in range(links):
            for k in range(6):
                wrench[i, k] = found[c, i, k]
        project(forest, ws, wrench, tau)
        for k in range(nu):
            forces[c, k] = tau[k]
    g = (gravity[0], gravity[1], gravity[2])
    if g[0] != 0.0 or g[1] != 0.0 or g[2] != 0.0:
        for i in range(links):
            h = apply(load_matrix(ws.rotation, i), load(forest.moment, i))
            store_from(wrench, i, 0, scale(forest.mass[i], g))
            store_from(wrench, i, 3, cross(h, g))
        project(forest, ws, wrench, tau)
        for k in range(nu):
            forces[EXTERNAL, k] += tau[k]
    for c in joint_channels:
        for k in range(nu):
            forces[c, k] += joint[c, k]
    mean, count = 0.0, 0
    for b in range(starts.size - 1):
        whole, square = 0.0, 0.0
        for c in range(8):
            one = 0.0
            for k in range(starts[b], starts[b + 1]):
                one += forces[c, k] * forces[c, k]
            whole += math.sqrt(one)
            if b == slow:
                result[3 + c] = math.sqrt(one)
        for k in range(starts[b], starts[b + 1]):
            net = 0.0
            for c in range(8):
                net += forces[c, k]
            square += net * net
        if whole > 0.0:
            mean += math.sqrt(square) / whole
            count += 1
        if b == slow:
            result[0] = math.sqrt(square) / whole if whole > 0.0 else np.nan
    result[1] = mean / count if count > 0 else np.nan
    along, size = 0.0, 0.0
    for k in range(starts[slow], starts[slow + 1]):
        drive = 0.0
        for c in range(8):
            if c != DAMPING and c != STOCHASTIC:
                drive += forces[c, k]
        along += drive * forces[DAMPING, k]
        size += drive * drive
    result[2] = 1.0 + along / size if size > 0.0 else np.nan


class ResidualObserver:
    """Computes the observables of the cancellation at the frames of a run; none without drag or with a thermostat.

    Parameters
    ----------
    evaluator
        Forces, evaluated at the observed state.
    present
        Indices of the channels that contain forces.
    root
        First link of the slowest tree.
    scaled
        Whether the run scales any force.
    """

    def __init__(self, evaluator: Evaluator, present: list[int], root: int, scaled: bool) -> None:
        self.evaluator, self.channels = evaluator, present
        model = evaluator.model
        self.looks = scaled and DAMPING in present and evaluator.thermostat is None
        self.looks = self.looks and not evaluator.particles and not evaluator.overdamped
        self.starts = group_starts(model)
        self.slow = int(np.searchsorted(self.starts, model.forest.u_start[root])) if self.looks else 0
        self.seconds = 0.0
        """Wall time spent on the observables [s]."""
        links = model.forest.mass.size
        self._scratch = np.zeros((links, 6)), np.zeros(model.nu), np.zeros((8, model.nu)), np.zeros(11)

    @property
    def dimensions(self) -> dict[str, str]:
        """Dimension of every observable by name."""
        if not self.looks:
            return {}
        names = dict.fromkeys((RESIDUAL, OVER_JOINTS, TOO_SLOW), "dimensionless")
        return names | {f"net_{CHANNELS[c]}": "dimensionless" for c in self.channels}

    def warm_up(self) -> None:
        """Compile the kernels of the observables, so that the compilation does not count as their time."""
        self.observe()
        self.seconds = 0.0

    def observe(self) -> dict[str, float]:
        """The three observables, and the share of each channel in the forces on the slowest tree."""
        if not self.looks:
            return {}
        began = time.perf_counter()
        e, (wrench, tau, forces, result) = self.evaluator, self._scratch
        tables, found = e.system.forces, e.channels
        acting = tables.gravity, tables.wrench_channels, tables.joint_channels, found.wrench, found.joint
        cancel(e.system.forest, *acting, e.ws, self.starts, self.slow, wrench, tau, forces, result)
        whole = float(result[3:].sum())
        self.seconds += time.perf_counter() - began
        look = dict(zip((RESIDUAL, OVER_JOINTS, TOO_SLOW), result[:3].tolist(), strict=True))
        return look | {
            f"net_{CHANNELS[c]}": float(result[3 + c]) / whole if whole > 0.0 else np.nan for c in self.channels
        }
