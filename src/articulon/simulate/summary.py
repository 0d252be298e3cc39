"""`summary.json`: the figures of a run."""

import json
import math
import platform
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from articulon import __version__
from articulon.dynamics import loop_residuals
from articulon.errors import ArticulonError
from articulon.model import CHANNELS, Model, State
from articulon.model.state import EVALUATIONS, REJECTED, STEPS
from articulon.scaling import NoScaling
from articulon.simulate import ledger
from articulon.simulate.atomic import write_text
from articulon.simulate.fidelity import fidelity, verdict_of
from articulon.simulate.preparation import Prepared
from articulon.simulate.temperatures import configuration, temperatures

FILE = "summary.json"


def summary(
    prepared: Prepared,
    state: State,
    status: str,
    wall_seconds: float,
    notes: list[str],
    observables: Mapping[str, np.ndarray] | None = None,
    stop_time: float | None = None,
) -> dict[str, Any]:
    """The figures of a run at a state; what needs the frames is there where ``observables`` are given."""
    case, model = prepared.case, prepared.model
    steps, time = int(state.counters[STEPS]), float(state.time[0])
    figures: dict[str, Any] = {
        "title": case.title,
        "case": case.name,
        "status": status,
        "simulated_time": time,
        "time_unit": "" if model.units.time is None else model.units.symbols[2],
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
        "dynamics": _plain(case.dynamics.model_dump()),
        "integrator": _plain(case.integrator.model_dump()),
        "step": prepared.observer.fixed_step,
        "noise_window": prepared.windows.held if prepared.evaluator.system.forces.noise.choice[0] else None,
        "scaling": _plain(prepared.policy.describe()),
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
    if observables is None or not len(observables["time"]):
        return figures
    scaled, without = not isinstance(prepared.policy, NoScaling), ledger.without_energy(model)
    evaluator = prepared.evaluator
    found = temperatures(
        observables,
        evaluator.degrees_of_freedom,
        model.units.boltzmann,
        prepared.observer.sites.not_defined,
    )
    judged = None
    if scaled and evaluator.thermostat is not None:
        judged = verdict_of({"configuration": configuration(found, prepared.policy, len(observables["time"]))})
    elif scaled:
        judged = fidelity(observables, prepared.observer.relaxation)
    return figures | {
        "frames": len(observables["time"]),
        **ledger.balance(observables),
        "conservative_works": ledger.conservative_works(observables, prepared.policy.varies, without),
        "scaling_factors": ledger.factors(observables),
        "temperatures": found,
        "fidelity": judged,
    }


def _loops(model: Model, state: State) -> dict[str, Any] | None:
    """How many conditions loops and drives make, and how well they are kept."""
    if not model.loops.kind.size:
        return None
    return {
        "conditions": model.loops.kind.size,
        "independent": model.closing.rank,
        "given_residual": model.closing.residual,
        "residual": float(np.abs(loop_residuals(model, state.q, float(state.time[0]))).max()),
        "largest_drift_of_a_step": float(state.drift[0]),
        "largest_drift_rate_of_a_step": float(state.drift[1]),
    }


def write_summary(folder: Path, figures: Mapping[str, Any]) -> None:
    """Replace the summary of a run atomically."""
    write_text(folder / FILE, json.dumps(_plain(figures), indent=2, ensure_ascii=False, allow_nan=False) + "\n")


def read_summary(folder: Path) -> dict[str, Any]:
    """The summary of a run; raises ArticulonError where there is none that can be read."""
    file = folder / FILE
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise ArticulonError(f"{file}: cannot be read: {error.strerror}; is the folder that of a run?") from None
    except ValueError as error:
        raise ArticulonError(f"{file}: is damaged ({error}); --resume writes it again") from None


def _plain(value: Any) -> Any:
    """What JSON can hold: no number that is not finite."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float | np.floating):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, np.integer):
        return int(value)
    return value
