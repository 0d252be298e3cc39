"""File in the folder of a run that records the springs with which a user pulled on bodies: time, body, point and
target."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any, NamedTuple

from articulon.errors import ArticulonError
from articulon.storage.atomic_writing import write_text

FILE = "pulls.csv"
"""Name of the file in the folder of a run. It exists only if a user has pulled on the run."""
HEADING = (
    *("step", "time", "body", "point_x", "point_y", "point_z", "target_x", "target_y", "target_z"),
    *("stiffness", "damping", "work_external"),
)


class PullRow(NamedTuple):
    """The spring that acts after a step; a stiffness of 0 means no spring. Numbers are in the units of the case."""

    step: int
    """Number of steps taken before the change."""
    time: float
    """Time of the change [time]."""
    body: str
    """Name of the body."""
    point: tuple[float, float, float]
    """Position of the point in the body's frame [length]."""
    target: tuple[float, float, float]
    """Target of the point, world frame [length]."""
    stiffness: float
    """Spring stiffness k [force/length]."""
    damping: float
    """Damping coefficient c [force time/length]."""
    work: float
    """Work of the channel ``external`` so far, including gravity and other external forces [energy]."""

    def line(self) -> str:
        """Return the row as a line of the file."""
        text = io.StringIO()
        numbers = (*self.point, *self.target, self.stiffness, self.damping, self.work)
        csv.writer(text, lineterminator="\n").writerow(
            [self.step, repr(self.time), self.body, *(repr(float(x)) for x in numbers)]
        )
        return text.getvalue()


class PullRecord:
    """Writer of the file of pulls.

    Parameters
    ----------
    folder
        Folder of the run.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / FILE

    def add(self, row: PullRow) -> None:
        """Append a row; write the heading before the first row."""
        heading = "" if self.path.exists() else ",".join(HEADING) + "\n"
        with self.path.open("a", encoding="utf-8") as file:
            file.write(heading + row.line())


def read_pulls(folder: Path) -> list[PullRow]:
    """Return the pulls in the folder of a run; an empty list if there were no pulls. An incomplete last line is left
    out.

    Raises
    ------
    ArticulonError
        If the file is not a file of pulls.
    """
    path = folder / FILE
    if not path.is_file():
        return []
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    whole = [line for line in lines if line.endswith("\n")]
    if not whole or whole[0].strip() != ",".join(HEADING):
        raise ArticulonError(f"{path}: expected the heading {','.join(HEADING)}; restore the right file")
    found = []
    for k, fields in enumerate(csv.reader(whole[1:]), 2):
        try:
            numbers = [float(field) for field in fields[3:]]
            row = PullRow(
                int(fields[0]), float(fields[1]), fields[2], _three(numbers[:3]), _three(numbers[3:6]), *numbers[6:]
            )
        except (ValueError, IndexError, TypeError):
            raise ArticulonError(f"{path}, line {k}: expected {len(HEADING)} fields; restore the right file") from None
        found.append(row)
    return found


def _three(numbers: list[float]) -> tuple[float, float, float]:
    x, y, z = numbers
    return x, y, z


def continue_pulls(folder: Path, step: int, time: float) -> None:
    """Remove all rows after the state from which a run continues. No spring acts in the repeated steps: if a spring was
    active at this state, a row that releases it is added."""
    rows = read_pulls(folder)
    kept = [row for row in rows if row.step <= step]
    if kept and kept[-1].stiffness:
        kept.append(kept[-1]._replace(step=step, time=time, stiffness=0.0, damping=0.0))
    if kept != rows:
        if kept:
            write_text(folder / FILE, ",".join(HEADING) + "\n" + "".join(row.line() for row in kept))
        else:
            (folder / FILE).unlink()


def pull_figures(folder: Path) -> dict[str, Any] | None:
    """Summarise the pulls: their number, bodies, first and last time. Return None if there were no pulls."""
    rows = read_pulls(folder)
    if not any(row.stiffness for row in rows):
        return None
    grips = [a for before, a in zip([None, *rows], rows, strict=False) if a.stiffness and not _holds(before, a)]
    return {
        "pulls": len(grips),
        "bodies": sorted({row.body for row in grips}),
        "first": grips[0].time,
        "last": rows[-1].time,
        "file": FILE,
    }


def _holds(before: PullRow | None, row: PullRow) -> bool:
    """Return whether a row belongs to the same spring as the previous row, with only the target moved."""
    return before is not None and before.stiffness > 0.0 and (before.body, before.point) == (row.body, row.point)


def pull_notes(figures: dict[str, Any], unit: str) -> list[str]:
    """Return notes on a run with pulls by hand."""
    bodies = [f"'{name}'" for name in figures["bodies"]]
    named = ", ".join(bodies[:5]) + (f" and {len(bodies) - 5} more" if len(bodies) > 5 else "")
    times = "once" if figures["pulls"] == 1 else f"{figures['pulls']} times"
    since, until = (f"{figures[key]:.6g} {unit}".rstrip() for key in ("first", "last"))
    return [
        f"pulled by hand {times}, on {named}, from t = {since} to {until}: the case alone does not reproduce this run; "
        f"{figures['file']} has the springs, and their work is in the channel external"
    ]
