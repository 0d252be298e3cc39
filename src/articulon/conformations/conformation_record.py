"""Conformations of the molecules of a run; each quantity is computed on first use."""

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
"""Maximum number of frames used by a summary and a report; additional frames would add little information."""
NUMBERS = 60_000_000
"""Maximum number of atom coordinates held in memory."""
PAIRED = 250
"""Maximum number of frames for pairwise superposition."""


class Conformations:
    """The molecules of a run in some of its frames, without water and ions.

    Parameters
    ----------
    model
        Model of the run, which must have atoms.
    times
        Times of all frames [ps], shape (frames,).
    q
        Coordinates of all frames, shape (frames, nq).
    reference
        Reference positions of the solute's atoms [nm], shape (atoms, 3), NaN if unknown; by default those of the first
        frame.
    first
        First frame to use.
    most
        Maximum number of frames to use, evenly spaced from the first to the last; None for all that fit into memory.
    volumes
        Volume of the box in all frames [nm³]; its shape is constant. By default the volume is that of the model's box.
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
        volumes: np.ndarray | None = None,
    ) -> None:
        assert model.atoms is not None
        self.model = model
        chosen = solute(model.atoms)
        self.atoms: Atoms = chosen_atoms(model.atoms, chosen)
        """Atoms of the molecules; residues and bonds are renumbered."""
        fitting = max(2, NUMBERS // max(1, 3 * len(self.atoms)))
        self.frames = some_frames(len(times), first, min(fitting, most or fitting))
        """Numbers of the frames used, shape (frames used,)."""
        self.times = np.asarray(times, dtype=float)[self.frames]
        self.all_times, self.all_q = times, q
        self._given, self.volumes = reference, volumes

    @cached_property
    def positions(self) -> np.ndarray:
        """Positions [nm], shape (frames used, atoms, 3)."""
        return positions_of(self.model, np.asarray(self.all_q)[self.frames], self.atoms.site)

    @cached_property
    def reference(self) -> np.ndarray:
        """Reference positions [nm], shape (atoms, 3)."""
        if self._given is not None:
            return self._given
        return positions_of(self.model, np.asarray(self.all_q)[:1], self.atoms.site)[0]

    @cached_property
    def backbone(self) -> Backbone:
        """The peptide backbones."""
        return backbone_of(self.atoms)

    @cached_property
    def aligned(self) -> np.ndarray:
        """Atoms for superposition with known reference positions, shape (chosen,)."""
        chosen = alignment_atoms(self.atoms)
        return chosen[np.isfinite(self.reference[chosen]).all(axis=1)]

    @cached_property
    def rmsd(self) -> np.ndarray | None:
        """Deviation of the backbone from the reference after superposition [nm], shape (frames used,); None for fewer
        than three atoms."""
        if self.aligned.size < 3:
            return None
        return root_mean_square_deviation(self.positions, self.reference, self.aligned)

    @cached_property
    def laid(self) -> np.ndarray:
        """Positions with the backbone superposed on its mean [nm], shape (frames used, atoms, 3)."""
        return about_mean(self.positions, alignment_atoms(self.atoms))

    @cached_property
    def atom_rmsf(self) -> np.ndarray:
        """Fluctuation of each atom about its mean position after superposition [nm], shape (atoms,)."""
        return fluctuations(self.laid)

    @cached_property
    def rmsf(self) -> np.ndarray:
        """Fluctuation of each residue: that of CA or C4', or the root mean square over heavy atoms [nm], shape
        (residues,)."""
        squares = self.atom_rmsf**2
        return np.array([np.sqrt(squares[own].mean()) for own in residue_atoms(self.atoms)])

    @cached_property
    def radius_of_gyration(self) -> np.ndarray:
        """Radius of gyration [nm], shape (frames used,)."""
        return radii_of_gyration(self.positions, self.atoms.masses)

    @cached_property
    def end_to_end(self) -> np.ndarray | None:
        """Distance between the ends of the longest chain [nm], shape (frames used,); None without a chain."""
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
        """Torsions that are coordinates."""
        return torsions.joint_torsions(self.model, np.asarray(self.all_q)[self.frames])

    @cached_property
    def native_contacts(self) -> NativeContacts | None:
        """Fraction of the contacts of the reference that are formed; None if the reference has no contacts."""
        return native_contacts(self.atoms, self.reference, self.times, self.positions)

    @cached_property
    def secondary_structure(self) -> SecondaryStructure | None:
        """Secondary structure by DSSP; None without a peptide. Raises ImportError if MDAnalysis is missing."""
        return secondary_structure(self.atoms, self.backbone, self.times, self.positions)

    @cached_property
    def hydrogen_bonds(self) -> HydrogenBonds:
        """Hydrogen bonds. Raises ImportError if MDAnalysis is missing."""
        return hydrogen_bonds(self.atoms, self.times, self.positions, self.model.box, self.scales)

    @cached_property
    def scales(self) -> np.ndarray | None:
        """Scale of the box edges relative to those of the model, shape (frames used,); None if constant."""
        if self.volumes is None or self.model.box is None:
            return None
        return np.cbrt(np.asarray(self.volumes)[self.frames] / self.model.box.volume)

    def deviations(self, some: np.ndarray) -> np.ndarray:
        """Minimum deviation of the backbone between all pairs of some of the frames used [nm]."""
        return pairwise_deviations(self.positions[some][:, alignment_atoms(self.atoms)])

    def upon(self, target: np.ndarray, positions: np.ndarray) -> np.ndarray:
        """Return positions (frames, atoms, 3) superposed on a structure (atoms, 3) by the backbone."""
        return superposed(positions, target, alignment_atoms(self.atoms))


def some_frames(frames: int, first: int, most: int) -> np.ndarray:
    """Return the numbers of at most ``most`` frames, evenly spaced from the first to the last."""
    there = max(0, frames - first)
    return first + np.unique(np.linspace(0, max(0, there - 1), min(most, there)).round().astype(np.int64))
