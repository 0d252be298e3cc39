"""Kinematics by blocks on several threads, against the sweep from the ground outward."""

from __future__ import annotations

import numpy as np
import pytest

import articulon as ar
from articulon.dynamics.dca.block_kinematics import locate_by_blocks
from articulon.dynamics.motion_passes import move_links, place_links
from articulon.dynamics.solvers import solver_scratch
from articulon.model import kernel_tables, workspace
from articulon.passes import Program
from tests.support.threads import on_one_and_two

EPS = np.finfo(float).eps
JOINTS = (
    ar.Revolute(axis=(1, 2, 2)),
    ar.Prismatic(axis=(0, 1, 0)),
    ar.Spherical(),
    ar.Xyz(),
    ar.Free(),
    ar.Universal(),
    ar.Revolute(axis=(0, 0, 1)),
)
FIELDS = ("quaternion", "rotation", "position", "reach", "twist", "bias")


def forest(seed: int, bodies: int = 700) -> ar.Model:
    """Long trees of every joint with side branches, so that blocks hang on blocks."""
    rng = np.random.default_rng(seed)
    parents = [-1]
    for k in range(1, bodies):
        parents.append(-1 if rng.random() < 0.01 else max(0, k - 1 - int(rng.integers(0, 4))))
    joints = [JOINTS[int(rng.integers(0, len(JOINTS)))] for _ in range(bodies)]
    q = []
    for joint in joints:
        values = 0.3 * rng.normal(size=joint.nq)
        if joint.quaternion is not None:
            e = rng.normal(size=4)
            values[joint.quaternion : joint.quaternion + 4] = e / np.linalg.norm(e)
        q.append(values)
    builder = ar.ModelBuilder(units="lj")
    builder.add_bodies(
        bodies,
        mass=1.0,
        inertia=(0.3, 0.4, 0.5),
        com=(0.1, 0.2, 0.05),
        joint=joints,
        parents=np.array(parents),
        position=0.3 * rng.normal(size=(bodies, 3)),
        q=np.concatenate(q),
        u=0.1 * rng.normal(size=sum(joint.nu for joint in joints)),
    )
    return builder.build()


@pytest.mark.parametrize("seed", range(3))
def test_blocks_end_where_the_sweep_ends(seed):
    model = forest(seed)
    one, other = workspace(kernel_tables(model).forest), workspace(kernel_tables(model).forest)
    solver = solver_scratch(model, "divide-and-conquer")
    assert solver.blocks.head.max() >= 0  # some block hangs on another
    q, u = model.q0.copy(), model.u0.copy()
    tables = kernel_tables(model).forest
    Program([place_links.bind(tables, q, one), move_links.bind(tables, u, one)])()
    locate_by_blocks(kernel_tables(model).forest, solver.tree, q, u, other, solver.blocks)
    for name in FIELDS:
        a, b = getattr(one, name), getattr(other, name)
        # Each link on the way adds a few roundings of what has been summed so far.
        assert np.abs(a - b).max() <= 20 * EPS * 700 * np.abs(a).max(), name


def test_bits_do_not_depend_on_the_number_of_threads():
    model = forest(3)
    solver = solver_scratch(model, "divide-and-conquer")

    def located():
        ws = workspace(kernel_tables(model).forest)
        locate_by_blocks(kernel_tables(model).forest, solver.tree, model.q0.copy(), model.u0.copy(), ws, solver.blocks)
        return ws

    one, two = on_one_and_two(located)
    for name in FIELDS:
        assert np.array_equal(getattr(one, name), getattr(two, name)), name
