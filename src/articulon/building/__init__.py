"""Construction of models, body by body, with loops closed at the start."""

from articulon.building.builder import ModelBuilder
from articulon.building.cartesian import cartesian
from articulon.building.closing import close_loops

__all__ = ["ModelBuilder", "cartesian", "close_loops"]
