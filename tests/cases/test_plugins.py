"""A file of a user's adds a builder of models, a force, a law of pairs, a wall, a thermostat, a scaling policy, a rule,
a condition that locks and releases, or a check, each in one file."""

from __future__ import annotations

import math
import os
import re
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import articulon as ar
from articulon.integrate import rules
from articulon.model.array_rotations import matrices

FORCE = '''
from typing import Annotated, Literal, NamedTuple

import numpy as np

from articulon.declaration import Dimension, Quantity
from articulon.forces.base import Force
from articulon.forces.point_springs import pull_at
from articulon.model.state import POTENTIAL
from articulon.passes import pass_of


class Table(NamedTuple):
    link: np.ndarray
    strength: np.ndarray


class Tether(Force):
    """U = k x of the origins of bodies."""

    energy_channel = POTENTIAL
    kind: Literal["tether-KEY"] = "tether-KEY"
    bodies: tuple[str, ...]
    strength: Annotated[Quantity, Dimension("force")]

    @classmethod
    def gather(cls, model, declared, users):
        rows = [(int(model.link[model.body(b)]), float(f.strength)) for _, f in declared for b in f.bodies]
        return Table(np.array([r[0] for r in rows]), np.array([r[1] for r in rows]))

    @classmethod
    def channels(cls, table):
        return (POTENTIAL,), ()

    @classmethod
    def fill(cls, table, at):
        yield pull.bind(table, at.channels.wrench[POTENTIAL])

    @classmethod
    def energy(cls, table, at):
        yield weigh.bind(table, at.ws, at.result)

    @classmethod
    def coarsen(cls, table, merging, links, speeds):
        return table._replace(link=merging.carriers(table.link))


@pass_of
def pull(table, wrench):
    for r in range(table.link.size):
        pull_at(wrench, table.link[r], (0.0, 0.0, 0.0), (-table.strength[r], 0.0, 0.0))


@pass_of
def weigh(table, ws, result):
    for r in range(table.link.size):
        result[POTENTIAL] += table.strength[r] * ws.position[table.link[r], 0]
'''

PAIR = '''
from typing import Annotated, Literal

import numpy as np

from articulon.declaration import Dimension, Quantity
from articulon.forces.sites.site_terms import PairTerm
from articulon.declaration import Declaration
from articulon.kernels import jit


@jit
def spring(r2, rows, k, charges):
    return 0.5 * rows[k, 1] * r2, -rows[k, 1], 3.0 * rows[k, 1]


class Springs(Declaration):
    """U = k r²/2 between all sites."""

    kind: Literal["all-springs-KEY"] = "all-springs-KEY"
    stiffness: Annotated[Quantity, Dimension("stiffness", minimum=0)]

    def check(self, model, where):
        pass

    def site_terms(self, model):
        kinds = len(model.sites.kinds)
        rows = np.tile([1e9, float(self.stiffness)], (kinds * kinds, 1))
        return [PairTerm(spring, "all-springs-KEY", rows, np.inf)]
'''

THERMOSTAT = '''
import math
from typing import Annotated, ClassVar, Literal

from articulon.thermostats.base import RELAXATION, SCALES, BaseThermostat
from articulon.thermostats.schedule import target
from articulon.declaration import Dimension, Quantity
from articulon.kernels import first_class
from articulon.model.state import THERMOSTAT


@first_class
def relax(bath, kinetic, time, h, count, factor, variables, works):
    wanted = 0.5 * target(bath, time)
    after = wanted + (kinetic - wanted) * math.exp(-h / bath.constants[RELAXATION])
    works[THERMOSTAT] += after - kinetic
    return math.sqrt(after / kinetic)


class Relaxation(BaseThermostat):
    """dK/dt = (N k T/2 − K)/τ."""

    kind: Literal["relaxation-KEY"] = "relaxation-KEY"
    time: Annotated[Quantity, Dimension("time", minimum=0, exclusive=True)]
    way: ClassVar[int] = SCALES
    advance = staticmethod(relax)

    def numbers(self):
        return 0.0, 0.0, float(self.time)
'''

POLICY = '''
from typing import Literal

import numpy as np

from articulon.kernels import first_class
from articulon.scaling.base import ScalingPolicy


@first_class
def halve(parameters, sums, factor):
    for c in range(factor.size):
        factor[c] = parameters[0]


class Halves(ScalingPolicy):
    """All forces times one half."""

    policy: Literal["halves-KEY"] = "halves-KEY"
    law = staticmethod(halve)

    def parameters(self, damping):
        return np.array([0.5])

    def least_factor(self):
        return 0.5

    def configurational_factor(self):
        return 2.0
'''

RULE = """
from articulon.integrate.tableaux import tableau

RALSTON_KEY = tableau([[2 / 3]], b=[1 / 4, 3 / 4], error=None, order=2)
"""

WALL = '''
from typing import Annotated, Literal

import numpy as np

from articulon.declaration import Dimension, Quantity
from articulon.forces.contact.walls import Wall, WallPart
from articulon.forces.contact.walls.wall_base import still


class Trough(Wall):
    """Two planes that meet along y."""

    shape: Literal["trough-KEY"] = "trough-KEY"
    slope: Annotated[Quantity, Dimension("angle")]

    def parts(self, model, called, where):
        c, s = np.cos(self.slope), np.sin(self.slope)
        normals = (np.array([s, 0.0, c]), np.array([-s, 0.0, c]))
        return [WallPart.plane(f"{called} side {k}", self.kind, n, still(np.zeros(3))) for k, n in enumerate(normals)]
'''

CONDITION = '''
from typing import Annotated, Literal

import numpy as np

from articulon.adaptive.conditions import BoundedCondition
from articulon.declaration import Dimension, Quantity


class Angle(BoundedCondition):
    """The first coordinate of each joint."""

    when: Literal["angle-KEY"] = "angle-KEY"
    below: Annotated[Quantity | None, Dimension("angle")] = None
    above: Annotated[Quantity | None, Dimension("angle")] = None

    def truth(self, decision, parts):
        return self.holds(decision.state.q[decision.evaluator.model.forest.q_start[parts]])
'''

CHECK = '''
from typing import Literal

from articulon.simulation.checks import ValueCheck


class Furthest(ValueCheck):
    """The largest coordinate of all."""

    kind: Literal["furthest-KEY"] = "furthest-KEY"

    def dimension(self, model, observables, where):
        return "angle"

    def series(self, frames):
        return frames.q.max(axis=1)

    def name(self):
        return "largest coordinate"
'''

BUILDER = '''
from typing import Annotated, Literal

import articulon as ar
from articulon.cases.builders import BaseBuilder
from articulon.declaration import Dimension, Quantity


class Rod(BaseBuilder):
    """One rod on a hinge."""

    builder: Literal["rod-KEY"] = "rod-KEY"
    length: Annotated[Quantity, Dimension("length", minimum=0, exclusive=True)]

    def populate(self, builder):
        centre = (0.0, 0.0, -0.5 * self.length)
        builder.add_body("rod", mass=1.0, inertia=0.1, com=centre, joint=ar.Revolute(axis=(0, 1, 0)), q=0.5)
'''

FILES = {
    "builder": BUILDER,
    "force": FORCE,
    "pair": PAIR,
    "wall": WALL,
    "thermostat": THERMOSTAT,
    "policy": POLICY,
    "rule": RULE,
    "condition": CONDITION,
    "check": CHECK,
}


def written(folder: Path, key: str) -> dict[str, Path]:
    """The files, whose names for what they define end in a key that no other test uses."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = {name: folder / f"{name}_{key}.py" for name in FILES}
    for name, path in paths.items():
        word = key.upper() if name == "rule" else key
        path.write_text(FILES[name].replace("KEY", word), encoding="utf-8")
    return paths


@pytest.fixture(scope="module", autouse=True)
def rules_of_before() -> Iterator[None]:
    """Takes out the rules that were added, which other tests count."""
    known = rules.EXPLICIT, rules.PREDICTOR_CORRECTOR, rules.CANONICAL
    before = [dict(one) for one in known]
    yield
    for one, kept in zip(known, before, strict=True):
        for name in set(one) - set(kept):
            del one[name]


@pytest.fixture(scope="module")
def modules(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    paths = written(tmp_path_factory.mktemp("plugins"), "py")
    return {name: ar.load_plugin(path) for name, path in paths.items()}


def pendulum(*forces: Any, sites: bool = False) -> Any:
    """A rod on a hinge about y and a second one that hangs on it."""
    builder = ar.ModelBuilder(units="lj")
    parent = None
    for k in range(2):
        parent = builder.add_body(
            f"rod{k}",
            parent=parent,
            mass=1.0,
            inertia=0.1,
            com=(0.0, 0.0, -0.5),
            joint=ar.Revolute(axis=(0, 1, 0)),
            position=(0.0, 0.0, -1.0 if k else 0.0),
            q=0.3 + 0.2 * k,
        )
        if sites:
            builder.add_site(parent, position=(0.0, 0.0, -1.0), kind="A")
    for force in forces:
        builder.add_force(force)
    return builder.build()


def adaptive() -> Any:
    group = ar.adaptive.Group(name="tip", bodies=("rod1",), lock=ar.adaptive.Speed(below=1e9))
    return ar.adaptive.Adaptive(every=0.05, groups=(group,))


def total_energies(model: Any, run: Any) -> np.ndarray:
    return np.array(
        [ar.kinetic_energy(model, q, u) + ar.potential_energy(model, q) for q, u in zip(run.q, run.u, strict=True)]
    )


def test_a_force_works_in_python_and_where_joints_lock(modules: dict[str, Any]) -> None:
    """A uniform force keeps T + k x; the energy after the lock is kept as well."""
    model = pendulum(modules["force"].Tether(bodies=("rod1",), strength=2.0))
    free = ar.simulate(model, 1.0, rule="dormand-prince", rtol=1e-10, atol=1e-12, frames=10)
    assert np.ptp(total_energies(model, free)) < 1e-8
    locked = ar.simulate(model, 1.0, rule="dormand-prince", rtol=1e-10, atol=1e-12, frames=10, adaptive=adaptive())
    assert np.ptp(total_energies(model, locked)[2:]) < 1e-8
    assert not np.diff(locked.q[2:, 1]).any()


@pytest.mark.slow
def test_a_pair_law_works_in_python_and_where_joints_lock(modules: dict[str, Any]) -> None:
    model = pendulum(modules["pair"].Springs(stiffness=3.0), sites=True)
    positions, rotations = ar.body_poses(model, model.q0)
    ends = positions + matrices(rotations) @ np.array([0.0, 0.0, -1.0])
    energy = 0.5 * 3.0 * float(((ends[1] - ends[0]) ** 2).sum())
    assert ar.potential_energy(model, model.q0) == pytest.approx(energy, rel=1e-12)
    run = ar.simulate(model, 1.0, rule="dormand-prince", rtol=1e-10, atol=1e-12, frames=10, adaptive=adaptive())
    assert np.ptp(total_energies(model, run)[2:]) < 1e-8


def test_a_thermostat_relaxes_the_kinetic_energy(modules: dict[str, Any]) -> None:
    """Without forces K − K∞ falls as e^{−t/τ}; a chain of one joint, whose free motion keeps K."""
    builder = ar.ModelBuilder(units="lj")
    builder.add_body("wheel", mass=1.0, inertia=1.0, joint=ar.Revolute(axis=(0, 0, 1)), u=2.0)
    bath = modules["thermostat"].Relaxation(temperature=1.0, time=0.5)
    run = ar.simulate(builder.build(), 1.0, rule="friction-implicit", step=0.01, frames=10, thermostat=bath)
    kinetic = 0.5 * run.u[:, 0] ** 2
    np.testing.assert_allclose(kinetic, 0.5 + 1.5 * np.exp(-run.times / 0.5), rtol=1e-12)


def test_a_policy_scales(modules: dict[str, Any]) -> None:
    """Half of the force on a ball from rest: half of the way, x = −k t²/4m."""
    builder = ar.ModelBuilder(units="lj")
    builder.add_body("ball", mass=1.0, joint=ar.Xyz())
    builder.add_force(modules["force"].Tether(bodies=("ball",), strength=2.0))
    run = ar.simulate(builder.build(), 1.0, frames=4, scaling=modules["policy"].Halves())
    np.testing.assert_allclose(run.q[:, 0], -0.5 * run.times**2, atol=1e-6)


def test_a_rule_is_of_its_order(modules: dict[str, Any]) -> None:
    model = pendulum(modules["force"].Tether(bodies=("rod1",), strength=2.0))
    exact = ar.simulate(model, 1.0, rule="dormand-prince", rtol=1e-12, atol=1e-14, frames=1).q[-1]
    errors = [
        np.abs(ar.simulate(model, 1.0, rule="ralston-py", step=step, frames=1).q[-1] - exact).max()
        for step in (0.001, 0.0005)
    ]
    assert math.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.1)


def test_a_wall_is_what_it_is_made_of(modules: dict[str, Any]) -> None:
    """A trough is two planes, to the bit."""
    c, s = math.cos(0.6), math.sin(0.6)
    planes = [ar.forces.Plane(point=(0, 0, 0), normal=n, kind="steel") for n in ((s, 0, c), (-s, 0, c))]
    ends = []
    for walls in (planes, [modules["wall"].Trough(slope=0.6, kind="steel")]):
        builder = ar.ModelBuilder(units="kg-m-s")
        builder.add_grains([[0.0, 0.0, 0.02], [0.01, 0.05, 0.03]], 0.01, density=2500.0)
        material = {"young": 1e7, "poisson": 0.25, "static_friction": 0.3, "restitution": 0.8}
        builder.add_force(ar.forces.Contact(materials={"grain": material, "steel": material}, walls=walls))
        builder.add_force(ar.forces.Gravity(acceleration=(0.0, 0.0, -9.81)))
        ends.append(ar.simulate(builder.build(), 0.1, rule="velocity-verlet", step=1e-5, frames=1).state)
    assert ends[0].contacts.work[0].any()
    np.testing.assert_array_equal(ends[0].q, ends[1].q)
    np.testing.assert_array_equal(ends[0].contacts.work, ends[1].contacts.work)


def test_a_condition_locks_and_releases(modules: dict[str, Any]) -> None:
    """The tip locks at the first decision at which its angle is below the bound."""
    group = ar.adaptive.Group(name="tip", bodies=("rod1",), lock=modules["condition"].Angle(below="20 deg"))
    plan = ar.adaptive.Adaptive(every=0.01, groups=(group,))
    model = pendulum(modules["force"].Tether(bodies=("rod1",), strength=2.0))
    common = {"rule": "dormand-prince", "rtol": 1e-10, "atol": 1e-12, "frames": 100}
    free, run = ar.simulate(model, 1.0, **common), ar.simulate(model, 1.0, adaptive=plan, **common)
    first = int(np.flatnonzero(free.q[:, 1] < math.radians(20.0))[0])
    assert 0 < first < 100 and not np.diff(run.q[first:, 1]).any() and np.diff(run.q[: first + 1, 1]).all()


def test_a_plugin_stands_at_any_depth_of_a_case(tmp_path: Path, modules: dict[str, Any]) -> None:
    """A condition is in a group of joints, a wall in a force; a wrong key in one is said with its path."""
    group = {"bodies": ["rod1"], "lock": {"when": "angle-py", "below": "20 deg"}}
    assert isinstance(
        ar.adaptive.Adaptive.from_mapping({"every": 0.1, "groups": [group]}).groups[0].lock,
        modules["condition"].Angle,
    )
    contact = {"materials": {"steel": {}}, "walls": [{"shape": "trough-py", "slope": 0.6, "kind": "steel"}]}
    assert isinstance(ar.forces.Contact.from_mapping(contact).walls[0], modules["wall"].Trough)
    wrong = group | {"lock": {"when": "angle-py", "blow": 0.1}}
    with pytest.raises(ar.CaseError, match=r"adaptive.groups\[0\].lock.blow: unknown key; did you mean 'below'"):
        ar.adaptive.Adaptive.from_mapping({"every": 0.1, "groups": [wrong]}, path="adaptive")


CASE = """
[case]
units = "lj"

[plugins]
files = ["force_case.py", "pair_case.py", "policy_case.py", "rule_case.py", "thermostat_case.py", "condition_case.py",
    "check_case.py"]

[model]
[[model.bodies]]
name = "rod0"
mass = 1.0
inertia = 0.1
com = [0.0, 0.0, -0.5]
joint = "revolute"
axis = [0, 1, 0]
q = 0.3
u = 0.4
[[model.bodies]]
name = "rod1"
parent = "rod0"
mass = 1.0
inertia = 0.1
com = [0.0, 0.0, -0.5]
joint = "revolute"
axis = [0, 1, 0]
position = [0.0, 0.0, -1.0]
q = 0.5
[[model.sites]]
body = "rod0"
position = [0.0, 0.0, -1.0]
kind = "A"
[[model.sites]]
body = "rod1"
position = [0.0, 0.0, -1.0]
kind = "A"

[[forces]]
kind = "tether-case"
bodies = ["rod1"]
strength = 2.0
[[forces]]
kind = "all-springs-case"
stiffness = 3.0

[scaling]
policy = "halves-case"

[integrator]
rule = "ralston-case"
step = 0.001

[adaptive]
every = 0.05
[[adaptive.groups]]
name = "tip"
bodies = ["rod1"]
lock = { when = "angle-case", below = 1e9 }

[[checks]]
kind = "furthest-case"
take = "final"
reference = 0.5
tolerance = 0.5

[run]
duration = 0.5
frames = 5
"""


@pytest.mark.slow
def test_a_case_names_what_plugins_define_and_runs_it_by_consent(tmp_path: Path) -> None:
    """Force, law of pairs, policy, rule, condition and check in one adaptive run; the thermostat in another."""
    written(tmp_path, "case")
    file = tmp_path / "swing.toml"
    file.write_text(textwrap.dedent(CASE), encoding="utf-8")
    with pytest.raises(ar.CaseError, match=r"swing.toml: plugins.files: 'force_case.py'.*not run.*allow_code=True"):
        ar.load_case(file)
    case = ar.load_case(file, allow_code=True)
    run = ar.run(case, tmp_path / "run")
    assert run.summary["scaling"]["policy"] == "halves-case" and len(run.times) == 6
    assert run.summary["adaptive"]["locked"] == 1
    assert run.summary["checks"][0]["what"] == "final largest coordinate" and run.summary["checks"][0]["passed"]
    again = ar.open_run(tmp_path / "run", allow_code=True)
    assert again.case.digest() == case.digest()
    warm = ar.load_case(
        file,
        {
            "scaling": {"policy": "none"},
            "integrator": {"rule": "friction-implicit", "step": 0.005},
            "thermostat": {"kind": "relaxation-case", "temperature": 1.0, "time": 0.5},
        },
        allow_code=True,
    )
    assert ar.run(warm, tmp_path / "warm", report=False).summary["steps"] == 100


def test_a_case_takes_its_model_from_a_plugin(tmp_path: Path) -> None:
    """The rod of the builder swings as the one that is written out."""
    written(tmp_path, "rod")
    common = '[[forces]]\nkind = "gravity"\nacceleration = [0, 0, -10]\n[run]\nduration = 0.5\nframes = 2\n'
    texts = {
        "built": '[model]\nbuilder = "rod-rod"\nlength = 3\n[plugins]\nfiles = ["builder_rod.py"]\n',
        "written": '[[model.bodies]]\nname = "rod"\nmass = 1\ninertia = 0.1\ncom = [0, 0, -1.5]\njoint = "revolute"\n'
        "axis = [0, 1, 0]\nq = 0.5\n",
    }
    ends = []
    for name, text in texts.items():
        (tmp_path / f"{name}.toml").write_text('[case]\nunits = "lj"\n' + text + common, encoding="utf-8")
        case = ar.load_case(tmp_path / f"{name}.toml", allow_code=True)
        ends.append(ar.run(case, tmp_path / name, report=False).q)
    np.testing.assert_array_equal(*ends)
    with pytest.raises(ar.CaseError, match=r"built.toml: model.length: must be greater than 0"):
        ar.load_case(tmp_path / "built.toml", {"model.length": 0.0}, allow_code=True)


TWO_WAYS = """
import sys
import articulon as ar

loaded = {name: ar.load_plugin(f"{sys.argv[1]}/{name}_ways.py") for name in sys.argv[2:]}
builder = ar.ModelBuilder(units="lj")
builder.add_body("ball", mass=1.0, joint=ar.Xyz())
builder.add_force(ar.forces.UserForce(function=f"{sys.argv[1]}/push.py:push"))
run = ar.simulate(builder.build(), 1.0, rule="kutta-merson", frames=1, scaling=loaded["policy"].Halves())
print(run.q[-1, 0])
"""
PUSH = """
import os
from articulon.kernels import first_class

STRENGTH = float(os.environ["STRENGTH"])


@first_class
def push(time, positions, rotations, velocities, parameters, wrenches):
    wrenches[0, 0] = STRENGTH
"""


@pytest.mark.slow
def test_files_are_what_they_are_whoever_loaded_them_before(tmp_path: Path) -> None:
    """Whatever another process has compiled of them, in another order, from another folder, and with other values that
    they take from elsewhere."""
    written(tmp_path, "ways")
    (tmp_path / "push.py").write_text(PUSH, encoding="utf-8")
    for strength, order in ((2.0, ("policy", "thermostat")), (4.0, ("thermostat", "policy"))):
        command = [sys.executable, "-c", TWO_WAYS, str(tmp_path), *order]
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, cwd=tmp_path.parent,
            env={**os.environ, "STRENGTH": str(strength)},
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert float(done.stdout) == pytest.approx(0.25 * strength, abs=1e-6)


def test_the_page_on_files_of_your_own_shows_what_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its files are written, loaded and used, in Python and in a case with its lines."""
    monkeypatch.chdir(tmp_path)
    text = (Path(__file__).parents[2] / "docs" / "extending.md").read_text(encoding="utf-8")
    (use, *blocks), (lines,) = (re.findall(rf"```{kind}\n(.*?)```", text, re.DOTALL) for kind in ("python", "toml"))
    (own,) = (block for block in blocks if not block.startswith("# "))
    blocks.remove(own)
    for block in blocks:
        name = block.splitlines()[0].removeprefix("# ")
        (tmp_path / name).write_text(block, encoding="utf-8")
        ar.load_plugin(name)
    names: dict[str, Any] = {}
    exec(use, names)
    assert names["force"].kind == "tether"
    case = (
        '[case]\nunits = "lj"\n'
        + lines
        + """
[[model.bodies]]
name = "rod"
mass = 1.0
inertia = 0.1
com = [0, 0, -0.5]
joint = "revolute"
axis = [0, 1, 0]
q = 0.5
[[forces]]
kind = "tether"
bodies = ["rod"]
strength = 2.0
[adaptive]
every = 0.1
[[adaptive.groups]]
bodies = ["rod"]
lock = { when = "angle", below = "-1000 deg" }
[[checks]]
kind = "furthest"
reference = 0.5
tolerance = 0.5
[run]
duration = 0.2
frames = 2
"""
    )
    (tmp_path / "swing.toml").write_text(case, encoding="utf-8")
    run = ar.run(ar.load_case("swing.toml", allow_code=True), tmp_path / "run", report=False)
    assert run.summary["checks"][0]["passed"]
    trough = ar.load_plugin("trough.py").Trough(slope="30 deg", kind="steel").resolved(ar.units.unit_system("lj"))
    assert len(trough.parts(None, "walls[0]", "walls[0]")) == 2


def test_the_page_on_files_of_your_own_shows_an_adjoint_that_is_right() -> None:
    text = (Path(__file__).parents[2] / "docs" / "extending.md").read_text(encoding="utf-8")
    names: dict[str, Any] = {}
    exec(next(block for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL) if "_adjoint" in block), names)
    found = []
    for own in (names["anchor_adjoint"], None):
        builder = ar.ModelBuilder(units="lj")
        builder.add_body("bead", mass=1.0, inertia=0.1, joint=ar.Free(), q=(0.5, 0.2, -0.3, 1.0, 0.0, 0.0, 0.0))
        builder.add_force(names["force"].model_copy(update={"adjoint_function": own}))
        run = {"duration": 0.2, "rule": "friction-implicit", "step": 0.02}
        found.append(ar.sensitivity(builder.build(), "kinetic_energy", ["q", "forces[0].parameters"], **run).gradient)
    for name, gradient in found[0].items():
        assert np.abs(np.subtract(gradient, found[1][name])).max() <= 1e-10, name
        assert np.abs(gradient).max() > 1e-4, name


def test_what_is_wrong_with_a_plugin_is_said_with_its_file(tmp_path: Path, modules: dict[str, Any]) -> None:
    for text, said in (
        (
            "x = 1",
            "defines no builder of models, force, wall, thermostat, barostat, scaling policy, condition, check or "
            "formula",
        ),
        ("import nothing_of_the_kind", "cannot be run: ModuleNotFoundError"),
        (FORCE.replace("KEY", "py") + "# another\n", "the kind 'tether-py' of a force is already used"),
        (RULE.replace("RALSTON_KEY", "RK4"), "there is a rule 'rk4' already"),
    ):
        file = tmp_path / "wrong.py"
        file.write_text(text, encoding="utf-8")
        with pytest.raises(ar.CaseError, match=f"wrong.py: .*{said}"):
            ar.load_plugin(file)
    with pytest.raises(ar.CaseError, match="no such plugin file"):
        ar.load_plugin(tmp_path / "missing.py")


def test_a_file_that_is_refused_has_changed_nothing(tmp_path: Path) -> None:
    """Of a good class and a bad one neither is added, and the file that has been put right is loaded."""
    file, clash = tmp_path / "two.py", FORCE.replace("tether-KEY", "point-spring").replace("Tether", "Clash")
    file.write_text(FORCE.replace("KEY", "refused") + clash, encoding="utf-8")
    with pytest.raises(ar.CaseError, match=r"two.py: Clash: the kind 'point-spring' of a force is already used"):
        ar.load_plugin(file)
    file.write_text(FORCE.replace("KEY", "refused"), encoding="utf-8")
    assert ar.load_plugin(file).Tether(bodies=("a",), strength=1.0).kind == "tether-refused"
    rule = tmp_path / "rule.py"
    rule.write_text(RULE.replace("RALSTON_KEY", "OVERDAMPED"), encoding="utf-8")
    with pytest.raises(ar.CaseError, match=r"rule.py: OVERDAMPED: there is a rule 'overdamped' already"):
        ar.load_plugin(rule)
    rule.write_text(RULE.replace("RALSTON_KEY", "RALSTON_AGAIN"), encoding="utf-8")
    assert ar.load_plugin(rule).RALSTON_AGAIN.order == 2


def test_a_copy_of_a_plugin_is_that_plugin(tmp_path: Path, modules: dict[str, Any]) -> None:
    assert ar.load_plugin(written(tmp_path / "copy", "py")["force"]) is modules["force"]


def test_a_run_that_is_saved_names_its_plugins(tmp_path: Path, modules: dict[str, Any]) -> None:
    """So that it can be opened, and continued, where they have not been loaded."""
    model = pendulum(modules["force"].Tether(bodies=("rod1",), strength=2.0))
    group = ar.adaptive.Group(bodies=("rod1",), lock=modules["condition"].Angle(below="-20 deg"))
    plan = ar.adaptive.Adaptive(every=0.01, groups=(group,))
    run = ar.simulate(model, 0.1, rule="ralston-py", step=0.01, frames=2, adaptive=plan)
    run.save(tmp_path / "run")
    text = (tmp_path / "run" / "case.toml").read_text(encoding="utf-8")
    for name in ("force", "condition", "rule"):
        assert Path(modules[name].__file__).name in text
    assert "thermostat_py.py" not in text
    again = ar.open_run(tmp_path / "run", allow_code=True)
    np.testing.assert_array_equal(again.q, run.q)


def test_a_plugin_is_run_once_and_not_when_it_has_changed(tmp_path: Path) -> None:
    file = tmp_path / "once.py"
    file.write_text(RULE.replace("KEY", "ONCE"), encoding="utf-8")
    assert ar.load_plugin(file) is ar.load_plugin(file)
    file.write_text(RULE.replace("KEY", "TWICE"), encoding="utf-8")
    with pytest.raises(ar.CaseError, match="has changed since it was run"):
        ar.load_plugin(file)
