"""Selection of the runs of a comparison, and of windows with which they share one noise path."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

from articulon.cases.case import Case
from articulon.cases.overrides import checked_values, parts
from articulon.comparisons.path_measures import other_physics
from articulon.errors import CaseError
from articulon.forces.brownian import Brownian, brownian_of, fastest_relaxation
from articulon.inputs import words
from articulon.integrate import FrictionImplicit
from articulon.time_scales.noise_windows import frame_interval

ITSELF = "case"
"""Name of the given case among its variants."""
WITHOUT_PHYSICS = ("scaling", "integrator", "adaptive")
"""Sections of a case that change how a run is computed, but not its physics. Runs that differ only in them share one
reference."""
HOLDING = ("friction-implicit", "overdamped")
"""Integrators that hold the noise constant for a step, and need not resolve the fastest relaxation."""
FINER = 16
"""Largest factor by which an unscaled explicit run that was not requested may refine the noise windows. Above it, this
run does not share the noise path, because all other runs would have to draw the noise of all windows."""


@dataclass(frozen=True)
class Entry:
    """One run of a comparison."""

    name: str
    """Name of the run and of its folder."""
    case: Case
    """Case that is run."""
    group: int
    """Number of the group. The entries of a group have the same physics and the same reference."""
    is_reference: bool = False
    """Whether this run is the reference of its group."""
    optional: bool = False
    """Whether the run was not requested and is left out if it would take long."""
    variant: str = ""
    """Name of the variant in the case; empty if the run is not a variant."""
    suffix: str = ""
    """Part of the name of a reference that distinguishes its group, such as ``"-seed=2"``."""
    named: bool = False
    """Whether the case names this run as the reference."""
    stands_in: bool = False
    """Whether the run is scaled, was not requested, and only serves as the reference."""
    without: str = ""
    """Reason why no unscaled run replaces a scaled reference."""

    @property
    def unscaled(self) -> bool:
        """Whether no force is scaled."""
        return not self.case.scaling.scales

    @property
    def adaptive(self) -> bool:
        """Whether joints or modes lock and release; the run is then compared with a run that has everything active."""
        return adapts(self.case)

    @property
    def rule(self) -> str:
        """Name of the integrator."""
        return str(self.case.integrator.rule)

    @property
    def explicit(self) -> bool:
        """Whether the integrator must resolve the fastest relaxation."""
        return self.rule not in HOLDING

    @property
    def implicit(self) -> bool:
        """Whether the integrator treats friction implicitly."""
        return isinstance(self.case.integrator, FrictionImplicit)


def entries(case: Case, against: Sequence[str] | None, vary: Mapping[str, Sequence[Any]] | None) -> list[Entry]:
    """Select the runs of a comparison. In each group the reference comes first.

    Without ``vary`` the runs are the case itself and its variants: those in ``against``, or, by default, those that the
    case names for comparison. With ``vary`` they are the case with every combination of the values, and the variants in
    ``against``. If no variants are requested, an unscaled explicit variant is added, to show what the others save. It
    is not added if the case itself is unscaled and explicit and ``vary`` is given.

    The reference is the one that the case names, unless other variants are requested. Otherwise it is, in this order:
    the case itself if it is unscaled; the first unscaled run, with friction-implicit runs before others; or an unscaled
    variant of the case with long steps. If there is none, the case itself is the reference, and :func:`with_reference`
    may replace it.

    Raises
    ------
    CaseError
        For a variant or key that does not exist, or an invalid value.
    """
    varied = combinations(checked_values({} if vary is None else vary))
    names = list(words(against, "against", CaseError)) if against is not None else [] if vary else _compared(case)
    # A case that is itself unscaled and explicit needs no other unscaled run.
    itself = not case.scaling.scales and not isinstance(case.integrator, FrictionImplicit)
    rivals = [] if against is not None or (vary and itself) else _unscaled_explicit(case, names)
    groups: dict[tuple[tuple[str, str], ...], int] = {}
    found: list[Entry] = []
    for values in varied:
        physics = {key: value for key, value in values.items() if parts(key)[0] not in WITHOUT_PHYSICS}
        key = tuple((name, repr(value)) for name, value in physics.items())
        suffix = f"-{label(physics)}" if physics else ""
        here = case.with_overrides(physics) if physics else case
        if key not in groups:
            groups[key] = len(groups)
            first, *rest = _first(here, groups[key], suffix, names, against is not None, rivals)
            found += [replace(first, stands_in=bool(values) and not first.variant and not first.unscaled), *rest]
        whole = case.with_overrides(values) if values else case
        found.append(Entry(label(values) if values else ITSELF, whole, groups[key]))
    return [entry for group in range(len(groups)) for entry in _distinct(e for e in found if e.group == group)]


def combinations(vary: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    """Return every combination of the values of the keys; a single empty combination if nothing varies."""
    return [dict(zip(vary, values, strict=True)) for values in product(*vary.values())]


def label(values: Mapping[str, Any]) -> str:
    """Return a name for a combination of values that is valid as the name of a folder, such as ``"a2=0.1"``."""
    words = [f"{parts(key)[-1]}={value}" for key, value in values.items()]
    return re.sub(r"[^A-Za-z0-9._=+-]+", "_", "-".join(words)).strip("_")


def _compared(case: Case) -> list[str]:
    """Return the variants that a case names for comparison, including its reference."""
    named = list(case.comparison.variants or case.variants)
    reference = case.comparison.reference
    if reference is not None and reference not in named:
        named.insert(0, reference)
    return named


def _unscaled_explicit(case: Case, names: Sequence[str]) -> list[str]:
    """Return the name of the first unscaled explicit variant with the physics of the case, in a list that is empty if
    there is none. Variants in ``names`` are skipped."""
    others = {name: case.variant(name) for name in case.variants if name not in names}
    return [
        name
        for name, other in others.items()
        if not other.scaling.scales and other.integrator.rule not in HOLDING and not other_physics(other, case)[0]
    ][:1]


def _first(
    case: Case, group: int, suffix: str, names: Sequence[str], asked: bool, rivals: Sequence[str]
) -> list[Entry]:
    """Return the variants of a group, with the reference first and baselines that were not requested last."""
    variants, offered = ({name: case.variant(name) for name in some} for some in (names, rivals))
    # A requested run is the reference if possible; otherwise it is the case itself.
    itself = [ITSELF] if not case.scaling.scales and not adapts(case) else []
    reference, named = case.comparison.reference, True
    if reference is None or (asked and reference not in names):
        # A run that may take long is not added as a reference without request.
        among = _unscaled(variants)
        kept = {} if reference is None else {reference: case.variant(reference)}
        alike = {n: v for n in case.variants if not other_physics(v := case.variant(n), case)[0]}
        others = _unscaled(kept | alike, long_steps=True)
        reference, named = next(iter([*([] if asked else itself), *among, *itself, *others, ITSELF])), False
    first = case if reference == ITSELF else case.variant(reference)
    rest = [
        Entry(name + suffix, variant, group, optional=not asked, variant=name)
        for name, variant in (variants | offered).items()
        if name != reference
    ]
    alone = suffix.removeprefix("-") if reference == ITSELF and suffix else reference + suffix
    variant = "" if reference == ITSELF else reference
    return [Entry(alone, first, group, is_reference=True, variant=variant, suffix=suffix, named=named), *rest]


def _unscaled(variants: Mapping[str, Case], long_steps: bool = False) -> list[str]:
    """Return the names of the unscaled variants with everything active, friction-implicit ones first and overdamped
    ones last. With ``long_steps``, only variants whose steps need not resolve the fastest relaxation are included."""
    found = [name for name, v in variants.items() if not v.scaling.scales and not adapts(v)]
    if long_steps:
        found = [name for name in found if variants[name].integrator.rule in HOLDING]
    # Overdamped dynamics comes last, because leaving out inertia is an approximation.
    order = {"friction-implicit": 0, "overdamped": 2}
    return sorted(found, key=lambda name: order.get(variants[name].integrator.rule, 1))


def adapts(case: Case) -> bool:
    """Return whether the resolution of a case changes: whether joints or modes lock and release."""
    return case.adaptive is not None and case.adaptive.on


def _distinct(found: Iterable[Entry]) -> list[Entry]:
    """Remove duplicate runs from the entries; only unscaled explicit runs stay optional."""
    seen: dict[str, Entry] = {}
    names: dict[str, int] = {}
    for entry in found:
        optional = entry.optional and entry.unscaled and entry.explicit
        digest = entry.case.digest()
        before = seen.get(digest)
        if before is None:
            seen[digest] = replace(entry, optional=optional)
            continue
        # If the values of the case itself are among those requested, the run is named after them.
        named = replace(before, name=entry.name, stands_in=False) if before.stands_in else before
        seen[digest] = replace(named, optional=before.optional and optional)
    result = []
    for entry in seen.values():
        count = names[entry.name] = names.get(entry.name, 0) + 1
        result.append(entry if count == 1 else replace(entry, name=f"{entry.name}-{count}"))
    return result


def unscaled_rival(chosen: Sequence[Entry], group: int, kind: str) -> Entry | None:
    """Return an unscaled run of a group by an explicit integrator, or by the integrator ``kind``. Runs with everything
    active, and the reference, are preferred."""
    found = [
        e for e in chosen if e.group == group and e.unscaled and (e.explicit if kind == "explicit" else e.rule == kind)
    ]
    found.sort(key=lambda entry: entry.adaptive)
    return next(iter(found), None)


def on_one_noise_path(found: Sequence[Entry]) -> list[Entry]:
    """Set the noise windows of the entries such that all runs of a group follow the same noise path.

    Each entry divides the time between frames into K windows in which noise is constant. K is the smallest power of two
    for which the windows are not longer than those of the case alone. The largest K of a group defines its fine
    windows; runs with a smaller K use the mean noise of several fine windows. A friction-implicit step is one window.
    Groups without noise are unchanged.

    Raises
    ------
    CaseError
        If the frames of a group are not equally spaced.
    """
    result = []
    for group in dict.fromkeys(entry.group for entry in found):
        result += _shared([entry for entry in found if entry.group == group])
    return result


def _shared(group: Sequence[Entry]) -> list[Entry]:
    noisy = [entry for entry in group if any(isinstance(force, Brownian) for force in entry.case.forces)]
    if not noisy:
        return list(group)
    interval = frame_interval(noisy[0].case)
    for entry in noisy[1:]:
        if abs(frame_interval(entry.case) - interval) > 1e-9 * interval:
            raise CaseError(
                f"{entry.case.source}: '{noisy[0].name}' and '{entry.name}' have different times between frames, "
                "and so no common noise path; give them the same run.frame_interval"
            )
    counts = {entry.name: held_windows(entry.case, interval) for entry in noisy}
    needed = [counts[entry.name] for entry in noisy if not entry.optional] or list(counts.values())
    finest = max(needed)
    joining = [count for count in counts.values() if count <= FINER * finest]
    finest = max(joining)
    return [
        _with_windows(e, interval, counts[e.name], finest) if counts.get(e.name, 0) in joining else e for e in group
    ]


def held_windows(case: Case, interval: float) -> int:
    """Return the number of windows into which an interval is divided to hold noise constant. It is the smallest power
    of two for which the windows are not longer than those of the case alone."""
    model = case.build_model()
    force = brownian_of(model)
    integrator: Any = case.integrator
    if integrator.rule in HOLDING:
        wanted = float(integrator.step)
    elif force is not None and force.window is not None:
        wanted = float(force.window) * force.average
    else:
        wanted = fastest_relaxation(model) / (4.0 * case.scaling.noise_factor())
    return 2 ** max(0, math.ceil(math.log2(interval / wanted * (1.0 - 1e-9))))


def _with_windows(entry: Entry, interval: float, count: int, finest: int) -> Entry:
    changes: dict[str, Any] = {
        "forces.brownian.window": interval / finest,
        "forces.brownian.average": finest // count,
    }
    if not entry.explicit:
        changes["integrator.step"] = interval / count
    return replace(entry, case=entry.case.with_overrides(changes))
