"""Modes of a uniform straight Euler–Bernoulli beam, in closed form."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import scipy

from articulon.inputs import shown
from articulon.model.mode_checks import off_rigid_motion
from articulon.model.modes import Modes
from articulon.modes.beam_shapes import End, bar_shapes, bending_shapes, strains
from articulon.modes.quantities import Reader

MOST_MODES = 200
"""Largest number of modes of one kind; for higher modes, the wavelengths are too short for the theory of slender
beams."""
MOST_NODES = 2000
"""Largest number of nodes on the axis; the time to compute Gauss–Lobatto points grows with the cube of this number."""


def beam(
    *,
    length: Any,
    mass: Any,
    bending: int | tuple[int, int] = 2,
    bending_stiffness: Any = None,
    torsion: int = 0,
    torsional_stiffness: Any = None,
    stretch: int = 0,
    axial_stiffness: Any = None,
    gyration: Any = 0.0,
    boundary: End = "clamped",
    nodes: int | None = None,
    masses: Literal["consistent", "lumped"] = "consistent",
    handle: int = 0,
    damping_ratio: float = 0.0,
    largest: float = 0.1,
    units: str | None = None,
) -> Modes:
    """Compute the modes of a uniform beam along x, with handle 1 at the origin.

    Let ξ = x/L, and let μ = m/L be the mass per length. Bending modes φ solve EI φ'''' = μ ω² φ with the bending
    stiffness EI, and have frequencies ω_k = (β_k/L)² √(EI/μ). Here cos β cosh β is −1 for a clamped end (β = 1.875,
    4.694, 7.855, ...) and 1 for free ends (4.730, 7.853, 10.996, ...) (Blevins, Formulas for Natural Frequency and Mode
    Shape, table 8-1). Torsion and stretch have the shapes sin((k−½)πξ) for a clamped end and cos(kπξ) for a free end.
    Shapes are scaled to unit displacement at the end, for torsion at the polar radius of gyration. The modal stiffness
    is that of the continuous beam.

    None of these shapes transmits a moment, because their curvature is zero at free ends. A beam that carries another
    body at its far end needs ``boundary="loaded"``. Its first two bending shapes are then cubic: in the first, the end
    is displaced by η without rotation; in the second, it is rotated by η/L without displacement. The first shapes of
    torsion and of stretch are linear. All other shapes are those of a beam with both ends clamped (Craig and Bampton,
    AIAA J. 6, 1313, 1968). Beams with only the cubic shapes, each welded to the last node of the previous beam, are
    finite elements that allow large motion.

    The modes are in the order bending along y, bending along z, torsion, stretch, each kind by frequency. Nodes 0 to n
    − 1 lie on the axis. If the beam has a radius of gyration, four more nodes at each of them give its cross-section
    moments of inertia. As in Euler–Bernoulli theory, the rotation of cross-sections by bending has no kinetic energy.

    Parameters
    ----------
    length, mass
        Length and mass of the beam [length], [mass].
    bending
        Number of bending modes along y and along z, or one number for both.
    bending_stiffness
        EI [energy length] for bending along y and along z, or one number for both.
    torsion, torsional_stiffness
        Number of torsional modes, and GJ [energy length]; torsion needs a radius of gyration.
    stretch, axial_stiffness
        Number of stretching modes, and EA [force].
    gyration
        Radii of gyration of the cross-section, √(∫y²dA/A) and √(∫z²dA/A), or one number for both [length]. If they are
        zero, the beam is a line without inertia about its axis.
    boundary
        ``"clamped"``: a cantilever, clamped at handle 1. ``"free"``: both ends free. ``"loaded"``: clamped at handle 1,
        with another body attached to the far end; the beam transmits forces and moments to it.
    nodes
        Number of nodes on the axis; by default, the number that the integrals over the shapes need.
    masses
        ``"consistent"``: nodes at the Gauss–Lobatto points with their weights; with enough nodes, integrals over the
        beam are exact to rounding. ``"lumped"``: equally spaced nodes, each with the mass closest to it.
    handle
        For a free beam, index of the node that is handle 1; for other beams, handle 1 is node 0.
    damping_ratio
        Damping of each mode as a fraction of the critical damping.
    largest
        See :class:`articulon.Modes`.
    units
        Unit system of the result. Plain numbers are in these units. Quantities with units require this argument.

    Raises
    ------
    ModelError
        For values that no beam can have, or if there are fewer nodes than the modes need.

    Examples
    --------
    >>> import articulon as ar
    >>> modes = ar.modes.beam(length=1.0, mass=2.0, bending=(1, 0), bending_stiffness=0.5)
    >>> omega = (modes.stiffness[0] / (2.0 / 4)) ** 0.5  # a quarter of the mass moves with the end
    >>> round(float(omega * (2.0 / 0.5) ** 0.5) ** 0.5, 3)
    1.875
    """
    read = Reader("beam", units)
    L = read.positive(length, "length", "length")
    m = read.positive(mass, "mass", "mass")
    read.word(boundary, ("clamped", "free", "loaded"), "boundary")
    radii = _pair(read, gyration, "length", "gyration")
    if radii.min() < 0.0:
        raise read.error(f"gyration: must not be negative, got {shown(gyration)}")
    both = bending if isinstance(bending, Sequence) and not isinstance(bending, str) else (bending, bending)
    if len(both) != 2:
        raise read.error(f"bending: expected a number of modes, or one for each of y and z, got {shown(bending)}")
    counts = [read.count(c, 0, "bending", MOST_MODES) for c in both]
    counts += [read.count(torsion, 0, "torsion", MOST_MODES), read.count(stretch, 0, "stretch", MOST_MODES)]
    if not any(counts):
        raise read.error("no modes were requested; give bending, torsion or stretch")
    EI = _stiffnesses(read, bending_stiffness, counts[:2])
    GJ = _needed(read, torsional_stiffness, counts[2], "energy_length", "torsional_stiffness")
    EA = _needed(read, axial_stiffness, counts[3], "force", "axial_stiffness")
    polar = float(np.hypot(*radii))
    if counts[2] and polar == 0.0:
        raise read.error("torsion: a beam without a radius of gyration cannot twist; give gyration")
    n = _enough_nodes(read, nodes, counts, masses)
    xi, weight = _gauss_lobatto(n) if masses == "consistent" else _even(n)

    shapes, rotations = np.zeros((2, n, 3, sum(counts)))
    strain, inertia = np.zeros((sum(counts), sum(counts))), np.zeros(sum(counts))
    first = 0
    for kind, rigidity, count in zip("yztx", (*EI / L**3, GJ / (L * (polar**2 or 1.0)), EA / L), counts, strict=True):
        bends = kind in "yz"
        found = bending_shapes(boundary, count, xi) if bends else bar_shapes(boundary, count, xi)
        span = slice(first, first + count)
        strain[span, span] = rigidity * strains(found, bends and boundary == "loaded")
        inertia[span] = [m * shape.mass for shape in found]
        for mode, shape in enumerate(found, start=first):
            if kind == "y":  # a slope along y is a rotation about z
                shapes[:, 1, mode], rotations[:, 2, mode] = shape.value, shape.slope / L
            elif kind == "z":  # a slope along z is a rotation about −y
                shapes[:, 2, mode], rotations[:, 1, mode] = shape.value, -shape.slope / L
            elif kind == "t":
                rotations[:, 0, mode] = shape.value / polar
            else:
                shapes[:, 0, mode] = shape.value
        first += count
    positions = np.zeros((n, 3))
    positions[:, 0] = L * xi
    if boundary != "free":
        shapes[0] = rotations[0] = 0.0
        if read.count(handle, 0, "handle") != 0:
            raise read.error(f"handle: the clamped end is node 0, got {shown(handle)}")
    elif read.count(handle, 0, "handle") >= n:
        raise read.error(f"handle: there are {n} nodes on the axis, numbered from 0, got {handle}")
    positions, node_masses, shapes, rotations = _with_sections(positions, m * weight, shapes, rotations, radii)
    if boundary == "free":
        shapes, rotations = off_rigid_motion(positions, node_masses, shapes, rotations)
    ratio = read.ratio(damping_ratio, "damping_ratio")
    if not (np.isfinite(strain).all() and np.isfinite(inertia).all()):
        raise read.error("length, mass and stiffness give modes beyond the range of floats; choose other units")
    stiffness: np.ndarray = strain
    if boundary == "loaded":
        damping = 2.0 * ratio * _critical(strain, np.einsum("i,iaj,iak->jk", node_masses, shapes, shapes))
    else:
        stiffness = np.diag(strain)
        damping = 2.0 * ratio * np.sqrt(stiffness * inertia)
    return Modes(
        positions=positions - positions[handle],
        masses=node_masses,
        shapes=shapes,
        stiffness=stiffness,
        damping=damping,
        rotations=rotations,
        boundary="free" if boundary == "free" else "clamped",
        handle=int(handle),
        largest=largest,
        units=units,
    )


def _critical(stiffness: np.ndarray, mass: np.ndarray) -> np.ndarray:
    """Return the square root of stiffness times mass, in their common eigenvectors; it is half of the critical
    damping."""
    squared, vectors = scipy.linalg.eigh(stiffness, mass)
    moved = mass @ vectors
    return (moved * np.sqrt(squared.clip(min=0.0))) @ moved.T


def _pair(read: Reader, value: Any, dimension: str, what: str) -> np.ndarray:
    if read.shape(value, what) == ():
        return np.full(2, float(read.array(value, (), dimension, what)))
    return read.array(value, (2,), dimension, what)


def _stiffnesses(read: Reader, value: Any, counts: list[int]) -> np.ndarray:
    if not any(counts):
        return np.ones(2)
    if value is None:
        raise read.error("bending_stiffness is required for bending modes: EI [energy length]")
    EI = _pair(read, value, "energy_length", "bending_stiffness")
    if (EI <= 0.0).any():
        raise read.error(f"bending_stiffness: must be positive, got {shown(value)}")
    return EI


def _needed(read: Reader, value: Any, count: int, dimension: str, what: str) -> float:
    if not count:
        return 1.0
    if value is None:
        raise read.error(f"{what} is required for the requested modes")
    return read.positive(value, dimension, what)


def _enough_nodes(read: Reader, nodes: int | None, counts: list[int], masses: str) -> int:
    read.word(masses, ("consistent", "lumped"), "masses")
    most = max(counts)
    if nodes is None:
        return 2 * most + 12 if masses == "consistent" else 10 * most + 11
    if read.count(nodes, 2, "nodes", MOST_NODES) < most + 2:
        raise read.error(f"nodes: {nodes} are too few for {most} modes of a kind; use at least {most + 2}")
    return nodes


def _gauss_lobatto(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return points on [0, 1], including both ends, and weights that integrate polynomials of degree 2n − 3 exactly."""
    legendre = np.polynomial.legendre.Legendre.basis(n - 1)
    k = np.arange(1, n - 2)
    between = np.sqrt(k * (k + 2.0) / ((2.0 * k + 1.0) * (2.0 * k + 3.0)))
    # The inner points are the roots of the Jacobi polynomial (1, 1). They are found as eigenvalues of the matrix of its
    # recurrence, and then improved by Newton's method.
    inner = np.linalg.eigvalsh(np.diag(between, 1) + np.diag(between, -1)) if n > 2 else np.zeros(0)
    first, second = legendre.deriv(1), legendre.deriv(2)
    for _ in range(2):
        inner = inner - first(inner) / second(inner)
    inner = 0.5 * (inner - inner[::-1])
    points = np.concatenate([[-1.0], inner, [1.0]])
    weights = 1.0 / (n * (n - 1.0) * legendre(points) ** 2)
    return 0.5 * (1.0 + points), weights / weights.sum()


def _even(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return n equally spaced points on [0, 1] and their weights; the two ends have half the weight of the other
    points."""
    weights = np.ones(n)
    weights[[0, -1]] = 0.5
    return np.linspace(0.0, 1.0, n), weights / weights.sum()


def _with_sections(
    positions: np.ndarray, masses: np.ndarray, shapes: np.ndarray, rotations: np.ndarray, radii: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Add four nodes at each node on the axis. They share the node's mass so that Σ m y² and Σ m z² are correct.

    The added nodes move with the axis and rotate about it, but do not follow the slope of bending.
    """
    if not radii.any():
        return positions, masses, shapes, rotations
    # A third of the mass stays on the axis, and a sixth is at each of ±√3 r, so that 2/6 · 3 r² = r².
    offsets = np.zeros((4, 3))
    offsets[:2, 1] = np.sqrt(3.0) * radii[0] * np.array([1.0, -1.0])
    offsets[2:, 2] = np.sqrt(3.0) * radii[1] * np.array([1.0, -1.0])
    twist = rotations[:, 0]
    around = [shapes + np.cross([1.0, 0.0, 0.0], offset)[None, :, None] * twist[:, None] for offset in offsets]
    return (
        np.concatenate([positions, *(positions + offset for offset in offsets)]),
        np.concatenate([masses / 3.0, *[masses / 6.0] * 4]),
        np.concatenate([shapes, *around]),
        np.concatenate([rotations] * 5),
    )
