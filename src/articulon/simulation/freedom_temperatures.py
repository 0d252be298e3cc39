"""Temperatures of the kinds of motion in a molecular run, from equipartition.

In the canonical ensemble ⟨u_i p_i⟩ = kT for every speed u_i, where p = M(q) u are the conjugate momenta. Each speed
therefore contributes ½ kT to the mean of the kinetic energy ½ Σ u_i p_i. The sum of u_i p_i over one kind of motion,
divided by k and the number of its speeds, is the temperature of this kind. This holds even if the mass matrix couples
the kind to others. If the total momentum is removed, n translations of molecules that have the fraction w of the total
mass count as n − 3w degrees of freedom.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from articulon.dynamics.multibody_functions import inverse_dynamics
from articulon.fidelity.run_temperatures import ENOUGH, PARTS
from articulon.fidelity.settling import SETTLED
from articulon.model import Model
from articulon.model.atoms import Atoms, torsion_names
from articulon.model.joints import BY_KIND, UNBOUND
from articulon.simulation.frames import Frames
from articulon.simulation.preparation import Prepared

FRAMES, SPEEDS = 400, 4_000_000
"""Two limits: at least this number of evenly spaced frames is read, and more frames are read up to this total number of
speeds. Many frames are needed because products of speeds and momenta fluctuate more than energies."""
BACKBONE = ("phi", "psi", "omega", "alpha", "beta", "gamma", "epsilon", "zeta")
"""Names of the backbone torsions of proteins and nucleic acids."""
FEW = 100_000_000
"""Largest number of floats held in memory at a time."""


def temperatures_of_freedoms(prepared: Prepared, run: Frames) -> dict[str, Any] | None:
    """Return the temperature of each kind of motion in the last three quarters of the frames.

    For each kind, ``freedoms`` is its number of degrees of freedom, ``temperature`` its temperature, and ``error`` the
    standard deviation of ten block means divided by √10. The error is None for fewer than 20 frames, for example in a
    run that was interrupted early. The temperature is None for a kind without degrees of freedom.

    The translation of a molecule is the translation of the origin of its root body; its conjugate momentum is the
    momentum of the whole molecule. In one independent frame, Σ u p/(n kT) over n speeds has the variance (n + Σ M_ij
    (M⁻¹)_ij)/n². This is more than 2/n for a kind that is coupled to others. For example, the origin of the root also
    moves when torsions change.

    The result is None for a model without atoms, for an integrator without speeds, and for a run without frames. It is
    also None if loop constraints, locked joints or scaling change the degrees of freedom of a kind.
    """
    model, atoms, evaluator = prepared.model, prepared.model.atoms, prepared.evaluator
    changed = model.loops.kind.size or prepared.adaptive is not None or prepared.policy.scales
    if atoms is None or changed or evaluator.overdamped or not len(run.q):
        return None
    kinds = kinds_of_speeds(model, atoms)
    names = sorted(set(kinds))
    kind = np.array([names.index(one) for one in kinds])
    settled = np.arange(int(SETTLED * len(run.q)), len(run.q))
    frames = settled[:: -(-settled.size // max(FRAMES, SPEEDS // model.nu))]
    twice = np.empty((frames.size, len(names)))
    at_once = max(1, FEW // max(1, 40 * model.nu))
    for start in range(0, frames.size, at_once):
        some = frames[start : start + at_once]
        products = run.u[some] * momenta(model, run.q[some], run.u[some])
        for k in range(len(names)):
            twice[start : start + some.size, k] = products[:, kind == k].sum(axis=1)
    removed = evaluator.thermostat is not None and evaluator.thermostat.centre_of_mass == "removed"
    counts = np.bincount(kind).astype(float) - (_removed(model, kind, len(names)) if removed else 0.0)
    found = {}
    for k, name in enumerate(names):
        values = twice[:, k] / (model.units.boltzmann * max(counts[k], 1e-300))
        means = [part.mean() for part in np.array_split(values, PARTS)] if values.size >= ENOUGH else []
        found[name] = {
            "freedoms": float(counts[k]),
            "temperature": float(values.mean()) if counts[k] > 0.0 else None,
            "error": float(np.std(means, ddof=1)) / math.sqrt(PARTS) if means else None,
        }
    return found


def momenta(model: Model, q: np.ndarray, u: np.ndarray) -> np.ndarray:
    """Compute the conjugate momenta p = M(q) u, shape (states, nu).

    They are computed as the joint forces that give the model at rest the accelerations u' = u; the numbers are equal.
    """
    return np.asarray(inverse_dynamics(model, q, np.zeros_like(u), u))


def kinds_of_speeds(model: Model, atoms: Atoms) -> list[str]:
    """Return the kind of motion of each speed: motion of whole molecules, torsions of several kinds, water or ions."""
    forest, torsions = model.forest, torsion_names(atoms)
    kinds = [""] * model.nu
    what = _kinds_of_trees(model, atoms)
    for i, joint_kind in enumerate(forest.kind.tolist()):
        joint, start = BY_KIND[joint_kind], int(forest.u_start[i])
        if forest.parent[i] < 0 and joint_kind in UNBOUND:
            of = what[int(model.tree_of_link[i])]
            named = [f"translation of {of}"] * joint.translations + [f"rotation of {of}"] * (
                joint.nu - joint.translations
            )
        else:
            torsion = torsions.get(int(model.head[i]))
            named = [_of_torsion(torsion) if torsion is not None else "other joints"] * joint.nu
        kinds[start : start + joint.nu] = named
    return [kind or "modes" for kind in kinds]


def _of_torsion(name: str) -> str:
    return "backbone torsions" if name.partition(":")[0] in BACKBONE else "side-chain torsions"


def _kinds_of_trees(model: Model, atoms: Atoms) -> list[str]:
    """Return the kind of each tree: ``water``, ``ions`` or ``molecules``."""
    found = ["molecules"] * model.trees
    links = model.link[model.sites.body[atoms.site]]
    for kind, name in (("water", "water"), ("ion", "ions")):
        of_kind = np.array([one == kind for one in atoms.residue_kinds], dtype=bool)[atoms.residue]
        for tree in np.unique(model.tree_of_link[links[of_kind & (links >= 0)]]).tolist():
            found[tree] = name
    return found


def _removed(model: Model, kind: np.ndarray, count: int) -> np.ndarray:
    """Return the number of degrees of freedom that each kind loses if the total momentum is removed, shape (kinds,).
    Their sum is three."""
    forest, tree = model.forest, model.tree_of_link
    masses = np.bincount(tree, forest.mass, model.trees)
    found = np.zeros(count)
    for root in forest.tree[:-1].tolist():
        k = int(forest.u_start[root])
        found[kind[k]] += 3.0 * masses[tree[root]] / masses.sum()
    return found
