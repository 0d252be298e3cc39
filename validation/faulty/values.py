"""What hardly any argument of a function can be, and what an array may be by mistake."""

from __future__ import annotations

import datetime
import decimal
import fractions
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from validation.faulty.mutations import one

VALUES: tuple[Callable[[], Any], ...] = (
    lambda: None,
    lambda: True,
    lambda: False,
    lambda: np.True_,
    lambda: -1,
    lambda: 0,
    lambda: 1,
    lambda: 2.5,
    lambda: float("nan"),
    lambda: float("inf"),
    lambda: -float("inf"),
    lambda: 1e308,
    lambda: -1e308,
    lambda: 1e-308,
    lambda: 2**63,
    lambda: -(2**63) - 1,
    lambda: 10**400,
    lambda: 10**5000,
    lambda: 1 + 2j,
    lambda: np.complex128(1j),
    lambda: np.float32(1.5),
    lambda: np.int8(3),
    lambda: decimal.Decimal("NaN"),
    lambda: fractions.Fraction(1, 3),
    lambda: "",
    lambda: "x",
    lambda: "z",
    lambda: "--4.33 mm",
    lambda: "8 nm",
    lambda: "5 furlong",
    lambda: "nan",
    lambda: "a" * 3000,
    lambda: "\x00",
    lambda: b"arm",
    lambda: [],
    lambda: (),
    lambda: {},
    lambda: {"a": 1},
    lambda: [1, 2, 3],
    lambda: [0, 0, 0],
    lambda: [1, 0, 0, 0],
    lambda: [True, False, True],
    lambda: [1 + 2j, 0, 0],
    lambda: ["a", "b", "c"],
    lambda: [float("nan")] * 3,
    lambda: [1e308] * 3,
    lambda: [[1, 2, 3]] * 2,
    lambda: [[1, 2], [3]],
    lambda: np.zeros(0),
    lambda: np.zeros((0, 3)),
    lambda: np.array(3.0),
    lambda: np.zeros((2, 2)),
    lambda: np.zeros(3, dtype=bool),
    lambda: np.ones(3, dtype=complex),
    lambda: np.array(["a", "b"]),
    lambda: np.array([None, 1.0]),
    lambda: np.array([object()] * 3),
    lambda: np.zeros(3, dtype="datetime64[s]"),
    lambda: np.ma.masked_array([1.0, 2.0, 3.0], [0, 1, 0]),
    lambda: object(),
    lambda: int,
    lambda: len,
    lambda: iter([1]),
    lambda: range(10**12),
    lambda: slice(2),
    lambda: Path("nowhere"),
    lambda: datetime.date(2020, 1, 1),
    lambda: deep(3000),
    lambda: {1, 2},
    lambda: memoryview(b"abc"),
    lambda: lambda *arguments: None,
    lambda: float,
    lambda: np.zeros(10**5),
)
"""What hardly any argument can be."""


def deep(levels: int) -> list[Any]:
    """A list within a list within a list."""
    result: list[Any] = []
    for _ in range(levels):
        result = [result]
    return result


def shown(value: Any) -> str:
    """A value in a few words, whatever it is."""
    try:
        text = repr(value)
    except (ValueError, RecursionError):
        text = f"a {type(value).__name__} that cannot be shown"
    return text[:80]


def damaged_array(array: np.ndarray, rng: np.random.Generator) -> tuple[Any, str]:
    """An array with one number, its shape or its kind of numbers changed."""
    copy = np.array(array, dtype=np.float64)
    number = one(rng, (float("nan"), float("inf"), 1e308, -1e308, 1e160))
    if copy.size:
        copy.flat[int(rng.integers(copy.size))] = number
    ways: dict[str, Any] = {
        f"the array with {number}": copy,
        "the array, complex": array + 1j,
        "the array, of truth values": array > 0,
        "the array, shorter": array[:-1],
        "the array, longer": np.concatenate([array, array[:1]]),
        "the array in another shape": array[None],
        "the array as text": array.astype(str),
        "the array as a list": array.tolist(),
        "the array in single precision": array.astype(np.float32),
        "the array of whole numbers": np.zeros(array.shape, dtype=np.int64),
        "the array, read-only": _frozen(array),
        "the array, every other": np.repeat(array, 2, axis=0)[::2],
    }
    what = one(rng, list(ways))
    return ways[what], what


def _frozen(array: np.ndarray) -> np.ndarray:
    copy = array.copy()
    copy.setflags(write=False)
    return copy
