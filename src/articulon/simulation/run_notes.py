"""What is to be known of a run, whichever door it was started by."""

from articulon.adaptive.adaptive_driver import AdaptiveDriver
from articulon.fidelity.run_temperatures import scaling_notes
from articulon.forces.brownian import brownian_of
from articulon.model import State
from articulon.scaling import TwoFactor
from articulon.simulation.preparation import Prepared
from articulon.thermostats.base import SCALES
from articulon.thermostats.total_momentum import keeps_momentum
from articulon.time_scales.thermal_turning import turning_note


def notes_on(prepared: Prepared) -> list[str]:
    """What its parts do together, before its first step."""
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
            "thermostat.centre_of_mass: no force changes the total momentum, and this thermostat has no noise that "
            "does; its three degrees of freedom are counted and not sampled: use 'removed'"
        )
    noise = brownian_of(prepared.model)
    if noise is not None and thermostat is not None:
        notes.append(
            f"thermostat: '{thermostat.kind}' and the force 'brownian' are two baths at once; where their temperatures "
            "differ heat flows between them, and the temperature of the run is neither"
        )
    if prepared.windows.step is not None:
        note = turning_note(case.integrator, prepared.model, prepared.windows.step, unit)
        notes += [] if note is None else [note]
    thermostat = prepared.evaluator.thermostat
    if thermostat is not None:
        notes += scaling_notes(case.scaling, float(prepared.evaluator.system.bath.temperatures[0]))
    if isinstance(case.scaling, TwoFactor):
        b2 = float(case.scaling.b2)
        clock = f"scaling: the two-factor policy relaxes positions more slowly by 1/b2 = {1 / b2:g}"
        if noise is not None:
            T = float(noise.temperature)
            clock += (
                f" and samples them at b2 T = {b2 * T:g} K; speeds are those of a2 b2² T = "
                f"{float(case.scaling.a2) * b2 * b2 * T:g} K, and the kinetic temperature shown, divided by a2, is "
                f"{b2 * b2 * T:g} K"
            )
        notes.append(clock)
    return notes


def notes_at(prepared: Prepared, state: State) -> list[str]:
    """What it has done, at a state."""
    driver = prepared.driver
    if not isinstance(driver, AdaptiveDriver):
        return []
    names = driver.chattering(state)
    return [_chatter(names)] if names else []


def _chatter(names: list[str]) -> str:
    more = f" and {len(names) - 1} more" if len(names) > 1 else ""
    body, _, mode = names[0].rpartition(".mode")
    what = f"mode {mode} of body '{body}'" if body and mode.isdigit() else f"the joint of body '{names[0]}'"
    return (
        f"adaptive: {what}{more} chatters: it locks and releases as fast as its conditions "
        "can hold; move their bounds apart, or let them hold for a longer window"
    )
