"""Transitions on revolute chains: time of a lock and a release as the chain grows, beside the dense way to the same."""

import math
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from rich.console import Console

from articulon.kernels import one_blas_thread
from articulon.model import Model
from articulon.transitions import Transition, choices, lock, release
from articulon.transitions.dense_relations import dense_relations
from articulon.transitions.relations import generalised_momentum
from benchmarks import adaptive
from benchmarks.chains import chain, our_model
from benchmarks.tables import console, show_machine, show_table, show_targets, target
from benchmarks.timing import interleaved, machine

SIZES = (16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384)
AXES = 8
"""How many axes are locked and released, spread evenly over the chain."""
DENSE_BODIES = 1024
DENSE_FITTED_FROM = 256
"""Below this length the dense way's calls, not its algebra, take the time."""
LIMIT_BODIES = 1024
SECONDS = 10.0

Say = Callable[[str], None]


def measure(sizes: Sequence[int] = SIZES, seconds: float = SECONDS, say: Say = lambda _: None) -> dict[str, Any]:
    """The figures, for each length: time of a lock, of a release to the nearest of the speeds that were kept, and of
    that release by the dense mass matrix [ms]; how far either misses the momentum, and how far their speeds lie apart;
    the exponents, the length from which on ours is the faster; the targets; and the machine."""
    names = ("lock_ms", "release_ms", "dense_ms", "momentum", "dense_momentum", "difference")
    figures: dict[str, Any] = {"machine": machine(), "n": list(sizes), "axes": AXES}
    figures |= {name: [None] * len(sizes) for name in names}
    calls: list[tuple[str, int, Callable[[], Any]]] = []
    for k, bodies in enumerate(sizes):
        say(f"a chain of {bodies:,} bodies")
        c = chain("revolute", bodies)
        model, axes = our_model(c), spread(bodies)
        locked = lock(model, c.q, c.u, axes)
        ours = partial(release, model, c.q, locked.speeds, axes, reservoir=locked.kept)
        calls += [("lock_ms", k, partial(lock, model, c.q, c.u, axes)), ("release_ms", k, ours)]
        released = ours().speeds
        figures["momentum"][k] = momentum_error(model, c.q, locked, released)
        if bodies <= DENSE_BODIES:
            dense = partial(dense_release, model, c.q, locked, axes)
            calls.append(("dense_ms", k, dense))
            speeds = dense()
            figures["dense_momentum"][k] = momentum_error(model, c.q, locked, speeds)
            figures["difference"][k] = float(np.abs(speeds - released).max() / np.abs(c.u).max())
    with one_blas_thread():
        best = interleaved([call for *_, call in calls], seconds, time.thread_time)
    for (name, k, _), taken in zip(calls, best, strict=True):
        figures[name][k] = round(1e3 * taken, 4)
    figures["exponents"] = {
        "lock": exponent(sizes, figures["lock_ms"]),
        "release": exponent(sizes, figures["release_ms"]),
        "dense": exponent(sizes, figures["dense_ms"], DENSE_FITTED_FROM),
        "dense_last": last_exponent(sizes, figures["dense_ms"]),
    }
    figures["crossover"] = crossover(sizes, figures["release_ms"], figures["dense_ms"])
    links = min(max(sizes), adaptive.LINKS)
    say(f"steps with joints locked: a chain of {links:,} bodies")
    figures["locked"] = adaptive.measure(links, seconds=min(seconds, 2.0))
    figures["targets"] = targets(figures)
    return figures


def spread(bodies: int) -> np.ndarray:
    """The axes that are locked (bodies,), bool."""
    axes = np.zeros(bodies, dtype=bool)
    axes[((np.arange(AXES) + 0.5) * bodies / AXES).astype(int)] = True
    return axes


def dense_release(model: Model, q: np.ndarray, locked: Transition, axes: np.ndarray) -> np.ndarray:
    """The speeds (nu,) of the same release, its relations by factorising the mass matrix."""
    r = dense_relations(model, q, axes, axes)
    surface = choices.ellipsoid(r.schur, np.zeros(len(r.schur)), locked.kept.energy)
    x = choices.nearest(r.metric, surface, locked.kept.speeds[axes])
    return locked.speeds + x @ r.columns


def momentum_error(model: Model, q: np.ndarray, locked: Transition, speeds: np.ndarray) -> float:
    """How much the momentum projected on the coarse model's motions has changed, relative to the momentum."""
    change = generalised_momentum(model, q, speeds - locked.speeds)[~locked.kept.axes]
    return float(np.linalg.norm(change) / np.linalg.norm(generalised_momentum(model, q, speeds)))


def last_exponent(sizes: Sequence[int], taken: Sequence[float | None]) -> float | None:
    """p from the two longest chains that were measured."""
    points = [(n, t) for n, t in zip(sizes, taken, strict=True) if t is not None]
    if len(points) < 2:
        return None
    (a, s), (b, t) = points[-2:]
    return round(math.log(t / s) / math.log(b / a), 3)


def exponent(sizes: Sequence[int], taken: Sequence[float | None], least: int = 0) -> float | None:
    """p of a time that grows as nᵖ, by least squares over the logarithms; None for fewer than three lengths."""
    points = [(n, t) for n, t in zip(sizes, taken, strict=True) if t is not None and n >= least]
    if len(points) < 3:
        return None
    x, y = np.log(np.array(points, dtype=np.float64)).T
    return round(float(np.polyfit(x, y, 1)[0]), 3)


def crossover(sizes: Sequence[int], ours: Sequence[float], dense: Sequence[float | None]) -> float | None:
    """The length from which on ours is the faster, between two lengths by a power of their ratio; the first length
    where it always is; None where it never is."""
    known = [(n, np.log(d / o)) for n, o, d in zip(sizes, ours, dense, strict=True) if d is not None]
    behind = [k for k, (_, gain) in enumerate(known) if gain < 0.0]
    if not known or (behind and behind[-1] == len(known) - 1):
        return None
    if not behind:
        return float(known[0][0])
    (a, low), (b, high) = known[behind[-1]], known[behind[-1] + 1]
    return round(float(a * (b / a) ** (-low / (high - low))), 1)


def targets(figures: dict[str, Any]) -> list[dict[str, Any]]:
    """What a transition should reach."""
    sizes, found, steps = figures["n"], figures["exponents"], figures["locked"]
    at = figures["release_ms"][sizes.index(LIMIT_BODIES)] if LIMIT_BODIES in sizes else None
    span = f"n = {sizes[0]:,} to {sizes[-1]:,}"
    return [
        target(f"release, {span}: exponent", found["release"], 1.15),
        target(f"lock, {span}: exponent", found["lock"], 1.15),
        target(f"release at n = {LIMIT_BODIES:,} [ms]", at, 1.5),
        target(f"release, {span}: change of the momentum, relative", max(figures["momentum"]), 1e-12),
        target(
            f"a step at n = {steps['links']:,} with {100 * steps['part']:.0f} % of the joints locked: times cheaper",
            steps["saved"],
            5.0,
            at_least=True,
        ),
        target(
            f"locking or releasing these joints at n = {steps['links']:,}: in steps with every joint free",
            steps["transition_steps"],
            10.0,
        ),
    ]


def show(figures: dict[str, Any], out: Console | None = None) -> None:
    """Prints the figures as tables."""
    out = console() if out is None else out
    names = ("n", "lock_ms", "release_ms", "momentum", "dense_ms", "dense_momentum", "difference")
    columns = ("n", "lock", "release", "momentum", "dense release", "momentum", "difference")
    title = f"Transitions of {figures['axes']} axes of a revolute chain"
    title += ": time [ms], change of the momentum, difference of speeds"
    show_table(out, title, columns, zip(*(figures[name] for name in names), strict=True))
    found = figures["exponents"]
    row = [found["lock"], found["release"], found["dense"], found["dense_last"], figures["crossover"]]
    title = f"Exponents of the times in n (dense: fitted from n = {DENSE_FITTED_FROM})"
    title += ", and the n of equal times of both releases"
    show_table(out, title, ("lock", "release", "dense release", "last two", "crossover"), [row])
    steps = figures["locked"]
    show_table(
        out,
        f"Steps of a chain of {steps['links']:,} bodies: ms with every joint free, with {100 * steps['part']:.0f} % "
        "of the joints locked, and for locking and releasing these joints",
        ("step", "locked", "lock", "release", "times cheaper"),
        [[steps[name] for name in ("step_ms", "locked_step_ms", "lock_ms", "release_ms", "saved")]],
    )
    show_targets(out, figures["targets"])
    show_machine(out, figures["machine"])
