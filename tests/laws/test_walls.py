"""Motion against walls: bounces, meshes that are as good as planes and cylinders, moving walls and their work, and what
is said of spheres that go where they cannot."""

import numpy as np
import pytest

import articulon as ar
from articulon.errors import DivergenceError, ModelError
from articulon.forces.contact.contact_tables import FRICTION_WORK, WALL_WORK
from tests.support.meshes import CUBE, SIDES, tube
from tests.support.remembering import assert_same_state
from tests.support.threads import on_one_and_two

R, DENSITY, YOUNG, POISSON = 0.01, 2500.0, 1e7, 0.25
MASS = 4.0 / 3.0 * np.pi * R**3 * DENSITY
MODULUS = YOUNG / (1.0 - POISSON**2) / 2.0
"""E* of two of the same."""
STEP = 1e-5


def moved(walls, time, grains=((0.0, 0.0, 0.02),), velocities=((0.0, 0.0, -0.5),), spins=None, gravity=None, box=None,
          friction=0.3, restitution=0.8, step=STEP, frames=1, also=None, force_step=None, **more):  # fmt: skip
    """A run of grains between walls."""
    builder = ar.ModelBuilder(units="kg-m-s", box=box)
    builder.add_grains(grains, R, density=DENSITY, velocities=velocities, spins=spins)
    material = {"young": YOUNG, "poisson": POISSON, "static_friction": friction, "restitution": restitution}
    material |= also or {}
    builder.add_force(ar.forces.Contact(materials={"grain": material, "steel": material}, walls=walls, **more))
    if gravity is not None:
        builder.add_force(ar.forces.Gravity(acceleration=gravity))
    return ar.simulate(builder.build(), time, frames=frames, rule="velocity-verlet", step=step, force_step=force_step)


def floor(**more):
    return ar.forces.Plane(point=(0, 0, 0), normal=(0, 0, 1), kind="steel", **more)


def mesh(vertices, triangles, **more):
    numbers = {"vertices": np.asarray(vertices).tolist(), "triangles": np.asarray(triangles).tolist()}
    return ar.forces.Mesh(**numbers, kind="steel", **more)


def slab(**more):
    """A flat mesh whose upper side is that of :func:`floor`; its diagonal runs through the origin."""
    return mesh((CUBE - [0.5, 0.5, 1.0]) * [1.0, 1.0, 0.2], SIDES, **more)


def kinetic(run):
    u = run.u.reshape(len(run.u), -1, 6)
    return 0.5 * MASS * ((u[:, :, :3] ** 2).sum((1, 2)) + 0.4 * R**2 * (u[:, :, 3:] ** 2).sum((1, 2)))


def closes(run, potential=0.0):
    """Kinetic energy gained against the sum of all works, both by the largest of them."""
    T, works = kinetic(run), run.state.contacts.work[0]
    scale = max(np.abs(works).max(), np.abs(T).max())
    return abs(T[-1] - T[0] - works.sum()) / scale


@pytest.mark.slow
def test_a_bounce_returns_what_the_coefficient_of_restitution_says():
    """The damping of δ^{1/4} is exact at every speed; velocity Verlet's error is of second order in the step."""
    for e in (1.0, 0.5):
        run = moved([floor()], 0.06, restitution=e)
        assert run.u[-1][2] == pytest.approx(0.5 * e, rel=2e-3)
        assert closes(run) < 1e-13


def test_the_peak_of_a_bounce_is_that_of_hertz():
    """½ m v² = 8/15 E* √R δ^{5/2} (K. L. Johnson, Contact Mechanics, 11.4), E* that of the pair."""
    depth = (0.5 * MASS * 0.25 / (8.0 / 15.0 * MODULUS * np.sqrt(R))) ** 0.4
    run = moved([floor()], 0.03, restitution=1.0, step=2e-6)
    assert R * run.state.contacts.times[4] == pytest.approx(depth, rel=1e-5)


def test_a_flat_mesh_is_a_plane():
    """Sliding, then rolling, over the diagonal between two triangles: nothing of it is felt, and the tangential
    displacement goes on."""
    taken = {"time": 0.05, "grains": [(-0.004, 0.003, R)], "velocities": [(0.3, 0.05, -0.1)],
             "spins": [(3.0, -2.0, 5.0)], "gravity": (0, 0, -9.81)}  # fmt: skip
    plane, flat = moved([floor()], **taken), moved([slab()], **taken)
    assert plane.q[-1][0] > 0.003 > -0.003 > plane.q[0][0]
    assert flat.q[-1] == pytest.approx(plane.q[-1], abs=1e-12)
    assert flat.u[-1] == pytest.approx(plane.u[-1], abs=1e-10)
    assert flat.state.contacts.times[0] == plane.state.contacts.times[0]


@pytest.mark.slow
def test_a_clump_on_a_flat_mesh_is_one_on_a_plane():
    """Two spheres on one body, thrown onto a table that moves: the same motion and works on the mesh."""
    ends = []
    for table in (floor(velocity=(0.1, 0, 0)), slab(velocity=(0.1, 0, 0))):
        builder = ar.ModelBuilder(units="kg-m-s")
        q, u = [-0.01, 0.004, 0.02, 1, 0, 0, 0], [0.2, 0.1, -0.5, 1.0, 2.0, 3.0]
        clump = builder.add_body("clump", mass=MASS, inertia=[1e-6, 1.5e-6, 1.5e-6], joint=ar.Free(), q=q, u=u)
        for x in (-0.007, 0.007):
            builder.add_site(clump, position=(x, 0, 0), kind="grain", radius=R)
        material = {"young": YOUNG, "poisson": POISSON, "static_friction": 0.3, "restitution": 0.8}
        builder.add_force(ar.forces.Contact(materials={"grain": material, "steel": material}, walls=[table]))
        builder.add_force(ar.forces.Gravity(acceleration=(0, 0, -9.81)))
        ends.append(ar.simulate(builder.build(), 0.08, frames=1, rule="velocity-verlet", step=STEP))
    plane, flat = ends
    assert plane.state.contacts.times[0] >= 2
    assert flat.q[-1] == pytest.approx(plane.q[-1], abs=1e-9)
    assert flat.u[-1] == pytest.approx(plane.u[-1], abs=1e-7)
    assert flat.state.contacts.work[0] == pytest.approx(plane.state.contacts.work[0], abs=1e-10)
    assert abs(flat.state.contacts.work[0, WALL_WORK]) > 1e-6


def test_a_mesh_drum_carries_a_ball_as_a_cylinder_does():
    """72 facets of a turning drum: the ball goes up its side as in the round one, to the depth of the facets."""
    vertices, triangles = tube(72, 0.05, 0.1)
    axes = np.stack([vertices[:, 2], vertices[:, 0], vertices[:, 1]], axis=1)  # the axis along x
    taken = {"time": 0.4, "grains": [(0.0, 0.0, -0.0399)], "velocities": None, "gravity": (0, 0, -9.81), "step": 2e-5}
    spin = {"angular_velocity": (5.0, 0.0, 0.0)}
    drum = mesh(axes, triangles, **spin)
    cylinder = ar.forces.Cylinder(point=(0, 0, 0), axis=(1, 0, 0), radius=0.05, kind="steel", **spin)
    faceted, around = moved([drum], **taken), moved([cylinder], **taken)
    assert np.linalg.norm(around.q[-1][1:3]) > 0.039 and abs(around.q[-1][1]) > 1e-3
    assert faceted.q[-1][:3] == pytest.approx(around.q[-1][:3], abs=0.05 * (1 - np.cos(np.pi / 72)) * 20)
    for run in (faceted, around):
        assert run.state.contacts.work[0, WALL_WORK] > 0.0 and closes(run) < 1e-12


def test_a_belt_brings_a_ball_to_its_speed_and_does_the_work():
    """A ball put on a belt slides, and then rolls at 2/7 of the belt's speed: by friction J at the rim, m v = J and
    2/5 m R² ω = J (R − δ), until v + ω (R − δ) is the belt's speed."""
    depth = (MASS * 9.81 / (4.0 / 3.0 * MODULUS * np.sqrt(R))) ** (2.0 / 3.0)
    run = moved([floor(velocity=(0.35, 0, 0))], 0.2, [(0, 0, R - depth)], None, gravity=(0, 0, -9.81))
    assert run.u[-1][0] == pytest.approx(0.35 * 0.4 / (0.4 + (1.0 - depth / R) ** 2), rel=2e-4)
    works = run.state.contacts.work[0]
    # F Δt = m v, over which the belt has gone at 0.35.
    assert works[WALL_WORK] == pytest.approx(MASS * run.u[-1][0] * 0.35, rel=1e-2)
    assert closes(run) < 1e-13


def test_the_work_of_a_moving_wall_is_shown_where_nothing_else_is_external():
    """A wall that moves at 1 catches up with a ball at rest, without gravity."""
    run = moved([floor(velocity=(0, 0, 1.0))], 0.02, [(0, 0, 1.5 * R)], None)
    assert run.state.contacts.work[0, WALL_WORK] > 0.0
    assert run.observables["work_external"][-1] == run.state.contacts.work[0, WALL_WORK]
    still = moved([floor()], 0.001, [(0, 0, 1.5 * R)], None)
    assert "work_external" not in still.observables


def test_a_turntable_spins_a_ball_up_through_what_resists_twisting():
    """The couple about the normal is all that turns the ball, so the table has done Ω L when it spins at L/I, and
    friction has taken what of that is not ½ L²/I."""
    twist = {"twisting_friction": 5e-4, "twisting_stiffness": 1e-3, "twisting_damping": 2e-5}
    table = floor(angular_velocity=(0.0, 0.0, 5.0))
    run = moved([table], 0.5, [(0, 0, R)], None, gravity=(0, 0, -9.81), also=twist, twisting="spring")
    works, inertia = run.state.contacts.work[0], 0.4 * MASS * R**2
    assert run.u[-1][5] == pytest.approx(5.0, rel=1e-3)
    assert works[WALL_WORK] == pytest.approx(5.0 * inertia * run.u[-1][5], rel=1e-9)
    assert works[FRICTION_WORK] == pytest.approx(0.5 * inertia * run.u[-1][5] ** 2 - works[WALL_WORK], rel=1e-9)


def test_the_works_close_on_a_shaken_plate_and_in_a_tumbling_box():
    """Kinetic energy is the sum of all works to rounding, whatever the walls do."""
    rng = np.random.default_rng(5)
    places = 0.025 * (np.stack(np.meshgrid(*[np.arange(3)] * 3, indexing="ij"), -1).reshape(-1, 3) - 1.0)
    places += rng.normal(0, 1e-3, places.shape)
    velocities = rng.normal(0, 0.3, places.shape)
    box = mesh(0.1 * (CUBE - 0.5), SIDES, angular_velocity=(2.0, 5.0, 1.0), amplitude=(0, 0, 0.01), frequency=5.0)
    run = moved([box], 0.2, places, velocities, gravity=(0, 0, -9.81), step=2e-5)
    assert closes(run) < 1e-12
    assert abs(run.state.contacts.work[0, WALL_WORK]) > 1e-6
    x = run.q[-1].reshape(-1, 7)[:, :3] - [0, 0, 0.01 * np.sin(2 * np.pi * 5.0 * 0.2)]
    assert (np.linalg.norm(x, axis=1) < 0.05 * np.sqrt(3.0)).all()
    shaken = moved([floor(amplitude=(0, 0, 0.002), frequency=30.0)], 0.3, velocities=None, gravity=(0, 0, -9.81))
    assert shaken.state.contacts.work[0, WALL_WORK] > 0.0 and closes(shaken) < 1e-12


@pytest.mark.slow
def test_chunks_of_any_length_have_the_same_bits():
    """A state holds all that a contact with a moving mesh remembers."""
    places = [(-0.012, 0.001, -0.0395), (0.012, 0.0, -0.0397)]
    box = mesh(0.1 * (CUBE - 0.5), SIDES, angular_velocity=(2.0, 5.0, 1.0))
    taken = {"grains": places, "velocities": None, "gravity": (0, 0, -9.81), "step": 2e-5}
    whole, parts = moved([box], 0.1, **taken), moved([box], 0.1, frames=125, **taken)
    assert_same_state(whole.state, parts.state)
    assert len(whole.state.contacts.pairs) >= 1 and whole.state.contacts.pairs[:, 1].min() >= 2


def test_a_sphere_that_leaves_the_box_is_named():
    box = ar.Box(lengths=(0.1, 0.1, 0.1), boundaries=("periodic", "open", "open"))
    with pytest.raises(
        DivergenceError,
        match=r"sphere 0 on body 'grain-0' has left the box at \(0.05, 0.05, -.*in z.*No wall holds it there",
    ):
        moved([], 1.0, [(0.05, 0.05, 0.05)], [(0, 0, -1.0)], box=box)
    with pytest.raises(ModelError, match=r"sphere 1 on body 'grain-1' is outside of the box at the start, at .* in y"):
        moved([], 1.0, [(0.05, 0.05, 0.05), (0.5, -0.05, 0.05)], None, box=box)
    between = {"box": box, "friction": 0.0, "restitution": 1.0}
    run = moved([ar.forces.BoxWalls(kind="steel")], 0.5, [(0.05, 0.05, 0.05)], [(0.3, 0.5, -1.0)], **between)
    assert run.q[-1][0] == pytest.approx(0.2, abs=1e-12)
    assert np.abs(run.u[-1][:3]) == pytest.approx([0.3, 0.5, 1.0], rel=2e-3)


def test_a_sphere_that_goes_through_a_mesh_is_named():
    """A step in which it goes further than its radius."""
    said = r"sphere 0 on body 'grain-0' has gone through walls\[0\], a mesh at .*Take a shorter step"
    with pytest.raises(DivergenceError, match=said):
        moved([slab()], 0.1, [(0.1, 0.2, 0.0099)], [(0, 0, -30.0)], step=4e-4, force_step=True)


def test_a_wall_needs_a_material_of_the_table():
    with pytest.raises(ModelError, match=r"walls\[0\].kind: there is no material 'stell'; did you mean 'steel'"):
        moved([ar.forces.Plane(point=(0, 0, 0), normal=(0, 0, 1), kind="stell")], 0.1)


@pytest.mark.slow
def test_threads_do_not_change_a_bit_of_many_spheres_in_a_tumbling_mesh():
    """Lists, contacts and works of the walls are shared among threads. Spheres with a gap of a fiftieth of their radius
    meet walls and each other within a millisecond, so that ten are enough."""
    rng = np.random.default_rng(6)
    side = 14
    places = 0.0202 * (np.stack(np.meshgrid(*[np.arange(side)] * 3, indexing="ij"), -1).reshape(-1, 3) - 6.5)
    velocities = rng.normal(0, 0.3, places.shape)
    edge = 0.0202 * side + 1e-3
    box = mesh(edge * (CUBE - 0.5), SIDES, angular_velocity=(2.0, 5.0, 1.0), amplitude=(0, 0, 0.002), frequency=20.0)
    one, two = on_one_and_two(lambda: moved([box], 0.01, places, velocities, gravity=(0, 0, -9.81), step=2e-5))
    assert_same_state(one.state, two.state)
    assert (one.state.contacts.pairs[:, 1] >= len(places)).sum() > 300
    assert closes(one) < 1e-12


@pytest.mark.slow
def test_a_sphere_that_leaves_the_box_is_found_among_many():
    side = 14
    places = 0.021 * (np.stack(np.meshgrid(*[np.arange(side)] * 3, indexing="ij"), -1).reshape(-1, 3) + 0.5)
    velocities = np.zeros(places.shape)
    velocities[2000] = (0.0, 0.0, 3.0)
    box = ar.Box(lengths=(0.021 * side,) * 3, boundaries=("open",) * 3)
    run = moved([ar.forces.BoxWalls(kind="steel")], 0.001, places, velocities, box=box)
    assert np.isfinite(run.q).all()
    velocities[2000], velocities[-1] = 0.0, (0.0, 0.0, 3.0)
    with pytest.raises(DivergenceError, match=r"sphere 2743 on body 'grain-2743' has left the box at .*, in z"):
        moved([], 1.0, places, velocities, box=box)
