"""Alanine dipeptide about φ and ψ, in TIP3P water and in an implicit solvent, beside OpenMM's constrained dynamics.

    python -m validation.constrained [nanoseconds in water]

takes an hour for 2 ns and rewrites its section of docs/validation.md. The peptide has standard geometry and turns about
φ and ψ alone. Here it moves by torsion dynamics with Fixman's potential. In OpenMM five of its atoms carry mass, seven
constraints between them leave φ and ψ free, and all others are virtual sites of these. Constraints sample φ and ψ with
the weight √det G, G the mass matrix of what is left free (Fixman, PNAS 71, 3050, 1974); each of OpenMM's samples is
divided by it, from the positions of its five atoms. What is left is the same in both: e^{−U/kT} dφ dψ.

In both a correction map takes out most of the free energy that the implicit solvent has, so that φ and ψ wander freely;
samples are weighted back where the text says so.
"""

from __future__ import annotations

import copy
import sys
import time
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

import articulon as ar
from articulon import molecules
from articulon.molecules.openmm_exchange import to_openmm
from validation.page import table, write_section

TEMPERATURE, FRICTION, STEP, CUTOFF, PADDING = 300.0, 2.0, 0.004, 0.8, 0.85
"""[K], [1/ps], [ps], [nm], [nm]."""
KT = 8.31446261815324e-3 * TEMPERATURE
"""[kJ/mol]."""
GRID, MOST = 24, 25.0
"""Points of the map along each angle; the most that it takes out [kJ/mol]."""
BETWEEN, SETTLING, BLOCKS, BINS = 0.1, 0.02, 10, 12
"""Time between samples [ps]; part that is left out; blocks of errors; bins of each angle."""
MASSES = (20.0, 2000.0, 2000.0, 2000.0, 20.0)
"""Of the five atoms that carry mass [Da]: with heavy ones amid them OpenMM's way with constraints converges."""
IMPLICIT = 2.0
"""Time in the implicit solvent [ns]."""


class Sampled(NamedTuple):
    """Angles in the order of time, and what each counts."""

    angles: np.ndarray
    """φ and ψ [rad], (samples, 2)."""
    weight: np.ndarray
    """(samples,)."""
    pace: float
    """[ns/day]."""


class Peptide(NamedTuple):
    """The peptide by itself or in water, cut at φ and ψ."""

    structure: Any
    articulation: Any
    dihedrals: tuple[tuple[int, ...], tuple[int, ...]]
    """Atoms of φ and ψ."""


def cut(structure: Any) -> Peptide:
    """A structure in which φ and ψ of the peptide turn, and water moves as rigid bodies."""
    articulation = molecules.perceive(structure, level="rigid-side-chains")
    named = {torsion.name: torsion.atoms for torsion in articulation.torsions}
    return Peptide(structure, articulation, (named["phi"], named["psi"]))


def correction(alone: Peptide) -> np.ndarray:
    """The map that takes the implicit solvent's energy of φ and ψ out [kJ/mol], (GRID, GRID)."""
    model = molecules.force_field_model(alone.structure, alone.articulation, solvent="obc2")
    columns = angle_columns(model, alone)
    at = 2.0 * np.pi * np.arange(GRID) / GRID
    energy = np.empty((GRID, GRID))
    for i, phi in enumerate(at):
        for j, psi in enumerate(at):
            q = model.q0.copy()
            q[columns] = phi, psi
            energy[i, j] = ar.potential_energy(model, q)
    return -np.minimum(energy - energy.min(), MOST)


def angle_columns(model: Any, peptide: Peptide) -> list[int]:
    """Columns of φ and ψ in the coordinates."""
    children = {torsion.name: torsion.child for torsion in peptide.articulation.torsions}
    return [int(model.forest.q_start[model.link[children[name]]]) for name in ("phi", "psi")]


def system_of(peptide: Peptide, solvent: str, energies: np.ndarray) -> Any:
    """OpenMM's System with the map added."""
    import openmm

    cutoff = CUTOFF if peptide.structure.box is not None else None
    system = molecules.openmm_system(peptide.structure, solvent=solvent, cutoff=cutoff)
    force = openmm.CMAPTorsionForce()
    force.addMap(GRID, energies.T.ravel())
    phi, psi = peptide.dihedrals
    force.addTorsion(0, *phi, *psi)
    if peptide.structure.box is not None:
        force.setUsesPeriodicBoundaryConditions(True)
    system.addForce(force)
    return system


def by_articulon(peptide: Peptide, system: Any, nanoseconds: float) -> Sampled:
    """Torsion dynamics with Fixman's potential."""
    field = molecules.from_system(system, peptide.articulation)
    forces = (*field.forces, ar.forces.Fixman(temperature=TEMPERATURE))
    model = molecules.build(
        peptide.structure, peptide.articulation, charges=field.charges, kinds=field.kinds, forces=forces
    )
    began = time.monotonic()
    run = ar.simulate(
        model,
        1000.0 * nanoseconds,
        rule="friction-implicit",
        drift="geodesic",
        step=STEP,
        thermostat=ar.thermostats.Langevin(temperature=TEMPERATURE, friction=FRICTION),
        frames=round(1000.0 * nanoseconds / BETWEEN),
        speeds="thermal",
        minimise=True,
        seed=1,
    )
    pace = 86400.0 * nanoseconds / (time.monotonic() - began)
    angles = run.q[:, angle_columns(model, peptide)]
    first = round(SETTLING * len(angles))
    return Sampled(angles[first:], np.ones(len(angles) - first), pace)


def held(system: Any, peptide: Peptide, positions: np.ndarray) -> tuple[Any, list[int]]:
    """The System in which constraints and virtual sites leave φ and ψ alone free, and its five atoms with mass."""
    import openmm

    system = copy.deepcopy(system)
    phi, psi = peptide.dihedrals
    moving, structure = solute(peptide), peptide.structure
    names = {(structure.residues[structure.residue[k]].name, structure.names[k]): k for k in moving}
    before = names["ACE", "CH3"]
    after = names["NME", "CH3" if ("NME", "CH3") in names else "C"]
    n, ca, c = phi[1], phi[2], psi[2]
    home = peptide.articulation.cluster
    # A frame for each rigid body: three atoms with mass that are no line.
    frames = {int(home[before]): (n, ca, before), int(home[phi[2]]): (ca, n, c), int(home[after]): (c, ca, after)}
    if len(frames) != 3:
        raise ValueError("the peptide has other bodies than the three that φ and ψ join")
    heavy = [before, n, ca, c, after]
    for k in moving:
        system.setParticleMass(k, dict(zip(heavy, MASSES, strict=True)).get(k, 0.0))
    for k in moving:
        if k in heavy:
            continue
        origin, ahead, aside = frames[int(home[k])]
        x = positions[ahead] - positions[origin]
        x = x / np.linalg.norm(x)
        z = np.cross(x, positions[aside] - positions[origin])
        z = z / np.linalg.norm(z)
        local = np.array([x, np.cross(z, x), z]) @ (positions[k] - positions[origin])
        site = openmm.LocalCoordinatesSite(
            origin, ahead, aside, [1.0, 0.0, 0.0], [-1.0, 1.0, 0.0], [-1.0, 0.0, 1.0], list(local)
        )
        system.setVirtualSite(k, site)
    pairs = ((before, n), (before, ca), (n, ca), (n, c), (ca, c), (ca, after), (c, after))
    for a, b in pairs:
        system.addConstraint(a, b, float(np.linalg.norm(positions[a] - positions[b])))
    system.addForce(angles_between(pairs, positions))
    return system, heavy


def angles_between(pairs: tuple[tuple[int, int], ...], positions: np.ndarray) -> Any:
    """Angles without forces: OpenMM solves constraints by those that it finds, and diverges without these."""
    import openmm

    force, known = openmm.HarmonicAngleForce(), {frozenset(pair) for pair in pairs}
    for one, other in combinations(pairs, 2):
        shared = set(one) & set(other)
        ends = sorted(set(one) ^ set(other))
        if len(shared) == 1 and frozenset(ends) not in known:
            (middle,) = shared
            arms = positions[ends] - positions[middle]
            arms /= np.linalg.norm(arms, axis=1, keepdims=True)
            force.addAngle(ends[0], middle, ends[1], float(np.arccos(arms[0] @ arms[1])), 0.0)
    return force


def mass_weight(places: np.ndarray) -> np.ndarray:
    """√det G of five atoms in line that φ and ψ turn, places (samples, 5, 3)."""
    count = len(places)
    tangents = np.zeros((count, 8, 5, 3))
    for axis in range(3):
        tangents[:, axis, :, axis] = 1.0
        tangents[:, 3 + axis] = np.cross(np.eye(3)[axis], places - places[:, :1])
    for row, (a, b, beyond) in enumerate(((1, 2, (3, 4)), (2, 3, (4,)))):
        line = places[:, b] - places[:, a]
        line /= np.linalg.norm(line, axis=1, keepdims=True)
        for k in beyond:
            tangents[:, 6 + row, k] = np.cross(line, places[:, k] - places[:, a])
    flat = tangents.reshape(count, 8, 15)
    return np.sqrt(np.linalg.det((flat * np.repeat(MASSES, 3)) @ np.swapaxes(flat, 1, 2)))


def settled(system: Any, peptide: Peptide, positions: np.ndarray) -> np.ndarray:
    """Positions with the water at rest around the peptide, which does not move."""
    import openmm
    from openmm import unit

    system = copy.deepcopy(system)
    for k in solute(peptide):
        system.setParticleMass(k, 0.0)
    context = openmm.Context(system, openmm.VerletIntegrator(STEP), openmm.Platform.getPlatformByName("CPU"))
    context.setPositions(positions)
    openmm.LocalEnergyMinimizer.minimize(context, maxIterations=200)
    return np.array(context.getState(getPositions=True).getPositions(asNumpy=True).value_in_unit(unit.nanometer))


def solute(peptide: Peptide) -> list[int]:
    """The atoms of the peptide."""
    names = [peptide.structure.residues[k].name for k in peptide.structure.residue]
    return [k for k, name in enumerate(names) if name in ("ACE", "ALA", "NME")]


def by_openmm(peptide: Peptide, system: Any, nanoseconds: float) -> Sampled:
    """Constrained dynamics, every sample divided by its weight."""
    import openmm
    from openmm import unit

    _, positions = to_openmm(peptide.structure)
    positions = np.array(positions.value_in_unit(unit.nanometer))
    if peptide.structure.box is not None:
        positions = settled(system, peptide, positions)
    system, heavy = held(system, peptide, positions)
    rule = openmm.LangevinMiddleIntegrator(TEMPERATURE * unit.kelvin, FRICTION / unit.picosecond, STEP)
    rule.setRandomNumberSeed(1)
    rule.setConstraintTolerance(1e-7)
    platform = openmm.Platform.getPlatformByName("CPU")
    context = openmm.Context(system, rule, platform)
    context.setPositions(positions)
    context.computeVirtualSites()
    context.setVelocitiesToTemperature(TEMPERATURE, 1)
    began, angles, places = time.monotonic(), [], []
    for _ in range(round(1000.0 * nanoseconds / BETWEEN)):
        rule.step(round(BETWEEN / STEP))
        x = context.getState(getPositions=True).getPositions(asNumpy=True).value_in_unit(unit.nanometer)
        angles.append([dihedral(x[list(four)]) for four in peptide.dihedrals])
        places.append(x[heavy])
    pace = 86400.0 * nanoseconds / (time.monotonic() - began)
    first = round(SETTLING * len(angles))
    weight = 1.0 / mass_weight(np.array(places[first:]))
    return Sampled(np.array(angles[first:]), weight / weight.mean(), pace)


def dihedral(x: np.ndarray) -> float:
    """[rad], of four places."""
    a, b, c = x[1] - x[0], x[2] - x[1], x[3] - x[2]
    first, second = np.cross(a, b), np.cross(b, c)
    return float(np.arctan2(np.linalg.norm(b) * (a @ second), first @ second))


def histogram(found: Sampled, column: int) -> tuple[np.ndarray, np.ndarray]:
    """Part of the samples in each bin of an angle, and its error from blocks."""
    bins = np.floor((found.angles[:, column] % (2.0 * np.pi)) / (2.0 * np.pi) * BINS).astype(int) % BINS
    rows = []
    for chosen in np.array_split(np.arange(len(bins)), BLOCKS):
        part = np.bincount(bins[chosen], found.weight[chosen], BINS)
        rows.append(part / part.sum())
    parts = np.array(rows)
    return parts.mean(axis=0), parts.std(axis=0, ddof=1) / np.sqrt(BLOCKS)


def exact(energies: np.ndarray, alone: Peptide) -> tuple[np.ndarray, np.ndarray]:
    """The same parts of φ and of ψ by quadrature in the implicit solvent, with the map."""
    system = system_of(alone, "obc2", energies)
    field = molecules.from_system(system, alone.articulation)
    model = molecules.build(
        alone.structure, alone.articulation, charges=field.charges, kinds=field.kinds, forces=field.forces
    )
    columns, fine = angle_columns(model, alone), 10 * BINS
    at = 2.0 * np.pi * (np.arange(fine) + 0.5) / fine
    energy = np.empty((fine, fine))
    q = model.q0.copy()
    for i, phi in enumerate(at):
        for j, psi in enumerate(at):
            q[columns] = phi, psi
            energy[i, j] = ar.potential_energy(model, q)
    p = np.exp(-(energy - energy.min()) / KT)
    # Runs begin at φ < 0, and what is rigid lets them pass neither 0 nor 180 degrees.
    p[: fine // 2] = 0.0
    p /= p.sum()
    return p.sum(axis=1).reshape(BINS, -1).sum(axis=1), p.sum(axis=0).reshape(BINS, -1).sum(axis=1)


def helical(found: Sampled, energies: np.ndarray) -> tuple[float, float]:
    """Free energy of α_R (ψ from −120° to 50°) against β and PII without the map, and its error [kJ/mol]."""
    from scipy.interpolate import RectBivariateSpline

    turn = 2.0 * np.pi
    grid = turn * np.arange(-4, GRID + 5) / GRID
    spline = RectBivariateSpline(grid, grid, np.pad(energies, ((4, 5), (4, 5)), mode="wrap"))
    weight = found.weight * np.exp(spline.ev(*(found.angles % turn).T) / KT)
    psi = np.degrees(found.angles[:, 1] % turn)
    chosen = (psi > 240.0) | (psi < 50.0)
    free = []
    for part in np.array_split(np.arange(len(psi)), BLOCKS):
        free.append(-KT * np.log(weight[part][chosen[part]].sum() / weight[part][~chosen[part]].sum()))
    whole = -KT * np.log(weight[chosen].sum() / weight[~chosen].sum())
    return float(whole), float(np.std(free, ddof=1) / np.sqrt(BLOCKS))


def chi_squared(a: tuple[np.ndarray, np.ndarray], b: tuple[np.ndarray, np.ndarray]) -> float:
    """Mean square of the differences of bins in their errors, over bins with a hundredth of the samples and more."""
    seen = np.minimum(a[0], b[0]) > 0.01
    return float(np.mean((a[0] - b[0])[seen] ** 2 / (a[1] ** 2 + b[1] ** 2)[seen]))


def main() -> None:
    """Samples with both and writes the section."""
    nanoseconds = float(sys.argv[1]) if len(sys.argv) > 1 else 2.0
    bare = molecules.peptide(["ACE", "ALA", "NME"], phi=-75.0, psi=145.0)
    alone = cut(bare)
    energies = correction(alone)
    wet = cut(molecules.solvate(bare, "tip3p", padding=PADDING))
    rows, paces = [], []
    quadrature = exact(energies, alone)
    system = system_of(alone, "obc2", energies)
    both = (by_articulon(alone, system, IMPLICIT), by_openmm(alone, system, IMPLICIT))
    for name, one in zip(("articulon", "OpenMM"), both, strict=True):
        offs = [chi_squared(histogram(one, k), (quadrature[k], np.zeros(BINS))) for k in range(2)]
        rows.append(
            [f"implicit solvent, {name} against quadrature: χ² of φ, ψ", f"{offs[0]:.2f}, {offs[1]:.2f}", "", ""]
        )
    system = system_of(wet, "tip3p", energies)
    ours, theirs = by_articulon(wet, system, nanoseconds), by_openmm(wet, system, nanoseconds)
    paces = [ours.pace, theirs.pace]
    offs = [chi_squared(histogram(ours, k), histogram(theirs, k)) for k in range(2)]
    rows.append(["water, one against the other: χ² of φ, ψ", f"{offs[0]:.2f}, {offs[1]:.2f}", "", ""])
    (value, error), (against, wrong) = helical(ours, energies), helical(theirs, energies)
    off = (value - against) / np.hypot(error, wrong)
    title = "water, F(α_R) − F(β, PII) [kJ/mol]"
    rows.append([title, f"{value:.2f} ± {error:.2f}", f"{against:.2f} ± {wrong:.2f}", f"{off:+.1f}"])
    waters = (len(wet.structure) - len(bare)) // 3
    write_section(
        "constrained",
        f"## Torsions and constraints\n\n`python -m validation.constrained {nanoseconds:g}`. Alanine dipeptide moves "
        f"by φ and ψ only, at {TEMPERATURE:g} K in steps of {1000 * STEP:g} fs. articulon uses torsion dynamics with "
        "Fixman's potential. OpenMM uses constraints and virtual sites, and each of its samples has the weight "
        "1/√det G, where G is the mass matrix of the motions that are left free. "
        f"The range of an angle is divided into {BINS} bins. χ² is the mean square of the differences between the "
        f"populations of the bins, relative to the errors of the differences. The errors come from {BLOCKS} blocks, "
        f"and 1 is the expected value of χ². The runs last {IMPLICIT:g} ns in an implicit solvent and {nanoseconds:g} "
        f"ns in {waters} TIP3P waters.\n\n"
        + table(["", "articulon", "OpenMM", "difference / error"], rows)
        + f"\n\nIn water, articulon reaches {paces[0]:.3g} ns/day, and OpenMM {paces[1]:.3g} ns/day.",
    )


if __name__ == "__main__":
    main()
