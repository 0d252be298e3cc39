"""The command ``analyse``, and the output of its results."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from articulon.cli.commands import AllowCode, Overrides, app, assignments
from articulon.cli.output import echo
from articulon.runs.progress import RunProgress

if TYPE_CHECKING:
    from collections.abc import Sequence

    from articulon.analysis import ContactAnalysis, MoleculeAnalysis, RelaxationAnalysis, ThermostatAnalysis
    from articulon.analysis.relaxation import Relaxation

MOST_BODIES = 12
"""Largest number of bodies whose relaxation times are printed."""


def part(text: str, option: str = "--tolerance") -> float:
    """Return a fraction such as "0.02" or "2%" as a number; raises ArticulonError unless it is between 0 and 1."""
    from articulon.errors import ArticulonError

    digits = text.strip().removesuffix("%")
    try:
        value = float(digits) / (100.0 if text.strip().endswith("%") else 1.0)
    except ValueError:
        value = math.nan
    if not 0.0 < value < 1.0:
        raise ArticulonError(f"{option}: expected a fraction between 0 and 1, such as 0.02 or 2%, got '{text}'")
    return value


@app.command()
def analyse(
    case: Annotated[
        str, typer.Argument(metavar="CASE", help="A built-in case, a file, or the folder of a run of molecules.")
    ],
    time_scale: Annotated[
        str | None,
        typer.Option(
            "--time-scale",
            metavar="TIME",
            help="Time scale of interest: '1 ns'; by default the case's unit of time.",
        ),
    ] = None,
    window: Annotated[
        str | None,
        typer.Option(
            "--window", metavar="TIME", help="Length of the longest short run; by default the case's duration."
        ),
    ] = None,
    tolerance: Annotated[
        str, typer.Option("--tolerance", metavar="PART", help="Allowed lag of a scaled run: 0.02 or 2%.")
    ] = "2%",
    mean_free_path: Annotated[
        str,
        typer.Option("--mean-free-path", metavar="LENGTH", help="Mean free path of the medium, for Knudsen numbers."),
    ] = "0.3 nm",
    speed: Annotated[
        str | None,
        typer.Option("--speed", metavar="VELOCITY", help="Impact speed of grains; by default estimated from the case."),
    ] = None,
    reference: Annotated[
        str | None,
        typer.Option(
            "--reference",
            metavar="FILE",
            help="PDB or mmCIF file to compare a run of molecules with; by default its first frame.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="DIR", help="Folder for the results of a run of molecules, as CSV and JSON."),
    ] = None,
    overrides: Overrides = [],  # noqa: B006
    allow_code: AllowCode = False,
) -> None:
    """Analyse which scaling a case allows: by short unscaled runs for thermostatted particles, otherwise by its drag.
    For a case with contacts, find the step. For a run of molecules, analyse structure and sampling."""
    from articulon.errors import ArticulonError

    if Path(case).is_dir():
        _analyse_run(Path(case), reference, out)
        return
    for option, given in (("--reference", reference), ("--out", out)):
        if given is not None:
            raise ArticulonError(f"{option} applies to a run of molecules, and '{case}' is no run folder; leave it out")
    from articulon.analysis import analyse_contacts, analyse_relaxation, analyse_thermostat, load_for_analysis
    from articulon.forces import Contact
    from articulon.forces.sites.site_positions import only_particles

    description = load_for_analysis(case, assignments(overrides), allow_code=allow_code)
    if any(isinstance(force, Contact) for force in description.forces):
        _print_contacts(analyse_contacts(description, speed))
        return
    if description.thermostat is None or not only_particles(description.build_model()):
        _print_relaxation(analyse_relaxation(description, part(tolerance), mean_free_path))
        return
    progress = RunProgress()
    try:
        _print_thermostat(analyse_thermostat(description, time_scale, window, progress))
    finally:
        progress.close()


def _analyse_run(folder: Path, reference: str | None, out: Path | None) -> None:
    from articulon.analysis import analyse_molecules
    from articulon.analysis.molecular_runs import check_molecular
    from articulon.runs.entry import open_run

    run = open_run(folder)
    check_molecular(run, str(folder))
    found = analyse_molecules(run, reference)
    _print_molecules(found)
    if out is not None:
        echo()
        for file in found.write(out):
            echo(f"written {file}")


def _print_molecules(found: MoleculeAnalysis) -> None:
    from articulon.conformations.conformation_summary import warning_of_few_samples

    length, time = (found.run.model.units.label(what) for what in ("length", "time"))
    symbols = {"rmsd": length, "radius_of_gyration": length, "end_to_end_distance": length, "temperature": "K"}
    skipped, against = found.figures["skip"], found.figures["reference"]
    echo(f"means skip the first {skipped:.0%} of the frames; reference: {against}\n")
    rows = []
    for name, values in found.figures.items():
        if isinstance(values, dict) and "mean" in values:
            unit = f" ({symbols[name]})" if name in symbols else ""
            rows.append([name.replace("_", " ") + unit, *(_short(values.get(key)) for key in COLUMNS)])
    _table(["", "mean", "± error", "independent samples", "last frame"], rows)
    heat, slowest = found.figures.get("temperature"), found.figures.get("slowest_torsion")
    if heat:
        spreads = f"σ of the temperature {heat['spread']:.4g} K, canonical {heat['canonical_spread']:.4g} K"
        echo(f"\n{heat['degrees_of_freedom']} degrees of freedom; {spreads}")
    if slowest:
        memory = f"correlation time {slowest['correlation_time']:.3g} {time}"
        echo(f"slowest torsion {slowest['name']}: {slowest['effective_samples']:.3g} independent samples, {memory}")
        warning = warning_of_few_samples(slowest)
        if warning:
            echo(f"warning {warning}")
    for row in found.tables.get("clusters", [])[:5]:
        echo(f"cluster {row['cluster']}: {row['population']:.1%} of the frames, centre at {row['time']:.4g} {time}")
    for note in found.notes:
        echo(f"note    {note}")


COLUMNS = ("mean", "error", "samples", "final")
"""Printed columns of a mean."""


def _short(value: Any) -> str:
    return "–" if value is None or not math.isfinite(value) else f"{value:.4g}"


def _shown(bodies: Sequence[Relaxation]) -> list[Relaxation]:
    """Return the fastest bodies and the slowest one."""
    first, slowest = list(bodies[:MOST_BODIES]), max(bodies, key=lambda one: one.translation)
    return first if slowest in first else [*first[:-1], slowest]


def _print_relaxation(found: RelaxationAnalysis) -> None:
    unit = found.case.units.symbols[2]
    if found.bodies:
        shown = _shown(found.bodies)
        rows = [
            [
                one.body,
                f"{one.translation:.4g}",
                "–" if math.isinf(one.rotation) else f"{one.rotation:.4g}",
                "–" if one.knudsen is None else f"{one.knudsen:.2g}",
            ]
            for one in shown
        ]
        _table(["body", f"ε = m/β ({unit})", f"I/β_ω ({unit})", "Kn"], rows)
        if len(found.bodies) > len(shown):
            where = "more" if shown[-1] is found.bodies[len(shown) - 1] else "between the last two"
            echo(f"and {len(found.bodies) - len(shown)} {where}")
        echo()
    if found.stiffest:
        scales = [[name, f"{time:.4g}", f"{time / found.step:.3g}"] for name, time in found.stiffest.items()]
        _table(["channel", f"stiffest time scale ({unit})", f"in stable steps of {found.rule}"], scales)
        echo()
    for note in found.notes:
        echo(note)


def _print_contacts(found: ContactAnalysis) -> None:
    units, scales = found.case.units, found.scales
    reduced = units.mass is None
    time, length, density = (
        "" if reduced else f" ({units.label(what)})" for what in ("time", "length", "mass_density")
    )
    velocity = "" if reduced else f" {units.label('velocity')}"
    echo(f"{found.case.title}\nassumed impact speed of spheres: {scales.speed:.4g}{velocity}\n")
    _table(
        ["material", f"R{length}", f"ρ{density}", f"Rayleigh time{time}"],
        [[one.kind, f"{one.radius:.4g}", f"{one.density:.4g}", _finite(one.time)] for one in scales.grains],
    )
    echo()
    speeds = (0.1 * scales.speed, scales.speed, 10.0 * scales.speed)
    _table(
        ["contact", *(f"t_c{time} at {v:.3g}{velocity}" for v in speeds), "depth/R", f"limit{time}"],
        [
            [
                f"{one.kinds[0]}, {one.kinds[1]}{' (wall)' if one.wall else ''}",
                *(_finite(one.collision_at(v)) for v in speeds),
                f"{one.overlap:.2%}",
                _finite(one.limit),
            ]
            for one in scales.pairs
        ],
    )
    echo()
    for note in found.notes:
        echo(note)


def _finite(value: float) -> str:
    return f"{value:.4g}" if math.isfinite(value) else "–"


def _print_thermostat(found: ThermostatAnalysis) -> None:
    units = found.case.units
    reduced = units.mass is None
    time, mass = ("", "") if reduced else (f" {units.symbols[2]}", f" {units.label('inertia')}")
    echo(f"{found.case.title}\nTd = {found.temperature:g}, {found.degrees_of_freedom} degrees of freedom\n")
    _table(
        ["unscaled run", "Q", "kd", "period of ζ", "ζ", "kd ζ'", "σ of T"],
        [
            [
                one.what,
                f"{one.mass:.4g}",
                f"{one.gain:.3g}",
                f"{one.period:.3g}" if one.gain == 0.0 else "–",
                f"{one.zeta:.3g}",
                f"{one.rate:.3g}" if one.gain > 0.0 else "–",
                f"{one.spread:.3g}",
            ]
            for one in found.stretches
        ],
    )
    echo(f"ζ and kd ζ' are root mean squares after equilibration; the canonical σ of T is {found.canonical:.3g}\n")
    rows = []
    for terms in sorted(found.scales, key=lambda one: one.rate):
        factors = {"I": "0", "II": "1", "III": "2"}[terms.case]
        rows.append(
            [
                terms.label,
                _power(terms.zeta),
                f"{1.0 / terms.zeta:.2g}" if terms.zeta else "–",
                _power(terms.rate),
                f"{terms.epsilon:.2g}",
                terms.case,
                factors,
            ]
        )
    _table(["time scale", "ζ", "1/ζ", "kd ζ'", "ε = 1/(kd ζ')", "case", "factors"], rows)
    proposal = found.proposal
    echo(
        f"\nProposed by the procedure of Guy (2018, 4.6) for a window of {found.window:.4g}{time}:\n"
        f"  thermostat.mass            = {proposal.mass:.4g}{mass}\n"
        f"  thermostat.derivative_gain = {proposal.gain:.3g}{time}\n"
        f"  a2 ≈ ε                     = {proposal.a2:.2g}"
    )
    for note in found.notes:
        echo(note)


def _power(value: float) -> str:
    return f"{value:.2g}"


def _table(heads: list[str], rows: list[list[str]]) -> None:
    widths = [max(len(row[k]) for row in [heads, *rows]) for k in range(len(heads))]
    for row in [heads, *rows]:
        first, *others = row
        cells = [first.ljust(widths[0]), *(text.rjust(width) for text, width in zip(others, widths[1:], strict=True))]
        echo("  ".join(cells).rstrip())
