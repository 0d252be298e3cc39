"""Mode shapes of flexible bodies: of beams, of elastic networks, and of finite-element matrices.

Each function returns an :class:`articulon.Modes`, for ``ModelBuilder.add_body(modes=...)``.
"""

from articulon.modes.beam import beam
from articulon.modes.elastic_network import elastic_network
from articulon.modes.matrices import from_matrices

__all__ = ["beam", "elastic_network", "from_matrices"]
