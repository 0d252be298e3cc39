"""Lennard-Jones fluids against published Monte Carlo and molecular dynamics: energy and pressure with their error bars.

    python -m validation.equation_of_state

takes about a quarter of an hour and rewrites its section of docs/validation.md. Each fluid is sampled by velocity
Verlet with Langevin's thermostat (BAOAB), whose errors in positions stay far below the error bars at this step.
"""

from __future__ import annotations

import logging
import sys
import time
from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np

import articulon as ar
from validation.page import table, write_section

STEP, FRICTION, BETWEEN = 0.004, 3.0, 0.2
"""Step, friction of the thermostat and interval between samples [τ], [1/τ], [τ]."""
RESCALED_STEP = 0.005
"""Step of points that are sampled as molecular dynamics with a thermostat of the kinetic energy would [τ]."""
MELTING, EQUILIBRATION, SAMPLING = 10.0, 40.0, 3000.0
"""Time at three times the temperature, then unrecorded at the temperature, then recorded [τ]."""
CHUNK = 1000
"""Samples that are held at a time."""


@dataclass(frozen=True)
class Point:
    """A published state of the fluid."""

    source: str
    temperature: float
    density: float
    cells: int
    """Face-centred cubic cells along an edge at the start: four atoms each."""
    cutoff: float
    tails: bool
    """Truncated, with tail corrections; else shifted, without."""
    energy: tuple[float, float]
    """Potential energy of an atom and its error [ε]."""
    pressure: tuple[float, float]
    """[ε/σ³]."""
    biased: bool = False
    """Whether the published figures have the error of a finite step in them that ours do not have."""
    rescaled: bool = False
    """Whether it is sampled as molecular dynamics with a thermostat of the kinetic energy would: velocity Verlet with
    steps of 0.005 τ and stochastic velocity rescaling."""
    sampling: float = SAMPLING
    """Time recorded [τ]."""


NIST = "NIST"
POINTS = (
    Point(NIST, 0.85, 0.776, 5, 3.0, True, (-5.5121, 4.55e-4), (0.0067714, 1.72e-3)),
    Point(NIST, 0.85, 0.780, 5, 3.0, True, (-5.5386, 7.26e-4), (0.047924, 3.18e-3)),
    Point(NIST, 0.85, 0.820, 5, 3.0, True, (-5.7947, 6.03e-4), (0.55355, 3.13e-3)),
    Point(NIST, 0.85, 0.860, 5, 3.0, True, (-6.0305, 2.38e-3), (1.2660, 1.36e-2)),
    Point("HOOMD-blue", 1.4, 0.9, 6, 2.5, False, (-4.6622, 6.089e-4), (6.6462, 3.28e-3), biased=True),
    Point(
        "HOOMD-blue, likewise",
        1.4,
        0.9,
        6,
        2.5,
        False,
        (-4.6622, 6.089e-4),
        (6.6462, 3.28e-3),
        rescaled=True,
        sampling=1600.0,
    ),
)


def fluid(point: Point, truncation: str, tails: bool) -> Any:
    """The fluid as a lattice at rest, with its law of pairs ended in one way or another."""
    edge = (4.0 / point.density) ** (1.0 / 3.0)
    basis = np.array([[0.0, 0.0, 0.0], [0.5, 0.5, 0.0], [0.5, 0.0, 0.5], [0.0, 0.5, 0.5]])
    corners = np.indices((point.cells,) * 3).reshape(3, -1).T
    positions = edge * (corners[:, None, :] + basis).reshape(-1, 3)
    builder = ar.ModelBuilder(units="lj", box=ar.Box(lengths=(point.cells * edge,) * 3))
    builder.add_particles(len(positions), mass=1.0, positions=positions, kind="A")
    builder.add_force(
        ar.forces.LennardJones(
            parameters={"A": {"epsilon": 1.0, "sigma": 1.0}},
            cutoff=point.cutoff,
            truncation=truncation,
            tail_correction=tails,
        )
    )
    return builder.build()


def samples(point: Point, duration: float) -> np.ndarray:
    """Energy of an atom, pressure and logarithm of the weight of each sample, shape (samples, 3).

    The kinetic part of the pressure is exact. Forces that end at a cutoff are those of the shifted law, so that
    positions are distributed by its energy; Monte Carlo of the truncated law has the weights e^{−(U_t − U_s)/kT} in it.
    """
    shifted = fluid(point, "shifted", tails=False)
    measured = fluid(point, "truncated", tails=True) if point.tails else shifted
    atoms, volume, kT = len(shifted.names), shifted.box.volume, point.temperature
    seeds = count(1)

    def go_on(start: Any, duration: float, frames: int, temperature: float) -> Any:
        return ar.simulate(
            shifted,
            duration,
            rule="velocity-verlet",
            step=RESCALED_STEP if point.rescaled else STEP,
            thermostat=bath(point, temperature),
            frames=frames,
            seed=next(seeds),
            **({} if start is None else {"q": start.q[-1], "u": start.u[-1]}),
        )

    run = go_on(None, MELTING, 1, 3.0 * kT)
    run = go_on(run, EQUILIBRATION, 1, kT)
    found = []
    for _ in range(round(duration / BETWEEN / CHUNK)):
        run = go_on(run, CHUNK * BETWEEN, CHUNK, kT)
        for q, U_s in zip(run.q[1:], run.potential_energy[1:], strict=True):
            U = ar.potential_energy(measured, q) if point.tails else U_s
            trace = np.trace(ar.virial(measured, q))
            found.append((U / atoms, (atoms * kT + trace / 3.0) / volume, (U_s - U) / kT))
    return np.array(found)


def bath(point: Point, temperature: float) -> Any:
    """The thermostat that a point is sampled with."""
    if point.rescaled:
        return ar.thermostats.StochasticVelocityRescaling(temperature=temperature, time=0.5)
    return ar.thermostats.Langevin(temperature=temperature, friction=FRICTION)


def average(values: np.ndarray, logarithm: np.ndarray) -> tuple[float, float, float]:
    """Weighted mean, its standard error, and the statistical inefficiency that it counts."""
    w = np.exp(logarithm - logarithm.max())
    w /= w.mean()
    mean = float((w * values).mean())
    spread = w * (values - mean)
    logging.getLogger("pymbar").setLevel(logging.ERROR)  # it would tell how to install other packages
    from pymbar.timeseries import statistical_inefficiency

    g = float(statistical_inefficiency(spread))
    return mean, float(spread.std() * np.sqrt(g / len(spread))), g


def compared(ours: tuple[float, float], theirs: tuple[float, float]) -> str:
    """The difference in combined standard errors."""
    return f"{(ours[0] - theirs[0]) / np.hypot(ours[1], theirs[1]):+.1f}"


def main(duration: float = SAMPLING) -> None:
    began, rows, worst = time.monotonic(), [], 0.0
    for point in POINTS:
        found = samples(point, min(duration, point.sampling))
        (U, e, g), (p, d, f) = (average(found[:, k], found[:, 2]) for k in (0, 1))
        apart = [compared(pair, ref) for pair, ref in (((U, e), point.energy), ((p, d), point.pressure))]
        if not point.biased:
            worst = max(worst, *(abs(float(text)) for text in apart))
        rows.append(
            [
                f"{point.source}, {point.temperature}, {point.density}",
                f"{U:.4f} ± {e:.4f}",
                f"{point.energy[0]:.4f} ± {point.energy[1]:.4f}",
                apart[0],
                f"{p:.4f} ± {d:.4f}",
                f"{point.pressure[0]:.4f} ± {point.pressure[1]:.4f}",
                apart[1],
                f"{max(g, f):.1f}",
            ]
        )
        sys.stderr.write(" | ".join(rows[-1]) + "\n")
    head = [
        "source, T, ρ",
        "U ours",
        "U published",
        "difference / error",
        "p ours",
        "p published",
        "difference / error",
        "inefficiency",
    ]
    text = f"""
## Equation of state of Lennard-Jones fluids

`python -m validation.equation_of_state`, {time.monotonic() - began:.0f} s. The table gives the potential energy per
atom and the pressure with standard errors, in reduced units. Differences are in combined standard errors. Our runs use
velocity Verlet with Langevin's thermostat, steps of {STEP} τ and γ = {FRICTION} τ⁻¹. Each fluid runs for {duration:.0f}
τ, with a sample every {BETWEEN} τ. The errors account for the statistical inefficiencies of energy and pressure
(pymbar), and the last column gives the larger of the two.

- The data of the NIST Standard Reference Simulation Website come from Monte Carlo runs of 500 atoms. The potential is
  truncated at 3 σ, and tail corrections are added. The published uncertainties are 67 % limits. The truncated potential
  jumps at the cutoff, and molecular dynamics has no force for such a jump. Our runs therefore use the shifted
  potential, and their samples are weighted by e^{{−(U_t − U_s)/kT}}, where U_t is the truncated energy and U_s the
  shifted energy.
- The data of HOOMD-blue come from a test of its thermostats: molecular dynamics of 864 atoms, with the potential
  shifted at 2.5 σ and steps of 0.005 τ. Velocity Verlet with a thermostat of the kinetic energy heats the positions by
  h²⟨∇²U⟩/12m, where h is the step and m the mass; here the temperature of the positions is 0.3 % too high. HOOMD-blue's
  figures contain this bias. Runs with Langevin's rule (BAOAB) do not contain it. The runs for the row "likewise" also
  have this bias: they use velocity Verlet with steps of {RESCALED_STEP} τ and stochastic velocity rescaling, and last
  {POINTS[-1].sampling:.0f} τ.

{table(head, rows)}

Apart from this bias of velocity Verlet, the largest difference is {worst:.1f} combined standard errors.
"""
    write_section("equation-of-state", text)


if __name__ == "__main__":
    main()
