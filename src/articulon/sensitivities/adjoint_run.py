"""One sweep through a run and back: derivatives by any number of parameters."""

from collections.abc import Iterator
from itertools import islice

import numpy as np

from articulon.sensitivities.adjoint_program import adjoint_program
from articulon.sensitivities.adjoint_steps import ADVANCE, REVERSE, follow_schedule, scratch
from articulon.sensitivities.checkpoint_schedule import Action, schedule
from articulon.sensitivities.end_of_run import Derivatives, Steps
from articulon.sensitivities.table_gradients import differentiated, in_one
from articulon.sensitivities.tangent_spaces import in_coordinates, in_tangent_space

ACTIONS = 4096
"""Actions of a schedule that are handed over at once."""


def by_adjoint(steps: Steps, kept: int, bodies: bool = True) -> Derivatives:
    """Derivatives of the objective, with so many states kept beside that of the step at hand and that of the end; by
    the numbers of links only where ``bodies`` are parameters."""
    model, evaluator = steps.run.model, steps.evaluator
    nq, (times, lengths) = model.nq, steps.times
    gradients, by_tables = in_one(differentiated(*evaluator.system[:2]))
    _program, adjoint = adjoint_program(evaluator, gradients, bodies)
    states, arrays = np.zeros((kept + 2, steps.start.size)), scratch(steps.start.size, steps.tableau)
    states[0], weight = steps.start, np.zeros(steps.start.size)

    def follow(actions: list[Action]) -> None:
        follow_schedule(
            evaluator.rhs,
            adjoint,
            steps.tableau,
            steps.quaternion,
            times,
            lengths,
            np.array(actions),
            states,
            arrays,
            weight,
        )

    actions = schedule(times.size, kept)
    first, last = _first(actions)
    # The end of the run comes first: the step that is reversed first leads there.
    follow([*first, (ADVANCE, last[1], last[2], last[2] + 1, kept + 1)])
    end = states[kept + 1].copy()
    value, by_q, by_u = steps.weigh(end)
    weight[:nq], weight[nq:] = in_coordinates(model, end[:nq], by_q), by_u
    block = [last]
    while block:
        follow(block)
        block = list(islice(actions, ACTIONS))
    return Derivatives(value, end, in_tangent_space(model, model.q0, weight[:nq]), weight[nq:].copy(), by_tables)


def _first(actions: Iterator[Action]) -> tuple[list[Action], Action]:
    """The actions before the first step that is reversed, and that one."""
    found: list[Action] = []
    for action in actions:
        if action[0] == REVERSE:
            return found, action
        found.append(action)
    raise AssertionError("a schedule reverses a step at least")
