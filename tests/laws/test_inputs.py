"""What counts as a number: the same at every door, and nothing dropped, rounded or cut to make one."""

from __future__ import annotations

import decimal
import fractions
import importlib
import pkgutil
import types
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import numpy as np
import pytest
from pydantic import BeforeValidator

import articulon as ar
from articulon import inputs
from articulon.declaration import Declaration

NUMBERS = [3, 2.5, -0.0, np.float32(0.5), np.int8(4), fractions.Fraction(1, 4), np.array(7.0)]
NO_NUMBERS = [
    True,
    np.True_,
    1 + 2j,
    np.complex128(1.0),
    "3",
    "8 nm",
    b"3",
    None,
    [],
    [1.0],
    object(),
    decimal.Decimal(3),
    float("nan"),
    float("inf"),
    10**400,
    10**5000,
    np.array([1.0]),
    int,
]


def nested(levels: int) -> list[Any]:
    result: list[Any] = []
    for _ in range(levels):
        result = [result]
    return result


def named(value):
    """A name that is the same in every process: without addresses."""
    return inputs.shown(value, 40).partition(" object at ")[0]


@pytest.mark.parametrize("value", NUMBERS, ids=repr)
def test_real_numbers_of_every_kind_are_numbers(value):
    assert inputs.real(value) == float(value)
    assert type(inputs.real(value)) is float


@pytest.mark.parametrize("value", [*NO_NUMBERS, nested(3000)], ids=named)
def test_what_is_no_finite_number_is_refused_in_few_words(value):
    with pytest.raises(ar.ModelError, match=r"^mass: expected a (finite )?number, got ") as caught:
        inputs.number(value, "mass")
    assert len(str(caught.value)) < 150


@pytest.mark.parametrize(
    "value", [True, 1.0, 1.5, "1", None, 2**63, -(2**63) - 1, 10**5000, float("nan")], ids=inputs.shown
)
def test_what_is_no_whole_number_of_64_bits_is_refused(value):
    with pytest.raises(ar.CaseError, match=r"^frames: expected a valid integer"):
        inputs.whole(value, "frames", error=ar.CaseError)
    assert inputs.whole(np.int32(5), "frames", least=5, most=5) == 5
    with pytest.raises(ar.ModelError, match="must be at least 1, got 0"):
        inputs.whole(0, "frames", least=1)


@pytest.mark.parametrize("value", [-1, 1.5, True, "7", None, 2**63, [1]], ids=repr)
def test_a_seed_is_a_whole_number_that_64_bits_hold(value):
    with pytest.raises(ar.ModelError, match=r"^seed: "):
        inputs.seed(value, "seed")
    assert inputs.seed(2**63 - 1, "seed") == 2**63 - 1


@pytest.mark.parametrize(
    "value, words",
    [
        ([True, 1.0], "expected a number, got True"),
        ([1.0, 2j], "expected a number, got 2j"),
        (np.array([1.0, 2.0 + 0j]), "complex128"),
        (np.array([True, False]), "of the type bool"),
        (np.array(["1", "2"]), "expected a number, got"),
        (["1", 2.0], "expected a number, got '1'"),
        ([1.0, None], "expected a number, got None"),
        ([[1.0, 2.0], [3.0]], "lists of equal lengths"),
        ([10**400, 1], "finite numbers"),
        ({"a": 1.0}, "expected numbers, got"),
        ({1.0, 2.0}, "expected numbers, got"),
        (iter([1.0]), "expected numbers, got"),
        (range(10**12), "expected numbers, got 1000000000000"),
        (np.ma.masked_array([1.0, 2.0], [0, 1]), "masked"),
        (np.zeros(2, dtype="datetime64[s]"), "datetime64"),
        (b"12", "expected numbers, got"),
        (nested(3000), "expected numbers in lists"),
    ],
    ids=named,
)
def test_what_are_no_real_numbers_is_no_array(value, words):
    with pytest.raises(ValueError, match=words):
        inputs.floats(value)


@pytest.mark.parametrize(
    "value", [(1, 2), [1.0, np.float32(2.0)], np.array([1, 2]), [fractions.Fraction(1), 2]], ids=repr
)
def test_real_numbers_in_any_arrangement_are_an_array(value):
    assert inputs.floats(value).tolist() == [1.0, 2.0]


def test_an_array_names_its_shape_and_the_first_number_that_is_none():
    with pytest.raises(ar.ModelError, match=r"^q: expected shape \(3,\), got \(2,\)"):
        inputs.array([1, 2], (3,), "q")
    with pytest.raises(ar.ModelError, match=r"^q: not finite: nan at \[1\]"):
        inputs.array([1, float("nan"), 2], (3,), "q")
    given = np.zeros(3)
    given.setflags(write=False)
    assert inputs.array(given, (3,), "q").flags.writeable


def test_what_lies_too_deep_is_told_from_what_does_not():
    assert not inputs.too_deep({"a": nested(60)})
    assert inputs.too_deep({"a": nested(70)})
    assert inputs.too_deep({"a": nested(5000)})


def leaves(annotation: Any, metadata: tuple[Any, ...] = ()) -> list[tuple[Any, tuple[Any, ...]]]:
    """The plain types in an annotation, each with all that was said on the way to it."""
    origin = get_origin(annotation)
    if origin is Annotated:
        inner, *more = get_args(annotation)
        return leaves(inner, (*metadata, *more))
    if origin is Literal:
        return []
    if origin in (Union, types.UnionType) or origin is not None:
        return [found for part in get_args(annotation) for found in leaves(part, metadata)]
    return [(annotation, metadata)]


def declarations() -> list[type[Declaration]]:
    """Every declaration of the package."""
    for module in pkgutil.walk_packages(ar.__path__, "articulon."):
        if "__main__" not in module.name:
            importlib.import_module(module.name)
    found, left = [], [Declaration]
    while left:
        for kind in left.pop().__subclasses__():
            left.append(kind)
            found += [kind] if kind.__module__.startswith("articulon.") else []
    return sorted(set(found), key=lambda kind: (kind.__module__, kind.__name__))


def test_no_declaration_takes_a_truth_value_for_a_number_or_a_word_for_a_truth_value():
    """pydantic would turn True into 1, "2" into 2 and "yes" into True: every such field says how it is read."""
    careless = [
        f"{kind.__module__}.{kind.__name__}.{name}: {plain.__name__}"
        for kind in declarations()
        for name, field in kind.model_fields.items()
        for plain, metadata in leaves(field.annotation, tuple(field.metadata))
        if plain in (int, float, bool) and not any(isinstance(one, BeforeValidator) for one in metadata)
    ]
    assert careless == []


@pytest.mark.parametrize(
    "declare, words",
    [
        (lambda: ar.forces.HarmonicBonds(bonds=[(True, 2)], stiffness=1, length=1), "valid integer"),
        (lambda: ar.forces.HarmonicBonds(bonds=[("0", 1)], stiffness=1, length=1), "valid integer"),
        (lambda: ar.forces.Brownian(temperature=300, average=True), "valid integer"),
        (lambda: ar.forces.Exclusions(scaled_14={"coulomb": True}), "expected a number"),
        (lambda: ar.forces.LennardJones(parameters={}, tail_correction="yes"), "true or false"),
        (lambda: ar.forces.Gravity(acceleration=(0, 0, 10**400)), "finite number"),
        (lambda: ar.forces.Gravity(acceleration=np.array([0, 0, 1j])), "expected"),
        (lambda: ar.forces.Gravity(acceleration=nested(2000)), "expected"),
        (lambda: ar.adaptive.Group(bodies=range(10**12)), "bodies"),
        (lambda: ar.thermostats.NoseHooverChain(temperature=1, period=1, length=10**9), "1000"),
    ],
)
def test_declarations_refuse_what_is_no_such_number(declare, words):
    with pytest.raises(ar.ArticulonError, match=words):
        declare()


@pytest.mark.parametrize(
    "text",
    [
        "--4.33 mm",
        "+-4 mm",
        "- 4 mm",
        "4 mm + 1 mm",
        "2**3 mm",
        "2 3 mm",
        "5 m^1000000000",
        "1_000 nm",
        "٣ nm",
        "0x10 m",
        "5..3 nm",
        "5 m" + " m" * 60,
        "1e999999999 m",
    ],
)
def test_what_is_no_number_with_a_unit_is_no_quantity(text):
    with pytest.raises(ar.CaseError, match=r"^x: (cannot read|expected a finite number)"):
        ar.ModelBuilder("kg-m-s").units.value(text, "length", "x")


@pytest.mark.parametrize(
    "text, dimension, number",
    [
        ("-4.33 mm", "length", -4.33e-3),
        ("+4 mm", "length", 4e-3),
        (".5 nm", "length", 5e-10),
        ("5. nm", "length", 5e-9),
        ("5 1/s", "frequency", 5.0),
        ("1/us", "frequency", 1e6),
        ("3 nm^(-1)", "wavenumber", 3e9),
        ("5 µm", "length", 5e-6),
        ("1 * 1", "dimensionless", 1.0),
        ("2.5e3 kg·m/s**2", "force", 2.5e3),
        (" 5 nm ", "length", 5e-9),
    ],
)
def test_quantities_are_read_as_they_have_always_been(text, dimension, number):
    assert ar.ModelBuilder("kg-m-s").units.value(text, dimension, "x") == pytest.approx(number, rel=4e-16)


def test_a_quantity_whose_square_is_no_number_is_refused_by_its_key():
    builder = ar.ModelBuilder("kg-m-s")
    with pytest.raises(
        ar.CaseError, match=r"^forces\[0\]\.acceleration\[2\]: 1e\+308 is too large for the computation"
    ):
        builder.add_force(ar.forces.Gravity(acceleration=(0, 0, 1e308)))
    with pytest.raises(ar.ModelError, match="body 'arm', com: 1e\\+160 is too large for the computation"):
        builder.add_body("arm", mass=1, com=(0, 0, 1e160), joint=ar.Free())
