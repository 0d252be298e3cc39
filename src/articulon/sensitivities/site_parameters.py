"""Places of sites as parameters: the model with a site elsewhere on its body, or on the ground."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from articulon.cases.overrides import Part
from articulon.errors import CaseError
from articulon.inputs import shown
from articulon.model import Model


def site_parameter(
    model: Model, label: Part, field: str, where: str
) -> tuple[np.ndarray, Callable[[np.ndarray], Model]]:
    """The position of a site, by its number, in the frame of its body, or of the world [length], and the model with it
    elsewhere; raises CaseError for a site or key that does not exist."""
    count = model.sites.body.size
    if not isinstance(label, int) or not -count <= label < count:
        raise CaseError(
            f"{where}: there is no site {shown(label)}; the model has {count}, numbered from 0, as in sites[0].position"
        )
    if field != "position":
        raise CaseError(f"{where}: of a site there are derivatives by its position, and none by '{field}'")
    site = label % count

    def changed(numbers: np.ndarray) -> Model:
        positions = model.sites.position.copy()
        positions[site] = numbers
        return replace(model, sites=model.sites._replace(position=positions))

    return np.array(model.sites.position[site]), changed
