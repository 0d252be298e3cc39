"""Ensembles of constant pressure: volumes and energies of a liquid at two pressures, by physical_validation.

    python -m validation.pressure

takes some minutes and rewrites its section of docs/validation.md. Where both runs are of their ensembles, the logarithm
of the ratio of their distributions is a plane in U and V, whose slopes follow from both pressures alone (Shirts,
J. Chem. Theory Comput. 9, 909, 2013; Merz and Shirts, PLOS ONE 13, e0202764, 2018).
"""

from __future__ import annotations

from typing import Any

import numpy as np

import articulon as ar
from validation.page import table, write_section

PRESSURES, DURATION, FRAMES, SETTLING = (2.0, 2.5), 2000.0, 8000, 400
PARTICLES, STEP = 64, 0.005
PER_VOLUME = 16.6053906717
"""Bar in kJ/mol per nm³, the units that physical_validation reckons in."""
BAROSTATS = {
    "monte-carlo": lambda P: ar.barostats.MonteCarlo(pressure=P, every=10, compressibility=0.1),
    "stochastic-cell-rescaling": lambda P: ar.barostats.StochasticCellRescaling(
        pressure=P, every=10, compressibility=0.1, relaxation=1.0
    ),
}


def liquid() -> Any:
    """A Lennard-Jones liquid on a lattice."""
    side, edge = round(PARTICLES ** (1 / 3)), (PARTICLES / 0.8) ** (1 / 3)
    builder = ar.ModelBuilder("lj", box=ar.Box((edge,) * 3))
    grid = np.stack(np.meshgrid(*[np.arange(side)] * 3), axis=-1).reshape(-1, 3) * edge / side
    builder.add_particles(PARTICLES, mass=1.0, positions=grid, kind="A")
    parameters = {"A": {"epsilon": 1.0, "sigma": 1.0}}
    builder.add_force(ar.forces.LennardJones(parameters=parameters, cutoff=1.6, truncation="force-shifted"))
    return builder.build()


def sampled(kind: str, pressure: float, seed: int) -> Any:
    """Volumes and energies, as physical_validation takes them."""
    import physical_validation as pv

    run = ar.simulate(
        liquid(),
        DURATION,
        rule="velocity-verlet",
        step=STEP,
        frames=FRAMES,
        speeds="thermal",
        seed=seed,
        thermostat=ar.thermostats.Langevin(temperature=1.0, friction=2.0),
        barostat=BAROSTATS[kind](pressure),
    )
    seen = {name: run.observables[name][SETTLING:] for name in ("volume", "energy_potential", "kinetic_energy")}
    return pv.data.SimulationData(
        units=pv.data.UnitData(
            kb=1.0,
            energy_conversion=1,
            length_conversion=1,
            volume_conversion=1,
            temperature_conversion=1,
            pressure_conversion=PER_VOLUME,
            time_conversion=1,
        ),
        ensemble=pv.data.EnsembleData("NPT", natoms=PARTICLES, pressure=pressure, temperature=1.0),
        observables=pv.data.ObservableData(
            kinetic_energy=seen["kinetic_energy"],
            potential_energy=seen["energy_potential"],
            total_energy=seen["kinetic_energy"] + seen["energy_potential"],
            volume=seen["volume"],
        ),
        system=pv.data.SystemData(
            natoms=PARTICLES, nconstraints=0, ndof_reduction_tra=0, ndof_reduction_rot=0, mass=np.ones(PARTICLES)
        ),
    )


def main() -> None:
    """Samples and writes the section."""
    import physical_validation as pv

    rows = []
    for kind in BAROSTATS:
        low, high = (sampled(kind, pressure, 1 + k) for k, pressure in enumerate(PRESSURES))
        (off,) = pv.ensemble.check(low, high, total_energy=False, bootstrap_seed=1, verbosity=0)
        volumes = [f"{data.observables.volume.mean():.2f}" for data in (low, high)]
        rows.append([f"`{kind}`", *volumes, f"{off:.2f}"])
    write_section(
        "pressure",
        f"## Ensembles of constant pressure\n\n`python -m validation.pressure`. {PARTICLES} particles of a "
        f"Lennard-Jones liquid run at kT = 1 and at the pressures {PRESSURES[0]:g} and {PRESSURES[1]:g}, for "
        f"{DURATION:g} τ at each pressure. Let p₁(V) and p₂(V) be the distributions of the volume at the two pressures "
        "P₁ and P₂. The last column gives the deviation of the slope of ln p₂(V)/p₁(V) from −(P₂ − P₁)/kT, in "
        "standard errors.\n\n"
        + table(
            [
                "barostat",
                "volume at the lower pressure [σ³]",
                "volume at the higher pressure [σ³]",
                "deviation / error",
            ],
            rows,
        ),
    )


if __name__ == "__main__":
    main()
