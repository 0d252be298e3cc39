"""A forest of trees, and the scratch of a batch of its states, as Warp's kernels read them; and which models they take.

Arrays of a batch are (rows, states): neighbouring threads read neighbouring numbers.
"""

from functools import cache
from typing import Any

import numpy as np

from articulon.errors import ModelError
from articulon.gpu.devices import load_warp
from articulon.gpu.tree_joints import KINDS
from articulon.inputs import word
from articulon.model import Model, kernel_tables
from articulon.model.joints import BY_KIND
from articulon.sizes import amount

wp = load_warp()

PRECISIONS = {"double": wp.float64, "single": wp.float32}
"""Of all numbers of a batch: 53 bits, or 24."""


@cache
def structures(real: Any) -> tuple[Any, Any]:
    """The types ``Forest`` and ``Work`` with numbers of a precision."""

    @wp.struct
    class Forest:
        """See ``model/forest_tables.py``, whose rows these are, and the bodies on their links."""

        parent: wp.array(dtype=wp.int32)
        kind: wp.array(dtype=wp.int32)
        q: wp.array(dtype=wp.int32)
        u: wp.array(dtype=wp.int32)
        slot: wp.array(dtype=wp.int32)
        first: wp.array(dtype=wp.int32)
        position: wp.array2d(dtype=real)
        rotation: wp.array2d(dtype=real)
        axis: wp.array2d(dtype=real)
        mass: wp.array(dtype=real)
        moment: wp.array2d(dtype=real)
        inertia: wp.array2d(dtype=real)
        body_link: wp.array(dtype=wp.int32)
        body_offset: wp.array2d(dtype=real)

    @wp.struct
    class Work:
        """See ``Workspace`` in ``model/forest_tables.py``; rows of link i begin at i times their number."""

        quaternion: wp.array2d(dtype=real)
        reach: wp.array2d(dtype=real)
        position: wp.array2d(dtype=real)
        twist: wp.array2d(dtype=real)
        bias: wp.array2d(dtype=real)
        record: wp.array2d(dtype=real)
        acceleration: wp.array2d(dtype=real)
        gathered: wp.array2d(dtype=real)
        wrench: wp.array2d(dtype=real)
        tau: wp.array2d(dtype=real)
        gravity: wp.array2d(dtype=real)

    return Forest, Work


def check_tree_model(model: Model, where: str) -> None:
    """Raises ModelError, with the reason, for what kernels of trees do not take."""
    reasons = (
        (bool(model.modes), "flexible bodies", "their modes have no kernels there"),
        (bool(model.loop_joints), "closed loops", "forces of constraint have no kernels there"),
        (bool(model.drives), "driven joints", "forces of constraint have no kernels there"),
    )
    for found, what, why in reasons:
        if found:
            raise ModelError(f"{where}: the model has {what}, and {why}; compute it on the CPU, without `device`")
    strange = sorted(set(model.forest.kind.tolist()) - set(KINDS))
    if strange:
        names = ", ".join(BY_KIND[kind].__name__ for kind in KINDS)
        raise ModelError(
            f"{where}: there are no kernels for joints of the kind {BY_KIND[strange[0]].__name__} on a device, but for "
            f"{names}; compute it on the CPU, without `device`"
        )


def real_of(precision: Any) -> Any:
    """Warp's type of the numbers of a precision; raises ModelError for a word that is none."""
    return PRECISIONS[word(precision, tuple(PRECISIONS), "precision")]


def integers(values: Any, device: Any) -> Any:
    """A table of whole numbers on a device."""
    return wp.array(np.ascontiguousarray(values, dtype=np.int32), dtype=wp.int32, device=device)


def reals(values: Any, real: Any, device: Any) -> Any:
    """A table of numbers of a precision on a device."""
    given = np.ascontiguousarray(values, dtype=np.float64 if real is wp.float64 else np.float32)
    return wp.array(given, dtype=real, device=device)


def forest_of(model: Model, real: Any, device: Any) -> Any:
    """The tables of a model on a device."""
    table, f = structures(real)[0](), kernel_tables(model).forest
    for name in ("parent", "kind", "slot", "first"):
        setattr(table, name, integers(getattr(f, name), device))
    table.q, table.u = integers(f.q_start, device), integers(f.u_start + model.nq, device)
    for name in ("position", "rotation", "axis", "mass", "moment", "inertia"):
        setattr(table, name, reals(getattr(f, name), real, device))
    table.body_link = integers(model.link, device)
    table.body_offset = reals(model.offset_position, real, device)
    return table


def work_rows(model: Model) -> dict[str, int]:
    """Rows of the arrays of ``Work``."""
    links, slots = model.forest.mass.size, int(model.forest.slot.max(initial=-1)) + 1
    each = {"quaternion": 4, "reach": 3, "position": 3, "twist": 6, "bias": 6, "record": 12, "acceleration": 6, "wrench": 6}
    return {**{name: k * links for name, k in each.items()}, "gathered": 27 * slots, "tau": model.nu, "gravity": 3}


def work_of(model: Model, states: int, real: Any, device: Any) -> Any:
    """Scratch for a number of states, zeroed.

    Raises
    ------
    ModelError
        With its size, where it does not fit into the device's memory.
    """
    rows = work_rows(model)
    work = structures(real)[1]()
    try:
        for name, count in rows.items():
            setattr(work, name, wp.zeros((max(count, 1), states), dtype=real, device=device))
    except RuntimeError as failure:
        size = amount(float(sum(rows.values())) * states * (8 if real is wp.float64 else 4))
        raise ModelError(
            f"states: {states:,} states of this model take {size} beside their own numbers, which {device} has not "
            f"({failure}); take fewer at once, or precision='single'"
        ) from None
    return work
