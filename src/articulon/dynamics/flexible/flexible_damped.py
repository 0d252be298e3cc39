"""Forests with flexible bodies and implicit damping of joints: damping changes only the elimination of joints, not that
of modes."""

from articulon.algebra.vectors import load_from
from articulon.dynamics.by_forest import for_flexible
from articulon.dynamics.damped_articulated import accelerate_damped, eliminate_damped
from articulon.dynamics.flexible.flexible_articulated import (
    accelerate_follower,
    accelerate_modes,
    eliminate_follower,
    eliminate_modes,
)
from articulon.dynamics.flexible.floating_frame import begin_bodies
from articulon.model.joints import WELD

eliminate_damped_link, accelerate_damped_link = eliminate_damped.rigid, accelerate_damped.rigid


@for_flexible(eliminate_damped)
def eliminate_damped_flexible(forest, moment, inertia, tau, wrench, ws, damping, start, end, kept):
    """Inward pass, with the inertias of the deformed bodies instead of the given ones."""
    body, kinds, modal = forest.flexible.body, forest.kind, ws.modal
    begin_bodies(forest, ws, start, end)
    for i in range(end - 1, start - 1, -1):
        if body[i] >= 0:
            eliminate_modes(forest, tau, ws, i)
        if kinds[i] == WELD:
            eliminate_follower(forest, wrench, ws, i, kept)
        else:
            eliminate_damped_link(forest, modal.moment, modal.inertia, tau, wrench, ws, damping, i, i + 1, kept)


@for_flexible(accelerate_damped)
def accelerate_damped_flexible(forest, gravity, ws, damping, udot, start, end):
    """Outward pass: accelerations of damped joints and of modes."""
    body, kinds, acceleration = forest.flexible.body, forest.kind, ws.acceleration
    for i in range(start, end):
        if kinds[i] == WELD:
            accelerate_follower(forest, gravity, ws, udot, i)
        else:
            accelerate_damped_link(forest, gravity, ws, damping, udot, i, i + 1)
        if body[i] >= 0:
            accelerate_modes(forest, ws, load_from(acceleration, i, 0), load_from(acceleration, i, 3), udot, i)
