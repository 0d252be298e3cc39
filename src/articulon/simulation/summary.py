"""Content of `summary.json`: the results of a run."""

import json
import math
import platform
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from articulon import __version__
from articulon.chains.chain_statistics import chain_statistics
from articulon.chains.model_chains import chain_frames
from articulon.conformations.conformation_summary import molecular_figures
from articulon.dynamics import loop_residuals
from articulon.fidelity.run_temperatures import temperatures
from articulon.forces.brownian import brownian_of
from articulon.model import CHANNELS, Model, State
from articulon.model.state import EVALUATIONS, REJECTED, STEPS
from articulon.simulation import ledger
from articulon.simulation.contact_summary import contact_figures, contact_notes
from articulon.simulation.deformation_notes import deformation_notes
from articulon.simulation.frames import Frames
from articulon.simulation.freedom_temperatures import temperatures_of_freedoms
from articulon.simulation.hard_sphere_observer import hard_sphere_figures
from articulon.simulation.impact_summary import impact_figures
from articulon.simulation.preparation import Prepared
from articulon.simulation.run_verdict import judged
from articulon.storage.atomic_writing import write_text
from articulon.storage.file_reading import SUMMARY, read_summary

__all__ = ["FILE", "plain", "read_summary", "summary", "write_summary"]

FILE = SUMMARY


def summary(
    prepared: Prepared,
    state: State,
    status: str,
    wall_seconds: float,
    notes: list[str],
    run: Frames | None = None,
    stop_time: float | None = None,
    with_pairs: bool = False,
    pulled: bool = False,
) -> dict[str, Any]:
    """Compute the summary of a run at a state.

    Entries that need frames are included if ``run`` is given. With ``with_pairs``, unscaled reference runs are made for
    the verdict. ``pulled`` says whether a user has pulled on bodies; the spring of a pull does work but has no energy
    function.
    """
    case, model = prepared.case, prepared.model
    steps, time = int(state.counters[STEPS]), float(state.time[0])
    figures: dict[str, Any] = {
        "title": case.title,
        "case": case.name,
        "status": status,
        "simulated_time": time,
        "time_unit": "" if model.units.time is None else model.units.symbols[2],
        "energy_unit": "" if model.units.mass is None else model.units.label("energy"),
        "duration": float(case.run.duration),
        "stop_time": stop_time,
        "steps": steps,
        "rejected": int(state.counters[REJECTED]),
        "evaluations": int(state.counters[EVALUATIONS]),
        "mean_step": time / steps if steps else None,
        "wall_seconds": wall_seconds,
        "bodies": model.bodies,
        "degrees_of_freedom": model.degrees_of_freedom,
        "speeds": model.nu,
        "channels": [CHANNELS[c] for c in prepared.observer.channels],
        "loops": _loops(model, state),
        "dynamics": plain(case.dynamics.model_dump()),
        "integrator": plain(case.integrator.model_dump()),
        "step": prepared.observer.fixed_step,
        "noise_window": prepared.windows.held if prepared.evaluator.system.forces.noise.choice[0] else None,
        "barostat": _barostat(prepared, state),
        "scaling": plain(prepared.policy.describe()),
        "core_drag": prepared.damping,
        "threshold": None if prepared.threshold is None else prepared.threshold.record(),
        "seed": case.run.seed,
        "digest": case.digest(),
        "notes": notes,
        "versions": {
            "articulon": __version__,
            "numpy": np.__version__,
            "numba": version("numba"),
            "python": platform.python_version(),
        },
    }
    if run is None or not len(run.observables["time"]):
        return figures
    observables, noise = run.observables, brownian_of(model)
    scaled, without = prepared.policy.scales, ledger.without_energy(model) | ({"external"} if pulled else set())
    found = temperatures(
        observables,
        _freedoms(prepared, observables),
        model.units.boltzmann,
        prepared.observer.sites.not_defined,
        None if noise is None else float(noise.temperature),
    )
    fidelity = judged(prepared, state, run, found, wall_seconds, with_pairs) if scaled else None
    if model.modes:
        figures["notes"] = [*notes, *deformation_notes(model, observables["time"], run.q, run.u)]
    by_events = prepared.observer.spheres is not None
    impacts = hard_sphere_figures(model, state) if by_events else impact_figures(prepared.evaluator, state)
    if impacts is not None:
        figures["impacts"] = impacts
    contacts = _contacts(prepared, state, observables)
    if contacts is not None:
        seen = prepared.observer.contacts
        deepest = seen.deepest(state) if seen is not None and contacts["overlap_largest"] > 0.0 else None
        figures["notes"] = [*figures["notes"], *contact_notes(model, contacts, deepest)]
        figures["contacts"] = contacts
    return figures | {
        "frames": len(observables["time"]),
        **ledger.balance(observables),
        "conservative_works": ledger.conservative_works(observables, prepared.policy.varies, without),
        "scaling_factors": ledger.factors(observables),
        "temperatures": found,
        "temperatures_of_freedoms": temperatures_of_freedoms(prepared, run),
        "fidelity": fidelity,
        "adaptive": _adaptive(prepared, state, observables),
        **({} if model.atoms is None else {"molecules": _molecules(prepared, run)}),
        **({} if model.chains is None else {"polymers": _polymers(model, run)}),
    }


def _polymers(model: Model, run: Frames) -> dict[str, Any] | None:
    """Return the statistics of chains, except g(r), because its computation takes longer than all others."""
    given = chain_frames(model, run.observables["time"], run.q, run.observables.get("volume"))
    if given is None:
        return None
    found: dict[str, Any] = plain(chain_statistics(*given, pairs=False, unwrapped=True).summary())
    return found


def _molecules(prepared: Prepared, run: Frames) -> dict[str, Any] | None:
    return molecular_figures(prepared.model, run.q, run.observables, _freedoms(prepared, run.observables))


def _contacts(prepared: Prepared, state: State, observables: Mapping[str, np.ndarray]) -> dict[str, Any] | None:
    if prepared.observer.contacts is None:
        return None
    return contact_figures(prepared.model, state, prepared.observer.fixed_step, observables)


def _adaptive(prepared: Prepared, state: State, observables: Mapping[str, np.ndarray]) -> dict[str, Any] | None:
    """Return the entries on an adaptive run: active degrees of freedom, energy removed by transitions, chattering
    joints.

    ``saved`` is the factor by which steps are cheaper, if the cost of a step is proportional to the number of active
    degrees of freedom. The cost of transitions, some steps each, is not included.
    """
    driver = prepared.adaptive
    if driver is None:
        return None
    locks, releases = driver.changes(state)
    active = observables["active_freedoms"]
    return {
        "every": driver.every,
        "decisions": driver.decisions(state),
        "locked": locks,
        "released": releases,
        "transitions": locks + releases,
        "active_mean": driver.active_part(state),
        "saved": 1.0 / driver.active_part(state) if driver.active_part(state) > 0.0 else None,
        "least_active": float(active.min()),
        "most_active": float(active.max()),
        "reservoir_energy": float(state.resolution.reservoir[0]),
        "chattering": driver.chattering(state),
    }


def _freedoms(prepared: Prepared, observables: Mapping[str, np.ndarray]) -> int:
    """Return the number of degrees of freedom that share the kinetic energy; for an adaptive run, the mean over the
    frames."""
    active = observables.get("active_freedoms")
    return prepared.evaluator.degrees_of_freedom if active is None else round(float(active.mean()))


def _barostat(prepared: Prepared, state: State) -> dict[str, Any] | None:
    """Return the entries on the barostat: its kind, and the numbers of tried and accepted moves; None without a
    barostat."""
    if prepared.case.barostat is None:
        return None
    tried, accepted = (int(number) for number in state.box.moves)
    return plain(prepared.case.barostat.model_dump()) | {"tried": tried, "accepted": accepted}


def _loops(model: Model, state: State) -> dict[str, Any] | None:
    """Return the number of loop and drive constraints, and their residuals."""
    if not model.loops.kind.size:
        return None
    return {
        "conditions": model.loops.kind.size,
        "independent": model.closing.rank,
        "given_residual": model.closing.residual,
        "residual": float(np.abs(loop_residuals(model, state.q, float(state.time[0]))).max()),
        "largest_drift_of_a_step": float(state.rule.drift[0]),
        "largest_drift_rate_of_a_step": float(state.rule.drift[1]),
    }


def write_summary(folder: Path, figures: Mapping[str, Any]) -> None:
    """Replace the summary of a run atomically."""
    write_text(folder / FILE, json.dumps(plain(figures), indent=2, ensure_ascii=False, allow_nan=False) + "\n")


def plain(value: Any) -> Any:
    """Convert a value to types that JSON can represent; non-finite numbers become None."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, float | np.floating):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, np.integer):
        return int(value)
    return value
