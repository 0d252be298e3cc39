"""Validation of numbers: all interfaces read a user's numbers and arrays by these functions.

Booleans, complex numbers, texts, objects and non-finite values are not numbers. No value is rounded, cut or dropped to
make a number.
"""

from __future__ import annotations

import difflib
import math
import numbers
import os
from collections.abc import Callable, Mapping, Sequence, Set
from pathlib import Path
from typing import Any

import numpy as np

from articulon.errors import ArticulonError, ModelError

SEEDS = 2**63
"""Seeds of random numbers are from 0 to one less than this."""
INTEGERS = 2**63
"""Whole numbers are at least minus this and less than this: they fit into 64 bits."""
LARGEST = 1e150
"""Largest magnitude of a number: the square of a larger one could overflow."""
LEAST = 1e-100
"""Smallest magnitude: a product of three smaller lengths or stiffnesses could underflow to zero."""
FEW = 12
"""Maximum number of values shown in a message."""
MOST = 10**9
"""Maximum length of a list of numbers."""
DEEPEST = 64
"""Maximum nesting depth of lists and tables."""


def closest(name: str, names: Sequence[str]) -> str:
    """Clause that suggests the closest valid name at the end of a message."""
    close = difflib.get_close_matches(name[:100], names, n=1, cutoff=0.5)
    return f"; did you mean '{close[0]}'?" if close else ""


def shown(value: Any, width: int = 80) -> str:
    """Short text of any value for a message."""
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 10**width:
        return f"a whole number of more than {width} digits"
    try:
        text = repr(value)
    except Exception:  # from any object's own code, or from lists nested too deep
        return f"a value of the type {type(value).__name__}"
    return text if len(text) <= width else f"{text[: width - 3]}..."


def clipped(text: Any, width: int = 300) -> str:
    """A path or a message of another program, shortened to a readable length."""
    whole_text = str(text)
    return whole_text if len(whole_text) <= width else f"{whole_text[: width - 3]}..."


def real(value: Any) -> float:
    """A finite number; raises ValueError, which says what was expected."""
    if isinstance(value, np.ndarray) and value.shape == ():
        value = value[()]
    if isinstance(value, bool | np.bool_) or not isinstance(value, numbers.Real):
        raise ValueError(f"expected a number, got {shown(value)}")
    try:
        result = float(value)
    except (OverflowError, ValueError):
        result = math.inf
    if not math.isfinite(result):
        raise ValueError(f"expected a finite number, got {shown(value)}")
    return result


def integral(value: Any) -> int:
    """A whole number that fits into 64 bits; raises ValueError, which says what was expected."""
    if isinstance(value, np.ndarray) and value.shape == ():
        value = value[()]
    if isinstance(value, bool | np.bool_) or not isinstance(value, numbers.Integral):
        raise ValueError(f"expected a valid integer, got {shown(value)}")
    result = int(value)
    if not -INTEGERS <= result < INTEGERS:
        raise ValueError(f"expected a valid integer, from -2^63 to 2^63 - 1, got {shown(value)}")
    return result


def truth(value: Any) -> bool:
    """True or false; raises ValueError for anything else, such as 0 or 1."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"expected true or false, got {shown(value)}")
    return bool(value)


def number(value: Any, where: str, error: type[ArticulonError] = ModelError) -> float:
    """A finite number; raises ``error``, prefixed by ``where``, for anything else."""
    try:
        return real(value)
    except ValueError as reason:
        raise error(f"{where}: {reason}") from None


def whole(
    value: Any,
    where: str,
    *,
    least: int | None = None,
    most: int | None = None,
    error: type[ArticulonError] = ModelError,
) -> int:
    """A whole number between two bounds; raises ``error``, prefixed by ``where``, for anything else."""
    try:
        result = integral(value)
    except ValueError as reason:
        raise error(f"{where}: {reason}") from None
    if (least is not None and result < least) or (most is not None and result > most):
        bounds = [f"at least {least}"] * (least is not None) + [f"at most {most}"] * (most is not None)
        raise error(f"{where}: must be {' and '.join(bounds)}, got {result}")
    return result


def seed(value: Any, where: str, error: type[ArticulonError] = ModelError) -> int:
    """A seed of random numbers; raises ``error`` for anything but a whole number from 0 to 2⁶³ − 1."""
    return whole(value, where, least=0, most=SEEDS - 1, error=error)


def flag(value: Any, where: str, error: type[ArticulonError] = ModelError) -> bool:
    """True or false; raises ``error`` for anything else."""
    try:
        return truth(value)
    except ValueError as reason:
        raise error(f"{where}: {reason}") from None


def word(value: Any, known: Sequence[str], where: str, error: type[ArticulonError] = ModelError) -> str:
    """One of the ``known`` words; raises ``error``, which lists them, for anything else."""
    if not isinstance(value, str) or value not in known:
        raise error(f"{where}: expected one of {', '.join(map(repr, known))}, got {shown(value)}")
    return value


def one_word(value: Any, where: str, error: type[ArticulonError] = ModelError) -> str:
    """A text; raises ``error`` for anything else."""
    if not isinstance(value, str):
        raise error(f"{where}: expected a text, got {shown(value)}")
    return str(value)


def words(value: Any, where: str, error: type[ArticulonError] = ModelError) -> tuple[str, ...]:
    """One text or several as a tuple; raises ``error`` for anything else."""
    if isinstance(value, str):
        return (value,)
    if not isinstance(value, Sequence | Set) or isinstance(value, bytes) or not all(isinstance(v, str) for v in value):
        raise error(f"{where}: expected a text or a list of texts, got {shown(value)}")
    return tuple(value)


def floats(value: Any, read: Callable[[str], float] | None = None) -> np.ndarray:
    """Convert numbers in any arrangement to an array of floats, which may be non-finite.

    Parameters
    ----------
    value
        A number, an array of real numbers, or nested lists of them.
    read
        Converts a text to a number; None if texts are not allowed.

    Raises
    ------
    ValueError
        For booleans, complex numbers, texts without ``read``, objects, and lists of unequal lengths; the message says
        what was expected.
    """
    if hasattr(value, "__array__") and not isinstance(value, np.ndarray | type):
        try:
            value = np.asarray(value)
        except Exception:  # whatever the object's own conversion raises
            raise ValueError(f"expected numbers, got {shown(value)}") from None
    if isinstance(value, np.ndarray) and value.dtype.kind in "iuf" and not np.ma.is_masked(value):
        return np.asarray(value, dtype=np.float64)
    if np.ma.is_masked(value):
        raise ValueError("expected numbers, got an array with some of them masked")
    if isinstance(value, np.ndarray) and not (value.dtype.kind in "OU" or value.size == 0):
        raise ValueError(f"expected real numbers, got an array of the type {value.dtype}")
    if not isinstance(value, np.ndarray | Sequence | numbers.Number | np.generic) or isinstance(value, bytes):
        raise ValueError(f"expected numbers, got {shown(value)}")
    if isinstance(value, Sequence) and len(value) > MOST:
        raise ValueError(f"expected numbers, got {len(value)} of them")
    try:
        objects = np.array(value, dtype=object)
    except (ValueError, RecursionError):
        raise ValueError(f"expected numbers in lists of equal lengths, got {shown(value)}") from None
    flat = objects.ravel()
    kinds = set(map(type, flat))
    if kinds & {list, tuple, np.ndarray}:
        raise ValueError(f"expected numbers in lists of equal lengths, got {shown(value)}")
    for kind in kinds:
        if not issubclass(kind, int | float | np.integer | np.floating) or issubclass(kind, bool):
            flat = np.array([_one(item, read) for item in flat], dtype=np.float64)
            return flat.reshape(objects.shape)
    try:
        return objects.astype(np.float64)
    except OverflowError:
        raise ValueError(f"expected finite numbers, got {shown(value)}") from None


def _one(item: Any, read: Callable[[str], float] | None) -> float:
    if isinstance(item, str) and read is not None:
        return read(item)
    if isinstance(item, float | np.floating):
        return float(item)  # finiteness is checked for the whole array
    return real(item)


def array(value: Any, shape: tuple[int, ...], where: str, error: type[ArticulonError] = ModelError) -> np.ndarray:
    """Convert finite numbers of a given shape to a contiguous, writable array of floats.

    Raises
    ------
    ArticulonError
        Of the type ``error``, prefixed by ``where``, for anything but numbers, another shape, or non-finite values.
    """
    if type(value) is np.ndarray and value.dtype == np.float64 and value.shape == shape:
        # Fast path for the common case, cheaper than calling a compiled function.
        if value.flags.carray and np.count_nonzero(np.isfinite(value)) == value.size:
            return value
    try:
        result = floats(value)
    except ValueError as reason:
        raise error(f"{where}: {reason}") from None
    if result.shape != shape:
        raise error(f"{where}: expected shape {shape}, got {result.shape}")
    finite(result, where, error)
    result = np.ascontiguousarray(result)
    return result if result.flags.writeable else result.copy()


def finite(values: np.ndarray, where: str, error: type[ArticulonError] = ModelError) -> None:
    """Raises ``error``, naming the first position, if a number in an array is not finite."""
    if np.isfinite(values).all():
        return
    at = np.argwhere(~np.isfinite(values))[0].tolist()
    place = f" at {at}" if values.size > 1 else ""
    raise error(f"{where}: not finite: {values[tuple(at)]}{place}")


def path_of(value: Any, where: str, error: type[ArticulonError] = ModelError) -> Path:
    """A path; raises ``error`` for anything else."""
    if not isinstance(value, str | os.PathLike) or "\0" in str(value):
        raise error(f"{where}: expected a path, got {shown(value)}")
    return Path(value)


def exists(path: str | Path) -> bool:
    """Whether a file or folder exists; False for paths that are impossible on this system."""
    try:
        return Path(path).exists()
    except (OSError, ValueError):
        return False


def is_file(path: str | Path) -> bool:
    """Whether a file exists; False for paths that are impossible on this system."""
    try:
        return Path(path).is_file()
    except (OSError, ValueError):
        return False


def too_deep(value: Mapping[Any, Any] | Sequence[Any], most: int = DEEPEST) -> bool:
    """Whether tables and lists are nested deeper than a case allows."""
    layer = [value]
    for _ in range(most):
        inside: list[Any] = []
        for item in layer:
            inside.extend(item.values() if isinstance(item, Mapping) else item)
        layer = [item for item in inside if isinstance(item, Mapping | list | tuple)]
        if not layer:
            return False
    return True
