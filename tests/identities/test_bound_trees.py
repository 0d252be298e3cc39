"""Closing loops looks at the trees that they bind, and at no others."""

import numpy as np

import articulon as ar
from articulon.building.bound_trees import bound_mass_matrix, bound_speeds


def four_bar(loose: int) -> ar.Model:
    """A parallelogram that is given a little open, with free bodies before, between and after its own."""
    builder = ar.ModelBuilder("lj")
    z = ar.Revolute(axis=(0.0, 0.0, 1.0))

    def add_loose(name: str) -> None:
        for k in range(loose):
            builder.add_body(f"{name}{k}", mass=1.0, inertia=0.1, joint=ar.Free(), u=(1.0, 0.0, 0.0, 0.0, 0.0, 2.0))

    add_loose("first")
    builder.add_body("left", mass=1.0, inertia=0.1, joint=z, com=(0.0, 0.5, 0.0))
    add_loose("second")
    builder.add_body("top", parent="left", mass=1.0, inertia=0.2, joint=z, position=(0.0, 1.0, 0.0), q=0.01)
    builder.add_body("right", mass=1.0, inertia=0.1, joint=z, position=(2.0, 0.0, 0.0), q=-0.02, u=0.3)
    add_loose("third")
    at = {"position": (2.0, 0.0, 0.0), "child_position": (0.0, 1.0, 0.0)}
    builder.add_loop("corner", joint=z, parent="top", child="right", **at)
    return builder.build()


def test_loops_close_alike_with_and_without_free_bodies_around() -> None:
    alone, among = four_bar(0), four_bar(3)
    own = np.flatnonzero(bound_speeds(among))
    assert own.size == 3
    q_own = [int(among.forest.q_start[among.link[among.body(name)]]) for name in ("left", "top", "right")]
    np.testing.assert_allclose(among.q0[q_own], alone.q0, atol=1e-14)
    np.testing.assert_allclose(among.u0[own], alone.u0, atol=1e-13)
    assert np.abs(alone.u0).min() > 0.1
    assert among.closing.rank == alone.closing.rank == 2
    np.testing.assert_array_equal(among.u0[:6], (1.0, 0.0, 0.0, 0.0, 0.0, 2.0))


def test_their_mass_matrix_is_a_block_of_the_whole() -> None:
    model = four_bar(2)
    bound = bound_speeds(model)
    whole = ar.mass_matrix(model, model.q0)
    np.testing.assert_allclose(bound_mass_matrix(model, model.q0, bound), whole[np.ix_(bound, bound)], rtol=1e-14)
