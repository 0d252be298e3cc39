"""What a comparison has found, as its tables, figures and sentences read it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from articulon.cases.case import Case
from articulon.comparisons.path_measures import Deviation
from articulon.report.view import View


@dataclass(frozen=True, eq=False)
class Compared:
    """Runs that were made side by side, in order; the reference of each group comes first."""

    case: Case
    """What was compared."""
    rows: list[dict[str, Any]]
    """Figures of each run, as in ``comparison.json``."""
    folder: Path
    """Folder of the results."""
    views: dict[str, View] = field(repr=False)
    """What each run did, by name; without the runs that were not made."""
    deviations: dict[str, Deviation] = field(repr=False)
    """Distance from the reference over time, by name."""
    varied: tuple[str, ...] = ()
    """Keys of which several values were run."""
    left_out: Mapping[str, str] = field(default_factory=dict)
    """Runs that nobody asked for and that failed, and why."""

    def row(self, name: str) -> dict[str, Any]:
        """Figures of the run with this name; KeyError where there is none."""
        found = {row["name"]: row for row in self.rows}
        if name not in found:
            raise KeyError(f"no run of the comparison is called '{name}'; there are {', '.join(found)}")
        return found[name]
