"""The complete analysis of the polymer chains of a run, as numbers and as files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from articulon.analysis.result_files import Rows, rows_of, write_results
from articulon.analysis.run_models import check_run, model_of
from articulon.chains.chain_statistics import Chains, ChainStatistics, chain_statistics
from articulon.chains.model_chains import chain_frames
from articulon.chains.replicates import Estimate
from articulon.errors import ArticulonError
from articulon.fidelity.settling import SETTLED
from articulon.inputs import path_of
from articulon.simulation.results import Run


@dataclass(frozen=True)
class PolymerAnalysis:
    """Results for the polymer chains of a run."""

    statistics: ChainStatistics
    """All statistics, as arrays."""
    figures: dict[str, Any]
    """Means with their errors, by name, in the units of the positions and times."""
    tables: dict[str, Rows]
    """Tables by name: ``chain_size`` over time, ``internal_distances``, ``bond_correlation``, ``bond_angles``,
    ``dihedrals`` [rad], ``pair_distribution``, ``displacements`` and ``relaxation`` over the lag, and ``rouse_modes``,
    as far as available."""
    notes: tuple[str, ...]
    """Reasons for quantities that were not computed."""

    def write(self, folder: str | Path) -> list[Path]:
        """Write the figures as ``polymers.json`` and each table as CSV; returns the files.

        The folder is created if it does not exist.

        Raises ArticulonError for a file that exists already.

        Parameters
        ----------
        folder
            Folder for the files.
        """
        place = path_of(folder, "write, folder", ArticulonError)
        return write_results(place, "polymers.json", self.figures, self.tables)


def polymer_analysis(
    times: np.ndarray,
    positions: np.ndarray,
    chains: Chains,
    boxes: np.ndarray | None = None,
    masses: np.ndarray | None = None,
    skip: float = SETTLED,
    unwrapped: bool = False,
) -> PolymerAnalysis:
    """Compute the statistics of chains from frames of their beads, with tables of all curves.

    Parameters
    ----------
    times
        Times of the frames [time], shape (frames,).
    positions
        Unwrapped positions of the beads [length], shape (frames, beads, 3).
    chains
        Beads of each chain.
    boxes
        Edges of a periodic box in each frame [length], shape (frames, 3) or (frames, 3, 3); None without a box.
    masses
        Masses of the beads, shape (beads,); by default equal.
    skip
        Fraction of frames at the start to omit from means; the table over time includes all frames.
    unwrapped
        Whether positions are known to be unwrapped, as positions from a run are.

    Returns
    -------
    PolymerAnalysis
        Results; ``write(folder)`` writes them as CSV and JSON.

    Raises
    ------
    ArticulonError
        As in :func:`articulon.chains.chain_statistics.chain_statistics`.
    """
    found = chain_statistics(times, positions, chains, boxes, masses, skip=skip, unwrapped=unwrapped)
    notes = tuple(f"{what.replace('_', ' ')}: {why}" for what, why in found.not_computed.items())
    return PolymerAnalysis(found, {"skip": skip, **found.summary()}, tables_of(found), notes)


def analyse_polymers(run: Run, skip: float = SETTLED) -> PolymerAnalysis:
    """Compute the statistics of the polymer chains of a run: size, structure, motion and relaxation, with their errors.

    Parameters
    ----------
    run
        A run of a model that has ``chains``.
    skip
        Fraction of frames at the start to omit from means; the table over time includes all frames.

    Returns
    -------
    PolymerAnalysis
        Results; ``write(folder)`` writes them as CSV and JSON.

    Raises
    ------
    ArticulonError
        If the run has no chains, or is too short for any statistics.
    """
    check_run(run)
    given = chain_frames(model_of(run), run.times, run.q, run.observables.get("volume"))
    if given is None:
        raise ArticulonError(
            "analyse_polymers: the model has no chains; the builder 'polymers' and LAMMPS data files define them, and "
            "ModelBuilder.add_chains defines them in your own model"
        )
    return polymer_analysis(*given, skip=skip, unwrapped=True)


def tables_of(found: ChainStatistics) -> dict[str, Rows]:
    """Return the available curves of the statistics as tables, by name."""
    size = {"time": found.times}
    if found.end_to_end_series is not None:
        size["mean_square_end_to_end_distance"] = found.end_to_end_series
    size |= {f"mean_square_radius_of_gyration_{kind}": values for kind, values in found.gyration_series.items()}
    tables = {"chain_size": rows_of(size)}
    if found.internal:
        tables["internal_distances"] = [
            row
            for kind, one in found.internal.items()
            for row in rows_of(
                {"kind": [kind] * one.bonds.size, "bonds": one.bonds, **curve("mean_square_distance", one.squares)}
            )
        ]
    if found.persistence is not None:
        bent = found.persistence
        tables["bond_correlation"] = rows_of({"bonds": bent.bonds, **curve("correlation", bent.correlation)})
    for name, angles in (("bond_angles", found.angles), ("dihedrals", found.dihedrals)):
        if angles is not None:
            tables[name] = rows_of({"angle": angles.middles, **curve("density", angles.density)})
    if found.pairs is not None:
        pairs = found.pairs
        tables["pair_distribution"] = rows_of(
            {"distance": pairs.middles, **curve("within", pairs.within), **curve("between", pairs.between)}
        )
    if found.motion is not None:
        moved = found.motion
        columns = {"lag": moved.times}
        for name, g in (("g1", moved.inner), ("g2", moved.inner_about_centre), ("g3", moved.centres)):
            columns |= {} if g is None else curve(name, g)
        tables["displacements"] = rows_of(columns)
    relaxed = {} if found.relaxation is None else {"end_to_end": found.relaxation}
    for kind, modes in found.rouse.items():
        relaxed |= {f"{kind}_mode_{p}": one for p, one in zip(modes.modes.tolist(), modes.relaxations, strict=True)}
    if relaxed:
        columns = {"lag": next(iter(relaxed.values())).times}
        tables["relaxation"] = rows_of(columns | {name: one.correlation.value for name, one in relaxed.items()})
    if found.rouse:
        tables["rouse_modes"] = [
            row
            for kind, modes in found.rouse.items()
            for row in rows_of(
                {
                    "kind": [kind] * modes.modes.size,
                    "mode": modes.modes,
                    **curve("amplitude", modes.amplitudes),
                    **curve("scaled_amplitude", modes.scaled_amplitudes),
                    **curve("relaxation_time", modes.relaxation_times),
                }
            )
        ]
    return tables


def curve(name: str, found: Estimate) -> dict[str, np.ndarray]:
    """Return a curve and its error as two columns, named after the curve."""
    return {name: found.value, f"{name}_error": found.error}
