"""Test for models of hard spheres: frictionless spheres that move freely between impacts."""

from weakref import WeakKeyDictionary

import numpy as np

from articulon.forces.gravity import Gravity
from articulon.forces.impacts.impacts import Impacts, impacts_of
from articulon.model import Model
from articulon.model.joints import XYZ

_SPHERES: WeakKeyDictionary[Model, bool] = WeakKeyDictionary()


def only_hard_spheres(model: Model) -> bool:
    """Whether all moving bodies are free particles, each a sphere with its site at the centre, on which only gravity
    and frictionless impacts with each other act."""
    if model not in _SPHERES:
        forest, sites, n, law = model.forest, model.sites, model.bodies, impacts_of(model)
        _SPHERES[model] = bool(
            law is not None
            and all(isinstance(force, Impacts | Gravity) for force in model.forces)
            and not law.walls
            and forest.kind.size == n
            and (forest.kind == XYZ).all()
            and (forest.parent < 0).all()
            and not forest.position.any()
            and (forest.rotation == [1.0, 0.0, 0.0, 0.0]).all()
            and not model.centres.any()
            and not model.loops.kind.size
            and np.array_equal(sites.body, np.arange(n))
            and not sites.position.any()
            and (sites.radius > 0.0).all()
            and not law.table(model).friction.any()
        )
    return _SPHERES[model]


def weightless_hard_spheres(model: Model) -> bool:
    """Whether a model consists of hard spheres without gravity."""
    return only_hard_spheres(model) and not any(isinstance(force, Gravity) for force in model.forces)
