"""What criteria keep from decision to decision, as parts of ``State.resolution.criteria``."""

import numpy as np

DECISIONS, LOCKS, RELEASES, CHANGES, SAVED = range(5)
"""Places of: decisions made, joints locked, joints released, decisions at which something changed, and the sum over
the steps so far of the number of speeds that were locked."""
HEAD = 8
HELD_LOCK, HELD_RELEASE, SINCE, SHORT = range(4)
"""Of a joint: decisions in a row at which its condition to lock, or to release, has held; the time of its last change;
and how many changes in a row came as soon as they could."""
COLUMNS = 4


def size(managed: int) -> int:
    """Numbers for so many joints."""
    return HEAD + COLUMNS * managed


def rows(criteria: np.ndarray) -> np.ndarray:
    """Those of the joints, a view (joints, 4)."""
    return criteria[HEAD:].reshape(-1, COLUMNS)
