"""Forces are what their energies and their sources say: −∇E along every freedom of every joint, Newton's third law, and
sums over pairs written out in NumPy.

Directions of turning are perturbed by rotations in the body's frame, which is what the angular speeds are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
import numpy as np
import pytest

import articulon as ar
from articulon.errors import ModelError
from tests.support.random_models import quaternion_product, random_quaternion, rotation_by
from tests.support.running import body_axes, turned

EPS = float(np.finfo(float).eps)
UNITS = "zg-nm-ns"
COULOMB = 2.30708e5
"""e²/4πε₀ in zg nm³/ns² (CODATA 2018)."""

JOINTS = ("revolute", "spherical", "prismatic", "universal", "weld", "free", "xyz")


def joint(kind: str, rng: np.random.Generator) -> Any:
    axis = rng.normal(size=3)
    return {
        "revolute": ar.Revolute(axis=tuple(axis)),
        "prismatic": ar.Prismatic(axis=tuple(axis)),
        "universal": ar.Universal(),
        "spherical": ar.Spherical(),
        "xyz": ar.Xyz(),
        "free": ar.Free(),
        "weld": ar.Weld(),
    }[kind]


def coordinates(kind: str, rng: np.random.Generator) -> list[float]:
    translation, e = rng.normal(size=3).tolist(), random_quaternion(rng).tolist()
    if kind in ("revolute", "prismatic"):
        return translation[:1]
    if kind == "universal":
        return translation[:2]
    return {"weld": [], "xyz": translation, "spherical": e, "free": [*translation, *e]}[kind]


def tree(rng: np.random.Generator, kinds: tuple[str, ...], parents: tuple[int | None, ...]) -> tuple[Any, list[Any]]:
    """A builder with one body per kind of joint, far enough apart that no two sites touch."""
    builder = ar.ModelBuilder(units=UNITS)
    bodies: list[Any] = []
    for k, (kind, parent) in enumerate(zip(kinds, parents, strict=True)):
        bodies.append(
            builder.add_body(
                f"{kind}-{k}",
                parent=None if parent is None else bodies[parent],
                joint=joint(kind, rng),
                mass=float(rng.uniform(1.0, 2.0)),
                inertia=(1.0, 1.2, 1.5),
                com=0.3 * rng.normal(size=3),
                position=4.0 * rng.normal(size=3),
                rotation=random_quaternion(rng),
                q=coordinates(kind, rng),
                u=rng.normal(size={"revolute": 1, "prismatic": 1, "universal": 2, "weld": 0, "free": 6}.get(kind, 3)),
            )
        )
    return builder, bodies


def jointed_tree(rng: np.random.Generator) -> tuple[Any, list[Any]]:
    """A branching tree in which every joint carries another one, a second tree, and a body welded to the ground."""
    kinds = ("free", "revolute", "spherical", "prismatic", "weld", "spherical", "xyz", "revolute", "weld", "weld")
    parents = (None, 0, 1, 2, 3, 0, 4, None, 7, None)
    return tree(rng, (*kinds, "universal", "revolute"), (*parents, 5, 10))


def shifted(model: Any, q: np.ndarray, direction: np.ndarray, amount: float) -> np.ndarray:
    """q after a displacement along generalised speeds: quaternions turn in the body's frame."""
    result, j = q.copy(), 0
    k = 0
    for body in np.lexsort((np.arange(model.bodies),)):
        name = model.joint_name(int(body))
        if name == "weld":
            continue
        straight = {"revolute": 1, "prismatic": 1, "universal": 2, "xyz": 3, "free": 3, "spherical": 0}[name]
        result[k : k + straight] += amount * direction[j : j + straight]
        k, j = k + straight, j + straight
        if name in ("spherical", "free"):
            result[k : k + 4] = turned(q[None, k : k + 4], amount * direction[None, j : j + 3])[0]
            k, j = k + 4, j + 3
    assert (k, j) == (model.nq, model.nu)
    return result


def slope(f: Callable[[float], Any], h: float) -> Any:
    """f'(0) by the central difference of fourth order."""
    return (8.0 * (f(h) - f(-h)) - (f(2.0 * h) - f(-2.0 * h))) / (12.0 * h)


def assert_minus_gradient(model: Any, channels: list[str], terms: float, h: float = 2e-3) -> None:
    """−dE/ds along every speed equals the generalised force.

    The bound is the truncation of the difference, which the step and its double show (their errors stand in the ratio
    1 to 16), and the rounding of an energy that is a sum of numbers of size ``terms``.
    """
    q = model.q0
    forces = ar.generalized_forces(model, q, model.u0, channels)
    assert forces.shape == (model.nu,)
    assert np.abs(forces).max() > 0.0
    for k in range(model.nu):
        direction = np.eye(model.nu)[k]

        def energy(s: float, direction: np.ndarray = direction) -> float:
            return ar.potential_energy(model, shifted(model, q, direction, s))

        fine, coarse = slope(energy, h), slope(energy, 2.0 * h)
        bound = 2.0 * abs(fine - coarse) / 15.0 + 20.0 * EPS * terms / h
        assert bound < 1e-5 * np.abs(forces).max(), "the difference itself is too coarse to tell"
        assert abs(forces[k] + fine) <= bound, (k, forces[k], -fine, bound)


def with_sites(builder: Any, bodies: list[Any], rng: np.random.Generator) -> None:
    for n, body in enumerate(bodies):
        for k in range(2):
            builder.add_site(body, 0.5 * rng.normal(size=3), charge=float(rng.normal()), kind="ab"[(n + k) % 2])
    for _ in range(3):
        builder.add_site(None, 4.0 * rng.normal(size=3), charge=float(rng.normal()), kind="wall")


LENNARD_JONES = {
    "a": {"epsilon": 500.0, "sigma": 0.3},
    "b": {"epsilon": 900.0, "sigma": 0.45},
    "wall": {"epsilon": 300.0, "sigma": 0.5},
}


def world_sites(model: Any, q: np.ndarray) -> np.ndarray:
    """World positions of all sites, from the poses of their bodies."""
    x, e = ar.body_poses(model, q)
    places = np.empty((model.sites.body.size, 3))
    for s, (body, local) in enumerate(zip(model.sites.body, model.sites.position, strict=True)):
        places[s] = local if body < 0 else x[body] + body_axes(e[body]) @ local
    return places


def joints_between(model: Any) -> np.ndarray:
    """Number of joints between any two bodies, the ground last; welds join, xyz and free joints bond nothing."""
    n = model.bodies
    distance = np.full((n + 1, n + 1), np.inf)
    np.fill_diagonal(distance, 0.0)
    for body in range(n):
        name = model.joint_name(body)
        length = {"weld": 0.0, "free": np.inf, "xyz": np.inf}.get(name, 1.0)
        parent = int(model.parents[body])
        distance[body, parent] = distance[parent, body] = min(distance[body, parent], length)
    for k in range(n + 1):
        distance = np.minimum(distance, distance[:, k : k + 1] + distance[k : k + 1, :])
    return distance


def brute_force(
    model: Any, q: np.ndarray, law: Callable[[int, int], tuple[float, float, float]], excluded: int = 0
) -> tuple[float, np.ndarray, float]:
    """Energy, forces on sites (sites, 3) and the sum of the terms' magnitudes, by the definition, pair by pair."""
    sites, x, apart = model.sites, world_sites(model, q), joints_between(model)
    energy, terms, forces = 0.0, 0.0, np.zeros_like(x)
    still = apart[-1] == 0.0  # welded to the ground
    for s in range(len(x)):
        for p in range(s):
            b, c = int(sites.body[s]), int(sites.body[p])
            if apart[b, c] <= excluded or (still[b] and still[c]):
                continue
            A, B, C = law(s, p)
            d = x[s] - x[p]
            r = float(np.linalg.norm(d))
            energy += A / r**12 - B / r**6 + C / r
            terms += abs(A / r**12) + abs(B / r**6) + abs(C / r)
            pull = (12.0 * A / r**13 - 6.0 * B / r**7 + C / r**2) / r * d
            forces[s] += pull
            forces[p] -= pull
    return energy, forces, terms


def projected(model: Any, q: np.ndarray, on_sites: np.ndarray, h: float = 1e-3) -> np.ndarray:
    """Generalised forces of forces at sites, by virtual work: Q_k = Σ F·∂x/∂s_k."""
    return np.array(
        [
            (on_sites * slope(lambda s, d=d: world_sites(model, shifted(model, q, d, s)), h)).sum()
            for d in np.eye(model.nu)
        ]
    )


def mixed(model: Any, mixing: str, permittivity: float) -> Callable[[int, int], tuple[float, float, float]]:
    def law(s: int, p: int) -> tuple[float, float, float]:
        one, two = (LENNARD_JONES[model.sites.kinds[model.sites.kind[k]]] for k in (s, p))
        epsilon = np.sqrt(one["epsilon"] * two["epsilon"])
        if mixing == "geometric":
            sigma = np.sqrt(one["sigma"] * two["sigma"])
        else:
            sigma = (one["sigma"] + two["sigma"]) / 2.0
        C = COULOMB * model.sites.charge[s] * model.sites.charge[p] / permittivity
        return 4.0 * epsilon * sigma**12, 4.0 * epsilon * sigma**6, C

    return law


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_pair_forces_are_minus_the_gradient_of_the_energy(seed: int) -> None:
    rng = np.random.default_rng([seed, 51])
    builder, bodies = jointed_tree(rng)
    with_sites(builder, bodies, rng)
    builder.add_force(
        ar.forces.SitePairs(parameters=LENNARD_JONES, relative_permittivity=80.0, excluded_joints=seed % 3)
    )
    model = builder.build()
    terms = brute_force(model, model.q0, mixed(model, "lorentz-berthelot", 80.0))[2]
    assert_minus_gradient(model, ["potential"], terms)


@pytest.mark.parametrize("mixing", ["lorentz-berthelot", "geometric"])
@pytest.mark.parametrize("excluded", [0, 1, 2, 3])
@pytest.mark.parametrize("seed", range(3))
def test_pair_energy_and_forces_are_sums_over_pairs(mixing: Any, excluded: int, seed: int) -> None:
    """Mixing rules, charges in a medium and exclusions by joints, against the definition written out in NumPy."""
    rng = np.random.default_rng([seed, 52])
    builder, bodies = jointed_tree(rng)
    with_sites(builder, bodies, rng)
    builder.add_force(
        ar.forces.SitePairs(
            parameters=LENNARD_JONES, mixing=mixing, relative_permittivity=5.0, excluded_joints=excluded
        )
    )
    model = builder.build()
    # CODATA's digits of e²/4πε₀ bound the agreement: six are written above.
    assert model.units.coulomb == pytest.approx(COULOMB, rel=1e-5)
    energy, on_sites, terms = brute_force(
        model, model.q0, mixed(model, mixing, 5.0 * COULOMB / model.units.coulomb), excluded
    )
    assert abs(ar.potential_energy(model, model.q0) - energy) <= 200.0 * EPS * terms
    forces = ar.generalized_forces(model, model.q0, model.u0, ["potential"])
    expected = projected(model, model.q0, on_sites)
    # Virtual displacements by differences are good to some 1e-12 of the distances involved.
    assert np.abs(forces - expected).max() <= 1e-10 * np.abs(on_sites).sum() * 30.0


@pytest.mark.slow
def test_a_table_gives_each_pair_of_kinds_its_own_law() -> None:
    rng = np.random.default_rng(53)
    builder, bodies = jointed_tree(rng)
    with_sites(builder, bodies, rng)
    kinds = ("a", "b", "wall")
    laws = {(k, m): tuple(rng.uniform(0.5, 2.0, size=3)) for i, k in enumerate(kinds) for m in kinds[i:]}
    laws["a", "b"] = (0.0, 0.0, -3.0)
    laws["b", "wall"] = (0.0, 2.0, 0.0)
    del laws["wall", "wall"]
    builder.add_force(
        ar.forces.SitePairs(
            table=tuple(ar.forces.PairLaw(kinds=k, A=a, B=b, C=c) for k, (a, b, c) in laws.items()), excluded_joints=1
        )
    )
    model = builder.build()

    def law(s: int, p: int) -> tuple[float, float, float]:
        pair = tuple(sorted(model.sites.kinds[model.sites.kind[k]] for k in (s, p)))
        return laws[pair]  # type: ignore[index,return-value]

    energy, on_sites, terms = brute_force(model, model.q0, law, 1)
    assert abs(ar.potential_energy(model, model.q0) - energy) <= 200.0 * EPS * terms
    forces = ar.generalized_forces(model, model.q0, model.u0, ["potential"])
    assert np.abs(forces - projected(model, model.q0, on_sites)).max() <= 3e-9 * np.abs(on_sites).sum()
    assert_minus_gradient(model, ["potential"], terms)


def test_a_site_that_is_alone_of_its_kind_meets_the_others() -> None:
    builder = ar.ModelBuilder(units="kg-m-s")
    builder.add_site(builder.add_body("a", mass=1, inertia=1, joint=ar.Free()), kind="A")
    builder.add_site(None, position=(0, 0, 0.5), kind="B")
    laws = {kind: {"epsilon": 2.0, "sigma": 0.4} for kind in "AB"}
    builder.add_force(ar.forces.SitePairs(parameters=laws, mixing="geometric"))
    model = builder.build()
    expected = 4 * 2.0 * (0.8**12 - 0.8**6)
    assert ar.potential_energy(model, model.q0) == pytest.approx(expected, rel=1e-14)


def test_only_the_named_groups_meet() -> None:
    rng = np.random.default_rng(54)
    builder = ar.ModelBuilder(units=UNITS)
    groups = ("ligand", "receptor", "solvent")
    team = []
    for k in range(9):
        body = builder.add_body(f"ion-{k}", mass=1.0, joint=ar.Xyz(), q=3.0 * rng.normal(size=3))
        builder.add_site(body, kind="ion", group=groups[k % 3])
        team.append(k % 3)
    law = (0.3, 0.7, 1.1)
    builder.add_force(
        ar.forces.SitePairs(
            table=(ar.forces.PairLaw(kinds=("ion", "ion"), A=law[0], B=law[1], C=law[2]),),
            between=(("receptor", "ligand"), ("solvent", "solvent")),
        )
    )
    model = builder.build()

    def chosen(s: int, p: int) -> tuple[float, float, float]:
        met = {team[s], team[p]} in ({0, 1}, {2})
        return law if met else (0.0, 0.0, 0.0)

    energy, on_sites, terms = brute_force(model, model.q0, chosen)
    assert abs(ar.potential_energy(model, model.q0) - energy) <= 100.0 * EPS * terms
    forces = ar.generalized_forces(model, model.q0, model.u0, ["potential"]).reshape(-1, 3)
    assert np.abs(forces - on_sites).max() <= 100.0 * EPS * np.abs(on_sites).sum()
    assert np.abs(on_sites[2::3]).min() > 0.0


def test_pair_forces_obey_newtons_third_law() -> None:
    """Without sites on the ground the forces on free particles, and their moments, cancel."""
    rng = np.random.default_rng(55)
    builder = ar.ModelBuilder(units=UNITS)
    for k in range(40):
        body = builder.add_body(f"ion-{k}", mass=1.0, joint=ar.Xyz(), q=2.0 * rng.normal(size=3))
        builder.add_site(body, charge=float(rng.normal()), kind="ab"[k % 2])
    builder.add_force(ar.forces.SitePairs(parameters=LENNARD_JONES))
    model = builder.build()
    forces = ar.generalized_forces(model, model.q0, model.u0, ["potential"]).reshape(-1, 3)
    x = model.q0.reshape(-1, 3)
    _, on_sites, _ = brute_force(model, model.q0, mixed(model, "lorentz-berthelot", 1.0))
    size = np.abs(on_sites).sum()
    assert np.abs(forces.sum(axis=0)).max() <= 40.0 * EPS * size
    assert np.abs(np.cross(x, forces).sum(axis=0)).max() <= 40.0 * EPS * size * np.abs(x).max()


def test_like_charges_repel_with_coulombs_force() -> None:
    """Two elementary charges 1 nm apart in water: 2.307e5/80 zg nm/ns²."""
    builder = ar.ModelBuilder(units=UNITS)
    for k in range(2):
        ion = builder.add_body(f"ion-{k}", mass=1.0, joint=ar.Xyz(), q=(float(k), 0.0, 0.0))
        builder.add_site(ion, charge="1 e", kind="ion")
    builder.add_force(
        ar.forces.SitePairs(parameters={"ion": {"epsilon": 0.0, "sigma": 1.0}}, relative_permittivity=80.0)
    )
    model = builder.build()
    forces = ar.generalized_forces(model, model.q0, model.u0, ["potential"])
    assert forces[3] == pytest.approx(COULOMB / 80.0, rel=1e-5)
    assert forces[0] == -forces[3]
    assert np.abs(forces[[1, 2, 4, 5]]).max() == 0.0


@pytest.mark.parametrize("seed", range(3))
def test_springs_are_minus_the_gradient_of_the_energy(seed: int) -> None:
    rng = np.random.default_rng([seed, 56])
    builder, bodies = jointed_tree(rng)
    hinges = [body.name for body in bodies if body.name.split("-")[0] in ("revolute", "spherical")]
    rests: dict[str, Any] = {
        name: 0.4 if name.startswith("revolute") else tuple(random_quaternion(rng)) for name in hinges[1:]
    }
    builder.add_force(
        ar.forces.TorsionalSprings(stiffness={name: float(rng.uniform(1.0, 3.0)) for name in hinges}, rest=rests)
    )
    model = builder.build()
    assert_minus_gradient(model, ["conformational"], ar.potential_energy(model, model.q0))


@pytest.mark.parametrize("angle", [1e-9, 1e-4, 0.7, 3.0, 3.14, -2.5])
def test_a_spherical_spring_pulls_back_along_the_rotation_vector(angle: float) -> None:
    """Torque −k φ in the body's frame, energy ½ k φ², whatever the rest and for either sign of the Euler parameters."""
    rng = np.random.default_rng(57)
    rest, axis = random_quaternion(rng), np.array([2.0, -1.0, 2.0]) / 3.0
    for sign in (1.0, -1.0):
        builder = ar.ModelBuilder(units=UNITS)
        builder.add_body(
            "ball",
            mass=1.0,
            inertia=1.0,
            joint=ar.Spherical(),
            q=sign * quaternion_product(rest, rotation_by(axis, angle)),
        )
        builder.add_force(ar.forces.TorsionalSprings(stiffness={"ball": 2.5}, rest={"ball": tuple(rest)}))
        model = builder.build()
        torque = ar.generalized_forces(model, model.q0, model.u0)
        # Euler parameters are rounded to ε, the angle to a few ε of a turn.
        assert torque == pytest.approx(-2.5 * angle * axis, rel=1e-14, abs=20.0 * EPS)
        assert ar.potential_energy(model, model.q0) == pytest.approx(
            1.25 * angle**2, rel=1e-14, abs=100.0 * EPS * abs(angle)
        )


def test_a_revolute_spring_counts_whole_turns() -> None:
    builder = ar.ModelBuilder(units=UNITS)
    builder.add_body("hinge", mass=1.0, inertia=1.0, joint=ar.Revolute(axis=(0, 0, 1)), q=(7.0,))
    builder.add_force(ar.forces.TorsionalSprings(stiffness={"hinge": 2.0}, rest={"hinge": 0.5}))
    model = builder.build()
    assert ar.generalized_forces(model, model.q0, model.u0) == pytest.approx([-13.0], rel=1e-15)
    assert ar.potential_energy(model, model.q0) == pytest.approx(42.25, rel=1e-15)


@pytest.mark.parametrize("seed", range(3))
def test_springs_at_their_initial_position_rest(seed: int) -> None:
    rng = np.random.default_rng([seed, 58])
    builder, bodies = jointed_tree(rng)
    hinges = [body.name for body in bodies if body.name.split("-")[0] in ("revolute", "spherical")]
    builder.add_force(
        ar.forces.TorsionalSprings(stiffness=dict.fromkeys(hinges, 2.0), rest=dict.fromkeys(hinges, "initial"))
    )
    model = builder.build()
    assert np.abs(ar.generalized_forces(model, model.q0, model.u0)).max() <= 20.0 * EPS


@pytest.mark.parametrize("seed", range(3))
def test_gravity_is_minus_the_gradient_of_the_energy(seed: int) -> None:
    rng = np.random.default_rng([seed, 59])
    builder, _ = jointed_tree(rng)
    builder.add_force(ar.forces.Gravity(acceleration=(1.0, -2.0, -9.0)))
    model = builder.build()
    terms = float((model.masses * 20.0 * 10.0).sum())
    assert_minus_gradient(model, ["external"], terms)


@pytest.mark.parametrize("seed", range(3))
def test_gravity_accelerates_as_the_inertial_frame(seed: int) -> None:
    """The force of the channel and the gravity of forward dynamics give the same accelerations."""
    rng = np.random.default_rng([seed, 60])
    builder, _ = jointed_tree(rng)
    g = rng.normal(size=3)
    builder.add_force(ar.forces.Gravity(acceleration=tuple(g)))
    model = builder.build()
    tau = ar.generalized_forces(model, model.q0, model.u0, ["external"])
    one = ar.forward_dynamics(model, model.q0, model.u0, tau=tau)
    other = ar.forward_dynamics(model, model.q0, model.u0, gravity=g)
    condition = float(np.linalg.cond(ar.mass_matrix(model, model.q0)))
    assert np.abs(one - other).max() <= 20.0 * EPS * condition * np.abs(other).max()


@pytest.mark.slow
def test_all_conservative_terms_together_are_minus_the_gradient() -> None:
    rng = np.random.default_rng(61)
    builder, bodies = jointed_tree(rng)
    with_sites(builder, bodies, rng)
    hinges = [body.name for body in bodies if body.name.split("-")[0] in ("revolute", "spherical")]
    builder.add_force(ar.forces.SitePairs(parameters=LENNARD_JONES, relative_permittivity=80.0, excluded_joints=1))
    builder.add_force(ar.forces.TorsionalSprings(stiffness=dict.fromkeys(hinges, 300.0)))
    builder.add_force(ar.forces.Gravity(acceleration=(10.0, 200.0, 30.0)))
    model = builder.build()
    terms = brute_force(model, model.q0, mixed(model, "lorentz-berthelot", 80.0))[2] + 3e5
    channels = ["potential", "conformational", "external"]
    assert_minus_gradient(model, channels, terms)
    parts = sum(ar.generalized_forces(model, model.q0, model.u0, [name]) for name in channels)
    whole = ar.generalized_forces(model, model.q0, model.u0)
    assert np.abs(whole - parts).max() <= 100.0 * EPS * np.abs(parts).max()


def test_all_conservative_forces_vanish_from_no_channel() -> None:
    builder = ar.ModelBuilder(units=UNITS)
    builder.add_body("ball", mass=1.0, inertia=1.0, joint=ar.Free())
    builder.add_force(ar.forces.Gravity(acceleration=(0.0, 0.0, -9.0)))
    model = builder.build()
    assert ar.generalized_forces(model, model.q0, model.u0, []).tolist() == [0.0] * 6
    with pytest.raises(ModelError, match="potentail"):
        ar.generalized_forces(model, model.q0, model.u0, ["potentail"])


@pytest.mark.parametrize("seed", range(3))
def test_drag_is_minus_the_gradient_of_rayleighs_function(seed: int) -> None:
    """Γ_d = −∂R/∂u with R = ½ Σ β |v_c − flow|² + ½ β_ω |ω|², v_c the velocity of the centre of mass.

    Velocities come from differences of the poses along u, so that they share nothing with the engine's.
    """
    rng = np.random.default_rng([seed, 62])
    builder, bodies = jointed_tree(rng)
    flow = rng.normal(size=3)
    translational = {body.name: float(rng.uniform(0.5, 2.0)) for body in bodies}
    rotational = {body.name: float(rng.uniform(0.5, 2.0)) for body in bodies}
    builder.add_force(ar.forces.StokesDrag(translational=translational, rotational=rotational, flow=tuple(flow)))
    model = builder.build()
    q, u = model.q0, model.u0
    _, e = ar.body_poses(model, q)
    axes = body_axes(e)

    def motion(direction: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Velocities of the centres of mass and world angular velocities that belong to generalised speeds."""

        def centre(s: float) -> np.ndarray:
            x, turn = ar.body_poses(model, shifted(model, q, direction, s))
            return x + np.einsum("bij,bj->bi", body_axes(turn), model.centres)

        def rotation(s: float) -> np.ndarray:
            return body_axes(ar.body_poses(model, shifted(model, q, direction, s))[1])

        spin = np.einsum("bij,bkj->bik", slope(rotation, 1e-3), axes)
        return slope(centre, 1e-3), np.stack([spin[:, 2, 1], spin[:, 0, 2], spin[:, 1, 0]], axis=1)

    columns = [motion(d) for d in np.eye(model.nu)]
    v = sum(speed * column[0] for speed, column in zip(u, columns, strict=True))
    w = sum(speed * column[1] for speed, column in zip(u, columns, strict=True))
    b = np.array([translational[name] for name in model.names])[:, None]
    bw = np.array([rotational[name] for name in model.names])[:, None]
    expected = [-(b * (v - flow) * vk + bw * w * wk).sum() for vk, wk in columns]
    damping = ar.generalized_forces(model, q, u, ["damping"])
    assert damping == pytest.approx(np.array(expected), rel=1e-9, abs=1e-9 * np.abs(damping).max())


def test_a_drag_shared_by_mass_adds_up() -> None:
    """Guy (2018), section 2.4: a total drag is shared among the components in proportion to their masses."""
    builder = ar.ModelBuilder(units=UNITS)
    for k, mass in enumerate((1.0, 2.0, 5.0)):
        builder.add_body(f"part-{k}", mass=mass, inertia=1.0, joint=ar.Free())
    builder.add_force(ar.forces.StokesDrag(translational=16.0, rotational=8.0, shared_by_mass=True))
    model = builder.build()
    forces = ar.generalized_forces(model, model.q0, np.ones(model.nu), ["damping"]).reshape(3, 6)
    assert forces[:, 0] == pytest.approx([-2.0, -4.0, -10.0], rel=1e-15)
    assert forces[:, 3] == pytest.approx([-1.0, -2.0, -5.0], rel=1e-15)


def spring_to_origin(time, positions, rotations, velocities, parameters, wrenches):  # type: ignore[no-untyped-def]
    for k in range(positions.shape[0]):
        for i in range(3):
            wrenches[k, i] += -parameters[0] * positions[k, i] + time * velocities[k, i] + rotations[k, i]
            wrenches[k, i + 3] += parameters[1] * velocities[k, i + 3]


@pytest.mark.slow
@pytest.mark.parametrize("compiled", [True, False])
def test_a_users_force_acts_at_the_origins_of_the_bodies(compiled: bool) -> None:
    """Jitted and plain Python, on every kind of joint: the virtual work of what it writes at the bodies' origins."""
    rng = np.random.default_rng(63)
    builder, _ = jointed_tree(rng)
    function = numba.njit(spring_to_origin) if compiled else spring_to_origin
    builder.add_force(ar.forces.UserForce(function=function, parameters=(2.0, -0.7), channel="contact"))
    model = builder.build()
    q, u = model.q0, model.u0
    x, e = ar.body_poses(model, q)
    axes = body_axes(e)

    def turn(s: float, d: np.ndarray) -> np.ndarray:
        return body_axes(ar.body_poses(model, shifted(model, q, d, s))[1])

    columns = []
    for d in np.eye(model.nu):
        v = slope(lambda s, d=d: ar.body_poses(model, shifted(model, q, d, s))[0], 1e-3)
        spin = np.einsum("bij,bkj->bik", slope(lambda s, d=d: turn(s, d), 1e-3), axes)
        columns.append((v, np.stack([spin[:, 2, 1], spin[:, 0, 2], spin[:, 1, 0]], axis=1)))
    w = sum(speed * column[1] for speed, column in zip(u, columns, strict=True))
    # At time zero the velocities do not enter the force.
    force, moment = -2.0 * x + e[:, :3], -0.7 * w
    expected = np.array([(force * v + moment * n).sum() for v, n in columns])
    found = ar.generalized_forces(model, q, u, ["contact"])
    # e and −e are one rotation; the force reads the one that the poses report.
    assert found == pytest.approx(expected, rel=1e-8, abs=1e-9 * np.abs(expected).max())
    assert ar.generalized_forces(model, q, u, ["external"]).tolist() == [0.0] * model.nu


def test_an_error_in_a_users_force_reaches_the_user() -> None:
    def broken(time, positions, rotations, velocities, parameters, wrenches):  # type: ignore[no-untyped-def]
        raise ValueError("no such medium")

    builder = ar.ModelBuilder(units=UNITS)
    builder.add_body("ion", mass=1.0, joint=ar.Xyz())
    builder.add_force(ar.forces.UserForce(function=broken))
    model = builder.build()
    with pytest.raises(ValueError, match="no such medium"):
        ar.generalized_forces(model, model.q0, model.u0)


@pytest.mark.parametrize(
    ("declared", "message"),
    [
        ({"table": ()}, "table or parameters"),
        ({"parameters": LENNARD_JONES, "relative_permittivity": 0.0}, "relative_permittivity"),
        ({"parameters": LENNARD_JONES, "excluded_joints": -1}, "excluded_joints"),
        ({"parameters": {"a": {"epsilon": 1.0, "sigma": 0.0}}}, "sigma"),
    ],
)
def test_impossible_pair_laws_are_refused(declared: dict[str, Any], message: str) -> None:
    builder = ar.ModelBuilder(units=UNITS)
    for k in range(2):
        builder.add_site(builder.add_body(f"ion-{k}", mass=1.0, joint=ar.Xyz()), kind="ab"[k])
    with pytest.raises((ValueError, ar.ArticulonError), match=message):
        builder.add_force(ar.forces.SitePairs(**declared))


@pytest.mark.parametrize(
    ("force", "message"),
    [
        (ar.forces.SitePairs(parameters={"a": {"epsilon": 1.0, "sigma": 1.0}}), "kind 'b' is missing"),
        (ar.forces.SitePairs(parameters=LENNARD_JONES, between=(("a", "recptor"),)), "recptor"),
        (ar.forces.SitePairs(table=(ar.forces.PairLaw(kinds=("a", "c"), A=1.0),)), "kind 'c'"),
        (ar.forces.TorsionalSprings(stiffness={"ion-0": 1.0}), "xyz joint"),
        (ar.forces.StokesDrag(translational={"ion-0": 1.0}), "no value for body 'ion-1'"),
        (ar.forces.Brownian(temperature=300.0), "stokes-drag"),
    ],
)
def test_forces_that_the_model_cannot_have_are_refused(force: Any, message: str) -> None:
    builder = ar.ModelBuilder(units=UNITS)
    for k in range(2):
        builder.add_site(builder.add_body(f"ion-{k}", mass=1.0, joint=ar.Xyz()), kind="ab"[k])
    builder.add_force(force)
    with pytest.raises(ModelError, match=message):
        builder.build()
