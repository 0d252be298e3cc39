"""Parameters with which a run ends as it is to."""

from dataclasses import dataclass

import numpy as np

from articulon.cases.study_sections import Target
from articulon.notebook_table import table_of_words
from articulon.parameter_studies.sought_parameters import Found


@dataclass(frozen=True)
class Optimum(Found):
    """Parameters with which a run ends as it is to. Made by :func:`articulon.optimise`."""

    targets: tuple[Target, ...]
    """What the run was to end with."""
    ends: np.ndarray
    """What it ends with, shape (targets,)."""
    departures: tuple[float, ...]
    """The largest departure over its scale in each run of the search that came nearer than those before."""
    runs: int
    """Runs that the search took."""

    def __repr__(self) -> str:
        return f"Optimum({self.case.name!r}: departure {self.departures[-1]:.2g} after {self.runs} runs)"

    def _repr_html_(self) -> str:
        rows = {name: f"{value:.6g}" for name, value in zip(self.names, self.numbers, strict=True)}
        return table_of_words(f"Optimum of {self.case.name}", rows)
