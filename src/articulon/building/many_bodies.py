"""Conversion of the values given for many bodies to columns of a builder. There is one value for all bodies, or one
each."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from articulon.errors import ModelError
from articulon.inputs import finite, shown, whole, words
from articulon.inputs import floats as as_floats
from articulon.model import body_checks
from articulon.model.joints import Joint
from articulon.sizes import PARTICLE, check_size

LARGEST_INDEX = 2**52
"""Largest index that a float represents exactly."""


def columns_of_many(
    count: Any,
    first: int,
    known: Collection[str],
    *,
    joint: Any,
    names: Any,
    parents: Any,
    q: Any,
    u: Any,
    mass: Any,
    inertia: Any,
    com: Any,
    position: Any,
    rotation: Any,
) -> tuple[list[str], list[Joint], dict[str, np.ndarray]]:
    """Return names, joints and columns of many bodies, from the arguments of :meth:`articulon.ModelBuilder.add_bodies`.

    Parameters
    ----------
    count, joint, names, parents, q, u, mass, inertia, com, position, rotation
        Arguments of ``add_bodies``.
    first
        Index of the first of the new bodies in the model.
    known
        Names of the bodies added before.

    Raises
    ------
    ModelError
        For impossible values; the message names the first body concerned.
    """
    count = whole(count, "add_bodies, count", least=0)
    check_size(count, PARTICLE, "bodies", "add_bodies, count", error=ModelError)
    joints = _joints(joint, count)
    names = names if isinstance(names, str) else words(names, "add_bodies, names")
    listed = [f"{names}-{first + k}" for k in range(count)] if isinstance(names, str) else list(names)
    if len(listed) != count or len(joints) != count:
        raise ModelError(f"add_bodies: {count} bodies, but {len(listed)} names and {len(joints)} joints")
    given = _Given(listed)
    parent = given.parents(parents, first)
    twins = [name for name in listed if name in known]
    if twins or len(set(listed)) != count:
        twin = twins[0] if twins else next(name for name in listed if listed.count(name) > 1)
        raise ModelError(f"body '{twin}': there is already a body of this name")
    moments = given.moments(inertia)
    start_q, start_u = given.start(joints, q, u)
    mass_rows, inertia_rows = given.rows(mass, 0, "mass"), given.rows(moments, 6, "inertia")
    body_checks.positive_masses(mass_rows, given.where)
    body_checks.possible_inertias(inertia_rows, given.where)
    rotations = given.rows(rotation, 4, "rotation")
    return (
        listed,
        joints,
        {
            "parent": parent,
            "mass": mass_rows,
            "rotation": body_checks.unit_quaternions(rotations, lambda k: f"{given.where(k)}, rotation"),
            "com": given.rows(com, 3, "com"),
            "inertia": inertia_rows,
            "position": given.rows(position, 3, "position"),
            "q": start_q,
            "u": start_u,
            "given_q": np.full(start_u.size, q is not None),
            "given_u": np.full(start_u.size, u is not None),
        },
    )


def _joints(joint: Any, count: int) -> list[Joint]:
    if isinstance(joint, Joint):
        return [joint] * count
    if not isinstance(joint, Sequence) or len(joint) != count:
        raise ModelError(f"add_bodies, joint: expected one or {count} of them, got {shown(joint)}")
    wrong = [one for one in joint if not isinstance(one, Joint)]
    if wrong:
        raise ModelError(f"add_bodies, joint: expected one joint for all bodies, or one each, got {shown(wrong[0])}")
    return list(joint)


class _Given:
    """Parses the values given for bodies with the given names."""

    def __init__(self, names: list[str]) -> None:
        self.names, self.count = names, len(names)

    def where(self, k: int) -> str:
        return f"body '{self.names[k]}'"

    def floats(self, value: Any, what: str) -> np.ndarray:
        try:
            return as_floats(value)
        except ValueError as reason:
            raise ModelError(f"add_bodies, {what}: {reason}") from None

    def rows(self, value: Any, width: int, what: str) -> np.ndarray:
        """Return a row for each body, or a number for each if the width is 0."""
        shape = (self.count, width) if width else (self.count,)
        given = self.floats(value, what)
        try:
            result = np.broadcast_to(given, shape).copy()
        except ValueError:
            raise ModelError(f"add_bodies, {what}: expected shape {shape}, got {given.shape}") from None
        bad = np.flatnonzero(~np.isfinite(result.reshape(self.count, -1)).all(axis=1))
        if bad.size:
            raise ModelError(f"{self.where(int(bad[0]))}, {what}: not finite")
        return result

    def parents(self, given: Any, first: int) -> np.ndarray:
        """Return the indices of the parents, shape (bodies,). Each parent comes before its children."""
        try:
            parent = np.broadcast_to(self.floats(-1 if given is None else given, "parents"), (self.count,)).copy()
        except ValueError:
            raise ModelError(
                f"add_bodies, parents: expected one for all or {self.count}, got {np.shape(given)}"
            ) from None
        strange = np.flatnonzero(~(parent == np.rint(parent)) | (np.abs(parent) > LARGEST_INDEX))
        if strange.size:
            raise ModelError(f"add_bodies, parents: expected numbers of bodies, got {parent[strange[0]]:g}")
        parent = parent.astype(np.int64)
        late = np.flatnonzero((parent >= first + np.arange(self.count)) | (parent < -1))
        if late.size:
            k = int(late[0])
            raise ModelError(
                f"{self.where(k)}: its parent, body {parent[k]}, does not come before it; parents come first"
            )
        return parent

    def moments(self, inertia: Any) -> np.ndarray:
        """Return the moments xx, xy, xz, yy, yz, zz about the centres of mass, shape (..., 6)."""
        count, moments = self.count, self.floats(inertia, "inertia")
        same = (moments == moments.flat[0]).all() if moments.ndim == 1 and moments.size else not moments.any()
        if count == 3 and moments.shape in ((3,), (3, 3)) and not same:
            one, all_ = ("a number", "three moments") if moments.ndim == 1 else ("three moments", "a matrix")
            raise ModelError(
                f"add_bodies, inertia: of three bodies, the shape {moments.shape} may be {one} for each or {all_} for "
                f"all; give {(3, 1) if moments.ndim == 1 else (3, 3, 3)} or {(1, *moments.shape)} to distinguish them"
            )
        if moments.shape[-2:] == (3, 3):
            if np.abs(moments - np.swapaxes(moments, -1, -2)).max() > 1e-9 * np.abs(moments).max():
                raise ModelError("add_bodies, inertia: the inertia matrices must be symmetric")
            return np.asarray(moments[..., [0, 0, 0, 1, 1, 2], [0, 1, 2, 1, 2, 2]])
        diagonal = self.rows(moments[..., None] if moments.shape in ((), (count,)) else moments, 3, "inertia")
        found = np.zeros((count, 6))
        found[:, [0, 3, 5]] = diagonal
        return found

    def start(self, joints: list[Joint], q: Any, u: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return the concatenated initial coordinates and speeds of all joints."""
        start_q = np.concatenate([j.zero() for j in joints]) if q is None else np.array(self.floats(q, "q"))
        sizes_q, sizes_u = np.array([j.nq for j in joints]), np.array([j.nu for j in joints])
        start_u = np.zeros(int(sizes_u.sum())) if u is None else np.array(self.floats(u, "u"))
        if start_q.shape != (sizes_q.sum(),) or start_u.shape != (sizes_u.sum(),):
            raise ModelError(f"add_bodies: q and u need the shapes ({sizes_q.sum()},) and ({sizes_u.sum()},)")
        finite(start_q, "add_bodies, q")
        finite(start_u, "add_bodies, u")
        turning = np.array([-1 if j.quaternion is None else j.quaternion for j in joints])
        at = ((np.cumsum(sizes_q) - sizes_q) + turning)[turning >= 0]
        owner = np.flatnonzero(turning >= 0)
        grid = at[:, None] + np.arange(4)
        start_q = start_q.copy()
        start_q[grid] = body_checks.unit_quaternions(start_q[grid], lambda k: f"{self.where(int(owner[k]))}, q")
        return start_q, start_u
