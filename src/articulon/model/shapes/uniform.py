"""Mass, centre and inertia of uniform bodies that consist of several shapes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from articulon.model.shapes.base import Shape


def uniform_body(shapes: Sequence[Shape], density: float) -> tuple[float, np.ndarray, np.ndarray]:
    """Mass, centre of mass (3,) and inertia about the centre of mass (3, 3) of shapes with one density, along the axes
    of the body.

    Overlapping volumes count twice. The numbers are in the units of the shapes.

    Parameters
    ----------
    shapes
        The shapes.
    density
        Density of all shapes [mass/length³].
    """
    masses = np.array([density * shape.volume for shape in shapes])
    centres = np.array([shape.centre for shape in shapes])
    mass = float(masses.sum())
    centre = masses @ centres / mass
    inertia = np.zeros((3, 3))
    for part, place, shape in zip(masses, centres - centre, shapes, strict=True):
        inertia += shape.inertia(density) + part * (place @ place * np.eye(3) - np.outer(place, place))
    return mass, centre, inertia
