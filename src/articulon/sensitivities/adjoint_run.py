"""One forward and one backward sweep through a run, for derivatives with respect to any number of parameters."""

from collections.abc import Iterator
from itertools import islice

import numpy as np

from articulon.sensitivities.checkpoint_schedule import Action, schedule
from articulon.sensitivities.end_of_run import Derivatives, Steps
from articulon.sensitivities.stepping import ADVANCE, REVERSE, finish_weights, follow_schedule
from articulon.sensitivities.table_gradients import differentiated, in_one

ACTIONS = 4096
"""Number of schedule actions in one call of the compiled code."""


def by_adjoint(steps: Steps, kept: int, bodies: bool = True) -> Derivatives:
    """Compute the derivatives of the objective, with ``kept`` checkpoints in addition to the current state and the
    final state. Derivatives with respect to the numbers of links are computed only if ``bodies`` are parameters."""
    stepping, (times, lengths) = steps.stepping, steps.times
    gradients, by_tables = in_one(differentiated(*stepping.evaluator.system[:3]))
    stepper, _programs = stepping.reversing(gradients, bodies)
    states = np.zeros((kept + 2, stepping.start.size))
    states[0] = stepping.start

    def follow(actions: list[Action]) -> None:
        follow_schedule(stepper, times, lengths, np.array(actions), states)

    actions = schedule(times.size, kept)
    first, last = _first(actions)
    # The final state is computed first, because the reversal begins at the end of the last step.
    follow([*first, (ADVANCE, last[1], last[2], last[2] + 1, kept + 1)])
    end = states[kept + 1].copy()
    value, by_q, by_u = steps.weigh(end)
    stepper.weight[:] = stepping.weights(end, by_q, by_u)
    block = [last]
    while block:
        follow(block)
        block = list(islice(actions, ACTIONS))
    finish_weights(stepper)
    steps.check_functions()
    steps.check_derivatives(stepper.weight)
    return Derivatives(value, *stepping.split(end), *stepping.of_start(stepper.weight), by_tables)


def _first(actions: Iterator[Action]) -> tuple[list[Action], Action]:
    """Return the actions before the first reversed step, and the action that reverses it."""
    found: list[Action] = []
    for action in actions:
        if action[0] == REVERSE:
            return found, action
        found.append(action)
    raise AssertionError("a schedule must reverse at least one step")
