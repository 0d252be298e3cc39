"""Poses of grains between two steps, for the display of a run."""

from articulon.forces.contact.contact_columns import MOTION
from articulon.integrate.grain_columns import GRAIN_PLACE, GRAIN_ROW
from articulon.integrate.grain_passes import at
from articulon.kernels import kernel


@kernel
def write_poses(order, motion, row, place, places, turns):
    """Write the places [length] and Euler parameters of all grains in the order of the model, in one pass over the
    tables, because the steps wait meanwhile.

    Parameters
    ----------
    order
        Grain at each place of the tables, shape (at least grains,).
    motion, row, place
        ``Spheres.motion``, ``Grains.row`` and ``Grains.place``.
    places, turns
        Output arrays, shapes (grains, 3) and (grains, 4), of any precision.
    """
    wraps = place.shape[0] > 0
    for p in range(places.shape[0]):
        s = order[p]
        for a in range(3):
            x = place[at(GRAIN_PLACE.width, p, GRAIN_PLACE.place + a)] if wraps else motion[p, MOTION.position + a]
            places[s, a] = x
        for a in range(4):
            turns[s, a] = row[at(GRAIN_ROW.width, p, GRAIN_ROW.turn + a)]
