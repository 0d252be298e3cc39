"""Ensembles: many states of one model that advance together by a fixed-step rule."""

from time import perf_counter
from typing import Any, ClassVar, Protocol, get_args

import numpy as np

from articulon.announcements import announcing_to_the_terminal
from articulon.dynamics.multibody_functions import body_poses, check_model, kinetic_energy
from articulon.ensembles.given_states import (
    check_combination,
    check_thermostat,
    check_windows,
    constant_factors,
    held_window,
    seeds_of,
    states_of,
    time_above_zero,
)
from articulon.errors import DivergenceError, ModelError
from articulon.forces.bath_temperatures import at_bath
from articulon.forces.brownian import brownian_of
from articulon.forces.sites.nearest_images import widths
from articulon.forces.state_forces import check_side_by_side
from articulon.inputs import shown, whole
from articulon.integrate.integrators import Explicit, FrictionImplicit
from articulon.integrate.lane_blocks import Steps
from articulon.integrate.lane_engine import LaneEngine, LaneSettings
from articulon.integrate.lane_friction_implicit import check_in_lanes
from articulon.integrate.rules import EXPLICIT
from articulon.integrate.status import leap
from articulon.integrate.tableaux import Tableau
from articulon.model import Model
from articulon.scaling.base import ScalingPolicy
from articulon.thermostats.base import BaseThermostat

IMPLICIT = "friction-implicit"
DRIFTS = get_args(FrictionImplicit.model_fields["drift"].annotation)
"""Kinds of motion of the bodies between kicks; the first is the default."""
PLAN = 4096
"""Maximum number of steps taken at once."""
PATIENCE = 0.3
"""Target wall time of the steps taken at once [s]. Ctrl-C interrupts a run between such groups of steps."""
_SAME = 1e-9
"""Relative difference of two times that counts as a rounding error."""


class Engine(Protocol):
    """Backend that takes the steps of an ensemble."""

    @property
    def name(self) -> str:
        """Name of the backend, for display."""

    @property
    def y(self) -> np.ndarray:
        """Coordinates and speeds, shape (N, nq + nu)."""

    @property
    def failed(self) -> np.ndarray:
        """Number of the step after which each state was no longer finite, or 0 if it is finite, shape (N,)."""

    @property
    def lost(self) -> np.ndarray:
        """Whether each state failed because the iteration for its free flight did not converge, shape (N,)."""

    @property
    def taken(self) -> int:
        """Number of steps taken."""

    def take(self, rule: Tableau | str, steps: Steps) -> None:
        """Take steps of an explicit rule, or friction-implicit steps with the named drift."""


class Ensemble:
    """Many states of one model under its own forces, which advance together by a fixed-step rule.

    All states have the same time and take the same steps; each has its own noise. The evolution of a state depends
    neither on the number of states, nor on the other states, nor on the number of threads. Up to rounding, a state
    evolves like a run with the same seed, steps and windows of noise.

    Parameters
    ----------
    model
        The model, which consists of rigid bodies on joints of any kind, without loops or driven joints. Supported
        forces are gravity, Stokes drag, Brownian forces, springs, position restraints, damping, friction and tables of
        forces on joints, Fixman's potential, and all forces between sites except Python functions and other libraries.
    Q, U
        Coordinates (N, nq) and speeds (N, nu) at time zero; arrays without a leading axis are the same for all states.
        One state with several seeds starts once for each seed.
    seeds
        Seeds of the noise of each state, (N,); required for Brownian forces and for a thermostat.
    held
        Time for which explicit steps hold Brownian forces constant [time], also as ``"2 ns"``. Friction-implicit steps
        hold them for one step, and reject other times. By default the time is ``window`` times ``average`` of the
        Brownian forces, otherwise a quarter of the fastest relaxation time, divided by the drag factor of the policy.
        Steps end at the boundaries of these windows.
    scaling
        Policy with constant factors, such as ``ar.scaling.Constant(0.01)``; none by default.
    thermostat
        Langevin thermostat, ``ar.thermostats.Langevin(temperature, friction=...)``, for friction-implicit steps; none
        by default.

    Raises
    ------
    ModelError
        For an invalid state (the message names the row), an unsupported force (the message names it), or an unsupported
        model (the message gives the reason).

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
    """Whether this kind of ensemble supports friction-implicit steps."""

    def __init__(
        self,
        model: Model,
        Q: Any,
        U: Any,
        *,
        seeds: Any = None,
        held: float | str | None = None,
        scaling: ScalingPolicy | None = None,
        thermostat: BaseThermostat | None = None,
    ) -> None:
        check_model(model, "Ensemble")
        if isinstance(thermostat, BaseThermostat):
            thermostat = thermostat.resolved(model.units, "Ensemble: thermostat")
        self.thermostat, self._policy, self._given_hold = thermostat, scaling, held is not None
        if not model.nu:
            raise ModelError("Ensemble: nothing moves in this model: all its bodies are welded to the ground")
        q, u = states_of(model, Q, U, seeds=seeds)
        factor = constant_factors(scaling, "Ensemble")
        window = held_window(model, scaling, held, "Ensemble")
        check_thermostat(model, thermostat, "Ensemble")
        noisy = brownian_of(model) is not None
        given = seeds_of(seeds, len(q), "Ensemble", noisy or thermostat is not None)
        self.model = at_bath(model, thermostat)
        self.time = 0.0
        """Simulated time [time]."""
        self.steps = 0
        """Number of steps taken."""
        self._window, self._held, self._noise_of, self._pace = 0, window if noisy else 0.0, "", np.inf
        self._agreed: set[tuple[str, str]] = set()
        with announcing_to_the_terminal():
            self._engine: Any = self._made(q, u, factor, window, given)

    def _made(self, q: np.ndarray, u: np.ndarray, factor: np.ndarray, window: float, seeds: np.ndarray) -> Engine:
        """Create the backend that takes the steps. Noise is constant during a window of the given length [time]."""
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
        """Number of the step after which each state was no longer finite, or 0 if it is finite, (N,)."""
        return self._engine.failed

    def poses(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the poses of the bodies in the world frame: origins [length], shape (N, bodies, 3), and Euler
        parameters, scalar first, of the rotation from body to world, shape (N, bodies, 4)."""
        return body_poses(self.model, self.Q)

    def kinetic_energies(self) -> np.ndarray:
        """Return the kinetic energy of each state [energy], shape (N,)."""
        found: np.ndarray = kinetic_energy(self.model, self.Q, self.U)
        return found

    def advance(
        self, steps: int, step_size: float | str, rule: str = "kutta-merson", drift: str = "steady"
    ) -> tuple[np.ndarray, np.ndarray]:
        """Take a number of steps of equal length. Explicit steps that would cross the boundary of a noise window are
        shortened.

        Parameters
        ----------
        steps
            Number of steps.
        step_size
            Length h of the steps [time], also as ``"4 fs"``.
        rule
            Name of an explicit Runge–Kutta rule: ``"kutta-merson"``, ``"rk4"``, ``"euler"``, and others in
            ``integrate/rules/``; or ``"friction-implicit"``, whose steps may be far longer than the fastest relaxation
            time m/β, and hold Brownian forces for one step each.
        drift
            Motion of the bodies between the kicks of friction-implicit steps, ``"steady"`` or ``"geodesic"``.

        Returns
        -------
        Q, U
            Coordinates (N, nq) and speeds (N, nu) after the steps.

        Raises
        ------
        ModelError
            For a rule that does not support ensembles (the message names those that do), or that is incompatible with
            the thermostat, the forces, or the noise of the previous steps.
        DivergenceError
            If a state is no longer finite; the message names the first one. All other states have taken all steps; see
            ``Q``, ``U`` and ``diverged``.
        """
        count = whole(steps, "advance: steps", least=0)
        length = time_above_zero(self.model, step_size, "advance: step_size")
        taken = self._rule(rule, drift, length)
        before, first, ends = self.diverged, self.steps, []
        while count:
            self._noise_of = IMPLICIT if isinstance(taken, str) else "explicit"
            soon = max(1, int(PATIENCE / self._pace))
            plan = self._plan(min(count, PLAN, soon), length, isinstance(taken, str))
            ends.append(plan.ends)
            began = perf_counter()
            try:
                with announcing_to_the_terminal():
                    self._engine.take(taken, plan)
            finally:  # Ctrl-C may arrive after the last step
                if self._engine.taken == plan.first + plan.lengths.size:
                    self.steps = self._engine.taken
                    self.time, self._window = float(plan.ends[-1]), self._next_window(plan, isinstance(taken, str))
            self._pace = (perf_counter() - began) / plan.lengths.size
            count -= plan.lengths.size
        self._check(before, first, ends, length)
        return self.Q, self.U

    def _rule(self, rule: Any, drift: Any, length: float) -> Tableau | str:
        """Return the tableau of an explicit rule, or the kind of drift of friction-implicit steps of a given length
        [time]."""
        implicit = isinstance(rule, str) and self.implicit and rule == IMPLICIT
        if not implicit and (not isinstance(rule, str) or rule not in EXPLICIT):
            others = f", or '{IMPLICIT}'" if self.implicit else ""
            raise ModelError(
                f"advance: rule: expected an explicit Runge-Kutta rule, one of {', '.join(sorted(EXPLICIT))}{others}, "
                f"got {shown(rule)}"
            )
        drifts = DRIFTS if implicit else DRIFTS[:1]
        if not isinstance(drift, str) or drift not in drifts:
            expected = " or ".join(f"'{one}'" for one in drifts)
            raise ModelError(f"advance: drift: expected {expected} with the rule '{rule}', got {shown(drift)}")
        if self.thermostat is not None and not implicit:
            raise ModelError(
                f"advance: rule: the thermostat's friction and noise need '{IMPLICIT}' steps, got '{rule}'"
            )
        if brownian_of(self.model) is not None and self._noise_of not in ("", IMPLICIT if implicit else "explicit"):
            raise ModelError(
                f"advance: rule: the previous steps were {self._noise_of} ones, whose noise windows differ from "
                f"those of '{rule}'; continue with that rule, or create another ensemble at Q and U with other seeds"
            )
        if (rule, drift) not in self._agreed:
            declared = FrictionImplicit(step=length, drift=drift) if implicit else Explicit(rule=rule, step=length)
            check_combination(self.model, declared, self._policy, self.thermostat, "advance")
            if implicit:
                check_in_lanes(self.model, "advance")
            self._agreed.add((rule, drift))
        if implicit:
            check_windows(self.model, length, self._given_hold, "advance")
        return str(drift) if implicit else EXPLICIT[rule]

    def _plan(self, count: int, length: float, implicit: bool) -> Steps:
        """Plan the next steps.

        An explicit step ends exactly at every boundary of a window, as in ``integrate/explicit_runge_kutta.py``. A
        friction-implicit step is one window.
        """
        lengths, windows, times = np.full(count, length), np.empty(count, dtype=np.int64), np.empty(count + 1)
        times[0], window, held = self.time, self._window, self._held
        for k in range(count):
            windows[k] = window
            boundary = (window + 1) * held if held and not implicit else np.inf
            left = boundary - times[k]
            lands = length * (1.0 + _SAME) >= left
            lengths[k] = left if lands else length
            times[k + 1] = boundary if lands else times[k] + length
            window += implicit or times[k + 1] >= boundary - _SAME * held
        return Steps(lengths, times[:-1].copy(), times[1:].copy(), windows, self.steps)

    def _next_window(self, plan: Steps, implicit: bool) -> int:
        """Return the index of the noise window after the planned steps."""
        last = int(plan.windows[-1])
        if implicit:
            return last + 1
        return last + bool(self._held and plan.ends[-1] >= (last + 1) * self._held - _SAME * self._held)

    def _check(self, before: np.ndarray, first: int, ends: list[np.ndarray], length: float) -> None:
        """Raise DivergenceError for a state that is no longer finite, or whose bodies move through half of a periodic
        box in a step.

        ``before`` marks the states that had failed already after ``first`` steps. ``ends`` are the end times of the
        steps since then, and ``length`` is the length of a step [time].
        """
        failed = self.diverged
        new = np.flatnonzero((failed > 0) & (before == 0))
        if not new.size:
            self._check_leaps(length, failed)
            return
        s = int(new[np.argmin(failed[new])])
        rows = np.flatnonzero(~np.isfinite(self._engine.y[s]))
        row = int(rows[0]) if rows.size else 0
        forest, nq = self.model.forest, self.model.nq
        start = forest.q_start if row < nq else forest.u_start
        link = int(np.searchsorted(start, row if row < nq else row - nq, side="right")) - 1
        which = f"state {s} is" if new.size == 1 else f"state {s} and {new.size - 1} more of {failed.size} are"
        advice = "Take shorter steps, or check the start of this state for overlapping sites or a force law with "
        advice += "the wrong sign or unit."
        if self._engine.lost[s]:
            which, advice = (
                f"the iteration for the free flight of the bodies did not converge: {which}",
                "Take shorter steps.",
            )
        raise self._divergence(f"{which} no longer finite", int(failed[s]), first, ends, link, advice)

    def _check_leaps(self, length: float, failed: np.ndarray) -> None:
        """Raise DivergenceError for a state whose bodies move through half of a periodic box in a step."""
        if not np.isfinite(widths(self.model)).any():
            return
        for s, u in enumerate(self.U):
            found = None if failed[s] else leap(self.model, u, length)
            if found is not None:
                reason, advice = f"state {s}: {found[0]}", "Take shorter steps, or check the start of this state."
                raise self._divergence(reason, self.steps, self.steps - 1, [np.array([self.time])], found[1], advice)

    def _divergence(
        self, reason: str, step: int, first: int, ends: list[np.ndarray], link: int, advice: str
    ) -> DivergenceError:
        """Return the error for a link of a state that diverged in a step. ``ends`` are the end times of the steps after
        the first ``first`` steps."""
        body = int(self.model.head[max(link, 0)])
        others = " All other states have taken all steps." if len(self.diverged) > 1 else ""
        return DivergenceError(
            reason,
            time=float(np.concatenate(ends)[step - 1 - first]),
            step=step,
            body=self.model.names[body],
            joint=self.model.joint_name(body),
            channel="",
            checkpoint="",
            time_unit=self.model.units.symbols[2],
            advice=advice + others,
        )
