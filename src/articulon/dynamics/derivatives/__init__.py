"""Derivatives of the dynamics with respect to coordinates, speeds and forces."""
