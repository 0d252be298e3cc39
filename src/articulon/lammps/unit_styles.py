"""LAMMPS's styles of units beside our systems of units."""

from typing import NamedTuple

from articulon.errors import ModelError
from articulon.inputs import shown
from articulon.units import unit_system

COULOMB_REAL = 332.06371
"""e²/(4πε₀) in kcal Å/mol, as LAMMPS has it in ``units real`` (``qqr2e`` in its update.cpp)."""


class UnitStyle(NamedTuple):
    """A style of LAMMPS: a number of the file times what stands here is one in our system."""

    name: str
    system: str
    """Our system of units."""
    divisor: float
    """By which lengths of the file are divided: lengths come back to the bit, as they would not from a factor 0.1."""
    velocity: float
    energy: float
    permittivity: float
    """By which our constant of Coulomb must be divided to be LAMMPS's."""

    def length(self, value: float) -> float:
        """A length of the file in our system."""
        return value / self.divisor


def unit_style(name: str) -> UnitStyle:
    """The style of a name: ``lj``, reduced units, or ``real``: g/mol, Å, fs, kcal/mol and e, which become Da, nm and
    ps, with energies in Da nm²/ps², 1 kJ/mol to 1e-9; raises ModelError for another."""
    if name == "lj":
        return UnitStyle("lj", "lj", 1.0, 1.0, 1.0, 1.0)
    if name != "real":
        raise ModelError(
            f"units: expected 'lj' or 'real', got {shown(name)}; have LAMMPS or a tool convert other units first"
        )
    system = unit_system("Da-nm-ps")
    energy = system.value("1 kcal/mol", "energy", "units")
    return UnitStyle("real", system.name, 10.0, 100.0, energy, system.coulomb / (COULOMB_REAL * energy / 10.0))
