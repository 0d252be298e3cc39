"""Steps of velocity Verlet for prismatic joints, with tangents and adjoints.

With prismatic joints only, the mass matrix does not depend on q. With accelerations f, the step h of
``integrate/canonical.py`` from (q, u) is

    v = u + ½ h f(q, v),   q' = q + h v,   u' = v + ½ h f(q', v).

If f does not depend on speeds, the step is explicit. Otherwise v is a fixed point; the fixed point is differentiated,
not the iterations that find it. λ_q and λ_u are the weights of the final state, and f_q and f_v the derivatives of f.
The adjoint computes, in this order,

    λ_v = λ_u + ½ h f_vᵀ λ_u + h λ',   λ' = λ_q + ½ h f_qᵀ λ_u   at (q', v),
    μ = λ_v + ½ h f_vᵀ μ,   λ_u ← μ,   λ_q ← λ' + ½ h f_qᵀ μ      at (q, v).

The Langevin thermostat of free particles changes v to v' = c v + √((1 − c²) kT/m) N in the middle of the drift step,
with c = e^{−γ h} and friction γ. Then q' = q + ½ h (v + v'). The normal numbers N of the run are held fixed.

If f does not depend on speeds, the accelerations at the end of a step are also the accelerations at the start of the
next step. Their adjoint is then computed only once, when the earlier step is reversed.
"""

from typing import NamedTuple

import numpy as np

from articulon.algebra.vectors import copy_into
from articulon.kernels import jit
from articulon.passes import pass_of, run
from articulon.thermostats.base import FRICTION, SEED, STREAM
from articulon.thermostats.langevin import decay_and_noise, particle_normals
from articulon.thermostats.schedule import target

ITERATIONS = 200
"""Largest number of evaluations for the speeds in the middle of a step, or for their weights."""
SETTLED = 1e-12
"""Relative change below which an iteration has converged to rounding once its changes no longer decrease."""


class VerletArrays(NamedTuple):
    """Arrays of a step. All are scratch, except for the results that the reversal of a step passes on to the next
    reversal."""

    rate: np.ndarray
    """Accelerations, shape (nu,)."""
    half: np.ndarray
    """Speeds v in the middle of the step, or their weights, shape (nu,)."""
    trial: np.ndarray
    """Next iterate of ``half``, shape (nu,)."""
    end: np.ndarray
    """Coordinates in a drift step, then at the end of the step, shape (nq,)."""
    noise: np.ndarray
    """Contribution of noise to the speeds, shape (nu,)."""
    pending: np.ndarray
    """Weights of the accelerations at the start of the step that was reversed last, shape (nu,)."""
    last: np.ndarray
    """Number of the step that was reversed last, shape (1,); -1 before the first reversal."""
    began: np.ndarray
    """Start time of the step that was reversed last [time], shape (1,)."""
    rates: np.ndarray
    """Changes of accelerations, or of speeds, shape (nu,)."""


def verlet_arrays(nq: int, nu: int) -> VerletArrays:
    """Allocate the arrays for a model."""
    rate, half, trial, end, noise, pending, rates = (np.zeros(n) for n in (nu, nu, nu, nq, nu, nu, nu))
    return VerletArrays(rate, half, trial, end, noise, pending, np.full(1, -1), np.zeros(1), rates)


@jit
def evaluate_at(rhs, time, q, u, rate):
    """Compute the accelerations ``rate`` (nu,) at a state."""
    rhs.time[0] = time
    copy_into(rhs.q, q)
    copy_into(rhs.u, u)
    run(rhs.code)
    copy_into(rate, rhs.u_rate)


@jit
def change_of(new, old):
    """Return the largest change of a number, relative to the largest magnitude of the new numbers."""
    change, size = 0.0, 0.0
    for k in range(new.size):
        change, size = max(change, abs(new[k] - old[k])), max(size, abs(new[k]))
    return change / size if size > 0.0 else change


@jit
def find_half(rhs, reads, time, h, q, u, arrays):
    """Compute the speeds in the middle of a step into ``arrays.half``, from the accelerations at its start in
    ``arrays.rate``; NaN if the iteration does not converge."""
    half, trial, rate = arrays.half, arrays.trial, arrays.rate
    for k in range(u.size):
        half[k] = u[k] + 0.5 * h * rate[k]
    if not reads:
        return
    before = np.inf
    for _ in range(ITERATIONS):
        evaluate_at(rhs, time, q, half, rate)
        for k in range(u.size):
            trial[k] = u[k] + 0.5 * h * rate[k]
        change = change_of(trial, half)
        copy_into(half, trial)
        if change == 0.0 or (change < SETTLED and change >= before):
            return
        before = change
    half[:] = np.nan


@jit
def add_scaled_to(target, s, source):
    """Compute target += s source."""
    for k in range(target.size):
        target[k] += s * source[k]


@pass_of
def slide(clock, arrays):
    """Compute the positions of prismatic joints after a step, from the speeds in its middle."""
    add_scaled_to(arrays.end, clock[1], arrays.half)


@pass_of
def slide_adjoint(clock, by_q, by_v):
    """Adjoint of :func:`slide`: convert weights of positions and speeds after it into weights before it, in place."""
    add_scaled_to(by_v, clock[1], by_q)


@pass_of
def slide_tangent(clock, by_q, by_v):
    """Tangent of :func:`slide`: advance changes of positions and speeds, in place."""
    add_scaled_to(by_q, clock[1], by_v)


@jit
def decay_of(bath, clock):
    """Return c = e^{−γ h} and √((1 − c²) k T) of a step h, with friction γ."""
    return decay_and_noise(bath.constants[FRICTION], clock[1], target(bath, clock[0] + 0.5 * clock[1]))


@jit
def shake_speeds(bath, clock, number, mass, v, noise):
    """Apply friction and noise to free particles over a step."""
    c, s = decay_of(bath, clock)
    for i in range(mass.size):
        normal = particle_normals(bath.choice[SEED], bath.choice[STREAM], number[0], i)
        size = s / np.sqrt(mass[i])
        for m in range(3):
            noise[3 * i + m] = size * normal[m]
            v[3 * i + m] = c * v[3 * i + m] + noise[3 * i + m]


@pass_of
def slide_in_bath(bath, clock, number, mass, arrays):
    """Compute positions and speeds after a step with the Langevin thermostat."""
    add_scaled_to(arrays.end, 0.5 * clock[1], arrays.half)
    shake_speeds(bath, clock, number, mass, arrays.half, arrays.noise)
    add_scaled_to(arrays.end, 0.5 * clock[1], arrays.half)


@pass_of
def slide_in_bath_adjoint(bath, clock, number, mass, gradient, arrays, by_q, by_v):
    """Adjoint of :func:`slide_in_bath`: convert weights of positions and speeds after it into weights before it, in
    place, and add the derivatives with respect to masses."""
    c, _ = decay_of(bath, clock)
    shake_speeds(bath, clock, number, mass, arrays.trial, arrays.noise)
    add_scaled_to(by_v, 0.5 * clock[1], by_q)
    for k in range(by_v.size):
        gradient[k // 3] -= 0.5 * arrays.noise[k] / mass[k // 3] * by_v[k]
        by_v[k] = c * by_v[k] + 0.5 * clock[1] * by_q[k]


@pass_of
def slide_in_bath_tangent(bath, clock, mass, change, arrays, by_q, by_v):
    """Tangent of :func:`slide_in_bath`: advance changes of positions and speeds, in place, with changes of masses."""
    c, _ = decay_of(bath, clock)
    add_scaled_to(by_q, 0.5 * clock[1], by_v)
    for k in range(by_v.size):
        by_v[k] = c * by_v[k] - 0.5 * arrays.noise[k] / mass[k // 3] * change[k // 3]
    add_scaled_to(by_q, 0.5 * clock[1], by_v)


@pass_of
def begin_verlet(rhs, clock, y, arrays):
    """Compute the accelerations at the start of a step."""
    nq = rhs.q.size
    evaluate_at(rhs, clock[0], y[:nq], y[nq:], arrays.rate)


@pass_of
def take_verlet(rhs, reads, drift, clock, y, arrays):
    """Take a step of y (nq + nu,) in place. The accelerations at its start must be known; the accelerations at its end
    are computed for the next step."""
    nq, h, end = rhs.q.size, clock[1], clock[0] + clock[1]
    q, u = y[:nq], y[nq:]
    find_half(rhs, reads, clock[0], h, q, u, arrays)
    copy_into(arrays.end, q)
    run(drift)
    copy_into(q, arrays.end)
    evaluate_at(rhs, end, q, arrays.half, arrays.rate)
    for k in range(u.size):
        u[k] = arrays.half[k] + 0.5 * h * arrays.rate[k]
    if reads:
        evaluate_at(rhs, end, q, u, arrays.rate)


@jit
def weigh_at(adjoint, time, q, u, factor, weight):
    """Compute the derivatives of the accelerations at a state, weighted by ``weight`` (nu,) times a factor, into
    ``by_q`` and ``by_u``."""
    adjoint.time[0] = time
    copy_into(adjoint.q, q)
    copy_into(adjoint.u, u)
    for k in range(weight.size):
        adjoint.q_weight[k] = 0.0
        adjoint.u_weight[k] = factor * weight[k]
    run(adjoint.code)


@pass_of
def reverse_verlet(rhs, adjoint, drift, back, clock, number, y, arrays, weight):
    """Convert weights (nq + nu,) of the state at the end of a step into weights at its start, in place, for
    accelerations that do not depend on speeds. The derivatives of the initial accelerations are not included; they stay
    pending."""
    nq, time, h = rhs.q.size, clock[0], clock[1]
    q, u, by_q, by_u, pending = y[:nq], y[nq:], weight[:nq], weight[nq:], arrays.pending
    if arrays.last[0] != number[0] + 1:  # otherwise the next step was reversed last, and left the state at its start
        evaluate_at(rhs, time, q, u, arrays.rate)
        find_half(rhs, False, time, h, q, u, arrays)
        copy_into(arrays.end, q)
        run(drift)
    for k in range(u.size):
        pending[k] += 0.5 * h * by_u[k]
    weigh_at(adjoint, time + h, arrays.end, u, 1.0, pending)
    add_scaled_to(by_q, 1.0, adjoint.by_q)
    run(back)
    for k in range(u.size):
        pending[k] = 0.5 * h * by_u[k]
    copy_into(arrays.end, q)
    arrays.last[0], arrays.began[0] = number[0], time


@pass_of
def finish_verlet(adjoint, arrays, weight):
    """Add the pending derivatives to the weights."""
    weigh_at(adjoint, arrays.began[0], arrays.end, arrays.half, 1.0, arrays.pending)
    for k in range(arrays.pending.size):
        weight[k] += adjoint.by_q[k]
        arrays.pending[k] = 0.0
    arrays.last[0] = -1


@pass_of
def reverse_implicit_verlet(rhs, adjoint, solving, clock, y, arrays, weight):
    """Convert weights (nq + nu,) of the state at the end of a step into weights at its start, in place, for
    accelerations that depend on speeds. ``solving`` is an adjoint whose derivatives with respect to tables are
    discarded."""
    nq, time, h = rhs.q.size, clock[0], clock[1]
    q, u, by_q, by_u, half = y[:nq], y[nq:], weight[:nq], weight[nq:], arrays.half
    evaluate_at(rhs, time, q, u, arrays.rate)
    find_half(rhs, True, time, h, q, u, arrays)
    copy_into(arrays.end, q)
    add_scaled_to(arrays.end, h, half)
    weigh_at(adjoint, time + h, arrays.end, half, 0.5 * h, by_u)
    mu, trial, known, before = arrays.rates, arrays.trial, arrays.rate, np.inf
    for k in range(u.size):
        by_q[k] += adjoint.by_q[k]
        known[k] = by_u[k] + adjoint.by_u[k] + h * by_q[k]
    copy_into(mu, known)
    found = False
    for _ in range(ITERATIONS):
        weigh_at(solving, time, q, half, 0.5 * h, mu)
        for k in range(u.size):
            trial[k] = known[k] + solving.by_u[k]
        change = change_of(trial, mu)
        copy_into(mu, trial)
        if change == 0.0 or (change < SETTLED and change >= before):
            found = True
            break
        before = change
    weigh_at(adjoint, time, q, half, 0.5 * h, mu)
    for k in range(u.size):
        by_q[k] += adjoint.by_q[k]
        by_u[k] = mu[k] if found else np.nan


@jit
def change_at(tangent, by_q, by_u, rates):
    """Compute the change of the accelerations due to changes of positions and speeds, at the prepared state."""
    copy_into(tangent.q_change, by_q)
    copy_into(tangent.u_change, by_u)
    run(tangent.code)
    copy_into(rates, tangent.u_rate)


@jit
def find_tangent(tangent, time, q, u):
    """Prepare a state for :func:`change_at`."""
    tangent.time[0] = time
    copy_into(tangent.q, q)
    copy_into(tangent.u, u)
    run(tangent.point)


@pass_of
def change_verlet(rhs, tangent, reads, drift, on, clock, numbers, columns, y, changes, arrays, by_q, by_v):
    """Take a step of the state y (nq + nu,) and its changes (parameters, nq + nu), in place. The rows of ``columns``
    (parameters, numbers) are changes of the tables; each row is copied to ``numbers``, where the tangent reads it."""
    nq, time, h = rhs.q.size, clock[0], clock[1]
    q, u, trial, rates = y[:nq], y[nq:], arrays.trial, arrays.rates
    evaluate_at(rhs, time, q, u, arrays.rate)
    find_half(rhs, reads, time, h, q, u, arrays)
    find_tangent(tangent, time, q, arrays.half)
    copy_into(arrays.end, q)
    run(drift)
    for p in range(changes.shape[0]):
        copy_into(numbers, columns[p])
        copy_into(by_q, changes[p, :nq])
        copy_into(by_v, changes[p, nq:])
        before, found = np.inf, not reads
        for _ in range(ITERATIONS):
            change_at(tangent, by_q, by_v, rates)
            for k in range(u.size):
                trial[k] = changes[p, nq + k] + 0.5 * h * rates[k]
            change = change_of(trial, by_v)
            copy_into(by_v, trial)
            if not reads:
                break
            if change == 0.0 or (change < SETTLED and change >= before):
                found = True
                break
            before = change
        if not found:
            by_v[:] = np.nan
        run(on)
        copy_into(changes[p, :nq], by_q)
        copy_into(changes[p, nq:], by_v)
    copy_into(q, arrays.end)
    evaluate_at(rhs, time + h, q, arrays.half, arrays.rate)
    find_tangent(tangent, time + h, q, arrays.half)
    for k in range(u.size):
        u[k] = arrays.half[k] + 0.5 * h * arrays.rate[k]
    for p in range(changes.shape[0]):
        copy_into(numbers, columns[p])
        change_at(tangent, changes[p, :nq], changes[p, nq:], rates)
        for k in range(u.size):
            changes[p, nq + k] += 0.5 * h * rates[k]
