"""Many states of one model that move together."""

from articulon.ensembles.state_ensemble import Ensemble

__all__ = ["Ensemble"]
