"""Calls of public functions with one or two arguments that they cannot take."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import BaseModel

import articulon as ar
from articulon import scaling
from validation.faulty.call_table import Call, calls
from validation.faulty.drawing import table
from validation.faulty.kinds import Faulty, Kind
from validation.faulty.models import tree
from validation.faulty.mutations import one
from validation.faulty.values import VALUES, damaged_array, shown


@cache
def declarations() -> tuple[type[BaseModel], ...]:
    """Classes that a user constructs, with keyword arguments."""
    homes = (ar.forces, ar.thermostats, ar.barostats, ar.adaptive, scaling)
    found = [getattr(home, name) for home in homes for name in home.__all__]
    return tuple(kind for kind in found if isinstance(kind, type) and issubclass(kind, BaseModel))


class Declared:
    """A declared class as a call: it is constructed and put into units, and a force is put on a model too."""

    def __init__(self, kind: type[BaseModel]) -> None:
        self.kind = kind

    def __call__(self, **arguments: Any) -> None:
        made: Any = self.kind(**arguments)
        if hasattr(made, "check"):
            builder = ar.ModelBuilder(units="kg-m-s", box=ar.Box(lengths=(5, 5, 5)))
            builder.add_body("arm", mass=1.0, inertia=0.1, joint=ar.Revolute(axis=(0, 1, 0)))
            for k in range(4):
                builder.add_body(
                    f"ball-{k}", mass=1.0, inertia=0.1, joint=ar.Free(), q=(k, 1, 1 + 0.1 * k * k, 1, 0, 0, 0)
                )
                builder.add_site(f"ball-{k}", kind="A", charge=(-1.0) ** k, radius=0.1)
            builder.add_force(made)
            builder.build()
        else:
            made.resolved(tree().units, "made")


def make(rng: np.random.Generator) -> Faulty:
    """A call with one or two arguments wrong, left out or added."""
    if rng.random() < 0.35:
        kind = one(rng, declarations())
        function: Callable[..., Any] = Declared(kind)
        name, good, long, fixed = kind.__name__, table(kind, rng), (), ()
    else:
        name, call = one(rng, list(_calls().items()))
        function, good, long, fixed = call.function, call.good(), call.long, call.fixed
    done, keyed = [], False
    for _ in range(int(rng.choice([1, 2], p=[0.75, 0.25]))):
        key = one(rng, [key for key in good if key not in fixed] or ["more"])
        if rng.random() < 0.04:
            good.pop(key, None)
            keyed = True
            done.append(f"without {key}")
            continue
        array = good.get(key)
        if isinstance(array, np.ndarray) and array.ndim and array.dtype == np.float64 and rng.random() < 0.4:
            good[key], what = damaged_array(array, rng)
        else:
            value = one(rng, VALUES)()
            while key in long and isinstance(value, int | float | np.number) and abs(value) > 1 and value == value:
                value = one(rng, VALUES)()
            if key in long and isinstance(value, str | range):
                value = None
            good[key], what = value, shown(value)
        done.append(f"{key} = {what}")
    return Faulty(f"{name}: {', '.join(done)}", {}, (function, good, keyed))


@cache
def _calls() -> dict[str, Call]:
    return calls()


def read(faulty: Faulty, folder: Path) -> None:
    function, arguments, keyed = faulty.value
    try:
        function(**arguments)
    except TypeError:
        if not keyed:  # an argument that is missing is Python's own affair
            raise


def warm() -> None:
    """Every call as it should be, so that what it compiles is there."""
    for call in _calls().values():
        with contextlib.suppress(ar.ArticulonError):
            call.function(**call.good())


CALLS = Kind("calls", 11, make, read, warm=warm)
