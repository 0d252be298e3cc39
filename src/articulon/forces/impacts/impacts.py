"""What a user says of impacts: restitution and friction of spheres that hit each other and walls in an instant."""

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
    """What differs for a pair of kinds."""

    kinds: tuple[str, str]
    """The two kinds: of sites, or the one that a wall names."""
    restitution: _Restitution | None = None
    """Coefficient of restitution e, in [0, 1]; that of all by default."""
    friction: _Friction | None = None
    """Coefficient of Coulomb friction μ; that of all by default."""

    @model_validator(mode="after")
    def _something(self) -> Self:
        if self.restitution is None and self.friction is None:
            raise ValueError("give restitution or friction, or both")
        within_one(self.restitution)
        return self


class PairTable(NamedTuple):
    """Restitution and friction by kinds."""

    names: tuple[str, ...]
    """The kinds: of the spheres, then those that only walls have."""
    restitution: np.ndarray
    """e of each ordered pair, shape (kinds, kinds)."""
    friction: np.ndarray
    """μ of each, shape (kinds, kinds)."""


class Impacts(Declaration):
    """Impacts of spheres with each other and with walls: events that last no time.

    Spheres are the sites with a radius. Where two of them, or one and a wall, come to touch, an impulse along the
    normal n from the one to the other and, with friction, across it changes the speeds of the whole system at once:
    u⁺ = u⁻ + M⁻¹ Jᵀ Λ, with J the rows of the contact and the trees and loops moving as one (W. J. Stronge, Impact
    Mechanics, 2000; F. Pfeiffer and C. Glocker, Multibody Dynamics with Unilateral Contacts, 1996).

    - ``newton``: v_n⁺ = −e v_n⁻ of the normal velocity of the two points;
    - ``poisson``: the normal impulse of restitution is e times that of compression;
    - ``energetic``: the work that the normal impulse gives back is e² times what it took (Stronge 1990).

    Without friction all three are the same for a single impact. None ever adds energy: with friction, where Newton's or
    Poisson's law would, the impulse is that of the largest restitution which does not (T. R. Kane and D. A. Levinson,
    Dynamics, 1985, show how Newton's alone does).
    """

    is_force: ClassVar[bool] = True
    kind: Literal["impacts"] = "impacts"
    restitution: _Restitution = 1.0
    """Coefficient of restitution e, in [0, 1]."""
    friction: _Friction = 0.0
    """Coefficient of Coulomb friction μ."""
    law: Literal["newton", "poisson", "energetic"] = "newton"
    """What e is the ratio of: velocities, impulses, or the root of works."""
    simultaneous: Literal["sequential", "complementarity"] = "sequential"
    """Impacts at one instant: one after the other, by the time of contact, until none approaches; or all at once, by
    one linear complementarity problem."""
    pairs: tuple[ImpactPair, ...] = ()
    """What differs for a pair of kinds."""
    walls: tuple[AnyWall, ...] = ()
    """Planes, faces of the box, cylinders and meshes that the spheres hit as well. The ``kind`` of a wall is a kind for
    ``pairs``."""
    excluded_joints: Annotated[Whole, Field(ge=0)] = 1
    """Spheres whose bodies are this many joints apart, or fewer, do not hit each other; those on one body never do."""
    resting_speed: Annotated[Quantity | None, Dimension("velocity", minimum=0)] = None
    """Approach speed below which an impact is inelastic and becomes a resting contact, one that pushes and does not
    pull, for as long as accelerations press the two together [length/time]; None never rests: a ball that bounces
    lower and lower then comes to impacts without end, which ends the run with an error."""

    @model_validator(mode="after")
    def _in_bounds(self) -> Self:
        within_one(self.restitution)
        if self.law == "energetic" and self.simultaneous == "complementarity":
            raise ValueError(
                "law: 'energetic' is a law of one contact, and simultaneous = 'complementarity' takes all at once; "
                "choose 'newton' or 'poisson', or simultaneous = 'sequential'"
            )
        return self

    def check(self, model: Model, where: str) -> None:
        """Raises ModelError for kinds that nothing has, numbers out of bounds, walls that move, and a model in which
        nothing can hit anything."""
        if sum(isinstance(force, Impacts) for force in model.forces) > 1:
            raise ModelError(f"{where}: impacts are declared twice; one declaration holds every pair")
        if any(getattr(force, "kind", None) == "contact" for force in model.forces):
            raise ModelError(
                f"{where}: the spheres of this model have contacts too, which repel what impacts would let bounce; "
                "leave out one of the two"
            )
        if not (model.sites.radius > 0.0).any():
            raise ModelError(f"{where}: the model has no spheres; give sites a radius")
        parts = parts_of(self.walls, model, f"{where}.walls")
        for k, wall in enumerate(self.walls):
            moving = [key for key in MOVES if any(float(x) != 0.0 for x in getattr(wall, key, ()))]
            if moving:
                raise ModelError(
                    f"{where}.walls[{k}].{moving[0]}: walls of impacts stand still; leave it out, or carry a sphere by "
                    "a driven body"
                )
        spheres = int((model.sites.radius > 0.0).sum())
        if not parts and spheres < 2:
            raise ModelError(f"{where}: one sphere has nothing to hit; add walls, or another site with a radius")
        self.table(model, where)

    def beside(self, source: str, where: str) -> Self:
        """A copy with the files of its walls found beside a case file; see :meth:`Wall.beside`."""
        walls = [wall.beside(source, f"{where}.walls[{k}]") for k, wall in enumerate(self.walls)]
        return self.model_copy(update={"walls": tuple(walls)})

    def table(self, model: Model, where: str = "impacts") -> PairTable:
        """Restitution and friction by kinds; raises ModelError for kinds that nothing has, pairs that are given twice
        and numbers out of bounds."""
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
    """Raises ValueError, naming the key, where a restitution that is a number is not in [0, 1]."""
    if isinstance(restitution, int | float) and not 0.0 <= restitution <= 1.0:
        raise ValueError(f"restitution: {restitution:g} is not in [0, 1]: an impact gives back at most what it took")


def check_restitution(restitution: float, where: str) -> None:
    """Raises ModelError where a restitution is not in [0, 1], whatever it was written as."""
    if not 0.0 <= restitution <= 1.0:
        raise ModelError(
            f"{where}.restitution: {restitution:g} is not in [0, 1]: an impact gives back at most what it took"
        )


def impacts_of(model: Model) -> Impacts | None:
    """The declared impacts of a model, if there are any."""
    return next((force for force in model.forces if isinstance(force, Impacts)), None)
