"""Let LAMMPS compute the forces between the sites of a model."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from articulon.errors import ModelError
from articulon.forces.sites.angles import CosineAngles, HarmonicAngles
from articulon.forces.sites.bonds import FeneBonds, HarmonicBonds
from articulon.forces.sites.dihedrals import HarmonicDihedrals, PeriodicDihedrals
from articulon.forces.sites.exclusions import Exclusions, exclusion_table
from articulon.forces.sites.lammps_force import Lammps
from articulon.forces.sites.laws.coulomb import Coulomb
from articulon.forces.sites.laws.lennard_jones import LennardJones
from articulon.forces.sites.laws.weeks_chandler_andersen import WeeksChandlerAndersen
from articulon.lammps.data_file import FAMILIES, Coefficients, DataFile, Terms
from articulon.lammps.data_writing import data_text
from articulon.lammps.described_models import described
from articulon.lammps.model_writing import STYLE_OF
from articulon.lammps.molecule_images import wrapped
from articulon.lammps.unit_styles import UnitStyle, unit_style
from articulon.model import Model

COUNTERPARTS = (
    *(LennardJones, WeeksChandlerAndersen, Coulomb, HarmonicBonds, FeneBonds, HarmonicAngles, CosineAngles),
    *(HarmonicDihedrals, PeriodicDihedrals, Exclusions),
)
"""Forces that LAMMPS can compute in place of ours."""
MOST_APART = 3
"""Largest number of bonds apart that ``special_bonds`` knows."""
Pairs = set[tuple[int, int]]


def through_lammps(model: Model, where: str = "engine") -> Model:
    """Return the model with its forces between sites replaced by a :class:`articulon.forces.Lammps`, which has a data
    file and commands for pair laws, bonds, angles, dihedrals and exclusions. Forces on bodies and joints stay.

    Parameters
    ----------
    model
        The model.
    where
        Name of the model in messages.

    Raises
    ------
    ModelError
        For forces that have no counterpart in LAMMPS; the message names them. For fewer trees than MPI ranks.
    """
    if any(isinstance(force, Lammps) for force in model.forces):
        return model
    others = [force for force in model.forces if hasattr(force, "site_terms")]
    if not others:
        raise ModelError(f"{where}: the model has no forces between sites that LAMMPS could compute")
    for k, force in enumerate(model.forces):
        if hasattr(force, "site_terms"):
            _check_counterpart(force, f"{where}: forces[{k}], '{force.kind}'", model)
    if model.units.name not in STYLE_OF:
        raise ModelError(
            f"{where}: LAMMPS needs models in the units {' and '.join(STYLE_OF)}, but this one has "
            f"{model.units.name}; choose one of them"
        )
    units = unit_style(STYLE_OF[model.units.name])
    data, special = _with_special_bonds(described(model, units, masses=np.ones(model.sites.body.size)), model, where)
    force = Lammps(
        commands=tuple(_commands(model, data, units, special)),
        data=data_text(_inside(model, data), "full"),
        units=units.name,
        joined=_joined(model, data),
    )
    kept = [one for one in model.forces if not hasattr(one, "site_terms")]
    force = force.resolved(model.units, where)
    found = replace(model, forces=(*kept, force))
    force.check(found, where)
    return found


def _check_counterpart(force: Any, what: str, model: Model) -> None:
    """Raise ModelError for a force that LAMMPS computes differently."""
    if not isinstance(force, COUNTERPARTS):
        raise ModelError(
            f"{what} has no counterpart in LAMMPS here; leave it out, or let articulon compute the forces "
            "(run.engine = 'articulon')"
        )
    if getattr(force, "between", None) is not None:
        raise ModelError(f"{what} acts between groups of sites, which has no counterpart in LAMMPS here")
    if isinstance(force, Exclusions) and force.scaled_14 is not None:
        raise ModelError(
            f"{what}: LAMMPS truncates scaled pairs (scaled_14), but articulon does not; leave scaled_14 out"
        )
    if isinstance(force, LennardJones | Coulomb):
        ends = ("truncated", "shifted") if isinstance(force, LennardJones) else ("truncated",)
        if force.cutoff is None or force.truncation not in ends or getattr(force, "tail_correction", False):
            raise ModelError(
                f"{what}: LAMMPS computes it only with a cutoff, with the truncation {' or '.join(ends)}, without tails"
            )
    laws = {type(one) for one in model.forces if isinstance(one, LennardJones | WeeksChandlerAndersen)}
    if isinstance(force, Coulomb) and len(laws) != 1:
        raise ModelError(f"{what} needs a single Lennard-Jones law in LAMMPS, as lj/cut/coul/cut")


def _commands(model: Model, data: DataFile, units: UnitStyle, special: str) -> list[str]:
    """Return LAMMPS's commands, including the one that reads its data file."""
    periodic = (False,) * 3 if model.box is None else tuple(model.box.periodic)
    found = [
        f"units {units.name}",
        f"boundary {' '.join('p' if one else 's' for one in periodic)}",
        "atom_style full",
    ]
    pairs = data.coefficients.get("pair-ij")
    for family in FAMILIES:
        coefficients = data.coefficients.get(family)
        if coefficients is None:
            continue
        styles = sorted({words[0] for words in coefficients.rows.values()}) if coefficients.style == "hybrid" else []
        found.append(f"{family}_style {' '.join([str(coefficients.style), *styles])}")
    if pairs is None:
        found.append("pair_style zero 1.0")
    else:
        longest = max(float(words[2]) for words in pairs.rows.values())
        charged = [repr(max(float(words[3]) for words in pairs.rows.values()))] if pairs.style != "lj/cut" else []
        found.append(" ".join(["pair_style", str(pairs.style), repr(longest), *charged]))
        found.append(f"pair_modify shift {'yes' if _is_shifted(model) else 'no'}")
        for force in model.forces:
            if isinstance(force, Coulomb):
                found.append(f"dielectric {float(force.relative_permittivity) / units.permittivity!r}")
    found.append(special)
    longest = _longest_bond(data)
    if longest:
        # Ghost atoms must reach one bond further than the distance between the ends of a bonded term, whichever rank
        # owns the term.
        atoms = max(atoms for family, atoms in FAMILIES.items() if len(data.terms[family].atoms))
        found.append(f"comm_modify cutoff {_reach(pairs, atoms * longest)!r}")
    found.append("read_data {data}")
    if pairs is None:
        found.append("pair_coeff * *")
    return found


def _reach(pairs: Coefficients | None, bonded: float) -> float:
    """Return the distance up to which pairs and bonded terms need ghost atoms. LAMMPS uses this distance or its own
    value, cutoff plus skin, whichever is larger."""
    longest = 0.0 if pairs is None else max(float(words[2]) for words in pairs.rows.values())
    return max(longest, bonded)


def _longest_bond(data: DataFile) -> float:
    """Longest bond, in LAMMPS's unit of length."""
    atoms = data.terms["bond"].atoms
    if not len(atoms):
        return 0.0
    return float(np.linalg.norm(data.positions[atoms[:, 0]] - data.positions[atoms[:, 1]], axis=1).max())


def _is_shifted(model: Model) -> bool:
    """Whether the energies of pairs are shifted to zero at their cutoffs; this is the same in all laws."""
    return any(
        isinstance(force, WeeksChandlerAndersen) or (isinstance(force, LennardJones) and force.truncation == "shifted")
        for force in model.forces
    )


def _with_special_bonds(data: DataFile, model: Model, where: str) -> tuple[DataFile, str]:
    """Return the data and the ``special_bonds`` command with which LAMMPS excludes the same pairs as the model.

    If the excluded pairs are those one, two or three bonds apart, the command alone is enough and the data stay
    unchanged. Otherwise each excluded pair is added as a bond without force, and LAMMPS excludes bonded pairs.
    """
    laws = {
        (type(force), getattr(force, "truncation", None))
        for force in model.forces
        if isinstance(force, LennardJones | WeeksChandlerAndersen)
    }
    if laws and data.coefficients.get("pair-ij") is None:
        raise ModelError(
            f"{where}: the pair laws have no joint counterpart in LAMMPS: it needs one Lennard-Jones law for each "
            "pair of kinds, all truncated in the same way"
        )
    if len({kind is WeeksChandlerAndersen or ends == "shifted" for kind, ends in laws}) > 1:
        raise ModelError(f"{where}: LAMMPS shifts the energies of all pairs at their cutoffs or of none (pair_modify)")
    start, partners = exclusion_table(model)
    first = np.repeat(np.arange(start.size - 1), np.diff(start))
    once = first < partners
    excluded: Pairs = set(zip(first[once].tolist(), partners[once].tolist(), strict=True))
    near = _apart(data.terms["bond"].atoms, len(data))
    for count in range(1 << MOST_APART):
        factors = [count >> k & 1 for k in range(MOST_APART)]
        left_out: Pairs = set().union(*(pairs for pairs, f in zip(near, factors, strict=True) if not f))
        if left_out == excluded:
            return data, f"special_bonds lj/coul {' '.join(str(float(f)) for f in factors)}"
    if not near[0] <= excluded:
        i, j = sorted(near[0] - excluded)[0]
        raise ModelError(
            f"{where}: the bonded sites {i} and {j} also interact as a pair, but other bonded sites do not; "
            "LAMMPS excludes all bonded pairs or none"
        )
    return _bonded_too(data, sorted(excluded - near[0])), "special_bonds lj/coul 0.0 1.0 1.0"


def _apart(bonds: np.ndarray, count: int) -> list[Pairs]:
    """Return pairs of atoms exactly one, two and three bonds apart."""
    around: list[set[int]] = [set() for _ in range(count)]
    for i, j in bonds.tolist():
        around[i].add(j)
        around[j].add(i)
    found: list[Pairs] = [set() for _ in range(MOST_APART)]
    for i in range(count):
        seen, edge = {i}, {i}
        for pairs in found:
            edge = set().union(*(around[j] for j in edge)) - seen
            seen |= edge
            pairs |= {(i, j) for j in edge if i < j}
    return found


def _bonded_too(data: DataFile, pairs: Sequence[tuple[int, int]]) -> DataFile:
    """Return the data with additional bonds, of a type without force, between the given pairs."""
    old, known = data.terms["bond"], data.coefficients.get("bond")
    number = data.type_counts["bond"] + 1
    rows = {} if known is None else dict(known.rows)
    if known is not None and known.style not in ("hybrid", "zero"):
        rows = {key: (str(known.style), *words) for key, words in rows.items()}
    plain = known is None or known.style == "zero"
    rows[number,] = ("1.0",) if plain else ("zero", "1.0")
    bonds = Terms(
        np.append(old.type, np.full(len(pairs), number)),
        np.concatenate([old.atoms, np.array(pairs, dtype=np.int64).reshape(-1, 2)]),
        np.zeros(old.type.size + len(pairs), dtype=np.int64),
    )
    return replace(
        data,
        terms={**data.terms, "bond": bonds},
        type_counts={**data.type_counts, "bond": number},
        coefficients={**data.coefficients, "bond": Coefficients("zero" if plain else "hybrid", rows)},
    )


def _inside(model: Model, data: DataFile) -> DataFile:
    """Return the data with positions wrapped into the box."""
    if model.box is None or not model.box.periodic.any():
        return data
    x, images = wrapped(data.positions, data.bounds[:, 0], data.edges, model.box.periodic)
    return replace(data, positions=x, images=images)


def _joined(model: Model, data: DataFile) -> tuple[tuple[int, int], ...]:
    """Return the pairs of sites in different trees that a bonded term connects, each pair once."""
    tree = model.tree_of_link[model.site_links]
    pairs: Pairs = set()
    for family in FAMILIES:
        for atoms in data.terms[family].atoms:
            for i, j in zip(atoms[:-1].tolist(), atoms[1:].tolist(), strict=True):
                if tree[i] != tree[j]:
                    pairs.add((min(i, j), max(i, j)))
    return tuple(sorted(pairs))
