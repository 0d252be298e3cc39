"""Describe a model as a LAMMPS data file: find types, bonds and coefficients from its sites, joints and forces."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from articulon.dynamics import body_poses
from articulon.errors import ModelError
from articulon.forces.sites.angles import CosineAngles, HarmonicAngles
from articulon.forces.sites.bonds import FeneBonds, HarmonicBonds
from articulon.forces.sites.dihedrals import HarmonicDihedrals, PeriodicDihedrals
from articulon.forces.sites.laws.coulomb import Coulomb
from articulon.forces.sites.laws.lennard_jones import LennardJones
from articulon.forces.sites.laws.weeks_chandler_andersen import WeeksChandlerAndersen
from articulon.forces.sites.site_positions import site_positions
from articulon.lammps.data_file import FAMILIES, Coefficients, DataFile, Terms
from articulon.lammps.molecule_images import partners
from articulon.lammps.unit_styles import UnitStyle
from articulon.model import Model
from articulon.model.joints.swing import Swing

_Term = tuple[tuple[int, ...], str, tuple[str, ...]]
"""Sites of a term, its style, and its coefficients as text."""


def described(model: Model, units: UnitStyle, masses: np.ndarray | None = None) -> DataFile:
    """Return a data file in which each site of a model is an atom.

    Types are the kinds of sites. Bonds, angles and dihedrals are those of the forces. Each swing joint becomes a rigid
    bond of LAMMPS's style ``zero``. Bonds connect atoms to molecules. Forces that a data file cannot represent are left
    out. Positions are not wrapped. ``masses`` are the masses of the sites (sites,); by default they are derived from
    the model.

    Raises
    ------
    ModelError
        For sites on the ground, and for bodies whose mass cannot be divided among their sites.
    """
    sites = model.sites
    x = site_positions(model, model.q0) * units.divisor
    masses = _masses(model) if masses is None else masses
    kinds, types = np.unique(np.stack([sites.kind, masses]), axis=1, return_inverse=True)
    types = types.reshape(-1)
    found: dict[str, list[_Term]] = {family: [] for family in FAMILIES}
    for force in model.forces:
        for family, term in _terms(force, units):
            found[family].append(term)
    found["bond"] += _rods(model, units)
    terms, coefficients, counts = {}, {}, {"atom": kinds.shape[1]}
    for family, listed in found.items():
        numbers: dict[tuple[str, tuple[str, ...]], int] = {}
        of = [numbers.setdefault(one[1:], len(numbers) + 1) for one in listed]
        atoms = np.array([one[0] for one in listed], dtype=np.int64).reshape(-1, FAMILIES[family])
        terms[family] = Terms(np.array(of, dtype=np.int64), atoms, np.zeros(len(of), dtype=np.int64))
        counts[family] = len(numbers)
        if numbers:
            styles = {style for style, _ in numbers}
            several = len(styles) > 1
            rows: dict[tuple[int, ...], tuple[str, ...]] = {}
            for (style, words), k in numbers.items():
                rows[k,] = (style, *words) if several else words
            coefficients[family] = Coefficients("hybrid" if several else styles.pop(), rows)
    pairs = _pairs(model, kinds[0].astype(np.int64), units)
    if pairs is not None:
        coefficients["pair-ij"] = pairs
    names = tuple(model.sites.kinds[int(k)] for k in kinds[0])
    written = names != tuple(map(str, range(1, len(names) + 1))) and len(set(names)) == len(names)
    usable = written and all(name and not name[0].isdigit() and not set(name) & set(" \t#*+-") for name in names)
    return DataFile(
        path="the model",
        title=f"LAMMPS data file by articulon, units {units.name}",
        style="full",
        bounds=_bounds(model, x, units),
        tilts=_tilts(model, units),
        ids=np.arange(1, len(x) + 1),
        types=types + 1,
        molecules=_molecules(terms["bond"].atoms, sites.body),
        charges=sites.charge,
        positions=x,
        images=None,
        velocities=None,
        masses=kinds[1],
        terms=terms,
        type_counts=counts,
        coefficients=coefficients,
        labels={"atom": names} if usable else {},
    )


def _masses(model: Model) -> np.ndarray:
    """Mass of each site: the mass of its body if it is the body's only site, otherwise the mass of the atom at the
    site."""
    sites, found = model.sites, np.zeros(model.sites.body.size)
    if (sites.body < 0).any() or not sites.body.size:
        raise ModelError(
            "write_data: all sites must be atoms on moving bodies; the model has sites on the ground, or none"
        )
    alone = np.bincount(sites.body, minlength=model.bodies)[sites.body] == 1
    found[alone] = model.masses[sites.body[alone]]
    if model.atoms is not None:
        found[model.atoms.site] = model.atoms.masses
    if (found == 0.0).any():
        body = model.names[sites.body[np.flatnonzero(found == 0.0)[0]]]
        raise ModelError(
            f"write_data: body '{body}' has several sites, whose masses are unknown; give like=..., the data file "
            "from which the model was read"
        )
    if abs(found.sum() - model.masses.sum()) > 1e-9 * model.masses.sum():
        raise ModelError(
            "write_data: the masses of the sites differ from those of the bodies, as where a rigid ring is closed; "
            "give like=..., the data file from which the model was read"
        )
    return found


def _each(value: Any, count: int) -> list[float]:
    return [float(one) for one in value] if isinstance(value, tuple) else [float(value)] * count


def _terms(force: Any, units: UnitStyle) -> Iterator[tuple[str, _Term]]:
    """Yield the terms of a force in LAMMPS's units and conventions."""
    energy, spring = units.energy, units.energy * units.divisor**2

    def words(*values: float) -> tuple[str, ...]:
        return tuple(repr(value) for value in values)

    if isinstance(force, HarmonicBonds):
        n = len(force.bonds)
        for bond, k, r in zip(force.bonds, _each(force.stiffness, n), _each(force.length, n), strict=True):
            yield "bond", (bond, "harmonic", words(0.5 * k / spring, r * units.divisor))
    elif isinstance(force, FeneBonds):
        n = len(force.bonds)
        columns = [_each(one, n) for one in (force.stiffness, force.extent, force.epsilon, force.sigma or 1.0)]
        for bond, k, extent, epsilon, sigma in zip(force.bonds, *columns, strict=True):
            numbers = (k / spring, extent * units.divisor, epsilon / energy, sigma * units.divisor)
            yield "bond", (bond, "fene", words(*numbers))
    elif isinstance(force, HarmonicAngles):
        n = len(force.angles)
        for angle, k, rest in zip(force.angles, _each(force.stiffness, n), _each(force.angle, n), strict=True):
            yield "angle", (angle, "harmonic", words(0.5 * k / energy, float(np.degrees(rest))))
    elif isinstance(force, CosineAngles):
        for angle, k in zip(force.angles, _each(force.stiffness, len(force.angles)), strict=True):
            yield "angle", (angle, "cosine", words(k / energy))
    elif isinstance(force, HarmonicDihedrals):
        n = len(force.dihedrals)
        for four, k, rest in zip(force.dihedrals, _each(force.stiffness, n), _each(force.angle, n), strict=True):
            yield "dihedral", (four, "quadratic", words(0.5 * k / energy, float(np.degrees(rest))))
    elif isinstance(force, PeriodicDihedrals):
        n = len(force.dihedrals)
        columns = [_each(one, n) for one in (force.stiffness, force.multiplicity, force.phase)]
        for four, k, fold, phase in zip(force.dihedrals, *columns, strict=True):
            yield "dihedral", (four, *_periodic(k / energy, int(fold), float(np.degrees(phase))))


def _periodic(k: float, fold: int, degrees: float) -> tuple[str, tuple[str, ...]]:
    """Return the style and coefficients of K [1 + d cos(nφ)] for a phase of 0 or 180 degrees, otherwise of CHARMM's
    style, whose phase is in whole degrees."""
    whole = round(degrees)
    if abs(degrees - whole) > 1e-9:
        raise ModelError(
            f"write_data: dihedrals in LAMMPS need phases in whole degrees, but one has {degrees:.6g}; leave it out"
        )
    if whole % 180 == 0:
        return "harmonic", (repr(k), "1" if whole % 360 == 0 else "-1", str(fold))
    return "charmm", (repr(k), str(fold), str(whole), "0.0")


def _rods(model: Model, units: UnitStyle) -> list[_Term]:
    """Return the rigid bonds of swing joints: from the site at the joint to the site of the body."""
    rods = [k for k, joint in enumerate(model.joints) if isinstance(joint, Swing)]
    if not rods:
        return []
    x, origins = site_positions(model, model.q0), body_poses(model, model.q0)[0]
    on: list[list[int]] = [[] for _ in range(model.bodies)]
    for site, body in enumerate(model.sites.body.tolist()):
        on[body].append(site)
    found: list[_Term] = []
    for k in rods:
        parent = int(model.parents[k])
        behind = on[parent] if parent >= 0 else []
        if not behind or len(on[k]) != 1:
            continue
        start = min(behind, key=lambda site: float(np.abs(x[site] - origins[k]).max()))
        # Joints keep lengths to twelve digits, so that lengths which differ in these digits are distinguished.
        length = float(np.linalg.norm(x[on[k][0]] - x[start])) * units.divisor
        found.append(((start, on[k][0]), "zero", (f"{length:.12g}",)))
    return found


def _molecules(bonds: np.ndarray, body: np.ndarray) -> np.ndarray:
    """Return the number of each site's molecule, from 1; sites are connected by bonds and by their bodies."""
    order = np.argsort(body, kind="stable")
    together = np.flatnonzero(np.diff(body[order]) == 0)
    welded = np.stack([order[together], order[together + 1]], axis=1)
    beside, number = partners(np.concatenate([bonds, welded]), body.size), np.zeros(body.size, dtype=np.int64)
    count = 0
    for start in range(body.size):
        if number[start]:
            continue
        count += 1
        number[start], waiting = count, [start]
        while waiting:
            new = [j for j in beside[waiting.pop()] if not number[j]]
            number[new] = count
            waiting += new
    return number


def _pairs(model: Model, kinds: np.ndarray, units: UnitStyle) -> Coefficients | None:
    """Return the Lennard-Jones coefficients of each pair of types, each with its cutoff; None if there are no such
    forces, or if LAMMPS truncates the law differently."""
    width = len(model.sites.kinds)
    table = {(a, b): (0.0, 1.0, 0.0) for a in range(width) for b in range(width)}
    laws = [force for force in model.forces if isinstance(force, LennardJones | WeeksChandlerAndersen)]
    charged = next((force for force in model.forces if isinstance(force, Coulomb)), None)
    for force in laws:
        cut = force.cutoff if isinstance(force, LennardJones) else None
        ends = isinstance(force, WeeksChandlerAndersen) or (
            force.cutoff is not None and force.truncation in ("truncated", "shifted")
        )
        if not ends or force.between is not None:
            return None
        rows = force.site_terms(model)[0].rows
        for (a, b), old in table.items():
            A, B = rows[a * width + b, 1:3]
            if not (A > 0.0 and B > 0.0):
                continue
            if old[0] > 0.0:
                return None
            sigma = float(np.cbrt(np.sqrt(A / B)))
            end = 2.0 ** (1.0 / 6.0) * sigma if cut is None else float(cut)
            table[a, b] = float(B * B / (4.0 * A)) / units.energy, sigma * units.divisor, end * units.divisor
    longest = max((end for _, _, end in table.values()), default=0.0)
    if longest == 0.0 or (charged is not None and (charged.truncation != "truncated" or charged.cutoff is None)):
        return None
    more = () if charged is None else (repr(float(charged.cutoff) * units.divisor),)  # type: ignore[arg-type]
    rows_of: dict[tuple[int, ...], tuple[str, ...]] = {}
    for i, a in enumerate(kinds.tolist()):
        for j, b in enumerate(kinds.tolist()[i:], start=i):
            epsilon, sigma, end = table[a, b]
            rows_of[i + 1, j + 1] = (repr(epsilon), repr(sigma), repr(end or longest), *more)
    return Coefficients("lj/cut" if charged is None else "lj/cut/coul/cut", rows_of)


def _bounds(model: Model, x: np.ndarray, units: UnitStyle) -> np.ndarray:
    if model.box is None:
        room = 1.0 + 0.1 * np.ptp(x, axis=0)
        return np.stack([x.min(axis=0) - room, x.max(axis=0) + room], axis=1)
    low = np.array([float(value) for value in model.box.origin]) * units.divisor
    return np.stack([low, low + np.diag(model.box.vectors) * units.divisor], axis=1)


def _tilts(model: Model, units: UnitStyle) -> np.ndarray | None:
    tilts = np.zeros(3) if model.box is None else np.array([float(tilt) for tilt in model.box.tilts])
    return tilts * units.divisor if tilts.any() else None
