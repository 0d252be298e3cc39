"""The tables of what goes with what in docs/multibody.md, made from those that the code reads.

``python -m validation.compatibility`` writes them; ``tests/cases/test_compatibility.py`` sees that they are up to date.
"""

from __future__ import annotations

from pathlib import Path

from articulon.integrate.combination import FEATURES, INTEGRATORS
from articulon.integrate.compatibility import NEEDS, cell
from articulon.integrate.feature_conflicts import CONFLICTS
from articulon.integrate.integrator_cells import ELSEWHERE
from articulon.integrate.refusals import Refusal
from validation.page import table

PAGE = Path(__file__).parents[1] / "docs" / "multibody.md"
BEGIN, END = "<!-- what goes with what: begin -->", "<!-- what goes with what: end -->"
WORDS = {
    "rule": "the rule",
    "thermostat": "the thermostat",
    "policy": "the policy",
    "resisting": "another force",
    "solver": "another solver",
    "explicit": "the explicit rules",
    "stepping": "the explicit rules, `adams-bashforth-moulton`",
    "carrying": "a rule that takes it",
    "of_bodies": "another rule",
}
"""What the texts of refusals name, where no run is meant."""


class Notes:
    """Reasons with their numbers."""

    def __init__(self) -> None:
        self.numbers: dict[tuple[str, str], int] = {}

    def mark(self, refusal: Refusal) -> str:
        """The number of a reason."""
        said = refusal.why.format_map(WORDS), refusal.instead.format_map(WORDS)
        return str(self.numbers.setdefault(said, len(self.numbers) + 1))

    def lines(self) -> str:
        """The reasons, one a line."""
        return "\n".join(f"{number}. {_begun(why)}. {_begun(do)}." for (why, do), number in self.numbers.items())


def _begun(sentence: str) -> str:
    return sentence[0].upper() + sentence[1:]


def _groups(notes: Notes) -> list[list[str]]:
    """Conflicts of the same reason in one row: each feature of a column conflicts with each of the others."""
    found: dict[str, list[list[str]]] = {}
    for names, refusal in CONFLICTS.items():
        columns = found.setdefault(notes.mark(refusal), [[] for _ in names])
        for column, name in zip(columns, names, strict=True):
            title = FEATURES[name].title
            if title not in column:
                column.append(title)
    rows = []
    for mark, (first, *others) in found.items():
        rows.append(["; ".join(first), ", together with ".join("; ".join(one) for one in others), mark])
    return rows


def tables() -> str:
    """The section between the markers."""
    notes = Notes()
    rows = []
    for name, feature in FEATURES.items():
        row = [feature.title]
        for integrator in INTEGRATORS:
            refusal = cell(integrator, name)
            if name in ELSEWHERE.get(integrator, ()):
                row.append("–")
            else:
                row.append("yes" if refusal is None else notes.mark(refusal))
        rows.append(row)
    cells = table(["", *INTEGRATORS.values()], rows)
    conflicts = table(["each of these", "does not go with each of these, whatever the rule", "why"], _groups(notes))
    needed: dict[str, list[str]] = {}
    for name, needs in NEEDS.items():
        title = FEATURES[name].title if name in FEATURES else INTEGRATORS[name]
        needed.setdefault(FEATURES[needs.needs].title, []).append(title)
    needs_table = table(["needed", "by"], [[k, "; ".join(v)] for k, v in needed.items()])
    return f"{cells}\n\n{conflicts}\n\n{needs_table}\n\nWhy, and what to do:\n\n{notes.lines()}"


def written() -> str:
    """The page as it is."""
    return PAGE.read_text(encoding="utf-8")


def rewritten() -> str:
    """The page as it should be."""
    page = written()
    before, after = page[: page.index(BEGIN)], page[page.index(END) :]
    return f"{before}{BEGIN}\n\n{tables()}\n\n{after}"


if __name__ == "__main__":
    PAGE.write_text(rewritten(), encoding="utf-8")
