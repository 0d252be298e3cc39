"""Binomial checkpointing takes the fewest steps once more, and keeps no more states than it may."""

from __future__ import annotations

from functools import cache

import pytest

from articulon.sensitivities.checkpoint_schedule import schedule
from articulon.sensitivities.stepping import ADVANCE, REVERSE


@cache
def fewest(steps: int, states: int) -> int:
    """Fewest steps that are taken to reverse so many, by trying every place for the next state that is kept."""
    if steps <= 1:
        return 0
    if states == 1:
        return steps * (steps - 1) // 2
    return min(m + fewest(steps - m, states - 1) + fewest(m, states) for m in range(1, steps))


@pytest.mark.parametrize("states", range(1, 8))
def test_a_schedule_takes_the_fewest_steps(states: int) -> None:
    for steps in range(1, 60):
        found = list(schedule(steps, states))
        assert [first for what, _, first, _, _ in found if what == REVERSE] == list(range(steps - 1, -1, -1))
        taken = sum(last - first for what, _, first, last, _ in found if what == ADVANCE)
        assert taken == fewest(steps, states)


@pytest.mark.parametrize(("steps", "states"), [(1, 1), (7, 1), (50, 3), (1000, 5), (1000, 2000)])
def test_a_schedule_begins_with_states_that_it_has_kept(steps: int, states: int) -> None:
    """The last place is for the state of the step at hand, and no place holds the state of another step."""
    held = {0: 0}
    for what, place, first, last, target in schedule(steps, states):
        assert held[place] == first
        if what == ADVANCE:
            assert target <= states
            held[target] = last
    assert len(held) <= states + 1
