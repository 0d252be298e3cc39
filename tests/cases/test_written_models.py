"""A model that was made in Python, written into a case file, is read back as the same model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import articulon as ar
from articulon.cases import Case
from articulon.cases.given_model import GivenModel
from articulon.cases.model_as_case import obstacle
from tests.support.run_cases import CHAIN, case_of


def read_back(model: Any, folder: Path) -> Any:
    """The model of the file that it is written to."""
    (folder / "given.toml").write_text(
        ar.simulate(model, 1e-6, frames=1, rule="dormand-prince").case.to_toml(), encoding="utf-8"
    )
    case = Case.read(folder / "given.toml")
    assert isinstance(case.model_declaration.model_dump(), dict)
    return case.build_model()


def assert_same(one: Any, other: Any, tolerance: float = 0.0) -> None:
    assert one.names == other.names and one.parents.tolist() == other.parents.tolist()
    assert one.forces == other.forces and one.box == other.box
    arrays = ("masses", "centres", "inertias", "q0", "u0", "offset_position", "offset_rotation")
    pairs = [(name, getattr(one, name), getattr(other, name)) for name in arrays]
    for table in ("forest", "loops", "motions", "sites"):
        ours, theirs = getattr(one, table), getattr(other, table)
        pairs += [(f"{table}.{name}", getattr(ours, name), getattr(theirs, name)) for name in ours._fields]
    for name, a, b in pairs:
        if isinstance(a, np.ndarray) and a.dtype.kind == "f":
            np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance, err_msg=name)
        elif isinstance(a, np.ndarray):
            assert np.array_equal(a, b), name
        else:
            assert a == b, name


def linkage() -> Any:
    builder = ar.ModelBuilder(units="kg-m-s")
    hinge = ar.Revolute(axis=(0, 0, 1))
    builder.add_body("crank", mass=1, inertia=0.1, com=(0.5, 0, 0), joint=hinge, q=1.0, u=2.0)
    builder.add_body("coupler", parent="crank", mass=2, inertia=0.2, com=(1, 0, 0), joint=hinge, position=(1, 0, 0))
    builder.add_body("rocker", mass=1, inertia=0.2, com=(0.75, 0, 0), joint=hinge, position=(2.2, 0, 0), q=1.5)
    builder.add_loop(
        "pin", joint=hinge, parent="coupler", child="rocker", position=(2, 0, 0), child_position=(1.5, 0, 0)
    )
    builder.add_force(ar.forces.Gravity(acceleration=(0, -9.81, 0)))
    return builder.build()


def driven() -> Any:
    builder = ar.ModelBuilder(units="kg-m-s")
    builder.add_body("wheel", mass=1.0, inertia=0.1, joint=ar.Revolute(axis=(0, 0.6, 0.8)))
    builder.add_body("slide", parent="wheel", mass=1.0, inertia=0.1, joint=ar.Prismatic(axis=(1, 0, 0)), q=0.1)
    builder.add_drive("wheel", times=[0, 1, 2, 3], values=[0, 1, 1, 0])
    return builder.build()


def ions() -> Any:
    builder = ar.ModelBuilder(units="kg-m-s", box=ar.Box(lengths=(1, 1, 1)))
    for k in range(2):
        ion = builder.add_body(f"ion{k}", mass=1, inertia=0, joint=ar.Xyz(), q=(0.3 * k, 0.1, 0.2), u=(1, 0, 0))
        builder.add_site(ion, charge=(-1.0) ** k, kind=f"kind{k}")
    builder.add_force(
        ar.forces.LennardJones(parameters={f"kind{k}": {"epsilon": 1.0, "sigma": 0.1} for k in range(2)}, cutoff=0.25)
    )
    return builder.build()


@pytest.mark.slow
@pytest.mark.parametrize("build", [linkage, driven, ions])
def test_a_model_is_read_back_to_the_bit(build: Any, tmp_path: Path) -> None:
    model = build()
    assert_same(model, read_back(model, tmp_path))


def test_sites_and_forces_are_read_back_too(tmp_path: Path) -> None:
    model = case_of(tmp_path, CHAIN).build_model()
    assert_same(model, read_back(model, tmp_path))


def test_what_hangs_on_welded_bodies_is_read_back_but_for_rounding(tmp_path: Path) -> None:
    """Their frames are kept in those of their links, by products of rotations: a few roundings of numbers near 1."""
    builder = ar.ModelBuilder(units="kg-m-s")
    e = np.array([0.8, 0.0, 0.6, 0.0])
    root = builder.add_body("root", mass=1, inertia=0.1, joint=ar.Free(), q=(0.1, 0.2, 0.3, *e))
    for k in range(3):
        welded = builder.add_body(
            f"welded{k}", parent=root, mass=1, inertia=0.1, joint=ar.Weld(), position=(0.1, 0.2, k), rotation=e
        )
        root = builder.add_body(
            f"arm{k}", parent=welded, mass=1, inertia=0.1, joint=ar.Spherical(), position=(0.3, 0, 0), rotation=e
        )
    builder.add_body("post", mass=1, inertia=0.1, joint=ar.Weld(), position=(1, 2, 3), rotation=e)
    builder.add_body("flag", parent="post", mass=1, inertia=0.1, joint=ar.Revolute(axis=(0, 0, 1)), rotation=e)
    model = builder.build()
    assert_same(model, read_back(model, tmp_path), 1e-14)


@pytest.mark.parametrize("name", ["nanoparticle-docking", "bricard", "rotating-drum", "unfolding-satellite"])
def test_models_of_cases_can_be_written_out(name: str) -> None:
    model = ar.load_case(name).build_model()
    assert obstacle(model) is None
    assert len(GivenModel(model).model_dump()["bodies"]) == model.bodies


def test_what_no_file_can_hold_is_named() -> None:
    assert "'" in str(obstacle(ar.load_case("flexible-filament").build_model()))
    builder = ar.ModelBuilder(units="kg-m-s")
    builder.add_body("wheel", mass=1.0, inertia=0.1, joint=ar.Revolute(axis=(0, 0, 1)))
    builder.add_drive("wheel", function=motion, name="turn")
    assert obstacle(builder.build()) == "the motion of 'turn' is a Python function"


def motion(time: float, result: np.ndarray) -> None:
    """Turns at a steady pace."""
    result[0], result[1], result[2] = time, 1.0, 0.0
