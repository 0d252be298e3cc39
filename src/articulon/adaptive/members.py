"""Groups of joints and modes, made ready to be asked for."""

from dataclasses import dataclass

import numpy as np

from articulon.adaptive.conditions import BaseCondition
from articulon.adaptive.lockable import Joints, links_named, modes_named
from articulon.adaptive.settings import Group
from articulon.errors import CaseError, ModelError
from articulon.model import Model


@dataclass(frozen=True, eq=False)
class Members:
    """A group made ready."""

    group: Group
    """Its declaration, quantities in the model's units."""
    name: str
    """What messages call it."""
    parts: np.ndarray
    """The joints or modes that they are, shape (members,)."""
    rows: np.ndarray
    """Their rows in the criteria's memory, shape (members,)."""
    lock: BaseCondition | None
    """What locks them, made ready."""
    release: BaseCondition | None
    """What releases them, made ready."""


def members_of(model: Model, joints: Joints, groups: tuple[Group, ...]) -> list[Members]:
    """The groups with their joints.

    Raises
    ------
    CaseError
        For bodies that do not exist, joints without speeds, joints in two groups, and conditions that cannot be asked
        of them.
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
                raise CaseError(f"{where}.bodies: {part} is in {owner[i]} already; each is in one group")
            owner[i] = name
        first = len(owner) - parts.size
        result.append(Members(group, name, parts, first + np.arange(parts.size), lock, release))
    return result


def _parts(
    model: Model, joints: Joints, bodies: tuple[str, ...], modes: str | tuple[int, ...] | None, where: str
) -> np.ndarray:
    """Joints of bodies, or their modes."""
    return links_named(model, bodies, where) if modes is None else modes_named(model, joints, bodies, modes, where)
