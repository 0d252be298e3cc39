"""Modes from finite-element data: nodes, their masses, and a stiffness matrix."""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import Any

import numpy as np
import scipy

from articulon.inputs import floats, shown
from articulon.model.mode_checks import off_rigid_motion, rigid_motions
from articulon.model.modes import Modes
from articulon.modes.eigen import local_rotations, lowest_modes
from articulon.modes.quantities import Reader


def from_matrices(
    positions: Any,
    mass: Any,
    stiffness: Any,
    *,
    modes: int,
    handle: int = 0,
    clamped: Sequence[int] | None = None,
    damping_ratio: float = 0.0,
    largest: float = 0.1,
    units: str | None = None,
) -> Modes:
    """Compute the lowest modes from lumped masses and a stiffness matrix.

    The stiffness has three coordinates per node (x, y, z) or six (x, y, z and the rotations about them), node by node.
    With six, the rotations of the nodes are known. They are condensed out, because they carry no mass (Guyan, AIAA J.
    3, 380, 1965). With three, the rotation of a node is the least-squares fit to the displacements of the nodes to
    which it is coupled. Shapes are scaled to a largest displacement of one.

    Parameters
    ----------
    positions
        Positions of the nodes [length], shape (nodes, 3).
    mass
        Lumped masses, shape (nodes,), or a diagonal matrix of shape (3 nodes, 3 nodes) with equal masses in x, y and z
        [mass].
    stiffness
        Dense or sparse, shape (3 nodes, 3 nodes) [force/length], or (6 nodes, 6 nodes) with the rotational rows and
        columns in [force] and [force length].
    modes
        Number of modes, beginning with the softest.
    handle
        Index of the node that is handle 1.
    clamped
        Nodes that are clamped, including handle 1; their rotations are clamped too if the stiffness has six coordinates
        per node. None leaves the body free; the stiffness must then not resist rigid motion. With three coordinates per
        node, at least three non-collinear nodes must be clamped.
    damping_ratio
        Damping of each mode as a fraction of the critical damping.
    largest
        See :class:`articulon.Modes`.
    units
        Unit system of the numbers; the model's unit system by default.

    Raises
    ------
    ModelError
        For matrices that do not belong to an elastic body, masses that are not lumped, a free body whose stiffness
        resists rigid motion, or more modes than the body has.
    """
    read = Reader("from_matrices", units)
    shape = read.shape(positions, "positions")
    if len(shape) != 2 or shape[1] != 3 or shape[0] < 1:
        raise read.error(f"positions: expected the shape (nodes, 3), got {shape}")
    n = shape[0]
    x = read.array(positions, shape, "length", "positions")
    m = _lumped(mass, n, read)
    K = _stiffness(stiffness, n, read)
    if read.count(handle, 0, "handle") >= n:
        raise read.error(f"handle: there are {n} nodes, numbered from 0, got {handle}")
    count = read.count(modes, 1, "modes")
    if clamped is not None and (not isinstance(clamped, Sequence | np.ndarray | Set) or isinstance(clamped, str)):
        raise read.error(f"clamped: expected a list of nodes, got {shown(clamped)}")
    held = sorted({read.count(k, 0, "clamped") for k in clamped}) if clamped is not None else []
    if clamped is not None and (handle not in held or held[-1] >= n):
        raise read.error(
            f"clamped: expected nodes from 0 to {n - 1}, including handle 1 (node {handle}), got {list(clamped)}"
        )
    moving = np.setdiff1d(np.arange(n), held)
    turning = K.shape[0] == 6 * n
    pairs = _coupled(K, n)

    width = 6 if turning else 3
    at = (width * moving[:, None] + np.arange(3)).ravel()
    K_tt = K[at][:, at]
    K_rr = K_rt = None
    if turning:
        about = (6 * moving[:, None] + np.arange(3, 6)).ravel()
        K_rr, K_rt = scipy.sparse.csc_array(K[about][:, about]), K[about][:, at]
        if clamped is None:
            K_rr = K_rr + _about_the_line(x, handle, abs(K_rr).max())
        try:
            solved = scipy.sparse.linalg.splu(K_rr)
        except RuntimeError:
            raise read.error(
                "stiffness: nothing resists the rotation of some node; give three coordinates per node"
            ) from None
        K_tt = K_tt - scipy.sparse.csc_array(K_rt.T @ solved.solve(K_rt.toarray()))
    K_tt = 0.5 * (K_tt + K_tt.T)
    if clamped is None:
        _holds_nothing(K_tt, x, m, read)
    squared, inner = lowest_modes(
        x[moving], m[moving], K_tt, count, free=clamped is None, fault=read.error, label=lambda k: f"node {moving[k]}"
    )
    inner = inner / np.linalg.norm(inner, axis=1).max(axis=0)
    shapes = np.zeros((n, 3, count))
    shapes[moving] = inner
    if turning:
        rotations = np.zeros((n, 3, count))
        rotations[moving] = -solved.solve(K_rt @ inner.reshape(-1, count)).reshape(-1, 3, count)
    else:
        rotations = local_rotations(x, shapes, pairs)
        rotations[held] = 0.0
    if clamped is None:
        shapes, rotations = off_rigid_motion(x, m, shapes, rotations)
    inertia = np.einsum("i,iaj,iaj->j", m, shapes, shapes)
    ratio = read.ratio(damping_ratio, "damping_ratio")
    return Modes(
        positions=x - x[handle],
        masses=m,
        shapes=shapes,
        stiffness=squared * inertia,
        damping=2.0 * ratio * np.sqrt(squared) * inertia,
        rotations=rotations,
        boundary="free" if clamped is None else "clamped",
        handle=int(handle),
        largest=largest,
        units=units,
    )


def _lumped(mass: Any, n: int, read: Reader) -> np.ndarray:
    shape = mass.shape if scipy.sparse.issparse(mass) else read.shape(mass, "mass")
    if shape == (3 * n, 3 * n) and n > 0:
        full = scipy.sparse.csr_array(mass)
        each = full.diagonal().reshape(n, 3)
        off = abs(full - scipy.sparse.diags_array(full.diagonal())).max()
        if off > 1e-12 * np.abs(each).max():
            raise read.error("mass: the matrix is not diagonal; lump it, such as by the sums of its rows")
        if np.abs(each - each[:, :1]).max() > 1e-9 * np.abs(each).max():
            raise read.error("mass: the masses of a node in x, y and z must be equal, but they differ on the diagonal")
        mass = each[:, 0]
    m = read.array(mass, (n,), "mass", "mass")
    if (m <= 0.0).any():
        raise read.error(f"node {int((m <= 0.0).argmax())}: mass must be positive, got {m[m <= 0.0][0]:g}")
    return m


def _stiffness(stiffness: Any, n: int, read: Reader) -> Any:
    try:
        K = scipy.sparse.csr_array(
            stiffness if scipy.sparse.issparse(stiffness) else floats(stiffness), dtype=np.float64
        )
    except (TypeError, ValueError, MemoryError):
        raise read.error(f"stiffness: expected a matrix of numbers, got {shown(stiffness)}") from None
    if K.shape not in ((3 * n, 3 * n), (6 * n, 6 * n)):
        raise read.error(
            f"stiffness: expected three or six coordinates for each of {n} nodes, a matrix of {3 * n} or {6 * n} rows, "
            f"got {K.shape}"
        )
    if not np.isfinite(K.data).all():
        raise read.error("stiffness: the matrix contains numbers that are not finite")
    if abs(K - K.T).max() > 1e-9 * abs(K).max():
        raise read.error("stiffness: the matrix is not symmetric")
    return 0.5 * (K + K.T)


def _coupled(K: Any, n: int) -> np.ndarray:
    """Return the pairs of nodes that the stiffness couples, shape (pairs, 2)."""
    blocks = scipy.sparse.coo_array(K)
    width = K.shape[0] // n
    i, j = blocks.coords[0] // width, blocks.coords[1] // width
    known = (blocks.data != 0.0) & (i < j)
    return np.unique(np.stack([i[known], j[known]], axis=1), axis=0)


def _about_the_line(x: np.ndarray, handle: int, scale: float) -> Any:
    """For collinear nodes, return a stiffness that resists the rotation of handle 1 about their line; this rotation
    moves no node."""
    n = x.shape[0]
    _, spread, axes = np.linalg.svd(x - x.mean(axis=0), full_matrices=True)
    hold = scipy.sparse.lil_array((3 * n, 3 * n))
    if n > 1 and spread[1:].max() < 1e-9 * spread[0]:
        at = slice(3 * handle, 3 * handle + 3)
        hold[at, at] = scale * np.outer(axes[0], axes[0])
    return scipy.sparse.csc_array(hold)


def _holds_nothing(K: Any, x: np.ndarray, m: np.ndarray, read: Reader) -> None:
    """Raise ModelError if rigid motion strains a body that is declared free."""
    motions, _ = rigid_motions(x, m)
    flat = motions.reshape(-1, 6)
    size = np.linalg.norm(flat, axis=0)
    flat = flat[:, size > 0.0] / size[size > 0.0]
    force = np.abs(K @ flat).max() / abs(K).sum(axis=0).max()
    if force > 1e-7:
        raise read.error(
            f"stiffness: it resists rigid motion (by {force:.2g} of its largest row), like that of a clamped body; "
            "name the clamped nodes with clamped=[...], or give the matrix of the free body"
        )
