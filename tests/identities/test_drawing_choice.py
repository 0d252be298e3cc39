"""What decides how a scene is drawn: points or triangles, and how many."""

from __future__ import annotations

import numpy as np
import pytest

from articulon.studio.drawing_choice import COARSENESS, FINENESS, MOST_SIZES, Drawing, by_fineness, point_sizes
from articulon.studio.page_server import ticks
from articulon.studio.solids import Solids
from articulon.studio.unit_meshes import ball


@pytest.mark.parametrize("by_software", [False, True])
def test_more_balls_have_fewer_triangles_each_and_at_last_none(by_software: bool) -> None:
    table = COARSENESS if by_software else FINENESS
    most = table[-1][0]
    drawing = Drawing(by_software=by_software)
    divisions = [drawing.divisions(count) for count in (1, *(count for count, _ in table))]
    assert None not in divisions and divisions == sorted(divisions, key=lambda parts: -parts)  # type: ignore[operator]
    assert drawing.divisions(most + 1) is None
    assert Drawing("points", by_software).divisions(1) is None
    assert Drawing("balls", by_software).divisions(most) == drawing.divisions(most)
    assert Drawing("balls", by_software).divisions(most + 1) == 0


def test_software_never_draws_more_than_it_bears() -> None:
    """A triangle takes about 2 μs of a processor, a picture without any 50 ms."""
    for count in (1, 25, 26, 100, 101, 400):
        divisions = Drawing(by_software=True).divisions(count)
        assert divisions is not None
        assert count * len(ball(divisions).triangles) <= 32_000


def some_balls(radii: np.ndarray) -> Solids:
    return Solids.at(np.arange(len(radii)), np.zeros((len(radii), 3)), radii, np.arange(3 * len(radii)).reshape(-1, 3))


def test_a_large_ball_among_small_ones_is_round() -> None:
    radii = np.array([1.0, 50.0, 2.0, 1.5])
    (small, coarse), (large, fine) = by_fineness(some_balls(radii), 1, 0.01)
    assert coarse == 1 < fine
    assert small.body.tolist() == [0, 2, 3] and large.body.tolist() == [1]
    assert large.size.tolist() == [[50.0] * 3] and large.colour.tolist() == [[3, 4, 5]]
    for none in (radii / 100.0, np.full(30, 50.0)):
        assert len(by_fineness(some_balls(none), 1, 0.01)) == 1
    assert len(by_fineness(some_balls(np.zeros(0)), 1, 0.01)) == 1


def test_points_have_the_sizes_of_their_balls() -> None:
    assert point_sizes(np.array([2.0, 1.0, 2.0, 1.0])).tolist() == [1.0, 2.0]
    radii = np.random.default_rng(1).uniform(1.0, 2.0, 4_000)
    sizes = point_sizes(radii)
    assert len(sizes) == MOST_SIZES
    # Eight equal parts of the radii: the farthest radius is half a part away.
    assert np.abs(radii[:, None] - sizes).min(axis=1).max() < 0.5 / MOST_SIZES + 0.01


def test_ticks_keep_their_rate_although_work_takes_time() -> None:
    """Each tick is waited for from when it is due, not from when the work before it was done."""
    clock, waited = [0.0], list[float]()

    class Waits:
        def wait(self, seconds: float) -> bool:
            waited.append(seconds)
            clock[0] += seconds
            return len(waited) > 60

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("articulon.studio.page_server.time.monotonic", lambda: clock[0])
        spans = []
        for seconds in ticks(Waits(), 60.0):  # type: ignore[arg-type]
            spans.append(seconds)
            clock[0] += 0.01  # the work
    assert np.allclose(spans, 1.0 / 60.0, rtol=1e-9)
