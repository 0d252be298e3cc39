"""Errors planted in the adjoints of steps: every pass of an adjoint is left out once, and the identity that the tests
check, ⟨w, J v⟩ = ⟨Jᵀ w, v⟩ to rounding, here of two steps, must then be violated.

    python -m validation.planted [--only rk4,friction-implicit]

prints a table by situation, rewrites its section of docs/validation.md unless situations are chosen, and exits with 1
where an error remains unseen. A pass that is left out is one whose terms have the factor zero; nothing is compiled for
it. Only passes that neither the steps nor their tangents run are left out, so that an error is one of the adjoint
alone. Before every error the adjoint of one step is run with other weights, so that no array holds what the pass would
have left there.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

import articulon as ar
from articulon.forces.point_springs import PointSprings
from articulon.model.joints import WELD
from articulon.passes import Bound, Program, pass_of
from articulon.sensitivities.canonical_stepping import CanonicalStepping
from articulon.sensitivities.friction_implicit_stepping import FrictionImplicitStepping
from articulon.sensitivities.stepping import REVERSE, Stepping, finish_weights, follow_schedule, take_steps
from tests.identities import test_canonical_sensitivities as canonical
from tests.identities import test_loop_sensitivities as loops
from tests.identities import test_site_sensitivities as sites
from tests.identities import test_user_force_derivatives as users
from tests.identities import test_verlet_sensitivities as verlet
from tests.support.flexible_runs import flexible_run
from tests.support.forced_models import dragged_model, resisted_model
from tests.support.single_steps import numbers_of, stepped, stepping
from validation.page import table, write_section

RUN: dict[str, Any] = {"duration": 0.06, "step": 0.02, "frames": 1}
BOUND = 1e-12
"""Largest violation of the identity, relative to the sum of the magnitudes of its products, without an error."""
SEEN = 1e-9
"""Smallest violation by which an error counts as seen."""


class Situation(NamedTuple):
    """Steps whose adjoint is checked."""

    steps: Callable[[], Stepping]
    test: str
    """The test of the identity for such steps."""


def _steps(model: Callable[[], ar.Model], rule: str, **run: Any) -> Callable[[], Stepping]:
    return lambda: stepping(model(), rule=rule, **{**RUN, "scaling": ar.scaling.Constant(a2=0.7), **run})


STEPS = "test_step_adjoints.py::test_the_adjoint_of_a"
SITUATIONS = {
    "rk4": Situation(_steps(lambda: resisted_model(1), "rk4"), f"{STEPS}n_explicit_step_is_the_transposed_tangent"),
    "friction-implicit": Situation(
        _steps(lambda: dragged_model(3, resists=True), "friction-implicit"),
        f"{STEPS}_friction_implicit_step_is_the_transposed_tangent",
    ),
    "overdamped": Situation(
        lambda: stepping(dragged_model(3), rule="overdamped", **RUN),
        f"{STEPS}n_overdamped_step_is_the_transposed_tangent",
    ),
    "velocity-verlet": Situation(
        lambda: canonical.steps_of(canonical.MODELS["flowing"]()),
        "test_canonical_sensitivities.py::test_the_adjoint_of_a_step_is_the_transposed_tangent",
    ),
    **{
        f"velocity-verlet {name}": Situation(
            lambda name=name: stepping(verlet.MODELS[name](), duration=0.06, **verlet.run_of(name)),
            "test_verlet_sensitivities.py::test_the_adjoint_of_a_step_is_the_transposed_tangent",
        )
        for name in ("dragged", "thermostatted")
    },
    "euler with loops": Situation(  # its steps leave the loops far enough for all terms of the projection to be seen
        _steps(lambda: loops.looped_model(0, False), "euler"),
        "test_loop_sensitivities.py::test_the_adjoint_with_loops_is_the_forward_method_for_any_number_of_checkpoints",
    ),
    "rk4 with a user force": Situation(
        _steps(lambda: users.model_of(users.force(**users.GIVEN["both"])), "rk4", scaling=None),
        "test_user_force_derivatives.py::test_the_adjoint_of_a_step_is_the_transposed_tangent",
    ),
    "rk4 with flexible bodies": Situation(
        _steps(lambda: flexible_run(1), "rk4"),
        "test_flexible_sensitivities.py::test_products_with_weights_are_those_with_changes",
    ),
    **{
        f"rk4 with sites: {name}": Situation(
            _steps(lambda name=name: sites.model_of(sites.CASES[name][0]), "rk4", scaling=None),
            "test_site_sensitivities.py::test_derivatives_through_forces_between_sites",
        )
        for name in sites.CASES
    },
}


@pass_of
def do_nothing(numbers):
    """In the place of a pass that is left out."""
    numbers[0] = 0.0


def programs_of(programs: Iterable[Program]) -> Iterator[Program]:
    """Programs, and those that their passes run."""
    for program in programs:
        yield program
        for one in program.passes:
            yield from programs_of(one.programs)


def name_of(one: Bound) -> str:
    """Name of a bound pass."""
    return str(one.which.leaf.__name__)


def repeats(program: Program, programs: Iterable[Program]) -> bool:
    """Whether another program runs the same passes in the same order, and possibly more in between."""
    names = [name_of(one) for one in program.passes]
    for other in programs:
        left = iter(name_of(one) for one in other.passes)
        if other is not program and len(names) > 1 and all(name in left for name in names):
            return True
    return False


class Adjoint:
    """The adjoint of a step, the identity that it has to fulfil, and its passes."""

    def __init__(self, steps: Stepping) -> None:
        rng = np.random.default_rng(3)
        self.steps = steps
        self.tables, self.numbers = numbers_of(steps)
        self.stepper, self.programs = steps.reversing(self.tables, True)
        weights = self.stepper.weight.size
        self.states = np.stack([steps.start, stepped(steps, 0, steps.start)])
        self.v, self.w, self.other = rng.normal(size=(3, weights))
        nu = steps.model.nu
        if isinstance(steps, CanonicalStepping):  # momenta are found from the rest
            self.v[nu : 2 * nu] = self.w[nu : 2 * nu] = 0.0
        if isinstance(steps, FrictionImplicitStepping):  # accelerations at the start are none of a latest kick
            self.v[2 * nu :] = 0.0
        self.p = rng.normal(size=self.numbers.size)
        self.numbers[:] = self.p
        self._without_missing_numbers()
        self.p = self.numbers.copy()
        self.forward = float(self.w @ self._changed())
        self.rows = self._rows()

    def _changed(self) -> np.ndarray:
        """Change of the state at the end of both steps."""
        tables, numbers = numbers_of(self.steps)
        found = self.v[None].copy()
        stepper, _programs = self.steps.changing(tables, numbers, self.p[None].copy(), found)
        stepper.y[:] = self.steps.start
        take_steps(stepper, *self.steps.times, 0, 2)
        return found[0]

    def _without_missing_numbers(self) -> None:
        """Set to zero the changes of numbers by which there are no derivatives: of flexible bodies, of frames at nodes,
        and of the damping of springs under a rule that solves for it."""
        forest, tables = self.steps.model.forest, self.tables
        if forest.flexible is not None:
            for one in (tables.mass, tables.moment, tables.inertia):
                one[forest.flexible.body >= 0] = 0.0
            for one in (tables.position, tables.turn):
                one[forest.kind == WELD] = 0.0
        for one in tables.terms:
            if isinstance(one, PointSprings) and isinstance(self.steps, FrictionImplicitStepping):
                one.constants[:, 2] = 0.0

    def _rows(self) -> list[tuple[Program, int]]:
        """Rows of programs that the adjoint alone runs."""
        tables, numbers = numbers_of(self.steps)
        taking, changing = (
            self.steps.taking(),
            self.steps.changing(tables, numbers, self.p[None].copy(), self.v[None].copy()),
        )
        others = {name_of(one) for _, some in (taking, changing) for p in programs_of(some) for one in p.passes}
        own = {id(program): program for program in programs_of(self.programs)}.values()
        return [(p, k) for p in own for k, one in enumerate(p.passes) if name_of(one) not in others]

    def violation(self) -> float:
        """How far the identity is violated, relative to the sum of the magnitudes of its products."""
        self._weigh(self.w)
        state, numbers = self.stepper.weight * self.v, self.numbers * self.p
        size = float(np.abs(state).sum() + np.abs(numbers).sum())
        found = abs(float(state.sum() + numbers.sum()) - self.forward) / max(size, 1e-300)
        return found if np.isfinite(found) else 1.0

    def violation_without(self, program: Program, row: int, nothing: np.ndarray) -> float:
        """The same without a pass."""
        self._weigh(self.other, first=1)
        kept = program.addresses[row].copy()
        program.addresses[row] = nothing
        found = self.violation()
        program.addresses[row] = kept
        return found

    def _weigh(self, weight: np.ndarray, first: int = 0) -> None:
        """Reverse the second step, and the first, unless ``first`` is 1."""
        self.numbers[:], self.stepper.weight[:] = 0.0, weight
        actions = np.array([[REVERSE, 1, 1, 0, 0], [REVERSE, 0, 0, 0, 0]])[: 2 - first]
        follow_schedule(self.stepper, *self.steps.times, actions, self.states.copy())
        finish_weights(self.stepper)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m validation.planted")
    parser.add_argument("--only", type=lambda text: tuple(text.split(",")), default=())
    options = parser.parse_args(arguments)
    began, rows, missed = time.perf_counter(), [], 0
    empty = Program([do_nothing.bind(np.zeros(1))])
    nothing = empty.code[0].copy()
    names: set[str] = set()
    for title, situation in SITUATIONS.items():
        if options.only and title not in options.only:
            continue
        adjoint = Adjoint(situation.steps())
        right = adjoint.violation()
        if not right <= BOUND:
            sys.stderr.write(f"{title}: the identity is violated by {right:.1e} without an error\n")
            missed += 1
        found = {(p, k): adjoint.violation_without(p, k, nothing) for p, k in adjoint.rows}
        own = list({id(p): p for p, _ in found}.values())
        again = {id(p) for p in own if repeats(p, own)}
        idle = sum(id(p) in again and not size > SEEN for (p, _), size in found.items())
        unseen = [name_of(p.passes[k]) for (p, k), size in found.items() if not size > SEEN and id(p) not in again]
        names |= {name_of(p.passes[k]) for p, k in found}
        missed += len(unseen)
        least = min(size for size in found.values() if size > SEEN)
        counts = [str(n) for n in (len(found), len(found) - idle - len(unseen), idle)]
        rows.append([title, f"{right:.0e}", *counts, f"{least:.0e}", f"`{situation.test}`"])
        sys.stderr.write(f"{title}: {len(found)} errors, unseen: {', '.join(unseen) or 'none'}\n")
    text = f"""
## Errors planted in adjoints

`python -m validation.planted`, {time.perf_counter() - began:.0f} s. For each kind of step, every pass that only the
adjoint of the step runs is left out once, as a planted error; there are {len(names)} different passes in all. Each time
the identity ⟨w, J v⟩ = ⟨Jᵀ w, v⟩ is checked for two steps, where J is the Jacobian of the steps, and v and w are random
vectors. The last column names the test in `tests/identities` that checks this identity for such steps. The violation of
the identity is given relative to the sum of the magnitudes of all products. An error counts as seen if it violates the
identity. Some programs repeat the passes of another program within an iteration. The iteration reads only the
derivatives with respect to speeds, and not those with respect to positions. If a pass of such a program computes only
derivatives that are not read, leaving it out has no effect, and it is counted as idle.

{table(["steps", "violation without an error", "errors", "seen", "idle", "smallest violation", "test"], rows)}
"""
    if options.only:
        sys.stdout.write(text)
    else:
        write_section("planted", text)
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
