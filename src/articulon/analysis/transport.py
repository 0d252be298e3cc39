"""Transport: displacement and velocity correlation of particles."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from articulon.analysis.run_models import check_run, chosen_bodies, model_of
from articulon.analysis.time_averages import first_frame
from articulon.conformations.time_correlation import autocorrelation, square_displacement
from articulon.errors import ArticulonError
from articulon.model.joints.free import Free
from articulon.model.joints.xyz import Xyz
from articulon.simulation.results import Run


class Correlation(NamedTuple):
    """A function of the time lag."""

    times: np.ndarray
    """Lags, from 0 to the length of the analysed part [time], shape (lags,)."""
    values: np.ndarray
    """Mean over all pairs of frames with this lag, and over the bodies, shape (lags,)."""


def mean_square_displacement(run: Run, bodies: str | Sequence[str] = "*", skip: float = 0.0) -> Correlation:
    """Return the mean square displacement ⟨|r(s + t) − r(s)|²⟩ of the origins of bodies [length²].

    Positions are not wrapped into a periodic box, so that the displacement grows as 6 D t in a liquid. Few pairs of
    frames have a long lag; the last half of the curve is therefore mostly noise.

    Parameters
    ----------
    run
        A run.
    bodies
        Names; a name that ends in ``*`` matches all names with that beginning.
    skip
        Fraction of frames to omit at the start.

    Raises
    ------
    ArticulonError
        For bodies that do not exist, or frames that are not equally spaced.
    """
    frames, times = _frames(run, skip)
    r = np.asarray(run.positions)[frames][:, chosen_bodies(model_of(run), bodies)]
    flat = (r - r[0]).reshape(len(times), -1)
    values = square_displacement(flat) / r.shape[1]
    return Correlation(times - times[0], values)


def velocity_autocorrelation(run: Run, bodies: str | Sequence[str] = "*", skip: float = 0.0) -> Correlation:
    """Return the velocity autocorrelation ⟨v(s + t)·v(s)⟩ of free bodies [velocity²]. At t = 0 it is ⟨v²⟩ = 3 k T/m.

    Frames must be close enough in time to resolve changes of the velocities. Raises the errors of
    :func:`mean_square_displacement`, and ArticulonError for bodies that are not free.

    Parameters
    ----------
    run
        The run, in memory or in a folder.
    bodies
        Names of free bodies; a name that ends in ``*`` matches all names with that beginning.
    skip
        Fraction of the frames at the start that is left out.
    """
    frames, times = _frames(run, skip)
    model = model_of(run)
    index = chosen_bodies(model, bodies)
    bound = [k for k in index if not isinstance(model.joints[k], Xyz | Free) or model.parents[k] >= 0]
    if bound:
        raise ArticulonError(
            f"velocity_autocorrelation: body '{model.names[bound[0]]}' does not move freely; name bodies that do"
        )
    start = model.forest.u_start[model.link[index]]
    v = np.asarray(run.u)[frames][:, start[:, None] + np.arange(3)]
    return Correlation(times - times[0], autocorrelation(v.reshape(len(times), -1)) / index.size)


def _frames(run: Run, skip: float) -> tuple[slice, np.ndarray]:
    check_run(run)
    times = np.asarray(run.times)
    first = first_frame(times.size, skip)
    times = times[first:]
    if times.size < 2:
        raise ArticulonError("there are fewer than two frames to compare; run longer, or skip less")
    steps = np.diff(times)
    # A stopped run has one additional frame between two regular ones.
    end = times.size - 1 if steps[-1] < steps[0] * (1.0 - 1e-6) else times.size
    if np.ptp(steps[: end - 1]) > 1e-6 * steps[0]:
        raise ArticulonError("the frames are not equally spaced in time")
    return slice(first, first + end), times[:end]
