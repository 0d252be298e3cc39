"""Hard cores in place of A/r¹², and impacts within friction-implicit steps: order, rest, books and symmetry."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import articulon as ar
from articulon.dynamics.momenta import momentum
from articulon.forces.impacts.hard_cores import core_size

FLOOR = {"shape": "plane", "kind": "floor", "point": (0, 0, 0), "normal": (0, 0, 1)}
STEPS = (1.0 / 64, 1.0 / 128, 1.0 / 256)


def balance(run: Any) -> float:
    """The largest error of T − T₀ = ΣW."""
    return float(np.abs(run.kinetic_energy - run.kinetic_energy[0] - run.works.sum(axis=1)).max())


def falling_ball(e: float, **law: Any) -> Any:
    b = ar.ModelBuilder("kg-m-s")
    b.add_body("ball", mass=1.0, inertia=0.1, joint=ar.Free(), q=(0, 0, 1.5, 1, 0, 0, 0))
    b.add_site("ball", kind="steel", radius=0.5)
    b.add_force(ar.forces.Gravity((0, 0, -9.81)))
    b.add_force(ar.forces.StokesDrag(viscosity=0.5 / (3.0 * np.pi), radius={"ball": 0.5}))  # drag of 0.5 kg/s
    b.add_force(ar.forces.Impacts(restitution=e, walls=[FLOOR], **law))
    return b.build()


def fallen(e: float, time: float, rate: float = 0.5, g: float = 9.81) -> tuple[float, float]:
    """Height above where it touches and velocity of a ball of unit mass with linear drag, dropped from 1 m."""
    z, v, at = 1.0, 0.0, 0.0

    def flight(z: float, v: float, t: float) -> tuple[float, float]:
        end, gone = -g / rate, np.exp(-rate * t)
        return z + end * t + (v - end) * (1.0 - gone) / rate, end + (v - end) * gone

    while True:
        low, high = (1e-9 if at else 0.0), 10.0
        for _ in range(100):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if flight(z, v, middle)[0] > 0.0 else (low, middle)
        if at + high > time:
            return flight(z, v, time - at)
        z, v = 0.0, -e * flight(z, v, high)[1]
        at += high


def test_friction_implicit_steps_through_impacts_are_of_second_order() -> None:
    """Two bounces of a ball with drag, against its closed form: each halving of the step takes the error to a quarter,
    and the books close to rounding."""
    model, (z, v) = falling_ball(0.8), fallen(0.8, 1.5)
    errors = []
    for h in STEPS:
        run = ar.simulate(model, 1.5, rule="friction-implicit", step=h, frames=3)
        assert run.summary["impacts"]["impacts"] == 2
        assert balance(run) < 1e-12
        errors.append(np.hypot(run.q[-1, 2] - 0.5 - z, run.u[-1, 2] - v))
    # The third-order term of the error is of the size of h/T at most.
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.1)
    assert errors[1] / errors[2] == pytest.approx(4.0, rel=0.05)


def test_a_ball_comes_to_rest_in_friction_implicit_steps() -> None:
    run = ar.simulate(falling_ball(0.3, resting_speed=0.5), 3.0, rule="friction-implicit", step=0.01, frames=30)
    assert run.summary["impacts"]["resting"] == ["'ball' and walls[0], a plane"]
    assert run.q[-1, 2] == pytest.approx(0.5, abs=1e-15)
    assert abs(run.u[-1, 2]) < 1e-14
    assert balance(run) < 1e-12


def docking(repulsion: str = "impact", **keys: Any) -> Any:
    """A jointed pair that a site on the ground attracts."""
    b = ar.ModelBuilder("kg-m-s")
    b.add_body("tip", mass=1.0, inertia=0.1, joint=ar.Free(), q=(1.4, 0.3, 0.1, 1, 0, 0, 0))
    b.add_body(
        "tail", parent="tip", position=(0, 1.0, 0), mass=0.5, inertia=0.05, joint=ar.Spherical(), com=(0, 0.3, 0)
    )
    b.add_site("tip", kind="ligand", group="moves")
    b.add_site(None, kind="receptor", group="stands")
    law = {"kinds": ("ligand", "receptor"), "A": 10.0, "B": 10.0}
    b.add_force(ar.forces.SitePairs(table=[law], between=[("moves", "stands")], repulsion=repulsion, **keys))
    b.add_force(ar.forces.Gravity((0, -1.0, 0.3)))
    b.add_force(ar.forces.StokesDrag(viscosity=1.0 / np.pi, radius={"t*": 0.3}))
    return b.build()


def test_what_docks_on_a_hard_core_slides_round_it_alike_under_either_rule() -> None:
    """The tip falls on the core, stays there and is pulled around it: friction-implicit steps, whose contact is held
    within each part of a step, come to what an explicit rule with the contact in its equations finds."""
    model = docking()
    exact = ar.simulate(model, 2.0, rule="dormand-prince", rtol=1e-11, atol=1e-12, frames=1)
    assert exact.summary["impacts"]["impacts"] == 1
    errors, unbalanced = [], []
    for h in STEPS:
        run = ar.simulate(model, 2.0, rule="friction-implicit", step=h, frames=1)
        assert run.summary["impacts"]["impacts"] == 1
        assert run.summary["impacts"]["rests_ended"] == 0
        assert np.linalg.norm(run.q[-1, :3]) == pytest.approx(1.0, abs=1e-14)
        assert abs(run.q[-1, :3] @ run.u[-1, :3]) < 1e-13
        errors.append(float(np.abs(run.q[-1] - exact.q[-1]).max()))
        unbalanced.append(balance(run))
    assert errors[-1] < 1e-3
    for one in (errors, unbalanced):
        # Where in a step the impact is changes the error's factor by a part of h/T each.
        assert 3.0 < one[0] / one[1] < 5.0
        assert 3.0 < one[1] / one[2] < 5.0


@pytest.mark.parametrize("rule", [{"rule": "friction-implicit", "step": 0.01}, {"rule": "dormand-prince"}])
def test_hard_cores_give_back_what_their_restitution_says(rule: dict[str, Any]) -> None:
    """Two free particles that attract each other and bounce: momentum stays, and the impact takes ½ (1 − e²) m v²/2."""
    b = ar.ModelBuilder("kg-m-s")
    for k, x in enumerate((-0.55, 0.55)):
        b.add_body(f"p{k}", mass=1.0, inertia=0.1, joint=ar.Free(), q=(x, 0, 0, 1, 0, 0, 0), u=(0.3, 0, 0, 0, 0, 0))
        b.add_site(f"p{k}", kind="a")
    law = {"kinds": ("a", "a"), "A": 1e-3, "B": 1e-3}
    b.add_force(ar.forces.SitePairs(table=[law], repulsion="impact", core_restitution=0.5))
    model = b.build()
    run = ar.simulate(model, 10.0, frames=1, **rule)
    impacts = run.summary["impacts"]
    assert impacts["impacts"] >= 1
    before, after = (momentum(model, q, u) for q, u in ((run.q[0], run.u[0]), (run.q[-1], run.u[-1])))
    assert np.abs(after - before)[:3].max() < 1e-13
    if impacts["impacts"] == 1:
        # From rest at 1.1 the attraction alone makes the speed at 1: ½ (m/2) v² = B (1 − 1.1⁻⁶).
        energy = 1e-3 * (1.0 - 1.1**-6)
        tolerance = 1e-3 if rule["rule"] == "friction-implicit" else 1e-4
        assert impacts["energy_lost"] == pytest.approx(0.75 * energy, rel=tolerance)


def test_a_core_is_as_large_as_where_the_potential_is_zero() -> None:
    A, B = 4.23e-27, 3.15e-11
    assert core_size(A, B, 0.0) == pytest.approx((A / B) ** (1.0 / 6.0), rel=1e-14)
    for law in ((2.98e-29, 1.31e-12, -2.66e-6), (1.0, 1.0, 0.1), (1.0, 0.0, -2.0), (1.0, 3.0, -2.0)):
        r = core_size(*law)
        assert r is not None
        A, B, C = law
        assert abs(A / r**12 - B / r**6 + C / r) < 1e-13 * A / r**12
        inside = 0.999 * r
        assert A / inside**12 - B / inside**6 + C / inside > 0.0
    assert core_size(1.0, 0.0, 1.0) is None
    assert core_size(1.0, 0.1, 10.0) is None
    # With parameters by kind it is σ.
    b = ar.ModelBuilder("kg-m-s")
    for k in range(2):
        b.add_body(f"p{k}", mass=1.0, joint=ar.Xyz(), q=(2.0 * k, 0, 0))
        b.add_site(f"p{k}", kind="a")
    b.add_force(ar.forces.SitePairs(parameters={"a": {"epsilon": 1.0, "sigma": 0.7}}, repulsion="impact"))
    model = b.build()
    assert model.forces[0].hard_cores(model).size == pytest.approx([0.7], rel=1e-14)
    # What is left of the potential is the attraction.
    assert ar.potential_energy(model, model.q0) == pytest.approx(-4.0 * (0.7 / 2.0) ** 6, rel=1e-13)


def test_only_what_is_declared_has_a_core() -> None:
    with pytest.raises(
        (ar.ModelError, ar.CaseError), match=r"core_restitution: applies to hard cores only; set repulsion"
    ):
        docking("soft", core_restitution=0.5)
    with pytest.raises((ar.ModelError, ar.CaseError), match=r"restitution: 1\.5 is not in \[0, 1\]"):
        docking(core_restitution=1.5)

    def of(law: dict[str, float]) -> Any:
        b = ar.ModelBuilder("kg-m-s")
        for k in range(2):
            b.add_body(f"p{k}", mass=1.0, joint=ar.Xyz(), q=(2.0 * k, 0, 0))
            b.add_site(f"p{k}", kind="a")
        b.add_force(ar.forces.SitePairs(table=[{"kinds": ("a", "a"), **law}], repulsion="impact"))
        return b.build()

    with pytest.raises(ar.ModelError, match=r"forces\[0\]\.repulsion: a and a repel each other at every distance"):
        of({"A": 1.0, "C": 1.0})
    with pytest.raises(ar.ModelError, match=r"forces\[0\]\.repulsion: no law has a repulsion A"):
        of({"B": 1.0})


def test_friction_at_rest_is_refused_by_friction_implicit_steps() -> None:
    with pytest.raises(ar.CaseError, match=r"integrator\.rule: resting contacts slide without friction"):
        ar.simulate(falling_ball(0.3, resting_speed=0.5, friction=0.2), 1.0, rule="friction-implicit", step=0.01)


@pytest.mark.parametrize(
    "resistance",
    [
        (ar.forces.JointDamping(rotational=0.3),),
        (ar.forces.JointDamping(rotational=0.1), ar.forces.JointFriction(rotational=0.2, rotational_speed=0.5)),
    ],
    ids=["damping", "friction"],
)
@pytest.mark.parametrize("armature", [None, 0.2])
def test_damped_joints_rest_on_stops_alike_under_either_rule(resistance: Any, armature: float | None) -> None:
    """The upper link falls on its stop and stays there, and the lower one swings on."""
    b = ar.ModelBuilder("kg-m-s")
    hinge = ar.Revolute(axis=(0, 1, 0))
    b.add_body("upper", mass=1.0, inertia=0.1, com=(1.0, 0, 0), joint=hinge, q=-0.3, armature=armature)
    lower = {"parent": "upper", "position": (1.0, 0, 0), "com": (0.0, 0, -0.5), "joint": hinge}
    b.add_body("lower", mass=0.3, inertia=0.05, u=1.5, **lower)
    b.add_force(ar.forces.Gravity((0, 0, -9.81)))
    b.add_force(ar.forces.JointLimits(upper={"upper": 0.2}, restitution=0.0))
    for force in resistance:
        b.add_force(force)
    model = b.build()
    exact = ar.simulate(model, 1.2, rule="dormand-prince", rtol=1e-11, atol=1e-12, frames=1)
    assert exact.summary["impacts"]["impacts"] == 1
    errors, unbalanced = [], []
    for h in (0.02, 0.01, 0.005):
        run = ar.simulate(model, 1.2, rule="friction-implicit", step=h, frames=1)
        assert run.summary["impacts"]["impacts"] == 1 and run.summary["impacts"]["rests_ended"] == 0
        assert run.q[-1, 0] == pytest.approx(0.2, abs=1e-14) and abs(run.u[-1, 0]) < 1e-13
        errors.append(float(np.abs(run.q[-1] - exact.q[-1]).max()))
        unbalanced.append(balance(run))
    for one in (errors, unbalanced):
        assert one[0] / one[2] > 9.0, (errors, unbalanced)
    assert errors[-1] < 1e-3


def test_what_resists_by_rows_of_its_own_is_refused_where_contacts_rest() -> None:
    b = ar.ModelBuilder("kg-m-s")
    b.add_body("arm", mass=1.0, inertia=0.1, joint=ar.Revolute(axis=(0, 1, 0)), q=0.5)
    b.add_force(ar.forces.JointLimits(lower={"arm": 0.0}, restitution=0.0))
    b.add_force(ar.forces.JointDrive("arm", speeds=1.0, damping=0.1))
    with pytest.raises(ar.CaseError, match=r"'joint-drive' resists speeds too; leave it out"):
        ar.simulate(b.build(), 1.0, rule="friction-implicit", step=0.01)


def test_stops_have_no_friction() -> None:
    with pytest.raises(ar.ModelError, match=r"friction: a stop acts on the only coordinate of a revolute"):
        ar.forces.JointLimits(lower={"arm": 0.0}, friction=0.3)


def test_what_knows_no_impacts_refuses_hard_cores() -> None:
    model = docking()
    with pytest.raises(ar.ModelError, match=r"site-pairs cannot be evaluated for several states side by side"):
        ar.Ensemble(model, model.q0[None], model.u0[None])
    with pytest.raises(ar.ModelError, match=r"repulsion: derivatives of runs with impacts are unknown"):
        model.forces[0].check_adjoint("forces[0]")


def test_a_device_refuses_hard_cores() -> None:
    pytest.importorskip("warp")
    from articulon.gpu.tree_force_tables import check_forces

    model = docking()
    with pytest.raises(ar.ModelError, match=r"forces\[0\]\.repulsion: impacts are not supported on a device"):
        check_forces(model, "GpuEnsemble")
