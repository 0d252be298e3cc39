"""The problem that an integrator advances."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from articulon.barostats.base import BaseBarostat
from articulon.forces.evaluation import Evaluator
from articulon.scaling import NoScaling
from articulon.scaling.base import ScalingPolicy

CPU = "cpu"
"""The device that compiles its kernels with Numba; for other devices see ``gpu/``."""


@dataclass
class Problem:
    """A model with its forces, the scaling policy, and the declared integrator that advances it."""

    evaluator: Evaluator
    """The model and its forces, with the thermostat, the solver and the contacts."""
    integrator: Any
    """The declaration of the integrator."""
    policy: ScalingPolicy = field(default_factory=NoScaling)
    """The scaling policy of the forces."""
    damping: float = 0.0
    """Translational drag coefficient β of the policy's core, 0 without drag [mass/time]."""

    barostat: BaseBarostat | None = None
    """The barostat that changes the box between steps, or None."""
    device: str = CPU
    """The device that takes the steps, a value of ``run.device``."""
    precision: str = "double"
    """Precision of pair forces on another device, a value of ``run.precision``."""

    @cached_property
    def parameters(self) -> np.ndarray:
        """Parameters of the policy's law; raises ValueError for a policy that has no parameters with this drag."""
        return self.policy.parameters(self.damping)
