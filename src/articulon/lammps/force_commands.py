"""Parse LAMMPS commands on forces that complement a data file: styles, coefficients and special bonds."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from articulon.declaration import nearest
from articulon.errors import ModelError
from articulon.inputs import shown, words
from articulon.lammps.data_file import FAMILIES, DataFile

MIXES = {"geometric": "geometric", "arithmetic": "lorentz-berthelot", "sixthpower": "sixth-power"}
"""Values of ``pair_modify mix``, each with our name of the mixing rule."""
NO_NEIGHBOURS = (0.0, 0.0, 0.0)
"""Default factors of special_bonds: pairs one, two and three bonds apart do not interact."""
SPECIAL = {
    "fene": ((0.0, 1.0, 1.0), (0.0, 1.0, 1.0)),
    "charmm": ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0)),
    "dreiding": ((0.0, 0.0, 1.0), (0.0, 0.0, 1.0)),
    "amber": ((0.0, 0.0, 0.5), (0.0, 0.0, 5.0 / 6.0)),
}
"""Keywords of ``special_bonds``, each with its factors for Lennard-Jones forces and for charges."""
TRIPLE = 3
KNOWN = (
    *("pair_style", "pair_coeff", "pair_modify", "special_bonds", "dielectric", "mass"),
    *(f"{family}_{what}" for family in FAMILIES for what in ("style", "coeff")),
)


class Commands(NamedTuple):
    """Parsed commands, in LAMMPS's units and with its defaults."""

    styles: dict[str, list[str]]
    """Words of each ``..._style`` command, by ``"pair"``, ``"bond"`` and so on."""
    coefficients: dict[str, list[tuple[str, list[str]]]]
    """Lines of each ``..._coeff`` command, by ``"pair"``, ``"bond"`` and so on: the whole line, and its words."""
    masses: list[tuple[str, list[str]]]
    shift: bool
    mix: str | None
    """Mixing rule of ``pair_modify``; None for that of the pair style."""
    special_lj: tuple[float, ...]
    """Factors of Lennard-Jones forces for pairs one, two and three bonds apart."""
    special_coul: tuple[float, ...]
    dielectric: float


def read_commands(commands: Sequence[str] | str) -> Commands:
    """Parse commands, one per text, in the form in which an input script contains them.

    Raises
    ------
    ModelError
        For a command that is unknown or cannot be parsed; the message quotes it.
    """
    given = (commands.splitlines() if isinstance(commands, str) else words(commands, "commands")) if commands else ()
    found = Commands({}, {}, [], False, None, (0.0,) * TRIPLE, (0.0,) * TRIPLE, 1.0)
    for line in given:
        split = line.partition("#")[0].split()
        if not split:
            continue
        name, rest = split[0], split[1:]
        family, _, what = name.partition("_")
        if name not in KNOWN:
            raise _fault(line, f"is not supported{nearest(name, KNOWN)}; known: {', '.join(KNOWN)}")
        if not rest:
            raise _fault(line, "has no effect; leave it out")
        if name == "pair_modify":
            found = _pair_modify(found, rest, line)
        elif name == "special_bonds":
            found = _special_bonds(found, rest, line)
        elif name == "dielectric":
            found = found._replace(dielectric=_positive(rest[0], line))
        elif name == "mass":
            found.masses.append((line, rest))
        elif what == "style":
            found.styles[family] = rest
        else:
            found.coefficients.setdefault(family, []).append((line, rest))
    return found


def types_of(word: str, family: str, data: DataFile, line: str) -> range | list[int]:
    """Return the types that a word of a command selects: ``2``, ``*``, ``2*4`` or a label; raise ModelError, with a
    message that quotes the command."""
    count = data.type_counts[family]
    labels = data.labels.get(family, ())
    if word in labels:
        return [labels.index(word) + 1]
    match = re.fullmatch(r"([0-9]*)(\*?)([0-9]*)", word)
    if match is None or not word or (match[3] and not match[2]):
        raise _fault(line, f"{shown(word)} is not a type of {family}s")
    first = int(match[1] or 1)
    last = int(match[3] or count) if match[2] else first
    if not 1 <= first <= last <= count:
        raise _fault(line, f"{shown(word)} is not a type of {family}s: there are {count}")
    return range(first, last + 1)


def _fault(line: str, text: str) -> ModelError:
    return ModelError(f"commands: '{line.strip()}': {text}")


def _positive(word: str, line: str) -> float:
    value = _factor(word, line)
    if value <= 0.0:
        raise _fault(line, f"expected a positive number, got {shown(word)}")
    return value


def _factor(word: str, line: str) -> float:
    try:
        value = float(word)
    except ValueError:
        value = float("nan")
    if not 0.0 <= value < float("inf"):
        raise _fault(line, f"expected a number that is not negative, got {shown(word)}")
    return value


def _pair_modify(found: Commands, rest: list[str], line: str) -> Commands:
    if len(rest) % 2:
        raise _fault(line, "expected pairs of a keyword and its value, as in 'shift yes mix arithmetic'")
    for key, value in zip(rest[::2], rest[1::2], strict=True):
        if key == "shift" and value in ("yes", "no"):
            found = found._replace(shift=value == "yes")
        elif key == "mix" and value in MIXES:
            found = found._replace(mix=value)
        elif (key, value) != ("tail", "no"):
            raise _fault(line, f"'{key} {value}' is not supported; known: shift yes|no, mix {'|'.join(MIXES)}, tail no")
    return found


def _special_bonds(found: Commands, rest: list[str], line: str) -> Commands:
    # As in LAMMPS, each command resets all factors, including those that it does not name.
    found, at = found._replace(special_lj=NO_NEIGHBOURS, special_coul=NO_NEIGHBOURS), 0
    while at < len(rest):
        key = rest[at]
        if key in SPECIAL:
            found, at = found._replace(special_lj=SPECIAL[key][0], special_coul=SPECIAL[key][1]), at + 1
        elif key in ("angle", "dihedral") and rest[at + 1 : at + 2] == ["no"]:
            at += 2
        elif key in ("lj", "coul", "lj/coul") and len(rest) >= at + 1 + TRIPLE:
            three = tuple(_factor(word, line) for word in rest[at + 1 : at + 1 + TRIPLE])
            if max(three) > 1.0:
                raise _fault(line, f"a factor must be from 0 to 1, got {max(three):g}")
            found = found if key == "coul" else found._replace(special_lj=three)
            found = found if key == "lj" else found._replace(special_coul=three)
            at += 1 + TRIPLE
        else:
            raise _fault(
                line, f"'{' '.join(rest[at:])}' is unknown; use 'lj/coul 0.0 0.0 0.5', 'lj 0 0 1 coul 0 0 1', 'fene'"
            )
    return found
