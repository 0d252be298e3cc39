"""Shared parts of the particle builders: species with mass and charge, and thermal velocities."""

from typing import Annotated

import numpy as np

from articulon.declaration import Declaration, Dimension, Quantity


class Species(Declaration):
    """A kind of particle."""

    mass: Annotated[Quantity, Dimension("mass", minimum=0, exclusive=True)]
    """Mass of a particle [mass]."""
    charge: Annotated[Quantity, Dimension("charge")] = 0.0
    """Charge of a particle [charge]."""
    radius: Annotated[Quantity, Dimension("length", minimum=0)] = 0.0
    """Radius of hard spheres [length]; 0 for point particles."""


def thermal_velocities(masses: np.ndarray, thermal_energy: float, seed: int) -> np.ndarray:
    """Draw velocities (n, 3) from a Maxwell distribution with zero total momentum [velocity].

    They are scaled so that the kinetic energy is exactly that of 3n − 3 degrees of freedom.

    Parameters
    ----------
    masses
        Masses, shape (n,) [mass].
    thermal_energy
        Thermal energy kT [energy].
    seed
        Seed of the random numbers.
    """
    rng = np.random.Generator(np.random.PCG64(seed))
    velocities = rng.standard_normal((masses.size, 3)) / np.sqrt(masses)[:, None]
    if masses.size < 2:
        return velocities * np.sqrt(thermal_energy)
    velocities -= (masses @ velocities) / masses.sum()
    twice_kinetic = float(masses @ (velocities**2).sum(axis=1))
    return velocities * np.sqrt((3.0 * masses.size - 3.0) * thermal_energy / twice_kinetic)


def directions(rng: np.random.Generator, count: int) -> np.ndarray:
    """Unit vectors (count, 3), uniformly distributed on the sphere."""
    vectors = rng.standard_normal((count, 3))
    return vectors / np.linalg.norm(vectors, axis=1)[:, None]
