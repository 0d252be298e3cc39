"""Rods between point masses: swing joints against the same beads in Cartesian coordinates, held by multipliers."""

import numpy as np
import pytest

import articulon as ar
from articulon.dynamics.multibody_functions import body_velocities

LENGTH = 0.9


def beads(parents: list[int], seed: int = 0, loose: bool = True, **options) -> ar.Model:
    """Beads of different masses on rods of different lengths; the first is free, or hangs on the ground."""
    rng = np.random.default_rng(seed)
    builder = ar.ModelBuilder("lj")
    lengths = np.zeros(len(parents))
    for k, p in enumerate(parents):
        mass, turned = float(rng.uniform(0.5, 2.0)), rng.normal(size=4)
        if p < 0 and loose:
            builder.add_body(f"{k}", mass=mass, joint=ar.Xyz(), q=rng.normal(size=3), u=rng.normal(size=3))
            continue
        lengths[k] = LENGTH * rng.uniform(0.7, 1.3) * (-1 if k % 3 == 2 else 1)
        rod = {"com": (0.0, 0.0, lengths[k]), "joint": ar.Swing(), "q": turned / np.linalg.norm(turned)}
        at = (0.3, -0.2, 0.1) if p < 0 else (0.0, 0.0, lengths[p])
        parent = None if p < 0 else f"{p}"
        builder.add_body(f"{k}", parent=parent, mass=mass, position=at, u=rng.normal(size=2), **rod)
    for force in options.get("forces", ()):
        builder.add_force(force)
    return builder.build()


SHAPES = {
    "chain": [-1, 0, 1, 2, 3, 4],
    "star": [-1, 0, 0, 0, 1, 2],
    "tree": [-1, 0, 1, 1, 2, 2, 4, 0],
}


def places(model: ar.Model, q: np.ndarray) -> np.ndarray:
    """Of the beads, (beads, 3)."""
    x, e = ar.body_poses(model, q)
    return x + np.einsum("kij,kj->ki", matrices(e), model.centres)


def matrices(e: np.ndarray) -> np.ndarray:
    from scipy.spatial.transform import Rotation

    return Rotation.from_quat(e, scalar_first=True).as_matrix()


def velocities(model: ar.Model, q: np.ndarray, u: np.ndarray) -> np.ndarray:
    """Of the beads, (beads, 3)."""
    v = body_velocities(model, q, u)
    R = matrices(ar.body_poses(model, q)[1])
    arms = np.einsum("kij,kj->ki", R, model.centres)
    spin = np.einsum("kij,kj->ki", R, v[:, 3:])
    return v[:, :3] + np.cross(spin, arms)


def held(model: ar.Model, q: np.ndarray, u: np.ndarray, force: np.ndarray) -> np.ndarray:
    """Accelerations of the beads under forces on them: Newton's, with multipliers for the lengths of the rods."""
    x, v, n = places(model, q), velocities(model, q, u), model.bodies
    origin = ar.body_poses(model, q)[0]
    rows, right = [], []
    for k in range(n):
        if not isinstance(model.joints[k], ar.Swing):
            continue
        p = int(model.parents[k])
        d = x[k] - (x[p] if p >= 0 else origin[k])
        w = v[k] - (v[p] if p >= 0 else 0.0)
        row = np.zeros((n, 3))
        row[k] = d
        if p >= 0:
            row[p] = -d
        rows.append(row.ravel())
        right.append(-w @ w)
    G, inverse = np.array(rows), np.repeat(1.0 / model.masses, 3)
    free = inverse * force.ravel()
    tension = np.linalg.solve((G * inverse) @ G.T, np.array(right) - G @ free)
    return (free + inverse * (G.T @ tension)).reshape(n, 3)


def accelerations(model: ar.Model, q: np.ndarray, u: np.ndarray, udot: np.ndarray) -> np.ndarray:
    """Of the beads, by a difference in time along q'' of the coordinates."""
    from articulon.dynamics.multibody_functions import moved

    h = 1e-5
    there = velocities(model, moved(model, q, h * u + 0.5 * h * h * udot), u + h * udot)
    back = velocities(model, moved(model, q, -h * u + 0.5 * h * h * udot), u - h * udot)
    return (there - back) / (2.0 * h)


@pytest.mark.parametrize("solver", ["articulated", "kane", "divide-and-conquer"])
@pytest.mark.parametrize("loose", [True, False], ids=["free", "hanging"])
@pytest.mark.parametrize("shape", SHAPES)
def test_beads_accelerate_as_held_by_multipliers(shape: str, loose: bool, solver: str) -> None:
    model = beads(SHAPES[shape], seed=3, loose=loose)
    rng = np.random.default_rng(1)
    force = rng.normal(size=(model.bodies, 3))
    arms = np.einsum("kij,kj->ki", matrices(ar.body_poses(model, model.q0)[1]), model.centres)
    wrenches = np.concatenate([force, np.cross(arms, force)], axis=1)
    udot = ar.forward_dynamics(model, model.q0, model.u0, wrenches=wrenches, solver=solver)
    found = accelerations(model, model.q0, model.u0, udot)
    # The difference is right to h² of the fourth derivative, and to 1e-16/h of the speeds.
    np.testing.assert_allclose(found, held(model, model.q0, model.u0, force), rtol=1e-7, atol=3e-8)


@pytest.mark.parametrize("shape", SHAPES)
def test_energy_matrix_and_inverse_agree(shape: str) -> None:
    model = beads(SHAPES[shape], seed=5)
    q, u, rng = model.q0, model.u0, np.random.default_rng(2)
    assert model.nu == 3 + 2 * (model.bodies - 1) == 3 * model.bodies - (model.bodies - 1)
    v = velocities(model, q, u)
    kinetic = 0.5 * (model.masses[:, None] * v * v).sum()
    assert ar.kinetic_energy(model, q, u) == pytest.approx(kinetic, rel=1e-13)
    M = ar.mass_matrix(model, q)
    assert 0.5 * u @ M @ u == pytest.approx(kinetic, rel=1e-13)
    udot = rng.normal(size=model.nu)
    tau = ar.inverse_dynamics(model, q, u, udot)
    np.testing.assert_allclose(ar.forward_dynamics(model, q, u, tau=tau), udot, atol=1e-11 * np.linalg.cond(M))
    many = ar.forward_dynamics(model, np.tile(q, (5, 1)), np.outer(np.arange(5.0), u))
    for k in range(5):
        np.testing.assert_allclose(many[k], ar.forward_dynamics(model, q, k * u), atol=1e-12 * np.linalg.cond(M))


def test_a_spin_of_the_frame_changes_nothing() -> None:
    """What turns about a rod moves no bead: with the speeds seen from there, all beads accelerate as before."""
    model = beads(SHAPES["tree"], seed=7)
    q, u = model.q0.copy(), model.u0.copy()
    udot = ar.forward_dynamics(model, q, u)
    before = accelerations(model, q, u, udot)
    k = 1  # turn its frame by an angle, and its children's back by as much
    angle, start = 0.7, int(model.forest.q_start[model.link[k]])
    about = np.array([np.cos(angle / 2), 0.0, 0.0, np.sin(angle / 2)])
    q[start : start + 4] = product(q[start : start + 4], about)
    j = int(model.forest.u_start[model.link[k]])
    c, s = np.cos(angle), np.sin(angle)
    u[j : j + 2] = c * u[j] + s * u[j + 1], c * u[j + 1] - s * u[j]
    for child in np.flatnonzero(model.parents == k):
        at = int(model.forest.q_start[model.link[child]])
        q[at : at + 4] = product(about * [1, -1, -1, -1], q[at : at + 4])
    np.testing.assert_allclose(places(model, q), places(model, model.q0), atol=1e-14)
    np.testing.assert_allclose(velocities(model, q, u), velocities(model, model.q0, model.u0), atol=1e-13)
    after = accelerations(model, q, u, ar.forward_dynamics(model, q, u))
    np.testing.assert_allclose(after, before, rtol=1e-7, atol=3e-8)


def product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    from articulon.model.array_rotations import quaternion_product

    return quaternion_product(a[None], b[None])[0]


def test_what_lies_beside_the_rod_is_refused() -> None:
    def built(**changes) -> ar.ModelBuilder:
        builder = ar.ModelBuilder("lj")
        builder.add_body("root", mass=1.0, joint=ar.Xyz())
        given = {"com": (0.0, 0.0, 1.0), **changes}
        builder.add_body("rod", parent="root", mass=1.0, joint=ar.Swing(), **given)
        return builder

    built().build()
    built(inertia=(0.1, 0.1, 0.0)).build()  # a thin rod
    for changes in ({"com": (0.1, 0.0, 1.0)}, {"inertia": 0.1}):
        with pytest.raises(ar.ModelError, match="body 'rod': a swing joint lets no body spin about its z axis"):
            built(**changes).build()
    builder = built()
    builder.add_body("hinge", parent="rod", mass=1.0, inertia=1.0, joint=ar.Revolute(axis=(1, 0, 0)))
    with pytest.raises(ar.ModelError, match="body 'hinge': its joint has an axis fixed in 'rod'"):
        builder.build()
    builder = built()
    builder.add_body("ball", parent="rod", mass=1.0, inertia=1.0, joint=ar.Spherical(), position=(0.5, 0.0, 1.0))
    with pytest.raises(ar.ModelError, match=r"body 'ball': its joint lies 0\.5 off the z axis"):
        builder.build()
    builder = built()
    builder.add_site("rod", (0.0, 0.2, 1.0))
    with pytest.raises(ar.ModelError, match=r"site 0 of body 'rod' lies 0\.2 off the z axis"):
        builder.build()
    builder = built(com=(0.0, 0.0, 0.0))
    with pytest.raises(ar.ModelError, match="body 'rod': its swing joint rotates it about an axis without inertia"):
        builder.build()
    builder = built()
    with pytest.raises(ar.ModelError, match="a swing joint constrains nothing"):
        builder.add_loop("ring", joint=ar.Swing(), parent="root", child="rod")
