"""The picture of spheres: panels, walls as they are at the time, and meshes cut open."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import articulon as ar
from articulon.report.figures import figures
from articulon.report.view import View
from articulon.report.wall_drawing import outlines

CASE = """
[case]
units = "kg-m-s"
[model]
builder = "grains"
[[model.grains]]
name = "ball"
radius = 0.1
density = 1000
position = [0, 0, 1]
velocity = [0.2, 0, 0]
[[forces]]
kind = "gravity"
acceleration = [0, 0, -9.81]
[[forces]]
kind = "contact"
[forces.materials.grain]
young = 1e6
poisson = 0.25
static_friction = 0.5
restitution = 0.5
[[forces.walls]]
shape = "mesh"
kind = "grain"
velocity = [0, 0, 0.1]
angular_velocity = [0, 0, "90 deg/s"]
vertices = [[-1, -2, 0], [1, -2, 0], [1, 2, 0], [-1, 2, 0], [-1, -2, 0.5], [1, -2, 0.5], [1, 2, 0.5], [-1, 2, 0.5]]
triangles = [
    [0, 2, 1], [0, 3, 2], [4, 5, 6], [4, 6, 7], [0, 1, 5], [0, 5, 4],
    [1, 2, 6], [1, 6, 5], [2, 3, 7], [2, 7, 6], [3, 0, 4], [3, 4, 7],
]
[[forces.walls]]
shape = "cylinder"
kind = "grain"
point = [0, 0, 0]
axis = [0, 1, 0]
radius = 1.5
[integrator]
rule = "velocity-verlet"
step = 1e-4
[run]
duration = 0.02
frames = 4
"""


@pytest.fixture(scope="module")
def view(tmp_path_factory: pytest.TempPathFactory) -> View:
    folder = tmp_path_factory.mktemp("figures")
    (folder / "case.toml").write_text(CASE, encoding="utf-8")
    return View.of(ar.run(ar.load_case(folder / "case.toml"), folder / "run"))


def test_a_mesh_is_cut_where_the_picture_lies_and_where_the_wall_is_then(view: View) -> None:
    """A block 2 by 4 by 0.5 that rises by 0.1 and has turned by 90° after a second: its sides change places."""
    for time, half, base in ((0.0, 1.0, 0.0), (1.0, 2.0, 0.1)):
        block, ring = outlines(view, (0, 2, 1), 0.3, time)
        points = block.reshape(-1, 2)
        np.testing.assert_allclose(points.min(axis=0), [-half, base], atol=1e-12)
        np.testing.assert_allclose(points.max(axis=0), [half, base + 0.5], atol=1e-12)
        # The cut is closed: each point is the end of two segments.
        corners, times = np.unique(points.round(6), axis=0, return_counts=True)
        assert len(corners) >= 4 and (times == 2).all()
        np.testing.assert_allclose(np.linalg.norm(ring, axis=2), 1.5, rtol=1e-12)
    assert outlines(view, (0, 2, 1), 5.0, 0.0)[0].shape == (0, 2, 2)


@pytest.mark.slow
def test_one_ball_has_one_figure_of_its_motion_and_no_empty_panel(view: View) -> None:
    drawn = figures(view)
    assert "position" not in drawn and len(drawn["grain_motion"].axes) == 2
    turning = np.array(view.u)
    turning[:, 4] = 3.0
    assert len(figures(replace(view, u=turning))["grain_motion"].axes) == 3


def test_walls_around_the_spheres_are_in_the_picture(view: View) -> None:
    near = replace(view, positions=np.array(view.positions) + np.linspace(-1.3, 0.3, 5)[:, None, None] * [1, 0, 1])
    axes = figures(near)["spheres"].axes[0]
    assert axes.get_xlim()[0] < -1.5 < 1.5 < axes.get_xlim()[1]
