"""An ensemble: many states of one model that a fixed-step rule advances together."""

from typing import Any, Protocol

import numpy as np

from articulon.dynamics.multibody_functions import body_poses, check_model, kinetic_energy
from articulon.dynamics.state_rows import rows_of
from articulon.errors import DivergenceError, ModelError
from articulon.forces.brownian import brownian_of, fastest_relaxation
from articulon.forces.state_forces import check_side_by_side
from articulon.inputs import SEEDS, number, shown, whole
from articulon.integrate.lane_engine import LaneEngine
from articulon.integrate.rules import EXPLICIT
from articulon.integrate.tableaux import Tableau
from articulon.model import CHANNELS, Model
from articulon.model.body_checks import UNIT_TOLERANCE
from articulon.scaling import NoScaling
from articulon.scaling.base import INPUTS, ScalingPolicy

PLAN = 4096
"""Steps that are planned at once."""
_SAME = 1e-9
"""Relative difference of times that are the same but for rounding."""


class Engine(Protocol):
    """What takes the steps of an ensemble."""

    @property
    def name(self) -> str:
        """Where it does so, for people."""

    @property
    def y(self) -> np.ndarray:
        """Coordinates and speeds, shape (N, nq + nu)."""

    @property
    def failed(self) -> np.ndarray:
        """The step after which each state was no longer finite, 0 where it is, shape (N,)."""

    def take(self, tableau: Tableau, lengths: np.ndarray, windows: np.ndarray, first: int) -> None:
        """Takes steps of lengths [time] in windows of noise, ``first`` having been taken before."""


class Ensemble:
    """Many states of one model under its own forces, which explicit Runge–Kutta rules advance together.

    Every state has the same time and takes the same steps; each has its own noise. What becomes of a state depends
    neither on the number of states, nor on those beside it, nor on the number of threads. A state goes the way of a run
    with the same seed, steps and windows of noise, but for rounding.

    Parameters
    ----------
    model
        The model: rigid bodies on joints of any kind, without loops and driven joints. Its forces may be gravity,
        Stokes drag, Brownian forces, springs, position restraints and site pairs.
    Q, U
        Coordinates (N, nq) and speeds (N, nu) at time zero; what has no leading axis is the same for all states.
    seeds
        Seed of each state's Brownian forces, (N,); needed where the model has some.
    held
        How long noise is held [time]; by default ``window`` times ``average`` of the Brownian forces, or else a quarter
        of the fastest relaxation time, divided by the policy's factor of the drag. Steps end on the boundaries of these
        windows.
    scaling
        A policy whose factors stand, such as ``ar.scaling.Constant(0.01)``; none by default.

    Raises
    ------
    ModelError
        Naming the state for a row that is no state, the force for one that does not go side by side, and with the
        reason for a model that does not.

    Examples
    --------
    >>> import numpy as np
    >>> import articulon as ar
    >>> builder = ar.ModelBuilder(units="kg-m-s")
    >>> rod = builder.add_body("rod", mass=1, inertia=0.1, com=(0, 0, -0.5), joint=ar.Revolute(axis=(0, 1, 0)))
    >>> builder.add_force(ar.forces.Gravity((0, 0, -9.81)))
    >>> model = builder.build()
    >>> angles = np.linspace(0.1, 1.0, 4)[:, None]
    >>> pendulums = ar.Ensemble(model, angles, model.u0)
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
        seeds: Any = None,
        held: float | None = None,
        scaling: ScalingPolicy | None = None,
    ) -> None:
        check_model(model, "Ensemble")
        if not model.nu:
            raise ModelError("Ensemble: nothing moves in this model: all its bodies are welded to the ground")
        q, u = states_of(model, Q, U)
        factor = standing_factors(scaling, "Ensemble")
        window = held_window(model, scaling, held, "Ensemble")
        given = seeds_of(seeds, len(q), "Ensemble", brownian_of(model) is not None)
        self.model = model
        self.time = 0.0
        """[time]."""
        self.steps = 0
        """Steps taken."""
        self._window, self._held = 0, window if brownian_of(model) is not None else 0.0
        self._engine: Any = self._made(q, u, factor, window, given)

    def _made(self, q: np.ndarray, u: np.ndarray, factor: np.ndarray, window: float, seeds: np.ndarray) -> Engine:
        """What takes the steps, with noise that is held for windows [time]."""
        check_side_by_side(self.model, "Ensemble")
        force = brownian_of(self.model)
        average = 1 if force is None else force.average
        return LaneEngine(self.model, q, u, factor, window / average, average, seeds)

    def __repr__(self) -> str:
        states, unit = len(self.diverged), self.model.units.symbols[2]
        return f"Ensemble({states} states on {self._engine.name}, {self.steps} steps, t = {self.time:g} {unit})"

    @property
    def Q(self) -> np.ndarray:
        """Coordinates (N, nq)."""
        return np.ascontiguousarray(self._engine.y[:, : self.model.nq])

    @property
    def U(self) -> np.ndarray:
        """Speeds (N, nu)."""
        return np.ascontiguousarray(self._engine.y[:, self.model.nq :])

    @property
    def diverged(self) -> np.ndarray:
        """The step after which each state was no longer finite, 0 where it is, (N,)."""
        return self._engine.failed

    def poses(self) -> tuple[np.ndarray, np.ndarray]:
        """Where the bodies are: origins [length], (N, bodies, 3), and Euler parameters scalar first, body to world,
        (N, bodies, 4); world frame."""
        return body_poses(self.model, self.Q)

    def kinetic_energies(self) -> np.ndarray:
        """Kinetic energy of each state [energy], (N,)."""
        found: np.ndarray = kinetic_energy(self.model, self.Q, self.U)
        return found

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
        if not isinstance(rule, str) or rule not in EXPLICIT:
            raise ModelError(
                f"advance: rule: expected an explicit Runge-Kutta rule, one of {', '.join(sorted(EXPLICIT))}, got "
                f"{shown(rule)}"
            )
        before, first, ends = self.diverged, self.steps, []
        while count:
            lengths, windows, times = self._plan(min(count, PLAN), length)
            ends.append(times)
            self._engine.take(EXPLICIT[rule], lengths, windows, self.steps)
            self.steps += lengths.size
            count -= lengths.size
        self._check(before, first, ends)
        return self.Q, self.U

    def _plan(self, count: int, length: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Lengths of the next steps, their windows, and when they end; moves the time to their end.

        A step ends on every boundary of a window, exactly, as in ``integrate/explicit_runge_kutta.py``."""
        held = self._held
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

    def _check(self, before: np.ndarray, first: int, ends: list[np.ndarray]) -> None:
        """Raises DivergenceError for states that have become no numbers since ``before``, when ``first`` steps had been
        taken; ``ends`` are the times at which the steps since then ended."""
        failed = self.diverged
        new = np.flatnonzero((failed > 0) & (before == 0))
        if not new.size:
            return
        s = int(new[np.argmin(failed[new])])
        rows = np.flatnonzero(~np.isfinite(self._engine.y[s]))
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
            checkpoint="",
            time_unit=self.model.units.symbols[2],
            advice="Take shorter steps, or look at where this state began: sites that overlap there, or a force law "
            "with the wrong sign or unit. The other states have taken all steps.",
        )


def states_of(model: Model, Q: Any, U: Any, unit: bool = True) -> tuple[np.ndarray, np.ndarray]:
    """Coordinates (N, nq) and speeds (N, nu) of many states; None is zero.

    Raises
    ------
    ModelError
        Naming the row, for numbers that are not finite and for Euler parameters that are no rotation: all zero, or,
        where ``unit`` asks for it, not of the norm 1.
    """
    found = rows_of(("Q", Q, (model.nq,)), ("U", U, (model.nu,)))
    if not found.states:
        raise ModelError("Q: there is no state among these rows; give one at least")
    q, u = (np.array(np.broadcast_to(one, (found.states, one.shape[1]))) for one in found.rows)
    for start, link in zip(*model.euler_parameters, strict=True):
        norm = np.linalg.norm(q[:, start : start + 4], axis=1)
        bad = np.abs(norm - 1.0) > UNIT_TOLERANCE if unit else norm == 0.0
        if bad.any():
            s, body = int(np.argmax(bad)), model.names[int(model.head[link])]
            raise ModelError(
                f"Q: row {s}: the Euler parameters of body '{body}' have the norm {norm[s]:.6g}, not 1"
                + ("; divide them by it" if norm[s] else ", and are no rotation")
            )
    return q, u


def standing_factors(scaling: Any, where: str) -> np.ndarray:
    """Factors of the channels (8,) of a policy whose factors stand; raises ModelError for any other."""
    policy = NoScaling() if scaling is None else scaling
    if not isinstance(policy, ScalingPolicy):
        raise ModelError(f"{where}: scaling: expected a policy of articulon.scaling, got {type(scaling).__name__}")
    if policy.varies or policy.follows or policy.thermostatted:
        raise ModelError(
            f"{where}: scaling: the factors of {policy.policy} change along a run, and differ from state to state; use "
            "a policy whose factors stand, such as Constant or TwoFactor, or one run for each state"
        )
    factor = np.ones(len(CHANNELS))
    policy.law(policy.parameters(0.0), np.zeros(INPUTS), factor)
    return factor


def held_window(model: Model, scaling: ScalingPolicy | None, held: float | None, where: str) -> float:
    """How long noise is held [time]: as given, else ``window`` times ``average`` of the Brownian forces, else a quarter
    of the fastest relaxation time, divided by the policy's factor of the drag. 1 without Brownian forces."""
    force = brownian_of(model)
    if held is not None:
        length = number(held, f"{where}: held")
        if not length > 0.0:
            raise ModelError(f"{where}: held: must be above 0, got {length:g}")
        return length
    if force is None:
        return 1.0
    if force.window is not None:
        return float(force.window) * force.average
    return fastest_relaxation(model) / (4.0 * (1.0 if scaling is None else scaling.noise_factor()))


def seeds_of(seeds: Any, states: int, where: str, needed: bool) -> np.ndarray:
    """A seed for each state (states,), zeros where none is needed; raises ModelError naming the state of a bad one."""
    if not needed:
        return np.zeros(states, dtype=np.int64)
    if seeds is None:
        raise ModelError(
            f"{where}: seeds: the model has Brownian forces, and without a seed for each state all would get the same "
            "ones; give seeds, such as range(N)"
        )
    if isinstance(seeds, str | bytes) or not hasattr(seeds, "__len__"):
        raise ModelError(f"{where}: seeds: expected a whole number for each of the {states} states, got {shown(seeds)}")
    if len(seeds) != states:
        raise ModelError(f"{where}: seeds: expected one for each of the {states} states, got {len(seeds)}")
    listed = seeds.tolist() if isinstance(seeds, np.ndarray) else list(seeds)
    checked = [whole(s, f"{where}: seeds, state {k}", least=0, most=SEEDS - 1) for k, s in enumerate(listed)]
    return np.array(checked, dtype=np.int64)
