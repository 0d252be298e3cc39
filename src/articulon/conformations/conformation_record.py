"""What the molecules of a run do, each thing computed when it is first asked for."""

from functools import cached_property

import numpy as np

from articulon.conformations import backbone_torsions as torsions
from articulon.conformations.backbones import Backbone, alignment_atoms, backbone_of, ends, residue_atoms
from articulon.conformations.chosen_atoms import chosen_atoms, positions_of, solute
from articulon.conformations.hydrogen_bonds import HydrogenBonds, hydrogen_bonds
from articulon.conformations.native_contacts import NativeContacts, native_contacts
from articulon.conformations.secondary_structure import SecondaryStructure, secondary_structure
from articulon.conformations.superposition import (
    about_mean,
    fluctuations,
    pairwise_deviations,
    radii_of_gyration,
    root_mean_square_deviation,
    superposed,
)
from articulon.model import Model
from articulon.model.atoms import Atoms

FRAMES = 500
"""Frames that a summary and a report look at, at most: more than these differ little from each other."""
NUMBERS = 60_000_000
"""Coordinates of atoms that are held at once, at most."""
PAIRED = 250
"""Frames of which every two are laid upon each other, at most."""


class Conformations:
    """The molecules of a run in some of its frames: everything but water and ions.

    Parameters
    ----------
    model
        Its model, which has atoms.
    times
        Of all frames [ps], shape (frames,).
    q
        Coordinates of all frames, shape (frames, nq).
    reference
        Places of the solute's atoms that they are compared with [nm], shape (atoms, 3), not a number where they are not
        known; those of the first frame by default.
    first
        The first frame that is looked at.
    most
        How many are looked at at most, evenly from the first to the last; None for all that memory has room for.
    """

    def __init__(
        self,
        model: Model,
        times: np.ndarray,
        q: np.ndarray,
        *,
        reference: np.ndarray | None = None,
        first: int = 0,
        most: int | None = FRAMES,
    ) -> None:
        assert model.atoms is not None
        self.model = model
        chosen = solute(model.atoms)
        self.atoms: Atoms = chosen_atoms(model.atoms, chosen)
        """The atoms that are looked at, with residues and bonds of their own numbers."""
        fitting = max(2, NUMBERS // max(1, 3 * len(self.atoms)))
        self.frames = some_frames(len(times), first, min(fitting, most or fitting))
        """Numbers of the frames, shape (looked at,)."""
        self.times = np.asarray(times, dtype=float)[self.frames]
        self.all_times, self.all_q = times, q
        self._given = reference

    @cached_property
    def positions(self) -> np.ndarray:
        """[nm], shape (looked at, atoms, 3)."""
        return positions_of(self.model, np.asarray(self.all_q)[self.frames], self.atoms.site)

    @cached_property
    def reference(self) -> np.ndarray:
        """What structures are compared with [nm], shape (atoms, 3)."""
        if self._given is not None:
            return self._given
        return positions_of(self.model, np.asarray(self.all_q)[:1], self.atoms.site)[0]

    @cached_property
    def backbone(self) -> Backbone:
        """The peptide backbones."""
        return backbone_of(self.atoms)

    @cached_property
    def aligned(self) -> np.ndarray:
        """Atoms that are laid upon each other, where their places in the reference are known, shape (chosen,)."""
        chosen = alignment_atoms(self.atoms)
        return chosen[np.isfinite(self.reference[chosen]).all(axis=1)]

    @cached_property
    def rmsd(self) -> np.ndarray | None:
        """Deviation of the backbone from the reference after superposition [nm], shape (looked at,); None for fewer
        than three atoms."""
        if self.aligned.size < 3:
            return None
        return root_mean_square_deviation(self.positions, self.reference, self.aligned)

    @cached_property
    def laid(self) -> np.ndarray:
        """Positions with the backbone laid upon its mean [nm], shape (looked at, atoms, 3)."""
        return about_mean(self.positions, alignment_atoms(self.atoms))

    @cached_property
    def atom_rmsf(self) -> np.ndarray:
        """Fluctuation of each atom about its mean place after superposition [nm], shape (atoms,)."""
        return fluctuations(self.laid)

    @cached_property
    def rmsf(self) -> np.ndarray:
        """Fluctuation of each residue, that of CA or C4' or the root mean square over heavy atoms [nm], shape
        (residues,)."""
        squares = self.atom_rmsf**2
        return np.array([np.sqrt(squares[own].mean()) for own in residue_atoms(self.atoms)])

    @cached_property
    def radius_of_gyration(self) -> np.ndarray:
        """[nm], shape (looked at,)."""
        return radii_of_gyration(self.positions, self.atoms.masses)

    @cached_property
    def end_to_end(self) -> np.ndarray | None:
        """Distance between the ends of the longest chain [nm], shape (looked at,); None without a chain."""
        found = ends(self.atoms)
        if found is None:
            return None
        return np.asarray(np.linalg.norm(self.positions[:, found[1]] - self.positions[:, found[0]], axis=1))

    @cached_property
    def backbone_torsions(self) -> torsions.BackboneTorsions | None:
        """φ and ψ; None without a peptide."""
        if not self.backbone.residue.size:
            return None
        return torsions.backbone_torsions(self.atoms, self.backbone, self.times, self.positions)

    @cached_property
    def joint_torsions(self) -> torsions.JointTorsions:
        """The torsions that are coordinates."""
        return torsions.joint_torsions(self.model, np.asarray(self.all_q)[self.frames])

    @cached_property
    def native_contacts(self) -> NativeContacts | None:
        """Contacts of the reference that are kept; None where it has none."""
        return native_contacts(self.atoms, self.reference, self.times, self.positions)

    @cached_property
    def secondary_structure(self) -> SecondaryStructure | None:
        """By DSSP; None without a peptide. Raises ImportError where MDAnalysis is missing."""
        return secondary_structure(self.atoms, self.backbone, self.times, self.positions)

    @cached_property
    def hydrogen_bonds(self) -> HydrogenBonds:
        """Raises ImportError where MDAnalysis is missing."""
        return hydrogen_bonds(self.atoms, self.times, self.positions, self.model.box)

    def deviations(self, some: np.ndarray) -> np.ndarray:
        """Least deviation of the backbone between every two of some of the frames looked at [nm]."""
        return pairwise_deviations(self.positions[some][:, alignment_atoms(self.atoms)])

    def upon(self, target: np.ndarray, positions: np.ndarray) -> np.ndarray:
        """Positions (frames, atoms, 3) laid upon a structure (atoms, 3) by the backbone."""
        return superposed(positions, target, alignment_atoms(self.atoms))


def some_frames(frames: int, first: int, most: int) -> np.ndarray:
    """Numbers of at most so many frames, evenly from the first to the last."""
    there = max(0, frames - first)
    return first + np.unique(np.linspace(0, max(0, there - 1), min(most, there)).round().astype(np.int64))
