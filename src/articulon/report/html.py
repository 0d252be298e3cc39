"""The report of a run: one HTML file with figures and explanations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from articulon.cases.case import Case
from articulon.errors import CaseError
from articulon.forces.brownian import brownian_of
from articulon.integrate import FrictionImplicit
from articulon.report import molecule_words, page, particle_drawing, polymer_figures, style
from articulon.report.activity_figure import activity_words
from articulon.report.drawing import flat_axis
from articulon.report.fidelity_words import fidelity_part, verdict_sentences
from articulon.report.figures import CAPTIONS, figures
from articulon.report.joint_figures import left_out
from articulon.report.particle_drawing import sphere_radii
from articulon.report.polymer_words import chain_rows, without_of_chains
from articulon.report.readable_numbers import number, percent, suited, unit_text, wall_time, with_unit
from articulon.report.view import View

__all__ = ["figures", "report"]

FILE = "report.html"
LONGEST_CASE = 200_000
"""Largest number of characters of a case that is shown."""
THERMAL = ("temperature", "configurational_temperature", "thermostat_energies", "thermostat_phase")
"""Figures of temperatures and thermostats."""
LEDGER_WORDS = {
    "kinetic_translation": "kinetic energy of translation",
    "kinetic_rotation": "kinetic energy of rotation",
    "energy_normal_elastic": "normal elastic energy",
    "energy_external": "energy in gravity",
    "work_normal_elastic": "work of normal elastic forces",
    "work_tangential_spring": "work of tangential springs",
    "work_contact_damping": "work of damping",
    "work_friction": "work of friction",
    "work_walls": "work of moving walls",
}
"""Names of the lines of the contact ledger."""
MOTION = ("spheres", "grain_motion", "position", "joints", "activity", "model")
"""Figures of the motion."""
CONTACTS = ("contacts", "force_distribution", "contact_ledger")
"""Figures of contacts."""
UNDEFINED_WORDS = {"temperature_kinetic": "the kinetic temperature", "pressure": "the pressure"}
"""Names of observables that may be undefined."""
IDLE = (
    "The integrator friction-implicit takes the step that it is given, scaled or not: scaling saves nothing here "
    "unless it made a longer step possible. It lengthens the steps of explicit integrators, such as kutta-merson."
)
"""Note for scaling that does not allow longer steps."""
ADAPTIVE = {
    "balance": ["Energy that locking joints has removed counts as work."],
    "temperature": ["Only active joints count: where quiet joints are locked, the others are warmer."],
    "thermostat_energies": [
        "R is the energy that locking joints has removed, with the changes of Fixman's potential; it closes the "
        "balance."
    ],
}
"""Additional captions for adaptive runs."""


def report(view: View, replay: str = "") -> str:
    """Return the HTML text of a run's report; ``replay`` is HTML that shows the run in three dimensions."""
    case, summary = view.case, view.summary
    drawn = style.svgs(figures(view))
    captions = {name: caption(name, view) for name in drawn}
    lead = f"{case.name}: {scaling_text(case)}; {integrator_text(case)}"
    notes = [*case.notes, *summary.get("notes", ())]
    if case_is_scaled(case) and isinstance(case.integrator, FrictionImplicit):
        notes.append(IDLE)
    citing = f"For the references to cite, run: articulon cite {case.name}" if case.cite else ""
    forces = "Forces and scaling" if case_is_scaled(case) else "Forces"
    energy = "Kinetic energy and temperature" if "temperature" in drawn else "Energy"
    files = "The folder also holds trajectory.h5 (H5MD), topology.pdb, summary.json and case.toml."
    if view.folder is None:
        files = "This run was made in memory."
    return page.document(
        case.title,
        lead,
        [
            *callouts(view),
            page.section("Run", page.definitions(run_rows(view))),
            page.section("Checks", checks_table(view), page.definitions(check_rows(view))),
            page.section("Fidelity", fidelity_part(view), *_figures(drawn, captions, "fidelity")),
            page.section(
                "Molecules",
                page.definitions(molecule_words.molecule_rows(view)),
                page.paragraphs([molecule_words.not_drawn(view)]),
                *_figures(drawn, captions, *molecule_words.FIGURES),
            ),
            page.section(
                "Chains",
                page.definitions(chain_rows(view)),
                page.paragraphs([without_of_chains(view)]),
                *_figures(drawn, captions, *polymer_figures.FIGURES),
            ),
            page.section("Motion", replay, *_figures(drawn, captions, *MOTION)),
            page.section("Impacts", page.definitions(impact_rows(view))),
            page.section("Contacts", page.definitions(contact_rows(view)), *_figures(drawn, captions, *CONTACTS)),
            page.section("Energies and works", *_figures(drawn, captions, "energies", "balance", "works_normalised")),
            page.section(forces, *_figures(drawn, captions, "forces", "factors")),
            page.section(
                energy, page.paragraphs([undefined_text(view)]), *_figures(drawn, captions, "kinetic_energy", *THERMAL)
            ),
            page.section("Integration", *_figures(drawn, captions, "step_size")),
            page.section("Notes", page.items(notes)),
            page.section(
                "Case", page.paragraphs([files, citing]), page.details("The case of this run", _case_text(case))
            ),
        ],
    )


def _case_text(case: Case) -> str:
    """Return the text of the case as a file. If no file can describe the case, or if the text is too long, return the
    reason instead."""
    try:
        text = case.to_toml()
    except CaseError as error:
        return str(error)
    if len(text) > LONGEST_CASE:
        return f"It has {len(text.splitlines())} lines, since it contains the whole model: run.save(folder) writes it."
    return text


def _figures(drawn: Mapping[str, str], captions: Mapping[str, str], *names: str) -> list[str]:
    return [page.figure(name, drawn[name], captions[name]) for name in names if name in drawn]


def caption(name: str, view: View) -> str:
    """Return the caption of a figure of a run."""
    text = CAPTIONS[name].replace("{core}", f"'{view.core_name}'")
    text = text.replace("{reference}", "the first frame" if view.reference is None else view.reference.name)
    if name == "model" and sphere_radii(view.model) is not None:
        text = particle_drawing.RUN_CAPTION
    elif name == "model" and flat_axis(view) is not None:
        text = "The model in its first frame (left) and its last (right), in its plane of motion."
    elif name == "model" and not view.model.sites.body.size:
        text = "The model in its first frame (above) and its last (below), from the side and from the front."
    extra = [molecule_words.more_words(name, view)] if name in molecule_words.FIGURES else []
    if name == "joints" and left_out(view):
        extra.append("Only the joints nearest to the ground or to the root of a tree are shown.")
    if "active_freedoms" in view.observables:
        extra += ADAPTIVE.get(name, ())
    if name in ("position", "energies", "forces", "kinetic_energy") and view.switches:
        count = len(view.switches)
        times = view.time_scale.text(view.switches[0], 3)
        extra.append(f"The scaling factor switches {'once' if count == 1 else f'{count} times'}, first at {times}.")
    if name == "temperature" and case_is_scaled(view.case) and view.case.thermostat is None:
        extra.append("It is divided by the factor of the damping, which lowers the temperature of the scaled system.")
    if name == "kinetic_energy" and view.potential_energy is not None:
        extra.append("Also shown: the energy of the forces since the start, and the sum of both, which is constant.")
    if name == "factors" and not view.case.scaling.varies:
        extra.append("They are constant along the run.")
    return " ".join(words for words in [text, *extra] if words)


def undefined_text(view: View) -> str:
    """Name the observables that the run does not define, with the reasons; empty if all are defined."""
    names = [UNDEFINED_WORDS.get(name, name.replace("_", " ")) for name in view.undefined]
    if not names:
        return ""
    why = "" if view.inertial else f" The integrator '{view.case.integrator.rule}' has no speeds."
    return f"Not defined, and not drawn: {', '.join(names)}.{why}"


def case_is_scaled(case: Case) -> bool:
    """Whether any scaling factor differs from 1."""
    return case.scaling.scales


def callouts(view: View) -> list[str]:
    """Return boxes that say how the run ended, and the verdict on a scaled run."""
    boxes = [page.callout("status", status_text(view))]
    verdict = fidelity_verdict(view.summary)
    if verdict is not None:
        boxes.append(page.callout(verdict, *verdict_sentences(view)))
    checks = view.summary.get("checks") or []
    failed = [str(check["what"]) for check in checks if not check["passed"]]
    if failed:
        boxes.append(page.callout("violated", f"{len(failed)} of {len(checks)} checks failed: {'; '.join(failed)}."))
    elif checks:
        boxes.append(page.callout("trusted", f"All {len(checks)} checks of the case passed."))
    return boxes


def status_text(view: View) -> str:
    """Return a sentence on how the run ended."""
    summary, time = view.summary, view.time_scale
    now = time.text(summary.get("simulated_time"))
    status = summary.get("status", "complete")
    if view.stop_time is not None:
        return f"{str(status).capitalize()} at {time.text(view.stop_time)}, after {wall_time(summary['wall_seconds'])}."
    if status == "complete":
        missed = view.case.run.stop
        without = f", without having {missed.label}" if missed is not None else ""
        return f"Complete{without}: {now} simulated in {wall_time(summary['wall_seconds'])}."
    return f"{str(status).capitalize()}: {now} of {time.text(summary.get('duration'))} simulated so far."


def scaling_text(case: Case) -> str:
    """Describe the scaling policy."""
    words = {key: value for key, value in case.scaling.model_dump().items() if key != "policy" and value is not None}
    if not case.scaling.scales:
        return "unscaled"
    named = ", ".join(f"{key} = {number(value) if isinstance(value, float) else value}" for key, value in words.items())
    return f"{case.scaling.policy} scaling, {named}"


def integrator_text(case: Case) -> str:
    """Describe the integrator."""
    integrator = case.integrator
    step = getattr(integrator, "step", None)
    if step is not None:
        return f"{integrator.rule} with steps of {suited(case.units, 'time', float(step)).text(float(step))}"
    tolerances = [
        f"{key} {number(float(value))}"
        for key in ("rtol", "atol")
        if isinstance(value := getattr(integrator, key, None), float)
    ]
    return ", ".join([integrator.rule, *tolerances])


def fidelity_verdict(summary: Mapping[str, Any]) -> str | None:
    """Return the verdict on a scaled run; None for an unscaled one."""
    found = summary.get("fidelity")
    return None if not found else str(found["verdict"])


def run_rows(view: View) -> Iterator[tuple[str, str]]:
    """Names and values of the main results of the run."""
    summary, units, time = view.summary, view.case.units, view.time_scale
    simulated, wall = summary.get("simulated_time"), summary.get("wall_seconds")
    yield "simulated time", f"{time.text(simulated)} of {time.text(summary.get('duration'))}"
    if view.case.run.stop is not None:
        stop = view.case.run.stop
        length = suited(units, "length", stop.length).text(stop.length)
        what = f"has advanced by {length}" if stop.to is None else f"is within {length} of {stop.to}"
        goal = f"{stop.label} means that {stop.body} {what}"
        yield stop.label, f"{time.text(view.stop_time, 6)} ({goal})" if view.stop_time is not None else f"no ({goal})"
    yield "wall time", wall_time(wall)
    if simulated and wall:
        speed = simulated / wall * 3600.0
        scale = suited(units, "time", speed)
        yield (
            "speed",
            f"{scale.text(speed, 3) if scale.symbol else number(speed, 3)} per hour of wall time, including everything "
            "before the first step",
        )
    yield "steps", number(summary.get("steps"))
    yield "rejected steps", number(summary.get("rejected"))
    yield "evaluations of the forces", number(summary.get("evaluations"))
    if summary.get("mean_step"):
        yield "mean step", suited(units, "time", summary["mean_step"]).text(summary["mean_step"])
    yield "integrator", integrator_text(view.case)
    yield "scaling", scaling_text(view.case)
    if summary.get("threshold"):
        speed = with_unit(summary["threshold"].get("value"), unit_text(units, "velocity"))
        yield "threshold α", f"{speed}, {summary['threshold'].get('how', '')}"
    if summary.get("noise_window"):
        yield "noise held for", suited(units, "time", summary["noise_window"]).text(summary["noise_window"])
    # The model of a report lacks the functions that drive joints, so the number of degrees of freedom is read from the
    # summary.
    degrees_of_freedom = summary.get("degrees_of_freedom", view.model.degrees_of_freedom)
    yield "bodies, degrees of freedom", f"{view.model.bodies}, {degrees_of_freedom}"
    if summary.get("adaptive"):
        yield "what moved", activity_words(summary["adaptive"])
    yield "frames", number(view.times.size)
    yield "seed", str(view.case.run.seed)
    versions = summary.get("versions", {})
    yield "versions", ", ".join(f"{name} {version}" for name, version in versions.items())


def impact_rows(view: View) -> Iterator[tuple[str, str]]:
    """Names and values of the impacts in a run."""
    found, units = view.summary.get("impacts"), view.case.units
    if not found:
        return
    yield "impacts", number(found["impacts"])
    yield "energy lost in impacts", with_unit(found["energy_lost"], unit_text(units, "energy"), 6)
    if found["largest_impulse"] is not None:
        when = found["largest_impulse_time"]
        at = suited(units, "time", when).text(when, 6) if when else number(when)
        size = with_unit(found["largest_impulse"], unit_text(units, found["largest_impulse_dimension"]), 6)
        yield "largest impulse", f"{size}, {found['largest_impulse_between']}, at {at}"
    if "wall_impacts" in found:
        yield "impacts on walls", number(found["wall_impacts"])
        return
    if found.get("restitution_reduced"):
        yield "contacts with reduced restitution", number(found["restitution_reduced"])
    yield "resting contacts begun and ended", f"{number(found['rests_begun'])} and {number(found['rests_ended'])}"
    if found["resting"]:
        yield "resting at the end", "; ".join(found["resting"])


def contact_rows(view: View) -> Iterator[tuple[str, str]]:
    """Names and values of the contacts of a run, and of their ledger."""
    found, units = view.summary.get("contacts"), view.case.units
    if not found:
        return
    energy = unit_text(units, "energy")

    def time(value: float | None) -> str:
        return suited(units, "time", value).text(value, 3) if value else number(value)

    yield "contacts at the end", number(found["contacts"])
    yield "contacts of a sphere", number(found["coordination_number"], 3)
    yield "sliding contacts", percent(found["sliding_contacts"])
    yield "contacts begun and ended", f"{number(found['contacts_begun'])} and {number(found['contacts_ended'])}"
    yield (
        "duration of ended contacts",
        (f"{time(found['contact_time_mean'])} on average, {time(found['contact_time_longest'])} at most"),
    )
    yield (
        "largest ratio of overlap to radius",
        (f"{percent(found['overlap_largest'])}, contact law valid up to {percent(found['overlap_allowed'])}"),
    )
    if found.get("step") is not None:
        step, recommended, limit = (time(found[key]) for key in ("step", "step_recommended", "step_limit"))
        yield "step", f"{step}; recommended {recommended}, limit {limit}"
    for name, value in found["ledger"].items():
        yield LEDGER_WORDS.get(name, name.replace("_", " ")), with_unit(value, energy)
    if found["ledger_error_relative"] is not None:
        yield (
            "ledger closes",
            (
                f"to {with_unit(found['ledger_error'], energy, 2)}, {number(found['ledger_error_relative'], 2)} of the "
                f"energy put in, {with_unit(found['energy_put_in'], energy, 4)}"
            ),
        )
        yield (
            "work of normal elastic forces against their energy",
            (
                f"differs by {number(found['elastic_error_relative'], 2)} of the energy put in; this is the error of "
                "the steps and of the division into lines of the ledger"
            ),
        )


def checks_table(view: View) -> str:
    """Return a table of the case's checks and their results."""
    checks = view.summary.get("checks") or []
    if not checks:
        return ""
    rows = [
        (
            str(check["what"]),
            with_unit(check.get("measured"), check["unit"], 12) if "measured" in check else "",
            with_unit(check.get("reference"), check["unit"], 12) if "reference" in check else "",
            number(check["value"], 3),
            number(check["bound"], 3),
            "passed" if check["passed"] else "failed",
        )
        for check in checks
    ]
    heads = ("check", "measured", "should be", "error", "allowed", "")
    return page.table(heads, rows, marked=[k for k, check in enumerate(checks) if not check["passed"]])


def check_rows(view: View) -> Iterator[tuple[str, str]]:
    """Names and values of the energy checks."""
    summary, symbol = view.summary, unit_text(view.case.units, "energy")
    error = summary.get("energy_balance_error")
    if error is not None:
        relative = summary.get("energy_balance_error_relative")
        beside = f", {number(relative, 2)} of the largest work" if relative is not None else ""
        yield "largest |T − T₀ − ΣW|", with_unit(error, symbol, 3) + beside
    for name, found in (summary.get("conservative_works") or {}).items():
        what = f"work of the {name} forces against their energy"
        if found.get("error") is None:
            yield what, f"not compared: {found.get('reason')}"
        else:
            beside = f", {number(found['relative'], 2)} of the work" if found.get("relative") is not None else ""
            if brownian_of(view.model) is not None:
                # Under noise, the path between the ends of a step is rough; see docs/how_to/check_a_run.md.
                beside += (
                    "; under noise this is proportional to the step and the duration, so compare runs with two steps"
                )
            yield what, f"differs by at most {with_unit(found['error'], symbol, 3)}{beside}"
