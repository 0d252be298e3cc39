"""The study of damaged runs, in short: every kind of damage once, and some more of each."""

from __future__ import annotations

import pytest

from validation import damage

COUNT = 30


@pytest.mark.slow
def test_a_damaged_run_is_refused_by_name_or_ends_on_the_same_bits() -> None:
    found = list(damage.outcomes(seed=5, count=COUNT))
    assert len(found) == COUNT
    for one in found:
        assert one.good, f"{one.end}: {one.run.file}, {one.run.what}: {one.said}"
    ends = [one.end for one in found]
    assert damage.SAME in ends and damage.REFUSED in ends
    # A trajectory that has been touched is never taken.
    assert all(one.end == damage.REFUSED for one in found if one.run.file == damage.TRAJECTORY)


@pytest.mark.slow
def test_equal_seeds_give_equal_damage() -> None:
    first, second = ([run.what for run in damage.damaged_runs(seed=6, count=6)] for _ in range(2))
    assert first == second
    assert len(set(first)) == 6
