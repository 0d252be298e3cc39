"""Impacts of spheres with each other and with walls, and of joints with their stops, as events between steps."""
