"""Threads of workers that share a machine.

What is shared out among threads waits for the last of them, in kernels after each loop and in dense algebra after each
call. Where every worker has as many threads as there are cores, some always wait for one that is not running: a molten
salt then takes more than twice as long as on one thread. What the number of threads must not change is tested where
tests ask for two, which they still get.

And garbage, which is looked for less often, and not among what has been loaded: that takes a twelfth of short tests.

And byte code, which is kept even where the environment says not to: some hundred tests start Python anew, and without
it each start compiles the whole package, which takes as long as all the rest of the start.

And the order: neighbours stay on one worker, since they share kernels, models and runs, which each worker makes for
itself.
"""

from __future__ import annotations

import gc
import os
import sys
from typing import Any

import numba
import pytest
import scipy.linalg  # noqa: F401 - brings a BLAS of its own, whose threads are counted too
from threadpoolctl import threadpool_limits

sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # for the processes that tests start


@pytest.hookimpl(optionalhook=True)  # of pytest-xdist
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Each worker takes a part of the list as it stands, and at the end half of what another still has to do."""
    from xdist.scheduler import WorkStealingScheduling

    return WorkStealingScheduling(config, log) if config.getvalue("dist") == "load" else None


def pytest_collection_finish() -> None:
    """All modules and tests are there to stay."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)


@pytest.fixture
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages without their figures, for tests of something else: to draw them takes most of the time of a short run."""
    from articulon.report import style

    monkeypatch.setattr(style, "svg", lambda figure, prefix: "<svg></svg>")
    monkeypatch.setattr(style, "svgs", lambda figures: dict.fromkeys(figures, "<svg></svg>"))


@pytest.fixture(scope="session", autouse=True)
def one_thread_for_each_of_several_workers():
    """Kernels and runs that do not say how many threads they want take one, and so does dense algebra."""
    if int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1")) < 2:
        yield
        return
    before = numba.get_num_threads()
    numba.set_num_threads(1)
    with threadpool_limits(1, user_api="blas"):
        yield
    numba.set_num_threads(before)
