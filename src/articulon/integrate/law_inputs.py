"""Inputs of scaling laws, their evaluation, and the recording of unscaled works."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from articulon.algebra.vectors import copy_into
from articulon.forces.filling import summing
from articulon.integrate.lag_tracking import Followed, follow, rescale
from articulon.kernels import jit
from articulon.passes import Program, run
from articulon.scaling.base import INPUTS, STEP, ScalingPolicy

if TYPE_CHECKING:
    from articulon.forces.evaluation import Evaluator


class LawInputs(NamedTuple):
    """Programs that compute the inputs of a scaling law, and the arrays through which they are called."""

    summing: np.ndarray
    """Program that sums the magnitudes of the forces; (0, 2) for a law that does not vary."""
    following: np.ndarray
    """Program that samples the lag of the motions; (0, 2) for a policy that does not track it."""
    rescaling: np.ndarray
    """Program that keeps the thermal momentum when the factor changes; (0, 2) if no momentum is kept."""
    sums: np.ndarray
    """Inputs of the law, shape (20,)."""
    time: np.ndarray
    """Time of the sample [time], shape (1,)."""
    looked: np.ndarray
    """1 if the latest call has taken a sample, shape (1,)."""
    factor: np.ndarray
    """Factors of the channels at a sample, and those that the law returns, shape (8,)."""
    memory: np.ndarray
    """The array ``State.memory``."""
    change: np.ndarray
    """Factor before and after, and the kinetic energy that the change adds, shape (3,)."""
    u: np.ndarray
    """Speeds whose thermal momentum is kept, shape (nu,)."""


def law_inputs(
    evaluator: "Evaluator", policy: ScalingPolicy, followed: Followed | None, memory: int
) -> tuple[LawInputs, list[Program]]:
    """The inputs of a policy's law, and the programs, which must be kept alive."""
    sums, factor, time, looked = np.zeros(INPUTS), np.ones(8), np.zeros(1), np.ones(1, dtype=np.int64)
    remembered, change, speeds = np.zeros(memory), np.zeros(3), np.zeros(evaluator.model.nu)
    programs = [Program(summing(evaluator, sums) if policy.varies else ()), Program(), Program()]
    if followed is not None:
        forest, forces, ws = evaluator.system.forest, evaluator.system.forces, evaluator.ws
        channels = evaluator.channels
        programs[1] = Program(
            [
                follow.bind(
                    forest,
                    forces.drag,
                    forces.gravity,
                    channels.wrench,
                    channels.joint,
                    forces.wrench_channels,
                    forces.joint_channels,
                    ws,
                    time,
                    factor,
                    remembered,
                    followed,
                    sums,
                    looked,
                )
            ]
        )
        if followed.slowest[1] > 0.0:
            programs[2] = Program([rescale.bind(forest, change, remembered, speeds, ws)])
    summed, followed_by, kept = (program.code for program in programs)
    return LawInputs(summed, followed_by, kept, sums, time, looked, factor, remembered, change, speeds), programs


@jit
def ask(law, parameters, inputs, time, step, factor):
    """Evaluate the law at a time, before a step, and leave its factors in ``inputs.factor``; return whether they differ
    from the present ones (8,). A law that reads the lag of the motions is evaluated only after a sample of the lag."""
    copy_into(inputs.factor, factor)
    if inputs.following.shape[0] > 0:
        inputs.time[0] = time
        run(inputs.following)
        if inputs.looked[0] == 0:
            return False
    run(inputs.summing)
    inputs.sums[STEP] = step
    law(parameters, inputs.sums, inputs.factor)
    changed = False
    for c in range(8):
        changed = changed or inputs.factor[c] != factor[c]
    return changed


@jit
def keep_thermal_momentum(inputs, before, after, u):
    """Change speeds u with the factor, if noise acts on tracked motions, at links whose poses are known; return the
    kinetic energy that this adds."""
    if inputs.rescaling.shape[0] == 0:
        return 0.0
    inputs.change[0], inputs.change[1] = before, after
    copy_into(inputs.u, u)
    run(inputs.rescaling)
    copy_into(u, inputs.u)
    return inputs.change[2]


@jit
def book_unscaled_works(state, before, after):
    """Record the works of a step, in which the factors are constant, without the factors."""
    for c in range(8):
        if state.factor[c] != 0.0:
            state.unscaled_work[c] += (after[c] - before[c]) / state.factor[c]
