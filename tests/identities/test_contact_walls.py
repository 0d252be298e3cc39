"""Walls: what can be stated, where their nearest points are, and that an edge between flat triangles is not felt."""

import numpy as np
import pytest

import articulon as ar
from articulon.errors import CaseError, ModelError
from articulon.forces.contact.compiled_passes import wall_list_kernel
from articulon.forces.contact.contact_columns import COUNTS, WALL_NUMBER, WALL_PLACE, WALL_POSE
from articulon.forces.contact.contact_tables import PLACES, empty_system
from articulon.forces.contact.wall_lists import walls_moved
from articulon.forces.contact.wall_motion import place_walls, wall_velocity
from articulon.forces.contact.wall_shapes import FACE, nearest_on_triangle
from articulon.forces.contact.wall_tables import empty_lists, wall_tables
from articulon.forces.contact.wall_touching import TOUCHED, sort_by_feature, touch
from articulon.forces.contact.walls import BoxWalls, Cylinder, Mesh, Plane, parts_of
from articulon.forces.sites.nearest_images import cell_of
from articulon.kernels import kernel
from articulon.model.surfaces import surface
from articulon.simulation.contact_start import check_overlaps
from tests.support.listing import run_list
from tests.support.meshes import CUBE, SIDES, tube


@kernel
def nearest(corners, points, found, where):
    for k in range(points.shape[0]):
        q, f = nearest_on_triangle(corners, 0, (points[k, 0], points[k, 1], points[k, 2]))
        found[k, 0], found[k, 1], found[k, 2] = q
        where[k] = f


@kernel
def place(walls, time):
    place_walls(walls, time)


@kernel
def moved(walls, lists, skin):
    return walls_moved(walls, lists, skin)


@kernel
def speed_at(walls, w, x):
    return wall_velocity(walls.pose, w, (x[0], x[1], x[2]))


@kernel
def touched(walls, lists, n, x, radius, places, numbers):
    row = 0
    for g in range(lists.group_start[n], lists.group_start[n + 1]):
        s = lists.shift
        y = (x[0] + s[g, 0], x[1] + s[g, 1], x[2] + s[g, 2])
        first, last = lists.entry_start[g], lists.entry_start[g + 1]
        row = touch(walls, lists.wall[g], lists.entry, first, last, y, radius, places, numbers, row)
    sort_by_feature(places, numbers, row)
    return row


def model_with(box=None, radius=0.1, position=(0.5, 0.5, 0.5), kind="grain"):
    builder = ar.ModelBuilder(units="kg-m-s", box=box)
    builder.add_grain("g", radius=radius, position=position, kind=kind, density=1000.0)
    return builder.build()


def tables(walls, box=None, radius=0.1, skin=0.05):
    model = model_with(box, radius)
    walls = [wall.resolved(model.units, "walls") for wall in walls]
    kinds = sorted({wall.kind for wall in walls})
    found = wall_tables(parts_of(walls, model, "walls"), kinds, radius + skin)
    place(found, 0.0)
    return model, found


class Probe:
    """Walls, and what a sphere of one radius touches of them."""

    def __init__(self, walls, box=None, radius=0.1, skin=0.05):
        self.radius, self.skin = radius, skin
        self.model, self.walls = tables(walls, box, radius, skin)
        self.cell = cell_of(self.model)
        self.places, self.numbers = (
            np.zeros((TOUCHED, WALL_PLACE.width)),
            np.zeros((TOUCHED, WALL_NUMBER.width), dtype=np.int64),
        )

    def lists(self, points):
        """The lists of spheres at points, one to a place."""
        n = len(points)
        system = empty_system(n, walls=200 * n)._replace(cell=self.cell, skin=np.array([self.skin]))
        blocks = -(-n // PLACES)
        near = empty_lists(self.walls.shape.size, n, blocks, 200 * n, 200 * n)
        system = system._replace(shapes=self.walls, near_walls=near)
        system.particles.reference[:] = points.T
        system.spheres.radius[:], system.spheres.inverse_mass[:] = self.radius, 1.0
        run_list(wall_list_kernel(False), system)
        assert not system.walls.counts[COUNTS.exceeded]
        return near

    def __call__(self, x):
        """Overlaps, normals, features and walls of the contacts of a sphere at x."""
        x = np.asarray(x, dtype=float)
        rows = touched(self.walls, self.lists(x[None]), 0, x, self.radius, self.places, self.numbers)
        assert rows >= 0
        return (
            self.radius - self.places[:rows, WALL_PLACE.gap].copy(),
            self.places[:rows, WALL_PLACE.normal : WALL_PLACE.normal + 3].copy(),
            self.numbers[:rows, WALL_NUMBER.feature].copy(),
            self.numbers[:rows, WALL_NUMBER.wall].copy(),
        )


def cube(scale=1.0, **more):
    return Mesh(kind="steel", vertices=(scale * CUBE).tolist(), triangles=SIDES.tolist(), **more)


# declarations


def test_a_wall_needs_a_material_and_a_direction():
    with pytest.raises(ModelError, match="kind: is required"):
        Plane(point=(0, 0, 0), normal=(0, 0, 1))
    with pytest.raises(ModelError, match=r"normal: expected a direction, got \(0.0, 0.0, 0.0\)"):
        Plane(point=(0, 0, 0), normal=(0, 0, 0), kind="steel")
    with pytest.raises(ModelError, match="needs both amplitude and frequency"):
        Plane(point=(0, 0, 0), normal=(0, 0, 1), kind="steel", amplitude=("1 mm", 0, 0))
    with pytest.raises(ModelError, match=r"unknown key.*angular_velocity"):
        Cylinder(point=(0, 0, 0), axis=(0, 0, 1), radius=1.0, kind="steel", angular_speed=3.0)
    with pytest.raises(CaseError, match=r"radius: must be greater than 0"):
        Cylinder(point=(0, 0, 0), axis=(0, 0, 1), radius=0.0, kind="steel").resolved(model_with().units, "walls[0]")
    with pytest.raises(ModelError, match="either a file, or both vertices and triangles"):
        Mesh(kind="steel", vertices=CUBE.tolist())


def test_a_mesh_that_is_not_closed_names_an_open_edge():
    with pytest.raises(ModelError, match=r"the edge from \(0, 0, 1\) to \(1, 0, 1\) belongs to one triangle only"):
        surface(CUBE, SIDES[[k for k in range(12) if k not in (3, 10)]], "walls[0]")
    with pytest.raises(ModelError, match=r"drum.stl: it is not closed: .* \(there are 3 such edges\); close the mesh"):
        surface(CUBE, SIDES[:-1], "drum.stl")


def test_faulty_meshes_are_refused():
    with pytest.raises(ModelError, match=r"triangles \d+ and \d+ run along their common edge .* inside out"):
        surface(CUBE, np.concatenate([SIDES[:-1], SIDES[-1:, ::-1]]), "here")
    with pytest.raises(ModelError, match=r"triangle 12, with a corner at \(0, 0, 0\), has no area"):
        surface(CUBE, np.concatenate([SIDES, [[0, 1, 1]]]), "here")
    with pytest.raises(ModelError, match="more than two triangles"):
        surface(CUBE, np.concatenate([SIDES, SIDES]), "here")
    with pytest.raises(ModelError, match="vertex 0 is not finite"):
        surface(np.where(CUBE == 0.0, np.nan, CUBE), SIDES, "here")
    with pytest.raises(ModelError, match=r"triangle 0 has a vertex that does not exist: \[0, 1, 9\]"):
        surface(CUBE, np.concatenate([[[0, 1, 9]], SIDES]), "here")


def test_loose_triangles_are_one_surface():
    closed = surface(CUBE[SIDES].reshape(-1, 3), np.arange(36).reshape(-1, 3), "here")
    assert closed.vertices.shape == (8, 3) and closed.edges.max() == 17  # Euler: 8 − 18 + 12 = 2
    assert closed.volume == pytest.approx(1.0, rel=1e-14)


def test_a_mesh_file_is_found_beside_its_case(tmp_path):
    trimesh = pytest.importorskip("trimesh")
    trimesh.Trimesh(1000.0 * CUBE, SIDES).export(tmp_path / "cube.stl")
    mesh = Mesh(kind="steel", file="cube.stl", file_unit="1 mm").beside(str(tmp_path / "case.toml"), "walls[0]")
    here = mesh.resolved(model_with().units, "walls[0]")
    found = here.surface("walls[0]")
    assert found.vertices == pytest.approx(surface(CUBE, SIDES, "").vertices, abs=1e-7)
    (tmp_path / "cube.stl").write_bytes(b"solid nothing\nendsolid nothing\n")
    with pytest.raises(CaseError, match=r"walls\[0\].file: .*cube.stl does not match walls\[0\].sha256"):
        mesh.beside(str(tmp_path / "case.toml"), "walls[0]")
    with pytest.raises(ModelError, match=r"walls\[0\].file: .*cube.stl"):
        here.surface("walls[0]")


def test_walls_go_with_the_directions_that_repeat():
    box = ar.Box(lengths=(1, 1, 1), boundaries=("periodic", "open", "open"))
    Probe([Plane(point=(0, 0, 0), normal=(0, 1, 1), kind="a"), Cylinder(point=(0, 0.5, 0), axis=(1, 0, 0), radius=0.4,
           kind="a")], box)  # fmt: skip
    assert Probe([BoxWalls(kind="a")], box).walls.shape.size == 4
    for wall, said in (
        (Plane(point=(0, 0, 0), normal=(1, 0, 1), kind="a"), "periodic in x, but the plane is not"),
        (
            Plane(point=(0, 0, 0), normal=(0, 0, 1), angular_velocity=(0, 1, 0), kind="a"),
            "the plane is not parallel to it at all times",
        ),
        (
            Cylinder(point=(0, 0, 0), axis=(0, 0, 1), radius=0.4, kind="a"),
            "the cylinder is not parallel to it at all times",
        ),
        (Cylinder(point=(0, 0, 0), axis=(0, 0, 1), radius=0.6, inside=False, kind="a"), "thinner than 1"),
        (cube(1.5), "the mesh is 1.5 long in x"),
        (BoxWalls(kind="a", faces=("x-",)), "periodic in x, so that x- is not a wall"),
        (Cylinder(point=(0, 0, 0), axis=(1, 0, 0), radius=0.1, kind="a"), "sphere 0 on body 'g' has the radius 0.1"),
    ):
        with pytest.raises(ModelError, match=said):
            Probe([wall], box)


# geometry


def test_the_nearest_point_of_a_triangle_is_the_least_of_a_convex_problem():
    rng = np.random.default_rng(1)
    for _ in range(20):
        a, b, c = rng.normal(size=(3, 3))
        points = rng.normal(scale=2.0, size=(40, 3))
        found, where = np.zeros_like(points), np.zeros(len(points), dtype=np.int64)
        nearest(np.concatenate([a, b - a, c - a, np.zeros(3)]), points, found, where)
        n = np.cross(b - a, c - a)
        for y, q, f in zip(points, found, where, strict=True):
            w = np.linalg.lstsq(np.stack([a, b, c, n]).T @ np.eye(4)[:, :3], q, rcond=None)[0]
            assert (w >= -1e-9).all() and w.sum() == pytest.approx(1.0, abs=1e-9)
            # A point of a convex set is the nearest where no corner lies on the far side of its tangent plane.
            assert max((corner - q) @ (y - q) for corner in (a, b, c)) <= 1e-12
            assert (f == FACE) == (w.min() > 1e-9)


def test_planes_and_cylinders_are_as_far_as_they_should_be():
    probe = Probe([
        Plane(point=(0, 0, 0), normal=(0, 0, 2), kind="a"),
        Cylinder(point=(0, 0, 0), axis=(0, 0, 3), radius=1.0, kind="a"),
        Cylinder(point=(0.5, 0, 0), axis=(0, 1, 0), radius=0.2, inside=False, kind="a"),
    ])  # fmt: skip
    overlap, normal, feature, _ = probe([0.95 * np.cos(2), 0.95 * np.sin(2), 0.08])
    assert overlap == pytest.approx([0.02, 0.05], abs=1e-15) and feature.tolist() == [0, 1]
    assert normal == pytest.approx(np.array([[0, 0, 1], [-np.cos(2), -np.sin(2), 0]]), abs=1e-15)
    overlap, normal, feature, _ = probe([0.5 + 0.29 * 0.6, 0.3, 0.29 * 0.8])
    assert overlap == pytest.approx([0.01], abs=1e-15) and feature.tolist() == [2]
    assert normal == pytest.approx(np.array([[0.6, 0, 0.8]]), abs=1e-14)
    assert probe([0.0, 0.0, 0.2])[2].size == 0


def test_a_cube_is_touched_once_at_a_face_an_edge_or_a_corner_from_outside():
    rng = np.random.default_rng(2)
    probe = Probe([cube()])
    for _ in range(300):
        x = rng.uniform(-0.15, 1.15, 3)
        d = x - np.clip(x, 0.0, 1.0)
        gap = np.linalg.norm(d)
        if gap == 0.0:
            continue
        overlap, normal, _, _ = probe(x)
        if gap >= 0.1:
            assert overlap.size == 0
        else:
            assert overlap == pytest.approx([0.1 - gap], abs=1e-14)
            assert normal[0] == pytest.approx(d / gap, abs=1e-12)


def test_a_cube_is_touched_at_each_of_its_faces_from_inside():
    """The diagonal of a face, which is an edge between two flat triangles, is nowhere felt."""
    rng = np.random.default_rng(3)
    probe = Probe([cube()])
    for x in [*rng.uniform(0.02, 0.98, (300, 3)), (0.05, 0.05, 0.05), (0.5, 0.5, 0.05), (0.25, 0.25, 0.03)]:
        gaps = np.concatenate([x, 1.0 - np.asarray(x)])
        overlap, normal, _, _ = probe(x)
        assert np.sort(overlap) == pytest.approx(np.sort(0.1 - gaps[gaps < 0.1]), abs=1e-14)
        assert np.abs(normal).max(axis=1, initial=1.0) == pytest.approx(1.0, abs=1e-12)


def test_facets_of_a_drum_are_felt_as_one_place_and_corners_of_a_prism_as_two():
    """Along the walls at a constant distance, the overlap is the same from facet to facet."""
    for sides, contacts in ((72, {1}), (6, {1, 2})):
        vertices, faces = tube(sides)
        probe = Probe([Mesh(kind="a", vertices=vertices.tolist(), triangles=faces.tolist())])
        counts = set()
        for angle in np.linspace(0.0, 4.0 * np.pi / sides, 101):
            away = (angle % (2.0 * np.pi / sides)) - np.pi / sides
            rho = (np.cos(np.pi / sides) - 0.08) / np.cos(away)
            overlap, normal, _, _ = probe([rho * np.cos(angle), rho * np.sin(angle), 0.013])
            assert overlap.max() == pytest.approx(0.02, abs=1e-14)
            assert normal[:, 2] == pytest.approx(0.0, abs=1e-14)
            counts.add(len(overlap))
        assert counts == contacts


def test_a_thin_wall_is_touched_on_one_side():
    thin = CUBE * [1.0, 1.0, 0.01]
    probe = Probe([Mesh(kind="a", vertices=thin.tolist(), triangles=SIDES.tolist())])
    overlap, normal, _, _ = probe([0.5, 0.5, 0.07])
    assert overlap == pytest.approx([0.04], abs=1e-15)
    assert normal == pytest.approx(np.array([[0.0, 0.0, 1.0]]), abs=1e-15)


def test_a_mesh_repeats_with_the_box():
    box = ar.Box(lengths=(1, 1, 1), origin=(-0.5, -0.5, -0.5), tilts=(0.25, 0, 0),
                 boundaries=("periodic", "periodic", "open"))  # fmt: skip
    # A cube across a corner of the box.
    probe = Probe([cube(0.2, point=(0.4, 0.4, 0.0)), Cylinder(point=(0.45, 0, 0), axis=(0, 0, 1), radius=0.1,
                  inside=False, kind="b")], box)  # fmt: skip
    for shift in (np.zeros(3), box.vectors[0], -2 * box.vectors[0] + box.vectors[1], 7 * box.vectors[1]):
        overlap, normal, _, wall = probe(np.array([0.5, 0.5, 0.27]) + shift)
        assert overlap == pytest.approx([0.03], abs=1e-14) and normal[0] == pytest.approx([0, 0, 1], abs=1e-12)
        assert wall.tolist() == [0]
        overlap, normal, _, wall = probe(np.array([-0.36, 0.0, 5.0]) + shift)  # the bar's image at −0.55
        assert overlap == pytest.approx([0.01], abs=1e-14) and normal[0] == pytest.approx([1, 0, 0], abs=1e-12)
        assert wall.tolist() == [1]


def test_lists_hold_all_that_is_touched_until_half_the_skin_is_used_up():
    """Spheres and a turning mesh go half the skin each, and nothing is missed of what a new list finds."""
    rng = np.random.default_rng(4)
    vertices, faces = tube(12, 1.0, 2.0)
    probe = Probe([Mesh(kind="a", vertices=vertices.tolist(), triangles=faces.tolist(), angular_velocity=(0, 0.3, 1.0),
                        velocity=(0.1, 0, 0))])  # fmt: skip
    points = rng.uniform(-1.1, 1.1, (400, 3))
    lists = probe.lists(points)
    assert lists.needed[1] > 400
    time = 0.0
    while not moved(probe.walls, lists, probe.skin):
        time += 1e-3
        place(probe.walls, time)
    assert 0.005 < time < 0.025
    place(probe.walls, time - 1e-3)
    step = rng.normal(size=(400, 3))
    points = points + 0.5 * probe.skin * step / np.linalg.norm(step, axis=1)[:, None]
    found = 0
    for s, x in enumerate(points):
        new = probe(x)
        rows = touched(probe.walls, lists, s, x, probe.radius, probe.places, probe.numbers)
        assert probe.numbers[:rows, WALL_NUMBER.feature].tolist() == new[2].tolist()
        assert np.array_equal(probe.radius - probe.places[:rows, WALL_PLACE.gap], new[0])
        found += rows
    assert found > 50


def test_spheres_that_begin_in_a_wall_are_named():
    """Of planes, cylinders and meshes, images included; outside of what they are inside of at other places."""
    box = ar.Box(lengths=(2.0, 2.0, 2.0), boundaries=("periodic", "open", "open"))
    material = {"young": 1e7, "poisson": 0.25, "restitution": 0.5}
    for wall, x, said in (
        (cube(point=(1.1, 0, 0)), (0.15, 0.5, 0.5), r"'g' and walls\[0\], a mesh, overlap by 0.05 m"),
        (cube(name="the block", point=(0.5, 0, 0)), (0.5, 1.08, 0.5), "'g' and the block overlap by 0.02 m"),
        (
            Cylinder(point=(0, 1, 1), axis=(1, 0, 0), radius=0.9, kind="steel"),
            (1, 1, 1.85),
            "a cylinder, overlap by 0.05",
        ),
        (BoxWalls(kind="steel"), (1, 1.94, 1), r"walls\[0\], face y\+, overlap by 0.04 m"),
    ):
        for shift in (0.0, -6.0):
            builder = ar.ModelBuilder(units="kg-m-s", box=box)
            builder.add_grain("g", radius=0.1, position=np.add(x, (shift, 0, 0)), density=1000.0, kind="steel")
            builder.add_grain("h", radius=0.1, position=(1.0, 1.3, 1.3), density=1000.0, kind="steel")
            builder.add_force(ar.forces.Contact(materials={"steel": material}, walls=[wall]))
            model = builder.build()
            with pytest.raises(ModelError, match=said):
                check_overlaps(model, model.q0)


# motion


def test_walls_move_as_they_are_told():
    """Positions against their closed forms, and velocities against differences of positions."""
    spin, point = np.array([0.3, -0.4, 1.2]), np.array([0.1, 0.2, 0.3])
    wall = Plane(point=tuple(point), normal=(0, 0, 1), kind="a", velocity=(1, 2, 3), angular_velocity=tuple(spin),
                 amplitude=(0.1, 0, 0), frequency="2 Hz")  # fmt: skip
    _, walls = tables([wall])
    t, h, body = 0.37, 1e-5, np.array([0.5, -0.2, 0.7])

    def at(time):
        place(walls, time)
        R = walls.pose[0, WALL_POSE.rotation : WALL_POSE.rotation + 9].reshape(3, 3)
        assert pytest.approx(np.eye(3), abs=1e-15) == R @ R.T
        return walls.pose[0, :3] + R @ body

    expected = point + [t, 2 * t, 3 * t] + np.array([0.1 * np.sin(4 * np.pi * t), 0, 0])
    place(walls, t)
    assert walls.pose[0, :3] == pytest.approx(expected, abs=1e-15)
    rate = (at(t + h) - at(t - h)) / (2 * h)
    x = at(t)
    assert speed_at(walls, 0, x) == pytest.approx(rate, rel=1e-7)
