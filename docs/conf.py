"""How Sphinx makes the manual of these pages: ``make docs``."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

import manual_reference  # noqa: E402
import page_cache  # noqa: E402

from articulon import __version__  # noqa: E402

project = "articulon"
author = "the authors of articulon"
copyright = "the authors of articulon"
version = release = __version__

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "manual_math", "sphinx_copybutton"]
myst_enable_extensions = ["dollarmath", "colon_fence", "deflist"]
myst_heading_anchors = 4


def heading_slug(title: str) -> str:
    """The anchor of a heading, as code hosts make it of the same file."""
    kept = (c for c in title.lower() if c.isalpha() or c.isdecimal() or c in " -_")
    return "".join(kept).replace(" ", "-")


myst_heading_slug_func = "conf.heading_slug"
source_suffix = {".md": "myst-nb", ".rst": "restructuredtext"}
exclude_patterns = ["_build", "figures"]
suppress_warnings = ["myst.header", "ref.python"]

# Tutorials are executed. The cache is that of one state of the package, so no page shows output of older code.
nb_execution_mode = "cache"
nb_execution_cache_path = str(page_cache.folder(HERE / "_build" / "executed"))
# Of a cell, which may compile on a machine that is busy.
nb_execution_timeout = 1800
nb_execution_raise_on_error = True
nb_execution_in_temp = True
nb_merge_streams = True
nb_output_stderr = "remove"
# What shows progress asks for a package of widgets.
os.environ["PYTHONWARNINGS"] = "ignore:install,ignore:IProgress"

autodoc_typehints = "none"
autodoc_member_order = "bysource"
autodoc_default_options = {"members": True, "inherited-members": False, "undoc-members": False}
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True

html_theme = "furo"
html_math_renderer = "mathml"
html_title = f"articulon {version}"
html_static_path: list[str] = []
html_show_sphinx = False
html_theme_options = {
    "light_css_variables": {
        "color-brand-primary": "#0072b2",
        "color-brand-content": "#0072b2",
        # A line of the tutorials' code fits the column.
        "code-font-size": "75%",
    },
    "dark_css_variables": {"color-brand-primary": "#56b4e9", "color-brand-content": "#56b4e9"},
}
manual_reference.write(HERE / "reference")


def bars(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """|x| is a size in docstrings, and no substitution."""
    lines[:] = [line if line.lstrip().startswith((">>>", "...")) else line.replace("|", "\\|") for line in lines]


def execute_anew(app: Any) -> None:
    """Makes room for the output of this state of the package where pages are executed."""
    if app.config.nb_execution_mode != "off":
        page_cache.delete_others(Path(nb_execution_cache_path))


def setup(app: Any) -> None:
    """See Sphinx."""
    app.connect("builder-inited", execute_anew)
    app.connect("autodoc-process-docstring", bars)
