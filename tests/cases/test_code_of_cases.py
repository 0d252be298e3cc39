"""A case is data: functions that it names run only where the user has allowed it, and never to look at it."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

import articulon as ar
from articulon import cli
from articulon.array_files import FREE
from articulon.cases.consent import are_numbers, named_code
from articulon.declaration import Declaration
from articulon.errors import ArticulonError, CaseError, ModelError
from tests.support.run_cases import BALL

EVIL = """
from pathlib import Path
Path(__file__).with_name("ran").touch()
import numba

def force(time, positions, rotations, velocities, parameters, wrenches):
    wrenches[0, 0] = 1.0

@numba.njit
def law(r2, parameters):
    return 0.0, 0.0, 0.0

def torque(time, q, u, parameters, tau):
    tau[0] = 1.0

def turn(time, result):
    result[0], result[1], result[2] = time, 1.0, 0.0

def still(time, q, u, locked):
    return locked
"""

WHEEL = """
[case]
units = "kg-m-s"
[[model.bodies]]
name = "wheel"
mass = 1.0
inertia = 0.5
joint = "revolute"
[run]
duration = 1.0
frames = 4
"""

NAMED = {
    "forces[0].function": BALL + '[[forces]]\nkind = "user"\nfunction = "evil.py:force"\n',
    "forces[1].function": BALL
    + '[[model.sites]]\nbody = "ball"\nposition = [0, 0, 0]\nkind = "A"\n'
    + '[[forces]]\nkind = "gravity"\nacceleration = [0, 0, -1]\n'
    + '[[forces]]\nkind = "user-pair"\nfunction = "evil.py:law"\ncutoff = 1.0\nparameters = [1.0]\n',
    "forces[0].function ": WHEEL + '[[forces]]\nkind = "joint-actuation"\nfunction = "evil.py:torque"\n',
    "model.drives[0].function": WHEEL + '[[model.drives]]\nbody = "wheel"\nfunction = "evil.py:turn"\n',
    "adaptive.groups[0].lock.function": WHEEL
    + '[adaptive]\nevery = 0.1\n[[adaptive.groups]]\nbodies = ["wheel"]\n'
    + 'lock = {when = "function", function = "evil.py:still"}\n',
}
"""A case for each way in which a case may name code, by its key."""


@pytest.fixture
def sent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that somebody has sent, with code in it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "evil.py").write_text(EVIL, encoding="utf-8")
    return tmp_path


def written(sent: Path, text: str) -> Path:
    (sent / "sent.toml").write_text(text, encoding="utf-8")
    return sent / "sent.toml"


def ran(sent: Path) -> bool:
    """Whether the code has run since it was last asked."""
    mark = sent / "ran"
    found = mark.exists()
    mark.unlink(missing_ok=True)
    return found


def invoke(*arguments: str) -> Result:
    return CliRunner().invoke(cli.app, list(arguments), env={"COLUMNS": "1000", "NO_COLOR": "1"})


@pytest.mark.parametrize("key", NAMED)
def test_no_command_runs_code_that_nobody_has_allowed(sent: Path, key: str) -> None:
    file = written(sent, NAMED[key])
    for command in ("run", "compare", "analyse", "tune", "advise"):
        result = invoke(command, str(file))
        assert not ran(sent), command
        assert result.exit_code == 2, command
        assert f"sent.toml: {key.strip()} = '" in result.stderr, command
        assert "is code that the case names, and it was not run" in result.stderr
        assert "--allow-code" in result.stderr
    assert sorted(path.name for path in sent.iterdir()) == ["evil.py", "sent.toml"]
    for command in (("cite", str(file)), ("cases", str(file))):
        assert invoke(*command).exit_code == 0
        assert not ran(sent), command


def test_derivatives_that_a_force_brings_are_code_too(sent: Path) -> None:
    text = '[[forces]]\nkind = "user"\nfunction = "evil.py:force"\n'
    own = {"adjoint_function": "evil.py:back", "tangent_function": "evil.py:change"}
    file = written(sent, BALL + text + "".join(f'{key} = "{value}"\n' for key, value in own.items()))
    result = invoke("run", str(file))
    assert result.exit_code == 2 and not ran(sent)
    for key, value in own.items():
        assert f"forces[0].{key} = '{sent / value}'" in result.stderr
    case = ar.load_case(file)
    assert [key for key, _ in case.code] == ["forces[0].function", *(f"forces[0].{key}" for key in own)]
    allowed = ar.load_case(file, allow_code=True)
    beside = {key: getattr(allowed.forces[0], key) for key in own}
    assert beside == {key: str(sent / value) for key, value in own.items()}


@pytest.mark.parametrize("key", NAMED)
def test_in_python_code_runs_where_it_is_allowed_and_only_there(sent: Path, key: str) -> None:
    file = written(sent, NAMED[key])
    case = ar.load_case(file)
    for attempt in (
        case.build_model,
        lambda: ar.run(case, sent / "out"),
        lambda: ar.run(file, sent / "out"),
        lambda: case.with_overrides({"run.seed": 3}).build_model(),
    ):
        with pytest.raises(CaseError, match=r"was not run.*allow_code=True of load_case"):
            attempt()  # type: ignore[operator]
    assert not ran(sent)
    assert not (sent / "out").exists()
    allowed = ar.load_case(file, {"run.seed": 4}, allow_code=True)
    if not key.startswith("adaptive"):
        allowed.with_overrides({"run.frames": 2}).build_model()
        assert ran(sent)


@pytest.mark.slow
def test_a_command_runs_what_is_allowed(sent: Path) -> None:
    file = written(sent, NAMED["forces[0].function"])
    result = invoke("run", str(file), "--allow-code", "--out", "out")
    assert result.exit_code == 0, result.output
    assert ran(sent)
    assert ar.run(file, sent / "again", allow_code=True, report=False).summary["status"] == "complete"
    assert ar.run(ar.load_case(file), sent / "third", allow_code=True, report=False).summary["status"] == "complete"
    assert ran(sent)
    with pytest.raises(CaseError, match="was not run"):
        ar.run(file, sent / "third", resume=True)


@pytest.mark.slow
@pytest.mark.parametrize("key", ["forces[0].function", "model.drives[0].function"])
def test_looking_at_a_run_runs_nothing(sent: Path, key: str) -> None:
    """Its report, its arrays and what is measured on them."""
    file = written(sent, NAMED[key])
    done = ar.run(file, sent / "out", allow_code=True)
    assert ran(sent)
    degrees_of_freedom = done.summary["degrees_of_freedom"]
    (sent / "out" / "report.html").unlink(missing_ok=True)
    result = invoke("report", "out")
    assert result.exit_code == 0, result.output
    # The model of the report is without what drives the wheel.
    page = (sent / "out" / "report.html").read_text(encoding="utf-8")
    assert re.search(rf"bodies, degrees of freedom</\w+>\s*<\w+>1, {degrees_of_freedom}</", page)
    opened = ar.open_run(sent / "out")
    assert opened.positions.shape == (len(opened.times), 1, 3)
    from articulon.report.figures import figures

    assert figures(opened)
    if key.startswith("forces"):
        ar.analysis.mean_square_displacement(opened, "ball")
    else:
        with pytest.raises(CaseError, match="was not run"):
            ar.analysis.mean_square_displacement(opened, "wheel")
    assert not ran(sent)


def test_a_model_without_its_code_cannot_be_evaluated(sent: Path) -> None:
    from articulon.forces.evaluation import Evaluator

    for key in ("forces[0].function", "forces[1].function", "forces[0].function "):
        model = ar.load_case(written(sent, NAMED[key])).build_model(run_code=False)
        with pytest.raises(ModelError, match=r"'.*evil\.py:.*' is code that the case names, and it was not run"):
            Evaluator(model)
    assert not ran(sent)


def test_a_function_that_python_code_gives_is_its_own_consent(sent: Path) -> None:
    builder = ar.ModelBuilder(units="kg-m-s")
    builder.add_body("ball", mass=1.0, inertia=1.0, joint=ar.Free())
    builder.add_force(ar.forces.UserForce(function=f"{sent / 'evil.py'}:force"))
    builder.build()
    assert ran(sent)


# That nothing has been forgotten


def declarations(base: type = Declaration) -> set[type]:
    found = {base}
    for part in base.__subclasses__():
        found |= declarations(part)
    return found


def test_every_declared_function_is_found_by_what_asks_for_consent() -> None:
    """A new one must be in a section that is looked at, and have a case above."""
    named = {one.__name__ for one in declarations() if "function" in getattr(one, "model_fields", {})}
    assert named == {"UserForce", "UserPair", "JointActuation", "ExplicitDrive", "Function"}


@pytest.mark.slow
def test_code_is_loaded_in_one_place_alone() -> None:
    package = Path(ar.__file__).parent
    loading: dict[str, set[str]] = {}
    for path in package.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                name = ast.unparse(node.func).rpartition(".")[2]
                if name in (
                    "exec",
                    "eval",
                    "exec_module",
                    "import_module",
                    "__import__",
                    "run_path",
                    "loaded_function",
                    "loaded_module",
                ):
                    loading.setdefault(name, set()).add(path.relative_to(package).as_posix())
    assert loading.pop("loaded_function") == {
        *("forces/user_force.py", "forces/joint_actuation.py", "forces/sites/laws/user_pair.py"),
        *("cases/builders/explicit_loops.py", "adaptive/conditions/user_condition.py"),
    }
    assert loading.pop("loaded_module") == {"cases/plugins.py", "forces/user_functions.py"}
    assert loading.pop("exec_module") == {"forces/user_functions.py"}
    ours = {
        "__init__.py",
        "families.py",
        "lammps/__init__.py",
        "model/joints/__init__.py",
        "integrate/rules/__init__.py",
        *("gpu/__init__.py", "gpu/devices.py"),
    }
    assert loading.pop("import_module") == {"forces/user_functions.py", *ours}
    assert loading == {}


# Arrays that cases name


PARTICLES = """
[case]
units = "lj"
[model]
builder = "particles"
file = "many.npz"
[model.species.A]
mass = 1.0
[run]
duration = 1.0
"""


def test_a_small_file_of_many_particles_is_refused_before_it_is_unpacked(sent: Path) -> None:
    import tracemalloc

    import numpy as np

    number = FREE // 24 + 1
    np.savez_compressed(sent / "many.npz", positions=np.zeros((number, 3)), kinds=np.array(["A"]))
    tracemalloc.start()
    with pytest.raises(ArticulonError, match=r"many\.npz.*would unpack from \d+ to \d+ bytes, and was not read"):
        ar.load_case(written(sent, PARTICLES)).build_model()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < FREE / 4


@pytest.mark.parametrize("content", [b"", b"PK", b"no zip", bytes(1000)])
def test_a_damaged_file_of_particles_is_refused_by_its_name(sent: Path, content: Any) -> None:
    (sent / "many.npz").write_bytes(content)
    with pytest.raises(CaseError, match=r"many\.npz is damaged, truncated or not a file of arrays"):
        ar.load_case(written(sent, PARTICLES)).build_model()


def test_code_is_found_wherever_it_stands_in_a_list() -> None:
    """Behind numbers, texts and empty lists too."""
    code = {"function": "evil:run"}
    for items in ([1.0, code], ["text", code], [[], code], [[1.0, 2.0], [code]]):
        assert [value for _, value in named_code({"forces": items})] == ["evil:run"]
    assert are_numbers([[1.0, 2], [3.0, []]]) and not are_numbers(["text"])
