"""Masses and radii of the elements, from gemmi's tables."""

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from articulon.errors import ModelError

ANGSTROM = 0.1
"""One ångström [nm]."""


def gemmi() -> Any:
    """Return the package gemmi, which reads structure files; raise ModelError, saying what to install, if it is
    missing."""
    try:
        import gemmi as package
    except ImportError:
        raise ModelError("structures are read by gemmi: pip install 'articulon[molecules]'") from None
    return package


@cache
def _element(symbol: str) -> Any:
    return gemmi().Element(symbol)


def masses(symbols: Sequence[str]) -> np.ndarray:
    """Return the standard atomic weights of elements [Da]."""
    return np.array([_element(symbol).weight for symbol in symbols])


def covalent_radii(symbols: Sequence[str]) -> np.ndarray:
    """Return covalent radii from Cordero et al., Dalton Trans. 2008, 2832 [nm]."""
    return ANGSTROM * np.array([_element(symbol).covalent_r for symbol in symbols])


def van_der_waals_radii(symbols: Sequence[str]) -> np.ndarray:
    """Return gemmi's van der Waals radii, taken from Bondi and cctbx [nm]."""
    return ANGSTROM * np.array([_element(symbol).vdw_r for symbol in symbols])


def metal(symbol: str) -> bool:
    """Return whether an element is a metal, whose bonds count as coordination."""
    return bool(_element(symbol).is_metal)
