"""Liquid TIP3P water at 300 K and 1 bar, beside OpenMM: density, heat of vaporisation, structure and diffusion.

    python -m validation.water [picoseconds]

takes an hour at most and rewrites its section of docs/validation.md. Both engines take Langevin's thermostat with the
same friction and a Monte Carlo barostat, and the same box, cutoff and tail corrections; each sums charges by its own
particle-mesh Ewald sum. The friction of a rigid body at its centre of mass and axes is that of its atoms, so that
diffusion, which it slows, is the same too.
"""

from __future__ import annotations

import sys
import time
from typing import Any, NamedTuple

import numpy as np

import articulon as ar
from articulon import molecules
from articulon.molecules.openmm_exchange import from_openmm, openmm_app, to_openmm
from validation.page import table, write_section

TEMPERATURE, PRESSURE, FRICTION, CUTOFF = 300.0, 1.0, 1.0, 0.9
"""[K], [bar], [1/ps], [nm]."""
EDGE, STEP, EVERY, BETWEEN = 2.5, 0.002, 25, 0.2
"""Of the box at first [nm]; step [ps]; steps between tries of the barostat; time between samples [ps]."""
SETTLING, BLOCKS = 0.1, 10
"""Part of the time that is left out, and blocks that errors are estimated from."""
GAS_CONSTANT = 8.31446e-3
"""[kJ/mol/K]."""


class Sampled(NamedTuple):
    """What an engine has sampled, all but the settling."""

    volume: np.ndarray
    """[nm³], (samples,)."""
    energy: np.ndarray
    """Potential energy [kJ/mol], (samples,)."""
    oxygens: np.ndarray
    """Positions, never wrapped [nm], (samples, molecules, 3)."""
    pace: float
    """[ns/day]."""


def water_box() -> Any:
    """The structure of a box of water."""
    import openmm
    from openmm import unit

    app = openmm_app()
    modeller = app.Modeller(app.Topology(), [])
    edges = openmm.Vec3(EDGE, EDGE, EDGE) * unit.nanometer
    modeller.addSolvent(app.ForceField("amber14/tip3p.xml"), model="tip3p", boxSize=edges)
    return from_openmm(modeller.topology, modeller.positions, "water")


def by_articulon(structure: Any, duration: float) -> Sampled:
    """What articulon samples in a time [ps]."""
    articulation = molecules.perceive(structure)
    model = molecules.force_field_model(structure, articulation, solvent="tip3p", cutoff=CUTOFF)
    steps = {"rule": "friction-implicit", "drift": "geodesic", "step": STEP}
    began = time.monotonic()
    run = ar.simulate(
        model,
        duration,
        thermostat=ar.thermostats.Langevin(temperature=TEMPERATURE, friction=FRICTION),
        barostat=ar.barostats.MonteCarlo(pressure=f"{PRESSURE} bar", every=EVERY),
        frames=round(duration / BETWEEN),
        speeds="thermal",
        minimise=True,
        **steps,
    )
    pace = 86.4 * duration / (time.monotonic() - began)
    first = 1 + round(SETTLING * duration / BETWEEN)
    oxygen = np.flatnonzero(np.array(structure.elements) == "O")
    places = np.array([molecules.site_positions(model, q)[model.atoms.site[oxygen]] for q in run.q[first:]])
    return Sampled(run.observables["volume"][first:], run.observables["energy_potential"][first:], places, pace)


def by_openmm(structure: Any, duration: float) -> Sampled:
    """What OpenMM samples in the same time [ps]."""
    import openmm
    from openmm import unit

    app = openmm_app()
    topology, positions = to_openmm(structure)
    system = app.ForceField("amber14/tip3p.xml").createSystem(
        topology,
        nonbondedMethod=app.PME,
        nonbondedCutoff=CUTOFF * unit.nanometer,
        rigidWater=True,
        removeCMMotion=False,
    )
    system.addForce(openmm.MonteCarloBarostat(PRESSURE * unit.bar, TEMPERATURE * unit.kelvin, EVERY))
    rule = openmm.LangevinMiddleIntegrator(TEMPERATURE * unit.kelvin, FRICTION / unit.picosecond, STEP)
    rule.setRandomNumberSeed(1)
    simulation = app.Simulation(topology, system, rule, openmm.Platform.getPlatformByName("CPU"))
    simulation.context.setPositions(positions)
    simulation.minimizeEnergy()
    simulation.context.setVelocitiesToTemperature(TEMPERATURE * unit.kelvin, 1)
    oxygen = np.flatnonzero(np.array(structure.elements) == "O")
    volumes, energies, places = [], [], []
    began = time.monotonic()
    for _ in range(round(duration / BETWEEN)):
        simulation.step(round(BETWEEN / STEP))
        state = simulation.context.getState(getEnergy=True, getPositions=True)
        volumes.append(state.getPeriodicBoxVolume().value_in_unit(unit.nanometer**3))
        energies.append(state.getPotentialEnergy().value_in_unit(unit.kilojoule_per_mole))
        places.append(state.getPositions(asNumpy=True).value_in_unit(unit.nanometer)[oxygen])
    pace = 86.4 * duration / (time.monotonic() - began)
    first = round(SETTLING * duration / BETWEEN)
    return Sampled(np.array(volumes[first:]), np.array(energies[first:]), np.array(places[first:]), pace)


def of_blocks(values: np.ndarray) -> tuple[float, float]:
    """Mean and its error."""
    blocks = np.array([block.mean() for block in np.array_split(values, BLOCKS)])
    return float(values.mean()), float(blocks.std(ddof=1) / np.sqrt(BLOCKS))


def peak(found: Sampled) -> tuple[float, float]:
    """Height of the first maximum of g(r) of the oxygens, and its error."""
    import freud

    heights = []
    for part in np.array_split(np.arange(found.volume.size), BLOCKS):
        g = np.zeros(80)
        for k in part[:: max(1, part.size // 20)]:
            box = freud.box.Box.cube(float(np.cbrt(found.volume[k])))
            rdf = freud.density.RDF(bins=80, r_max=0.8)
            rdf.compute((box, box.wrap(found.oxygens[k])))
            g += rdf.rdf
        heights.append(float(g.max()) / part[:: max(1, part.size // 20)].size)
    return float(np.mean(heights)), float(np.std(heights, ddof=1) / np.sqrt(BLOCKS))


def diffusion(found: Sampled) -> tuple[float, float]:
    """D from displacements in 2 to 4 ps, and its error [1e-9 m²/s]."""
    lags = round(2.0 / BETWEEN), round(4.0 / BETWEEN)
    rates = []
    for part in np.array_split(found.oxygens, BLOCKS):
        part = part - part.mean(axis=1, keepdims=True)
        moved = [((part[lag:] - part[:-lag]) ** 2).sum(axis=2).mean() for lag in lags]
        rates.append((moved[1] - moved[0]) / (6.0 * (lags[1] - lags[0]) * BETWEEN))
    return 1e3 * float(np.mean(rates)), 1e3 * float(np.std(rates, ddof=1) / np.sqrt(BLOCKS))


def main() -> None:
    """Samples with both and writes the section."""
    duration = float(sys.argv[1]) if len(sys.argv) > 1 else 400.0
    structure = water_box()
    count = len(structure) // 3
    mass = float(structure.masses.sum()) * 1.66054e-3
    rows = []
    found = {"articulon": by_articulon(structure, duration), "OpenMM": by_openmm(structure, duration)}
    values: dict[str, list[tuple[float, float]]] = {}
    for name, one in found.items():
        heat, error = of_blocks(GAS_CONSTANT * TEMPERATURE - one.energy / count)
        values[name] = [of_blocks(mass / one.volume), (heat, error), peak(one), diffusion(one)]
    titles = ("density [g/cm³]", "heat of vaporisation [kJ/mol]", "first maximum of g(r), O–O", "D [1e-9 m²/s]")
    for k, title in enumerate(titles):
        (a, da), (b, db) = (values[name][k] for name in ("articulon", "OpenMM"))
        off = (a - b) / np.hypot(da, db)
        rows.append([title, f"{a:.4f} ± {da:.4f}", f"{b:.4f} ± {db:.4f}", f"{off:+.1f}"])
    paces = ", ".join(f"{name} {one.pace:.3g} ns/day" for name, one in found.items())
    write_section(
        "water",
        f"## Liquid water\n\n`python -m validation.water {duration:g}`. {count} TIP3P waters run at {TEMPERATURE:g} K "
        f"and {PRESSURE:g} bar for {duration:g} ps in steps of {1000 * STEP:g} fs, with a Monte Carlo barostat and "
        f"Langevin's thermostat with a friction of {FRICTION:g}/ps, which slows diffusion. Errors come from {BLOCKS} "
        "blocks of each run.\n\n"
        + table(["", "articulon", "OpenMM", "difference / error"], rows)
        + f"\n\nSimulated time per day of wall time, including all sampling: {paces}.",
    )


if __name__ == "__main__":
    main()
