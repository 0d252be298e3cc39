"""Part of the model builder that declares sites as atoms of molecules or beads of polymer chains."""

from typing import Any

import numpy as np

from articulon.building.sites import SiteBuilder
from articulon.errors import ModelError
from articulon.inputs import shown
from articulon.model.atoms import Atoms
from articulon.model.polymer_chains import PolymerChains


class NamedSiteBuilder(SiteBuilder):
    """Builder mixin for atoms and polymer chains."""

    def __init__(self) -> None:
        super().__init__()
        self._atoms: list[Atoms] = []
        self._chains: list[PolymerChains] = []

    def add_atoms(self, atoms: Atoms) -> None:
        """Declare which sites are atoms, with their names; see ``Model.atoms``. The sites must have been added before.

        Parameters
        ----------
        atoms
            The atoms, each at a site of this builder, and the torsions of bodies.

        Raises
        ------
        ModelError
            For an argument that is not ``Atoms``, and for a site or a body that has not been added.
        """
        if not isinstance(atoms, Atoms):
            raise ModelError(f"add_atoms: expected atoms, got {shown(atoms)}")
        if atoms.site.size and not 0 <= atoms.site.min() <= atoms.site.max() < self._site_count:
            raise ModelError("add_atoms: an atom is on a site that has not been added; add the sites first")
        if any(not 0 <= body < len(self._names) for body in (*atoms.torsions, *atoms.dihedrals)):
            raise ModelError("add_atoms: a torsion belongs to a body that has not been added; add the bodies first")
        self._atoms.append(atoms)

    def add_chains(self, sites: Any, first: Any, ring: Any = False, branched: Any = False) -> None:
        """Declare which sites are beads of polymer chains; see ``Model.chains``. The sites must have been added before.

        Parameters
        ----------
        sites
            Indices of the beads, chain after chain, along the backbone of linear chains and rings, shape (beads,).
        first
            Index in ``sites`` of the first bead of each chain, followed by the total number of beads, shape (chains +
            1,).
        ring, branched
            Whether a chain is closed, and whether it is branched; one value for all chains, or shape (chains,).

        Raises
        ------
        ModelError
            For sites that have not been added, or for indices ``first`` that do not divide ``sites`` into chains.
        """
        beads, offsets = np.array(sites), np.array(first)
        if beads.ndim != 1 or beads.dtype.kind not in "iu" or np.unique(beads).size != beads.size:
            raise ModelError("add_chains: expected a one-dimensional array of site numbers without repetition")
        if beads.size and not 0 <= beads.min() <= beads.max() < self._site_count:
            raise ModelError("add_chains: a bead is a site that has not been added; add the sites first")
        row = offsets.ndim == 1 and offsets.dtype.kind in "iu" and offsets.size > 1
        if not row or offsets[0] != 0 or offsets[-1] != beads.size or (np.diff(offsets) < 1).any():
            raise ModelError(
                f"add_chains, first: expected offsets from 0 to {beads.size}, each larger than the one before"
            )
        count = offsets.size - 1
        flags = [np.broadcast_to(np.array(one, dtype=bool), (count,)).copy() for one in (ring, branched)]
        self._chains.append(PolymerChains(beads.astype(np.int64), offsets.astype(np.int64), *flags))
