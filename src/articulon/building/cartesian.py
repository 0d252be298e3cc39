"""A model in Cartesian coordinates: every body is free, and joints are loop constraints (POEMS, 8)."""

from dataclasses import replace
from typing import Any

import numpy as np

from articulon.building.builder import ModelBuilder
from articulon.dynamics import body_poses
from articulon.dynamics.armatures import refuse_armature
from articulon.dynamics.multibody_functions import body_velocities, check_model, vector
from articulon.errors import ModelError
from articulon.model import Model
from articulon.model.assemble import FULL
from articulon.model.joints import WELD, Free, Weld


def cartesian(model: Model, q: np.ndarray | None = None, u: np.ndarray | None = None) -> Model:
    """Return a model with the same bodies, sites and forces in which every body is free and each joint is a loop
    constraint.

    Welds stay welds, and a body that already moves freely relative to the ground keeps its coordinates.

    Parameters
    ----------
    model
        The model in relative coordinates.
    q, u
        State of the model, by default its initial one.

    Returns
    -------
    Model
        The model in Cartesian coordinates, with the given state as its initial state. The state of each body consists
        of the position and velocity of its origin and its Euler parameters in the world frame, and its angular velocity
        in the body frame.

    Raises
    ------
    ModelError
        For a model with driven joints or joint forces, because they need joint coordinates to act on.
    """
    check_model(model, "cartesian")
    refuse_armature(model, "Cartesian coordinates")
    if model.modes:
        raise ModelError(
            f"Cartesian coordinates take rigid bodies only, and '{model.names[next(iter(model.modes))]}' is flexible; "
            "keep relative coordinates"
        )
    start_q = model.q0 if q is None else vector(q, model.nq, "q")
    start_u = model.u0 if u is None else vector(u, model.nu, "u")
    _refuse_joint_forces(model)
    positions, rotations = body_poses(model, start_q)
    velocities = body_velocities(model, start_q, start_u)
    builder = ModelBuilder(model.units.name, model.box)
    for k, name in enumerate(model.names):
        common: dict[str, Any] = {
            "mass": model.masses[k],
            "inertia": model.inertias[k][FULL].reshape(3, 3),
            "com": model.centres[k],
            "shape": model.shapes[k],
        }
        if model.kinds[k] == WELD:
            i = int(model.link[k])
            builder.add_body(
                name,
                parent=None if i < 0 else model.names[int(model.head[i])],
                joint=Weld(),
                position=model.offset_position[k],
                rotation=model.offset_rotation[k],
                **common,
            )
            continue
        i = int(model.link[k])
        if isinstance(model.joints[k], Free) and model.forest.parent[i] < 0:
            a, b = int(model.forest.q_start[i]), int(model.forest.u_start[i])
            builder.add_body(
                name,
                joint=Free(),
                position=model.forest.position[i],
                rotation=model.forest.rotation[i],
                q=start_q[a : a + 7],
                u=start_u[b : b + 6],
                **common,
            )
            continue
        builder.add_body(
            name,
            joint=Free(),
            q=[*positions[k], *rotations[k]],
            u=[*velocities[k]],
            **common,
        )
    _add_joints(builder, model)
    for body, position, charge, kind, group, radius in zip(*(column for column in model.sites[:6]), strict=True):
        carrier = None if body < 0 else int(body)
        builder.add_site(carrier, position, charge, model.sites.kinds[kind], model.sites.groups[group], radius=radius)
    if model.atoms is not None:  # torsions are not coordinates of the new model
        builder.add_atoms(replace(model.atoms, torsions={}, dihedrals={}))
    if model.chains is not None:
        builder.add_chains(model.chains.site, model.chains.first, model.chains.ring, model.chains.branched)
    for force in model.forces:
        builder.add_force(force)
    return builder.build()


def _add_joints(builder: ModelBuilder, model: Model) -> None:
    """Add the joints of the tree, then the loops."""
    forest = model.forest
    for i, k in enumerate(model.head.tolist()):
        parent = int(forest.parent[i])
        if not model.joints[k].rows():
            continue
        builder.add_loop(
            f"joint of {model.names[k]}",
            joint=model.joints[k],
            parent=None if parent < 0 else int(model.head[parent]),
            child=k,
            position=forest.position[i],
            rotation=forest.rotation[i],
        )
    for loop in model.loop_joints:
        builder.add_loop(
            loop.name,
            joint=loop.joint,
            parent=None if loop.parent < 0 else loop.parent,
            child=None if loop.child < 0 else loop.child,
            position=loop.position,
            rotation=loop.rotation,
            child_position=loop.child_position,
            child_rotation=loop.child_rotation,
        )


def _refuse_joint_forces(model: Model) -> None:
    if model.drives:
        raise ModelError(
            f"drive '{model.drives[0].name}': in Cartesian coordinates a joint has no coordinate to drive; use "
            "relative ones"
        )
    jointed = bool((model.forest.parent >= 0).any())
    for k, force in enumerate(model.forces):
        if jointed and getattr(force, "excluded_joints", False):
            raise ModelError(
                f"forces[{k}] ({force.kind}).excluded_joints counts joints of the tree, but Cartesian coordinates have "
                "none; leave out pairs by name, or use relative coordinates"
            )
        if getattr(force, "on_joints", False):
            raise ModelError(
                f"forces[{k}] ({force.kind}) acts on joints, which have no coordinates in Cartesian coordinates; use "
                "relative ones"
            )
