"""An ensemble: many states of one model that a fixed-step rule advances together, without leaving the device."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from articulon.errors import DivergenceError, ModelError
from articulon.gpu import tree_steps
from articulon.gpu.devices import load_warp
from articulon.gpu.tree_batch import TreeBatch, by_state, states_of
from articulon.gpu.tree_tables import integers, reals
from articulon.inputs import number, shown, whole
from articulon.integrate.rules import EXPLICIT
from articulon.model import Model
from articulon.model.joints import BY_KIND
from articulon.scaling.base import ScalingPolicy

wp = load_warp()

PLAN = 4096
"""Steps that are planned at once."""
_SAME = 1e-9
"""Relative difference of times that are the same but for rounding."""


@dataclass
class _Rule:
    """A formula on the device."""

    a: Any
    b: Any
    stages: Any
    """Derivatives of the stages, shape (stages, nq + nu, states)."""
    slots: list[Any] = field(default_factory=list)
    """Each of these."""
    loaded: bool = False
    """Whether all kernels have been loaded, which none may be while launches are captured."""
    graph: Any = None
    """The launches of a step, once they have been captured."""


class Ensemble:
    """Many states of one model under its own forces, on a device.

    Every state has the same time and takes the same steps; each has its own noise. The bits of a state depend neither
    on the number of states nor on those beside it, and are the same in every run on one kind of device.

    Parameters
    ----------
    model
        The model: rigid bodies on joints of any kind, without loops and driven joints. Its forces may be gravity,
        Stokes drag, Brownian forces, site pairs and torsional springs.
    Q, U
        Coordinates (N, nq) and speeds (N, nu) at time zero.
    device
        ``"cuda"``, ``"cuda:1"``, or ``"cpu"`` for Warp's own CPU device.
    seeds
        Seed of each state's Brownian forces, (N,); needed where the model has some. A state and a run on the CPU with
        the same seed and windows have the same noise.
    held
        How long noise is held [time]; by default ``window`` times ``average`` of the Brownian forces, or else a quarter
        of the fastest relaxation time, divided by the policy's factor of the drag. Steps end on the boundaries of these
        windows, as those of explicit rules do on the CPU.
    scaling
        A policy whose factors stand, such as ``ar.scaling.Constant(0.01)``; none by default.
    precision
        ``"double"``, or ``"single"`` for 24 bits in every number.

    Raises
    ------
    ModelError
        Naming the state for a row that is no state, the force for one that has no kernel, and with the reason for a
        model that has none.
    ArticulonError
        For a device that is not there.

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
    >>> pendulums = gpu.Ensemble(model, angles, 0 * angles, device="cpu")
    >>> Q, U = pendulums.advance(100, 0.01)
    >>> Q.shape, round(pendulums.time, 12)
    ((4, 1), 1.0)
    """

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
        q, u = states_of(model, Q, U, "Ensemble", unit=True)
        if not model.nu:
            raise ModelError("Ensemble: nothing moves in this model: all its bodies are welded to the ground")
        batch = self._batch = TreeBatch(model, q.shape[0], device, precision, "Ensemble")
        batch.take_forces(scaling, held, seeds)
        self.model = model
        self.time = 0.0
        """[time]."""
        self.steps = 0
        """Steps taken."""
        self._window = 0
        self._y, self._trial = batch.rows(np.hstack([q, u])), batch.zeros(model.nq + model.nu)
        at = batch.device
        self._lengths = wp.zeros(PLAN, dtype=wp.float64, device=at)
        self._windows = wp.zeros(PLAN, dtype=wp.int64, device=at)
        self._at = wp.zeros(2, dtype=wp.int64, device=at)
        self._failed = wp.zeros(batch.states, dtype=wp.int64, device=at)
        self._quaternions = integers(_quaternions(model), at)
        self._rules: dict[str, _Rule] = {}

    def __repr__(self) -> str:
        batch, unit = self._batch, self.model.units.symbols[2]
        return f"Ensemble({batch.states} states on {batch.device.alias}, {self.steps} steps, t = {self.time:g} {unit})"

    @property
    def Q(self) -> np.ndarray:
        """Coordinates (N, nq)."""
        return np.ascontiguousarray(by_state(self._y)[:, : self.model.nq])

    @property
    def U(self) -> np.ndarray:
        """Speeds (N, nu)."""
        return np.ascontiguousarray(by_state(self._y)[:, self.model.nq :])

    @property
    def diverged(self) -> np.ndarray:
        """The step after which each state was no longer finite, 0 where it is, (N,)."""
        return np.array(self._failed.numpy())

    def poses(self) -> tuple[np.ndarray, np.ndarray]:
        """Where the bodies are: origins [length], (N, bodies, 3), and Euler parameters scalar first, body to world,
        (N, bodies, 4); world frame."""
        self._batch.move(self._y)
        return self._batch.poses()

    def kinetic_energies(self) -> np.ndarray:
        """Kinetic energy of each state [energy], (N,)."""
        self._batch.move(self._y)
        return self._batch.kinetic_energies()

    def advance(self, steps: int, step_size: float, rule: str = "kutta-merson") -> tuple[np.ndarray, np.ndarray]:
        """Takes a number of steps, all of one length but for those that a boundary of windows of noise cuts short.

        Parameters
        ----------
        steps
            How many.
        step_size
            Their length h [time].
        rule
            Name of an explicit Runge–Kutta rule: ``"kutta-merson"``, ``"rk4"``, ``"euler"``, and those that are in
            ``integrate/rules/``.

        Returns
        -------
        Q, U
            Coordinates (N, nq) and speeds (N, nu) after them.

        Raises
        ------
        ModelError
            For a rule that is no explicit one, naming those that are.
        DivergenceError
            Naming the first state that is not finite any more. All others have taken all steps: ``Q``, ``U`` and
            ``diverged`` tell where they are.
        """
        count = whole(steps, "advance: steps", least=0)
        length = number(step_size, "advance: step_size")
        if not length > 0.0:
            raise ModelError(f"advance: step_size: must be above 0, got {length:g}")
        formula = self._rule(rule)
        before, first, ends = self.diverged, self.steps, []
        while count:
            lengths, windows, times = self._plan(min(count, PLAN), length)
            ends.append(times)
            wp.copy(self._lengths, wp.array(lengths, dtype=wp.float64, device="cpu"), count=lengths.size)
            wp.copy(self._windows, wp.array(windows, dtype=wp.int64, device="cpu"), count=windows.size)
            self._at.assign(np.array([0, self.steps], dtype=np.int64))
            for _ in range(lengths.size):
                self._take(formula)
            self.steps += lengths.size
            count -= lengths.size
        self._check(before, first, ends)
        return self.Q, self.U

    def _rule(self, name: Any) -> _Rule:
        if not isinstance(name, str) or name not in EXPLICIT:
            raise ModelError(
                f"advance: rule: expected an explicit Runge-Kutta rule, one of {', '.join(sorted(EXPLICIT))}, got "
                f"{shown(name)}"
            )
        if name not in self._rules:
            batch, tableau = self._batch, EXPLICIT[name]
            shape = (tableau.b.size, self.model.nq + self.model.nu, batch.states)
            stages = wp.zeros(shape, dtype=batch.real, device=batch.device)
            a, b = (reals(one, batch.real, batch.device) for one in (tableau.a, tableau.b))
            self._rules[name] = _Rule(a, b, stages, [stages[i] for i in range(shape[0])])
        return self._rules[name]

    def _plan(self, count: int, length: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Lengths of the next steps, their windows, and when they end; moves the time to their end.

        A step ends on every boundary of a window, exactly, as in ``integrate/explicit_runge_kutta.py``."""
        forces = self._batch.forces
        held = 0.0 if forces is None else forces.window
        lengths, windows, times = np.empty(count), np.empty(count, dtype=np.int64), np.empty(count)
        for k in range(count):
            windows[k] = self._window
            boundary = (self._window + 1) * held if held else np.inf
            left = boundary - self.time
            lands = length * (1.0 + _SAME) >= left
            lengths[k] = left if lands else length
            self.time = boundary if lands else self.time + length
            if held and self.time >= boundary - _SAME * held:
                self._window += 1
            times[k] = self.time
        return lengths, windows, times

    def _take(self, rule: _Rule) -> None:
        """One step: its launches, from the second step on as a graph where the device has such."""
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

    def _check(self, before: np.ndarray, first: int, ends: list[np.ndarray]) -> None:
        """Raises DivergenceError for states that have become no numbers since ``before``, when ``first`` steps had been
        taken; ``ends`` are the times at which the steps since then ended."""
        failed = self.diverged
        new = np.flatnonzero((failed > 0) & (before == 0))
        if not new.size:
            return
        s = int(new[np.argmin(failed[new])])
        rows = np.flatnonzero(~np.isfinite(self._y.numpy()[:, s]))
        row = int(rows[0]) if rows.size else 0
        forest, nq = self.model.forest, self.model.nq
        start = forest.q_start if row < nq else forest.u_start
        link = int(np.searchsorted(start, row if row < nq else row - nq, side="right")) - 1
        body = int(self.model.head[max(link, 0)])
        others = "" if new.size == 1 else f", and {new.size - 1} more of {failed.size}"
        raise DivergenceError(
            f"state {s}{others} is not finite any more",
            time=float(np.concatenate(ends)[int(failed[s]) - 1 - first]),
            step=int(failed[s]),
            body=self.model.names[body],
            joint=self.model.joint_name(body),
            channel="",
            time_unit=self.model.units.symbols[2],
            advice="Take shorter steps, or look at where this state began: sites that overlap there, or a force law "
            "with the wrong sign or unit. The other states have taken all steps.",
        )


def _quaternions(model: Model) -> list[int]:
    """First coordinate of each set of Euler parameters."""
    found = []
    for kind, start in zip(model.forest.kind.tolist(), model.forest.q_start.tolist(), strict=True):
        at = BY_KIND[kind].quaternion
        if at is not None:
            found.append(start + at)
    return found
