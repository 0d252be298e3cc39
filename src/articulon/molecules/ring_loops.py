"""Treatment of cycles of clusters. Cycles through disulfides and domains are closed by loop constraints; other large
rings are treated as requested."""

from collections.abc import Sequence
from typing import Literal

from articulon.errors import ModelError
from articulon.molecules.clusters import ClusterGraph
from articulon.molecules.structure import Structure

STIFF = 6
"""Number of torsions up to which a closed chain is rigid, because its closure removes six degrees of freedom."""
SPHERICAL = 3
"""Number of torsions that a spherical joint replaces."""


def disulfides_of(structure: Structure) -> list[tuple[int, int]]:
    """Return the bonds between the sulfur atoms of two cysteines."""
    return [
        (a, b)
        for a, b in structure.bonds.tolist()
        if structure.names[a] == structure.names[b] == "SG"
        and structure.elements[a] == structure.elements[b] == "S"
        and structure.residue[a] != structure.residue[b]
    ]


def close_disulfides(graph: ClusterGraph, bridges: list[tuple[int, int]], level: str, inferred: list[str]) -> None:
    """Cut each cycle through a disulfide; if the cycle could not move, make it one cluster instead."""
    for bridge in bridges:
        if graph.of(bridge[0]) != graph.of(bridge[1]):
            rest = graph.path(graph.of(bridge[1]), graph.of(bridge[0]), without=bridge)
            if rest is not None:
                _close(graph, bridge, [bridge, *rest], level, inferred)
            continue
        # A welded bridge is one cluster with its neighbours; close each cycle through it.
        while (cycle := _through(graph, [graph.of(bridge[0])])) is not None:
            _close(graph, bridge, cycle, level, inferred)


def _close(
    graph: ClusterGraph, bridge: tuple[int, int], cycle: list[tuple[int, int]], level: str, inferred: list[str]
) -> None:
    """Cut a cycle through a disulfide; if the cycle could not move, make it one cluster instead."""
    name = graph.structure.bond_label(*bridge)
    weight = SPHERICAL if level == "residue" else 1
    if weight * len(cycle) <= STIFF:
        for bond in cycle:
            graph.join(*bond)
        inferred.append(f"{name}: the disulfide is rigid: the {len(cycle)} joints around it could not move")
        return
    where = _cut(graph, cycle, anywhere=level == "residue")
    inferred.append(f"{name}: the disulfide closes a loop, cut at {graph.structure.bond_label(*where)}")


def close_domains(graph: ClusterGraph, domains: Sequence[str], pieces: list[list[int]], inferred: list[str]) -> None:
    """Cut the cycles that rigid domains of several segments form with the chain between them."""
    homes = [graph.of(atoms[0]) for atoms in pieces]
    for k, home in enumerate(homes):
        if home in homes[:k]:
            one, other = domains[homes.index(home)], domains[k]
            raise ModelError(
                f"domains: '{one}' and '{other}' are rigidly connected; leave the residues between them out of both, "
                "or set omega to free"
            )
    while homes:
        cycle = _through(graph, homes)
        if cycle is None:
            return
        if len(cycle) <= STIFF:
            labels = ", ".join(graph.structure.bond_label(*bond) for bond in cycle)
            raise ModelError(
                f"domains: the linkers between domains have {len(cycle)} torsions ({labels}), too few to move: "
                f"a closed chain needs more than {STIFF}; leave more residues between the domains out of both"
            )
        where = graph.structure.bond_label(*_cut(graph, cycle, anywhere=False))
        inferred.append(f"{where}: closes a loop of domains with {len(cycle)} torsions")


def refuse_rings(graph: ClusterGraph, rings: Literal["refuse", "rigid", "loops"], inferred: list[str]) -> None:
    """Treat the remaining large rings as requested."""
    while (cycle := graph.cycle()) is not None:
        structure = graph.structure
        labels = ", ".join(structure.bond_label(*bond) for bond in cycle[:6]) + (", ..." if len(cycle) > 6 else "")
        if rings == "refuse":
            raise ModelError(
                f"{structure.source}: a ring with {len(cycle)} rotatable bonds ({labels}) would have to be cut; hold "
                "it rigid (rings = 'rigid'), or close it by a loop (rings = 'loops')"
            )
        if rings == "rigid" or len(cycle) <= STIFF:
            for bond in cycle:
                graph.join(*bond)
            inferred.append(f"{structure.bond_label(*cycle[0])}: the ring of {len(cycle)} torsions is held rigid")
        else:
            where = structure.bond_label(*_cut(graph, cycle, anywhere=False))
            inferred.append(f"{where}: closes the ring of {len(cycle)} torsions")


def _through(graph: ClusterGraph, homes: list[int]) -> list[tuple[int, int]] | None:
    """Return a shortest cycle through one of the clusters."""
    edges = graph.edges()
    for home in homes:
        for partner, bond in edges[home]:
            rest = graph.path(partner, home, without=bond)
            if rest is not None:
                return [bond, *rest]
    return None


def _cut(graph: ClusterGraph, cycle: list[tuple[int, int]], *, anywhere: bool) -> tuple[int, int]:
    """Cut a bond of a cycle. Candidates are the bonds whose two clusters can still rotate about other bonds; the one
    closest to the first bond of the cycle is cut."""
    n = len(cycle)
    for k in sorted(range(n), key=lambda k: (min(k, n - k), k)):
        if anywhere or graph.may_be_cut(cycle[k]):
            graph.cut(cycle[k])
            return cycle[k]
    structure = graph.structure
    raise ModelError(
        f"{structure.source}: the loop through {structure.bond_label(*cycle[0])} cannot be cut anywhere: no atom near "
        "it is off the axes; hold it rigid"
    )
