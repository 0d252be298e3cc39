"""Bad models are refused before anything runs, by an error that names the body."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import articulon as ar

GOOD: dict[str, Any] = {"mass": 1.0, "inertia": 1.0}
NAN, INF = float("nan"), float("inf")

BAD_BODIES: dict[str, dict[str, Any]] = {
    "negative mass": {"mass": -1.0},
    "zero mass": {"mass": 0.0},
    "mass not a number": {"mass": NAN},
    "infinite mass": {"mass": INF},
    "negative inertia": {"inertia": -1.0},
    "zero inertia": {"inertia": 0.0},
    "triangle inequality, diagonal": {"inertia": (1.0, 1.0, 2.5)},
    "triangle inequality, matrix": {"inertia": np.diag([2.5, 1.0, 1.0])},
    # Eigenvalues 2.5, 1, 1 on turned axes: the diagonal alone (1.75, 1.75, 1) would pass.
    "triangle inequality, turned axes": {"inertia": [[1.75, 0.75, 0.0], [0.75, 1.75, 0.0], [0.0, 0.0, 1.0]]},
    "indefinite matrix": {"inertia": [[1.0, 2.0, 0.0], [2.0, 1.0, 0.0], [0.0, 0.0, 1.0]]},
    "negative moment": {"inertia": (1.0, 1.0, -0.1)},
    "asymmetric matrix": {"inertia": [[1.0, 0.1, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]},
    "inertia of wrong shape": {"inertia": (1.0, 1.0)},
    "inertia of four": {"inertia": (1.0, 1.0, 1.0, 1.0)},
    "inertia not a number": {"inertia": (1.0, 1.0, NAN)},
    "infinite inertia": {"inertia": INF},
    "com of wrong shape": {"com": (0.0, 0.0)},
    "com not finite": {"com": (0.0, 0.0, INF)},
    "position of wrong shape": {"position": (0.0, 0.0, 0.0, 0.0)},
    "position not a number": {"position": (NAN, 0.0, 0.0)},
    "rotation not unit": {"rotation": (1.0, 0.1, 0.0, 0.0)},
    "rotation zero": {"rotation": (0.0, 0.0, 0.0, 0.0)},
    "rotation of wrong shape": {"rotation": (1.0, 0.0, 0.0)},
    "rotation not a number": {"rotation": (NAN, 0.0, 0.0, 0.0)},
    "spherical q not unit": {"joint": "Spherical", "q": (1.0, 0.0, 0.01, 0.0)},
    "spherical q zero": {"joint": "Spherical", "q": (0.0, 0.0, 0.0, 0.0)},
    "free q not unit": {"joint": "Free", "q": (0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0)},
    "free q of wrong length": {"joint": "Free", "q": (0.0, 0.0, 0.0)},
    "free q not finite": {"joint": "Free", "q": (INF, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0)},
    "free u of wrong length": {"joint": "Free", "u": (0.0,) * 7},
    "xyz u not a number": {"joint": "Xyz", "u": (0.0, NAN, 0.0)},
    "spherical u of wrong length": {"joint": "Spherical", "u": (0.0,) * 4},
    "revolute q of wrong length": {"joint": "Revolute", "q": (0.0, 0.0)},
    "weld with a coordinate": {"joint": "Weld", "q": (0.0,)},
    "missing parent": {"parent": "nobody"},
    "its own parent": {"parent": "offender"},
}


def joint(name: str) -> Any:
    return ar.Revolute(axis=(0, 0, 1)) if name == "Revolute" else getattr(ar, name)()


def builder() -> Any:
    return ar.ModelBuilder(units="kg-m-s")


@pytest.mark.parametrize("fault", BAD_BODIES)
def test_bad_body_is_refused_by_name(fault: str) -> None:
    arguments = {"joint": ar.Free(), **GOOD, **BAD_BODIES[fault]}
    if isinstance(arguments["joint"], str):
        arguments["joint"] = joint(arguments["joint"])
    b = builder()
    b.add_body("bystander", joint=ar.Free(), **GOOD)
    with pytest.raises(ar.ModelError, match="offender") as caught:  # noqa: PT012  either call may be the one to refuse
        b.add_body("offender", **arguments)
        b.build()
    assert "bystander" not in str(caught.value) or "parent" in fault


@pytest.mark.parametrize("axis", [(0, 0, 0), (0, 0), (0, 0, NAN), (INF, 0, 0)])
@pytest.mark.parametrize("kind", ["Revolute", "Prismatic"])
def test_bad_axis_is_refused(kind: str, axis: tuple[float, ...]) -> None:
    """A joint may be refused where it is made, before any body has it; if later, by the body's name."""
    b = builder()
    with pytest.raises(ar.ModelError, match=r"axis|offender"):  # noqa: PT012
        b.add_body("offender", joint=getattr(ar, kind)(axis=axis), **GOOD)
        b.build()


def test_missing_parent_names_the_parent_too() -> None:
    b = builder()
    with pytest.raises(ar.ModelError, match=r"offender.*nobody|nobody.*offender"):  # noqa: PT012
        b.add_body("offender", parent="nobody", joint=ar.Free(), **GOOD)
        b.build()


def test_joint_loop_is_refused() -> None:
    """Bodies whose parents are each other: the first of them has a parent that does not exist yet."""
    b = builder()
    with pytest.raises(ar.ModelError, match="first"):  # noqa: PT012
        b.add_body("first", parent="second", joint=ar.Spherical(), **GOOD)
        b.add_body("second", parent="first", joint=ar.Spherical(), **GOOD)
        b.build()


def test_second_joint_to_the_same_body_is_refused() -> None:
    """A body has one joint to one parent: adding it again would close a loop."""
    b = builder()
    b.add_body("base", joint=ar.Free(), **GOOD)
    b.add_body("arm", parent="base", joint=ar.Spherical(), **GOOD)
    with pytest.raises(ar.ModelError, match="arm"):  # noqa: PT012
        b.add_body("arm", parent="base", joint=ar.Spherical(), position=(1, 0, 0), **GOOD)
        b.build()


def test_handle_of_another_builder_is_refused() -> None:
    one, other = builder(), builder()
    for k in range(3):
        foreign = one.add_body(f"stranger-{k}", joint=ar.Free(), **GOOD)
    with pytest.raises(ar.ModelError, match="offender"):  # noqa: PT012
        other.add_body("offender", parent=foreign, joint=ar.Free(), **GOOD)
        other.build()


@pytest.mark.parametrize(
    "site",
    [
        {"body": "ghost"},
        {"position": (0.0, 0.0)},
        {"position": (0.0, 0.0, NAN)},
        {"charge": INF},
    ],
)
def test_bad_site_is_refused_by_its_body(site: dict[str, Any]) -> None:
    b = builder()
    b.add_body("offender", joint=ar.Free(), **GOOD)
    arguments = {"body": "offender", "position": (0.0, 0.0, 0.0), "charge": 0.0, "kind": "A", **site}
    body = arguments.pop("body")
    with pytest.raises(ar.ModelError, match=body):  # noqa: PT012
        b.add_site(body, **arguments)
        b.build()


def test_model_errors_are_articulon_errors() -> None:
    assert issubclass(ar.ModelError, ar.ArticulonError)


def accepted(**arguments: Any) -> Any:
    b = builder()
    b.add_body("body", **{"joint": ar.Free(), **GOOD, **arguments})
    return b.build()


@pytest.mark.parametrize(
    "arguments",
    [
        {"inertia": 0.3},
        {"inertia": (1.0, 2.0, 2.5)},
        {"inertia": (1.0, 1.0, 2.0)},  # a flat body: the triangle inequality holds as an equality
        {"inertia": [[1.0, 0.1, 0.0], [0.1, 1.0, 0.0], [0.0, 0.0, 1.0]]},
        {"rotation": (0.6, 0.0, 0.8, 0.0)},
        {"q": (1.0, 2.0, 3.0, 0.5, 0.5, 0.5, 0.5), "u": (1.0,) * 6},
    ],
)
def test_good_bodies_at_the_edge_are_accepted(arguments: dict[str, Any]) -> None:
    assert accepted(**arguments).nu == 6


def test_parent_by_handle_and_by_name_give_the_same_model() -> None:
    masses = []
    for by_name in (False, True):
        b = builder()
        base = b.add_body("base", joint=ar.Free(), **GOOD)
        b.add_body("arm", parent="base" if by_name else base, joint=ar.Spherical(), position=(1, 0, 0), **GOOD)
        model = b.build()
        masses.append(ar.mass_matrix(model, model.q0))
    np.testing.assert_array_equal(masses[0], masses[1])


@pytest.mark.parametrize(
    "arguments",
    [
        {"q": np.zeros(6)},
        {"u": np.zeros(7)},
        {"tau": np.zeros(5)},
        {"wrenches": np.zeros((2, 6))},
        {"wrenches": np.zeros(6)},
        {"gravity": np.zeros(2)},
    ],
)
def test_forward_dynamics_refuses_arrays_of_wrong_shape(arguments: dict[str, Any]) -> None:
    model = accepted()
    given = {"q": model.q0, "u": model.u0, **arguments}
    with pytest.raises(ar.ArticulonError, match=next(iter(arguments))):
        ar.forward_dynamics(model, **given)


def test_unknown_solver_is_refused_by_name() -> None:
    model = accepted()
    with pytest.raises(ar.ArticulonError, match="gauss"):
        ar.forward_dynamics(model, model.q0, model.u0, solver="gauss")


def test_model_is_frozen() -> None:
    model = accepted()
    with pytest.raises((AttributeError, TypeError)):
        model.nq = 3


def test_three_inertias_of_three_bodies_say_what_they_are():
    def moments(inertia):
        builder = ar.ModelBuilder(units="kg-m-s")
        builder.add_bodies(3, mass=1.0, joint=ar.Spherical(), inertia=inertia)
        return builder.build().inertias[:, [0, 3, 5]].tolist()

    for inertia in ([0.1, 0.15, 0.2], np.diag([0.1, 0.15, 0.2]), np.full((3, 3), 0.1)):
        with pytest.raises(ar.ModelError, match=r"inertia: of three bodies, the shape \(3.* to distinguish them"):
            moments(inertia)
    assert moments([[0.1, 0.15, 0.2]]) == moments([np.diag([0.1, 0.15, 0.2])]) == [[0.1, 0.15, 0.2]] * 3
    assert moments([[0.1], [0.2], [0.3]]) == [[0.1] * 3, [0.2] * 3, [0.3] * 3]
    assert moments([0.2, 0.2, 0.2]) == moments(0.2) == [[0.2] * 3] * 3


def test_many_sites_are_those_that_are_added_one_by_one() -> None:
    rng = np.random.default_rng(2)
    places, charges = rng.normal(size=(5, 3)), rng.normal(size=5)
    bodies, kinds = [0, 1, -1, 1, 0], ["a", "b", "a", "c", "b"]
    made = []
    for many in (True, False):
        builder = ar.ModelBuilder(units="kg-m-s")
        for name in ("one", "two"):
            builder.add_body(name, mass=1.0, inertia=1.0, joint=ar.Free())
        if many:
            assert builder.add_sites(bodies, positions=places, charge=charges, kind=kinds, group="g") == range(5)
        else:
            for body, place, charge, kind in zip(bodies, places, charges, kinds, strict=True):
                on = None if body < 0 else body
                builder.add_site(on, position=place, charge=charge, kind=kind, group="g")
        made.append(builder.build().sites)
    for one, other in zip(*made, strict=True):
        assert np.array_equal(one, other)


@pytest.mark.parametrize(
    "keys, message",
    [
        ({"bodies": [0, 2]}, "add_sites, bodies: there is no body 2"),
        ({"bodies": [0, -2]}, "add_sites, bodies: there is no body -2"),
        ({"bodies": [0.0, 1.0]}, "add_sites, bodies: expected indices"),
        ({"bodies": "ab"}, "add_sites, bodies: expected indices"),
        ({"positions": np.zeros((3, 3))}, "add_sites, positions: expected shape"),
        ({"charge": [1.0, NAN]}, "add_sites, charge"),
        ({"kind": ["a"]}, "add_sites, kind: expected one word for all sites, or 2 words"),
        ({"group": 3}, "add_sites, group"),
    ],
)
def test_many_sites_that_cannot_be_are_refused(keys: dict[str, Any], message: str) -> None:
    builder = ar.ModelBuilder(units="kg-m-s")
    for name in ("one", "two"):
        builder.add_body(name, mass=1.0, inertia=1.0, joint=ar.Free())
    good: dict[str, Any] = {"bodies": [0, 1], "positions": np.zeros((2, 3))}
    with pytest.raises(ar.ModelError, match=message):
        builder.add_sites(**(good | keys))
