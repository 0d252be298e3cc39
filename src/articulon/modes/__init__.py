"""Mode shapes of flexible bodies: of beams, of elastic networks, and of the matrices of a finite-element code.

Each function gives an :class:`articulon.Modes`, which ``ModelBuilder.add_body(modes=...)`` takes.
"""

from articulon.modes.beam import beam
from articulon.modes.elastic_network import elastic_network
from articulon.modes.matrices import from_matrices

__all__ = ["beam", "elastic_network", "from_matrices"]
