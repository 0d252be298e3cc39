"""Locking and releasing over 500 random transitions each of rigid and of flexible bodies, half of them with loops: what
must hold for any model, and whether a search from twenty starts finds speeds that are better than those chosen.

    python -m validation.transitions

takes about six minutes and rewrites its section of docs/validation.md. `tests/identities/test_transitions.py`
checks the same with fewer transitions and starts.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from articulon.kernels import one_blas_thread
from tests.identities.test_transitions import check
from tests.support.flexible_models import random_flexible_situation
from tests.support.transition_models import random_situation
from validation.page import table, write_section

COUNT, STARTS = 500, 20
KINDS: dict[str, tuple[Callable[[np.random.Generator], Any], list[Any]]] = {
    "rigid": (random_situation, [[part, 66] for part in range(10)]),
    "flexible": (random_flexible_situation, [32]),
}
"""What is drawn, and the seeds, each of which draws an equal part."""
COLUMNS = {
    "momentum": "projected momentum",
    "energy": "energy",
    "back": "speeds after lock and release",
    "dense": "speeds by the mass matrix",
    "search": "best search",
}


def row(kind: str) -> list[str]:
    """The largest differences of a kind; a bound that does not hold ends the program."""
    situation, seeds = KINDS[kind]
    worst = dict.fromkeys(COLUMNS, 0.0)
    for seed in seeds:
        rng = np.random.default_rng(seed)
        for _ in range(COUNT // len(seeds)):
            found = check(situation(rng), rng, starts=STARTS)
            worst = {what: max(worst[what], found[what]) for what in COLUMNS}
    return [kind, str(COUNT), *(f"{worst[what]:.1e}" for what in COLUMNS)]


def main() -> None:
    began = time.perf_counter()
    with one_blas_thread():  # for matrices so small more of them only wait for each other
        rows = [row(kind) for kind in KINDS]
    write_section(
        "transitions",
        f"""
## Locking and releasing

`python -m validation.transitions`, {time.perf_counter() - began:.0f} s. In random forests of bodies, half of them with
loops, some joint axes are locked and then released, once with each built-in `choice` of the released speeds
([transitions](transitions.md)). The table gives the largest relative errors of four kinds:

- the change of the momentum, projected on the coarse motions;
- the error of the energy;
- the difference between the speeds before a lock and the speeds after a release from the reservoir of this lock;
- the difference between the released speeds and the speeds computed with the dense mass matrix.

The column "best search" gives the largest improvement of a choice's objective that SciPy's SLSQP found from {STARTS}
starts.

{table(["bodies", "transitions", *COLUMNS.values()], rows)}
""",
    )


if __name__ == "__main__":
    main()
