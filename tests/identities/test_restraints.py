"""Restraints by name: their energies and forces, where they act, and whom they name."""

import math
from pathlib import Path

import numpy as np
import pytest

import articulon as ar
from articulon import molecules
from articulon.cases import load_case
from articulon.forces.sites.site_evaluation import SiteForces
from articulon.molecules.torsion_names import dihedral
from tests.identities.test_bonded_terms import PLACES, fourth_order, model_of

RESTRAINTS = {
    "dihedral, harmonic": ar.forces.DihedralRestraint(sites=(0, 1, 2, 3), angle=2.0, stiffness=1.5),
    "dihedral, beyond its bottom": ar.forces.DihedralRestraint(
        sites=(9, 8, 7, 6), angle="-150 deg", tolerance="20 deg", stiffness=1.5
    ),
    "distance, too long": ar.forces.DistanceRestraint(sites=(0, 4), distance=0.5, tolerance=0.3, stiffness=2.0),
    "distance, too short": ar.forces.DistanceRestraint(sites=(0, 4), distance=9.0, tolerance=0.3, stiffness=2.0),
}


@pytest.mark.parametrize("name", RESTRAINTS)
def test_forces_and_laplacian_are_derivatives_of_the_energy(name):
    """Differences of fourth order with h = 5e-4, as of other bonded terms; and the energy is the formula's."""
    force = RESTRAINTS[name]
    terms = SiteForces(model_of(force))
    forces, measures = terms.evaluate(PLACES), terms.measure(PLACES)
    if name.startswith("dihedral"):
        away = dihedral(PLACES, force.sites) - float(force.resolved(ar.ModelBuilder(units="lj").units, "").angle)
        away = abs((away + math.pi) % (2.0 * math.pi) - math.pi)
        width = 0.0 if "harmonic" in name else math.radians(20.0)
    else:
        away = abs(np.linalg.norm(PLACES[0] - PLACES[4]) - force.distance)
        width = 0.3
    assert away > width + 0.01
    assert measures[0] == pytest.approx(0.5 * float(force.stiffness) * (away - width) ** 2, rel=1e-12)
    laplacian = 0.0
    for s in range(len(PLACES)):
        for a in range(3):

            def energy(step, s=s, a=a):
                moved = PLACES.copy()
                moved[s, a] += step
                return terms.measure(moved)[0]

            slope, curvature = fourth_order(energy, 5e-4)
            laplacian += curvature
            assert abs(forces[s, a] + slope) < 2e-9 * (1.0 + abs(slope))
    assert abs(measures[7] - laplacian) < 1e-6 * (1.0 + abs(laplacian))


@pytest.mark.parametrize(
    "force",
    [
        ar.forces.DihedralRestraint(sites=(0, 1, 2, 3), tolerance=0.1, stiffness=1.5),
        ar.forces.DistanceRestraint(sites=(0, 4), tolerance=0.1, stiffness=2.0),
        ar.forces.DihedralRestraint(sites=(0, 1, 2, 3), stiffness=1.5),
    ],
)
def test_nothing_acts_where_it_starts_and_within_the_tolerance(force):
    terms = SiteForces(model_of(force))
    moved = PLACES + 0.01 * np.sin(np.arange(30.0)).reshape(10, 3)
    assert np.abs(terms.evaluate(PLACES)).max() < 1e-14
    assert bool(np.abs(terms.evaluate(moved)).max() > 0.0) == (float(force.tolerance) == 0.0)


@pytest.fixture(scope="module")
def structure():
    return molecules.peptide(["ACE", "ALA", "TRP", "NME"])


def restrained(structure, *forces):
    return molecules.build(structure, molecules.perceive(structure), forces=list(forces))


def test_a_torsion_is_restrained_by_its_name(structure):
    """U = ½ k (q − φ₀)² of the joint's own coordinate."""
    force = ar.forces.DihedralRestraint("phi:A:TRP3", angle="-60 deg", stiffness="200 kJ/mol/rad^2")
    model = restrained(structure, force)
    q = model.q0.copy()
    (body,) = (b for b, name in model.atoms.torsions.items() if name == "phi:A:TRP3")
    place = int(model.forest.q_start[model.link[body]])
    for angle in (-1.0, 0.4, 2.9):  # the last is nearer by the other way
        q[place] = angle
        turn = (angle + math.pi / 3.0 + math.pi) % (2.0 * math.pi) - math.pi
        # One unit of energy, Da nm²/ps², is one kJ/mol but for the last digits of the constants.
        assert ar.potential_energy(model, q) == pytest.approx(100.0 * turn**2, rel=1e-8)
    four = [model.atoms.label(a) for a in model.atoms.dihedrals[body]]
    same = restrained(structure, ar.forces.DihedralRestraint(atoms=tuple(four), angle="-60 deg", stiffness=200.0))
    assert ar.potential_energy(same, q) == pytest.approx(ar.potential_energy(model, q), rel=1e-8)
    both = ar.forces.DihedralRestraint(("phi:A:TRP3", "psi:A:ALA2"), stiffness=200.0)
    assert ar.potential_energy(restrained(structure, both), model.q0) == pytest.approx(0.0, abs=1e-20)


def test_atoms_are_held_by_a_selection(structure):
    pytest.importorskip("MDAnalysis")
    model = restrained(structure, ar.forces.PositionRestraint(select="name CA", stiffness="1000 kJ/mol/nm^2"))
    q = model.q0.copy()
    q[:3] += (0.01, 0.0, 0.02)
    assert ar.potential_energy(model, q) == pytest.approx(2 * 500.0 * (0.01**2 + 0.02**2), rel=1e-8)
    with pytest.raises(ar.ModelError, match=r"forces\[0\]\.select: 'name XX' selects nothing"):
        restrained(structure, ar.forces.PositionRestraint(select="name XX", stiffness=1.0))
    with pytest.raises(ar.ModelError, match="the model has no atoms"):
        model_of(ar.forces.PositionRestraint(select="name CA", stiffness=1.0))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: ar.forces.DihedralRestraint("phi:A:TRP2", stiffness=1.0),
            r"forces\[0\]\.torsion: there is no torsion 'phi:A:TRP2'; did you mean 'phi:A:TRP3'",
        ),
        (
            lambda: ar.forces.DistanceRestraint(atoms=("A:ALA2:CA", "A:TRP3:CAA"), stiffness=1.0),
            r"forces\[0\]\.atoms\[1\]: there is no atom 'A:TRP3:CAA'; did you mean 'A:TRP3:CA'",
        ),
        (lambda: ar.forces.DistanceRestraint(sites=(3, 900), stiffness=1.0), r"there is no site 900"),
        (lambda: ar.forces.DistanceRestraint(sites=(3, 3), stiffness=1.0), r"a site is listed twice"),
        (lambda: ar.forces.DistanceRestraint(stiffness=1.0), r"give either atoms or sites"),
        (lambda: ar.forces.DihedralRestraint("phi:A:TRP3", sites=(0, 1, 2, 3), stiffness=1.0), r"give one of torsion"),
        (lambda: ar.forces.DihedralRestraint("phi:A:TRP3", stiffness=-1.0), r"stiffness"),
        (lambda: ar.forces.DihedralRestraint("phi:A:TRP3", stiffness=1.0, tolerance="1 nm"), r"tolerance"),
    ],
)
def test_what_cannot_be_restrained_is_refused(structure, make, message):
    with pytest.raises(ar.ArticulonError, match=message):
        restrained(structure, make())


def test_a_case_restrains_in_one_table(tmp_path: Path):
    (tmp_path / "held.toml").write_text("""
[case]
units = "Da-nm-ps"
[model]
builder = "molecule"
sequence = ["ACE", "ALA", "NME"]
[[forces]]
kind = "dihedral-restraint"
torsion = "phi:A:ALA2"
angle = "-60 deg"
tolerance = "5 deg"
stiffness = "50 kcal/mol/rad^2"
[[forces]]
kind = "distance-restraint"
atoms = ["A:ACE1:C", "A:NME3:N"]
distance = "0.4 nm"
stiffness = "1000 kJ/mol/nm^2"
[run]
duration = "1 ps"
""")
    case = load_case(tmp_path / "held.toml")
    first, second = case.forces
    assert float(first.stiffness) == pytest.approx(50.0 * 4.184, rel=1e-8)
    assert float(second.stiffness) == pytest.approx(1000.0, rel=1e-8)
    model = case.build_model()
    x = molecules.site_positions(model, model.q0)
    pair = [[model.atoms.label(k) for k in range(len(model.atoms))].index(name) for name in ("A:ACE1:C", "A:NME3:N")]
    stretch = np.linalg.norm(x[pair[0]] - x[pair[1]]) - 0.4
    over = max(0.0, abs(math.radians(-57.0 + 60.0)) - math.radians(5.0))
    wanted = 0.5 * 1000.0 * stretch**2 + 0.5 * 50.0 * 4.184 * over**2
    assert ar.potential_energy(model, model.q0) == pytest.approx(wanted, rel=1e-8)


@pytest.mark.slow
def test_restraints_act_on_many_states_at_once(structure):
    """An ensemble sums the same forces in another order: rounding of some ten over fifty steps."""
    forces = [
        ar.forces.DihedralRestraint("phi:A:TRP3", angle=0.3, tolerance=0.1, stiffness=100.0),
        ar.forces.DistanceRestraint(atoms=("A:ACE1:C", "A:NME4:N"), distance=0.3, stiffness=1000.0),
    ]
    model = restrained(structure, *forces)
    run = ar.simulate(model, 0.1, rule="friction-implicit", step=0.002, frames=1)
    together = ar.Ensemble(model, [model.q0] * 3, [model.u0] * 3)
    together.advance(50, 0.002, "friction-implicit")
    np.testing.assert_allclose(together.Q[1], run.q[-1], rtol=0, atol=1e-12)
    assert np.abs(run.q[-1] - model.q0).max() > 0.01
