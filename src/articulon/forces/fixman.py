"""Fixman's potential, which removes the bias of rigid constraints from the sampled distribution; booked in the channel
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
from articulon.forces.base import AdjointAt, At, EnergyAt, Force, Merging, TangentAt
from articulon.forces.determinant_forces import determinant_adjoint, determinant_tangent
from articulon.model import Model, kernel_tables, workspace
from articulon.model.state import CONFORMATIONAL
from articulon.passes import Bound, pass_of


class Fixman(Force):
    """U = ½ kT ln det M(q) − ½ kT ln det M(q₀), with M the joint-space mass matrix and q₀ the initial coordinates.

    At equilibrium the coordinates of a model of rigid bodies on joints are distributed as √det M e^{−Φ/kT}: rigid
    joints cause a bias that stiff springs in their place would not cause. With this potential the distribution is
    e^{−Φ/kT} dq, with dq uniform in angles, displacements and rotations (Fixman, PNAS 71, 3050, 1974). If all rigid
    constraints are bonds and bond angles of point masses, this is the limit of stiff springs. Only the dependence of
    the springs' own frequencies on q is missing, which flexible models usually neglect as well.

    Energy and forces need one inward and one outward pass, O(n). Single free bodies are not affected.
    """

    positional: ClassVar[tuple[str, ...]] = ("temperature",)
    energy_channel = CONFORMATIONAL
    of_determinant = True
    adjoint_reads_fill = True
    side_by_side: ClassVar[bool] = True

    kind: Literal["fixman"] = "fixman"
    temperature: Annotated[Quantity | None, Dimension("temperature", minimum=0)] = None
    """Simulated temperature T [temperature]; by default that of the thermostat, or of the Brownian forces if there is
    no thermostat. Any other temperature is rejected."""

    def check(self, model: Model, where: str) -> None:
        """Raises ModelError if loops or drives constrain the coordinates, or if it is declared twice."""
        if model.loops.kind.size:
            raise ModelError(
                f"{where}: Fixman's potential holds for coordinates that move freely, but {model.loop_name(0)} "
                "constrains them; leave out the loops and drives, or this force"
            )
        if sum(isinstance(force, Fixman) for force in model.forces) > 1:
            raise ModelError(f"{where}: Fixman's potential is declared twice; one declaration serves the whole model")

    def momentum_changes(self, model: Model) -> str | None:
        """See :class:`Force`. ln det M depends on all positions and orientations."""
        return None

    @property
    def lacks_temperature(self) -> bool:
        """See :class:`Force`."""
        return self.temperature is None

    def check_baths(self, baths: Sequence[tuple[str, float]]) -> None:
        """Raises ModelError if its temperature differs from that of a bath: the potential would then remove the bias of
        another temperature."""
        assert self.temperature is not None
        own = float(self.temperature)
        for what, T in baths:
            if abs(T - own) > 1e-9 * max(T, own):
                raise ModelError(
                    f"the force 'fixman' has the temperature {own:g} and the {what} {T:g}: part of "
                    "the bias would remain; give both the same temperature, constant during the run"
                )

    @classmethod
    def gather(cls, model: Model, declared: Sequence[tuple[str, Self]], users: Any) -> FixmanTable:
        """See :class:`Force`."""
        temperature = declared[0][1].temperature
        if temperature is None:
            raise ModelError(
                f"{declared[0][0]}.temperature: there is no thermostat and no Brownian force to take it from; give its "
                "temperature"
            )
        arrays = determinant_arrays(model.forest.mass.size, model.nu)
        forest = kernel_tables(model).forest
        reference = log_determinant_at(forest, np.array(model.q0), workspace(forest), arrays)
        half_kT = 0.5 * model.units.boltzmann * float(temperature)
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
    def numbers(cls, table: FixmanTable) -> FixmanTable:
        """See :class:`Force`."""
        return table._replace(arrays=None)

    @classmethod
    def adjoint(cls, table: FixmanTable, gradient: FixmanTable, at: AdjointAt) -> Iterator[Bound]:
        """See :class:`Force`."""
        assert table.arrays is not None
        yield from determinant_adjoint(at, -1.0, table.half_kT, gradient.half_kT, table.arrays)

    @classmethod
    def tangent(cls, table: FixmanTable, change: FixmanTable, at: TangentAt) -> Iterator[Bound]:
        """See :class:`Force`."""
        yield from determinant_tangent(at, -1.0, table.half_kT, change.half_kT)

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
        """See :class:`Force`. The coarse potential covers the joints that still move."""
        return table._replace(arrays=determinant_arrays(links, speeds))


class FixmanTable(NamedTuple):
    """Table of Fixman's potential."""

    half_kT: np.ndarray
    """½ kT [energy], shape (1,)."""
    reference: np.ndarray
    """ln det M at the initial coordinates, shape (1,)."""
    arrays: Determinant | None
    """Scratch, which is not part of the state; None in a table of derivatives."""


@pass_of
def fixman_forces(forest, fixman, ws, joint):
    """Add −½ kT ∂ ln det M to the joints' generalised forces, for links whose poses are computed."""
    log_determinant_gradient(forest, ws, fixman.arrays)
    gradient = fixman.arrays.gradient
    for k in range(gradient.size):
        joint[k] -= fixman.half_kT[0] * gradient[k]


@pass_of
def fixman_energy(forest, fixman, ws, result):
    """Add ½ kT ln det M, which is set to zero at the initial coordinates, for links whose poses are computed."""
    result[CONFORMATIONAL] += fixman.half_kT[0] * (log_determinant(forest, ws, fixman.arrays) - fixman.reference[0])
