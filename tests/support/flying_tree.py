"""A free-flying tree with spherical joints: it branches, no body is symmetric or centred, and springs bend it."""

from __future__ import annotations

from typing import Any

import numpy as np

import articulon as ar

PARENTS = (None, 0, 0, 1, 1)


def flying_tree(*, resting: bool = False, forces: tuple[Any, ...] = ()) -> Any:
    """Five bodies on a free and four spherical joints, with torsional springs.

    Parameters
    ----------
    resting
        Whether the total linear momentum is zero.
    forces
        Further forces.
    """
    rng = np.random.default_rng(7)
    builder, handles = ar.ModelBuilder(units="lj"), []
    for k, parent in enumerate(PARENTS):
        skewed = rng.normal(size=(3, 3))
        root = parent is None
        handles.append(
            builder.add_body(
                f"link-{k}",
                parent=None if parent is None else handles[parent],
                joint=ar.Free() if root else ar.Spherical(),
                mass=1.0 + 0.3 * k,
                inertia=0.2 * np.eye(3) + 0.02 * skewed @ skewed.T,
                com=rng.uniform(-0.4, 0.4, size=3),
                position=rng.uniform(-0.8, 0.8, size=3),
                u=rng.normal(size=6 if root else 3),
            )
        )
    builder.add_force(ar.forces.TorsionalSprings(stiffness={f"link-{k}": 2.0 for k in range(1, len(PARENTS))}))
    for force in forces:
        builder.add_force(force)
    model = builder.build()
    if resting:
        linear, _ = momenta_about_the_origin(model, model.q0, model.u0)
        model.u0.flags.writeable = True
        model.u0[:3] -= linear / model.masses.sum()
        model.u0.flags.writeable = False
    return model


def momenta_about_the_origin(model: Any, q: np.ndarray, u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Linear momentum of a tree on a free joint, and angular momentum about the world's origin.

    They are the momenta of the free joint's speeds, which move the whole tree.
    """
    p = ar.inverse_dynamics(model, q, np.zeros_like(u), u)
    w, v = q[3], q[4:7]
    turn = 2.0 * np.cross(v, p[3:6])
    return p[:3], np.cross(q[:3], p[:3]) + p[3:6] + w * turn + np.cross(v, turn)
