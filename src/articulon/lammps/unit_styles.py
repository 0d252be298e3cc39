"""LAMMPS's unit styles and our unit systems."""

from typing import NamedTuple

from articulon.errors import ModelError
from articulon.inputs import shown
from articulon.units import unit_system

COULOMB_REAL = 332.06371
"""Coulomb constant e²/(4πε₀) in kcal Å/mol, as in LAMMPS's ``units real`` (``qqr2e`` in its update.cpp)."""


class UnitStyle(NamedTuple):
    """A unit style of LAMMPS, with the factors that convert its numbers to our system."""

    name: str
    system: str
    """Our system of units."""
    divisor: float
    """Divisor of lengths; unlike multiplication by 0.1, a division can be undone exactly."""
    velocity: float
    energy: float
    permittivity: float
    """Ratio of our Coulomb constant to LAMMPS's."""

    def length(self, value: float) -> float:
        """Convert a length of the file to our system."""
        return value / self.divisor


def unit_style(name: str) -> UnitStyle:
    """Return the unit style of a name: ``lj`` or ``real``. Numbers in ``lj`` are reduced units. The units of ``real``,
    g/mol, Å, fs, kcal/mol and e, become Da, nm and ps, with energies in Da nm²/ps² (1 kJ/mol to 1e-9). Raise ModelError
    for another name."""
    if name == "lj":
        return UnitStyle("lj", "lj", 1.0, 1.0, 1.0, 1.0)
    if name != "real":
        raise ModelError(
            f"units: expected 'lj' or 'real', got {shown(name)}; have LAMMPS or a tool convert other units first"
        )
    system = unit_system("Da-nm-ps")
    energy = system.value("1 kcal/mol", "energy", "units")
    return UnitStyle("real", system.name, 10.0, 100.0, energy, system.coulomb / (COULOMB_REAL * energy / 10.0))
