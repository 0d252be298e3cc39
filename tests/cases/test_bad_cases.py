"""Case files that nobody can mean are refused in a few lines, each with the file, the key and what to do."""

from __future__ import annotations

import io
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import articulon as ar
from articulon.cases.overrides import assignment
from articulon.simulation.preparation import checked
from tests.support.run_cases import BALL

PAIR = """
[case]
units = "lj"

[model]
builder = "particles"
species = {A = {mass = 1.0}}
positions = [[1, 1, 1], [2.5, 1, 1], [1, 2.5, 1], [1, 1, 2.5]]

[box]
lengths = [10, 10, 10]

[[forces]]
kind = "lennard-jones"
cutoff = 2.5
parameters = {A = {epsilon = 1.0, sigma = 1.0}}

[integrator]
rule = "velocity-verlet"
step = 0.002

[run]
duration = 0.1
"""


def refusal(folder: Path, content: str | bytes, overrides: dict[str, Any] | None = None) -> str:
    """The message about a case, which takes no longer and says no more than anyone has patience for."""
    file = folder / "case.toml"
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    began = time.process_time()
    with pytest.raises(ar.ArticulonError) as caught:
        checked(ar.load_case(file, overrides))
    assert time.process_time() - began < 10.0
    message = str(caught.value)
    assert all(line.startswith(f"{file}: ") for line in message.splitlines()), message
    assert len(message) < 5000
    return message


def accepted(folder: Path, content: str | bytes) -> ar.Model:
    file = folder / "case.toml"
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    return checked(ar.load_case(file))[0]


# Bytes


def test_a_byte_order_mark_is_what_editors_of_windows_write(tmp_path):
    assert accepted(tmp_path, b"\xef\xbb\xbf" + BALL.replace("\n", "\r\n").encode()).names == ("ball",)


@pytest.mark.parametrize(
    "content, words",
    [
        (BALL + f"\n[variants]\na = {'[' * 3000}{']' * 3000}\n", "are nested more than"),
        (BALL + f"\n[variants.a]\nb = {'[' * 100}{']' * 100}\n", "are nested more than 64 deep"),
        (BALL + f"\n[fidelity]\nbudget = 1{'0' * 5000}\n", "a whole number has thousands of digits"),
        (BALL.encode("utf-16"), "is not UTF-8 text"),
        (b"\x00\x01\x02", "is not valid TOML"),
        (b"", "model: is required"),
    ],
)
def test_files_that_are_no_cases_are_told_so(tmp_path, content, words):
    assert words in refusal(tmp_path, content)


@pytest.mark.parametrize("setting", [f"a={'[' * 3000}", f"run.seed=1{'0' * 5000}", "=", "run.seed"])
def test_settings_that_are_none_are_told_so(setting):
    with pytest.raises(ar.CaseError, match="cannot read"):
        assignment(setting)


# Keys and values


def test_of_thousands_of_faults_twenty_are_listed_and_the_others_counted(tmp_path):
    bodies = "".join(f'[[model.bodies]]\nname = "b{k}"\nmas = 1\njoint = "free"\n' for k in range(5000))
    began = time.process_time()
    message = refusal(tmp_path, f"{bodies}\n[run]\nduration = 1.0\n")
    assert time.process_time() - began < 5.0
    lines = message.splitlines()
    assert len(lines) == 21
    assert "model.bodies[0].mass: is required" in lines[0] and "model.bodies[9].mas: unknown key" in lines[19]
    assert lines[20].endswith(": and 9980 more faults; fix these first")


@pytest.mark.parametrize(
    "text, overrides, words",
    [
        (
            BALL,
            {"model.bodies[0].mass": 10**400},
            "model.bodies[0].mass: expected a finite number, got a whole number of",
        ),
        (BALL, {"model.bodies[0].mass": True}, "model.bodies[0].mass: expected a quantity, got True"),
        (BALL, {"model.bodies[0].com": [0, 0, 1e160]}, "model.bodies[0].com[2]: 1e+160 is too large"),
        (BALL, {"model.bodies[0].com": [0, 0, 1e149], "model.bodies[0].mass": 1e149}, "body 'ball'"),
        (BALL, {"model.bodies[0].position": ["--4.33 mm", 0, 0]}, "cannot read '--4.33 mm'"),
        (BALL, {"run.seed": -1}, "run.seed"),
        (BALL, {"run.seed": 2**63}, "run.seed"),
        (BALL, {"run.minimise": "yes"}, "run.minimise: expected true or false, got 'yes'"),
        (
            BALL,
            {"model.bodies[0].name": "a" * 300, "run.stop": {"body": "b", "direction": [0, 0, 1], "advance": 1}},
            "there is no body 'b'",
        ),
        (PAIR, {"model.kinds": ["A", "A"]}, "model.kinds: there are 2, and 4 positions"),
        (PAIR, {"model.kinds": ["A", "A", "B", "A"]}, "model.species: there is no species 'B'"),
        (PAIR, {"model.positions[1]": [1e30, 0, 0]}, "starts 1e+29 box lengths from the box along x"),
        (PAIR, {"forces[0].skin": 1e9}, "images of sites take about"),
        (PAIR, {"model.seed": 2**64}, "model.seed: expected a valid integer"),
    ],
)
def test_values_that_nothing_can_have_are_refused_by_key(tmp_path, text, overrides, words):
    assert words in refusal(tmp_path, text, overrides)


def test_a_particle_some_boxes_away_is_where_its_images_are(tmp_path):
    model = accepted(tmp_path, PAIR.replace("[2.5, 1, 1]", "[1002.5, -999, 1]"))
    near = accepted(tmp_path, PAIR)
    assert ar.potential_energy(model, model.q0) == pytest.approx(ar.potential_energy(near, near.q0), rel=1e-9)


def with_force(text: str, *forces: str) -> str:
    return text + "".join(f"\n[[forces]]\n{force}\n" for force in forces)


GRAVITY = 'kind = "gravity"\nacceleration = [0, 0, -1]'
WALL = 'kind = "lennard-jones-wall"\ncutoff = 1.0\nparameters = {A = {epsilon = 1.0, sigma = 0.5}}'
BONDS = 'kind = "harmonic-bonds"\nstiffness = 1.0\nlength = 1.5\nbonds = [[0, 1], [1, 2], [%d, %d]]'
ANGLES = 'kind = "harmonic-angles"\nstiffness = 1.0\nangle = 1.5\nangles = [[0, 1, 2], [%d, %d, %d]]'
PERIODIC = 'kind = "periodic-dihedrals"\nstiffness = 1.0\nmultiplicity = %s\ndihedrals = [[0, 1, 2, 3], [3, 2, 1, 0]]'
HARMONIC = 'kind = "harmonic-dihedrals"\nstiffness = 1.0\nangle = 0.5\ndihedrals = [[0, 1, 2, 3], [%d, %d, %d, %d]]'
LISTED = 'kind = "listed-pairs"\nepsilon = 1.0\nsigma = 1.0\npairs = [[0, 1], [%d, %d]]'
OPEN = PAIR.replace("lengths = [10, 10, 10]", 'lengths = [10, 10, 10]\nboundaries = ["open", "open", "open"]')


@pytest.mark.parametrize(
    "text, words",
    [
        (with_force(BALL, GRAVITY, GRAVITY.replace("-1", "-2")), "forces[0]: gravity is declared twice"),
        (with_force(OPEN, WALL, WALL), "this lennard-jones-wall force is already declared as forces[1]"),
        (with_force(OPEN, WALL, WALL + '\nfaces = ["z+"]'), "forces[2].faces: forces[1] has a wall at z+ already"),
        (with_force(OPEN, WALL + "\nfaces = []"), "faces: the list is empty"),
        (with_force(PAIR, BONDS % (1, 0)), "forces[1].bonds[2]: the sites (1, 0) have a term of this kind already"),
        (
            with_force(
                PAIR, BONDS % (2, 3), 'kind = "harmonic-bonds"\nstiffness = 2.0\nlength = 1.0\nbonds = [[3, 2]]'
            ),
            "forces[2].bonds[0]: the sites (3, 2) have a term of this kind already, forces[1].bonds[2]",
        ),
        (with_force(PAIR, ANGLES % (2, 1, 0)), "forces[1].angles[1]: the sites (2, 1, 0)"),
        (
            with_force(PAIR, PERIODIC % "3"),
            "already, of the same multiplicity, of the same phase, forces[1].dihedrals[0]",
        ),
        (with_force(PAIR, HARMONIC % (3, 2, 1, 0)), "forces[1].dihedrals[1]: the sites (3, 2, 1, 0)"),
        (with_force(PAIR, LISTED % (1, 0)), "forces[1].pairs[1]: the sites (1, 0)"),
    ],
)
def test_what_would_act_twice_is_refused(tmp_path, text, words):
    assert words in refusal(tmp_path, text)


@pytest.mark.parametrize("force", [BONDS % (2, 3), ANGLES % (1, 0, 2), PERIODIC % "[3, 2]", HARMONIC % (0, 2, 1, 3)])
def test_what_only_looks_alike_acts_twice(tmp_path, force):
    """A dihedral has a term for each multiplicity, and sites in another order are another angle."""
    accepted(tmp_path, with_force(PAIR, force))


def test_of_listed_pairs_one_force_may_have_the_charges_and_another_the_rest(tmp_path):
    """As CHARMM's force fields are read."""
    charges = LISTED.replace("epsilon = 1.0\nsigma", "charges")
    accepted(tmp_path, with_force(PAIR, LISTED % (2, 3), charges % (2, 3)))
    words = "forces[3].pairs[0]: the sites (0, 1) have a term of this kind already, forces[2].pairs[0]"
    assert words in refusal(tmp_path, with_force(PAIR, LISTED % (2, 3), charges % (2, 3), charges % (1, 2)))


GRAINS = """
[case]
units = "kg-m-s"

[model]
builder = "grains"
grains = [{name = "one", radius = 0.01, density = 2500, position = [0, 0, 0.1]}]

[box]
lengths = [1, 1, 1]
origin = [-0.5, -0.5, -0.5]
boundaries = ["open", "open", "open"]

[[forces]]
kind = "contact"
materials = {grain = {young = 1e7, poisson = 0.3, restitution = %s}}
walls = [%s]

[integrator]
rule = "velocity-verlet"
step = 1e-6

[run]
duration = 1e-3
"""
FLOOR = '{shape = "plane", kind = "grain", point = [0, 0, 0], normal = [0, 0, 1]}'


@pytest.mark.parametrize(
    "walls, words",
    [
        (f"{FLOOR}, {FLOOR}", "forces[0].walls[1], a plane and forces[0].walls[0], a plane are at the same place"),
        (
            '{shape = "box", kind = "grain", faces = ["z-"]}, {shape = "box", kind = "grain"}',
            "and both would exert forces",
        ),
        ('{shape = "box", kind = "grain", faces = []}', "faces: the list is empty"),
        ('{shape = "mesh", kind = "grain", file = "' + "a" * 3000 + '.stl"}', "cannot be read"),
        ('{shape = "mesh", kind = "grain", vertices = [], triangles = []}', "expected vertices"),
        (
            '{shape = "mesh", kind = "grain", vertices = [[0, 0, 0]], triangles = [[0, 0, 100000000000000000000]]}',
            "integer",
        ),
    ],
)
def test_walls_that_cannot_be_are_refused(tmp_path, walls, words):
    assert words in refusal(tmp_path, GRAINS % ("0.5", walls))


@pytest.mark.parametrize("restitution", ["1e-308", "1e-300", "1"])
def test_any_coefficient_of_restitution_above_zero_has_a_damping(tmp_path, restitution):
    model = accepted(tmp_path, GRAINS % (restitution, FLOOR))
    assert np.isfinite(model.forces[0].rows(model)).all()


@pytest.mark.parametrize(
    "old, new, words",
    [
        ("young = 1e7", "young = 1e-308", "forces[0].materials: grain and grain have a stiffness of "),
        ("young = 1e7", 'young = "5e-324 Pa"', "too small for the computation; the minimum is 1e-100"),
        (
            "radius = 0.01, density = 2500",
            "radius = 1e-120, mass = 1.0",
            "a sphere has the radius 1e-120, which is too small",
        ),
    ],
)
def test_contacts_that_leave_nothing_to_divide_by_are_refused(tmp_path, old, new, words):
    text = GRAINS % ("0.5", FLOOR)
    assert old in text and words in refusal(tmp_path, text.replace(old, new))


@pytest.mark.parametrize(
    "key, value",
    [
        ("model.bodies[2].com[1]", 2**53 + 1),
        ("model.bodies[2].position[2]", 2**40),
        ("model.bodies[1].position[0]", 1e30),
    ],
)
def test_loops_beyond_the_precision_of_numbers_are_refused(key, value):
    with pytest.raises(
        ar.CaseError, match=r"bricard\.toml: .*(the loops cannot be closed|too large for the computation)"
    ):
        ar.load_case("bricard", {key: value}).build_model()


# Files beside a case

IONS = """
[case]
units = "zg-nm-ns"

[model]
builder = "particles"
file = "%s"
species = {Na = {mass = 1.0}, Cl = {mass = 1.0}}

[run]
duration = 1.0
"""


def archive(**arrays: Any) -> bytes:
    stream = io.BytesIO()
    np.savez(stream, **arrays)
    return stream.getvalue()


WHOLE = archive(positions=np.zeros((2, 3)) + [[0], [1]], kinds=np.array(["Na", "Cl"]))


@pytest.mark.parametrize(
    "name, content, words",
    [
        ("a.xyz", b"2\n\nNa 0 0 0\nCl 1 1 nan\n", "line 4: expected a kind and numbers"),
        ("a.xyz", b"2\n\nNa 0 0\nCl 1 1 1\n", "line 3: expected a kind and 3 or 6 numbers"),
        ("a.xyz", b"2\n\nNa 0 0 0\nCl 1 1 \xff\n", "cannot be read"),
        ("a.xyz", b"0\n\n", "contains no particles"),
        ("a.xyz", b"", "line 1: expected the number of particles"),
        ("a.npz", b"", "not a file of arrays"),
        ("a.npz", WHOLE[:-40], "not a file of arrays"),
        ("a.npz", WHOLE.replace(b"'descr'", b"'dexcr'"), "not a file of arrays"),
        ("a.npz", archive(positions=np.zeros((2, 3)), kinds=np.array(["Na"])), "positions: expected shape (1, 3)"),
        ("a.npz", archive(positions=np.full((1, 3), np.nan), kinds=np.array(["Na"])), "positions: not finite"),
        ("a.npz", archive(positions=np.zeros((1, 3), complex), kinds=np.array(["Na"])), "complex"),
        ("a.npz", archive(positions=np.zeros((1, 3)), kinds=np.array("Na")), "expected a list of kinds"),
        ("a.npz", archive(positions=np.zeros((1, 3)), kinds=np.array([None])), "not a file of arrays"),
        (
            "a.npz",
            archive(positions=np.zeros((1, 3)), kinds=np.array(["Na"]), velocities=np.zeros(3)),
            "velocities: exp",
        ),
        ("a.npz", archive(kinds=np.array(["Na"])), "has no array 'positions'"),
    ],
)
def test_damaged_files_of_particles_are_named_with_the_case(tmp_path, name, content, words):
    (tmp_path / name).write_bytes(content)
    message = refusal(tmp_path, IONS % name)
    assert words in message and f"model.file: {tmp_path / name}" in message


@pytest.mark.parametrize("name", ["a" * 300 + ".xyz", "a/" * 2000 + "b.xyz", "", ".", "\\u0000"])
def test_paths_that_no_system_has_are_refused(tmp_path, name):
    assert "model.file" in refusal(tmp_path, IONS % name)


@pytest.mark.parametrize("name", ["a" * 300, "a" * 300 + ".toml", "a/" * 3000, "\0", 7, None, b"a"])
def test_names_that_are_no_cases_are_refused(name):
    with pytest.raises(ar.CaseError):
        ar.load_case(name)


@pytest.mark.parametrize(
    "overrides", [7, ["run.seed"], {7: 1}, {"run.seed": object()}, {"run.seed": iter([1])}, {"": 1}]
)
def test_overrides_that_are_none_are_refused(overrides):
    with pytest.raises(ar.CaseError):
        ar.load_case("double-pendulum", overrides)


def test_arrays_are_taken_as_overrides():
    case = ar.load_case("double-pendulum", {"forces[0].acceleration": np.array([0.0, 0.0, -2.0])})
    assert case.forces[0].acceleration == (0.0, 0.0, -2.0)


def test_a_flexible_body_has_no_cartesian_coordinates():
    with pytest.raises(ar.CaseError, match="take rigid bodies only, and 'link-1' is flexible"):
        ar.load_case("flexible-filament", {"dynamics.coordinates": "cartesian"}).build_model()


def test_grains_have_cartesian_coordinates_with_their_radii():
    assert ar.load_case("rotating-drum", {"dynamics.coordinates": "cartesian"}).build_model().bodies == 400


NANOMETRES = ("1 nm", "1 nm", "1 nm")


@pytest.mark.parametrize(
    "box, words",
    [
        ({"lengths": ("1e-258 nm", "1 nm", "1 nm")}, "lengths: expected from 1e-100 to 1e.100"),
        ({"lengths": (1e-258, 1, 1)}, "lengths: expected from 1e-100 to 1e.100"),
        ({"lengths": NANOMETRES, "tilts": ("600 pm", 0, 0)}, "tilts: xy = 0.0006 is larger than half of 0.001"),
        (
            {"lengths": NANOMETRES, "tilts": ("1 pm", 0, 0), "boundaries": ("reflecting", "periodic", "periodic")},
            "boundaries: a tilted box cannot have reflecting walls",
        ),
    ],
)
def test_boxes_that_are_none_are_refused_whatever_their_units(box, words):
    with pytest.raises(ar.ArticulonError, match=words):
        ar.ModelBuilder(units="fg-um-us", box=ar.Box(**box))
