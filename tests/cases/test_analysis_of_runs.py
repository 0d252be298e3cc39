"""Every function of ``articulon.analysis`` on runs in memory and in folders."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import articulon as ar


def melt() -> ar.Run:
    builder = ar.ModelBuilder(units="lj", box=ar.Box(lengths=(6, 6, 6)))
    places = 1.5 * np.stack(np.meshgrid(*[np.arange(4)] * 3), axis=-1).reshape(-1, 3)
    speeds = np.random.default_rng(1).normal(size=(64, 3))
    builder.add_particles(64, mass=1.0, positions=places, velocities=speeds)
    wells = {"particle": {"epsilon": 1, "sigma": 1}}
    builder.add_force(ar.forces.LennardJones(parameters=wells, cutoff=2.5, truncation="force-shifted"))
    bath = ar.thermostats.ModifiedNoseHoover(temperature=1.0, mass=5.0, derivative_gain=0.1)
    return ar.simulate(builder.build(), 0.2, rule="velocity-verlet", step=0.002, frames=20, thermostat=bath)


def grains() -> ar.Run:
    builder = ar.ModelBuilder(units="kg-m-s")
    for k in range(2):
        builder.add_grain(f"g{k}", kind="glass", radius=0.01, density=2500, position=(0, 0, 0.0199 * k))
    glass = {"young": 1e7, "poisson": 0.3, "static_friction": 0.3, "restitution": 0.8}
    builder.add_force(ar.forces.Contact(materials={"glass": glass}))
    return ar.simulate(builder.build(), 1e-4, rule="velocity-verlet", step=1e-6, frames=5)


def pendulum() -> ar.Run:
    builder = ar.ModelBuilder(units="kg-m-s")
    hinge = ar.Revolute(axis=(0, 1, 0))
    builder.add_body("rod", mass=1, inertia=0.1, com=(0, 0, -0.5), joint=hinge, q=1)
    builder.add_force(ar.forces.Gravity(acceleration=(0, 0, -9.81)))
    builder.add_force(ar.forces.StokesDrag(translational=1, rotational=1))
    return ar.simulate(builder.build(), 0.5)


MAKERS = {"melt": melt, "grains": grains, "pendulum": pendulum}
FUNCTIONS: dict[str, Callable[[ar.Run], Any]] = {
    "average": lambda run: ar.analysis.average(run, "kinetic_energy"),
    "statistical_inefficiency": lambda run: ar.analysis.statistical_inefficiency(run.kinetic_energy),
    "configurational_temperature": ar.analysis.configurational_temperature,
    "temperature_spread": ar.analysis.temperature_spread,
    "isokinetic_spread": lambda run: ar.analysis.isokinetic_spread(run, 0.1, 5.0),
    "mean_square_displacement": ar.analysis.mean_square_displacement,
    "velocity_autocorrelation": ar.analysis.velocity_autocorrelation,
    "radial_distribution": ar.analysis.radial_distribution,
    "contacts": ar.analysis.contacts,
    "contact_scales": ar.analysis.contact_scales,
    "heap_angle": ar.analysis.heap_angle,
    "drum_angle": ar.analysis.drum_angle,
    "analyse_contacts": ar.analysis.analyse_contacts,
    "analyse_relaxation": ar.analysis.analyse_relaxation,
    "analyse_thermostat": ar.analysis.analyse_thermostat,
}
ON_MOLECULES = {
    *(
        "analyse_molecules",
        "backbone_torsions",
        "clusters",
        "end_to_end_distance",
        "hydrogen_bonds",
        "mean_temperature",
    ),
    *("native_contacts", "radius_of_gyration", "ramachandran", "rmsd", "rmsf", "secondary_structure"),
    *("torsion_correlation", "universe", "write_clusters"),
}
"""Those of molecules, which test_molecule_reports.py tries."""
ON_CHAINS = {"analyse_polymers"}
"""That of polymers, which test_polymers.py tries."""
REFUSED = {
    "melt": {"contacts", "analyse_contacts"},
    "grains": {"configurational_temperature", "isokinetic_spread", "radial_distribution", "analyse_thermostat"},
    "pendulum": {
        "configurational_temperature",
        "isokinetic_spread",
        "velocity_autocorrelation",
        "radial_distribution",
        "contacts",
        "analyse_contacts",
        "analyse_thermostat",
    },
}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[ar.Run, ar.Run]]:
    """Each run in memory, and the same in a folder."""
    folder, found = tmp_path_factory.mktemp("runs"), {}
    for name, make in MAKERS.items():
        run = make()
        found[name] = (run, ar.open_run(run.save(folder / name)))
    return found


def test_every_public_function_is_tried() -> None:
    functions = {name for name in ar.analysis.__all__ if not isinstance(getattr(ar.analysis, name), type)}
    assert functions - {"load_for_analysis"} - ON_MOLECULES - ON_CHAINS == set(FUNCTIONS)


def numbers(found: Any) -> list[np.ndarray]:
    """All numbers of what was found, but for those of the case that it is about."""
    if dataclasses.is_dataclass(found):
        found = [getattr(found, field.name) for field in dataclasses.fields(found) if field.name != "case"]
    if isinstance(found, dict):
        found = list(found.values())
    if isinstance(found, tuple | list):
        return [number for one in found for number in numbers(one)]
    return [np.asarray(found, dtype=float)] if isinstance(found, int | float | np.ndarray) else []


@pytest.mark.slow
@pytest.mark.parametrize("model", MAKERS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_run_in_memory_and_one_in_a_folder_are_measured_alike(
    runs: dict[str, tuple[ar.Run, ar.Run]], model: str, name: str
) -> None:
    outcomes = []
    for run in runs[model]:
        try:
            outcomes.append(FUNCTIONS[name](run))
        except ar.ArticulonError as error:
            outcomes.append(str(error))
    in_memory, in_folder = outcomes
    if name in REFUSED[model]:
        assert isinstance(in_memory, str) and isinstance(in_folder, str)
        assert in_folder.replace(str(runs[model][1].folder / "case.toml"), "simulate") == in_memory
        return
    one, other = numbers(in_memory), numbers(in_folder)
    assert len(one) == len(other)
    for a, b in zip(one, other, strict=True):
        np.testing.assert_array_equal(a, b)


def test_what_is_neither_a_run_nor_a_case_is_refused_by_what_was_expected() -> None:
    for name in set(FUNCTIONS) - {"average", "statistical_inefficiency", "temperature_spread"}:
        with pytest.raises(ar.ArticulonError, match=r"expected a (run|case)"):
            FUNCTIONS[name]("runs/melt")  # type: ignore[arg-type]
