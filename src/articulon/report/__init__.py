"""Figures and HTML reports of runs."""
