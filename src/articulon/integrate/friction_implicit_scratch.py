"""The arrays of a friction-implicit step."""

from typing import NamedTuple

import numpy as np

from articulon.dynamics.momentum_sampling import Draw, draw_arrays
from articulon.forces.evaluation_tables import ModelTables


class Scratch(NamedTuple):
    """Arrays of a step; deleting them changes nothing."""

    mass: np.ndarray
    """Masses of the links with h/2 of their drag added, shape (links,)."""
    moment: np.ndarray
    """First moments, likewise, shape (links, 3)."""
    inertia: np.ndarray
    """Inertias, likewise, shape (links, 6)."""
    diagonal: np.ndarray
    """What armatures, and h/2 of the resistance of joints, add to the diagonal of the mass matrix, shape (nu,)."""
    udot: np.ndarray
    """Accelerations, shape (nu,)."""
    middle: np.ndarray
    """Speeds at the middle of a kick, shape (nu,)."""
    friction: np.ndarray
    """Drag and noise on the links, shape (2, links, 6)."""
    total: np.ndarray
    """Their scaled sum, shape (links, 6)."""
    no_torque: np.ndarray
    """Zeros, shape (nu,)."""
    still: np.ndarray
    """Zero twists, shape (links, 6)."""
    turning: np.ndarray
    """Angular accelerations of the links while they drift, shape (links, 3)."""
    no_bias: np.ndarray
    """Zero velocity-product accelerations, shape (links, 6)."""
    factor: np.ndarray
    """Factors of the channels, shape (8,)."""
    time: np.ndarray
    """Of the latest evaluation [time], shape (1,)."""
    window: np.ndarray
    """Of the noise, shape (1,)."""
    clock: np.ndarray
    """Time at the start of the step, and its length [time], shape (2,)."""
    span: np.ndarray
    """Half of it [time], shape (1,)."""
    number: np.ndarray
    """Number of the step, shape (1,)."""
    status: np.ndarray
    """Of free flights, shape (1,)."""
    kinetic: np.ndarray
    """Kinetic energy [energy], shape (1,)."""
    powers: np.ndarray
    """Of noise and drag, shape (2,)."""
    power: np.ndarray
    """Of the channels, unscaled, shape (8,)."""
    position: np.ndarray
    """Origins of the links, shape (links, 3)."""
    rotation: np.ndarray
    """Their orientations, row-major matrices, shape (links, 9)."""
    q: np.ndarray
    """Coordinates of a step not yet finished, shape (nq,)."""
    u: np.ndarray
    """Speeds, likewise, shape (nu,)."""
    work: np.ndarray
    """Works, likewise, shape (8,)."""
    acceleration: np.ndarray
    """Accelerations of the latest kick, likewise, shape (nu,)."""
    bath: np.ndarray
    """A thermostat's variables, likewise."""
    draw: Draw
    """Of Langevin's noise."""


def scratch(e: ModelTables) -> Scratch:
    """Arrays for a model, its thermostat and its forces."""
    forest, nq, nu = e.system.forest, e.model.nq, e.model.nu
    n = forest.mass.size
    return Scratch(
        np.zeros(n),
        np.zeros((n, 3)),
        np.zeros((n, 6)),
        np.zeros(nu),
        np.zeros(nu),
        np.zeros(nu),
        np.zeros((2, n, 6)),
        np.zeros((n, 6)),
        np.zeros(nu),
        np.zeros((n, 6)),
        np.zeros((n, 3)),
        np.zeros((n, 6)),
        np.ones(8),
        np.zeros(1),
        np.zeros(1, dtype=np.int64),
        np.zeros(2),
        np.zeros(1),
        np.zeros(1, dtype=np.int64),
        np.zeros(1, dtype=np.int64),
        np.zeros(1),
        np.zeros(2),
        e.channels.power,
        e.ws.position,
        e.ws.rotation,
        np.zeros(nq),
        np.zeros(nu),
        np.zeros(8),
        np.zeros(nu),
        np.zeros(e.bath.shape[1]),
        draw_arrays(nu),
    )
