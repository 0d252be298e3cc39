"""Convert LAMMPS's pair style, its coefficients and special bonds to forces between sites."""

import math
from typing import Any, NamedTuple

import numpy as np

from articulon.errors import ModelError
from articulon.forces.sites.exclusions import Exclusions, Scaled14
from articulon.forces.sites.laws.coulomb import Coulomb
from articulon.forces.sites.laws.lennard_jones import LennardJones
from articulon.forces.sites.mixing import LennardJonesKind, LennardJonesPair, mixed
from articulon.inputs import shown
from articulon.lammps.bonded_coefficients import NOTHING, plain
from articulon.lammps.data_file import DataFile
from articulon.lammps.force_commands import MIXES, Commands, types_of
from articulon.lammps.unit_styles import UnitStyle

CUTOFFS = {"lj/cut": 1, "lj/cut/coul/cut": 2, "coul/cut": 1}
"""Supported pair styles, with the number of cutoffs that each takes."""
DEFAULT_MIX = "geometric"


class PairCoefficient(NamedTuple):
    """Coefficients of two types, in LAMMPS's units."""

    epsilon: float
    sigma: float
    cutoff: float
    charge_cutoff: float


class Found(NamedTuple):
    """Forces and notes from the pair style."""

    forces: list[Any]
    notes: list[str]


def pair_forces(data: DataFile, commands: Commands, units: UnitStyle, kinds: list[str]) -> Found:
    """Return Lennard-Jones and Coulomb forces between all sites.

    Parameters
    ----------
    kinds
        Kind of the sites of each type.

    Raises
    ------
    ModelError
        For a style without a counterpart, missing or invalid coefficients, and missing cutoffs.
    """
    sections = {key: data.coefficients[key] for key in ("pair", "pair-ij") if key in data.coefficients}
    hints = [section.style for section in sections.values() if section.style is not None]
    said = commands.styles.get("pair") or hints[:1]
    if not said:
        if sections or commands.coefficients.get("pair"):
            raise ModelError(
                f"{data.path}: the pair style of the pair coefficients is not given; add it with its cutoff, as in "
                "commands=['pair_style lj/cut 2.5']"
            )
        return Found([], ["there is no pair style and no pair coefficients: atoms that are not bonded do not interact"])
    style = plain(said[0])
    if style in NOTHING:
        return Found([], [])
    if style not in CUTOFFS:
        raise ModelError(
            f"{data.path}: the pair style '{style}' has no counterpart here; known: {', '.join([*CUTOFFS, *NOTHING])}; "
            "leave it out with leave_out=['pairs'], and give equivalent forces of ar.forces in forces=[...]"
        )
    table = _table(data, commands, style, said[1:])
    notes = [
        f"pair coefficients of the file are for '{hint}', and are read as those of '{style}'"
        for hint in dict.fromkeys(hints)
        if plain(hint) != style
    ]
    present = np.unique(data.types).tolist()
    count = np.bincount(data.types, minlength=max(present) + 1)
    rule = commands.mix or DEFAULT_MIX
    pairs: dict[tuple[int, int], PairCoefficient] = {}
    for at, i in enumerate(present):
        for j in present[at:]:
            if i != j or count[i] > 1 or len(present) == 1:
                pairs[i, j] = table.get((i, j)) or _mixed(data, table, i, j, rule)
    forces: list[Any] = []
    if style != "coul/cut":
        forces += _lennard_jones(pairs, commands, units, kinds)
    if style != "lj/cut" and data.charges.any():
        cutoffs = sorted({pair.charge_cutoff for pair in pairs.values()})
        if len(cutoffs) > 1:
            raise ModelError(
                f"{data.path}: charges of different types have different cutoffs, {cutoffs}, but only one is supported"
            )
        permittivity = commands.dielectric * units.permittivity
        forces.append(Coulomb(cutoff=units.length(cutoffs[0]), relative_permittivity=permittivity))
    return Found(forces, notes)


def exclusions(data: DataFile, commands: Commands, within: list[tuple[int, int]]) -> tuple[list[Exclusions], list[str]]:
    """Return exclusions for special bonds and for pairs ``within`` rigid bodies; raise ModelError for factors that have
    no counterpart here."""
    lj, coul = commands.special_lj, commands.special_coul
    bonds = tuple(map(tuple, data.terms["bond"].atoms.tolist()))
    if not bonds and not within:
        return [], []
    depth, scaled, notes = 0, None, []
    if lj[:2] == coul[:2] == (0.0, 0.0):
        depth = 2
        if lj[2] == coul[2] == 0.0:
            depth = 3
        elif (lj[2], coul[2]) != (1.0, 1.0):
            scaled = Scaled14(lennard_jones=lj[2], coulomb=coul[2])
            notes = [
                "pairs three bonds apart are scaled without a cutoff or shift; LAMMPS truncates them at the cutoff of "
                "the pair style, and scales their shift too"
            ]
    elif lj == coul == (0.0, 1.0, 1.0):
        depth = 1
    elif lj != (1.0, 1.0, 1.0) or coul != (1.0, 1.0, 1.0):
        raise ModelError(
            f"commands: special_bonds lj {_three(lj)} coul {_three(coul)} has no counterpart; supported are "
            "0 for pairs one bond apart with 0 or 1 for pairs two bonds apart, or 1 for all pairs; pairs three bonds "
            "apart may be scaled only if nearer pairs are excluded (0)"
        )
    if not bonds or not depth:
        return ([Exclusions(bonds=(), pairs=tuple(within))] if within else []), []
    return [Exclusions(bonds=bonds, bonds_apart=depth, pairs=tuple(within), scaled_14=scaled)], notes


def _three(factors: tuple[float, ...]) -> str:
    return " ".join(f"{factor:g}" for factor in factors)


def _table(data: DataFile, commands: Commands, style: str, words: list[str]) -> dict[tuple[int, int], PairCoefficient]:
    """Return the given coefficients by pair of types, the smaller type first."""
    most = CUTOFFS[style]
    cutoffs = _numbers(words, f"pair_style {style} {' '.join(words)}")
    if len(cutoffs) > most or min(cutoffs, default=1.0) <= 0.0:
        raise ModelError(f"commands: 'pair_style {style} {' '.join(words)}': expected 1 to {most} positive cutoffs")
    found: dict[tuple[int, int], PairCoefficient] = {}
    for key, section in data.coefficients.items():
        if key in ("pair", "pair-ij"):
            for types, row in section.rows.items():
                where = f"{data.path}, pair coefficients from line {section.line}, type {' '.join(map(str, types))}"
                found[min(types), max(types)] = _coefficient(style, row, cutoffs, where)
    for line, given in commands.coefficients.get("pair", []):
        if len(given) < 2:
            raise ModelError(f"commands: '{line.strip()}': expected two types and coefficients")
        one, two = (types_of(word, "atom", data, line) for word in given[:2])
        value = _coefficient(style, tuple(given[2:]), cutoffs, f"commands: '{line.strip()}'")
        # As in LAMMPS, a range of types paired with itself selects each pair once, with the smaller type first.
        chosen = [(i, j) for i in one for j in two if i <= j] or [(j, i) for i in one for j in two]
        found.update(dict.fromkeys(chosen, value))
    return found


def _coefficient(style: str, words: tuple[str, ...], cutoffs: list[float], where: str) -> PairCoefficient:
    values = _numbers(list(words), where)
    least = 0 if style == "coul/cut" else 2
    if not least <= len(values) <= least + CUTOFFS[style]:
        names = "" if style == "coul/cut" else "epsilon sigma "
        raise ModelError(f"{where}: expected {names}[cutoffs] of the pair style {style}, got {shown(' '.join(words))}")
    own = values[least:] or cutoffs
    if not own:
        raise ModelError(
            f"{where}: the cutoff is not given; add it to the style, as in commands=['pair_style {style} 2.5']"
        )
    epsilon, sigma = values[:2] if least else (0.0, 0.0)
    if epsilon < 0.0 or (epsilon > 0.0 and sigma <= 0.0) or min(own) < 0.0:
        raise ModelError(f"{where}: expected epsilon not negative and sigma positive, got {shown(' '.join(words))}")
    return PairCoefficient(epsilon, sigma, own[0], own[-1])


def _numbers(words: list[str], where: str) -> list[float]:
    try:
        found = [math.nan if "_" in word else float(word) for word in words]
    except ValueError:
        found = [math.nan]
    if not np.isfinite(found).all():
        raise ModelError(f"{where}: expected numbers, got {shown(' '.join(words))}")
    return found


def _mixed(data: DataFile, table: dict[tuple[int, int], PairCoefficient], i: int, j: int, rule: str) -> PairCoefficient:
    """Mix coefficients as LAMMPS does; cutoffs are mixed by the rule for lengths."""
    for kind in (i, j):
        if (kind, kind) not in table:
            raise ModelError(
                f"{data.path}: atoms of the type {kind} have no pair coefficients; give them, as in "
                f"commands=['pair_coeff {kind} {kind} ...']"
            )
    one, two = table[i, i], table[j, j]
    name: Any = MIXES[rule]

    def both(a: float, b: float) -> float:
        if a == b:  # a rounded mean would be a different cutoff
            return a
        return {"geometric": math.sqrt(a * b), "arithmetic": 0.5 * (a + b)}.get(
            rule, (0.5 * (a**6 + b**6)) ** (1.0 / 6.0)
        )

    if one.epsilon == 0.0 or two.epsilon == 0.0:
        epsilon, sigma = 0.0, both(one.sigma, two.sigma)
    else:
        kinds = (LennardJonesKind(epsilon=pair.epsilon, sigma=pair.sigma) for pair in (one, two))
        epsilon, sigma = mixed(name, *kinds)
    return PairCoefficient(epsilon, sigma, both(one.cutoff, two.cutoff), both(one.charge_cutoff, two.charge_cutoff))


def _lennard_jones(
    pairs: dict[tuple[int, int], PairCoefficient], commands: Commands, units: UnitStyle, kinds: list[str]
) -> list[LennardJones]:
    """Return one force for each cutoff; in it, pairs with another cutoff have an epsilon of zero."""
    acting = sorted({pair.cutoff for pair in pairs.values() if pair.epsilon > 0.0 and pair.cutoff > 0.0})
    return [
        LennardJones(
            pairs=tuple(
                LennardJonesPair(
                    kinds=(kinds[i - 1], kinds[j - 1]),
                    epsilon=pair.epsilon * units.energy if pair.cutoff == cutoff else 0.0,
                    sigma=units.length(pair.sigma) if pair.epsilon > 0.0 else 1.0,
                )
                for (i, j), pair in pairs.items()
            ),
            cutoff=units.length(cutoff),
            truncation="shifted" if commands.shift else "truncated",
        )
        for cutoff in acting
    ]
