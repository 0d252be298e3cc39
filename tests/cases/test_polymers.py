"""Polymers that the builder grows: chains, stars and rings, on rods and on springs."""

import numpy as np
import pytest
from scipy.spatial import cKDTree

import articulon as ar
from articulon.cases.builders.polymers import Polymers
from articulon.forces.sites.site_positions import site_positions

MELT = {"chains": 8, "beads": 10, "bond_length": 0.97, "mass": 1.0, "number_density": 0.85}
SPRINGS = {"bonds": "fene", "bond_stiffness": 30.0, "bond_extent": 1.5, "bond_repulsion": 1.0, "bond_diameter": 1.0}


def built(*forces, box: ar.Box | None = None, **keys) -> ar.Model:
    builder = ar.ModelBuilder("lj", box=box)
    Polymers.model_validate({**MELT, **keys}).resolved(builder.units, "model").populate(builder)
    if forces:
        for force in forces:
            builder.add_force(force)
    return builder.build()


def repulsion() -> ar.forces.WeeksChandlerAndersen:
    return ar.forces.WeeksChandlerAndersen(parameters={"bead": {"epsilon": 1.0, "sigma": 1.0}})


def bonds_of(model: ar.Model) -> np.ndarray:
    (exclusions,) = (force for force in model.forces if force.kind == "exclusions")
    return np.array(exclusions.bonds)


SHAPES = {
    "linear": {},
    "star": {"architecture": "star", "arms": 3},
    "ring": {"architecture": "ring", "chains": 3},
    "mixed lengths": {"beads": (4, 6, 8, 10, 12, 14, 2, 3)},
}


@pytest.mark.parametrize("springs", [False, True], ids=["rods", "springs"])
@pytest.mark.parametrize("shape", SHAPES)
def test_beads_have_their_bonds_and_keep_their_distance(shape: str, springs: bool) -> None:
    model = built(repulsion(), **SHAPES[shape], **(SPRINGS if springs else {}))
    x, bonds = site_positions(model, model.q0), bonds_of(model)
    beads = np.diff(model.chains.first)
    rings = int(model.chains.ring.sum())
    assert beads.sum() == len(x) == len(bonds) + len(beads) - rings
    length = np.linalg.norm(x[bonds[:, 1]] - x[bonds[:, 0]], axis=1)
    np.testing.assert_allclose(length, 0.97, rtol=1e-12)
    edge = float(model.box.lengths[0])
    assert edge**3 == pytest.approx(len(x) / 0.85, rel=1e-12)
    pairs = cKDTree(x % edge, boxsize=edge).query_pairs(0.9 * 0.97)
    assert not pairs - set(map(tuple, np.sort(bonds, axis=1).tolist()))
    freedoms = 3 * len(x) - (0 if springs else len(bonds))
    assert model.degrees_of_freedom == freedoms


def test_rods_and_springs_grow_the_same_chains() -> None:
    """And what the beads do to each other beside their bonds is the same energy."""
    rods, springs = built(repulsion()), built(repulsion(), **SPRINGS)
    x = site_positions(rods, rods.q0)
    np.testing.assert_allclose(x, site_positions(springs, springs.q0), atol=1e-12)
    builder = ar.ModelBuilder("lj", box=rods.box)
    builder.add_particles(len(x), mass=1.0, positions=x, kind="bead")
    builder.add_force(ar.forces.Exclusions(bonds=tuple(map(tuple, bonds_of(rods).tolist())), bonds_apart=1))
    builder.add_force(repulsion())
    alone = builder.build()
    energy = ar.potential_energy(alone, alone.q0)
    assert energy > 0.0
    assert ar.potential_energy(rods, rods.q0) == pytest.approx(energy, rel=1e-9)
    r, k, extent = 0.97, 30.0, 1.5
    bond = -0.5 * k * extent**2 * np.log(1.0 - (r / extent) ** 2) + 4.0 * (r**-12 - r**-6) + 1.0
    expected = energy + len(bonds_of(springs)) * bond
    assert ar.potential_energy(springs, springs.q0) == pytest.approx(expected, rel=1e-9)


def test_bending_and_dihedrals_are_those_of_the_backbone() -> None:
    stiff = {"bending_stiffness": 2.0, "dihedral_stiffness": 0.5, "dihedral_multiplicity": 2, "chains": 1}
    model = built(beads=6, **stiff)
    x = site_positions(model, model.q0)
    b = np.diff(x, axis=0)
    cosines = -np.einsum("ka,ka->k", b[:-1], b[1:]) / 0.97**2
    m, n = np.cross(b[:-2], b[1:-1]), np.cross(b[1:-1], b[2:])
    phi = np.arctan2(np.einsum("ka,ka->k", np.cross(m, n), b[1:-1]) / 0.97, np.einsum("ka,ka->k", m, n))
    expected = 2.0 * (1.0 + cosines).sum() + 0.5 * (1.0 + np.cos(2.0 * phi)).sum()
    assert ar.potential_energy(model, model.q0) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("drift", ["steady", "geodesic"])
def test_rings_on_rods_stay_closed(drift: str) -> None:
    model = built(chains=1, beads=7, architecture="ring", number_density=0.2)
    bath = ar.thermostats.Langevin(temperature=1.0, friction=1.0)
    steps = {"rule": "friction-implicit", "drift": drift, "step": 0.002, "frames": 5, "speeds": "thermal"}
    run = ar.simulate(model, 1.0, thermostat=bath, **steps)
    bonds = bonds_of(model)
    for q in run.q:
        x = site_positions(model, q)
        np.testing.assert_allclose(np.linalg.norm(x[bonds[:, 1]] - x[bonds[:, 0]], axis=1), 0.97, rtol=1e-9)
    assert np.linalg.norm(run.q[-1] - run.q[0]) > 0.5


def test_chains_in_open_space() -> None:
    model = built(number_density=None, chains=2, beads=20)
    assert model.box is None and len(model.chains) == 2


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"beads": (3, 4)}, "one number, or one for each of the 8 chains, got 2"),
        ({"architecture": "star"}, "arms is required for architecture = 'star'"),
        ({"arms": 4}, "arms is required for architecture = 'star'"),
        ({"architecture": "star", "arms": 4}, "a star with a centre and 4 equal arms cannot have 10 beads"),
        ({"architecture": "ring", "beads": 2}, "a ring needs at least three beads, got 2"),
        ({"bond_stiffness": 3.0}, "bond_stiffness is required for spring bonds"),
        ({"bonds": "fene"}, "bond_stiffness is required for spring bonds"),
        ({"bonds": "harmonic", "bond_stiffness": 3.0, "bond_extent": 1.5}, "bond_extent is required for FENE bonds"),
        ({**SPRINGS, "bond_diameter": None}, "give bond_repulsion and bond_diameter together"),
        ({"bonds": "harmonic", "bond_stiffness": 3.0, "bond_repulsion": 1.0, "bond_diameter": 1.0}, "leave it out"),
    ],
)
def test_what_is_no_polymer_is_refused(keys: dict, message: str) -> None:
    given = {f"model.{key}": value for key, value in {**MELT, **keys}.items() if value is not None}
    with pytest.raises(ar.CaseError, match=message):
        ar.load_case("polymer-melt", given)


def test_no_room_is_said_so(monkeypatch) -> None:
    monkeypatch.setattr("articulon.cases.builders.polymer_growth.PUSHES", 200)
    with pytest.raises(ar.ModelError, match=r"no space is found for the beads of chain \d+: one is 0\.\d+ from a bead"):
        built(number_density=2.5)


def test_a_box_beside_a_density_and_walls_are_refused() -> None:
    with pytest.raises(ar.CaseError, match=r"model\.number_density: the case also has a \[box\]"):
        built(box=ar.Box((5.0,) * 3))
    walls = ar.Box((5.0,) * 3, boundaries=("periodic", "periodic", "reflecting"))
    with pytest.raises(ar.CaseError, match="chains need a rectangular box that is periodic in all directions"):
        built(box=walls, number_density=None)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["polymer-melt", "polymer-melt-springs"])
def test_the_melts_fulfil_their_checks(name: str, tmp_path) -> None:
    run = ar.run(ar.load_case(name, {"run.duration": 5.0, "run.frames": 20}), out=tmp_path / "melt", report=False)
    checks = run.summary["checks"]
    assert len(checks) == 2 and [check["what"] for check in checks if not check["passed"]] == []
    assert run.summary["polymers"]["chains"] == 32
    assert run.summary["degrees_of_freedom"] == (1056 if name == "polymer-melt" else 1536)


def test_what_chains_do_is_in_the_summary_and_in_the_analysis() -> None:
    model = built(repulsion(), chains=6)
    steps = {"rule": "friction-implicit", "drift": "geodesic", "step": 0.01, "frames": 40}
    run = ar.simulate(model, 2.0, minimise=True, speeds="thermal", temperature=1.0, **steps)
    found = run.summary["polymers"]
    assert found["chains"] == 6 and found["mean_square_bond_length"]["mean"] == pytest.approx(0.97**2, rel=1e-12)
    late = [site_positions(model, q).reshape(6, 10, 3) for q in run.q[10:]]
    squares = np.mean([((x[:, -1] - x[:, 0]) ** 2).sum(axis=1).mean() for x in late])
    assert found["mean_square_end_to_end_distance"]["mean"] == pytest.approx(squares, rel=1e-9)
    analysis = ar.analysis.analyse_polymers(run)
    assert analysis.figures["mean_square_radius_of_gyration"] == found["mean_square_radius_of_gyration"]
    lone = ar.ModelBuilder("lj")
    lone.add_particles(2, mass=1.0, positions=[(0, 0, 0), (1, 0, 0)])
    other = ar.simulate(lone.build(), 0.1, rule="rk4", step=0.1, frames=1)
    with pytest.raises(ar.ArticulonError, match="the model has no chains"):
        ar.analysis.analyse_polymers(other)
