"""Transitions between resolutions: joint axes are locked and released at run time by impulses that conserve
momentum."""

from articulon.transitions.lock_and_release import CHOICES, METRICS, Reservoir, Transition, lock, release

__all__ = ["CHOICES", "METRICS", "Reservoir", "Transition", "lock", "release"]
