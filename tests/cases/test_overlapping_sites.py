"""Which sites count as overlapping where a run begins."""

from pathlib import Path

import numpy as np
import pytest

import articulon as ar
from articulon.forces.evaluation import Evaluator
from articulon.forces.sites.site_positions import site_positions
from articulon.simulation.site_overlaps import nearest_image, pair_repulsions
from articulon.simulation.starting import check_start

CHAINS = """
[case]
title = "A particle with tethered ligands before receptors"
units = "fg-um-us"
[model]
builder = "conjugated-nanoparticle"
ligands = 3
chain = ["A", "B"]
ring_angle = "30 deg"
gap = "2 nm"
receptors = 20
core = { mass = "0.067 fg", inertia = "1.07e-5 fg um^2", radius = "20 nm" }
[model.spheres]
A = { mass = "4.5e-5 fg", inertia = "7.2e-11 fg um^2", radius = "2 nm" }
B = { mass = "4.5e-5 fg", inertia = "7.2e-11 fg um^2", radius = "2 nm" }
[[forces]]
kind = "morse"
between = [["ligand", "receptor"]]
[[forces.pairs]]
kinds = ["A", "receptor"]
depth = "0.001 zJ"
width = "1 1/nm"
distance = "1.5 nm"
[[forces.pairs]]
kinds = ["B", "receptor"]
depth = "25 zJ"
width = "1 1/nm"
distance = "1.5 nm"
[[forces]]
kind = "stokes-drag"
viscosity = "0.89 mPa s"
radius = { core = "20 nm", "A*" = "2 nm", "B*" = "2 nm" }
[[forces]]
kind = "brownian"
temperature = "300 K"
[integrator]
rule = "overdamped"
step = "0.5 ns"
[run]
duration = "3 us"
"""


def _started(model: ar.Model, step: float | None) -> None:
    evaluator = Evaluator(model)
    check_start(evaluator, evaluator.initial_state(), step)


@pytest.mark.parametrize("step", [0.0005, None])
def test_neighbours_in_a_chain_that_are_pulled_do_not_overlap(tmp_path: Path, step: float | None) -> None:
    """Receptors pull the ends of chains, whose neighbours in the chain are nearer but exert no force on them."""
    file = tmp_path / "chains.toml"
    file.write_text(CHAINS, encoding="utf-8")
    model = ar.load_case(file).build_model()
    pull = np.linalg.norm(Evaluator(model).on_sites(site_positions(model, model.q0)), axis=1).max()
    # Without drag, the pull would move an end within the step by more than the distance of its neighbour.
    assert 0.5 * pull * 0.0005**2 / 4.5e-5 > 0.004
    _started(model, step)


def _pair(distance: float, drag: float, law: object) -> ar.Model:
    """Two ends that repel, and a third site, nearer to the first, that exerts no force."""
    builder = ar.ModelBuilder(units="lj")
    for name, x, group in (("one", 0.0, "ends"), ("two", distance, "ends"), ("idle", -0.1 * distance, "others")):
        builder.add_body(name, mass=1.0, inertia=1.0, joint=ar.Free(), position=(x, 0.0, 0.0))
        builder.add_site(name, (0.0, 0.0, 0.0), kind="A", group=group)
    builder.add_force(law)
    if drag:
        builder.add_force(ar.forces.StokesDrag(translational=drag, rotational=1.0))
    return builder.build()


def _repelling(**keys: object) -> ar.forces.Morse:
    return ar.forces.Morse({"A": {"depth": 1.0, "width": 4.0, "distance": 1.0}}, between=[("ends", "ends")], **keys)


def test_the_pair_the_law_and_the_bound_are_named() -> None:
    # 2aDE(E − 1) with E = e^{4·0.5}.
    force = 8.0 * np.exp(2.0) * (np.exp(2.0) - 1.0)
    pair = r"'(one|two)' and body '(two|one)' begin 0\.5 apart, and the law morse between them repels with "
    moved = r"the first step of 0\.1 would move the first by .*, more than their distance"
    bound = rf"{force:.3g} \({moved}.*overlap.*run\.minimise = true"
    with pytest.raises(ar.ModelError, match=pair + bound):
        _started(_pair(0.5, 0.0, _repelling()), 0.1)
    _started(_pair(0.5, 0.0, _repelling()), np.sqrt(0.9 * 2.0 * 0.5 / force))


def test_drag_bounds_how_far_a_repulsion_throws() -> None:
    """Without inertia a site moves by F h/β in a step."""
    force, step = 8.0 * np.exp(2.0) * (np.exp(2.0) - 1.0), 0.1
    _started(_pair(0.5, force * step / 0.45, _repelling()), step)
    with pytest.raises(ar.ModelError, match="more than their distance"):
        _started(_pair(0.5, force * step / 0.55, _repelling()), step)


def test_a_strong_attraction_is_no_overlap() -> None:
    attraction = ar.forces.Morse({"A": {"depth": 1e6, "width": 4.0, "distance": 0.3}}, between=[("ends", "ends")])
    _started(_pair(0.5, 0.0, attraction), 0.1)


def test_pushes_of_pairs_add_up_to_the_force() -> None:
    """With pair laws alone, between groups and with excluded pairs, in a periodic box."""
    rng = np.random.default_rng(4)
    builder = ar.ModelBuilder(units="lj", box=ar.Box(lengths=(8.0, 8.0, 8.0)))
    grid = np.stack(np.meshgrid(*[np.arange(3) * 2.6] * 3), axis=-1).reshape(-1, 3)
    for n, place in enumerate(grid + rng.uniform(-0.5, 0.5, grid.shape)):
        builder.add_body(f"b{n}", mass=1.0, inertia=1.0, joint=ar.Free(), position=tuple(place))
        kind, group = ("A", "g") if n % 2 else ("B", "h")
        builder.add_site(f"b{n}", (0.1, 0.0, 0.0), kind=kind, group=group)
        builder.add_site(f"b{n}", (0.0, 0.3, 0.0), kind=kind, group=group)
    lj = {kind: {"epsilon": 1.0 + 0.5 * k, "sigma": 1.0 + 0.2 * k} for k, kind in enumerate("AB")}
    builder.add_force(ar.forces.LennardJones(lj, cutoff=3.0))
    wells = {kind: {"depth": 2.0, "width": 1.5 + k, "distance": 1.2} for k, kind in enumerate("AB")}
    builder.add_force(ar.forces.Morse(wells, cutoff=2.5, truncation="switched", switch_start=2.0, between=[("g", "h")]))
    builder.add_force(ar.forces.Exclusions(pairs=[(0, 2), (1, 5)]))
    model = builder.build()
    evaluator = Evaluator(model)
    positions = site_positions(model, model.q0)
    forces = evaluator.on_sites(positions)
    for site in (0, 1, 5, 20, 53):
        vectors = nearest_image(model, positions[site] - positions)
        distance = np.linalg.norm(vectors, axis=1)
        away = vectors / np.where(distance > 0.0, distance, 1.0)[:, None]
        repulsions = pair_repulsions(evaluator.sites, site, distance)
        assert repulsions.shape == (2, model.sites.body.size) and (np.abs(repulsions).max(axis=1) > 0.0).all()
        np.testing.assert_allclose(
            repulsions.sum(axis=0) @ away, forces[site], rtol=0, atol=1e-12 * np.abs(repulsions).sum()
        )
