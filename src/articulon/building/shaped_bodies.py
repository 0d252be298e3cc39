"""Shapes of an added body, and the mass and inertia that follow from them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from articulon.building.handles import ORIGIN
from articulon.errors import CaseError, ModelError
from articulon.inputs import shown
from articulon.model import body_checks
from articulon.model.joints import Joint
from articulon.model.shapes import FileShape, Shape, uniform_body
from articulon.units import UnitSystem


def resolved_shapes(shape: Any, units: UnitSystem, where: str) -> tuple[Shape, ...]:
    """Return one or several shapes in the units of the model, with absolute paths of mesh files. Raises ModelError for
    anything that is not a shape, and for a missing mesh; messages begin with ``where``."""
    if shape is None:
        return ()
    given = [shape] if isinstance(shape, Shape) or not isinstance(shape, Sequence) else list(shape)
    found = []
    for k, one in enumerate(given):
        key = f"{where}, shape" if len(given) == 1 else f"{where}, shape {k}"
        if not isinstance(one, Shape):
            raise ModelError(f"{key}: expected a shape such as ar.shapes.Sphere(radius=1.0), got {shown(one)}")
        try:
            made = one.resolved(units)
        except CaseError as error:
            raise ModelError(f"{key}: {error}") from None
        found.append(made.found(key) if isinstance(made, FileShape) else made)
    return tuple(found)


def by_density(
    shapes: tuple[Shape, ...], density: Any, given: dict[str, Any], flexible: bool, units: UnitSystem, where: str
) -> dict[str, Any]:
    """Return ``mass``, ``inertia`` and ``com``. Values that are not given follow from the shapes and the density.

    Raises
    ------
    ModelError
        For a combination that :meth:`articulon.ModelBuilder.add_body` rejects; the message names the body.
    """
    defaults = {"mass": None, "inertia": 0.0, "com": ORIGIN}
    if density is None:
        return {key: defaults[key] if value is None else value for key, value in given.items()}
    number = float(body_checks.array(density, (), "mass_density", units, f"{where}, density"))
    if not number > 0.0:
        raise ModelError(f"{where}, density: must be positive, got {shown(density)}")
    if not shapes:
        raise ModelError(f"{where}, density: has no effect without a shape; give a shape, or a mass")
    if flexible:
        raise ModelError(f"{where}, density: the nodes of a flexible body have masses; leave it out")
    if given["mass"] is not None:
        raise ModelError(f"{where}: give either a mass or a density; with a mass, give the inertia too")
    if given["com"] is not None and given["inertia"] is None:
        raise ModelError(
            f"{where}: its inertia would be about the centre of its shape, not about the given com; "
            "give an inertia about the com too, or leave com out"
        )
    try:
        mass, com, inertia = uniform_body(shapes, number)
    except ModelError as error:
        raise ModelError(f"{where}, shape: {error}") from None
    follows: dict[str, Any] = {"mass": mass, "inertia": _clean(inertia), "com": com}
    return {key: follows[key] if value is None else value for key, value in given.items()}


def _clean(inertia: np.ndarray) -> np.ndarray:
    """Return an inertia that is made exactly symmetric."""
    return np.asarray(0.5 * (inertia + inertia.T))


def armatures(given: Any, joint: Joint, units: UnitSystem, where: str) -> np.ndarray:
    """Return the armatures of the speeds of a joint (nu,), given as one number for all speeds or one each. Raises
    ModelError for negative values, and for joints without degrees of freedom; messages begin with ``where``."""
    key = f"{where}, armature"
    dimensions = ["mass"] * joint.translations + ["inertia"] * (joint.nu - joint.translations)
    listed = isinstance(given, Sequence | np.ndarray) and not isinstance(given, str) and np.shape(given) != ()
    values = list(given) if listed else [given] * joint.nu
    if len(values) != joint.nu:
        raise ModelError(f"{key}: expected one number, or {joint.nu} for the speeds of the joint, got {shown(given)}")
    found = np.array([float(body_checks.array(v, (), d, units, key)) for v, d in zip(values, dimensions, strict=True)])
    if (found < 0.0).any():
        raise ModelError(f"{key}: must not be negative, got {shown(given)}")
    return found
