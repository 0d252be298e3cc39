"""Memory of the criteria between decisions, as parts of ``State.resolution.criteria``."""

import numpy as np

DECISIONS, LOCKS, RELEASES, CHANGES, SAVED = range(5)
"""Indices of: decisions made, joints locked, joints released, decisions with a change, and the sum over the steps so
far of the number of locked speeds."""
HEAD = 8
HELD_LOCK, HELD_RELEASE, SINCE, SHORT = range(4)
"""Columns of a joint: successive decisions at which its condition to lock, or to release, held; the time of its last
change; and the number of successive changes that came as early as possible."""
COLUMNS = 4


def size(managed: int) -> int:
    """Size of the memory for this many joints."""
    return HEAD + COLUMNS * managed


def rows(criteria: np.ndarray) -> np.ndarray:
    """Rows of the joints, a view (joints, 4)."""
    return criteria[HEAD:].reshape(-1, COLUMNS)
