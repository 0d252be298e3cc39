"""Declaration of impacts: restitution and friction of spheres that hit each other and walls instantaneously."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal, NamedTuple, Self

import numpy as np
from pydantic import Field, model_validator

from articulon.declaration import Declaration, Dimension, Quantity, Whole, nearest
from articulon.errors import ModelError
from articulon.forces.contact.walls import AnyWall, parts_of
from articulon.model import Model

_Restitution = Annotated[Quantity, Dimension("dimensionless", minimum=0)]
_Friction = Annotated[Quantity, Dimension("dimensionless", minimum=0)]

MOVES = ("velocity", "angular_velocity", "amplitude")
"""Keys of a wall that set it in motion."""


class ImpactPair(Declaration):
    """Properties of a pair of kinds."""

    kinds: tuple[str, str]
    """The two kinds: kinds of sites, or a kind that a wall names."""
    restitution: _Restitution | None = None
    """Coefficient of restitution e, in [0, 1]; the general one by default."""
    friction: _Friction | None = None
    """Coefficient of Coulomb friction μ; the general one by default."""

    @model_validator(mode="after")
    def _something(self) -> Self:
        if self.restitution is None and self.friction is None:
            raise ValueError("give restitution or friction, or both")
        within_one(self.restitution)
        return self


class PairTable(NamedTuple):
    """Restitution and friction by pair of kinds."""

    names: tuple[str, ...]
    """The kinds: those of the spheres, then those that only walls have."""
    restitution: np.ndarray
    """Coefficient of restitution e of each ordered pair, shape (kinds, kinds)."""
    friction: np.ndarray
    """Coefficient of friction μ of each ordered pair, shape (kinds, kinds)."""


class Impacts(Declaration):
    """Impacts of spheres with each other and with walls: instantaneous events.

    Spheres are the sites with a radius. When two spheres, or a sphere and a wall, come into contact, an impulse changes
    the speeds of the whole system at once. It acts along the normal n and, with friction, across it: u⁺ = u⁻ + M⁻¹ Jᵀ
    Λ. J is the Jacobian of the contact, and trees and loops respond as one system (W. J. Stronge, Impact Mechanics,
    2000; F. Pfeiffer and C. Glocker, Multibody Dynamics with Unilateral Contacts, 1996).

    - ``newton``: the relative normal velocity of the two points becomes v_n⁺ = −e v_n⁻;
    - ``poisson``: the normal impulse of restitution is e times that of compression;
    - ``energetic``: the work that the normal impulse returns is e² times the work that it absorbed (Stronge 1990).

    Without friction all three agree for a single impact. None of them adds energy: if Newton's or Poisson's law with
    friction would do so, the restitution is reduced to the largest value that does not add energy (T. R. Kane and D. A.
    Levinson, Dynamics, 1985, show how Newton's law alone adds energy).
    """

    is_force: ClassVar[bool] = True
    kind: Literal["impacts"] = "impacts"
    restitution: _Restitution = 1.0
    """Coefficient of restitution e, in [0, 1]."""
    friction: _Friction = 0.0
    """Coefficient of Coulomb friction μ."""
    law: Literal["newton", "poisson", "energetic"] = "newton"
    """Quantity whose ratio is e: velocities, impulses, or the square root of works."""
    simultaneous: Literal["sequential", "complementarity"] = "sequential"
    """Treatment of several impacts at one instant: ``sequential``, the fastest approach first, until no contact
    approaches; or ``complementarity``, all by one linear complementarity problem, in which jammed contacts have no
    restitution if Newton's law has no solution."""
    pairs: tuple[ImpactPair, ...] = ()
    """Properties of pairs of kinds that replace the general ones."""
    walls: tuple[AnyWall, ...] = ()
    """Planes, faces of the box, cylinders and meshes that the spheres also hit. The ``kind`` of a wall is a kind for
    ``pairs``."""
    excluded_joints: Annotated[Whole, Field(ge=0)] = 1
    """Spheres do not hit each other if their bodies are at most this many joints apart; those on one body never do."""
    resting_speed: Annotated[Quantity | None, Dimension("velocity", minimum=0)] = None
    """Approach speed below which an impact is inelastic and becomes a resting contact [length/time]. A resting contact
    pushes but does not pull, and lasts as long as accelerations press the two objects together. If it is
    None, contacts never rest: a bouncing ball has infinitely many impacts in a finite time, and the run ends with an
    error."""

    @model_validator(mode="after")
    def _in_bounds(self) -> Self:
        within_one(self.restitution)
        if self.law == "energetic" and self.simultaneous == "complementarity":
            raise ValueError(
                "law: 'energetic' applies to one contact, but simultaneous = 'complementarity' solves all at once; "
                "choose 'newton' or 'poisson', or simultaneous = 'sequential'"
            )
        return self

    def check(self, model: Model, where: str) -> None:
        """Raises ModelError for kinds that no sphere or wall has, numbers out of bounds, walls that move, and a model
        in which no impact is possible."""
        if sum(isinstance(force, Impacts) for force in model.forces) > 1:
            raise ModelError(f"{where}: impacts are declared twice; one declaration holds every pair")
        if any(getattr(force, "kind", None) == "contact" for force in model.forces):
            raise ModelError(
                f"{where}: the spheres of this model also have contact forces; impacts and contact forces would both "
                "repel them, so leave out one of the two"
            )
        if not (model.sites.radius > 0.0).any():
            raise ModelError(f"{where}: the model has no spheres; give sites a radius")
        parts = parts_of(self.walls, model, f"{where}.walls")
        for k, wall in enumerate(self.walls):
            moving = [key for key in MOVES if any(float(x) != 0.0 for x in getattr(wall, key, ()))]
            if moving:
                raise ModelError(
                    f"{where}.walls[{k}].{moving[0]}: walls of impacts cannot move; leave out this key, or use a "
                    "sphere on a driven body instead of the wall"
                )
        spheres = int((model.sites.radius > 0.0).sum())
        if not parts and spheres < 2:
            raise ModelError(f"{where}: one sphere has nothing to hit; add walls, or another site with a radius")
        self.table(model, where)

    def beside(self, source: str, where: str) -> Self:
        """Return a copy whose wall files are resolved relative to a case file; see :meth:`Wall.beside`."""
        walls = [wall.beside(source, f"{where}.walls[{k}]") for k, wall in enumerate(self.walls)]
        return self.model_copy(update={"walls": tuple(walls)})

    def table(self, model: Model, where: str = "impacts") -> PairTable:
        """Return restitution and friction by kinds; raises ModelError for kinds that no sphere or wall has, pairs that
        are given twice and numbers out of bounds."""
        sites = model.sites
        kinds = [sites.kinds[k] for k in np.unique(sites.kind[sites.radius > 0.0]).tolist()]
        names = tuple(dict.fromkeys([*kinds, *(wall.kind for wall in self.walls)]))
        check_restitution(float(self.restitution), where)
        e = np.full((len(names), len(names)), float(self.restitution))
        mu = np.full((len(names), len(names)), float(self.friction))
        given: set[frozenset[str]] = set()
        for k, pair in enumerate(self.pairs):
            here = f"{where}.pairs[{k}]"
            for kind in pair.kinds:
                if kind not in names:
                    raise ModelError(
                        f"{here}.kinds: neither a sphere nor a wall is of the kind '{kind}'{nearest(kind, names)}"
                    )
            if frozenset(pair.kinds) in given:
                raise ModelError(f"{here}.kinds: {pair.kinds[0]} and {pair.kinds[1]} are given twice")
            given.add(frozenset(pair.kinds))
            i, j = (names.index(kind) for kind in pair.kinds)
            if pair.restitution is not None:
                check_restitution(float(pair.restitution), here)
                e[i, j] = e[j, i] = float(pair.restitution)
            if pair.friction is not None:
                mu[i, j] = mu[j, i] = float(pair.friction)
        return PairTable(names, e, mu)


def within_one(restitution: Quantity | None) -> None:
    """Raises ValueError, naming the key, if a restitution given as a number is not in [0, 1]."""
    if isinstance(restitution, int | float) and not 0.0 <= restitution <= 1.0:
        raise ValueError(f"restitution: {restitution:g} is not in [0, 1]: an impact cannot add energy")


def check_restitution(restitution: float, where: str) -> None:
    """Raises ModelError if a restitution, given as a number or in another form, is not in [0, 1]."""
    if not 0.0 <= restitution <= 1.0:
        raise ModelError(f"{where}.restitution: {restitution:g} is not in [0, 1]: an impact cannot add energy")


def impacts_of(model: Model) -> Impacts | None:
    """Return the declared impacts of a model, if any."""
    return next((force for force in model.forces if isinstance(force, Impacts)), None)
