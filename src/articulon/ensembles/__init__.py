"""Ensembles: many states of one model that advance together."""

from articulon.ensembles.state_ensemble import Ensemble

__all__ = ["Ensemble"]
