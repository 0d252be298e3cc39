"""Transitions between resolutions by impulse and momentum: joint axes are locked and released at run time."""

from articulon.transitions.lock_and_release import CHOICES, METRICS, Reservoir, Transition, lock, release

__all__ = ["CHOICES", "METRICS", "Reservoir", "Transition", "lock", "release"]
