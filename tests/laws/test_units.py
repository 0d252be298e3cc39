"""Units: known constants of nature, exact translation, and refusal of what has another dimension."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest
import scipy.constants
from hypothesis import given
from hypothesis import strategies as st

from articulon.errors import CaseError, DivergenceError
from articulon.units import DIMENSIONS, unit_system

NAMES = ("fg-um-us", "zg-nm-ns", "10yg-nm-ns", "kg-m-s", "lj", "Da-nm-ps")
PHYSICAL = tuple(name for name in NAMES if name != "lj")


def test_thermal_energies_and_the_coulomb_constant_have_their_known_values():
    """Values to the digits in which they are usually quoted."""
    assert unit_system("fg-um-us").boltzmann * 300 == pytest.approx(4.14e-3, abs=0.005e-3)
    assert unit_system("zg-nm-ns").boltzmann * 773 == pytest.approx(10.67e3, abs=0.005e3)
    assert unit_system("zg-nm-ns").coulomb == pytest.approx(2.307e5, abs=0.0005e5)


def test_da_nm_ps_is_the_molar_system_with_energies_in_kilojoules_per_mole():
    """N_A Da = 1 g/mol holds to 3.5e-10 since the SI of 2019, and k_B N_A = R."""
    system = unit_system("Da-nm-ps")
    assert system.value("1 kJ/mol", "energy", "x") == pytest.approx(1.0, rel=4e-10)
    assert system.boltzmann == pytest.approx(scipy.constants.R / 1000, rel=4e-10)
    assert system.coulomb == pytest.approx(138.935458, rel=1e-8)


@pytest.mark.parametrize("name", PHYSICAL)
def test_constants_agree_with_codata(name):
    """scipy may carry a later CODATA adjustment; the permittivity has moved by less than 1e-9 since 2014."""
    system = unit_system(name)
    assert None not in (system.mass, system.length, system.time)
    joule = system.mass * system.length**2 / system.time**2  # type: ignore[operator]
    assert system.boltzmann * joule == pytest.approx(scipy.constants.k, rel=1e-15, abs=0)
    coulomb = scipy.constants.e**2 / (4 * math.pi * scipy.constants.epsilon_0)
    assert system.coulomb * joule * system.length == pytest.approx(coulomb, rel=1e-9, abs=0)


@pytest.mark.parametrize(
    "text, dimension, expected",
    [
        ("8 us", "time", 8.0),
        ("8 μs", "time", 8.0),
        ("0.1 us", "time", 0.1),
        ("65 nm", "length", 0.065),
        ("0.89 mPa s", "viscosity", 890.0),
        ("1 mm/s", "velocity", 0.001),
        ("9.81 m/s^2", "acceleration", 9.81e-6),
        ("300 K", "temperature", 300.0),
        ("26.85 degC", "temperature", 300.0),
        ("180 deg", "angle", math.pi),
        ("-2 e", "charge", -2.0),
        ("1 aJ", "energy", 1.0),
        ("40 pN nm", "torsional_stiffness", 0.04),
        ("40 pN nm/rad^2", "torsional_stiffness", 0.04),
        ("4 zJ nm^12", "energy_length12", 4e-39),
        ("20 %", "dimensionless", 0.2),
        ("0.2", "dimensionless", 0.2),
        ("1e-5", "length", 1e-5),
    ],
)
def test_text_becomes_the_float_nearest_to_the_exact_result(text, dimension, expected):
    assert unit_system("fg-um-us").value(text, dimension, "x") == expected


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("number", [3, 2.5, -1e300, np.float32(0.5), np.int64(4)])
def test_plain_numbers_are_in_the_units_of_the_system(name, number):
    value = unit_system(name).value(number, "length", "x")
    assert type(value) is float
    assert value == number


@given(number=st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_written_as_text_is_the_same_number(number):
    assert unit_system("lj").value(repr(number), "time", "x") == number


@pytest.mark.parametrize("name", PHYSICAL)
@pytest.mark.parametrize("dimension", DIMENSIONS)
def test_converting_out_and_reading_back_is_the_identity(name, dimension):
    """SI units of each dimension; the factor, the product and the result are each rounded by 2^-53."""
    si = {
        "length": "m",
        "wavenumber": "1/m",
        "volume": "m^3",
        "compressibility": "1/Pa",
        "mass": "kg",
        "time": "s",
        "velocity": "m/s",
        "acceleration": "m/s^2",
        "force": "N",
        "energy": "J",
        "torque": "N m",
        "inertia": "kg m^2",
        "temperature": "K",
        "viscosity": "Pa s",
        "angle": "rad",
        "dimensionless": "",
        "frequency": "Hz",
        "angular_velocity": "rad/s",
        "angular_acceleration": "rad/s^2",
        "translational_drag": "N s/m",
        "rotational_drag": "N m s",
        "stiffness": "N/m",
        "momentum": "kg m/s",
        "number_density": "m^-3",
        "mass_density": "kg/m^3",
        "force_squared": "N^2",
        "pressure": "Pa",
        "angular_momentum": "kg m^2/s",
        "torsional_stiffness": "N m/rad^2",
        "charge": "C",
        "energy_length": "J m",
        "energy_length6": "J m^6",
        "energy_length12": "J m^12",
    }[dimension]
    system = unit_system(name)
    outside = 1.7 * system.factor(dimension, si or "dimensionless")
    assert system.value(f"{outside!r} {si}", dimension, "x") == pytest.approx(1.7, rel=3.4e-16, abs=0)


@pytest.mark.parametrize(
    "quantity, dimension, message",
    [
        ("8 nm", "time", "run.duration: expected a time (for example '8 us'), got a length: '8 nm'"),
        (
            "8 kg m^5",
            "time",
            "run.duration: expected a time (for example '8 us'), got a quantity in kg*m**5: '8 kg m^5'",
        ),
        ("8 mol", "time", "run.duration: expected a time (for example '8 us'), got a quantity in mol: '8 mol'"),
        ("us", "time", "run.duration: cannot read 'us'; expected a time (for example '8 us')"),
        ("", "time", "run.duration: cannot read ''; expected a time (for example '8 us')"),
        ("8 ((us", "time", "run.duration: cannot read '8 ((us'; expected a time (for example '8 us')"),
        ("1/0 s", "time", "run.duration: cannot read '1/0 s'; expected a time (for example '8 us')"),
        ("nan", "time", "run.duration: expected a finite number, got 'nan'"),
        ("1e400 s", "time", "run.duration: expected a finite number, got '1e400 s'"),
        (math.inf, "time", "run.duration: expected a finite number, got inf"),
        (True, "time", "run.duration: expected a time (for example '8 us'), got True"),
        (None, "time", "run.duration: expected a time (for example '8 us'), got None"),
    ],
)
def test_what_is_not_such_a_quantity_is_refused_by_name(quantity, dimension, message):
    with pytest.raises(CaseError) as caught:
        unit_system("fg-um-us").value(quantity, dimension, "run.duration")
    assert str(caught.value) == message


def test_an_unknown_unit_is_named():
    with pytest.raises(CaseError, match=r"^run\.duration: unknown unit in '8 usec_' .*'usec_'.*expected a time"):
        unit_system("fg-um-us").value("8 usec_", "time", "run.duration")


def test_hertz_is_refused_as_an_angular_velocity():
    """One hertz is 2π rad/s to an engineer and 1 rad/s to the arithmetic of units: no reading is safe."""
    with pytest.raises(CaseError, match=r"^x: .*'5 MHz'.*rad"):
        unit_system("fg-um-us").value("5 MHz", "angular_velocity", "x")
    assert unit_system("fg-um-us").value("5 MHz", "frequency", "x") == 5.0


def test_reduced_units_take_numbers_and_angles_only():
    system = unit_system("lj")
    assert (system.boltzmann, system.coulomb) == (1.0, 1.0)
    assert (system.mass, system.length, system.time) == (None, None, None)
    assert system.value("180 deg", "angle", "x") == math.pi
    with pytest.raises(CaseError, match="reduced units"):
        system.value("8 us", "time", "x")
    with pytest.raises(CaseError, match="reduced units"):
        system.factor("time", "us")


def test_an_unknown_system_is_refused_with_those_there_are():
    with pytest.raises(CaseError) as caught:
        unit_system("fg-nm-ns")
    assert all(name in str(caught.value) for name in NAMES)


def test_converting_to_a_unit_of_another_dimension_is_refused():
    with pytest.raises(CaseError, match=r"expected a length .* got a time"):
        unit_system("fg-um-us").factor("length", "ns")


@pytest.mark.parametrize(
    "name, dimension, label",
    [
        ("fg-um-us", "energy", "fg um^2/us^2"),
        ("fg-um-us", "viscosity", "fg/(um us)"),
        ("fg-um-us", "frequency", "1/us"),
        ("10yg-nm-ns", "force", "(10 yg) nm/ns^2"),
        ("kg-m-s", "angular_velocity", "rad/s"),
        ("Da-nm-ps", "charge", "e"),
        ("lj", "energy", "reduced units"),
        ("lj", "dimensionless", "1"),
    ],
)
def test_labels_read_as_units(name, dimension, label):
    assert unit_system(name).label(dimension) == label


@pytest.mark.parametrize("name", PHYSICAL)
@pytest.mark.parametrize("dimension", DIMENSIONS)
def test_a_label_is_itself_a_unit_of_its_dimension(name, dimension):
    """Each label, read back as a unit, is one of that unit: what the axis says is what the numbers are. Labels of
    molecular runs say kJ/mol, which N_A Da = 1 g/mol makes the unit to 3.5e-10."""
    label = unit_system(name).label(dimension).replace("(10 yg)", "(1e-23 g)")
    assert unit_system(name).value(f"1 * {label}", dimension, "x") == pytest.approx(
        1.0, rel=4e-10 if "mol" in label else 3e-16, abs=0
    )


def test_a_divergence_says_where_when_why_and_what_is_left():
    details = {"time": 1.25, "step": 310, "body": "A3", "joint": "spherical", "channel": "potential"}
    error = DivergenceError("the speed is not finite", **details, checkpoint="runs/a/checkpoint.npz", time_unit="us")
    for word in ("1.25 us", "310", "'A3'", "spherical", "'potential'", "runs/a/checkpoint.npz", "Usual causes"):
        assert word in str(error)
    assert {name: getattr(error, name) for name in details} == details
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == str(error)
    assert again.__dict__ == error.__dict__
    assert "No checkpoint" in str(DivergenceError("the speed is not finite", **details))
