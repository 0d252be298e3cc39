"""Force fields of peptides: our own forces, and the force ``openmm`` on OpenMM's platforms."""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numba
import numpy as np
from rich.console import Console

from articulon import molecules
from articulon.errors import ArticulonError
from articulon.forces import ConstantEnergy, OpenMM
from articulon.forces.sites.openmm_force import Evaluation
from articulon.forces.sites.openmm_system import openmm_package, platforms
from articulon.forces.sites.site_evaluation import SiteForces
from benchmarks.tables import console, show_machine, show_table
from benchmarks.timing import interleaved, machine

PEPTIDES: Mapping[str, Sequence[str]] = {
    "alanine dipeptide": ("ACE", "ALA", "NME"),
    "trpzip2": ("SER", "TRP", "THR", "TRP", "GLU", "ASN", "GLY", "LYS", "TRP", "THR", "TRP", "LYS", "NH2"),
}
SOLVENTS = ("vacuum", "obc2")
SECONDS = 8.0
"""For the timing of each peptide in each solvent [s]."""
PACKAGES = {"numpy": "numpy", "numba": "numba", "openmm": "openmm"}

Say = Callable[[str], None]


def measure(
    peptides: Mapping[str, Sequence[str]] = PEPTIDES, seconds: float = SECONDS, say: Say = lambda _: None
) -> dict[str, Any]:
    """The figures: by peptide and solvent, microseconds for the forces of all atoms under Amber 14 without a cutoff, by
    our own forces and by each platform; what OpenMM takes of that by itself; and the machine.

    Raises
    ------
    ArticulonError
        Where OpenMM is not installed.
    """
    openmm_package("bench openmm-force")
    figures: dict[str, Any] = {"machine": machine(PACKAGES), "rows": []}
    before = numba.get_num_threads()
    numba.set_num_threads(1)
    try:
        for name, sequence in peptides.items():
            structure = molecules.peptide(sequence, phi=-120.0, psi=135.0)
            articulation = molecules.perceive(structure)
            for solvent in SOLVENTS:
                say(f"{name}, {solvent}")
                figures["rows"].append(_measured(name, solvent, structure, articulation, seconds))
    finally:
        numba.set_num_threads(before)
    return figures


def _measured(name: str, solvent: Any, structure: Any, articulation: Any, seconds: float) -> dict[str, Any]:
    system = molecules.openmm_system(structure, solvent=solvent)
    models = {
        "ours": molecules.force_field_model(structure, articulation, solvent=solvent),
        "nothing": molecules.build(structure, articulation, forces=[ConstantEnergy(energy=0.0)]),
    }
    choices: dict[str, dict[str, Any]] = {key: {"platform": key} for key in platforms()}
    if "CPU" in choices:
        choices["CPU, all cores"] = {"platform": "CPU", "repeatable": False}
    declared = {key: OpenMM(system=system, **options) for key, options in choices.items()}
    models |= {key: molecules.build(structure, articulation, forces=[force]) for key, force in declared.items()}
    at = structure.positions
    calls = {key: _call(SiteForces(model), at) for key, model in models.items()}
    works: dict[str, Callable[[], Any]] = {}
    for key, call in calls.items():
        try:
            call()
        except ArticulonError:
            continue  # the library of a platform without its device
        works[key] = call
    bare = [key for key in declared if key in works]
    timed = [*works.values(), *(_bare(Evaluation(declared[key], models[key]).context, at) for key in bare)]
    best = [1e6 * taken for taken in interleaved(timed, seconds, time.perf_counter)]
    whole, alone = dict(zip(works, best, strict=False)), dict(zip(bare, best[len(works) :], strict=True))
    nothing = whole.pop("nothing")
    return {
        "peptide": name,
        "solvent": solvent,
        "atoms": len(structure),
        "ours": whole.pop("ours") - nothing,
        "openmm": {key: taken - nothing for key, taken in whole.items()},
        "openmm_alone": alone,
    }


def _call(sites: SiteForces, positions: np.ndarray) -> Callable[[], Any]:
    return lambda: sites.evaluate(positions)


def _bare(context: Any, positions: np.ndarray) -> Callable[[], Any]:
    """What a program that only uses OpenMM would do."""

    def call() -> Any:
        context.setPositions(positions)
        return context.getState(forces=True).getForces(asNumpy=True)

    return call


def show(figures: dict[str, Any], out: Console | None = None) -> None:
    """Prints the figures as tables."""
    out = console() if out is None else out
    rows = figures["rows"]
    names = list(rows[0]["openmm"])
    title = "Forces under Amber 14 [µs]: our own on one thread, and the force openmm by platform"
    found = [(_what(row), row["atoms"], row["ours"], *(row["openmm"].get(key) for key in names)) for row in rows]
    show_table(out, title, ["peptide", "atoms", "ours", *names], found, words=1)
    title = "OpenMM alone, with the time to set positions and fetch forces [µs]"
    found = [(_what(row), row["atoms"], *(row["openmm_alone"].get(key) for key in names)) for row in rows]
    show_table(out, title, ["peptide", "atoms", *names], found, words=1)
    show_machine(out, figures["machine"])


def _what(row: dict[str, Any]) -> str:
    return f"{row['peptide']}, {row['solvent']}"
