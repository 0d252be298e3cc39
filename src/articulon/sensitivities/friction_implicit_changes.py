"""Tangents of steps of the friction-implicit integrator. A step advances a state and its changes, one per parameter.

A change (δq, δu, δa), with δq in the tangent space of the coordinates, passes through the stages of
``friction_implicit_steps.py`` one after the other. Each stage has its own tangent, written independently of the
adjoint.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from articulon.algebra.vectors import copy_into
from articulon.forces.evaluation import Evaluator
from articulon.integrate.friction_implicit_rotors import keeps_spins
from articulon.integrate.friction_implicit_scratch import Scratch
from articulon.kernels import jit
from articulon.passes import Bound, Program, pass_of, run
from articulon.sensitivities.acting_forces import Acting
from articulon.sensitivities.adjoint_program import point_of
from articulon.sensitivities.drift_derivatives import drift_tangent
from articulon.sensitivities.friction_derivatives import Rubbed, friction_tangent, has_friction, rubbed
from articulon.sensitivities.friction_implicit_steps import Kept, keep_step
from articulon.sensitivities.spin_derivatives import spin_tangent
from articulon.sensitivities.table_gradients import Tables
from articulon.sensitivities.tangent_program import Tangent, changing, tangent_arrays
from articulon.sensitivities.turning_derivatives import spread_shift


class Changing(NamedTuple):
    """Programs that advance changes over a step, and the arrays for their arguments and results."""

    kick: Any
    """Program for a change of the accelerations of a kick, at the state that ``tangent.point`` has prepared."""
    at: Any
    """Program that prepares the state at which the friction is differentiated; empty if there is no friction."""
    friction: Any
    """Program for a change of the friction, at the state that ``at`` has prepared."""
    first: Any
    """Program for a change of the first drift."""
    second: Any
    """Program for a change of the second drift."""
    tangent: Tangent
    """Tangent of a kick."""
    shift: np.ndarray
    """Change of the coordinates at which a kick is evaluated, in their tangent space, shape (nu,)."""
    rubbed: Rubbed
    """Arrays of the friction."""
    drifted: np.ndarray
    """Changes of the coordinates, in their tangent space, and of the speeds in a drift step, shape (2, nu)."""
    rates: np.ndarray
    """Changes of the accelerations from which the speeds of a kick are predicted, shape (parameters, nu)."""


def changing_steps(
    e: Evaluator, arrays: Scratch, held: Kept, changes: Tables, parameters: int, acting: Acting
) -> tuple[Changing, list[Program]]:
    """Build the programs of a model; the caller must keep the returned programs alive."""
    nu, links, forest = e.model.nu, e.system.forest.mass.size, e.system.forest
    tangent, shift, middle, drifted = tangent_arrays(e), np.zeros(nu), rubbed(e), np.zeros((2, nu))
    kicking = acting._replace(resistance=False)
    _, factors, carried, passes, _ = point_of(e, tangent.q, tangent.u, tangent.time, kicking)
    kick = [
        spread_shift.bind(forest, tangent.q, shift, tangent.q_change),
        *changing(e, tangent, changes, factors, carried, kicking),
        *_spinning(e, tangent, changes, shift),
    ]
    rubs = has_friction(e)
    rubbing = friction_tangent(e, arrays, middle, changes, acting) if rubs else ((), ())
    programs = [Program(passes), Program(kick), Program(rubbing[0]), Program(rubbing[1])]
    scratch = np.zeros((links, 6)), np.zeros((links, 6))
    for n in range(2):
        before, after = ((held.rotation[n + k], held.twist[2 * n + k]) for k in range(2))
        drifting = forest, held.u[2 * n + 1], arrays.span, before, after, changes.turn, *scratch
        programs.append(Program([drift_tangent.bind(*drifting, drifted[0], drifted[1])]))
    point, code, placed, friction, first, second = (program.code for program in programs)
    tangent, rates = tangent._replace(point=point, code=code), np.zeros((parameters, nu))
    return Changing(code, placed, friction, first, second, tangent, shift, middle, drifted, rates), programs


def _spinning(e: Evaluator, tangent: Tangent, changes: Tables, shift: np.ndarray) -> Iterator[Bound]:
    forest = e.system.forest
    if keeps_spins(forest):
        links = forest.mass.size
        scratch = np.zeros((links, 3)), np.zeros((links, 6)), np.zeros((links, 3))
        yield spin_tangent.bind(
            forest, e.ws, tangent.u, changes.turn, shift, tangent.u_change, *scratch, tangent.u_rate
        )


@jit
def place_kick(changing, time, q, u):
    """Set the time, coordinates and speeds of a kick, and prepare the arrays that :func:`change_kick` reads."""
    tangent = changing.tangent
    tangent.time[0] = time
    copy_into(tangent.q, q)
    copy_into(tangent.u, u)
    run(tangent.point)


@jit
def change_kick(changing, change, part, acceleration, rate):
    """Compute the change ``rate`` (nu,) of the accelerations of a kick at the speeds u + part · a. ``change`` (3 nu,)
    is the change of the state, and ``acceleration`` (nu,) the change of a."""
    tangent, nu = changing.tangent, rate.size
    for k in range(nu):
        changing.shift[k] = change[k]
        tangent.u_change[k] = change[nu + k] + part * acceleration[k]
    run(changing.kick)
    copy_into(rate, tangent.u_rate)


@jit
def change_drift(changing, code, change):
    """Advance a change over a drift step, in place."""
    nu = changing.shift.size
    copy_into(changing.drifted[0], change[:nu])
    copy_into(changing.drifted[1], change[nu : 2 * nu])
    run(code)
    copy_into(change[:nu], changing.drifted[0])
    copy_into(change[nu : 2 * nu], changing.drifted[1])


@pass_of
def change_step(passes, changing, clock, number, arrays, ws, channels, kept, numbers, columns, changes):
    """Take a step of the state and its ``changes`` (parameters, 3 nu), in place. The rows of ``columns`` (parameters,
    numbers) are the changes of the tables; each row is copied to ``numbers``, where the tangents read it."""
    first = keep_step(passes, passes, clock, number, arrays, ws, channels, kept, False)
    h, nu = clock[1], changing.shift.size
    count, rates, middle = changes.shape[0], changing.rates, changing.rubbed
    if first:
        place_kick(changing, clock[0], kept.q[0], kept.u[0])
        for p in range(count):
            copy_into(numbers, columns[p])
            change_kick(changing, changes[p], 0.0, rates[p], changes[p, 2 * nu :])
    place_kick(changing, clock[0], kept.q[0], kept.middle[0])
    for p in range(count):
        copy_into(numbers, columns[p])
        change_kick(changing, changes[p], 0.25 * h, changes[p, 2 * nu :], rates[p])
        for k in range(nu):
            changes[p, nu + k] += 0.5 * h * rates[p, k]
        change_drift(changing, changing.first, changes[p])
    if changing.at.shape[0] > 0:
        copy_into(middle.q, kept.q[1])
        copy_into(middle.u, kept.u[2])
        run(changing.at)
        for p in range(count):
            copy_into(numbers, columns[p])
            copy_into(middle.by_coordinate, changes[p, :nu])
            copy_into(middle.by_speed, changes[p, nu : 2 * nu])
            run(changing.friction)
            for k in range(nu):
                changes[p, nu + k] += h * middle.weight[k]
    for p in range(count):
        copy_into(numbers, columns[p])
        change_drift(changing, changing.second, changes[p])
    place_kick(changing, kept.end[0], kept.q[2], kept.u[4])
    for p in range(count):
        copy_into(numbers, columns[p])
        change_kick(changing, changes[p], 0.0, rates[p], rates[p])
    place_kick(changing, kept.end[0], kept.q[2], kept.middle[1])
    for p in range(count):
        copy_into(numbers, columns[p])
        change_kick(changing, changes[p], 0.25 * h, rates[p], changes[p, 2 * nu :])
        for k in range(nu):
            changes[p, nu + k] += 0.5 * h * changes[p, 2 * nu + k]
