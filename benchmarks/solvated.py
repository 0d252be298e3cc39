"""Rigid water, and a protein in it, beside OpenMM's CPU platform: the same System, charges on a mesh, Langevin's
thermostat."""

import math
import time
from collections.abc import Callable
from functools import partial
from typing import Any

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
from articulon.molecules import model_from_system
from articulon.scaling import NoScaling
from articulon.thermostats import Langevin
from benchmarks.chains import installed
from benchmarks.tables import console, show_machine, show_table, show_targets, target
from benchmarks.timing import in_turn, machine

EDGE = 3.95
"""Of the box of water [nm]: 2,000 molecules."""
PADDING = 0.6
"""Of water around the protein [nm]."""
CUTOFF, TOLERANCE = 0.9, 5e-4
"""OpenMM's cutoff [nm], which is that of Lennard-Jones forces of both, and its tolerance."""
TEMPERATURE, FRICTION = 300.0, 1.0
"""Of Langevin's thermostat, the same for both [K, 1/ps]."""
STEP, SETTLING = {"water": 4.0, "protein in water": 1.0}, 200
"""Of both engines [fs]: the atoms of the protein are free here, so that both do the same. How many steps the start
settles for."""
STEPS, ROUNDS = 20, 3
"""Each engine takes so many steps, so often; the best counts."""
PACKAGES = {"numpy": "numpy", "numba": "numba", "openmm": "openmm", "rocket-fft": "rocket-fft"}
AGES, PICOSECONDS_A_DAY = 1e9, 86400.0

Say = Callable[[str], None]


def measure(
    names: tuple[str, ...] = tuple(STEP), steps: int = STEPS, rounds: int = ROUNDS, say: Say = lambda _: None
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
        system, positions = boxes()[name]()
        say(f"{name}: {system.getNumParticles():,} particles")
        figures["boxes"][name] = compared(system, positions, STEP[name], steps, rounds)
    figures["targets"] = [
        target(f"{name}: simulated time, times OpenMM's", one["ours"] / one["openmm"], 1.0, at_least=True)
        for name, one in figures["boxes"].items()
    ]
    return figures


def boxes() -> dict[str, Callable[[], tuple[Any, np.ndarray]]]:
    """What makes each System and its positions [nm]."""
    return {"water": _water, "protein in water": _protein}


def _made(modeller: Any, field: Any) -> tuple[Any, np.ndarray]:
    """The System, and positions after some steps downhill."""
    import openmm
    from openmm import app, unit

    system = field.createSystem(
        modeller.topology,
        nonbondedMethod=app.PME,
        nonbondedCutoff=CUTOFF * unit.nanometer,
        ewaldErrorTolerance=TOLERANCE,
        constraints=None,
        rigidWater=True,
        removeCMMotion=False,
    )
    step = (
        2e-3
        if not any(isinstance(f, openmm.HarmonicBondForce) and f.getNumBonds() for f in system.getForces())
        else 1e-3
    )
    context = _context(system, modeller.positions, step)
    openmm.LocalEnergyMinimizer.minimize(context, 100.0, 100)
    context.setVelocitiesToTemperature(TEMPERATURE, 1)
    context.getIntegrator().step(SETTLING)
    places = context.getState(positions=True).getPositions(asNumpy=True)._value
    return system, np.array(places)


def _water() -> tuple[Any, np.ndarray]:
    import openmm
    from openmm import app, unit

    field = app.ForceField("amber14/tip3p.xml")
    modeller = app.Modeller(app.Topology(), [])
    modeller.addSolvent(field, boxSize=openmm.Vec3(EDGE, EDGE, EDGE) * unit.nanometer)
    return _made(modeller, field)


def _protein() -> tuple[Any, np.ndarray]:
    """Adenylate kinase in a rhombic dodecahedron of water."""
    from openmm import app, unit

    files = installed("MDAnalysisTests.datafiles")
    if files is None:
        raise ArticulonError("the structure of adenylate kinase is in MDAnalysisTests: pip install MDAnalysisTests")
    given = app.PDBFile(str(files.PDB_small))
    field = app.ForceField("amber14-all.xml", "amber14/tip3p.xml")
    modeller = app.Modeller(given.topology, given.positions)
    modeller.delete([atom for atom in modeller.topology.atoms() if atom.element.symbol == "H"])
    modeller.addHydrogens(field)
    modeller.addSolvent(field, padding=PADDING * unit.nanometer, boxShape="dodecahedron")
    return _made(modeller, field)


def _context(system: Any, positions: Any, step: float, platform: str = "CPU") -> Any:
    import openmm

    integrator = openmm.LangevinMiddleIntegrator(TEMPERATURE, FRICTION, step)
    options = {"Threads": str(numba.config.NUMBA_NUM_THREADS)} if platform == "CPU" else {}
    context = openmm.Context(system, integrator, openmm.Platform.getPlatformByName(platform), options)
    context.setPositions(positions)
    return context


def compared(system: Any, positions: np.ndarray, step: float, steps: int, rounds: int) -> dict[str, Any]:
    """Nanoseconds a day and milliseconds a step [ms] of both, in turn, what the forces alone take of ours, and the rms
    errors of the forces on molecules, relative to their rms."""
    model = model_from_system(system, positions)
    moved, state = _moved(model, 1e-3 * step)
    context = _context(system, positions, 1e-3 * step)
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


def _moved(model: Model, step: float) -> tuple[Any, Any]:
    """What takes steps of BAOAB, and a state."""
    thermostat = Langevin(temperature=TEMPERATURE, friction=FRICTION).resolved(model.units, "thermostat")
    evaluator = Evaluator(model, 0, 1.0, 1, thermostat=thermostat)
    rule = FrictionImplicit(step=step, drift="geodesic")
    moved = driver(Problem(evaluator, rule, NoScaling()), evaluator.initial_state())
    return moved, evaluator.initial_state(moved.history)


def errors(system: Any, model: Model, x: np.ndarray) -> dict[str, float]:
    """Relative rms errors of the forces on bodies, of ours and of OpenMM's at its tolerance, against OpenMM's Reference
    platform at a hundredth of a thousandth of it, with the same Lennard-Jones forces."""
    import openmm

    fine = openmm.XmlSerializer.clone(system)
    nonbonded = next(force for force in fine.getForces() if isinstance(force, openmm.NonbondedForce))
    nonbonded.setEwaldErrorTolerance(1e-5 * TOLERANCE)
    body = model.sites.body

    def net(forces: np.ndarray) -> np.ndarray:
        return np.stack([np.bincount(body, forces[:, a]) for a in range(3)], axis=1)

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
