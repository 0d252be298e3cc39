"""Whether a chain that locks what is quiet has the shapes of the chain with every joint free, and what it costs less.

    python -m validation.adaptive_chain

takes some twenty-five minutes on one thread and rewrites its section of docs/validation.md. What a start has shown is
kept in adaptive_chain.json beside this file, so that it can be broken off and gone on with; remove it to measure
everything anew.

Every sample is a run of its own from a start of its own: the joints' rotations are drawn from the distribution that
springs give them, what is locked from that in which locking and releasing balance, the speeds from thermal motion.
"""

from __future__ import annotations

import json
import math
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats
from validation.page import table, write_section

import articulon as ar
from articulon.cases.link_chain import rotations
from articulon.kernels import one_blas_thread
from articulon.model.rotations import matrices, quaternion_product
from articulon.simulate.preparation import first_state, prepare

KEPT = Path(__file__).with_suffix(".json")
SAMPLES = 1000
"""Of each arm."""
ARMS = {"adaptive": 48.0, "all-active": 12.0}
"""And how long a run of it is: a time in which joints have been locked and released, and at the same cost."""
BLOCK = 10
"""Links between the points that are kept of a chain."""
LOCKED = stats.chi2(3).cdf(2 * 1.5) / (stats.chi2(3).cdf(2 * 1.5) + 0.068)
"""Part of the joints that is locked where locks and releases balance: a lock is made where χ²₃ lies below 2·3/2, a
release by chance."""


def shape(model: Any, q: np.ndarray) -> dict[str, Any]:
    """Every tenth end of a link, its orientation, and the mean square of the joints' angles."""
    position, rotation = ar.body_poses(model, q)
    tip = position[-1] - matrices(rotation[-1:])[0][:, 2]
    ends = np.concatenate([position, tip[None]])[::BLOCK]
    frames = np.concatenate([rotation, rotation[-1:]])[::BLOCK]
    angle = 2.0 * np.arccos(np.clip(np.abs(q.reshape(-1, 4)[:, 0]), 0.0, 1.0))
    return {
        "ends": np.round(ends, 5).tolist(),
        "frames": np.round(frames, 6).tolist(),
        "angle": round(float(np.mean(angle**2)), 6),
    }


def sampled(arm: str, number: int) -> dict[str, Any]:
    """A run of an arm: shapes where it begins and where it ends, and what it has cost."""
    adaptive, duration = arm == "adaptive", ARMS[arm]
    # No start and no noise are shared by the arms.
    seed = 2 * number + (not adaptive)
    case = ar.load_case(
        "adaptive-chain", {"adaptive.on": adaptive, "run.seed": seed, "model.disorder_seed": seed, "checks": []}
    )
    prepared = prepare(case)
    driver, state = prepared.driver, first_state(prepared)
    if adaptive:
        driver.lock_now(state, np.random.default_rng([seed, 1]).random(prepared.model.forest.parent.size) < LOCKED)
    begin = shape(prepared.model, state.q)
    wall, spent = time.perf_counter(), time.thread_time()
    if driver.advance(state, duration, 2**40):
        raise FloatingPointError(f"{arm}, seed {seed}: {driver.failure}")
    wall, spent = time.perf_counter() - wall, time.thread_time() - spent
    active = driver.active_part(state) if adaptive else 1.0
    changes = driver.changes(state) if adaptive else (0, 0)
    return {
        "begin": begin,
        "end": shape(prepared.model, state.q),
        "wall": round(wall / duration, 7),
        "processor": round(spent / duration, 7),
        "active": round(active, 6),
        "changes": changes,
    }


def measured(until: float = math.inf) -> dict[str, list[dict[str, Any]]]:
    """All samples, those that are kept and those that are missing, as far as the time until a moment allows."""
    kept = json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else {arm: [] for arm in ARMS}
    with one_blas_thread():
        for number in range(SAMPLES):
            for arm in ARMS:
                if len(kept[arm]) <= number and time.time() < until:
                    kept[arm].append(sampled(arm, number))
            if number % 50 == 49:
                KEPT.write_text(json.dumps(kept), encoding="utf-8")
                sys.stderr.write(f"{number + 1} of {SAMPLES}\n")
    KEPT.write_text(json.dumps(kept), encoding="utf-8")
    return kept
