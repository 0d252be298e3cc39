"""All kinds of faulty input. A further kind is a module with a ``Kind``, and its name here."""

from __future__ import annotations

from validation.faulty.calls import CALLS
from validation.faulty.cases import CASES, OVERRIDES
from validation.faulty.files import MESH_FILES, PARTICLES, SEQUENCES, STRUCTURES
from validation.faulty.kinds import Kind

KINDS: dict[str, Kind] = {
    kind.name: kind for kind in (CASES, OVERRIDES, STRUCTURES, PARTICLES, MESH_FILES, SEQUENCES, CALLS)
}
"""By name; their shares add up to a hundred."""


def tasks(count: int, only: tuple[str, ...] = ()) -> list[tuple[str, int]]:
    """Kind and number of a number of inputs, each kind as often as its share says."""
    chosen = [kind for kind in KINDS.values() if not only or kind.name in only]
    whole = sum(kind.share for kind in chosen)
    numbers = {kind.name: max(1, round(count * kind.share / whole)) for kind in chosen}
    return [(name, k) for name, number in numbers.items() for k in range(number)]
