"""Secondary structure by DSSP, computed by MDAnalysis."""

from typing import NamedTuple

import numpy as np

from articulon.conformations.backbones import NONE, Backbone
from articulon.model.atoms import Atoms

LETTERS = "-HE"
"""Letters for loop, helix and strand, in the order of MDAnalysis."""
SPACER = 6
"""Number of dummy residues between chains. It exceeds the widest turn of DSSP, so that no helix or ladder spans two
chains."""
FAR = 50.0
"""Distance of the dummy residues from all atoms [Å], which is longer than any hydrogen bond. Dummy residues have no
hydrogens to donate."""
MOST = 3000
"""Maximum number of residues: the memory of MDAnalysis's DSSP grows with their square."""


class SecondaryStructure(NamedTuple):
    """Secondary structure over time."""

    residue: np.ndarray
    """Number of each residue with N, CA, C and O, shape (residues,)."""
    labels: tuple[str, ...]
    """Chain, name and number of each residue."""
    times: np.ndarray
    """Times of the frames [time], shape (frames,)."""
    codes: np.ndarray
    """Codes 0 for loops, 1 for helices (α, 3₁₀ and π), 2 for strands, shape (frames, residues); ``letters`` has them as
    text."""

    @property
    def letters(self) -> tuple[str, ...]:
        """A string of ``-``, ``H`` and ``E`` for each frame."""
        return tuple("".join(LETTERS[c] for c in row) for row in self.codes.tolist())

    @property
    def fractions(self) -> np.ndarray:
        """Fractions of the residues in loops, helices and strands, shape (frames, 3)."""
        return np.stack([(self.codes == k).mean(axis=1) for k in range(3)], axis=1)


def secondary_structure(
    atoms: Atoms, backbone: Backbone, times: np.ndarray, positions: np.ndarray
) -> SecondaryStructure | None:
    """Secondary structure at positions (frames, atoms, 3) [nm]; None without a residue that has N, CA, C and O, and for
    more than :data:`MOST` residues.

    ``MDAnalysis.analysis.dssp`` finds hydrogen bonds between backbones and their patterns as defined by Kabsch and
    Sander (Biopolymers 22, 2577, 1983), in three classes. Amide hydrogens are those of the model. Chains are kept
    separate.

    Raises
    ------
    ImportError
        If MDAnalysis is missing.
    """
    from MDAnalysis.analysis.dssp.pydssp_numpy import assign

    whole = np.flatnonzero(backbone.o != NONE)
    if not whole.size or whole.size > MOST:
        return None
    place = _places(backbone, whole)
    size = int(place[-1]) + 1 + SPACER
    donors = np.zeros(size)
    donors[place] = backbone.h[whole] != NONE
    columns = np.stack([backbone.n, backbone.ca, backbone.c, backbone.o, backbone.h], axis=1)[whole]
    rows = np.empty((len(positions), whole.size), dtype=np.int8)
    for k, x in enumerate(positions):
        filled = np.full((size, 5, 3), 10.0 * x.max() + FAR)
        filled[place] = 10.0 * x[columns]
        rows[k] = np.argmax(assign(filled, donor_mask=donors)[place], axis=1)
    residue = backbone.residue[whole]
    return SecondaryStructure(residue, tuple(atoms.residue_label(r) for r in residue.tolist()), times, rows)


def _places(backbone: Backbone, whole: np.ndarray) -> np.ndarray:
    """Positions of residues in the list for DSSP, with dummy residues at each end and between residues that are not
    bonded."""
    jumps = [SPACER]
    for one, other in zip(whole[:-1].tolist(), whole[1:].tolist(), strict=True):
        jumps.append(1 if int(backbone.following[one]) == other else 1 + SPACER)
    return np.cumsum(jumps)
