"""Figures and pages: the report of a run, and comparisons of runs."""
