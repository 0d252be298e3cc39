"""Integration formulas, one per file and named after the file: ``RK4`` in ``rk4.py`` is the rule ``rk4``.

Every file of this folder is found and registered as a rule. Its type determines the driver: explicit for a ``Tableau``,
predictor–corrector for a ``Multistep``, canonical momenta for a ``Pair``; see ``tableaux.py``.
"""

from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType
from typing import Any, TypeVar

from articulon.errors import ModelError
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
ESTIMATING = [name for name, formula in EXPLICIT.items() if formula.error.any()]
"""Explicit formulas with an error estimate, for which steps can be controlled."""
_KNOWN: tuple[tuple[Any, dict[str, Any]], ...] = (
    (Tableau, EXPLICIT),
    (Multistep, PREDICTOR_CORRECTOR),
    (Pair, CANONICAL),
)


def found_in(module: ModuleType) -> list[str]:
    """Names of the rules whose formulas a module defines under names in capitals."""
    forms = tuple(form for form, _ in _KNOWN)
    return [_word(name) for name, formula in vars(module).items() if name.isupper() and isinstance(formula, forms)]


def _word(name: str) -> str:
    return name.lower().replace("_", "-")


def take(module: ModuleType) -> list[str]:
    """Register the formulas that a module defines under names in capitals, and return the names of their rules.

    Raises
    ------
    ModelError
        For a name that another rule already has.
    """
    found = []
    for name, formula in vars(module).items():
        for form, known in _KNOWN:
            if not (name.isupper() and isinstance(formula, form)):
                continue
            rule = _word(name)
            if any(rule in others for others in (EXPLICIT, PREDICTOR_CORRECTOR, CANONICAL)):
                raise ModelError(f"{name}: there is a rule '{rule}' already; choose another name")
            known[rule] = formula
            if isinstance(formula, Tableau) and formula.error.any():
                ESTIMATING.append(rule)
            found.append(rule)
    return found
