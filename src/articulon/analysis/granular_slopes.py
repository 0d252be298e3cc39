"""Angle of a heap and of the filling of a rotating drum, over the frames of a run."""

from typing import Any, Literal

import numpy as np

from articulon.analysis.molecular_runs import Series
from articulon.analysis.run_models import model_of
from articulon.analysis.time_averages import first_frame
from articulon.errors import ArticulonError
from articulon.inputs import word
from articulon.model import Model
from articulon.model.body_checks import array
from articulon.simulation.grain_surfaces import filling_tilt, has_spheres, heap_slope, over_frames
from articulon.simulation.results import Run


def heap_angle(run: Run, along: Literal["x", "y"] = "x", floor: float | str = 0.0, skip: float = 0.0) -> Series:
    """Angle of a heap's surface against the horizontal [rad], over time. For a heap at rest it is the angle of repose.

    The surface is the height of the highest sphere above each point of a grid, averaged across the slope. A straight
    line is fitted to the heights between 0.2 and 0.8 of the largest height, and the angle is arctan abs(dz/dx) of this
    line. If the heap has two sides, the longer side is used. Gravity points along −z. The check ``heap-angle`` of a
    case compares the same angle with a reference.

    Parameters
    ----------
    run
        A run with contact spheres, in memory or in a folder.
    along
        Axis down which the heap slopes.
    floor
        Height of the floor [length]; a string carries its unit.
    skip
        Fraction of the frames at the start that is left out.

    Returns
    -------
    Series
        Times [time] and angles [rad], shape (frames,). The angle is NaN in frames without a slope.

    Raises
    ------
    ArticulonError
        For a run without contact spheres on its bodies, or an invalid argument.

    Examples
    --------
    ::

        run = ar.run("angle-of-repose")
        float(np.degrees(ar.analysis.heap_angle(run).values[-1]))
    """
    where = "heap_angle"
    model, axis = _model_of(run, where), "xy".index(word(along, ("x", "y"), f"{where}: along", ArticulonError))
    height = float(array(floor, (), "length", model.units, f"{where}: floor"))
    return _series(run, model, skip, lambda places, radii: heap_slope(places, radii, axis, height))


def drum_angle(run: Run, centre: Any = (0.0, 0.0, 0.0), axis: Literal["x", "y"] = "y", skip: float = 0.0) -> Series:
    """Angle by which the filling of a rotating drum is turned about the axis of the drum [rad], over time: the dynamic
    angle of repose.

    All spheres have the same density. The angle is measured from straight below the axis to the centre of mass of all
    spheres. If the surface of the filling is plane, it is the slope of the surface. Gravity points along −z. The check
    ``drum-angle`` of a case compares the same angle with a reference.

    Parameters
    ----------
    run
        A run with contact spheres, in memory or in a folder.
    centre
        A point on the axis of the drum, world frame [length], shape (3,).
    axis
        Direction of the axis, which is horizontal.
    skip
        Fraction of the frames at the start that is left out.

    Returns
    -------
    Series
        Times [time] and angles from 0 to π [rad], shape (frames,).

    Raises
    ------
    ArticulonError
        For a run without contact spheres on its bodies, or an invalid argument.

    Examples
    --------
    ::

        run = ar.run("rotating-drum")
        late = ar.analysis.drum_angle(run, skip=0.7)
        float(np.degrees(late.values.mean()))
    """
    where = "drum_angle"
    model, direction = _model_of(run, where), "xy".index(word(axis, ("x", "y"), f"{where}: axis", ArticulonError))
    middle = array(centre, (3,), "length", model.units, f"{where}: centre")
    return _series(run, model, skip, lambda places, radii: filling_tilt(places, radii, middle, direction))


def _model_of(run: Run, where: str) -> Model:
    model = model_of(run)
    if not has_spheres(model):
        raise ArticulonError(f"{where}: no body of this run carries contact spheres; give bodies sites with a radius")
    return model


def _series(run: Run, model: Model, skip: float, quantity: Any) -> Series:
    times = np.asarray(run.times)
    first = first_frame(times.size, skip)
    return Series(times[first:], over_frames(model, np.asarray(run.q)[first:], quantity))
