"""The run that compiles its kernels gives the same bits as those that load them, and no kernel takes the place of
another."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

RUN = """
import hashlib
import numpy as np
from benchmarks import beds
running = beds.Running(beds.dense(8000))
running.advance(1, 60)
print(hashlib.sha256(b"".join(np.ascontiguousarray(part).tobytes() for part in running.state)).hexdigest())
"""

LOOPS = """
import numpy as np
from numba import prange, types
from articulon.kernels import prepare, specialised

def {name}(values, by):
    for k in prange(values.size):
        values[k] = {what}

VALUES = types.void(types.float64[::1], types.float64)
{name} = prepare(specialised({name}, "{name}_parallel", parallel=True), VALUES)
"""


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
def test_the_first_run_of_all_gives_the_bits_of_later_ones(tmp_path: Path) -> None:
    environment = {**os.environ, "ARTICULON_CACHE_DIR": str(tmp_path)}
    bits = [
        subprocess.run([sys.executable, "-c", RUN], env=environment, capture_output=True, text=True, check=True).stdout
        for _ in range(2)
    ]
    assert bits[0] == bits[1] and len(bits[0]) > 60
