"""Case files with something wrong in their keys, values, units, types, nesting, sizes or bytes."""

from __future__ import annotations

import tempfile
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import articulon as ar
from articulon.cases.case import Case
from articulon.cases.library import built_in_cases
from articulon.cases.overrides import assignment
from articulon.cases.toml_writing import toml
from articulon.forces.contact.contact_engine import contact_of
from articulon.forces.model_tables import force_tables
from articulon.simulation.preparation import checked
from validation.faulty.case_texts import TEXTS, beside
from validation.faulty.drawing import forms, section, table
from validation.faulty.kinds import Faulty, Kind
from validation.faulty.mutations import UNITS, damaged, hostile, leaves, one

SLOW = ("adaptive-protein", "trp-zipper", "lj-melt")
"""Models that take long to make; they are taken rarely."""
HOLE = "@@{}@@"
"""Stands in a table for a value that only TOML's own text can hold."""
SIZES = ("frames", "links", "receptors", "ligands", "count", "cells", "loops", "booms", "segments", "bending", "length")
SIZED = ("1", "0", "-1", "100000000", "1000000000", "1099511627776", "9223372036854775808", "1e9", "1e-300")


@cache
def texts() -> dict[str, str]:
    """The cases that are changed, by name."""
    return {name: path.read_text(encoding="utf-8") for name, path in built_in_cases().items()} | TEXTS


@cache
def _names() -> tuple[list[str], list[float]]:
    weight = [0.1 if name in SLOW else 1.0 for name in texts()]
    return list(texts()), [w / sum(weight) for w in weight]


class Changes:
    """A case's table while it is changed."""

    def __init__(self, text: str, rng: np.random.Generator) -> None:
        self.table: dict[str, Any] = tomllib.loads(text)
        self.rng = rng
        self.holes: list[str] = []
        self.done: list[str] = []

    def hole(self, raw: str) -> str:
        """What stands for a raw value."""
        self.holes.append(raw)
        return HOLE.format(len(self.holes) - 1)

    def place(self, *wanted: type) -> tuple[Any, Any, str]:
        """A table or list, a key in it, and its name; of a value of a wanted type where there is one."""
        found = []
        for path in leaves(self.table):
            owner: Any = self.table
            for part in path[:-1]:
                owner = owner[part]
            if not wanted or isinstance(owner[path[-1]], wanted):
                found.append((owner, path[-1], ".".join(map(str, path))))
        return one(self.rng, found) if found else (self.table, next(iter(self.table)), "the whole")

    def value(self) -> None:
        owner, key, name = self.place()
        raw = hostile(self.rng)
        owner[key] = self.hole(raw)
        self.done.append(f"{name} = {raw[:60]}")

    def number(self) -> None:
        owner, key, name = self.place(int, float)
        factor = 10.0 ** int(self.rng.integers(-320, 309))
        owner[key] = one(self.rng, (-1, 1)) * owner[key] * factor if isinstance(owner[key], int | float) else factor
        self.done.append(f"{name} times {factor:g}")

    def key(self) -> None:
        owner, key, name = self.place()
        if isinstance(owner, list):
            del owner[key]
            self.done.append(f"{name} left out")
            return
        value = owner.pop(key)
        if self.rng.random() < 0.5:
            word = str(key)
            at = int(self.rng.integers(len(word)))
            owner[word[:at] + one(self.rng, "xz-_ .") + word[at + 1 :]] = value
            self.done.append(f"{name} misspelt")
        else:
            self.done.append(f"{name} left out")

    def known_key(self) -> None:
        """A key that the section may have."""
        choices = [(name, item) for name, item in self.table.items() if isinstance(item, dict)]
        choices += [(name, one(self.rng, item)) for name, item in self.table.items() if isinstance(item, list) and item]
        name, owner = one(self.rng, choices)
        if not isinstance(owner, dict):
            return self.value()
        words = [str(owner[key]) for key in ("builder", "policy", "rule", "kind") if key in owner]
        form = next((forms()[name, word] for word in [*words, ""] if (name, word) in forms()), None)
        if form is None:
            return self.value()
        key = one(self.rng, list(form.model_fields))
        raw = hostile(self.rng)
        owner[key] = self.hole(raw) if self.rng.random() < 0.7 else table(form, self.rng).get(key, self.hole(raw))
        self.done.append(f"{name}.{key} = {raw[:60]} or what the schema allows")
        return None

    def unit(self) -> None:
        owner, key, name = self.place(str, int, float)
        number = one(self.rng, ("1", "-1", "0", "2.5", "1e3", "1e-300", "1e308", "--1", "+-1", "nan", "", "1 1"))
        owner[key] = f"{number} {one(self.rng, UNITS)}".strip()
        self.done.append(f"{name} = {owner[key]}")

    def type(self) -> None:
        owner, key, name = self.place()
        value = owner[key]
        ways: list[Any] = [[value], {"a": value}, str(value), [value, value], [value] * 3, [], {}]
        if isinstance(value, list):
            ways += [value[:-1], value + value, value[:1], value[::-1], value[0] if value else 0]
        owner[key] = one(self.rng, ways)
        self.done.append(f"{name} in another shape")

    def nesting(self) -> None:
        owner, key, name = self.place()
        for _ in range(int(self.rng.integers(1, 30))):
            owner[key] = [owner[key]] if self.rng.random() < 0.5 else {"a": owner[key]}
        self.done.append(f"{name} nested")

    def twice(self) -> None:
        owner, key, name = self.place(list)
        value = owner[key]
        if isinstance(value, list) and value:
            owner[key] = value + value if len(value) < 50 else value + value[:3]
        self.done.append(f"{name} twice")

    def exchanged(self) -> None:
        one_owner, one_key, one_name = self.place(str, int, float, bool)
        owner, key, name = self.place(str, int, float, bool)
        one_owner[one_key], owner[key] = owner[key], one_owner[one_key]
        self.done.append(f"{one_name} and {name} exchanged")

    def size(self) -> None:
        found = [path for path in leaves(self.table) if path[-1] in SIZES]
        path: tuple[str | int, ...] = one(self.rng, found) if found else ("run", "frames")
        if self.rng.random() < 0.4:
            path = one(self.rng, [("run", "frames"), ("integrator", "step"), ("run", "frame_interval")])
        owner: Any = self.table
        for part in path[:-1]:
            owner = owner.setdefault(part, {}) if isinstance(owner, dict) else owner[part]
            if not isinstance(owner, dict | list):
                break
        if not isinstance(owner, dict):  # a change before this one has put something else there
            return self.value()
        raw = one(self.rng, SIZED)
        if path == ("run", "frame_interval"):
            owner.pop("frames", None)
        owner[path[-1]] = self.hole(raw)
        self.done.append(f"{'.'.join(map(str, path))} = {raw}")
        return None

    def form(self) -> None:
        """Another section, or one force or check more, as the schema allows it."""
        name = one(
            self.rng,
            (
                "forces",
                "forces",
                "forces",
                "checks",
                "scaling",
                "integrator",
                "thermostat",
                "barostat",
                "box",
                "adaptive",
                "run",
                "fidelity",
                "dynamics",
                "model",
            ),
        )
        made = section(name, self.rng)
        if name in ("forces", "checks"):
            listed = self.table.setdefault(name, [])
            if isinstance(listed, list):
                listed.append(made)
        elif name == "run" and isinstance(self.table.get("run"), dict):
            self.table["run"] |= made
        else:
            self.table[name] = made
        self.done.append(f"{name} as the schema allows")

    def text(self) -> str:
        """The file."""
        result = toml(self.table)
        for k, raw in enumerate(self.holes):
            result = result.replace(f'"{HOLE.format(k)}"', raw)
        return result


WAYS = (
    Changes.value,
    Changes.value,
    Changes.value,
    Changes.number,
    Changes.number,
    Changes.key,
    Changes.known_key,
    Changes.known_key,
    Changes.unit,
    Changes.unit,
    Changes.type,
    Changes.type,
    Changes.nesting,
    Changes.twice,
    Changes.exchanged,
    Changes.size,
    Changes.form,
    Changes.form,
    Changes.form,
)


def make(rng: np.random.Generator) -> Faulty:
    """A case file with one to three things wrong."""
    names, weights = _names()
    name = str(rng.choice(names, p=weights))
    if rng.random() < 0.15:
        content, what = damaged(texts()[name].encode(), rng)
    else:
        changes = Changes(texts()[name], rng)
        for _ in range(int(rng.choice([1, 2, 3], p=[0.6, 0.3, 0.1]))):
            one(rng, WAYS)(changes)
        try:
            content = changes.text().encode("utf-8", "replace")
        except ar.CaseError:  # what no TOML can hold
            content = b"[run]\n"
        what = "; ".join(changes.done)
    return Faulty(f"{name}: {what}", {"case.toml": content, **beside()})


def consider(case: Case) -> None:
    """Everything that is done with a case before kernels are compiled."""
    case.to_toml()
    case.digest()
    case.run.frame_times()
    model, windows = checked(case)
    contact_of(model)
    for force in model.forces:
        if hasattr(force, "site_terms"):
            force.site_terms(model)
    force_tables(model, case.run.seed, windows.window, windows.average)
    model.initial_state()


def read(faulty: Faulty, folder: Path) -> None:
    consider(ar.load_case(folder / "case.toml"))


def make_overrides(rng: np.random.Generator) -> Faulty:
    """Settings of a command for a built-in case."""
    names, weights = _names()
    name = str(rng.choice(names, p=weights))
    settings = []
    for _ in range(int(rng.integers(1, 3))):
        path = one(rng, leaves(tomllib.loads(texts()[name])))
        key = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).lstrip(".")
        if rng.random() < 0.3:
            content, _ = damaged(key.encode(), rng)
            key = content.decode("utf-8", "replace")
        value = hostile(rng) if rng.random() < 0.8 else one(rng, ("None", "", "=", "a=b", "[", '"', "8 us", "1, 2"))
        settings.append(f"{key}={value}")
    return Faulty(
        f"{name} --set {' --set '.join(settings)[:200]}", {"case.toml": texts()[name].encode(), **beside()}, settings
    )


def read_overrides(faulty: Faulty, folder: Path) -> None:
    overrides = dict(assignment(setting) for setting in faulty.value)
    consider(ar.load_case(folder / "case.toml", overrides))


def warm() -> None:
    """Every case as it should be."""
    with tempfile.TemporaryDirectory() as folder:
        for name, content in beside().items():
            Path(folder, name).write_bytes(content)
        for text in texts().values():
            path = Path(folder, "case.toml")
            path.write_text(text, encoding="utf-8")
            consider(ar.load_case(path))
    consider(ar.load_case("flexible-filament"))
    # The determinant is a kernel that tables of forces need.
    consider(ar.load_case("double-pendulum", {"forces": [{"kind": "fixman", "temperature": "300 K"}]}))


CASES = Kind("cases", 55, make, read, "case.toml", warm)
OVERRIDES = Kind("overrides", 10, make_overrides, read_overrides)
