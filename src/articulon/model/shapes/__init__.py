"""Shapes of bodies: their appearance, and the mass properties that follow from a uniform density.

``ar.shapes.Sphere``, ``Capsule``, ``Cylinder``, ``Box``, ``Mesh``, ``Particle`` and ``Atoms`` are passed to
:meth:`articulon.ModelBuilder.add_body`, one shape or several. In case files they are the ``shape`` of a body. They
affect the dynamics only if a density is given: it determines the mass, the centre of mass and the inertia of the body.
"""

from typing import Annotated, TypeAlias

from pydantic import Field

from articulon.model.shapes.atoms_shape import Atoms
from articulon.model.shapes.base import Shape
from articulon.model.shapes.file_shape import FileShape
from articulon.model.shapes.mesh_shape import Mesh
from articulon.model.shapes.particle_shape import Particle
from articulon.model.shapes.primitive_shapes import Box, Capsule, Cylinder, Sphere
from articulon.model.shapes.uniform import uniform_body

AnyShape: TypeAlias = Annotated[
    Sphere | Capsule | Cylinder | Box | Mesh | Particle | Atoms, Field(discriminator="kind")
]
"""Any shape, selected by its kind."""

__all__ = [
    "AnyShape",
    "Atoms",
    "Box",
    "Capsule",
    "Cylinder",
    "FileShape",
    "Mesh",
    "Particle",
    "Shape",
    "Sphere",
    "uniform_body",
]
