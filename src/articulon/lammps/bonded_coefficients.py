"""Convert LAMMPS's bonds, angles, dihedrals and impropers, with their coefficients, to our forces.

LAMMPS's harmonic terms lack the factor ½, so its K is half of our stiffness. Its rest angles are in degrees.
"""

import math
from collections.abc import Callable, Mapping, Set
from typing import Any, NamedTuple

import numpy as np

from articulon.declaration import nearest
from articulon.errors import ModelError
from articulon.forces.sites.angles import CosineAngles, HarmonicAngles
from articulon.forces.sites.bonds import FeneBonds, HarmonicBonds
from articulon.forces.sites.dihedrals import HarmonicDihedrals, PeriodicDihedrals
from articulon.inputs import shown
from articulon.lammps.data_file import FAMILIES, DataFile
from articulon.lammps.force_commands import Commands, types_of
from articulon.lammps.unit_styles import UnitStyle

SUFFIXES = ("/omp", "/opt", "/intel", "/gpu", "/kk")
"""Suffixes of accelerated variants of a style."""
NOTHING = ("zero", "none")
"""Styles that exert no force."""


class Coefficient(NamedTuple):
    """Coefficients of one type."""

    style: str
    words: tuple[str, ...]
    where: str
    """The line of the file or the command that gives the coefficients, for messages."""


def plain(style: str) -> str:
    """Return the name of a style without the suffix of an accelerated variant."""
    return next((style.removesuffix(end) for end in SUFFIXES if style.endswith(end)), style)


def coefficients_of(data: DataFile, commands: Commands, family: str) -> dict[int, Coefficient]:
    """Return coefficients by type. Coefficients of commands override those of the file. Raise ModelError if their style
    is unknown."""
    found: dict[int, Coefficient] = {}
    given_style = commands.styles.get(family)
    section = data.coefficients.get(family)
    lines: list[tuple[int, tuple[str, ...], str, str | None]] = []
    if section is not None:
        where = f"{data.path}, '{family.title()} Coeffs' from line {section.line}"
        lines += [(key[0], words, f"{where}, type {key[0]}", section.style) for key, words in section.rows.items()]
    for line, given in commands.coefficients.get(family, []):
        kinds = types_of(given[0], family, data, line)
        lines += [(kind, tuple(given[1:]), f"commands: '{line.strip()}'", None) for kind in kinds]
    for kind, words, where, hint in lines:
        style = given_style[0] if given_style else hint
        if style is None:
            raise ModelError(f"{where}: the style is not given; add it, as in commands=['{family}_style harmonic']")
        if plain(style).startswith("hybrid"):
            if not words:
                raise ModelError(f"{where}: expected a style and its coefficients")
            style, words = words[0], words[1:]
        found[kind] = Coefficient(plain(style), words, where)
    if not lines and given_style and plain(given_style[0]) in NOTHING:
        found = {kind: Coefficient(plain(given_style[0]), (), "") for kind in range(1, data.type_counts[family] + 1)}
    return found


def bonded_forces(
    data: DataFile, commands: Commands, units: UnitStyle, kept: Mapping[str, np.ndarray], left_out: Set[str]
) -> list[Any]:
    """Return the forces of all terms.

    Parameters
    ----------
    kept
        By family, whether each term acts, shape (terms,). A term within a rigid body does not act.
    left_out
        Families, such as ``"bond"``, or single types, such as ``"bond 2"``, that are deliberately left out.

    Raises
    ------
    ModelError
        For types without coefficients, styles without a counterpart, and invalid coefficients; the message names the
        line.
    """
    # Dihedrals and impropers may share one force law.
    gathered: dict[str, list[tuple[np.ndarray, tuple[float, ...]]]] = {}
    for family in FAMILIES:
        terms = data.terms[family]
        types = np.unique(terms.type[kept[family]]).tolist()
        types = [kind for kind in types if not {family, f"{family} {kind}"} & left_out]
        if not types:
            continue
        known = coefficients_of(data, commands, family)
        for kind in types:
            chosen = kept[family] & (terms.type == kind)
            if kind not in known:
                raise ModelError(
                    f"{data.path}, line {terms.line[chosen][0]}: {family}s of the type {kind} have no coefficients; "
                    f"give them, as in commands=['{family}_style harmonic', '{family}_coeff {kind} ...'], or "
                    f"leave_out=['{family} {kind}']"
                )
            for law, parameters in _laws(known[kind], family, kind, units):
                gathered.setdefault(law, []).append((terms.atoms[chosen], parameters))
    found: list[Any] = []
    for law, parts in gathered.items():
        sites = np.concatenate([atoms for atoms, _ in parts])
        columns = np.concatenate([np.tile(numbers, (len(atoms), 1)) for atoms, numbers in parts])
        found.append(_MAKERS[law](sites, columns))
    return found


def _laws(coefficient: Coefficient, family: str, kind: int, units: UnitStyle) -> list[tuple[str, tuple[float, ...]]]:
    """Return the force laws for the coefficients of a type, each with its parameters in our units."""
    style, words, where = coefficient
    if style in NOTHING:
        return []
    known = _STYLES[family]
    if style not in known:
        raise ModelError(
            f"{where}: the {family} style '{style}' has no counterpart here{nearest(style, list(known))}; known: "
            f"{', '.join([*known, *NOTHING])}; to leave its terms out, give leave_out=['{family} {kind}']"
        )
    names, make = known[style]
    try:
        values = [math.nan if "_" in word else float(word) for word in words]
    except ValueError:
        values = []
    if len(values) != len(names) or not np.isfinite(values).all():
        raise ModelError(
            f"{where}: expected the numbers {' '.join(names)} of the {family} style {style}, got "
            f"{shown(' '.join(words))}"
        )
    try:
        return make(units, *values)
    except ValueError as reason:
        raise ModelError(f"{where}: {reason}") from None


def _harmonic_bond(units: UnitStyle, K: float, r0: float) -> list[tuple[str, tuple[float, ...]]]:
    return [("harmonic-bonds", (2.0 * K * units.energy * units.divisor**2, units.length(r0)))]


def _fene(
    units: UnitStyle, K: float, extent: float, epsilon: float, sigma: float
) -> list[tuple[str, tuple[float, ...]]]:
    K *= units.energy * units.divisor**2
    return [("fene-bonds", (K, units.length(extent), epsilon * units.energy, units.length(sigma)))]


def _harmonic_angle(units: UnitStyle, K: float, degrees: float) -> list[tuple[str, tuple[float, ...]]]:
    return [("harmonic-angles", (2.0 * K * units.energy, math.radians(degrees)))]


def _cosine_angle(units: UnitStyle, K: float) -> list[tuple[str, tuple[float, ...]]]:
    return [("cosine-angles", (K * units.energy,))]


def _fold(n: float) -> float:
    if n < 1.0 or n != round(n):
        raise ValueError(f"the multiplicity must be a whole number of at least 1 here, got {n:g}")
    return n


def _harmonic_dihedral(units: UnitStyle, K: float, d: float, n: float) -> list[tuple[str, tuple[float, ...]]]:
    """Energy K [1 + d cos(nφ)]."""
    if abs(d) != 1.0:
        raise ValueError(f"d is 1 or -1, got {d:g}")
    return [("periodic-dihedrals", (K * units.energy, _fold(n), 0.0 if d > 0.0 else math.pi))]


def _charmm(units: UnitStyle, K: float, n: float, degrees: float, weight: float) -> list[tuple[str, tuple[float, ...]]]:
    """Energy K [1 + cos(nφ − d)]; CHARMM's pair styles scale the pair force between the end atoms by the weight."""
    if weight != 0.0:
        raise ValueError(
            f"the weight {weight:g} requests forces between the ends of the dihedral, which only exist with LAMMPS's "
            "CHARMM pair styles; write 0, and give the factor of such pairs in special_bonds"
        )
    return [("periodic-dihedrals", (K * units.energy, _fold(n), math.radians(degrees)))]


def _quadratic(units: UnitStyle, K: float, degrees: float) -> list[tuple[str, tuple[float, ...]]]:
    return [("harmonic-dihedrals", (2.0 * K * units.energy, math.radians(degrees)))]


def _opls(units: UnitStyle, *K: float) -> list[tuple[str, tuple[float, ...]]]:
    """Energy ½K₁[1 + cos φ] + ½K₂[1 − cos 2φ] + ½K₃[1 + cos 3φ] + ½K₄[1 − cos 4φ]."""
    return [
        ("periodic-dihedrals", (0.5 * k * units.energy, float(n), math.pi if n % 2 == 0 else 0.0))
        for n, k in enumerate(K, start=1)
        if k != 0.0
    ]


_Law = tuple[tuple[str, ...], Callable[..., list[tuple[str, tuple[float, ...]]]]]
_STYLES: dict[str, dict[str, _Law]] = {
    "bond": {"harmonic": (("K", "r0"), _harmonic_bond), "fene": (("K", "R0", "epsilon", "sigma"), _fene)},
    "angle": {"harmonic": (("K", "theta0"), _harmonic_angle), "cosine": (("K",), _cosine_angle)},
    "dihedral": {
        "harmonic": (("K", "d", "n"), _harmonic_dihedral),
        "charmm": (("K", "n", "d", "weight"), _charmm),
        "opls": (("K1", "K2", "K3", "K4"), _opls),
        "quadratic": (("K", "phi0"), _quadratic),
    },
    "improper": {"cvff": (("K", "d", "n"), _harmonic_dihedral)},
}
"""Styles that have a counterpart here, with the names of their coefficients."""


def _lists(sites: np.ndarray) -> tuple[tuple[int, ...], ...]:
    return tuple(map(tuple, sites.tolist()))


def _column(values: np.ndarray) -> Any:
    """Return a single value if all are equal, else the list."""
    return float(values[0]) if (values == values[0]).all() else tuple(values.tolist())


def _harmonic_bonds(sites: np.ndarray, columns: np.ndarray) -> HarmonicBonds:
    k, length = columns.T
    return HarmonicBonds(bonds=_lists(sites), stiffness=_column(k), length=_column(length))


def _fene_bonds(sites: np.ndarray, columns: np.ndarray) -> FeneBonds:
    k, extent, epsilon, sigma = columns.T
    # A bond without repulsion still needs a sigma.
    sigma = np.where(epsilon > 0.0, sigma, np.where(sigma > 0.0, sigma, 1.0))
    return FeneBonds(
        bonds=_lists(sites),
        stiffness=_column(k),
        extent=_column(extent),
        epsilon=_column(epsilon),
        sigma=_column(sigma),
    )


def _harmonic_angles(sites: np.ndarray, columns: np.ndarray) -> HarmonicAngles:
    k, angle = columns.T
    return HarmonicAngles(angles=_lists(sites), stiffness=_column(k), angle=_column(angle))


def _cosine_angles(sites: np.ndarray, columns: np.ndarray) -> CosineAngles:
    return CosineAngles(angles=_lists(sites), stiffness=_column(columns[:, 0]))


def _harmonic_dihedrals(sites: np.ndarray, columns: np.ndarray) -> HarmonicDihedrals:
    k, angle = columns.T
    return HarmonicDihedrals(dihedrals=_lists(sites), stiffness=_column(k), angle=_column(angle))


def _periodic_dihedrals(sites: np.ndarray, columns: np.ndarray) -> PeriodicDihedrals:
    """Merge terms of the same four sites, multiplicity and phase into one; LAMMPS adds such terms up."""
    backwards = sites[:, 0] > sites[:, 3]
    ways = np.where(backwards[:, None], sites[:, ::-1], sites)
    keys, at = np.unique(np.concatenate([ways, columns[:, 1:]], axis=1), axis=0, return_inverse=True)
    k = np.bincount(at.reshape(-1), weights=columns[:, 0], minlength=len(keys))
    n, phase = keys[:, 4].astype(np.int64), keys[:, 5]
    return PeriodicDihedrals(
        dihedrals=_lists(keys[:, :4].astype(np.int64)),
        stiffness=_column(k),
        multiplicity=int(n[0]) if (n == n[0]).all() else tuple(n.tolist()),
        phase=_column(phase),
    )


_MAKERS: dict[str, Callable[[np.ndarray, np.ndarray], Any]] = {
    "harmonic-bonds": _harmonic_bonds,
    "fene-bonds": _fene_bonds,
    "harmonic-angles": _harmonic_angles,
    "cosine-angles": _cosine_angles,
    "periodic-dihedrals": _periodic_dihedrals,
    "harmonic-dihedrals": _harmonic_dihedrals,
}
