"""Problems that verdicts are tested on: known ones, right and wrong, and random ones by their seed.

All last one unit of time, in reduced units. τ is the relaxation time of the heaviest body, and τ/a2 between a
two-thousandth and a tenth of the run, so that errors lie on both sides of a tolerance of 2 %.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

import articulon as ar
from articulon import scaling
from validation.force_laws import laws, row

Vector = tuple[float, float, float]
X: Vector = (1.0, 0.0, 0.0)
Y: Vector = (0.0, 1.0, 0.0)


@dataclass(frozen=True)
class Problem:
    """A model, how it is scaled, and how it is integrated."""

    name: str
    """What it is, with its seed."""
    kind: str
    """What the table groups by."""
    build: Callable[[float | None], Any]
    """The model, with windows of noise of a given length [time] or of its own."""
    policy: Any
    """How it is scaled."""
    noise: bool = False
    """Whether Brownian forces act."""
    frames: int = 200
    """Frames of the scaled run."""


class _Draft:
    """A model under construction."""

    def __init__(self) -> None:
        self.builder = ar.ModelBuilder(units="lj")
        self.rows: list[tuple[float, ...]] = []
        self.translational: dict[str, float] = {}
        self.rotational: dict[str, float] = {}
        self.springs: dict[str, float] = {}

    def body(self, name: str, tau: float, beta: float = 1.0, turning: float | None = None, **options: Any) -> Any:
        """A ball with the relaxation time τ = m/β; ``turning`` is its rotational drag, and its inertia relaxes as fast
        or by ``spin`` times as slowly."""
        spin, scale = options.pop("spin", 1.0), options.pop("scale", 1.0)
        self.translational[name], self.rotational[name] = beta, 0.0 if turning is None else turning
        if turning is not None:
            options["inertia"] = tau * spin * turning * scale
        return self.builder.add_body(name, mass=tau * beta, **options)

    def model(self, kT: float = 0.0, window: float | None = None) -> Any:
        """The model with its forces."""
        b = self.builder
        b.add_force(ar.forces.StokesDrag(translational=self.translational, rotational=self.rotational))
        if self.springs:
            b.add_force(ar.forces.TorsionalSprings(stiffness=self.springs))
        if self.rows:
            flat = tuple(number for one in self.rows for number in one)
            b.add_force(ar.forces.UserForce(function=laws, parameters=flat, channel="potential"))
        if kT > 0.0:
            b.add_force(ar.forces.Brownian(temperature=kT, **({} if window is None else {"window": window})))
        return b.build()


# Random problems


def unit(draw: np.random.Generator) -> Vector:
    """A direction."""
    v = draw.normal(size=3)
    x, y, z = (v / np.linalg.norm(v)).tolist()
    return x, y, z


def across(n: Vector, draw: np.random.Generator) -> Vector:
    """A direction across another one."""
    v = np.cross(n, unit(draw))
    x, y, z = (v / np.linalg.norm(v)).tolist()
    return x, y, z


def some_force(draw: np.random.Generator, body: int, beta: float, speed: float, n: Vector, m: Vector) -> list[Any]:
    """A law whose force is about β times a speed, over lengths of what that speed covers in the run."""
    u, force = draw.uniform, beta * speed
    turn = 2.0 * math.pi
    choices: list[Callable[[], list[Any]]] = [
        lambda: [row(body, "steady", force, n=n)],
        lambda: [row(body, "power", force * u(0.2, 0.6), float(draw.integers(1, 4)), speed * u(0.4, 0.9), 0.1, n)],
        lambda: [row(body, "exponential", force * u(0.1, 0.5), 0.0, speed * u(0.15, 0.5), 3.0, n)],
        lambda: [
            row(body, "onset", force * u(0.2, 1), force * u(1, 8), speed * u(0.1, 0.5), speed * 10 ** u(-2.5, -0.7), n)
        ],
        lambda: [row(body, "switch", force * u(0.2, 1), force * u(-1, 3), u(0.2, 0.8), 10 ** u(-2.5, -0.7), n)],
        lambda: [row(body, "swing", force * u(0, 1), force * u(0.5, 2), turn * u(0.5, 8), u(0, turn), n)],
        lambda: [row(body, "washboard", force, force * u(0.2, 1.4), turn / speed * u(1, 6), u(0, turn), n)],
        lambda: [row(body, "rotating", 0.0, force, turn * u(0.5, 5), u(0, turn), n, m)],
        lambda: [row(body, "well", force / speed * 10 ** u(0, 1.3), 0.0, speed * u(0.2, 1), 1.0, n)],
        lambda: [
            row(body, "steady", force * u(0.05, 0.3), n=n),
            row(body, "double-well", force / speed * u(2, 8), 0.0, speed * u(0.2, 1), 1.0, n),
        ],
        lambda: [row(body, "trap", force, force * u(0.3, 3), speed * u(0.2, 0.6), speed * u(0.02, 0.2), n)],
    ]
    return choices[int(draw.integers(len(choices)))]()


def some_torque(draw: np.random.Generator, body: int, drag: float, rate: float) -> list[Any]:
    """A law whose torque is about the drag times an angular velocity."""
    u, torque, turn = draw.uniform, drag * rate, 2.0 * math.pi
    choices: list[Callable[[], list[Any]]] = [
        lambda: [row(body, "dipole", torque * u(1, 6), n=unit(draw))],
        lambda: [row(body, "torque", torque)],
        lambda: [row(body, "torque-grows", torque * u(0.2, 0.5), 0.0, u(0.4, 1.5), 3.0)],
        lambda: [row(body, "torque-swings", torque * u(0, 1), torque * u(0.5, 2), turn * u(0.5, 5), u(0, turn))],
    ]
    return choices[int(draw.integers(len(choices)))]()


def _ball(d: _Draft, draw: np.random.Generator, tau: float) -> None:
    n = unit(draw)
    m, speed = across(n, draw), 10.0 ** draw.uniform(-0.5, 0.5)
    d.body("ball", tau, joint=ar.Xyz())
    d.rows += some_force(draw, 0, 1.0, speed, n, m)
    if draw.uniform() < 0.4:
        d.rows += some_force(draw, 0, 1.0, speed * draw.uniform(0.1, 1.0), m, n)


def _rotor(d: _Draft, draw: np.random.Generator, tau: float) -> None:
    n, speed = unit(draw), 10.0 ** draw.uniform(-0.5, 0.5)
    d.body("ball", tau * draw.uniform(0.3, 1.0), turning=1.0, spin=10.0 ** draw.uniform(-1.0, 0.7), joint=ar.Free())
    steady = draw.uniform() < 0.5
    d.rows += [row(0, "steady", speed, n=n)] if steady else some_force(draw, 0, 1.0, speed, n, across(n, draw))
    d.rows += some_torque(draw, 0, 1.0, 10.0 ** draw.uniform(-0.3, 0.7))


def _hinge(d: _Draft, draw: np.random.Generator, tau: float) -> None:
    d.body("arm", tau, 1e-6, turning=1.0, scale=1.0, joint=ar.Revolute(axis=(0, 0, 1)))
    d.rows += some_torque(draw, 0, 1.0, 10.0 ** draw.uniform(-0.3, 0.7))


def _core_and_arm(d: _Draft, draw: np.random.Generator, tau: float) -> None:
    u, n = draw.uniform, unit(draw)
    core = d.body("core", tau, turning=u(0.3, 1.0), spin=u(0.3, 1.0), joint=ar.Free())
    joint = ar.Revolute(axis=(0, 0, 1)) if u() < 0.5 else ar.Spherical()
    length, beta = u(0.2, 0.6), 10.0 ** u(-1.5, 0.0)
    turning = 0.4 * beta * length**2
    d.body("arm", tau * 10.0 ** u(-0.5, 0.0), beta, turning, parent=core, com=(length, 0, 0), joint=joint, position=X)
    if u() < 0.7:
        d.springs["arm"] = 10.0 ** u(-1.0, 1.0) * beta * length**2
    d.rows += some_force(draw, 0, 1.0, 10.0 ** u(-0.5, 0.5), n, across(n, draw))
    d.rows += some_torque(draw, 1, beta * length**2, 10.0 ** u(-0.3, 0.7))


def _trees(d: _Draft, draw: np.random.Generator, tau: float) -> None:
    speed = 10.0 ** draw.uniform(-0.5, 0.5)
    for k in range(int(draw.integers(2, 4))):
        angle, beta = draw.uniform(0.0, 2.0 * math.pi), 10.0 ** draw.uniform(-1.0, 1.0)
        n, m = (math.cos(angle), math.sin(angle), 0.0), (-math.sin(angle), math.cos(angle), 0.0)
        lighter = 1.0 if k == 0 else 10.0 ** draw.uniform(-1.0, 0.0)
        d.body(f"ball-{k}", tau * lighter, beta, joint=ar.Xyz(), position=(0.0, 0.0, 100.0 * k))
        steady = k == 0 and draw.uniform() < 0.5
        d.rows += [row(k, "steady", beta * speed, n=n)] if steady else some_force(draw, k, beta, speed, n, m)


def _chain(d: _Draft, draw: np.random.Generator, tau: float) -> None:
    parent, links, n = None, int(draw.integers(3, 6)), unit(draw)
    for k in range(links):
        hinge = draw.uniform() >= 0.6
        joint = ar.Free() if k == 0 else ar.Revolute(axis=(0, 0, 1)) if hinge else ar.Spherical()
        beta = 1.0 if k == 0 else 10.0 ** draw.uniform(-1.5, 0.0)
        place = (0.0, 0.0, 0.0) if k == 0 else (0.3, 0.0, 0.0)
        parent = d.body(
            f"link-{k}", tau, beta, 0.02 * beta, parent=parent, com=(0.1, 0, 0), joint=joint, position=place
        )
        if k:
            d.springs[f"link-{k}"] = 0.05 * 10.0 ** draw.uniform(-1.5, 0.5)
    d.rows += some_force(draw, links - 1, 1.0, 10.0 ** draw.uniform(-0.5, 0.5), n, across(n, draw))
    if draw.uniform() < 0.5:
        d.rows.append(row(0, "steady", 1.0, n=across(n, draw)))


def _pair(d: _Draft, draw: np.random.Generator, tau: float) -> None:
    u = draw.uniform
    speed = 10.0 ** u(-0.5, 0.5)
    distance = u(1.0, 2.0) * speed
    for k, (name, mass, beta) in enumerate((("a", tau, 1.0), ("b", tau * u(0.1, 1.0), u(0.3, 1.0)))):
        body = d.body(name, mass / beta, beta, joint=ar.Xyz(), position=(distance * k, 0.0, 0.0))
        d.builder.add_site(body, kind=name, group=name)
    attraction = speed * distance**2 * u(0.3, 1.5)
    law = ar.forces.PairLaw(kinds=("a", "b"), A=attraction / 12.0 * (0.15 * distance) ** 11, C=-attraction)
    d.builder.add_force(ar.forces.SitePairs(table=(law,), between=(("a", "b"),)))
    d.rows.append(row(0, "steady", speed * u(0.0, 0.5), n=unit(draw)))


def _walls(d: _Draft, draw: np.random.Generator, tau: float) -> None:
    """A ball that is driven against the faces of its box."""
    u = draw.uniform
    body = d.body("ball", tau, joint=ar.Xyz())
    d.builder.add_site(body, kind="ball")
    n = (0.0, 0.0, 1.0)
    wall = row(0, "exponential", -(10.0 ** u(-6, -3)), 0.0, u(0.02, 0.08), 40.0, n)
    d.rows += [row(0, "steady", u(0.6, 2.0), n=n), wall]
    d.rows.append(row(0, "swing", 0.0, u(0.5, 2.0), 2.0 * math.pi * u(0.5, 3.0), u(0.0, 6.28), X))


MODELS: dict[str, Callable[[_Draft, np.random.Generator, float], None]] = {
    "ball": _ball,
    "rotor": _rotor,
    "hinge": _hinge,
    "core and arm": _core_and_arm,
    "trees": _trees,
    "chain": _chain,
    "pair": _pair,
    "wall": _walls,
}
NOISY = ("ball", "rotor", "trees", "core and arm")
"""Models that are drawn under noise too."""


OTHERS = ("two-factor", "threshold", "smooth", "error-controlled")
"""Policies besides a constant factor."""


def random_problem(seed: int) -> Problem:
    """A problem by its seed: every second one with a constant factor, the others with any policy, every fifth under
    noise."""
    draw = np.random.default_rng(seed)
    noise = seed % 5 == 4
    kind = NOISY[(seed // 5) % len(NOISY)] if noise else tuple(MODELS)[seed % len(MODELS)]
    tau = 10.0 ** draw.uniform(-4.0, -1.3)
    late = 10.0 ** draw.uniform(-3.3, -1.5 if noise else -1.0)
    a2 = min(0.9, tau / late)
    if noise:
        a2 = max(a2, 0.01)
        tau = a2 * late
    kT = 10.0 ** draw.uniform(-2.5, -0.5) if noise else 0.0
    name = "constant" if draw.uniform() < 0.5 else str(draw.choice(OTHERS))
    policy = {
        "constant": lambda: scaling.Constant(a2=a2),
        "two-factor": lambda: scaling.TwoFactor(a2=a2, b2=float(draw.choice([1.0, 0.99, 0.7]))),
        "threshold": lambda: scaling.ThresholdAdaptive(a2=a2, threshold=10.0 ** draw.uniform(-2.0, 1.0)),
        "smooth": lambda: scaling.SmoothAdaptive(a2=a2, threshold=10.0 ** draw.uniform(-2.0, 1.0)),
        "error-controlled": lambda: scaling.ErrorControlled(tolerance=0.02),
    }[name]()

    def build(window: float | None) -> Any:
        draft = _Draft()
        MODELS[kind](draft, np.random.default_rng([seed, 1]), tau)
        return draft.model(kT, window)

    return Problem(f"{kind} {seed}", f"{kind}{' with noise' if noise else ''}, {name}", build, policy, noise)


def random_problems(seed: int, count: int) -> Iterator[Problem]:
    """As many problems, from a seed on."""
    return (random_problem(seed + k) for k in range(count))
