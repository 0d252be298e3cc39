"""Motion without inertia of a model whose joints may move, and the predicted delay of a scaled run.

Here q are the coordinates, u the generalised speeds of the joints, M the mass matrix, F the forces including drag, and
C the velocity products. If forces and drag balance, the speeds are u₀(q), and q' = u₀(q) is the slow motion q₀(σ). A
run scaled by a2 follows

    u' = a2 M⁻¹F(q, u) − M⁻¹C(q, u).

The run passes the positions of the slow motion later, and slightly off the path: q(t) = q₀(σ(t)) + δq and u = g u₀(σ) +
δu. The pace g = σ' may be chosen freely. For any g, to first order in δ,

    δq' = δu,   δu' = a2 (A_q δq + A_u δu) + a2 (g − 1) A_u u₀ − g² (∂u₀/∂σ + M⁻¹C) − g' u₀,   A = ∂(M⁻¹F)/∂(q, u).

The pace g is that of one body, the lead: τ/a2 g' = 1 − g − (τ/a2) λ g², where τ is the relaxation time of the lead and
λ the relative growth rate of its speed along the path. This choice keeps δ small even if the motion speeds up within
the delay.

Errors have a sign: a growing force makes the run late, a decreasing force lets it catch up, and a potential well
removes errors. The same equations with a2 = 1 give the delay of the unscaled run relative to the slow motion. The
difference of the two delays is the error of scaling. The equations for δ neglect the rotation of the axes of a rotating
body.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import scipy

from articulon.dynamics.multibody_functions import body_poses, moved
from articulon.forces.capacity import with_capacity
from articulon.forces.derivatives import call_rows
from articulon.forces.evaluation import Evaluator
from articulon.forces.sites.site_positions import site_positions
from articulon.integrate.stop_conditions import Proximity
from articulon.kernels import one_blas_thread
from articulon.model import Model
from articulon.model.joints import BY_KIND, UNBOUND
from articulon.model.state import STOCHASTIC, THERMOSTAT, THERMOSTAT_RATE

MOST_SPEEDS = 128
"""Maximum number of generalised speeds; computing the derivatives of larger models would take minutes."""
CHANGE = 0.05
"""Allowed change of a moving part's speed in a step, relative to its largest speed so far."""
STEPS = 1500
SMALL = 1e-6
"""Displacements for finite differences: rotations in radians, translations relative to the size of the model."""
LEAST = 1e-3
"""A moving part is ignored if its displacement is below this fraction of the largest displacement of any moving part.
The step control uses the same fraction for speeds."""
FASTEST = 10.0
"""Upper bound of the pace g. A lead that decelerates faster than it relaxes has no steady pace. The rest of its motion
is then part of δ."""
GAMMA = 1.0 - math.sqrt(0.5)
"""Parameter of the L-stable diagonally implicit Runge-Kutta rule of order 2."""


class MovingPart(NamedTuple):
    """A part of the model whose error is reported: a joint, or the translation or rotation of a floating body."""

    name: str
    """Name in words, such as ``"drug"`` or ``"core, rotation"``."""
    speeds: slice
    """Generalised speeds of the part."""
    arm: float
    """Factor that converts its coordinates to a distance: 1 for a translation, and the size of the model for a rotation
    [length]."""


class Errors(NamedTuple):
    """Deviations of a run from the slow motion."""

    delay: np.ndarray
    """Delay t − σ at each time of the slow motion [time], shape (n,)."""
    deviation: np.ndarray
    """Deviation δq from the path at each time, shape (n, nu)."""


@dataclass(frozen=True, eq=False)
class SlowMotion:
    """Motion without inertia at given times, with the coefficients of its linear response."""

    times: np.ndarray
    """Times [time], shape (n,)."""
    coordinates: np.ndarray
    """Coordinates q₀, shape (n, nq)."""
    speeds: np.ndarray
    """Speeds u₀, shape (n, nu)."""
    by_q: np.ndarray
    """Derivatives A_q, shape (n, nu, nu)."""
    by_u: np.ndarray
    """Derivatives A_u, shape (n, nu, nu)."""
    products: np.ndarray
    """Velocity products M⁻¹C, shape (n, nu)."""
    start: np.ndarray
    """Initial speeds of the run, shape (nu,)."""
    moving_parts: tuple[MovingPart, ...]
    """Moving parts, without those that move very little."""
    lead: MovingPart
    """Part whose pace defines σ."""
    relaxation: float
    """Relaxation time τ of the lead [time]."""

    @cached_property
    def _unscaled(self) -> Errors:
        return self.errors(1.0)

    @cached_property
    def _growth(self) -> np.ndarray:
        """Return the growth rates λ of the lead's speed between successive times [1/time], shape (n − 1,)."""
        size = np.linalg.norm(self.speeds[:, self.lead.speeds], axis=1)
        # At a turning point the speed vanishes and the rate is not defined.
        return np.clip(np.diff(np.log(np.maximum(size, 1e-300))), -1.0, 1.0) / np.diff(self.times)

    def pace(self, a2: float) -> np.ndarray:
        """Return the pace g of the lead at each time, shape (n,); 1 if the lead does not move."""
        tau, u = self.relaxation / a2, self.speeds[0, self.lead.speeds]
        g = np.ones(self.times.size)
        if self.lead not in self.moving_parts or not u.any():
            return g
        g[0] = max(0.0, float(self.start[self.lead.speeds] @ u) / float(u @ u))
        for k, (h, rate) in enumerate(zip(np.diff(self.times).tolist(), self._growth.tolist(), strict=True)):
            # Implicit Euler step of d(g²/2)/dσ = (1 − g)/τ − λ g²: g is the root of a quadratic equation.
            a, b = max(1.0 + 2.0 * h * rate, 1e-3), h / tau
            g[k + 1] = min((-b + math.sqrt(b * b + a * (g[k] ** 2 + 2.0 * b))) / a, FASTEST)
        return g

    def errors(self, a2: float) -> Errors:
        """Return the delay of a run with a constant factor a2, and its deviation from the path of the slow motion."""
        with one_blas_thread():
            return self._errors(a2)

    def _errors(self, a2: float) -> Errors:
        nu, g = self.speeds.shape[1], self.pace(a2)
        dq, du = np.zeros(nu), self.start - g[0] * self.speeds[0]
        delay, deviation = np.zeros(self.times.size), np.zeros((self.times.size, nu))
        for k, h in enumerate(np.diff(self.times).tolist()):
            mid, elapsed = 0.5 * (g[k] + g[k + 1]), 2.0 * h / (g[k] + g[k + 1])
            a, b = a2 * self.by_q[k : k + 2].mean(0), a2 * self.by_u[k : k + 2].mean(0)
            u, change = self.speeds[k : k + 2].mean(0), (self.speeds[k + 1] - self.speeds[k]) / h
            residual = (mid - 1.0) * (b @ u) - mid**2 * (change + self.products[k : k + 2].mean(0))
            residual -= (g[k + 1] - g[k]) / elapsed * u
            dq, du = _advanced(dq, du, elapsed, a, b, residual)
            delay[k + 1], deviation[k + 1] = delay[k] + elapsed - h, dq
        return Errors(delay, deviation)

    def delays(self, a2: float) -> dict[str, float]:
        """Return the delay of each moving part that is due to scaling [time].

        It is the mean delay over the run, weighted by the squared speed. A shift in time by this delay removes most of
        the moving part's error.
        """
        scaled, unscaled = self._shifts(self.errors(a2)), self._shifts(self._unscaled)
        return {name: scaled[name] - unscaled[name] for name in scaled}

    def inertia(self) -> float:
        """Return the largest delay of an unscaled run relative to the slow motion [time]. It is the largest of the mean
        delays of all moving parts and the delay of the lead at the end of the slow motion."""
        shifts = [abs(delay) for delay in self._shifts(self._unscaled).values()]
        return max([*shifts, abs(self._passed(self._unscaled, None))])

    def _shifts(self, errors: Errors) -> dict[str, float]:
        found, h = {}, np.diff(self.times)
        weights = 0.5 * (np.append(h, 0.0) + np.insert(h, 0, 0.0))
        for part in self.moving_parts:
            u, d = self.speeds[:, part.speeds], errors.deviation[:, part.speeds]
            squares = (u * u).sum(axis=1)
            size = float(weights @ squares)
            along = float(weights @ (errors.delay * squares - (d * u).sum(axis=1)))
            found[part.name] = along / size if size > 0.0 else 0.0
        return found

    def arrival(self, a2: float, time: float | None = None) -> float:
        """Return the delay of the lead that is due to scaling by a2 [time].

        The delay is taken at the position of the slow motion at the given time, by default at its end.
        """
        return self._passed(self.errors(a2), time) - self._passed(self._unscaled, time)

    def _passed(self, errors: Errors, time: float | None) -> float:
        columns = range(self.lead.speeds.start, self.lead.speeds.stop)
        at = float(self.times[-1]) if time is None else time
        u, d = (
            np.array([np.interp(at, self.times, x[:, k]) for k in columns]) for x in (self.speeds, errors.deviation)
        )
        return float(np.interp(at, self.times, errors.delay)) - float(d @ u) / max(float(u @ u), 1e-300)


def _advanced(
    dq: np.ndarray, du: np.ndarray, h: float, a: np.ndarray, b: np.ndarray, residual: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Advance δq' = δu, δu' = a δq + b δu + residual by one step h, and return the new δq and δu."""
    g = GAMMA * h
    factors = scipy.linalg.lu_factor(np.eye(dq.size) - g * b - g * g * a)

    def rates(q: np.ndarray, u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        rate = scipy.linalg.lu_solve(factors, a @ (q + g * u) + b @ u + residual)
        return u + g * rate, rate

    q1, u1 = rates(dq, du)
    q2, u2 = rates(dq + (h - g) * q1, du + (h - g) * u1)
    return dq + (h - g) * q1 + g * q2, du + (h - g) * u1 + g * u2


class Ends(NamedTuple):
    """End conditions of a motion."""

    duration: float
    """Maximum duration of the motion [time]."""
    link: int
    """Index of the link of the lead."""
    body: int
    """Index of the body of the stop condition."""
    direction: np.ndarray
    """Unit vector of the direction of arrival, shape (3,)."""
    advance: float
    """Distance from the start at which this body arrives [length]; infinite if only the duration ends the motion."""
    proximity: Proximity | None = None
    """Condition that two bodies are near each other, which then ends the motion; ``advance`` is the distance by which
    they must approach."""


def slow_motion(model: Model, relaxation: float, ends: Ends) -> SlowMotion | None:
    """Compute the slow motion of a model from its initial state.

    Parameters
    ----------
    model
        Model; its Brownian forces are ignored.
    relaxation
        Relaxation time τ of the lead [time].
    ends
        The lead, and the end conditions.

    Returns
    -------
    SlowMotion or None
        None for a model with loops, flexible bodies or more than :data:`MOST_SPEEDS` speeds, for joints without drag,
        if nothing moves, and for forces that are not finite.
    """
    if model.loops.kind.size or model.modes or not 0 < model.nu <= MOST_SPEEDS:
        return None
    with one_blas_thread():
        try:
            return _followed(_Balance(model), relaxation, ends)
        except np.linalg.LinAlgError:
            # A singular matrix means a joint without drag; a non-finite matrix means non-finite forces.
            return None


def _followed(balance: _Balance, relaxation: float, ends: Ends) -> SlowMotion | None:
    model = balance.model
    q, time, end = model.q0.copy(), 0.0, ends.duration
    here = balance.at(q)
    rows, times, places = [here], [0.0], [q]
    speeds = [np.linalg.norm(here.speeds[m.speeds]) * m.arm for m in balance.moving_parts]
    if not max(speeds) > 0.0:
        return None
    largest, step, began = np.array(speeds), 1e-6 * end, balance.origin(q, ends.body)

    def advanced(q: np.ndarray) -> float:
        if ends.proximity is not None:
            return ends.proximity.whole + ends.proximity.beyond(model, q)
        return float(ends.direction @ (balance.origin(q, ends.body) - began))

    while time < end * (1.0 - 1e-12) and len(times) < STEPS:
        gone = advanced(q)
        if gone >= ends.advance * (1.0 - 1e-6):
            break
        h = min(step, end - time)
        if math.isfinite(ends.advance):
            pace = balance.rate(q, here.speeds, advanced)
            h = min(h, (ends.advance - gone) / pace) if pace > 0.0 else h
        trial = moved(model, q, here.displacement(h))
        there = balance.at(trial)
        floor = np.maximum(largest, LEAST * largest.max())
        change = max(
            float(np.linalg.norm(there.speeds[m.speeds] - here.speeds[m.speeds])) * m.arm / least
            for m, least in zip(balance.moving_parts, floor.tolist(), strict=True)
        )
        if not change <= 2.0 * CHANGE and h > 1e-12 * end:
            step = 0.5 * h
            continue
        q, time, here = trial, time + h, there
        rows.append(here)
        times.append(time)
        places.append(q)
        now = np.array([np.linalg.norm(here.speeds[m.speeds]) * m.arm for m in balance.moving_parts])
        largest = np.maximum(largest, now)
        step = h * min(2.0, CHANGE / max(change, 1e-300))
    arrived = advanced(q) >= ends.advance * (1.0 - 1e-6)
    if len(times) < 3 or not (arrived or time >= end * (1.0 - 1e-9)):
        return None
    return _complete(balance, np.array(times), places, rows, relaxation, ends)


def _complete(
    balance: _Balance, times: np.ndarray, places: list[np.ndarray], rows: list[_Moment], relaxation: float, ends: Ends
) -> SlowMotion:
    speeds = np.array([row.speeds for row in rows])
    mean = 0.5 * (speeds[1:] + speeds[:-1])
    distances = [
        float(np.diff(times) @ np.linalg.norm(mean[:, m.speeds], axis=1)) * m.arm for m in balance.moving_parts
    ]
    kept = tuple(
        m for m, distance in zip(balance.moving_parts, distances, strict=True) if distance > LEAST * max(distances)
    )
    first = int(balance.model.forest.u_start[ends.link])
    lead = next(m for m in balance.moving_parts if m.speeds.start == first)
    by_q, by_u, products = (np.array([getattr(row, name) for row in rows]) for name in ("by_q", "by_u", "products"))
    start = balance.model.u0.copy()
    return SlowMotion(times, np.array(places), speeds, by_q, by_u, products, start, kept, lead, relaxation)


class _Moment(NamedTuple):
    """Balance of forces and drag at one position."""

    speeds: np.ndarray
    """Speeds u₀ (nu,)."""
    by_q: np.ndarray
    """Derivatives A_q (nu, nu)."""
    by_u: np.ndarray
    """Derivatives A_u (nu, nu)."""
    products: np.ndarray
    """Velocity products M⁻¹C (nu,)."""

    def displacement(self, h: float) -> np.ndarray:
        """Return the displacement h φ₁(h K) u₀ during a time h, with K = ∂u₀/∂q and φ₁(z) = (eᶻ − 1)/z. It is exact if
        u₀ is linear in the coordinates."""
        nu = self.speeds.size
        whole = np.zeros((nu + 1, nu + 1))
        whole[:nu, :nu] = -h * np.linalg.solve(self.by_u, self.by_q)
        whole[:nu, nu] = h * self.speeds
        if not np.isfinite(whole).all():
            raise np.linalg.LinAlgError("the motion is not finite")
        return np.asarray(scipy.linalg.expm(whole)[:nu, nu])


class _Balance:
    """Evaluates the balance of forces and drag of a model."""

    def __init__(self, model: Model) -> None:
        self.model, self.evaluator = model, Evaluator(model)
        self.size = _size(model)
        self.moving_parts = moving_parts_of(model, self.size)
        self._all, self._none = np.ones(8), np.zeros(8)
        self._all[[STOCHASTIC, THERMOSTAT, THERMOSTAT_RATE]] = 0.0
        self._small = np.full(model.nu, SMALL)
        for part in self.moving_parts:
            if part.arm == 1.0:
                self._small[part.speeds] = SMALL * self.size

    def accelerations(self, q: np.ndarray, u: np.ndarray, factor: np.ndarray) -> np.ndarray:
        """Return the accelerations M⁻¹(factor F − C) at coordinates (n, nq) and speeds (n, nu), shape (n, nu)."""
        e, nq = self.evaluator, self.model.nq
        y = np.ascontiguousarray(np.hstack([q, u, np.zeros((len(q), 8))]))
        dy = np.empty_like(y)

        def attempt() -> bool | None:
            call_rows(e.rhs, factor, y, dy)
            if e.users.error is not None:
                raise e.users.error
            return None if e.sites.overflowed else True

        with_capacity(attempt, e.grow)
        return dy[:, nq : nq + self.model.nu].copy()

    def at(self, q: np.ndarray) -> _Moment:
        """Compute the balance of forces and drag at coordinates q.

        Drag is linear in the speeds, and velocity products are quadratic. The difference between the accelerations for
        a speed and for its negative therefore contains only the drag.
        """
        nu = self.model.nu
        ones, everywhere = np.eye(nu), np.broadcast_to(q, (2 * nu + 1, q.size))
        found = self.accelerations(everywhere, np.vstack([ones, -ones, np.zeros((1, nu))]), self._all)
        by_u = 0.5 * (found[:nu] - found[nu : 2 * nu]).T
        speeds = -np.linalg.solve(by_u, found[-1])
        shifted = np.array([q, *(moved(self.model, q, self._small[k] * ones[k]) for k in range(nu))])
        near = self.accelerations(shifted, np.broadcast_to(speeds, (nu + 1, nu)), self._all)
        by_q = ((near[1:] - near[0]) / self._small[:, None]).T
        products = -self.accelerations(shifted[:1], speeds[None], self._none)[0]
        if not np.isfinite(by_q).all() or not np.isfinite(speeds).all():
            raise np.linalg.LinAlgError("forces are not finite")
        return _Moment(speeds, by_q, by_u, products)

    def origin(self, q: np.ndarray, body: int) -> np.ndarray:
        """Return the origin of a body in the world frame [length]."""
        return np.asarray(body_poses(self.model, q)[0][body])

    def rate(self, q: np.ndarray, speeds: np.ndarray, function: Callable[[np.ndarray], float]) -> float:
        """Return the rate of a function of the coordinates (nq,) at given speeds [unit/time]."""
        small = SMALL / max(float(np.abs(speeds).max(initial=0.0)), 1e-300)
        ahead, behind = (function(moved(self.model, q, speeds, s * small)) for s in (1.0, -1.0))
        return (ahead - behind) / (2.0 * small)


def _size(model: Model) -> float:
    """Return the largest extent of the bodies and sites of a model at the start [length]; 1 if all are at one point."""
    points = [body_poses(model, model.q0)[0]]
    if model.sites.body.size:
        points.append(site_positions(model, model.q0))
    extent = float(np.ptp(np.concatenate(points), axis=0).max())
    return extent if extent > 0.0 else 1.0


def moving_parts_of(model: Model, size: float) -> tuple[MovingPart, ...]:
    """Return the moving parts of a model; ``size`` is its largest extent [length]."""
    found = []
    forest = model.forest
    for i, (kind, start) in enumerate(zip(forest.kind.tolist(), forest.u_start.tolist(), strict=True)):
        joint, name = BY_KIND[kind], model.names[int(model.head[i])]
        moves = joint.translations if kind in UNBOUND else 0
        if moves:
            found.append(MovingPart(name, slice(start, start + moves), 1.0))
        if joint.nu > moves:
            words = f"{name}, rotation" if moves else name
            found.append(MovingPart(words, slice(start + moves, start + joint.nu), size if joint.rotates() else 1.0))
    return tuple(found)
