"""What is given to a builder is copied: an array that a loop fills anew for each body is not kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import articulon as ar
from tests.support.model_arrays import arrays_of

SPOILED = 0.3
"""What every array is filled with after the call; a number that no check refuses where it is read later."""
HALF = np.sqrt(0.5)


def body(b: Any, position, com, inertia, rotation, q, u) -> None:
    b.add_body("a", mass=1, inertia=inertia, joint=ar.Free(), position=position, com=com, rotation=rotation, q=q, u=u)


def matrix_body(b: Any, inertia) -> None:
    b.add_body("a", mass=1, inertia=inertia, joint=ar.Free())


def bodies(b: Any, mass, inertia, com, position, rotation, q, u, parents) -> None:
    b.add_bodies(
        2,
        mass=mass,
        inertia=inertia,
        joint=ar.Spherical(),
        com=com,
        position=position,
        rotation=rotation,
        q=q,
        u=u,
        parents=parents,
    )


def site(b: Any, position) -> None:
    b.add_site(b.add_body("a", mass=1, inertia=1, joint=ar.Free()), position, charge=1.0)


def particles(b: Any, mass, positions, velocities, charge) -> None:
    b.add_particles(2, mass=mass, positions=positions, velocities=velocities, charge=charge)


def grain(b: Any, position, velocity, spin) -> None:
    b.add_grain("g", radius=0.1, density=1.0, position=position, velocity=velocity, spin=spin)


def grains(b: Any, positions, radius, velocities, spins, mass) -> None:
    b.add_grains(positions, radius, mass=mass, velocities=velocities, spins=spins)


def loop(b: Any, position, rotation, child_position, child_rotation) -> None:
    hinge = ar.Revolute(axis=(0, 0, 1))
    for name in ("a", "b"):
        b.add_body(name, mass=1, inertia=1, joint=ar.Free())
    b.add_loop(
        "l",
        joint=hinge,
        parent="a",
        child="b",
        position=position,
        rotation=rotation,
        child_position=child_position,
        child_rotation=child_rotation,
    )


def drive(b: Any, times, values) -> None:
    b.add_body("a", mass=1, inertia=1, joint=ar.Revolute(axis=(0, 0, 1)))
    b.add_drive("a", times=times, values=values)


def axes(b: Any, axis) -> None:
    b.add_body("a", mass=1, inertia=1, joint=ar.Revolute(axis=axis))
    b.add_body("b", mass=1, inertia=1, joint=ar.Prismatic(axis=axis))


def force(b: Any, acceleration, flow) -> None:
    b.add_body("a", mass=1, inertia=1, joint=ar.Free())
    b.add_force(ar.forces.Gravity(acceleration=acceleration))
    b.add_force(ar.forces.StokesDrag(viscosity=1.0, radius=1.0, flow=flow))


def modes(b: Any, positions, masses, shapes, stiffness, damping, rotations) -> None:
    b.add_body(
        "rod",
        joint=ar.Weld(),
        modes=ar.Modes(
            positions=positions,
            masses=masses,
            shapes=shapes,
            stiffness=stiffness,
            damping=damping,
            rotations=rotations,
        ),
    )
    b.add_body("tip", parent="rod", node=1, joint=ar.Spherical(), mass=1, inertia=1)


UNTURNED = (1.0, 0.0, 0.0, 0.0)
CALLS: dict[Callable[..., None], dict[str, Any]] = {
    body: {
        "position": (1, 2, 3),
        "com": (0.1, 0, 0),
        "inertia": (1, 1.5, 2),
        "rotation": (HALF, HALF, 0, 0),
        "q": (0.1, 0.2, 0.3, *UNTURNED),
        "u": (1, 2, 3, 4, 5, 6),
    },
    matrix_body: {"inertia": [[1, 0.1, 0], [0.1, 1.5, 0], [0, 0, 2]]},
    bodies: {
        "mass": (1, 2),
        "inertia": [(1, 1, 1), (2, 2, 2)],
        "com": [(0, 0, 0), (0.1, 0, 0)],
        "position": [(0, 0, 1), (0, 1, 0)],
        "rotation": [UNTURNED, (HALF, HALF, 0, 0)],
        "q": (*UNTURNED, *UNTURNED),
        "u": (1, 2, 3, 4, 5, 6),
        "parents": (-1, 0),
    },
    site: {"position": (0.1, 0.2, 0.3)},
    particles: {"mass": (1, 2), "positions": [(0, 0, 0), (1, 0, 0)], "velocities": np.ones((2, 3)), "charge": (1, -1)},
    grain: {"position": (0, 0, 1), "velocity": (1, 0, 0), "spin": (0, 1, 0)},
    grains: {
        "positions": [(0, 0, 0), (1, 0, 0)],
        "radius": (0.1, 0.2),
        "velocities": np.ones((2, 3)),
        "spins": np.ones((2, 3)),
        "mass": (1, 2),
    },
    loop: {
        "position": (0.5, 0, 0),
        "rotation": UNTURNED,
        "child_position": (0.5, 0, 0),
        "child_rotation": UNTURNED,
    },
    drive: {"times": (0, 1, 2, 3), "values": (0, 1, 2, 2)},
    axes: {"axis": (0, 1, 0)},
    force: {"acceleration": (0, 0, -9.81), "flow": (1, 0, 0)},
    modes: {
        "positions": [(0, 0, 0), (1, 0, 0)],
        "masses": (1, 1),
        "shapes": [[[0], [0], [0]], [[0], [0], [1]]],
        "stiffness": (2,),
        "damping": (0.1,),
        "rotations": [[[0], [0], [0]], [[0], [1], [0]]],
    },
}


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.__name__)
def test_an_array_that_is_changed_after_the_call_changes_nothing(call: Callable[..., None]) -> None:
    wanted, made = (ar.ModelBuilder(units="kg-m-s") for _ in range(2))
    call(wanted, **CALLS[call])
    given = {name: np.array(value, dtype=int if name == "parents" else float) for name, value in CALLS[call].items()}
    call(made, **given)
    for array in given.values():
        array[...] = SPOILED
    expected, found = (dict(arrays_of(builder.build())) for builder in (wanted, made))
    assert expected.keys() == found.keys()
    for path, array in expected.items():
        assert np.array_equal(array, found[path], equal_nan=array.dtype.kind == "f"), path


def test_bodies_that_are_added_with_one_array_stay_where_they_were_put() -> None:
    builder, place = ar.ModelBuilder(units="kg-m-s"), np.zeros(3)
    for k in range(3):
        place[0] = k
        builder.add_body(f"body-{k}", mass=1, inertia=1, joint=ar.Weld(), position=place)
    positions, _ = ar.body_poses(builder.build(), np.zeros(0))
    assert positions[:, 0].tolist() == [0.0, 1.0, 2.0]


def test_modes_are_those_that_were_given_not_what_their_arrays_have_become() -> None:
    """Also where a list is changed before the modes are used, or between two bodies that have them."""
    places, shapes = np.array([[0.0, 0, 0], [1.0, 0, 0]]), [[[0.0], [0.0], [0.0]], [[0.0], [0.0], [1.0]]]
    one = ar.Modes(positions=places, masses=[1.0, 1.0], shapes=shapes, stiffness=[2.0])
    builder = ar.ModelBuilder(units="kg-m-s")
    builder.add_body("a", joint=ar.Xyz(), modes=one)
    places[1, 0], shapes[1][2][0] = 7.0, 5.0
    builder.add_body("b", joint=ar.Xyz(), modes=one)
    other = ar.ModelBuilder(units="kg-m-s")
    other.add_body("c", joint=ar.Xyz(), modes=one)
    for model in (builder.build(), other.build()):
        for modes in model.modes.values():
            assert modes.positions[1, 0] == 1.0 and modes.shapes[1, 2, 0] == 1.0


def test_an_initial_state_of_a_simulation_is_copied() -> None:
    builder = ar.ModelBuilder(units="kg-m-s")
    builder.add_body("a", mass=1, inertia=1, joint=ar.Revolute(axis=(0, 0, 1)))
    q, u = np.array([0.1]), np.array([0.2])
    run = ar.simulate(builder.build(), 1.0, frames=2, q=q, u=u)
    q[:], u[:] = 7.0, 7.0
    assert run.q[0, 0] == 0.1 and run.u[0, 0] == 0.2
