"""Spheres in contact: Hertz's collision, prescribed restitution, and what any collision keeps."""

from __future__ import annotations

import math

import numpy as np
import pytest

import articulon as ar
from articulon.errors import ArticulonError
from articulon.time_scales.contact_durations import hertz_time, rayleigh_time
from articulon.time_scales.contact_step_limit import contact_scales
from tests.support import grain_models as gm
from tests.support.contact_reference import Grains, decrement, pair_moduli
from tests.support.threads import on_one_and_two

GLASS = {"young": 7e10, "poisson": 0.22, "restitution": 1.0}
DENSITY = 2500.0


def recommended_step(radii: np.ndarray, speed: float, material: dict[str, float], density: float = DENSITY) -> float:
    """A twentieth of the least of Hertz's contact time of two spheres and the smaller one's Rayleigh step."""
    young, poisson = material["young"], material["poisson"]
    modulus, _ = pair_moduli((young, young), (poisson, poisson))
    mass, radius = reduced(radii, density)
    rayleigh = rayleigh_time(min(radii), density, young / (2.0 * (1.0 + poisson)), poisson)
    return min(hertz_time(mass, radius, modulus, speed), rayleigh) / 20.0


def reduced(radii: np.ndarray, density: float = DENSITY) -> tuple[float, float]:
    """m* and R* of two spheres."""
    first, second = (4.0 / 3.0 * math.pi * density * r**3 for r in radii)
    return first * second / (first + second), radii[0] * radii[1] / (radii[0] + radii[1])


@pytest.mark.slow
def test_two_spheres_collide_as_hertz_says() -> None:
    """Peak force k δ_max^{3/2} with δ_max = (5 m* v²/4 k)^{2/5}, duration 2.9432 δ_max/v (Johnson 1985, 11.24)."""
    radii, speed = np.array([0.010, 0.006]), 1.0
    step = recommended_step(radii, speed, GLASS)
    mass, radius = reduced(radii)
    stiffness = 4.0 / 3.0 * pair_moduli((7e10, 7e10), (0.22, 0.22))[0] * math.sqrt(radius)
    deepest = (1.25 * mass * speed**2 / stiffness) ** 0.4
    lasts = 2.9432656 * deepest / speed
    gap = 0.4 * speed * step
    share = radii[::-1] ** 3 / np.sum(radii**3)
    model = gm.grains(
        [[radii.sum() + gap, 0, 0], [0, 0, 0]],
        radii,
        velocities=[[-speed * share[0], 0, 0], [speed * share[1], 0, 0]],
        material=GLASS,
    )
    steps = int(1.2 * lasts / step)
    found = gm.run(model, step, steps, frames=steps)
    apart = np.array([gm.motion(found, k).positions[0, 0] - gm.motion(found, k).positions[1, 0] for k in range(steps)])
    overlap = radii.sum() - apart
    k = int(overlap.argmax())
    before, most, after = overlap[k - 1 : k + 2]
    peak = most - (before - after) ** 2 / (8.0 * (before - 2.0 * most + after))  # of the parabola through the three
    assert (peak / deepest) ** 1.5 == pytest.approx(1.0, abs=1e-4)

    held = gm.contacts(gm.run(model, step, k))
    assert held.pairs.tolist() == [[0, 1]]
    assert held.overlaps[0] == pytest.approx(overlap[k], rel=1e-9)
    assert held.elastic[0] == pytest.approx(stiffness * overlap[k] ** 1.5, rel=1e-9)
    assert held.normals[0] == pytest.approx([1.0, 0.0, 0.0], abs=1e-12)

    leaving = gm.motion(found).velocities
    left = found.times[-2] + overlap[-1] / (leaving[0, 0] - leaving[1, 0])
    assert left - gap / speed == pytest.approx(lasts, rel=1e-4)
    assert leaving[0, 0] - leaving[1, 0] == pytest.approx(speed, rel=1e-4)


def collisions(
    restitutions: np.ndarray, speeds: np.ndarray, step: float, begins: np.ndarray | float = 0.4, **law: object
) -> np.ndarray:
    """Speeds after head-on collisions, by those before, of pairs that are far from each other; ``begins`` is the part
    of a step after which they touch."""
    radius, count = 0.01, len(restitutions)
    x = np.zeros((count, 2, 3))
    x[:, :, 1] = np.arange(count)[:, None] * 10.0 * radius
    x[:, 0, 0] = 2.0 * radius + begins * speeds * step
    v = np.zeros_like(x)
    v[:, 0, 0] = -speeds
    kinds = [f"e{k}" for k in range(count) for _ in range(2)]
    materials = {
        f"e{k}": {**GLASS, **dict(law.pop("material", {})), "restitution": e} for k, e in enumerate(restitutions)
    }  # type: ignore[call-overload]
    model = gm.grains(x.reshape(-1, 3), radius, velocities=v.reshape(-1, 3), kinds=kinds, materials=materials, **law)
    mass, reach = reduced(np.array([radius, radius]))
    modulus, _ = pair_moduli((7e10, 7e10), (0.22, 0.22))
    lasts = 3.21 * (mass**2 / (reach * modulus**2 * speeds.min())) ** 0.2
    found = gm.motion(gm.run(model, step, int(4.0 * lasts / step)))
    after = found.velocities.reshape(count, 2, 3)
    return (after[:, 0, 0] - after[:, 1, 0]) / speeds


@pytest.mark.slow
def test_the_restitution_is_the_one_given() -> None:
    """Damping with δ^{1/4}, whose tail pulls, keeps it at every speed (Antypov and Elliott 2011, equation 20)."""
    given = np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0])
    step = recommended_step(np.array([0.01, 0.01]), 1.0, GLASS)
    for speed in (0.1, 1.0):
        measured = collisions(given, np.full(10, speed), step)
        assert measured == pytest.approx(given, abs=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("steps", [20, 45, 90, 180])
def test_the_restitution_is_within_its_bound_wherever_in_a_step_collisions_begin(steps: int) -> None:
    """Damping with δ^{1/4} sets in and ends within a step. What is missed of it goes with h^{5/4}: what a force that
    grows with the fourth root of time does in a part of a step. Over the places it cancels to second order."""
    restitutions, places = np.arange(0.1, 1.01, 0.1), np.arange(32) / 32.0
    given, begins = (grid.ravel() for grid in np.meshgrid(restitutions, places, indexing="ij"))
    mass, reach = reduced(np.array([0.01, 0.01]))
    modulus, _ = pair_moduli((7e10, 7e10), (0.22, 0.22))
    step = hertz_time(mass, reach, modulus, 1.0) / steps
    measured = collisions(given, np.full(given.size, 1.0), step, begins=begins)
    errors = (measured - given).reshape(restitutions.size, places.size)
    largest, mean = np.abs(errors).max(), np.abs(errors.mean(axis=1)).max()
    assert largest <= 0.6 / steps**1.25
    assert mean <= 2.5 / steps**2
    assert largest > 0.2 / steps**1.25, "it does depend on where they begin"
    assert np.abs(errors[-1]).max() <= 0.5 / steps**2, "elastic ones do not"


@pytest.mark.parametrize("poisson", [0.0, 0.22, 0.3, 0.49])
@pytest.mark.parametrize(("overlap", "least"), [(0.05, 45.0), (0.005, 80.0)])
def test_the_recommended_step_leaves_enough_in_a_collision(poisson: float, overlap: float, least: float) -> None:
    """docs/grains.md says how many; the fewer the deeper grains go."""
    material = {"young": 1e7, "poisson": poisson, "restitution": 0.5}
    places = [(0.0, 0.0, 0.0), (0.03, 0.0, 0.0)]
    model = gm.grains(places, 0.01, material=material)
    mass, reach = reduced(np.array([0.01, 0.01]))
    modulus, _ = pair_moduli((1e7, 1e7), (poisson, poisson))
    speed = np.sqrt(16.0 / 15.0 * modulus * np.sqrt(reach) / mass * (overlap * 0.01) ** 2.5)
    scales = contact_scales(model, float(speed))
    assert scales is not None and scales.pairs[0].overlap == pytest.approx(overlap, rel=1e-6)
    assert hertz_time(mass, reach, modulus, float(speed)) / scales.recommended >= least


@pytest.mark.slow
def test_without_the_tail_the_restitution_is_larger() -> None:
    """Clipped where it would pull, a damping for 0.1 gives 0.25 (Schwager and Pöschel 2007)."""
    step = recommended_step(np.array([0.01, 0.01]), 1.0, GLASS) / 4.0
    measured = collisions(np.array([0.1, 0.5, 1.0]), np.full(3, 1.0), step, attractive_tail=False)
    assert measured == pytest.approx([0.251, 0.550, 1.0], abs=2e-3)


MATERIALS = {
    "restitution": gm.GRAIN,
    "kinetic": {**gm.GRAIN, "kinetic_friction": 0.3, "tangential_damping_ratio": 0.5},
    "viscous": {
        "young": 1e7,
        "poisson": 0.3,
        "static_friction": 0.5,
        "viscous_damping": 2e3,
        "tangential_damping": 1e3,
    },
    "linear": {"static_friction": 0.5, "restitution": 0.7, "stiffness": 2e4, "tangential_stiffness": 8e3},
    "clipped": {**gm.GRAIN, "restitution": 0.5},
    "two kinds": {},
}
TWO = (
    {"young": 1e7, "poisson": 0.3, "static_friction": 0.5, "restitution": 0.7},
    {"young": 2e7, "poisson": 0.2, "static_friction": 0.2, "restitution": 0.4},
)
KINDS = np.random.default_rng(8).integers(0, 2, 64)
"""Of the grains of a heap of two materials."""
ROLLING = {"rolling_friction": 0.3, "rolling_damping": 0.3}
LAWS = {
    "restitution": ({}, lambda c: gm.reference_law(convention=c)),
    "kinetic": ({}, lambda c: gm.reference_law(MATERIALS["kinetic"], convention=c)),
    "viscous": (
        {"damping": "viscous"},
        lambda c: gm.reference_law(MATERIALS["viscous"], viscous_damping=2e3, tangential_damping=1e3, convention=c),
    ),
    "linear": (
        {"normal": "linear", "tangential": "linear"},
        lambda c: gm.Law(0.0, 0.0, 0.5, 0.5, 0.7, 0.0, 1.0, 2e4, 8e3, convention=c),
    ),
    "clipped": (
        {"attractive_tail": False},
        lambda c: gm.reference_law(MATERIALS["clipped"], attractive_tail=False, convention=c),
    ),
    "two kinds": (
        {"materials": {"soft": TWO[0], "hard": TWO[1]}, "kinds": [("soft", "hard")[kind] for kind in KINDS]},
        lambda c: gm.reference_mixture(TWO, KINDS, convention=c),
    ),
}


COMBINED = [
    *((name, convention) for convention in ("consistent", "lammps") for name in ("restitution", "kinetic", "linear")),
    ("viscous", "lammps"),
    ("clipped", "consistent"),
    ("two kinds", "consistent"),
]
"""Laws and conventions. A convention says where the two arms of a contact end, from which tangential forces turn the
spheres: every tangential law has both, and what else there is of normal laws one of them, which is compiled by itself.
"""
of_every_law = pytest.mark.parametrize(("name", "convention"), COMBINED)


def test_every_law_is_tried() -> None:
    assert {name for name, _ in COMBINED} == set(LAWS)


@pytest.mark.slow
@of_every_law
def test_a_heap_moves_as_the_plain_one(name: str, convention: str) -> None:
    """300 steps, in which contacts begin and end, stick and slide; rounding errors grow by a thousand or so."""
    radii, masses, start = gm.heap(1, 4, 0.005)
    lengths = (4 * 2.0 * 0.005 * 0.99,) * 3
    options, law = LAWS[name]
    model = gm.moving(start, radii, material=MATERIALS[name], convention=convention, lengths=lengths, **options)
    plain = gm.reference(radii, masses, start, law(convention), lengths=lengths)
    for steps in (1, 300):
        plain.advance(1e-5, steps if steps == 1 else steps - 1)
        found = gm.run(model, 1e-5, steps)
        held, now = gm.contacts(found), gm.motion(found)
        assert np.array_equal(held.pairs, plain.contacts.pairs)
        assert np.array_equal(held.sliding, plain.contacts.sliding)
        assert 0 < held.sliding.sum() < len(held.pairs)
        for measured, expected in zip(now, (plain.positions, plain.velocities, plain.spins), strict=True):
            assert gm.off(measured, expected) <= 1e-11
        for key in ("displacements", "overlaps", "elastic", "viscous", "tangential"):
            assert gm.off(getattr(held, key), getattr(plain.contacts, key)) <= 1e-10, key
        forces, torques = gm.contact_sums(held, radii, convention)
        assert gm.off(forces, plain.forces) <= 1e-10
        assert gm.off(torques, plain.torques) <= 1e-10


def test_a_heap_keeps_its_momenta() -> None:
    """Linear and angular momentum about any point, to rounding: the arms of a contact end at one point."""
    radii, masses, start = gm.heap(2, 4, 0.005, tight=1.05, speed=0.5)
    model = gm.moving(start, radii)
    found = gm.run(model, 1e-5, 500)

    def momenta(now: gm.Motion) -> tuple[np.ndarray, np.ndarray]:
        linear = masses[:, None] * now.velocities
        spin = 0.4 * (masses * radii**2)[:, None] * now.spins
        return linear.sum(axis=0), (np.cross(now.positions, linear) + spin).sum(axis=0)

    before, after = momenta(start), momenta(gm.motion(found))
    sizes = (
        np.abs(masses[:, None] * start.velocities).sum(),
        np.abs(masses[:, None] * np.cross(start.positions, start.velocities)).sum(),
    )
    for old, new, size in zip(before, after, sizes, strict=True):
        assert np.abs(new - old).max() <= 1e-13 * size
    assert found.kinetic_energy[-1] < 0.8 * found.kinetic_energy[0]


@pytest.mark.slow
@pytest.mark.parametrize("resists", [False, True])
def test_the_ledger_closes(resists: bool) -> None:
    """What the kinetic energy has lost is the work of the contacts, and that of their normal springs is their energy.

    The books take the works of the kicks themselves, so the first holds to rounding. The second is that of a rule of
    second order: ⅖ k δ^{5/2} of each contact, to (h/t_c)² or so. What resists rolling counts as friction.
    """
    radii, _, start = gm.heap(3, 4, 0.005)
    model = gm.moving(start, radii)
    if resists:
        model = gm.moving(start, radii, material={**gm.GRAIN, **ROLLING}, rolling="spring")
    stiffness = 4.0 / 3.0 * gm.reference_law().young

    def potential(positions: np.ndarray) -> float:
        i, j = np.triu_indices(len(radii), 1)
        overlap = np.maximum(radii[i] + radii[j] - np.linalg.norm(positions[i] - positions[j], axis=1), 0.0)
        return float(np.sum(0.4 * stiffness * np.sqrt(radii[i] * radii[j] / (radii[i] + radii[j])) * overlap**2.5))

    found = gm.run(model, 1e-5, 400, frames=4)
    change = found.kinetic_energy - found.kinetic_energy[0]
    works = found.works.sum(axis=1)
    stored = [potential(gm.motion(found, k).positions) for k in range(5)]
    put_in = found.kinetic_energy[0] + stored[0]
    assert stored[0] > 0.5 * put_in
    assert np.abs(change - works).max() <= 1e-12 * put_in

    elastic, spring, viscous, friction = found.state.contacts.work[0, :4]
    assert elastic + spring + viscous + friction == pytest.approx(works[-1], abs=1e-12 * put_in)
    assert viscous < -0.05 * put_in
    assert friction < -0.05 * put_in
    assert elastic == pytest.approx(stored[0] - stored[-1], abs=5e-4 * put_in)


def powers(plain: Grains) -> np.ndarray:
    """Of springs, damping and friction in contacts between spheres, at the speeds that the plain grains have."""
    c = plain.contacts
    i, j = c.pairs.T
    law = plain.law.of(i, j)
    r = plain.radii[i] + plain.radii[j]
    levers = [plain.radii[k] * (1.0 - c.overlaps / r) for k in (i, j)]
    if law.convention == "lammps":
        levers = [plain.radii[k] - 0.5 * c.overlaps for k in (i, j)]
    turning = levers[0][:, None] * plain.spins[i] + levers[1][:, None] * plain.spins[j]
    speeds = plain.velocities[i] - plain.velocities[j] - np.cross(turning, c.normals)
    width = np.sqrt(plain.radii[i] * plain.radii[j] / r * c.overlaps)
    stiffness = (
        8.0 * law.shear * width if law.tangential_stiffness is None else np.full(len(i), law.tangential_stiffness)
    )
    spring = np.where(c.sliding[:, None], 0.0, -stiffness[:, None] * c.displacements)
    friction = np.where(c.sliding[:, None], c.tangential, 0.0)
    damping = c.viscous[:, None] * c.normals + c.tangential - spring - friction
    return np.array([np.sum(force * speeds) for force in (spring, damping, friction)])


@pytest.mark.slow
@of_every_law
def test_works_by_line_are_those_of_the_plain_heap(name: str, convention: str) -> None:
    """Springs, damping and friction do what the powers in the plain heap add up to, by the trapezoidal rule over 2 ms.

    Both are of second order in h/t_c; the law's normals turn within a step, which is of first order in h v/R. Half
    a step leaves a quarter of the one error and half of the other, of whatever signs.
    """
    radii, masses, start = gm.heap(1, 4, 0.005)
    options, law = LAWS[name]
    off = []
    for steps in (200, 400):
        step = 2e-3 / steps
        model = gm.moving(start, radii, material=MATERIALS[name], convention=convention, **options)
        plain = gm.reference(radii, masses, start, law(convention))
        now, expected = powers(plain), np.zeros(3)
        for _ in range(steps):
            before = now
            plain.advance(step, 1)
            now = powers(plain)
            expected += 0.5 * step * (before + now)
        found = gm.run(model, step, steps)
        put_in = np.abs(found.works).sum() + found.kinetic_energy[0]
        assert np.all(np.abs(expected[1:]) > 0.01 * put_in)
        off.append(np.abs(found.state.contacts.work[0, 1:4] - expected).max() / put_in)
    assert off[0] <= 2e-4
    assert off[1] <= 0.7 * off[0]


@pytest.mark.slow
def test_smooth_spheres_that_glance_have_works_of_normal_forces_alone() -> None:
    """Without tangential forces, whatever the surfaces' speeds: the lines of springs and friction stay empty, and what
    damping takes is what is missing of the energy."""
    for damping in ({}, {"damping": "viscous"}):
        start = gm.Motion(
            np.array([[0.0, 0.0, 0.0], [0.0101, 0.004, 0.0]]),
            np.array([[0.5, 0.0, 0.1], [-0.5, 0.0, 0.0]]),
            np.array([[0.0, 30.0, 50.0], [0.0, 0.0, 40.0]]),
        )
        material = MATERIALS["viscous"] if damping else gm.GRAIN
        found = gm.run(gm.moving(start, [0.005, 0.005], material=material, tangential="none", **damping), 2e-6, 1500)
        lost = found.kinetic_energy[0] - found.kinetic_energy[-1]
        elastic, spring, viscous, friction = found.state.contacts.work[0, :4]
        assert found.state.contacts.times[1] == 1.0, "they have not met, or not parted"
        assert lost > 0.05 * found.kinetic_energy[0]
        assert spring == 0.0 and friction == 0.0
        assert elastic == pytest.approx(0.0, abs=2e-3 * lost)
        assert viscous == pytest.approx(-lost, rel=2e-3)


def bits(found: object) -> list[bytes]:
    """The whole state."""
    return [array.tobytes() for array in found.state.arrays().values()]  # type: ignore[attr-defined]


def test_threads_chunks_and_lists_change_no_bit() -> None:
    """Nor does it matter when a run is cut into chunks; another skin changes only the order of sums."""
    radii, _, start = gm.heap(4, 6, 0.005)
    model = gm.moving(start, radii)
    one, two = on_one_and_two(lambda: gm.run(model, 1e-5, 300))
    assert bits(one) == bits(two)
    assert gm.bits_in_chunks(model, (300,)) == gm.bits_in_chunks(model, (1, 99, 7, 193))
    assert len(one.state.contacts.pairs) > 20

    other = gm.moving(start, radii, skin=0.002)
    skinned = gm.run(other, 1e-5, 300)
    assert np.array_equal(skinned.state.contacts.pairs, one.state.contacts.pairs)
    apart = np.abs(skinned.state.contacts.memory - one.state.contacts.memory).max(axis=0)
    assert np.all(apart <= 1e-9 * np.abs(one.state.contacts.memory).max(axis=0))


def test_the_memory_of_a_contact_crosses_a_periodic_face() -> None:
    """Two heaps in a periodic box, one of them across its faces, move alike."""
    radii, _, start = gm.heap(5, 3, 0.005)
    length = 0.08
    moved = []
    for shift in (0.02, -0.013):
        shifted = gm.Motion(start.positions + shift, start.velocities + 0.3, start.spins)
        moved.append(gm.run(gm.moving(shifted, radii, lengths=(length,) * 3), 1e-5, 300))
    first, second = moved
    assert np.array_equal(first.state.contacts.pairs, second.state.contacts.pairs)
    apart = np.abs(first.state.contacts.memory - second.state.contacts.memory).max(axis=0)
    assert np.all(apart <= 1e-9 * np.abs(first.state.contacts.memory).max(axis=0))


def test_a_fall_through_a_medium_ends_at_m_g_over_c() -> None:
    """And in between, v(t) = (m g/c)(1 − e^{−ct/m})."""
    radius, drag, g = 0.01, 0.02, 9.81
    mass = 4.0 / 3.0 * math.pi * DENSITY * radius**3
    model = gm.grains(
        [[0, 0, 0]],
        radius,
        gravity=(0, 0, -g),
        forces=[ar.forces.StokesDrag(translational=drag, rotational=1e-6)],
    )
    relaxation = mass / drag
    found = gm.run(model, relaxation / 500.0, 10_000, frames=20)
    speeds = np.array([gm.motion(found, k).velocities[0, 2] for k in range(21)])
    late = 0.5 / 500.0 / math.e  # of a drag by the velocity half a step before, where it matters most
    assert speeds == pytest.approx(
        mass * g / drag * np.expm1(-found.times / relaxation), abs=1.1 * late * mass * g / drag
    )
    assert speeds[-1] == pytest.approx(-mass * g / drag, rel=1e-8)
    assert (found.kinetic_energy[-1] - found.works[-1].sum()) == pytest.approx(0.0, abs=1e-9 * mass * speeds[-1] ** 2)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"poisson": 0.5}, "poisson"),
        ({"poisson": -1.0}, "poisson"),
        ({"restitution": 0.0}, "restitution"),
        ({"restitution": 1.1}, "restitution"),
        ({"young": -1.0}, "young"),
        ({"static_friction": -0.1}, "static_friction"),
        ({"static_friction": 0.2, "kinetic_friction": 0.3}, "kinetic_friction"),
    ],
)
def test_a_material_that_cannot_be_is_refused(change: dict[str, float], words: str) -> None:
    with pytest.raises((ArticulonError, ValueError), match=words):
        gm.grains([[0, 0, 0]], 0.01, material={**gm.GRAIN, **change})


def test_a_linear_spring_and_dashpot_end_as_in_closed_form() -> None:
    """Half a period π/√(ω₀² − (ω₀β)²) and e = exp(−πβ/√(1 − β²)), where the contact ends at δ = 0."""
    radius, speed, stiffness, e = 0.01, 0.5, 3e4, 0.6
    mass, _ = reduced(np.array([radius, radius]))
    beta, omega = decrement(e), math.sqrt(stiffness / mass)
    assert math.exp(-math.pi * beta / math.sqrt(1.0 - beta**2)) == pytest.approx(e)
    lasts = math.pi / (omega * math.sqrt(1.0 - beta**2))
    step = lasts / 500.0
    gap = 0.4 * speed * step
    model = gm.grains(
        [[2 * radius + gap, 0, 0], [0, 0, 0]],
        radius,
        velocities=[[-speed, 0, 0], [0, 0, 0]],
        material={"stiffness": stiffness, "restitution": e, "static_friction": 0.5, "tangential_stiffness": stiffness},
        normal="linear",
        tangential="linear",
    )
    found = gm.run(model, step, 700)
    now = gm.motion(found)
    away = now.velocities[0, 0] - now.velocities[1, 0]
    left = found.times[-1] - (now.positions[0, 0] - now.positions[1, 0] - 2 * radius) / away
    assert away / speed == pytest.approx(e, abs=2e-3)
    assert left - gap / speed == pytest.approx(lasts, rel=2e-3)
