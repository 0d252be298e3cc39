"""The arrays of a friction-implicit step."""

from typing import NamedTuple

import numpy as np

from articulon.dynamics.momentum_sampling import Draw, draw_arrays
from articulon.forces.evaluation_tables import ModelTables


class Scratch(NamedTuple):
    """Arrays of a step; they may be discarded between steps."""

    mass: np.ndarray
    """Masses of the links with h/2 of their drag added, shape (links,)."""
    moment: np.ndarray
    """First moments of the links with drag added in the same way, shape (links, 3)."""
    inertia: np.ndarray
    """Inertias of the links with drag added in the same way, shape (links, 6)."""
    diagonal: np.ndarray
    """Terms that armatures, and h/2 of the joints' resistance, add to the diagonal of the mass matrix, shape (nu,)."""
    udot: np.ndarray
    """Accelerations, shape (nu,)."""
    middle: np.ndarray
    """Speeds at the middle of a kick, shape (nu,)."""
    friction: np.ndarray
    """Drag and noise on the links, shape (2, links, 6)."""
    total: np.ndarray
    """Scaled sum of drag and noise, shape (links, 6)."""
    no_torque: np.ndarray
    """Zeros, shape (nu,)."""
    still: np.ndarray
    """Zero twists, shape (links, 6)."""
    turning: np.ndarray
    """Angular accelerations of the links in the drift, shape (links, 3)."""
    no_bias: np.ndarray
    """Zero velocity-product accelerations, shape (links, 6)."""
    factor: np.ndarray
    """Factors of the channels, shape (8,)."""
    time: np.ndarray
    """Time of the latest evaluation [time], shape (1,)."""
    window: np.ndarray
    """Window of the noise, shape (1,)."""
    clock: np.ndarray
    """Time at the start of the step, and its length [time], shape (2,)."""
    span: np.ndarray
    """Half of the step [time], shape (1,)."""
    number: np.ndarray
    """Number of the step, shape (1,)."""
    status: np.ndarray
    """Status of free flights, shape (1,)."""
    kinetic: np.ndarray
    """Kinetic energy [energy], shape (1,)."""
    powers: np.ndarray
    """Powers of noise and drag, shape (2,)."""
    power: np.ndarray
    """Powers of the channels, unscaled, shape (8,)."""
    position: np.ndarray
    """Origins of the links, shape (links, 3)."""
    rotation: np.ndarray
    """Orientations of the links, row-major matrices, shape (links, 9)."""
    q: np.ndarray
    """Coordinates of the unfinished step, shape (nq,)."""
    u: np.ndarray
    """Speeds of the unfinished step, shape (nu,)."""
    work: np.ndarray
    """Works of the unfinished step, shape (8,)."""
    acceleration: np.ndarray
    """Accelerations of the latest kick, of the unfinished step, shape (nu,)."""
    bath: np.ndarray
    """Variables of a thermostat, of the unfinished step."""
    draw: Draw
    """Arrays of the Langevin noise."""


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
