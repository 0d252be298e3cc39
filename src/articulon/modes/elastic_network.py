"""Modes of a molecule from the anisotropic network model: springs between all pairs of nearby nodes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, Protocol

import numpy as np
import scipy

from articulon.inputs import shown
from articulon.model.mode_checks import off_rigid_motion
from articulon.model.modes import Modes
from articulon.modes.eigen import local_rotations, lowest_modes
from articulon.modes.quantities import Reader

CENTRAL = ("CA", "P", "C4'", "C4*", "C")
"""Atoms that represent a residue, in this order of preference: Cα; phosphorus or sugar of a nucleotide; carbon of a
cap."""


class Molecule(Protocol):
    """The part of a structure that this module reads; see :class:`articulon.molecules.Structure`."""

    @property
    def names(self) -> tuple[str, ...]:
        """Name of each atom."""

    @property
    def residues(self) -> tuple[Any, ...]:
        """Residues with ``start``, ``stop`` and ``label``."""

    @property
    def positions(self) -> np.ndarray:
        """Positions of the atoms [nm], shape (atoms, 3)."""

    @property
    def masses(self) -> np.ndarray:
        """Masses of the atoms [Da], shape (atoms,)."""

    def label(self, atom: int) -> str:
        """Return the name of an atom for messages."""


def elastic_network(
    structure: Molecule | None = None,
    *,
    positions: Any = None,
    masses: Any = None,
    cutoff: Any,
    spring_constant: Any,
    modes: int,
    nodes: Literal["residues", "atoms"] = "residues",
    residues: Sequence[int] | None = None,
    handle: int = 0,
    damping_ratio: float = 0.0,
    largest: float = 0.1,
    units: str | None = None,
) -> Modes:
    """Compute the lowest modes of the anisotropic network model, free of rigid motion.

    Springs with one constant γ connect all pairs of nodes closer than the cutoff, and are at rest in the given
    structure:
    U = ½ γ Σ (|r_ij| − |r°_ij|)² (Atilgan et al., Biophys. J. 80, 505, 2001). The modes are those of the second
    derivative of U with the masses of the nodes, scaled to a largest displacement of one. The rotation of a node is the
    least-squares fit to the displacements of its neighbours in the network.

    Parameters
    ----------
    structure
        A molecule from ``ar.molecules.read_structure``; the result is in ``units="Da-nm-ps"``.
    positions, masses
        Used instead of a structure: positions of the nodes [length], shape (nodes, 3), and their masses [mass], shape
        (nodes,).
    cutoff
        Largest distance of connected nodes [length]; usually 1.2 to 1.5 nm for residues, 0.5 to 0.8 nm for atoms.
    spring_constant
        Constant γ of the springs [mass/time²]. About 1 kcal/mol/Å² (420 Da/ps²) fits the temperature factors of
        proteins with one node per residue.
    modes
        Number of modes, beginning with the softest.
    nodes
        For a structure: one node per residue, at its Cα (or P) with the mass of all its atoms; or one node per atom.
    residues
        Indices of the residues of the structure that belong to the body; all by default.
    handle
        Index of the node that is handle 1, among the chosen residues or atoms. The joint to the parent is attached to
        it.
    damping_ratio
        Damping of each mode as a fraction of the critical damping.
    largest
        See :class:`articulon.Modes`.
    units
        Unit system of given positions and masses, and of the result. Quantities with units require this argument.

    Returns
    -------
    Modes
        Modes in the axes of the structure, with the origin at handle 1.

    Raises
    ------
    ModelError
        For a network that is not connected, or a non-rigid motion that strains no spring; the message names the nodes.
        For more modes than the structure has.
    """
    if structure is not None and units not in (None, "Da-nm-ps"):
        raise Reader("elastic_network", None).error(f"units: those of a structure are 'Da-nm-ps', got {shown(units)}")
    read = Reader("elastic_network", units if structure is None else "Da-nm-ps")
    if (structure is None) == (positions is None) or (positions is None) != (masses is None):
        raise read.error("give either a structure, or positions and masses")
    if structure is not None:
        x, m, label = _nodes(structure, nodes, residues, read)
    else:
        shape = read.shape(positions, "positions")
        if len(shape) != 2 or shape[1] != 3 or shape[0] < 1:
            raise read.error(f"positions: expected the shape (nodes, 3), got {shape}")
        x = read.array(positions, shape, "length", "positions")
        m = read.array(masses, shape[:1], "mass", "masses")
        if (m <= 0.0).any():
            raise read.error(f"node {int((m <= 0.0).argmax())}: mass must be positive, got {m[m <= 0.0][0]:g}")
        if residues is not None:
            raise read.error("residues: this needs a structure; choose the nodes by hand")

        def label(k: int) -> str:
            return f"node {k}"

    count = read.count(modes, 1, "modes", 3 * len(m))
    reach = read.positive(cutoff, "length", "cutoff")
    gamma = read.positive(spring_constant, "stiffness", "spring_constant")
    if read.count(handle, 0, "handle") >= m.size:
        raise read.error(f"handle: there are {m.size} nodes, numbered from 0, got {handle}")
    pairs = scipy.spatial.cKDTree(x).query_pairs(reach, output_type="ndarray")
    pairs = pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]
    apart = np.linalg.norm(x[pairs[:, 0]] - x[pairs[:, 1]], axis=1)
    if (apart == 0.0).any():
        a, b = pairs[int(apart.argmin())]
        raise read.error(f"{label(a)} and {label(b)} are at the same place; a spring between them has no direction")
    _in_one_piece(pairs, m.size, reach, label, read)
    squared, shapes = lowest_modes(
        x, m, gamma * network_hessian(x, pairs), count, free=True, fault=read.error, label=label
    )
    shapes = shapes / np.abs(np.linalg.norm(shapes, axis=1)).max(axis=0)
    rotations = local_rotations(x, shapes, pairs)
    shapes, rotations = off_rigid_motion(x, m, shapes, rotations)
    inertia = np.einsum("i,iaj,iaj->j", m, shapes, shapes)
    if np.isnan(rotations[handle]).any():
        raise read.error(f"handle: the neighbours of {label(handle)} lie on a line, so its rotation is unknown")
    ratio = read.ratio(damping_ratio, "damping_ratio")
    return Modes(
        positions=x - x[handle],
        masses=m,
        shapes=shapes,
        stiffness=squared * inertia,
        damping=2.0 * ratio * np.sqrt(squared) * inertia,
        rotations=rotations,
        boundary="free",
        handle=int(handle),
        largest=largest,
        units=read.units,
    )


def network_hessian(positions: np.ndarray, pairs: np.ndarray) -> Any:
    """Compute the second derivatives of ½ Σ (|r_ij| − |r°_ij|)² at rest, a sparse matrix of shape (3 nodes, 3
    nodes)."""
    n = positions.shape[0]
    i, j = pairs.T
    direction = positions[j] - positions[i]
    direction /= np.linalg.norm(direction, axis=1)[:, None]
    block = direction[:, :, None] * direction[:, None, :]
    diagonal = np.zeros((n, 3, 3))
    np.add.at(diagonal, i, block)
    np.add.at(diagonal, j, block)
    of = np.arange(n)
    blocks = np.concatenate([-block, -block, diagonal])
    rows = np.concatenate([i, j, of])[:, None, None] * 3 + np.arange(3)[:, None]
    columns = np.concatenate([j, i, of])[:, None, None] * 3 + np.arange(3)
    spread = np.broadcast_to(rows, blocks.shape).ravel(), np.broadcast_to(columns, blocks.shape).ravel()
    return scipy.sparse.csc_array(scipy.sparse.coo_array((blocks.ravel(), spread), shape=(3 * n, 3 * n)))


def _nodes(
    structure: Molecule, nodes: str, residues: Sequence[int] | None, read: Reader
) -> tuple[np.ndarray, np.ndarray, Callable[[int], str]]:
    """Return positions [nm] and masses [Da] of the nodes, and a function that names a node."""
    if residues is not None and (not isinstance(residues, Sequence | np.ndarray) or isinstance(residues, str)):
        raise read.error(f"residues: expected a list of indices, got {shown(residues)}")
    chosen = list(range(len(structure.residues)))
    if residues is not None:
        chosen = [read.count(residue, 0, "residues") for residue in residues]
    wrong = [r for r in chosen if not 0 <= r < len(structure.residues)]
    if wrong or not chosen or len(set(chosen)) != len(chosen):
        raise read.error(
            f"residues: expected indices from 0 to {len(structure.residues) - 1}, each once; got "
            f"{wrong or list(chosen)}"
        )
    read.word(nodes, ("residues", "atoms"), "nodes")
    spans = [range(structure.residues[r].start, structure.residues[r].stop) for r in chosen]
    if nodes == "atoms":
        atoms = np.concatenate([np.asarray(span) for span in spans])
        return structure.positions[atoms], structure.masses[atoms], lambda k: structure.label(int(atoms[k]))
    centres = []
    for r, span in zip(chosen, spans, strict=True):
        named = {structure.names[atom]: atom for atom in span}
        found = [named[name] for name in CENTRAL if name in named]
        if not found:
            raise read.error(
                f"residue {structure.residues[r].label} has none of the atoms {', '.join(CENTRAL)} to represent it; "
                "leave it out of residues, or choose nodes='atoms'"
            )
        centres.append(found[0])
    masses = np.array([structure.masses[span.start : span.stop].sum() for span in spans])
    return structure.positions[centres], masses, lambda k: f"residue {structure.residues[chosen[k]].label}"


def _in_one_piece(pairs: np.ndarray, nodes: int, cutoff: float, label: Callable[[int], str], read: Reader) -> None:
    """Raise ModelError if the network is not connected; the message names a node of the smallest part."""
    links = scipy.sparse.coo_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(nodes, nodes))
    count, piece = scipy.sparse.csgraph.connected_components(links, directed=False)
    if count > 1:
        sizes = np.bincount(piece)
        smallest = int(sizes.argmin())
        node = int((piece == smallest).argmax())
        raise read.error(
            f"the network has {count} unconnected parts at a cutoff of {cutoff:g}: {label(node)} is in a part of "
            f"{sizes[smallest]} node{'s' if sizes[smallest] > 1 else ''}; increase the cutoff, or leave this part out"
        )
