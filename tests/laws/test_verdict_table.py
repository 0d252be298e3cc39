"""The short table of verdicts: twenty known problems and five random ones, each beside its unscaled run.

The long one, with a hundred and sixty random problems, is ``python -m validation.verdicts``.
"""

from __future__ import annotations

import pytest

from articulon.fidelity.verdict import TOLERANCE
from validation import verdicts
from validation.verdict_known import KNOWN
from validation.verdict_problems import random_problems
from validation.verdicts import rows

SEED, COUNT = 710_000, 5


@pytest.mark.slow
def test_no_run_is_trusted_beyond_its_tolerance_and_few_within_it_are_doubted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Slow: every problem is also integrated unscaled, with a hundredth of the tolerances, whose errors are below a
    millionth of what a verdict allows."""
    monkeypatch.setattr(verdicts, "TRUE", verdicts.TRUE | {"rtol": 1e-8, "atol": 1e-10})
    # Between frames true paths are cubics, of places and speeds: three for each of the run's are enough here.
    monkeypatch.setattr(verdicts, "TRUE_FRAMES", 600)
    found = list(rows([*KNOWN, *random_problems(SEED, COUNT)]))
    told = "\n".join(
        f"{row.problem.name} ({row.problem.kind}): {row.verdict}, in truth {row.error:.2%}; {row.told}"
        for row in found
        if not row.right
    )
    # Runs that do not stay finite have no row; they are few.
    assert len(found) >= len(KNOWN) + COUNT - 3
    assert {row.within for row in found} == {True, False}
    assert not [row for row in found if row.verdict == "trusted" and row.error >= TOLERANCE], told
    assert sum(row.within and row.verdict != "trusted" for row in found) <= 1, told
