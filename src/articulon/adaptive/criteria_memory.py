"""Memory of the criteria between decisions, stored in ``State.resolution.criteria``."""

import numpy as np

DECISIONS, LOCKS, RELEASES, CHANGES, SAVED = range(5)
"""Indices of numbers in the memory: decisions made, joints locked, joints released, decisions with a change, and the
sum over all steps of the number of locked speeds."""
HEAD = 8
HELD_LOCK, HELD_RELEASE, SINCE, SHORT = range(4)
"""Columns of the row of a joint. The first two are the numbers of successive decisions at which its lock condition and
its release condition were true. The others are the time of its last change, and the number of successive changes that
happened as early as possible."""
COLUMNS = 4


def size(managed: int) -> int:
    """Return the size of the memory for a number of joints."""
    return HEAD + COLUMNS * managed


def rows(criteria: np.ndarray) -> np.ndarray:
    """Return the rows of the joints as a view, shape (joints, 4)."""
    return criteria[HEAD:].reshape(-1, COLUMNS)
