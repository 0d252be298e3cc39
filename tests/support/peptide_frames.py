"""Peptides whose torsions are turned at will, for what is measured on their frames."""

from __future__ import annotations

import numpy as np

import articulon as ar
from articulon import molecules
from articulon.conformations.conformation_record import Conformations
from articulon.model import Model

HAIRPIN = {"phi": [-125.0] * 5 + [60.0, -80.0] + [-125.0] * 5, "psi": [125.0] * 5 + [-120.0, 0.0] + [125.0] * 5}
"""Twelve residues in two strands about a turn of type II'."""


def peptide_model(sequence: list[str], **angles: object) -> Model:
    """A peptide without forces."""
    structure = molecules.peptide(sequence, accept=("clashes",), **angles)
    return molecules.build(structure, molecules.perceive(structure))


def turned(model: Model, frames: int, spread: float = 0.3, seed: int = 1) -> np.ndarray:
    """Coordinates of frames (frames, nq) whose torsions are off those of the model by random angles [rad], and whose
    root is turned and moved at random; the first is the model's own."""
    random = np.random.default_rng(seed)
    q = np.repeat(model.q0[None], frames, axis=0)
    q[1:, 7:] += spread * random.normal(size=(frames - 1, model.nq - 7))
    q[1:, :3] += random.normal(size=(frames - 1, 3))
    whole = random.normal(size=(frames - 1, 4))
    q[1:, 3:7] = whole / np.linalg.norm(whole, axis=1, keepdims=True)
    return q


def conformations(model: Model, q: np.ndarray, **options: object) -> Conformations:
    """The frames as they are looked at, a picosecond apart."""
    return Conformations(model, np.arange(len(q), dtype=float), q, **options)


def short_run(model: Model, frames: int = 5, **options: object) -> ar.Run:
    """A run of a few frames without forces, in memory."""
    bath = ar.thermostats.Langevin(temperature=300.0, friction=5.0)
    given = {"rule": "friction-implicit", "step": 0.005, "thermostat": bath, "speeds": "thermal", **options}
    return ar.simulate(model, 0.01 * frames, frames=frames, **given)
