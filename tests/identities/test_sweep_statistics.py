"""Statistics of sweeps against examples in print: intervals of means, and first passages with censored runs."""

from __future__ import annotations

import math

import pytest

from articulon.errors import ArticulonError
from articulon.sweeps.first_passage import first_passages
from articulon.sweeps.member_figures import figures_of
from articulon.sweeps.member_statistics import alike, distribution, distributions, grouped, varies

SLEEP = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0]
"""Hours of sleep gained by ten patients (Student, Biometrika 6, 1, 1908)."""
REMISSIONS = [6, 6, 6, 7, 10, 13, 16, 22, 23]
"""Weeks in remission under 6-mercaptopurine, of those patients who relapsed (Freireich et al., Blood 21, 699, 1963)."""
STILL_IN_REMISSION = [6, 9, 10, 11, 17, 19, 20, 25, 32, 32, 34, 35]
"""Weeks after which the others were last seen."""
REMAINING = [(6, 18 / 21), (7, 16 / 17), (10, 14 / 15), (13, 11 / 12), (16, 10 / 11), (22, 6 / 7), (23, 5 / 6)]
"""Times of relapse, and the part of those at risk who did not then: by hand, from the list above."""


def remissions() -> dict:
    stops = [*REMISSIONS, *[None] * len(STILL_IN_REMISSION)]
    return first_passages(stops, [*REMISSIONS, *STILL_IN_REMISSION])


def test_the_product_limit_of_the_remissions_is_that_of_the_textbooks():
    found = remissions()
    expected, remaining = 1.0, []
    for _, part in REMAINING:
        expected *= part
        remaining.append(expected)
    assert found["times"] == [time for time, _ in REMAINING]
    # A product of seven fractions, each rounded once.
    assert found["remaining"] == pytest.approx(remaining, rel=1e-14)
    # As Kleinbaum and Klein (Survival Analysis, chapter 2) print it.
    assert [round(one, 3) for one in found["remaining"]] == [0.857, 0.807, 0.753, 0.690, 0.627, 0.538, 0.448]
    assert (found["runs"], found["stopped"], found["median"], found["until"]) == (21, 9, 23.0, 35.0)


def test_the_band_is_greenwoods_on_the_scale_of_ln_minus_ln():
    found, variance, remaining = remissions(), 0.0, 1.0
    at_risk = [21, 17, 15, 12, 11, 7, 6]
    for k, (n, (_, part)) in enumerate(zip(at_risk, REMAINING, strict=True)):
        relapsed = round(n * (1.0 - part))
        remaining *= part
        variance += relapsed / (n * (n - relapsed))
        half = 1.959963984540054 * math.sqrt(variance) / abs(math.log(remaining))
        assert found["low"][k] == pytest.approx(remaining ** math.exp(half), rel=1e-12)
        assert found["high"][k] == pytest.approx(remaining ** math.exp(-half), rel=1e-12)
    # Half of the patients may have relapsed at 13 weeks, and nobody knows at which at the latest.
    assert found["median_interval"] == [13.0, None]


def test_means_of_first_passages():
    found = remissions()
    edges, heights = [0, *found["times"], 35], [1.0, *found["remaining"]]
    area = sum(h * (b - a) for h, a, b in zip(heights, edges, edges[1:], strict=False))
    assert found["restricted_mean"] == pytest.approx(area, rel=1e-14)
    watched = sum(REMISSIONS) + sum(STILL_IN_REMISSION)
    assert found["memoryless_mean"] == pytest.approx(watched / 9)
    # The exact 95 % interval of a Poisson count of 9 is 4.115 to 17.085 (Garwood, Biometrika 28, 437, 1936).
    assert found["memoryless_interval"] == pytest.approx([watched / 17.085, watched / 4.115], rel=1e-3)


def test_without_censoring_it_is_the_empirical_distribution():
    found = first_passages([3.0, 1.0, 2.0, 4.0], [3.0, 1.0, 2.0, 4.0])
    assert found["times"] == [1.0, 2.0, 3.0, 4.0]
    assert found["remaining"] == pytest.approx([0.75, 0.5, 0.25, 0.0], abs=1e-15)
    assert found["restricted_mean"] == pytest.approx(2.5)
    assert found["median"] == 2.0


def test_runs_that_never_came_there_bound_the_mean_from_below():
    found = first_passages([None, None], [5.0, 5.0])
    assert (found["stopped"], found["times"], found["median"], found["memoryless_mean"]) == (0, [], None, None)
    assert found["restricted_mean"] == 5.0
    # No passage in a time T leaves rates up to -ln(0.025)/T, as exp(-T rate) is the probability of none.
    assert found["memoryless_interval"] == [pytest.approx(10.0 / -math.log(0.025)), None]


@pytest.mark.parametrize("times", [[], [0.0], [-1.0], [math.nan]])
def test_times_that_cannot_be_are_refused(times: list):
    with pytest.raises(ArticulonError, match="must be positive"):
        first_passages(list(times), list(times))


def test_the_interval_of_a_mean_is_students():
    found = distribution(SLEEP)
    assert found["n"] == 10
    assert found["mean"] == pytest.approx(0.75)
    # As R prints it for these numbers, which are its data set `sleep`.
    assert found["interval"] == pytest.approx([-0.5297804, 2.0297804], abs=5e-8)
    assert (found["least"], found["largest"]) == (-1.6, 3.7)
    assert found["quartiles"][1] == pytest.approx(0.35)


def test_one_member_has_no_interval():
    found = distribution([2.0])
    assert found["mean"] == 2.0
    assert found["interval"] is None and found["standard_error"] is None


def test_figures_are_the_numbers_of_a_summary_and_not_its_settings():
    summary = {
        "steps": 3,
        "status": "complete",
        "stop_time": 2.0,
        "integrator": {"step": 0.1},
        "temperatures": {"kinetic": {"mean": 299.0, "error": None}},
        "trusted": True,
        "checks": [{"what": "energy", "value": 1e-9}, {"what": "momentum", "value": 2e-9}],
        "lengths": [1.0, 2.0],
        "unlimited": math.inf,
    }
    assert figures_of(summary) == {
        "steps": 3.0,
        "temperatures.kinetic.mean": 299.0,
        "checks[energy].value": 1e-9,
        "checks[momentum].value": 2e-9,
        "lengths[0]": 1.0,
        "lengths[1]": 2.0,
    }


def row(group: str, value: float, error: str | None = None, stop: float | None = None) -> dict:
    figures = {} if error else {"x": value, "constant": 1.0}
    return {
        **{"group": group, "values": {"a": group}, "error": error, "figures": figures, "averages": {}},
        **{"stop_time": stop, "simulated_time": 10.0 if stop is None else stop},
    }


def test_members_that_failed_are_counted_and_in_no_mean():
    rows = [row("1", 1.0), row("1", 3.0), row("1", 99.0, "diverged"), row("2", 5.0), row("2", 5.0)]
    first, second = grouped(rows, stops=False)
    assert (first["members"], first["failed"], first["values"]) == (3, 1, {"a": "1"})
    assert first["figures"]["x"]["mean"] == 2.0 and first["figures"]["x"]["n"] == 2
    assert second["figures"]["x"]["standard_deviation"] == 0.0
    assert varies([first, second], "figures") == ["x"]
    assert not alike([first, second]) and alike([second])
    assert first["first_passage"] is None


def test_groups_of_runs_that_can_be_stopped_have_first_passages():
    (found,) = grouped([row("1", 1.0, stop=4.0), row("1", 2.0), row("1", 0.0, "failed")], stops=True)
    assert (found["first_passage"]["runs"], found["first_passage"]["stopped"]) == (2, 1)


def test_a_figure_that_some_members_lack_is_averaged_over_the_others():
    rows = [{"averages": {"T": 1.0, "p": None}}, {"averages": {"T": 3.0}}]
    found = distributions(rows, "averages")
    assert list(found) == ["T"] and found["T"]["n"] == 2
