"""Figure of the radial distribution of water's oxygens."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from articulon.analysis.pair_structure import RadialDistribution, distribution_in_box
from articulon.conformations.chosen_atoms import positions_of
from articulon.conformations.conformation_record import some_frames
from articulon.fidelity.settling import SETTLED
from articulon.model.atoms import Atoms
from articulon.report import style
from articulon.report.view import View

FRAMES = 40
"""Largest number of frames to read."""
REACH = 1.0
"""Largest distance [nm]; it is smaller if half of the box is smaller."""
FEWEST = 10
"""Smallest number of water molecules for which a distribution is computed."""


def water_oxygens(atoms: Atoms) -> np.ndarray:
    """Indices of the atoms that are oxygens of water, shape (waters,)."""
    water = np.array([kind == "water" for kind in atoms.residue_kinds], dtype=bool)
    return np.flatnonzero(water[atoms.residue] & (np.array(atoms.elements) == "O"))


def water_distribution(view: View) -> RadialDistribution | None:
    """Compute g(r) of the oxygens of water; None without water in a periodic box, or if freud is missing."""
    atoms, box = view.model.atoms, view.model.box
    if atoms is None or box is None or not box.periodic.all():
        return None
    oxygens = water_oxygens(atoms)
    if oxygens.size < FEWEST:
        return None
    frames = some_frames(view.times.size, int(SETTLED * view.times.size), FRAMES)
    places = positions_of(view.model, view.q[frames], atoms.site[oxygens])
    assert view.edges is not None
    edges = view.edges[frames]
    faces = 1.0 / np.linalg.norm(np.linalg.inv(edges), axis=1)
    everyone = np.arange(oxygens.size)
    try:
        reach = min(REACH, 0.49 * float(faces.min()))
        return distribution_in_box(box, places, everyone, everyone, reach, 200, edges)
    except ImportError:
        return None


def water_structure(view: View) -> Figure | None:
    """Draw g(r) of the oxygens of water."""
    found = water_distribution(view)
    if found is None:
        return None
    figure, (axes,) = style.panels()
    axes.plot(found.distances, found.values, color=style.BLUE)
    axes.axhline(1.0, color=style.GREY, linewidth=0.7, zorder=1)
    axes.set_xlabel(style.label("distance O–O", view.case.units, "length"))
    axes.set_ylabel("$g(r)$")
    axes.set_xlim(0.0, float(found.distances[-1]))
    axes.set_ylim(bottom=0.0)
    figure.subplots_adjust(right=0.98)
    return figure
