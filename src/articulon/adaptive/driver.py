"""Advances a state whose joints lock and release: coarse steps between decisions."""

from collections.abc import Callable
from typing import Any

import numpy as np

from articulon.adaptive import memory
from articulon.adaptive.attempts import attempts
from articulon.adaptive.coarse import Coarse
from articulon.adaptive.criteria import STREAM, Looking, Members, members_of
from articulon.adaptive.declarations import Adaptive, Energy, Random
from articulon.adaptive.exchange import Space, canonical, lock, relative_to, with_energy
from articulon.adaptive.merging import Merging, check_loops, joints_of, merged, refuse_flexible
from articulon.dynamics import kinetic_energy
from articulon.errors import CaseError, ModelError
from articulon.forces.brownian import brownian_of
from articulon.forces.evaluation import Evaluator
from articulon.integrate.base import Driver
from articulon.integrate.declarations import Canonical, Explicit, FrictionImplicit
from articulon.integrate.drivers import driver as driver_of
from articulon.integrate.status import PAUSED, REACHED, Stop
from articulon.model import Model, State
from articulon.model.state import STEPS
from articulon.scaling.base import ScalingPolicy
from articulon.transitions import Reservoir, release

KNOWN = 4
"""Coarse models that are kept."""
CHATTERS = 8
"""Changes of a joint in a row, each as soon after the last as its conditions can hold, that are called chatter."""


class AdaptiveDriver(Driver):
    """Locks and releases joints of a model at decisions of a fixed interval, and lets another driver take the steps.

    Decision k is made at the time k ``every``, before the step that begins there. While joints are locked the steps are
    those of the coarse model, on tables of its own. All that decides is part of the state.

    Parameters
    ----------
    evaluator, integrator, policy, parameters, state
        As :func:`articulon.integrate.drivers.driver` takes them.
    adaptive
        The declaration, its quantities in the model's units.
    seed
        Of the run.
    """

    def __init__(
        self,
        evaluator: Evaluator,
        integrator: Any,
        policy: ScalingPolicy,
        parameters: np.ndarray,
        state: State,
        adaptive: Adaptive,
        seed: int,
    ) -> None:
        _refuse(evaluator, integrator, policy)
        self.evaluator, self.seed, self.adaptive = evaluator, seed, adaptive
        self.joints = joints_of(evaluator.model)
        self.members = members_of(evaluator.model, self.joints, adaptive.groups)
        self.managed = sum(members.links.size for members in self.members)
        self.fine = driver_of(
            evaluator, integrator, policy, parameters, _sized(state, evaluator.model.nu, self.managed)
        )
        self.history, self.memory = self.fine.history, self.fine.memory
        self.make: Callable[[Evaluator, State], Driver] = lambda e, s: driver_of(e, integrator, policy, parameters, s)
        self.step = float(getattr(integrator, "step", None) or 0.0)
        self.every = float(adaptive.every)
        if self.step:
            self.every = max(1, round(self.every / self.step)) * self.step
        self.coarse: Coarse | None = None
        self.known: list[tuple[np.ndarray, Model, Merging]] = []
        self.fixman = bool(evaluator.system.forces.fixman.half_kT.size)
        if evaluator.model.loops.kind.size and any(isinstance(m.group.lock, Energy) for m in self.members):
            raise CaseError("adaptive: the condition 'energy' takes no loops; choose speed, torque or another")

    # What is asked of a driver is asked of the one that takes the steps.

    @property
    def stop(self) -> Stop:
        """See :class:`Driver`."""
        return self.fine.stop

    @stop.setter
    def stop(self, stop: Stop) -> None:
        self.fine.stop, self.coarse = stop, None

    @property
    def books_bare_work(self) -> bool:  # type: ignore[override]
        """See :class:`Driver`."""
        return self.fine.books_bare_work

    @property
    def failure(self) -> str | None:  # type: ignore[override]
        """See :class:`Driver`."""
        return self.fine.failure if self.coarse is None else self.coarse.driver.failure

    def sized(self, state: State) -> State:
        """A state with room for what the criteria keep, nothing locked."""
        return _sized(state, self.evaluator.model.nu, self.managed)

    def advance(self, state: State, until: float, steps: int) -> int:
        """See :class:`Driver`."""
        while True:
            if self._due(state):
                self._decide(state)
            goal = min(until, self.every * float(state.criteria[memory.DECISIONS]))
            last = goal >= until * (1.0 - 1e-12) or until - goal < 1e-9 * self.every
            before = int(state.counters[STEPS])
            status = self._advance(state, until if last else goal, steps)
            taken = int(state.counters[STEPS]) - before
            if self.managed:
                state.criteria[memory.SAVED] += taken * int(state.locked.sum())
            steps -= taken
            if status != REACHED or last:
                return status
            if steps <= 0:
                return PAUSED

    def _advance(self, state: State, until: float, steps: int) -> int:
        locked = self.locked_links(state)
        if not locked.any():
            self.coarse = None
            return self.fine.advance(state, until, steps)
        coarse = self._ready(state, locked)
        coarse.take(state)
        status = coarse.driver.advance(coarse.state, until, steps)
        coarse.give(state)
        return status

    def _ready(self, state: State, locked: np.ndarray) -> Coarse:
        """What advances a state with these joints locked."""
        made = self._made(state.q, locked)
        if self.coarse is None or self.coarse.merging is not made[1]:
            self.coarse = Coarse(self.evaluator, self.fine, state, locked, made, self.make)
        return self.coarse

    def _made(self, q: np.ndarray, locked: np.ndarray) -> tuple[Model, Merging]:
        """The coarse model with these joints locked at their coordinates, and the map to it; the last few are kept."""
        for held, model, merging in self.known:
            if np.array_equal(merging.locked, locked) and np.array_equal(q[merging.held], held):
                return model, merging
        model, merging = merged(self.evaluator.model, self.joints, q, locked.copy())
        self.known = [(q[merging.held], model, merging), *self.known[: KNOWN - 1]]
        return model, merging

    def forget(self) -> None:
        """Drops the coarse models that are kept; they are made again when they are needed, to the same bits."""
        self.known, self.coarse = [], None

    def lock_now(self, state: State, links: np.ndarray) -> None:
        """Locks the joints of some links (links,), bool, whatever the conditions say."""
        self._lock(state, links & ~self.locked_links(state))
        self._ready(state, self.locked_links(state))

    def release_now(self, state: State, links: np.ndarray) -> None:
        """Releases the joints of some links (links,), bool, whatever the conditions say."""
        looking = Looking(self.evaluator, self.joints, state, 0, self.every, self.seed)
        locked = self.locked_links(state)
        for members in self.members:
            mine = members.links[(links & locked)[members.links]]
            if mine.size:
                self._release(state, members, mine, looking)
        if self.locked_links(state).any():
            self._ready(state, self.locked_links(state))

    def locked_links(self, state: State) -> np.ndarray:
        """Links whose joints are locked, shape (links,)."""
        result = np.zeros(self.joints.freedoms.size, dtype=bool)
        result[self.joints.u[state.locked]] = True
        return result

    def freedoms(self, state: State) -> int:
        """Degrees of freedom that share the kinetic energy at present."""
        return self.evaluator.degrees_of_freedom - int(state.locked.sum())

    def changes(self, state: State) -> tuple[int, int]:
        """How many joints have been locked and released since the start."""
        return int(state.criteria[memory.LOCKS]), int(state.criteria[memory.RELEASES])

    def decisions(self, state: State) -> int:
        """How many decisions have been made."""
        return int(state.criteria[memory.DECISIONS])

    def active_part(self, state: State) -> float:
        """Part of the speeds that moved, on average over the steps."""
        steps = int(state.counters[STEPS])
        return 1.0 - float(state.criteria[memory.SAVED]) / (steps * state.locked.size) if steps else 1.0

    def chattering(self, state: State) -> list[str]:
        """Bodies whose joints lock and release as fast as their conditions can hold."""
        rows, found = memory.rows(state.criteria), []
        for members in self.members:
            for i, row in zip(members.links.tolist(), members.rows.tolist(), strict=True):
                if rows[row, memory.SHORT] >= CHATTERS:
                    found.append(self.evaluator.model.names[int(self.evaluator.model.head[i])])
        return found

    def _due(self, state: State) -> bool:
        if not self.managed:
            return False
        number = int(state.criteria[memory.DECISIONS])
        if self.step:
            return int(state.counters[STEPS]) >= number * round(self.every / self.step)
        return float(state.time[0]) >= (number - 1e-9) * self.every

    def _decide(self, state: State) -> None:
        number = int(state.criteria[memory.DECISIONS])
        looking = Looking(self.evaluator, self.joints, state, number, self.every, self.seed)
        rows = memory.rows(state.criteria)
        wanted: list[tuple[Members, np.ndarray, np.ndarray]] = []
        locked = self.locked_links(state)
        for members in self.members:
            if isinstance(members.group.lock, Energy):
                continue
            now, release = locked[members.links], np.zeros(members.links.size, dtype=bool)
            to_lock = release.copy()
            for condition, function, column, able, out in (
                (members.group.lock, members.lock_function, memory.HELD_LOCK, ~now, to_lock),
                (members.group.release, members.release_function, memory.HELD_RELEASE, now, release),
            ):
                if condition is None or not able.any():
                    continue
                truth = looking.truth(condition, members, function, rows) & able
                held = np.where(truth, rows[members.rows, column] + 1, 0)
                rows[members.rows, column] = held
                out[:] = held >= condition.window
            wanted.append((members, to_lock, release))
        changed = False
        for members, _, release in wanted:
            if release.any():
                self._release(state, members, members.links[release], looking)
                changed = True
        chosen = np.zeros(locked.size, dtype=bool)
        for members, to_lock, _ in wanted:
            chosen[members.links[to_lock]] = True
        if (self.locked_links(state) | chosen).all() and any(
            m.group.lock and m.group.lock.chances for m in self.members
        ):
            chosen[:] = False  # by chance it will be another time
        if chosen.any():
            self._lock(state, chosen)
            changed = True
        for members, to_lock, release in wanted:
            self._book(members, to_lock | release, rows, number)
        for members in self.members:
            if isinstance(members.group.lock, Energy):
                changed = self._try(state, members, looking) or changed
        if changed:
            state.criteria[memory.CHANGES] += 1
            state.history[:] = 0.0
        state.criteria[memory.DECISIONS] = number + 1

    def _book(self, members: Members, changed: np.ndarray, rows: np.ndarray, number: int) -> None:
        """Remembers the time of changes, and how many in a row came as soon as they could."""
        group, at = members.group, members.rows[changed]
        windows = [c.window for c in (group.lock, group.release) if c is not None]
        short = max(windows) * self.every * 1.5
        time = number * self.every
        fast = (time - rows[at, memory.SINCE] < short) & (number > 0)
        by_chance = any(c is not None and c.chances for c in (group.lock, group.release))
        rows[at, memory.SHORT] = np.where(fast & (not by_chance), rows[at, memory.SHORT] + 1, 0)
        rows[at, memory.SINCE] = time
        rows[at, memory.HELD_LOCK] = rows[at, memory.HELD_RELEASE] = 0.0

    def _space(self, state: State, locked: np.ndarray) -> Space:
        return Space(self.evaluator.model, self.joints, state.q, locked, self._made(state.q, locked))

    def _lock(self, state: State, chosen: np.ndarray) -> None:
        locked = self.locked_links(state)
        after = locked | chosen
        self._check(state, after)
        outer, inner = self._space(state, locked), self._space(state, after)
        done = lock(outer, inner, state.u)
        new = chosen[self.joints.u]
        state.u[:], state.acceleration[new] = done.speeds, 0.0
        state.kept[0, new], state.kept[1, new] = done.relative[new], done.energies[new]
        state.locked[new] = True
        state.reservoir[0] += done.energies.sum()
        state.criteria[memory.LOCKS] += chosen.sum()
        self._weigh(state, outer, inner)

    def _release(self, state: State, members: Members, links: np.ndarray, looking: Looking) -> None:
        locked = self.locked_links(state)
        after = locked.copy()
        after[links] = False
        inner, outer = self._space(state, locked), self._space(state, after)
        group, new = members.group, np.zeros(locked.size, dtype=bool)
        new[links] = True
        speeds = new[self.joints.u]
        count = int(state.criteria[memory.RELEASES])
        if group.choice == "published" or (group.choice == "nearest" and group.metric == "euclidean"):
            self._release_chosen(state, members, speeds, links.size)
            self._weigh(state, inner, outer)
            return
        if group.choice == "canonical":
            # The energy that is given scales what is drawn, unless it is that of thermal motion itself.
            kT = self._thermal(members, state) if group.energy == "temperature" else 1.0
            d = canonical(inner, outer, kT, self.seed, STREAM, count)
        else:
            d = relative_to(inner, outer, state.kept[0])
        wanted = None
        if group.energy == "reservoir":
            wanted = float(state.kept[1, speeds].sum())
        elif group.energy != "temperature":
            wanted = links.size * float(group.energy)
        elif group.choice == "nearest":
            wanted = 0.5 * int(speeds.sum()) * self._thermal(members, state)
        if wanted is not None:
            d = with_energy(outer, d, max(wanted, 0.0), self._who(members, links))
        state.u[:] = state.u + d
        self._freed(state, speeds, outer.energy(d), links.size)
        self._weigh(state, inner, outer)

    def _release_chosen(self, state: State, members: Members, speeds: np.ndarray, joints: int) -> None:
        """A release by :func:`articulon.release`."""
        group, model = members.group, self.evaluator.model
        wanted: dict[str, Any] = {}
        if group.energy == "temperature":
            wanted = {"share": self._thermal(members, state) / model.units.boltzmann}
        elif group.energy != "reservoir":
            wanted = {"energy": kinetic_energy(model, state.q, state.u) + joints * float(group.energy)}
        done = release(
            model,
            state.q,
            state.u,
            speeds,
            choice=group.choice,
            metric=group.metric,
            reservoir=Reservoir(speeds, state.kept[0], max(float(state.kept[1, speeds].sum()), 0.0)),
            locked=state.locked,
            seed=self.seed,
            draw=int(state.criteria[memory.RELEASES]),
            **wanted,
        )
        state.u[:] = done.speeds
        state.u[state.locked & ~speeds] = 0.0
        self._freed(state, speeds, done.energy_after - done.energy_before, joints)

    def _freed(self, state: State, speeds: np.ndarray, energy: float, joints: int) -> None:
        state.locked[speeds] = False
        state.kept[:, speeds] = 0.0
        state.acceleration[speeds] = 0.0
        state.reservoir[0] -= energy
        state.criteria[memory.RELEASES] += joints

    def _try(self, state: State, members: Members, looking: Looking) -> bool:
        """Locks by energy and releases at random, joint after joint."""
        group, condition = members.group, members.group.lock
        assert isinstance(condition, Energy)
        below = float(condition.below)
        locked = self.locked_links(state)
        if below == 0.0 and not locked[members.links].any():
            return False
        count = min(condition.attempts or members.links.size, members.links.size)
        chosen = looking.random.permutation(members.links.size)[:count]
        links = members.links[chosen]
        # Of the locked ones only those are tried that chance releases.
        probability = group.release.probability if isinstance(group.release, Random) else 0.0
        links = links[~locked[links] | (looking.random.random(count) < probability)]
        if not links.size:
            return False
        free = locked.copy()
        free[links] = False
        space = self._space(state, free)
        kT = self._thermal(members, state) if group.energy == "temperature" else 0.0
        start = self.evaluator.model.forest.u_start
        draws: dict[int, Any] = {}
        along: dict[int, np.ndarray] = {}
        for i in links.tolist():
            if group.energy == "temperature":
                draws[i] = lambda n: _thermal_below(looking.random, n, kT, below)
            else:
                energy = float(state.kept[1, start[i]]) if group.energy == "reservoir" else float(group.energy)
                draws[i] = lambda n, e=energy: _direction(looking.random, n, e)
            if group.choice == "nearest" and locked[i]:
                along[i] = state.kept[0, start[i] : start[i] + self.joints.freedoms[i]].copy()
        done = attempts(space, links, locked, state.u, below, draws, along)
        if not done.taken and not done.given:
            return False
        self._check(state, done.locked)
        before = self._space(state, locked) if self.fixman else space
        state.u[:] = done.speeds
        for i, energy in done.given.items():
            own = self.joints.u == i
            self._freed(state, own, energy, 1)
        for i, (relative, energy) in done.taken.items():
            own = slice(int(start[i]), int(start[i]) + int(self.joints.freedoms[i]))
            state.locked[own] = True
            state.kept[0, own] = relative
            state.kept[1, start[i]] = energy
            state.acceleration[own] = 0.0
            state.reservoir[0] += energy
            state.criteria[memory.LOCKS] += 1
        if self.fixman:
            self._weigh(state, before, self._space(state, done.locked))
        rows = memory.rows(state.criteria)
        changed = np.isin(members.links, [*done.given, *done.taken])
        self._book(members, changed, rows, looking.number)
        return True

    def _weigh(self, state: State, before: Space, after: Space) -> None:
        """Books what a transition changes of Fixman's potential, which is that of the joints that move."""
        if self.fixman:
            half_kT = float(self.evaluator.system.forces.fixman.half_kT[0])
            state.reservoir[1] += half_kT * (before.log_determinant() - after.log_determinant())

    def potential_shift(self, state: State) -> float:
        """Fixman's potential of the joints that move less that of all, where there is one [energy]."""
        if not self.fixman or not state.locked.any():
            return 0.0
        half_kT = float(self.evaluator.system.forces.fixman.half_kT[0])
        locked = self.locked_links(state)
        fine, coarse = self._space(state, np.zeros_like(locked)), self._space(state, locked)
        return half_kT * (coarse.log_determinant() - fine.log_determinant())

    def _check(self, state: State, locked: np.ndarray) -> None:
        model = self.evaluator.model
        if locked.all():
            raise ModelError(
                "adaptive: every joint would be locked and nothing could move; leave at least one out of the groups"
            )
        check_loops(model, self.joints, state.q, locked)

    def _who(self, members: Members, links: np.ndarray) -> str:
        model = self.evaluator.model
        more = f" and {links.size - 1} more" if links.size > 1 else ""
        return f"adaptive, {members.name}, the joint of body '{model.names[int(model.head[links[0]])]}'{more}"

    def _thermal(self, members: Members, state: State) -> float:
        """kT of released motion [energy]."""
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
            f"{members.name}: released joints are to have the energy of thermal motion, and nothing says its "
            "temperature; give the group one, or add a thermostat"
        )


def _thermal_below(random: np.random.Generator, n: int, kT: float, below: float) -> np.ndarray:
    """Relative motion of thermal energy, of those draws that lie below a bound."""
    if not below > 0.0:
        return np.zeros(n)
    while True:
        z = np.sqrt(kT) * random.standard_normal(n)
        if 0.5 * float(z @ z) < below:
            return z


def _direction(random: np.random.Generator, n: int, energy: float) -> np.ndarray:
    """Relative motion of a given energy in any direction."""
    z = random.standard_normal(n)
    return z * np.sqrt(2.0 * energy / float(z @ z))


def _sized(state: State, nu: int, managed: int) -> State:
    return state._replace(
        locked=np.zeros(nu, dtype=np.bool_), kept=np.zeros((2, nu)), criteria=np.zeros(memory.size(managed))
    )


def _refuse(evaluator: Evaluator, integrator: Any, policy: ScalingPolicy) -> None:
    """Raises CaseError for what cannot change its resolution."""
    rule = str(integrator.rule)
    refuse_flexible(evaluator.model, CaseError, "adaptive")
    if evaluator.particles or not isinstance(integrator, Explicit | FrictionImplicit | Canonical):
        raise CaseError(
            f"adaptive: the rule '{rule}' does not take steps of joints that lock and release; choose "
            "friction-implicit, an explicit rule such as dormand-prince, or velocity-verlet, for a model with joints"
        )
    if evaluator.rotations != "speeds":
        raise CaseError("adaptive: rotations = 'euler-parameters' keep no speeds that could be locked; use 'speeds'")
    if policy.follows:
        raise CaseError(
            f"adaptive: the policy '{getattr(policy, 'policy', '')}' follows how forces change, which a transition "
            "breaks off; choose another"
        )
    if len(evaluator.functions[2]) and evaluator.system.forces.actuations.function_start.size > 1:
        raise CaseError(
            "adaptive: a function that acts on all joints cannot know which of them are locked; give tables for bodies"
        )
