"""What ``articulon bench`` measures: speed and memory on this machine, beside the peers that are installed."""

import json as writing
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any

from articulon.announcements import announcing
from articulon.declaration import nearest
from articulon.errors import ArticulonError

__all__ = ["BENCHMARKS", "DEFAULT", "main"]

Pair = tuple[Callable[..., dict[str, Any]], Callable[..., None]]


def _of(module: str, **options: str) -> Pair:
    """What measures and what prints, of a module that is loaded on first use: a machine that one benchmark is run on
    need not have what the others take. ``options`` of its ``measure`` are the module's own constants, by name."""

    def measure(**given: Any) -> dict[str, Any]:
        home = import_module(f"benchmarks.{module}")
        figures: dict[str, Any] = home.measure(**{key: getattr(home, name) for key, name in options.items()}, **given)
        return figures

    def show(*given: Any) -> None:
        import_module(f"benchmarks.{module}").show(*given)

    return measure, show


BENCHMARKS: dict[str, Pair] = {
    "solver": _of("solver"),
    "batches": _of("batches"),
    "derivatives": _of("derivatives"),
    "docking": _of("docking"),
    "docking-full": _of("docking", scaled="DURATION"),
    "pairs": _of("pairs"),
    "openmm-force": _of("openmm_force"),
    "grains": _of("grains"),
    "hard-spheres": _of("hard_spheres"),
    "gpu": _of("gpu"),
    "gpu-melt": _of("gpu_melt"),
    "molten-salt": _of("molten_salt"),
    "multipole": _of("multipole"),
    "polymers": _of("polymers"),
    "protein": _of("protein"),
    "solvated": _of("solvated"),
    "studio": _of("studio"),
    "sweeps": _of("sweeps"),
    "transitions": _of("transitions"),
}
"""What measures, and what prints it. ``docking-full`` runs the scaled case for all of its 5 μs. It takes minutes, as
``pairs``, ``grains``, ``gpu``, ``gpu-melt``, ``hard-spheres``, ``multipole``, ``polymers``, ``protein`` and
``solvated`` do."""
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
