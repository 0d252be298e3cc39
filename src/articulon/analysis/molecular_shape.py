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
    """Fluctuation √⟨|x − ⟨x⟩|²⟩ of CA or C4', or its root mean square over the heavy atoms of residues without them
    [length], shape (residues,)."""
    atom_labels: tuple[str, ...]
    """Chain, residue and name of each atom."""
    atom_values: np.ndarray
    """Fluctuation of each atom [length], shape (atoms,)."""


def rmsd(run: Run, reference: Reference | None = None, skip: float = 0.0) -> Series:
    """Root mean square deviation of the backbone [length] over time, after superposition.

    The backbone is N, CA, C and O of peptides and their caps, and P, O5', C5', C4', C3' and O3' of nucleotides; for
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
    """Root mean square fluctuation of residues and atoms about their mean positions [length], after superposition of
    the backbone onto its mean. Arguments and errors are those of :func:`rmsd`.

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
    """Radius of gyration √(Σ m |x − x_c|²/Σ m) of all molecules except water and ions [length], over time. Arguments
    and errors are those of :func:`rmsd`.

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
    """Distance between CA or C4' of the first and the last residue of the longest chain [length], over time. Arguments
    are those of :func:`rmsd`; also raises ArticulonError if there is no chain of two residues.

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
    """Fraction Q of the contacts of a reference structure that are formed, over time.

    Contacts are pairs of heavy atoms within 0.45 nm of each other in the reference, from residues more than three apart
    or from different molecules. Each counts 1/(1 + exp(β (r − λ r₀))) with β = 50/nm and λ = 1.8 (Best, Hummer and
    Eaton, Proc. Natl. Acad. Sci. USA 110, 17874, 2013). Arguments are those of :func:`rmsd`; also raises ArticulonError
    for a reference without contacts.

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
    """Helices, strands and loops of each residue over time, by DSSP (Kabsch and Sander, Biopolymers 22, 2577, 1983) in
    ``MDAnalysis.analysis.dssp``. Arguments are those of :func:`rmsd`; also raises ArticulonError if MDAnalysis or a
    peptide is missing.

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
        raise ArticulonError("secondary_structure: there are no residues with N, CA, C and O, or more than 3000")
    return found


def hydrogen_bonds(run: Run, skip: float = 0.0) -> HydrogenBonds:
    """Hydrogen bonds within and between molecules, without water and ions, over time.

    A bond exists if the acceptor is within 0.35 nm of the donor and the angle at the hydrogen is at least 150°;
    ``MDAnalysis.analysis.hydrogenbonds`` finds them. Arguments are those of :func:`rmsd`; also raises ArticulonError if
    MDAnalysis is missing.

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
    """The molecules of a run, without water and ions, as an in-memory ``MDAnalysis.Universe`` for further analyses;
    lengths are in ångströms. Arguments are those of :func:`rmsd`; also raises ArticulonError if MDAnalysis is
    missing.

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
