"""Draws docking.png: the model before and after docking, and the core's path in each variant.

Run `articulon compare nanoparticle-docking --out DIR` first, then `python docs/figures/docking.py DIR`.
"""

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from articulon.report import drawing, style
from articulon.report.readable_numbers import suited
from articulon.report.view import View

RUNS = {
    "friction-implicit": ("unscaled, friction-implicit", style.REFERENCE_STYLE),
    "constant": ("constant scaling, a2 = 0.2", style.VARIANT_STYLES[0]),
    "threshold-adaptive": ("threshold-adaptive, a2 = 0.01", style.VARIANT_STYLES[1]),
}


def main(folder: Path) -> None:
    """Draw from the runs of a comparison and write beside this file."""
    views = {name: View.of_folder(folder / name) for name in RUNS}
    reference = views["friction-implicit"]
    forward, _, upward = drawing.axes_of_view(reference)
    window = drawing.whole_model(reference)
    length, time = suited(reference.case.units, "length", 2 * window[1]), reference.time_scale
    with style.applied():
        figure = Figure(figsize=(9.0, 3.1), layout="constrained")
        before, after, path = figure.subplots(1, 3, width_ratios=(1.0, 1.0, 1.6))
        for axes, frame in ((before, 0), (after, -1)):
            drawing.draw(axes, reference, frame, forward, upward, length, window)
            axes.set_title(time.text(float(reference.times[frame]), 3))
            axes.set_xlabel(length.axis("x"))
            axes.set_ylabel(length.axis("z"))
        for name, (label, line) in RUNS.items():
            view = views[name]
            times, advance = time.factor * view.times, 1e3 * np.asarray(view.observables["advance"])
            path.plot(times, advance, label=label, **line)
        path.axhline(25.0, color=style.GREY, linewidth=0.7, zorder=1)
        path.text(0.02, 25.4, "docked", color=style.GREY, fontsize=8.0)
        path.set(xlabel=time.axis("time"), ylabel="advance of the core (nm)", ylim=(-0.5, 28.0), xlim=(0.0, 5.0))
        path.legend(loc="upper center", bbox_to_anchor=(0.5, 0.85))
    figure.savefig(Path(__file__).with_suffix(".png"), dpi=200)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
