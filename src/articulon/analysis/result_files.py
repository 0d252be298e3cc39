"""Figures and tables of an analysis as JSON and CSV files."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from articulon.errors import ArticulonError
from articulon.inputs import exists
from articulon.simulation.summary import plain
from articulon.storage.atomic_writing import write_text

Rows = list[dict[str, Any]]
"""A table: a list of dictionaries with the same keys, one for each row."""


def write_results(folder: Path, file: str, figures: Mapping[str, Any], tables: Mapping[str, Rows]) -> list[Path]:
    """Write figures as JSON to a file, and each table as CSV beside it; returns the files.

    Parameters
    ----------
    folder
        Folder for the files; created if it does not exist.
    file
        Name of the figures' file.
    figures, tables
        Figures and tables by name; a table becomes NAME.csv.

    Raises
    ------
    ArticulonError
        If a file exists already, or the folder cannot be created.
    """
    texts = {file: json.dumps(plain(figures), indent=2, ensure_ascii=False) + "\n"}
    texts |= {f"{name}.csv": csv_text(rows) for name, rows in tables.items()}
    there = next((folder / name for name in texts if exists(folder / name)), None)
    if there is not None:
        raise ArticulonError(f"{there} exists already; write to another folder")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as failure:
        raise ArticulonError(f"{folder}: cannot be created: {failure.strerror}") from None
    for name, text in texts.items():
        write_text(folder / name, text, new=True)
    return [folder / name for name in texts]


def rows_of(columns: dict[str, Any]) -> Rows:
    """Return the table with the given columns."""
    names = list(columns)
    values = [
        np.asarray(column).tolist() if isinstance(column, np.ndarray) else list(column) for column in columns.values()
    ]
    return [dict(zip(names, row, strict=True)) for row in zip(*values, strict=True)]


def csv_text(rows: Rows) -> str:
    """Return a table as CSV text with a header line. Numbers are written with all digits; a field is empty for NaN."""
    stream = io.StringIO()
    if rows:
        writer = csv.DictWriter(stream, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        for row in rows:
            writer.writerow({key: "" if isinstance(v, float) and v != v else v for key, v in row.items()})
    return stream.getvalue()
