"""Tables of a forest and the workspace of a batch of its states for Warp's kernels, and the check that the kernels
support a model.

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
"""Types of all numbers of a batch: 53 bits, or 24."""
_SINGLE = np.finfo(np.float32)


INTEGER, FLAT, TABLE = "integer", "flat", "table"
"""Kinds of a structure's fields: integers (rows,), numbers (rows,), or numbers (rows, columns)."""


def structure(name: str, meaning: str, real: Any, **fields: Any) -> Any:
    """Return a type that passes arrays to kernels under their names, with numbers of a precision."""
    of = {INTEGER: wp.array(dtype=wp.int32), FLAT: wp.array(dtype=real), TABLE: wp.array2d(dtype=real)}
    types = {field: of[what] if isinstance(what, str) else what for field, what in fields.items()}
    return wp.struct(type(name, (), {"__annotations__": types, "__doc__": meaning, "__module__": __name__}))


@cache
def structures(real: Any) -> tuple[Any, Any]:
    """Return the types ``Forest`` and ``Work``, with numbers of a precision."""
    forest = structure(
        "Forest",
        "See ``model/forest_tables.py``, whose rows these are; speeds are counted after coordinates. Also the bodies "
        "and their links.",
        real,
        **dict.fromkeys(("parent", "kind", "q", "u", "slot", "first", "body_link"), INTEGER),
        **dict.fromkeys(("position", "rotation", "axis", "moment", "inertia", "body_offset", "body_turn"), TABLE),
        mass=FLAT,
    )
    work = structure(
        "Work",
        "See ``Workspace`` in ``model/forest_tables.py``: arrays (rows, states), with the rows of link i beginning at "
        "i times their number. Also the acting forces.",
        real,
        **dict.fromkeys(_ROWS, TABLE),
        **dict.fromkeys(("gathered", "tau", "gravity"), TABLE),
    )
    return forest, work


_SIZES = ("mass", "moment", "inertia")
"""Quantities whose values a precision must represent; components of lengths and rotations may underflow."""
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
"""Number of rows per link in the arrays of ``Work``."""


def check_tree_model(model: Model, where: str) -> None:
    """Raise ModelError, with the reason, for a model that tree kernels do not support."""
    reasons = (
        (bool(model.modes), "flexible bodies", "their modes have no kernels there"),
        (model.armature is not None, "armatures of joints", "the kernels include the inertia of links only"),
        (bool(model.loop_joints), "closed loops", "constraint forces have no kernels there"),
        (bool(model.drives), "driven joints", "constraint forces have no kernels there"),
    )
    for found, what, why in reasons:
        if found:
            raise ModelError(f"{where}: the model has {what}, but {why}; compute it on the CPU, without `device`")
    strange = sorted(set(model.forest.kind.tolist()) - set(KINDS))
    if strange:
        names = ", ".join(BY_KIND[kind].__name__ for kind in KINDS)
        raise ModelError(
            f"{where}: joints of the kind {BY_KIND[strange[0]].__name__} have no kernels on a device, unlike "
            f"{names}; compute it on the CPU, without `device`"
        )


def real_of(precision: Any) -> Any:
    """Return Warp's number type of a precision; raise ModelError for an unknown word."""
    return PRECISIONS[word(precision, tuple(PRECISIONS), "precision")]


def integers(values: Any, device: Any) -> Any:
    """Return a table of integers on a device."""
    return wp.array(np.ascontiguousarray(values, dtype=np.int32), dtype=wp.int32, device=device)


def reals(values: Any, real: Any, device: Any, what: str = "") -> Any:
    """Return a table of numbers of a precision on a device. Raise ModelError for numbers of a model outside the range
    of single precision; the message names ``what`` they are."""
    if real is wp.float64:
        return wp.array(np.ascontiguousarray(values, dtype=np.float64), dtype=real, device=device)
    size = np.abs(values)
    lost = (size > 0.0) & ((size < _SINGLE.tiny) | (size > _SINGLE.max))
    if what and lost.any():
        raise ModelError(
            f"precision: 'single' cannot represent {np.asarray(values)[lost].flat[0]:.3g} ({what}): its range is "
            f"{_SINGLE.tiny:.2g} to {_SINGLE.max:.2g}; use other units, or precision='double'"
        )
    return wp.array(np.ascontiguousarray(values, dtype=np.float32), dtype=real, device=device)


def forest_of(model: Model, real: Any, device: Any) -> Any:
    """Return the tables of a model on a device."""
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
    """Return the numbers of rows of the arrays of ``Work``."""
    links, slots = model.forest.mass.size, int(model.forest.slot.max(initial=-1)) + 1
    return {**{name: k * links for name, k in _ROWS.items()}, "gathered": 27 * slots, "tau": model.nu, "gravity": 3}


def work_of(model: Model, states: int, real: Any, device: Any) -> Any:
    """Return a zeroed workspace for a number of states.

    Raises
    ------
    ModelError
        If the states do not fit into the memory of the device; the message gives the sizes.
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
    except RuntimeError as failure:  # other programs use the memory too
        raise _too_large(states, needed, f"{device.alias} has no memory left ({failure})") from None
    return work


def _too_large(states: int, needed: float, there: str) -> ModelError:
    return ModelError(
        f"states: {states:,} states of this model need at least {amount(needed)}, but {there}; use fewer at once, or "
        "precision='single'"
    )
