"""Assignment of beads to chains, and their order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from articulon.errors import ArticulonError

KINDS = ("linear", "ring", "branched")
"""Architectures of chains."""


class ChainGroup(NamedTuple):
    """Chains of one architecture and one length."""

    kind: str
    """Architecture, ``linear`` or ``ring``."""
    chain: np.ndarray
    """Numbers of the chains, shape (group,)."""
    bead: np.ndarray
    """Columns of their beads in order along the backbone, shape (group, beads per chain)."""


@dataclass(frozen=True, eq=False)
class Chains:
    """The chains of a system: their beads, chain after chain.

    Linear chains and rings list their beads in order along the backbone; the last bead of a ring is bonded to its
    first. Branched molecules list their beads in any order. They contribute only to quantities that do not depend on
    the order: centres of mass, radii of gyration and radial distributions.

    Raises
    ------
    ArticulonError
        For offsets that do not divide the beads into nonempty chains, repeated or negative beads, a ring of fewer than
        three beads, or a chain that is both a ring and branched.
    """

    bead: np.ndarray
    """Column of each bead in the positions, chain after chain, shape (beads of chains,)."""
    first: np.ndarray
    """Index in ``bead`` of the first bead of each chain, followed by the number of beads, shape (chains + 1,)."""
    ring: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=bool))
    """Whether each chain is closed, shape (chains,); by default none is."""
    branched: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=bool))
    """Whether each chain is branched, shape (chains,); by default none is."""

    def __post_init__(self) -> None:
        bead, first = _whole_numbers(self.bead, "bead"), _whole_numbers(self.first, "first")
        if first.size < 2 or first[0] != 0 or first[-1] != bead.size or (np.diff(first) < 1).any():
            raise ArticulonError(
                "chains, first: expected offsets that start with 0, increase by at least 1 and end with the "
                f"{bead.size} beads of 'bead'"
            )
        if bead.min() < 0 or np.unique(bead).size < bead.size:
            raise ArticulonError("chains, bead: expected column numbers of at least 0, each of them only once")
        count = first.size - 1
        flags = {}
        for name in ("ring", "branched"):
            given = np.asarray(getattr(self, name))
            given = np.zeros(count, dtype=bool) if given.size == 0 else given
            if given.shape != (count,) or given.dtype != np.bool_:
                raise ArticulonError(f"chains, {name}: expected true or false for each of the {count} chains")
            flags[name] = given.copy()
        short = flags["ring"] & (np.diff(first) < 3)
        if short.any():
            raise ArticulonError(f"chains, ring: chain {int(np.argmax(short))} has fewer than three beads")
        both = flags["ring"] & flags["branched"]
        if both.any():
            raise ArticulonError(
                f"chains: chain {int(np.argmax(both))} is a ring and branched; declare it as branched only"
            )
        for name, values in {"bead": bead, "first": first, **flags}.items():
            values.flags.writeable = False
            object.__setattr__(self, name, values)

    @classmethod
    def of_equal_length(cls, chains: int, beads: int, ring: bool = False) -> Chains:
        """Return chains that all have the same number of beads, in consecutive columns."""
        return cls(np.arange(chains * beads), np.arange(chains + 1) * beads, np.full(chains, ring))

    def __len__(self) -> int:
        return self.first.size - 1

    @cached_property
    def length(self) -> np.ndarray:
        """Number of beads of each chain, shape (chains,)."""
        return np.diff(self.first)

    @cached_property
    def kind(self) -> np.ndarray:
        """Architecture of each chain, one of :data:`KINDS`, shape (chains,)."""
        return np.where(self.branched, "branched", np.where(self.ring, "ring", "linear"))

    @cached_property
    def kinds(self) -> tuple[str, ...]:
        """Architectures that occur among the chains."""
        return tuple(kind for kind in KINDS if (self.kind == kind).any())

    @cached_property
    def ordered(self) -> np.ndarray:
        """Numbers of the chains whose beads have an order, linear chains and rings, shape (ordered,)."""
        return np.flatnonzero(~self.branched)

    @cached_property
    def owner(self) -> np.ndarray:
        """Number of the chain of each entry of ``bead``, shape (beads of chains,)."""
        return np.repeat(np.arange(len(self)), self.length)

    def equal_groups(self, chosen: np.ndarray | None = None) -> Iterator[ChainGroup]:
        """Yield the linear chains and rings in groups of equal architecture and length; ``chosen`` limits them to
        chains of the given numbers."""
        numbers = self.ordered if chosen is None else chosen[~self.branched[chosen]]
        for kind in ("linear", "ring"):
            own = numbers[self.kind[numbers] == kind]
            for beads in np.unique(self.length[own]).tolist():
                chain = own[self.length[own] == beads]
                yield ChainGroup(kind, chain, self.bead[self.first[chain][:, None] + np.arange(beads)])


def _whole_numbers(given: object, name: str) -> np.ndarray:
    values = np.asarray(given)
    if values.ndim != 1 or values.dtype.kind not in "iu" or not values.size:
        raise ArticulonError(f"chains, {name}: expected whole numbers in one row, got an array of shape {values.shape}")
    return values.astype(np.int64)
