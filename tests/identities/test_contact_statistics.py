"""What is counted of contacts, the checks of heaps, and spheres that overlap at the start, on models that say it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import articulon as ar
from articulon.errors import ArticulonError, CaseError, ModelError
from articulon.simulation.checks.grain_checks import DrumAngleCheck, HeapAngleCheck, PackingFractionCheck
from articulon.simulation.contact_start import check_overlaps
from articulon.simulation.contact_statistics import ContactRecords, contact_counts, contact_stress
from articulon.time_scales.contact_step_limit import contact_scales

GLASS = {"young": 70e9, "poisson": 0.22, "restitution": 0.9, "static_friction": 0.3}


def model_of(places: Any, radii: Any, law: dict[str, Any] | None = None, **more: Any) -> ar.Model:
    builder = ar.ModelBuilder(units="kg-m-s", **more)
    builder.add_grains(np.asarray(places, dtype=float), radii, density=2500.0)
    builder.add_force(ar.forces.Contact(materials={"grain": GLASS}, **(law or {})))
    return builder.build()


def records(first: list[int], second: list[int], normal: Any, force: Any, arms: Any) -> ContactRecords:
    normal, force = np.array(normal, dtype=float), np.array(force, dtype=float)
    along = (force * normal).sum(axis=1)
    n = len(first)
    return ContactRecords(
        np.array(first),
        np.array(second),
        normal,
        along,
        along,
        force - along[:, None] * normal,
        np.zeros((n, 3)),
        np.zeros(n),
        np.array(arms, dtype=float),
        np.zeros(n, dtype=bool),
        np.zeros(n),
    )


def test_stress_of_a_squeezed_row_is_force_over_area() -> None:
    """Three spheres between two walls, pressed by 5 along x: each cross-section of area A carries 5/A."""
    found = records(
        [0, 0, 1, 2],
        [-1, 1, 2, -1],
        [[1, 0, 0], [-1, 0, 0], [-1, 0, 0], [-1, 0, 0]],
        [[5, 0, 0], [-5, 0, 0], [-5, 0, 0], [-5, 0, 0]],
        [[0.5, 0], [0.5, 0.5], [0.5, 0.5], [0.5, 0]],
    )
    stress = contact_stress(found, 3.0 * 2.0)
    np.testing.assert_allclose(stress, np.diag([5.0 / 2.0, 0.0, 0.0]), atol=1e-15)
    np.testing.assert_array_equal(contact_counts(found, 3), [2, 2, 2])


@pytest.mark.parametrize(
    ("low", "high", "error"),
    [
        ((0, 0, 1.3), (6, 6, 4.3), 1e-12),
        ((1.2, 1.35, 0), (4.2, 3.35, 6), 1e-12),
        ((1.2, 1.35, 1.3), (4.2, 3.35, 4.3), 1e-4),
        ((0.5, 1.5, 0.9), (4.5, 4.5, 1.9), 1e-4),
    ],
)
def test_solid_fraction_of_a_crystal(low: tuple[float, ...], high: tuple[float, ...], error: float) -> None:
    """Simple cubic, π/6 of any region that is whole cells long, wherever its faces cut."""
    grid = np.stack(np.meshgrid(*[np.arange(6)] * 3, indexing="ij"), axis=-1).reshape(-1, 3) + 0.5
    check = PackingFractionCheck(kind="packing-fraction", low=low, high=high, reference=0.0, tolerance=1.0)
    assert check.measured(grid, np.full(len(grid), 0.5)) == pytest.approx(np.pi / 6, rel=error)


def test_solid_fraction_of_a_ball_that_a_box_cuts() -> None:
    """A cap, h²(3R − h)π/3, on any side; quarters and octants; a box within the ball."""
    R, h = 2.0, 0.7
    whole, cap = 4 / 3 * np.pi * R**3, h**2 * (3 * R - h) * np.pi / 3
    octants = [((0, -3, -3), (3, 3, 3), 2), ((-3, 0, -3), (3, 3, 0), 4), ((-3, 0, 0), (0, 3, 3), 8)]
    caps = [tuple(np.where(np.arange(3) == k, R - h, -3.0).tolist()) for k in range(3)]
    for low, high, solid, error in [
        *((low, high, whole / parts, 1e-12) for low, high, parts in octants),
        *((low, (3, 3, 3), cap, 1e-4) for low in caps),
        ((-0.5, -0.2, -0.3), (0.4, 1.0, 0.9), 0.9 * 1.2 * 1.2, 1e-12),
    ]:
        check = PackingFractionCheck(kind="packing-fraction", low=low, high=high, reference=0.0, tolerance=1.0)
        size = np.prod(np.subtract(high, low))
        assert check.measured(np.zeros((1, 3)), np.full(1, R)) * size == pytest.approx(solid, abs=error * whole)


@pytest.mark.parametrize("slope", [20.0, 35.0])
def test_slope_of_a_wedge(slope: float) -> None:
    """Grains that fill a wedge; a top is off its plane by a diameter at most over the heap's length."""
    rng = np.random.default_rng(1)
    x, z = 100.0 * rng.random(60_000), 100.0 * rng.random(60_000)
    inside = z < (100.0 - x) * np.tan(np.radians(slope))
    places = np.stack([x, np.zeros_like(x), z], axis=1)[inside]
    check = HeapAngleCheck(kind="heap-angle", reference=0.0, tolerance=1.0)
    assert np.degrees(check.measured(places, np.full(len(places), 0.5))) == pytest.approx(slope, abs=1.0)


def test_tilt_of_half_a_disc() -> None:
    """Of points in pairs on either side of its axis, so that their common centre lies on it."""
    place = np.random.default_rng(2).uniform(-1, 1, (400, 2))
    place = place[(np.linalg.norm(place, axis=1) < 1.0) & (place[:, 1] < 0.0)]
    place = np.concatenate([place, place * [-1.0, 1.0]])
    turn = np.radians(25.0)
    x, z = place @ [np.cos(turn), -np.sin(turn)], place @ [np.sin(turn), np.cos(turn)]
    places = np.stack([x, np.zeros_like(x), z], axis=1) + [3.0, 0.0, 1.0]
    check = DrumAngleCheck(kind="drum-angle", centre=(3.0, 0.0, 1.0), reference=0.0, tolerance=1.0)
    assert np.degrees(check.measured(places, np.ones(len(x)))) == pytest.approx(25.0, abs=1e-10)


def at_rest(places: np.ndarray, **more: Any) -> ar.Run:
    """A run in which grains stand still, without forces."""
    builder = ar.ModelBuilder(units="kg-m-s", **more)
    builder.add_grains(places, 0.5, density=2500.0)
    return ar.simulate(builder.build(), 1.0, frames=4)


@pytest.mark.parametrize("along", ["x", "y"])
def test_angle_of_a_heap_over_a_run(along: str) -> None:
    """Spheres in a row down a slope: their envelope is a line, off by s²/(8 R) between two that are s apart."""
    way = np.arange(0.0, 20.0, 0.1)
    places = np.stack([way, 0.0 * way, 3.0 + (20.0 - way) * np.tan(np.radians(30.0))], axis=1)
    run = at_rest(places if along == "x" else places[:, [1, 0, 2]])
    found = ar.analysis.heap_angle(run, along=along, floor="3 m", skip=0.4)
    assert found.times == pytest.approx(run.times[2:]) and np.degrees(found.values) == pytest.approx(30.0, abs=0.1)
    # With the floor at zero, the line through 0.2 to 0.8 of the height is the same one.
    assert np.degrees(ar.analysis.heap_angle(run, along=along).values) == pytest.approx(30.0, abs=0.1)


def test_angle_of_a_heap_in_a_periodic_slice() -> None:
    """Grains that have gone through a periodic face count where their images are."""
    box = ar.Box(lengths=(30.0, 2.0, 30.0), boundaries=("open", "periodic", "open"), origin=(-5.0, -1.0, -5.0))
    way = np.arange(0.0, 20.0, 0.1)
    places = np.stack([way, 2.0 * (np.arange(200) % 3 - 1.0), (20.0 - way) * np.tan(np.radians(30.0))], axis=1)
    assert np.degrees(ar.analysis.heap_angle(at_rest(places, box=box)).values) == pytest.approx(30.0, abs=0.1)


@pytest.mark.parametrize("axis", ["x", "y"])
def test_angle_of_a_drum_over_a_run(axis: str) -> None:
    """Of two spheres whose middle is 25 degrees from below the axis."""
    turn, across = np.radians(25.0), 1 - "xy".index(axis)
    places = np.zeros((2, 3))
    places[:, across], places[:, 2] = 3.0 + np.sin(turn) * np.array([1.0, 3.0]), 1.0 - 2.0 * np.cos(turn)
    run = at_rest(places)
    centre = np.where(np.arange(3) == across, 3.0, 0.0) + [0.0, 0.0, 1.0]
    found = ar.analysis.drum_angle(run, centre, axis)
    assert np.degrees(found.values) == pytest.approx(np.full(5, 25.0), abs=1e-9)


def test_angles_need_spheres_and_a_known_axis() -> None:
    """The message names the argument."""
    with pytest.raises(ArticulonError, match=r"heap_angle: along: expected one of 'x', 'y', got 'z'"):
        ar.analysis.heap_angle(at_rest(np.zeros((1, 3))), along="z")  # type: ignore[arg-type]
    builder = ar.ModelBuilder(units="kg-m-s")
    builder.add_body("ball", joint=ar.Free(), mass=1.0, inertia=1.0)
    run = ar.simulate(builder.build(), 1.0, frames=2)
    with pytest.raises(ArticulonError, match=r"drum_angle: no body of this run carries contact spheres"):
        ar.analysis.drum_angle(run)


def test_spheres_that_overlap_too_deeply_are_named() -> None:
    model = model_of([[0, 0, 0], [1.97, 0, 0], [0, 5, 0], [0, 6.9, 0]], 1.0)
    with pytest.raises(
        ModelError, match=r"'grain-2' and 'grain-3' overlap by 0\.1 m at the start, 10\.0% of the smaller"
    ):
        check_overlaps(model, model.q0)
    check_overlaps(model_of([[0, 0, 0], [1.97, 0, 0]], 1.0), np.array([0, 0, 0, 1, 0, 0, 0, 1.97, 0, 0, 1, 0, 0, 0]))


def test_spheres_overlap_through_a_periodic_face() -> None:
    box = ar.Box(lengths=(10.0, 10.0, 10.0), boundaries=("periodic", "open", "open"), origin=(0.0, -5.0, -5.0))
    model = model_of([[0.5, 0, 0], [8.8, 0, 0]], 1.0, box=box)
    with pytest.raises(ModelError, match=r"'grain-0' and 'grain-1' overlap by 0\.3 m"):
        check_overlaps(model, model.q0)


def test_spheres_in_walls_are_named() -> None:
    wall = ar.forces.Plane(point=(0, 0, 0), normal=(0, 0, 2), kind="grain")
    model = model_of([[0, 0, 0.8], [5, 0, 1.2]], 1.0, {"walls": (wall,)})
    with pytest.raises(ModelError, match=r"'grain-0' and walls\[0\], a plane, overlap by 0\.2 m"):
        check_overlaps(model, model.q0)


def test_spheres_on_one_tree_may_overlap_where_they_never_touch() -> None:
    builder = ar.ModelBuilder(units="kg-m-s")
    parent = None
    for k in range(3):
        parent = builder.add_body(
            f"link-{k}",
            mass=1.0,
            inertia=1.0,
            parent=parent,
            joint=ar.Free() if k == 0 else ar.Spherical(),
            position=(0.0, 0.0, 0.0) if k == 0 else (1.5, 0.0, 0.0),
        )
        builder.add_site(parent, radius=1.0, kind="grain")
    builder.add_force(ar.forces.Contact(materials={"grain": GLASS}))
    model = builder.build()
    check_overlaps(model, model.q0)
    folded = model.q0.copy()
    folded[7:11] = 0.0, 0.0, 0.0, 1.0  # half a turn about z: the third sphere lies on the first
    with pytest.raises(ModelError, match="'link-0' and 'link-2' overlap"):
        check_overlaps(model, folded)


def test_scales_follow_the_smallest_sphere_and_the_fall() -> None:
    wall = ar.forces.Plane(point=(0, 0, 0), normal=(0, 0, 1), kind="grain")
    builder = ar.ModelBuilder(units="kg-m-s")
    builder.add_grains([[0, 0, 2.0], [3, 0, 1.0]], [0.1, 0.2], density=2500.0)
    builder.add_force(ar.forces.Gravity(acceleration=(0, 0, -9.81)))
    builder.add_force(ar.forces.Contact(materials={"grain": GLASS}, walls=(wall,)))
    scales = contact_scales(builder.build())
    assert scales is not None
    assert scales.speed == pytest.approx(np.sqrt(2 * 9.81 * 2.0))
    assert scales.grains[0].radius == 0.1 and scales.grains[0].density == pytest.approx(2500.0)
    shear = 70e9 / 2.44
    rayleigh = np.pi * 0.1 * np.sqrt(2500.0 / shear) / (0.1631 * 0.22 + 0.8766)
    assert scales.recommended == pytest.approx(rayleigh / 20.0)
    assert scales.pairs[0].mass == pytest.approx(0.5 * 4 / 3 * np.pi * 1e-3 * 2500.0)


@pytest.mark.parametrize("forced", [False, True])
def test_a_step_beyond_the_limit_is_refused_unless_it_is_meant(forced: bool) -> None:
    from articulon.time_scales.contact_step_limit import check_contact_step

    model = model_of([[0, 0, 0], [3, 0, 0]], 1.0)
    scales = contact_scales(model)
    assert scales is not None
    integrator = ar.load_case("two-spheres", {"integrator.force_step": True} if forced else {}).integrator
    check_contact_step(model, integrator, 0.99 * scales.limit, "case.toml")
    if forced:
        check_contact_step(model, integrator, 2.0 * scales.limit, "case.toml")
        return
    with pytest.raises(CaseError, match=r"case.toml: integrator.step: .* is beyond .*Rayleigh.*force_step = true"):
        check_contact_step(model, integrator, 1.01 * scales.limit, "case.toml")
