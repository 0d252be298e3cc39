"""Measurements for a fit: values of observables at several times, from a file, from arrays, or from the case's own
run."""

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from articulon.cases.case import Case, text_of
from articulon.cases.study_sections import Fit
from articulon.errors import CaseError
from articulon.inputs import shown

TIME = "time"


@dataclass(frozen=True)
class Measurements:
    """Values of observables at several times."""

    times: np.ndarray
    """Times, increasing and not negative, shape (times,) [time]."""
    observables: tuple[str, ...]
    """Names of the observables."""
    values: np.ndarray
    """Measured values, shape (times, observables); NaN where missing."""
    errors: np.ndarray | None
    """Standard deviations of the errors, shape (observables,); None if unknown."""

    def to_csv(self) -> str:
        """Return comma-separated values, from which the same numbers can be read back to the last bit."""
        lines = [",".join([TIME, *self.observables])]
        for time, row in zip(self.times.tolist(), self.values.tolist(), strict=True):
            lines.append(",".join(repr(one) for one in [time, *row]))
        return "\n".join(lines) + "\n"


def measurements_of(
    case: Case, fit: Fit, data: Mapping[str, Any] | str | Path | None, where: str
) -> Measurements | None:
    """Return the given measurements, or those in the case's file; None if the case's own run must generate them.

    Raises
    ------
    CaseError
        For a file that cannot be read, missing columns, and times that do not increase.
    """
    if data is None and fit.data is not None:
        data = Path(case.source).parent / fit.data
    if data is None:
        return None
    columns = _of_mapping(data, where) if isinstance(data, Mapping) else _of_file(Path(data), where)
    if TIME not in columns:
        raise CaseError(f"{where}: data: there is no column '{TIME}'; there are {', '.join(columns) or 'none'}")
    names = fit.observables or tuple(name for name in columns if name != TIME)
    missing = next((name for name in names if name not in columns), None)
    if missing is not None or not names:
        raise CaseError(f"{where}: data: there is no column {shown(missing or '')}; there are {', '.join(columns)}")
    times = columns[TIME]
    if not times.size or not (np.isfinite(times).all() and times[0] >= 0.0 and (np.diff(times) > 0.0).all()):
        raise CaseError(f"{where}: data: times must not be negative and must increase strictly")
    if times[-1] > float(case.run.duration):
        raise CaseError(
            f"{where}: data: the last time is {times[-1]:g}, but the run lasts {float(case.run.duration):g}; increase "
            "run.duration"
        )
    values = np.stack([columns[name] for name in names], axis=1)
    if not np.isfinite(values).any():
        raise CaseError(f"{where}: data: there are no values")
    return Measurements(times, tuple(names), values, errors_of(fit.errors, len(names), where))


def errors_of(errors: Sequence[float], count: int, where: str) -> np.ndarray | None:
    """Return a standard deviation for each observable; None if the errors are unknown."""
    if not errors:
        return None
    if len(errors) not in (1, count):
        raise CaseError(f"{where}.errors: expected one for all observables, or {count}, got {len(errors)}")
    return np.broadcast_to(np.array(errors, dtype=np.float64), (count,)).copy()


def _of_mapping(data: Mapping[str, Any], where: str) -> dict[str, np.ndarray]:
    found: dict[str, np.ndarray] = {}
    for name, values in data.items():
        try:
            found[str(name)] = np.asarray(values, dtype=np.float64).ravel()
        except (TypeError, ValueError):
            raise CaseError(f"{where}: data: {name}: expected numbers, got {shown(values)}") from None
    sizes = {values.size for values in found.values()}
    if len(sizes) > 1:
        raise CaseError(f"{where}: data: columns differ in length: {', '.join(map(str, sorted(sizes)))}")
    return found


def _of_file(file: Path, where: str) -> dict[str, np.ndarray]:
    lines = [line for line in text_of(file).splitlines() if line.strip() and not line.lstrip().startswith("#")]
    rows = list(csv.reader(lines))
    if not rows:
        raise CaseError(f"{file}: is empty; {where} expects a heading, '{TIME}' and names of observables, and rows")
    heads = [name.strip() for name in rows[0]]
    if len(set(heads)) < len(heads):
        raise CaseError(f"{file}: a column occurs twice in the heading: {', '.join(heads)}")
    columns: list[list[float]] = [[] for _ in heads]
    for k, row in enumerate(rows[1:], start=2):
        if len(row) != len(heads):
            raise CaseError(f"{file}: row {k} has {len(row)} cells, but the heading has {len(heads)}")
        for cell, column in zip(row, columns, strict=True):
            try:
                column.append(float(cell) if cell.strip() else np.nan)
            except ValueError:
                raise CaseError(f"{file}: row {k}: {shown(cell)} is not a number") from None
    return {name: np.array(column) for name, column in zip(heads, columns, strict=True)}
