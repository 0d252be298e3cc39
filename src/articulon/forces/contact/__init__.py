"""Contacts between spheres, on whatever body they are, and with walls."""
