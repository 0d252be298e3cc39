"""What goes with what: every cell of the table that says yes runs, and every one that says no is refused as it says."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from itertools import combinations

import numpy as np
import pytest

import articulon as ar
from articulon.integrate.combination import FEATURES, INTEGRATORS, integrator_of
from articulon.integrate.compatibility import NEEDS, cell, check, refusals, words_of
from articulon.integrate.feature_conflicts import CONFLICTS
from articulon.integrate.integrator_cells import CELLS, ELSEWHERE
from articulon.integrate.refusals import Refusal
from tests.support.compatible_runs import (
    BAROSTATS,
    MODELS,
    OF_BODIES,
    POLICIES,
    THERMOSTATS,
    combined,
    completed,
    features_of,
    simulated,
)
from validation import compatibility


def outcome(integrator: str, features: Iterable[str]) -> str | None:
    """What a short run was refused with, or None; fails for any other end of it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        try:
            run = simulated(integrator, features)
        except (ar.CaseError, ar.ModelError) as error:
            return str(error)
    assert np.isfinite(run.q).all(), "not finite"
    assert np.isfinite(run.u).all(), "not finite"
    assert run.times[-1] > 0.0
    return None


def wrong_with(integrator: str, feature: str) -> str | None:
    """What is wrong with a cell, if anything."""
    chosen = combined(integrator, [feature])
    if feature in ELSEWHERE.get(integrator, ()):
        return None if integrator_of(chosen) != integrator else "is no other integrator"
    if features_of(chosen) != completed(integrator, [feature]):
        return f"has {features_of(chosen)}"
    if integrator_of(chosen) != integrator:
        return f"is {integrator_of(chosen)}"
    expected, said = cell(integrator, feature), outcome(integrator, [feature])
    if expected is None:
        return None if said is None else f"should go: {said}"
    found = list(refusals(chosen))
    if said is None:
        return "is not refused"
    if expected not in found:
        return f"is refused for another reason: {said}"
    return None if found[0].message(words_of(chosen)) in said else f"is refused otherwise: {said}"


@pytest.mark.slow
@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_a_cell_that_says_yes_runs_and_one_that_says_no_is_refused(integrator: str) -> None:
    wrong = {feature: wrong_with(integrator, feature) for feature in FEATURES}
    assert {feature: why for feature, why in wrong.items() if why is not None} == {}


def exclusive() -> Iterator[set[str]]:
    """Pairs of features of which a run has one at most."""
    for alternatives in (MODELS, THERMOSTATS, POLICIES, BAROSTATS, ("kane", "divide-and-conquer")):
        yield from (set(pair) for pair in combinations(alternatives, 2))
    yield from ({"particles", one} for one in OF_BODIES)
    yield from ({"grains", one} for one in OF_BODIES)
    yield from ({"hard spheres", one} for one in OF_BODIES if one != "impacts")


def who_takes(features: Iterable[str]) -> str | None:
    """The first integrator whose cells have nothing against features and what these need."""
    for integrator in INTEGRATORS:
        wanted = completed(integrator, features)
        if set(ELSEWHERE.get(integrator, ())) & wanted:
            continue
        if not any(cell(integrator, one) for one in wanted):
            return integrator
    return None


def conflict_of(features: set[str]) -> Refusal | None:
    return next((refusal for names, refusal in CONFLICTS.items() if set(names) <= features), None)


@pytest.mark.slow
def test_features_that_are_in_no_conflict_go_with_each_other() -> None:
    """Every pair of features, with the first integrator that takes both."""
    wrong, count = {}, 0
    never = list(exclusive())
    for pair in combinations(FEATURES, 2):
        if set(pair) in never:
            continue
        integrator = who_takes(pair)
        if integrator is None or conflict_of(completed(integrator, pair)) is not None:
            continue
        if any(NEEDS[one].needs not in completed(integrator, pair) for one in pair if one in NEEDS):
            continue
        said = outcome(integrator, pair)
        count += 1
        if said is not None:
            wrong[(integrator, *pair)] = said
    assert wrong == {}
    assert count > 150


def test_features_in_conflict_are_refused() -> None:
    wrong = {}
    for names, refusal in CONFLICTS.items():
        integrator = who_takes(names)
        if integrator is None:  # each is refused by itself already
            continue
        chosen, said = (None, outcome(integrator, names)) if refusal.elsewhere else (combined(integrator, names), None)
        if chosen is None:
            wrong[names] = None if said is not None else "is not refused"
            continue
        found = list(refusals(chosen))
        said = outcome(integrator, names)
        if said is None or refusal not in found or found[0].message(words_of(chosen)) not in said:
            wrong[names] = f"is refused otherwise: {said}"
    assert {names: why for names, why in wrong.items() if why is not None} == {}


def test_what_is_needed_is_asked_for() -> None:
    for name, policy in POLICIES.items():
        if name in NEEDS:
            chosen = combined("explicit", ["bodies"])._replace(policy=policy())
            with pytest.raises(ar.CaseError, match=r"scaling\.policy: .* and there is none; add \[thermostat\]"):
                check(chosen)
    with pytest.raises(ar.CaseError, match=r"'ermak-mccammon' needs a thermostat of the kind overdamped"):
        check(combined("ermak-mccammon", [])._replace(thermostat=None))


def test_the_table_names_only_what_there_is() -> None:
    assert set(CELLS) == set(INTEGRATORS)
    named = {*NEEDS, *(one for names in CONFLICTS for one in names), *(f for cells in CELLS.values() for f in cells)}
    assert named <= {*FEATURES, *INTEGRATORS}
    for cells in CELLS.values():
        assert all(refusal.why and refusal.instead for refusal in cells.values())


def test_the_page_has_the_tables_that_the_code_makes() -> None:
    assert compatibility.written() == compatibility.rewritten()
