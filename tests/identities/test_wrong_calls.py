"""Calls with arguments that cannot be meant are refused by the argument's name, and nothing is computed of them."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

import articulon as ar
from articulon.errors import ArticulonError

NAN = float("nan")


@pytest.fixture(scope="module")
def tree() -> ar.Model:
    builder = ar.ModelBuilder(units="kg-m-s")
    builder.add_body("arm", mass=1.0, inertia=0.1, com=(0, 0, -0.5), joint=ar.Revolute(axis=(0, 1, 0)), q=0.2)
    builder.add_body("hand", parent="arm", mass=0.5, inertia=0.1, joint=ar.Spherical(), position=(0, 0, -1))
    return builder.build()


@pytest.fixture(scope="module")
def gas() -> ar.Model:
    builder = ar.ModelBuilder(units="lj", box=ar.Box(lengths=(10, 10, 10)))
    builder.add_particles(3, mass=1.0, positions=[[1, 1, 1], [2.5, 1, 1], [1, 4, 1]], kind="A")
    builder.add_force(ar.forces.LennardJones(cutoff=2.5, parameters={"A": {"epsilon": 1.0, "sigma": 1.0}}))
    return builder.build()


def damaged(array: np.ndarray, many: bool) -> list[tuple[str, Any]]:
    """What an array of coordinates or speeds may be by mistake; a table is none where ``many`` states are taken."""
    spoilt = array.copy()
    spoilt[-1] = NAN
    return [
        ("nan", spoilt),
        ("infinite", np.full_like(array, np.inf)),
        ("complex", array + 0.5j),
        ("truth values", np.ones(array.shape, dtype=bool)),
        ("text", array.astype(str)),
        ("objects", [None] * array.size),
        ("too short", array[:-1]),
        ("a table of tables", array[None, None]),
        *([] if many else [("a table", array[None])]),
        ("a number", 1.0),
    ]


def refuses(call: Callable[[], Any], argument: str, what: str) -> None:
    """Expects an error that names an argument, which is spoilt as ``what`` says."""
    with pytest.raises(ArticulonError) as caught:
        call()
    assert re.search(rf"\b{argument}\b", str(caught.value)), f"{what}: {caught.value}"


CALLS: dict[str, Any] = {
    "forward_dynamics": lambda m, q, u: ar.forward_dynamics(m, q, u),
    "forward_dynamics by kane": lambda m, q, u: ar.forward_dynamics(m, q, u, solver="kane"),
    "inverse_dynamics": lambda m, q, u: ar.inverse_dynamics(m, q, u, np.zeros(4)),
    "kinetic_energy": lambda m, q, u: ar.kinetic_energy(m, q, u),
    "generalized_forces": lambda m, q, u: ar.generalized_forces(m, q, u),
    "lock": lambda m, q, u: ar.lock(m, q, u, "hand"),
    "release": lambda m, q, u: ar.release(m, q, u, "hand", energy=1.0),
    "cartesian": lambda m, q, u: ar.cartesian(m, q, u),
    "close_loops": lambda m, q, u: ar.close_loops(m, q, u),
    "simulate": lambda m, q, u: ar.simulate(m, 0.01, q=q, u=u),
}
OF_COORDINATES: dict[str, Any] = {
    "mass_matrix": ar.mass_matrix,
    "body_poses": ar.body_poses,
    "potential_energy": ar.potential_energy,
    "minimise": ar.minimise,
}


OF_MANY = ("forward_dynamics", "forward_dynamics by kane", "inverse_dynamics", "kinetic_energy", "generalized_forces")
OF_MANY_COORDINATES = ("mass_matrix", "body_poses", "potential_energy")
"""Those that take a leading axis of states."""


@pytest.mark.parametrize("name", CALLS)
def test_states_that_are_none_are_refused_by_name(tree, name):
    for what, q in damaged(tree.q0, name in OF_MANY):
        refuses(partial(CALLS[name], tree, q, tree.u0), "q", what)
    for what, u in damaged(tree.u0, name in OF_MANY):
        refuses(partial(CALLS[name], tree, tree.q0, u), "u", what)


@pytest.mark.parametrize("name", OF_COORDINATES)
def test_coordinates_that_are_none_are_refused_by_name(gas, name):
    for what, q in damaged(gas.q0, name in OF_MANY_COORDINATES):
        refuses(partial(OF_COORDINATES[name], gas, q), "q", what)


@pytest.mark.parametrize("call", [*CALLS, *OF_COORDINATES])
@pytest.mark.parametrize("model", [None, "tree", 3, ar.ModelBuilder])
def test_what_is_no_model_is_refused(call, model):
    q = u = np.zeros(3)
    with pytest.raises(ArticulonError, match="expected a model"):
        CALLS[call](model, q, u) if call in CALLS else OF_COORDINATES[call](model, q)


@pytest.mark.parametrize(
    "argument, value",
    [
        ("tau", [NAN] * 4),
        ("tau", [1.0]),
        ("wrenches", np.full((2, 6), NAN)),
        ("wrenches", np.zeros((2, 6), complex)),
        ("gravity", (0, 0, NAN)),
        ("gravity", (0, 0, True)),
        ("gravity", "down"),
        ("time", NAN),
        ("time", "1 s"),
        ("solver", 7),
        ("solver", ["kane"]),
    ],
)
def test_loads_that_are_none_are_refused_by_name(tree, argument, value):
    with pytest.raises(ar.ModelError, match=argument):
        ar.forward_dynamics(tree, tree.q0, tree.u0, **{argument: value})


@pytest.mark.parametrize("axes", [3, None, 2.5, object(), [7], [("hand", True)], [("hand", 1, 2)], b"hand"])
def test_axes_that_are_none_are_refused(tree, axes):
    with pytest.raises(ar.TransitionError):
        ar.lock(tree, tree.q0, tree.u0, axes)
    if axes is not None:  # what is locked may be nothing
        with pytest.raises(ar.TransitionError):
            ar.lock(tree, tree.q0, tree.u0, "hand", locked=axes)


@pytest.mark.slow
@pytest.mark.parametrize(
    "argument, value",
    [
        ("reservoir", "x"),
        ("reservoir", 1.0),
        ("seed", -1),
        ("seed", 1.5),
        ("seed", True),
        ("seed", "7"),
        ("seed", 2**63),
        ("draw", -1),
        ("draw", True),
        ("reference", [NAN] * 4),
        ("choice", 3),
        ("choice", ["nearest"]),
        ("metric", None),
        ("energy", NAN),
        ("energy", True),
        ("energy", "5 nm"),
        ("temperature", 1j),
        ("locked", 3),
    ],
)
def test_what_a_release_cannot_take_is_refused_by_name(tree, argument, value):
    good = {"energy": 1.0} | {argument: value}
    if argument == "temperature":
        del good["energy"]
    with pytest.raises(ar.TransitionError, match=argument):
        ar.release(tree, tree.q0, tree.u0, "hand", **good)


@pytest.mark.parametrize("seed", [-1, 1.5, True, "7", None, 2**63, np.float64(1.0)])
def test_a_seed_of_a_simulation_is_a_whole_number(tree, seed):
    with pytest.raises(ar.CaseError, match="simulate: seed"):
        ar.simulate(tree, 0.01, seed=seed)


@pytest.mark.parametrize("argument", ["solver", "rotations", "coordinates"])
@pytest.mark.parametrize("value", ["x", None, 3, ["kane"], np.ones(3), np.ones(3, complex)])
def test_a_word_of_a_simulation_is_one_that_it_knows(tree, argument, value):
    for rule in ("dormand-prince", "friction-implicit"):
        with pytest.raises(ArticulonError, match=f"simulate: unknown {argument}: expected one of"):
            ar.simulate(tree, 0.01, rule=rule, **{argument: value})


@pytest.mark.parametrize(
    "axis", ["z", None, 3, (0, 0), (0, 0, 0), (0, 0, NAN), (0, 0, True), (0, 0, 1j), "abc", object()]
)
def test_an_axis_is_three_numbers(axis):
    for joint in (ar.Revolute, ar.Prismatic):
        with pytest.raises(ar.ModelError, match="axis must be three finite numbers, not all zero"):
            joint(axis=axis)


BODY = {"mass": 1.0, "joint": ar.Revolute(), "inertia": 0.1}


@pytest.mark.parametrize(
    "argument, value",
    [
        ("mass", True),
        ("mass", "--4.33 g"),
        ("mass", 1 + 1j),
        ("mass", np.array(1j)),
        ("mass", NAN),
        ("mass", 10**400),
        ("com", np.array([0, 0, 1j])),
        ("com", [0, 0, True]),
        ("com", [0, 0, "--1 mm"]),
        ("com", [0, [0], 0]),
        ("com", (0, 0, 1e160)),
        ("inertia", True),
        ("inertia", "x"),
        ("inertia", [[1, 2], [3]]),
        ("inertia", 1j),
        ("position", "x"),
        ("rotation", [True, 0, 0, 0]),
        ("q", True),
        ("q", 1j),
        ("q", "x"),
        ("q", [[1.0]]),
        ("u", NAN),
        ("joint", "revolute"),
        ("joint", None),
        ("parent", 3.5),
        ("parent", True),
        ("node", 1),
        ("modes", "beam"),
        ("name", 7),
    ],
)
def test_what_no_body_can_have_is_refused_by_name(argument, value):
    builder = ar.ModelBuilder("kg-m-s")
    with pytest.raises(ar.ModelError, match=argument):
        builder.add_body(**{"name": "arm", **BODY, argument: value})


@pytest.mark.parametrize(
    "argument, value",
    [
        ("mass", [True, 1.0]),
        ("mass", [1.0, 1j]),
        ("com", np.zeros((2, 3), complex)),
        ("position", "x"),
        ("q", [True] * 6),
        ("u", [NAN] * 6),
        ("parents", [0.5, 0]),
        ("parents", "x"),
        ("parents", [NAN, 0]),
        ("count", True),
        ("count", 2.0),
        ("count", -1),
        ("joint", [ar.Xyz(), "xyz"]),
        ("joint", range(10**12)),
        ("joint", 3),
        ("names", [1, 2]),
        ("inertia", [[True, 0, 0]] * 2),
    ],
)
def test_what_no_bodies_can_have_is_refused_by_name(argument, value):
    good = {"count": 2, "mass": 1.0, "joint": ar.Xyz(), "q": np.zeros(6), "u": np.zeros(6)}
    with pytest.raises(ar.ModelError, match=argument):
        ar.ModelBuilder("kg-m-s").add_bodies(**{**good, argument: value})


@pytest.mark.parametrize(
    "argument, value",
    [
        ("mass", True),
        ("positions", np.zeros((2, 3), complex)),
        ("positions", [[True, 0, 0]] * 2),
        ("positions", "x"),
        ("velocities", [[NAN] * 3] * 2),
        ("charge", True),
        ("kind", [1, 2]),
        ("kind", ["A"]),
        ("count", "2"),
    ],
)
def test_what_no_particles_can_have_is_refused_by_name(argument, value):
    good = {"count": 2, "mass": 1.0, "positions": np.zeros((2, 3)), "kind": "A"}
    with pytest.raises(ar.ModelError, match=argument):
        ar.ModelBuilder("kg-m-s").add_particles(**{**good, argument: value})


@pytest.mark.parametrize(
    "argument, value",
    [
        ("damping_ratio", -0.1),
        ("damping_ratio", NAN),
        ("damping_ratio", True),
        ("largest", True),
        ("handle", True),
        ("length", True),
        ("length", "--1 m"),
        ("bending", 10**9),
        ("bending", "2"),
        ("nodes", 10**9),
        ("boundary", None),
        ("boundary", np.zeros(3)),
        ("masses", 3),
        ("gyration", [[1.0]]),
        ("units", 7),
    ],
)
def test_what_no_beam_can_have_is_refused_by_name(argument, value):
    good = {"length": 1.0, "mass": 1.0, "bending_stiffness": 1.0, "units": "kg-m-s"}
    builder = ar.ModelBuilder("kg-m-s")
    with pytest.raises(ar.ModelError, match=argument):
        builder.add_body("rod", joint=ar.Free(), modes=ar.modes.beam(**{**good, argument: value}))


POINTS = np.random.default_rng(1).normal(size=(8, 3))


@pytest.mark.parametrize("argument", ["units", "boundary"])
@pytest.mark.parametrize("value", [np.zeros((2, 2)), np.ones(3, complex), 7, ["kg-m-s"], "x"])
def test_words_of_modes_are_words(argument, value):
    shapes = [[[0.0], [0.0], [0.0]], [[0.0], [0.0], [1.0]]]
    good = {"positions": [[0, 0, 0], [1, 0, 0]], "masses": [1.0, 1.0], "shapes": shapes, "stiffness": [2.0]}
    modes = ar.Modes(**{**good, "boundary": "clamped", argument: value})
    with pytest.raises(ar.ModelError, match=f"body 'rod', .*{argument}"):
        ar.ModelBuilder("kg-m-s").add_body("rod", joint=ar.Free(), modes=modes)


def test_a_negative_damping_ratio_is_refused_by_every_source_of_modes():
    sources = [
        lambda ratio: ar.modes.beam(length=1.0, mass=1.0, bending_stiffness=1.0, damping_ratio=ratio),
        lambda ratio: ar.modes.elastic_network(
            positions=POINTS, masses=np.ones(8), cutoff=9.0, spring_constant=1.0, modes=2, damping_ratio=ratio
        ),
        lambda ratio: ar.modes.from_matrices(
            POINTS[:3], np.ones(3), np.eye(9), modes=2, clamped=[0], handle=0, damping_ratio=ratio
        ),
    ]
    for source in sources:
        with pytest.raises(ar.ModelError, match=r"damping_ratio: must not be negative, got -0\.1"):
            source(-0.1)
        source(0.1)


@pytest.mark.parametrize("box", [3, "box", (1, 1, 1), object()])
def test_a_box_is_a_box(box):
    with pytest.raises(ar.ModelError, match=r"box: expected an ar\.Box"):
        ar.ModelBuilder("kg-m-s", box=box)


@pytest.mark.parametrize("force", [None, "gravity", ar.Box(lengths=(1, 1, 1)), ar.forces.Gravity])
def test_a_force_is_a_force(force):
    with pytest.raises(ar.ModelError, match="add_force: expected a force"):
        ar.ModelBuilder("kg-m-s").add_force(force)


@pytest.mark.parametrize(
    "argument, value",
    [
        ("skip", True),
        ("skip", 2.0),
        ("skip", NAN),
        ("skip", "x"),
        ("observable", 3),
        ("observable", "no"),
        ("run", None),
    ],
)
def test_averages_name_what_they_cannot_take(argument, value):
    class Seen:
        observables = {"energy": np.arange(5.0)}

    good = {"run": Seen(), "observable": "energy", "skip": 0.0}
    with pytest.raises(ArticulonError):
        ar.analysis.average(**{**good, argument: value})


@pytest.mark.parametrize("function", ["mean_square_displacement", "velocity_autocorrelation", "temperature_spread"])
def test_what_is_no_run_is_refused(function):
    for run in (None, "runs/a", 3):
        with pytest.raises(ArticulonError):
            getattr(ar.analysis, function)(run)


@pytest.mark.parametrize("folder", [3, None, "a" * 5000, "\0", ["a"], b"a"])
def test_a_folder_is_a_path(folder):
    with pytest.raises(ArticulonError):
        ar.open_run(folder)
