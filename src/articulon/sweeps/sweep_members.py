"""The members of a sweep: their names, seeds and varied values."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from articulon.cases.case import Case
from articulon.cases.folder_names import SEED
from articulon.cases.overrides import checked_values, parts
from articulon.comparisons.variant_runs import combinations, label
from articulon.errors import CaseError
from articulon.inputs import seed as checked_seed
from articulon.inputs import shown, whole

LONGEST = 120
"""Largest length of the name of a member, which is also the name of its folder."""
MOST = 1_000_000
"""Largest number of members in a sweep."""


@dataclass(frozen=True)
class Member:
    """One run of a sweep."""

    name: str
    """Name of the member and its folder, such as ``"temperature=300K-seed=7"``."""
    seed: int
    """Seed of the member's random numbers."""
    values: Mapping[str, Any]
    """Values of the varied keys, by dotted key."""

    @property
    def overrides(self) -> dict[str, Any]:
        """Overrides that turn the sweep's case into the member's case."""
        return {**self.values, SEED: self.seed}

    @property
    def group(self) -> str:
        """Key of the group of members that differ only by their seeds."""
        return group_of(self.values)

    def case_of(self, case: Case) -> Case:
        """Return the member's case, given the case of the sweep."""
        return case.with_overrides(self.overrides)


def group_of(values: Mapping[str, Any]) -> str:
    """Return the key of the group of members with these values; equal keys mean the same group."""
    return json.dumps(values, sort_keys=True, default=str)


def seeds_of(seeds: int | Sequence[int]) -> tuple[int, ...]:
    """Return the seeds of a sweep: 1 to n for a number n, or the seeds in a list.

    Raises
    ------
    CaseError
        For an empty list, a seed that is listed twice, and values that are not seeds.
    """
    seeds = seeds.tolist() if isinstance(seeds, np.ndarray) else seeds
    if isinstance(seeds, str | bytes) or not isinstance(seeds, Sequence):
        return tuple(range(1, whole(seeds, "seeds", least=1, most=MOST, error=CaseError) + 1))
    found = tuple(checked_seed(one, "seeds", CaseError) for one in seeds)
    if not found:
        raise CaseError("seeds: expected a number of seeds, or a list of them, got an empty list")
    if len(set(found)) < len(found):
        raise CaseError(f"seeds: {shown(list(found))} has a seed twice, so both members would be the same run")
    return found


def members_of(case: Case, seeds: Sequence[int], vary: Mapping[str, Sequence[Any]] | None) -> list[Member]:
    """Return the members of a sweep: every combination of the values with every seed, with seeds varying fastest.

    Parameters
    ----------
    case
        The case of the sweep.
    seeds
        Seeds of each combination.
    vary
        Lists of values by dotted key. Without values, the only combination is the case itself.

    Raises
    ------
    CaseError
        For a key or value that the case cannot have, for values that are listed twice, and for too many members.
    """
    varied = checked_values({} if vary is None else vary)
    for key, values in varied.items():
        if parts(key) == parts(SEED):
            raise CaseError(f"vary: {SEED} belongs in seeds: seeds={len(values)}, or a list of them")
        if len({json.dumps(value, sort_keys=True) for value in values}) < len(values):
            raise CaseError(f"vary: {key}: {shown(values)} has a value twice, so both would be the same run")
    chosen = combinations(varied)
    if len(chosen) * len(seeds) > MOST:
        raise CaseError(f"the sweep would have {len(chosen) * len(seeds):,} members; the limit is {MOST:,}")
    for one in chosen:
        case.with_overrides({**one, SEED: seeds[0]})
    found = [(_name({**one, SEED: seed}), seed, one) for one in chosen for seed in seeds]
    names = [name for name, _, _ in found]
    twice = {name for name in names if names.count(name) > 1} if len(set(names)) < len(names) else set()
    return [
        Member(_digits(name, {**one, SEED: seed}) if name in twice else name, seed, one) for name, seed, one in found
    ]


def _name(overrides: Mapping[str, Any]) -> str:
    name = label(overrides)
    return _digits(name, overrides) if len(name.encode()) > LONGEST else name


def _digits(name: str, overrides: Mapping[str, Any]) -> str:
    """Return a name with a suffix that distinguishes it from equal names of other members and from shortened names."""
    digest = hashlib.sha256(json.dumps(overrides, sort_keys=True, default=str).encode()).hexdigest()[:8]
    return f"{name.encode()[: LONGEST - 9].decode(errors='ignore')}-{digest}"
