"""Particle-mesh Ewald sums that cannot be, each refused by the name of its key."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import articulon as ar
from tests.support.particle_models import particles

EDGE = 5.0
CHARGES = np.tile([1.0, -1.0], 32)
PLACES = np.array([[x, y, z] for x in range(4) for y in range(4) for z in range(4)], dtype=float) * EDGE / 4


def model_of(*laws: Any, charges: Any = CHARGES, box: Any = "cube") -> ar.Model:
    cell = ar.Box(lengths=(EDGE,) * 3) if box == "cube" else None if box is None else ar.Box(**box)
    return particles(PLACES, *laws, box=cell, charges=charges)


def mesh(**given: Any) -> Any:
    return ar.forces.ParticleMeshEwald(**given)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"order": 3}, r"forces\[0\]\.order: must lie between 4 and 8, got 3"),
        ({"order": 9}, r"forces\[0\]\.order: must lie between 4 and 8, got 9"),
        ({"mesh": (16, 16, 3)}, r"forces\[0\]\.mesh: splines of order 4 cover 4 points"),
        (
            {"mesh": (16, 5, 16), "order": 6},
            r"forces\[0\]\.mesh: splines of order 6 cover 6 points.*\(16, 5, 16\)",
        ),
        ({"mesh": (400, 400, 400)}, r"forces\[0\]\.mesh: the sum takes a mesh of 400 x 400 x 400 points"),
        ({"precision": 1e-13, "order": 4}, r"forces\[0\]: the sum takes a mesh of .* choose a larger precision"),
        ({"cutoff": 2.6}, r"forces\[0\]\.cutoff.*more than 2\.5, half of the smallest width"),
        ({"precision": 1.0}, r"forces\[0\]\.precision: must be less than 1, which is an error as large as the forces"),
        ({"damping": 0.5}, r"does not reach the precision at 2\.5, half.*a finer mesh"),
        ({"cutoff": 2.5, "damping": 3.0}, r"damping times cutoff is 7\.5"),
    ],
)
def test_what_does_not_fit_is_named(given, message):
    with pytest.raises(ar.ModelError, match=message):
        model_of(mesh(**given))


def test_a_charged_box_is_refused_in_the_words_of_the_exact_sum():
    charges = CHARGES.copy()
    charges[5] = 0.0
    said = []
    for law in (mesh(), ar.forces.Ewald()):
        with pytest.raises(ar.ModelError) as refusal:
            model_of(law, charges=charges)
        said.append(str(refusal.value))
    assert said[0] == said[1] and "net charge of 1" in said[0]


def test_a_box_without_charges_is_refused():
    with pytest.raises(ar.ModelError, match="no site has a charge"):
        model_of(mesh(), charges=0.0)


def test_boxes_that_do_not_repeat_everywhere_are_refused():
    slab = {"lengths": (EDGE,) * 3, "boundaries": ("periodic", "periodic", "open")}
    for box in (None, slab):
        with pytest.raises(ar.ModelError, match="periodic in all three directions"):
            model_of(mesh(), box=box)


def test_one_sum_holds_every_charge():
    with pytest.raises(ar.ModelError, match=r"forces\[1\]: this particle-mesh-ewald force is already declared"):
        model_of(mesh(), mesh())
    with pytest.raises(ar.ModelError, match=r"Ewald sums are declared twice, as 'ewald' and 'particle-mesh-ewald'"):
        model_of(mesh(), ar.forces.Ewald())


def test_the_library_of_transforms_is_asked_for(monkeypatch):
    monkeypatch.setattr("articulon.forces.sites.particle_mesh_ewald.find_spec", lambda name: None)
    with pytest.raises(ar.ModelError, match=r"rocket-fft.*pip install 'articulon\[longrange\]'"):
        model_of(mesh())
