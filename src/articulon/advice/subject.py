"""What advice is about: a case with the state that its run begins from, and the same case run in other ways."""

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
    """A case whose model begins where the run does."""

    case: Case
    """The case as it is given."""
    model: Model
    """Its model; the initial state is that after going downhill and with thermal speeds, where the case asks so."""

    @classmethod
    def of(cls, case: Case) -> Subject:
        """The subject of a case; raises CaseError, with the key, for one that cannot run."""
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
        """What moves together."""
        return groups_of(self.model)

    @cached_property
    def watched(self) -> list[int]:
        """The motions that tell whether steps are right: all, or under noise the ways of the bodies that carry others.

        What noise turns every which way parts on any two paths, and is right in means; what is heavy averages over it.
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
        """Whether a drag acts."""
        noise = brownian_of(self.model)
        acts = noise is None or noise.dissipation == "drag"
        return acts and any(isinstance(force, StokesDrag) for force in self.model.forces)

    @cached_property
    def particles(self) -> bool:
        """Whether there are free particles alone."""
        return only_particles(self.model)

    @cached_property
    def touches(self) -> bool:
        """Whether bodies can touch."""
        return contact_of(self.model) is not None

    @cached_property
    def conservative(self) -> bool:
        """Whether forces of a potential alone act, on trees without loops or drives."""
        model = self.model
        dissipates = self.drag or self.noisy or bool(resists(model))
        return not (dissipates or model.loops.kind.size or model.drives or self.touches)

    @property
    def random_bath(self) -> bool:
        """Whether a thermostat acts by random numbers, which depend on the step."""
        return self.case.thermostat is not None and not self.case.thermostat.deterministic

    def changed(self, changes: Mapping[str, Any]) -> Case:
        """The case with changes by dotted key, beginning from the state of the subject."""
        case = self.case.with_overrides(changes) if changes else self.case
        return self.from_start(case)

    def from_start(self, case: Case) -> Case:
        """A case that begins from the state of the subject as it is."""
        return replace(case, run=case.run.model_copy(update={"minimise": False, "speeds": "given"}))

    def refusal(self, case: Case) -> str:
        """Why the table of what goes with what refuses a case; empty where it does not."""
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
