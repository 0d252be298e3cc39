"""Checks that compare a joint coordinate, a position, an observable or a temperature with a reference."""

from collections.abc import Mapping
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from articulon.declaration import BodyName, Dimension, Quantity, Whole, nearest
from articulon.dynamics import body_poses
from articulon.errors import CaseError
from articulon.forces.selection import body_index
from articulon.model import Model
from articulon.model.array_rotations import matrices
from articulon.simulation.checks.check_base import Frames, ValueCheck
from articulon.simulation.site_observables import why_not_defined


class JointCheck(ValueCheck):
    """A coordinate or a speed of a body's joint."""

    kind: Literal["coordinate", "speed"]
    """Which check this is."""
    body: BodyName
    """The body that the joint carries."""
    component: Annotated[Whole, Field(ge=0)] = 0
    """Index of the joint's coordinate or speed."""

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
    """Coordinate of a point of a body along a world axis [length]."""

    kind: Literal["position"]
    """Which check this is."""
    body: BodyName
    """The body."""
    point: Annotated[tuple[Quantity, Quantity, Quantity], Dimension("length")] = (0.0, 0.0, 0.0)
    """Position of the point in the body's frame [length]."""
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
    """Name of the observable in the trajectory."""

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
    """Configurational temperature T over the frames, with k T = ⟨|∇Φ|²⟩/⟨∇²Φ⟩ for the potential energy Φ
    [temperature]."""

    kind: Literal["configurational-temperature"]
    """Which check this is."""
    take: Literal["mean"] = "mean"
    """Only the mean is possible, because the temperature is a ratio of means."""

    def dimension(self, model: Model, observables: Mapping[str, str], where: str) -> str:
        """See :class:`ValueCheck`."""
        reason = why_not_defined(model)
        if reason is not None:
            raise CaseError(f"{where}: the configurational temperature is not defined here: {reason}")
        return "temperature"

    def series(self, frames: Frames) -> np.ndarray:
        """Return |∇Φ|²/⟨k ∇²Φ⟩ of every frame; the mean of this series is the temperature."""
        late = frames.times >= float(self.after) * (1.0 - 1e-9)
        laplacian = np.asarray(frames.observables["laplacian"])[late].mean()
        squares = np.asarray(frames.observables["gradient_squared"])
        return squares / (laplacian * frames.model.units.boltzmann)

    def name(self) -> str:
        """See :class:`ValueCheck`."""
        return "configurational temperature"
