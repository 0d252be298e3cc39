"""Polymer chains of a model: the sites that are their beads, in the order of the chains."""

from dataclasses import dataclass

import numpy as np

from articulon.model.freezing import Frozen


@dataclass(frozen=True, eq=False)
class PolymerChains(Frozen):
    """Beads of chains, one chain after the other. The beads of linear chains and rings follow the backbone; those of
    branched chains are in any order."""

    site: np.ndarray
    """Site of each bead, shape (beads,)."""
    first: np.ndarray
    """Start of each chain in ``site``, and the number of beads as the last entry, shape (chains + 1,)."""
    ring: np.ndarray
    """Whether a chain's last bead is bonded to its first, shape (chains,)."""
    branched: np.ndarray
    """Whether a chain is branched, shape (chains,)."""

    def __len__(self) -> int:
        return self.first.size - 1


def joined_chains(parts: list[PolymerChains]) -> PolymerChains | None:
    """Concatenate several sets of chains; return None if there are no chains."""
    if len(parts) <= 1:
        return parts[0] if parts else None
    starts = np.cumsum([0, *(part.site.size for part in parts)])
    firsts = [part.first[:-1] + start for part, start in zip(parts, starts[:-1], strict=True)]
    return PolymerChains(
        np.concatenate([part.site for part in parts]),
        np.concatenate([*firsts, starts[-1:]]),
        np.concatenate([part.ring for part in parts]),
        np.concatenate([part.branched for part in parts]),
    )
