"""Statistics of impacts that the event-driven integrator stores in ``State.rule.history``; events are not kept."""

from articulon.columns import Columns


class SphereMemoryColumns(Columns):
    """Places in the history of hard spheres."""

    begun: int = 0
    """1 after the first frame."""
    impacts: int = 1
    """Number of impacts of spheres with each other since the start."""
    wall_impacts: int = 2
    """Number of impacts with reflecting walls since the start."""
    virial: int = 3
    """Σ r · Δp of impacts of spheres with each other, since the start [energy]."""
    impulse: int = 4
    """The largest impulse since the start [momentum]."""
    between: int = 5
    """Time between the latest two frames [time]."""
    latest_virial: int = 6
    """Σ r · Δp of impacts of spheres with each other between the latest two frames [energy]."""
    impacts_before: int = 7
    """Number of impacts of spheres with each other up to the first of these frames."""
    impulse_time: int = 8
    """Time of the largest impulse [time]."""
    impulse_of: int = 9
    """The two bodies of the largest impulse; the second is −1 for a wall (2)."""
    width: int = 11


SPHERES = SphereMemoryColumns()
