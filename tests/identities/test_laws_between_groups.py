"""Laws of pairs that act between some groups of sites, against a double loop over the pairs that are chosen."""

from __future__ import annotations

import math

import numba
import numpy as np
import pytest

import articulon as ar
from articulon.forces.sites.site_evaluation import SiteForces

LENGTH = 9.0
GROUPS = (["left"] * 40, ["right"] * 30, ["rest"] * 20)
KINDS = ["A", "B"] * 45
EPSILON = {"A": 1.0, "B": 0.6}
SIGMA = {"A": 0.8, "B": 1.0}
WELLS = {kind: {"epsilon": EPSILON[kind], "sigma": SIGMA[kind]} for kind in "AB"}
CHARGES = np.where(np.arange(90) % 3 == 0, 1.0, -0.5)


def places() -> np.ndarray:
    """A jittered lattice: no two sites are on top of each other."""
    grid = np.stack(np.meshgrid(*[np.arange(5.0)] * 3, indexing="ij"), axis=-1).reshape(-1, 3)[:90]
    order = np.random.default_rng(3).permutation(90)
    return 1.7 * grid[order] + np.random.default_rng(4).uniform(-0.3, 0.3, (90, 3))


def model_of(*forces: object, periodic: bool) -> ar.Model:
    box = ar.Box(lengths=(LENGTH,) * 3) if periodic else None
    builder = ar.ModelBuilder(units="lj", box=box)
    groups = [name for group in GROUPS for name in group]
    builder.add_particles(90, mass=1.0, positions=places(), charge=CHARGES, kind=KINDS, group=groups)
    for force in forces:
        builder.add_force(force)
    return builder.build()


def double_loop(model: ar.Model, chosen: set[frozenset[str]], law: object, cutoff: float) -> tuple[float, np.ndarray]:
    """Energy and forces of a law over all pairs of chosen groups, by nearest images."""
    x = model.q0.reshape(-1, 3)
    names = [model.sites.groups[g] for g in model.sites.group]
    energy, forces = 0.0, np.zeros_like(x)
    for i in range(len(x)):
        for j in range(i):
            if frozenset((names[i], names[j])) not in chosen:
                continue
            d = x[i] - x[j]
            if model.box is not None:
                d -= LENGTH * np.rint(d / LENGTH)
            r = float(np.linalg.norm(d))
            if r >= cutoff:
                continue
            U, slope = law(i, j, r)
            energy += U
            forces[i] -= slope * d / r
            forces[j] += slope * d / r
    return energy, forces


def lennard_jones(i: int, j: int, r: float) -> tuple[float, float]:
    epsilon = math.sqrt(EPSILON[KINDS[i]] * EPSILON[KINDS[j]])
    s6 = (0.5 * (SIGMA[KINDS[i]] + SIGMA[KINDS[j]]) / r) ** 6
    return 4.0 * epsilon * (s6 * s6 - s6), -24.0 * epsilon * (2.0 * s6 * s6 - s6) / r


def coulomb(i: int, j: int, r: float) -> tuple[float, float]:
    q = CHARGES[i] * CHARGES[j]
    return q / r, -q / r**2


def evaluated(model: ar.Model) -> tuple[float, np.ndarray]:
    forces = ar.generalized_forces(model, model.q0, model.u0).reshape(-1, 3)
    return ar.potential_energy(model, model.q0), forces


def agree(found: tuple[float, np.ndarray], expected: tuple[float, np.ndarray]) -> None:
    assert found[0] == pytest.approx(expected[0], rel=1e-11, abs=1e-11)
    np.testing.assert_allclose(found[1], expected[1], rtol=1e-10, atol=1e-10 * np.abs(expected[1]).max())


@pytest.mark.parametrize("periodic", [True, False])
@pytest.mark.parametrize(
    "between", [(("left", "right"),), (("left", "left"),), (("left", "right"), ("rest", "rest"), ("rest", "left"))]
)
def test_a_law_acts_between_the_groups_that_it_names(periodic: bool, between: tuple[tuple[str, str], ...]) -> None:
    cutoff = 3.0
    model = model_of(ar.forces.LennardJones(parameters=WELLS, cutoff=cutoff, between=between), periodic=periodic)
    agree(evaluated(model), double_loop(model, set(map(frozenset, between)), lennard_jones, cutoff))


def test_a_law_without_a_cutoff_acts_between_the_groups_that_it_names() -> None:
    model = model_of(ar.forces.LennardJones(parameters=WELLS, between=[("left", "rest")]), periodic=False)
    agree(evaluated(model), double_loop(model, {frozenset(("left", "rest"))}, lennard_jones, np.inf))


def test_each_law_has_groups_of_its_own() -> None:
    """Both laws share one loop: one leaves out what the other takes."""
    model = model_of(
        ar.forces.LennardJones(parameters=WELLS, cutoff=3.0, between=[("left", "right")]),
        ar.forces.Coulomb(cutoff=4.0, between=[("rest", "right")]),
        periodic=True,
    )
    one = double_loop(model, {frozenset(("left", "right"))}, lennard_jones, 3.0)
    other = double_loop(model, {frozenset(("rest", "right"))}, coulomb, 4.0)
    agree(evaluated(model), (one[0] + other[0], one[1] + other[1]))


def test_groups_that_do_not_interact_feel_nothing_and_are_not_listed() -> None:
    law = ar.forces.LennardJones(parameters=WELLS, cutoff=3.0, between=[("left", "right")])
    model = model_of(law, periodic=True)
    forces = evaluated(model)[1]
    assert not forces[70:].any()
    sites = SiteForces(model)
    sites.evaluate(model.q0.reshape(-1, 3))
    particles, lists = sites.system.particles, sites.system.neighbours
    group = model.sites.group
    for p in range(90):
        row = lists.places[p, : lists.number[p]].astype(int)
        row = row[row != particles.x.size - 1]  # what fills vectors up
        partners = particles.order[np.where(row < 90, row, particles.parent[np.maximum(row - 90, 0)])]
        assert all({group[particles.order[p]], group[j]} == {0, 1} for j in partners)
    assert lists.number.sum() > 0


def test_between_all_groups_is_the_law_between_all_sites() -> None:
    names = ("left", "right", "rest")
    every = [(a, b) for k, a in enumerate(names) for b in names[k:]]
    one = model_of(ar.forces.LennardJones(parameters=WELLS, cutoff=3.0, tail_correction=True), periodic=True)
    other = model_of(
        ar.forces.LennardJones(parameters=WELLS, cutoff=3.0, tail_correction=True, between=every), periodic=True
    )
    agree(evaluated(other), evaluated(one))


def test_tails_are_those_of_the_pairs_that_interact() -> None:
    """The tails of three sets of pairs, which are all pairs together, add up to that of all."""

    def tail(between: list[tuple[str, str]] | None) -> float:
        with_tail, without = (
            evaluated(
                model_of(
                    ar.forces.LennardJones(parameters=WELLS, cutoff=3.0, tail_correction=on, between=between),
                    periodic=True,
                )
            )[0]
            for on in (True, False)
        )
        return with_tail - without

    parts = [
        [("left", "left"), ("right", "right")],
        [("left", "right"), ("rest", "rest")],
        [("left", "rest"), ("right", "rest")],
    ]
    assert sum(map(tail, parts)) == pytest.approx(tail(None), rel=1e-9)


def test_scaled_pairs_are_those_of_groups_that_interact() -> None:
    builder = ar.ModelBuilder(units="lj")
    positions = [(0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (1.0, 1.0, 0.0), (2.0, 1.0, 0.0)]
    builder.add_particles(4, mass=1.0, positions=positions, kind="A", group=["left", "left", "right", "right"])
    builder.add_force(ar.forces.LennardJones(parameters={"A": WELLS["A"]}, between=[("left", "left")]))
    exclusions = {"bonds": [(0, 1), (1, 2), (2, 3)], "scaled_14": {"lennard_jones": 0.5}}
    builder.add_force(ar.forces.Exclusions(**exclusions))
    model = builder.build()
    assert ar.potential_energy(model, model.q0) == 0.0


@numba.njit
def repulsion(r2, parameters):
    return parameters[0] / r2, 2.0 * parameters[0] / r2**2, 2.0 * parameters[0] / r2**2


@pytest.mark.parametrize(
    ("law", "reference", "cutoff"),
    [
        (
            ar.forces.TwelveSix(
                table=[
                    {"kinds": (a, b), "A": 2.0, "B": 1.0, "C": 0.5} for a, b in (("A", "A"), ("A", "B"), ("B", "B"))
                ],
                cutoff=3.0,
                between=[("left", "rest")],
            ),
            lambda i, j, r: (2 / r**12 - 1 / r**6 + 0.5 / r, -24 / r**13 + 6 / r**7 - 0.5 / r**2),
            3.0,
        ),
        (
            ar.forces.Morse(
                parameters={kind: {"depth": 1.0, "width": 2.0, "distance": 1.2} for kind in "AB"},
                cutoff=3.0,
                between=[("left", "rest")],
            ),
            lambda i, j, r: (
                (1.0 - math.exp(-2.0 * (r - 1.2))) ** 2 - 1.0,
                4.0 * math.exp(-2.0 * (r - 1.2)) * (1.0 - math.exp(-2.0 * (r - 1.2))),
            ),
            3.0,
        ),
        (
            ar.forces.UserPair(function=repulsion, parameters=(0.7,), cutoff=3.0, between=[("left", "rest")]),
            lambda i, j, r: (0.7 / r**2, -1.4 / r**3),
            3.0,
        ),
    ],
)
def test_every_law_of_pairs_takes_groups(law: object, reference: object, cutoff: float) -> None:
    model = model_of(law, periodic=True)
    agree(evaluated(model), double_loop(model, {frozenset(("left", "rest"))}, reference, cutoff))


def test_weeks_chandler_andersen_takes_groups() -> None:
    law = ar.forces.WeeksChandlerAndersen(
        parameters={kind: {"epsilon": 1.0, "sigma": 1.5} for kind in "AB"}, between=[("left", "rest")]
    )

    def reference(i: int, j: int, r: float) -> tuple[float, float]:
        s6 = (1.5 / r) ** 6
        return 4.0 * (s6 * s6 - s6) + 1.0, -24.0 * (2.0 * s6 * s6 - s6) / r

    model = model_of(law, periodic=True)
    agree(evaluated(model), double_loop(model, {frozenset(("left", "rest"))}, reference, 1.5 * 2 ** (1 / 6)))


def test_kinds_that_do_not_meet_need_no_parameters() -> None:
    builder = ar.ModelBuilder(units="lj")
    builder.add_particles(2, mass=1.0, positions=[(0, 0, 0), (2, 0, 0)], kind=["A", "B"], group=["a", "b"])
    builder.add_particles(1, mass=1.0, positions=[(0, 2, 0)], kind="C", group="c")
    pair = [{"kinds": ("A", "B"), "epsilon": 1.0, "sigma": 1.0}]
    builder.add_force(ar.forces.LennardJones(pairs=pair, between=[("a", "b")]))
    assert ar.potential_energy(builder.build(), builder.build().q0) == pytest.approx(4.0 * (2.0**-12 - 2.0**-6))


@pytest.mark.parametrize(
    ("law", "message"),
    [
        (
            {"parameters": WELLS, "between": [("left", "rigth")]},
            "forces[0].between: there is no group of sites 'rigth'; did you mean 'right'? (known: left, right, rest)",
        ),
        ({"parameters": WELLS, "between": []}, "forces[0].between: no two sites of these groups interact"),
        ({"pairs": [{"kinds": ("A", "A"), "epsilon": 1.0, "sigma": 1.0}], "between": [("left", "right")]}, "interact"),
    ],
)
def test_wrong_groups_are_refused_as_those_of_site_pairs_are(law: dict[str, object], message: str) -> None:
    with pytest.raises(ar.ModelError) as raised:
        model_of(ar.forces.LennardJones(cutoff=3.0, **law), periodic=True)
    assert message in str(raised.value)


def test_wolf_sums_take_no_groups() -> None:
    with pytest.raises(ar.ModelError, match="wolf"):
        ar.forces.Coulomb(cutoff=3.0, truncation="wolf", between=[("left", "right")])
