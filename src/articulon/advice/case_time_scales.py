"""Time scales of a case: those that limit its steps, and those of the observed motion.

Drag damps speeds in a time τ = m/β. Springs and pair forces vibrate with a frequency ω. A collision lasts for a time
t_c. Thermal motion rotates the smallest body by about one radian in a time √(I/kT). The steps of an explicit integrator
must resolve the fastest of these processes. For each option for running the case, the advice decides which of these
processes its steps may leave unresolved.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from articulon.analysis.scales import fastest_frequency
from articulon.analysis.stiffness import MOST_SPEEDS, stiffest
from articulon.forces.brownian import brownian_of, fastest_relaxation, least_inertia
from articulon.forces.evaluation import Evaluator
from articulon.forces.sites.site_positions import only_particles
from articulon.forces.stokes_drag import StokesDrag
from articulon.model import Model
from articulon.model.state import DAMPING, STOCHASTIC, THERMOSTAT, THERMOSTAT_RATE
from articulon.report.readable_numbers import suited
from articulon.simulation.observers import slowest_tree
from articulon.time_scales.contact_step_limit import contact_scales
from articulon.units import UnitSystem

RELAXATIONS = 8.0
"""Default length of a probe, which is a short trial run, in units of the slowest relaxation time of drag. Motion that
starts from rest is then steady up to a
fraction e⁻⁸."""
LEAST_RELAXATIONS = 2.0
"""Minimum length of a probe, in slowest relaxation times. In a shorter probe, a delay of the motion by inertia cannot
be distinguished from the acceleration at the start."""
PERIODS = 64.0
"""Default length of a probe, in periods of the fastest vibration."""
LEAST_PERIODS = 4.0
"""Minimum length of a probe, in periods of the fastest vibration."""
COLLISIONS = 4.0
"""Default length of a probe of grains, in units of the duration of a collision."""
TURNS = 24
"""Number of power iterations for the fastest vibration of a large model."""


@dataclass(frozen=True)
class CaseTimeScales:
    """Time scales of a case [time]. A time scale that the case does not have is infinity."""

    duration: float
    """Duration of the whole run."""
    fastest_drag: float = math.inf
    """Shortest drag relaxation time of a body."""
    slowest_drag: float = math.inf
    """Relaxation time Σm/Σβ of the slowest tree."""
    slowest: str = ""
    """Name of a body of the slowest tree."""
    vibration: float = math.inf
    """Time 1/ω of the fastest vibration under position-dependent forces."""
    damping: float = math.inf
    """Shortest damping time of a speed, including the coupling within trees."""
    contact: float = math.inf
    """Allowed step for contacts: a twentieth of the duration of a collision or of the time in which a Rayleigh wave
    crosses a grain, whichever is shorter."""
    contact_limit: float = math.inf
    """Step above which contacts are unstable."""
    turning: float = math.inf
    """Time √(I/kT) of the body that thermal motion rotates fastest."""
    end: float = math.inf
    """Time at which the stop condition is expected to end the run, estimated from the motion without inertia."""

    @property
    def horizon(self) -> float:
        """Expected end of the run [time]."""
        return min(self.duration, self.end)

    @property
    def needed(self) -> float:
        """Shortest useful probe [time]."""
        return self._of(LEAST_RELAXATIONS, LEAST_PERIODS, 1.0)

    @property
    def usual(self) -> float:
        """Default length of the probe [time]."""
        return self._of(RELAXATIONS, PERIODS, COLLISIONS)

    def _of(self, relaxations: float, periods: float, collisions: float) -> float:
        wanted = [
            relaxations * self.slowest_drag,
            periods * 2.0 * math.pi * self.vibration,
            collisions * 20.0 * self.contact,
        ]
        known = [time for time in wanted if math.isfinite(time)]
        return min(self.duration, max(known, default=0.01 * relaxations * self.duration))

    def binding(self, units: UnitSystem) -> str:
        """Reason for the minimum probe length, in words."""
        needed = suited(units, "time", self.needed).text(self.needed, 3).replace("\u00a0", " ")
        found = {
            LEAST_RELAXATIONS * self.slowest_drag: (
                f"{needed}, {LEAST_RELAXATIONS:g} relaxation times of '{self.slowest}', the slowest"
            ),
            LEAST_PERIODS * 2.0 * math.pi * self.vibration: (
                f"{needed}, {LEAST_PERIODS:g} periods of its fastest vibration"
            ),
            20.0 * self.contact: f"{needed}, one collision",
        }
        asked = [time for time in found if math.isfinite(time)]
        if not asked or max(asked) > self.duration:
            part = f"{self.needed / self.duration:.2g} of the run, because none of its time scales is known"
            return f"{needed}, {'all of the run' if self.needed >= self.duration else part}"
        return found[max(asked)]

    @property
    def data(self) -> dict[str, float | None]:
        """Return the times by name; None for those that the case does not have."""
        names = ("duration", "end", "fastest_drag", "slowest_drag", "vibration", "damping", "contact", "turning")
        return {name: value if math.isfinite(value := getattr(self, name)) else None for name in names}

    def words(self, units: UnitSystem) -> list[tuple[str, str]]:
        """Return a description and a text with unit for each time that the case has."""
        named = {
            "fastest relaxation of drag, m/β or I/β_ω": self.fastest_drag,
            "fastest damping of coupled joints": self.damping,
            "fastest vibration, 1/ω": self.vibration,
            "a twentieth of a collision": self.contact,
            "thermal rotation of the lightest body, √(I/kT)": self.turning,
            f"slowest relaxation of drag, Σm/Σβ of '{self.slowest}'": self.slowest_drag,
            "the run": self.duration,
            "its expected end": self.end,
        }
        shown = [(name, time) for name, time in named.items() if math.isfinite(time)]
        return [
            (name, suited(units, "time", time).text(time, 3).replace("\u00a0", " "))
            for name, time in sorted(shown, key=lambda one: one[1])
        ]


def scales_of(model: Model, duration: float) -> CaseTimeScales:
    """Compute the time scales of a model at its initial state.

    Parameters
    ----------
    model
        Model, with the initial state of the run.
    duration
        Duration of the whole run [time].
    """
    evaluator = Evaluator(model)
    found: dict[str, Any] = {"duration": duration}
    if any(isinstance(force, StokesDrag) for force in model.forces):
        noise = brownian_of(model)
        if noise is None or noise.dissipation == "drag":
            found["fastest_drag"] = fastest_relaxation(model)
            tree, found["slowest_drag"] = slowest_tree(model, evaluator)
            found["slowest"] = model.names[int(model.head[int(model.forest.tree[tree])])]
    contacts = contact_scales(model)
    if contacts is not None:
        found["contact"], found["contact_limit"] = contacts.recommended, contacts.limit
    else:
        found["vibration"], damping = _vibration(model, evaluator)
        found["damping"] = min(damping, found.get("fastest_drag", math.inf)) if math.isfinite(damping) else math.inf
    noise = brownian_of(model)
    if noise is not None and float(noise.temperature) > 0.0:
        found["turning"] = math.sqrt(least_inertia(model) / (model.units.boltzmann * float(noise.temperature)))
    return CaseTimeScales(**found)


def _vibration(model: Model, evaluator: Evaluator) -> tuple[float, float]:
    """Time 1/ω of the fastest vibration, and the shortest damping time if known [time]."""
    if only_particles(model):
        omega = fastest_frequency(evaluator, model.q0)
        return (1.0 / omega if omega > 0.0 else math.inf), math.inf
    if model.loops.kind.size or not model.nu:
        return math.inf, math.inf
    if model.nu <= MOST_SPEEDS:
        times = dict(stiffest(model))
        damping = times.pop("damping", math.inf)
    else:
        times, damping = {}, math.inf
    # ``stiffest`` does not include gravity, so the fastest vibration under all forces is computed too.
    omega = fastest_of_trees(evaluator, model.q0)
    return min([*times.values(), 1.0 / omega if omega > 0.0 else math.inf]), damping


def fastest_of_trees(evaluator: Evaluator, q: np.ndarray) -> float:
    """Return the frequency ω of the fastest vibration of jointed bodies at the coordinates q [1/time].

    It is the square root of the largest eigenvalue of −∂u'/∂q, computed by power iteration with finite differences of
    accelerations. It is 0 if no force depends on the coordinates near q.
    """
    model = evaluator.model
    nq, nu = model.nq, model.nu
    factor = np.ones(8)
    factor[[DAMPING, STOCHASTIC, THERMOSTAT, THERMOSTAT_RATE]] = 0.0
    y, dy = np.zeros(nq + nu + 8), np.zeros(nq + nu + 8)
    direction, omega = np.random.default_rng(0).normal(size=nu), 0.0
    for _ in range(TURNS):
        direction *= 1e-6 / np.abs(direction).max()
        sides = []
        for sign in (1.0, -1.0):
            y[:nq], y[nq : nq + nu] = q, sign * direction
            evaluator.rates(np.zeros(8), 0.0, 0, y, dy)
            y[:nq] += dy[:nq]
            y[nq : nq + nu] = 0.0
            evaluator.rates(factor, 0.0, 0, y, dy)
            sides.append(dy[nq : nq + nu].copy())
        change = 0.5 * (sides[0] - sides[1])
        size = float(np.linalg.norm(change))
        if not size > 0.0 or not math.isfinite(size):
            return 0.0
        omega = math.sqrt(size / float(np.linalg.norm(direction)))
        direction = change
    return omega
