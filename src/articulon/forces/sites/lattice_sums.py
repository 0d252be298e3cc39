"""What the sums over charges and all their images have in common: where there is none, and the charges' own energy."""

import math

import numpy as np

from articulon.errors import ModelError
from articulon.forces.sites.error_function import LARGEST
from articulon.forces.sites.laws.coulomb import check_charges
from articulon.model import Model

LATTICE_SUMS = ("ewald", "particle-mesh-ewald")
"""Kinds of forces that hold every charge of a periodic box."""
NEUTRAL = 1e-9
"""Net charge that rounding may leave, relative to Σ|q|."""


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
            f"{where}: the box has a net charge of {net:g}, and the energy of a periodic lattice of charged boxes "
            "is infinite; add counter-ions, or correct the charges so that they add up to zero"
        )
    sums = [force.kind for force in model.forces if getattr(force, "kind", None) in LATTICE_SUMS]
    if len(sums) > 1:
        which = " and ".join(f"'{kind}'" for kind in sorted(set(sums)))
        raise ModelError(f"{where}: Ewald sums are declared twice, as {which}; one holds every charge")


def check_damping(damping: float, cutoff: float, where: str) -> None:
    """Raises ModelError where nothing of the real part reaches the cutoff."""
    if damping * cutoff > LARGEST:
        raise ModelError(
            f"{where}: damping times cutoff is {damping * cutoff:.4g}, and beyond {LARGEST} nothing "
            "is left of the real part long before the cutoff; lower one of them"
        )


def own_energy(model: Model, damping: float, constant: float) -> float:
    """−C α/√π Σ q², of the charges' clouds with themselves."""
    charge = model.sites.charge
    return -constant * damping / math.sqrt(math.pi) * float(charge @ charge)


def surface_constant(model: Model, permittivity: float | str, constant: float) -> float:
    """C 4π/((2ε' + 1) V) of the dipole moment's energy; none in a conductor."""
    assert model.box is not None
    if permittivity == "infinite":
        return 0.0
    return constant * 4.0 * math.pi / ((2.0 * float(permittivity) + 1.0) * model.box.volume)
