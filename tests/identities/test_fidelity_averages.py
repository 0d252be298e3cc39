"""Averages of a run beside those of a true one, where paths cannot be told: of motions whose averages are known."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from articulon.fidelity.averages_under_noise import PARTS, averages
from articulon.fidelity.motion import Motion
from articulon.fidelity.paths import Group, Path

FRAMES = 12_000
REACH = 4.0
"""Range of the motion; its spread is 1."""


def path(place: np.ndarray) -> Path:
    """A path on a line."""
    times = np.linspace(0.0, 1.0, place.size)
    return Path(times, place[:, None], np.gradient(place, times)[:, None], place[:, None])


def judged(ours: np.ndarray, theirs: np.ndarray) -> dict[str, Any]:
    group = Group("ball: slide", 0, 1, 0, False, False)
    motion = Motion([group], path(ours), np.array([REACH]), np.array([1e-9]), 1, True)
    return averages(motion, path(theirs))


def noise(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=FRAMES)


def test_paths_of_equal_averages_are_trusted_however_far_apart_they_are() -> None:
    """Mean squares of n values differ by 2/√n of themselves, and half of that counts."""
    found = judged(noise(1), noise(2))
    assert found["verdict"] == "trusted" and found["relative_error"] < 4.0 / np.sqrt(FRAMES)
    assert 0.0 < found["half_width"] < 10.0 / np.sqrt(FRAMES)


@pytest.mark.parametrize(("larger", "verdict"), [(1.15, "suspect"), (1.3, "violated"), (0.7, "violated")])
def test_a_wider_or_narrower_spread_is_seen(larger: float, verdict: str) -> None:
    """By a factor s it differs by half of s² − 1, and so does the way in any time."""
    found = judged(larger * noise(1), noise(2))
    known = 4.0 * max(1.0, larger**2) / np.sqrt(FRAMES)
    assert found["relative_error"] == pytest.approx(0.5 * abs(larger**2 - 1.0), abs=known)
    assert found["verdict"] == verdict and found["what"] in ("ball: slide, spread", "ball: slide, mean way")


def test_another_mean_place_is_relative_to_the_range() -> None:
    found = judged(noise(1) + 0.3 * REACH, noise(2))
    assert found["relative_error"] == pytest.approx(0.3, abs=4.0 * np.sqrt(2.0 / FRAMES) / REACH)
    assert (found["verdict"], found["what"]) == ("violated", "ball: slide, mean place")


def test_another_rate_is_seen_where_all_places_are_as_often() -> None:
    """sin ωt and sin 2ωt have one mean and one spread. In a time t their mean square ways are 1 − cos ωt and
    1 − cos 2ωt: 1/2 and 3/2 for a phase of a sixth of a turn, besides ten whole ones."""
    part = np.arange(FRAMES) / (FRAMES // (2 * PARTS))
    ours, theirs = (np.sin(k * (2.0 * np.pi * 10.0 + np.pi / 3.0) * part) for k in (1, 2))
    found = judged(ours, theirs)
    # Parts of the run hold twenty turns and a third: their means err by 1/(4 π) of one turn.
    assert found["relative_error"] == pytest.approx(1.0 / 3.0, abs=1.0 / 20.0 / (4.0 * np.pi) + 0.01)
    assert (found["verdict"], found["what"]) == ("violated", "ball: slide, mean way")


def test_too_few_frames_say_nothing() -> None:
    found = judged(noise(1)[: 4 * PARTS - 1], noise(2)[: 4 * PARTS - 1])
    assert found["verdict"] == "inconclusive" and "too few frames" in found["reason"]
