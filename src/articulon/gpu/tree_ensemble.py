"""Ensembles on a device: many states of one model that a fixed-step integrator advances together."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from articulon.ensembles.state_ensemble import PLAN
from articulon.ensembles.state_ensemble import Ensemble as StateEnsemble
from articulon.gpu import tree_steps
from articulon.gpu.devices import load_warp
from articulon.gpu.tree_batch import TreeBatch, by_state
from articulon.gpu.tree_force_tables import check_forces
from articulon.gpu.tree_tables import integers, reals
from articulon.integrate.lane_blocks import Steps
from articulon.integrate.tableaux import Tableau
from articulon.model import Model
from articulon.scaling.base import ScalingPolicy

wp = load_warp()


@dataclass
class _Rule:
    """A Runge–Kutta scheme on the device."""

    a: Any
    b: Any
    stages: Any
    """Derivatives of the stages, shape (stages, nq + nu, states)."""
    slots: list[Any] = field(default_factory=list)
    """Derivative arrays of the individual stages."""
    loaded: bool = False
    """Whether all kernels have been loaded, which is impossible during the capture of launches."""
    graph: Any = None
    """Captured launches of a step, or None."""


class Ensemble(StateEnsemble):
    """Many states of one model under its own forces, on a device: an :class:`articulon.Ensemble` whose states stay on
    the device.

    All states have the same time and take the same steps; each has its own noise. The bits of a state depend neither on
    the number of states nor on the other states, and are the same in every run on one kind of device.

    Parameters
    ----------
    model
        The model: rigid bodies on joints of any kind, without loops and driven joints. Its forces may be gravity,
        Stokes drag, Brownian forces, site pairs and torsional springs.
    Q, U
        Coordinates (N, nq) and speeds (N, nu) at time zero.
    device
        ``"cuda"``, ``"cuda:1"``, or ``"warp-cpu"`` for Warp's own CPU device.
    seeds
        Seed of each state's Brownian forces, (N,); required if the model has such forces. A state and a run on the CPU
        with the same seed and windows have the same noise.
    held
        Time for which each noise value is held [time]; by default ``window`` times ``average`` of the Brownian forces,
        or else a quarter of the fastest relaxation time, divided by the policy's factor of the drag. Steps end on the
        boundaries of these windows, as those of explicit integrators do on the CPU.
    scaling
        A policy with constant factors, such as ``ar.scaling.Constant(0.01)``; none by default.
    precision
        ``"double"``, or ``"single"`` for 24 bits in every number.

    Raises
    ------
    ModelError
        For an invalid state or a force without a kernel, which the message names, and for a model without kernels, with
        the reason.
    ArticulonError
        For a device that does not exist.

    Examples
    --------
    >>> import numpy as np
    >>> import articulon as ar
    >>> from articulon import gpu
    >>> builder = ar.ModelBuilder(units="kg-m-s")
    >>> rod = builder.add_body("rod", mass=1, inertia=0.1, com=(0, 0, -0.5), joint=ar.Revolute(axis=(0, 1, 0)))
    >>> builder.add_force(ar.forces.Gravity((0, 0, -9.81)))
    >>> model = builder.build()
    >>> angles = np.linspace(0.1, 1.0, 4)[:, None]
    >>> pendulums = gpu.Ensemble(model, angles, 0 * angles, device="warp-cpu")
    >>> Q, U = pendulums.advance(100, 0.01)
    >>> Q.shape, round(pendulums.time, 12)
    ((4, 1), 1.0)
    """

    implicit = False

    def __init__(
        self,
        model: Model,
        Q: Any,
        U: Any,
        *,
        device: str = "cuda",
        seeds: Any = None,
        held: float | None = None,
        scaling: ScalingPolicy | None = None,
        precision: str = "double",
    ) -> None:
        self._where = device, precision
        super().__init__(model, Q, U, seeds=seeds, held=held, scaling=scaling)

    def _made(
        self, q: np.ndarray, u: np.ndarray, factor: np.ndarray, window: float, seeds: np.ndarray
    ) -> "DeviceEngine":
        """See :class:`articulon.Ensemble`."""
        device, precision = self._where
        batch = TreeBatch(self.model, len(q), device, precision, "Ensemble")
        check_forces(self.model, "Ensemble")
        batch.take_tables(factor, window, seeds)
        return DeviceEngine(batch, np.hstack([q, u]))

    def poses(self) -> tuple[np.ndarray, np.ndarray]:
        """See :class:`articulon.Ensemble`."""
        found: tuple[np.ndarray, np.ndarray] = self._engine.moved().poses()
        return found

    def kinetic_energies(self) -> np.ndarray:
        """See :class:`articulon.Ensemble`."""
        found: np.ndarray = self._engine.moved().kinetic_energies()
        return found


class DeviceEngine:
    """States on a device and their steps; see ``Engine`` in ``ensembles/state_ensemble.py``.

    Parameters
    ----------
    batch
        The batch, with the model's own forces enabled.
    y
        Coordinates and speeds (N, nq + nu).
    """

    def __init__(self, batch: TreeBatch, y: np.ndarray) -> None:
        self._batch, at = batch, batch.device
        self._y, self._trial = batch.rows(y), batch.zeros(y.shape[1])
        self._lengths = wp.zeros(PLAN, dtype=wp.float64, device=at)
        self._windows = wp.zeros(PLAN, dtype=wp.int64, device=at)
        self._at = wp.zeros(2, dtype=wp.int64, device=at)
        self._failed = wp.zeros(batch.states, dtype=wp.int64, device=at)
        self._quaternions = integers(batch.model.euler_parameters[0].tolist(), at)
        self._rules: dict[int, _Rule] = {}
        self.taken = 0
        """Number of steps taken."""

    @property
    def lost(self) -> np.ndarray:
        """Whether a state failed because its free flight did not converge, (N,); always False, because explicit steps
        have no free flight."""
        return np.zeros(self._batch.states, dtype=bool)

    @property
    def name(self) -> str:
        """Name of the device."""
        return str(self._batch.device.alias)

    @property
    def y(self) -> np.ndarray:
        """Coordinates and speeds (N, nq + nu)."""
        return by_state(self._y)

    @property
    def failed(self) -> np.ndarray:
        """Number of the step after which each state was not finite, 0 for finite states, (N,)."""
        return np.array(self._failed.numpy())

    def moved(self) -> TreeBatch:
        """Return the batch, with the poses and velocities of its links computed."""
        self._batch.move(self._y)
        return self._batch

    def take(self, rule: Tableau | str, steps: Steps) -> None:
        """Take up to ``PLAN`` steps of an explicit scheme."""
        assert isinstance(rule, Tableau)  # only explicit schemes are used for ensembles that are not ``implicit``
        formula, count = self._rule(rule), steps.lengths.size
        wp.copy(self._lengths, wp.array(steps.lengths, dtype=wp.float64, device="cpu"), count=count)
        wp.copy(self._windows, wp.array(steps.windows, dtype=wp.int64, device="cpu"), count=count)
        self._at.assign(np.array([0, steps.first], dtype=np.int64))
        for _ in range(count):
            self._take(formula)
        self.taken = steps.first + count

    def _rule(self, tableau: Tableau) -> _Rule:
        """Return a scheme on the device; those of ``EXPLICIT`` are kept."""
        if id(tableau) not in self._rules:
            batch = self._batch
            shape = (tableau.b.size, *self._y.shape)
            stages = wp.zeros(shape, dtype=batch.real, device=batch.device)
            a, b = (reals(one, batch.real, batch.device) for one in (tableau.a, tableau.b))
            self._rules[id(tableau)] = _Rule(a, b, stages, [stages[i] for i in range(shape[0])])
        return self._rules[id(tableau)]

    def _take(self, rule: _Rule) -> None:
        """Take one step: single launches first, and from the second step on as a graph if the device supports it."""
        batch = self._batch
        if rule.graph is not None:
            wp.capture_launch(rule.graph)
            return
        if rule.loaded:
            with wp.ScopedCapture(device=batch.device, force_module_load=False) as capture:
                self._launch(rule)
            rule.graph = capture.graph
            wp.capture_launch(rule.graph)
            return
        self._launch(rule)
        rule.loaded = True

    def _launch(self, rule: _Rule) -> None:
        batch, (variables, states) = self._batch, self._y.shape
        batch.launch(tree_steps.begin_step, 1, self._windows, self._at, batch.clock)
        batch.draw()
        batch.evaluate(self._y, rule.slots[0])
        for i in range(1, len(rule.slots)):
            batch.launch(
                tree_steps.take_stage,
                (variables, states),
                self._y,
                rule.stages,
                rule.a,
                i,
                self._lengths,
                self._at,
                self._trial,
            )
            batch.evaluate(self._trial, rule.slots[i])
        batch.launch(
            tree_steps.finish_step,
            states,
            self._y,
            rule.stages,
            rule.b,
            self._quaternions,
            self._lengths,
            self._at,
            self._failed,
        )
        batch.launch(tree_steps.end_step, 1, self._at)
