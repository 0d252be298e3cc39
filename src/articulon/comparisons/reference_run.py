"""The unscaled reference run of a comparison, which is added if the case has no unscaled variant.

A scaled run is not a valid reference, because a run with the same delay would appear to be correct. If no run of a
group is unscaled, an unscaled run is added: with friction-implicit steps if there is drag, otherwise with the
integrator of the case. If this is impossible, or would take long, the comparison says that its reference is scaled.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from articulon.cases.case import Case
from articulon.comparisons.compared import Compared
from articulon.comparisons.timed_runs import PATIENCE, estimated
from articulon.comparisons.variant_runs import Entry
from articulon.errors import ArticulonError
from articulon.forces.stokes_drag import StokesDrag
from articulon.integrate import FrictionImplicit
from articulon.report.readable_numbers import wall_time
from articulon.simulation.run_request import Progress
from articulon.simulation.step_search import longest_step

__all__ = ["reference_sentences", "with_reference"]


def with_reference(chosen: Sequence[Entry], progress: Progress) -> list[Entry]:
    """Add an unscaled reference to each group of entries whose reference is scaled, before its other runs.

    A reference that the case names is kept. If no unscaled run can be made, the reference entry holds the reason.
    """
    found: list[Entry] = []
    steps: dict[str, float | None] = {}
    for group in dict.fromkeys(entry.group for entry in chosen):
        mine = [entry for entry in chosen if entry.group == group]
        reference = next(entry for entry in mine if entry.is_reference)
        if reference.unscaled or reference.named:
            found += mine
            continue
        made = _made(reference, steps)
        if isinstance(made, str):
            progress.message(f"no unscaled reference run: {made}")
            found += [replace(entry, without=made) if entry is reference else entry for entry in mine]
            continue
        while made.name in {entry.name for entry in mine}:
            made = replace(made, name=f"{made.name}-reference")
        found += [made, *(replace(entry, is_reference=False) for entry in mine if not entry.stands_in)]
    return found


def _made(reference: Entry, steps: dict[str, float | None]) -> Entry | str:
    """Return the entry of an unscaled reference run, or the reason why it is impossible."""
    case, unscaled = reference.case, {"scaling": {"policy": "none"}}
    try:
        step = _implicit_step(case, steps)
        if step is not None:
            implicit = {**unscaled, "integrator": {"rule": "friction-implicit", "step": step}}
            changed, name = case.with_overrides(implicit), "friction-implicit"
            return Entry(name + reference.suffix, changed, reference.group, is_reference=True)
        entry = Entry("unscaled" + reference.suffix, case.with_overrides(unscaled), reference.group, is_reference=True)
        seconds, _ = estimated(entry, float(case.run.duration))
    except ArticulonError as error:
        return str(error)
    if seconds <= PATIENCE:
        return entry
    return f"it would take about {wall_time(seconds)} by the rule {entry.rule}"


def _implicit_step(case: Case, steps: dict[str, float | None]) -> float | None:
    """Return the longest accurate friction-implicit step of the unscaled case [time]; None if the integrator is not
    suitable."""
    if not any(isinstance(force, StokesDrag) for force in case.forces):
        return None
    plain = case.with_overrides({"scaling": {"policy": "none"}, "run.seed": 1}).digest()
    if plain not in steps:
        steps[plain] = longest_step(case, FrictionImplicit, "friction-implicit")
    return steps[plain]


def reference_sentences(done: Compared) -> list[str]:
    """Return a sentence for each reference that is scaled, with its verdict."""
    found = []
    for row in done.rows:
        if not row["is_reference"] or row["scaling"]["policy"] == "none":
            continue
        verdict = f"its own verdict is '{row['verdict']}'" if row["verdict"] else "it has no verdict"
        why = f": {row['without_unscaled']}" if row["without_unscaled"] else ""
        unscaled = any(o["group"] == row["group"] and o["scaling"]["policy"] == "none" for o in done.rows)
        start = "" if unscaled else f"No run here is unscaled{why}. "
        found.append(
            f"{start}'{row['name']}', the reference of the others, is scaled, and {verdict}: deviations and "
            "lateness are relative to it and do not show the true errors."
        )
    return found
