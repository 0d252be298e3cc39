"""What parameters do to an objective, ranked."""

from dataclasses import dataclass
from typing import Any

from articulon.cases.case import Case
from articulon.notebook_table import table_of_words


@dataclass(frozen=True)
class Influence:
    """What a parameter does to an objective."""

    parameter: str
    """Its key."""
    value: float
    """Its value, in the units of the case."""
    derivative: float
    """∂J/∂p [of J over that of p]."""
    effect: float
    """p ∂J/∂p: what J changes by where p doubles, were it linear [of J]."""
    elasticity: float | None
    """∂ln J/∂ln p: the part of J that changes with a part of p; None where J is zero."""


@dataclass(frozen=True)
class Ranking:
    """Parameters by what they decide. Made by :func:`articulon.rank_parameters`."""

    case: Case
    """What was run."""
    objective: str
    """What was differentiated."""
    value: float
    """The objective, in the units of the case."""
    influences: tuple[Influence, ...]
    """Of all parameters, the largest effect first."""
    left_out: dict[str, str]
    """Keys that have no derivative, and why."""
    method: str
    """``"adjoint"`` or ``"forward"``."""
    steps: int
    """Of the run."""

    @property
    def table(self) -> list[dict[str, Any]]:
        """A row for each parameter, as ``pandas.DataFrame`` takes it."""
        return [vars(one).copy() for one in self.influences]

    def __repr__(self) -> str:
        first = self.influences[0].parameter if self.influences else "nothing"
        return f"Ranking({self.case.name!r}: {self.objective}, {len(self.influences)} parameters, {first} first)"

    def _repr_html_(self) -> str:
        rows = {one.parameter: _words(one) for one in self.influences[:20]}
        return table_of_words(f"What decides {self.objective} of {self.case.name}", rows)


def _words(one: Influence) -> str:
    return f"{one.effect:+.3g}" if one.elasticity is None else f"{one.elasticity:+.3g} % for each percent"
