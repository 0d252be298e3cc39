"""What an integrator is given to advance."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from articulon.barostats.base import BaseBarostat
from articulon.forces.evaluation import Evaluator
from articulon.scaling import NoScaling
from articulon.scaling.base import ScalingPolicy

CPU = "cpu"
"""The device that compiles its kernels with Numba; what another one takes is in ``gpu/``."""


@dataclass
class Problem:
    """A model with its forces, what scales them, and the declared integrator that is to advance it."""

    evaluator: Evaluator
    """The model and its forces, with the thermostat, the solver and the contacts."""
    integrator: Any
    """The declaration of the integrator."""
    policy: ScalingPolicy = field(default_factory=NoScaling)
    """What scales the forces."""
    damping: float = 0.0
    """Translational drag coefficient β of the policy's core, 0 without drag [mass/time]."""

    barostat: BaseBarostat | None = None
    """What changes the box between steps; None leaves it as it is."""
    device: str = CPU
    """What takes the steps, a value of ``run.device``."""
    precision: str = "double"
    """Of pair forces on another device, a value of ``run.precision``."""

    @cached_property
    def parameters(self) -> np.ndarray:
        """Of the policy's law; raises ValueError for a policy that has none with this drag."""
        return self.policy.parameters(self.damping)
