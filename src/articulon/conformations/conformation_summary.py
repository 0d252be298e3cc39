"""Results of a molecular run for its summary."""

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from articulon.conformations.backbone_torsions import JointTorsions, joint_torsions
from articulon.conformations.conformation_record import Conformations
from articulon.conformations.time_correlation import inefficiency, normalised_autocorrelations
from articulon.conformations.torsion_memory import torsion_memory
from articulon.fidelity.settling import SETTLED
from articulon.model import Model

FEW = 10.0
"""Number of independent samples below which a mean and its error are unreliable."""
SAMPLED = 100
"""Maximum number of frames analysed for secondary structure and hydrogen bonds, which take milliseconds each."""
INSTALL = "needs MDAnalysis: pip install 'articulon[analysis]'"


def molecular_figures(
    model: Model, q: np.ndarray, observables: Mapping[str, np.ndarray], degrees_of_freedom: int
) -> dict[str, Any] | None:
    """Compute the entries of the summary on the molecules of a run; None for a model without atoms.

    Means are over the last three quarters of the frames, with standard errors from the correlation time of each
    quantity.

    Parameters
    ----------
    model
        The model.
    q
        Coordinates of the frames, shape (frames, nq).
    observables
        Arrays over the frames by name, including "time".
    degrees_of_freedom
        Degrees of freedom that share the kinetic energy.
    """
    if model.atoms is None:
        return None
    times = observables["time"]
    found: dict[str, Any] = {"temperature": _temperature(observables, degrees_of_freedom)}
    volumes = observables.get("volume")
    seen = Conformations(model, times, q, volumes=volumes)
    if not len(seen.atoms) or len(times) == 0:
        return found
    settled = slice(int(SETTLED * len(times)), None)
    found |= {
        "frames": len(seen.frames),
        "skip": SETTLED,
        "atoms": len(seen.atoms),
        "residues": len(seen.atoms.residue_names),
        "rmsd": mean_and_last(seen.rmsd),
        "radius_of_gyration": mean_and_last(seen.radius_of_gyration),
        "end_to_end_distance": mean_and_last(seen.end_to_end),
        "native_contacts": _contacts(seen),
        "slowest_torsion": _slowest(times[settled], joint_torsions(model, np.asarray(q)[settled])),
    }
    not_computed: dict[str, str] = {}
    sample = seen if len(seen.frames) <= SAMPLED else Conformations(model, times, q, most=SAMPLED, volumes=volumes)

    def by_mdanalysis(what: str, compute: Callable[[], Any]) -> Any:
        try:
            return compute()
        except ImportError:
            not_computed[what] = INSTALL
            return None

    found["secondary_structure"] = by_mdanalysis("secondary_structure", lambda: _fractions(sample))
    found["hydrogen_bonds"] = by_mdanalysis("hydrogen_bonds", lambda: mean_and_last(sample.hydrogen_bonds.counts))
    return {**found, "not_computed": not_computed}


def warning_of_few_samples(slowest: Mapping[str, Any] | None) -> str:
    """Return a warning that a run has too few independent samples of its slowest torsion; empty if there are enough.

    Parameters
    ----------
    slowest
        The slowest torsion, with its ``name`` and ``effective_samples``; None if no torsion moves.
    """
    if slowest is None or not slowest["effective_samples"] < FEW:
        return ""
    return (
        f"{slowest['name']}, the slowest torsion, has fewer than {FEW:g} independent samples: the means only describe "
        "the region that the run happened to visit, and their errors are too small"
    )


def mean_and_last(values: np.ndarray | None) -> dict[str, Any] | None:
    """Mean over the equilibrated frames, its standard error, and the last value; None for None."""
    if values is None:
        return None
    settled = np.asarray(values, dtype=float)[int(SETTLED * len(values)) :]
    return {**mean_with_error(settled), "first": float(values[0]), "final": float(values[-1])}


def mean_with_error(values: np.ndarray) -> dict[str, Any]:
    """Mean, standard error and number of independent samples of values equally spaced in time."""
    samples = values.size / inefficiency(normalised_autocorrelations(values[:, None])[:, 0])
    if values.size < 2 or not np.ptp(values) > 0.0:
        samples = 1.0 if values.size else 0.0
    error = float(values.std(ddof=1)) / math.sqrt(samples) if values.size > 1 else None
    return {"mean": float(values.mean()), "error": error, "samples": samples}


def _temperature(observables: Mapping[str, np.ndarray], degrees_of_freedom: int) -> dict[str, Any] | None:
    """Mean kinetic temperature with its error, and its target; None if there is none."""
    values = observables.get("temperature_kinetic")
    settled = slice(int(SETTLED * len(observables["time"])), None)
    if values is None or not np.isfinite(values[settled]).all() or not len(values):
        return None
    aim = observables.get("temperature_target")
    return {
        **mean_with_error(np.asarray(values)[settled]),
        "degrees_of_freedom": degrees_of_freedom,
        "target": None if aim is None else float(aim[settled].mean()),
    }


def _contacts(seen: Conformations) -> dict[str, Any] | None:
    kept = seen.native_contacts
    return None if kept is None else {"contacts": len(kept.pairs), **(mean_and_last(kept.values) or {})}


def _slowest(times: np.ndarray, torsions: JointTorsions) -> dict[str, Any] | None:
    """Torsion with the fewest effective samples; None if none moves."""
    memory = torsion_memory(times, torsions)
    if memory is None:
        return None
    k = memory.slowest
    return {
        "name": memory.names[k],
        "correlation_time": float(memory.correlation_times[k]),
        "effective_samples": float(memory.effective_samples[k]),
        "frames": len(times),
    }


def _fractions(seen: Conformations) -> dict[str, Any] | None:
    """Mean fractions of the residues in helices, strands and loops, over the equilibrated frames."""
    structure = seen.secondary_structure
    if structure is None:
        return None
    parts = structure.fractions[int(SETTLED * len(structure.codes)) :].mean(axis=0)
    return {"helix": float(parts[1]), "strand": float(parts[2]), "loop": float(parts[0])}
