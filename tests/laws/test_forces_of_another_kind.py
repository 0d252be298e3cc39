"""A force is known by what it says of itself: one of another kind that says the same has the same bits wherever a run
asks about it."""

import math
from typing import Any, Literal

import numpy as np
import pytest

import articulon as ar
from articulon.dynamics.momenta import momentum
from articulon.errors import CaseError, ModelError
from articulon.integrate import Explicit
from articulon.scaling import ErrorControlled
from articulon.simulation.site_observables import why_not_defined
from tests.support.running import Running


class OtherSprings(ar.forces.TorsionalSprings):
    kind: Literal["other-springs"] = "other-springs"  # type: ignore[assignment]


class OtherFixman(ar.forces.Fixman):
    kind: Literal["other-fixman"] = "other-fixman"  # type: ignore[assignment]


class OtherDamping(ar.forces.JointDamping):
    kind: Literal["other-damping"] = "other-damping"  # type: ignore[assignment]


class OtherSpring(ar.forces.PointSpring):
    kind: Literal["other-spring"] = "other-spring"  # type: ignore[assignment]


def chain(*forces: Any) -> Any:
    """Three links that drift in a fluid."""
    builder, parent = ar.ModelBuilder("lj"), None
    for k in range(3):
        parent = builder.add_body(
            f"link{k}",
            parent=parent,
            mass=1.0,
            inertia=0.2,
            joint=ar.Spherical() if k else ar.Free(),
            position=(0.0, 1.0, 0.0) if k else (0.0, 0.0, 0.0),
            u=(0.3, 0.1 * k, 0.2) if k else (0.1, 0.2, 0.3, 0.0, 0.1, 0.2),
        )
    for force in forces:
        builder.add_force(force)
    return builder.build()


def same(one: Any, other: Any) -> None:
    np.testing.assert_array_equal(one.q, other.q)
    np.testing.assert_array_equal(one.u, other.u)


def test_scaling_by_the_lag_knows_the_stiffness_of_any_spring_of_joints() -> None:
    found = []
    for kind in (ar.forces.TorsionalSprings, OtherSprings):
        drag = ar.forces.StokesDrag(translational=3.0, rotational=1.0)
        model = chain(drag, kind(stiffness={"link1": 5.0, "link2": 2.0}))
        found.append(Running(model, Explicit(), policy=ErrorControlled()).driver.followed.stiffness)
    assert (found[0] > 0.0).tolist() == [False, False, True, True]
    np.testing.assert_array_equal(*found)


def test_what_locks_knows_any_force_of_the_mass_determinant() -> None:
    runs = []
    for kind in (ar.forces.Fixman, OtherFixman):
        group = ar.adaptive.Group(
            bodies=("link2",),
            lock=ar.adaptive.Schedule(times=(0.2,)),
            release=ar.adaptive.Schedule(times=(0.6,)),
        )
        plan = ar.adaptive.Adaptive(every=0.1, groups=(group,))
        runs.append(ar.simulate(chain(kind(temperature=1.0)), 1.0, rule="rk4", step=0.01, frames=5, adaptive=plan))
    same(*runs)
    assert abs(runs[0].state.resolution.reservoir[1]) > 1e-4
    assert runs[0].state.resolution.reservoir[1] == runs[1].state.resolution.reservoir[1]


def test_a_force_says_which_baths_it_goes_with() -> None:
    bath = ar.thermostats.Langevin(temperature=2.0, friction=1.0)
    for kind in (ar.forces.Fixman, OtherFixman):
        with pytest.raises((CaseError, ModelError), match="temperature 1 and the thermostat 2"):
            ar.simulate(chain(kind(temperature=1.0)), 0.1, rule="friction-implicit", step=0.01, thermostat=bath)


@pytest.mark.parametrize("kind", ["joints", "dashpots"])
def test_friction_implicit_solves_for_any_resistance_of_its_kinds(kind: str) -> None:
    """Joint damping and dashpots so strong that an explicit rule of this step would diverge."""
    runs = []
    for damping, spring in ((ar.forces.JointDamping, ar.forces.PointSpring), (OtherDamping, OtherSpring)):
        force = (
            damping(rotational=100.0)
            if kind == "joints"
            else spring(bodies=("link0", "link2"), points=((1, 0, 0), (0, 1, 0)), stiffness=1.0, damping=100.0)
        )
        runs.append(ar.simulate(chain(force), 0.5, rule="friction-implicit", step=0.01, frames=2))
    same(*runs)
    assert np.abs(runs[0].u).max() < 1.0


def test_two_kinds_of_dashpots_add_up() -> None:
    ends = {"bodies": ("link0", "link2"), "stiffness": 1.0}
    two = chain(ar.forces.PointSpring(damping=2.0, **ends), OtherSpring(damping=3.0, **ends))
    one = chain(ar.forces.PointSpring(damping=5.0, **(ends | {"stiffness": 2.0})))
    found = [ar.simulate(m, 0.5, rule="friction-implicit", step=0.01, frames=2) for m in (two, one)]
    np.testing.assert_allclose(found[0].u, found[1].u, rtol=1e-10, atol=1e-12)


def test_the_temperature_of_positions_asks_each_force_for_its_laplacian() -> None:
    """Not known of a force that says nothing; known of one that has no part in it."""

    class Silent(OtherSprings):
        kind: Literal["silent"] = "silent"  # type: ignore[assignment]

    class Nothing(Silent):
        kind: Literal["nothing"] = "nothing"  # type: ignore[assignment]
        laplacian = "known"

    found = []
    for kind in (Silent, Nothing):
        builder = ar.ModelBuilder("lj", box=ar.Box(lengths=(5.0, 5.0, 5.0)))
        for k in range(2):
            body = builder.add_body(f"a{k}", mass=1.0, joint=ar.Xyz(), position=(1.2 * k, 0.0, 0.0))
            builder.add_site(body, kind="A")
        builder.add_force(
            ar.forces.LennardJones(
                parameters={"A": {"epsilon": 1.0, "sigma": 1.0}}, cutoff=2.4, truncation="force-shifted"
            )
        )
        builder.add_force(kind(stiffness={}))
        found.append(why_not_defined(builder.build()))
    assert found == ["'silent' acts, whose Laplacian is not known", None]


def test_a_force_of_the_mass_determinant_takes_no_loops_whatever_its_own_check_says() -> None:
    class Lenient(OtherFixman):
        kind: Literal["lenient"] = "lenient"  # type: ignore[assignment]

        def check(self, model: Any, where: str) -> None:
            """Lets everything pass."""

    builder, hinge = ar.ModelBuilder("lj"), ar.Revolute(axis=(0, 0, 1))
    builder.add_body("crank", mass=1.0, inertia=1.0, joint=hinge)
    builder.add_drive("crank", times=(0.0, 1.0, 2.0, 3.0), values=(0.0, 1.0, 2.0, 3.0))
    builder.add_force(Lenient(temperature=1.0))
    with pytest.raises(
        (CaseError, ModelError), match=r"forces\[0\]: its energy holds for coordinates that move freely"
    ):
        ar.simulate(builder.build(), 0.1, rule="rk4", step=0.01)


def test_what_keeps_the_total_momentum_says_so() -> None:
    """A spring between two bodies, torques in joints and Fixman's potential, to the order of the rule; a spring to the
    ground does not."""
    springs = ar.forces.PointSpring(bodies=("link0", "link2"), stiffness=1.0)
    inside = chain(OtherSprings(stiffness={"link1": 5.0}), springs, OtherFixman(temperature=1.0))
    bath = ar.thermostats.NoseHoover(temperature=1.0, mass=5.0, centre_of_mass="removed")
    errors = []
    for step in (0.01, 0.005):
        run = ar.simulate(inside, 0.5, rule="rk4", step=step, frames=2, thermostat=bath)
        errors.append(np.abs(momentum(inside, run.q[-1], run.u[-1])[:3]).max())
    assert math.log2(errors[0] / errors[1]) == pytest.approx(4.0, abs=0.3)
    held = chain(ar.forces.PointSpring(bodies=("ground", "link2"), stiffness=1.0))
    with pytest.raises(CaseError, match=r"forces\[0\], 'point-spring', acts from outside"):
        ar.simulate(held, 0.5, rule="rk4", step=0.005, thermostat=bath)


def test_a_thermostat_is_no_force() -> None:
    builder = ar.ModelBuilder("lj")
    with pytest.raises(ModelError, match=r"add_force: expected a force of ar.forces, got Langevin"):
        builder.add_force(ar.thermostats.Langevin(temperature=1.0, friction=1.0))
