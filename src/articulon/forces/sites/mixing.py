"""Parameters of pairs of kinds: given for the pair, or mixed from those of the two kinds."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Literal

import numpy as np

from articulon.declaration import Declaration, Dimension, Quantity, nearest
from articulon.errors import ModelError
from articulon.model import Model

Mixing = Literal["lorentz-berthelot", "geometric", "sixth-power"]


class LennardJonesKind(Declaration):
    """Lennard-Jones parameters of one kind, combined by the mixing rule."""

    epsilon: Annotated[Quantity, Dimension("energy", minimum=0)]
    """Depth of the well [energy]."""
    sigma: Annotated[Quantity, Dimension("length", minimum=0, exclusive=True)]
    """Distance of zero energy [length]."""


class LennardJonesPair(LennardJonesKind):
    """Lennard-Jones parameters of a pair of kinds, which override the mixing rule."""

    kinds: tuple[str, str]
    """The two kinds."""


def mixed(rule: Mixing, one: LennardJonesKind, two: LennardJonesKind) -> tuple[float, float]:
    """(ε, σ) of two kinds.

    ``lorentz-berthelot``: ε = √(ε₁ε₂), σ = (σ₁ + σ₂)/2. ``geometric``: ε = √(ε₁ε₂), σ = √(σ₁σ₂). ``sixth-power``:
    σ⁶ = (σ₁⁶ + σ₂⁶)/2, ε = √(ε₁ε₂) σ₁³σ₂³/σ⁶ (Waldman and Hagler, J. Comput. Chem. 14, 1077, 1993).
    """
    s, t = float(one.sigma), float(two.sigma)
    epsilon = math.sqrt(float(one.epsilon) * float(two.epsilon))
    if rule == "geometric":
        return epsilon, math.sqrt(s * t)
    if rule == "sixth-power":
        sixth = 0.5 * (s**6 + t**6)
        return epsilon * (s * t) ** 3 / sixth, sixth ** (1.0 / 6.0)
    return epsilon, 0.5 * (s + t)


NO_FORCE = "with a strength of zero (depth, epsilon, or A, B and C) if they exert no force on each other"
"""Advice in messages for pairs of kinds that do not interact."""
Groups = tuple[tuple[int, int], ...] | None
"""Pairs of groups of sites that interact, by indices; None for all."""


def meeting(model: Model, groups: Groups = None) -> list[tuple[int, int]]:
    """Pairs of kinds with interacting sites, by indices, smaller first; sites on the ground do not interact with each
    other."""
    sites = model.sites
    kinds = len(sites.kinds)
    if groups is not None:
        return _meeting_between(model, groups)
    count = np.bincount(sites.kind, minlength=kinds)
    moving = np.bincount(sites.kind[sites.body >= 0], minlength=kinds) > 0
    return [
        (a, b) for a in range(kinds) for b in range(a, kinds) if (moving[a] or moving[b]) and (a != b or count[a] > 1)
    ]


def _meeting_between(model: Model, groups: tuple[tuple[int, int], ...]) -> list[tuple[int, int]]:
    """Pairs of kinds that interact through pairs of groups."""
    sites, found = model.sites, set()
    for g, h in groups:
        for a in np.unique(sites.kind[sites.group == g]).tolist():
            for b in np.unique(sites.kind[sites.group == h]).tolist():
                first, second = (sites.kind == a) & (sites.group == g), (sites.kind == b) & (sites.group == h)
                moving = bool((sites.body[first | second] >= 0).any())
                alone = a == b and g == h and first.sum() < 2
                if moving and not alone:
                    found.add((min(a, b), max(a, b)))
    return sorted(found)


def pair_parameters(
    model: Model,
    where: str,
    by_kind: Mapping[str, Any],
    by_pair: Sequence[Any],
    mix: Callable[[Any, Any], tuple[float, ...]],
    read: Callable[[Any], tuple[float, ...]],
    pairs_key: str = "pairs",
    groups: Groups = None,
) -> np.ndarray:
    """Return the parameters of every ordered pair of kinds, zero for pairs that do not interact, shape (kinds²,
    parameters).

    Parameters
    ----------
    where
        Name of the declaration in messages.
    by_kind
        Declarations by kind.
    by_pair
        Declarations of two ``kinds``, which override those by kind.
    mix
        Function that returns the parameters of a pair from the declarations of its kinds.
    read
        Function that returns the parameters of a pair from its own declaration.
    pairs_key
        Name of the key of ``by_pair`` in messages.
    groups
        Pairs of groups of sites that interact; all by default.

    Raises
    ------
    ModelError
        For kinds without sites, pairs given twice, and kinds that interact without parameters; the message names the
        key and the kinds.
    """
    kinds = model.sites.kinds
    if not kinds:
        raise ModelError(f"{where}: the model has no sites for these forces; add them with add_particles or add_site")
    number = {kind: k for k, kind in enumerate(kinds)}
    for kind in by_kind:
        if kind not in number:
            raise ModelError(f"{where}.parameters: there are no sites of the kind '{kind}'{nearest(kind, kinds)}")
    given: dict[tuple[int, int], tuple[float, ...]] = {}
    for k, pair in enumerate(by_pair):
        for kind in pair.kinds:
            if kind not in number:
                key = f"{where}.{pairs_key}[{k}].kinds"
                raise ModelError(f"{key}: there are no sites of the kind '{kind}'{nearest(kind, kinds)}")
        one, two = sorted(number[kind] for kind in pair.kinds)
        if (one, two) in given:
            raise ModelError(f"{where}.{pairs_key}[{k}]: {pair.kinds[0]} and {pair.kinds[1]} are given twice")
        given[one, two] = read(pair)
    found, meet = dict(given), meeting(model, groups)
    if groups is not None:
        if not meet:
            raise ModelError(f"{where}.between: no two sites of these groups interact; leave the force out")
        unused = next((pair for pair in given if pair not in meet), None)
        if unused is not None:
            first, second = (kinds[k] for k in unused)
            raise ModelError(f"{where}.{pairs_key}: no {first} interacts with a {second} in these groups; leave it out")
    for a, b in meet:
        if (a, b) in given:
            continue
        for kind in (kinds[a], kinds[b]):
            if kind not in by_kind:
                raise ModelError(
                    f"{where}: {kinds[a]} and {kinds[b]} interact without parameters; give those of kind '{kind}' in "
                    f"{where}.parameters, or those of the pair in {where}.{pairs_key}, {NO_FORCE}"
                    if by_kind
                    else f"{where}.{pairs_key}: {kinds[a]} and {kinds[b]} interact without parameters; give them here, "
                    f"{NO_FORCE}"
                )
        found[a, b] = mix(by_kind[kinds[a]], by_kind[kinds[b]])
    if not found:
        # A single site interacts with no other; its parameters must still be given.
        found = {(a, a): mix(by_kind[kind], by_kind[kind]) for a, kind in enumerate(kinds) if kind in by_kind}
    width = len(next(iter(found.values()))) if found else 0
    rows = np.zeros((len(kinds) ** 2, width))
    for (a, b), values in found.items():
        rows[a * len(kinds) + b] = rows[b * len(kinds) + a] = values
    return rows
