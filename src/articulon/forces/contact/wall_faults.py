"""Messages for faults between spheres and walls."""

from collections.abc import Sequence

import numpy as np

from articulon.errors import ModelError
from articulon.forces.contact.contact_columns import COUNTS
from articulon.forces.contact.contact_tables import LEFT, PASSED, ContactSystem
from articulon.forces.contact.walls.wall_parts import carrier
from articulon.forces.sites.site_positions import site_positions
from articulon.model import Model

ADVICE = {
    LEFT: (
        "No wall holds it there: put one on that face (shape = 'box'), make the box larger or periodic, or leave the "
        "box out. If there is a wall, the sphere passed it: take a shorter step, a stiffer material, or slower spheres."
    ),
    PASSED: "Take a shorter step, a stiffer material, or slower spheres.",
}
"""Advice for each fault."""


class WallFault(str):
    """Description of a fault, as a phrase."""

    advice: str | None = None
    """Advice to the user."""


def check_inside(model: Model, where: str) -> None:
    """Raises ModelError if the centre of a sphere is outside the box at the start, in a non-periodic direction."""
    if model.box is None or model.box.periodic.all():
        return
    spheres = np.flatnonzero((model.sites.radius > 0.0) & (model.sites.body >= 0))
    x = site_positions(model, model.q0)[spheres]
    out = _outside(model, x)
    bad = np.flatnonzero(out.any(axis=1))
    if bad.size:
        s, at = int(spheres[bad[0]]), x[bad[0]]
        raise ModelError(
            f"{where}: sphere {s} on {carrier(model, s)} is outside of the box at the start, at {_point(at)}, in "
            f"{_directions(out[bad[0]])}; move it inside, or make the box larger"
        )


def wall_fault(model: Model, sites: np.ndarray, walls: Sequence[str], system: ContactSystem) -> tuple[str, int] | None:
    """Return the fault and the link on which it occurred; None if there is none.

    Parameters
    ----------
    sites
        Site of each sphere.
    walls
        Names of the walls.
    """
    counts = system.walls.counts
    if counts[COUNTS.fault] == 0:
        return None
    sphere = int(counts[COUNTS.sphere])
    site, x = int(sites[sphere]), system.particles.site[:, sphere].copy()
    link = int(model.link[model.sites.body[site]])
    called = f"sphere {site} on {carrier(model, site)}"
    if counts[COUNTS.fault] == LEFT:
        text = f"{called} has left the box at {_point(x)}, in {_directions(_outside(model, x[None])[0])}"
    else:
        place = int(np.flatnonzero(system.particles.order == sphere)[0])
        x = system.spheres.motion[place, :3]
        text = f"{called}, at {_point(x)}, overlaps more wall triangles at once than the capacity allows"
        if counts[COUNTS.fault] == PASSED:
            text = f"{called} has gone through {walls[int(counts[COUNTS.wall])].rstrip(',')} at {_point(x)}"
    fault = WallFault(text)
    fault.advice = ADVICE.get(int(counts[COUNTS.fault]))
    return fault, link


def _outside(model: Model, x: np.ndarray) -> np.ndarray:
    """Directions in which each point is outside the box, shape (points, 3)."""
    assert model.box is not None
    origin = np.array([float(value) for value in model.box.origin])
    f = (x - origin) @ np.linalg.inv(model.box.vectors)
    return ~((f >= 0.0) & (f <= 1.0)) & ~model.box.periodic


def _directions(out: np.ndarray) -> str:
    return " and ".join("xyz"[a] for a in np.flatnonzero(out))


def _point(x: np.ndarray) -> str:
    return "(" + ", ".join(f"{v:.6g}" for v in x) + ")"
