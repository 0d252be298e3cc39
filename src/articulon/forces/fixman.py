"""Fixman's potential, which takes the bias of rigid bonds out of what is sampled, booked in the channel
``conformational``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, Self

import numpy as np

from articulon.declaration import Dimension, Quantity
from articulon.dynamics.mass_determinant import (
    Determinant,
    determinant_arrays,
    log_determinant,
    log_determinant_at,
    log_determinant_gradient,
)
from articulon.dynamics.state_batches import in_lanes
from articulon.errors import ModelError
from articulon.forces.base import At, EnergyAt, Force, Merging
from articulon.model import Model, kernel_tables, workspace
from articulon.model.state import CONFORMATIONAL
from articulon.passes import Bound, pass_of


class Fixman(Force):
    """U = ½ kT ln det M(q) − ½ kT ln det M(q₀), with M the joint-space mass matrix and q₀ the initial coordinates.

    At equilibrium a model of rigid bodies on joints has its coordinates distributed as √det M e^{−Φ/kT}: what joints
    hold rigid leaves a bias that no stiff spring in its place would. With this potential they follow e^{−Φ/kT} dq, the
    measure dq even in angles, displacements and rotations (Fixman, PNAS 71, 3050, 1974). Where all that is held rigid
    are bonds and bond angles of point masses, that is the limit of stiff springs in their place, but for the factor by
    which the springs' own frequencies depend on q, which flexible models leave out with the same right.

    Energy and forces take one inward and one outward pass, O(n). Coordinates of single free bodies feel nothing.
    """

    positional: ClassVar[tuple[str, ...]] = ("temperature",)
    energy_channel = CONFORMATIONAL
    of_determinant = True
    side_by_side: ClassVar[bool] = True

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

    def momentum_changes(self, model: Model) -> str | None:
        """See :class:`Force`. ln det M is that of all places and orientations."""
        return None

    def check_baths(self, baths: Sequence[tuple[str, float]]) -> None:
        """Raises ModelError where the potential is that of another temperature than a bath's: what it takes out of the
        positions would then be wrong."""
        own = float(self.temperature)
        for what, T in baths:
            if abs(T - own) > 1e-9 * max(T, own):
                raise ModelError(
                    f"the force 'fixman' has the temperature {own:g} and the {what} {T:g}: positions would keep part "
                    "of the bias that it is there to take out; give both one temperature, steady over the run"
                )

    @classmethod
    def gather(cls, model: Model, declared: Sequence[tuple[str, Self]], users: Any) -> FixmanTable:
        """See :class:`Force`."""
        arrays = determinant_arrays(model.forest.mass.size, model.nu)
        forest = kernel_tables(model).forest
        reference = log_determinant_at(forest, np.array(model.q0), workspace(forest), arrays)
        half_kT = 0.5 * model.units.boltzmann * float(declared[0][1].temperature)
        return FixmanTable(np.array([half_kT]), np.array([reference]), arrays)

    @classmethod
    def channels(cls, table: FixmanTable) -> tuple[Iterable[int], Iterable[int]]:
        """See :class:`Force`."""
        return (), (CONFORMATIONAL,)

    @classmethod
    def reads_speeds(cls, table: FixmanTable) -> bool:
        """See :class:`Force`."""
        return False

    @classmethod
    def fill(cls, table: FixmanTable, at: At) -> Iterator[Bound]:
        """See :class:`Force`."""
        yield fixman_forces.bind(at.forest, table, at.ws, at.channels.joint[CONFORMATIONAL])

    @classmethod
    def energy(cls, table: FixmanTable, at: EnergyAt) -> Iterator[Bound]:
        """See :class:`Force`."""
        yield fixman_energy.bind(at.forest, table, at.ws, at.result)

    @classmethod
    def in_lanes(cls, table: FixmanTable) -> FixmanTable:
        """See :class:`Force`."""
        return table._replace(arrays=in_lanes(table.arrays))

    @classmethod
    def determinant_energy(cls, table: FixmanTable) -> float:
        """See :class:`Force`."""
        return float(table.half_kT[0])

    @classmethod
    def coarsen(cls, table: FixmanTable, merging: Merging, links: int, speeds: int) -> FixmanTable:
        """See :class:`Force`. That of the joints that still move."""
        return table._replace(arrays=determinant_arrays(links, speeds))


class FixmanTable(NamedTuple):
    """Fixman's potential as kernels see it."""

    half_kT: np.ndarray
    """½ kT [energy], shape (1,)."""
    reference: np.ndarray
    """ln det M at the initial coordinates, shape (1,)."""
    arrays: Determinant
    """Scratch; deleting it changes nothing."""


@pass_of
def fixman_forces(forest, fixman, ws, joint):
    """Adds −½ kT ∂ ln det M to the joints' generalised forces, at links that have been placed."""
    log_determinant_gradient(forest, ws, fixman.arrays)
    gradient = fixman.arrays.gradient
    for k in range(gradient.size):
        joint[k] -= fixman.half_kT[0] * gradient[k]


@pass_of
def fixman_energy(forest, fixman, ws, result):
    """Adds ½ kT ln det M, zero at the initial coordinates, at links that have been placed."""
    result[CONFORMATIONAL] += fixman.half_kT[0] * (log_determinant(forest, ws, fixman.arrays) - fixman.reference[0])
