"""The friction-implicit rule is of second order on trees of any joints, spins kept or not."""

import math

import numpy as np
import pytest

import articulon as ar
from articulon.integrate import Explicit, FrictionImplicit
from tests.support.running import Running


def random_tree(seed: int) -> ar.Model:
    """Seven bodies with drag and gravity on random joints of every kind, moving from the start."""
    rng = np.random.default_rng(seed)
    builder = ar.ModelBuilder("lj")
    bodies: list = [None]
    for k in range(7):
        joints = [ar.Free(), ar.Spherical(), ar.Xyz(), ar.Weld(), ar.Universal()]
        joints += [ar.Revolute(axis=rng.normal(size=3)), ar.Prismatic(axis=rng.normal(size=3))]
        parent = bodies[rng.integers(len(bodies))]
        joint = ar.Spherical() if parent is None else joints[rng.integers(len(joints))]
        moments = rng.normal(size=(3, 3))
        moments = moments @ moments.T
        rotation = rng.normal(size=4)
        bodies.append(
            builder.add_body(
                f"body-{k}",
                parent=parent,
                joint=joint,
                mass=rng.uniform(0.5, 2.0),
                inertia=(1.0 + np.trace(moments)) * np.eye(3) - moments,
                com=0.3 * rng.normal(size=3),
                position=0.5 * rng.normal(size=3),
                rotation=rotation / np.linalg.norm(rotation),
                u=0.5 * rng.normal(size=joint.nu),
            )
        )
    builder.add_force(ar.forces.StokesDrag(translational=0.5, rotational=0.2, flow=(0.0, 0.3, 0.0)))
    builder.add_force(ar.forces.Gravity(acceleration=(0.0, 0.0, -1.0)))
    return builder.build()


@pytest.mark.parametrize("seed", range(6))
def test_halving_the_step_quarters_the_error(seed: int) -> None:
    model = random_tree(seed)
    exact = Running(model, Explicit(rule="rk4", step=1 / 2000)).to(1.0)
    errors = []
    for steps in (200, 400):
        run = Running(model, FrictionImplicit(step=1 / steps)).to(1.0)
        errors.append(float(np.linalg.norm(np.concatenate([run.q - exact.q, run.u - exact.u]))))
    assert errors[-1] > 1e-9, "rounding hides the order"
    assert math.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.05)
