"""How total energy drifts at constant energy: the molten salt of 100 ions, every pair interacting, for 1 ns.

    python -m validation.energy_drift

takes about ten minutes and rewrites its section of docs/validation.md.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np
from scipy.stats import linregress, t

import articulon as ar
from validation.page import write_section

CASE = "molten-salt-100"
TEMPERATURE = 773.0
"""[K]."""
STEP = "0.5 fs"
EQUILIBRATION, BLOCK, BLOCKS = "50 ps", "50 ps", 20
SAMPLES = 5000
"""Of a block."""
OPENMM = 1.1e-7
"""OpenMM's own, in double precision at 0.5 fs without a cutoff [kT per ns and degree of freedom]."""


def energies(run: Any, kT: float) -> np.ndarray:
    """Total energy of each frame but the first [kT]."""
    return (run.kinetic_energy + run.potential_energy)[1:] / kT


def blocks(model: Any) -> np.ndarray:
    """Total energy of the samples of each block of a run at constant energy [kT], shape (blocks, samples)."""
    kT = model.units.boltzmann * TEMPERATURE
    warm = ar.thermostats.Langevin(temperature=f"{TEMPERATURE} K", friction="2 1/ps")
    run = ar.simulate(model, EQUILIBRATION, rule="velocity-verlet", step=STEP, thermostat=warm, frames=1)
    found = []
    for k in range(BLOCKS):
        start = {"q": run.q[-1], "u": run.u[-1]}
        run = ar.simulate(model, BLOCK, rule="velocity-verlet", step=STEP, frames=SAMPLES, **start)
        found.append(energies(run, kT))
        sys.stderr.write(f"block {k + 1} of {BLOCKS}: {found[-1].mean():.9f} kT\n")
    return np.array(found)


def slope_and_bound(means: np.ndarray, length: float) -> tuple[float, float, float]:
    """Slope of block means over time, its standard error, and the end of its 95 % confidence interval that is farther
    from zero; ``length`` is that of a block. The scatter of the means about the line counts all correlation that dies
    out within a block."""
    line = linregress((np.arange(means.size) + 0.5) * length, means)
    reach = t.ppf(0.975, means.size - 2) * line.stderr
    return line.slope, line.stderr, abs(line.slope) + reach


def main() -> None:
    began = time.monotonic()
    model = ar.load_case(CASE).build_model()
    degrees_of_freedom, block = (
        model.nu,
        model.units.value(BLOCK, "time", "block") / model.units.value("1 ns", "time", "ns"),
    )
    found = blocks(model)
    slope, error, bound = (value / degrees_of_freedom for value in slope_and_bound(found.mean(axis=1), block))
    write_section(
        "energy-drift",
        f"""
## Drift of energy

`python -m validation.energy_drift`, {time.monotonic() - began:.0f} s. The run is `{CASE}` at constant energy:
{model.bodies} bodies with {degrees_of_freedom} degrees of freedom, walls, and forces between all pairs without a
cutoff. Velocity Verlet takes steps of {STEP} for {BLOCKS * block:g} ns, after {EQUILIBRATION} under Langevin's
thermostat at {TEMPERATURE:g} K. The total energy is sampled {BLOCKS * SAMPLES:,} times. The table gives the slope of a
line through the means of {BLOCKS} blocks. The error of the slope comes from the scatter of these means about the line.
This scatter includes all correlations that are shorter than a block.

| | kT per ns and degree of freedom |
| --- | --- |
| slope | {slope:.1e} ± {error:.1e} |
| upper 95 % bound of its magnitude | {bound:.1e} |
| OpenMM, double precision, as published | {OPENMM:.1e} |

The standard deviation of the total energy over all samples is {found.std():.1e} kT.
""",
    )


if __name__ == "__main__":
    main()
