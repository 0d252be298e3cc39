"""What is drawn in three dimensions: shapes that have the inertia of their bodies, fixed where the poses say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import articulon as ar
from articulon.forces.evaluation import forces_on_bodies
from articulon.model.array_rotations import matrices, quaternions
from articulon.studio import colours
from articulon.studio.body_shapes import solid_edges
from articulon.studio.box_corners import box_corners
from articulon.studio.player import LENGTH, Player
from articulon.studio.run_frames import RunFrames
from articulon.studio.scene import scene_of
from articulon.studio.solids import Solids, along
from articulon.studio.stage import FIELD, Frame, shown_places, stage_of
from articulon.studio.unit_meshes import ball, brick, rod


def turned(seed: int, count: int) -> np.ndarray:
    """Random Euler parameters, shape (count, 4)."""
    e = np.random.default_rng(seed).normal(size=(count, 4))
    return np.asarray(e / np.linalg.norm(e, axis=1, keepdims=True))


def pendulum() -> ar.Model:
    """Two thin rods of length 1 that hang from each other on hinges along y."""
    b = ar.ModelBuilder(units="kg-m-s")
    hinge = ar.Revolute(axis=(0, 1, 0))
    rod_of = {"mass": 1, "inertia": (1 / 12, 1 / 12, 0), "com": (0, 0, -0.5), "joint": hinge}
    upper = b.add_body("upper", **rod_of)
    b.add_body("lower", parent=upper, position=(0, 0, -1), **rod_of)
    b.add_force(ar.forces.Gravity(acceleration=(0, 0, -9.81)))
    return b.build()


def hanging(angles: tuple[float, float]) -> Frame:
    """Its poses when its rods make these angles with the vertical."""
    positions = np.array([[0.0, 0.0, 0.0], [-np.sin(angles[0]), 0.0, -np.cos(angles[0])]])
    rotations = np.array([[np.cos(a / 2), 0.0, np.sin(a / 2), 0.0] for a in angles])
    return Frame(positions, rotations, 0.0, None)


def test_the_solid_of_a_box_is_that_box() -> None:
    edges, mass = np.array([0.3, 0.5, 1.1]), 2.0
    turn = matrices(turned(3, 1))[0]
    moments = mass / 12.0 * (np.sum(edges**2) - edges**2)
    b = ar.ModelBuilder(units="lj")
    b.add_body("box", mass=mass, inertia=turn @ np.diag(moments) @ turn.T, joint=ar.Free())
    found = solid_edges(b.build(), 0)
    assert found is not None
    assert found[0] == pytest.approx(edges, rel=1e-12)
    # The axes of the solid are those of the box, either way round.
    assert np.abs(matrices(found[1]).T @ turn) == pytest.approx(np.eye(3), abs=1e-12)


def test_rods_of_a_pendulum_reach_from_hinge_to_hinge() -> None:
    model, frame = pendulum(), hanging((0.3, -0.9))
    scene = scene_of(model, frame.positions, frame.rotations)
    thick = scene.rods.size[:, 2] > 0.99
    places, turns = scene.rods.placed(frame.positions, frame.rotations)
    axis = matrices(turns[thick])[:, :, 2]
    ends = np.stack([places[thick] - 0.5 * axis, places[thick] + 0.5 * axis], axis=1)
    # The lower hinge is an end of both rods, the origin one of the upper.
    hinge, tip = frame.positions[1], frame.positions[1] + [np.sin(0.9), 0.0, -np.cos(0.9)]
    for body, expected in ((0, (np.zeros(3), hinge)), (1, (hinge, tip))):
        for found in ends[scene.rods.body[thick] == body]:
            forth, back = np.abs(found - expected).max(), np.abs(found[::-1] - expected).max()
            assert min(forth, back) < 1e-12


def test_hinges_are_drawn_along_their_axes() -> None:
    model, frame = pendulum(), hanging((0.3, -0.9))
    scene = scene_of(model, frame.positions, frame.rotations)
    places, turns = scene.rods.placed(frame.positions, frame.rotations)
    pins = np.flatnonzero(np.abs(matrices(turns)[:, 1, 2]) > 0.99)
    assert scene.rods.body[pins].tolist() == [0, 1]
    assert places[pins] == pytest.approx(frame.positions, abs=1e-12)


def test_bodies_with_drag_are_balls_of_its_radius() -> None:
    model = ar.load_case("nanoparticle-docking").build_model()
    positions, rotations = np.random.default_rng(1).normal(size=(model.bodies, 3)), turned(2, model.bodies)
    scene = scene_of(model, positions, rotations)
    drag = next(f for f in model.forces if f.kind == "stokes-drag")
    # 8πηR³ over 6πηR is 4/3 R².
    bodies, translational, rotational = drag.coefficients(model)
    radii = np.sqrt(0.75 * rotational / translational)
    places, _ = scene.balls.placed(positions, rotations)
    centres = positions + np.einsum("kij,kj->ki", matrices(rotations), model.centres)
    assert len(bodies) == model.bodies
    for body, radius in zip(bodies, radii, strict=True):
        own = (scene.balls.body == body) & (np.linalg.norm(places - centres[body], axis=1) < 1e-12)
        assert scene.balls.size[own].max() == pytest.approx(radius)
    # Receptors are marked where they are.
    fixed = model.sites.position[model.sites.body < 0]
    assert places[scene.balls.body < 0] == pytest.approx(fixed)


def test_particles_have_half_of_sigma_as_radius_and_those_that_touch_their_own() -> None:
    b = ar.ModelBuilder(units="lj")
    for k in range(3):
        body = b.add_body(f"p{k}", mass=1.0, joint=ar.Xyz(), q=(3.0 * k, 0, 0))
        b.add_site(body, position=(0, 0, 0), kind="A")
    b.add_force(ar.forces.LennardJones(parameters={"A": {"epsilon": 1.0, "sigma": 1.2}}, cutoff=3.0))
    model = b.build()
    positions = np.array([[3.0 * k, 0.0, 0.0] for k in range(3)])
    scene = scene_of(model, positions, np.tile([1.0, 0.0, 0.0, 0.0], (3, 1)))
    assert scene.balls.number == 3
    assert scene.balls.size == pytest.approx(0.6)


def test_springs_go_from_point_to_point() -> None:
    b = ar.ModelBuilder(units="lj")
    for name in ("a", "b"):
        b.add_body(name, mass=1.0, inertia=0.1, joint=ar.Free())
    b.add_force(
        ar.forces.PointSpring(bodies=("a", "b"), points=((0.1, 0, 0), (0, 0.2, 0)), stiffness=1.0, rest_length=0.5)
    )
    b.add_force(ar.forces.PointSpring(bodies=("ground", "a"), points=((1, 2, 3), (0, 0, 0)), stiffness=1.0))
    model = b.build()
    positions, rotations = np.array([[0.0, 1.0, 0.0], [2.0, 0.0, 0.0]]), turned(5, 2)
    R = matrices(rotations)
    ends = scene_of(model, positions, rotations).springs.placed(positions, rotations)
    assert ends[0] == pytest.approx(np.array([positions[0] + 0.1 * R[0, :, 0], positions[1] + 0.2 * R[1, :, 1]]))
    assert ends[1] == pytest.approx(np.array([[1.0, 2.0, 3.0], positions[0]]))


def test_walls_are_drawn_where_they_are() -> None:
    model = ar.load_case("stack").build_model()
    positions = np.array([[0.0, 0.0, 0.02 * k] for k in range(model.bodies)])
    (wall,) = scene_of(model, positions, np.tile([1.0, 0.0, 0.0, 0.0], (model.bodies, 1))).walls
    place, turn = wall.pose(0.0)
    corners = wall.vertices @ matrices(turn).T + place
    normal = matrices(turn) @ wall.part.direction
    assert (corners - place) @ normal == pytest.approx(0.0, abs=1e-12)


def test_walls_on_faces_of_the_box_are_those_faces() -> None:
    model = ar.load_case("granular-chain").build_model()
    positions = np.random.default_rng(8).normal(size=(model.bodies, 3))
    assert model.box is not None
    corners = box_corners(model.box.vectors, model.box)
    walls = scene_of(model, positions, turned(9, model.bodies)).walls
    assert len(walls) == 5
    for wall in walls:
        place, turn = wall.pose(0.0)
        drawn = wall.vertices @ matrices(turn).T + place
        apart = np.linalg.norm(drawn[:, None] - corners[None], axis=2)
        assert apart.min(axis=1) == pytest.approx(0.0, abs=1e-12)
        # The two triangles of a face cover it once: the middle of their common side is its middle.
        assert drawn[[0, 2]].mean(axis=0) == pytest.approx(drawn.mean(axis=0))


def test_chains_of_a_melt_have_a_colour_each() -> None:
    model = ar.load_case("polymer-melt-springs").build_model()
    assert model.chains is not None
    positions = np.zeros((model.bodies, 3))
    balls = scene_of(model, positions, np.tile([1.0, 0.0, 0.0, 0.0], (model.bodies, 1))).balls
    chain = np.repeat(np.arange(len(model.chains)), np.diff(model.chains.first))
    colour_of_body = {int(b): tuple(c) for b, c in zip(balls.body, balls.colour.tolist(), strict=True)}
    found = [colour_of_body[int(body)] for body in model.sites.body[model.chains.site]]
    for k in range(len(model.chains)):
        assert len({c for c, own in zip(found, chain, strict=True) if own == k}) == 1
    assert len(set(found)) > 3


def test_trees_are_shown_whole_in_a_box_that_repeats() -> None:
    b = ar.ModelBuilder(units="lj", box=ar.Box(lengths=(2.0, 3.0, 4.0), origin=(-1.0, 0.0, 0.5)))
    root = b.add_body("root", mass=1.0, inertia=0.1, joint=ar.Free())
    b.add_body("child", parent=root, mass=1.0, inertia=0.1, joint=ar.Spherical(), position=(0.5, 0, 0))
    model = b.build()
    positions = np.array([[17.3, -8.2, 3.1], [17.8, -8.2, 3.1]])
    frame = Frame(positions, turned(1, 2), 0.0, model.box.vectors if model.box else None)
    scene = scene_of(model, positions, frame.rotations)
    places = shown_places(scene, frame)
    assert places[1] - places[0] == pytest.approx(positions[1] - positions[0])
    assert np.all(places[0] >= [-1.0, 0.0, 0.5]) and np.all(places[0] <= [1.0, 3.0, 4.5])
    moved = (positions[0] - places[0]) / [2.0, 3.0, 4.0]
    assert moved == pytest.approx(np.round(moved))


@pytest.mark.parametrize("length", [1e-9, 1.0, 1e6])
def test_all_frames_are_in_view_of_the_camera(length: float) -> None:
    model = pendulum()
    frames = [hanging((a, -2.0 * a)) for a in np.linspace(0.0, 3.0, 9)]
    scene = scene_of(model, frames[0].positions, frames[0].rotations)
    stage = stage_of(scene, [Frame(length * f.positions, f.rotations, 0.0, None) for f in frames])
    for frame in frames:
        x = stage.places(length * frame.positions) - stage.camera
        ahead = -stage.camera / np.linalg.norm(stage.camera)
        depth = x @ ahead
        assert np.all(depth > 0.0)
        assert np.all(np.linalg.norm(x - depth[:, None] * ahead, axis=1) < np.tan(0.5 * FIELD) * depth)
    assert stage.up == pytest.approx([0.0, 0.0, 1.0])
    # The pendulum moves in the plane of x and z: it is seen along y, from the front.
    assert stage.camera[1] < -0.8 * np.linalg.norm(stage.camera)


@pytest.mark.parametrize(
    ("mesh", "volume", "part"),
    [(ball(3), 4.0 / 3.0 * np.pi, 0.98), (rod(), np.pi, 0.98), (brick(), 1.0, 1.0)],
    ids=["ball", "rod", "brick"],
)
def test_unit_meshes_are_closed_and_seen_from_outside(mesh: object, volume: float, part: float) -> None:
    vertices, triangles = mesh  # type: ignore[misc]
    a, b, c = (vertices[triangles[:, k]] for k in range(3))
    found = np.einsum("ij,ij->", a, np.cross(b, c)) / 6.0
    assert part * volume <= found <= volume * (1.0 + 1e-12)
    # Areas of a closed surface sum to nothing, and the middle of all triangles looks away from the origin.
    areas = np.cross(b - a, c - a)
    assert areas.sum(axis=0) == pytest.approx(0.0, abs=1e-12)
    assert np.all(np.einsum("ij,ij->i", areas, a + b + c) > 0.0)


def test_rods_lie_along_any_direction() -> None:
    directions = np.concatenate([np.random.default_rng(4).normal(size=(20, 3)), [[0, 0, 2.0], [0, 0, -3.0]]])
    axis = matrices(along(directions))[:, :, 2]
    assert axis == pytest.approx(directions / np.linalg.norm(directions, axis=1, keepdims=True), abs=1e-12)


def test_corners_of_a_box_are_those_of_its_edges() -> None:
    box = ar.Box(lengths=(1.0, 2.0, 3.0), tilts=(0.2, 0.1, 0.3), origin=(5.0, 0.0, 0.0))
    corners = box_corners(box.vectors, box)
    assert corners[0] == pytest.approx([5.0, 0.0, 0.0])
    assert corners[7] - corners[0] == pytest.approx(box.vectors.sum(axis=0))


def test_a_player_shows_frames_by_simulated_time() -> None:
    player = Player(np.array([0.0, 1.0, 2.0, 10.0]))
    player.play()
    player.go_on(0.15 * LENGTH)
    assert player.frame == 1
    player.go_on(0.10 * LENGTH)
    assert player.frame == 2 and player.playing
    player.go_on(LENGTH)
    assert player.frame == 3 and not player.playing
    player.play()
    assert player.frame == 0
    player.speed = 4.0
    player.go_on(0.2 * LENGTH / 4.0)
    assert player.frame == 2
    player.step(-1)
    player.go_on(LENGTH)
    assert player.frame == 1
    player.lengthen(np.array([0.0, 1.0, 2.0, 10.0, 20.0]))
    player.step(100)
    assert player.frame == 4


def test_euler_parameters_of_solids_turn_with_their_bodies() -> None:
    inner, outer = turned(6, 5), turned(7, 5)
    solids = Solids.at(np.arange(5), np.zeros((5, 3)), np.ones(5), np.zeros(3), inner)
    _, turns = solids.placed(np.zeros((5, 3)), outer)
    assert np.abs(np.einsum("ij,ij->i", turns, quaternions(matrices(outer) @ matrices(inner)))) == pytest.approx(1.0)


def test_flexible_bodies_are_drawn_from_node_to_node() -> None:
    """Their lines end where the nodes are by X = X0 + Φ η, in a frame that turns with the body."""
    modes = ar.modes.beam(length=1.0, nodes=6, bending_stiffness=2.0, mass=1.0, bending=2, units="kg-m-s")
    builder = ar.ModelBuilder(units="kg-m-s")
    builder.add_body("beam", modes=modes, joint=ar.Revolute(axis=(0, 1, 0)), q=[0.4, 0.1, 0.0, -0.05, 0.02][: 1 + 4])
    model = builder.build()
    positions, rotations = ar.body_poses(model, model.q0)
    (trace,) = scene_of(model, positions, rotations).traces
    resolved = model.modes[0]
    nodes = positions[0] + (resolved.positions + resolved.shapes @ model.q0[1:]) @ matrices(rotations)[0].T
    assert np.abs(resolved.shapes @ model.q0[1:]).max() > 0.01
    ends = trace.placed(positions, rotations, model.q0)
    assert ends.shape == (5, 2, 3)
    drawn = {tuple(np.round(place, 9)) for place in ends.reshape(-1, 3)}
    assert drawn == {tuple(np.round(place, 9)) for place in nodes}
    # In a row: all lines together are no longer than the way from one node to the next.
    way = np.linalg.norm(np.diff(nodes[np.argsort(resolved.positions @ [1.0, 1.0, 1.0])], axis=0), axis=1).sum()
    assert np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1).sum() == pytest.approx(way)
    rigid = trace.placed(positions, rotations, None)
    assert np.abs(rigid - ends).max() > 0.01


def test_locked_bodies_are_grey_while_they_are_locked() -> None:
    builder = ar.ModelBuilder(units="kg-m-s")
    first = builder.add_body("first", mass=1.0, inertia=0.1, com=(0, 0, -0.5), joint=ar.Revolute())
    builder.add_body(
        "second", parent=first, mass=1.0, inertia=0.1, com=(0, 0, -0.5), position=(0, 0, -1), joint=ar.Revolute()
    )
    model = builder.build()
    solids = scene_of(model, *ar.body_poses(model, model.q0)).balls
    painted = solids.colours(np.array([False, True]), colours.LOCKED)
    assert {tuple(c) for c in painted[solids.body == 1]} == {tuple(colours.LOCKED)}
    np.testing.assert_array_equal(painted[solids.body == 0], solids.colour[solids.body == 0])
    np.testing.assert_array_equal(solids.colours(None, colours.LOCKED), solids.colour)


def flying(speed: float, **more: Any) -> RunFrames:
    builder = ar.ModelBuilder(units="kg-m-s", **more)
    for name, place in (("left", -1.0), ("right", 1.0)):
        velocity = (speed, 0.0, 0.0)
        builder.add_body(name, mass=1.0, joint=ar.Xyz(), position=(place, 0, 0), u=velocity)
    return RunFrames(ar.simulate(builder.build(), 1.0, frames=4))


def test_what_goes_far_is_followed() -> None:
    far, near = flying(20.0), flying(1.0)
    assert far.followed and not near.followed
    for k in range(5):
        np.testing.assert_allclose(far[k].positions, [[-1, 0, 0], [1, 0, 0]], atol=1e-12)
    np.testing.assert_allclose(near[4].positions, [[0, 0, 0], [2, 0, 0]], atol=1e-12)


def test_frames_of_runs_that_lock_say_which_bodies_are_locked() -> None:
    """Those whose speeds are zero to the bit."""
    run = ar.simulate(pendulum(), 0.1, frames=2)
    assert RunFrames(run)[1].locked is None
    speeds = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1e-300]])
    run.__dict__.update(u=speeds, observables={**run.observables, "active_freedoms": np.array([1.0, 1.0, 2.0])})
    frames = RunFrames(run)
    assert [frames[k].locked.tolist() for k in range(3)] == [[False, True], [True, False], [False, False]]


def test_forces_on_bodies_are_what_generalised_forces_are_made_of() -> None:
    """Weight, drag and a spring on two bodies: by hand, and for free particles the generalised forces themselves."""
    model = pendulum()
    q, u = np.array([0.3, -0.2]), np.array([1.0, -0.5])
    np.testing.assert_allclose(forces_on_bodies(model, q, u), [[0, 0, -9.81], [0, 0, -9.81]], atol=1e-13)
    b = ar.ModelBuilder(units="kg-m-s")
    for name, place in (("one", (0, 0, 0)), ("other", (3, 0, 0))):
        b.add_body(name, mass=2.0, joint=ar.Xyz(), position=place)
    b.add_force(ar.forces.Gravity(acceleration=(0, 0, -9.81)))
    b.add_force(ar.forces.PointSpring(bodies=("one", "other"), stiffness=5.0, rest_length=1.0))
    model = b.build()
    q, u = np.random.default_rng(5).normal(size=(2, 6))
    found = forces_on_bodies(model, q, u)
    np.testing.assert_allclose(found.reshape(-1), ar.generalized_forces(model, q, u), rtol=1e-13)
    assert np.abs(found[:, :2]).max() > 0.1
    np.testing.assert_allclose(found.sum(axis=0), [0, 0, -4 * 9.81], atol=1e-12)
