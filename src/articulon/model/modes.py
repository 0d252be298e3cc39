"""Deformation of a body: nodes with masses, and mode shapes, each with a stiffness.

The displacement of a node is linear in the modal coordinates η: its position is X_i = X0_i + Σ_j Φ_ij η_j in the body's
frame. The body's frame is that of *handle 1*: the node to which the joint to the parent is attached. This frame does
not move in any mode.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from articulon.errors import CaseError, ModelError
from articulon.inputs import floats, number, shown
from articulon.model import body_checks, mode_checks
from articulon.model.freezing import kept
from articulon.units import UnitSystem, unit_system


@dataclass(frozen=True, eq=False)
class Modes:
    """Nodes of a flexible body and its mode shapes.

    Modal coordinates are lengths, so shapes are dimensionless. If a shape is scaled to a largest displacement of one,
    its coordinate is the largest displacement. The body's frame has its origin at handle 1.

    Examples
    --------
    A mass on a leaf spring, which moves by η along z:

    >>> import articulon as ar
    >>> modes = ar.Modes(
    ...     positions=[[0, 0, 0], ["1 um", 0, 0]],
    ...     masses=["1 fg", "1 fg"],
    ...     shapes=[[[0], [0], [0]], [[0], [0], [1]]],
    ...     stiffness=["2 nN/m"],
    ... )
    """

    positions: Any
    """Undeformed nodes in the body's frame [length], shape (nodes, 3)."""
    masses: Any
    """Mass of each node, positive [mass], shape (nodes,)."""
    shapes: Any
    """Displacement of the nodes per modal coordinate Φ [dimensionless], shape (nodes, 3, modes)."""
    stiffness: Any
    """Modal stiffness, shape (modes,), or the matrix of the quadratic form 2U = ηᵀKη, shape (modes, modes)
    [mass/time²]."""
    damping: Any = 0.0
    """Modal damping [mass/time]: one value for all modes, shape (modes,) or shape (modes, modes)."""
    rotations: Any = None
    """Rotation of the nodes per modal coordinate Ψ [rad/length], shape (nodes, 3, modes); NaN for nodes whose rotation
    is unknown. Nodes that carry joints need it, and so does handle 1 if the boundary is free."""
    boundary: Literal["clamped", "free"] = "clamped"
    """``"clamped"``: shapes vanish at handle 1. ``"free"``: shapes contain no rigid motion, Σ mΦ = 0 and Σ m X×Φ = 0,
    and the motion of handle 1 is then subtracted from them as a rigid motion."""
    handle: int = 0
    """Index of the node that is handle 1, at the origin of the body's frame."""
    largest: float = 0.1
    """Largest displacement of a node, relative to the body's length, up to which linear deformation is assumed to be
    valid."""
    units: str | None = None
    """System of units of these plain numbers; the model's if None."""

    def __post_init__(self) -> None:
        for name in ("positions", "masses", "shapes", "stiffness", "damping", "rotations"):
            object.__setattr__(self, name, kept(getattr(self, name)))

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update({name: kept(value) for name, value in state.items()})

    def resolved(self, units: UnitSystem, where: str) -> ModeShapes:
        """Check the modes, and return them in the given units and relative to the frame of handle 1.

        Parameters
        ----------
        units
            Units of the model.
        where
            Name of the body in messages, such as ``"body 'rod'"``.

        Raises
        ------
        ModelError
            For shapes that no elastic body can have or that the boundary excludes; the message names the body, and the
            node or mode.
        """
        own = self._own_units(units, where)

        def read(value: Any, shape: tuple[int, ...], dimension: str, what: str) -> np.ndarray:
            result = body_checks.array(value, shape, dimension, own, f"{where}, {what}")
            return result if own is units else result * own.ratio(dimension, units)

        nodes, modes = self._counts(where)
        positions = read(self.positions, (nodes, 3), "length", "positions")
        masses = read(self.masses, (nodes,), "mass", "masses")
        body_checks.positive_masses(masses, lambda k: f"{where}, node {k}")
        shapes = read(self.shapes, (nodes, 3, modes), "dimensionless", "shapes")
        stiffness = _matrix(self.stiffness, modes, "stiffness", where, read)
        damping = _matrix(self.damping, modes, "translational_drag", where, read)
        mode_checks.not_negative(stiffness, "modal stiffness", where)
        mode_checks.not_negative(damping, "modal damping", where)
        rotations = np.full((nodes, 3, modes), np.nan)
        if self.rotations is not None:
            rotations = self._rotations(nodes, modes, own, where)
            rotations *= 1.0 if own is units else own.ratio("wavenumber", units)

        h = self.handle
        if isinstance(h, bool) or not isinstance(h, (int, np.integer)) or not 0 <= h < nodes:
            raise ModelError(f"{where}, handle: there is no node {shown(h)}; nodes are numbered 0 to {nodes - 1}")
        length = mode_checks.extent(positions, masses)
        if np.abs(positions[h]).max() > mode_checks.RIGID_TOLERANCE * length:
            raise ModelError(
                f"{where}, positions: node {h} is handle 1, and the body's frame has its origin there, but it is at "
                f"{positions[h].tolist()}; subtract its position from all nodes"
            )
        if not number(self.largest, f"{where}, largest") > 0.0:
            raise ModelError(f"{where}, largest: a positive part of the body's length, got {shown(self.largest)}")

        mode_checks.moving_mass(masses, shapes, where)
        match self.boundary:
            case "clamped":
                mode_checks.vanishing(shapes, rotations, int(h), where)
            case "free":
                mode_checks.without_rigid_motion(positions, masses, shapes, where)
                shapes, rotations = relative_to(int(h), positions, shapes, rotations, where)
            case _:
                raise ModelError(f"{where}, boundary: expected 'clamped' or 'free', got {shown(self.boundary)}")
        mode_checks.independent(masses, shapes, where)
        return ModeShapes(
            positions, masses, shapes, rotations, stiffness, damping, int(h), length, float(self.largest) * length
        )

    def _own_units(self, units: UnitSystem, where: str) -> UnitSystem:
        if self.units is None or self.units == units.name:
            return units
        try:
            own = unit_system(self.units)
        except CaseError as error:
            raise ModelError(f"{where}, units: {error}") from None
        if own.mass is None or units.mass is None:
            raise ModelError(f"{where}, units: modes in '{own.name}' cannot be converted to '{units.name}'")
        return own

    def _counts(self, where: str) -> tuple[int, int]:
        """Numbers of nodes and modes, read from the dimensions of ``shapes``."""
        shape = shape_of(self.shapes, f"{where}, shapes")
        if len(shape) != 3 or shape[1] != 3 or 0 in shape:
            raise ModelError(f"{where}, shapes: expected the shape (nodes, 3, modes), got {shape}")
        return shape[0], shape[2]

    def _rotations(self, nodes: int, modes: int, units: UnitSystem, where: str) -> np.ndarray:
        """Rotations in the given units; NaN for nodes without rotations."""
        shape_of(self.rotations, f"{where}, rotations")
        known = np.asarray(self.rotations)
        if known.dtype.kind != "f":
            return body_checks.array(
                self.rotations, (nodes, 3, modes), "wavenumber", units, f"{where}, rotations"
            ).copy()
        absent = np.isnan(known)
        body_checks.array(np.where(absent, 0.0, known), (nodes, 3, modes), "wavenumber", units, f"{where}, rotations")
        partly = np.flatnonzero(absent.any(axis=(1, 2)) & ~absent.all(axis=(1, 2)))
        if partly.size:
            raise ModelError(f"{where}, rotations: node {partly[0]} has some that are NaN; give all or none")
        return known.astype(np.float64)


class ModeShapes(NamedTuple):
    """Modes in the units of the model, with shapes relative to the frame of handle 1."""

    positions: np.ndarray
    """Undeformed nodes X0, body frame [length], shape (nodes, 3)."""
    masses: np.ndarray
    """Mass of each node [mass], shape (nodes,)."""
    shapes: np.ndarray
    """Displacements Φ per modal coordinate [dimensionless], zero at handle 1, shape (nodes, 3, modes)."""
    rotations: np.ndarray
    """Rotations Ψ per modal coordinate [rad/length], zero at handle 1, NaN if unknown, shape (nodes, 3, modes)."""
    stiffness: np.ndarray
    """Modal stiffness [mass/time²], shape (modes, modes)."""
    damping: np.ndarray
    """Modal damping [mass/time], shape (modes, modes)."""
    handle: int
    """Index of the node that is handle 1."""
    length: float
    """Length of the undeformed body: twice the distance from its centre of mass to the farthest node [length]."""
    largest: float
    """Largest displacement of a node up to which linear deformation is assumed to be valid [length]."""

    def rotation(self, node: int, where: str) -> np.ndarray:
        """Rotation Ψ of one node, shape (3, modes); raises ModelError if it is unknown."""
        if np.isnan(self.rotations[node]).any():
            raise ModelError(
                f"{where}: node {node} has no rotations, so no frame can be attached to it; give the modes' rotations "
                "there, or use another node"
            )
        return self.rotations[node]


class InertiaIntegrals(NamedTuple):
    """Integrals over a body's nodes, about handle 1 and in the body's frame, for the body's equations of motion.

    Positions are X_i = X0_i + Σ_j Φ_ij η_j. The sums are over the nodes with their masses m_i, and 1 is the identity
    matrix. Symmetric matrices are stored as (xx, xy, xz, yy, yz, zz), and other matrices by rows:

    first moment    h(η) = Σ m X                    = h0 + Σ_j S1_j η_j
    inertia         A(η) = Σ m (X·X 1 − X Xᵀ)       = A0 + Σ_j A1_j η_j + Σ_jk A2_jk η_j η_k
    coupling        B_j(η) = Σ m X × Φ_j            = B0_j + Σ_k B1_jk η_k
    Coriolis        N_j(η) = Σ m (X·Φ_j 1 − Φ_j Xᵀ) = N0_j + Σ_k N1_jk η_k
    modal mass      M_jk = Σ m Φ_j·Φ_k

    The kinetic energy for a velocity v and angular velocity ω of the frame is T = ½ m v² + v·(ω×h + S1η') + ½ ω·Aω +
    ω·Bη' + ½ η'·Mη'. The inertia has the derivatives ∂A/∂η_j = N_j + N_jᵀ.
    """

    mass: np.ndarray
    """Total mass [mass], shape (1,)."""
    h0: np.ndarray
    """First moment at η = 0 [mass length], shape (3,)."""
    S1: np.ndarray
    """Modal first moments Σ m Φ_j [mass], shape (modes, 3)."""
    A0: np.ndarray
    """Inertia at η = 0 [mass length²], shape (6,)."""
    A1: np.ndarray
    """Linear coefficients of the inertia [mass length], shape (modes, 6)."""
    A2: np.ndarray
    """Quadratic coefficients of the inertia, symmetric in j and k [mass], shape (modes, modes, 6)."""
    B0: np.ndarray
    """Coupling at η = 0 [mass length], shape (modes, 3)."""
    B1: np.ndarray
    """Linear coefficients of the coupling: Σ m Φ_k × Φ_j at (j, k), antisymmetric in j and k [mass], shape (modes,
    modes, 3)."""
    N0: np.ndarray
    """Coriolis matrices at η = 0 [mass length], shape (modes, 9)."""
    N1: np.ndarray
    """Linear coefficients of the Coriolis matrices: Σ m (Φ_j·Φ_k 1 − Φ_j Φ_kᵀ) at (j, k) [mass], shape (modes, modes,
    9)."""
    M: np.ndarray
    """Modal mass matrix [mass], shape (modes, modes)."""


def inertia_integrals(shapes: ModeShapes) -> InertiaIntegrals:
    """Compute the inertia integrals of a body; they are computed once and do not depend on the motion (Shabana,
    Dynamics of Multibody Systems, 5.3 and 5.4)."""
    m, X, Phi = shapes.masses, shapes.positions, shapes.shapes
    modes = Phi.shape[2]
    mX = m[:, None] * X
    mPhi = m[:, None, None] * Phi
    outer0 = mX.T @ X
    # In the dyads X0 Φ_jᵀ and Φ_j Φ_kᵀ, the first factor gives the row and the second the column.
    outer1 = np.einsum("ia,ibj->jab", mX, Phi)
    outer2 = (
        (mPhi.reshape(-1, 3 * modes).T @ Phi.reshape(-1, 3 * modes)).reshape(3, modes, 3, modes).transpose(1, 3, 0, 2)
    )
    outer2 = 0.5 * (outer2 + outer2.transpose(1, 0, 3, 2))  # makes it symmetric to the last bit
    trace = np.trace(outer2, axis1=2, axis2=3)
    mutual = 0.5 * (outer2 + outer2.transpose(0, 1, 3, 2))
    one = np.eye(3)
    # Φ_j X0ᵀ is the transpose of X0 Φ_jᵀ.
    N0 = np.trace(outer1, axis1=1, axis2=2)[:, None, None] * one - outer1.transpose(0, 2, 1)
    N1 = trace[:, :, None, None] * one - outer2
    arrays = {
        "mass": np.array([m.sum()]),
        "h0": mX.sum(axis=0),
        "S1": mPhi.sum(axis=0).T,
        "A0": _six(np.trace(outer0) * one - 0.5 * (outer0 + outer0.T)),
        "A1": _six(N0 + N0.transpose(0, 2, 1)),
        "A2": _six(trace[:, :, None, None] * one - mutual),
        "B0": _axial(outer1),
        "B1": _axial(outer2.transpose(1, 0, 2, 3)),
        "N0": N0.reshape(modes, 9),
        "N1": N1.reshape(modes, modes, 9),
        "M": trace,
    }
    return InertiaIntegrals(**{name: np.ascontiguousarray(array) for name, array in arrays.items()})


def relative_to(
    node: int, positions: np.ndarray, shapes: np.ndarray, rotations: np.ndarray, where: str
) -> tuple[np.ndarray, np.ndarray]:
    """Shapes and rotations relative to the frame of a node: Φ_i − Φ_h − Ψ_h × (X0_i − X0_h) and Ψ_i − Ψ_h.

    Raises ModelError if the node's rotation is unknown.
    """
    turn = rotations[node]
    if np.isnan(turn).any():
        raise ModelError(
            f"{where}, rotations: handle 1 (node {node}) needs them, since shapes of a free boundary are relative to "
            "its frame; give the rotations of the modes there, or shapes that are clamped at it"
        )
    arm = positions - positions[node]
    swept = np.cross(turn.T[None], arm[:, None, :], axis=2).transpose(0, 2, 1)
    return shapes - shapes[node] - swept, rotations - turn


def _matrix(value: Any, modes: int, dimension: str, where: str, read: Any) -> np.ndarray:
    """Convert one number for all modes, one number for each mode, or a symmetric matrix to a matrix."""
    what = "stiffness" if dimension == "stiffness" else "damping"
    shape = shape_of(value, f"{where}, {what}")
    if shape == (modes, modes) and modes > 1:
        full = read(value, shape, dimension, what)
        if np.abs(full - full.T).max() > 1e-9 * np.abs(full).max():
            raise ModelError(f"{where}, {what}: the matrix is not symmetric: {full.tolist()}")
        return 0.5 * (full + full.T)
    if shape == () and what == "damping":
        return np.diag(np.full(modes, float(read(value, (), dimension, what))))
    if shape == (1, 1):
        return read(value, shape, dimension, what)
    return np.diag(read(value, (modes,), dimension, what))


def shape_of(value: Any, what: str) -> tuple[int, ...]:
    """Shape of an array of numbers, or of quantities with units; raises ModelError for anything else."""
    try:
        return floats(value, lambda text: 0.0).shape
    except ValueError as reason:
        raise ModelError(f"{what}: {reason}") from None


def _six(a: np.ndarray) -> np.ndarray:
    """Symmetric matrices (..., 3, 3) as (xx, xy, xz, yy, yz, zz)."""
    return a[..., [0, 0, 0, 1, 1, 2], [0, 1, 2, 1, 2, 2]]


def _axial(dyads: np.ndarray) -> np.ndarray:
    """The sums of a × b from sums of dyads a bᵀ, (..., 3, 3) to (..., 3)."""
    turned = dyads - np.swapaxes(dyads, -1, -2)
    return turned[..., [1, 2, 0], [2, 0, 1]]
