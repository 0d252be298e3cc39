"""Which joints and modes a group's conditions ask to be locked or released."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from articulon.adaptive.criteria_memory import SINCE
from articulon.adaptive.lockable import Joints, links_named, modes_named
from articulon.adaptive.momentum_exchange import Space
from articulon.adaptive.settings import (
    Acceleration,
    Distance,
    Elapsed,
    Function,
    Group,
    ModeEnergy,
    Random,
    Schedule,
    Speed,
    Torque,
)
from articulon.dynamics import body_poses
from articulon.errors import CaseError, ModelError
from articulon.forces.evaluation import Evaluator
from articulon.forces.selection import body_index
from articulon.forces.user_functions import loaded_function
from articulon.model import Model, State
from articulon.model.array_rotations import matrices
from articulon.model.state import WINDOW

STREAM = 11
"""The stream of random numbers that decisions draw from."""


@dataclass(frozen=True, eq=False)
class Members:
    """A group made ready."""

    group: Group
    """Its declaration, quantities in the model's units."""
    name: str
    """What messages call it."""
    parts: np.ndarray
    """The joints or modes that they are, shape (members,)."""
    rows: np.ndarray
    """Their rows in the criteria's memory, shape (members,)."""
    lock_function: Any = None
    """The user's function of the condition to lock, where it is one."""
    release_function: Any = None
    """The same to release."""


def members_of(model: Model, joints: Joints, groups: tuple[Group, ...]) -> list[Members]:
    """The groups with their joints.

    Raises
    ------
    CaseError
        For bodies that do not exist, joints without speeds, and joints in two groups.
    """
    result: list[Members] = []
    owner: dict[int, str] = {}
    for k, group in enumerate(groups):
        where = f"adaptive.groups[{k}]"
        name = group.name or where
        try:
            parts = _parts(model, joints, group.bodies, group.modes, f"{where}.bodies")
            if group.without:
                parts = np.setdiff1d(parts, _parts(model, joints, group.without, group.modes, f"{where}.without"))
            for condition in (group.lock, group.release):
                _check(model, parts, condition, where)
        except ModelError as error:
            raise CaseError(str(error)) from None
        for i in parts.tolist():
            if i in owner:
                part = joints.name(model, i)
                raise CaseError(f"{where}.bodies: {part} is in {owner[i]} already; each is in one group")
            owner[i] = name
        functions = [
            None
            if not isinstance(condition, Function)
            else condition.function
            if callable(condition.function)
            else loaded_function(condition.function, f"{where}.{key}.function")
            for key, condition in (("lock", group.lock), ("release", group.release))
        ]
        first = len(owner) - parts.size
        result.append(Members(group, name, parts, first + np.arange(parts.size), *functions))
    return result


def _parts(
    model: Model, joints: Joints, bodies: tuple[str, ...], modes: str | tuple[int, ...] | None, where: str
) -> np.ndarray:
    """Joints of bodies, or their modes."""
    return links_named(model, bodies, where) if modes is None else modes_named(model, joints, bodies, modes, where)


def _check(model: Model, parts: np.ndarray, condition: Any, where: str) -> None:
    if isinstance(condition, Distance):
        body_index(model, condition.body, f"{where}.distance.body")
        if condition.to is not None:
            body_index(model, condition.to, f"{where}.distance.to")
    if isinstance(condition, Speed | Acceleration | Torque):
        for i in parts.tolist():
            body = int(model.head[i])
            if model.joints[body].translations:
                raise ModelError(
                    f"{where}: the {model.joint_name(body)} joint of body '{model.names[body]}' slides, and "
                    f"'{condition.when}' is of joints that turn; choose another condition"
                )


class Looking:
    """What conditions look at, each thing found once.

    Parameters
    ----------
    evaluator
        The fine model's forces.
    joints
        The parts of the model.
    state
        The fine state.
    number
        Of the decision.
    every
        Time between decisions [time].
    seed
        Of the run.
    space
        Gives the motions that there are, for True, and all that the model has, for False.
    """

    def __init__(
        self,
        evaluator: Evaluator,
        joints: Joints,
        state: State,
        number: int,
        every: float,
        seed: int,
        space: Callable[[bool], Space],
    ) -> None:
        self.space = space
        self.evaluator, self.joints, self.state = evaluator, joints, state
        self.number, self.every, self.seed = number, every, seed
        self.random = np.random.Generator(np.random.Philox(key=np.array([seed, STREAM]), counter=[0, 0, number, 0]))
        self._rates: np.ndarray | None = None

    def sizes(self, values: np.ndarray) -> np.ndarray:
        """|·| over the speeds of each joint and mode, shape (parts,)."""
        return np.sqrt(np.bincount(self.joints.u, values * values, minlength=self.joints.degrees_of_freedom.size))

    def rates(self) -> np.ndarray:
        """u' with every joint free, shape (nu,)."""
        if self._rates is None:
            e, state = self.evaluator, self.state
            y = e.variables(state)
            dy = np.empty_like(y)
            e.rates(state.factor, float(state.time[0]), int(state.counters[WINDOW]), y, dy)
            self._rates = dy[e.model.nq : e.model.nq + e.model.nu]
        return self._rates

    def mode_energies(self, parts: np.ndarray) -> np.ndarray:
        """Energies of modes about their equilibria under all present forces, each an oscillator of its own with all
        else as it is: ½ m η'² + (m η'')²/2k, with the mass m = 1/(M⁻¹)_jj of the motions that there are and the
        stiffness k = K_jj, and f²/2k of a locked one, f being the force that holds it. Shape (parts,)."""
        index, forest, state = self.joints.modes, self.evaluator.model.forest, self.state
        assert index is not None and forest.flexible is not None
        speeds, own = self.joints.start[parts], index.diagonal[parts - self.joints.links]
        present, whole = self.space(True), self.space(False)
        free = self.rates()
        rates = present.solve(whole.momentum(free)) if state.resolution.locked.any() else free
        # What all forces together give the locked motions and do not give those that there are.
        force = whole.momentum(free - rates)[speeds] if state.resolution.locked.any() else np.zeros(speeds.size)
        kinetic, moving = np.zeros(speeds.size), np.flatnonzero(~state.resolution.locked[speeds])
        if moving.size:
            at = speeds[moving]
            mass = 1.0 / present.columns(at)[np.arange(at.size), at]
            force[moving], kinetic[moving] = mass * rates[at], 0.5 * mass * state.u[at] ** 2
        stiffness = forest.flexible.stiffness[index.own_pair[own]]
        with np.errstate(divide="ignore", invalid="ignore"):  # a force on a mode without stiffness has no bound
            return kinetic + np.where(force == 0.0, 0.0, 0.5 * force * force / stiffness)

    def truth(self, condition: Any, members: Members, function: Any, memory: np.ndarray) -> np.ndarray:
        """Whether a condition holds for each member of a group, shape (members,)."""
        state, parts, model = self.state, members.parts, self.evaluator.model
        if isinstance(condition, Speed):
            return condition.holds(self.sizes(state.u)[parts])
        if isinstance(condition, Acceleration):
            return condition.holds(self.sizes(self.rates())[parts])
        if isinstance(condition, Torque):
            self.rates()
            return condition.holds(self.sizes(self.evaluator.channels.total_joint)[parts])
        if isinstance(condition, ModeEnergy):
            return condition.holds(self.mode_energies(parts))
        if isinstance(condition, Distance):
            return np.full(parts.size, bool(condition.holds(_distance(model, state.q, condition))))
        if isinstance(condition, Schedule):
            time = self.number * self.every
            # The first decision not before a time, with room for what rounding does to either.
            due = [0.0 <= time - float(t) + 1e-9 * self.every < self.every for t in condition.times]
            return np.full(parts.size, any(due))
        if isinstance(condition, Elapsed):
            since = self.number * self.every - memory[members.rows, SINCE]
            return since >= float(condition.time) * (1.0 - 1e-9)
        if isinstance(condition, Random):
            return self.random.random(parts.size) < condition.probability
        if isinstance(condition, Function):
            answer = np.asarray(
                function(float(state.time[0]), state.q.copy(), state.u.copy(), state.resolution.locked.copy())
            )
            if answer.shape != (model.nu,):
                raise CaseError(
                    f"{members.name}: the function must give one truth for each of the {model.nu} speeds, got an array "
                    f"of the shape {answer.shape}"
                )
            return answer.astype(bool)[self.joints.start[parts]]
        raise TypeError(f"no condition: {condition!r}")


def _distance(model: Model, q: np.ndarray, condition: Distance) -> float:
    positions, rotations = body_poses(model, q)

    def centre(name: str) -> np.ndarray:
        k = model.body(name)
        return positions[k] + matrices(rotations[k]) @ model.centres[k]

    to = np.array([float(x) for x in condition.point or ()]) if condition.to is None else centre(condition.to)
    return float(np.linalg.norm(centre(condition.body) - to))
