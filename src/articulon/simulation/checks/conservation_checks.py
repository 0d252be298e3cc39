"""Checks of conserved quantities: energy, momentum and angular momentum."""

from collections.abc import Mapping
from typing import Annotated, Literal, Self

import numpy as np

from articulon.declaration import Dimension, Quantity
from articulon.errors import CaseError
from articulon.model import CHANNELS, Model
from articulon.simulation import ledger
from articulon.simulation.checks.check_base import Check, Frames, Outcome, largest


class EnergyCheck(Check):
    """Energy drift max |T + V + R − T₀ − V₀ − W|, divided by a scale. T is the kinetic energy, and V the potential
    energy of the channels that have one. R is the energy that locking has removed and not yet returned, and W the
    scaled work of the other channels."""

    kind: Literal["energy"]
    """Which check this is."""
    tolerance: Annotated[Quantity, Dimension("dimensionless", minimum=0)]
    """Largest drift relative to the scale."""
    scale: Annotated[Quantity | None, Dimension("energy", minimum=0, exclusive=True)] = None
    """Energy scale [energy]; the largest kinetic energy of all frames by default."""

    def outcome(self, frames: Frames) -> Outcome:
        """See :class:`Check`."""
        seen = frames.observables
        kept = ledger.with_energy(seen, frames.varies, ledger.without_energy(frames.model))
        drift = seen["kinetic_energy"] - seen["kinetic_energy"][0]
        for name in CHANNELS:
            if name in kept:
                drift = drift + seen[f"factor_{name}"] * (seen[f"energy_{name}"] - seen[f"energy_{name}"][0])
            elif f"work_{name}" in seen:
                drift = drift - seen[f"work_{name}"]
        for name in ("reservoir_energy", "reservoir_potential"):
            if name in seen:
                drift = drift + seen[name] - seen[name][0]
        scale = float(seen["kinetic_energy"].max() if self.scale is None else self.scale)
        over = "the largest kinetic energy" if self.scale is None else "its scale"
        what = self.what or f"drift of the energy over {over}"
        return Outcome(what, largest(drift) / scale if scale > 0.0 else largest(drift), float(self.tolerance))


class MomentumCheck(Check):
    """Drift max |P − P₀| of the total momentum P, divided by the largest sum Σ|p| of the magnitudes of all bodies.
    Angular momentum is taken about the origin of the world frame."""

    kind: Literal["momentum", "angular-momentum"]
    """Which check this is."""
    tolerance: Annotated[Quantity, Dimension("dimensionless", minimum=0)]
    """Largest relative drift."""
    direction: Annotated[tuple[Quantity, Quantity, Quantity] | None, Dimension("dimensionless")] = None
    """World axis along which the drift is measured; all components by default."""

    def prepared(self, model: Model, observables: Mapping[str, str], where: str) -> Self:
        """See :class:`Check`."""
        if self.direction is not None and not any(self.direction):
            raise CaseError(f"{where}.direction: expected three numbers, not all zero, got {list(self.direction)}")
        return self

    def outcome(self, frames: Frames) -> Outcome:
        """See :class:`Check`."""
        turning = self.kind == "angular-momentum"
        found = frames.momenta[:, 3:6] if turning else frames.momenta[:, :3]
        drift = found - found[0]
        along = ""
        if self.direction is not None:
            axis = np.array([float(x) for x in self.direction])
            drift, along = drift @ axis / np.linalg.norm(axis), f" along ({', '.join(f'{x:g}' for x in axis)})"
        scale = float(frames.momenta[:, 7 if turning else 6].max())
        size = np.linalg.norm(drift.reshape(len(drift), -1), axis=1)
        what = self.what or f"drift of the {self.kind.replace('-', ' ')}{along} over the sum of the bodies' own"
        return Outcome(what, largest(size) / scale if scale > 0.0 else largest(size), float(self.tolerance))
