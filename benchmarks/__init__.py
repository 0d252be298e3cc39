"""What ``articulon bench`` measures: speed and memory on this machine, beside the peers that are installed."""

import json as writing
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

from articulon.announcements import announcing
from articulon.declaration import nearest
from articulon.errors import ArticulonError
from benchmarks import docking, grains, molten_salt, multipole, openmm_force, pairs, protein, solver, transitions

__all__ = ["BENCHMARKS", "DEFAULT", "main"]

BENCHMARKS: dict[str, tuple[Callable[..., dict[str, Any]], Callable[..., None]]] = {
    "solver": (solver.measure, solver.show),
    "docking": (docking.measure, docking.show),
    "docking-full": (partial(docking.measure, scaled=docking.DURATION), docking.show),
    "pairs": (pairs.measure, pairs.show),
    "grains": (grains.measure, grains.show),
    "molten-salt": (molten_salt.measure, molten_salt.show),
    "multipole": (multipole.measure, multipole.show),
    "openmm-force": (openmm_force.measure, openmm_force.show),
    "protein": (protein.measure, protein.show),
    "transitions": (transitions.measure, transitions.show),
}
"""What measures, and what prints it. ``docking-full`` runs the scaled case for all of its 5 μs. It takes minutes, as
``pairs``, ``grains``, ``multipole`` and ``protein`` do."""
DEFAULT = ("solver", "docking")
"""What is measured when nothing is named."""


def main(name: str | None, json: bool) -> None:
    """Measure and print.

    Parameters
    ----------
    name
        One benchmark; None is all that take less than a minute each.
    json
        Print the figures as JSON, and nothing else, on the standard output: those of the benchmark that is named, or
        an object for each.

    Raises
    ------
    ArticulonError
        For a benchmark that does not exist.
    """
    if name is not None and name not in BENCHMARKS:
        raise ArticulonError(f"there is no benchmark '{name}'{nearest(name, list(BENCHMARKS))}")
    figures = {}
    with announcing(_say):
        for chosen in DEFAULT if name is None else (name,):
            measure, show = BENCHMARKS[chosen]
            figures[chosen] = measure(say=lambda what: _say(f"measuring {what}"))
            if not json:
                show(figures[chosen])
                print()
    if json:
        print(writing.dumps(figures if name is None else figures[name], indent=2, allow_nan=False))


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
