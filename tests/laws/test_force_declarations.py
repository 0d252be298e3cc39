"""What a force declares is checked when the model is built, and one rule decides between entries that overlap."""

import numpy as np
import pytest

import articulon as ar


def two_bodies(**joints):
    builder = ar.ModelBuilder("lj")
    builder.add_body("core", mass=1.0, inertia=1.0, joint=ar.Free())
    builder.add_body("side", parent="core", mass=1.0, inertia=1.0, joint=ar.Revolute(axis=(1, 0, 0)), q=0.4)
    builder.add_site("core", kind="A", group="bodies")
    builder.add_site(None, (2.0, 0.0, 0.0), kind="R", group="ground")
    return builder


def test_a_law_without_range_is_refused_however_its_zeros_are_written():
    builder = ar.ModelBuilder("fg-um-us")
    builder.add_body("core", mass=1.0, inertia=1.0, joint=ar.Free())
    builder.add_site("core", kind="A")
    builder.add_site(None, (2.0, 0.0, 0.0), kind="R")
    builder.add_force(ar.forces.SitePairs(table=[{"kinds": ("A", "R"), "A": 0.0, "C": "0 fg um^3/us^2"}]))
    with pytest.raises(ar.ModelError, match=r"forces\[0\]\.table.*A and R has no range"):
        builder.build()


def test_parameters_without_any_force_are_refused():
    builder = two_bodies()
    builder.add_force(
        ar.forces.SitePairs(parameters={"A": {"epsilon": 0.0, "sigma": 1.0}, "R": {"epsilon": 1.0, "sigma": 1.0}})
    )
    with pytest.raises(ar.ModelError, match="A and R exert no force on each other"):
        builder.build()


def test_of_two_entries_for_a_spring_the_later_counts_and_keeps_its_rest():
    builder = two_bodies()
    builder.add_force(ar.forces.TorsionalSprings(stiffness={"side": 2.0, "si*": 3.0}, rest={"side": "initial"}))
    model = builder.build()
    q = model.q0.copy()
    q[-1] += 0.1
    assert ar.generalized_forces(model, q, model.u0, ["conformational"])[-1] == pytest.approx(-0.3, rel=1e-12)


@pytest.mark.parametrize(
    "force",
    [
        ar.forces.StokesDrag(translational=1.0),
        ar.forces.Brownian(temperature=1.0),
        ar.forces.SitePairs(table=[{"kinds": ("A", "R"), "A": 1.0}]),
    ],
)
def test_a_second_declaration_of_what_there_is_one_of_is_refused_at_build(force):
    builder = two_bodies()
    builder.add_force(ar.forces.StokesDrag(translational=1.0, bodies=("core",)))
    builder.add_force(force)
    if not isinstance(force, ar.forces.StokesDrag):
        builder.add_force(force)
    with pytest.raises(ar.ModelError, match=r"forces\[\d\]: .*(already|twice)"):
        builder.build()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("broken.py:force", "SyntaxError"),
        ("force", "write 'module:name' or 'file.py:name'"),
        ("math:pi", "is not a function"),
        ("absent_module:force", "ModuleNotFoundError"),
    ],
)
def test_a_users_force_that_cannot_be_loaded_says_why(tmp_path, monkeypatch, text, said):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "broken.py").write_text("def force(:\n")
    builder = two_bodies()
    builder.add_force(ar.forces.UserForce(function=text))
    with pytest.raises(ar.ModelError, match=rf"forces\[0\]\.function: .*{said}"):
        builder.build()


def test_the_arrays_of_a_model_cannot_be_written():
    model = two_bodies().build()
    for name in ("q0", "u0", "masses", "centres", "parents", "offset_position"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(model, name)[0] = 1
    with pytest.raises(ValueError, match="read-only"):
        model.sites.position[0] = 1.0
    # What they are is what a user takes along and changes.
    q = model.q0.copy()
    q[0] = 1.0
    assert np.array_equal(ar.body_poses(model, q)[0][0], [1.0, 0.0, 0.0])
