"""Torsion dynamics of a protein in implicit solvent, beside OpenMM's CPU platform: adenylate kinase, 3,341 atoms."""

import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import takewhile
from typing import Any

import numba
import numpy as np
from rich.console import Console
from scipy.stats import t as student

from articulon.dynamics import kinetic_energy
from articulon.errors import ArticulonError
from articulon.forces.evaluation import Evaluator, potential_energy
from articulon.integrate.choice import driver
from articulon.integrate.integrators import FrictionImplicit
from articulon.integrate.problem import Problem
from articulon.integrate.status import PAUSED
from articulon.model import Model
from articulon.molecules import force_field_model, heavier_hydrogens, openmm_system, peptide, perceive, read_structure
from articulon.molecules.force_field_files import ForceFieldName, Solvent
from articulon.molecules.structure import Structure
from articulon.scaling import NoScaling
from articulon.storage.trajectory import COPY_SHARE
from articulon.thermostats import Langevin
from articulon.thermostats.base import BaseThermostat
from benchmarks.atom_output import frame_costs
from benchmarks.chains import installed
from benchmarks.tables import console, show_machine, show_table, show_targets, target
from benchmarks.timing import in_turn, machine

FIELD: ForceFieldName = "amber14"
SOLVENT: Solvent = "obc2"
TEMPERATURE, FRICTION = 300.0, 1.0
"""Of Langevin's thermostat, the same for both engines [K, 1/ps]."""
CUTOFFS = (None, 1.0)
"""[nm]."""
STEPS, ROUNDS = 20, 3
"""Each engine takes so many steps, so often; the best counts."""
CANDIDATES = (4.0, 5.0, 6.0, 8.0, 10.0)
"""Steps of torsion dynamics that are tried [fs]."""
HYDROGEN = 3.024
"""Mass of hydrogen in ours and in OpenMM's runs at 4 fs [Da]."""
HELIX = "AKMAEFARQS"
"""The peptide on which energy conservation is measured."""
SETTLING, DURATION, STARTS = 5.0, 40.0, 6
"""How long it is brought to the temperature, how long its energy is watched [ps], and from how many starts."""
LOOKS = 200
"""How often."""
CONFIDENCE = 0.95
"""Of the limits of the drift."""
AGES = 1e9
THEIRS: dict[str, tuple[float, float | None]] = {"2 fs": (2.0, None), "4 fs, heavy hydrogen": (4.0, HYDROGEN)}
"""Step [fs] of OpenMM's runs, which keep bonds to hydrogen at their lengths, and mass of hydrogen [Da], if not its
own."""
PACKAGES = {"numpy": "numpy", "numba": "numba", "openmm": "openmm", "MDAnalysisTests": "MDAnalysisTests"}
PICOSECONDS_A_DAY = 86400.0

Say = Callable[[str], None]


def measure(
    steps: int = STEPS,
    rounds: int = ROUNDS,
    candidates: tuple[float, ...] = CANDIDATES,
    duration: float = DURATION,
    starts: int = STARTS,
    protein: str | None = None,
    say: Say = lambda _: None,
) -> dict[str, Any]:
    """The figures: drift of the energy by step, the largest step up to which it is no worse than that of OpenMM at 2 fs
    (the confidence limit of its magnitude is no larger), nanoseconds a day of ours at that step and of OpenMM, ratios,
    targets, and the machine.

    Raises
    ------
    ArticulonError
        Where OpenMM or the structure are not installed.
    """
    if installed("openmm") is None:
        raise ArticulonError("this benchmark takes the force field from OpenMM: pip install 'articulon[molecules]'")
    figures: dict[str, Any] = {"machine": machine(PACKAGES), "threads": numba.config.NUMBA_NUM_THREADS}
    say("energy conservation of a helix of ten residues")
    figures["conservation"] = conservation(relaxed(peptide(HELIX), 1000, None), candidates, duration, starts)
    step = figures["conservation"]["largest_step"]
    structure = relaxed(read_structure(_adenylate_kinase() if protein is None else protein), 50)
    figures["atoms"], figures["step"] = len(structure), step
    figures["speed"] = {}
    for cutoff in CUTOFFS:
        name = "no cutoff" if cutoff is None else f"{cutoff:g} nm"
        say(f"{len(structure):,} atoms, {name}")
        figures["speed"][name] = speeds(structure, cutoff, step, steps, rounds)
    kept = figures["conservation"]
    ours, theirs = kept["ours"][str(step)]["limit"], kept["openmm, 2 fs"]["limit"]
    figures["targets"] = [
        target(f"drift at {step:g} fs, times OpenMM's at 2 fs (limits)", None if ours is None else ours / theirs, 1.0),
        *(
            target(
                f"{name}: simulated time, times OpenMM's at 4 fs",
                figure["ours"] / figure["4 fs, heavy hydrogen"],
                2.5,
                at_least=True,
            )
            for name, figure in figures["speed"].items()
        ),
        *(
            target(f"{name}: all atoms and observables at 1 ps, part of the run at most", figure["output"], 0.05)
            for name, figure in figures["speed"].items()
        ),
    ]
    return figures


def _adenylate_kinase() -> str:
    files = installed("MDAnalysisTests.datafiles")
    if files is None:
        raise ArticulonError("the structure of adenylate kinase is in MDAnalysisTests: pip install MDAnalysisTests")
    return str(files.PDB_small)


def relaxed(structure: Structure, iterations: int, cutoff: float | None = 1.0) -> Structure:
    """The structure after some steps downhill of all atoms, by OpenMM."""
    import openmm

    context = _context(structure, openmm.VerletIntegrator(1e-3), cutoff)
    openmm.LocalEnergyMinimizer.minimize(context, 1.0, iterations)
    places = context.getState(positions=True).getPositions(asNumpy=True)._value
    return replace(structure, positions=np.array(places))


def _context(structure: Structure, integrator: Any, cutoff: float | None, **options: Any) -> Any:
    """OpenMM's CPU platform. Its own force for the solvent is many times as fast as the one that its force field file
    makes."""
    import openmm

    system = openmm_system(structure, FIELD, solvent=SOLVENT, cutoff=cutoff, **options)
    k, custom = next((k, f) for k, f in enumerate(system.getForces()) if isinstance(f, openmm.CustomGBForce))
    native = openmm.GBSAOBCForce()
    native.setNonbondedMethod(custom.getNonbondedMethod())
    native.setCutoffDistance(custom.getCutoffDistance())
    native.setSolventDielectric(78.5)
    for i in range(custom.getNumParticles()):
        charge, offset_radius, shadow = custom.getParticleParameters(i)
        native.addParticle(charge, offset_radius + 0.009, shadow / offset_radius)
    system.addForce(native)
    system.removeForce(k)
    platform = openmm.Platform.getPlatformByName("CPU")
    threads = {"Threads": str(numba.config.NUMBA_NUM_THREADS)}
    context = openmm.Context(system, integrator, platform, threads)
    context.setPositions(structure.positions)
    return context


def _thermostat(model: Model) -> Langevin:
    return Langevin(temperature=TEMPERATURE, friction=FRICTION).resolved(model.units, "thermostat")


def _moved(model: Model, step: float, thermostat: BaseThermostat | None, seed: int = 0) -> tuple[Any, Any]:
    """What takes steps of BAOAB on the tree, or of velocity Verlet without a thermostat; and a state."""
    evaluator, policy = Evaluator(model, seed, 1.0, 1, thermostat=thermostat), NoScaling()
    rule = FrictionImplicit(step=1e-3 * step, drift="geodesic")
    moved = driver(Problem(evaluator, rule, policy), evaluator.initial_state())
    return moved, evaluator.initial_state(moved.history)


def conservation(structure: Structure, candidates: tuple[float, ...], duration: float, starts: int) -> dict[str, Any]:
    """Drift of the energy [kT/ns per degree of freedom] with its confidence limit, and its fluctuation [kT], by step
    [fs], of ours and OpenMM's, and the largest step up to which ours is no worse."""
    heavy = heavier_hydrogens(structure, HYDROGEN)
    model = force_field_model(heavy, perceive(heavy), FIELD, solvent=SOLVENT)
    kT = model.units.boltzmann * TEMPERATURE
    found: dict[str, Any] = {"atoms": len(structure), "duration": duration, "starts": starts}
    ours: dict[float, list[dict[str, Any]]] = {step: [] for step in candidates}
    for seed in range(starts):
        settled, start = _moved(model, 4.0, _thermostat(model), seed)
        settled.advance(start, AGES, round(SETTLING / 4e-3))
        for step in candidates:
            moved, state = _moved(model, step, None)
            state.q[:], state.u[:] = start.q, start.u
            chunk, energies = max(1, round(duration / (1e-3 * step) / LOOKS)), []
            for _ in range(LOOKS):
                if moved.advance(state, AGES, chunk) != PAUSED:
                    break
                energies.append(potential_energy(model, state.q) + kinetic_energy(model, state.q, state.u))
            ours[step].append(_drift(energies, 1e-3 * step * chunk, kT, model.degrees_of_freedom))
    found["ours"] = {str(step): _limits(drifts) for step, drifts in ours.items()}
    theirs = _limits([_their_drift(structure, duration, kT, seed) for seed in range(starts)])
    found["openmm, 2 fs"] = theirs
    found["largest_step"] = _largest(found["ours"], theirs["limit"])
    return found


def _largest(ours: dict[str, dict[str, Any]], limit: float) -> float:
    """The largest step up to which no limit is above a given one; the least where there is none."""
    steps = sorted(ours, key=float)
    kept = takewhile(lambda step: ours[step]["limit"] is not None and ours[step]["limit"] <= limit, steps)
    return float(max(kept, key=float, default=steps[0]))


def _drift(energies: list[float], interval: float, kT: float, degrees_of_freedom: int) -> dict[str, Any]:
    """Slope of the energy and its fluctuation about the line."""
    E = np.array(energies)
    if len(E) < LOOKS or not np.isfinite(E).all():
        return {"drift": None, "fluctuation": None}
    t = interval * np.arange(len(E))
    slope, at = np.polyfit(t, E, 1)
    return {
        "drift": float(slope) / kT * 1e3 / degrees_of_freedom,
        "fluctuation": float((E - slope * t - at).std()) / kT,
    }


def _limits(drifts: list[dict[str, Any]]) -> dict[str, Any]:
    """Mean drift of several starts, half of its confidence interval, the limit of its magnitude, and fluctuation."""
    slopes = [one["drift"] for one in drifts]
    if None in slopes:
        return {"drift": None, "uncertainty": None, "limit": None, "fluctuation": None}
    n, mean = len(slopes), float(np.mean(slopes))
    half = float(student.ppf(0.5 + 0.5 * CONFIDENCE, n - 1) * np.std(slopes, ddof=1) / np.sqrt(n))
    fluctuation = float(np.mean([one["fluctuation"] for one in drifts]))
    return {"drift": mean, "uncertainty": half, "limit": abs(mean) + half, "fluctuation": fluctuation}


def _their_drift(structure: Structure, duration: float, kT: float, seed: int) -> dict[str, Any]:
    """The same of OpenMM's velocity Verlet at 2 fs with bonds to hydrogen at their lengths."""
    import openmm
    from openmm import app

    settling = openmm.LangevinMiddleIntegrator(TEMPERATURE, FRICTION, 0.002)
    settling.setRandomNumberSeed(seed + 1)
    context = _context(structure, settling, None, constraints=app.HBonds)
    context.setVelocitiesToTemperature(TEMPERATURE, seed + 1)
    settling.step(round(SETTLING / 0.002))
    state = context.getState(positions=True, velocities=True)
    verlet = openmm.VerletIntegrator(0.002)
    verlet.setConstraintTolerance(1e-8)
    context = _context(structure, verlet, None, constraints=app.HBonds)
    context.setPositions(state.getPositions())
    context.setVelocities(state.getVelocities())
    chunk, energies = max(1, round(duration / 0.002 / LOOKS)), []
    for _ in range(LOOKS):
        verlet.step(chunk)
        now = context.getState(energy=True)
        energies.append((now.getPotentialEnergy() + now.getKineticEnergy())._value)
    degrees_of_freedom = 3 * len(structure) - context.getSystem().getNumConstraints()
    return _drift(energies, 0.002 * chunk, kT, degrees_of_freedom)


def speeds(structure: Structure, cutoff: float | None, step: float, steps: int, rounds: int) -> dict[str, Any]:
    """Nanoseconds a day of ours and of OpenMM's runs, in turn, and the time that a step takes [ms]."""
    import openmm
    from openmm import app

    heavy = heavier_hydrogens(structure, HYDROGEN)
    model = force_field_model(heavy, perceive(heavy), FIELD, solvent=SOLVENT, cutoff=cutoff)
    moved, state = _moved(model, step, _thermostat(model))

    def ours(count: int) -> float:
        began = time.perf_counter()
        status = moved.advance(state, AGES, count)
        taken = time.perf_counter() - began
        if status != PAUSED or not np.isfinite(state.u).all():
            raise ArticulonError(f"adenylate kinase did not come through {count} steps of {step:g} fs")
        return taken

    entrants: dict[str, Callable[[], float | None]] = {"ours": partial(ours, steps)}
    sizes = {"ours": step}
    for name, (length, hydrogen) in THEIRS.items():
        integrator = openmm.LangevinMiddleIntegrator(TEMPERATURE, FRICTION, 1e-3 * length)
        context = _context(structure, integrator, cutoff, constraints=app.HBonds, hydrogenMass=hydrogen)
        context.setVelocitiesToTemperature(TEMPERATURE, 1)
        entrants[name], sizes[name] = partial(_theirs, context, steps), length
    for run in entrants.values():
        run()
    best = in_turn(entrants, rounds)
    taken = {name: seconds for name, seconds in best.items() if seconds is not None}
    found: dict[str, Any] = {
        name: 1e-6 * sizes[name] * steps / seconds * PICOSECONDS_A_DAY for name, seconds in taken.items()
    }
    found["milliseconds"] = {name: 1e3 * seconds / steps for name, seconds in taken.items()}
    found["speeds"] = model.nu
    found["frame"] = frame_costs(moved, state, 1e-3 * step)
    steps_of_a_picosecond = found["milliseconds"]["ours"] / (1e-3 * step)
    found["output"] = (found["frame"]["observed"] + found["frame"]["atoms"]) / steps_of_a_picosecond + 1.0 / COPY_SHARE
    return found


def _theirs(context: Any, steps: int) -> float:
    began = time.perf_counter()
    context.getIntegrator().step(steps)
    context.getState(energy=True)
    return time.perf_counter() - began


def _row(one: dict[str, Any]) -> tuple[Any, Any, Any]:
    return one["drift"], one["uncertainty"], one["fluctuation"]


def show(figures: dict[str, Any], out: Console | None = None) -> None:
    """Prints the figures as tables."""
    out = console() if out is None else out
    kept = figures["conservation"]
    rows = [(f"ours, {step} fs, heavy hydrogen", *_row(one)) for step, one in kept["ours"].items()]
    rows.append(("OpenMM, 2 fs, bonds to hydrogen kept", *_row(kept["openmm, 2 fs"])))
    title = (
        f"Energy of a helix of {kept['atoms']} atoms without a thermostat, {kept['starts']} times "
        f"{kept['duration']:g} ps"
    )
    columns = ("", "drift, kT/ns per degree of freedom", f"± at {CONFIDENCE:.0%}", "fluctuation, kT")
    show_table(out, title, columns, rows, words=1)
    title = (
        f"{figures['atoms']:,} atoms in implicit solvent, {figures['threads']} threads, Langevin at {TEMPERATURE:g} K: "
        "ns/day, and ms a step"
    )
    rows = []
    for name, figure in figures["speed"].items():
        for engine, words in (
            ("ours", f"ours, torsions, {figures['step']:g} fs, heavy hydrogen"),
            *((n, f"OpenMM, {n}") for n in THEIRS),
        ):
            rows.append((name, words, figure[engine], figure["milliseconds"][engine]))
    show_table(out, title, ("pairs", "engine", "ns/day", "ms/step"), rows, words=2)
    show_targets(out, figures["targets"])
    show_machine(out, figures["machine"])
