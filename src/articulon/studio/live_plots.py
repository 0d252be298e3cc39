"""Plots of the observables of a running simulation, and the ledger of its work."""

from __future__ import annotations

import html
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from articulon.model import CHANNELS
from articulon.report import palette
from articulon.report.readable_numbers import number, suited, unit_text
from articulon.studio.live_frames import SLACK
from articulon.units import UnitSystem

if TYPE_CHECKING:
    import viser

MOST_POINTS = 400
"""Largest number of points of a line; more points are not visible."""
MOST_KEPT = 4_000
"""Largest number of values that are kept of an observable; it is the largest number of frames that a page keeps."""
HEIGHT = 190
"""Height of a plot [pixels]."""
ROUNDING = 1e-6
"""Relative change below which a line is drawn as constant."""
COLOURS = (
    palette.VERMILION,
    palette.BLUE,
    palette.GREEN,
    palette.ORANGE,
    palette.PURPLE,
    palette.SKY,
    palette.OLIVE,
    palette.BLACK,
)
TOTAL = "kinetic and potential energy"
"""Name of the sum of the kinetic energy and all energy functions."""
GROUPS: dict[str, tuple[str, ...]] = {
    "energies": ("kinetic_energy", "energy_", "conserved_energy", "reservoir_energy", TOTAL),
    "works": ("work_",),
    "temperatures": ("temperature_",),
    "scaling factors": ("factor_",),
    "fidelity": ("residual", "net_", "too_slow"),
    "activity": ("active_freedoms", "transitions"),
}
"""Groups of observables that are drawn together. The observables are given by the beginnings of their names."""
MOST_LINES = len(COLOURS)


class Observed:
    """Observables of the frames that a run has kept so far. If there are too many values, every second value is
    dropped, and later values are kept at the new, doubled distance."""

    def __init__(self) -> None:
        self.times: list[float] = []
        self.values: dict[str, list[float]] = {}
        self.largest: dict[str, float] = {}
        """Largest absolute value so far, by name."""
        self.taken = 0
        """Number of frames taken so far, including dropped frames."""
        self._apart, self._loose = 0.0, False

    def take(self, time: float, values: Mapping[str, float]) -> None:
        """Add the observables of a frame; values that are not finite are left out."""
        if self.times and time <= self.times[-1]:
            return
        self.taken += 1
        if self._loose:
            for line in (self.times, *self.values.values()):
                line.pop()
        self._loose = bool(self.times) and time - self.times[-1] < SLACK * self._apart
        self.times.append(time)
        values = with_total(values)
        for name in values.keys() - self.values.keys():
            self.values[name] = [np.nan] * (len(self.times) - 1)
        for name, line in self.values.items():
            value = values.get(name, np.nan)
            line.append(value)
            self.largest[name] = max(self.largest.get(name, 0.0), abs(value))  # NaN is never larger
        if len(self.times) > MOST_KEPT:
            self._keep_every(2)

    def fill(self, times: np.ndarray, observables: Mapping[str, np.ndarray]) -> None:
        """Set all observables of an earlier run at once."""
        self.times = [float(time) for time in times]
        lines = {name: np.asarray(line) for name, line in observables.items() if np.ndim(line) == 1 and name != "time"}
        lines = with_total(lines)
        self.values = {name: line.tolist() for name, line in lines.items()}
        self.largest = {
            name: float(np.max(np.abs(line), initial=0.0, where=~np.isnan(line))) for name, line in lines.items()
        }
        self.taken, self._apart, self._loose = len(self.times), 0.0, False
        if len(self.times) > MOST_KEPT:
            self._keep_every(-(-len(self.times) // MOST_KEPT))

    def _keep_every(self, every: int) -> None:
        """Keep only every n-th value, and the last value."""
        last = len(self.times) - 1
        rows = [*range(0, last, every), last]
        self.times = [self.times[k] for k in rows]
        self.values = {name: [line[k] for k in rows] for name, line in self.values.items()}
        self._apart = float(np.median(np.diff(self.times[:-1])))
        self._loose = self.times[-1] - self.times[-2] < SLACK * self._apart

    def clear(self) -> None:
        """Remove all values."""
        self.times, self.values, self.largest = [], {}, {}
        self.taken, self._apart, self._loose = 0, 0.0, False

    def choices(self) -> tuple[str, ...]:
        """Return the choices of the menu: groups with at least one observable, and every single observable."""
        groups = [name for name in GROUPS if self.members(name)]
        return (*groups, *sorted(self.values))

    def members(self, choice: str) -> list[str]:
        """Return the observables of a choice."""
        if choice not in GROUPS:
            return [choice] if choice in self.values else []
        starts = GROUPS[choice]
        found = [name for name in self.values if name.startswith(starts) and name != "energy_balance"]
        found.sort(key=lambda name: [name.startswith(start) for start in starts], reverse=True)
        # Constant lines carry no information beside changing lines; they are kept only if all lines are constant.
        moving = [name for name in found if np.nanmax(self.values[name]) != np.nanmin(self.values[name])]
        return (moving or found)[:MOST_LINES]


def with_total(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return observables, with the sum of the energies if there are several."""
    parts = [name for name in values if name.startswith(("kinetic_energy", "energy_")) and name != "energy_balance"]
    return {**values, TOTAL: sum(values[name] for name in parts)} if len(parts) > 1 else dict(values)


class LivePlot:
    """One plot, with a menu that selects the observables.

    Parameters
    ----------
    gui
        Page to which the plot is added.
    observed
        Available observables.
    choices
        Initial selection: the first of these choices that is available.
    """

    def __init__(self, gui: viser.GuiApi, observed: Observed, *choices: str) -> None:
        self._gui, self._observed, self._wishes = gui, observed, choices
        self._wanted = ""
        # A control that is hidden when it is added gets no width, so the plot is added together with its first values.
        self._place = gui.add_folder(None, visible=False)
        self._parts: tuple[Any, Any] | None = None
        self._drawn: tuple[Any, ...] = ()

    def _add(self) -> tuple[Any, Any]:
        """Add the menu and the plot."""
        self._place.visible = True
        with self._place:
            menu = self._gui.add_dropdown("plot", (self._wanted,), initial_value=self._wanted)
            plot = self._gui.add_uplot(
                (np.zeros(2), np.full(2, np.nan)),
                ({"label": "time"}, {"label": ""}),
                scales={"x": {"time": False}, "y": {"range": (0.0, 1.0)}},
                legend={"show": True, "live": False},
                height=HEIGHT,
            )

        @menu.on_update
        def _(event: viser.GuiEvent) -> None:
            if event.client_id is not None:
                self._wanted = menu.value

        return menu, plot

    def draw(self, units: UnitSystem, dimensions: Mapping[str, str], server: viser.ViserServer) -> None:
        """Draw the plot again if its values have changed since the last call."""
        choices = self._observed.choices()
        if self._wanted not in choices:
            self._wanted = next((wish for wish in self._wishes if wish in choices), "")
        if not self._wanted:
            return
        state = self._wanted, self._observed.taken, len(self._observed.values)
        if state == self._drawn or not self._observed.times:
            return
        self._drawn = state
        if self._parts is None:
            self._parts = self._add()
        menu, plot = self._parts
        if choices != tuple(menu.options):
            menu.options = choices
        if menu.value != self._wanted:
            menu.value = self._wanted
        names = self._observed.members(self._wanted)
        times = np.array(self._observed.times)
        some = np.unique(np.linspace(0, len(times) - 1, MOST_POINTS).round().astype(int))
        scale = suited(units, "time", float(times[-1]))
        lines = [np.array(self._observed.values[name])[some] for name in names]
        at = scale.factor * times[some]
        if at.size == 1:
            at, lines = np.repeat(at, 2), [np.repeat(line, 2) for line in lines]
        label = unit_text(units, dimensions.get(names[0], "dimensionless")) if names else ""
        series: list[Any] = [{"label": scale.axis("time")}]
        for name, colour in zip(names, COLOURS, strict=False):
            series.append({"label": _label(name), "stroke": colour, "width": 1.5})
        with server.atomic():
            plot.series = tuple(series)
            plot.scales = {"x": {"time": False}, "y": {"range": _range(lines)}}
            what = self._wanted.replace("_", " ")
            plot.title = f"{what} ({label}) over {scale.axis('time')}" if label else f"{what} over {scale.axis('time')}"
            plot.data = (at, *lines)


def _label(name: str) -> str:
    if name == TOTAL:
        return "sum"
    for start in ("kinetic_energy", "energy_", "work_", "temperature_", "factor_", "net_"):
        if name.startswith(start) and name != start:
            return name.removeprefix(start).replace("_", " ")
    return name.replace("_energy", "").replace("_", " ")


def _range(lines: list[np.ndarray]) -> tuple[float, float]:
    values = np.concatenate(lines) if lines else np.zeros(1)
    values = values[np.isfinite(values)]
    if not values.size:
        return 0.0, 1.0
    low, high = float(values.min()), float(values.max())
    size = max(abs(low), abs(high))
    margin = 0.05 * (high - low) if high - low > ROUNDING * size else 0.1 * size or 1.0
    return low - margin, high + margin


def ledger_table(observed: Observed, units: UnitSystem) -> str:
    """Return the ledger at the latest frame, as a table in HTML: for each channel its work, its energy function and its
    factor, and the error of the balance T − T₀ = ΣW."""
    latest = {name: line[-1] for name, line in observed.values.items() if line}
    rows = []
    for channel in CHANNELS:
        numbers = [latest.get(f"{what}_{channel}") for what in ("work", "energy", "factor")]
        if any(one is not None for one in numbers):
            cells = "".join(f'<td style="text-align:right">{number(one)}</td>' for one in numbers)
            rows.append(f"<tr><td>{html.escape(channel.replace('_', ' '))}</td>{cells}</tr>")
    if not rows:
        return ""
    energy = unit_text(units, "energy")
    unit = f" ({html.escape(energy)})" if energy else ""
    balance, largest = latest.get("energy_balance"), _largest_work(observed)
    relative = "" if balance is None or not largest else f", {number(abs(balance) / largest, 2)} of the largest work"
    heading = "".join(
        f'<th style="text-align:right;font-weight:600">{what}</th>' for what in (f"work{unit}", "energy", "factor")
    )
    return (
        '<div style="padding:0.2em 0.8em 0.5em;font-size:0.82em"><table style="width:100%;border-collapse:collapse">'
        f'<tr style="color:#666"><th style="text-align:left;font-weight:600">channel</th>{heading}</tr>{"".join(rows)}'
        f'</table><div style="color:#666;margin-top:0.3em">kinetic {number(latest.get("kinetic_energy"))}, '
        f"T − T₀ − ΣW = {number(balance, 2)}{relative}</div></div>"
    )


def _largest_work(observed: Observed) -> float:
    return max((size for name, size in observed.largest.items() if name.startswith("work_")), default=0.0)
