"""Which states are kept while steps are reversed: binomial checkpointing (Griewank and Walther, ACM Trans. Math. Softw.
26, 19, 2000), which takes the fewest steps once more that a number of kept states allows.

With s kept states, so many steps as β(s, t) = (s + t over s) can be reversed where none is taken more than t times
before it is.
"""

from collections.abc import Iterator

from articulon.sensitivities.stepping import ADVANCE, REVERSE

Action = tuple[int, int, int, int, int]
"""What is done, the place of the state where it begins, its step, and of steps taken the last one and the place where
that state is kept."""


def first_part(steps: int, states: int) -> int:
    """How many of so many steps are taken before the next state is kept, where ``states`` can be, the one that they
    begin with among them."""
    times, whole, before, right = 0, 1, 0, 1  # t, β(s, t), β(s, t−1), β(s−1, t)
    earlier = 0  # β(s−1, t−1)
    while whole < steps:
        times += 1
        before, earlier = whole, right
        whole = whole * (states + times) // times
        right = right * (states - 1 + times) // times
    return min(before, steps - earlier)


def schedule(steps: int, states: int) -> Iterator[Action]:
    """What is done to reverse steps from the last to the first, with so many states kept: the first place is that of
    the initial state, and one more, the last, is where a state is that no other place is left for."""
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
