"""Result of a search for parameters with which a run ends at its targets."""

from dataclasses import dataclass

import numpy as np

from articulon.cases.study_sections import Target
from articulon.notebook_table import table_of_words
from articulon.parameter_studies.sought_parameters import Found


@dataclass(frozen=True)
class Optimum(Found):
    """Parameters with which a run ends at its targets. Made by :func:`articulon.optimise`."""

    targets: tuple[Target, ...]
    """The targets."""
    ends: np.ndarray
    """Values at the end of the run, shape (targets,)."""
    departures: tuple[float, ...]
    """Largest scaled departure of each run of the search that came closer to the targets than all runs before it."""
    runs: int
    """Number of runs of the search."""

    def __repr__(self) -> str:
        return f"Optimum({self.case.name!r}: departure {self.departures[-1]:.2g} after {self.runs} runs)"

    def _repr_html_(self) -> str:
        rows = {name: f"{value:.6g}" for name, value in zip(self.names, self.numbers, strict=True)}
        return table_of_words(f"Optimum of {self.case.name}", rows)
