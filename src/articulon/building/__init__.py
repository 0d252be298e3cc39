"""How a model is built: body by body, with its loops closed at the start."""

from articulon.building.builder import ModelBuilder
from articulon.building.cartesian import cartesian
from articulon.building.closing import close_loops

__all__ = ["ModelBuilder", "cartesian", "close_loops"]
