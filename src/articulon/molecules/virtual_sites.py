"""Sites without mass of an OpenMM System, such as TIP4P's fourth point, which go with the bodies of their atoms."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from articulon.errors import ModelError

KINDS = ("TwoParticleAverageSite", "ThreeParticleAverageSite", "OutOfPlaneSite", "LocalCoordinatesSite")
"""Those that stand still in the frame of a rigid molecule."""


class VirtualSite(NamedTuple):
    """A site that other particles carry."""

    site: int
    """Its index."""
    parents: tuple[int, ...]
    """The particles that it is made of."""
    kind: str
    """OpenMM's class."""


def virtual_sites(system: Any) -> list[VirtualSite]:
    """The virtual sites of a system, in order; raises ModelError for a kind that has no counterpart here, and for a
    particle that has neither mass nor a place that others give."""
    found = []
    for k in range(system.getNumParticles()):
        if system.isVirtualSite(k):
            site = system.getVirtualSite(k)
            kind = type(site).__name__
            if kind not in KINDS:
                raise ModelError(
                    f"model.force_field: particle {k} is a {kind} of OpenMM, which has no counterpart here: those "
                    f"that have one are {', '.join(KINDS)}"
                )
            parents = tuple(site.getParticle(i) for i in range(site.getNumParticles()))
            found.append(VirtualSite(k, parents, kind))
    return found


def check_virtual_sites(system: Any, cluster: Sequence[int] | np.ndarray) -> None:
    """Raises ModelError, naming the particle, where a virtual site and what it is made of do not belong to one rigid
    cluster, given by the cluster of each particle: then its place in a body would change."""
    for site, parents, kind in virtual_sites(system):
        bodies = {int(cluster[k]) for k in (site, *parents)}
        if len(bodies) > 1:
            raise ModelError(
                f"model.force_field: particle {site} is a {kind} of the particles {parents}, which do not all lie in "
                "one rigid body with it; hold them together, or leave the site out"
            )


def with_virtual_sites(system: Any, positions: np.ndarray) -> np.ndarray:
    """Positions (particles, 3) with the virtual sites where OpenMM puts them [nm]."""
    if not any(system.isVirtualSite(k) for k in range(system.getNumParticles())):
        return positions
    import openmm

    # The same system without forces, which have no say in it.
    bare = openmm.XmlSerializer.clone(system)
    for k in range(bare.getNumForces() - 1, -1, -1):
        bare.removeForce(k)
    platform = openmm.Platform.getPlatformByName("Reference")
    context = openmm.Context(bare, openmm.VerletIntegrator(0.001), platform)
    context.setPositions(positions)
    context.computeVirtualSites()
    return np.array(context.getState(getPositions=True).getPositions(asNumpy=True)._value)
