"""Locked joints and modes of a state, and the transitions that lock and release them. The lockable joints and modes are
called *parts* (``lockable.py``)."""

from typing import Any

import numpy as np

from articulon.adaptive import criteria_memory
from articulon.adaptive.conditions import TriedCondition
from articulon.adaptive.conditions.decision_state import STREAM, DecisionState
from articulon.adaptive.lockable import Joints, check_loops
from articulon.adaptive.members import Members
from articulon.adaptive.merged_bodies import Merging, merged
from articulon.adaptive.momentum_exchange import Space, canonical, lock, relative_to, with_energy
from articulon.adaptive.tried_locks import try_locks
from articulon.dynamics import kinetic_energy
from articulon.errors import CaseError, ModelError
from articulon.forces.brownian import brownian_of
from articulon.forces.evaluation import Evaluator
from articulon.model import Model, State
from articulon.transitions import Reservoir, release

KNOWN = 4
"""Largest number of coarse models in the cache."""


class Resolution:
    """Makes the transitions of a state, which change its speeds, its locked parts, and the energy in the reservoir.

    Parameters
    ----------
    evaluator
        Evaluator of the fine model.
    joints
        Parts of the fine model.
    seed
        Seed of the run.
    """

    def __init__(self, evaluator: Evaluator, joints: Joints, seed: int) -> None:
        self.evaluator, self.joints, self.seed = evaluator, joints, seed
        self.known: list[tuple[np.ndarray, Model, Merging]] = []
        self.nothing = np.zeros(joints.degrees_of_freedom.size, dtype=bool)
        self.whole = merged(evaluator.model, joints, evaluator.model.q0, self.nothing)
        terms = evaluator.system.forces.terms
        self.of_determinant = sum(term.kind.determinant_energy(term.table) for term in terms)
        """Coefficient c of Fixman's potential c ln det M, where M is the mass matrix of the current motions
        [energy]."""

    def made(self, q: np.ndarray, locked: np.ndarray) -> tuple[Model, Merging]:
        """Return the coarse model with the given parts locked at their coordinates, and the map between the two models.
        The latest coarse models are cached."""
        if not locked.any():
            return self.whole
        for held, model, merging in self.known:
            if np.array_equal(merging.locked, locked) and np.array_equal(q[merging.held], held):
                return model, merging
        model, merging = merged(self.evaluator.model, self.joints, q, locked.copy())
        self.known = [(q[merging.held], model, merging), *self.known[: KNOWN - 1]]
        return model, merging

    def locked_parts(self, state: State) -> np.ndarray:
        """Return which joints and modes are locked, shape (parts,)."""
        result = np.zeros(self.joints.degrees_of_freedom.size, dtype=bool)
        result[self.joints.u[state.resolution.locked]] = True
        return result

    def forget(self) -> None:
        """Drop the cached coarse models; they are recreated when needed, bitwise the same."""
        self.known = []

    def space(self, state: State, locked: np.ndarray) -> Space:
        """Return the space of motions with the given parts locked."""
        return Space(self.evaluator.model, self.joints, state.q, locked, self.made(state.q, locked))

    def lock(self, state: State, chosen: np.ndarray) -> None:
        """Lock the parts marked in ``chosen`` (parts,), bool, which must be free."""
        locked = self.locked_parts(state)
        after = locked | chosen
        self._check(state, after)
        outer, inner = self.space(state, locked), self.space(state, after)
        done = lock(outer, inner, state.u)
        new = chosen[self.joints.u]
        state.u[:], state.rule.acceleration[new] = done.speeds, 0.0
        state.resolution.kept[0, new], state.resolution.kept[1, new] = done.relative[new], done.energies[new]
        state.resolution.locked[new] = True
        state.resolution.reservoir[0] += done.energies.sum()
        state.resolution.criteria[criteria_memory.LOCKS] += chosen.sum()
        self._record_determinant_change(state, outer, inner)

    def release(self, state: State, members: Members, parts: np.ndarray) -> None:
        """Release parts of a group according to the settings of the group."""
        locked = self.locked_parts(state)
        after = locked.copy()
        after[parts] = False
        inner, outer = self.space(state, locked), self.space(state, after)
        group, new = members.group, np.zeros(locked.size, dtype=bool)
        new[parts] = True
        speeds = new[self.joints.u]
        count = int(state.resolution.criteria[criteria_memory.RELEASES])
        if group.choice == "published" or (group.choice == "nearest" and group.metric == "euclidean"):
            self._release_chosen(state, members, speeds, parts.size)
            self._record_determinant_change(state, inner, outer)
            return
        if group.choice == "canonical":
            # The drawn speeds are rescaled to the requested energy, unless this is the thermal energy.
            kT = self._thermal(members, state) if group.energy == "temperature" else 1.0
            d = canonical(inner, outer, kT, self.seed, STREAM, count)
        else:
            d = relative_to(inner, outer, state.resolution.kept[0])
        wanted = None
        if group.energy == "reservoir":
            wanted = float(state.resolution.kept[1, speeds].sum())
        elif group.energy != "temperature":
            wanted = parts.size * float(group.energy)
        elif group.choice == "nearest":
            wanted = 0.5 * int(speeds.sum()) * self._thermal(members, state)
        if wanted is not None:
            d = with_energy(outer, d, max(wanted, 0.0), self._named(members, parts))
        state.u[:] = state.u + d
        self._freed(state, speeds, outer.energy(d), parts.size)
        self._record_determinant_change(state, inner, outer)

    def _release_chosen(self, state: State, members: Members, speeds: np.ndarray, count: int) -> None:
        """Release parts by :func:`articulon.release`."""
        group, model = members.group, self.evaluator.model
        wanted: dict[str, Any] = {}
        if group.energy == "temperature":
            wanted = {"share": self._thermal(members, state) / model.units.boltzmann}
        elif group.energy != "reservoir":
            wanted = {"energy": kinetic_energy(model, state.q, state.u) + count * float(group.energy)}
        done = release(
            model,
            state.q,
            state.u,
            speeds,
            choice=group.choice,
            metric=group.metric,
            reservoir=Reservoir(
                speeds, state.resolution.kept[0], max(float(state.resolution.kept[1, speeds].sum()), 0.0)
            ),
            locked=state.resolution.locked,
            seed=self.seed,
            draw=int(state.resolution.criteria[criteria_memory.RELEASES]),
            **wanted,
        )
        state.u[:] = done.speeds
        state.u[state.resolution.locked & ~speeds] = 0.0
        self._freed(state, speeds, done.energy_after - done.energy_before, count)

    def _freed(self, state: State, speeds: np.ndarray, energy: float, count: int) -> None:
        state.resolution.locked[speeds] = False
        state.resolution.kept[:, speeds] = 0.0
        state.rule.acceleration[speeds] = 0.0
        state.resolution.reservoir[0] -= energy
        state.resolution.criteria[criteria_memory.RELEASES] += count

    def try_members(self, state: State, members: Members, decision: DecisionState) -> np.ndarray:
        """Try to lock members by their energy and to release them at random, one after the other. Return which members
        changed, bool."""
        group, condition = members.group, members.lock
        assert isinstance(condition, TriedCondition)
        below = float(condition.below)
        locked, nothing = self.locked_parts(state), np.zeros(members.parts.size, dtype=bool)
        if below == 0.0 and not locked[members.parts].any():
            return nothing
        count = min(condition.attempts or members.parts.size, members.parts.size)
        chosen = decision.random.permutation(members.parts.size)[:count]
        parts = members.parts[chosen]
        # A locked part is tried only if it is drawn for release, with this probability.
        probability = 0.0 if members.release is None else members.release.chance or 0.0
        parts = parts[~locked[parts] | (decision.random.random(count) < probability)]
        if not parts.size:
            return nothing
        free = locked.copy()
        free[parts] = False
        space = self.space(state, free)
        kT = self._thermal(members, state) if group.energy == "temperature" else 0.0
        start = self.joints.start
        draws: dict[int, Any] = {}
        along: dict[int, np.ndarray] = {}
        for i in parts.tolist():
            if group.energy == "temperature":
                draws[i] = lambda n: _thermal_below(decision.random, n, kT, below)
            else:
                energy = (
                    float(state.resolution.kept[1, start[i]]) if group.energy == "reservoir" else float(group.energy)
                )
                draws[i] = lambda n, e=energy: _direction(decision.random, n, e)
            if group.choice == "nearest" and locked[i]:
                along[i] = state.resolution.kept[0, start[i] : start[i] + self.joints.degrees_of_freedom[i]].copy()
        done = try_locks(space, parts, locked, state.u, below, draws, along)
        if not done.taken and not done.given:
            return nothing
        self._check(state, done.locked)
        before = self.space(state, locked) if self.of_determinant else space
        state.u[:] = done.speeds
        for i, energy in done.given.items():
            own = self.joints.u == i
            self._freed(state, own, energy, 1)
        for i, (relative, energy) in done.taken.items():
            own = slice(int(start[i]), int(start[i]) + int(self.joints.degrees_of_freedom[i]))
            state.resolution.locked[own] = True
            state.resolution.kept[0, own] = relative
            state.resolution.kept[1, start[i]] = energy
            state.rule.acceleration[own] = 0.0
            state.resolution.reservoir[0] += energy
            state.resolution.criteria[criteria_memory.LOCKS] += 1
        if self.of_determinant:
            self._record_determinant_change(state, before, self.space(state, done.locked))
        return np.isin(members.parts, [*done.given, *done.taken])

    def _record_determinant_change(self, state: State, before: Space, after: Space) -> None:
        """Record how a transition changes Fixman's potential of the moving joints."""
        if self.of_determinant:
            change = before.log_determinant() - after.log_determinant()
            state.resolution.reservoir[1] += self.of_determinant * change

    def potential_shift(self, state: State) -> float:
        """Fixman's potential of the moving joints minus that of all joints, if there is one [energy]."""
        if not self.of_determinant or not state.resolution.locked.any():
            return 0.0
        locked = self.locked_parts(state)
        fine, coarse = self.space(state, self.nothing), self.space(state, locked)
        return self.of_determinant * (coarse.log_determinant() - fine.log_determinant())

    def _check(self, state: State, locked: np.ndarray) -> None:
        model = self.evaluator.model
        if locked[self.joints.degrees_of_freedom > 0].all():
            raise ModelError(
                "adaptive: every joint would be locked and nothing could move; exclude at least one from the groups"
            )
        check_loops(model, self.joints, state.q, locked)

    def _named(self, members: Members, parts: np.ndarray) -> str:
        more = f" and {parts.size - 1} more" if parts.size > 1 else ""
        return f"adaptive, {members.name}, {self.joints.name(self.evaluator.model, int(parts[0]))}{more}"

    def _thermal(self, members: Members, state: State) -> float:
        """Return the thermal energy kT of the released motion [energy]."""
        model = self.evaluator.model
        if members.group.temperature is not None:
            return model.units.boltzmann * float(members.group.temperature)
        thermostat, noise = self.evaluator.thermostat, brownian_of(model)
        if thermostat is not None:
            bath = self.evaluator.system.bath
            at = max(int(np.searchsorted(bath.times, float(state.time[0]), side="right")) - 1, 0)
            value = float(np.interp(float(state.time[0]), bath.times, bath.temperatures))
            return model.units.boltzmann * (value if bath.choice[3] else float(bath.temperatures[at]))
        if noise is not None:
            return model.units.boltzmann * float(noise.temperature)
        raise CaseError(
            f"{members.name}: released joints should get thermal energy, but nothing sets its "
            "temperature; give the group a temperature, or add a thermostat"
        )


def _thermal_below(random: np.random.Generator, n: int, kT: float, below: float) -> np.ndarray:
    """Draw a thermal relative motion from the distribution of energies below a bound."""
    if not below > 0.0:
        return np.zeros(n)
    while True:
        z = np.sqrt(kT) * random.standard_normal(n)
        if 0.5 * float(z @ z) < below:
            return z


def _direction(random: np.random.Generator, n: int, energy: float) -> np.ndarray:
    """Draw a relative motion of a given energy in a random direction."""
    z = random.standard_normal(n)
    return z * np.sqrt(2.0 * energy / float(z @ z))
