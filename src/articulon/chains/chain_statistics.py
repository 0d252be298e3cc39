"""Computation of all statistics of chains, with their errors."""

from __future__ import annotations

import numpy as np

from articulon.chains.bond_angles import bond_angles, dihedral_angles
from articulon.chains.chain_motion import ChainMotion, chain_motion, drift_of
from articulon.chains.chain_record import ChainStatistics
from articulon.chains.chain_sizes import (
    ChainSizes,
    chain_sizes,
    internal_distances,
    mean_size,
    mean_square_bond,
    size_ratio,
)
from articulon.chains.chain_table import Chains
from articulon.chains.given_chains import GivenChains, even_frames, given_chains
from articulon.chains.mode_relaxation import MODES, Relaxation, RouseModes, end_to_end_relaxation, rouse_modes
from articulon.chains.pair_distances import PairDistribution, pair_distribution
from articulon.chains.persistence_length import persistence_length
from articulon.chains.replicates import Replicate, replicates
from articulon.errors import ArticulonError
from articulon.inputs import number, shown, whole

__all__ = ["ChainStatistics", "Chains", "chain_statistics"]

INSTALL = "needs freud: pip install 'articulon[analysis]'"
SKIP = 0.25
"""Default fraction of frames at the start that means omit."""
FEWEST_FRAMES = 8
"""Minimum number of frames for functions of a lag."""


def chain_statistics(
    times: np.ndarray,
    positions: np.ndarray,
    chains: Chains,
    boxes: np.ndarray | None = None,
    masses: np.ndarray | None = None,
    *,
    skip: float = SKIP,
    modes: int = MODES,
    reach: float | None = None,
    take_out_drift: bool = True,
    pairs: bool = True,
    unwrapped: bool = False,
) -> ChainStatistics:
    """Compute sizes, structure, motion and relaxation of chains, each with its error.

    Errors of averages are standard errors from blocks of frames, or from groups of chains if a run is too short for
    blocks (:func:`articulon.chains.replicates.replicates`). Errors of functions of a lag come from groups of chains.
    Branched molecules contribute only to quantities that need no order of beads: Rg², g(r) and g3. Rings have no
    end-to-end distance, no ratio and no persistence length; their internal distances, angles and Rouse modes follow the
    definitions for rings.

    Parameters
    ----------
    times
        Equally spaced times [time], shape (frames,). The last interval may be shorter; functions of a lag then omit the
        last frame. They are not computed for any other spacing.
    positions
        Unwrapped positions of the beads [length], shape (frames, beads, 3).
    chains
        Beads of each chain.
    boxes
        Edges of a box that is periodic in all directions [length]. They are either the lengths of the edges in each
        frame, shape (frames, 3), or the edge vectors a, b and c as rows, shape (frames, 3, 3). The vector a is along x,
        and b is in the plane of x and y. None without a box; g(r) is then not computed.
    masses
        Masses of all beads, shape (beads,); by default equal.
    skip
        Fraction of frames at the start to omit from everything except the series.
    modes
        Maximum number of Rouse modes.
    reach
        Largest distance of g(r) [length]; by default six bonds or twice the radius of gyration, whichever is larger,
        limited to half of the box.
    take_out_drift
        Whether displacements are relative to the centre of mass of all beads. This has no effect on a single molecule.
    pairs
        Whether g(r) is computed, which takes longer than all other quantities.
    unwrapped
        Whether positions are known to be unwrapped, as positions from a run are. If False, a bond longer than half of
        the box is taken as a sign of wrapped positions.

    Raises
    ------
    ArticulonError
        For inconsistent arrays, beads that do not exist, or positions that are wrapped into the box.
    """
    given = given_chains(times, positions, chains, boxes, masses, unwrapped)
    modes = whole(modes, "modes", least=1, error=ArticulonError)
    if not 0.0 <= number(skip, "skip", ArticulonError) < 1.0:
        raise ArticulonError(f"skip must be a fraction of the frames, from 0 to less than 1, got {shown(skip)}")
    if reach is not None and not number(reach, "reach", ArticulonError) > 0.0:
        raise ArticulonError(f"reach must be positive, got {shown(reach)}")
    first = min(int(skip * len(given.times)), len(given.times) - 1)
    every = chain_sizes(given.positions, chains, given.masses)
    has_ends = (chains.kind == "linear") & (chains.length > 1)
    ends = every.end_to_end[:, has_ends].mean(axis=1) if has_ends.any() else None
    series = {kind: every.gyration[:, chains.kind == kind].mean(axis=1) for kind in chains.kinds}

    late, sizes = given.after(first), ChainSizes(*(values[first:] for values in every))
    slow = [*series.values()] if ends is None else [*series.values(), ends]
    divided = replicates(chains, [values[first:] for values in slow])
    parts, x = divided.parts, late.positions
    gyration = {kind: mean_size(sizes.gyration, chains.kind == kind, parts) for kind in chains.kinds}
    bond = mean_square_bond(x, chains, parts) if (chains.length[chains.ordered] > 1).any() else None
    internal = {kind: internal_distances(x, chains, kind, parts) for kind in ("linear", "ring")}
    if reach is None:
        reach = 2.0 * float(np.sqrt(max(float(of.value) for of in gyration.values())))
        reach = reach if bond is None else max(reach, 6.0 * float(np.sqrt(bond.value)))
    missing = _without_meaning(chains)
    motion, relaxation, rouse = _over_lags(late, sizes.centres, chains, parts, modes, take_out_drift, missing)
    return ChainStatistics(
        chains=chains,
        times=given.times,
        first=first,
        end_to_end_series=ends,
        gyration_series=series,
        end_to_end=None if ends is None else mean_size(sizes.end_to_end, has_ends, parts),
        gyration=gyration,
        ratio=None if ends is None else size_ratio(sizes, has_ends, parts),
        bond=bond,
        internal={kind: found for kind, found in internal.items() if found is not None},
        persistence=persistence_length(x, chains, parts),
        angles=bond_angles(x, chains, parts),
        dihedrals=dihedral_angles(x, chains, parts),
        pairs=_pairs(late, chains, parts, reach, missing) if pairs else None,
        motion=motion,
        relaxation=relaxation,
        rouse=rouse,
        errors_by=divided.by,
        samples=divided.samples,
        not_computed=missing,
    )


def _without_meaning(chains: Chains) -> dict[str, str]:
    """Return the quantities that are not defined for the rings and branched molecules among the chains, with
    reasons."""
    found = {}
    others = [name for kind, name in (("ring", "rings"), ("branched", "branched molecules")) if kind in chains.kinds]
    if others:
        who = " and ".join(others)
        found["end_to_end_distance"] = f"{who} do not have two ends; it is defined for linear chains"
        found["persistence_length"] = f"{who} are omitted: it needs a backbone with two ends"
    if "branched" in chains.kinds:
        found["branched_molecules"] = (
            "their beads have no order: they contribute to radii of gyration, g(r) and the motion of centres of mass"
        )
    return found


def _pairs(
    late: GivenChains, chains: Chains, parts: tuple[Replicate, ...], reach: float, missing: dict[str, str]
) -> PairDistribution | None:
    if late.boxes is None:
        missing["pair_distribution"] = "there is no mean density without a box periodic in all directions"
        return None
    try:
        return pair_distribution(late.positions, chains, late.boxes, parts, reach)
    except ImportError:
        missing["pair_distribution"] = INSTALL
        return None


def _over_lags(
    late: GivenChains,
    centres: np.ndarray,
    chains: Chains,
    parts: tuple[Replicate, ...],
    modes: int,
    take_out_drift: bool,
    missing: dict[str, str],
) -> tuple[ChainMotion | None, Relaxation | None, dict[str, RouseModes]]:
    """Compute the functions of a lag, which need equally spaced frames."""
    try:
        end = even_frames(late.times)
    except ArticulonError as reason:
        missing["motion"] = missing["relaxation"] = str(reason)
        return None, None, {}
    if end < FEWEST_FRAMES:
        missing["motion"] = missing["relaxation"] = f"{end} frames are too few; {FEWEST_FRAMES} are needed"
        return None, None, {}
    t, x = late.times[:end], late.positions[:end]
    # A single molecule is the whole system and does not move relative to its own centre of mass.
    alone = len(chains) == 1 and chains.bead.size == x.shape[1]
    drift = drift_of(x, late.masses) if take_out_drift and not alone else np.zeros((end, 3))
    motion = chain_motion(t, x, chains, centres[:end], drift)
    rouse = {kind: rouse_modes(t, x, chains, kind, parts, modes) for kind in ("linear", "ring")}
    known = {kind: found for kind, found in rouse.items() if found is not None}
    for kind, found in known.items():
        unknown = [str(p) for p, one in zip(found.modes, found.relaxations, strict=True) if np.isnan(one.time.value)]
        if unknown:
            missing[f"relaxation_time_of_{kind}_rouse_modes"] = (
                f"p = {', '.join(unknown)}: it relaxes within two frames, or not within half of the run"
            )
    relaxation = end_to_end_relaxation(t, x, chains)
    if relaxation is not None and np.isnan(relaxation.time.value):
        missing["end_to_end_relaxation_time"] = "it relaxes within two frames, or not within half of the run"
    return motion, relaxation, known
