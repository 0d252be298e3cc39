"""Notes on a run, for runs of a case and runs in memory."""

from articulon.fidelity.run_temperatures import scaling_notes
from articulon.forces.brownian import brownian_of
from articulon.model import State
from articulon.simulation.impact_summary import impact_notes
from articulon.simulation.preparation import Prepared
from articulon.thermostats.base import SCALES
from articulon.thermostats.total_momentum import keeps_momentum
from articulon.time_scales.thermal_turning import turning_note


def notes_on(prepared: Prepared) -> list[str]:
    """Return notes on the combination of features in a run; they are known before the first step."""
    case, unit = prepared.case, prepared.case.units.symbols[2]
    notes: list[str] = []
    thermostat = case.thermostat
    if (
        thermostat is not None
        and thermostat.way == SCALES
        and thermostat.centre_of_mass == "free"
        and keeps_momentum(prepared.model)
    ):
        notes.append(
            "thermostat.centre_of_mass: no force changes the total momentum, and this thermostat has no noise to "
            "change it; its three degrees of freedom are counted but not sampled: use 'removed'"
        )
    for k, force in enumerate(prepared.model.forces):
        notes += [f"forces[{k}]: {line}" for line in force.notes(prepared.model)] if hasattr(force, "notes") else []
    noise = brownian_of(prepared.model)
    if noise is not None and thermostat is not None:
        notes.append(
            f"thermostat: '{thermostat.kind}' and the force 'brownian' are two heat baths; if their temperatures "
            "differ, heat flows between them, and the run is at neither temperature"
        )
    if prepared.windows.step is not None:
        note = turning_note(case.integrator, prepared.model, prepared.windows.step, unit)
        notes += [] if note is None else [note]
    thermostat = prepared.evaluator.thermostat
    if thermostat is not None:
        notes += scaling_notes(case.scaling, float(prepared.evaluator.system.bath.temperatures[0]))
    notes += case.scaling.notes(None if noise is None else float(noise.temperature))
    return notes


def notes_at(prepared: Prepared, state: State) -> list[str]:
    """Return notes on the course of a run up to a state."""
    names = [] if prepared.adaptive is None else prepared.adaptive.chattering(state)
    chatter = [_chatter(names)] if names else []
    return [*chatter, *impact_notes(prepared.evaluator, state)]


def _chatter(names: list[str]) -> str:
    more = f" and {len(names) - 1} more" if len(names) > 1 else ""
    body, _, mode = names[0].rpartition(".mode")
    what = f"mode {mode} of body '{body}'" if body and mode.isdigit() else f"the joint of body '{names[0]}'"
    return (
        f"adaptive: {what}{more} chatters: it locks and releases as fast as its conditions "
        "can hold; move their bounds apart, or let them hold for a longer window"
    )
