"""Function that runs variants of a case, and compares their costs and their deviations from the unscaled motion."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from rich.console import Group

from articulon import __version__
from articulon.cases.case import Case
from articulon.comparisons import reference_cache, reused_runs
from articulon.comparisons.baselines import sentences, with_baselines
from articulon.comparisons.compared import Compared
from articulon.comparisons.comparison_page import page_of, terminal_tables
from articulon.comparisons.energy_comparison import add_energies, energy_sentences
from articulon.comparisons.overlays import differences
from articulon.comparisons.path_measures import Deviation, deviation, other_physics, saving
from articulon.comparisons.reference_run import reference_sentences, with_reference
from articulon.comparisons.resolution_comparison import add_resolution, resolution_sentences, with_all_active
from articulon.comparisons.run_rows import CACHED, DIVERGED, MEASURED, diverged_row, estimated_row, run_row, why
from articulon.comparisons.timed_runs import PATIENCE, Stopwatch, estimated, run_short
from articulon.comparisons.trusted_runs import which_to_trust
from articulon.comparisons.variant_runs import Entry, entries, on_one_noise_path, unscaled_rival
from articulon.errors import ArticulonError, CaseError, DivergenceError
from articulon.inputs import path_of
from articulon.inputs import shown as shown_value
from articulon.report.readable_numbers import wall_time
from articulon.report.view import View
from articulon.simulation.case_run import RUNS, run
from articulon.simulation.results import Run
from articulon.simulation.run_request import Progress, Silent
from articulon.storage.atomic_writing import write_text
from articulon.studio.run_report import replay_part, write_report

__all__ = ["Comparison", "compare"]


class Comparison(Compared):
    """Compared runs, in order; the reference of each group comes first."""

    def tables(self) -> Group:
        """Return the cost and accuracy of each run as tables for a terminal."""
        return terminal_tables(self, self.sentences, self.notes)

    @property
    def sentences(self) -> list[str]:
        """Return a summary in words.

        It says whether a reference is scaled, and how the scaled runs compare with their baselines. It also gives the
        saving and the error of adaptive resolution, and the steps at which a given energy spread is reached.
        """
        return [
            *reference_sentences(self),
            *sentences(self),
            *resolution_sentences(self),
            *energy_sentences(self),
        ]

    @property
    def notes(self) -> list[str]:
        """Notes on each run, prefixed by its name."""
        out = [f"{name}: left out: {why}" for name, why in self.left_out.items()]
        return [*(f"{row['name']}: {note}" for row in self.rows for note in row["notes"]), *out]

    @property
    def differences(self) -> list[dict[str, Any]]:
        """Differences of joints, positions and energies of each run from the reference."""
        return [one._asdict() for one in differences(self)]

    @property
    def data(self) -> dict[str, Any]:
        """All figures, as in ``comparison.json``."""
        units = self.case.units
        return {
            "case": self.case.name,
            "title": self.case.title,
            "articulon": __version__,
            "time_unit": units.label("time"),
            "length_unit": units.label("length"),
            "definitions": DEFINITIONS,
            "variants": self.rows,
            "trust": which_to_trust(self),
            "baselines": self.sentences,
            "differences": self.differences,
            "left_out": dict(self.left_out),
        }


DEFINITIONS = {
    "wall_seconds": "wall time from the first step to the last frame, without building the model and compiling [s]",
    "largest_deviation": "largest distance of the core's centre of mass from the reference's at equal times [length]",
    "standard_deviation": "square root of the mean square of that distance [length]",
    "lateness": "stop time minus the reference's [time]; lateness_relative divides it by the reference's",
    "trust": "the unscaled or trusted run with the lowest cost per simulated time",
    "predicted_delay": "delay of the worst motion in the fidelity section of the run [time]",
    "adaptive": "for a run with adaptive resolution: the fraction of its degrees of freedom that moved, the factors by "
    "which work per step and wall time are smaller than in the run with everything active, and the errors relative to "
    "that run",
    "energy": "for a run at constant energy: its mean step, the standard deviation of the total energy over the "
    "frames, the same relative to the mean kinetic energy and to the magnitude of the mean total energy, the largest "
    "departure from the first frame, and the simulated time per second of wall time; series is the "
    "name of runs that differ only in their step",
    "differences": "magnitudes of the differences from the reference at equal times: the largest, the root mean "
    "square, and the standard deviation as in Guy (2018, 2.6)",
    "saving": "1 - wall time / wall time of the other run; ratio is its inverse form, other / own",
    "ratio_per_physical_time": "the ratio for equal physical times, because scaled runs without drag have a slower "
    "clock",
}
"""Definitions of the reported quantities."""


def compare(
    case: Case,
    against: Sequence[str] | None = None,
    vary: Mapping[str, Sequence[Any]] | None = None,
    out: str | Path | None = None,
    progress: Progress | None = None,
) -> Comparison:
    """Run variants of a case from the same initial state with the same noise, and print how they differ.

    The runs are made one after the other, each after a short run that loads its code, so that wall times are
    comparable. Unscaled runs are cached for later comparisons; a cached run is not repeated, and the table says so. An
    unscaled run that is not requested by name and would take longer than a minute is left out, and its cost is
    estimated from a short run.

    Runs are compared with an unscaled reference run of the same physics. If the case has no unscaled variant, such a
    run is added; if that is impossible, the comparison says so. If neither variants nor values are requested, and
    forces are scaled in a case with drag, the baselines for scaling are added: the unscaled friction-implicit
    integrator and overdamped dynamics. If joints or modes lock and release, a run with everything active is added, as
    the reference for the error of the adaptive resolution.

    For runs at constant energy, the spread of the energy is reported. A run that diverges is reported with the
    available data, unless it is the reference of other runs.

    Parameters
    ----------
    case
        The case.
    against
        Names of the variants; by default those named by the case, or all of them.
    vary
        Lists of values by dotted key. The case is run with each combination of the values.
    out
        Folder of the results, by default ``runs/<case>-compare``, with overridden values in its name. It receives a run
        folder for each variant, ``comparison.json`` and ``comparison.html``.
    progress
        Shows the progress of each run.

    Returns
    -------
    Comparison
        The figures, and the observations of each run.

    Raises
    ------
    CaseError
        For a variant or value that does not exist or cannot be run.
    DivergenceError
        If a run that is the reference of others diverges.
    ArticulonError
        If the folder contains other runs. Complete runs of the same cases are reused, and incomplete ones continue.
    KeyboardInterrupt
        After Ctrl-C; the message says which runs are complete and how to continue.
    """
    from rich.console import Console

    if not isinstance(case, Case):
        raise CaseError(f"compare: expected a case from load_case, got {shown_value(case)}")
    folder = RUNS / f"{case.folder_name}-compare" if out is None else path_of(out, "compare, out", CaseError)
    shown = Silent(announces=True) if progress is None else progress
    chosen = entries(case, against, vary)
    if against is None:
        chosen = with_all_active(chosen)
    chosen = with_reference(chosen, shown)
    if against is None and not vary:
        chosen = with_baselines(case, chosen, shown)
    chosen = on_one_noise_path(chosen)
    reused_runs.check_folders(folder, chosen)
    rows: dict[str, dict[str, Any]] = {}
    views: dict[str, View] = {}
    left_out: dict[str, str] = {}
    try:
        for entry in chosen:
            reference = None if entry.is_reference else rows[_reference_of(entry, chosen).name]
            try:
                row, view = _made(entry, reference, folder / entry.name, shown)
            except ArticulonError as error:
                if isinstance(error, DivergenceError) and _may_diverge(entry):
                    rows[entry.name] = diverged_row(entry, error)
                    shown.message(f"{entry.name}: {why(error)}")
                    continue
                # If a run that was not requested fails, the comparison continues.
                if not entry.optional:
                    raise
                left_out[entry.name] = why(error)
                shown.message(f"{entry.name}: left out: {why(error)}")
                continue
            rows[entry.name] = row
            if view is not None:
                views[entry.name] = view
        chosen = [entry for entry in chosen if entry.name in rows]
        deviations = _compared(chosen, rows, views)
        done = Comparison(case, list(rows.values()), folder, views, deviations, tuple(vary or ()), left_out)
        _write(done)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(reused_runs.how_to_continue(folder, chosen)) from None
    console = Console()
    # A file or a pipe has no width limit for a table.
    (console if console.is_terminal else Console(width=160)).print(done.tables())
    return done


def _write(done: Comparison) -> None:
    done.folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps(done.data, indent=2, ensure_ascii=False, allow_nan=False)
    write_text(done.folder / "comparison.json", text + "\n")
    write_text(done.folder / "comparison.html", page_of(done, done.sentences, done.notes, _replay(done)))


def _replay(done: Comparison) -> str:
    """Return HTML that shows the first finished run in three dimensions."""
    name, view = next(iter(done.views.items()), ("", None))
    if view is None:
        return ""
    found = replay_part(Run(done.folder / name, view.case), view)
    return found and f"<p>{escape(name)}</p>\n{found}"


def _may_diverge(entry: Entry) -> bool:
    """Return whether the run may diverge. Divergence is a valid result unless the run is the reference of others."""
    return not entry.is_reference and (bool(entry.variant) or not entry.optional)


def _reference_of(entry: Entry, chosen: Sequence[Entry]) -> Entry:
    return next(other for other in chosen if other.group == entry.group and other.is_reference)


def _made(
    entry: Entry, reference: Mapping[str, Any] | None, folder: Path, progress: Progress
) -> tuple[dict[str, Any], View | None]:
    """Make one run, take it from the cache, or omit it; return its row of results and its observations."""
    complete = reused_runs.complete_wall_seconds(entry.case, folder)
    kept = reference_cache.kept_wall_seconds(entry.case) if entry.unscaled else None
    begun, resumed_after = reused_runs.is_begun(folder), 0.0
    if complete is not None:
        progress.message(f"{entry.name}: taken from {folder}, where it is complete")
        wall, source = complete, CACHED
    elif kept is not None and not begun:
        progress.message(f"{entry.name}: taken from {reference_cache.place(entry.case)}")
        reference_cache.take_out(entry.case, folder)
        wall, source = kept, CACHED
    else:
        if entry.optional and reference is not None and not begun:
            estimate, sample = estimated(entry, float(reference["simulated_time"]))
            if estimate > PATIENCE:
                time_unit = entry.case.units.label("time")
                note = (
                    f"not run: it would take about {wall_time(estimate)}, estimated from {sample:.3g} {time_unit}; "
                    f"request it by name: against {entry.variant}"
                ).replace("\u00a0", " ")
                progress.message(f"{entry.name}: {note}")
                return estimated_row(entry, estimate, sample, float(reference["simulated_time"]), note), None
        else:
            run_short(entry, 8.0)
        progress.message(f"{entry.name}:")
        watch = Stopwatch(progress)
        resumed_after = reused_runs.earlier_wall_seconds(folder) if begun else 0.0
        run(entry.case, out=folder, resume=begun, progress=watch)
        # A run that was already complete before an interruption takes no further steps.
        wall, source = resumed_after + (watch.seconds if math.isfinite(watch.seconds) else 0.0), MEASURED
        reused_runs.note_measured(folder, wall)
        if entry.unscaled:
            reference_cache.keep(entry.case, folder, wall)
    write_report(folder)
    view = View.of_folder(folder)
    row = run_row(entry, view, wall, source)
    if resumed_after > 0.0:
        row["notes"].insert(
            0, "was interrupted and continued; its wall time is the sum of both parts, the first from its summary"
        )
    return row, view


def _compared(
    chosen: Sequence[Entry], rows: Mapping[str, dict[str, Any]], views: Mapping[str, View]
) -> dict[str, Deviation]:
    """Add the results that compare each run with another one to its row; return the distances from the references."""
    deviations = {}
    # Incomplete runs have no savings.
    ended = [entry for entry in chosen if rows[entry.name]["status"] != DIVERGED]
    for entry in chosen:
        row, reference = rows[entry.name], _reference_of(entry, chosen)
        row.update(dict.fromkeys(("largest_deviation", "standard_deviation", "lateness", "lateness_relative")))
        alone = not any(other.group == entry.group for other in chosen if other is not entry)
        row["is_reference"] = entry.is_reference and not alone
        row["reference"] = None if entry.is_reference else reference.name
        motions, stops = other_physics(entry.case, reference.case)
        row["other_physics"] = motions
        # With a thermostat, single paths cannot be compared.
        if (motions or stops) and entry.case.thermostat is None and row["status"] != DIVERGED:
            row["notes"].append(_otherwise(motions, stops, reference.name))
        if entry.name in views and not entry.is_reference and not motions:
            ours, theirs = views[entry.name], views[reference.name]
            found = deviation(ours.times, ours.path, theirs.times, theirs.path)
            deviations[entry.name] = found
            row["largest_deviation"], row["standard_deviation"] = found.largest, found.standard
            if not _same_start(ours, theirs):
                row["notes"].append("its initial state is not the reference's")
            if ours.stop_time is not None and theirs.stop_time is not None and not stops:
                row["lateness"] = ours.stop_time - theirs.stop_time
                row["lateness_relative"] = row["lateness"] / theirs.stop_time if theirs.stop_time > 0.0 else None
        for key, words in (
            ("saving_explicit", "explicit"),
            ("saving_friction_implicit", "friction-implicit"),
            ("saving_overdamped", "overdamped"),
        ):
            other = unscaled_rival(ended, entry.group, words)
            reason = f"the comparison has no unscaled {words} run"
            if row["steps"] is None:
                row[key] = saving(0.0, 0.0, None, "this run was not made, or diverged")
            elif other is not None and other.name == entry.name:
                row[key] = saving(0.0, 0.0, None, f"it is the unscaled {words} run")
            else:
                other_row = None if other is None else rows[other.name]
                row[key] = saving(row["wall_seconds"], row["physical_time"], other_row, reason, row)
    add_resolution(chosen, rows, views)
    add_energies(chosen, rows, views)
    return deviations


def _otherwise(motions: Sequence[str], stops: Sequence[str], reference: str) -> str:
    """Return the reason why a run cannot be compared with the reference."""
    keys = [*motions, *stops]
    named = ", ".join(keys[:4]) + (f" and {len(keys) - 4} more" if len(keys) > 4 else "")
    said = "no deviation from it and no delay are given" if motions else "the delay of its stop is not given"
    return f"has another {named} than '{reference}': {said}"


def _same_start(one: View, other: View) -> bool:
    a, b = one.model, other.model
    if a.nq != b.nq or a.nu != b.nu:
        return False
    return bool((a.q0 == b.q0).all() and (a.u0 == b.u0).all())
