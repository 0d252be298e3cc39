"""Runs variants of a case side by side and says what each costs and how far it strays from the unscaled motion."""

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
    """Runs side by side, in order; the reference of each group comes first."""

    def tables(self) -> Group:
        """What each run costs and how true it is, as tables for a terminal."""
        return terminal_tables(self, self.sentences, self.notes)

    @property
    def sentences(self) -> list[str]:
        """In words: whether a reference is scaled, what the scaled runs are worth beside their fair rivals, what a
        changing resolution saves and errs, and at which steps a given spread of the energy is reached."""
        return [
            *reference_sentences(self),
            *sentences(self),
            *resolution_sentences(self),
            *energy_sentences(self),
        ]

    @property
    def notes(self) -> list[str]:
        """What is to be known of each run, its name in front."""
        out = [f"{name}: left out: {why}" for name, why in self.left_out.items()]
        return [*(f"{row['name']}: {note}" for row in self.rows for note in row["notes"]), *out]

    @property
    def differences(self) -> list[dict[str, Any]]:
        """How far joints, places and energies of each run are from the reference's."""
        return [one._asdict() for one in differences(self)]

    @property
    def data(self) -> dict[str, Any]:
        """All figures, as ``comparison.json`` has them."""
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
    "trust": "which of the runs that are unscaled or trusted covers a time at the least cost",
    "predicted_delay": "how late the run's fidelity section finds its worst motion [time]",
    "adaptive": "of a run whose resolution changes: the part of its degrees of freedom that moved, how many times less "
    "work that makes its steps and how many times less wall time it took than the run with everything active, and the "
    "errors against that",
    "energy": "of a run at constant energy: its mean step, the standard deviation of the total energy over the "
    "frames, that over the mean kinetic energy and over the magnitude of the mean total energy, the largest departure "
    "from the first frame, and the simulated time in a second of wall time; series is the "
    "name of runs that differ only in their step",
    "differences": "magnitudes of the differences from the reference at equal times: the largest, the root of the mean "
    "square, and the standard deviation, which Guy (2018, 2.6) states",
    "saving": "1 - wall time / wall time of the other run; ratio is its inverse form, other / own",
    "ratio_per_physical_time": "that ratio for equal physical times: scaled runs without drag have a slower clock",
}
"""What the figures mean."""


def compare(
    case: Case,
    against: Sequence[str] | None = None,
    vary: Mapping[str, Sequence[Any]] | None = None,
    out: str | Path | None = None,
    progress: Progress | None = None,
) -> Comparison:
    """Run variants of a case from one initial state, on one noise path, and print how they differ.

    The runs are made one after the other, each after a short one that warms up its code, so that their wall times can
    be held against each other. Unscaled runs are kept for later comparisons; one that is found there is not made
    again, and the table says so. An unscaled run that is not asked for by name and would take longer than a minute is
    left out, and its cost estimated from a short one.

    Runs are measured from an unscaled run of the same physics. Where the case has none it is made, and where it cannot
    be made the comparison says that there is none. Where no variants and no values are asked for, something is
    scaled and there is drag, the unscaled friction-implicit rule and overdamped dynamics are among the runs: the fair
    rivals of scaling. Where joints or modes lock and release, the run with everything active is among them, and the
    error that the changing resolution makes is stated against it.

    Of runs at constant energy the spread of the energy is stated. A run that diverges is among the results, with what
    is known of it, unless others are measured from it.

    Parameters
    ----------
    case
        The case.
    against
        Names of the variants; by default those that the case names, or all of them.
    vary
        Values by dotted key: the case is run with each combination.
    out
        Folder of the results, ``runs/<case>-compare`` by default, in which what overrides change is named too: a
        folder of a run for each variant, ``comparison.json`` and ``comparison.html``.
    progress
        Shows how each run goes.

    Returns
    -------
    Comparison
        The figures, and what each run did.

    Raises
    ------
    CaseError
        For a variant or value that does not exist or cannot be run.
    DivergenceError
        Where a run diverges that others are measured from.
    ArticulonError
        For a folder that holds other runs. Complete ones of the same cases are reused, and others of them go on.
    KeyboardInterrupt
        After Ctrl-C, saying which runs are complete and how to go on.
    """
    from rich.console import Console

    if not isinstance(case, Case):
        raise CaseError(f"compare: expected a case, as load_case gives it, got {shown_value(case)}")
    folder = RUNS / f"{case.folder_name}-compare" if out is None else path_of(out, "compare, out", CaseError)
    shown = Silent() if progress is None else progress
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
                # A run that nobody asked for must not end the comparison.
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
    # A file or a pipe has no width that a table would have to fit.
    (console if console.is_terminal else Console(width=160)).print(done.tables())
    return done


def _write(done: Comparison) -> None:
    done.folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps(done.data, indent=2, ensure_ascii=False, allow_nan=False)
    write_text(done.folder / "comparison.json", text + "\n")
    write_text(done.folder / "comparison.html", page_of(done, done.sentences, done.notes, _replay(done)))


def _replay(done: Comparison) -> str:
    """The first run that has come to its end, in three dimensions."""
    for name, view in done.views.items():
        found = replay_part(Run(done.folder / name, view.case), view)
        return found and f"<p>{escape(name)}</p>\n{found}"
    return ""


def _may_diverge(entry: Entry) -> bool:
    """Whether it is a result that a run diverges: it is one of those that are compared, and nothing is measured from
    it."""
    return not entry.is_reference and (bool(entry.variant) or not entry.optional)


def _reference_of(entry: Entry, chosen: Sequence[Entry]) -> Entry:
    return next(other for other in chosen if other.group == entry.group and other.is_reference)


def _made(
    entry: Entry, reference: Mapping[str, Any] | None, folder: Path, progress: Progress
) -> tuple[dict[str, Any], View | None]:
    """One run made, taken from the cache, or left out: its figures, and what it did."""
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
                    f"not run: it would take about {wall_time(estimate)}, estimated from {sample:.3g} {time_unit}; ask "
                    f"for it by name: against {entry.variant}"
                ).replace("\u00a0", " ")
                progress.message(f"{entry.name}: {note}")
                return estimated_row(entry, estimate, sample, float(reference["simulated_time"]), note), None
        else:
            run_short(entry, 8.0)
        progress.message(f"{entry.name}:")
        watch = Stopwatch(progress)
        resumed_after = reused_runs.earlier_wall_seconds(folder) if begun else 0.0
        run(entry.case, out=folder, resume=begun, progress=watch)
        # One that had already ended when it was broken off takes no more steps.
        wall, source = resumed_after + (watch.seconds if math.isfinite(watch.seconds) else 0.0), MEASURED
        reused_runs.note_measured(folder, wall)
        if entry.unscaled:
            reference_cache.keep(entry.case, folder, wall)
    write_report(folder)
    view = View.of_folder(folder)
    row = run_row(entry, view, wall, source)
    if resumed_after > 0.0:
        row["notes"].insert(
            0, "was broken off and went on; its wall time is that of its parts, the first by its summary"
        )
    return row, view


def _compared(
    chosen: Sequence[Entry], rows: Mapping[str, dict[str, Any]], views: Mapping[str, View]
) -> dict[str, Deviation]:
    """Adds to each row what needs another run; returns the distances from the references."""
    deviations = {}
    # Nothing is saved of what did not come to its end.
    ended = [entry for entry in chosen if rows[entry.name]["status"] != DIVERGED]
    for entry in chosen:
        row, reference = rows[entry.name], _reference_of(entry, chosen)
        row.update(dict.fromkeys(("largest_deviation", "standard_deviation", "lateness", "lateness_relative")))
        alone = not any(other.group == entry.group for other in chosen if other is not entry)
        row["is_reference"] = entry.is_reference and not alone
        row["reference"] = None if entry.is_reference else reference.name
        motions, stops = other_physics(entry.case, reference.case)
        row["other_physics"] = motions
        # Under a thermostat single paths say nothing in any case.
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
            reason = f"no unscaled {words} run is in the comparison"
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
    """What keeps a run from being measured from the reference."""
    keys = [*motions, *stops]
    named = ", ".join(keys[:4]) + (f" and {len(keys) - 4} more" if len(keys) > 4 else "")
    said = "no deviation from it and no lateness are stated" if motions else "it is not said how late it stops"
    return f"has another {named} than '{reference}': {said}"


def _same_start(one: View, other: View) -> bool:
    a, b = one.model, other.model
    if a.nq != b.nq or a.nu != b.nu:
        return False
    return bool((a.q0 == b.q0).all() and (a.u0 == b.u0).all())
