"""An ensemble: many states of one model that a fixed-step rule advances together."""

from typing import Any, ClassVar, Protocol, get_args

import numpy as np

from articulon.dynamics.multibody_functions import body_poses, check_model, kinetic_energy
from articulon.ensembles.given_states import check_thermostat, held_window, seeds_of, standing_factors, states_of
from articulon.errors import DivergenceError, ModelError
from articulon.forces.brownian import brownian_of
from articulon.forces.state_forces import check_side_by_side
from articulon.inputs import number, shown, whole
from articulon.integrate.integrators import FrictionImplicit
from articulon.integrate.lane_blocks import Steps
from articulon.integrate.lane_engine import LaneEngine, LaneSettings
from articulon.integrate.lane_friction_implicit import check_in_lanes
from articulon.integrate.rules import EXPLICIT
from articulon.integrate.tableaux import Tableau
from articulon.model import Model
from articulon.scaling.base import ScalingPolicy
from articulon.thermostats.base import BaseThermostat

IMPLICIT = "friction-implicit"
DRIFTS = get_args(FrictionImplicit.model_fields["drift"].annotation)
"""How bodies move between kicks; the first by default."""
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

    def take(self, rule: Tableau | str, steps: Steps) -> None:
        """Takes steps of an explicit rule, or friction-implicit ones with a drift of this name."""


class Ensemble:
    """Many states of one model under its own forces, which advance together by a rule of fixed steps.

    Every state has the same time and takes the same steps; each has its own noise. What becomes of a state depends
    neither on the number of states, nor on those beside it, nor on the number of threads. A state goes the way of a run
    with the same seed, steps and windows of noise, but for rounding.

    Parameters
    ----------
    model
        The model: rigid bodies on joints of any kind, without loops and driven joints. Its forces may be gravity,
        Stokes drag, Brownian forces, springs, position restraints, Fixman's potential, and all forces between sites
        but those that a user writes and those of other libraries.
    Q, U
        Coordinates (N, nq) and speeds (N, nu) at time zero; what has no leading axis is the same for all states.
    seeds
        Seed of each state's noise, (N,); needed where the model has Brownian forces, or there is a thermostat.
    held
        How long Brownian forces are held in explicit steps [time]; by default ``window`` times ``average`` of the
        Brownian forces, or else a quarter of the fastest relaxation time, divided by the policy's factor of the drag.
        Steps end on the boundaries of these windows.
    scaling
        A policy whose factors stand, such as ``ar.scaling.Constant(0.01)``; none by default.
    thermostat
        Langevin's, ``ar.thermostats.Langevin(temperature, friction=...)``, for friction-implicit steps; none by
        default.

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

    implicit: ClassVar[bool] = True
    """Whether friction-implicit steps advance it."""

    def __init__(
        self,
        model: Model,
        Q: Any,
        U: Any,
        *,
        seeds: Any = None,
        held: float | None = None,
        scaling: ScalingPolicy | None = None,
        thermostat: BaseThermostat | None = None,
    ) -> None:
        check_model(model, "Ensemble")
        if not model.nu:
            raise ModelError("Ensemble: nothing moves in this model: all its bodies are welded to the ground")
        q, u = states_of(model, Q, U)
        factor = standing_factors(scaling, "Ensemble")
        window = held_window(model, scaling, held, "Ensemble")
        check_thermostat(model, thermostat, "Ensemble")
        noisy = brownian_of(model) is not None
        given = seeds_of(seeds, len(q), "Ensemble", noisy or thermostat is not None)
        self.model, self.thermostat = model, thermostat
        self.time = 0.0
        """[time]."""
        self.steps = 0
        """Steps taken."""
        self._window, self._held, self._noise_of = 0, window if noisy else 0.0, ""
        self._engine: Any = self._made(q, u, factor, window, given)

    def _made(self, q: np.ndarray, u: np.ndarray, factor: np.ndarray, window: float, seeds: np.ndarray) -> Engine:
        """What takes the steps, with noise that is held for windows [time]."""
        check_side_by_side(self.model, "Ensemble")
        force = brownian_of(self.model)
        average = 1 if force is None else force.average
        settings = LaneSettings(factor, window / average, average, self.thermostat)
        return LaneEngine(self.model, q, u, seeds, settings, "Ensemble")

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

    def advance(
        self, steps: int, step_size: float, rule: str = "kutta-merson", drift: str = "steady"
    ) -> tuple[np.ndarray, np.ndarray]:
        """Takes a number of steps, all of one length but for explicit ones that a boundary of windows of noise cuts
        short.

        Parameters
        ----------
        steps
            How many.
        step_size
            Their length h [time].
        rule
            Name of an explicit Runge–Kutta rule: ``"kutta-merson"``, ``"rk4"``, ``"euler"``, and those that are in
            ``integrate/rules/``; or ``"friction-implicit"``, whose steps may be far longer than the fastest relaxation
            time m/β, and hold Brownian forces for one step each.
        drift
            How bodies move between the kicks of friction-implicit steps, ``"steady"`` or ``"geodesic"``.

        Returns
        -------
        Q, U
            Coordinates (N, nq) and speeds (N, nu) after them.

        Raises
        ------
        ModelError
            For a rule that does not advance ensembles, naming those that do, and for one that does not go with the
            thermostat, the forces, or the noise of the steps before.
        DivergenceError
            Naming the first state that is not finite any more. All others have taken all steps: ``Q``, ``U`` and
            ``diverged`` tell where they are.
        """
        count = whole(steps, "advance: steps", least=0)
        length = number(step_size, "advance: step_size")
        if not length > 0.0:
            raise ModelError(f"advance: step_size: must be above 0, got {length:g}")
        taken = self._rule(rule, drift)
        before, first, ends = self.diverged, self.steps, []
        while count:
            plan = self._plan(min(count, PLAN), length, isinstance(taken, str))
            ends.append(plan.ends)
            self._engine.take(taken, plan)
            self.steps += plan.lengths.size
            count -= plan.lengths.size
        self._check(before, first, ends)
        return self.Q, self.U

    def _rule(self, rule: Any, drift: Any) -> Tableau | str:
        """The formula of an explicit rule, or the drift of friction-implicit steps."""
        implicit = self.implicit and rule == IMPLICIT
        if not implicit and (not isinstance(rule, str) or rule not in EXPLICIT):
            others = f", or '{IMPLICIT}'" if self.implicit else ""
            raise ModelError(
                f"advance: rule: expected an explicit Runge-Kutta rule, one of {', '.join(sorted(EXPLICIT))}{others}, "
                f"got {shown(rule)}"
            )
        drifts = DRIFTS if implicit else DRIFTS[:1]
        if drift not in drifts:
            expected = " or ".join(f"'{one}'" for one in drifts)
            raise ModelError(f"advance: drift: expected {expected} with the rule '{rule}', got {shown(drift)}")
        if self.thermostat is not None and not implicit:
            raise ModelError(
                f"advance: rule: the thermostat's friction and noise are a part of '{IMPLICIT}' steps, got '{rule}'"
            )
        kind = IMPLICIT if implicit else "explicit"
        if brownian_of(self.model) is not None:
            if self._noise_of not in ("", kind):
                raise ModelError(
                    f"advance: rule: the steps before were {self._noise_of} ones, whose windows of noise are others "
                    f"than those of '{rule}'; go on as before, or begin another ensemble at Q and U with other seeds"
                )
            self._noise_of = kind
        if implicit:
            check_in_lanes(self.model, "advance")
        return str(drift) if implicit else EXPLICIT[rule]

    def _plan(self, count: int, length: float, implicit: bool) -> Steps:
        """The next steps; moves the time to their end.

        An explicit step ends on every boundary of a window, exactly, as in ``integrate/explicit_runge_kutta.py``; a
        friction-implicit one is a window."""
        if implicit:
            ends = self.time + length * np.arange(1, count + 1)
            windows = np.arange(self._window, self._window + count)
            self.time, self._window = float(ends[-1]), self._window + count
            return Steps(np.full(count, length), ends, windows, self.steps)
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
        return Steps(lengths, times, windows, self.steps)

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
