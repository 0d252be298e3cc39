"""Gravity, applied as an acceleration of the inertial frame (POEMS, 5.3), booked in the channel ``external``."""

from typing import Annotated, ClassVar, Literal

from articulon.algebra.vectors import add, apply, cross, dot, load, load_from, load_matrix, scale, store_from
from articulon.declaration import Declaration, Dimension, Quantity
from articulon.dynamics.by_forest import by_forest
from articulon.errors import ModelError
from articulon.kernels import jit
from articulon.model import Model


class Gravity(Declaration):
    """A uniform gravitational acceleration: the force m g at every centre of mass."""

    positional: ClassVar[tuple[str, ...]] = ("acceleration",)
    is_force: ClassVar[bool] = True
    laplacian: ClassVar[str] = "known"
    kind: Literal["gravity"] = "gravity"
    acceleration: Annotated[tuple[Quantity, Quantity, Quantity], Dimension("acceleration")] = (0.0, 0.0, 0.0)
    """g, world frame [length/time²]."""

    def check(self, model: Model, where: str) -> None:
        """Raises ModelError if gravity is declared twice, because two accelerations would add up."""
        if sum(isinstance(force, Gravity) for force in model.forces) > 1:
            raise ModelError(f"{where}: gravity is declared twice; give one acceleration")


@jit
def gravity_wrenches(forest, gravity, ws, wrench):
    """Add m g at the centres of mass to the links' wrenches about their origins, world axes."""
    mass, moment, rotation = forest.mass, forest.moment, ws.rotation
    for i in range(mass.size):
        turning = cross(apply(load_matrix(rotation, i), load(moment, i)), gravity)
        store_from(wrench, i, 0, add(load_from(wrench, i, 0), scale(mass[i], gravity)))
        store_from(wrench, i, 3, add(load_from(wrench, i, 3), turning))


@by_forest
def gravity_power(forest, gravity, ws):
    """Compute the power Σ m g·v of gravity on the centres of mass."""
    mass, moment = forest.mass, forest.moment
    rotation, twist = ws.rotation, ws.twist
    g = (gravity[0], gravity[1], gravity[2])
    total = 0.0
    for i in range(mass.size):
        h = apply(load_matrix(rotation, i), load(moment, i))
        total += mass[i] * dot(g, load_from(twist, i, 0)) + dot(g, cross(load_from(twist, i, 3), h))
    return total


@by_forest
def gravity_energy(forest, gravity, ws):
    """Compute the energy −Σ m g·x of the centres of mass."""
    mass, moment = forest.mass, forest.moment
    rotation, position = ws.rotation, ws.position
    g = (gravity[0], gravity[1], gravity[2])
    total = 0.0
    for i in range(mass.size):
        h = apply(load_matrix(rotation, i), load(moment, i))
        total -= mass[i] * dot(g, load(position, i)) + dot(g, h)
    return total
