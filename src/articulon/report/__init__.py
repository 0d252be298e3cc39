"""Figures and pages: the report of a run, drawn from its results."""
