"""What ``articulon bench polymers`` measures, on small melts, and that both engines get the same bodies."""

from __future__ import annotations

import io

import numpy as np
import pytest
from rich.console import Console
from scipy.spatial.transform import Rotation

import articulon as ar
from benchmarks import poems_chains, polymers


def test_the_bodies_of_both_engines_are_in_the_same_places() -> None:
    model, data, listed = poems_chains.chains(2)
    rows = [line.split() for line in data.split("Atoms # molecular")[1].split("Velocities")[0].strip().splitlines()]
    atoms = np.array([row[3:] for row in rows], dtype=float)
    positions, turns = ar.body_poses(model, model.q0)
    for k, line in enumerate(listed.splitlines()):
        count, first, *others = (int(word) for word in line.split())
        assert count == 4
        np.testing.assert_allclose(positions[k], atoms[first - 1], atol=1e-9)
        own = positions[k] + Rotation.from_quat(turns[k], scalar_first=True).apply(poems_chains.ATOMS)
        np.testing.assert_allclose(own, atoms[np.array(others) - 1], atol=1e-9)
    assert model.masses.sum() == len(atoms)


@pytest.mark.slow  # seconds: LAMMPS's own steps
def test_figures_and_tables_of_small_melts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(poems_chains, "STEPS", 5)
    monkeypatch.setattr(poems_chains, "SCRIPT", poems_chains.SCRIPT.replace("run 100", "run 5"))
    bodies = poems_chains.measure(2, steps=5, rounds=1)
    assert all(value is not None and value > 0.0 for value in bodies.values())
    monkeypatch.setattr(poems_chains, "measure", lambda say: bodies)
    monkeypatch.setattr(polymers, "SETTLING", 0.05)
    monkeypatch.setattr(polymers, "DRIVEN_STEPS", (polymers.ROD_STEP,))  # each starts ranks of its own
    said: list[str] = []
    figures = polymers.measure(chains=20, steps=5, rounds=1, say=said.append)
    assert not [line for line in said if "did not run" in line]
    assert {"rods 1", "springs 1", "driven-0.016 1", "lammps 1"} <= set(figures["us_per_bead_step"])
    assert all(value > 0.0 for value in figures["us_per_bead_step"].values() if value is not None)
    out = Console(file=io.StringIO(), width=150)
    polymers.show(figures, out)
    text = out.file.getvalue()  # type: ignore[attr-defined]
    assert "rods, ours, forces by LAMMPS" in text and "LAMMPS, fix poems" in text and "≤ 1.30" in text
