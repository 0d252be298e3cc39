"""What the event-driven rule keeps of its impacts in ``State.rule.history``: figures alone, no event."""

from articulon.columns import Columns


class SphereMemoryColumns(Columns):
    """Of the history of hard spheres."""

    begun: int = 0
    """1 after the first frame."""
    impacts: int = 1
    """Of spheres with each other, since the start."""
    wall_impacts: int = 2
    """With reflecting walls, since the start."""
    virial: int = 3
    """Σ r · Δp of impacts of spheres with each other, since the start [energy]."""
    impulse: int = 4
    """The largest since the start [momentum]."""
    between: int = 5
    """Time between the latest two frames [time]."""
    latest_virial: int = 6
    """Σ r · Δp between these [energy]."""
    impacts_before: int = 7
    """Impacts of spheres with each other up to the first of these."""
    impulse_time: int = 8
    """When the largest impulse was [time]."""
    impulse_of: int = 9
    """The two bodies that it was of, the second −1 for a wall (2)."""
    width: int = 11


SPHERES = SphereMemoryColumns()
