"""Statistics of the chains of a run, and their form in a summary."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from articulon.chains.bond_angles import AngleDistribution
from articulon.chains.chain_motion import ChainMotion
from articulon.chains.chain_sizes import InternalDistances
from articulon.chains.chain_table import Chains
from articulon.chains.mode_relaxation import Relaxation, RouseModes
from articulon.chains.pair_distances import PairDistribution
from articulon.chains.persistence_length import PersistenceLength
from articulon.chains.replicates import Estimate


@dataclass(frozen=True, eq=False)
class ChainStatistics:
    """Statistics of polymer chains. A quantity that was not computed is None, and ``not_computed`` holds the reason."""

    chains: Chains
    """The chains."""
    times: np.ndarray
    """Times of all frames [time], shape (frames,)."""
    first: int
    """First frame included in means."""
    end_to_end_series: np.ndarray | None
    """Mean R² of the linear chains in each frame [length²], shape (frames,)."""
    gyration_series: dict[str, np.ndarray]
    """Mean Rg² in each frame by architecture [length²], shape (frames,) each."""
    end_to_end: Estimate | None
    """⟨R²⟩ of linear chains [length²]."""
    gyration: dict[str, Estimate]
    """⟨Rg²⟩ by architecture, ``linear``, ``ring`` and ``branched``, if chains of this architecture exist [length²]."""
    ratio: Estimate | None
    """⟨R²⟩/⟨Rg²⟩ of linear chains; 6 N/(N + 1) for ideal chains of N beads."""
    bond: Estimate | None
    """⟨b²⟩, the mean-square length of bonds along backbones [length²]."""
    internal: dict[str, InternalDistances]
    """⟨R²(n)⟩ by architecture, ``linear`` and ``ring``."""
    persistence: PersistenceLength | None
    """Bond correlations and persistence lengths of linear chains."""
    angles: AngleDistribution | None
    """Distribution of bond angles."""
    dihedrals: AngleDistribution | None
    """Distribution of dihedral angles."""
    pairs: PairDistribution | None
    """Pair distribution g(r) within and between chains."""
    motion: ChainMotion | None
    """Mean-square displacements g1, g2 and g3."""
    relaxation: Relaxation | None
    """Relaxation of the end-to-end vector of linear chains."""
    rouse: dict[str, RouseModes]
    """Rouse modes by architecture, ``linear`` and ``ring``."""
    errors_by: str
    """How errors of averages are estimated: from blocks of frames (``time``) or from groups of chains (``chains``)."""
    samples: float
    """Number of independent samples over time of R² or Rg², whichever changes more slowly."""
    not_computed: dict[str, str]
    """Reasons for missing quantities, by name."""

    def summary(self) -> dict[str, Any]:
        """Return the means with their errors as plain numbers, by name, in the units of the positions and times.

        Each entry contains its ``dimension``, and in ``parts`` the number of blocks of frames or groups of chains from
        which its error is estimated. Infinite or unknown values are None.
        """
        kinds = self.gyration
        found: dict[str, Any] = {
            "chains": len(self.chains),
            "beads": int(self.chains.bead.size),
            "linear_chains": int((self.chains.kind == "linear").sum()),
            "rings": int(self.chains.ring.sum()),
            "branched_molecules": int(self.chains.branched.sum()),
            "shortest_chain": int(self.chains.length.min()),
            "longest_chain": int(self.chains.length.max()),
            "frames": len(self.times) - self.first,
            "errors_by": self.errors_by,
            "independent_samples": self.samples,
            "mean_square_end_to_end_distance": estimate_data(self.end_to_end, "length^2"),
            "mean_square_radius_of_gyration": {kind: estimate_data(of, "length^2") for kind, of in kinds.items()},
            "ratio_of_end_to_end_to_gyration": estimate_data(self.ratio, "1"),
            "ideal_ratio_of_end_to_end_to_gyration": self.ideal_ratio,
            "mean_square_bond_length": estimate_data(self.bond, "length^2"),
            "internal_distances": {
                kind: {
                    "bonds": of.bonds.tolist(),
                    "mean_square_over_bonds": of_curve(of.ratios.value),
                    "error": of_curve(of.ratios.error),
                    "dimension": "length^2",
                }
                for kind, of in self.internal.items()
            },
        }
        bent = self.persistence
        found["persistence_length"] = (
            None
            if bent is None
            else {
                "exponential_fit": estimate_data(bent.exponential_fit, "length"),
                "projection_on_first_bond": estimate_data(bent.projection, "length"),
            }
        )
        for name, angles in (("bond_angle", self.angles), ("dihedral", self.dihedrals)):
            found[f"mean_cosine_of_{name}"] = None if angles is None else estimate_data(angles.mean_cosine, "1")
        moved = self.motion
        found["motion"] = (
            None
            if moved is None
            else {
                "diffusion_coefficient_of_centres": estimate_data(moved.diffusion_coefficient, "length^2/time"),
                "exponent_of_centres": estimate_data(moved.centre_exponent, "1"),
                "exponent_of_inner_beads": estimate_data(moved.inner_exponent, "1"),
            }
        )
        found["end_to_end_relaxation_time"] = (
            None if self.relaxation is None else estimate_data(self.relaxation.time, "time")
        )
        found["rouse_modes"] = {
            kind: [
                {
                    "mode": int(of.modes[k]),
                    "relaxation_time": estimate_data(one.time, "time"),
                    "scaled_amplitude": estimate_data(at(of.scaled_amplitudes, k), "length^2"),
                }
                for k, one in enumerate(of.relaxations)
            ]
            for kind, of in self.rouse.items()
        }
        return {**found, "not_computed": dict(self.not_computed)}

    @property
    def ideal_ratio(self) -> float | None:
        """Return ⟨R²⟩/⟨Rg²⟩ of ideal chains with the same numbers of beads N as these chains and with bonds of equal
        length.

        It is Σ (N − 1) / Σ [(N² − 1)/6N], or 6 N/(N + 1) if all chains have N beads. It is None without a linear chain
        of at least two beads.
        """
        beads = self.chains.length[(self.chains.kind == "linear") & (self.chains.length > 1)]
        return float((beads - 1).sum() / ((beads**2 - 1) / (6.0 * beads)).sum()) if beads.size else None


def estimate_data(found: Estimate | None, dimension: str) -> dict[str, Any] | None:
    """Return an estimate as a dictionary of plain numbers: mean, error, parts and dimension. None gives None."""
    if found is None:
        return None
    return {
        "mean": _plain(float(found.value)),
        "error": _plain(float(found.error)),
        "parts": found.parts,
        "dimension": dimension,
    }


def at(curve: Estimate, k: int) -> Estimate:
    """Return the estimate at point ``k`` of a curve."""
    return Estimate(curve.value[k], curve.error[k], curve.parts)


def of_curve(values: np.ndarray) -> list[float | None]:
    """Return values as plain numbers, with None for NaN."""
    return [_plain(value) for value in values.tolist()]


def _plain(value: float) -> float | None:
    return value if np.isfinite(value) else None
