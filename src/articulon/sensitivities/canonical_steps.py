"""Steps of velocity Verlet in canonical momenta (``integrate/canonical.py``), with tangents and adjoints.

With the rates k = q' and l = p', a step of length h from (q, p) is

    P = p + ½ h l(q, P),   Q = q + ½ h (k(q, P) + k(Q, P)),   p⁺ = P + ½ h l(Q, P),   q⁺ = Q.

P and Q are fixed points. The fixed points are differentiated, not the iterations that find them. With weights λ of the
final state, which are the adjoint variables,

    ξ = λ_q + ½ h (k_qᵀ ξ + l_qᵀ λ_p),   λ_P = λ_p + ½ h (k_pᵀ ξ + l_pᵀ λ_p)   at (Q, P),
    η = λ_P + ½ h (k_pᵀ ξ + l_pᵀ η),     λ_q ← ξ + ½ h (k_qᵀ ξ + l_qᵀ η),   λ_p ← η   at (q, P).

ξ and η are fixed points of maps with the transposed matrices, so their iterations converge as fast as those of the
rule.

Changes and weights of a state are those of coordinates in their tangent space, of the momenta μ that belong to the
speeds, and of the speeds, in this order. Steps change only the first two. At the start of a run the momenta are
computed from the speeds, and at its end the speeds from the momenta.
"""

from typing import Any, NamedTuple

import numpy as np

from articulon.algebra.vectors import copy_into
from articulon.dynamics.hamiltonian import speed_momenta
from articulon.integrate.canonical import begin_history, find_rates, take_step
from articulon.integrate.stage_iteration import next_stage, solve_stages
from articulon.integrate.status import REACHED
from articulon.kernels import jit
from articulon.passes import pass_of, run
from articulon.sensitivities.canonical_coordinates import (
    canonical_changes,
    canonical_changes_adjoint,
    inverse_inertias,
    rate_adjoint,
    rate_changes,
    shift_and_momenta,
    shift_and_momenta_adjoint,
)
from articulon.sensitivities.linear_iteration import (
    ITERATIONS,
    Iteration,
    begin_iteration,
    iteration_arrays,
    next_iterate,
)
from articulon.sensitivities.verlet_steps import add_scaled_to


class Rule(NamedTuple):
    """Programs and numbers that the steps of a run need."""

    passes: Any
    """Programs of a step."""
    pair: Any
    """Formula of the step."""
    factor: np.ndarray
    """Scaling factors of the channels, shape (8,)."""
    sweeps: Any
    """Scratch arrays of the iterations."""
    counters: np.ndarray
    """Counters of the run, which are not used."""
    status: np.ndarray
    """Status code of ``integrate/status.py`` with which the latest stages ended, shape (1,)."""


class StepArrays(NamedTuple):
    """Scratch arrays of a step; they contain no data that must be kept between steps."""

    start_q: np.ndarray
    """Coordinates q at the start, shape (nq,)."""
    start_p: np.ndarray
    """Momenta p at the start, shape (nq,)."""
    end_q: np.ndarray
    """Coordinates Q at the end, shape (nq,)."""
    middle_p: np.ndarray
    """Momenta P in the middle, shape (nq,)."""
    end_p: np.ndarray
    """Momenta p⁺ at the end, shape (nq,)."""
    momentum: np.ndarray
    """Momenta μ of the speeds at the start, shape (nu,)."""
    of_q: np.ndarray
    """Weights or changes of q' at a stage, shape (nq,)."""
    of_p: np.ndarray
    """Weights or changes of p' at a stage, shape (nq,)."""
    by_q: np.ndarray
    """Weights λ_q of the coordinates, shape (nq,)."""
    by_p: np.ndarray
    """Weights λ_p of the momenta, shape (nq,)."""
    to_q: np.ndarray
    """Derivatives of the weighted rates with respect to the coordinates, shape (nq,)."""
    to_p: np.ndarray
    """Derivatives of the weighted rates with respect to the momenta, shape (nq,)."""
    iteration: Iteration
    """Scratch arrays of the iterations for P, Q, ξ and η."""
    changes: np.ndarray
    """Changes of q, p, P and k(q, P) due to every parameter, shape (4, parameters, nq)."""


def step_arrays(nq: int, nu: int, parameters: int = 0) -> StepArrays:
    """Allocate the arrays for a model."""
    of_state = [*np.zeros((5, nq)), np.zeros(nu), *np.zeros((6, nq))]
    made: list[Any] = [*of_state, iteration_arrays(nq), np.zeros((4, parameters, nq))]
    return StepArrays(*made)


@jit
def prepare_at(rule, prepare, time, q, p, arrays):
    """Evaluate the rates at a state, and compute the quantities that derivatives at this state need."""
    copy_into(arrays.stage_q, q)
    copy_into(arrays.stage_p, p)
    copy_into(arrays.held, rule.factor)
    arrays.time[0] = time
    run(rule.passes.field)
    run(prepare)


@jit
def find_stages(rule, clock, y, arrays):
    """Solve for the stages of the step from y; return whether the iterations converged."""
    nq, nu, rate_q, rate_p = arrays.q.size, arrays.u.size, arrays.rate_q, arrays.rate_p
    history, time, h = y[nq + nu :], clock[0], clock[1]
    if history[0] == 0.0:
        begin_history(rule.passes, y[:nq], y[nq : nq + nu], history, arrays)
    copy_into(arrays.q, history[1 : 1 + nq])
    copy_into(arrays.p, history[1 + nq : 1 + 2 * nq])
    find_rates(rule.passes, rule.factor, time, arrays.q, arrays.p, arrays, rate_q[0], rate_p[0], arrays.power[0])
    lost = history[1 + 2 * nq :]
    ended = solve_stages(rule.passes, rule.factor, time, h, rule.pair, lost, arrays, rule.sweeps, rule.counters)
    rule.status[0] = ended
    return ended == REACHED


@jit
def end_step(rule, clock, y, arrays):
    """Complete a step whose stages have been found."""
    nq, nu = arrays.q.size, arrays.u.size
    history = y[nq + nu :]
    take_step(rule.pair, clock[1], history, arrays)
    copy_into(arrays.stage_q, history[1 : 1 + nq])
    copy_into(arrays.stage_p, history[1 + nq : 1 + 2 * nq])
    run(rule.passes.end)
    copy_into(y[:nq], arrays.unit)
    copy_into(y[nq : nq + nu], arrays.u)


@pass_of
def take_canonical(rule, clock, y, arrays):
    """Take a step of y (ny,) in place; y becomes NaN if its stages are not found."""
    if find_stages(rule, clock, y, arrays):
        end_step(rule, clock, y, arrays)
    else:
        y[:] = np.nan


@jit
def keep_stages(forest, rule, clock, y, arrays, own):
    """Store the states of a step whose stages have been found."""
    nq, nu, h = arrays.q.size, arrays.u.size, clock[1]
    copy_into(own.start_q, arrays.q)
    copy_into(own.start_p, arrays.p)
    speed_momenta(forest, own.start_q, own.start_p, own.momentum)
    next_stage(rule.pair, 1, h, y[nq + nu + 1 + 2 * nq :], arrays)
    copy_into(own.end_q, arrays.stage_q)
    copy_into(own.middle_p, arrays.stage_p)
    copy_into(own.end_p, own.middle_p)
    add_scaled_to(own.end_p, 0.5 * h, arrays.rate_p[1])


@jit
def weigh_rates(forest, at, q, p, arrays, own):
    """Compute weights of u and κ from the weights of q' and p' at the prepared state, and initialise ``to_q`` and
    ``to_p``."""
    of = at.of_speed, at.of_torque
    rate_adjoint(forest, q, p, arrays.u, at.torque, own.of_q, own.of_p, own.to_q, own.to_p, *of)


@jit
def take_up(forest, at, q, p, own):
    """Add the derivatives with respect to coordinates and momenta to ``to_q`` and ``to_p``."""
    shift_and_momenta_adjoint(forest, q, p, at.by_shift, at.by_momentum, own.to_q, own.to_p)


@jit
def set_scaled(target, s, source):
    """Compute target = s source."""
    for k in range(target.size):
        target[k] = s * source[k]


@jit
def begin_at(forest, at, of_momenta, own, start):
    """Begin an iteration from an estimate. The unknowns are changes of momenta or weights of coordinates if
    ``of_momenta`` is true, and otherwise changes of coordinates or weights of momenta. The norm uses the inertias of
    the joints, so that all bodies contribute equally in any unit."""
    inverse_inertias(forest, at.factors, own.iteration.metric)
    if not of_momenta:
        for k in range(own.iteration.metric.size):
            own.iteration.metric[k] = 1.0 / own.iteration.metric[k]
    begin_iteration(own.iteration, start)


@jit
def fold_speeds(forest, rule, at, clock, arrays, own, weight):
    """Convert weights of the speeds at the end of the run into weights of coordinates and momenta."""
    nu = arrays.u.size
    by_shift, by_momentum, by_speed = weight[:nu], weight[nu : 2 * nu], weight[2 * nu :]
    prepare_at(rule, at.prepare, clock[0] + clock[1], own.end_q, own.end_p, arrays)
    copy_into(at.of_speed, by_speed)
    for k in range(nu):
        at.of_torque[k], at.power_by_shift[k], at.power_by_speed[k], by_speed[k] = 0.0, 0.0, 0.0, 0.0
    run(at.speeds)
    run(at.coordinates)
    run(at.tables)
    add_scaled_to(by_shift, 1.0, at.by_shift)
    add_scaled_to(by_momentum, 1.0, at.by_momentum)


@jit
def reverse_second(forest, rule, at, clock, arrays, own):
    """Convert λ_q and λ_p of the final state into ξ and λ_P; return whether ξ is found."""
    h, q, p, before = clock[1], own.end_q, own.middle_p, np.inf
    prepare_at(rule, at.prepare, clock[0] + h, q, p, arrays)
    set_scaled(own.of_p, 0.5 * h, own.by_p)
    begin_at(forest, at, True, own, own.by_q)
    for n in range(ITERATIONS):
        set_scaled(own.of_q, 0.5 * h, own.iteration.found)
        weigh_rates(forest, at, q, p, arrays, own)
        if n == 0:
            run(at.push)
        run(at.speeds)
        run(at.coordinates)
        take_up(forest, at, q, p, own)
        before = next_iterate(own.iteration, own.by_q, 1.0, own.to_q, before)
        if before < 0.0:
            break
    run(at.tables)
    copy_into(own.by_q, own.iteration.found)
    add_scaled_to(own.by_p, 1.0, own.to_p)
    return before < 0.0


@jit
def reverse_first(forest, rule, at, reads, clock, arrays, own):
    """Convert ξ and λ_P into λ_q and λ_p of the initial state; return whether η is found."""
    h, q, p, before = clock[1], own.start_q, own.middle_p, np.inf
    prepare_at(rule, at.prepare, clock[0], q, p, arrays)
    set_scaled(own.of_q, 0.5 * h, own.by_q)
    begin_at(forest, at, False, own, own.by_p)
    for _ in range(ITERATIONS):
        set_scaled(own.of_p, 0.5 * h, own.iteration.found)
        weigh_rates(forest, at, q, p, arrays, own)
        if reads:
            run(at.push_again)
        run(at.speeds)
        take_up(forest, at, q, p, own)
        before = next_iterate(own.iteration, own.by_p, 1.0, own.to_p, before)
        if before < 0.0:
            break
    copy_into(own.by_p, own.iteration.found)
    set_scaled(own.of_p, 0.5 * h, own.by_p)
    weigh_rates(forest, at, q, p, arrays, own)
    run(at.push)
    run(at.speeds)
    run(at.coordinates)
    run(at.tables)
    take_up(forest, at, q, p, own)
    add_scaled_to(own.by_q, 1.0, own.to_q)
    return before < 0.0


@pass_of
def reverse_canonical(forest, rule, at, reads, clock, y, arrays, own, weight):
    """Convert weights (3 nu,) of the state at the end of a step from y into weights of the state at its start, in
    place. The weights become NaN if the fixed points are not found."""
    nu = arrays.u.size
    by_shift, by_momentum, some = weight[:nu], weight[nu : 2 * nu], False
    found = find_stages(rule, clock, y, arrays)
    keep_stages(forest, rule, clock, y, arrays, own)
    for k in range(2 * nu, 3 * nu):
        some = some or weight[k] != 0.0
    if some:
        fold_speeds(forest, rule, at, clock, arrays, own, weight)
    own.by_q[:] = 0.0
    own.by_p[:] = 0.0
    shift_and_momenta_adjoint(forest, own.end_q, own.end_p, by_shift, by_momentum, own.by_q, own.by_p)
    found = reverse_second(forest, rule, at, clock, arrays, own) and found
    found = reverse_first(forest, rule, at, reads, clock, arrays, own) and found
    canonical_changes_adjoint(forest, own.start_q, own.momentum, own.by_q, own.by_p, by_shift, by_momentum)
    if not found:
        weight[:] = np.nan


@pass_of
def finish_canonical(rule, at, clock, y, arrays, weight):
    """Convert the weights of μ at the start of the run into weights of coordinates and speeds."""
    nq, nu = arrays.q.size, arrays.u.size
    history = y[nq + nu :]
    prepare_at(rule, at.prepare, clock[0], history[1 : 1 + nq], history[1 + nq : 1 + 2 * nq], arrays)
    for k in range(nu):
        at.of_torque[k], at.power_by_shift[k], at.by_momentum[k] = 0.0, 0.0, -weight[nu + k]
    run(at.coordinates)
    run(at.tables)
    for k in range(nu):
        weight[k] += at.by_shift[k]
        weight[nu + k] = 0.0
        weight[2 * nu + k] -= at.by_speed[k]


@pass_of
def begin_changes(rule, at, clock, numbers, columns, y, changes, arrays):
    """Compute the changes of μ from the changes of coordinates and speeds."""
    nq, nu = arrays.q.size, arrays.u.size
    history = y[nq + nu :]
    if history[0] == 0.0:
        begin_history(rule.passes, y[:nq], y[nq : nq + nu], history, arrays)
    prepare_at(rule, at.prepare, clock[0], history[1 : 1 + nq], history[1 + nq : 1 + 2 * nq], arrays)
    for n in range(changes.shape[0]):
        copy_into(numbers, columns[n])
        copy_into(at.shift, changes[n, :nu])
        copy_into(at.u_change, changes[n, 2 * nu :])
        run(at.momenta)
        copy_into(changes[n, nu : 2 * nu], at.momentum)


@jit
def change_rates_at(forest, at, q, p, q_change, p_change, arrays, own, whole):
    """Compute changes of q' and p' at the prepared state. If ``whole`` is false, the changes of the forces are not
    computed again, and the latest ones are used."""
    shift_and_momenta(forest, q, p, q_change, p_change, at.shift, at.momentum)
    copy_into(at.q_change, q_change)
    run(at.speeds)
    if whole:
        run(at.forces)
    run(at.torques)
    by = at.u_change, at.torque_change
    rate_changes(forest, q, p, arrays.u, at.torque, q_change, p_change, *by, own.of_q, own.of_p)


@jit
def change_first(forest, rule, at, reads, clock, arrays, own, n, changes):
    """Compute the changes of q, p, P and k(q, P) due to parameter n; return whether the iterations converged."""
    h, q, p, nu, before = clock[1], own.start_q, own.middle_p, arrays.u.size, np.inf
    q_change, p_change = own.changes[0, n], own.changes[1, n]
    canonical_changes(forest, q, own.momentum, changes[n, :nu], changes[n, nu : 2 * nu], q_change, p_change)
    begin_at(forest, at, True, own, p_change)
    for k in range(ITERATIONS):
        change_rates_at(forest, at, q, p, q_change, own.iteration.found, arrays, own, reads or k == 0)
        before = next_iterate(own.iteration, p_change, 0.5 * h, own.of_p, before)
        if before < 0.0:
            break
    copy_into(own.changes[2, n], own.iteration.found)
    copy_into(own.changes[3, n], own.of_q)
    return before < 0.0


@jit
def change_second(forest, rule, at, clock, arrays, own, n):
    """Compute the changes of q⁺ and p⁺ due to parameter n, which replace the changes of q and p; return whether the
    iterations converged."""
    h, q, p, before = clock[1], own.end_q, own.middle_p, np.inf
    base, end, middle = own.changes[0, n], own.changes[1, n], own.changes[2, n]
    add_scaled_to(base, 0.5 * h, own.changes[3, n])
    begin_at(forest, at, False, own, base)
    for _ in range(ITERATIONS):
        change_rates_at(forest, at, q, p, own.iteration.found, middle, arrays, own, False)
        before = next_iterate(own.iteration, base, 0.5 * h, own.of_q, before)
        if before < 0.0:
            break
    change_rates_at(forest, at, q, p, own.iteration.found, middle, arrays, own, True)
    copy_into(base, own.iteration.found)
    copy_into(end, middle)
    add_scaled_to(end, 0.5 * h, own.of_p)
    return before < 0.0


@pass_of
def change_canonical(forest, rule, at, reads, clock, numbers, columns, y, changes, arrays, own):
    """Take a step of the state y and its changes (parameters, 3 nu), in place. y becomes NaN if the fixed points are
    not found. ``columns`` (parameters, numbers) are changes of the tables' ``numbers``."""
    nu, time, h, found = arrays.u.size, clock[0], clock[1], True
    if not find_stages(rule, clock, y, arrays):
        y[:] = np.nan
        return
    keep_stages(forest, rule, clock, y, arrays, own)
    prepare_at(rule, at.prepare, time, own.start_q, own.middle_p, arrays)
    for n in range(changes.shape[0]):
        copy_into(numbers, columns[n])
        found = change_first(forest, rule, at, reads, clock, arrays, own, n, changes) and found
    prepare_at(rule, at.prepare, time + h, own.end_q, own.middle_p, arrays)
    for n in range(changes.shape[0]):
        copy_into(numbers, columns[n])
        found = change_second(forest, rule, at, clock, arrays, own, n) and found
    prepare_at(rule, at.prepare, time + h, own.end_q, own.end_p, arrays)
    for n in range(changes.shape[0]):
        copy_into(numbers, columns[n])
        of = own.changes[0, n], own.changes[1, n]
        shift_and_momenta(forest, own.end_q, own.end_p, *of, at.shift, at.momentum)
        run(at.speeds)
        copy_into(changes[n, :nu], at.shift)
        copy_into(changes[n, nu : 2 * nu], at.momentum)
        copy_into(changes[n, 2 * nu :], at.u_change)
    end_step(rule, clock, y, arrays)
    if not found:
        changes[:] = np.nan
