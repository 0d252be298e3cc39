"""A model does not change once it is built: no array that a user can reach can be written to, in any copy of it, and
kernels are compiled for the same types as if nothing were read-only."""

from __future__ import annotations

import ast
import copy
import pickle
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numba import types

import articulon as ar
from articulon.adaptive import locked_model
from articulon.dynamics import articulated, newton_euler
from articulon.model import kernel_tables
from tests.support.model_arrays import arrays_of

PACKAGE = Path(ar.__file__).parent

COPIES: dict[str, Callable[[Any], Any]] = {
    "itself": lambda model: model,
    "copy.copy": copy.copy,
    "copy.deepcopy": copy.deepcopy,
    "pickle": lambda model: pickle.loads(pickle.dumps(model)),
    "pickle, protocol 2": lambda model: pickle.loads(pickle.dumps(model, protocol=2)),
    "a copy of a copy": lambda model: copy.deepcopy(pickle.loads(pickle.dumps(model))),
}


def looped() -> Any:
    """A four-bar linkage that is driven, with a second tree, sites and a welded body."""
    builder = ar.ModelBuilder(units="kg-m-s")
    hinge = ar.Revolute(axis=(0, 0, 1))
    builder.add_body("crank", mass=1, inertia=0.1, com=(0.5, 0, 0), joint=hinge, q=1.0)
    builder.add_body("coupler", parent="crank", mass=2, inertia=0.2, com=(1, 0, 0), joint=hinge, position=(1, 0, 0))
    builder.add_body("rocker", mass=1, inertia=0.2, com=(0.75, 0, 0), joint=hinge, position=(2.2, 0, 0), q=1.5)
    builder.add_body("flag", parent="rocker", mass=0.1, inertia=0.01, joint=ar.Weld(), position=(0, 0.1, 0))
    builder.add_body("ball", mass=1, inertia=0.1, joint=ar.Free(), position=(5, 0, 0))
    builder.add_loop(
        "pin", joint=hinge, parent="coupler", child="rocker", position=(2, 0, 0), child_position=(1.5, 0, 0)
    )
    builder.add_drive("crank", times=[0, 1, 2, 3], values=[1.0, 1.1, 1.3, 1.6])
    builder.add_site("ball", (0, 0, 0.1), charge=1.0, kind="A")
    builder.add_site("flag", (0, 0, 0.1), charge=-1.0, kind="B", radius=0.05)
    builder.add_force(ar.forces.Gravity(acceleration=(0, -9.81, 0)))
    return builder.build()


def flexible() -> Any:
    """A beam that carries a ball on its last node, with a site on another."""
    builder = ar.ModelBuilder(units="fg-um-us")
    rod = ar.modes.beam(length=2.0, mass=3.0, bending=2, bending_stiffness=0.8, gyration=0.02, units="fg-um-us")
    builder.add_body("rod", joint=ar.Revolute(axis=(0, 1, 0)), modes=rod)
    builder.add_body("ball", parent="rod", node=9, joint=ar.Spherical(), mass=1.0, inertia=0.1)
    builder.add_site("rod", node=5, charge=1.0)
    return builder.build()


MODELS = {"looped": looped, "flexible": flexible}


@pytest.fixture(scope="module", params=MODELS)
def model(request: pytest.FixtureRequest) -> Any:
    return MODELS[request.param]()


@pytest.mark.parametrize("how", COPIES)
def test_no_array_of_a_model_can_be_written_to(model: Any, how: str) -> None:
    found = dict(arrays_of(COPIES[how](model)))
    for name in ("forest.parent", "loops.link_a", "motions.knots", "q0", "u0", "masses", "sites.body", "jointed"):
        assert f"model.{name}" in found
    if model.modes:
        assert "model.forest.flexible.body" in found and "model.modes[0].shapes" in found
    else:
        assert "model.loop_joints[0].position" in found and "model.drives[0].values" in found
    assert [path for path, array in found.items() if array.flags.writeable] == []


def test_a_write_is_an_error(model: Any) -> None:
    with pytest.raises(ValueError, match="read-only"):
        model.forest.parent[0] = 2**40
    with pytest.raises(ValueError, match="read-only"):
        model.loops.path[:] = 2**40
    for table in (model.modes, model.node_sites):
        assert isinstance(table, Mapping)
        with pytest.raises(TypeError):
            table[0] = 2**40


@pytest.mark.parametrize("how", COPIES)
def test_copies_are_the_same_model(model: Any, how: str) -> None:
    made = COPIES[how](model)
    ours, theirs = dict(arrays_of(model)), dict(arrays_of(made))
    assert ours.keys() == theirs.keys()
    for path, array in ours.items():
        assert np.array_equal(array, theirs[path], equal_nan=array.dtype.kind == "f"), path
    u = np.linspace(0.1, 0.2, model.nu)
    expected, found = (ar.mass_matrix(one, one.q0) @ u for one in (model, made))
    assert np.array_equal(expected, found)


def test_a_coarse_model_is_frozen_too() -> None:
    builder = ar.ModelBuilder(units="kg-m-s")
    hinge = ar.Revolute(axis=(0, 0, 1))
    builder.add_body("a", mass=1, inertia=0.1, com=(0.5, 0, 0), joint=hinge)
    builder.add_body("b", parent="a", mass=1, inertia=0.1, com=(0.5, 0, 0), joint=hinge, position=(1, 0, 0))
    coarse, _ = locked_model(builder.build(), np.zeros(2), ["b"])
    assert [path for path, array in arrays_of(coarse) if array.flags.writeable] == []
    assert ar.mass_matrix(coarse, coarse.q0).shape == (1, 1)


def test_kernels_are_handed_arrays_that_can_be_written_to(model: Any) -> None:
    """A read-only array is another type to the compiler, for which a kernel would be compiled once more."""
    for how, made in COPIES.items():
        tables = kernel_tables(made(model))
        arrays = [array for table in tables for _, array in arrays_of(table)]
        assert arrays and all(array.flags.writeable for array in arrays), how


def test_no_kernel_is_compiled_a_second_time_for_arrays_that_are_read_only(model: Any) -> None:
    """After every public function has been called on models and copies of them."""
    for made in COPIES.values():
        one = made(model)
        ar.forward_dynamics(one, one.q0, one.u0)
        ar.inverse_dynamics(one, one.q0, one.u0, one.u0)
        ar.kinetic_energy(one, one.q0, one.u0)
    kernels = (articulated.forward_dynamics, newton_euler.inverse_dynamics)
    for kernel in kernels:
        for signature in kernel.signatures:
            assert "readonly" not in str(signature), kernel.__name__
            assert all(kind.mutable for kind in array_types(signature)), kernel.__name__


def array_types(kind: Any) -> Iterator[types.Array]:
    """Types of all arrays in a type."""
    if isinstance(kind, types.Array):
        yield kind
    elif isinstance(kind, tuple | types.BaseTuple):
        for part in kind:
            yield from array_types(part)


def handed_on(source: str) -> list[str]:
    """Calls that hand a model's ``forest``, ``loops`` or ``motions`` on as a whole, also under a name of their own."""
    found: list[str] = []
    if not re.search(r"\.(forest|loops|motions)\b", source):
        return found
    for scope in ast.walk(ast.parse(source)):
        if not isinstance(scope, ast.FunctionDef | ast.Module):
            continue
        nodes = list(_inside(scope))
        renamed = {
            target.id
            for node in nodes
            if isinstance(node, ast.Assign)
            for target, value in _pairs(node)
            if isinstance(target, ast.Name) and _whole(value)
        }
        for node in nodes:
            if isinstance(node, ast.Call):
                for value in [*node.args, *(keyword.value for keyword in node.keywords)]:
                    if _whole(value) or (isinstance(value, ast.Name) and value.id in renamed):
                        found.append(f"line {node.lineno}: {ast.unparse(node)[:80]}")
    return found


def _inside(scope: ast.AST) -> Iterator[ast.AST]:
    """What is in a function or module, but for the functions in it."""
    for node in ast.iter_child_nodes(scope):
        yield node
        if not isinstance(node, ast.FunctionDef):
            yield from _inside(node)


def _pairs(node: ast.Assign) -> list[tuple[ast.expr, ast.expr]]:
    target, value = node.targets[0], node.value
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        return list(zip(target.elts, value.elts, strict=True))
    return [(target, value)]


def _whole(node: ast.expr) -> bool:
    return (
        isinstance(node, ast.Attribute)
        and node.attr in ("forest", "loops", "motions")
        and (ast.unparse(node.value) in ("model", "coarse", "fine") or ast.unparse(node.value).endswith(".model"))
    )


@pytest.mark.slow
def test_a_whole_table_is_handed_on_only_from_what_kernels_take() -> None:
    """``kernel(model.forest, ...)`` would compile the kernel for read-only arrays, or be refused where it is compiled
    for one signature alone; ``kernel_tables(model).forest`` is what kernels take."""
    paths = sorted(PACKAGE.rglob("*.py"))
    found = {str(path.relative_to(PACKAGE)): handed_on(path.read_text(encoding="utf-8")) for path in paths}
    assert len(found) > 500
    assert {path: calls for path, calls in found.items() if calls} == {}


@pytest.mark.parametrize(
    "source",
    [
        "kernel(model.forest, q)",
        "kernel(self.model.loops, q)",
        "kernel(q, tables=evaluator.model.motions)",
        "def f(model):\n    forest, n = model.forest, 1\n    return kernel(forest, n)",
    ],
)
def test_the_check_sees_a_table_that_is_handed_on(source: str) -> None:
    assert len(handed_on(source)) == 1


@pytest.mark.parametrize(
    "source", ["kernel(kernel_tables(model).forest)", "model.forest.mass.sum()", "len(model.names)"]
)
def test_the_check_lets_others_pass(source: str) -> None:
    assert handed_on(source) == []
