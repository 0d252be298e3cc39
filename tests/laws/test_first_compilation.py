"""The run that compiles its kernels gives the same bits as those that load them, and no kernel takes the place of
another."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from articulon.kernel_cache import cache_root

RUN = """
import hashlib
from pathlib import Path
import numpy as np
from articulon import kernel_cache, kernels
from benchmarks import beds
running = beds.Running(beds.dense(216))
running.advance(1, 60)
state = running.state.arrays().values()
print(hashlib.sha256(b"".join(np.ascontiguousarray(part).tobytes() for part in state)).hexdigest())
for (_, signature), function in kernels._READY.items():
    if kernels._is_kept(function):
        index = Path(function._cache._cache_file._index_path)
        for file in [kernels._mark(function, signature), *index.parent.glob(f"{index.stem}.*")]:
            print(function.__name__, file.relative_to(kernel_cache.cache_root()))
"""
"""Prints the bits of a bed's state, and each kernel with a file that is kept of it."""

LOOPS = """
import numpy as np
from numba import prange, types
from articulon import kernels
from articulon.kernels import prepare
from articulon.kernel_variants import specialised

kernels.ours = lambda function: True  # as if this were a file of the package

def {name}(values, by):
    for k in prange(values.size):
        values[k] = {what}

VALUES = types.void(types.float64[::1], types.float64)
{name} = prepare(specialised({name}, "{name}_parallel", parallel=True), VALUES)
"""


FIRST = """
import numpy as np
from numba import prange, types
from articulon import kernels
from articulon.kernels import prepare, routine
from articulon.kernel_variants import specialised

kernels.ours = lambda function: True  # as if this were a file of the package

@routine
def part(x, y):
    total = 0.0
    for k in range(9):
        total += x * y / (k + 1.0) - np.sqrt(total * total + y)
    return total

def both(values):
    for k in prange(values.size):
        values[k] = part(values[k], 0.3) + part(0.7, values[k])

VALUES = types.void(types.float64[::1])
for parallel in (False, True):
    kernel = prepare(specialised(both, f"both_{parallel}", parallel=parallel, allocates=True), VALUES)
    loaded, compiled = (sum(counted.values()) for counted in (kernel.stats.cache_hits, kernel.stats.cache_misses))
    values = np.linspace(0.1, 3.0, 4000)
    kernel(values)
    print(loaded, compiled, len(part.overloads), values.tobytes().hex())
"""
"""Prints of a kernel and of one of a parallel loop, both with a routine, how often each was loaded and compiled, how
often the routine was compiled, and what they give."""


@pytest.mark.slow
def test_loops_of_two_kernels_never_have_one_name(tmp_path: Path) -> None:
    """Numba names the body of a parallel loop by an address and the number of its function: the numbers must differ,
    since the addresses of processes with one parent are the same now and then."""
    for name, what in (("add", "values[k] + by"), ("multiply", "values[k] * by")):
        (tmp_path / f"{name}_loops.py").write_text(LOOPS.format(name=name, what=what))
    both = "import numpy as np\nimport add_loops, multiply_loops\nvalues = np.ones(4000)\n"
    both += "add_loops.add(values, 2.0)\nmultiply_loops.multiply(values, 5.0)\nassert (values == 15.0).all()"
    environment = {**os.environ, "ARTICULON_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": str(tmp_path)}
    subprocess.run([sys.executable, "-c", both], env=environment, check=True)
    compiled = sorted((tmp_path / "cache").rglob("*_parallel-*.nbc"))
    numbers = [set(re.findall(rb"__numba_parfor_gufunc_0x[0-9a-f]+B\d+v(\d+)", path.read_bytes())) for path in compiled]
    assert len(numbers) == 2 and all(numbers)
    assert not numbers[0] & numbers[1]


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="compiles in the process itself where there is no fork")
def test_two_installations_of_the_same_sources_share_what_is_compiled(tmp_path: Path) -> None:
    """And one of other sources does not."""
    counting = "import os\nfork, forks = os.fork, []\nos.fork = lambda: forks.append(0) or fork()\n"
    counting += "import add_loops\nprint(len(forks))"
    forks = []
    for folder, what in (("one", "+"), ("one", "+"), ("two", "+"), ("three", "-"), ("three", "-")):
        (tmp_path / folder).mkdir(exist_ok=True)
        (tmp_path / folder / "add_loops.py").write_text(LOOPS.format(name="add", what=f"values[k] {what} by"))
        environment = {
            **os.environ,
            "ARTICULON_CACHE_DIR": str(tmp_path / "cache"),
            "PYTHONPATH": str(tmp_path / folder),
        }
        done = subprocess.run([sys.executable, "-c", counting], env=environment, capture_output=True, check=True)
        forks.append(int(done.stdout))
    assert forks == [1, 0, 0, 1, 0]


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="compiles in the process itself where there is no fork")
def test_the_first_process_of_all_compiles_nothing_itself(tmp_path: Path) -> None:
    """It loads what later ones load, since a process that has compiled a kernel runs other copies of its routines."""
    environment = {**os.environ, "ARTICULON_CACHE_DIR": str(tmp_path / "cache")}
    (tmp_path / "first.py").write_text(FIRST)
    first, later = (
        subprocess.run(
            [sys.executable, "-c", "import first"],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for _ in range(2)
    )
    assert [line.split()[:3] for line in first.splitlines()] == [["1", "0", "0"]] * 2
    assert first == later


ARITHMETIC = ("integrate_grain_verlet_advance_grains", "integrate_grain_verlet_begin_grains", "sweep_")
"""Kernels that move a bed."""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="compiles in the process itself where there is no fork")
def test_the_first_run_of_all_gives_the_bits_of_later_ones(tmp_path: Path) -> None:
    """Of kernels that are compiled for it, among all that it needs: the others, and leaves, are copied from the cache
    of all."""

    def ran(**changed: str) -> tuple[str, list[list[str]]]:
        environment = {**os.environ, **changed}
        done = subprocess.run([sys.executable, "-c", RUN], env=environment, capture_output=True, text=True, check=True)
        bits, *kept = done.stdout.splitlines()
        return bits, [line.split() for line in kept]

    cache = tmp_path / "cache"
    bits, kept = ran()
    left_out = [name for name, _ in kept if name.startswith(ARITHMETIC)]
    assert len(set(left_out)) >= len(ARITHMETIC)
    for name, file in kept:
        if name not in left_out:
            (cache / file).parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            shutil.copyfile(cache_root() / file, cache / file)
    for leaf in cache_root().glob("*/*/leaves/*"):
        (cache / leaf.relative_to(cache_root())).parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        shutil.copyfile(leaf, cache / leaf.relative_to(cache_root()))
    for folder in (cache, *(path for path in cache.rglob("*") if path.is_dir())):
        folder.chmod(0o700)
    began = time.time()
    first, _ = ran(ARTICULON_CACHE_DIR=str(cache))
    compiled = {path for path in cache.rglob("*.nbc") if path.stat().st_mtime > began}
    assert len(compiled) >= len(ARITHMETIC), "nothing was left to compile"
    later, _ = ran(ARTICULON_CACHE_DIR=str(cache))
    assert first == later == bits and len(bits) > 60
