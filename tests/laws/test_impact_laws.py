"""Newton's, Poisson's and Stronge's laws with Coulomb friction, and impacts at one instant: energy never rises."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import articulon as ar
from articulon.forces.impacts.impact_laws import Touching, in_turn
from articulon.forces.impacts.linear_complementarity import lemke
from articulon.forces.impacts.simultaneous_impacts import at_once, jammed_contacts
from articulon.forces.impacts.single_impact import _Impact, impact_with_friction

LAWS = ("newton", "poisson", "energetic")


def contact(rng: np.random.Generator, planar: bool) -> tuple[np.ndarray, np.ndarray]:
    """A random J M⁻¹ Jᵀ of one contact, and velocities of approach."""
    if planar:
        A, B = np.diag([0.0, 0.0, 1.0]), rng.normal(size=(2, 2))
        A[:2, :2] = B @ B.T + 0.01 * np.eye(2)
        return A, np.array([-1.0, rng.normal(), 0.0])
    B = rng.normal(size=(3, 3))
    return B @ B.T + 0.01 * np.eye(3), np.array([-1.0, *rng.normal(size=2)])


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("planar", [True, False])
def test_no_law_adds_energy_or_leaves_the_cone_of_friction(law: str, planar: bool) -> None:
    rng = np.random.default_rng(3)
    for _ in range(60):
        A, v = contact(rng, planar)
        e, mu = rng.uniform(0.0, 1.0), rng.uniform(0.0, 1.5)
        p = impact_with_friction(A, v, e, mu, law)
        after = v + A @ p
        # A slip that turns is followed to the fourth order in 1 %.
        assert 0.5 * float((v + after) @ p) < 1e-9
        assert after[0] > -1e-12
        assert np.linalg.norm(p[1:]) < mu * p[0] * (1.0 + 1e-9)


def test_newtons_law_alone_would_add_energy() -> None:
    """The trap of Kane and Levinson: v_n⁺ = −e v_n⁻ with friction may gain energy; ours ends sooner."""
    rng = np.random.default_rng(5)
    trapped = 0
    for _ in range(200):
        A, v = contact(rng, True)
        mu = rng.uniform(0.3, 1.5)
        p = impact_with_friction(A, v, 0.9, mu, "newton")
        after = v + A @ p
        if after[0] > 0.9 - 1e-12:
            continue
        bare = _Impact(A, v, 0.9, mu, "newton")
        bare._left = lambda rate, bare=bare: (  # the law alone
            ((0.0 if bare.compressing else 0.9) - bare.v[0]) / rate[0] if rate[0] > 0.0 else np.inf
        )
        while not bare.part():
            pass
        gained = 0.5 * float((v + bare.v) @ bare.impulse)
        trapped += gained > 1e-3
        assert 0.5 * float((v + after) @ p) <= 1e-12
    assert trapped > 3


@pytest.mark.parametrize("law", LAWS)
def test_a_ball_thrown_at_a_floor_leaves_as_the_closed_form_says(law: str) -> None:
    """A solid ball: all along it slips, by μ (1 + e) v_n, or it ends its slip and rolls, with 5/7 of its speed."""
    m, R, e = 2.0, 0.3, 0.6
    across = 1.0 / m + R * R / (0.4 * m * R * R)
    A = np.diag([1.0 / m, across, across])
    for mu, slip in ((0.1, 3.0), (0.8, 1.0)):
        v = np.array([-2.0, 0.6 * slip, 0.8 * slip])
        p = impact_with_friction(A, v, e, mu, law)
        assert p[0] == pytest.approx(m * (1.0 + e) * 2.0, rel=1e-14)
        after = (v + A @ p)[1:]
        slides = slip - mu * p[0] * across
        assert np.linalg.norm(after) == pytest.approx(max(slides, 0.0), abs=1e-14)


def test_stronges_restitution_is_that_of_works() -> None:
    """The work that the normal impulse gives back is e² of what it took, also where the slip turns round on its way."""
    rng = np.random.default_rng(7)
    for _ in range(40):
        A, v = contact(rng, True)
        impact = _Impact(A, v, 0.7, 0.6, "energetic")
        while not impact.part():
            pass
        assert impact.work == pytest.approx(impact.taken * (1.0 - 0.49), rel=1e-12)


def touching(A: np.ndarray, v: np.ndarray, e: Any, mu: float = 0.0, per: int = 1) -> Touching:
    n = len(v) // per
    ones = np.ones(n)
    return Touching(A, v, 1e-13 * ones, e * ones, mu * ones, -ones, per)


def test_newtons_cradle_in_turn_and_at_once() -> None:
    """Equal balls 1-2-3 in a row: (1, 0, 0) becomes (0, 0, 1) in turn, and (−1, 2, 2)/3 at once."""
    J = np.array([[-1.0, 1.0, 0.0], [0.0, -1.0, 1.0]])
    u = np.array([1.0, 0.0, 0.0])
    t = touching(J @ J.T, J @ u, 1.0)
    assert u + J.T @ in_turn(t).impulse == pytest.approx([0.0, 0.0, 1.0], abs=1e-15)
    for law in ("newton", "poisson"):
        assert u + J.T @ at_once(t, law).impulse == pytest.approx(np.array([-1.0, 2.0, 2.0]) / 3.0, abs=1e-15)


@pytest.mark.parametrize("law", ["newton", "poisson"])
@pytest.mark.parametrize("mu", [0.0, 0.4, 1.5])
def test_impacts_at_once_never_add_energy(law: str, mu: float) -> None:
    """Random systems of up to six contacts, with restitutions that differ, most of them redundant: energy never rises,
    nothing pulls or penetrates, and without friction whatever bounces faster than the law says is not pushed."""
    rng = np.random.default_rng(11)
    per, less = 3 if mu else 1, 0
    for k in range(150):
        n, nu = int(rng.integers(1, 7)), int(rng.integers(3, 9))
        J = rng.normal(size=(n * per, nu))
        if n > 2 and k % 3 == 0:
            J[:per] = J[per : 2 * per]
        u = rng.normal(size=nu)
        t = touching(J @ J.T, J @ u, rng.uniform(0.0, 1.0, n), mu, per)
        if not (t.velocity[:: t.per] < 0.0).any():
            continue
        found = at_once(t, law)
        less += found.reduced > 0
        assert found.ended
        after = u + J.T @ found.impulse
        normal = found.impulse[:: t.per]
        assert normal.min() >= 0.0
        assert (J @ after)[:: t.per].min() > -1e-10
        if mu:
            across = np.linalg.norm(found.impulse.reshape(n, 3)[:, 1:], axis=1)
            assert (across <= mu * normal * (1.0 + 1e-9) + 1e-12).all()
        elif law == "newton":
            aimed = np.maximum(-t.velocity, 0.0) * t.restitution
            assert (J @ after)[normal > 1e-9] == pytest.approx(aimed[normal > 1e-9], abs=1e-8) or found.reduced
        assert 0.5 * float(after @ after - u @ u) < 1e-10
        assert 0.5 * float(after @ after - u @ u) == pytest.approx(found.energy, abs=1e-10)
    assert (less > 0) == (law == "newton")


def corridor(slope: float = 0.0) -> np.ndarray:
    """Rows of a disc between two walls, which lean apart by a slope, of a floor, and of a second disc on the floor;
    the walls and the floor with their tangents."""
    left, right = np.array([1.0, slope]), np.array([-1.0, slope])
    J = np.zeros((12, 6))  # x, y and rotation of both
    for k, (n, at) in enumerate(((left, 0), (right, 0), (np.array([0.0, 1.0]), 0), (np.array([0.0, 1.0]), 3))):
        n = n / np.linalg.norm(n)
        J[3 * k, at : at + 2] = n
        J[3 * k + 1, at : at + 3] = -n[1], n[0], 1.0
    return J


def test_what_is_wedged_between_walls_keeps_its_other_bounces() -> None:
    """A disc between two walls without a gap bounces off neither, and off the floor as the floor's restitution says;
    what hits elsewhere at the same instant is not concerned."""
    J = corridor()[::3]
    u = np.array([-1.0, -2.0, 0.0, 0.3, -3.0, 0.0])
    e = np.array([0.9, 0.4, 0.5, 0.8])
    t = touching(J @ J.T, J @ u, e)
    assert jammed_contacts(t, cones=False).tolist() == [True, True, False, False]
    found = at_once(t)
    assert u + J.T @ found.impulse == pytest.approx([0.0, 1.0, 0.0, 0.3, 2.4, 0.0], abs=1e-12)
    assert (found.reduced, found.reduced_most) == (1, 0)  # the other wall was not approached
    by_poisson = at_once(t, "poisson")
    assert by_poisson.reduced == 0
    assert u + J.T @ by_poisson.impulse == pytest.approx([0.0, 1.0, 0.0, 0.3, 2.4, 0.0], abs=1e-12)


@pytest.mark.parametrize(("mu", "jams"), [(0.4, False), (0.6, True)])
def test_friction_jams_a_wedge_where_its_cones_see_each_other(mu: float, jams: bool) -> None:
    """Walls that lean by arctan 1/2 hold a disc by friction from μ = 1/2 on: then no impulse throws it out."""
    J = np.delete(corridor(0.5), np.s_[6:], axis=0)
    u = np.array([0.0, -1.0, 0.0, 0.0, 0.0, 0.0])
    t = touching(J @ J.T, J @ u, 0.7, mu, 3)
    assert not jammed_contacts(t, cones=False).any()
    assert jammed_contacts(t, cones=True).tolist() == [jams, jams]
    found = at_once(t)
    after = u + J.T @ found.impulse
    assert found.ended
    assert 0.5 * float(after @ after - u @ u) == pytest.approx(found.energy, abs=1e-12)
    if jams:
        assert found.reduced == 2
        assert after == pytest.approx(0.0, abs=1e-9)


def test_a_run_says_that_restitution_was_reduced_and_where() -> None:
    """A ball between two walls without a gap, thrown at one of them and at the floor."""
    b = ar.ModelBuilder("kg-m-s")
    b.add_body("ball", mass=1.0, inertia=0.1, joint=ar.Free(), q=(0, 0, 1.5, 1, 0, 0, 0), u=(1, 0, -1.0, 0, 0, 0))
    b.add_site("ball", kind="steel", radius=0.5)
    planes = [((-0.5, 0, 0), (1, 0, 0), "left"), ((0.5, 0, 0), (-1, 0, 0), "right"), ((0, 0, 0), (0, 0, 1), "floor")]
    walls = [ar.forces.Plane(point=point, normal=normal, kind=kind) for point, normal, kind in planes]
    b.add_force(ar.forces.Impacts(restitution=0.5, walls=walls, simultaneous="complementarity"))
    run = ar.simulate(b.build(), 1.5, rule="rk4", step=0.1, frames=1)
    assert run.u[-1, :3] == pytest.approx([0.0, 0.0, 0.5], abs=1e-12)
    assert run.summary["impacts"]["restitution_reduced"] == 1
    said = [note for note in run.notes if "got less than their coefficient of restitution" in note]
    assert len(said) == 1
    assert "'ball'" in said[0]
    assert said[0] in run.summary["notes"] or any(said[0].endswith(note) for note in run.summary["notes"])


def test_lemke_solves_what_has_a_solution() -> None:
    """Semidefinite problems of any rank: w, z ≥ 0 and wᵀz = 0, to rounding of the way."""
    rng = np.random.default_rng(13)
    for k in range(100):
        n = int(rng.integers(1, 12))
        B = rng.normal(size=(n, int(rng.integers(1, n + 1))))
        M = B @ B.T
        q = -M @ np.abs(rng.normal(size=n)) if k % 2 else B @ rng.normal(size=B.shape[1])
        z = lemke(M, q)
        assert z is not None
        w, size = M @ z + q, float(np.abs(q).max())
        assert w.min() > -1e-8 * size
        assert z.min() >= 0.0
        assert abs(w @ z) < 1e-8 * size**2
    assert lemke(np.array([[-1.0]]), np.array([-1.0])) is None


def pendulum_on_floor(mu: float, **law: Any) -> Any:
    """Kane and Levinson's double pendulum, whose tip comes down on a floor."""
    b = ar.ModelBuilder("kg-m-s")
    y = (0, 1, 0)
    rod = {"mass": 1.0, "inertia": (1e-3, 1.0 / 12.0, 1.0 / 12.0), "com": (0.5, 0, 0)}
    b.add_body("upper", joint=ar.Revolute(axis=y), q=1.0, u=-0.5, **rod)
    b.add_body("lower", parent="upper", position=(1, 0, 0), joint=ar.Revolute(axis=y), q=-0.9, u=3.0, **rod)
    b.add_site("lower", position=(1, 0, 0), kind="tip", radius=0.01)
    floor = {"shape": "plane", "kind": "floor", "point": (0, 0, -1.2), "normal": (0, 0, 1)}
    b.add_force(ar.forces.Impacts(friction=mu, walls=[floor], **law))
    return b.build()


@pytest.mark.parametrize("law", LAWS)
def test_a_double_pendulum_on_a_floor_loses_energy_at_every_impact(law: str) -> None:
    model = pendulum_on_floor(0.5, restitution=0.7, law=law, resting_speed=1e-3)
    run = ar.simulate(model, 4.0, rule="dormand-prince", frames=200, rtol=1e-10)
    assert run.state.rule.history[1] >= 1
    assert np.diff(run.kinetic_energy).max() < 1e-8
    assert run.state.work[6] == pytest.approx(run.kinetic_energy[-1] - run.kinetic_energy[0], rel=1e-7)
