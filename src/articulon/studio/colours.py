"""Colours of three-dimensional scenes, from the palette of the figures."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from articulon.report import palette

CYCLE = (palette.BLUE, palette.ORANGE, palette.GREEN, palette.PURPLE, palette.SKY, palette.VERMILION, palette.OLIVE)
"""Colours of bodies by their place in the tree, and of kinds of particles and grains."""
SITES = (palette.VERMILION, palette.BLACK, palette.GREEN, palette.PURPLE, palette.ORANGE, palette.BLUE, palette.SKY)
"""Colours of kinds of sites that have no radius."""
ELEMENTS = {
    "C": "#6e6e6e",
    "H": "#e8e8e8",
    "N": palette.BLUE,
    "O": palette.VERMILION,
    "S": palette.ORANGE,
    "P": palette.ORANGE,
}
"""Colours of atoms by element; other elements are green."""


def rgb(colour: str) -> np.ndarray:
    """Return red, green and blue of a colour such as ``#0072b2``, 0 to 255, shape (3,), uint8."""
    return np.array(list(bytes.fromhex(colour.removeprefix("#"))), dtype=np.uint8)


def cycled(numbers: Iterable[int] | np.ndarray, colours: tuple[str, ...] = CYCLE) -> np.ndarray:
    """Return a colour for each number, shape (n, 3), uint8; after its last colour, the palette starts again."""
    table = np.stack([rgb(colour) for colour in colours])
    return np.asarray(table[np.asarray(numbers, dtype=np.int64) % len(colours)])


JOINT, SPRING, EDGE = rgb(palette.BLACK), rgb(palette.VERMILION), rgb(palette.GREY)
"""Colours of the axes of joints, of springs, and of the edges of boxes."""
FORCE = rgb(palette.PURPLE)
"""Colour of force arrows."""
LOCKED = rgb("#c9ccd1")
"""Colour of bodies that are locked to their parents."""
WALL = rgb("#b9c4cf")
"""Colour of walls."""


def linear(colour: np.ndarray | tuple[int, int, int]) -> np.ndarray:
    """Convert screen colours (sRGB) to linear intensities; the page needs these for batches and arrows."""
    c = np.asarray(colour) / 255.0
    light = np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)
    return np.round(255.0 * light).astype(np.uint8)


def of_elements(symbols: Iterable[str]) -> np.ndarray:
    """Return the colours of atoms by the symbols of their elements, shape (atoms, 3)."""
    return np.array([rgb(ELEMENTS.get(symbol, CYCLE[2])) for symbol in symbols], dtype=np.uint8).reshape(-1, 3)
