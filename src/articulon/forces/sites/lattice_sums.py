"""Common parts of the sums over charges and all their images: declaration, self-energy, checks, and the surroundings of
the periodic boxes."""

import math
from typing import Annotated

import numpy as np

from articulon.declaration import Declaration, Dimension, Quantity
from articulon.errors import ModelError
from articulon.forces.sites.error_function import LARGEST
from articulon.forces.sites.laws.coulomb import Permittivity, bare_coulomb, check_charges
from articulon.forces.sites.site_tables import ENERGY, LAPLACIAN, W_XX, W_XY, W_XZ, W_YY, W_YZ, W_ZZ
from articulon.forces.sites.site_terms import PairTerm
from articulon.kernels import jit
from articulon.model import Model

LATTICE_SUMS = ("ewald", "particle-mesh-ewald")
"""Kinds of forces that include every charge of a periodic box."""
NEUTRAL = 1e-9
"""Net charge that counts as rounding, relative to Σ|q|."""


class LatticeSum(Declaration):
    """Base of the declarations of lattice sums, which split 1/r into erfc(αr)/r and erf(αr)/r."""

    relative_permittivity: Annotated[Quantity, Dimension("dimensionless", minimum=0, exclusive=True)] = 1.0
    """ε_r of the medium between the charges."""
    cutoff: Annotated[Quantity | None, Dimension("length", minimum=0, exclusive=True)] = None
    """Cutoff of the real part, at most half of the smallest width of the box; by default the one with the lowest cost
    [length]."""
    damping: Annotated[Quantity | None, Dimension("wavenumber", minimum=0, exclusive=True)] = None
    """α; by default the value that the precision requires at the cutoff [1/length]."""
    surface_permittivity: Permittivity = "infinite"
    """ε' of the medium around the large sphere of boxes: ``"infinite"`` is a conductor (tin foil). A finite
    permittivity adds 2π/((2ε' + 1) V) |Σ q r|² over unwrapped positions. The energy is then continuous when a site
    crosses a face, but at the start no site may be displaced from the rest of its molecule by the length of the box (de
    Leeuw, Perram and Smith 1980)."""
    skin: Annotated[Quantity | None, Dimension("length", minimum=0)] = None
    """Skin of the neighbour list beyond the cutoff [length]; by default chosen by a fixed rule."""

    def bare_terms(self, model: Model) -> list[PairTerm]:
        """Return the law without a cutoff, for scaled pairs."""
        return bare_coulomb(model, float(self.relative_permittivity))


def check_lattice_sum(model: Model, where: str) -> None:
    """Raises ModelError for a box that is not periodic or not neutral, and for a second sum."""
    box = model.box
    if box is None or not box.periodic.all():
        raise ModelError(
            f"{where}: an Ewald sum needs a box that is periodic in all three directions; in open or walled space "
            "use 'fast-multipole', or 'coulomb' without a cutoff"
        )
    check_charges(model, where)
    charge = model.sites.charge
    net = float(charge.sum())
    if abs(net) > NEUTRAL * float(np.abs(charge).sum()):
        raise ModelError(
            f"{where}: the box has a net charge of {net:g}, and a periodic lattice of charged boxes "
            "has infinite energy; add counter-ions, or correct the charges so that they add up to zero"
        )
    sums = [force.kind for force in model.forces if getattr(force, "kind", None) in LATTICE_SUMS]
    if len(sums) > 1:
        which = " and ".join(f"'{kind}'" for kind in sorted(set(sums)))
        raise ModelError(
            f"{where}: Ewald sums are declared twice, as {which}; one sum includes all charges, so remove the other"
        )


def check_damping(damping: float, cutoff: float, where: str) -> None:
    """Raises ModelError if the real part vanishes long before the cutoff."""
    if damping * cutoff > LARGEST:
        raise ModelError(
            f"{where}: damping times cutoff is {damping * cutoff:.4g}, and above {LARGEST} "
            "the real part vanishes long before the cutoff; lower one of them"
        )


def own_energy(model: Model, damping: float, constant: float) -> float:
    """−C α/√π Σ q², the self-energy of the charge clouds."""
    charge = model.sites.charge
    return -constant * damping / math.sqrt(math.pi) * float(charge @ charge)


def surface_constant(model: Model, permittivity: float | str, constant: float) -> float:
    """C 4π/((2ε' + 1) V), the factor of the dipole moment's energy; zero in a conductor."""
    assert model.box is not None
    if permittivity == "infinite":
        return 0.0
    return constant * 4.0 * math.pi / ((2.0 * float(permittivity) + 1.0) * model.box.volume)


@jit
def add_surface(result, surface, mx, my, mz, squares):
    """Add the energy of the dipole moment, ½ ``surface`` m², with its virial and Laplacian, to the measures;
    ``squares`` is Σ q²."""
    energy = 0.5 * surface * (mx * mx + my * my + mz * mz)
    result[ENERGY] += energy
    result[W_XX] += energy - surface * mx * mx
    result[W_YY] += energy - surface * my * my
    result[W_ZZ] += energy - surface * mz * mz
    result[W_XY] -= surface * mx * my
    result[W_XZ] -= surface * mx * mz
    result[W_YZ] -= surface * my * mz
    result[LAPLACIAN] += 3.0 * surface * squares
