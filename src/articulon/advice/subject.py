"""The subject of the advice: a case with the initial state of its run, and variants of it with other settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from articulon.cases.case import Case
from articulon.dynamics.loops.given_motions import check_motions
from articulon.errors import CaseError, ModelError
from articulon.fidelity.paths import Group, groups_of
from articulon.forces.base import check_durations
from articulon.forces.brownian import brownian_of
from articulon.forces.contact.contact_engine import contact_of
from articulon.forces.evaluation import Evaluator
from articulon.forces.sites.site_positions import only_particles
from articulon.forces.stokes_drag import StokesDrag
from articulon.integrate.combination import Combination, resists
from articulon.integrate.compatibility import check
from articulon.model import Model
from articulon.simulation.minimisation import minimise
from articulon.simulation.starting import bath_temperature, thermal_start


@dataclass(frozen=True)
class Subject:
    """A case whose model has the initial state of the run."""

    case: Case
    """The case as given."""
    model: Model
    """Model in its initial state, after energy minimisation and with thermal speeds if the case requests them."""

    @classmethod
    def of(cls, case: Case) -> Subject:
        """Return the subject for a case; raises CaseError, with the key, if the case cannot run."""
        case.check_code()
        model = case.build_model()
        duration = float(case.run.duration)
        try:
            check_motions(model, duration)
            check_durations(model, duration)
            q, u = model.q0, model.u0
            evaluator, given = Evaluator(model, thermostat=case.thermostat), case.run.temperature
            temperature = bath_temperature(evaluator) if given is None else float(given)
            if case.run.minimise:
                q = minimise(model, q, temperature=temperature)
            if case.run.speeds == "thermal":
                u = thermal_start(evaluator, q, case.run.seed, temperature)
        except ModelError as error:
            raise CaseError(f"{case.source}: {error}") from None
        return cls(case, replace(model, q0=q, u0=u) if q is not model.q0 or u is not model.u0 else model)

    @cached_property
    def groups(self) -> list[Group]:
        """Groups of speeds, one for each motion (see :mod:`articulon.fidelity.paths`)."""
        return groups_of(self.model)

    @cached_property
    def watched(self) -> list[int]:
        """Indices of the groups that show whether steps are accurate. Without noise they are all groups. With noise
        they are the translations of bodies that carry others.

        Noise rotates light bodies at random. Their paths differ for any two steps, and only their means are accurate.
        Heavy bodies average over the noise.
        """
        if not self.noisy:
            return list(range(len(self.groups)))
        roots = {int(self.model.forest.u_start[int(first)]) for first in self.model.forest.tree[:-1]}
        found = [k for k, group in enumerate(self.groups) if group.start in roots and not group.angular]
        return found or list(range(len(self.groups)))

    @cached_property
    def noisy(self) -> bool:
        """Whether Brownian forces act."""
        return brownian_of(self.model) is not None

    @cached_property
    def drag(self) -> bool:
        """Whether drag acts."""
        noise = brownian_of(self.model)
        acts = noise is None or noise.dissipation == "drag"
        return acts and any(isinstance(force, StokesDrag) for force in self.model.forces)

    @cached_property
    def particles(self) -> bool:
        """Whether there are only free particles."""
        return only_particles(self.model)

    @cached_property
    def touches(self) -> bool:
        """Whether bodies can come into contact."""
        return contact_of(self.model) is not None

    @cached_property
    def conservative(self) -> bool:
        """Whether only conservative forces act, on trees without loops or drives."""
        model = self.model
        dissipates = self.drag or self.noisy or bool(resists(model))
        return not (dissipates or model.loops.kind.size or model.drives or self.touches)

    @property
    def random_bath(self) -> bool:
        """Whether a thermostat uses random numbers that depend on the step."""
        return self.case.thermostat is not None and not self.case.thermostat.deterministic

    def changed(self, changes: Mapping[str, Any]) -> Case:
        """Return the case with changes by dotted key. It starts from the state of the subject."""
        case = self.case.with_overrides(changes) if changes else self.case
        return self.from_start(case)

    def from_start(self, case: Case) -> Case:
        """Return a case that starts from the state of the subject."""
        return replace(case, run=case.run.model_copy(update={"minimise": False, "speeds": "given"}))

    def refusal(self, case: Case) -> str:
        """Return why the features of a case are incompatible; empty if they are compatible."""
        adapts = case.adaptive is not None and case.adaptive.on
        combination = Combination(
            self.model,
            case.integrator,
            case.scaling,
            case.thermostat,
            case.dynamics.solver,
            case.dynamics.rotations,
            adapts,
            resists(self.model),
        )
        try:
            check(combination)
        except CaseError as error:
            return str(error)
        return ""
