"""Barostats, which change the box to control the pressure, one per file. Barostats in this package are found
automatically; the names below are written out only for type checkers and editors."""

from typing import Annotated, TypeAlias

from articulon.barostats.base import BaseBarostat
from articulon.barostats.monte_carlo import MonteCarlo
from articulon.barostats.stochastic_cell_rescaling import StochasticCellRescaling
from articulon.families import Family

BAROSTATS = Family("barostat", "kind", lambda member: issubclass(member, BaseBarostat))
"""All barostats by their ``kind``: the classes of this package that have one."""
BAROSTATS.discover(__name__, __path__)
Barostat: TypeAlias = Annotated[BaseBarostat, BAROSTATS]
"""Any barostat, selected by its ``kind``."""
globals().update({member.__name__: member for member in BAROSTATS})

__all__ = ["BAROSTATS", "Barostat", "MonteCarlo", "StochasticCellRescaling"]
