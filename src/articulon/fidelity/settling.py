"""How much of a run counts as settling."""

SETTLED = 0.25
"""Fraction of the frames at the start that means leave out, in summaries, reports, comparisons and analyses alike."""
