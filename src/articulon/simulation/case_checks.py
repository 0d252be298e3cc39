"""What a case says must be true of its results: ``[[checks]]``, looked at when a run has ended.

A check measures a value that should be zero, and passes where its magnitude is within the bound that the case states.
What it looks at are the frames; what happens between them it does not see.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal, Self, TypeAlias

import numpy as np
from pydantic import Field

from articulon.declaration import Dimension, Quantity, Whole, nearest
from articulon.dynamics import body_poses
from articulon.dynamics.loops.loop_jacobians import loop_equations
from articulon.errors import CaseError, ModelError
from articulon.forces.selection import body_index
from articulon.model import CHANNELS, Model
from articulon.model.array_rotations import matrices
from articulon.simulation import ledger
from articulon.simulation.check_base import Check, Frames, Outcome, ValueCheck, passages, taken
from articulon.simulation.grain_checks import DrumAngleCheck, HeapAngleCheck, PackingFractionCheck
from articulon.simulation.site_observables import why_not_defined

__all__ = ["AnyCheck", "Check", "Frames", "Outcome", "passages", "prepared_checks", "taken"]


class EnergyCheck(Check):
    """max |T + V + R − T₀ − V₀ − W| over a scale, with V the energies of the channels that have one, R what locking has
    taken out and not been given back, and W the work of the others, as scaled."""

    kind: Literal["energy"]
    """Which check this is."""
    tolerance: Annotated[Quantity, Dimension("dimensionless", minimum=0)]
    """Largest drift over the scale."""
    scale: Annotated[Quantity | None, Dimension("energy", minimum=0, exclusive=True)] = None
    """[energy]; the largest kinetic energy of all frames by default."""

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
        return Outcome(what, _largest(drift) / scale if scale > 0.0 else _largest(drift), float(self.tolerance))


class MomentumCheck(Check):
    """max |P − P₀| over the largest Σ|p| of the bodies; likewise of the angular momentum about the world's origin."""

    kind: Literal["momentum", "angular-momentum"]
    """Which check this is."""
    tolerance: Annotated[Quantity, Dimension("dimensionless", minimum=0)]
    """Largest relative drift."""
    direction: Annotated[tuple[Quantity, Quantity, Quantity] | None, Dimension("dimensionless")] = None
    """World axis along which it is looked at; all components by default."""

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
        return Outcome(what, _largest(size) / scale if scale > 0.0 else _largest(size), float(self.tolerance))


class LoopCheck(Check):
    """The largest error of the loops and drives: of their positions (``ar.loop_residuals``), or of its rates."""

    kind: Literal["loops"]
    """Which check this is."""
    of: Literal["positions", "speeds"] = "positions"
    """What is looked at."""
    tolerance: Annotated[Quantity, Dimension("dimensionless", minimum=0)]
    """Largest error, in the units of the case."""

    def prepared(self, model: Model, observables: Mapping[str, str], where: str) -> Self:
        """See :class:`Check`."""
        if not model.loops.kind.size:
            raise CaseError(f"{where}: the model has no loops and no drives to be checked")
        return self

    def outcome(self, frames: Frames) -> Outcome:
        """See :class:`Check`."""
        worst = 0.0
        for time, q, u in zip(frames.times, frames.q, frames.u, strict=True):
            found = loop_equations(frames.model, q, u, float(time))
            worst = max(worst, _largest(found.residual if self.of == "positions" else found.rate))
        what = self.what or ("error of the closed loops" if self.of == "positions" else "speed of the closed loops")
        return Outcome(what, worst, float(self.tolerance))


class FreedomCheck(Check):
    """The number of speeds that loops and drives leave free, at the start of the run."""

    kind: Literal["degrees-of-freedom"]
    """Which check this is."""
    count: Annotated[Whole, Field(ge=0)]
    """How many there should be."""

    def outcome(self, frames: Frames) -> Outcome:
        """See :class:`Check`."""
        found = frames.model.degrees_of_freedom
        what = self.what or "degrees of freedom"
        return Outcome(what, float(found - self.count), 0.0, "", float(found), float(self.count))


class JointCheck(ValueCheck):
    """A coordinate or a speed of a body's joint."""

    kind: Literal["coordinate", "speed"]
    """Which check this is."""
    body: str
    """The body that the joint carries."""
    component: Annotated[Whole, Field(ge=0)] = 0
    """Which of the joint's coordinates or speeds."""

    def dimension(self, model: Model, observables: Mapping[str, str], where: str) -> str:
        """See :class:`ValueCheck`."""
        joint = model.joints[body_index(model, self.body, f"{where}.body")]
        if any(loop.name == f"joint of {self.body}" for loop in model.loop_joints):
            raise CaseError(
                f"{where}: in Cartesian coordinates the joint of '{self.body}' is a loop and has no {self.kind}; check "
                "a position instead, or run with dynamics.coordinates = 'relative'"
            )
        named = joint.coordinates if self.kind == "coordinate" else joint.speeds
        if self.component >= len(named):
            name = type(joint).__name__.lower()
            raise CaseError(
                f"{where}.component: the {name} joint of '{self.body}' has {len(named)} {self.kind}s, counted from 0, "
                f"got {self.component}"
            )
        return named[self.component][1]

    def series(self, frames: Frames) -> np.ndarray:
        """See :class:`ValueCheck`."""
        forest, i = frames.model.forest, int(frames.model.link[frames.model.body(self.body)])
        if self.kind == "coordinate":
            return frames.q[:, forest.q_start[i] + self.component]
        return frames.u[:, forest.u_start[i] + self.component]

    def name(self) -> str:
        """See :class:`ValueCheck`."""
        return f"{self.kind} of '{self.body}'" + (f", component {self.component}" if self.component else "")


class PositionCheck(ValueCheck):
    """Where a point of a body is along a world axis [length]."""

    kind: Literal["position"]
    """Which check this is."""
    body: str
    """The body."""
    point: Annotated[tuple[Quantity, Quantity, Quantity], Dimension("length")] = (0.0, 0.0, 0.0)
    """In the body's frame [length]."""
    axis: Literal["x", "y", "z"]
    """World axis."""

    def dimension(self, model: Model, observables: Mapping[str, str], where: str) -> str:
        """See :class:`ValueCheck`."""
        body_index(model, self.body, f"{where}.body")
        return "length"

    def series(self, frames: Frames) -> np.ndarray:
        """See :class:`ValueCheck`."""
        body, k = frames.model.body(self.body), "xyz".index(self.axis)
        point = np.array([float(x) for x in self.point])
        poses = (body_poses(frames.model, q) for q in frames.q)
        return np.array([x[body, k] + (matrices(e[body]) @ point)[k] for x, e in poses])

    def name(self) -> str:
        """See :class:`ValueCheck`."""
        return f"{self.axis} of '{self.body}'"


class ObservableCheck(ValueCheck):
    """An observable of the run, such as ``kinetic_energy``."""

    kind: Literal["observable"]
    """Which check this is."""
    observable: str
    """Its name in the trajectory."""

    def dimension(self, model: Model, observables: Mapping[str, str], where: str) -> str:
        """See :class:`ValueCheck`."""
        if self.observable not in observables:
            known = nearest(self.observable, list(observables))
            raise CaseError(f"{where}.observable: there is no observable '{self.observable}'{known}")
        return observables[self.observable]

    def series(self, frames: Frames) -> np.ndarray:
        """See :class:`ValueCheck`."""
        return np.asarray(frames.observables[self.observable])

    def name(self) -> str:
        """See :class:`ValueCheck`."""
        return self.observable.replace("_", " ")


class ConfigurationalTemperatureCheck(ValueCheck):
    """k T = ⟨|∇Φ|²⟩/⟨∇²Φ⟩ over the frames, the temperature of the positions [temperature]."""

    kind: Literal["configurational-temperature"]
    """Which check this is."""
    take: Literal["mean"] = "mean"
    """A ratio of means."""

    def dimension(self, model: Model, observables: Mapping[str, str], where: str) -> str:
        """See :class:`ValueCheck`."""
        reason = why_not_defined(model)
        if reason is not None:
            raise CaseError(f"{where}: the configurational temperature is not defined here: {reason}")
        return "temperature"

    def series(self, frames: Frames) -> np.ndarray:
        """|∇Φ|² over the mean of k ∇²Φ, whose mean it is."""
        late = frames.times >= float(self.after) * (1.0 - 1e-9)
        laplacian = np.asarray(frames.observables["laplacian"])[late].mean()
        squares = np.asarray(frames.observables["gradient_squared"])
        return squares / (laplacian * frames.model.units.boltzmann)

    def name(self) -> str:
        """See :class:`ValueCheck`."""
        return "configurational temperature"


AnyCheck: TypeAlias = Annotated[
    EnergyCheck
    | MomentumCheck
    | LoopCheck
    | FreedomCheck
    | JointCheck
    | PositionCheck
    | ObservableCheck
    | ConfigurationalTemperatureCheck
    | HeapAngleCheck
    | DrumAngleCheck
    | PackingFractionCheck,
    Field(discriminator="kind"),
]
"""Any declared check, chosen by its ``kind``."""


def prepared_checks(
    checks: Sequence[Check], model: Model, observables: Mapping[str, str], source: str
) -> tuple[Check, ...]:
    """The checks in a model's units; raises CaseError, naming the file and the key, for what they cannot look at."""
    try:
        return tuple(check.prepared(model, observables, f"checks[{k}]") for k, check in enumerate(checks))
    except (CaseError, ModelError) as error:
        raise CaseError(f"{source}: {error}") from None


def _largest(values: np.ndarray) -> float:
    return float(np.abs(values).max(initial=0.0))
