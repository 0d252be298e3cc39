"""Hard spheres against Carnahan and Starling's equation of state, and what their impacts keep.

    python -m validation.hard_spheres

takes a minute or two and rewrites its section of docs/validation.md.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np

import articulon as ar
from benchmarks.sphere_gases import fluid, rate_of_impacts
from validation.page import table, write_section

SPHERES = 100_000
PACKINGS = (0.1, 0.2, 0.3)
IMPACTS = 30.0
"""Of each sphere while the pressure is taken, about, and half as many before."""
FRAMES = 10
ALLOWED = 0.005
"""By Z."""


def carnahan_starling(packing: float) -> float:
    """Z of equal hard spheres (Journal of Chemical Physics 51, 635, 1969)."""
    return (1.0 + packing + packing**2 - packing**3) / (1.0 - packing) ** 3


def model(packing: float, spheres: int) -> Any:
    """The fluid in its periodic box, at the temperature 1."""
    start = fluid(spheres, packing)
    builder = ar.ModelBuilder(units="lj", box=ar.Box(lengths=tuple(start.gas.box.high.tolist())))
    where = {"positions": start.positions, "velocities": start.velocities}
    builder.add_particles(spheres, mass=1.0, radius=0.5, kind="A", **where)
    builder.add_force(ar.forces.Impacts(restitution=1.0))
    return builder.build()


def point(packing: float, spheres: int) -> tuple[list[str], float]:
    """A row of the table, and by how much Z is off, by Z."""
    duration = IMPACTS / (2.0 * rate_of_impacts(packing))
    melted = ar.simulate(model(packing, spheres), 0.5 * duration, rule="event-driven", frames=1)
    began = time.perf_counter()
    run = ar.resume(melted, duration, frames=FRAMES)
    taken = time.perf_counter() - began
    seen, wanted = run.observables, carnahan_starling(packing)
    Z = seen["compressibility_factor"][-FRAMES:]
    mean, error = float(Z.mean()), float(Z.std(ddof=1) / np.sqrt(FRAMES))
    u = run.u.reshape(len(run.u), -1, 3)
    momentum = np.abs(u[-1].sum(axis=0) - melted.u[0].reshape(-1, 3).sum(axis=0)).max() / np.abs(u[-1]).sum()
    energy = abs(seen["kinetic_energy"][-1] / melted.observables["kinetic_energy"][0] - 1.0)
    impacts = int(seen["impacts"][-1] - melted.observables["impacts"][-1])
    row = [
        f"{packing:g}",
        f"{mean:.4f} ± {error:.4f}",
        f"{wanted:.4f}",
        f"{100.0 * (mean / wanted - 1.0):+.2f} %",
        f"{impacts:,}",
        f"{impacts / taken:,.0f}",
        f"{momentum:.0e}",
        f"{energy:.0e}",
    ]
    sys.stderr.write(" | ".join(row) + "\n")
    return row, abs(mean / wanted - 1.0)


def main(spheres: int = SPHERES) -> None:
    began = time.monotonic()
    found = [point(packing, spheres) for packing in PACKINGS]
    worst = max(off for _, off in found)
    head = ["η", "Z", "Carnahan–Starling", "difference", "impacts", "per second", "momentum", "energy"]
    text = f"""
## Equation of state of hard spheres

`python -m validation.hard_spheres`, {time.monotonic() - began:.0f} s on one thread of a machine that also runs other
programs. {spheres:,} equal spheres move by the rule `event-driven`, without loss of energy. The compressibility factor
Z = p V/(N k T) at the packing fraction η comes from the collisional virial, and its standard error from {FRAMES} parts
of the run. The reference is (1 + η + η² − η³)/(1 − η)³ (N. F. Carnahan and K. E. Starling, Journal of Chemical Physics
51, 635, 1969), a fit that has an error of its own. The column "momentum" gives the largest change of a component of the
total momentum since the start, relative to the sum of the magnitudes of all momenta. The column "energy" gives the
relative change of the energy since the start.

{table(head, [row for row, _ in found])}

The largest difference is {100.0 * worst:.2f} %; {100.0 * ALLOWED:g} % is allowed.
"""
    write_section("hard-spheres", text)
    if worst > ALLOWED:
        raise SystemExit("Z is further off than allowed")


if __name__ == "__main__":
    main()
