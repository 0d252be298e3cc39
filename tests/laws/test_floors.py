"""The order of the package: what may import what, and what an import loads."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import articulon as ar
from articulon import kernel_cache

PACKAGE = Path(ar.__file__).parent

FLOORS = (
    ("errors", "terminal", "notebook_table", "announcements"),
    ("private_folders",),
    ("kernel_cache",),
    ("leaf_compiler",),
    ("kernels",),
    ("kernel_variants",),
    ("lanes",),
    ("lane_functions", "lane_registers", "lane_lookups"),
    ("passes", "columns"),
    ("algebra",),
    (
        "units",
        "rng",
        "declared_types",
        "declared_faults",
        "declaration",
        "declaration_help",
        "inputs",
        "sizes",
        "array_files",
        "gsd_files",
        "families",
    ),
    ("model",),
    ("modes",),
    ("dynamics",),
    ("building",),
    ("thermostats",),
    ("transitions",),
    ("forces",),
    ("barostats",),
    ("scaling",),
    ("integrate",),
    ("ensembles",),
    ("gpu",),
    ("adaptive",),
    ("fidelity",),
    ("storage",),
    ("time_scales",),
    ("conformations",),
    ("chains",),
    ("simulation",),
    ("molecules",),
    ("lammps",),
    ("robots",),
    ("cases",),
    ("analysis",),
    ("report",),
    ("studio",),
    ("comparisons",),
    ("runs",),
    ("sensitivities",),
    ("parameter_studies",),
    ("sweeps",),
    ("advice",),
    ("cli",),
    ("__main__",),
)
"""From the top of the dependencies down: a module imports from its own floor and from those before it."""

LEVEL = {name: level for level, names in enumerate(FLOORS) for name in names}
MODULES = sorted(path for path in PACKAGE.rglob("*.py") if path != PACKAGE / "__init__.py")


def imported_floors(source: str, package: str) -> Iterator[tuple[int, str]]:
    """Line and floor of every import from articulon in a module of the given package, wherever it stands."""
    for node in ast.walk(ast.parse(source)):
        targets: list[str] = []
        match node:
            case ast.Import(names=names):
                targets = [alias.name for alias in names]
            case ast.ImportFrom(module=module, names=names, level=level):
                base = package.split(".")[: len(package.split(".")) - level + 1] if level else []
                home = ".".join([*base, *([module] if module else [])])
                targets = [f"{home}.{alias.name}" for alias in names]
            case ast.Call(
                func=ast.Name(id="import_module") | ast.Attribute(attr="import_module"),
                args=[ast.Constant(value=str(target)), *_],
            ):
                targets = [target]
        for target in targets:
            if target == "articulon" or target.startswith("articulon."):
                yield node.lineno, (target.split(".") + [""])[1]


def violations(source: str, package: str, floor: str) -> list[str]:
    """Imports that reach to a later floor, or through the public face, which stands on all of them."""
    return [
        f"line {line}: {floor} imports {name or 'the public face'}"
        for line, name in imported_floors(source, package)
        if name != "__version__" and LEVEL.get(name, len(FLOORS)) > LEVEL[floor]
    ]


@pytest.mark.slow
def test_a_floor_imports_only_from_those_above_it():
    found = {}
    for path in MODULES:
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        assert parts[0] in LEVEL, f"{parts[0]} is on no floor: say in FLOORS and in ARCHITECTURE.md where it belongs"
        found[str(path)] = violations(path.read_text(encoding="utf-8"), ".".join(("articulon", *parts[:-1])), parts[0])
    assert {path: reached for path, reached in found.items() if reached} == {}


@pytest.mark.parametrize(
    "source",
    [
        "import articulon",
        "import articulon.forces.drag",
        "from articulon import ModelBuilder",
        "from articulon import forces",
        "from articulon.forces import StokesDrag",
        "from ..forces.drag import StokesDrag",
        "from .. import forces",
        "def late():\n    from articulon.simulation.case_run import run",
        "if TYPE_CHECKING:\n    from articulon.cli import main",
        "import importlib\nimportlib.import_module('articulon.report')",
    ],
)
def test_the_check_sees_every_way_of_importing_from_below(source):
    assert len(violations(source, "articulon.dynamics", "dynamics")) == 1


@pytest.mark.parametrize(
    "source",
    [
        "import numpy",
        "from articulon import __version__",
        "from articulon.model import Model",
        "from ..model.tables import Forest",
        "from .kinematics import place",
        "from articulon.dynamics.kinematics import place",
        "from articulonish.forces import anything",
    ],
)
def test_the_check_lets_the_others_pass(source):
    assert violations(source, "articulon.dynamics", "dynamics") == []


def dotted(path: Path) -> str:
    """The name by which a module is imported."""
    return ".".join(("articulon", *path.relative_to(PACKAGE).with_suffix("").parts))


NAMES = {dotted(module) for module in MODULES}


def imported_modules(path: Path) -> set[str]:
    """Modules of the package that one imports, also within functions and for type checkers."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            found |= {f"{node.module}.{alias.name}" for alias in node.names} | {node.module}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return found & NAMES


def circle(graph: dict[str, set[str]]) -> list[str]:
    """Some nodes of a graph each of which leads to the next, and the last to the first; none where there are none."""
    done: set[str] = set()

    def walk(node: str, way: list[str]) -> list[str]:
        if node in way:
            return way[way.index(node) :]
        if node in done:
            return []
        for other in sorted(graph[node]):
            found = walk(other, [*way, node])
            if found:
                return found
        done.add(node)
        return []

    return next((found for node in sorted(graph) if (found := walk(node, []))), [])


@pytest.mark.slow
def test_no_modules_import_each_other_in_a_circle():
    """Not even late: two that need each other are one, or what both need is a third."""
    graph = {dotted(path): imported_modules(path) for path in MODULES}
    assert circle(graph) == []
    assert circle({"a": {"b"}, "b": {"c"}, "c": {"a"}}) == ["a", "b", "c"]


def test_a_name_says_which_file_is_meant():
    """A stem occurs once in the package."""
    stems = [path.stem for path in MODULES if path.stem not in ("__init__", "base")]
    assert sorted({stem for stem in stems if stems.count(stem) > 1}) == []


def test_kernels_are_kept_by_all_that_they_may_call():
    """A kept kernel is found by the sources of whatever makes code: none of these modules is left out of them."""
    makers = {"articulon.kernels", "articulon.lanes", "articulon.leaf_compiler"}
    above = [path for path in MODULES if path.parent == PACKAGE]
    compiling = {path.name for path in above if imported_modules(path) & makers} | {"kernels.py", "lanes.py"}
    assert compiling <= set(kernel_cache.FLOORS[0])


def test_importing_the_package_loads_none_of_its_dependencies():
    """Which is what keeps ``import articulon`` in milliseconds."""
    heavy = ["numpy", "scipy", "numba", "h5py", "pydantic", "pint", "typer", "rich", "matplotlib"]
    peers = ["pinocchio", "mujoco", "MDAnalysis", "sympy"]
    program = (
        "import sys, json; before = set(sys.modules); import articulon; dir(articulon); articulon.__version__;"
        f"print(json.dumps(sorted((set(sys.modules) - before) & set({heavy + peers!r}))))"
    )
    output = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout
    assert json.loads(output) == []


@pytest.mark.parametrize("name", ar.__all__)
def test_every_public_name_resolves(name):
    assert name in dir(ar)
    assert getattr(ar, name) is not None


@pytest.mark.slow
@pytest.mark.parametrize("first", ["load_case", "compare"])
def test_simulate_can_be_called_whatever_has_been_loaded_before(first):
    """It is loaded when it is first asked for, as the others are."""
    program = f"import articulon as ar; ar.{first}; assert callable(ar.simulate)"
    subprocess.run([sys.executable, "-W", "ignore", "-c", program], check=True)


def test_the_public_names_are_those_of_the_contract():
    assert set(ar.__all__) == {
        *("ModelBuilder", "Model", "State", "Workspace", "Box", "Modes"),
        *("Weld", "Revolute", "Prismatic", "Spherical", "Universal", "Swing", "Xyz", "Free"),
        *(
            "forward_dynamics",
            "inverse_dynamics",
            "derivatives",
            "force_derivatives",
            "vector_jacobian",
            "jacobian_vector",
            "mass_matrix",
            "kinetic_energy",
            "body_poses",
        ),
        *("cartesian", "close_loops", "loop_jacobian", "loop_residuals", "simulate", "resume", "sensitivity"),
        "minimise",
        *("potential_energy", "generalized_forces", "virial", "pressure", "configurational_laplacian"),
        *("forces", "thermostats", "barostats", "scaling", "adaptive", "analysis", "modes", "molecules", "gpu"),
        *("lammps", "shapes", "read_urdf", "read_mjcf", "write_urdf"),
        *("lock", "release", "Transition", "Reservoir"),
        *("load_case", "load_plugin", "run", "open_run", "Run", "compare", "Ensemble", "advise", "replica_exchange"),
        *("ensemble", "rank_parameters", "fit", "optimise"),
        *("ArticulonError", "CaseError", "ModelError", "DivergenceError", "CheckpointError", "TransitionError"),
        "__version__",
    }


def test_a_type_checker_sees_the_names_that_load_on_first_use():
    tree = ast.parse((PACKAGE / "__init__.py").read_text(encoding="utf-8"))
    block = next(n for n in tree.body if isinstance(n, ast.If) and ast.unparse(n.test) == "TYPE_CHECKING")
    seen = {a.asname: n.module for n in block.body if isinstance(n, ast.ImportFrom) for a in n.names}
    assert seen == {**ar._HOME_OF, **dict.fromkeys(ar._SUBPACKAGES, "articulon")}


def test_a_name_that_does_not_exist_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'articulon' has no attribute 'foward_dynamics'"):
        _ = ar.foward_dynamics
