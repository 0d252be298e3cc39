"""Compile the kernels of a case ahead of its run."""

import time

from articulon.simulation.preparation import first_state, prepare
from articulon.simulation.run_request import Description


def warm(case: Description) -> float:
    """Compile the kernels for the first steps and frames of a case, if they are not in the cache. Return the time that
    this took [s].

    Raises
    ------
    CaseError
        If the case cannot be run.
    """
    began = time.perf_counter()
    prepared = prepare(case)
    state = first_state(prepared)
    prepared.observer.begin(state)
    prepared.driver.advance(state, float(case.run.duration), 1)
    return time.perf_counter() - began
