"""Free particles in open space, every pair interacting."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import articulon as ar


def droplet(*forces: Any) -> Any:
    """Twenty ions of two kinds near the places of a lattice, in a wide cube."""
    places = 1.2 * (np.indices((3, 3, 3)).reshape(3, -1).T[:20] - 1.0)
    places += np.random.default_rng(3).uniform(-0.05, 0.05, places.shape)
    builder = ar.ModelBuilder(units="lj", box=ar.Box(lengths=(6,) * 3, boundaries=("open",) * 3, origin=(-3,) * 3))
    builder.add_particles(10, mass=1.0, positions=places[:10], charge=1.0, kind="A")
    builder.add_particles(10, mass=2.0, positions=places[10:], charge=-1.0, kind="B")
    for force in forces:
        builder.add_force(force)
    return builder.build()


def largest_error(model: Any, step: float) -> float:
    run = ar.simulate(model, 0.4, rule="velocity-verlet", step=step, frames=20)
    energy = run.kinetic_energy + run.potential_energy
    assert run.kinetic_energy.max() > 1e-2
    return float(np.abs(energy - energy[0]).max())


WELLS = {kind: {"epsilon": 1.0, "sigma": 1.0} for kind in "AB"}
LAWS = {
    "pairs": (ar.forces.LennardJones(parameters=WELLS), ar.forces.Coulomb()),
    "walls": (ar.forces.LennardJonesWall(parameters=WELLS),),
    "all": (
        ar.forces.LennardJones(parameters=WELLS),
        ar.forces.Coulomb(),
        ar.forces.LennardJonesWall(parameters=WELLS),
    ),
}


@pytest.mark.parametrize("name", ["pairs", "all"])
def test_velocity_verlet_without_a_cutoff_errs_in_energy_by_the_square_of_the_step(name: str) -> None:
    # Nothing is listed here, and no particle is ever too far from where it was listed.
    model = droplet(*LAWS[name])
    coarse, fine = (largest_error(model, step) for step in (0.002, 0.001))
    assert coarse / fine == pytest.approx(4.0, rel=0.05)


def test_walls_alone_need_no_list() -> None:
    model = droplet(*LAWS["walls"])
    run = ar.simulate(model, 1.0, rule="velocity-verlet", step=0.001, frames=2)
    energy = run.kinetic_energy + run.potential_energy
    assert run.kinetic_energy[-1] > 0.0
    assert abs(energy[-1] - energy[0]) < 1e-6 * run.kinetic_energy[-1]
