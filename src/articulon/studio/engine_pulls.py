"""The engine's part of pulls: springs with which users of the pages pull on bodies."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from articulon.dynamics import forward_dynamics, kinetic_energy
from articulon.errors import ArticulonError
from articulon.forces.selection import on_link
from articulon.forces.spring_pull import Pull, SpringPull
from articulon.model import Model, State
from articulon.model.array_rotations import matrices
from articulon.model.state import EXTERNAL, STEPS
from articulon.simulation.chunks import Chunks
from articulon.simulation.observers import poses_at
from articulon.simulation.preparation import Prepared, blank_state, prepare
from articulon.simulation.pull_record import PullRecord, PullRow
from articulon.simulation.recorder import Recorder
from articulon.studio.engine_link import Link

PERIODS = 10.0
"""Number of periods, in the duration of a run, of a tree that oscillates on the spring. With this stiffness, a pull
acts at the pace of the display."""
FEWEST_STEPS = 100
"""Smallest number of steps in a period of the spring, so that the spring does not limit the step."""


class EnginePulls:
    """Pulls on bodies of a run, by a spring that is added to the model at the first pull.

    While there is no pull, the run uses the same compiled steps as any other run.

    Parameters
    ----------
    link
        Connection to the page's process, for messages on rejected pulls.
    folder
        Folder of the run, where the pulls are recorded.
    """

    def __init__(self, link: Link, folder: Path) -> None:
        self.link, self.record = link, PullRecord(folder)
        self._asked: dict[str, Any] | None = None
        self._new = False
        self._row: PullRow | None = None
        self._plain: Prepared | None = None
        self._pulled: tuple[Prepared, Pull] | None = None
        self._refused: str | None = None
        self._held: tuple[tuple[float, ...], tuple[float, float]] | None = None

    @property
    def pulling(self) -> bool:
        """Whether a pull is active."""
        return self._row is not None

    def ask(self, what: dict[str, Any] | None) -> None:
        """Take a request for a pull: ``body``, the number of the body; ``point`` in the body's frame and ``target`` in
        the world frame [length]; ``strength``, relative to the usual strength. None ends the pull."""
        self._asked, self._new = what, True

    def apply(self, recorder: Recorder, chunks: Chunks) -> None:
        """Carry out the requests since the last chunk."""
        if not self._new:
            return
        self._new = False
        if self._asked is None:
            self.let_go(recorder, chunks)
            return
        try:
            self._pull(recorder, chunks, self._asked)
        except ArticulonError as error:
            self._asked = None
            self.let_go(recorder, chunks)
            self.link.say("refused", text=f"this run cannot be pulled on: {error}")

    def let_go(self, recorder: Recorder, chunks: Chunks) -> None:
        """Continue the run without the spring."""
        if self._row is None or self._plain is None:
            return
        state = recorder.state
        recorder.prepared, chunks.driver = self._plain, self._plain.driver
        self.record.add(
            self._row._replace(
                step=int(state.counters[STEPS]),
                time=float(state.time[0]),
                stiffness=0.0,
                damping=0.0,
                work=float(state.work[EXTERNAL]),
            )
        )
        self._row = self._held = None

    def _pull(self, recorder: Recorder, chunks: Chunks, asked: dict[str, Any]) -> None:
        prepared, table = self._with_spring(recorder)
        model, state, body = prepared.model, recorder.state, int(asked["body"])
        if model.link[body] < 0:
            raise ArticulonError(f"body '{model.names[body]}' is welded to the ground")
        point, target = (np.array([float(x) for x in asked[key]]) for key in ("point", "target"))
        stiffness, damping = self._constants(prepared, state, body, point, float(asked["strength"]))
        table.link[0] = model.link[body]
        table.local[0], table.target[0] = on_link(model, body, point), target
        table.constants[0] = stiffness, damping
        recorder.prepared, chunks.driver = prepared, prepared.driver
        self._row = PullRow(
            int(state.counters[STEPS]),
            float(state.time[0]),
            model.names[body],
            (float(point[0]), float(point[1]), float(point[2])),
            (float(target[0]), float(target[1]), float(target[2])),
            stiffness,
            damping,
            float(state.work[EXTERNAL]),
        )
        self.record.add(self._row)

    def _constants(
        self, prepared: Prepared, state: State, body: int, point: np.ndarray, strength: float
    ) -> tuple[float, float]:
        """Return stiffness and damping of the spring; they are constant while the same point is held."""
        held = body, *point.tolist(), strength
        if self._held is None or self._held[0] != held:
            self._held = held, spring_constants(prepared, state, body, point, strength)
        return self._held[1]

    def _with_spring(self, recorder: Recorder) -> tuple[Prepared, Pull]:
        """Return the run with the spring in its model, and the spring's numbers."""
        if self._refused is not None:
            raise ArticulonError(self._refused)
        if self._pulled is None:
            self.link.say("message", text="the spring is added to the model; this compiles kernels the first time")
            try:
                self._pulled = with_spring(recorder.prepared, recorder.state)
            except ArticulonError as error:
                self._refused = str(error)
                raise
            self._plain = recorder.prepared
        return self._pulled


def with_spring(plain: Prepared, state: State) -> tuple[Prepared, Pull]:
    """Return a run with a spring in its model, and the spring's numbers. Raises ArticulonError if the integrator of the
    run cannot include a spring. Frames keep the same observables."""
    model = replace(plain.model, forces=(*plain.model.forces, SpringPull()))
    found = prepare(plain.case, plain.threshold, plain.windows, model)
    check_same_state(state, blank_state(found))
    table = next(term.table for term in found.evaluator.system.forces.terms if term.kind is SpringPull)
    return replace(plain, driver=found.driver, evaluator=found.evaluator), table


def spring_constants(
    prepared: Prepared, state: State, body: int, point: np.ndarray, strength: float
) -> tuple[float, float]:
    """Return stiffness and damping of the spring on a point of a body [force/length, force time/length].

    The stiffness gives the mass of the body's tree, on the spring, a period of a tenth of the run divided by the square
    root of ``strength``; the damping is critical. For the smallest effective mass at the point, the period is at least
    a hundred steps, so that the step is not too long for the spring. A run without inertia has no damping.
    """
    model, step = prepared.model, prepared.observer.fixed_step or float(state.step[0])
    slowest = 2.0 * np.pi * PERIODS * np.sqrt(strength) / float(prepared.case.run.duration)
    fastest = 2.0 * np.pi / (FEWEST_STEPS * step)
    mass, least = tree_mass(model, body), effective_mass(model, state.q, body, point)
    stiffness = min(mass * slowest**2, least * fastest**2)
    damping = min(2.0 * mass * slowest, 2.0 * least * fastest)
    return stiffness, 0.0 if prepared.evaluator.overdamped else damping


def effective_mass(model: Model, q: np.ndarray, body: int, point: np.ndarray) -> float:
    """Return the smallest effective mass that resists a force on a point of a body, over all directions [mass].

    A unit force gives the joints the accelerations u̇, and the point an acceleration u̇ᵀ M u̇ = 2 T(u̇) along the
    force, with the mass matrix M and the kinetic energy T.
    """
    _, rotations = poses_at(model, q)
    arm = matrices(rotations[body][None])[0] @ point
    still, wrenches = np.zeros(model.nu), np.zeros((model.bodies, 6))
    eased = 0.0
    for direction in np.eye(3):
        wrenches[body] = [*direction, *np.cross(arm, direction)]
        eased += 2.0 * kinetic_energy(model, q, forward_dynamics(model, q, still, wrenches=wrenches))
    if eased <= 0.0:
        raise ArticulonError(f"body '{model.names[body]}' cannot be moved at this point")
    return 1.0 / eased


def tree_mass(model: Model, body: int) -> float:
    """Return the mass of the tree to which a body belongs [mass]."""
    root = np.arange(model.bodies)
    for k in np.flatnonzero(model.parents >= 0).tolist():
        root[k] = root[model.parents[k]]
    return float(model.masses[root == root[body]].sum())


def check_same_state(state: State, other: State) -> None:
    """Raise ArticulonError if the state of a run does not fit the run with a spring."""
    mine, others = state.arrays(), other.arrays()
    # The number of contacts changes from step to step.
    wrong = [name for name in mine if not name.startswith("contacts.") and mine[name].shape != others[name].shape]
    if wrong:
        raise ArticulonError(f"its steps with a spring need other arrays than without ({', '.join(sorted(wrong))})")
