"""Every block of code in the documentation is run, or at least taken: Python, case files and commands."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import typer

import articulon
from articulon.cases.schema import CaseFile, with_discriminators
from articulon.cli import app
from articulon.cli.commands import assignments
from tests.support.page_blocks import blocks, commands, run_page

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(
    path
    for path in (*DOCS.rglob("*.md"), *ROOT.glob("*.md"))
    if not {"_build", "reference"} & set(path.relative_to(ROOT).parts)
)
LANGUAGES = {"python", "toml", "console", "sh", "text", "", "hidden", "{code-cell} ipython3"}
RUN_ELSEWHERE = {
    "README.md": "tests/laws/test_examples.py",
    "docs/extending.md": "tests/cases/test_plugins.py",
    "docs/grains.md": "tests/laws/test_examples.py, but for the block with freud",
    "docs/lammps.md": "tests/identities/test_data_file_models.py, tests/oracles/test_lammps_engine.py",
    "docs/molecules.md": "tests/laws/test_examples.py and tests/cases/test_structures.py, but for the block on ligands",
    "docs/transitions.md": "tests/laws/test_transitions.py",
}
"""Pages whose Python has a test of its own. What that leaves out is compiled alone."""
SHORTER: Mapping[str, Mapping[str, str]] = {
    "docs/tutorials/grains.md": {"in (0.1, 0.5, 0.9)": "in (0.1, 0.9)", "in (1, 2, 3)": "in (1, 2)"},
    "docs/tutorials/colloids.md": {"[0.89, 1.2, 1.6]": "[0.89, 1.6]", "range(1, 17)": "range(1, 9)"},
    "docs/how_to/remove_a_wall.md": {"column(floor, back), 1.0,": "column(floor, back), 0.7,"},
    "docs/how_to/sweep.md": {"--seeds 1 --vary": "--seeds 1 --workers 1 --vary", "q=1.4,1.5,1.6": "q=1.4,1.6"},
    "docs/advice.md": {"seconds=30": "seconds=3"},
    "docs/gpu.md": {'device="cuda"': 'device="warp-cpu"', "10_000": "20"},
    "docs/gpu_particles.md": {'device="cuda"': 'device="cpu"'},
    "docs/multibody.md": {"10_000": "20", "25_000": "5", "viscosity=..., radius=...": "translational=1, rotational=1"},
    "docs/sweeps.md": {
        "seeds=50": "seeds=2",
        '{"forces.brownian": {"temperature": "300 K"}}': '{"run.duration": "0.01 us", "run.frames": 5}',
        '["0.7 mPa s", "0.9 mPa s"]': '["0.7 mPa s"]',
        "workers=2": "workers=1",
    },
}
"""What is run in place of what is printed, where that would take minutes or another device."""
NEEDS = {
    "docs/gpu.md": "warp",
    "docs/flexible.md": "MDAnalysisTests",
    "docs/robots.md": "mujoco",
    "docs/sweeps.md": "distributed",
    "docs/how_to/sweep.md": "distributed",
    "docs/how_to/make_a_film.md": "pyvista",
    "docs/how_to/restrain.md": "openmm",
    "docs/how_to/trust_a_molecular_run.md": "openmm",
    "docs/tutorials/biophysicist.md": "openmm",
}
"""The package of an extra."""
QUICK = {"use_units.md", "read_a_lammps_file.md", "share_a_case.md", "build_in_the_studio.md", "write_a_force.md"}
"""Pages that take no more than seconds."""


def named(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def has_code(path: Path) -> bool:
    found = {block.language for block in blocks(path.read_text(encoding="utf-8"))}
    return not found.isdisjoint({"python", "console", "{code-cell} ipython3"})


@pytest.mark.usefixtures("undrawn")  # reports have tests of their own
@pytest.mark.parametrize(
    "page",
    [
        pytest.param(path, id=named(path), marks=() if path.name in QUICK else pytest.mark.slow)
        for path in PAGES
        if has_code(path) and named(path) not in RUN_ELSEWHERE
    ],
)
def test_the_code_of_a_page_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = NEEDS.get(named(page))
    if package is not None and find_spec(package) is None:
        pytest.skip(f"{package} is not installed")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")
    run_page(page, tmp_path, SHORTER.get(named(page)))


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_every_block_is_of_a_kind_that_is_tested(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    found = {block.language for block in blocks(text)}
    assert {one for one in found if not one.startswith(("{include}", "{toctree}"))} <= LANGUAGES
    fences = re.findall(r"^ *```", text, re.MULTILINE)
    assert len(fences) == 2 * sum(one.language != "hidden" for one in blocks(text))
    for one in blocks(text):
        if one.language == "python":
            compile(one.code, named(page), "exec")


SMALL: dict[str, Any] = {
    "case": {"units": "kg-m-s"},
    "model": {"bodies": [{"name": "rod", "joint": "revolute", "axis": [0, 1, 0], "mass": 1, "inertia": 0.1}]},
    "integrator": {"rule": "rk4", "step": "1 ms"},
    "run": {"duration": "1 s"},
    "adaptive": {"every": "1 s"},
}
"""What a fragment of a case is put into."""


def tables() -> list[Any]:
    return [
        pytest.param(block.code, id=f"{named(page)}:{block.line}")
        for page in PAGES
        for block in blocks(page.read_text(encoding="utf-8"))
        if block.language == "toml"
    ]


@pytest.mark.parametrize("code", tables())
def test_every_table_of_a_case_is_valid(code: str) -> None:
    """Keys, words and quantities; that files and bodies are there is another matter."""
    table = tomllib.loads(code)
    sections = {name: value for name, value in table.items() if name in CaseFile.model_fields}
    of_model = {name: value for name, value in table.items() if name not in CaseFile.model_fields}
    if of_model:
        # Lines without a heading are of [model].
        sections["model"] = {"builder": "molecule", "structure": "file.pdb"} | of_model
    model = sections.get("model")
    if isinstance(model, dict) and "builder" not in model and "bodies" not in model:
        sections["model"] = {"builder": "molecule", "structure": "file.pdb"} | model
    whole = SMALL | sections
    for name in ("case", "run", "adaptive"):
        whole[name] = SMALL[name] | whole[name]
    if "adaptive" not in sections:
        del whole["adaptive"]
    CaseFile.model_validate(with_discriminators(whole))


def lines() -> list[Any]:
    return [
        pytest.param(words, id=f"{named(page)}: {' '.join(words)[:60]}")
        for page in PAGES
        for block in blocks(page.read_text(encoding="utf-8"))
        if block.language in ("", "console", "sh")
        for words in commands(re.sub(r"\$[A-Z_]+", "1", block.code))
    ]


@pytest.mark.parametrize("words", lines())
def test_every_command_is_one(words: list[str]) -> None:
    """The command and its options exist, the case is there, and it has the keys that ``--set`` changes."""
    group: Any = typer.main.get_command(app)
    if words[0].startswith("-"):
        return
    with group.make_context("articulon", list(words), resilient_parsing=True) as outer:
        command = group.get_command(outer, words[0])
        assert command is not None, words[0]
        with command.make_context(words[0], list(words[1:]), parent=outer) as context:
            given = context.params
    case = given.get("case")
    if isinstance(case, str) and re.fullmatch(r"[a-z0-9-]+", case):
        articulon.load_case(case, assignments(given.get("overrides") or []))


LINK = re.compile(r"\]\(([^)\s]+)\)")


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as code hosts and the manual make them."""
    outside = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    titles = re.findall(r"^#+ (.*)$", outside, re.MULTILINE)
    kept = ("".join(c for c in title.lower() if c.isalpha() or c.isdecimal() or c in " -_") for title in titles)
    return {title.replace(" ", "-") for title in kept}


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_links_lead_somewhere(page: Path) -> None:
    """Sphinx looks at those within docs/ too, in minutes; reference/ is made by the build."""
    found = LINK.findall(re.sub(r"`[^`\n]*`", "", page.read_text(encoding="utf-8")))
    for link in found:
        if not link.startswith(("http", "mailto:")) and "reference/" not in link:
            file, _, anchor = link.partition("#")
            target = page.parent / file if file else page
            assert target.exists(), link
            assert not anchor or anchor in anchors(target), link


def test_the_readme_is_short() -> None:
    """It leads on to the manual."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert text.count("\n") <= 120
    picture = re.search(r"!\[[^]]*\]\((docs/figures/[^)]*\.gif)\)", text)
    assert picture is not None
    assert (ROOT / picture[1]).stat().st_size < 1_000_000
    linked = set(LINK.findall(text))
    tutorials = {f"docs/tutorials/{path.name}" for path in (DOCS / "tutorials").glob("*.md")}
    assert tutorials <= linked and len(tutorials) == 4
