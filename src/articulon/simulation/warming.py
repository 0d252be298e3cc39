"""Compiles what a run of a case needs, before anybody waits for it."""

import time

from articulon.simulation.preparation import first_state, prepare
from articulon.simulation.run_request import Description


def warm(case: Description) -> float:
    """Compile what the first steps and frames of a case need that is not in the cache; the time that this took [s].

    Raises
    ------
    CaseError
        For what cannot be run.
    """
    began = time.perf_counter()
    prepared = prepare(case)
    state = first_state(prepared)
    prepared.observer.begin(state)
    prepared.driver.advance(state, float(case.run.duration), 1)
    return time.perf_counter() - began
