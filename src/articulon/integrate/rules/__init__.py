"""One integration formula a file, named as the file: ``RK4`` in ``rk4.py`` is the rule ``rk4``.

Every file of this folder is a rule by being here, and its form says which driver takes its steps: a ``Tableau`` the
explicit one, a ``Multistep`` the predictor–corrector, a ``Pair`` the one in canonical momenta; see ``tableaux.py``.
"""

from importlib import import_module
from pkgutil import iter_modules
from typing import TypeVar

from articulon.integrate.tableaux import Multistep, Pair, Tableau

Formula = TypeVar("Formula", Tableau, Multistep, Pair)

_FOUND = {
    info.name.replace("_", "-"): getattr(import_module(f"{__name__}.{info.name}"), info.name.upper())
    for info in iter_modules(__path__)
}


def _of(form: type[Formula]) -> dict[str, Formula]:
    return {name: formula for name, formula in _FOUND.items() if isinstance(formula, form)}


EXPLICIT = _of(Tableau)
"""Explicit Runge–Kutta formulas by name."""
PREDICTOR_CORRECTOR = _of(Multistep)
"""Linear multistep formulas by name."""
CANONICAL = _of(Pair)
"""Partitioned Runge–Kutta formulas in canonical momenta by name."""
ESTIMATING = tuple(name for name, formula in EXPLICIT.items() if formula.error.any())
"""Explicit formulas with an error estimate, which can choose their steps."""
