"""Texts on polymer chains in a report."""

from __future__ import annotations

from collections.abc import Iterator

from articulon.chains.replicates import Estimate
from articulon.report.readable_numbers import number
from articulon.report.view import View


def chain_rows(view: View) -> Iterator[tuple[str, str]]:
    """Yield the names and values of the sizes of chains with their errors."""
    found = view.chain_statistics
    if found is None:
        return
    length = view.case.units.label("length")
    area = f" {length}²" if length else ""
    beads = sorted(set(found.chains.length.tolist()))
    sizes = str(beads[0]) if len(beads) == 1 else f"{beads[0]} to {beads[-1]}"
    yield "chains", f"{len(found.chains)} of {sizes} beads"
    if found.end_to_end is not None:
        yield "mean-square end-to-end distance", with_error(found.end_to_end) + area
    for kind, size in found.gyration.items():
        of = "" if len(found.gyration) == 1 else f", {kind}"
        yield f"mean-square radius of gyration{of}", with_error(size) + area
    if found.ratio is not None:
        ideal = "" if found.ideal_ratio is None else f" ({number(found.ideal_ratio)} for ideal chains)"
        yield "their ratio", with_error(found.ratio) + ideal
    yield "independent samples of the slowest", number(found.samples, 2)


def with_error(found: Estimate) -> str:
    """Return a mean and its standard error."""
    return f"{number(float(found.value), 4)} ± {number(float(found.error), 2)}"


def without_of_chains(view: View) -> str:
    """Name the missing statistics of chains, with the reasons."""
    found = view.chain_statistics
    if found is None or not found.not_computed:
        return ""
    parts = [f"{what.replace('_', ' ')} ({why})" for what, why in found.not_computed.items()]
    return f"Not computed: {'; '.join(parts)}."
