"""The members of a sweep: which runs it consists of, what they are called, and what makes them differ."""

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
"""Letters of a member's name at most: it is the name of its folder, and stands in tables."""
MOST = 1_000_000
"""Members of a sweep."""


@dataclass(frozen=True)
class Member:
    """One run of a sweep."""

    name: str
    """What it and its folder are called, such as ``"temperature=300K-seed=7"``."""
    seed: int
    """Its random numbers."""
    values: Mapping[str, Any]
    """Of the varied keys, by dotted key."""

    @property
    def overrides(self) -> dict[str, Any]:
        """What makes it of the case of the sweep."""
        return {**self.values, SEED: self.seed}

    @property
    def group(self) -> str:
        """What it has in common with the members that differ from it by their seeds alone."""
        return group_of(self.values)

    def case_of(self, case: Case) -> Case:
        """What it runs, given the case of the sweep."""
        return case.with_overrides(self.overrides)


def group_of(values: Mapping[str, Any]) -> str:
    """Which group of members has these values: equal texts, equal groups."""
    return json.dumps(values, sort_keys=True, default=str)


def seeds_of(seeds: int | Sequence[int]) -> tuple[int, ...]:
    """The seeds of a sweep: 1 to n for a number n, or those that are listed.

    Raises
    ------
    CaseError
        For what is neither, for none at all, and for a seed that is listed twice.
    """
    seeds = seeds.tolist() if isinstance(seeds, np.ndarray) else seeds
    if isinstance(seeds, str | bytes) or not isinstance(seeds, Sequence):
        return tuple(range(1, whole(seeds, "seeds", least=1, most=MOST, error=CaseError) + 1))
    found = tuple(checked_seed(one, "seeds", CaseError) for one in seeds)
    if not found:
        raise CaseError("seeds: expected a number of seeds, or a list of them, got an empty list")
    if len(set(found)) < len(found):
        raise CaseError(f"seeds: {shown(list(found))} has a seed twice, and both members would be one run")
    return found


def members_of(case: Case, seeds: Sequence[int], vary: Mapping[str, Sequence[Any]] | None) -> list[Member]:
    """The members of a sweep: every combination of the values with every seed, the seeds of one combination together.

    Parameters
    ----------
    case
        What is run.
    seeds
        Of the members of each combination.
    vary
        Values by dotted key; none for one combination, that of the case.

    Raises
    ------
    CaseError
        For a key or value that the case cannot have, values that are listed twice, and too many members.
    """
    varied = checked_values({} if vary is None else vary)
    for key, values in varied.items():
        if parts(key) == parts(SEED):
            raise CaseError(f"vary: {SEED} is what seeds are for: seeds={len(values)}, or a list of them")
        if len({json.dumps(value, sort_keys=True) for value in values}) < len(values):
            raise CaseError(f"vary: {key}: {shown(values)} has a value twice, and both would be one run")
    chosen = combinations(varied)
    if len(chosen) * len(seeds) > MOST:
        raise CaseError(f"a sweep of {len(chosen) * len(seeds):,} members is asked for; it may have {MOST:,}")
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
    """A name with what tells apart what reads alike, or was cut short."""
    digest = hashlib.sha256(json.dumps(overrides, sort_keys=True, default=str).encode()).hexdigest()[:8]
    return f"{name.encode()[: LONGEST - 9].decode(errors='ignore')}-{digest}"
