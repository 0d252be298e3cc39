"""Style of all figures: one palette, one font size, axes with units.

A channel has the same colour and dashes in every figure, so that it can be recognised even without colours.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import ScalarFormatter

from articulon.report.beside import beside
from articulon.report.palette import BLACK, BLUE, GREEN, GREY, OLIVE, ORANGE, PURPLE, SKY, VERMILION
from articulon.units import UnitSystem

WIDTH = 6.6
"""Width of a figure [inch]: two columns of a journal."""
HEIGHT = 2.9
"""Height of a panel [inch]."""

RC: Any = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 9.0,
    "axes.labelsize": 9.0,
    "axes.titlesize": 9.0,
    "axes.titlelocation": "left",
    "axes.titleweight": "bold",
    "xtick.labelsize": 8.0,
    "ytick.labelsize": 8.0,
    "legend.fontsize": 8.0,
    "legend.frameon": False,
    "legend.handlelength": 2.6,
    "axes.linewidth": 0.7,
    "axes.edgecolor": BLACK,
    "axes.labelcolor": BLACK,
    "text.color": BLACK,
    "xtick.color": BLACK,
    "ytick.color": BLACK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#e4e4e4",
    "grid.linewidth": 0.6,
    "axes.axisbelow": True,
    "lines.linewidth": 1.4,
    "lines.solid_capstyle": "round",
    "xtick.direction": "out",
    "ytick.direction": "out",
    "xtick.major.width": 0.7,
    "ytick.major.width": 0.7,
    "axes.formatter.limits": (-3, 4),
    "axes.formatter.use_mathtext": True,
    "axes.unicode_minus": True,
    "axes.xmargin": 0.01,
    "path.simplify": True,
    "path.simplify_threshold": 0.2,
    "svg.fonttype": "path",
    "svg.hashsalt": "articulon",
    "figure.facecolor": "white",
    "axes.facecolor": "white",
    "savefig.facecolor": "white",
    # A `matplotlibrc` in the working folder could otherwise make LaTeX process the names in a case.
    "text.usetex": False,
}

CHANNEL_STYLE: dict[str, dict[str, Any]] = {
    "damping": {"color": VERMILION, "linestyle": (0, (5, 1.5))},
    "potential": {"color": BLUE, "linestyle": "-"},
    "stochastic": {"color": PURPLE, "linestyle": (0, (1, 1))},
    "conformational": {"color": GREEN, "linestyle": (0, (6, 1.5, 1, 1.5))},
    "thermostat": {"color": ORANGE, "linestyle": "-"},
    "thermostat_rate": {"color": OLIVE, "linestyle": (0, (3, 1))},
    "contact": {"color": SKY, "linestyle": "-"},
    "external": {"color": GREY, "linestyle": "-"},
}
"""Line style of each channel."""

CHANNEL_LETTER = {
    "damping": "d",
    "potential": "p",
    "stochastic": "b",
    "conformational": "k",
    "thermostat": "t",
    "thermostat_rate": "tr",
    "contact": "c",
    "external": "e",
}
"""Subscript of each channel in formulas; the first four are those of Guy (2018, figure 5.5)."""

CHANNEL_WORD = {
    "damping": "damping",
    "potential": "potential",
    "stochastic": "Brownian",
    "conformational": "conformational",
    "thermostat": "thermostat",
    "thermostat_rate": "thermostat, rate",
    "contact": "contact",
    "external": "external",
}
"""Name of each channel in figures."""

CHANNEL_ORDER = tuple(CHANNEL_STYLE)
"""Order of the channels in legends."""

KINETIC_STYLE: dict[str, Any] = {"color": BLACK, "linestyle": (0, (4, 2))}
"""Line style of the kinetic energy in a figure of works, where its line may coincide with that of a work."""

VARIANT_STYLES: tuple[dict[str, Any], ...] = (
    {"color": BLUE, "linestyle": "-"},
    {"color": VERMILION, "linestyle": (0, (5, 1.5))},
    {"color": GREEN, "linestyle": (0, (6, 1.5, 1, 1.5))},
    {"color": PURPLE, "linestyle": (0, (3, 1))},
    {"color": ORANGE, "linestyle": "-"},
    {"color": SKY, "linestyle": (0, (5, 1.5))},
    {"color": OLIVE, "linestyle": (0, (1, 1))},
)
"""Line styles of the runs in a comparison; the reference is black, dotted and on top."""
REFERENCE_STYLE: dict[str, Any] = {"color": BLACK, "linestyle": (0, (1, 1.2)), "linewidth": 1.8, "zorder": 5}
"""Line style of the reference run."""


def variant(k: int) -> dict[str, Any]:
    """Return the line style of run k of a comparison. Colours repeat cyclically, each time with different dashes."""
    turn, own = divmod(k, len(VARIANT_STYLES))
    dashes = VARIANT_STYLES[(own + turn) % len(VARIANT_STYLES)]["linestyle"]
    return {**VARIANT_STYLES[own], "linestyle": dashes, **({"linewidth": 1.0} if turn else {})}


@contextmanager
def applied() -> Iterator[None]:
    """Apply the style of this module within a context, independent of the settings of the surrounding program."""
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(RC)
        yield


def panels(rows: int = 1, *, height: float = HEIGHT) -> tuple[Figure, list[Axes]]:
    """Create a figure with stacked panels, which share a time axis and leave space for legends."""
    inches = 0.45 + rows * (height - 0.45)
    figure = Figure(figsize=(WIDTH, inches))
    axes = figure.subplots(rows, 1, sharex="col", squeeze=False)
    figure.subplots_adjust(
        left=0.75 / WIDTH, right=1.0 - 1.65 / WIDTH, bottom=0.48 / inches, top=1.0 - 0.24 / inches, hspace=0.22
    )
    figure.align_ylabels()
    return figure, list(axes.flat)


def grid(panels: int, lines: int) -> tuple[Figure, list[Axes]]:
    """Create a figure with a grid of panels that share a time axis, and with space below for a legend of ``lines``
    lines."""
    columns = _columns(panels)
    rows = -(-panels // columns)
    below = 0.55 + 0.19 * -(-lines // 3)
    inches = below + rows * (2.3 if columns == 1 else 1.75)
    figure = Figure(figsize=(WIDTH, inches))
    axes = figure.subplots(rows, columns, sharex="all", squeeze=False)
    edges = {"left": 0.75 / WIDTH, "right": 1.0 - 0.1 / WIDTH, "bottom": below / inches, "top": 1.0 - 0.24 / inches}
    figure.subplots_adjust(**edges, wspace=0.12 + 0.13 * columns, hspace=0.3)
    return figure, list(axes.flat)


def _columns(panels: int) -> int:
    return {1: 1, 3: 3}.get(panels, 2)


def finish_grid(figure: Figure, all_axes: list[Axes], panels: int, label: str) -> None:
    """Remove unused panels, label the time axis under each column, and draw the legend below."""
    for axes in all_axes[panels:]:
        axes.set_visible(False)
    for axes in all_axes[max(0, panels - _columns(panels)) : panels]:
        axes.set_xlabel(label)
        axes.tick_params(labelbottom=True)
    handles, names = all_axes[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="lower center", ncols=3, fontsize=8.0, borderaxespad=0.2)


def name_panel(axes: Axes, name: str) -> None:
    """Write the name of a panel above its right end, because the power of ten of the axis may be above its left end."""
    axes.set_title(name, fontsize=8.0, pad=2.0, loc="right")


def unit(units: UnitSystem, dimension: str) -> str:
    """Return the unit of a dimension as mathematical text; empty for a pure number."""
    text = units.label(dimension)
    if text == "1":
        return ""
    text = re.sub(r"\bu([ms])\b", r"µ\1", text)
    return re.sub(r"\^(\d+)", r"$^{\1}$", text)


def label(what: str, units: UnitSystem, dimension: str) -> str:
    """Return the label of an axis: ``"time (µs)"``."""
    symbol = unit(units, dimension)
    return f"{what} ({symbol})" if symbol else what


def legend(axes: Axes) -> None:
    """Draw a legend beside the panel, where it covers no data."""
    handles, names = axes.get_legend_handles_labels()
    if names:
        axes.legend(handles, names, loc="upper left", bbox_to_anchor=(1.0, 1.02), borderaxespad=0.3)


def mark_times(axes: Axes, times: Iterable[float], name: str) -> None:
    """Draw vertical dashed lines at given times, the first with a name in the legend."""
    for k, time in enumerate(times):
        axes.axvline(time, color=GREY, linestyle=(0, (4, 3)), linewidth=1.0, zorder=1, label=name if k == 0 else "")


def logarithmic(axes: Axes, series: Iterable[np.ndarray], decades: float = 12.0) -> None:
    """Make the vertical axis logarithmic, over at most ``decades``, if the positive values differ by a factor of 10.

    Otherwise it begins at zero.
    """
    positive = [values[np.isfinite(values) & (values > 0.0)] for values in series]
    positive = [values for values in positive if values.size]
    if not positive:
        return
    highest = max(float(values.max()) for values in positive)
    lowest = max(min(float(values.min()) for values in positive), highest * 10.0**-decades)
    if highest < 10.0 * lowest:
        axes.set_ylim(0.0, 1.15 * highest)
        return
    axes.set_yscale("log")
    axes.set_ylim(lowest / 1.6, highest * 1.6)


class PlainTicks(ScalarFormatter):
    """Formatter that makes tick labels of plain text. Only the common power of ten of the labels is mathematical text,
    because its layout is slow."""

    def format_ticks(self, values: Any) -> list[str]:
        """Return the labels of ticks."""
        return [label.removeprefix("$\\mathdefault{").removesuffix("}$") for label in super().format_ticks(values)]


def with_plain_ticks(figure: Figure) -> None:
    """Give every linear axis plain tick labels."""
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            if type(axis.get_major_formatter()) is ScalarFormatter:
                axis.set_major_formatter(PlainTicks())


def svgs(drawn: Mapping[str, Figure]) -> dict[str, str]:
    """Convert figures to SVG with :func:`svg`, by name. Drawing takes longer than a short run, so a second process
    draws half of the figures if it can be started safely."""
    names = list(drawn)
    mine, others = names[::2], names[1::2]
    with beside(lambda: {name: svg(drawn[name], name) for name in others}) if others else nullcontext(dict) as theirs:
        found = {name: svg(drawn[name], name) for name in mine}
        found |= theirs() or {name: svg(drawn[name], name) for name in others}
    return {name: found[name] for name in names}


def svg(figure: Figure, prefix: str) -> str:
    """Return a figure as an ``<svg>`` element for an HTML page. Its ids begin with ``prefix``, because they must be
    unique on the page."""
    stream = io.StringIO()
    with applied():
        with_plain_ticks(figure)
        figure.savefig(stream, format="svg", metadata=dict.fromkeys(("Creator", "Date", "Format", "Type")))
    text = stream.getvalue()
    text = text[text.index("<svg") :].strip()
    # HTML does not need the declarations of these namespaces, and without them the page contains no web address.
    text = re.sub(r'\s+xmlns(:xlink)?="[^"]*"', "", text, count=2)
    text = re.sub(r'\bid="', f'id="{prefix}-', text)
    text = re.sub(r'href="#', f'href="#{prefix}-', text)
    text = text.replace("url(#", f"url(#{prefix}-")
    # The page sets the width; the viewBox keeps the proportions.
    return re.sub(r'(<svg\b[^>]*?)\s+width="[^"]*pt"|(<svg\b[^>]*?)\s+height="[^"]*pt"', r"\1\2", text, count=1)
