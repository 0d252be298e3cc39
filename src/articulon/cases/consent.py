"""Code that a case names runs only if the user has allowed it.

A case is data that may come from anybody, but a function that it names is a program. Reading a case, reporting on a run
and inspecting a model do not run this code.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from articulon.declaration import Declaration
from articulon.errors import CaseError
from articulon.forces.user_functions import CODE_KEYS, CONSENT, Withheld


def named_code(declarations: Any, where: str = "") -> Iterator[tuple[str, str]]:
    """Yield key and value of every function that the declarations name by location, at any depth.

    Parameters
    ----------
    declarations
        A declaration, or nested tables and lists of declarations.
    where
        The key that contains them.
    """
    if isinstance(declarations, list | tuple):
        if not are_numbers(declarations):
            for k, item in enumerate(declarations):
                yield from named_code(item, f"{where}[{k}]")
    elif isinstance(declarations, Declaration | Mapping):
        items = declarations if isinstance(declarations, Mapping) else dict(declarations)
        for name, value in items.items():
            if name in CODE_KEYS and isinstance(value, str):
                yield f"{where}.{name}", value
            else:
                yield from named_code(value, f"{where}.{name}")


def are_numbers(items: Any) -> bool:
    """Return whether a list holds only numbers and lists of numbers, and therefore no code. This test is fast for long
    lists."""
    return all(
        isinstance(item, int | float) or (isinstance(item, list | tuple) and are_numbers(item)) for item in items
    )


def refuse_code(source: str, named: list[tuple[str, str]]) -> None:
    """Raise CaseError, naming the keys, if a case names code."""
    if not named:
        return
    shown = ", ".join(f"{key} = '{function}'" for key, function in named[:3])
    more = f" and {len(named) - 3} more" if len(named) > 3 else ""
    raise CaseError(f"{source}: {shown}{more}: this is code that the case names, and it was not run. {CONSENT}")


def without_code(force: Any) -> Any:
    """Return the force without the functions that the case names; it then cannot be evaluated."""
    named = {key: getattr(force, key, None) for key in CODE_KEYS}
    withheld = {key: Withheld(function) for key, function in named.items() if isinstance(function, str)}
    return force.model_copy(update=withheld) if withheld else force
