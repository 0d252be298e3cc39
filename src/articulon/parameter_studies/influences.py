"""Ranked influences of parameters on an objective."""

from dataclasses import dataclass
from typing import Any

from articulon.cases.case import Case
from articulon.notebook_table import table_of_words


@dataclass(frozen=True)
class Influence:
    """Influence of a parameter on an objective."""

    parameter: str
    """Key of the parameter."""
    value: float
    """Value of the parameter, in the units of the case."""
    derivative: float
    """Derivative ∂J/∂p of the objective J by the parameter p [unit of J over unit of p]."""
    effect: float
    """Effect p ∂J/∂p: the linear change of J if p is doubled [unit of J]."""
    elasticity: float | None
    """Elasticity ∂ln J/∂ln p: the relative change of J per relative change of p; None if J is zero."""


@dataclass(frozen=True)
class Ranking:
    """Parameters ranked by their influence. Made by :func:`articulon.rank_parameters`."""

    case: Case
    """The case that was run."""
    objective: str
    """Name of the objective."""
    value: float
    """Value of the objective, in the units of the case."""
    influences: tuple[Influence, ...]
    """Influences of all parameters, the largest effect first."""
    left_out: dict[str, str]
    """Keys without a derivative, each with the reason."""
    method: str
    """``"adjoint"`` or ``"forward"``."""
    steps: int
    """Number of steps of the run."""

    @property
    def table(self) -> list[dict[str, Any]]:
        """Return a row for each parameter, for ``pandas.DataFrame``."""
        return [vars(one).copy() for one in self.influences]

    def __repr__(self) -> str:
        first = self.influences[0].parameter if self.influences else "nothing"
        return f"Ranking({self.case.name!r}: {self.objective}, {len(self.influences)} parameters, {first} first)"

    def _repr_html_(self) -> str:
        rows = {one.parameter: _words(one) for one in self.influences[:20]}
        return table_of_words(f"Influences on {self.objective} of {self.case.name}", rows)


def _words(one: Influence) -> str:
    return f"{one.effect:+.3g}" if one.elasticity is None else f"{one.elasticity:+.3g} % for each percent"
