"""Torsions of molecules over time: φ and ψ, their free energy, and their correlation times."""

from typing import NamedTuple

import numpy as np

from articulon.analysis.expected_temperatures import degrees_of_freedom, temperature_spread
from articulon.analysis.molecular_runs import conformations_of
from articulon.analysis.run_models import case_of, check_run, model_of
from articulon.analysis.time_averages import average, first_frame
from articulon.conformations.backbone_torsions import CLASSES, BackboneTorsions, joint_torsions
from articulon.conformations.conformation_record import Conformations
from articulon.conformations.torsion_maps import BINS, BLOCKS, TorsionMap, torsion_map
from articulon.conformations.torsion_memory import TorsionMemory, torsion_memory
from articulon.errors import ArticulonError
from articulon.fidelity.settling import SETTLED
from articulon.inputs import number, one_word, whole
from articulon.simulation.results import Run

MOST_BINS = 720


class MeanTemperature(NamedTuple):
    """The mean kinetic temperature of a run."""

    mean: float
    """Mean kinetic temperature [temperature]."""
    error: float
    """Standard error, from the number of independent samples [temperature]."""
    samples: float
    """Number of independent samples in the frames."""
    degrees_of_freedom: int
    """Number N of degrees of freedom that share the kinetic energy."""
    spread: float
    """Standard deviation over the frames [temperature]."""
    canonical_spread: float
    """Standard deviation in the canonical ensemble, √(2/N) times the mean [temperature]."""


def backbone_torsions(run: Run, skip: float = 0.0) -> BackboneTorsions:
    """Return φ and ψ of every residue over time [rad], and the class of each residue: general, glycine, proline or
    pre-proline.

    Parameters
    ----------
    run
        A run of a peptide.
    skip
        Fraction of frames to omit at the start.

    Raises
    ------
    ArticulonError
        For a run without a peptide.
    """
    return _backbone_torsions(conformations_of(run, "backbone_torsions", skip), "backbone_torsions")


def ramachandran(
    run: Run,
    residues: str = "general",
    *,
    bins: int = BINS,
    blocks: int = BLOCKS,
    temperature: float | None = None,
    skip: float = SETTLED,
) -> TorsionMap:
    """Return the free energy −kT ln p as a function of φ and ψ, with errors from blocks of the run.

    Parameters
    ----------
    run
        A run of a peptide.
    residues
        A class of residues (``general``, ``glycine``, ``proline``, ``pre-proline``), ``all``, or one residue by its
        chain, name and number, such as ``A:TRP2``.
    bins
        Number of bins in each direction.
    blocks
        Number of blocks of the run, whose scatter gives the errors.
    temperature
        Temperature T [temperature]. By default it is that of the thermostat or of the medium; without either, it is the
        mean kinetic temperature.
    skip
        Fraction of frames to omit at the start.

    Raises
    ------
    ArticulonError
        For a run without a peptide, or residues that it does not have.
    """
    bins = whole(bins, "ramachandran, bins", least=2, most=MOST_BINS, error=ArticulonError)
    blocks = whole(blocks, "ramachandran, blocks", least=2, error=ArticulonError)
    wanted = one_word(residues, "ramachandran, residues", ArticulonError)
    found = _backbone_torsions(conformations_of(run, "ramachandran", skip), "ramachandran")
    chosen = [
        k
        for k, (label, kind) in enumerate(zip(found.labels, found.classes, strict=True))
        if wanted in ("all", label, kind)
    ]
    if not chosen:
        known = ", ".join([*(c for c in CLASSES if c in found.classes), *found.labels[:5]])
        raise ArticulonError(f"ramachandran: there are no residues '{wanted}'; there are: all, {known} …")
    energy = model_of(run).units.boltzmann * _temperature(run, temperature)
    made = torsion_map(found.phi[:, chosen], found.psi[:, chosen], energy, bins, blocks)
    if made is None:
        raise ArticulonError(f"ramachandran: no residue of '{wanted}' has both φ and ψ; chain ends have only one")
    return made


def torsion_correlation(run: Run, skip: float = SETTLED) -> TorsionMemory:
    """Return the autocorrelation of e^{inφ} of every moving torsion, with integrated correlation times and effective
    sample sizes.

    The torsions are joint coordinates of the model. The symmetry number n is 3 for methyl and ammonium groups, 2 for
    carboxylates and the rings of Phe and Tyr, and 1 for all others. Raises the errors of :func:`backbone_torsions`, and
    ArticulonError if no torsion moves, there are fewer than three frames, or the frames are not equally spaced.

    Parameters
    ----------
    run
        The run, in memory or in a folder.
    skip
        Fraction of the frames at the start that is left out.
    """
    check_run(run)
    model = model_of(run)
    if model.atoms is None:
        raise ArticulonError("torsion_correlation: the model of this run has no atoms")
    times = np.asarray(run.times)
    late = slice(first_frame(len(times), skip), None)
    steps = np.diff(times[late])
    if steps.size and np.ptp(steps) > 1e-6 * steps[0]:
        raise ArticulonError("torsion_correlation: the frames are not equally spaced in time")
    found = torsion_memory(times[late], joint_torsions(model, np.asarray(run.q)[late]))
    if found is None:
        raise ArticulonError("torsion_correlation: there are fewer than three frames, or no torsion that moves")
    return found


def mean_temperature(run: Run, skip: float = SETTLED) -> MeanTemperature:
    """Return the mean kinetic temperature with its standard error, the number of degrees of freedom, and the measured
    and canonical standard deviations.

    Parameters
    ----------
    run
        The run, in memory or in a folder.
    skip
        Fraction of the frames at the start that is left out.
    """
    check_run(run)
    mean, spread = average(run, "temperature_kinetic", skip), temperature_spread(run, skip)
    return MeanTemperature(*mean, degrees_of_freedom(run), spread.measured, spread.canonical)


def _backbone_torsions(seen: Conformations, where: str) -> BackboneTorsions:
    if seen.backbone_torsions is None:
        raise ArticulonError(f"{where}: this run has no peptide")
    return seen.backbone_torsions


def _temperature(run: Run, given: float | None) -> float:
    if given is not None:
        value = number(given, "ramachandran, temperature", ArticulonError)
        if not value > 0.0:
            raise ArticulonError(f"ramachandran, temperature: must be positive, got {value:g}")
        return value
    return temperature_of(run)


def temperature_of(run: Run) -> float:
    """Return the temperature that a run samples [temperature]: that of its thermostat or medium, or, without either,
    the mean kinetic temperature."""
    from articulon.forces.brownian import brownian_of

    case_of(run)
    aim = run.observables.get("temperature_target")
    if aim is not None and np.isfinite(aim).any():
        return float(np.nanmean(aim))
    noise = brownian_of(model_of(run))
    return float(noise.temperature) if noise is not None else average(run, "temperature_kinetic").mean
