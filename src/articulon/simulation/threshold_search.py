"""Search for the threshold α of the published adaptive scaling law, by a short unscaled run.

Guy (2018, 5.2) identifies α "with respect to the magnitudes of the other forces as measured in short-time unscaled
cases" and gives no details. Here, the case is run unscaled from its initial state, with its own integrator, noise and
seed. The run lasts 200 of the fastest relaxation times m/β, or 200 steps of the friction-implicit integrator. At the
ends of 50 equal intervals, Σ|F| over the bodies is sampled for each channel, and then averaged. The largest of these
means, without the channel of the potential, divided by the core's drag coefficient, is α.
"""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from articulon.errors import CaseError
from articulon.forces.brownian import brownian_of, fastest_relaxation
from articulon.forces.evaluation import Evaluator
from articulon.integrate import FIXED
from articulon.integrate.choice import driver
from articulon.integrate.problem import Problem
from articulon.integrate.status import DIVERGED
from articulon.model import CHANNELS, Model
from articulon.model.state import POTENTIAL
from articulon.simulation.observers import evaluate, users_errors
from articulon.time_scales.contact_step_limit import with_unit
from articulon.time_scales.noise_windows import Timed
from articulon.units import UnitSystem

RELAXATIONS = 200
"""Length of the run in relaxation times or steps."""
SAMPLES = 50
"""Number of force samples."""


@dataclass(frozen=True)
class Threshold:
    """A threshold and how it was found."""

    value: float
    """α [length/time]."""
    channel: str
    """Channel with the largest mean Σ|F|, apart from the potential."""
    mean_force: float
    """Mean Σ|F| of this channel [force]."""
    duration: float
    """Simulated time of the unscaled run [time]."""

    def record(self) -> dict[str, Any]:
        """Return the entry for the summary."""
        return {
            **asdict(self),
            "how": f"largest mean of Σ|F| except the potential over {SAMPLES} samples of a short unscaled run, "
            "divided by the core's drag coefficient",
        }

    def note(self, units: UnitSystem) -> str:
        """Return a note for the user."""
        value, duration = (
            with_unit(number, "" if units.time is None else symbol, 6)
            for number, symbol in ((self.value, units.label("velocity")), (self.duration, units.symbols[2]))
        )
        return (
            f"scaling.threshold: {value}, found by an unscaled run of {duration}, in which the channel "
            f"'{self.channel}' was the largest except the potential"
        )

    def row(self) -> np.ndarray:
        """Return the row for a checkpoint."""
        return np.array([self.value, CHANNELS.index(self.channel), self.mean_force, self.duration])

    @staticmethod
    def of_row(row: np.ndarray) -> "Threshold | None":
        """Read the threshold from a row of a checkpoint; None if the row is empty."""
        if not row.size:
            return None
        value, channel, force, duration = row.tolist()
        return Threshold(value, CHANNELS[int(channel)], force, duration)


def find_threshold(
    case: Timed, model: Model, damping: float, start: tuple[np.ndarray, np.ndarray] | None = None
) -> Threshold:
    """Run a case unscaled for a short time, and find the threshold from its forces.

    ``damping`` is the drag coefficient β of the core [mass/time]. The run starts at the coordinates and speeds
    ``start``, by default the initial state of the model.

    Raises
    ------
    CaseError
        If the unscaled run diverges, or if the potential is the only channel with forces.
    """
    integrator, relaxation, average = case.integrator, fastest_relaxation(model), 1
    brownian = brownian_of(model)
    if brownian is not None:
        average = brownian.average
    if isinstance(integrator, FIXED):
        held = float(integrator.step)
        duration = RELAXATIONS * held
    else:
        duration = RELAXATIONS * relaxation
        held = duration / (4 * RELAXATIONS)
    evaluator = Evaluator(model, case.run.seed, held / average, average)
    advance = driver(Problem(evaluator, integrator), model.initial_state())
    state = evaluator.initial_state(advance.history, memory=advance.memory)
    if start is not None:
        evaluator.start(state, *start)
    total = np.zeros(8)
    for sample in range(1, SAMPLES + 1):
        with users_errors(evaluator, state):
            ended = advance.advance(state, duration * sample / SAMPLES, 2**62)
        if ended == DIVERGED:
            raise CaseError(
                f"{case.source}: the short unscaled run that finds scaling.threshold diverged at t = "
                f"{state.time[0]:.9g} {case.units.symbols[2]}; check the integrator's step or tolerances and the sites "
                "at the start, or give scaling.threshold"
            )
        evaluate(evaluator, state)
        total += evaluator.kinetic_and_force_sums()[1]
    mean = total / SAMPLES
    mean[POTENTIAL] = -1.0
    channel = int(np.argmax(mean))
    if mean[channel] <= 0.0:
        raise CaseError(
            f"{case.source}: scaling.threshold: only the potential acts, so no threshold can be found; give one"
        )
    return Threshold(float(mean[channel] / damping), CHANNELS[channel], float(mean[channel]), float(duration))
