"""The gallery: pages made of the docstrings of the examples, and their figures made small.

``python docs/gallery_pages.py`` writes ``docs/gallery.md`` and ``examples/README.md``. With a folder in which the
examples have been run, ``python docs/gallery_pages.py FOLDER``, it takes the figures into ``docs/figures/gallery``.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "examples"
FIGURES = ROOT / "docs" / "figures" / "gallery"
LARGEST = 60_000
"""Bytes of a figure that is committed."""
GROUPS: Mapping[str, tuple[str, ...]] = {
    "Mechanisms": (
        "pendulum_period",
        "double_pendulum_chaos",
        "kapitza_pendulum",
        "hanging_chain",
        "four_bar",
        "slider_crank",
        "heavy_top",
        "flipping_nut",
        "tippe_top",
        "robot_arm",
    ),
    "Solvers and rules": (
        "solver_scaling",
        "convergence_orders",
        "symplectic_energy",
    ),
    "Flexible bodies": (
        "cantilever",
        "helix_modes",
    ),
    "Impacts and stops": (
        "newtons_cradle",
        "bouncing_ball",
        "joint_stop",
        "hard_sphere_pressure",
    ),
    "Noise and polymers": (
        "brownian_sphere",
        "optical_trap",
        "chain_end_to_end",
        "rouse_chain",
        "first_passage",
    ),
    "Particles": (
        "lennard_jones_fluid",
        "wca_fluid",
        "madelung",
        "thermostats",
        "lammps_melt",
    ),
    "Molecules": (
        "peptide_map",
        "born_ions",
        "replica_exchange",
    ),
    "Across scales": (
        "lag_of_scaling",
        "docking",
        "lock_and_release",
        "adaptive_chain",
    ),
    "Grains": (
        "hertz_collision",
        "rolling_on_a_slope",
        "solitary_wave",
        "column_collapse",
    ),
    "Derivatives, fits and optima": (
        "adjoint_gradient",
        "fit_pendulum",
        "swing_up",
    ),
}
"""Names of the scripts by what they are about."""


def docstring(name: str) -> tuple[str, str]:
    """First line and rest of the docstring of an example; both on one line."""
    text = ast.get_docstring(ast.parse((EXAMPLES / f"{name}.py").read_text(encoding="utf-8"))) or ""
    title, _, rest = text.partition("\n\n")
    return " ".join(title.split()), " ".join(rest.split())


def scripts() -> list[str]:
    """Names of all examples."""
    return sorted(path.stem for path in EXAMPLES.glob("*.py"))


def check_groups() -> None:
    """Raises ValueError unless each example stands in one group."""
    grouped = sorted(name for names in GROUPS.values() for name in names)
    if grouped != scripts():
        wrong = sorted(set(grouped) ^ set(scripts())) or grouped
        raise ValueError(f"docs/gallery_pages.py: each example stands in one group, and no other does: {wrong}")


def pages() -> dict[Path, str]:
    """The text of each page by its file."""
    check_groups()
    gallery = [
        "# Gallery\n",
        "Each figure comes from a script of about 20 to 60 lines, which you can run and change. The script checks its "
        "own physics at the end. `python examples/NAME.py` writes `NAME.png` into the current folder. If a script "
        "takes more than a few seconds, `--short` makes a shorter run.\n",
    ]
    readme = [
        "# Examples\n",
        "Each script shows one idea with a model, a run, a figure and a check of its physics. "
        "[docs/gallery.md](../docs/gallery.md) shows all figures.\n",
        "```\npython examples/pendulum_period.py         # writes pendulum_period.png into the current folder\n"
        "python examples/optical_trap.py --short    # a shorter run, where there is one\n```\n",
    ]
    for group, names in GROUPS.items():
        gallery.append(f"## {group}\n")
        readme.append(f"## {group}\n\n| | |\n| --- | --- |")
        for name in names:
            title, rest = docstring(name)
            gallery.append(f"### {title.rstrip('.')}\n\n![{title}](figures/gallery/{name}.png)\n\n{rest}\n")
            gallery.append(f"[`{name}.py`](../examples/{name}.py)\n")
            readme.append(f"| [{name}.py]({name}.py) | {title} |")
        readme.append("")
    return {
        ROOT / "docs" / "gallery.md": "\n".join(gallery),
        EXAMPLES / "README.md": "\n".join(readme),
    }


def take_figures(folder: Path) -> None:
    """Take the figures of a folder, with as many colours as keep each of them small."""
    from PIL import Image

    FIGURES.mkdir(parents=True, exist_ok=True)
    for name in scripts():
        picture = folder / f"{name}.png"
        if not picture.exists():
            continue
        with Image.open(picture) as opened:
            image = opened.convert("RGB")
        for colours in (255, 128, 64, 32, 16):
            small = image.quantize(colours, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
            small.save(FIGURES / picture.name, optimize=True)
            if (FIGURES / picture.name).stat().st_size <= LARGEST:
                break


def main() -> None:
    """Write the pages, and take the figures of a folder where one is given."""
    for page, text in pages().items():
        page.write_text(text, encoding="utf-8")
    if len(sys.argv) > 1:
        take_figures(Path(sys.argv[1]))


if __name__ == "__main__":
    main()
