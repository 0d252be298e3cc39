"""Dense algebra runs on one thread, whichever library does it, and whenever that library was loaded."""

from __future__ import annotations

import os
import subprocess
import sys

PROGRAM = """
from threadpoolctl import threadpool_info
from articulon.kernels import one_blas_thread

def threads():
    return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]

with one_blas_thread():
    assert set(threads()) == {1}, threads()
before = threads()
import scipy.linalg  # another library of dense algebra
loaded = threads()
assert len(loaded) >= len(before)
assert set(loaded) == {2}, loaded
for _ in range(2):
    with one_blas_thread():
        assert set(threads()) == {1}, threads()
    assert threads() == loaded, "set back"
"""


def test_dense_algebra_has_one_thread_also_in_libraries_that_load_later() -> None:
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "2", "MKL_NUM_THREADS": "2"}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, env=environment, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
