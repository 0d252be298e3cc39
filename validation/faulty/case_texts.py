"""Cases for what no built-in one has, and the files that lie beside them."""

from __future__ import annotations

import io
import tempfile
from functools import cache
from pathlib import Path

import numpy as np

from articulon.molecules import peptide, write_structure

BONDED = """
[case]
units = "lj"

[model]
builder = "particles"
species = {A = {mass = 1.0, charge = 2.0}, B = {mass = 2.0, charge = -3.0}}
kinds = ["A", "B", "A", "B", "A"]
positions = [[1, 1, 1], [2, 1, 1], [2, 2, 1.2], [3, 2.4, 1], [4, 4, 4]]
velocities = [[0, 0, 1], [0, 0.5, 0], [0.1, 0, 0], [0, 0, 0], [0, 0, 0]]

[box]
lengths = [12, 12, 12]
tilts = [1, 0, 0]

[[forces]]
kind = "lennard-jones"
cutoff = 2.5
parameters = {A = {epsilon = 1.0, sigma = 0.5}, B = {epsilon = 0.5, sigma = 0.6}}

[[forces]]
kind = "ewald"
precision = 1e-4

[[forces]]
kind = "harmonic-bonds"
bonds = [[0, 1], [1, 2]]
stiffness = [10.0, 20.0]
length = 1.0

[[forces]]
kind = "fene-bonds"
bonds = [[2, 3]]
stiffness = 30.0
extent = 3.0
epsilon = 1.0
sigma = 1.0

[[forces]]
kind = "harmonic-angles"
angles = [[0, 1, 2]]
stiffness = 5.0
angle = "90 deg"

[[forces]]
kind = "periodic-dihedrals"
dihedrals = [[0, 1, 2, 3]]
stiffness = 1.0
multiplicity = 3

[[forces]]
kind = "harmonic-dihedrals"
dihedrals = [[0, 1, 2, 3]]
stiffness = 1.0
angle = 0.5

[[forces]]
kind = "dihedral-restraint"
sites = [0, 1, 2, 3]
angle = "90 deg"
tolerance = 0.1
stiffness = 5.0

[[forces]]
kind = "distance-restraint"
sites = [0, 4]
distance = 1.0
tolerance = 0.1
stiffness = 5.0

[[forces]]
kind = "listed-pairs"
pairs = [[0, 4]]
epsilon = 1.0
sigma = 1.0

[[forces]]
kind = "exclusions"
bonds_apart = 2
pairs = [[0, 4]]

[thermostat]
kind = "nose-hoover-chain"
temperature = 1.0
masses = [1.0, 1.0, 1.0]

[integrator]
rule = "velocity-verlet"
step = 0.001

[run]
duration = 1.0
"""

FILED = """
[case]
units = "zg-nm-ns"

[model]
builder = "particles"
file = "ions.xyz"
species = {Na = {mass = "23 Da", charge = 1}, Cl = {mass = "35.5 Da", charge = -1}}
temperature = "300 K"

[[forces]]
kind = "lennard-jones-wall"
cutoff = "1 nm"
parameters = {Na = {epsilon = "1 zJ", sigma = "0.3 nm"}, Cl = {epsilon = "1 zJ", sigma = "0.4 nm"}}

[box]
lengths = ["3 nm", "3 nm", "3 nm"]
boundaries = ["open", "open", "open"]

[[forces]]
kind = "coulomb"
cutoff = "1.2 nm"

[[forces]]
kind = "twelve-six"
cutoff = "1 nm"
table = [{kinds = ["Na", "Na"], A = "1e-6 zJ nm^12", B = 0}, {kinds = ["Na", "Cl"], A = 1e-6, B = 0},
         {kinds = ["Cl", "Cl"], A = 1e-6, B = 0}]

[integrator]
rule = "velocity-verlet"
step = "1 fs"

[run]
duration = "1 ps"
frames = 10
"""

JOINTED = """
[case]
units = "kg-m-s"

[model]
bodies = [
    {name = "arm", mass = 1.0, inertia = [0.1, 0.1, 0.05], com = [0, 0, -0.5], joint = "revolute", axis = [0, 1, 0]},
    {name = "hand", parent = "arm", mass = 0.5, inertia = 0.01, joint = "spherical", position = [0, 0, -1]},
    {name = "slider", mass = 2.0, joint = "prismatic", axis = [1, 0, 0]},
    {name = "ball", mass = 2.0, inertia = 0.1, joint = "free", q = [0, 0, 3, 1, 0, 0, 0]},
]
sites = [{body = "hand", kind = "a", charge = 1}, {body = "slider", kind = "b"}, {body = "ground", kind = "a"}]
drives = [{body = "slider", times = [0, 1, 2, 3, 4], values = [0, 0.1, 0, 0.1, 0]}]

[[forces]]
kind = "gravity"
acceleration = [0, 0, -9.81]

[[forces]]
kind = "torsional-springs"
stiffness = {arm = 2.0, hand = 0.5}
rest = {arm = 0.1}

[[forces]]
kind = "point-spring"
bodies = ["ball", "ground"]
stiffness = "10 N/m"
damping = 0.1

[[forces]]
kind = "joint-damping"
rotational = {arm = 0.1}

[[forces]]
kind = "joint-friction"
rotational = {arm = 0.1}
rotational_speed = 0.01

[[forces]]
kind = "joint-actuation"
body = "arm"
times = [0, 1, 2, 3, 4]
values = [0, 1, 0, 1, 0]

[[forces]]
kind = "joint-drive"
body = "arm"
times = [0, 1, 2, 3, 4]
positions = [0, 1, 0, 1, 0]
speeds = [0, 1, 0, 1, 0]
stiffness = 2.0
damping = 0.5
max_torque = "3 N m"
max_speed = 2.0
speed_band = 0.5

[[forces]]
kind = "stokes-drag"
viscosity = "1 mPa s"
radius = {"*" = 0.1}
bodies = ["ball"]

[[forces]]
kind = "brownian"
temperature = 300

[dynamics]
solver = "kane"

[adaptive]
every = "10 ms"
groups = [{bodies = ["hand"], lock = {when = "speed", below = 0.01}, release = {when = "torque", above = 1.0}}]

[scaling]
policy = "two-factor"
a2 = 0.1
b2 = 0.5

[integrator]
rule = "dormand-prince"
rtol = 1e-6

[[checks]]
kind = "energy"
tolerance = 0.1

[[checks]]
kind = "coordinate"
body = "arm"
reference = 0.1
tolerance = 10.0

[run]
duration = "4 s"
frame_interval = "0.1 s"

[run.stop]
body = "ball"
direction = [0, 0, -1]
advance = 2.0

[variants.fast]
"integrator.rtol" = 1e-3
scaling = {policy = "none"}
"""

LOOPED = """
[case]
units = "kg-m-s"

[[model.bodies]]
name = "crank"
mass = 1.0
inertia = 0.1
joint = "revolute"
com = [0.5, 0, 0]
q = 1.0

[[model.bodies]]
name = "rod"
parent = "crank"
mass = 1.0
inertia = 0.1
joint = "revolute"
position = [1, 0, 0]
q = -1.2

[[model.bodies]]
name = "beam"
joint = "free"
modes = {kind = "beam", length = 1.0, mass = 1.0, bending_stiffness = 10.0, boundary = "free", gyration = 0.02}

[[model.loops]]
name = "slide"
joint = "prismatic"
axis = [1, 0, 0]
child = "rod"
child_position = [2, 0, 0]

[[model.sites]]
body = "beam"
node = 2
kind = "a"

[[forces]]
kind = "gravity"
acceleration = [0, "-9.81 m/s^2", 0]

[integrator]
rule = "rk4"
step = "1 ms"

[run]
duration = 1.0
"""

WALLED = """
[case]
units = "kg-m-s"

[model]
builder = "grains"

[[model.grains]]
name = "one"
radius = "10 mm"
density = "2500 kg/m^3"
position = [0, 0, 0.05]

[[model.fills]]
count = 20
radius = "3 mm"
largest_radius = "4 mm"
distribution = "equal-volumes"
mass = "1 g"
low = [-0.05, -0.05, 0.1]
high = [0.05, 0.05, 0.2]
arrangement = "random"

[[model.chains]]
links = 3
radius = "4 mm"
density = "2500 kg/m^3"
start = [0, 0, 0.3]
direction = [0, 0, 1]

[[forces]]
kind = "contact"
materials = {grain = {young = "10 MPa", poisson = 0.3, restitution = 0.5, static_friction = 0.3}}
walls = [
    {shape = "plane", kind = "grain", point = [0, 0, -0.2], normal = [0, 0, 1]},
    {shape = "cylinder", kind = "grain", radius = 0.3, axis = [0, 0, 1], point = [0, 0, 0], inside = true},
    {shape = "mesh", kind = "grain", file = "cube.stl", file_unit = "1 mm", point = [0, 0, -0.1]},
]

[integrator]
rule = "velocity-verlet"
step = "1 us"

[run]
duration = "1 ms"
frames = 10
"""

MOLECULE = """
[case]
units = "Da-nm-ps"

[model]
builder = "molecule"
structure = "peptide.pdb"
level = "side-chains"
viscosity = "0.89 mPa s"

[[forces]]
kind = "fixman"
temperature = 300

[thermostat]
kind = "langevin"
temperature = {times = [0, 1], values = [300, 350]}
friction = "1 ps^-1"

[integrator]
rule = "friction-implicit"
step = "1 fs"

[run]
duration = "1 ps"
frames = 5
speeds = "thermal"
"""

TEXTS = {
    "bonded": BONDED,
    "filed": FILED,
    "jointed": JOINTED,
    "looped": LOOPED,
    "walled": WALLED,
    "molecule": MOLECULE,
}
"""Cases by name."""

XYZ = b"""4
ions
Na 0.5 0.5 0.5
Cl 1.0 0.5 0.5
Na 1.0 1.0 0.5
Cl 1.5 1.5 1.5
"""


@cache
def structure_file(ending: str) -> bytes:
    """A peptide as a structure file, ``".pdb"`` or ``".cif"``."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"peptide{ending}")
        write_structure(peptide(["ACE", "ALA", "SER", "CYS", "GLY", "NME"]), path)
        return path.read_bytes()


@cache
def arrays_file() -> bytes:
    """Particles as an npz file."""
    stream = io.BytesIO()
    positions = np.array([[0.5, 0.5, 0.5], [1.0, 0.5, 0.5]])
    np.savez(stream, positions=positions, kinds=np.array(["Na", "Cl"]), velocities=np.zeros((2, 3)))
    return stream.getvalue()


def solid() -> tuple[np.ndarray, np.ndarray]:
    """Vertices and triangles of a tetrahedron."""
    vertices = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    return vertices, np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])


def stl() -> bytes:
    """It as an STL file of text."""
    vertices, triangles = solid()
    lines = ["solid part"]
    for triangle in triangles:
        lines += [" facet normal 0 0 0", "  outer loop"]
        lines += [f"   vertex {x:g} {y:g} {z:g}" for x, y, z in vertices[triangle]]
        lines += ["  endloop", " endfacet"]
    return "\n".join([*lines, "endsolid part", ""]).encode()


def beside() -> dict[str, bytes]:
    """Files that lie beside the cases."""
    return {"ions.xyz": XYZ, "cube.stl": stl(), "peptide.pdb": structure_file(".pdb")}
