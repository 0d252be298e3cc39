"""The times that bound the steps of a case, and those in which what one observes happens.

Drag takes speeds in τ = m/β, springs and pair forces swing with ω, a collision lasts t_c, and thermal motion turns the
smallest body by an angle in √(I/kT). An explicit rule resolves the fastest of these; which of them an option leaves
out, and whether that may be seen, is what advice is about.
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
"""Slowest relaxation times of drag that a probe lasts for by default: motion from rest is then steady to e⁻⁸."""
LEAST_RELAXATIONS = 2.0
"""And at least: before, nothing tells a delay from the start."""
PERIODS = 64.0
"""Shortest vibrations that a probe lasts for by default."""
LEAST_PERIODS = 4.0
"""And at least."""
COLLISIONS = 4.0
"""Collisions that a probe of grains lasts for by default."""
TURNS = 24
"""Power iterations for the fastest vibration of a large model."""


@dataclass(frozen=True)
class CaseTimeScales:
    """The times of a case [time]; infinity for what it has not."""

    duration: float
    """Of the whole run."""
    fastest_drag: float = math.inf
    """The shortest relaxation time of a body against drag."""
    slowest_drag: float = math.inf
    """The relaxation time Σm/Σβ of the tree that relaxes slowest."""
    slowest: str = ""
    """A body of that tree."""
    vibration: float = math.inf
    """1/ω of the fastest vibration under forces of place."""
    damping: float = math.inf
    """The shortest time in which any damping takes a speed, that of trees as a whole."""
    contact: float = math.inf
    """A twentieth of a collision, or of a Rayleigh wave across a grain: the step that contacts allow."""
    contact_limit: float = math.inf
    """Step that contacts do not allow."""
    turning: float = math.inf
    """√(I/kT) of the body that thermal motion turns fastest."""
    end: float = math.inf
    """When what stops the run is expected to, by the way without inertia."""

    @property
    def horizon(self) -> float:
        """When the run is expected to end [time]."""
        return min(self.duration, self.end)

    @property
    def needed(self) -> float:
        """The shortest probe that tells anything [time]."""
        return self._of(LEAST_RELAXATIONS, LEAST_PERIODS, 1.0)

    @property
    def usual(self) -> float:
        """The probe where none is asked for [time]."""
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
        """What asks for the longest of the least probes, in words."""
        told = suited(units, "time", self.needed).text(self.needed, 3).replace("\u00a0", " ")
        found = {
            LEAST_RELAXATIONS * self.slowest_drag: (
                f"{told}, {LEAST_RELAXATIONS:g} relaxation times of '{self.slowest}', which relaxes slowest"
            ),
            LEAST_PERIODS * 2.0 * math.pi * self.vibration: f"{told}, {LEAST_PERIODS:g} of its shortest vibrations",
            20.0 * self.contact: f"{told}, one collision",
        }
        asked = [time for time in found if math.isfinite(time)]
        if not asked or max(asked) > self.duration:
            part = f"{self.needed / self.duration:.2g} of the run, since none of its time scales is known"
            return f"{told}, {'all of the run' if self.needed >= self.duration else part}"
        return found[max(asked)]

    @property
    def data(self) -> dict[str, float | None]:
        """The times by name; None for what the case has not."""
        names = ("duration", "end", "fastest_drag", "slowest_drag", "vibration", "damping", "contact", "turning")
        return {name: value if math.isfinite(value := getattr(self, name)) else None for name in names}

    def words(self, units: UnitSystem) -> list[tuple[str, str]]:
        """What the times are of, and the times with their units; those that the case has."""
        named = {
            "fastest relaxation of drag, m/β or I/β_ω": self.fastest_drag,
            "fastest damping of the joints together": self.damping,
            "fastest vibration, 1/ω": self.vibration,
            "a twentieth of a collision": self.contact,
            "thermal turning of the lightest body, √(I/kT)": self.turning,
            f"slowest relaxation of drag, Σm/Σβ of '{self.slowest}'": self.slowest_drag,
            "the run": self.duration,
            "its end, as it is expected": self.end,
        }
        shown = [(name, time) for name, time in named.items() if math.isfinite(time)]
        return [
            (name, suited(units, "time", time).text(time, 3).replace("\u00a0", " "))
            for name, time in sorted(shown, key=lambda one: one[1])
        ]


def scales_of(model: Model, duration: float) -> CaseTimeScales:
    """The time scales of a model at its initial state.

    Parameters
    ----------
    model
        The model, its initial state the one that the run begins from.
    duration
        Of the whole run [time].
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
    """1/ω of the fastest vibration, and the shortest time of a damping where that is known [time]."""
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
    # Gravity is no force on any joint, and is in none of these channels.
    omega = fastest_of_trees(evaluator, model.q0)
    return min([*times.values(), 1.0 / omega if omega > 0.0 else math.inf]), damping


def fastest_of_trees(evaluator: Evaluator, q: np.ndarray) -> float:
    """ω of the fastest vibration of jointed bodies about q [1/time]: the root of the largest eigenvalue of −∂u'/∂q, by
    power iteration with differences of accelerations; 0 where no force changes there."""
    model = evaluator.model
    nq, nu = model.nq, model.nu
    factor = np.ones(8)
    factor[[DAMPING, STOCHASTIC, THERMOSTAT, THERMOSTAT_RATE]] = 0.0
    y, dy = np.zeros(nq + nu + 8), np.zeros(nq + nu + 8)
    way, omega = np.random.default_rng(0).normal(size=nu), 0.0
    for _ in range(TURNS):
        way *= 1e-6 / np.abs(way).max()
        sides = []
        for sign in (1.0, -1.0):
            y[:nq], y[nq : nq + nu] = q, sign * way
            evaluator.rates(np.zeros(8), 0.0, 0, y, dy)
            y[:nq] += dy[:nq]
            y[nq : nq + nu] = 0.0
            evaluator.rates(factor, 0.0, 0, y, dy)
            sides.append(dy[nq : nq + nu].copy())
        change = 0.5 * (sides[0] - sides[1])
        size = float(np.linalg.norm(change))
        if not size > 0.0 or not math.isfinite(size):
            return 0.0
        omega = math.sqrt(size / float(np.linalg.norm(way)))
        way = change
    return omega
