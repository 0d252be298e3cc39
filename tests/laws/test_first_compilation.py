"""The run that compiles its kernels gives the same bits as those that load them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

RUN = """
import hashlib
import numpy as np
from articulon.benchmark import beds
running = beds.Running(beds.dense(8000))
running.advance(1, 60)
print(hashlib.sha256(b"".join(np.ascontiguousarray(part).tobytes() for part in running.state)).hexdigest())
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="compiles in the process itself where there is no fork")
def test_the_first_run_of_all_gives_the_bits_of_later_ones(tmp_path: Path) -> None:
    environment = {**os.environ, "ARTICULON_CACHE_DIR": str(tmp_path)}
    bits = [
        subprocess.run([sys.executable, "-c", RUN], env=environment, capture_output=True, text=True, check=True).stdout
        for _ in range(2)
    ]
    assert bits[0] == bits[1] and len(bits[0]) > 60
