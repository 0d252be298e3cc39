"""The frames of a run as labelled data: the same numbers, under their names and units."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import articulon as ar

SHORT = {"run.duration": "0.5 s", "run.frames": 10, "checks": []}


@pytest.fixture(scope="module")
def in_folder(tmp_path_factory: pytest.TempPathFactory) -> ar.Run:
    return ar.run("double-pendulum", tmp_path_factory.mktemp("labelled") / "run", overrides=SHORT, report=False)


@pytest.fixture(scope="module")
def in_memory(in_folder: ar.Run) -> ar.Run:
    return ar.simulate(in_folder.model, 0.5, frames=10)


@pytest.fixture(params=["in_folder", "in_memory"])
def run(request: pytest.FixtureRequest) -> ar.Run:
    return request.getfixturevalue(request.param)


def test_a_dataset_has_the_numbers_under_their_names(run: ar.Run) -> None:
    data = run.to_xarray()
    assert data["positions"].dims == ("time", "body", "axis")
    np.testing.assert_array_equal(data["positions"].sel(body="lower", axis="z"), run.positions[:, 1, 2])
    np.testing.assert_array_equal(data["rotations"].sel(body="upper"), run.rotations[:, 0])
    np.testing.assert_array_equal(data["q"].sel(coordinate="lower.angle"), run.coordinate("lower.angle"))
    np.testing.assert_array_equal(data["u"].sel(speed="upper.rate"), run.u[:, 0])
    np.testing.assert_array_equal(data["works"].sel(channel="external"), run.observables["work_external"])
    np.testing.assert_array_equal(data["kinetic_energy"], run.kinetic_energy)
    np.testing.assert_array_equal(data["time"], run.times)


def test_a_dataset_has_the_units_of_the_case(run: ar.Run) -> None:
    data = run.to_xarray()
    names = ("time", "positions", "works", "kinetic_energy")
    assert [data[name].attrs["units"] for name in names] == ["s", "m", "J", "J"]
    assert list(data["coordinate_unit"].values) == ["rad", "rad"]
    assert list(data["speed_unit"].values) == ["rad/s", "rad/s"]
    assert "units" not in data["rotations"].attrs


def test_a_table_has_a_row_for_each_frame(run: ar.Run) -> None:
    table = run.to_pandas()
    np.testing.assert_array_equal(table.index, run.times)
    np.testing.assert_array_equal(table["lower.rate"], run.u[:, 1])
    np.testing.assert_array_equal(table["energy_balance"], run.observables["energy_balance"])
    assert set(run.observables) - {"time"} | {"upper.angle", "lower.angle", "upper.rate", "lower.rate"} == set(table)
    units = table.attrs["units"]
    assert (units["time"], units["upper.rate"], units["work_external"]) == ("s", "rad/s", "J")
    assert set(run.to_pandas(coordinates=False)) == set(run.observables) - {"time"}


def test_reduced_units_have_no_symbols() -> None:
    builder = ar.ModelBuilder(units="lj")
    builder.add_body("ball", mass=1.0, inertia=0.4, joint=ar.Free(), u=(1, 0, 0, 0, 0, 0))
    data = ar.simulate(builder.build(), 1.0, frames=4).to_xarray()
    assert "units" not in data["positions"].attrs
    assert data["positions"].sel(body="ball", axis="x").values[-1] == pytest.approx(1.0)


def test_what_is_no_flag_is_refused(run: ar.Run) -> None:
    with pytest.raises(ar.ArticulonError, match="coordinates"):
        run.to_pandas(coordinates="all")  # type: ignore[arg-type]


def test_data_of_a_folder_need_no_model(in_folder: ar.Run) -> None:
    """Names and units stand in the trajectory, and large models are not built for them."""
    run = ar.open_run(Path(in_folder.folder))
    run.to_pandas(coordinates=False)
    assert run.known_model is None


@pytest.mark.parametrize("name", ["q", "u", "positions", "rotations", "works", "body", "time"])
def test_an_observable_does_not_replace_an_array(in_memory: ar.Run, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setitem(in_memory.memory.dimensions, name, "energy")
    with pytest.raises(ar.ArticulonError, match=rf"to_xarray: '{name}' is also .*use the arrays"):
        in_memory.to_xarray()


def test_a_coordinate_does_not_replace_an_observable(in_memory: ar.Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(in_memory.memory.dimensions, "lower.angle", "energy")
    monkeypatch.setitem(in_memory.observables, "lower.angle", in_memory.kinetic_energy)
    with pytest.raises(ar.ArticulonError, match=r"to_pandas: 'lower\.angle' is also .*coordinates=False"):
        in_memory.to_pandas()
    table = in_memory.to_pandas(coordinates=False)
    np.testing.assert_array_equal(table["lower.angle"], in_memory.kinetic_energy)
