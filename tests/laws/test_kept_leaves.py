"""Leaves are compiled once on a machine, and what comes out does not depend on who has compiled them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from numba import njit, types

from articulon import kernel_cache
from articulon.kernel_variants import copied, leaf_variant
from articulon.kernels import jit, kernel, ready
from articulon.leaf_compiler import LeafCompiler

RUN = """
import articulon as ar
from articulon.announcements import announcing_to_the_terminal

builder = ar.ModelBuilder(units="kg-m-s")
for k in range(3):
    parent = f"rod {k - 1}" if k else None
    joint = ar.Revolute(axis=(0.0, 1.0, 0.1 * k))
    builder.add_body(f"rod {k}", mass=1.0 + k, inertia=0.1, joint=joint, parent=parent, position=(0.0, 0.0, 0.5), u=1.0)
model = builder.build()
with announcing_to_the_terminal():
    print(ar.forward_dynamics(model, model.q0, model.u0).tobytes().hex())
"""


def ran(cache: Path) -> tuple[str, str]:
    """Bits of accelerations that a process of its own finds, and what it has said."""
    environment = {**os.environ, "ARTICULON_CACHE_DIR": str(cache)}
    done = subprocess.run([sys.executable, "-c", RUN], env=environment, capture_output=True, text=True, check=True)
    return done.stdout, done.stderr


def leaves(cache: Path) -> dict[Path, int]:
    """The files of kept leaves, and when they were written."""
    return {file: file.stat().st_mtime_ns for file in cache.glob("*/*/leaves/*")}


@pytest.mark.slow
def test_kernels_take_leaves_that_others_have_compiled(tmp_path: Path) -> None:
    """Kernels are thrown away, and a process compiles them from leaves that are kept. The later half of these, made of
    those before, is damaged: it is said and compiled again. The bits are the same."""
    first, _ = ran(tmp_path)
    known = leaves(tmp_path)
    assert len(known) > 30 and not [file for file in known if file.suffix]  # none half written
    for file in tmp_path.rglob("*"):
        if file.is_file() and file not in known:
            file.unlink()
    damaged = sorted(known, key=lambda file: known[file])[len(known) // 2 :]
    for file in damaged:
        code = bytearray(file.read_bytes())
        code[len(code) // 2] ^= 1
        file.write_bytes(code)
    written = leaves(tmp_path)
    again, said = ran(tmp_path)
    assert again == first
    now = leaves(tmp_path)
    changed = {file for file in now if now[file] != written.get(file)}
    assert changed and changed <= set(damaged)  # what only a damaged one calls is looked for in its turn
    assert all(f"{file}: the cached code of a part of kernels is damaged" in said for file in changed)


def test_leaves_of_one_code_with_other_values_are_told_apart() -> None:
    """By all that stands in them, however deep."""
    inner = [copied(_half, "inner", FACTOR=factor) for factor in (0.5, 0.25)]
    outer = [copied(_half, "outer", HALF=one) for one in inner]
    assert inner[0].replaced != inner[1].replaced and outer[0].replaced != outer[1].replaced
    assert copied(_half, "inner", FACTOR=0.5).replaced == inner[0].replaced


FACTOR = 0.5


def _half(x):
    return FACTOR * x


def test_a_leaf_of_a_user_is_not_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Nothing would tell it from another one of its name. It is compiled like the package's own all the same."""
    half = jit(_half)
    third = leaf_variant(half, "third", FACTOR=1.0 / 3.0)
    assert half._compiler.pipeline_class is LeafCompiler

    @njit
    def both(x):
        return half(x), third(x)

    assert both(3.0) == pytest.approx((1.5, 1.0), rel=1e-15)
    folder = kernel_cache.cache_folder() / kernel_cache.sources_of((__file__,))
    assert not (folder / "leaves").exists()


def test_a_kernel_is_wrapped_for_whoever_calls_it_alone() -> None:
    """One that only Python calls has no address to be handed on by, and is refused as a value by name."""

    @kernel(cached=False)
    def twice(x):
        return 2.0 * x

    @kernel(cached=False, called="value")
    def thrice(x):
        return 3.0 * x

    signature = types.float64(types.float64)
    with pytest.raises(TypeError, match="twice is compiled only for calls from Python"):
        ready(twice, signature)
    assert ready(thrice, signature) is thrice and twice(2.0) == 4.0

    @njit
    def applied(function, x):
        return function(x)

    applied.compile(types.float64(types.FunctionType(signature), types.float64))
    assert applied.overloads[(types.FunctionType(signature), types.float64)].entry_point(thrice, 2.0) == 6.0
