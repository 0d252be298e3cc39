"""Compiled passes over contacts for each law."""

from functools import cache
from typing import Any, NamedTuple

from numba import types

from articulon.forces.contact import (
    contact_batches,
    contact_candidates,
    contact_history,
    contact_law,
    contact_pairs,
    rolling_resistance,
    wall_lists,
    wall_pass,
)
from articulon.forces.contact.contact_tables import KEPT_TYPE, PASS, SYSTEM
from articulon.kernel_variants import leaf_variant, part, specialised
from articulon.kernels import kernel, prepare

LIST = types.void(SYSTEM)
"""Signature of the passes that list candidates and store contacts."""


@kernel(called="value")
def no_pass(system, time, h):
    """Do nothing."""


@kernel(called="value")
def no_list(system):
    """Do nothing."""


def _value(signature: Any, function: Any, name: str, **parts: Any) -> Any:
    return prepare(specialised(function, name, allocates=True, called="value", **parts), signature)


class Law(NamedTuple):
    """A contact law and its parts, as compiled functions; see ``contact_law.py``."""

    label: str
    contact: Any
    arms: Any
    parts: dict[str, Any]
    """The parts by the names that the loops over pairs use."""


@cache
def law_leaves(normal: str, tangential: str, damping: str, tail: bool, convention: str) -> Law:
    """Compile a contact law."""
    names = (normal, tangential, damping, "tail" if tail else "clipped", convention)
    label = "_".join(names).replace("-", "_")
    lammps = convention == "lammps"
    carried = leaf_variant(contact_law.carried, f"carried_{label}", LAMMPS=lammps)
    grips, restores = tangential != "none", damping == "restitution"
    width = leaf_variant(contact_law.contact_width, f"contact_width_{label}", HERTZ=normal == "hertz")
    damping_of = leaf_variant(contact_law.damping_of, f"damping_of_{label}", RESTORES=restores)
    forces = leaf_variant(
        contact_law.forces, f"forces_{label}", GRIPS=grips, RESTORES=restores, TAIL=tail, LAMMPS=lammps
    )
    contact = leaf_variant(
        contact_law.contact,
        f"contact_{label}",
        GRIPS=grips,
        carried=carried,
        contact_width=width,
        damping_of=damping_of,
        forces=forces,
    )
    arms = leaf_variant(contact_law.arms, f"arms_{label}", LAMMPS=lammps)
    before = leaf_variant(contact_law.viscous_before, f"viscous_before_{label}", TAIL=tail, LAMMPS=lammps)
    parts = {
        "CARRIED": carried,
        "CONTACT_WIDTH": width,
        "DAMPING_OF": damping_of,
        "FORCES": forces,
        "ARMS": arms,
        "VISCOUS_BEFORE": before,
        "lever": leaf_variant(contact_batches.lever, f"lever_{label}", ARMS=arms, LAMMPS=lammps),
        "RESTORES": restores,
        "LAMMPS": lammps,
    }
    return Law(label, contact, arms, parts)


@cache
def pair_leaf(law: str, one_kind: bool, **parts: Any) -> tuple[str, Any]:
    """Return the name of the function that evaluates the pairs of a block of places, and the function."""
    name = f"{law}{'_one_kind' if one_kind else ''}"
    entry = leaf_variant(contact_batches.entry, f"entry_{name}", ONE_KIND=one_kind)
    stages = {
        stage.py_func.__name__: leaf_variant(stage, f"{stage.py_func.__name__}_{name}", entry=entry, **parts)
        for stage in (
            contact_batches.measure,
            contact_batches.find_velocities,
            contact_batches.turn,
            contact_batches.act,
            contact_batches.book,
        )
    }
    gather = leaf_variant(contact_pairs.gather, f"gather_{name}", ONE_KIND=one_kind)
    return name, leaf_variant(contact_pairs.pair_block, f"pair_block_{name}", gather=gather, **stages)


@cache
def pair_kernel(name: str, block: Any, parallel: bool) -> Any:
    """Compile the pass over pairs of spheres from a named function for blocks."""
    how = f"{name}_{'parallel' if parallel else 'serial'}"
    strip = leaf_variant(contact_pairs.pair_strip, f"pair_strip_{name}", pair_block=block)
    share = part(contact_pairs.share_pairs, f"share_pairs_{how}", parallel, pair_strip=strip)
    return _value(PASS, contact_pairs.pair_pass, f"pair_pass_{how}", SHARE=share)


@cache
def resistance_kernel(normal: str, convention: str, parallel: bool) -> Any:
    """Compile the pass for rolling and twisting resistance."""
    lammps = convention == "lammps"
    name = f"{normal}_{convention}"
    carried = leaf_variant(contact_law.carried, f"carried_rolling_{name}", LAMMPS=lammps)
    resist = leaf_variant(rolling_resistance.resist, f"resist_{name}", HERTZ=normal == "hertz", carried=carried)
    strip = leaf_variant(rolling_resistance.resist_strip, f"resist_strip_{name}", resist=resist)
    how = f"{name}_{'parallel' if parallel else 'serial'}"
    share = part(rolling_resistance.share_resistance, f"share_resistance_{how}", parallel, resist_strip=strip)
    return _value(PASS, rolling_resistance.resistance_pass, f"resistance_pass_{how}", SHARE=share)


@cache
def list_kernel(parallel: bool) -> Any:
    """Compile the pass that lists pairs of spheres."""
    how = "parallel" if parallel else "serial"
    count, fill, give = (
        part(function, f"{function.__name__}_{how}", parallel)
        for function in (contact_candidates.count_all, contact_candidates.fill_all, contact_candidates.return_all)
    )
    return _value(LIST, contact_candidates.list_pairs, f"list_pairs_{how}", COUNT=count, FILL=fill, RETURN=give)


@cache
def keep_kernel(parallel: bool, whole: bool) -> Any:
    """Compile the pass that stores all contacts in ``Kept``, for a new list or, with whole records, for a state."""
    how = "parallel" if parallel else "serial"
    return _value(
        LIST, contact_history.keep, f"keep_{'records' if whole else 'pasts'}_{how}", **_keep_parts(parallel, whole)
    )


@cache
def _keep_parts(parallel: bool, whole: bool) -> dict[str, Any]:
    how = "parallel" if parallel else "serial"
    count, share = (
        part(function, f"{function.__name__}_contacts_{how}", parallel)
        for function in (contact_history.count_all, contact_history.keep_all)
    )
    return {"COUNT": count, "SHARE": share, "WHOLE": whole}


@cache
def state_kernels(parallel: bool) -> tuple[Any, ...]:
    """Compile the passes that load contacts from a state, find their order in it, and store them in it."""
    how = "parallel" if parallel else "serial"
    line, table, contact_pairs = types.int64[::1], types.float64[:, ::1], types.int64[:, ::1]
    found = []
    for function, taken in (
        (contact_history.take_pairs, (table, line, KEPT_TYPE)),
        (contact_history.order_pairs, (line, line, line, types.int64)),
        (contact_history.give_pairs, (KEPT_TYPE, line, line, types.int64, contact_pairs, table)),
    ):
        name = f"{function.__name__}_{how}"
        one = specialised(
            function, name, parallel=parallel and function is not contact_history.order_pairs, allocates=True
        )
        found.append(prepare(one, types.void(*taken)))
    return tuple(found)


@cache
def wall_kernel(label: str, law: Any, arms: Any, parallel: bool) -> Any:
    """Compile the pass over spheres and walls."""
    how = "parallel" if parallel else "serial"
    act = leaf_variant(wall_pass.act, f"act_{label}", CONTACT=law, arms=arms)
    block = leaf_variant(wall_pass.wall_block, f"wall_block_{label}", act=act)
    share = part(wall_pass.share_walls, f"share_walls_{label}_{how}", parallel, wall_block=block)
    return _value(PASS, wall_pass.wall_pass, f"wall_pass_{label}_{how}", SHARE=share)


@cache
def wall_list_kernel(parallel: bool) -> Any:
    """Compile the pass that lists spheres near walls."""
    return _value(
        LIST, wall_lists.list_walls, f"list_walls_{'parallel' if parallel else 'serial'}", **_wall_list_parts(parallel)
    )


@cache
def _wall_list_parts(parallel: bool) -> dict[str, Any]:
    how = "parallel" if parallel else "serial"
    find, count, fill = (
        part(function, f"{function.__name__}_{how}", parallel)
        for function in (wall_lists.find_outside, wall_lists.count_walls, wall_lists.fill_walls)
    )
    return {"FIND": find, "COUNT": count, "FILL": fill}


@cache
def wall_setter() -> Any:
    """Compile the pass that places walls at a given time."""
    return prepare(wall_pass.set_walls, types.void(SYSTEM, types.float64))
