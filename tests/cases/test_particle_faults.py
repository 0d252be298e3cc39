"""What cannot be simulated is refused: which particles, which key, what to do about it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import articulon as ar
from articulon.errors import ArticulonError
from tests.support.run_cases import case_of

WELL = {"A": {"epsilon": 1.0, "sigma": 1.0}}
GRID = 1.2 * np.stack(np.meshgrid(*(np.arange(4),) * 3, indexing="ij"), -1).reshape(-1, 3).astype(float)
EDGE = 4.8
SIMPLE = {"positions": GRID, "charge": 0.0, "kind": "A", "box": {"lengths": (EDGE,) * 3}}


def model_of(*forces: Any, units: str = "lj", **changes: Any) -> Any:
    given = {**SIMPLE, **changes}
    box = given["box"]
    builder = ar.ModelBuilder(units=units, box=None if box is None else ar.Box(**box))
    builder.add_particles(
        len(given["positions"]),
        mass=given.get("mass", 1.0),
        positions=given["positions"],
        velocities=given.get("velocities"),
        charge=given["charge"],
        kind=given["kind"],
        names=given.get("names"),
    )
    for force in forces:
        builder.add_force(force)
    return builder.build()


def lennard_jones(**changes: Any) -> Any:
    return ar.forces.LennardJones(**{"parameters": WELL, "cutoff": 2.0, **changes})


def run(model: Any, duration: float = 0.02, **more: Any) -> Any:
    return ar.simulate(model, duration, **{"rule": "velocity-verlet", "step": 0.002, "frames": 2, **more})


def refused(*words: str, kind: type[Exception] = ArticulonError) -> Any:
    """Every word is in the message, in whatever order."""
    return pytest.raises(kind, match="(?s)" + "".join(f"(?=.*{re.escape(word)})" for word in words))


@pytest.mark.slow
def test_what_is_right_runs():
    """The models that the others spoil are sound."""
    found = run(model_of(lennard_jones()), thermostat=ar.thermostats.NoseHoover(temperature=1.0, period=0.5))
    assert np.isfinite(found.q).all()
    run(model_of(lennard_jones(), ar.forces.Ewald(), charge=np.tile([0.3, -0.3], 32)))


# Overlaps


def test_overlapping_particles_are_named_with_their_distance_and_a_way_out():
    positions = GRID.copy()
    positions[41] = positions[17] + [0.05, 0.0, 0.0]
    with refused("ion-17", "ion-41", "0.05", "minimise"):
        run(model_of(lennard_jones(), positions=positions, names="ion"))


def test_particles_at_one_point_are_named():
    positions = GRID.copy()
    positions[41] = positions[17] + [0.0, EDGE, -EDGE]
    with refused("ion-17", "ion-41", "same point"):
        run(model_of(lennard_jones(), positions=positions, names="ion"))


def test_an_overlap_across_a_periodic_face_is_found():
    positions = GRID.copy()
    positions[0] = [0.01, 0.0, 0.0]
    positions[63] = [EDGE - 0.01, 0.0, 2 * EDGE]
    with refused("ion-0", "ion-63", "0.02", "minimise"):
        run(model_of(lennard_jones(), positions=positions, names="ion"))


def test_an_overlap_that_is_excluded_or_has_a_soft_law_is_none():
    positions = GRID.copy()
    positions[41] = positions[17] + [0.05, 0.0, 0.0]
    bond = ar.forces.HarmonicBonds(bonds=[(17, 41)], stiffness=10.0, length=0.05)
    run(model_of(lennard_jones(), bond, ar.forces.Exclusions(bonds=[(17, 41)], bonds_apart=1), positions=positions))


def test_minimising_takes_an_overlap_away():
    positions = GRID.copy()
    positions[41] = positions[17] + [0.3, 0.01, 0.02]
    model = model_of(lennard_jones(truncation="force-shifted"), positions=positions)
    q = ar.minimise(model)
    q = getattr(q, "q", q)
    assert ar.potential_energy(model, q) < ar.potential_energy(model, GRID.ravel())
    assert np.isfinite(run(model, q=q).q).all()


# Boxes and cutoffs


@pytest.mark.parametrize("law", ["lennard-jones", "coulomb", "morse"])
def test_a_cutoff_beyond_half_of_the_box_is_refused(law):
    cutoff = EDGE / 2 + 1e-6
    force = {
        "lennard-jones": lambda: lennard_jones(cutoff=cutoff),
        "coulomb": lambda: ar.forces.Coulomb(cutoff=cutoff),
        "morse": lambda: ar.forces.Morse(
            pairs=[{"kinds": ("A", "A"), "depth": 1.0, "width": 2.0, "distance": 1.0}], cutoff=cutoff
        ),
    }[law]()
    with refused("forces[0]", "cutoff", "half", f"{EDGE / 2:g}"):
        model_of(force, charge=np.tile([1.0, -1.0], 32))


def test_half_of_a_tilted_box_is_half_of_its_smallest_width():
    """Not of its shortest edge: the faces of (6, 0, 0), (3, 6, 0), (0, 3, 6) are nearer to each other than 6."""
    lengths, tilts = (6.0, 6.0, 6.0), (3.0, 0.0, 3.0)
    vectors = np.array([[6.0, 0, 0], [3.0, 6.0, 0], [0, 3.0, 6.0]])
    width = min(1.0 / np.linalg.norm(np.linalg.inv(vectors), axis=0))
    assert width < 5.5
    model_of(lennard_jones(cutoff=width / 2 - 1e-9), box={"lengths": lengths, "tilts": tilts})
    with refused("cutoff", "half"):
        model_of(lennard_jones(cutoff=width / 2 + 1e-6), box={"lengths": lengths, "tilts": tilts})


def test_directions_that_are_not_periodic_bound_no_cutoff():
    box = {"lengths": (EDGE, EDGE, 1.0), "boundaries": ("periodic", "periodic", "open")}
    model_of(lennard_jones(), box=box)


def test_a_periodic_box_needs_a_cutoff():
    with refused("cutoff", "periodic"):
        model_of(lennard_jones(cutoff=None))
    with refused("cutoff", "periodic"):
        model_of(ar.forces.Coulomb(), charge=1.0)


def test_a_charged_box_has_no_ewald_sum():
    charges = np.tile([1.0, -1.0], 32)
    charges[5] = 0.0
    with refused("forces[0]", "charge", "1"):
        model_of(ar.forces.Ewald(), charge=charges)


def test_ewald_sums_need_a_box_that_is_periodic_in_all_directions():
    charges = np.tile([1.0, -1.0], 32)
    with refused("periodic"):
        model_of(ar.forces.Ewald(), charge=charges, box=None)
    with refused("periodic"):
        slab = {"lengths": (EDGE,) * 3, "boundaries": ("periodic", "periodic", "open")}
        model_of(ar.forces.Ewald(), charge=charges, box=slab)


def test_multipoles_need_open_space():
    with refused("open"):
        model_of(ar.forces.FastMultipole(), charge=np.tile([1.0, -1.0], 32))


def test_tails_need_a_periodic_box():
    with refused("tail_correction", "periodic"):
        model_of(lennard_jones(tail_correction=True), box=None)


def test_a_tilt_beyond_half_an_edge_is_refused():
    with refused("tilts", "xz"):
        ar.Box(lengths=(4.0, 4.0, 4.0), tilts=(0.0, 2.5, 0.0))


@pytest.mark.parametrize("lengths", [(0.0, 1.0, 1.0), (1.0, -2.0, 1.0), (1.0, 1.0, float("nan"))])
def test_a_box_without_room_is_refused(lengths):
    with refused("lengths"):
        model_of(lennard_jones(), box={"lengths": lengths})


def test_a_box_with_a_boundary_that_is_none_is_refused():
    with refused("boundaries"):
        ar.Box(lengths=(4.0, 4.0, 4.0), boundaries=("periodic", "periodic", "closed"))


def test_a_particle_outside_a_reflecting_box_is_named():
    positions = GRID + 0.3
    positions[7] = [-0.5, 1.0, 1.0]
    with refused("ion-7"):
        run(
            model_of(
                lennard_jones(),
                positions=positions,
                names="ion",
                box={"lengths": (EDGE,) * 3, "boundaries": ("reflecting",) * 3},
            )
        )


# Parameters


def test_unknown_and_missing_kinds_are_named():
    with refused("Na", "forces[0]"):
        model_of(lennard_jones(parameters={**WELL, "Na": WELL["A"]}))
    with refused("B", "forces[0]"):
        model_of(lennard_jones(), kind=["A", "B"] * 32)
    with refused("Q", "forces[0]"):
        model_of(lennard_jones(pairs=[{"kinds": ("A", "Q"), "epsilon": 1.0, "sigma": 1.0}]))
    with refused("B", "forces[0]"):
        model_of(ar.forces.TwelveSix(table=[{"kinds": ("A", "A"), "A": 1.0}], cutoff=2.0), kind=["A", "B"] * 32)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"truncation": "smooth"}, ("truncation",)),
        ({"truncation": "switched"}, ("switch_start",)),
        ({"truncation": "switched", "switch_start": 2.5}, ("switch_start", "cutoff")),
        ({"switch_start": 1.0}, ("switch_start",)),
        ({"cutoff": -1.0}, ("cutoff",)),
        ({"cutoff": 0.0}, ("cutoff",)),
        ({"cutoff": None, "truncation": "shifted"}, ("cutoff",)),
        ({"mixing": "arithmetic"}, ("mixing",)),
        ({"parameters": {"A": {"epsilon": -1.0, "sigma": 1.0}}}, ("epsilon",)),
        ({"parameters": {"A": {"epsilon": 1.0, "sigma": 0.0}}}, ("sigma",)),
        ({"parameters": {}}, ("parameters",)),
        ({"sigma": 1.0}, ("sigma",)),
        ({"skin": -0.1}, ("skin",)),
        ({"tail_correction": True, "truncation": "shifted"}, ("tail_correction",)),
    ],
)
def test_settings_that_do_not_go_together_are_refused(changes, words):
    with refused(*words):
        model_of(lennard_jones(**changes))


@pytest.mark.parametrize(
    ("force", "words"),
    [
        (lambda: ar.forces.HarmonicBonds(bonds=[(0, 64)], stiffness=1.0, length=1.0), ("bonds", "64")),
        (lambda: ar.forces.HarmonicBonds(bonds=[(0, -1)], stiffness=1.0, length=1.0), ("bonds", "-1")),
        (lambda: ar.forces.HarmonicBonds(bonds=[(3, 3)], stiffness=1.0, length=1.0), ("bonds", "3")),
        (
            lambda: ar.forces.HarmonicBonds(bonds=[(0, 1), (1, 2)], stiffness=[1.0] * 3, length=1.0),
            ("stiffness", "3", "2"),
        ),
        (lambda: ar.forces.HarmonicBonds(bonds=[(0, 1)], stiffness=-1.0, length=1.0), ("stiffness",)),
        (lambda: ar.forces.HarmonicAngles(angles=[(0, 1, 0)], stiffness=1.0, angle=1.0), ("angles",)),
        (lambda: ar.forces.HarmonicAngles(angles=[(0, 1)], stiffness=1.0, angle=1.0), ("angles",)),
        (
            lambda: ar.forces.PeriodicDihedrals(dihedrals=[(0, 1, 2, 99)], stiffness=1.0, multiplicity=1, phase=0.0),
            ("dihedrals", "99"),
        ),
        (
            lambda: ar.forces.PeriodicDihedrals(dihedrals=[(0, 1, 2, 3)], stiffness=1.0, multiplicity=1.5, phase=0.0),
            ("multiplicity",),
        ),
        (lambda: ar.forces.FeneBonds(bonds=[(0, 1)], stiffness=30.0, extent=0.0), ("extent",)),
    ],
)
def test_bonded_terms_of_sites_that_are_not_there_or_numbers_that_do_not_fit_are_refused(force, words):
    with refused(*words):
        model_of(force())


def test_a_fene_bond_beyond_its_extent_is_named_at_the_start():
    """Its energy is infinite there."""
    bond = ar.forces.FeneBonds(bonds=[(0, 1)], stiffness=30.0, extent=1.1, epsilon=0.0, sigma=1.0)
    with refused("forces[0].bonds[0]", "1.2", "1.1"):
        run(model_of(bond, names="ion"))


@pytest.mark.slow
def test_a_fene_bond_that_breaks_during_a_run_ends_it():
    velocities = np.zeros((64, 3))
    velocities[1] = [0.0, 0.0, 400.0]
    bond = ar.forces.FeneBonds(bonds=[(0, 1)], stiffness=3.0, extent=1.5, epsilon=0.0, sigma=1.0)
    with pytest.raises(ar.DivergenceError):
        run(model_of(bond, velocities=velocities, box=None), duration=1.0, step=0.01)


def test_excluding_pairs_that_are_not_there_is_refused():
    with refused("77"):
        model_of(lennard_jones(), ar.forces.Exclusions(pairs=[(0, 77)]))


# Units


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"parameters": {"A": {"epsilon": "1 nm", "sigma": "0.3 nm"}}}, ("forces[0]", "epsilon", "energy", "length")),
        ({"parameters": {"A": {"epsilon": "1 kJ/mol", "sigma": "0.3 ps"}}}, ("forces[0]", "sigma", "length", "time")),
        ({"cutoff": "2 kJ/mol"}, ("forces[0]", "cutoff", "length")),
        ({"cutoff": "1.2 nanometres"}, ()),
        ({"cutoff": "1.2 nmm"}, ("forces[0]", "cutoff")),
    ],
)
def test_quantities_with_the_wrong_unit_are_named(changes, words):
    settings = {"parameters": {"A": {"epsilon": "1 kJ/mol", "sigma": "3 angstrom"}}, "cutoff": "1.1 nm", **changes}
    if not words:
        model = model_of(lennard_jones(**settings), units="Da-nm-ps")
        same = model_of(lennard_jones(parameters={"A": {"epsilon": 1.0, "sigma": 0.3}}, cutoff=1.2), units="Da-nm-ps")
        # CODATA's dalton is 3e-10 off a gram per mole.
        assert ar.potential_energy(model, model.q0) == pytest.approx(ar.potential_energy(same, same.q0), rel=1e-9)
        return
    with refused(*words):
        model_of(lennard_jones(**settings), units="Da-nm-ps")


@pytest.mark.parametrize("name", ["mass", "positions", "velocities", "charge"])
def test_particles_with_the_wrong_unit_are_refused(name):
    wrong: dict[str, Any] = {
        "mass": "3 nm",
        "positions": [["1 kJ/mol", 0.0, 0.0]] * 64,
        "velocities": [["1 nm", 0.0, 0.0]] * 64,
        "charge": "1 nm",
    }
    with refused(name):
        model_of(lennard_jones(), units="Da-nm-ps", **{name: wrong[name]})


def test_particles_that_cannot_be_are_named():
    masses = np.ones(64)
    masses[3] = -1.0
    with refused("mass", "ion-3"):
        model_of(lennard_jones(), mass=masses, names="ion")
    positions = GRID.copy()
    positions[9, 1] = np.nan
    with refused("positions"):
        model_of(lennard_jones(), positions=positions, names="ion")


# Thermostats


def test_a_table_that_ends_before_the_run_is_refused():
    table = {"times": [0.0, 0.01], "values": [1.0, 2.0], "interpolation": "linear"}
    with refused("thermostat", "times", "0.01", "0.02"):
        run(model_of(lennard_jones()), thermostat=ar.thermostats.NoseHoover(temperature=table, period=0.5))


@pytest.mark.parametrize(
    "thermostat",
    [
        lambda: ar.thermostats.NoseHoover(temperature=1.0, period=0.5),
        lambda: ar.thermostats.NoseHooverChain(temperature=1.0, period=0.5),
        lambda: ar.thermostats.StochasticVelocityRescaling(temperature=1.0, time=0.5),
    ],
)
def test_a_thermostat_on_no_degrees_of_freedom_is_refused(thermostat):
    """One particle whose centre of mass is taken away has none left."""
    chosen = thermostat().model_copy(update={"centre_of_mass": "removed"})
    law = ar.forces.LennardJones(parameters=WELL)
    with refused("degrees of freedom"):
        run(model_of(law, positions=np.zeros((1, 3)), box=None), thermostat=chosen)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"temperature": -1.0, "period": 0.5}, ("temperature",)),
        ({"temperature": 1.0, "period": 0.0}, ("period",)),
        ({"temperature": 1.0}, ("period", "mass")),
        ({"temperature": 1.0, "period": 0.5, "mass": 1.0}, ("period", "mass")),
        ({"temperature": 1.0, "period": 0.5, "gain": 1.0}, ("gain",)),
        ({"temperature": {"times": [0.0, 1.0, 0.5], "values": [1.0] * 3}, "period": 0.5}, ("times",)),
        ({"temperature": {"times": [0.0, 1.0], "values": [1.0] * 3}, "period": 0.5}, ("times", "values")),
        ({"temperature": {"times": [0.5, 1.0], "values": [1.0] * 2}, "period": 0.5}, ("times", "0")),
    ],
)
def test_thermostats_that_cannot_be_are_refused(fields, words):
    with refused(*words):
        run(model_of(lennard_jones()), thermostat=ar.thermostats.NoseHoover(**fields))


def test_a_rule_that_needs_a_friction_says_so():
    with refused("ermak-mccammon", "overdamped"):
        run(model_of(lennard_jones()), rule="ermak-mccammon")


# In a case file

CASE = """
[case]
units = "lj"

[box]
lengths = [4.8, 4.8, 4.8]

[model]
builder = "particles"
positions = POSITIONS
species = {A = {mass = 1.0}}

[[forces]]
kind = "lennard-jones"
parameters = {A = {epsilon = 1.0, sigma = 1.0}}
cutoff = 2.0

[thermostat]
kind = "nose-hoover"
temperature = 1.0
period = 0.5

[integrator]
rule = "velocity-verlet"
step = 0.002

[run]
duration = 0.02
frames = 2
"""


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("cutoff = 2.0", "cutoff = 3.0"), ("forces", "cutoff", "half")),
        (("cutoff = 2.0", "cutof = 2.0"), ("cutof", "cutoff")),
        (("A = {epsilon", "B = {epsilon"), ("'B'",)),
        (("lennard-jones", "lenard-jones"), ("lennard-jones",)),
        (("nose-hoover", "nose-hover"), ("thermostat", "nose-hoover")),
        (("period = 0.5", "period = 0"), ("thermostat", "period")),
        (("temperature = 1.0", "temperature = {times = [0, 0.01], values = [1, 2]}"), ("thermostat", "times", "0.01")),
        (("lengths = [4.8, 4.8, 4.8]", "lengths = [4.8, 4.8]"), ("box", "lengths")),
        (("lengths = [4.8, 4.8, 4.8]", "length = [4.8, 4.8, 4.8]"), ("box", "length")),
        (("mass = 1.0", "mass = 0.0"), ("mass",)),
        (("[0.0, 0.0, 0.0], ", "[0.0, 0.0, 0.03], [0.0, 0.0, 0.0], "), ("0.03", "minimise")),
        (("duration = 0.02", 'duration = "2 ps"'), ("duration", "reduced")),
    ],
)
def test_a_case_file_says_where_the_fault_is(tmp_path, change, words):
    text = CASE.replace("POSITIONS", str(GRID.tolist()))
    assert change[0] in text
    with refused(*words):
        ar.run(case_of(tmp_path, text.replace(*change, 1)), tmp_path / "run")


@pytest.mark.slow
def test_the_sound_case_runs(tmp_path: Path):
    done = ar.run(case_of(tmp_path, CASE.replace("POSITIONS", str(GRID.tolist()))), tmp_path / "run", report=False)
    assert done.summary["status"] == "complete"


def test_a_particle_in_a_wall_is_named_with_the_wall():
    builder = ar.ModelBuilder(units="lj", box=ar.Box(lengths=(9, 9, 9), boundaries=("open",) * 3))
    builder.add_particles(2, mass=1.0, positions=[[0.2, 4, 4], [0.8, 4, 4]], velocities=[[1.0, 0, 0]] * 2, kind="A")
    builder.add_force(ar.forces.LennardJonesWall(parameters={"A": {"epsilon": 1, "sigma": 1}}, cutoff=2.5))
    with pytest.raises(ar.ModelError, match=r"A-0' and the wall x- begin 0\.2 apart"):
        ar.simulate(builder.build(), 1.0, rule="velocity-verlet", step=0.001)
