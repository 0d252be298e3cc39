"""Long-range electrostatics against lattice sums, direct sums, closed forms and another engine."""

import itertools
from functools import partial

import numpy as np
import pytest

import articulon as ar
from articulon.forces.sites import ewald_waves
from articulon.forces.sites.site_evaluation import SiteForces
from articulon.forces.sites.site_positions import site_positions
from articulon.forces.sites.site_tables import FORCES
from articulon.kernels import prepare
from tests.support.threads import on_threads

MADELUNG = 1.74756459463318
"""Of rock salt, per ion pair at the distance of nearest neighbours (Borwein and Borwein 1998, and any table)."""
BOXES = {
    "cube": ((5.0, 5.0, 5.0), (0.0, 0.0, 0.0)),
    "orthorhombic": ((5.0, 6.5, 4.0), (0.0, 0.0, 0.0)),
    "triclinic": ((5.0, 6.0, 4.5), (2.0, -1.5, 2.5)),
}


def random_ions(count, lengths, seed=1):
    """Ions at random, anywhere in space, with charges that add up to zero."""
    rng = np.random.default_rng(seed)
    charges = rng.uniform(0.5, 2.0, count) * np.where(np.arange(count) % 2, 1.0, -1.0)
    return rng.uniform(-1.0, 2.0, (count, 3)) * lengths, charges - charges.mean()


def model_of(positions, charges, lengths, tilts=(0.0, 0.0, 0.0), **ewald):
    builder = ar.ModelBuilder(units="lj", box=ar.Box(lengths=lengths, tilts=tilts))
    builder.add_particles(len(charges), mass=1.0, positions=positions, charge=charges)
    builder.add_force(ar.forces.Ewald(**ewald))
    return builder.build()


def forces(model, positions):
    q = positions.ravel()
    return ar.generalized_forces(model, q, np.zeros(q.size)).reshape(-1, 3)


def energy(model, positions):
    return ar.potential_energy(model, positions.ravel())


def rock_salt(cells):
    positions = np.array(list(itertools.product(range(2 * cells), repeat=3)), dtype=float)
    return positions, 1.0 - 2.0 * (positions.sum(axis=1) % 2.0)


@pytest.mark.slow
@pytest.mark.parametrize("precision, bound", [(1e-6, 1e-6), (1e-12, 1e-11)])
@pytest.mark.parametrize("cells", [1, 2, 3])
def test_rock_salt_has_madelungs_constant(cells, precision, bound):
    positions, charges = rock_salt(cells)
    model = model_of(positions, charges, (2.0 * cells,) * 3, precision=precision)
    assert -2.0 * energy(model, positions) / len(charges) == pytest.approx(MADELUNG, rel=bound)


@pytest.mark.slow
@pytest.mark.parametrize("precision", [1e-3, 1e-6, 1e-9])
@pytest.mark.parametrize("box", BOXES)
def test_forces_have_the_precision_that_was_asked_for(box, precision):
    lengths, tilts = BOXES[box]
    positions, charges = random_ions(200, lengths)
    fine = forces(model_of(positions, charges, lengths, tilts, precision=1e-13), positions)
    error = forces(model_of(positions, charges, lengths, tilts, precision=precision), positions) - fine
    n = len(charges)
    unit = charges @ charges / n * (n / np.prod(lengths)) ** (2.0 / 3.0)
    # The estimate is of an average over random places; over 200 of them it is met within some ten percent.
    assert 0.5 < np.sqrt((error**2).sum() / n) / unit / precision < 1.4


@pytest.mark.parametrize("box", BOXES)
def test_nothing_depends_on_the_damping(box):
    lengths, tilts = BOXES[box]
    positions, charges = random_ions(40, lengths)
    found = []
    for cutoff in (1.3, 1.6, 1.9):
        sites = SiteForces(model_of(positions, charges, lengths, tilts, precision=1e-13, cutoff=cutoff))
        found.append((sites.evaluate(positions), sites.measure(positions)))
    for f, measures in found[1:]:
        assert np.abs(f - found[0][0]).max() < 1e-10 * np.abs(f).max()
        assert np.abs(measures - found[0][1]).max() < 1e-10 * np.abs(measures[:4]).max()


def lattice_sum(positions, charges, edge, shells):
    """½ Σ q_i q_j/r over all cubic cells up to a number of shells around each pair."""
    around = np.array(list(itertools.product(range(-shells, shells + 1), repeat=3))) * edge
    total = 0.0
    for i, j in itertools.product(range(len(charges)), repeat=2):
        r = np.linalg.norm(positions[i] - positions[j] + around, axis=1)
        total += 0.5 * charges[i] * charges[j] * (1.0 / r[r > 0.0]).sum()
    return total


def test_a_sum_over_cells_in_vacuum_is_what_a_sphere_of_cells_has():
    positions, charges = random_ions(6, (3.0, 3.0, 3.0))
    model = model_of(positions, charges, (3.0, 3.0, 3.0), precision=1e-12, surface_permittivity=1.0)
    near, far = (lattice_sum(positions, charges, 3.0, shells) for shells in (5, 10))
    # What shells leave out falls with the square of their distance, then with the fourth power.
    extrapolated = (far * 10.5**2 - near * 5.5**2) / (10.5**2 - 5.5**2)
    left = abs(far - near) / 5.5**2
    assert abs(energy(model, positions) - extrapolated) < left
    tin_foil = energy(model_of(positions, charges, (3.0, 3.0, 3.0), precision=1e-12), positions)
    assert abs(tin_foil - extrapolated) > 1e3 * left


@pytest.mark.parametrize("surface", ["infinite", 3.0])
@pytest.mark.parametrize("box", BOXES)
def test_forces_virial_and_laplacian_are_derivatives_of_the_energy(box, surface):
    lengths, tilts = BOXES[box]
    positions, charges = random_ions(12, lengths)
    # Of the sum over given waves, which is what is computed; nothing of the real part is left at the cutoff.
    options = {"cutoff": 1.9, "damping": 3.2, "waves": (6, 7, 5)}
    options |= {"surface_permittivity": surface, "relative_permittivity": 2.0}
    model = model_of(positions, charges, lengths, tilts, **options)
    found = forces(model, positions)
    h = 1e-3
    weights = ((-2, 1 / 12), (-1, -8 / 12), (1, 8 / 12), (2, -1 / 12))
    for i, a in ((0, 0), (3, 1), (11, 2)):
        step = np.zeros_like(positions)
        step[i, a] = h
        slope = sum(w * energy(model, positions + k * step) for k, w in weights) / h
        # The fourth-order formula leaves h⁴ U⁽⁵⁾/30, and rounding 1e-13 of the energy over h.
        assert found[i, a] == pytest.approx(-slope, abs=1e-8 * np.abs(found).max())
    virial = ar.virial(model, positions.ravel())
    cell = model.box.vectors
    for a, b in ((0, 0), (1, 1), (2, 2), (1, 0), (2, 0), (2, 1)):
        slope = 0.0
        for k, w in weights:
            strain = np.eye(3)
            strain[a, b] += k * h
            edges = cell @ strain
            strained = model_of(
                positions @ strain, charges, np.diag(edges), (edges[1, 0], edges[2, 0], edges[2, 1]), **options
            )
            slope += w * energy(strained, positions @ strain) / h
        assert virial[a, b] == pytest.approx(-slope, abs=1e-7 * np.abs(virial).max())


@pytest.mark.parametrize("surface", ["infinite", 1.0, 3.0])
def test_virial_and_laplacian_are_those_of_charges_in_a_background(surface):
    lengths, tilts = BOXES["triclinic"]
    positions, charges = random_ions(30, lengths)
    model = model_of(positions, charges, lengths, tilts, precision=1e-12, surface_permittivity=surface)
    # The energy scales with 1/length.
    assert np.trace(ar.virial(model, positions.ravel())) == pytest.approx(energy(model, positions), rel=1e-10)
    # A charge moves with the lattice of its images: what it feels are the others, in a background of −q/V that
    # neutralises them, and what the surface adds.
    background = -4.0 * np.pi * charges @ charges / model.box.volume
    outside = 0.0 if surface == "infinite" else 3.0 / (2.0 * surface + 1.0)
    found = ar.configurational_laplacian(model, positions.ravel())
    assert found == pytest.approx(background * (1.0 - outside), abs=1e-8 * abs(background))


@pytest.mark.slow
def test_excluded_pairs_are_left_out_and_scaled_ones_weakened():
    lengths, tilts = BOXES["triclinic"]
    positions, charges = random_ions(20, lengths)
    positions[1] = positions[0] + [0.3, 0.1, 0.0]
    positions[2:4] = positions[1] + [[0.3, -0.1, 0.2], [0.5, -0.1, 0.3]]
    bonds = ((0, 1), (1, 2), (2, 3))

    def built(*more):
        builder = ar.ModelBuilder(units="lj", box=ar.Box(lengths=lengths, tilts=tilts))
        builder.add_particles(20, mass=1.0, positions=positions, charge=charges)
        builder.add_force(ar.forces.Ewald(precision=1e-12, relative_permittivity=2.0))
        for force in more:
            builder.add_force(force)
        return builder.build()

    plain, scaled = built(), built(ar.forces.Exclusions(bonds=bonds, scaled_14={"coulomb": 0.8}))
    difference, pull, laplacian = 0.0, np.zeros((20, 3)), 0.0
    for i, j, left in ((0, 1, 0.0), (1, 2, 0.0), (2, 3, 0.0), (0, 2, 0.0), (1, 3, 0.0), (0, 3, 0.8)):
        d = positions[i] - positions[j]
        U = (left - 1.0) * charges[i] * charges[j] / np.linalg.norm(d) / 2.0
        difference += U
        pull[i] += U * d / (d @ d)
        pull[j] -= U * d / (d @ d)
    assert energy(scaled, positions) - energy(plain, positions) == pytest.approx(difference, abs=1e-10)
    assert np.abs(forces(scaled, positions) - forces(plain, positions) - pull).max() < 1e-9
    laplacian = [ar.configurational_laplacian(model, positions.ravel()) for model in (plain, scaled)]
    assert laplacian[1] == pytest.approx(laplacian[0], rel=1e-8)
    traces = [np.trace(ar.virial(model, positions.ravel())) for model in (plain, scaled)]
    assert traces[1] - traces[0] == pytest.approx(difference, abs=1e-9)


def test_charges_on_one_body_do_not_feel_each_other():
    builder = ar.ModelBuilder(units="lj", box=ar.Box(lengths=(6.0, 6.0, 6.0)))
    for name, position in (("near", (1.0, 1.0, 1.0)), ("across", (5.9, 5.0, 0.2))):
        body = builder.add_body(name, mass=1.0, inertia=(1.0, 1.0, 1.0), joint=ar.Free(), position=position)
        for local, charge in (((0.0, 0.0, 0.0), -0.8), ((0.4, 0.0, 0.0), 0.4), ((-0.1, 0.35, 0.0), 0.4)):
            builder.add_site(body, position=local, charge=charge)
    builder.add_force(ar.forces.Ewald(precision=1e-12))
    model = builder.build()
    pairs = [(0, 1), (0, 2), (1, 2), (3, 4), (3, 5), (4, 5)]
    sites, own = SiteForces(model), 0.0
    r = site_positions(model, model.q0)
    for i, j in pairs:
        own += sites.charges[i] * sites.charges[j] / np.linalg.norm(r[i] - r[j])
    free = model_of(r, sites.charges, (6.0, 6.0, 6.0), precision=1e-12)
    assert ar.potential_energy(model, model.q0) == pytest.approx(energy(free, r) - own, abs=1e-11)


def test_whole_edges_make_no_difference():
    lengths, tilts = BOXES["triclinic"]
    positions, charges = random_ions(30, lengths)
    model = model_of(positions, charges, lengths, tilts)
    moved = positions + np.random.default_rng(2).integers(-3, 4, positions.shape) @ model.box.vectors
    assert (
        np.abs(forces(model, moved) - forces(model, positions)).max() < 1e-11 * np.abs(forces(model, positions)).max()
    )


def test_any_number_of_threads_gives_the_same_bits():
    lengths = (9.0, 8.0, 10.0)
    positions, charges = random_ions(700, lengths)
    model = model_of(positions, charges, lengths, precision=1e-4)
    sites = SiteForces(model)
    sites.evaluate(positions)
    table = next(term.table for term in model.forces[0].site_terms(model) if term.level == "long")
    particles, results = sites.system.particles, []
    one = prepare(ewald_waves.reciprocal_forces, FORCES)
    shared = prepare(ewald_waves.reciprocal_forces_parallel, FORCES)
    for kernel, count in ((one, 1), (shared, 1), (shared, 2), (shared, 2)):
        for f in (particles.fx, particles.fy, particles.fz):
            f[:] = 0.0
        on_threads(count, partial(kernel, table, sites.cell, particles, sites.system.neighbours))
        results.append(np.stack([particles.fx, particles.fy, particles.fz]))
    assert np.array_equal(results[1], results[2]) and np.array_equal(results[2], results[3])
    # The two kernels are chosen by size, and compiled apart: they may round differently.
    assert np.abs(results[1] - results[0]).max() < 1e-13 * np.abs(results[0]).max()


def test_what_is_given_is_kept_and_the_rest_is_chosen_for_the_precision():
    lengths, tilts = BOXES["triclinic"]
    positions, charges = random_ions(100, lengths)

    def chosen(**given):
        model = model_of(positions, charges, lengths, tilts, precision=1e-7, **given)
        return model.forces[0].parameters(model)

    for given in ({}, {"cutoff": 1.5}, {"damping": 2.5}, {"cutoff": 1.5, "damping": 2.8}, {"waves": (16, 18, 16)}):
        found = chosen(**given)
        for name, value in given.items():
            assert getattr(found, name) == value
        assert found.error < 1.01e-7
        assert found.count > 100
    assert chosen(cutoff=1.5, damping=2.0).real_error > 1e-6  # both given: what they leave is said


@pytest.mark.parametrize("box, method", [("cube", "Ewald"), ("orthorhombic", "Ewald"), ("triclinic", "PME")])
def test_openmm_finds_the_same_energy_and_forces(box, method):
    openmm = pytest.importorskip("openmm")
    lengths, tilts = BOXES[box]
    positions, charges = random_ions(100, lengths)
    cell = ar.Box(lengths=lengths, tilts=tilts).vectors
    system = openmm.System()
    system.setDefaultPeriodicBoxVectors(*cell)
    force = openmm.NonbondedForce()
    force.setNonbondedMethod(getattr(openmm.NonbondedForce, method))
    force.setCutoffDistance(1.9)
    force.setEwaldErrorTolerance(1e-10)
    if method == "PME":
        force.setPMEParameters(2.2, 160, 160, 160)
    for charge in charges:
        system.addParticle(1.0)
        force.addParticle(charge, 1.0, 0.0)
    system.addForce(force)
    context = openmm.Context(system, openmm.VerletIntegrator(0.001), openmm.Platform.getPlatformByName("Reference"))
    context.setPositions(positions)
    state = context.getState(getEnergy=True, getForces=True)
    constant = 138.93545764438198  # e²/(4πε₀) in kJ nm/mol, as OpenMM has it
    theirs = state.getForces(asNumpy=True)._value / constant
    model = model_of(positions, charges, lengths, tilts, precision=1e-10)
    assert energy(model, positions) == pytest.approx(state.getPotentialEnergy()._value / constant, rel=1e-6)
    assert np.abs(forces(model, positions) - theirs).max() < 1e-6 * np.abs(theirs).max()


def test_what_has_no_ewald_sum_is_refused():
    positions, charges = random_ions(10, (5.0, 5.0, 5.0))
    with pytest.raises(ar.ModelError, match=r"forces\[0\]: the box has a net charge of 10, .* add counter-ions"):
        model_of(positions, charges + 1.0, (5.0, 5.0, 5.0))
    with pytest.raises(ar.ModelError, match="half of the smallest width"):
        model_of(positions, charges, (5.0, 5.0, 5.0), cutoff=2.6)
    with pytest.raises(ar.ModelError, match="more waves"):
        model_of(positions, charges, (5.0, 5.0, 5.0), damping=0.1)
    with pytest.raises(ar.ModelError, match="no site has a charge"):
        model_of(positions, 0.0 * charges, (5.0, 5.0, 5.0))
    for boundaries in (("periodic", "periodic", "open"), ("reflecting",) * 3):
        builder = ar.ModelBuilder(units="lj", box=ar.Box(lengths=(5.0, 5.0, 5.0), boundaries=boundaries))
        builder.add_particles(10, mass=1.0, positions=positions % 5.0, charge=charges)
        builder.add_force(ar.forces.Ewald())
        with pytest.raises(ar.ModelError, match="fast-multipole"):
            builder.build()


def open_model(positions, charges, *more, **multipole):
    builder = ar.ModelBuilder(units="zg-nm-ns")
    builder.add_particles(len(charges), mass=1.0, positions=positions, charge=charges)
    builder.add_force(ar.forces.FastMultipole(**multipole))
    for force in more:
        builder.add_force(force)
    return builder.build()


def direct_sum(positions, charges, left_out=()):
    """Energy, forces and virial of 1/r."""
    d = positions[:, None] - positions
    r = np.linalg.norm(d, axis=2)
    np.fill_diagonal(r, np.inf)
    U = charges[:, None] * charges / r
    for i, j in left_out:
        U[i, j] = U[j, i] = 0.0
    pulls = (U / r**2)[:, :, None] * d
    return 0.5 * U.sum(), pulls.sum(axis=1), 0.5 * np.einsum("ija,ijb->ab", pulls, d)


@pytest.mark.slow
@pytest.mark.parametrize("precision", [1e-3, 1e-6, 1e-9])
@pytest.mark.parametrize("neutral", [True, False])
def test_fast_multipoles_agree_with_direct_sums_to_the_precision_that_was_asked_for(precision, neutral):
    pytest.importorskip("fmm3dpy")
    rng = np.random.default_rng(4)
    # A dense ball in a thin gas, so that the tree is deep in one place, and farther from the origin than it is large.
    positions = np.concatenate([rng.normal(size=(300, 3)) * 0.1, rng.normal(size=(300, 3))]) + [20.0, -10.0, 5.0]
    charges = np.where(rng.random(600) < 0.5, 1.0, -1.0) if neutral else rng.random(600)
    charges[::10] = 0.0
    model = open_model(positions, charges, precision=precision, relative_permittivity=2.0)
    constant = model.units.coulomb / 2.0
    U, f, W = (constant * value for value in direct_sum(positions, charges))
    # The library's errors are relative to the norm over all charges.
    sites = SiteForces(model)
    assert np.linalg.norm(sites.evaluate(positions) - f) < precision * np.linalg.norm(f)
    measures, scale = sites.measure(positions), np.linalg.norm(W) if neutral else U
    assert abs(measures[0] - U) < precision * scale
    assert np.abs(measures[1:7] - W[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]).max() < precision * scale
    assert measures[7] == 0.0


@pytest.mark.slow
def test_fast_multipoles_leave_excluded_pairs_out():
    pytest.importorskip("fmm3dpy")
    rng = np.random.default_rng(5)
    positions, charges = rng.normal(size=(60, 3)), rng.uniform(-1.0, 1.0, 60)
    pairs = ((0, 1), (3, 40), (58, 59))
    positions[40] = positions[3] + [0.01, 0.0, 0.0]
    model = open_model(positions, charges, ar.forces.Exclusions(pairs=pairs))
    U, f, W = (model.units.coulomb * value for value in direct_sum(positions, charges, pairs))
    sites = SiteForces(model)
    measures = sites.measure(positions)
    assert measures[0] == pytest.approx(U, rel=1e-9)
    assert np.abs(sites.evaluate(positions) - f).max() < 1e-9 * np.abs(f).max()
    assert np.abs(measures[1:4] - np.diag(W)).max() < 1e-9 * np.abs(W).max()


@pytest.mark.slow
@pytest.mark.parametrize("count", [1, 2])
def test_fast_multipoles_of_hardly_any_charges(count):
    pytest.importorskip("fmm3dpy")
    positions = np.array([[1.0, 2.0, 3.0], [1.0, 2.0, 5.0]])[:count]
    model = open_model(positions, np.ones(count))
    U, f, _ = (model.units.coulomb * value for value in direct_sum(positions, np.ones(count)))
    assert energy(model, positions) == pytest.approx(U, rel=1e-12)
    assert np.abs(forces(model, positions) - f).max() <= 1e-12 * U


def test_what_fast_multipoles_cannot_do_is_refused(monkeypatch):
    positions, charges = random_ions(10, (5.0, 5.0, 5.0))
    with pytest.raises(ar.ModelError, match=r"forces\[0\].precision: must lie between 1e-14 and 0.1"):
        open_model(positions, charges, precision=1e-16)
    builder = ar.ModelBuilder(units="lj", box=ar.Box(lengths=(5.0, 5.0, 5.0)))
    builder.add_particles(10, mass=1.0, positions=positions, charge=charges)
    builder.add_force(ar.forces.FastMultipole())
    with pytest.raises(ar.ModelError, match="use 'ewald'"):
        builder.build()
    monkeypatch.setattr("articulon.forces.sites.fast_multipole.find_spec", lambda name: None)
    with pytest.raises(ar.ModelError, match=r"pip install 'articulon\[longrange\]'"):
        open_model(positions, charges)


@pytest.mark.slow
@pytest.mark.parametrize("rule", ["velocity-verlet", "rk4"])
def test_an_error_of_the_multipole_library_ends_the_run_and_names_the_force(monkeypatch, rule):
    fmm3dpy = pytest.importorskip("fmm3dpy")
    original, calls = fmm3dpy.lfmm3d, []

    def failing(**arguments):
        found = original(**arguments)
        calls.append(0)
        found.ier = 4 if len(calls) > 10 else 0
        return found

    monkeypatch.setattr(fmm3dpy, "lfmm3d", failing)
    positions, charges = random_ions(10, (5.0, 5.0, 5.0))
    model = open_model(positions, charges)
    with pytest.raises(ar.ArticulonError, match=r"a force of kind 'fast-multipole' failed .* code 4"):
        ar.simulate(model, 1e-4, rule=rule, step=1e-6)
    with pytest.raises(ar.ArticulonError, match="code 4"):
        energy(model, positions)
