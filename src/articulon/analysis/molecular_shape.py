"""Shape of molecules: deviations, fluctuations, size, contacts, hydrogen bonds and secondary structure."""

from typing import Any, NamedTuple

import numpy as np

from articulon.analysis.molecular_runs import Reference, Series, conformations_of, needs_mdanalysis
from articulon.conformations.hydrogen_bonds import HydrogenBonds
from articulon.conformations.mdanalysis_universe import memory_universe
from articulon.conformations.native_contacts import NativeContacts
from articulon.conformations.secondary_structure import SecondaryStructure
from articulon.errors import ArticulonError
from articulon.fidelity.settling import SETTLED
from articulon.simulation.results import Run


class Fluctuations(NamedTuple):
    """Fluctuations of atoms about their mean positions."""

    labels: tuple[str, ...]
    """Chain, name and number of each residue."""
    values: np.ndarray
    """Fluctuation √⟨|x − ⟨x⟩|²⟩ of the atom CA or C4' of each residue [length], shape (residues,). For a residue
    without these atoms it is the root mean square over the fluctuations of its heavy atoms."""
    atom_labels: tuple[str, ...]
    """Chain, residue and name of each atom."""
    atom_values: np.ndarray
    """Fluctuation of each atom [length], shape (atoms,)."""


def rmsd(run: Run, reference: Reference | None = None, skip: float = 0.0) -> Series:
    """Return the root mean square deviation of the backbone from a reference over time [length], after superposition.

    The backbone is N, CA, C and O of peptides and their caps, and P, O5', C5', C4', C3' and O3' of nucleotides. For
    molecules without a backbone, all heavy atoms are used. All atoms have equal weights.

    Parameters
    ----------
    run
        A run of a molecule.
    reference
        Reference structure: a PDB or mmCIF file, or a structure; by default the first frame. Atoms are matched by
        chain, residue number and name.
    skip
        Fraction of frames to omit at the start.

    Raises
    ------
    ArticulonError
        For a run without molecules, or a reference that lacks the atoms.
    """
    seen = conformations_of(run, "rmsd", skip, reference)
    if seen.rmsd is None:
        raise ArticulonError("rmsd: superposition needs at least three atoms")
    return Series(seen.times, seen.rmsd)


def rmsf(run: Run, skip: float = SETTLED) -> Fluctuations:
    """Return the root mean square fluctuations of residues and atoms about their mean positions [length].

    The backbones of all frames are first superposed on their mean structure. Raises the same errors as :func:`rmsd`.

    Parameters
    ----------
    run
        The run, in memory or in a folder.
    skip
        Fraction of the frames at the start that is left out.
    """
    seen = conformations_of(run, "rmsf", skip)
    residues = tuple(seen.atoms.residue_label(r) for r in range(len(seen.atoms.residue_names)))
    labels = tuple(seen.atoms.label(a) for a in range(len(seen.atoms)))
    return Fluctuations(residues, seen.rmsf, labels, seen.atom_rmsf)


def radius_of_gyration(run: Run, skip: float = 0.0) -> Series:
    """Return the radius of gyration √(Σ m |x − x_c|²/Σ m) of all molecules except water and ions over time [length].

    Raises the same errors as :func:`rmsd`.

    Parameters
    ----------
    run
        The run, in memory or in a folder.
    skip
        Fraction of the frames at the start that is left out.
    """
    seen = conformations_of(run, "radius_of_gyration", skip)
    return Series(seen.times, seen.radius_of_gyration)


def end_to_end_distance(run: Run, skip: float = 0.0) -> Series:
    """Return the end-to-end distance of the longest chain over time [length].

    It is the distance between the atoms CA (or C4') of the first and the last residue. Raises the errors of
    :func:`rmsd`, and ArticulonError if there is no chain of two residues.

    Parameters
    ----------
    run
        The run, in memory or in a folder.
    skip
        Fraction of the frames at the start that is left out.
    """
    seen = conformations_of(run, "end_to_end_distance", skip)
    if seen.end_to_end is None:
        raise ArticulonError("end_to_end_distance: there is no chain of two residues with CA or C4'")
    return Series(seen.times, seen.end_to_end)


def native_contacts(run: Run, reference: Reference | None = None, skip: float = 0.0) -> NativeContacts:
    """Return the fraction Q of native contacts over time. Native contacts are those of a reference structure.

    Contacts are pairs of heavy atoms within 0.45 nm of each other in the reference, from different molecules or from
    residues more than three apart. A contact of distance r counts as 1/(1 + exp(β (r − λ r₀))), where r₀ is its
    distance in the reference, β = 50/nm and λ = 1.8 (Best, Hummer and Eaton, Proc. Natl. Acad. Sci. USA 110, 17874,
    2013). Raises the
    errors of :func:`rmsd`, and ArticulonError for a reference without contacts.

    Parameters
    ----------
    run
        The run, in memory or in a folder.
    reference
        Structure with the native contacts, or its file; by default the first frame.
    skip
        Fraction of the frames at the start that is left out.
    """
    seen = conformations_of(run, "native_contacts", skip, reference)
    if seen.native_contacts is None:
        raise ArticulonError("native_contacts: the reference has no contacts of residues more than three apart")
    return seen.native_contacts


def secondary_structure(run: Run, skip: float = 0.0) -> SecondaryStructure:
    """Return the secondary structure of each residue over time: helix, strand or loop.

    ``MDAnalysis.analysis.dssp`` assigns it by DSSP (Kabsch and Sander, Biopolymers 22, 2577, 1983). Raises the errors
    of :func:`rmsd`, and ArticulonError if MDAnalysis is not installed or there is no peptide.

    Parameters
    ----------
    run
        The run, in memory or in a folder.
    skip
        Fraction of the frames at the start that is left out.
    """
    seen = conformations_of(run, "secondary_structure", skip)
    try:
        found = seen.secondary_structure
    except ImportError:
        raise needs_mdanalysis("secondary_structure") from None
    if found is None:
        raise ArticulonError(
            "secondary_structure: there are no residues with N, CA, C and O, or there are more than 3000 of them"
        )
    return found


def hydrogen_bonds(run: Run, skip: float = 0.0) -> HydrogenBonds:
    """Return the hydrogen bonds within and between molecules over time, without those of water and ions.

    A bond exists if the acceptor is within 0.35 nm of the donor and the angle at the hydrogen is at least 150°;
    ``MDAnalysis.analysis.hydrogenbonds`` finds them. Raises the errors of :func:`rmsd`, and ArticulonError if
    MDAnalysis is not installed.

    Parameters
    ----------
    run
        The run, in memory or in a folder.
    skip
        Fraction of the frames at the start that is left out.
    """
    try:
        return conformations_of(run, "hydrogen_bonds", skip).hydrogen_bonds
    except ImportError:
        raise needs_mdanalysis("hydrogen_bonds") from None


def universe(run: Run, skip: float = 0.0) -> Any:
    """Return the molecules of a run, without water and ions, as an ``MDAnalysis.Universe`` in memory.

    Its lengths are in ångströms. Raises the errors of :func:`rmsd`, and ArticulonError if MDAnalysis is not installed.

    Parameters
    ----------
    run
        The run, in memory or in a folder.
    skip
        Fraction of the frames at the start that is left out.
    """
    seen = conformations_of(run, "universe", skip)
    try:
        return memory_universe(seen.atoms, seen.times, seen.positions, seen.model.box, seen.scales)
    except ImportError:
        raise needs_mdanalysis("universe") from None
