"""What ``ar.sensitivity`` is given: cases, and what it refuses, by name and with what to do."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import pytest

import articulon as ar
from articulon.sensitivities.case_parameters import parameter_of_key

RUN: dict[str, Any] = {"duration": 0.1, "step": 0.01}


def pendulum(**keys: Any) -> ar.Model:
    builder = ar.ModelBuilder(units="kg-m-s")
    joint = keys.pop("joint", ar.Revolute(axis=(0, 1, 0)))
    rod = {"inertia": keys.pop("inertia", 0.1), "armature": keys.pop("armature", 0.0)}
    builder.add_body("rod", mass=1.0, com=(0, 0, -1), joint=joint, **rod)
    for force in keys.pop("forces", ()):
        builder.add_force(force)
    return builder.build()


def spring(**keys: Any) -> Any:
    return ar.forces.TorsionalSprings(stiffness={"rod": 2.0}, **keys)


def test_a_case_has_the_derivatives_of_its_model() -> None:
    overrides = {"integrator": {"rule": "rk4", "step": "1 ms"}, "run.duration": "50 ms", "run.frames": 1}
    case = ar.load_case("double-pendulum", overrides)
    found = ar.sensitivity(case, "kinetic_energy", ["u", "forces.gravity.acceleration"])
    model = case.build_model()
    same = ar.sensitivity(model, "kinetic_energy", list(found.gradient), duration=0.05, step=0.001, frames=1)
    assert found.value == same.value
    for name, gradient in found.gradient.items():
        assert np.array_equal(gradient, same.gradient[name])


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("mass", "there is no parameter 'mass'; parameters are the initial state, 'q' and 'u'"),
        ("forces[0].stifness.rod", "'torsional-springs' has no stifness; did you mean 'stiffness'?"),
        ("forces[0].stiffness", "it has a number for each of rod; name one, such as forces\\[0\\].stiffness.rod"),
        ("forces[0].stiffness.bob", "there is no bob in it; there are rod"),
        ("forces[0].kind", "it is 'torsional-springs', which is a choice and not a number"),
        ("forces[3].stiffness.rod", "the model has 3 forces, counted from 0"),
        ("forces.gravity.acceleration", "no force is called 'gravity'; name one by its number: forces\\[0\\] is"),
        ("forces[1].component", "it is 0, which is a choice and not a number"),
        ("forces[1].times", "derivatives of 'joint-actuation' with respect to times are not known"),
        ("forces[2].max_torque", "it is '5 N m', whose unit depends on the joint; give it as a number"),
        ("forces[2].times", "derivatives of 'joint-drive' with respect to times are not known"),
        ("forces[2].max_speed", "it has not been given"),
        ("bodies.rad.mass", "there is no body 'rad'; did you mean 'rod'?"),
        ("bodies.rod.colour", "bodies have derivatives with respect to mass, com, inertia, position"),
    ],
)
def test_a_parameter_that_is_none_is_refused(name: str, message: str) -> None:
    drive = ar.forces.JointDrive("rod", 1.0, stiffness=2.0, max_torque="5 N m")
    model = pendulum(forces=[spring(), ar.forces.JointActuation("rod", 1.0), drive])
    with pytest.raises(ar.CaseError, match=message):
        ar.sensitivity(model, "kinetic_energy", name, **RUN)


@pytest.mark.parametrize(
    ("objective", "message"),
    [
        ("kinetic_enrgy", "no observable 'kinetic_enrgy' with derivatives; did you mean 'kinetic_energy'?"),
        ("distance.rod.bob", "there is no body 'bob'"),
        ("distance.rod.rod", "is zero at the end, where it has no derivative; differentiate its square"),
        (3.0, "objective: expected a name, such as 'kinetic_energy', or a function of q and u"),
        (lambda q, u: 1.0, "must return its value and its derivatives with respect to q and u, got 1.0"),
        (lambda q, u: (1.0, np.zeros(7), u), "derivatives with respect to q"),
    ],
)
def test_an_objective_that_is_none_is_refused(objective: Any, message: str) -> None:
    with pytest.raises(ar.CaseError, match=message):
        ar.sensitivity(pendulum(), objective, "q", **RUN)


def test_steps_chosen_by_their_error_are_refused_by_the_adjoint() -> None:
    with pytest.raises(ar.CaseError, match=r"integrator.step: the adjoint needs steps of a given length.*'forward'"):
        ar.sensitivity(pendulum(), "kinetic_energy", "q", duration=0.1, rule="dormand-prince")


def test_the_adjoint_without_a_step_does_not_ask_for_a_rule_that_it_refuses() -> None:
    with pytest.raises(ar.CaseError, match=r"integrator.step: .*give a step with rk4"):
        ar.sensitivity(pendulum(), "kinetic_energy", "q", duration=0.1, rule="rk4")


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        (
            {"rule": "implicit-midpoint"},
            "'implicit-midpoint' has no derivatives; choose one of friction-implicit, ",
        ),
        ({"duration": None}, "duration: give the duration of the simulation"),
        ({"checkpoints": 0}, "checkpoints"),
        ({"method": "backward"}, "unknown method: expected one of 'adjoint', 'forward'"),
        ({"method": "forward", "checkpoints": 3}, "the forward method keeps no states"),
        ({"parameters": []}, "parameters: name at least one"),
    ],
)
def test_a_run_without_derivatives_is_refused(keys: dict[str, Any], message: str) -> None:
    given = {"parameters": "q", **RUN, **keys}
    with pytest.raises(ar.CaseError, match=message):
        ar.sensitivity(pendulum(), "kinetic_energy", **given)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (
            lambda: pendulum(joint=ar.Swing(), inertia=(0.1, 0.1, 0)),
            "swing joints, such as the joint of body 'rod', are not implemented",
        ),
        (
            lambda: pendulum(forces=[ar.forces.JointActuation(function=pushed)]),
            r"forces\[0\]: the derivatives of a function are unknown",
        ),
        (
            lambda: pendulum(forces=[*dragged(), ar.forces.Fixman(temperature=200.0)]),
            "the force 'fixman' has the temperature 200 and the Brownian forces 300",
        ),
    ],
)
def test_a_model_without_derivatives_is_refused(model: Any, message: str) -> None:
    with pytest.raises(ar.ModelError, match=message):
        ar.sensitivity(model(), "kinetic_energy", "q", **RUN)


@pytest.mark.parametrize("rule", ["rk4", "overdamped"])
def test_armatures_are_refused_where_a_force_reads_the_mass_matrix_of_links(rule: str) -> None:
    forces = dragged() if rule == "overdamped" else [ar.forces.Fixman(temperature=300.0)]
    model = pendulum(forces=forces, armature=0.5)
    with pytest.raises(
        ar.CaseError, match=rf"forces\[{len(forces) - 1}\]: .* cover only rigid links without armatures; leave out"
    ):
        ar.sensitivity(model, "rod.angle", "q", rule=rule, **RUN)


def test_a_case_with_what_has_no_derivatives_is_refused() -> None:
    case = ar.load_case("double-pendulum", {"dynamics.rotations": "euler-parameters"})
    with pytest.raises(
        ar.CaseError, match=r"dynamics.rotations = 'euler-parameters': runs with it have no derivatives"
    ):
        ar.sensitivity(case, "kinetic_energy", "q")
    with pytest.raises(ar.CaseError, match="the case already gives rule; change it with load_case"):
        ar.sensitivity("double-pendulum", "kinetic_energy", "q", rule="rk4")


def pushed(time: float, q: np.ndarray, u: np.ndarray, parameters: np.ndarray, tau: np.ndarray) -> None:
    tau[0] = 1.0


def dragged(temperature: float = 300.0, **brownian: Any) -> list[Any]:
    return [
        ar.forces.StokesDrag(translational=1.0, rotational=1.0),
        ar.forces.Brownian(temperature=temperature, **brownian),
    ]


@pytest.mark.parametrize(
    ("forces", "keys", "message"),
    [
        (
            dragged(amplitude_from="instantaneous"),
            {"rule": "rk4"},
            r"forces\[1\].amplitude_from: .* noise of the 'bath'",
        ),
        (dragged(amplitude_from="instantaneous"), {}, r"forces\[1\].amplitude_from: .* noise of the 'bath'"),
        (
            [ar.forces.PointSpring(bodies=("rod", "ground"), stiffness=1.0, damping=1.0)],
            {},
            r"forces\[0\]: .* solves for damped point springs",
        ),
        (
            [ar.forces.PointSpring(bodies=("rod", "ground"), stiffness=1.0)],
            {"parameters": "forces.point-spring.damping"},
            r"forces.point-spring.damping: .* solves for damped point springs",
        ),
        (
            [dragged()[0], ar.forces.JointDamping(rotational=1.0)],
            {"rule": "overdamped"},
            "'overdamped' does not take 'joint-damping', which resists speeds",
        ),
        ([], {"rule": "overdamped", "objective": "rod.angle"}, "body 'rod' has no translational drag"),
        ([ar.forces.UserForce(function=pushed)], {}, r"forces\[0\].reads_velocities: .* set reads_velocities=False"),
        ([], {"drift": "geodesic"}, "integrator.drift: only 'steady' drifts have derivatives"),
        ([], {"scaling": ar.scaling.ErrorControlled(tolerance=0.02)}, "choose 'constant' with a2, or 'none'"),
        ([], {"parameters": "scaling.a2"}, "scaling.a2: the forces of this run are not scaled; give it the policy"),
        ([], {"scaling": 0.5}, "scaling must be a policy of articulon.scaling, got 0.5"),
        ([], {"seed": 1.5}, "seed"),
        (
            dragged(0.0),
            {"parameters": "forces.brownian.temperature"},
            "temperature: it is 0, and noise",
        ),
    ],
)
def test_what_has_no_derivatives_with_a_rule_is_refused(forces: Any, keys: dict[str, Any], message: str) -> None:
    given = {"objective": "kinetic_energy", "parameters": "u", "rule": "friction-implicit", **RUN, **keys}
    with pytest.raises(ar.CaseError, match=message):
        ar.sensitivity(pendulum(forces=forces), **given)


@pytest.mark.parametrize(
    ("objective", "where"),
    [
        ("kinetic_energy", "objective: 'kinetic_energy': "),
        ("rod.rate", "objective: 'rod.rate': "),
        (lambda q, u: (u[0], 0.0 * u, 1.0 + u), "objective, derivatives with respect to u: expected zeros: "),
    ],
)
def test_objectives_of_speeds_are_refused_where_there_are_none(objective: Any, where: str) -> None:
    forces = [ar.forces.StokesDrag(translational=2.0, rotational=0.3)]
    with pytest.raises(ar.CaseError, match=f"{where}'overdamped' leaves inertia out.*; choose 'potential_energy', a "):
        ar.sensitivity(pendulum(forces=forces), objective, "q", rule="overdamped", **RUN)


def floor_and_sphere(builder: Any) -> None:
    builder.add_site("rod", (0, 0, -1), kind="tip", radius=0.1)
    floor = ar.forces.Plane(point=(0, 0, -2), normal=(0, 0, 1), kind="floor")
    builder.add_force(ar.forces.Impacts(walls=[floor]))


def hard_cores(builder: Any) -> None:
    builder.add_site("rod", (0, 0, -1), kind="A")
    builder.add_body("ball", mass=1.0, inertia=0.1, joint=ar.Free(), q=(0, 0, -3, 1, 0, 0, 0))
    builder.add_site("ball", kind="A")
    law = [{"kinds": ("A", "A"), "A": 1.0, "B": 1.0}]
    builder.add_force(ar.forces.SitePairs(table=law, repulsion="impact"))


def joint_limits(builder: Any) -> None:
    builder.add_force(ar.forces.JointLimits(upper={"rod": 1.0}))


@pytest.mark.parametrize("rule", ["rk4", "friction-implicit"])
@pytest.mark.parametrize(
    ("add", "name"), [(floor_and_sphere, "impacts"), (joint_limits, "joint-limits"), (hard_cores, "site-pairs")]
)
def test_runs_that_branch_at_impacts_and_stops_are_refused(add: Any, name: str, rule: str) -> None:
    """The derivatives would jump where bodies meet."""
    builder = ar.ModelBuilder(units="kg-m-s")
    builder.add_body("rod", mass=1.0, inertia=0.1, com=(0, 0, -1), joint=ar.Revolute(axis=(0, 1, 0)))
    add(builder)
    with pytest.raises(ar.ModelError, match=rf"forces\[0\]: .*'{name}'.*choose a smooth repulsion"):
        ar.sensitivity(builder.build(), "rod.angle", "q", rule=rule, **RUN)


def test_friction_of_speeds_that_share_one_is_refused_where_it_is_solved_for() -> None:
    friction = ar.forces.JointFriction(rotational=1.0, rotational_speed=0.1)
    shared, run = pendulum(forces=[friction], joint=ar.Spherical()), {"rule": "friction-implicit", **RUN}
    with pytest.raises(ar.CaseError, match=r"forces\[0\]: .* solves for friction .* hinges and slides"):
        ar.sensitivity(shared, "kinetic_energy", "u", **run)
    assert ar.sensitivity(pendulum(forces=[friction]), "kinetic_energy", "u", **run).value == 0.0


def test_forces_that_begin_where_the_run_does_are_refused_beside_the_initial_coordinates() -> None:
    model = pendulum(forces=[spring(rest={"rod": "initial"})])
    assert ar.sensitivity(model, "kinetic_energy", "u", **RUN).value == 0.0
    with pytest.raises(ar.CaseError, match=r"q: forces\[0\].rest is 'initial'.*give numbers there"):
        ar.sensitivity(model, "kinetic_energy", "q", **RUN)


def test_a_stop_that_is_none_is_refused() -> None:
    for stop, message in (
        ({"body": "rod"}, "stop: expected either direction and advance, or to and distance"),
        ({"body": "rad", "direction": (1, 0, 0), "advance": 1.0}, "stop.body: there is no body 'rad'"),
        ({"body": "rod", "direction": (1, 0, 0), "advance": 1e3}, "does not advance so far before the run ends"),
    ):
        with pytest.raises(ar.CaseError, match=message):
            ar.sensitivity(pendulum(), "stop_time", "q", stop=stop, **RUN)
    with pytest.raises(ar.CaseError, match="objective: 'stop_time' is the time at which a stop ends the run"):
        ar.sensitivity(pendulum(), "stop_time", "q", **RUN)


def test_a_run_that_diverges_says_where() -> None:
    stiff = ar.forces.TorsionalSprings(stiffness={"rod": 1e7})
    model = pendulum(forces=[stiff])
    with pytest.raises(ar.DivergenceError, match="body 'rod'"):
        ar.sensitivity(model, "kinetic_energy", "q", duration=30.0, step=0.1, q=[1.0])


def charged(**keys: Any) -> ar.Model:
    """Two bodies of different masses with a charged site each."""
    builder = ar.ModelBuilder(units="kg-m-s")
    for k in range(2):
        builder.add_body(f"ion{k}", mass=1.0 + k, inertia=0.1, joint=ar.Free(), q=(2.0 * k, 0, 0, 1, 0, 0, 0))
        builder.add_site(f"ion{k}", kind="A", charge=1.0 - 2.0 * k)
    for force in keys["forces"]:
        builder.add_force(force)
    return builder.build()


WELL = {"A": {"depth": 1.0, "width": 2.0, "distance": 1.0}}
LAW = [{"kinds": ("A", "A"), "A": 1.0}]


@pytest.mark.parametrize(
    ("force", "name", "message"),
    [
        (
            ar.forces.Morse(parameters=WELL),
            "forces.morse.parameters.A.width",
            "derivatives of 'morse' with respect to width",
        ),
        (
            ar.forces.Morse(parameters=WELL, cutoff=3.0),
            "forces[0].cutoff",
            "derivatives of 'morse' with respect to cutoff",
        ),
        (ar.forces.SitePairs(table=LAW), "forces[0].table.1.A", "there is no 1 in it"),
        (ar.forces.SitePairs(table=LAW), "forces[0].table[0].D", "there is no D in it; there are kinds, A, B, C"),
        (ar.forces.SitePairs(table=LAW), "forces[0].table[0]", "name one, such as forces\\[0\\].table\\[0\\].kinds"),
        (ar.forces.SitePairs(table=LAW), "sites[2].position", "there is no site 2; the model has 2"),
        (ar.forces.SitePairs(table=LAW), "sites.A.position", "there is no site 'A'; the model has 2"),
        (ar.forces.SitePairs(table=LAW), "sites[0].kind", "with respect to position and charge, not 'kind'"),
        (ar.forces.SitePairs(table=LAW), "bodies.ion*.mass", "'ion0' and 'ion1' have different values"),
        (ar.forces.SitePairs(table=LAW), "bodies.ion*.position", "has its own position; name one body"),
        (
            ar.forces.SitePairs(parameters={"A": {"epsilon": 1.0, "sigma": 1.0}}),
            "sites[0].charge",
            "no derivatives with respect to charges; use 'lennard-jones' and 'coulomb'",
        ),
    ],
)
def test_a_number_between_sites_without_derivatives_is_refused(force: Any, name: str, message: str) -> None:
    with pytest.raises(ar.CaseError, match=message):
        ar.sensitivity(charged(forces=[force]), "kinetic_energy", name, **RUN)


@numba.njit
def softly(r2: float, parameters: np.ndarray) -> tuple[float, float, float]:
    return parameters[0] * r2, -2.0 * parameters[0], 6.0 * parameters[0]


def test_a_force_between_sites_without_derivatives_is_refused() -> None:
    held = ar.forces.UserPair(function=softly, parameters=(1.0,))
    with pytest.raises(ar.ModelError, match=r"forces\[0\]: the derivatives of '.*' are not known"):
        ar.sensitivity(charged(forces=[held]), "kinetic_energy", "u", **RUN)


@pytest.mark.parametrize(
    ("name", "keys", "parameter", "message"),
    [
        ("double-pendulum", {"model.bodies.upper.armature": 0.3}, "model.bodies.upper.armature", "armatures change"),
        ("flexible-filament", {}, "model.bending_stiffness", "stiffness and damping of flexible bodies change"),
        ("lj-melt", {"model.cells": 4}, "model.number_density", "edges of the box"),
    ],
)
def test_a_key_that_changes_numbers_without_derivatives_is_refused(
    name: str, keys: dict[str, Any], parameter: str, message: str
) -> None:
    case = ar.load_case(name, keys)
    with pytest.raises(ar.CaseError, match=message):
        parameter_of_key(case, case.build_model(), parameter, "here")


def sliding(**keys: Any) -> ar.Model:
    """A body that slides in a viscous medium on a spring without damping."""
    builder = ar.ModelBuilder(units="kg-m-s", **keys)
    builder.add_body("sled", mass=1.0, inertia=0.1, joint=ar.Prismatic(axis=(1, 0, 0)), q=0.5)
    builder.add_force(ar.forces.StokesDrag(translational=2.0, rotational=0.3))
    points = ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    builder.add_force(ar.forces.PointSpring(bodies=("sled", "ground"), points=points, stiffness=3.0, damping=0.0))
    return builder.build()


@pytest.mark.parametrize("number", [1, -1])
@pytest.mark.parametrize("rule", ["friction-implicit", "overdamped"])
def test_damping_that_a_rule_does_not_take_is_refused_however_its_force_is_counted(rule: str, number: int) -> None:
    with pytest.raises(ar.CaseError, match="damped point springs"):
        ar.sensitivity(sliding(), "kinetic_energy", [f"forces[{number}].damping"], rule=rule, **RUN)


@pytest.mark.parametrize("rule", ["rk4", "friction-implicit"])
def test_what_a_run_refuses_its_derivatives_refuse(rule: str) -> None:
    walls = ar.Box(lengths=(4.0, 4.0, 4.0), boundaries=("reflecting",) * 3)
    with pytest.raises(ar.CaseError, match="reflecting"):
        ar.sensitivity(sliding(box=walls), "kinetic_energy", ["u"], rule=rule, **RUN)


def test_the_window_of_noise_is_refused() -> None:
    noise = ar.forces.Brownian(temperature=300.0, window=0.01)
    drag = ar.forces.StokesDrag(translational=2.0, rotational=0.3)
    with pytest.raises(ar.CaseError, match="another path of the noise"):
        ar.sensitivity(pendulum(forces=(drag, noise)), "kinetic_energy", ["forces.brownian.window"], **RUN)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("loops.wrist.position", "make this joint a joint of the tree.*'bodies.NAME.position'"),
        (
            ("drives.rod.values"),
            ("derivatives with respect to given motions are not implemented; take differences of runs"),
        ),
        (
            "forces[1].times",
            "'joint-actuation' with respect to times are not known; leave it out, or take differences",
        ),
        (
            ("bodies.cap.position"),
            ("derivatives with respect to frames of welds are not implemented; take differences of runs"),
        ),
    ],
)
def test_what_is_no_parameter_says_what_to_do(name: str, message: str) -> None:
    builder = ar.ModelBuilder(units="kg-m-s")
    builder.add_body("rod", mass=1.0, inertia=0.1, joint=ar.Revolute(axis=(0, 1, 0)))
    builder.add_body("cap", parent="rod", position=(0, 0, -1), mass=1.0, inertia=0.1, joint=ar.Weld())
    builder.add_force(spring())
    builder.add_force(ar.forces.JointActuation("rod", times=(0, 1, 2, 3), values=(0, 1, 2, 3)))
    with pytest.raises(ar.CaseError, match=message):
        ar.sensitivity(builder.build(), "rod.angle", name, **RUN)


def test_forces_without_derivatives_say_what_to_choose() -> None:
    builder = ar.ModelBuilder(units="kg-m-s", box=ar.Box(lengths=(9.0, 9.0, 9.0)))
    for k in range(2):
        builder.add_body(f"ion{k}", mass=1.0, inertia=0.1, joint=ar.Free(), q=(2.0 * k, 0, 0, 1, 0, 0, 0))
        builder.add_site(f"ion{k}", kind="A", charge=1.0 - 2.0 * k)
    builder.add_force(ar.forces.Ewald())
    with pytest.raises(ar.ModelError, match="derivatives of 'ewald' are not known; choose 'coulomb' with a truncation"):
        ar.sensitivity(builder.build(), "kinetic_energy", "u", **RUN)
