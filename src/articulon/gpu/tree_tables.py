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
from articulon.sizes import amount, memory

wp = load_warp()

PRECISIONS = {"double": wp.float64, "single": wp.float32}
"""Of all numbers of a batch: 53 bits, or 24."""
_SINGLE = np.finfo(np.float32)


INTEGER, FLAT, TABLE = "integer", "flat", "table"
"""What a field of a structure is: whole numbers (rows,), numbers (rows,), or numbers (rows, columns)."""


def structure(name: str, meaning: str, real: Any, **fields: Any) -> Any:
    """A type that hands arrays to kernels under their names, with numbers of a precision."""
    of = {INTEGER: wp.array(dtype=wp.int32), FLAT: wp.array(dtype=real), TABLE: wp.array2d(dtype=real)}
    types = {field: of[what] if isinstance(what, str) else what for field, what in fields.items()}
    return wp.struct(type(name, (), {"__annotations__": types, "__doc__": meaning, "__module__": __name__}))


@cache
def structures(real: Any) -> tuple[Any, Any]:
    """The types ``Forest`` and ``Work`` with numbers of a precision."""
    forest = structure(
        "Forest",
        "See ``model/forest_tables.py``, whose rows these are: speeds are counted after coordinates. And the bodies on "
        "their links.",
        real,
        **dict.fromkeys(("parent", "kind", "q", "u", "slot", "first", "body_link"), INTEGER),
        **dict.fromkeys(("position", "rotation", "axis", "moment", "inertia", "body_offset", "body_turn"), TABLE),
        mass=FLAT,
    )
    work = structure(
        "Work",
        "See ``Workspace`` in ``model/forest_tables.py``: arrays (rows, states), the rows of link i from i times their "
        "number on. And the forces that act.",
        real,
        **dict.fromkeys(_ROWS, TABLE),
        **dict.fromkeys(("gathered", "tau", "gravity"), TABLE),
    )
    return forest, work


_SIZES = ("mass", "moment", "inertia")
"""What a precision must be able to hold; components of lengths and rotations may be as small as rounding."""
_ROWS = {
    "quaternion": 4,
    "reach": 3,
    "position": 3,
    "twist": 6,
    "bias": 6,
    "record": 12,
    "acceleration": 6,
    "wrench": 6,
}
"""Rows of each link in the arrays of ``Work``."""


def check_tree_model(model: Model, where: str) -> None:
    """Raises ModelError, with the reason, for what kernels of trees do not take."""
    reasons = (
        (bool(model.modes), "flexible bodies", "their modes have no kernels there"),
        (model.armature is not None, "armatures of joints", "the solution there knows the inertia of links alone"),
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


def reals(values: Any, real: Any, device: Any, what: str = "") -> Any:
    """A table of numbers of a precision on a device. Raises ModelError, saying ``what`` it is of, for numbers of a
    model that single precision has not."""
    if real is wp.float64:
        return wp.array(np.ascontiguousarray(values, dtype=np.float64), dtype=real, device=device)
    size = np.abs(values)
    lost = (size > 0.0) & ((size < _SINGLE.tiny) | (size > _SINGLE.max))
    if what and lost.any():
        raise ModelError(
            f"precision: 'single' has no number {np.asarray(values)[lost].flat[0]:.3g} ({what}): they go from "
            f"{_SINGLE.tiny:.2g} to {_SINGLE.max:.2g}; take other units, or precision='double'"
        )
    return wp.array(np.ascontiguousarray(values, dtype=np.float32), dtype=real, device=device)


def forest_of(model: Model, real: Any, device: Any) -> Any:
    """The tables of a model on a device."""
    table, f = structures(real)[0](), kernel_tables(model).forest
    for name in ("parent", "kind", "slot", "first"):
        setattr(table, name, integers(getattr(f, name), device))
    table.q, table.u = integers(f.q_start, device), integers(f.u_start + model.nq, device)
    for name in ("position", "rotation", "axis", "mass", "moment", "inertia"):
        setattr(table, name, reals(getattr(f, name), real, device, f"{name} of a link" if name in _SIZES else ""))
    table.body_link = integers(model.link, device)
    table.body_offset = reals(model.offset_position, real, device)
    table.body_turn = reals(model.offset_rotation, real, device)
    return table


def work_rows(model: Model) -> dict[str, int]:
    """Rows of the arrays of ``Work``."""
    links, slots = model.forest.mass.size, int(model.forest.slot.max(initial=-1)) + 1
    return {**{name: k * links for name, k in _ROWS.items()}, "gathered": 27 * slots, "tau": model.nu, "gravity": 3}


def work_of(model: Model, states: int, real: Any, device: Any) -> Any:
    """Scratch for a number of states, zeroed.

    Raises
    ------
    ModelError
        With the size, where the states do not fit into the memory of the device.
    """
    rows = work_rows(model)
    numbers = sum(rows.values()) + 2 * (model.nq + model.nu)
    needed = float(numbers) * states * (8 if real is wp.float64 else 4)
    there = device.total_memory if device.is_cuda else memory()
    if needed > there:
        raise _too_large(states, needed, f"{device.alias} has {amount(there)}")
    work = structures(real)[1]()
    try:
        for name, count in rows.items():
            setattr(work, name, wp.zeros((max(count, 1), states), dtype=real, device=device))
    except RuntimeError as failure:  # others use the memory too
        raise _too_large(states, needed, f"{device.alias} has no room left ({failure})") from None
    return work


def _too_large(states: int, needed: float, there: str) -> ModelError:
    return ModelError(
        f"states: {states:,} states of this model take {amount(needed)} or more, and {there}; take fewer at once, or "
        "precision='single'"
    )
