"""The interface: what ``__all__`` lists exists, is annotated, and passes a strict type checker."""

from __future__ import annotations

import ast
import inspect
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import articulon as ar

ROOT = Path(__file__).parents[2]
MODULES = sorted(name for name in ar.__all__ if isinstance(getattr(ar, name), ModuleType))


def public_names() -> Iterator[tuple[str, Any]]:
    """Each public name with its dotted path, modules left out."""
    for name in ar.__all__:
        value = getattr(ar, name)
        if isinstance(value, ModuleType):
            yield from ((f"{name}.{one}", getattr(value, one)) for one in value.__all__)
        else:
            yield name, value


def test_the_interface_is_what_all_lists() -> None:
    for module in (ar, *(getattr(ar, name) for name in MODULES)):
        assert len(set(module.__all__)) == len(module.__all__), module.__name__
        assert [name for name in module.__all__ if name.startswith("_") and name != "__version__"] == []
        assert [name for name in module.__all__ if not hasattr(module, name)] == [], module.__name__


def test_type_checkers_see_the_names_that_load_on_first_use() -> None:
    tree = ast.parse(Path(ar.__file__).read_text(encoding="utf-8"))
    (guarded,) = (node for node in tree.body if isinstance(node, ast.If))
    seen = {alias.asname for node in guarded.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert seen == set(ar.__all__) - {"__version__"}


@pytest.mark.parametrize(
    ("module", "family"),
    [
        ("forces", "FORCES"),
        ("thermostats", "THERMOSTATS"),
        ("barostats", "BAROSTATS"),
        ("scaling", "POLICIES"),
    ],
)
def test_what_a_case_can_choose_is_in_the_interface(module: str, family: str) -> None:
    public = getattr(ar, module)
    for member in getattr(public, family):
        if member.__module__.startswith("articulon."):
            assert member.__name__ in public.__all__, f"ar.{module}.{member.__name__}"


def functions() -> Iterator[tuple[str, Any]]:
    """Public functions, and methods that public classes of this package define."""
    for path, value in public_names():
        if inspect.isclass(value):
            for name, method in vars(value).items():
                held = getattr(method, "__func__", getattr(method, "fget", method))
                plain = inspect.unwrap(held)
                # Compiled functions are typed by their arguments.
                if not name.startswith("_") and inspect.isfunction(plain) and not hasattr(held, "py_func"):
                    yield f"{path}.{name}", plain
        elif inspect.isfunction(value):
            yield path, inspect.unwrap(value)


def test_every_public_function_is_annotated() -> None:
    open_ends = []
    for path, function in functions():
        if not (getattr(function, "__module__", None) or "").startswith("articulon"):
            continue
        signature = inspect.signature(function)
        said = [p.annotation for p in list(signature.parameters.values()) if p.name not in ("self", "cls")]
        if inspect.Signature.empty in (*said, signature.return_annotation):
            open_ends.append(path)
    assert open_ends == []


PROGRAM = """
import numpy as np
import articulon as ar

builder = ar.ModelBuilder(units="kg-m-s")
rod = builder.add_body("rod", mass=1.0, inertia=0.1, com=(0, 0, -1), joint=ar.Revolute(axis=(0, 1, 0)), q=0.5)
builder.add_force(ar.forces.Gravity(acceleration=(0, 0, -9.81)))
builder.add_force(ar.forces.JointDamping(rotational={"rod": "0.1 N m s"}))
model: ar.Model = builder.build()
run: ar.Run = ar.simulate(model, 1.0, rule="rk4", step=0.01, scaling=ar.scaling.NoScaling())
angle: np.ndarray = run.coordinate("rod.angle", degrees=True)
udot: np.ndarray = ar.forward_dynamics(model, run.q[-1], run.u[-1], forces=True)
found: ar.Transition = ar.lock(model, run.q[-1], run.u[-1], "rod")
kept: ar.Reservoir = found.kept
case = ar.load_case("double-pendulum", {"run.duration": "1 s"})
try:
    ar.run(case, "somewhere", report=False)
except ar.ArticulonError as error:
    print(error)
"""


# mypy reads the whole package: half a minute the first time. What has been read is kept beside what pytest keeps.
@pytest.mark.slow
def test_the_interface_passes_a_strict_type_checker(tmp_path: Path, cache: pytest.Cache) -> None:
    paths = [path for path, _ in public_names()]
    lines = [PROGRAM, *(f"reveal_type(ar.{path})" for path in paths)]
    (tmp_path / "program.py").write_text("\n".join(lines) + "\n", encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file", str(ROOT / "pyproject.toml")]
    command += ["--follow-imports", "silent", "--cache-dir", str(cache.mkdir("mypy")), "--no-pretty", "program.py"]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=tmp_path, env=_environment(), timeout=600
    )
    errors = [line for line in done.stdout.splitlines() if ": error:" in line]
    assert errors == [], "\n".join(errors)
    shown = re.findall(r'note: Revealed type is "(.*)"', done.stdout)
    assert len(shown) == len(paths), done.stdout[-2000:] + done.stderr[-2000:]
    unknown = [path for path, kind in zip(paths, shown, strict=True) if kind == "Any"]
    assert unknown == []


def _environment() -> dict[str, str]:
    return {**os.environ, "MYPYPATH": str(Path(ar.__file__).parents[1])}
