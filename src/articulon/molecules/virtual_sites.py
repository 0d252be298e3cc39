"""Massless sites of an OpenMM System, such as the fourth site of TIP4P. They are carried by the bodies of their parent
atoms."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from articulon.errors import ModelError

KINDS = ("TwoParticleAverageSite", "ThreeParticleAverageSite", "OutOfPlaneSite", "LocalCoordinatesSite")
"""Supported kinds of virtual sites, whose position is fixed in the frame of a rigid molecule."""


class VirtualSite(NamedTuple):
    """A site whose position follows from the positions of other particles."""

    site: int
    """Index of the site."""
    parents: tuple[int, ...]
    """The particles that define the site's position."""
    kind: str
    """Name of the class in OpenMM."""


def virtual_sites(system: Any) -> list[VirtualSite]:
    """Return the virtual sites of a system, in order; raise ModelError for an unsupported kind, and for a massless
    particle that is not a virtual site."""
    found = []
    for k in range(system.getNumParticles()):
        if system.isVirtualSite(k):
            site = system.getVirtualSite(k)
            kind = type(site).__name__
            if kind not in KINDS:
                raise ModelError(
                    f"model.force_field: particle {k} is a {kind} of OpenMM, which has no counterpart here: the "
                    f"supported kinds are {', '.join(KINDS)}"
                )
            parents = tuple(site.getParticle(i) for i in range(site.getNumParticles()))
            found.append(VirtualSite(k, parents, kind))
    return found


def check_virtual_sites(system: Any, cluster: Sequence[int] | np.ndarray) -> None:
    """Raise ModelError, naming the particle, if a virtual site and its parents are not in the same rigid cluster,
    because the site would then move relative to its body. ``cluster`` is the cluster of each particle."""
    for site, parents, kind in virtual_sites(system):
        bodies = {int(cluster[k]) for k in (site, *parents)}
        if len(bodies) > 1:
            raise ModelError(
                f"model.force_field: particle {site} is a {kind} of the particles {parents}, which do not all lie in "
                "one rigid body with it; make them rigid, or leave the site out"
            )


def with_virtual_sites(system: Any, positions: np.ndarray) -> np.ndarray:
    """Return positions (particles, 3) with the virtual sites placed as in OpenMM [nm]."""
    if not any(system.isVirtualSite(k) for k in range(system.getNumParticles())):
        return positions
    import openmm

    # The system is copied without its forces, which do not affect virtual sites.
    bare = openmm.XmlSerializer.clone(system)
    for k in range(bare.getNumForces() - 1, -1, -1):
        bare.removeForce(k)
    platform = openmm.Platform.getPlatformByName("Reference")
    context = openmm.Context(bare, openmm.VerletIntegrator(0.001), platform)
    context.setPositions(positions)
    context.computeVirtualSites()
    return np.array(context.getState(getPositions=True).getPositions(asNumpy=True)._value)
