"""Schedule of the states that are kept while steps are reversed: binomial checkpointing (Griewank and Walther, ACM
Trans. Math. Softw. 26, 19, 2000). For a given number of kept states, it repeats the smallest possible number of steps.

With s kept states, at most β(s, t) steps can be reversed if no step is taken more than t times before it is reversed;
β(s, t) is the binomial coefficient "s + t over s".
"""

from collections.abc import Iterator

from articulon.sensitivities.stepping import ADVANCE, REVERSE

Action = tuple[int, int, int, int, int]
"""One action: its kind, the slot of the state where it starts, and the step number of this state. If the action takes
steps, the last two numbers are the step at which it ends and the slot in which the state there is kept."""


def first_part(steps: int, states: int) -> int:
    """Return how many of ``steps`` steps to take before the next state is kept. ``states`` states can be kept,
    including the state at the start of these steps."""
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
    contains the initial state. One additional slot, the last, is used when all others are occupied."""
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
