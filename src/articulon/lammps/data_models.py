"""Build a model from a LAMMPS data file: the user says what is rigid; all other atoms are free points."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from articulon.building import ModelBuilder
from articulon.declaration import nearest as nearest_word
from articulon.errors import ModelError
from articulon.inputs import shown, words
from articulon.lammps.bonded_chains import KINDS, bonded_chains
from articulon.lammps.bonded_coefficients import bonded_forces
from articulon.lammps.data_file import FAMILIES, DataFile
from articulon.lammps.data_reading import read_data_file
from articulon.lammps.force_commands import Commands, read_commands, types_of
from articulon.lammps.molecule_images import joined_pieces, unwrapped
from articulon.lammps.pair_coefficients import exclusions, pair_forces
from articulon.lammps.rigid_bodies import Bodies
from articulon.lammps.rigid_parts import (
    Group,
    check_beside,
    check_lengths,
    group_chain,
    owners,
    pairs_of,
    rigid_groups,
    rigid_parts,
    rigid_types,
    through_faces,
)
from articulon.lammps.unit_styles import UnitStyle, unit_style
from articulon.model import Model
from articulon.model.box import Box


class Source(NamedTuple):
    """The data file of a model, and the notes on what was inferred."""

    data: DataFile
    inferred: tuple[str, ...]


_SOURCES: WeakKeyDictionary[Model, Source] = WeakKeyDictionary()
"""Sources of the models that were read; an entry exists as long as its model."""


def read_data(
    path: str | Path | DataFile,
    *,
    units: str = "lj",
    atom_style: str | None = None,
    boundary: str = "p p p",
    commands: Sequence[str] | str = (),
    rigid_bonds: Any = (),
    rigid_groups: Any = (),
    leave_out: Sequence[str] = (),
    forces: Sequence[Any] = (),
    chains: bool = True,
) -> Model:
    """Read the model of a LAMMPS data file. Site k is the k-th atom in the order of ids.

    Parameters
    ----------
    path
        The file, or its contents from :func:`read_data_file`.
    units
        LAMMPS's unit style: ``lj`` or ``real``. The units of ``real``, g/mol, Å, fs, kcal/mol and e, become Da, nm and
        ps.
    atom_style
        Atom style, if the file does not give it.
    boundary
        LAMMPS's boundaries: ``p`` for a periodic direction; any other direction is open here.
    commands
        Commands of an input script that complement the file: ``pair_style lj/cut 2.5``, ``pair_modify shift yes``,
        ``pair_coeff``, ``bond_style``, ``bond_coeff`` and so on, ``special_bonds`` (by default, as in LAMMPS, pairs up
        to three bonds apart do not interact), ``dielectric``, ``mass``.
    rigid_bonds
        Types of bonds that keep their lengths in the file. Each bond becomes a joint with two degrees of freedom,
        ``Swing``, between two points. With a spherical joint, a rod could also rotate about its own axis; because the
        rod has no inertia about that axis, its accelerations would be undetermined.
    rigid_groups
        Groups of atoms that form one body each, given by the id of a molecule or by a list of atom ids.
    leave_out
        Parts that have no counterpart here and are deliberately left out: ``pairs``, ``impropers``, or one type, such
        as ``angle 2``.
    forces
        Further forces of ``ar.forces``. In them, the kind of a site is the label of its atom type, or the number of the
        type.
    chains
        Whether molecules become the model's polymer chains, ``Model.chains``, for which runs compute statistics. Such a
        molecule has at least four beads, and its bonds form a linear chain, a ring, or a star with arms of at least two
        beads.

    Returns
    -------
    Model
        :func:`inferred` returns what was assumed or left out, and :func:`data_of` returns the file.

    Raises
    ------
    ModelError
        For invalid contents or arguments; the message names the file and the line, or the argument.
    """
    data = path if isinstance(path, DataFile) else read_data_file(path, atom_style=atom_style)
    if not isinstance(chains, bool):
        raise ModelError(f"chains: expected True or False, got {shown(chains)}")
    style = unit_style(units)
    builder = ModelBuilder(units=style.system)
    notes = populate(builder, data, style, boundary, commands, rigid_bonds, rigid_groups, leave_out, chains)
    for force in forces:
        builder.add_force(force)
    model = builder.build()
    _SOURCES[model] = Source(data, notes)
    return model


def data_of(model: Model) -> DataFile:
    """Return the data file of a model from :func:`read_data`; raise ModelError for a model from elsewhere.

    Parameters
    ----------
    model
        A model of :func:`read_data`.
    """
    return _source(model, "data_of").data


def inferred(model: Model) -> tuple[str, ...]:
    """Return what :func:`read_data` assumed or left out, one line each; raise ModelError for a model from elsewhere.

    Parameters
    ----------
    model
        A model of :func:`read_data`.
    """
    return _source(model, "inferred").inferred


def source_of(model: Model) -> DataFile | None:
    """Return the data file of a model; None if this process did not read the model from a data file."""
    found = _SOURCES.get(model)
    return None if found is None else found.data


def _source(model: Model, where: str) -> Source:
    found = _SOURCES.get(model) if isinstance(model, Model) else None
    if found is None:
        raise ModelError(f"{where}: expected a model from read_data in this process, got {shown(model)}")
    return found


def populate(
    builder: ModelBuilder,
    data: DataFile,
    units: UnitStyle,
    boundary: str,
    commands: Sequence[str] | str,
    rigid_bonds_given: Any,
    rigid_groups_given: Any,
    leave_out: Sequence[str],
    chains: bool,
) -> tuple[str, ...]:
    """Add bodies, sites, forces and the box to a builder with the units of the style; see :func:`read_data`. Return
    notes on what was inferred."""
    said = read_commands(commands)
    left_out = _left_out(leave_out, data)
    notes: list[str] = []
    edges, periodic = data.edges, _periodic(boundary)
    if builder.box is not None:
        raise ModelError(f"box: {data.path} has its own box, but there is also a section [box]; leave one out")
    builder.box = _box(data, periodic, units).resolved(builder.units, "box")
    groups = rigid_groups(rigid_groups_given, data)
    bonds = data.terms["bond"]
    rigid = np.isin(bonds.type, rigid_types(rigid_bonds_given, data))
    x = _whole(data, groups, edges, periodic, notes)
    check_lengths(data, x, bonds.atoms[rigid], bonds.line[rigid], edges, periodic)
    owner = owners(groups, len(data.types))[bonds.atoms]
    within = (owner[:, 0] >= 0) & (owner[:, 0] == owner[:, 1])
    check_beside(data, x, bonds.atoms[within], bonds.line[within], edges, periodic)
    parts = rigid_parts(data, bonds.atoms[rigid], groups)
    masses = _masses(data, said)[data.types - 1]
    bodies = Bodies(data, parts, x / units.divisor, masses)
    kinds = list(data.labels.get("atom") or map(str, range(1, data.type_counts["atom"] + 1)))
    u = None
    if data.velocities is not None:
        u, lost = bodies.speeds(builder.units.name, data.velocities * units.velocity)
        if lost > 1e-9:
            notes.append(
                f"velocities that rigid parts do not allow are left out; they are {lost:.3g} of the kinetic energy"
            )
    bodies.add_to(builder, u, data.charges, [kinds[kind - 1] for kind in data.types.tolist()])
    torn = through_faces(x, bonds.atoms, edges, periodic)
    if torn.size:
        i, j = bonds.atoms[torn[0]].tolist()
        notes.append(
            f"line {bonds.line[torn[0]]}: the bond between {data.where(i)} and {data.where(j)} crosses a face of "
            f"the box without matching image flags ({torn.size} such bonds): no chain statistics"
        )
    if chains and not torn.size:
        found = bonded_chains(bonds.atoms, len(data.types))
        if found.kind.size:
            kind = np.array(KINDS)[found.kind]
            builder.add_chains(found.site, found.first, ring=kind == "ring", branched=kind == "star")
        notes += found.notes
    kept = _acting(data, parts.group_of, rigid)
    notes += _about_rigid(data, x, rigid, bodies)
    acting: list[Any] = []
    if "pair" not in left_out:
        pairs = pair_forces(data, said, units, kinds)
        acting, notes = acting + pairs.forces, notes + pairs.notes
    acting += bonded_forces(data, said, units, kept, left_out)
    within = [pair for number in bodies.in_line for pair in pairs_of(groups[number])]
    left, more = exclusions(data, said, within)
    for force in (*acting, *left):
        builder.add_force(force)
    return tuple(notes + more)


def _left_out(given: Sequence[str], data: DataFile) -> set[str]:
    """Return the families, including ``"pair"``, and the types to leave out; raise ModelError for names that do not
    occur in the file."""
    found = set()
    for k, text in enumerate(words(given, "leave_out")):
        name, _, number = text.partition(" ")
        family = name.removesuffix("s")
        if family not in ("pair", *FAMILIES) or (family == "pair" and number):
            known = ["pairs", *(f"{one}s" for one in FAMILIES)]
            raise ModelError(
                f"leave_out[{k}]: expected one of {', '.join(known)}, or one type as in 'angle 2', got {shown(text)}"
                f"{nearest_word(text, known)}"
            )
        if number:
            types = types_of(number.strip(), family, data, f"leave_out {text}")
            found |= {f"{family} {one}" for one in types}
        else:
            found.add(family)
        if family != "pair" and not len(data.terms[family].type):
            raise ModelError(f"leave_out[{k}]: there are no {family}s in {data.path}")
    return found


def _periodic(boundary: str) -> np.ndarray:
    split = boundary.split() if isinstance(boundary, str) else []
    if len(split) != 3 or not all(re.fullmatch(r"pp?|[fsm]{1,2}", one) for one in split):
        raise ModelError(f"boundary: expected three words as in 'p p f', got {shown(boundary)}")
    return np.array([one[0] == "p" for one in split])


def _box(data: DataFile, periodic: np.ndarray, units: UnitStyle) -> Box:
    edges = data.edges / units.divisor
    lengths, tilts = np.diag(edges), (edges[1, 0], edges[2, 0], edges[2, 1])
    if data.images is not None and (data.images[:, ~periodic] != 0).any():
        atom = int(np.flatnonzero((data.images[:, ~periodic] != 0).any(axis=1))[0])
        raise ModelError(f"{data.path}: {data.where(atom)} has image flags in a direction that is not periodic")
    try:
        return Box(
            lengths=tuple(lengths.tolist()),
            tilts=tuple(float(tilt) for tilt in tilts),
            boundaries=tuple("periodic" if one else "open" for one in periodic),
            origin=tuple((data.bounds[:, 0] / units.divisor).tolist()),
        )
    except ModelError as reason:
        raise ModelError(
            f"{data.path}: the box of the header is invalid: {reason}; have LAMMPS write it with tilts of at most "
            "half an edge (change_box with 'flip yes')"
        ) from None


def _whole(
    data: DataFile, groups: list[Group], edges: np.ndarray, periodic: np.ndarray, notes: list[str]
) -> np.ndarray:
    """Return positions with whole molecules, in the units of the file."""
    if data.images is not None:
        return unwrapped(data.positions, data.images, edges)
    bonds = data.terms["bond"].atoms
    pairs = np.concatenate([np.zeros((0, 2), dtype=np.int64), *(group_chain(group) for group in groups)])
    if not len(bonds) + len(pairs) or not periodic.any():
        return data.positions
    notes.append("the file has no image flags: molecules were made whole along their bonds, by nearest images")
    return joined_pieces(data.positions, bonds, pairs, edges, periodic)


def _masses(data: DataFile, commands: Commands) -> np.ndarray:
    """Return the mass of each type; raise ModelError if types of atoms have no mass. The message names them."""
    found = np.zeros(data.type_counts["atom"]) if data.masses is None else data.masses.copy()
    for line, given in commands.masses:
        try:
            value = float(given[1]) if len(given) == 2 else 0.0
        except ValueError:
            value = 0.0
        if not 0.0 < value < np.inf:
            raise ModelError(f"commands: '{line.strip()}': expected a type and a positive mass")
        found[np.array(types_of(given[0], "atom", data, line)) - 1] = value
    without = np.unique(data.types[found[data.types - 1] == 0.0])
    if without.size:
        raise ModelError(
            f"{data.path}: atoms of the type {without[0]} have no mass; write the section 'Masses', or give "
            f"commands=['mass {without[0]} 1.0']"
        )
    return found


def _acting(data: DataFile, group_of: np.ndarray, rigid: np.ndarray) -> dict[str, np.ndarray]:
    """By family, return whether each term is neither rigid nor within a rigid group, shape (terms,)."""
    found = {}
    for family in FAMILIES:
        owners = group_of[data.terms[family].atoms]
        within = (owners[:, 0] >= 0) & (owners == owners[:, :1]).all(axis=1)
        found[family] = ~within & ~rigid if family == "bond" else ~within
    return found


def _about_rigid(data: DataFile, x: np.ndarray, rigid: np.ndarray, bodies: Bodies) -> list[str]:
    """Return notes on rigid bonds and groups."""
    notes = []
    bonds = data.terms["bond"]
    for kind in np.unique(bonds.type[rigid]).tolist():
        atoms = bonds.atoms[rigid & (bonds.type == kind)]
        length = np.linalg.norm(x[atoms[:, 0]] - x[atoms[:, 1]], axis=1)
        low, high = float(length.min()), float(length.max())
        if high - low > 1e-9 * high:
            notes.append(f"rigid bonds of the type {kind} keep the lengths of the file, from {low:.6g} to {high:.6g}")
    if bodies.in_line:
        names = ", ".join(bodies.parts.groups[k].name for k in bodies.in_line)
        notes.append(f"atoms of {names} are collinear: one end is on an xyz joint, the others on a swing joint there")
    if bodies.parts.rings:
        notes.append(f"rigid bonds that close rings, each by a loop of three constraints: {len(bodies.parts.rings)}")
    return notes
