"""Unit systems. This is the only module that converts a quantity with units to a plain number.

Inside the engine every number is in the units of its case and has no label. For input and output (case files, force
declarations, plot axes, output files), a :class:`UnitSystem` converts. The conversion uses decimal arithmetic, so that
``"0.89 mPa s"`` becomes the float nearest to the exact result.
"""

from __future__ import annotations

import math
import numbers
import re
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache, partial
from typing import Any, NamedTuple

from articulon.errors import ArticulonError, CaseError
from articulon.inputs import number, shown
from articulon.kernel_cache import CACHE_ADVICE, cache_root
from articulon.private_folders import private_folder

LONGEST = 100
"""Maximum number of characters of a quantity."""
_NUMBER = r"(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?(?![0-9.])"
_WRITTEN = re.compile(
    rf"[+-]?{_NUMBER}(?![ \t]*(?:\^|\*\*))(?:\*[ \t]*1(?![0-9.])|[ \t*/·×().^°%_]|[^\W\d_]|(?<=[A-Za-z_])[0-9]"
    rf"|(?<=\(){_NUMBER}|(?<=[*^(])[+-]?[0-9]{{1,2}}(?![0-9.])|1(?=/))*"
)
"""Pattern of a number with units. Further numbers may occur only in parentheses, in exponents and in 1/s, and sums are
not allowed. pint parses text that matches the pattern."""

# The first three constants are exact by the definition of the SI (BIPM, The International System of Units, 9th ed.,
# 2019); the last two are the CODATA recommended values of 2018 (Tiesinga et al., Rev. Mod. Phys. 93, 025010, 2021).
# They are written here because scipy.constants takes longer to import than this whole package.
BOLTZMANN_SI = Decimal("1.380649e-23")
"""Boltzmann constant [J/K]."""
ELEMENTARY_CHARGE_SI = Decimal("1.602176634e-19")
"""Elementary charge [C]."""
AVOGADRO_SI = Decimal("6.02214076e23")
"""Avogadro constant [1/mol]."""
VACUUM_PERMITTIVITY_SI = Decimal("8.8541878128e-12")
"""Vacuum electric permittivity [F/m]."""
DALTON_SI = Decimal("1.66053906660e-27")
"""Unified atomic mass unit [kg]."""

_PI = Decimal("3.141592653589793238462643383279503")
_COULOMB_SI = ELEMENTARY_CHARGE_SI**2 / (4 * _PI * VACUUM_PERMITTIVITY_SI)


class _Definition(NamedTuple):
    """A dimension, given by the exponents of mass, length, time, temperature, charge and angle."""

    noun: str
    example: str
    exponents: tuple[int, int, int, int, int, int]


_DIMENSIONS = {
    "length": _Definition("a length", "8 nm", (0, 1, 0, 0, 0, 0)),
    "mass": _Definition("a mass", "1.5 fg", (1, 0, 0, 0, 0, 0)),
    "time": _Definition("a time", "8 us", (0, 0, 1, 0, 0, 0)),
    "velocity": _Definition("a velocity", "1 mm/s", (0, 1, -1, 0, 0, 0)),
    "acceleration": _Definition("an acceleration", "9.81 m/s^2", (0, 1, -2, 0, 0, 0)),
    "force": _Definition("a force", "5 pN", (1, 1, -2, 0, 0, 0)),
    "energy": _Definition("an energy", "4 zJ", (1, 2, -2, 0, 0, 0)),
    "torque": _Definition("a torque", "4 pN nm", (1, 2, -2, 0, 0, 0)),
    "inertia": _Definition("a moment of inertia", "0.3 fg um^2", (1, 2, 0, 0, 0, 0)),
    "temperature": _Definition("a temperature", "300 K", (0, 0, 0, 1, 0, 0)),
    "viscosity": _Definition("a viscosity", "0.89 mPa s", (1, -1, -1, 0, 0, 0)),
    "angle": _Definition("an angle", "30 deg", (0, 0, 0, 0, 0, 1)),
    "dimensionless": _Definition("a plain number", "0.2", (0, 0, 0, 0, 0, 0)),
    "frequency": _Definition("a frequency", "5 MHz", (0, 0, -1, 0, 0, 0)),
    "angular_velocity": _Definition("an angular velocity", "2 rad/us", (0, 0, -1, 0, 0, 1)),
    "angular_acceleration": _Definition("an angular acceleration", "3 rad/us^2", (0, 0, -2, 0, 0, 1)),
    "translational_drag": _Definition("a translational drag coefficient", "4 pN s/m", (1, 0, -1, 0, 0, 0)),
    "rotational_drag": _Definition("a rotational drag coefficient", "3 pN nm us", (1, 2, -1, 0, 0, 0)),
    "stiffness": _Definition("a stiffness", "40 pN/nm", (1, 0, -2, 0, 0, 0)),
    "momentum": _Definition("a momentum", "2 fg m/s", (1, 1, -1, 0, 0, 0)),
    "angular_momentum": _Definition("an angular momentum", "2 fg m^2/s", (1, 2, -1, 0, 0, 0)),
    "torsional_stiffness": _Definition("a torsional stiffness", "40 pN nm/rad^2", (1, 2, -2, 0, 0, -2)),
    "volume": _Definition("a volume", "60 nm^3", (0, 3, 0, 0, 0, 0)),
    "number_density": _Definition("a number density", "21 nm^-3", (0, -3, 0, 0, 0, 0)),
    "mass_density": _Definition("a mass density", "2.2 g/cm^3", (1, -3, 0, 0, 0, 0)),
    "force_squared": _Definition("a force squared", "25 pN^2", (2, 2, -4, 0, 0, 0)),
    "pressure": _Definition("a pressure", "1 bar", (1, -1, -2, 0, 0, 0)),
    "compressibility": _Definition("a compressibility", "4.5e-5 1/bar", (-1, 1, 2, 0, 0, 0)),
    "charge": _Definition("a charge", "-1 e", (0, 0, 0, 0, 1, 0)),
    "wavenumber": _Definition("an inverse length", "3 nm^-1", (0, -1, 0, 0, 0, 0)),
    "energy_length": _Definition("an energy times a length", "230 zJ nm", (1, 3, -2, 0, 0, 0)),
    "energy_length6": _Definition("an energy times a length to the power 6", "4 zJ nm^6", (1, 8, -2, 0, 0, 0)),
    "energy_length12": _Definition("an energy times a length to the power 12", "4 zJ nm^12", (1, 14, -2, 0, 0, 0)),
}

_SI_SYMBOLS = {"force": "N", "energy": "J", "torque": "N m", "pressure": "Pa", "stiffness": "N/m"}
"""Symbols of derived SI units in labels."""
_MOLAR_SYMBOLS = {
    "energy": "kJ/mol",
    "torque": "kJ/mol",
    "force": "kJ/(mol nm)",
    "stiffness": "kJ/(mol nm^2)",
    "torsional_stiffness": "kJ/(mol rad^2)",
    "pressure": "kJ/(mol nm^3)",
    "energy_length": "kJ nm/mol",
    "energy_length6": "kJ nm^6/mol",
    "energy_length12": "kJ nm^12/mol",
}
"""Symbols in labels for units derived from dalton, nanometre and picosecond, in molar form. 1 Da nm²/ps² equals 1
kJ/mol with a relative error of 1e-9, because of the values of the constants."""

DIMENSIONS = tuple(_DIMENSIONS)
"""Names of the dimensions with which a quantity can be declared."""


@dataclass(frozen=True)
class UnitSystem:
    """The units in which a case is written and computed.

    Temperatures are in kelvin, charges in elementary charges and angles in radians. The system ``"lj"`` is different:
    all its numbers are reduced (Frenkel and Smit, Understanding Molecular Simulation, 2nd ed., section 3.2).
    """

    name: str
    """Name of the system in cases, such as ``"fg-um-us"``."""
    mass: float | None
    """One unit of mass [kg], or None for reduced units."""
    length: float | None
    """One unit of length [m], or None for reduced units."""
    time: float | None
    """One unit of time [s], or None for reduced units."""
    boltzmann: float
    """Boltzmann constant [energy/K]; 1 for reduced units."""
    coulomb: float
    """Coulomb constant e²/(4πε₀), the energy of two unit charges times their distance [energy length]; 1 for reduced
    units."""
    symbols: tuple[str, str, str]
    """Symbols of the units of mass, length and time, for labels."""

    def value(self, quantity: float | str, dimension: str, where: str) -> float:
        """Value of a quantity in this system's units.

        Parameters
        ----------
        quantity
            A number, which must be in the system's units, or a string such as ``"0.89 mPa s"``. Energies may be given
            per mole.
        dimension
            One of :data:`DIMENSIONS`.
        where
            Key or argument of the quantity, for the message.

        Raises
        ------
        CaseError
            If the string cannot be read, has the wrong dimension, or the result is not finite.
        """
        definition = _definition(dimension)
        if not isinstance(quantity, str):
            if isinstance(quantity, bool) or not isinstance(quantity, numbers.Real):
                raise CaseError(f"{where}: expected {_expectation(definition)}, got {shown(quantity)}")
            return number(quantity, where, CaseError)
        quantity = quantity.strip()
        try:
            plain = float(quantity)
        except ValueError:
            pass
        else:
            if quantity.isascii() and "_" not in quantity:
                return _finite(plain, quantity, where)
        if len(quantity) > LONGEST or not _WRITTEN.fullmatch(quantity):
            raise CaseError(f"{where}: cannot read {shown(quantity)}; expected {_expectation(definition)}")

        # An angle has the same number in every system, also in reduced units.
        if self.mass is None and dimension not in ("angle", "dimensionless"):
            raise CaseError(
                f"{where}: reduced units ('{self.name}') take plain numbers, got {shown(quantity)}; "
                "remove the unit or choose another system of units"
            )
        in_si = _in_si(quantity, definition, where)
        try:
            return _finite(float(in_si / self._scale(definition)), quantity, where)
        except ArithmeticError:
            return _finite(math.inf, quantity, where)

    def label(self, dimension: str) -> str:
        """Unit of a dimension as text for a plot axis, such as ``"fg um^2/us^2"``."""
        exponents = _definition(dimension).exponents
        if not any(exponents):
            return "1"
        if self.mass is None and dimension != "angle":
            return "reduced units"
        if self.name == "kg-m-s" and dimension in _SI_SYMBOLS:
            return _SI_SYMBOLS[dimension]
        if self.name == "Da-nm-ps" and dimension in _MOLAR_SYMBOLS:
            return _MOLAR_SYMBOLS[dimension]
        symbols = [f"({s})" if " " in s else s for s in self.symbols] + ["K", "e", "rad"]
        above = [_power(symbol, n) for symbol, n in zip(symbols, exponents, strict=True) if n > 0]
        below = [_power(symbol, -n) for symbol, n in zip(symbols, exponents, strict=True) if n < 0]
        text = " ".join(above) or "1"
        if not below:
            return text
        return f"{text}/{below[0]}" if len(below) == 1 else f"{text}/({' '.join(below)})"

    def factor(self, dimension: str, to: str) -> float:
        """Factor that converts a value in this system to the unit ``to``.

        >>> unit_system("fg-um-us").factor("length", "nm")
        1000.0

        Raises
        ------
        CaseError
            If ``to`` is not a unit of this dimension, or if the system is reduced and has no other units.
        """
        definition = _definition(dimension)
        if self.mass is None and dimension not in ("angle", "dimensionless"):
            raise CaseError(f"values in reduced units ('{self.name}') cannot be converted to '{to}'")
        return float(self._scale(definition) / _in_si(f"1 ({to})", definition, f"conversion to '{to}'"))

    def ratio(self, dimension: str, other: UnitSystem) -> float:
        """Factor that converts a value in this system to another system.

        >>> unit_system("fg-um-us").ratio("length", unit_system("Da-nm-ps"))
        1000.0

        Raises
        ------
        CaseError
            If one of the two systems is reduced and the other is not.
        """
        if self.name == other.name:
            return 1.0
        if self.mass is None or other.mass is None:
            raise CaseError(f"values in '{self.name}' cannot be converted to '{other.name}'")
        definition = _definition(dimension)
        return float(self._scale(definition) / other._scale(definition))

    def _scale(self, definition: _Definition) -> Decimal:
        """One unit of the dimension in SI units, including kelvin, coulomb and radian."""
        mass, length, time = _SCALES[self.name] or (Decimal(1),) * 3
        return _product((mass, length, time, Decimal(1), ELEMENTARY_CHARGE_SI, Decimal(1)), definition.exponents)


def unit_system(name: str) -> UnitSystem:
    """Unit system with the given name.

    Raises
    ------
    CaseError
        If there is no such system; the message lists the known names.
    """
    try:
        return _SYSTEMS[name]
    except (KeyError, TypeError):
        known = ", ".join(_SYSTEMS)
        raise CaseError(f"unknown system of units {shown(name)}; choose one of {known}") from None


def _in_si(text: str, definition: _Definition, where: str) -> Decimal:
    """Magnitude of a quantity in SI base units, after a check of its dimension."""
    import pint

    registry = _registry()
    try:
        quantity = registry.Quantity(text)
        stated_units = str(quantity.units)
        if quantity.dimensionality.get("[substance]", 0) == -1:
            quantity = quantity * registry.Quantity(Decimal(1), "mol") / AVOGADRO_SI
        quantity = quantity.to_base_units()
        magnitude = Decimal(quantity.magnitude)
    except pint.UndefinedUnitError as error:
        raise CaseError(f"{where}: unknown unit in {text!r} ({error}); expected {_expectation(definition)}") from None
    except Exception:
        # The parser raises many kinds of errors (tokenizer, arithmetic, attribute); all mean that the text is invalid.
        raise CaseError(f"{where}: cannot read {text!r}; expected {_expectation(definition)}") from None

    # For pint, radians are pure numbers, so an angle cannot be required and cannot be distinguished from a number. A
    # hertz is ambiguous: users may mean a turn per second or a radian per second.
    if definition.exponents[5] == 1 and "hertz" in stated_units:
        raise CaseError(f"{where}: {text!r} may mean turns or radians; write turn/s or rad/s")
    exponents = _pint_exponents(quantity)
    if exponents != definition.exponents[:5]:
        got = next((d.noun for d in _DIMENSIONS.values() if d.exponents[:5] == exponents), None)
        got = got or f"a quantity in {quantity.units:~C}"
        raise CaseError(f"{where}: expected {_expectation(definition)}, got {got}: {text!r}")
    return magnitude


def _pint_exponents(quantity: Any) -> tuple[int, ...] | None:
    """Exponents of mass, length, time, temperature and charge, or None for any other dimension."""
    found: dict[str, int] = dict(quantity.dimensionality)
    charge = found.pop("[current]", 0)
    found["[time]"] = found.get("[time]", 0) - charge
    exponents = [found.pop(f"[{base}]", 0) for base in ("mass", "length", "time", "temperature")]
    return None if any(found.values()) else (*exponents, charge)


@lru_cache(maxsize=1)
def _registry() -> Any:
    from pint import UnitRegistry

    made: Any = partial(
        UnitRegistry, non_int_type=Decimal, autoconvert_offset_to_baseunit=True, on_redefinition="ignore"
    )
    try:
        kept = private_folder(cache_root() / "units", CACHE_ADVICE)
    except (OSError, ArticulonError):  # the folder of the cache is not writable, or not trusted
        kept = None
    try:  # parsing the definitions takes ten times as long as loading the cached result
        registry = made(cache_folder=kept)
    except Exception:  # a damaged file can raise any error
        for file in [] if kept is None else kept.glob("*.*"):
            file.unlink(missing_ok=True)
        registry = made()
    # Versions of pint use values of the dalton from different CODATA years, but one dalton must be one unit of
    # Da-nm-ps.
    registry.define(f"dalton = {DALTON_SI} * kilogram = Da")
    return registry


def _definition(dimension: str) -> _Definition:
    try:
        return _DIMENSIONS[dimension]
    except KeyError:
        raise ValueError(f"unknown dimension {dimension!r}; choose one of {', '.join(_DIMENSIONS)}") from None


def expectation(dimension: str) -> str:
    """Name of a dimension in messages, with an example: ``"a time (for example '8 us')"``."""
    return _expectation(_definition(dimension))


def example(dimension: str) -> str:
    """A quantity of a dimension as text, such as ``"8 us"``."""
    return _definition(dimension).example


def _expectation(definition: _Definition) -> str:
    return f"{definition.noun} (for example '{definition.example}')"


def _finite(value: float, quantity: str, where: str) -> float:
    if not math.isfinite(value):
        raise CaseError(f"{where}: expected a finite number, got {shown(quantity)}")
    return value


def _product(bases: tuple[Decimal, ...], exponents: tuple[int, ...]) -> Decimal:
    result = Decimal(1)
    for base, exponent in zip(bases, exponents, strict=True):
        result *= base**exponent
    return result


def _power(symbol: str, exponent: int) -> str:
    return symbol if exponent == 1 else f"{symbol}^{exponent}"


# By name of the system: one unit of mass [kg], of length [m] and of time [s]; None for reduced units.
_SCALES: dict[str, tuple[Decimal, Decimal, Decimal] | None] = {
    "fg-um-us": (Decimal("1e-18"), Decimal("1e-6"), Decimal("1e-6")),
    "zg-nm-ns": (Decimal("1e-24"), Decimal("1e-9"), Decimal("1e-9")),
    "10yg-nm-ns": (Decimal("1e-26"), Decimal("1e-9"), Decimal("1e-9")),
    "kg-m-s": (Decimal(1), Decimal(1), Decimal(1)),
    "Da-nm-ps": (DALTON_SI, Decimal("1e-9"), Decimal("1e-12")),
    "lj": None,
}


def _system(name: str) -> UnitSystem:
    scales = _SCALES[name]
    if scales is None:
        return UnitSystem(name, None, None, None, boltzmann=1.0, coulomb=1.0, symbols=("m", "σ", "τ"))
    mass, length, time = scales
    energy = mass * length**2 / time**2
    symbol, *others = name.split("-")
    return UnitSystem(
        name,
        mass=float(mass),
        length=float(length),
        time=float(time),
        boltzmann=float(BOLTZMANN_SI / energy),
        coulomb=float(_COULOMB_SI / (energy * length)),
        symbols=(symbol.replace("10", "10 "), *others),  # type: ignore[arg-type]
    )


_SYSTEMS = {name: _system(name) for name in _SCALES}
