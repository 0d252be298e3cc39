"""Export of the frames of a run as labelled data for xarray and pandas."""

from __future__ import annotations

from collections.abc import Container, Iterable
from typing import TYPE_CHECKING

import numpy as np

from articulon.analysis.run_models import case_of
from articulon.errors import ArticulonError
from articulon.inputs import shown
from articulon.model import CHANNELS
from articulon.model.coordinate_names import coordinate_names
from articulon.simulation.results import Run
from articulon.storage.model_layout import label
from articulon.storage.trajectory import TrajectoryReader

if TYPE_CHECKING:
    import pandas
    import xarray

MISSING = "this needs {name}: pip install 'articulon[tables]'"
AXES = ("x", "y", "z")
TAKE_IT = "rename the observable, or use the arrays: run.observables, run.q, run.positions"
LEAVE_THEM = (
    "rename the body whose coordinate or speed it is, or leave these out with coordinates=False and take them from "
    "run.q and run.u"
)
EULER_PARAMETERS = ("e0", "e1", "e2", "e3")


class _Labels:
    """Names and units of all data of a run."""

    def __init__(self, run: Run) -> None:
        memory = run.memory
        if memory is not None:
            model = memory.model
            units = model.units
            named, rated = coordinate_names(model)
            self.q = [(name, label(units, dimension)) for name, dimension in named]
            self.u = [(name, label(units, dimension)) for name, dimension in rated]
            self.observables = {name: label(units, dimension) for name, dimension in memory.dimensions.items()}
        else:
            units = case_of(run).units
            with TrajectoryReader(run.folder / "trajectory.h5") as reader:
                layout = reader.layout
                self.q = list(zip(layout.coordinate_names, layout.coordinate_units, strict=True))
                self.u = list(zip(layout.speed_names, layout.speed_units, strict=True))
                self.observables = dict(layout.observables)
        self.time, self.length, self.energy = (label(units, what) for what in ("time", "length", "energy"))


def dataset_of(run: Run) -> xarray.Dataset:
    """Return the frames of a run as a dataset; see :meth:`articulon.runs.run.Run.to_xarray`."""
    try:
        import xarray
    except ImportError:
        raise ArticulonError(MISSING.format(name="xarray")) from None
    labels = _Labels(run)

    def with_unit(dimensions: tuple[str, ...], values: np.ndarray, unit: str) -> xarray.Variable:
        return xarray.Variable(dimensions, values, {"units": unit} if unit else {})

    used = [channel for channel in CHANNELS if f"work_{channel}" in labels.observables]
    places = [CHANNELS.index(channel) for channel in used]
    others = [name for name in labels.observables if not name.startswith("work_")]
    data = {
        "positions": with_unit(("time", "body", "axis"), run.positions, labels.length),
        "rotations": with_unit(("time", "body", "euler_parameter"), run.rotations, ""),
        "q": with_unit(("time", "coordinate"), run.q, ""),
        "u": with_unit(("time", "speed"), run.u, ""),
        "works": with_unit(("time", "channel"), run.works[:, places], labels.energy),
    }
    coordinates = {
        "time": with_unit(("time",), run.times, labels.time),
        "body": list(run.body_names),
        "axis": list(AXES),
        "euler_parameter": list(EULER_PARAMETERS),
        "coordinate": [name for name, _ in labels.q],
        "coordinate_unit": ("coordinate", [unit for _, unit in labels.q]),
        "speed": [name for name, _ in labels.u],
        "speed_unit": ("speed", [unit for _, unit in labels.u]),
        "channel": used,
    }
    _refuse_twins(others, {*data, *coordinates}, "to_xarray", "a variable of the dataset", TAKE_IT)
    data |= {name: with_unit(("time",), run.observables[name], labels.observables[name]) for name in others}
    return xarray.Dataset(data, coordinates, {"title": _title(run)})


def table_of(run: Run, coordinates: bool) -> pandas.DataFrame:
    """Return the frames of a run as a table; see :meth:`articulon.runs.run.Run.to_pandas`."""
    try:
        import pandas
    except ImportError:
        raise ArticulonError(MISSING.format(name="pandas")) from None
    labels = _Labels(run)
    _refuse_twins(labels.observables, {"time"}, "to_pandas", "the index of the table", TAKE_IT)
    columns = {name: run.observables[name] for name in labels.observables}
    units = dict(labels.observables)
    if coordinates:
        for named, values in ((labels.q, run.q), (labels.u, run.u)):
            for k, (name, unit) in enumerate(named):
                _refuse_twins([name], columns, "to_pandas", "another column", LEAVE_THEM)
                columns[name], units[name] = values[:, k], unit
    table = pandas.DataFrame(columns, index=pandas.Index(run.times, name="time"))
    table.attrs["units"] = {"time": labels.time, **units}
    return table


def _refuse_twins(names: Iterable[str], taken: Container[str], where: str, what: str, instead: str) -> None:
    """Raise ArticulonError for a name that would replace another column or variable of the same name."""
    for name in names:
        if name in taken:
            raise ArticulonError(f"{where}: {shown(name)} is also the name of {what}; {instead}")


def _title(run: Run) -> str:
    """Title of the run."""
    return str(getattr(run.case, "title", "") or getattr(run.case, "name", "") or "")
