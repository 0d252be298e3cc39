"""Flexible bodies in case files: the same as in Python, and refused by file and key."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import articulon as ar
from articulon.errors import CaseError
from articulon.report.activity_figure import active_joints
from articulon.report.figures import figures
from articulon.report.view import View

FILAMENT = """
[case]
title = "A rod with a bead on its end, and a shell"
units = "fg-um-us"

[[model.bodies]]
name = "rod"
joint = "free"
q = [0, 0, "1 um", 1, 0, 0, 0, "10 nm", 0, 0, 0]

[model.bodies.modes]
kind = "beam"
length = "2 um"
mass = "3 fg"
gyration = "20 nm"
bending = 2
bending_stiffness = "0.8 fN um^2"
boundary = "free"
damping_ratio = 0.01

[[model.bodies]]
name = "bead"
parent = "rod"
node = 15
joint = "spherical"
mass = "1 fg"
inertia = "1e-3 fg um^2"

[[model.bodies]]
name = "shell"
joint = "weld"
modes = { kind = "arrays", file = "shell.npz" }

[[model.sites]]
body = "shell"
node = 1

[run]
duration = "1 us"

[integrator]
rule = "dormand-prince"
"""

SHELL = {
    "positions": np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]]),
    "masses": np.array([1.0, 2.0]),
    "shapes": np.array([[[0.0], [0.0], [0.0]], [[0.0], [0.0], [1.0]]]),
    "stiffness": np.array([3.0]),
}


def written(folder: Path, text: str = FILAMENT, **arrays: np.ndarray) -> Path:
    np.savez(folder / "shell.npz", **(SHELL | arrays))
    (folder / "rod.toml").write_text(text, encoding="utf-8")
    return folder / "rod.toml"


def test_a_case_with_modes_is_the_model_of_the_same_in_python(tmp_path):
    model = ar.load_case(written(tmp_path)).build_model()
    rod = ar.modes.beam(
        length=2.0, mass=3.0, gyration=0.02, bending=2, bending_stiffness=0.8e-3, boundary="free", damping_ratio=0.01
    )
    b = ar.ModelBuilder()
    b.add_body("rod", joint=ar.Free(), modes=rod, q=(0, 0, 1, 1, 0, 0, 0, 0.01, 0, 0, 0))
    b.add_body("bead", parent="rod", node=15, joint=ar.Spherical(), mass=1.0, inertia=1e-3)
    b.add_body("shell", joint=ar.Weld(), modes=ar.Modes(**SHELL))
    b.add_site("shell", node=1)
    expected = b.build()
    np.testing.assert_array_equal(model.q0, expected.q0)
    u = np.random.default_rng(0).normal(size=model.nu)
    tau = np.zeros(model.nu)
    np.testing.assert_allclose(
        ar.forward_dynamics(model, model.q0, u, tau), ar.forward_dynamics(expected, model.q0, u, tau), rtol=1e-9
    )


def test_a_case_with_modes_written_and_read_again_is_the_same(tmp_path):
    case = ar.load_case(written(tmp_path))
    again = tmp_path / "again.toml"
    again.write_text(case.to_toml(), encoding="utf-8")
    assert ar.load_case(again).digest() == case.digest()


@pytest.mark.parametrize(
    "old, new, message",
    [
        ('length = "2 um"', 'length = "2 fg"', "model.bodies[0].modes.length"),
        ('length = "2 um"', "length = 0", "model.bodies[0].modes.length: must be greater than 0"),
        ('kind = "beam"', 'kind = "bean"', "model.bodies[0].modes.kind: unknown word 'bean'; did you mean 'beam'?"),
        ("bending = 2", "torsion = 1", "model.bodies[0].modes, body 'rod': beam: torsional_stiffness is required"),
        (
            'mass = "1 fg"\n',
            "",
            "model.bodies[1].mass: is required: a mass (for example '1.5 fg'), a shape with a density, or modes",
        ),
        ('"shell.npz"', '"shall.npz"', "model.bodies[2].modes.file: "),
        ("node = 15", "node = 99", "body 'rod' has no node 99"),
        ('"10 nm", 0, 0, 0]', '"10 nm"]', "body 'rod', q"),
    ],
)
def test_modes_that_cannot_be_are_refused_by_file_and_key(tmp_path, old, new, message):
    assert old in FILAMENT
    path = written(tmp_path, FILAMENT.replace(old, new, 1))
    with pytest.raises(CaseError) as caught:
        ar.load_case(path).build_model()
    assert message in str(caught.value)
    assert str(caught.value).startswith(str(path))


def test_arrays_that_are_missing_or_wrong_are_named(tmp_path):
    path = written(tmp_path, stiffness=np.array([-3.0]))
    with pytest.raises(CaseError, match=r"body 'shell', mode 1: the modal stiffness is negative"):
        ar.load_case(path).build_model()
    np.savez(tmp_path / "shell.npz", positions=SHELL["positions"])
    with pytest.raises(CaseError, match=r"model.bodies\[2\].modes, body 'shell': .* has no array 'masses'"):
        ar.load_case(path).build_model()
    (tmp_path / "shell.npz").write_text("no zip", encoding="utf-8")
    with pytest.raises(CaseError, match=r"body 'shell': .*shell\.npz is damaged, truncated or not a file of arrays"):
        ar.load_case(path).build_model()


@pytest.mark.slow
def test_the_energy_of_deformation_is_part_of_what_a_run_reports(tmp_path):
    """T + U stays while each changes, and the work of the modes' stiffness is the energy that it loses."""
    short = {"run.duration": "20 ns", "model.links": 3}
    run = ar.run("flexible-filament", tmp_path / "run", overrides=short | {"model.curl": "10 deg"}, report=False)
    energy = np.asarray(run.observables["energy_conformational"])
    assert np.ptp(energy) > 1e-2 * energy[0]
    assert run.summary["conservative_works"]["conformational"]["relative"] < 1e-6
    assert all(check["passed"] for check in run.summary["checks"]) and run.summary["notes"] == []
    # Bent by more, three links leave the range of their modes at once, and eight do not.
    (first, *_) = ar.run("flexible-filament", tmp_path / "bent", overrides=short, report=False).summary["notes"]
    assert "body 'link-1' is deformed beyond the range of linear elasticity" in first


@pytest.mark.slow
def test_the_filament_drops_its_quiet_modes_and_says_what_was_active_when(tmp_path):
    """Three links, bent by less: modes drop as the vibration dies down, some are added again, and the books close."""
    case = ar.load_case(
        "flexible-filament",
        {"model.links": 3, "model.curl": "10 deg", "run.duration": "1.5 us", "run.frames": 30},
    )
    run = ar.run(case, tmp_path / "run", report=False)
    assert all(check["passed"] for check in run.summary["checks"]) and run.summary["notes"] == []
    found, active = run.summary["adaptive"], run.observables["active_freedoms"]
    assert found["locked"] > found["released"] > 0
    assert active[0] == 18 and active[-1] < 12
    # At the frames, a mode that is dropped does not move at all.
    moving = (run.u[:] != 0.0).sum(axis=1)
    assert np.array_equal(moving[1:], active[1:])
    shown = active_joints(View.of(run))
    assert shown.shape == (31, 1 + 12)  # the first link's joint, then the modes
    assert (6 + shown[1:, 1:].sum(axis=1)).tolist() == active[1:].tolist()
    assert "activity" in figures(run)
    free = ar.run(case.variant("all-active"), tmp_path / "free", report=False)
    assert free.summary["adaptive"] is None and free.summary["steps"] > run.summary["steps"]
    # Where the links are differs by little: modes are dropped within a hundredth of the length of their equilibria.
    model = case.build_model()
    ours, theirs = (ar.body_poses(model, one.q[-1])[0] for one in (run, free))
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=0.01 * 2.0)


@pytest.mark.slow
def test_a_mode_that_chatters_and_a_body_out_of_its_range_are_both_noted(tmp_path):
    chattering = {
        "bodies": ["link-2"],
        "modes": [3],
        "lock": {"when": "mode-energy", "above": 0},
        "release": {"when": "elapsed", "time": 0},
    }
    changes = {"model.links": 3, "run.duration": "50 ns", "adaptive.every": "2 ns", "adaptive.groups": [chattering]}
    run = ar.run("flexible-filament", tmp_path / "run", overrides=changes, report=False)
    bent, chatters = run.summary["notes"][0], run.summary["notes"][-1]
    assert "body 'link-1' is deformed beyond the range of linear elasticity" in bent
    assert "adaptive: mode 3 of body 'link-2' chatters" in chatters
