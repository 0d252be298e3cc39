"""Fixman's potential, which takes the bias of rigid bonds out of what is sampled, booked in the channel
``conformational``."""

from typing import Annotated, Literal, NamedTuple

import numpy as np

from articulon.declaration import Declaration, Dimension, Quantity
from articulon.dynamics.mass_determinant import (
    Determinant,
    determinant_arrays,
    log_determinant,
    log_determinant_at,
    log_determinant_gradient,
)
from articulon.errors import ModelError
from articulon.kernels import jit
from articulon.model import Model, kernel_tables, workspace


class Fixman(Declaration):
    """U = ½ kT ln det M(q) − ½ kT ln det M(q₀), with M the joint-space mass matrix and q₀ the initial coordinates.

    At equilibrium a model of rigid bodies on joints has its coordinates distributed as √det M e^{−Φ/kT}: what joints
    hold rigid leaves a bias that no stiff spring in its place would. With this potential they follow e^{−Φ/kT} dq, the
    measure dq even in angles, displacements and rotations (Fixman, PNAS 71, 3050, 1974). Where all that is held rigid
    are bonds and bond angles of point masses, that is the limit of stiff springs in their place, but for the factor by
    which the springs' own frequencies depend on q, which flexible models leave out with the same right.

    Energy and forces take one inward and one outward pass, O(n). Coordinates of single free bodies feel nothing.
    """

    kind: Literal["fixman"] = "fixman"
    temperature: Annotated[Quantity, Dimension("temperature", minimum=0)]
    """T that is simulated [temperature]: that of the thermostat or of the Brownian forces."""

    def check(self, model: Model, where: str) -> None:
        """Raises ModelError where loops or drives bind the coordinates, or where it is declared twice."""
        if model.loops.kind.size:
            raise ModelError(
                f"{where}: Fixman's potential is that of coordinates that move freely, and {model.loop_name(0)} binds "
                "them; leave out the loops and drives, or this force"
            )
        if sum(isinstance(force, Fixman) for force in model.forces) > 1:
            raise ModelError(f"{where}: Fixman's potential is declared twice; one declaration serves the whole model")


class FixmanTable(NamedTuple):
    """Fixman's potential as kernels see it."""

    half_kT: np.ndarray
    """½ kT [energy], shape (1,), or (0,) where there is none."""
    reference: np.ndarray
    """ln det M at the initial coordinates, likewise."""
    arrays: Determinant
    """Scratch; deleting it changes nothing."""


def fixman_of(model: Model) -> Fixman | None:
    """The model's Fixman potential, if it has one."""
    return next((force for force in model.forces if isinstance(force, Fixman)), None)


def fixman_table(model: Model) -> FixmanTable:
    """Fixman's potential of a model."""
    force = fixman_of(model)
    if force is None:
        return FixmanTable(np.zeros(0), np.zeros(0), determinant_arrays(0, 0))
    arrays = determinant_arrays(model.forest.mass.size, model.nu)
    forest = kernel_tables(model).forest
    reference = log_determinant_at(forest, np.array(model.q0), workspace(forest), arrays)
    half_kT = 0.5 * model.units.boltzmann * float(force.temperature)
    return FixmanTable(np.array([half_kT]), np.array([reference]), arrays)


@jit
def fixman_forces(forest, fixman, ws, joint):
    """Adds −½ kT ∂ ln det M to the joints' generalised forces, at links that have been placed."""
    log_determinant_gradient(forest, ws, fixman.arrays)
    gradient = fixman.arrays.gradient
    for k in range(gradient.size):
        joint[k] -= fixman.half_kT[0] * gradient[k]


@jit
def fixman_energy(forest, fixman, ws):
    """½ kT ln det M, zero at the initial coordinates, at links that have been placed."""
    return fixman.half_kT[0] * (log_determinant(forest, ws, fixman.arrays) - fixman.reference[0])
