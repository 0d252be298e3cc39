"""Groups of joints and modes, prepared for the evaluation of their conditions. The lockable joints and modes are called
*parts* (``lockable.py``)."""

from dataclasses import dataclass

import numpy as np

from articulon.adaptive.conditions import BaseCondition
from articulon.adaptive.lockable import Joints, links_named, modes_named
from articulon.adaptive.settings import Group
from articulon.errors import CaseError, ModelError
from articulon.model import Model


@dataclass(frozen=True, eq=False)
class Members:
    """A prepared group."""

    group: Group
    """Declaration of the group, with quantities in the units of the model."""
    name: str
    """Name of the group in messages."""
    parts: np.ndarray
    """Joints or modes of the group, shape (members,)."""
    rows: np.ndarray
    """Rows of the members in the memory of the criteria, shape (members,)."""
    lock: BaseCondition | None
    """Prepared condition that locks members; None if nothing locks them."""
    release: BaseCondition | None
    """Prepared condition that releases members; None if nothing releases them."""


def members_of(model: Model, joints: Joints, groups: tuple[Group, ...]) -> list[Members]:
    """Prepare the groups: look up their joints and modes, and prepare their conditions.

    Raises
    ------
    CaseError
        For bodies that do not exist, joints without speeds, joints in two groups, and conditions that do not apply to
        the joints or modes.
    """
    result: list[Members] = []
    owner: dict[int, str] = {}
    for k, group in enumerate(groups):
        where = f"adaptive.groups[{k}]"
        name = group.name or where
        try:
            parts = _parts(model, joints, group.bodies, group.modes, f"{where}.bodies")
            if group.without:
                parts = np.setdiff1d(parts, _parts(model, joints, group.without, group.modes, f"{where}.without"))
            lock, release = (
                None if condition is None else condition.prepared(model, parts, f"{where}.{key}")
                for key, condition in (("lock", group.lock), ("release", group.release))
            )
        except ModelError as error:
            raise CaseError(str(error)) from None
        for i in parts.tolist():
            if i in owner:
                part = joints.name(model, i)
                raise CaseError(f"{where}.bodies: {part} is already in {owner[i]}; a part belongs to only one group")
            owner[i] = name
        first = len(owner) - parts.size
        result.append(Members(group, name, parts, first + np.arange(parts.size), lock, release))
    return result


def _parts(
    model: Model, joints: Joints, bodies: tuple[str, ...], modes: str | tuple[int, ...] | None, where: str
) -> np.ndarray:
    """Return the parts that are joints of bodies, or modes of bodies if ``modes`` is given."""
    return links_named(model, bodies, where) if modes is None else modes_named(model, joints, bodies, modes, where)
