"""Contacts of spheres, on bodies of any kind, with each other and with walls."""
