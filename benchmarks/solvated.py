"""Rigid water, and a protein in it, beside OpenMM's CPU platform: the same System, charges on a mesh, Langevin's
thermostat."""

import math
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numba
import numpy as np
from rich.console import Console

from articulon.dynamics import kinetic_energy
from articulon.errors import ArticulonError
from articulon.forces.evaluation import Evaluator
from articulon.forces.sites.site_evaluation import SiteForces
from articulon.forces.sites.site_positions import site_positions
from articulon.integrate.choice import driver
from articulon.integrate.integrators import FrictionImplicit
from articulon.integrate.problem import Problem
from articulon.integrate.status import PAUSED
from articulon.model import Model
from articulon.molecules import (
    force_field_model,
    heavier_hydrogens,
    model_from_system,
    openmm_system,
    perceive,
    read_structure,
    solvate,
)
from articulon.scaling import NoScaling
from articulon.thermostats import Langevin
from benchmarks.chains import installed
from benchmarks.tables import console, show_machine, show_table, show_targets, target
from benchmarks.timing import in_turn, machine

EDGE = 3.95
"""Of the box of water [nm]: 2,000 molecules."""
PADDING = 0.6
"""Of water around the protein [nm]."""
OPTIONS = {"rigidWater": True, "removeCMMotion": False}
CUTOFF, TOLERANCE = 0.9, 5e-4
"""OpenMM's cutoff [nm], which is that of Lennard-Jones forces of both, and its tolerance."""
TEMPERATURE, FRICTION = 300.0, 1.0
"""Of Langevin's thermostat, the same for both [K, 1/ps]."""
STEP, HYDROGEN = 4.0, 3.024
"""Of both engines [fs], and the mass of the protein's hydrogens, whose bonds OpenMM keeps at their lengths [Da]."""
ITERATIONS, SETTLING = 100, 200
"""Steps downhill, and steps of OpenMM at half of that step, before both start."""
STEPS, ROUNDS = 20, 3
"""Each engine takes so many steps, so often; the best counts."""
PACKAGES = {"numpy": "numpy", "numba": "numba", "openmm": "openmm", "rocket-fft": "rocket-fft"}
AGES, PICOSECONDS_A_DAY = 1e9, 86400.0

Say = Callable[[str], None]


class Box(NamedTuple):
    """What both engines move."""

    model: Model
    """Ours."""
    system: Any
    """OpenMM's."""
    positions: np.ndarray
    """Of all particles [nm], shape (particles, 3)."""


def measure(
    names: tuple[str, ...] = ("water", "protein in water"),
    steps: int = STEPS,
    rounds: int = ROUNDS,
    say: Say = lambda _: None,
) -> dict[str, Any]:
    """The figures: time of a step and of the forces, errors of the forces, nanoseconds a day, targets, and the machine.

    Raises
    ------
    ArticulonError
        Where OpenMM or the structure are not installed.
    """
    if installed("openmm") is None:
        raise ArticulonError("this benchmark compares with OpenMM: pip install 'articulon[molecules]'")
    figures: dict[str, Any] = {"machine": machine(PACKAGES), "threads": numba.config.NUMBA_NUM_THREADS, "boxes": {}}
    for name in names:
        say(f"{name}: setting it up")
        box = {"water": _water, "protein in water": _protein}[name]()
        say(f"{name}: {len(box.positions):,} particles")
        figures["boxes"][name] = compared(box, steps, rounds)
    figures["targets"] = [
        target(f"{name}: simulated time, times OpenMM's", one["ours"] / one["openmm"], 1.0, at_least=True)
        for name, one in figures["boxes"].items()
    ]
    return figures


def _water() -> Box:
    """Water alone, of OpenMM's modeller."""
    import openmm
    from openmm import app, unit

    field = app.ForceField("amber14/tip3p.xml")
    modeller = app.Modeller(app.Topology(), [])
    modeller.addSolvent(field, boxSize=openmm.Vec3(EDGE, EDGE, EDGE) * unit.nanometer)
    system = field.createSystem(modeller.topology, nonbondedMethod=app.PME, nonbondedCutoff=CUTOFF, **OPTIONS)
    positions = _settled(system, np.array(modeller.positions.value_in_unit(unit.nanometer)))
    return Box(model_from_system(system, positions), system, positions)


def _protein() -> Box:
    """Adenylate kinase in a rhombic dodecahedron of water: torsions of ours, constraints of OpenMM's."""
    from openmm import app

    files = installed("MDAnalysisTests.datafiles")
    if files is None:
        raise ArticulonError("the structure of adenylate kinase is in MDAnalysisTests: pip install MDAnalysisTests")
    structure = solvate(read_structure(str(files.PDB_small)), padding=PADDING, box_shape="dodecahedron")
    heavy = heavier_hydrogens(structure, HYDROGEN)
    given = {"solvent": "tip3p", "cutoff": CUTOFF}
    system = openmm_system(structure, "amber14", **given, constraints=app.HBonds, hydrogenMass=HYDROGEN, **OPTIONS)
    positions = _settled(system, structure.positions)
    heavy = replace(heavy, positions=positions)
    return Box(force_field_model(heavy, perceive(heavy), "amber14", **given), system, positions)


def _settled(system: Any, positions: np.ndarray) -> np.ndarray:
    """Positions after some steps downhill and of motion."""
    import openmm

    context = _context(system, positions, 0.5e-3 * STEP)
    openmm.LocalEnergyMinimizer.minimize(context, 100.0, ITERATIONS)
    context.setVelocitiesToTemperature(TEMPERATURE, 1)
    context.getIntegrator().step(SETTLING)
    return np.array(context.getState(positions=True).getPositions(asNumpy=True)._value)


def _context(system: Any, positions: Any, step: float, platform: str = "CPU") -> Any:
    import openmm

    integrator = openmm.LangevinMiddleIntegrator(TEMPERATURE, FRICTION, step)
    options = {"Threads": str(numba.config.NUMBA_NUM_THREADS)} if platform == "CPU" else {}
    context = openmm.Context(system, integrator, openmm.Platform.getPlatformByName(platform), options)
    context.setPositions(positions)
    return context


def compared(box: Box, steps: int, rounds: int) -> dict[str, Any]:
    """Nanoseconds a day and milliseconds a step [ms] of both, in turn, what the forces alone take of ours, and the rms
    errors of the forces on molecules, relative to their rms."""
    model, system, step = box.model, box.system, STEP
    moved, state = _moved(model, 1e-3 * step)
    # So much friction for so short a time draws all speeds at the temperature and moves nothing.
    drawn, start = _moved(model, 1e-6, 1e8)
    drawn.advance(start, AGES, 1)
    state.u[:] = start.u
    context = _context(system, box.positions, 1e-3 * step)
    context.setVelocitiesToTemperature(TEMPERATURE, 1)

    def ours() -> float:
        began = time.perf_counter()
        status = moved.advance(state, AGES, steps)
        taken = time.perf_counter() - began
        if status != PAUSED or not np.isfinite(state.u).all():
            raise ArticulonError(f"the box did not come through {steps} steps of {step:g} fs")
        return taken

    def theirs() -> float:
        began = time.perf_counter()
        context.getIntegrator().step(steps)
        context.getState(energy=True)
        return time.perf_counter() - began

    entrants: dict[str, Callable[[], float | None]] = {"ours": ours, "openmm": theirs}
    for run in entrants.values():
        run()
    best = {name: float(seconds or math.nan) for name, seconds in in_turn(entrants, rounds).items()}
    found: dict[str, Any] = {name: 1e-6 * step * steps / seconds * PICOSECONDS_A_DAY for name, seconds in best.items()}
    found["milliseconds"] = {name: 1e3 * seconds / steps for name, seconds in best.items()}
    sites, x = SiteForces(model), site_positions(model, model.q0)
    evaluate = partial(sites.evaluate, x)
    evaluate()
    found["forces"] = 1e3 * min(_seconds(evaluate) for _ in range(rounds))
    found["errors"] = errors(system, model, x)
    temperature = 2.0 * kinetic_energy(model, state.q, state.u) / (model.nu * model.units.boltzmann)
    found |= {
        "particles": system.getNumParticles(),
        "speeds": model.nu,
        "step": step,
        "temperature": float(temperature),
    }
    law = next(force for force in model.forces if force.kind == "particle-mesh-ewald").parameters(model)
    found["mesh"] = {"cutoff": law.cutoff, "points": law.mesh, "order": law.order}
    return found


def _seconds(call: Callable[[], Any]) -> float:
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


def _moved(model: Model, step: float, friction: float = FRICTION) -> tuple[Any, Any]:
    """What takes steps of BAOAB, and a state at rest."""
    thermostat = Langevin(temperature=TEMPERATURE, friction=friction).resolved(model.units, "thermostat")
    evaluator = Evaluator(model, 0, 1.0, 1, thermostat=thermostat)
    rule = FrictionImplicit(step=step, drift="geodesic")
    moved = driver(Problem(evaluator, rule, NoScaling()), evaluator.initial_state())
    return moved, evaluator.initial_state(moved.history)


def errors(system: Any, model: Model, x: np.ndarray) -> dict[str, float]:
    """Relative rms errors of the forces on molecules, of ours and of OpenMM's at its tolerance, against OpenMM's
    Reference platform at a hundredth of a thousandth of it, with the same Lennard-Jones forces."""
    import openmm

    fine = openmm.XmlSerializer.clone(system)
    nonbonded = next(force for force in fine.getForces() if isinstance(force, openmm.NonbondedForce))
    nonbonded.setEwaldErrorTolerance(1e-5 * TOLERANCE)
    molecule = model.tree_of_link[model.site_links]

    def net(forces: np.ndarray) -> np.ndarray:
        return np.stack([np.bincount(molecule, forces[:, a]) for a in range(3)], axis=1)

    def of(given: Any, platform: str) -> np.ndarray:
        context = _context(given, x, 1e-3, platform)
        return net(np.array(context.getState(forces=True).getForces(asNumpy=True)._value))

    exact = of(fine, "Reference")
    size = float(np.sqrt((exact**2).sum()))
    found = {"ours": net(SiteForces(model).evaluate(x)), "openmm": of(system, "CPU")}
    return {name: float(np.sqrt(((forces - exact) ** 2).sum())) / size for name, forces in found.items()}


def show(figures: dict[str, Any], out: Console | None = None) -> None:
    """Prints the figures as tables."""
    out = console() if out is None else out
    rows = []
    for name, one in figures["boxes"].items():
        for engine, words in (("ours", "ours"), ("openmm", "OpenMM's CPU platform")):
            label = f"{name}, {one['particles']:,} particles, {one['step']:g} fs"
            rows.append((label, words, one[engine], one["milliseconds"][engine], one["errors"][engine]))
    title = f"Rigid water, {figures['threads']} threads, Langevin at {TEMPERATURE:g} K"
    show_table(out, title, ("box", "engine", "ns/day", "ms/step", "error of the forces"), rows, words=2)
    for name, one in figures["boxes"].items():
        mesh = one["mesh"]
        points = " × ".join(map(str, mesh["points"]))
        out.print(
            f"{name}: forces {one['forces']:.1f} ms of ours; cutoff {mesh['cutoff']:.3f} nm, {points} points, order "
            f"{mesh['order']}; {one['temperature']:.0f} K at the end"
        )
    show_targets(out, figures["targets"])
    show_machine(out, figures["machine"])
