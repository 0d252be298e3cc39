"""Schedule of the states that are kept while steps are reversed: binomial checkpointing (Griewank and Walther, ACM
Trans. Math. Softw. 26, 19, 2000). It repeats the fewest steps possible with a given number of kept states.

With s kept states, at most β(s, t) = (s + t over s) steps can be reversed if no step is taken more than t times before
it is reversed.
"""

from collections.abc import Iterator

from articulon.sensitivities.stepping import ADVANCE, REVERSE

Action = tuple[int, int, int, int, int]
"""One action: its kind, the slot of the state where it starts, and the step number there; for steps taken also the last
step and the slot where its state is kept."""


def first_part(steps: int, states: int) -> int:
    """Return how many of ``steps`` steps are taken before the next state is kept, if ``states`` states can be kept,
    including the one at the start of these steps."""
    times, whole, before, right = 0, 1, 0, 1  # t, β(s, t), β(s, t−1), β(s−1, t)
    earlier = 0  # β(s−1, t−1)
    while whole < steps:
        times += 1
        before, earlier = whole, right
        whole = whole * (states + times) // times
        right = right * (states - 1 + times) // times
    return min(before, steps - earlier)


def schedule(steps: int, states: int) -> Iterator[Action]:
    """Yield the actions that reverse steps from the last to the first, with ``states`` kept states. The first slot
    holds the initial state; one more slot, the last, holds a state when all others are occupied."""
    kept, end = [0], steps
    while end > 0:
        first, place = kept[-1], len(kept) - 1
        if end - first == 1:
            yield REVERSE, place, first, 0, 0
            end = first
            kept.pop()
        elif len(kept) < states:
            last = first + first_part(end - first, states - place)
            yield ADVANCE, place, first, last, place + 1
            kept.append(last)
        else:
            yield ADVANCE, place, first, end - 1, states
            yield REVERSE, states, end - 1, 0, 0
            end -= 1
