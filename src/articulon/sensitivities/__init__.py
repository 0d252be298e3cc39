"""Derivatives of whole runs with respect to their parameters."""

from articulon.sensitivities.sensitivity_functions import Sensitivity, sensitivity

__all__ = ["Sensitivity", "sensitivity"]
