"""What is done to good input to make it bad: values that no key expects, and damage to the bytes of a file."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np

T = TypeVar("T")

NUMBERS = (
    "nan",
    "inf",
    "-inf",
    "0",
    "0.0",
    "-0.0",
    "-1",
    "-1.0",
    "1",
    "2",
    "1.5",
    "1e308",
    "-1e308",
    "1.7e308",
    "1e-308",
    "1e-300",
    "5e-324",
    "1e160",
    "1e18",
    "1e30",
    "1e-30",
    "9007199254740993",
    "2147483648",
    "4294967296",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775809",
    "1099511627776",
    "100000000",
    "1000000000",
    "1" + "0" * 400,
    "1" + "0" * 5000,
    "0x7fffffffffffffff",
    "1_000",
)
"""Numbers as TOML writes them, most of them far from what any key expects."""
WORDS = (
    '""',
    '" "',
    '"x"',
    '"None"',
    '"nan"',
    '"inf"',
    '"-1"',
    '"true"',
    '"none"',
    '"free"',
    '"z"',
    '"core"',
    '"ground"',
    '"é"',
    '"\\u0000"',
    '"\\u001b[2J"',
    '"' + "a" * 300 + '"',
    '"' + "a/" * 2000 + '"',
    '"../../etc/passwd"',
    '"."',
    '"/"',
    '"8 nm"',
    '"5 us"',
    '"300 K"',
    '"2 %"',
    '"--4.33 mm"',
    '"4.33 mm mm"',
    '"1e mm"',
    '"5 furlong"',
    '"nan m"',
    '"1e400 m"',
    '"5 m^1000000000"',
    '"((((5 m"',
    '"5 m)"',
    '"20 degC"',
    '"1/0 m"',
    '"5 m**0.5"',
    '"5 _ m"',
    '"m"',
    '"2**64 m"',
    '"5 m + 3 s"',
    '"1e999999999 m"',
    '"0x10 m"',
    '"5 kg m^2 s^-2 A^-1"',
    '"5,3 mm"',
    '"٣ nm"',
)
"""Texts as TOML writes them, among them quantities that are none."""
OTHERS = (
    "true",
    "false",
    "[]",
    "{}",
    "[[]]",
    "[true]",
    "[nan, 1, 2]",
    "[1, 2, 3]",
    "[1, 2]",
    "[1, 2, 3, 4]",
    "[0, 0, 0]",
    "[0, 0, 0, 0]",
    '["a", "b"]',
    '[1, "8 nm", true]',
    "[[1, 2, 3], [4, 5]]",
    "{a = 1}",
    '{kind = "gravity"}',
    "1979-05-27T07:32:00Z",
    "07:32:00",
    "1979-05-27",
    "[" * 60 + "]" * 60,
    "[" * 2000 + "]" * 2000,
    "{a = " * 100 + "1" + "}" * 100,
    "[" + "1, " * 5000 + "1]",
)
"""Everything else that TOML can hold."""

UNITS = (
    "m",
    "nm",
    "um",
    "s",
    "us",
    "ns",
    "fg",
    "kg",
    "Da",
    "K",
    "e",
    "C",
    "rad",
    "deg",
    "turn",
    "Hz",
    "Pa",
    "bar",
    "J",
    "zJ",
    "kJ/mol",
    "N",
    "pN",
    "pN/nm",
    "mPa s",
    "m/s",
    "m/s^2",
    "1/s",
    "%",
    "mol",
    "cd",
    "A",
    "degC",
    "furlong",
    "",
)
"""Units that take the place of those that a quantity has."""

LONE = re.compile(r"[A-Za-z_]+|-?[0-9]+(?:\.[0-9]+)?")


def one(rng: np.random.Generator, choices: Sequence[T]) -> T:
    """One of several, each as likely."""
    return choices[int(rng.integers(len(choices)))]


def hostile(rng: np.random.Generator) -> str:
    """A value as TOML writes it, that hardly any key expects."""
    return one(rng, one(rng, (NUMBERS, NUMBERS, WORDS, OTHERS)))


def damaged(content: bytes, rng: np.random.Generator) -> tuple[bytes, str]:
    """The bytes of a file with one thing done to them, and what that was."""
    if not content:
        return b"\x00", "an empty file with a zero in it"
    at = int(rng.integers(len(content)))
    upto = min(len(content), at + int(rng.integers(1, 200)))
    bad = bytes(rng.integers(0, 256, int(rng.integers(1, 9)), dtype=np.uint8))
    some = one(rng, (b"nan", b"inf", b"-1", b"1e308", b"99999999999", b"\x00", b"\xff", b'"', b"[", b"]", b"=", b"\n"))
    ways = {
        "a byte changed": content[:at] + bad[:1] + content[at + 1 :],
        "bytes put in": content[:at] + bad + content[at:],
        "bytes taken out": content[:at] + content[upto:],
        "cut off": content[:at],
        "begun late": content[at:],
        "a part twice": content[:upto] + content[at:],
        "a word put in": content[:at] + some + content[at:],
        "a byte-order mark": b"\xef\xbb\xbf" + content,
        "UTF-16": content.decode("latin-1").encode("utf-16"),
        "lines of Windows": content.replace(b"\n", b"\r\n"),
        "a line taken out": _without_line(content, rng),
        "two lines exchanged": _exchanged_lines(content, rng),
        "a number changed": _changed_word(content, rng),
        "nothing left": b"",
    }
    name = one(rng, list(ways))
    return ways[name], f"{name} at byte {at} of {len(content)}"


def _without_line(content: bytes, rng: np.random.Generator) -> bytes:
    lines = content.split(b"\n")
    del lines[int(rng.integers(len(lines)))]
    return b"\n".join(lines)


def _exchanged_lines(content: bytes, rng: np.random.Generator) -> bytes:
    lines = content.split(b"\n")
    a, b = rng.integers(len(lines), size=2)
    lines[a], lines[b] = lines[b], lines[a]
    return b"\n".join(lines)


def _changed_word(content: bytes, rng: np.random.Generator) -> bytes:
    """A number or a word of a line, replaced by a hostile one."""
    text = content.decode("latin-1")
    words = list(LONE.finditer(text))
    if not words:
        return content
    match = one(rng, words)
    return (text[: match.start()] + hostile(rng).strip('"') + text[match.end() :]).encode("utf-8", "replace")


def leaves(value: Any, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    """The places of a table, however deep: tables and lists themselves as well as what they hold."""
    found = [path] if path else []
    items: Any = ()
    if isinstance(value, dict):
        items = value.items()
    elif isinstance(value, list):
        items = enumerate(value[:12])
    for key, item in items:
        found += leaves(item, (*path, key))
    return found
