"""Observables of site forces: the gradient and the Laplacian of their energy, and the pressure."""

import numpy as np

from articulon.forces.evaluation import Evaluator, without_virial
from articulon.forces.gravity import Gravity
from articulon.forces.pressure import beyond_sites
from articulon.forces.sites.site_tables import LAPLACIAN, W_XX, W_ZZ
from articulon.forces.sites.site_terms import SumTerm
from articulon.forces.whole_molecules import WholeMolecules, why_not_free
from articulon.model import Model, State
from articulon.model.box import volume_of
from articulon.model.joints import XYZ
from articulon.model.state import POTENTIAL

ROUGH = ("truncated", "shifted", "wolf")
"""Truncations whose force is discontinuous at the cutoff."""


def why_not_defined(model: Model) -> str | None:
    """Return why the configurational temperature k T = ⟨|∇Φ|²⟩/⟨∇²Φ⟩ is not defined for a model; None if it is defined.

    It is defined for translations of free bodies if their potential energy Φ is smooth and confines the bodies.
    """
    sites = [force for force in model.forces if hasattr(force, "site_terms")]
    others = [
        force
        for force in model.forces
        if not hasattr(force, "site_terms") and getattr(force, "laplacian", "not known") == "not known"
    ]
    if not sites:
        return "no force between sites acts"
    if others:
        return f"'{getattr(others[0], 'kind', type(others[0]).__name__)}' acts, whose Laplacian is not known"
    if model.loops.kind.size:
        return "loops or driven joints constrain the bodies"
    if (np.diff(model.forest.tree) > 1).any() or (model.parents >= 0).any():
        return "bodies on joints do not move freely"
    if _several_sites(model) and any(isinstance(term, SumTerm) for force in sites for term in force.site_terms(model)):
        return "a force that is not a sum over pairs acts on bodies with several sites"
    for force in sites:
        if getattr(force, "laplacian", "known") == "not known":
            return f"'{force.kind}' acts, whose Laplacian is not known"
        if getattr(force, "cutoff", None) is not None and getattr(force, "truncation", None) in ROUGH:
            how = "choose the truncation 'force-shifted' or 'switched'"
            return f"the force of '{force.kind}' jumps at its cutoff ({how})"
        if getattr(force, "truncation", None) == "reaction-field" and force.reaction_permittivity != "infinite":
            return "a reaction field of finite permittivity lets the force of 'coulomb' jump at its cutoff"
    walls = {face for force in sites if hasattr(force, "faces_of") for face in force.faces_of(model)}
    free = (True,) * 3 if model.box is None else tuple(kind == "open" for kind in model.box.boundaries)
    for axis, is_free in zip("xyz", free, strict=True):
        if is_free and not {f"{axis}-", f"{axis}+"} <= walls:
            return f"nothing confines the bodies along {axis}: the box is not periodic there and lacks two walls"
    if model.box is not None and "reflecting" in model.box.boundaries:
        return "reflecting walls have no potential energy"
    return None


def _several_sites(model: Model) -> bool:
    body = model.sites.body[model.sites.body >= 0]
    return bool(body.size > np.unique(body).size)


class SiteObserver:
    """Computes the observables of the site forces of a model.

    Parameters
    ----------
    evaluator
        The forces.
    """

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator, self.model = evaluator, evaluator.model
        model = self.model
        self.not_defined = why_not_defined(model)
        box, particles = model.box, bool((model.forest.kind == XYZ).all()) and not (model.forest.parent >= 0).any()
        has_volume = box is not None and box.periodic.all() and without_virial(model) is None
        has_volume = has_volume and bool(evaluator.sites.sites)
        has_volume = has_volume and why_not_free(model) is None and beyond_sites(model) is None
        self.volume = box.volume if box is not None and has_volume else None
        # The pressure contains neither rotational kinetic energy nor forces within a molecule.
        whole = has_volume and not (particles and not _several_sites(model))
        self.molecules = WholeMolecules(model, evaluator.sites) if whole else None
        # Constant forces have a gradient but no Laplacian.
        self.weight = sum(
            (np.array([float(g) for g in force.acceleration]) for force in model.forces if isinstance(force, Gravity)),
            np.zeros(3),
        )

    @property
    def dimensions(self) -> dict[str, str]:
        """Dimension of every observable, by name."""
        names: dict[str, str] = {}
        if self.not_defined is None:
            names |= {"gradient_squared": "force_squared", "laplacian": "stiffness"}
        if self.volume is not None:
            names["pressure"] = "pressure"
        return names

    def forces(self) -> np.ndarray:
        """Forces on the links at the latest evaluation, unscaled [force], shape (links, 3)."""
        if not self.evaluator.particles:
            return self.evaluator.channels.wrench[POTENTIAL, :, :3].copy()
        return self.evaluator.sites.latest

    def observables(
        self, state: State, forces: np.ndarray, measures: np.ndarray, kinetic: float, scaled: float = 1.0
    ) -> dict[str, float]:
        """Compute |∇Φ|², ∇²Φ and the pressure, each only if it is defined.

        Parameters
        ----------
        state
            The state of the latest force evaluation.
        forces
            Unscaled site forces on the links [force], shape (links, 3).
        measures
            Energy, virial and Laplacian of the site forces, shape (8,).
        kinetic
            Kinetic energy [energy].
        scaled
            Factor by which scaling changes the kinetic energy.
        """
        found: dict[str, float] = {}
        if self.not_defined is None:
            net = forces + self.model.forest.mass[:, None] * self.weight
            found |= {"gradient_squared": float((net**2).sum()), "laplacian": float(measures[LAPLACIAN])}
        if self.volume is not None:
            trace = float(measures[W_XX : W_ZZ + 1].sum())
            volume = volume_of(state.box.edges) if state.box.edges.size else self.volume
            if self.molecules is None:
                found["pressure"] = (2.0 * kinetic / scaled + trace) / (3.0 * volume)
            else:
                moving, sites = self.molecules.motions(state.q, state.u), self.evaluator.sites
                where = sites.system.particles.site.T
                found["pressure"] = self.molecules.pressure(moving, sites.latest, where, trace, volume, scaled)
        return found
