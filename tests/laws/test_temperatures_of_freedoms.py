"""Every kind of motion of a molecular run has the temperature of the bath."""

import json

import numpy as np
import pytest

import articulon as ar
from articulon import molecules
from articulon.simulation.freedom_temperatures import kinds_of_speeds, momenta

CASE = """
[case]
units = "Da-nm-ps"
[model]
builder = "molecule"
sequence = ["ACE", "LYS", "TRP", "NME"]
[thermostat]
kind = "langevin"
temperature = "300 K"
friction = "20 1/ps"
[integrator]
rule = "friction-implicit"
step = "1 fs"
[run]
duration = "40 ps"
frames = 400
speeds = "thermal"
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("peptide")
    (folder / "peptide.toml").write_text(CASE)
    return ar.run(folder / "peptide.toml", folder / "run", report=False)


def test_momenta_are_the_mass_matrix_times_the_speeds(run):
    """Σ u p is twice the kinetic energy, to rounding."""
    p = momenta(run.model, run.q[:3], run.u[:3])
    np.testing.assert_allclose(p[1], ar.mass_matrix(run.model, run.q[1]) @ run.u[1], rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(0.5 * (p * run.u[:3]).sum(axis=1), run.kinetic_energy[:3], rtol=1e-12)


@pytest.mark.slow
def test_all_kinds_have_the_temperature_of_the_bath(run):
    """The speeds forget each other within 1/friction = 0.05 ps, so that 300 frames 0.1 ps apart are 300 draws. Of
    Gaussian speeds of the covariance kT M⁻¹, Σ u_i p_i over n of them has the variance (kT)² (n + Σ M_ij (M⁻¹)_ij). The
    test allows four standard deviations of the mean, beside what steps of 1 fs do to speeds, under a per cent."""
    kinds = np.array(kinds_of_speeds(run.model, run.model.atoms))
    matrices = [ar.mass_matrix(run.model, q) for q in run.q[100::50]]
    found = run.summary["temperatures_of_freedoms"]
    assert {name: one["freedoms"] for name, one in found.items()} == {
        "translation of molecules": 3.0,
        "rotation of molecules": 3.0,
        "backbone torsions": 4.0,
        "side-chain torsions": 9.0,
    }
    for name, one in found.items():
        here, n = np.ix_(kinds == name, kinds == name), one["freedoms"]
        variance = n + np.mean([(M[here] * np.linalg.inv(M)[here]).sum() for M in matrices])
        spread = 300.0 * (4.0 * np.sqrt(variance / 300.0) / n + 0.01)
        assert abs(one["temperature"] - 300.0) < spread, name
        assert 0.0 < one["error"] < spread
    whole = sum(one["temperature"] * one["freedoms"] for one in found.values()) / run.model.nu
    assert whole == pytest.approx(run.observables["temperature_kinetic"][100:].mean(), rel=2e-3)
    assert run.summary["energy_unit"] == "kJ/mol"


def test_one_kind_that_is_too_hot_is_told_from_the_others():
    """Speeds of the torsions alone are hot: u p of the others is what couples them, and no more."""
    structure = molecules.peptide(["ACE", "ALA", "NME"])
    model = molecules.build(structure, molecules.perceive(structure))
    kinds = np.array(kinds_of_speeds(model, model.atoms))
    assert set(kinds[6:]) == {"backbone torsions", "side-chain torsions"}
    u = np.where(kinds == "backbone torsions", 3.0, 0.0)
    p = momenta(model, model.q0[None], u[None])[0]
    assert (u * p)[kinds != "backbone torsions"].sum() == 0.0 < (u * p).sum()


def test_water_and_ions_are_kinds_of_their_own():
    from tests.cases.test_atoms_out import water

    model = water(3)
    assert kinds_of_speeds(model, model.atoms) == (["translation of water"] * 3 + ["rotation of water"] * 3) * 3


def test_runs_without_a_temperature_of_each_motion_say_none(run, tmp_path):
    short = ar.run(
        run.case.with_overrides({"run.duration": "0.2 ps", "run.frames": 2}), tmp_path / "short", report=False
    )
    assert all(one["error"] is None for one in short.summary["temperatures_of_freedoms"].values())
    plain = ar.run("double-pendulum", tmp_path / "plain", overrides={"run.duration": "0.1 s"}, report=False)
    assert json.loads((plain.folder / "summary.json").read_text())["temperatures_of_freedoms"] is None


def test_the_translation_of_a_dimer_on_a_torsion_has_the_temperature_of_the_bath():
    """Steps of 4 fs with geodesic drift. The square of the total momentum P decays as e^{−2γt}, to r = e⁻⁴ in the
    0.4 ps between frames: P²/3m has the variance 2/3 per frame, relative to (kT)², times (1 + r)/(1 − r). The velocity
    of the root's origin times P has (3 + Σ M_ij (M⁻¹)_ij)/9 instead, since the torsion moves the root too."""
    builder = ar.ModelBuilder(units="Da-nm-ps")
    plate = {"inertia": (0.02, 0.5, 0.5), "com": (0.02, 0.05, 0.0)}
    root = builder.add_body("root", mass=30.0, **plate, joint=ar.Free())
    joint = ar.Revolute(axis=(1, 0, 0))
    builder.add_body("turned", parent=root, mass=15.0, **plate, joint=joint, position=(0.15, 0, 0))
    model = builder.build()
    bath = ar.thermostats.Langevin(temperature="300 K", friction="5 1/ps")
    states, frames = 64, 160
    ensemble = ar.Ensemble(model, model.q0, model.u0, seeds=range(states), thermostat=bath)
    how = {"rule": "friction-implicit", "drift": "geodesic"}
    ensemble.advance(500, "4 fs", **how)
    kT, found = 300.0 * model.units.boltzmann, []
    for _ in range(frames):
        Q, U = ensemble.advance(100, "4 fs", **how)
        P = momenta(model, Q, U)[:, :3]
        found.append([(P**2).sum(axis=1) / (3.0 * 45.0 * kT), (U[:, :3] * P).sum(axis=1) / (3.0 * kT)])
    correlated = (1.0 + np.exp(-4.0)) / (1.0 - np.exp(-4.0))
    M = [ar.mass_matrix(model, q) for q in Q]
    products = np.mean([(one[:3, :3] * np.linalg.inv(one)[:3, :3]).sum() for one in M])
    for values, variance in zip(np.moveaxis(found, 1, 0), (2.0 / 3.0, (3.0 + products) / 9.0), strict=True):
        error = np.sqrt(correlated * variance / (states * frames))
        assert error < 0.01
        assert abs(values.mean() - 1.0) < 4.0 * error
