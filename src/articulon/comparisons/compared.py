"""Results of a comparison, from which its tables, figures and sentences are made."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from articulon.cases.case import Case
from articulon.comparisons.path_measures import Deviation
from articulon.report.view import View


@dataclass(frozen=True, eq=False)
class Compared:
    """Compared runs, in order; the reference of each group comes first."""

    case: Case
    """Case that was compared."""
    rows: list[dict[str, Any]]
    """Figures of each run, as in ``comparison.json``."""
    folder: Path
    """Folder of the results."""
    views: dict[str, View] = field(repr=False)
    """Observations of each run that was made, by name."""
    deviations: dict[str, Deviation] = field(repr=False)
    """Distance of each run from its reference over time, by name."""
    varied: tuple[str, ...] = ()
    """Keys whose values were varied."""
    left_out: Mapping[str, str] = field(default_factory=dict)
    """Runs that were added without request and failed, by name, with the reasons."""

    def row(self, name: str) -> dict[str, Any]:
        """Figures of the run with this name; raises KeyError if there is none."""
        found = {row["name"]: row for row in self.rows}
        if name not in found:
            raise KeyError(f"no run of the comparison is called '{name}'; there are {', '.join(found)}")
        return found[name]
