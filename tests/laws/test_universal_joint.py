"""The universal joint where a user meets it: in a case file, in a run, and where it cannot be."""

from pathlib import Path

import numpy as np
import pytest

import articulon as ar
from articulon.integrate import Explicit
from articulon.model.joints import BY_NAME
from tests.support.running import Running

CASE = """
[case]
units = "kg-m-s"
[[model.bodies]]
name = "stick"
mass = 2.0
inertia = [0.1, 0.1, 0.02]
com = [0.0, 0.0, 0.5]
joint = "universal"
q = ["30 deg", 0.1]
u = [0.0, "1 rad/s"]
[run]
duration = 1.0
frames = 2
"""


def test_a_case_file_takes_it_by_its_name(tmp_path: Path) -> None:
    file = tmp_path / "stick.toml"
    file.write_text(CASE)
    model = ar.load_case(file).build_model()
    assert model.joint_name(0) == "universal"
    np.testing.assert_allclose(model.q0, [np.pi / 6, 0.1], rtol=1e-15)
    assert model.u0.tolist() == [0.0, 1.0]


def test_every_joint_is_found_by_itself() -> None:
    assert BY_NAME["universal"] is ar.Universal
    folder = Path(ar.__file__).parent / "model" / "joints"
    assert {path.stem for path in folder.glob("*.py")} - {"__init__", "base", "axis", "two_axes"} == set(BY_NAME)


def stick(inertia: object, u: tuple[float, float] = (0.0, 0.0)) -> ar.Model:
    builder = ar.ModelBuilder("kg-m-s")
    builder.add_body("stick", mass=2.0, inertia=inertia, com=(0, 0, 0.5), joint=ar.Universal(), q=(0.5, 0.1), u=u)
    builder.add_force(ar.forces.Gravity(acceleration=(0, 0, -9.81)))
    return builder.build()


def test_a_rod_without_thickness_is_refused_because_of_gimbal_lock() -> None:
    """At b = 90° the first axis lies along the rod, which has no inertia about it."""
    with pytest.raises(
        ar.ModelError, match="body 'stick': its universal joint rotates it about an axis without inertia"
    ):
        stick((0.1, 0.1, 0.0))


def test_it_goes_through_gimbal_lock_and_keeps_its_energy() -> None:
    """The axes of the joint itself stay perpendicular; b turns through 90° again and again."""
    model = stick((0.1, 0.1, 0.02), (2.0, 12.0))
    run = Running(model, Explicit(rule="rk4", step=1e-4)).to(3.0)

    def energy(q: np.ndarray, u: np.ndarray) -> float:
        return ar.kinetic_energy(model, q, u) + ar.potential_energy(model, q)

    assert abs(run.q[1]) > np.pi
    assert energy(run.q, run.u) == pytest.approx(energy(model.q0, model.u0), rel=1e-9)
