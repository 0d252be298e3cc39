"""Foreign formats of results."""

from articulon.io.gsd import write_gsd

__all__ = ["write_gsd"]
