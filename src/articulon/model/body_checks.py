"""Checks of the properties of bodies, with messages that name the body."""

from collections.abc import Callable
from typing import Any

import numpy as np

from articulon.errors import CaseError, ModelError
from articulon.inputs import FEW, LARGEST, floats, shown
from articulon.units import UnitSystem

UNIT_TOLERANCE = 1e-6
"""Tolerance of the norm of a quaternion, for the rounding of printed digits."""


def array(value: Any, shape: tuple[int, ...] | None, dimension: str, units: UnitSystem, where: str) -> np.ndarray:
    """Return ``value`` as a new array of floats in the model's units, and of the given shape unless it is None. Strings
    in ``value`` have their own units. Raises ModelError."""

    def read(text: str) -> float:
        try:
            return units.value(text, dimension, where)
        except CaseError as error:
            raise ModelError(str(error)) from None

    try:
        result = floats(value, read)
    except ValueError as reason:
        shaped = "" if shape is None else f" of shape {shape}"
        raise ModelError(f"{where}: expected numbers{shaped}: {reason}") from None
    if shape is not None and result.shape != shape:
        given = f": {shown(value)}" if result.size <= FEW else ""
        raise ModelError(f"{where}: expected shape {shape}, got shape {result.shape}{given}")
    if not np.isfinite(result).all():
        at = np.argwhere(~np.isfinite(result))[0].tolist()
        found = shown(value) if result.size <= FEW else f"{result[tuple(at)]} at {at}"
        raise ModelError(f"{where}: not finite: {found}")
    if result.size and np.abs(result).max() > LARGEST:
        raise ModelError(
            f"{where}: {result.flat[np.abs(result).argmax()]:g} is too large for the computation; the maximum is "
            f"{LARGEST:g}"
        )
    return np.array(result)


def unit_quaternions(rotation: np.ndarray, where: Callable[[int], str]) -> np.ndarray:
    """Normalise quaternions given as rows; raises ModelError if a norm differs from 1 by more than UNIT_TOLERANCE."""
    norm = np.sqrt((rotation * rotation).sum(axis=1))
    bad = np.flatnonzero(~(np.abs(norm - 1.0) <= UNIT_TOLERANCE))
    if bad.size:
        k = int(bad[0])
        raise ModelError(
            f"{where(k)}: Euler parameters {rotation[k].tolist()} have the norm {norm[k]:.9g}, not 1; "
            "they are (e0, e1, e2, e3), scalar first"
        )
    # A row that is already normalised stays unchanged, because a division would change its last digit.
    exact = np.abs(norm - 1.0) <= 4 * np.finfo(float).eps
    return np.where(exact[:, None], rotation, rotation / norm[:, None])


def positive_masses(mass: np.ndarray, where: Callable[[int], str]) -> None:
    """Raises ModelError unless every mass is positive."""
    bad = np.flatnonzero(~(mass > 0.0))
    if bad.size:
        raise ModelError(f"{where(int(bad[0]))}: mass must be positive, got {mass[bad[0]]:g}")


def possible_inertias(inertia: np.ndarray, where: Callable[[int], str]) -> None:
    """Raises ModelError unless every inertia about a centre of mass, (xx, xy, xz, yy, yz, zz), is physically possible:
    no principal moment is negative or larger than the sum of the other two."""
    a = inertia
    principal = np.sort(a[:, [0, 3, 5]], axis=1)
    coupled = np.flatnonzero((a[:, [1, 2, 4]] != 0.0).any(axis=1))
    if coupled.size:
        full = a[coupled][:, [0, 1, 2, 1, 3, 4, 2, 4, 5]].reshape(-1, 3, 3)
        principal[coupled] = np.linalg.eigvalsh(full)
    rounding = 1e-12 * np.abs(principal).max(axis=1, initial=0.0)
    bad = np.flatnonzero(principal[:, 0] < -rounding)
    if bad.size:
        k = int(bad[0])
        raise ModelError(f"{where(k)}: a principal moment of inertia is negative: {principal[k].tolist()}")
    bad = np.flatnonzero(principal[:, 2] > principal[:, 0] + principal[:, 1] + rounding)
    if bad.size:
        k = int(bad[0])
        raise ModelError(
            f"{where(k)}: no body has the principal moments of inertia {principal[k].tolist()}: the largest exceeds "
            "the sum of the other two (triangle inequality); inertia is about the centre of mass"
        )


def symmetric(inertia: Any, units: UnitSystem, where: str) -> np.ndarray:
    """Convert a scalar, three principal moments or a 3x3 matrix to (xx, xy, xz, yy, yz, zz). Raises ModelError."""
    try:
        shape = floats(inertia, lambda text: 0.0).shape
    except ValueError as reason:
        raise ModelError(f"{where}: {reason}") from None
    if shape == ():
        s = float(array(inertia, (), "inertia", units, where))
        return np.array([s, 0.0, 0.0, s, 0.0, s])
    if shape == (3,):
        a, b, c = array(inertia, (3,), "inertia", units, where)
        return np.array([a, 0.0, 0.0, b, 0.0, c])
    if shape == (3, 3):
        full = array(inertia, (3, 3), "inertia", units, where)
        if np.abs(full - full.T).max() > 1e-9 * np.abs(full).max():
            raise ModelError(f"{where}: the inertia matrix is not symmetric: {full.tolist()}")
        half = 0.5 * (full + full.T)
        return half[[0, 0, 0, 1, 1, 2], [0, 1, 2, 1, 2, 2]]
    raise ModelError(f"{where}: inertia is a number, three principal moments or a 3x3 matrix, got shape {shape}")
