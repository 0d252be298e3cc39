"""Long chains pinned at both ends: a start near a closed arc is closed, and what cannot close is still refused."""

from __future__ import annotations

import re

import numpy as np
import pytest
import scipy.optimize

import articulon as ar
from articulon.building import closing

PIN = ar.Revolute(axis=(0, 1, 0))
SPAN = 0.75


def arc(count: int) -> float:
    """Half the angle between the first and last of count equal links, of total length 1, whose ends are SPAN apart."""

    def excess(half: float) -> float:
        return float(np.sin(half * count / (count - 1)) / (count * np.sin(half / (count - 1)))) - SPAN

    return float(scipy.optimize.brentq(excess, 0.1, 3.0))


def angles(count: int, half: float) -> np.ndarray:
    return np.array([half, *np.full(count - 1, -2.0 * half / (count - 1))])


def pinned(count: int, half: float, span: float = SPAN) -> ar.Model:
    """A planar chain of equal links of total length 1, pinned at both ends, which starts from an arc."""
    builder, length = ar.ModelBuilder(units="kg-m-s"), 1.0 / count
    position = np.zeros((count, 3))
    position[1:, 0] = length
    builder.add_bodies(
        count,
        mass=length,
        inertia=(0, length**3 / 12, length**3 / 12),
        joint=PIN,
        parents=np.arange(-1, count - 1),
        com=(length / 2, 0, 0),
        position=position,
        q=angles(count, half),
        names="link",
    )
    builder.add_loop("end", joint=PIN, parent=f"link-{count - 1}", position=(length, 0, 0), child_position=(span, 0, 0))
    return builder.build()


@pytest.mark.parametrize("count", [64, 256])
def test_an_arc_whose_angles_are_a_tenth_off_is_closed(count: int) -> None:
    """The last links are n³ times lighter to turn than the first, so that steps in the mass metric turn them alone."""
    half = arc(count)
    model = pinned(count, 1.1 * half)
    assert model.closing.residual > 0.04
    assert np.abs(ar.loop_residuals(model, model.q0)).max() < 1e-13
    # Shared among all joints, the correction of each is a fraction of the angle between two links, 2a/(n − 1).
    assert np.abs(model.q0 - angles(count, half))[1:].max() < half / (count - 1)
    again, _ = ar.close_loops(model, angles(count, 1.1 * half), np.zeros(count))
    assert np.abs(ar.loop_residuals(model, again)).max() < 1e-13


def test_a_chain_that_is_too_short_is_refused_with_its_gap() -> None:
    with pytest.raises(ar.ModelError, match=r"loop 'end'.*cannot be closed.*open by") as caught:
        pinned(16, 0.9, span=1.25)
    gap = float(re.findall(r"open by (\S+) m", str(caught.value))[0])
    assert gap == pytest.approx(0.25, abs=2e-3)


def test_a_body_that_does_not_exist_is_answered_with_the_closest_name() -> None:
    builder = ar.ModelBuilder(units="kg-m-s")
    builder.add_body("link-7", mass=1, inertia=1, joint=PIN)
    with pytest.raises(ar.ModelError, match=r"no body 'link7' that could be its parent; did you mean 'link-7'\?"):
        builder.add_loop("end", joint=PIN, parent="link7")


def test_a_search_that_ends_early_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where joints could still reduce the gap, the loop is not called impossible."""
    monkeypatch.setattr(closing, "MOST_STEPS", 1)
    with pytest.raises(ar.ModelError, match=r"loop 'end'.*did not converge"):
        pinned(8, 1.1 * arc(8))
