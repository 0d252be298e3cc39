"""Positions and charges of sites as parameters. The site is on a body or on the ground."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from articulon.cases.overrides import Part
from articulon.errors import CaseError
from articulon.forces.site_pairs import SitePairs
from articulon.inputs import shown
from articulon.model import Model

FIELDS = ("position", "charge")


def site_parameter(
    model: Model, label: Part, field: str, where: str
) -> tuple[np.ndarray, Callable[[np.ndarray], Model]]:
    """Return the position or the charge of a site, and a function that builds the model with another value. The
    position is in the frame of the body, or in the world frame [length]. Raises CaseError for a site or key that does
    not exist."""
    count = model.sites.body.size
    if not isinstance(label, int) or not -count <= label < count:
        raise CaseError(
            f"{where}: there is no site {shown(label)}; the model has {count}, numbered from 0, as in sites[0].position"
        )
    if field not in FIELDS:
        raise CaseError(f"{where}: sites have derivatives with respect to {' and '.join(FIELDS)}, not '{field}'")
    by_kind = next((k for k, one in enumerate(model.forces) if isinstance(one, SitePairs) and one.parameters), None)
    if field == "charge" and by_kind is not None:
        raise CaseError(
            f"{where}: forces[{by_kind}]: 'site-pairs' with parameters by kind has no derivatives with respect to "
            "charges; use 'lennard-jones' and 'coulomb' instead"
        )
    site, declared = label % count, getattr(model.sites, field)

    def changed(numbers: np.ndarray) -> Model:
        made = declared.copy()
        made[site] = numbers
        return replace(model, sites=model.sites._replace(**{field: made}))

    return np.array(declared[site]), changed
