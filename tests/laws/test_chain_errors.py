"""The errors of statistics of chains: they cover the truth in the share of cases that Student's t says."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom, t

from articulon.chains.chain_motion import chain_motion
from articulon.chains.chain_sizes import chain_sizes, mean_size, size_ratio
from articulon.chains.chain_statistics import Chains
from articulon.chains.mode_relaxation import end_to_end_relaxation
from articulon.chains.replicates import Estimate, Replicate, blocks_of_frames, jackknife, replicates
from tests.support.ideal_chains import Rouse

REPEATS = 200
CONFIDENCE = 0.9


def covered(found: Estimate, truth: float, bias: float = 0.0) -> bool:
    """Whether the truth, but for a known bias, lies within the interval that should have it in nine cases of ten."""
    half = float(t.ppf(0.5 + 0.5 * CONFIDENCE, found.parts - 1)) * float(found.error)
    return abs(float(found.value) - truth) <= half + bias


def check_share(hits: int, least: float = CONFIDENCE, most: float = CONFIDENCE) -> None:
    """Within what chance leaves, in one case of 10,000 not, of a share between two."""
    low, high = int(binom.ppf(5e-5, REPEATS, least)), int(binom.ppf(1.0 - 5e-5, REPEATS, most))
    assert low <= hits <= high, f"{hits} of {REPEATS} intervals have the truth; expected {low} to {high}"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("chains", "frames", "interval", "by"),
    [(3, 600, 0.5, "time"), (8, 300, 2.0, "time"), (24, 60, 0.05, "chains"), (3, 60, 0.5, "time")],
)
def test_errors_of_sizes_cover_the_truth(chains: int, frames: int, interval: float, by: str) -> None:
    """From runs of 140 and 280 relaxation times of the end-to-end vector down to 1.4, and of fewer than four chains 14.

    Blocks as long as five memories or more have errors up to 5 % too small, by which the share goes from 0.90 to 0.88;
    where memory itself is estimated from few samples, or four blocks are all there is, down to 0.80 is allowed."""
    rouse, table = Rouse(8), Chains.of_equal_length(chains, 8)
    hits, ways = {"end to end": 0, "ratio": 0, "gyration": 0}, []
    random = np.random.default_rng(chains + frames)
    chosen = np.ones(chains, dtype=bool)
    for _ in range(REPEATS):
        x = rouse.run(random, frames, chains, interval)
        sizes = chain_sizes(x, table, np.ones(chains * 8))
        divided = replicates(table, [sizes.end_to_end.mean(axis=1), sizes.gyration.mean(axis=1)])
        ways.append(divided.by)
        hits["end to end"] += covered(mean_size(sizes.end_to_end, chosen, divided.parts), 7.0)
        hits["gyration"] += covered(mean_size(sizes.gyration, chosen, divided.parts), 63.0 / 48.0)
        hits["ratio"] += covered(size_ratio(sizes, chosen, divided.parts), 48.0 / 9.0)
    assert max(set(ways), key=ways.count) == by
    for share in hits.values():
        check_share(share, least=0.86 if frames >= 300 or by == "chains" else 0.8)


@pytest.mark.slow
def test_errors_of_motion_and_relaxation_cover_the_truth() -> None:
    """Of groups of chains that know nothing of each other but for the drift that is taken out, 1/12 of g3."""
    chains, frames, interval, rouse = 12, 240, 0.4, Rouse(6)
    table, random = Chains.of_equal_length(chains, 6), np.random.default_rng(4)
    weight = (rouse.vectors[:, -1] - rouse.vectors[:, 0]) ** 2 / rouse.eigenvalues
    truth = float((weight * rouse.times).sum() / weight.sum())
    bias = float((weight * rouse.times * np.exp(-5.0 * truth / rouse.times)).sum() / weight.sum())
    bias += float((weight / rouse.times).sum() / weight.sum()) * interval**2 / 12.0
    hits = {"g3": 0, "diffusion": 0, "relaxation": 0}
    times = interval * np.arange(frames)
    for _ in range(REPEATS):
        x = rouse.run(random, frames, chains, interval)
        centres = x.reshape(frames, chains, 6, 3).mean(axis=2)
        drift = centres.mean(axis=1) - centres[0].mean(axis=0)
        moved = chain_motion(times, x, table, centres, drift)
        g3 = Estimate(moved.centres.value[20], moved.centres.error[20], moved.centres.parts)
        hits["g3"] += covered(g3, 6.0 * rouse.diffusion * moved.times[20] * 11.0 / 12.0)
        hits["diffusion"] += covered(moved.diffusion_coefficient, rouse.diffusion * 11.0 / 12.0)
        relaxed = end_to_end_relaxation(times, x, table)
        assert relaxed is not None
        hits["relaxation"] += covered(relaxed.time, truth, bias)
    # Squares of few chains are skewed, by which shares of t intervals are up to 0.04 too small.
    for share in hits.values():
        check_share(share, least=0.86, most=0.93)


def test_an_error_by_leaving_out_is_that_of_a_mean() -> None:
    """Of a plain mean it is the spread of the parts' means over √parts, to rounding."""
    random = np.random.default_rng(1)
    means = random.normal(size=(7, 3))
    found = jackknife(40.0 * means, np.full((7, 3), 40.0))
    np.testing.assert_allclose(found.value, means.mean(axis=0), rtol=1e-13)
    np.testing.assert_allclose(found.error, means.std(axis=0, ddof=1) / np.sqrt(7.0), rtol=1e-12)


def test_one_part_has_no_error() -> None:
    assert np.isnan(jackknife(np.ones(1), np.ones(1)).error)


@pytest.mark.parametrize(("frames", "count"), [(1, 4), (3, 4), (10, 4), (1000, 32)])
def test_blocks_are_all_frames_once(frames: int, count: int) -> None:
    blocks = blocks_of_frames(frames, count)
    assert np.concatenate([np.arange(frames)[block] for block in blocks]).tolist() == list(range(frames))
    lengths = [block.stop - block.start for block in blocks]
    assert max(lengths) - min(lengths) <= 1 and len(blocks) == min(frames, count)


def test_groups_of_chains_are_all_chains_once() -> None:
    """Of 40 chains whose sizes change slowly, in as many groups as there may be."""
    table, slow = Chains.of_equal_length(40, 3), np.cumsum(np.random.default_rng(2).normal(size=100))
    divided = replicates(table, [slow])
    assert divided.by == "chains" and len(divided.parts) == 32 and divided.samples < 20.0
    assert sorted(np.concatenate([part.chains for part in divided.parts]).tolist()) == list(range(40))
    assert all(isinstance(part, Replicate) and part.frames == slice(0, 100) for part in divided.parts)
