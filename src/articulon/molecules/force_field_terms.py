"""Conversion of OpenMM's forces to forces of articulon. Both use kJ/mol, nm and radians; 1 kJ/mol is 1 Da nm²/ps²."""

import re
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from articulon.errors import ModelError
from articulon.forces.site_pairs import PairLaw
from articulon.forces.sites.angles import HarmonicAngles
from articulon.forces.sites.bonds import HarmonicBonds
from articulon.forces.sites.correction_maps import CorrectionMaps
from articulon.forces.sites.dihedrals import HarmonicDihedrals, PeriodicDihedrals
from articulon.forces.sites.exclusions import Exclusions
from articulon.forces.sites.generalized_born import GeneralizedBorn
from articulon.forces.sites.laws.lennard_jones import LennardJones
from articulon.forces.sites.laws.twelve_six import TwelveSix
from articulon.forces.sites.listed_pairs import ListedPairs
from articulon.molecules import periodic_terms as periodic

CanChange = Callable[..., bool]
"""Function that returns whether the relative positions of atoms can change in at least one of the given groups of
atoms; each group is a tuple."""
Bonded = tuple[str, list[Any], int]
"""Name of a bonded term, its forces, and the number of terms in OpenMM's force."""
OFFSET = 0.009
"""Length that OpenMM's generalised Born forces subtract from the radii [nm]."""
HARMONIC_TORSION = ("k*(theta-theta0)^2", ("k", "theta0"))
LENNARD_JONES_14 = ("4*epsilon*((sigma/r)^12-(sigma/r)^6)", ("sigma", "epsilon"))
LENNARD_JONES_TABLES = "acoef(type1, type2)/r^12 - bcoef(type1, type2)/r^6;"
"""Energy expression that OpenMM writes when it reads the CHARMM force field."""


class Nonbonded(NamedTuple):
    """Forces between all atoms."""

    kinds: tuple[str, ...]
    charges: np.ndarray
    forces: list[Any]


def plain(value: Any) -> float:
    """Convert a quantity of OpenMM to nm, ps, Da, e and radians."""
    from openmm import unit

    return float(value.value_in_unit_system(unit.md_unit_system) if unit.is_quantity(value) else value)


def number(force: Any) -> int:
    """Return the number of terms in a bonded force of articulon."""
    for key in ("bonds", "angles", "dihedrals", "pairs", "first"):
        if hasattr(force, key):
            return len(getattr(force, key))
    raise TypeError(type(force).__name__)


def bonds(force: Any, can_change: CanChange) -> Bonded:
    """Convert a HarmonicBondForce, which includes Urey–Bradley terms."""
    every = [force.getBondParameters(k) for k in range(force.getNumBonds())]
    rows = [(i, j, plain(length), plain(k)) for i, j, length, k in every if can_change((i, j))]
    found = []
    if rows:
        i, j, length, stiffness = zip(*rows, strict=True)
        found.append(HarmonicBonds(bonds=tuple(zip(i, j, strict=True)), stiffness=stiffness, length=length))
    return "bonds", found, len(every)


def angles(force: Any, can_change: CanChange) -> Bonded:
    """Convert a HarmonicAngleForce."""
    every = [force.getAngleParameters(k) for k in range(force.getNumAngles())]
    rows = [((i, j, k), plain(angle), plain(s)) for i, j, k, angle, s in every if can_change((i, j, k))]
    found = []
    if rows:
        sites, angle, stiffness = zip(*rows, strict=True)
        found.append(HarmonicAngles(angles=sites, stiffness=stiffness, angle=angle))
    return "angles", found, len(every)


def torsions(force: Any, can_change: CanChange) -> Bonded:
    """Convert a PeriodicTorsionForce, which includes impropers."""
    every = [force.getTorsionParameters(k) for k in range(force.getNumTorsions())]
    rows = [(tuple(p[:4]), p[4], plain(p[5]), plain(p[6])) for p in every if can_change(p[:4])]
    found = []
    if rows:
        sites, periods, phases, stiffness = zip(*rows, strict=True)
        found.append(PeriodicDihedrals(dihedrals=sites, stiffness=stiffness, multiplicity=periods, phase=phases))
    return "torsions", found, len(every)


def harmonic_torsions(force: Any, can_change: CanChange) -> Bonded:
    """Convert a CustomTorsionForce of CHARMM's impropers, the only supported kind: k (θ − θ₀)²."""
    names = tuple(force.getPerTorsionParameterName(k) for k in range(force.getNumPerTorsionParameters()))
    _expect(force, "CustomTorsionForce", HARMONIC_TORSION, names)
    every = [force.getTorsionParameters(k) for k in range(force.getNumTorsions())]
    rows = [(tuple(p[:4]), 2.0 * p[4][0], p[4][1]) for p in every if can_change(p[:4])]
    found = []
    if rows:
        sites, stiffness, angle = zip(*rows, strict=True)
        found.append(HarmonicDihedrals(dihedrals=sites, stiffness=stiffness, angle=angle))
    return "impropers", found, len(every)


def correction_maps(force: Any, can_change: CanChange) -> Bonded:
    """Convert a CMAPTorsionForce."""
    every = [force.getTorsionParameters(k) for k in range(force.getNumTorsions())]
    rows = [(p[0], tuple(p[1:5]), tuple(p[5:9])) for p in every if can_change(p[1:5], p[5:9])]
    found = []
    if rows:
        maps = []
        for k in range(force.getNumMaps()):
            size, energy = force.getMapParameters(k)
            # OpenMM orders the energies such that the index of the first angle varies fastest.
            maps.append(np.array([plain(e) for e in energy]).reshape(size, size).T.tolist())
        chosen, first, second = zip(*rows, strict=True)
        found.append(CorrectionMaps(maps=maps, first=first, second=second, map=chosen))
    return "correction maps", found, len(every)


def listed_lennard_jones(force: Any, can_change: CanChange) -> Bonded:
    """Convert a CustomBondForce of CHARMM's 1–4 pairs, the only supported kind."""
    names = tuple(force.getPerBondParameterName(k) for k in range(force.getNumPerBondParameters()))
    _expect(force, "CustomBondForce", LENNARD_JONES_14, names)
    every = [force.getBondParameters(k) for k in range(force.getNumBonds())]
    rows = [((i, j), sigma, epsilon) for i, j, (sigma, epsilon) in every if can_change((i, j))]
    found = []
    if rows:
        pairs, sigma, epsilon = zip(*rows, strict=True)
        found.append(ListedPairs(pairs=pairs, sigma=sigma, epsilon=epsilon))
    return "pairs three bonds apart", found, len(every)


BONDED: dict[str, Callable[[Any, CanChange], Bonded]] = {
    "HarmonicBondForce": bonds,
    "HarmonicAngleForce": angles,
    "PeriodicTorsionForce": torsions,
    "CustomTorsionForce": harmonic_torsions,
    "CMAPTorsionForce": correction_maps,
    "CustomBondForce": listed_lennard_jones,
}
IMPLICIT = ("CustomGBForce", "GBSAOBCForce")
BETWEEN_ALL = ("NonbondedForce", "CustomNonbondedForce", "CustomGBForce", "GBSAOBCForce")


def _expect(force: Any, kind: str, known: tuple[str, tuple[str, ...]], names: tuple[str, ...]) -> None:
    given = force.getEnergyFunction().rstrip(";")
    if (given, names) != known:
        raise ModelError(f"model.force_field: OpenMM's {kind} '{given}' has no counterpart here: '{known[0]}' has")


def nonbonded(system: Any, can_change: CanChange) -> Nonbonded | None:
    """Convert a NonbondedForce with its exceptions, a table of Lennard-Jones parameters by pairs of types, and the
    solvent."""
    found: dict[str, Any] = {type(force).__name__: force for force in system.getForces()}
    force = found.get("NonbondedForce")
    if force is None:
        return None
    count = force.getNumParticles()
    charge, sigma, epsilon = np.array([[plain(v) for v in force.getParticleParameters(k)] for k in range(count)]).T
    ends = _ends(force)
    forces: list[Any] = []
    if "CustomNonbondedForce" in found:
        kinds, law = _tabulated(found["CustomNonbondedForce"], ends, epsilon)
    else:
        kinds, law = _mixed(sigma, epsilon, ends | periodic.tails(force))
    forces.extend(law)
    forces.extend(periodic.charge_terms(force, charge, periodic.periodic_box(system), ends))
    forces.extend(_exceptions(force, can_change))
    for kind in ("GBSAOBCForce", "CustomGBForce"):
        if kind in found:
            forces.append(_born(found[kind]))
    return Nonbonded(kinds, charge, forces)


def _ends(force: Any) -> dict[str, Any]:
    """Return the cutoff and the switching distance as options of articulon's force laws."""
    if force.getNonbondedMethod() == force.NoCutoff:
        return {}
    ends: dict[str, Any] = {"cutoff": plain(force.getCutoffDistance())}
    if force.getUseSwitchingFunction():
        ends |= {"truncation": "switched", "switch_start": plain(force.getSwitchingDistance())}
    return ends


def _mixed(sigma: np.ndarray, epsilon: np.ndarray, ends: dict[str, Any]) -> tuple[tuple[str, ...], list[Any]]:
    """Return a kind for each atom's pair of σ and ε, and the force law of the kinds. σ is ignored if ε is zero."""
    sigma = np.where((epsilon > 0.0) & (sigma > 0.0), sigma, 1.0)
    unique, inverse = np.unique(np.stack([sigma, epsilon], axis=1), axis=0, return_inverse=True)
    names = [f"T{k + 1}" for k in range(len(unique))]
    kinds = tuple(names[k] for k in inverse.ravel())
    if not epsilon.any():
        return kinds, []
    parameters = {name: {"sigma": s, "epsilon": e} for name, (s, e) in zip(names, unique.tolist(), strict=True)}
    return kinds, [LennardJones(parameters=parameters, **ends)]


def _tabulated(force: Any, ends: dict[str, Any], epsilon: np.ndarray) -> tuple[tuple[str, ...], list[Any]]:
    """Return a kind for each type, and a tabulated force law, in which pairs of types need not follow a mixing rule."""
    if force.getEnergyFunction().strip() != LENNARD_JONES_TABLES or epsilon.any():
        raise ModelError(
            f"model.force_field: OpenMM's CustomNonbondedForce '{force.getEnergyFunction()}' has no counterpart here: "
            f"'{LENNARD_JONES_TABLES}' has, where NonbondedForce has only charges"
        )
    tables = {}
    for k in range(force.getNumTabulatedFunctions()):
        width, height, values = force.getTabulatedFunction(k).getFunctionParameters()
        tables[force.getTabulatedFunctionName(k)] = np.array(values).reshape(height, width)
    number = [int(force.getParticleParameters(k)[0]) for k in range(force.getNumParticles())]
    used = sorted(set(number))
    kinds = tuple(f"T{k + 1}" for k in number)
    table = [
        PairLaw(kinds=(f"T{a + 1}", f"T{b + 1}"), A=tables["acoef"][a, b], B=tables["bcoef"][a, b])
        for i, a in enumerate(used)
        for b in used[i:]
    ]
    return kinds, [TwelveSix(table=table, **ends, **periodic.tails(force))]


def _exceptions(force: Any, can_change: CanChange) -> list[Any]:
    """Return the exclusions from sums over all pairs, and the forces of the excluded pairs that have their own
    parameters."""
    every = [force.getExceptionParameters(k) for k in range(force.getNumExceptions())]
    if not every:
        return []
    forces: list[Any] = [Exclusions(bonds=(), pairs=tuple((p[0], p[1]) for p in every))]
    rows = []
    for i, j, *values in every:
        charges, sigma, epsilon = map(plain, values)
        if (charges != 0.0 or epsilon != 0.0) and can_change((i, j)):
            rows.append(((i, j), charges, sigma, epsilon))
    if rows:
        pairs, charges, sigma, epsilon = zip(*rows, strict=True)
        forces.append(ListedPairs(pairs=pairs, charges=charges, sigma=sigma, epsilon=epsilon))
    return forces


def _born(force: Any) -> GeneralizedBorn:
    """Convert the implicit solvent."""
    count = force.getNumParticles()
    parameters = [[plain(v) for v in _row(force.getParticleParameters(k))] for k in range(count)]
    ends = {} if force.getNonbondedMethod() == force.NoCutoff else {"cutoff": plain(force.getCutoffDistance())}
    if hasattr(force, "getSolventDielectric"):
        _, radii, scales = np.array(parameters).T
        given = {
            "solvent_permittivity": force.getSolventDielectric(),
            "solute_permittivity": force.getSoluteDielectric(),
            "surface_tension": plain(force.getSurfaceAreaEnergy()),
        }
        return GeneralizedBorn(radii=radii, scales=scales, **given, **ends)
    names = [force.getPerParticleParameterName(k) for k in range(force.getNumPerParticleParameters())]
    texts = [force.getEnergyTermParameters(k)[0] for k in range(force.getNumEnergyTerms())]
    value = force.getComputedValueParameters(1)[1] if force.getNumComputedValues() > 1 else ""
    constants = dict(re.findall(r"(\w+)=([0-9.eE+-]+)", texts[0]))
    if names != ["charge", "or", "sr"] or "psi-0.8*psi^2+4.85*psi^3" not in value or float(constants["kappa"]) != 0.0:
        raise ModelError("model.solvent: of OpenMM's implicit solvents, only obc2 without salt has a counterpart here")
    surface = [re.match(r"([0-9.]+)\*\(radius\+0.14\)", text) for text in texts]
    tension = next((float(match[1]) / (4.0 * np.pi) for match in surface if match), 0.0)
    _, offset_radii, shadows = np.array(parameters).T
    return GeneralizedBorn(
        radii=offset_radii + OFFSET,
        scales=shadows / offset_radii,
        solvent_permittivity=float(constants["solventDielectric"]),
        solute_permittivity=float(constants["soluteDielectric"]),
        surface_tension=tension,
        **ends,
    )


def _row(values: Any) -> list[Any]:
    return list(values)
