"""SciPy's stiff solvers on the compiled derivative, as a reference for other integrators."""

import math

import numba
import numpy as np

from articulon.dynamics.loops.constrained_articulated import OPEN
from articulon.integrate.base import Driver, open_loop
from articulon.integrate.integrators import LEAST
from articulon.integrate.problem import Problem
from articulon.integrate.status import DIVERGED, REACHED, STOPPED, stopped
from articulon.integrate.variables import blocks
from articulon.kernels import prepare
from articulon.model import State, kernel_tables
from articulon.model.state import EVALUATIONS, STEPS
from articulon.scaling.base import INPUTS
from articulon.thermostats.base import variables_of

SOLVERS = {"scipy-bdf": "BDF", "scipy-radau": "Radau"}
"""Names of SciPy's classes by the name of the rule."""
MOST_STEPS = 1e12
"""Most steps of the present length up to the end time: they would take decades at a millisecond each."""


_LARGEST = "the acceleration is largest"


class _UsersError(Exception):
    """A user's function has raised an exception; the record of the user's functions holds it."""


class SciPyDriver(Driver):
    """Driver of a solver of SciPy, which is restarted at every end time.

    ``advance`` continues to that time regardless of the number of steps allowed: the solver's memory is not part of a
    state, so that only a restart makes a resumed run give the same bits.
    """

    at_once = True

    def __init__(self, problem: Problem, state: State) -> None:
        super().__init__(problem, state)
        evaluator, integrator = problem.evaluator, problem.integrator
        from scipy import integrate  # its import takes as long as the rest of the preparation of a run

        self.solver, model = getattr(integrate, SOLVERS[integrator.rule]), evaluator.model
        variables = variables_of(evaluator.system.bath)
        self.blocks = blocks(kernel_tables(model).forest, model.nq, model.nu, bath=variables)
        self.asked_to_stop = lambda: False
        self.first_step = math.inf if integrator.first_step is None else float(integrator.first_step)
        absolute = [float(one) for _, _, one in integrator.tolerances()]
        atol = np.empty(model.nq + model.nu + 8 + variables)
        for start, end, kind in zip(self.blocks.start, self.blocks.end, self.blocks.kind, strict=True):
            atol[start:end] = absolute[kind]
        longest = float(integrator.max_step or math.inf)
        self.options = {"rtol": max(float(integrator.rtol), LEAST), "atol": atol, "max_step": longest}
        prepare(stopped, (numba.typeof(self.stop), numba.typeof(evaluator.ws)))

    def advance(self, state: State, until: float, steps: int) -> int:
        """See :class:`Driver`; advances to ``until`` in one call."""
        e, nq, nu = self.evaluator, state.q.size, state.u.size
        start = float(state.time[0])

        def derivative(time: float, y: np.ndarray) -> np.ndarray:
            dy = np.empty_like(y)
            line = np.ascontiguousarray(y)
            e.rates(state.factor, time, 0, line, dy)
            state.counters[EVALUATIONS] += 1
            if e.users.error is not None:
                raise _UsersError
            if self.asked_to_stop():  # an exception raised by a signal within compiled code is lost
                raise KeyboardInterrupt
            return dy

        first = min(self.first_step, until - start) if self.first_step < math.inf else None
        y = np.concatenate([state.q, state.u, state.work, state.bath])
        if state.counters[STEPS] == 0:
            # The factors of a policy that does not vary do not depend on the forces.
            self.policy.law(self.parameters, np.zeros(INPUTS), state.factor)
        self.failure, status = None, REACHED
        # Trial states of the Newton iterations may overflow; they are rejected.
        with np.errstate(all="ignore"):
            try:
                solver = self.solver(derivative, start, y, until, first_step=first, **self.options)
                while solver.status == "running" and status == REACHED:
                    reason = solver.step()
                    if solver.status == "failed":
                        self.failure = f"{type(solver).__name__} of SciPy failed ({reason}), and {_LARGEST}"
                        status = DIVERGED
                        break
                    y = solver.y
                    state.time[0], state.step[0] = solver.t, solver.h_abs
                    state.counters[STEPS] += 1
                    if state.counters[STEPS] % 256 == 0 and until - solver.t > MOST_STEPS * solver.h_abs:
                        self.failure = f"steps of {solver.h_abs:.3g} are too short to continue, and {_LARGEST}"
                        status = DIVERGED
                        break
                    derivative(solver.t, y)
                    if stopped(self.stop, e.ws):
                        status = STOPPED
            except _UsersError:
                status = DIVERGED  # the caller raises the user's exception
            except ValueError as error:  # raised by SciPy's linear algebra for a Jacobian that is not finite
                self.failure = f"{self.solver.__name__} of SciPy failed ({error}), and {_LARGEST}"
                status = DIVERGED
        for k in self.blocks.quaternion:
            y[k : k + 4] /= np.linalg.norm(y[k : k + 4])
        if e.system.loops.kind.size:
            e.close(float(state.time[0]), y)
            if status != DIVERGED and not e.solver.loops.left[0] <= OPEN:
                self.failure = open_loop(e)
                return DIVERGED
            np.maximum(state.rule.drift, e.solver.loops.drift, out=state.rule.drift)
        works = nq + nu + 8
        state.q[:], state.u[:], state.work[:], state.bath[:] = y[:nq], y[nq : nq + nu], y[nq + nu : works], y[works:]
        return status
