"""Steps of explicit Runge–Kutta schemes for a batch of states, as Warp kernels.

All time information of a step lies on the device: the length of each step of a plan, its noise window, and the numbers
of steps taken, ``at[0]`` in the plan and ``at[1]`` in total. So the launches of all steps are equal, and a graph can
hold them.
"""

from typing import Any

from articulon.gpu.devices import load_warp
from articulon.gpu.tree_algebra import load4, normalised, store4
from articulon.gpu.tree_kernels import kernel

wp = load_warp()


@kernel
def begin_step(windows: Any, at: Any, clock: Any):
    """Set the noise window of the step, in a single thread."""
    clock[0] = windows[at[0]]


@kernel
def end_step(at: Any):
    """Count the step, in a single thread."""
    at[0] = at[0] + wp.int64(1)
    at[1] = at[1] + wp.int64(1)


@kernel
def take_stage(
    y: Any,
    stages: Any,
    weights: Any,
    i: int,
    lengths: Any,
    at: Any,
    trial: Any,
):
    """Compute y + h Σ a_ij k_j over the stages before the i-th, with a thread for each variable and state."""
    v, s = wp.tid()
    h = y.dtype(lengths[at[0]])
    total = y[v, s]
    for j in range(i):
        w = h * weights[i, j]
        if w != y.dtype(0.0):
            total = total + w * stages[j, v, s]
    trial[v, s] = total


@kernel
def finish_step(
    y: Any,
    stages: Any,
    weights: Any,
    quaternions: Any,
    lengths: Any,
    at: Any,
    failed: Any,
):
    """Compute y + h Σ b_j k_j, normalise Euler parameters, and record the first step after which a state is not finite;
    a thread for each state."""
    s = wp.tid()
    h = y.dtype(lengths[at[0]])
    finite = wp.isfinite(h)
    for v in range(y.shape[0]):
        total = y[v, s]
        for j in range(weights.shape[0]):
            w = h * weights[j]
            if w != y.dtype(0.0):
                total = total + w * stages[j, v, s]
        y[v, s] = total
        finite = finite and wp.isfinite(total)
    for k in range(quaternions.shape[0]):
        store4(y, quaternions[k], s, normalised(load4(y, quaternions[k], s)))
    if not finite and failed[s] == wp.int64(0):
        failed[s] = at[1] + wp.int64(1)
